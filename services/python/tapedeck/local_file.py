"""A closed recording whose files are on this machine, read in place: storage_node/format/README.md has what they are.

`data` is mapped, never copied. What is read is checked by the CRC32C that the index has of each piece of a block, 64 KiB
at most, so that a part of a block costs no more than its pieces. A recording qualifies where its LUN is a directory that
we can read, it lies on one member, and its manifest says what the storage node says.
"""
from __future__ import annotations

import json
import os
import pathlib
import stat
import struct
from typing import Any, Iterator, NamedTuple, Optional

import numpy

from tapedeck import names, wire
from tapedeck.crc import crc32c
from tapedeck.datatypes import Array
from tapedeck.errors import FileInvalid, FileNotFound
from tapedeck.values import Lun, RecordingInfo

_MOST_MANIFEST = 12 << 20
_PAGE = 4096
_ENTRIES_AT = 3 * _PAGE
_HEADER = struct.Struct("<4sHH16s16sIIII")
_ENTRY = struct.Struct("<4sHHQQqIIIII")
_ENTRIES_AT_ONCE = 1024


class Entry(NamedTuple):
    """Of the index: a block that is there, and the CRC32C of each of its pieces."""

    block: int
    sample_index: int
    capture_ns: int
    payload_bytes: int
    pieces: tuple[int, ...]


def _open(path: pathlib.Path) -> Any:
    """A regular file, and no link to one."""
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK), "rb", buffering=0)
    except OSError as error:
        raise FileNotFound(f"{path}: {error.strerror}", code="NOT_FOUND", metadata={"path": str(path)}) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise _invalid(path, "not a regular file")
    return file


def _invalid(path: pathlib.Path, why: str) -> FileInvalid:
    return FileInvalid(f"{path}: {why}", code="INVALID_ARGUMENT", metadata={"path": str(path)})


def _record_is_sound(record: bytes, magic: bytes, position: int) -> bool:
    """Of copy 0 of an index: the last 4 bytes are the CRC of its place and the rest."""
    expected = int.from_bytes(record[-4:], "little")
    return record[:6] == magic + b"\x01\x00" and crc32c(struct.pack("<QI", position, 0) + record[:-4]) == expected


class LocalFile:
    """Open as long as it lives; any array of `bytes` keeps the mapping."""

    def __init__(self, info: RecordingInfo, lun: Lun) -> None:
        """FileNotFound or FileInvalid, which say why it cannot be read in place."""
        self._info = info
        if lun.store not in ("posix", "direct") or not lun.members or not info.closed or not info.blocks:
            raise FileNotFound(f"{info.name} is not a file of a closed recording", code="NOT_FOUND")
        _, channel, recording = names.ids_of(info.name, 3)
        self._folder = pathlib.Path(lun.members[0], channel, recording)
        self.missing = self._read_manifest()
        with _open(self._folder / "data") as file:
            size = os.fstat(file.fileno()).st_size
            if size < info.samples * self._sample_bytes:
                raise _invalid(self._folder / "data", "shorter than the recording")
            self.bytes: Array = numpy.memmap(file, dtype=numpy.uint8, mode="r")
        self._index = _open(self._folder / "index")
        self._epoch, self._entry_bytes, self._piece_bytes = self._read_header()

    def __del__(self) -> None:
        index = getattr(self, "_index", None)
        if index is not None:
            index.close()

    @property
    def _sample_bytes(self) -> int:
        return self._info.block_bytes // self._info.block_samples

    def _read_manifest(self) -> list[tuple[int, int]]:
        """Which blocks are missing, as pairs of the first and their number."""
        path = self._folder / "manifest.json"
        with _open(path) as file:
            text = file.read(_MOST_MANIFEST + 1)
        try:
            found = json.loads(text) if len(text) <= _MOST_MANIFEST else None
            info = self._info
            same = (found["version"] == 3 and found["uid"] == info.uid and found["members"] == 1
                    and found["block_bytes"] == info.block_bytes and found["datatype"] == info.datatype
                    and found["blocks"] == info.blocks and found["bytes"] == info.bytes)
            missing = [(int(first), int(count)) for first, count in found["missing"]]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise _invalid(path, "no manifest of a recording") from None
        if not same or any(first < 0 or count < 1 for first, count in missing):
            raise _invalid(path, "not what the storage node says of this recording, or it lies on several members")
        return missing

    def _read_header(self) -> tuple[int, int, int]:
        page = os.pread(self._index.fileno(), _PAGE, 0)
        if len(page) == _PAGE and _record_is_sound(page, b"TDIX", 0):
            _, _, entry, _, uid, block, epoch, members, piece = _HEADER.unpack_from(page)
            pieces = -(-block // piece) if piece else 0
            if (block == self._info.block_bytes and members == 1 and uid.hex() == self._info.uid.replace("-", "")
                    and 0 < pieces <= 128 and entry % 64 == 0 and _ENTRY.size + 4 * pieces + 4 <= entry):
                return epoch, entry, piece
        raise _invalid(self._folder / "index", "no index of this recording")

    def entries(self, first: int, count: int) -> Iterator[tuple[int, Optional[Entry]]]:
        """Blocks and their entries; None where the block is missing or its entry is damaged."""
        for begin in range(first, first + count, _ENTRIES_AT_ONCE):
            number = min(_ENTRIES_AT_ONCE, first + count - begin)
            size = self._entry_bytes
            position = _ENTRIES_AT + begin * size
            content = os.pread(self._index.fileno(), number * size, position)
            for place in range(number):
                record = content[place * size:(place + 1) * size]
                yield begin + place, self._decode(begin + place, record, position + place * size)

    def _decode(self, block: int, record: bytes, position: int) -> Optional[Entry]:
        if len(record) != self._entry_bytes or not _record_is_sound(record, b"TDIE", position):
            return None
        _, _, _, sequence, sample, capture_ns, size, flags, _, _, epoch = _ENTRY.unpack_from(record)
        if sequence != block or epoch != self._epoch or flags & wire.MISSING or not 0 < size <= self._info.block_bytes:
            return None
        pieces = struct.unpack_from(f"<{-(-size // self._piece_bytes)}I", record, _ENTRY.size)
        return Entry(block, sample, capture_ns, size, pieces)

    def damaged(self, begin: int, end: int) -> list[int]:
        """The blocks of which a part between these bytes of `data` is missing, or not what was recorded."""
        size = self._info.block_bytes
        first, last = begin // size, (end - 1) // size
        return [block for block, entry in self.entries(first, last - first + 1)
                if entry is None or not self.is_sound(entry, max(begin - block * size, 0), min(end - block * size, size))]

    def known_missing(self, begin: int, end: int) -> list[int]:
        """The same from the manifest alone, without a look at the bytes."""
        size = self._info.block_bytes
        first, last = begin // size, (end - 1) // size
        return [block for start, count in self.missing
                for block in range(max(start, first), min(start + count, last + 1))]

    def is_sound(self, entry: Entry, begin: int, end: int) -> bool:
        """Whether the pieces with these bytes of the block are."""
        if end > entry.payload_bytes:
            return False
        block = self.bytes[entry.block * self._info.block_bytes:][:entry.payload_bytes]
        step = self._piece_bytes
        return all(crc32c(block[piece * step:(piece + 1) * step]) == entry.pieces[piece]
                   for piece in range(begin // step, (end - 1) // step + 1))
