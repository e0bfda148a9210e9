"""A recording: its samples, when they were captured, and its blocks one by one, also while it is made."""
from __future__ import annotations

import dataclasses
import math
import os
from fractions import Fraction
from typing import Any, Iterator, Optional, Union

import numpy

from tapedeck import arrays, names, sigmf
from tapedeck.calls import DISK_S, Calls
from tapedeck.datatypes import Array, layout
from tapedeck.descriptors import message
from tapedeck.errors import ArgumentInvalid, BlockDamaged, FileInvalid, FileNotFound, NameInvalid, RecordingNotFound
from tapedeck.local_file import LocalFile
from tapedeck.playback import Arrived, Playback
from tapedeck.samples import LIMIT_BYTES, Range, from_file, from_rail, mark_lost, refuse, without
from tapedeck.values import Annotation, Lun, RecordingInfo

# Beyond it no time of a sample is told.
_MOST_NS = 1 << 62
_WAYS = ("auto", "file", "rail")
# A recording that has moved may have moved again.
_MOST_MOVES = 8


def look_up(calls: Calls, name: str) -> RecordingInfo:
    """What the node says of a recording, by a full name that it has or had before it was moved within the node."""
    seen = [name]
    while True:
        try:
            return RecordingInfo.of(calls.call("CatalogService", "GetRecording", {"name": seen[-1]}))
        except RecordingNotFound as gone:
            moved_to = gone.metadata.get("moved_to")
            if moved_to is None:
                raise
            try:
                place = names.full(moved_to, 3)
            except NameInvalid:
                raise gone from None
            if place in seen or len(seen) > _MOST_MOVES:
                why = f"leads back to {place}" if place in seen else f"leads on through more than {_MOST_MOVES} names"
                raise RecordingNotFound(f"recording {name} has moved, and its new name {why}", code="NOT_FOUND",
                                        metadata={"recording": name}) from gone
            seen.append(place)


@dataclasses.dataclass(frozen=True)
class Block:
    """A block of a recording. `start` counts from the recording's first sample, `sample_index` as the stream does. Of a
    missing one `samples` is empty."""

    number: int
    start: int
    sample_index: int
    capture_ns: int
    samples: Array

    @property
    def missing(self) -> bool:
        """It is not there, or damaged."""
        return len(self.samples) == 0

    @property
    def stamp(self) -> numpy.datetime64:
        """What its worker noted when the block was captured, UTC; NaT: nothing. For delays of a live stream: the time of a
        sample is Recording.time_of()."""
        return numpy.datetime64(self.capture_ns, "ns")  # of unknown times the number is NaT's own


class Recording:
    """Of one storage node. Made by Client.recording() and Client.recordings(); any thread."""

    def __init__(self, calls: Calls, info: RecordingInfo) -> None:
        self._calls = calls
        self._info = info
        self._file: Union[LocalFile, FileNotFound, FileInvalid, None] = None  # what looking for it has said
        self._spares = False

    def __repr__(self) -> str:
        return f"<Recording {self.name} {self._info.state} {len(self)} × {self.datatype}>"

    def __len__(self) -> int:
        """Samples, missing ones included; of one that is being made, as of the last refresh()."""
        return self._info.samples

    @property
    def info(self) -> RecordingInfo:
        """All that the node said of it when it was last asked."""
        return self._info

    @property
    def name(self) -> str:
        """luns/{lun}/channels/{channel}/recordings/{recording}"""
        return self._info.name

    @property
    def datatype(self) -> str:
        """Of SigMF."""
        return self._info.datatype

    @property
    def sample_rate(self) -> float:
        """Samples per second; 0: unknown."""
        return self._info.sample_rate

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """In the order in which they were made; less first_sample, their samples are those of samples()."""
        return self._info.annotations

    def refresh(self) -> Recording:
        """Asks the node again; of one that was moved within the node what it is now."""
        before = self._info
        self._info = look_up(self._calls, self.name)
        if (before.name, before.state, before.blocks) != (self._info.name, self._info.state, self._info.blocks):
            self._file = None
        return self

    def samples(self, start: int = 0, n: Optional[int] = None, *, to: str = "numpy", via: str = "auto",
                check: bool = True, limit_bytes: int = LIMIT_BYTES, out: Optional[Array] = None) -> Any:
        """`n` samples from `start`, counted from the recording's first one; all that follow unless told.

        The array is a read-only view of the recording's file where that is on this machine (via="file"), else memory of
        its own, `limit_bytes` at most, that was received over a TCP rail (via="rail"). Either way each sample is covered
        by a CRC32C that was checked, except with check=False of a file. `to` names where they shall be: "numpy", "cupy",
        "torch" (GPU memory) or "torch:cpu". BlockDamaged where some of them are missing.

        With `out`, an array such as it would be else, they are put there: one that is used again and again saves the
        kernel from finding fresh memory each time, which may take longer than the samples do.
        """
        wanted, data, bad = self._read(start, n, via, check, limit_bytes, out)
        refuse(wanted, bad)
        return arrays.convert(wanted.layout.of_bytes(data), to)

    def samples_with_gaps(self, start: int = 0, n: Optional[int] = None, *, via: str = "auto",
                          limit_bytes: int = LIMIT_BYTES) -> tuple[Array, Array]:
        """The same with zeros for what is missing or damaged, and a mask of bool that is True for those samples, and for
        those that were lost before they were recorded, as annotations `lost` say. An annotation that means some samples of
        its span masks all of it."""
        wanted, data, bad = self._read(start, n, via, True, limit_bytes)
        if bad:
            wanted.check_limit(limit_bytes)
        data, mask = without(data, wanted, bad)
        sound = next((block for block in wanted.blocks if block not in bad), None)
        if sound is not None and any(note.lost for note in self.annotations):
            first = self._first_index(sound) - sound * self._info.block_samples
            mark_lost(mask, self.annotations, first + wanted.start)
        return wanted.layout.of_bytes(data), mask

    def time_of(self, i: int) -> numpy.datetime64:
        """When sample `i`, counted from the recording's first one, was captured, UTC: the recording's start and i / sample
        rate. NaT if nobody knows it."""
        Range.of(self._info, i, 1)
        if self._info.start_time_ns is None and not self._info.closed:
            self.refresh()
        start_ns = self._info.start_time_ns
        if start_ns is None or (i > 0 and not self.sample_rate):
            return numpy.datetime64("NaT", "ns")
        if i > 0:
            start_ns += math.floor(Fraction(i * 10**9) / Fraction(self.sample_rate) + Fraction(1, 2))
        return numpy.datetime64(start_ns, "ns") if abs(start_ns) <= _MOST_NS else numpy.datetime64("NaT", "ns")

    @property
    def first_sample(self) -> int:
        """The index that the stream gives to the recording's first sample."""
        return self._first_index(0)

    def blocks(self, first: int = 0, *, via: str = "auto") -> Iterator[Block]:
        """The blocks from `first` on of a closed recording, in order. Two of them are in memory beside the one that you
        have."""
        self._check_first(first)
        file = self._local(via)
        if file is None:
            return self._play(first, follow=False)
        return self._walk(file, first)

    def follow(self, first: int = 0) -> Iterator[Block]:
        """Each block from `first` on once, in order, also those that are still to be made, until the recording is closed.
        Beyond the last block means the next to come. The session ends with the iterator: close it, or let go of it."""
        self._check_first(first)
        return self._play(first, follow=True)

    def to_sigmf(self, path: Union[str, os.PathLike[str]], *, replace: bool = False, gaps: bool = False) -> str:
        """Writes PATH.sigmf-data and PATH.sigmf-meta, block by block; returns the name of the latter. FileExists unless
        `replace`. Of missing blocks zeros are written with `gaps`, and annotations that say so; else BlockDamaged."""
        return sigmf.export(self, os.fspath(path), replace, gaps)

    def annotate(self, i: int, count: int = 0, *, label: str = "", comment: str = "") -> None:
        """Adds a marker at sample `i`, counted from the recording's first one. ArgumentInvalid before that, and beyond the
        last of one that is closed."""
        if i < 0 or self._info.closed:
            Range.of(self._info, i, 1)
        note = message("Annotation")(sample_start=self.first_sample + i, sample_count=count, label=label, comment=comment)
        self._calls.call("RecorderService", "AnnotateRecording", {"recording": self.name, "annotation": note}, DISK_S)
        self.refresh()

    def keep(self, kept: bool = True) -> None:
        """Protects it from the LUN's policies, or ends that."""
        self._calls.call("RecorderService", "KeepRecording", {"recording": self.name, "kept": kept}, DISK_S)
        self.refresh()

    def _read(self, start: int, n: Optional[int], via: str, check: bool, limit_bytes: int,
              out: Optional[Array] = None) -> tuple[Range, Array, list[int]]:
        wanted = Range.of(self._info, start, n)
        into = None if out is None else wanted.bytes_of(out)
        file = self._local(via)
        if file is not None:
            data, bad = from_file(file, wanted, check)
            if into is not None:
                into[:] = data
            return wanted, data if into is None else into, bad
        if into is None:
            wanted.check_limit(limit_bytes)
            into = numpy.empty(wanted.size, dtype=numpy.uint8)
        return wanted, into, from_rail(self._calls, wanted, into)

    def _local(self, via: str) -> Optional[LocalFile]:
        """The recording's file, if it is to be used. One that may become a spare, and then another recording's, is mapped
        only for whoever asks for it."""
        if via not in _WAYS:
            raise ArgumentInvalid(f"via={via!r} is none of {_WAYS}", code="INVALID_ARGUMENT", metadata={"field": "via"})
        if via == "rail" or (via == "auto" and not self._info.closed):
            return None
        if self._file is None or (not isinstance(self._file, LocalFile) and via == "file"):
            self._file = self._find_file()
        if isinstance(self._file, LocalFile):
            return self._file if via == "file" or not self._spares else None
        if via == "file":
            raise self._file
        return None

    def _find_file(self) -> Union[LocalFile, FileNotFound, FileInvalid]:
        lun_name = names.name_of(names.ids_of(self.name, 3)[:1])
        lun = Lun.of(self._calls.call("CatalogService", "GetLun", {"name": lun_name}))
        self._spares = lun.prewrite_files > 0
        try:
            return LocalFile(self._info, lun)
        except (FileNotFound, FileInvalid) as error:
            return error

    def _first_index(self, number: int) -> int:
        """The stream's index of a block's first sample."""
        file = self._local("auto")
        if file is not None:
            _, entry = next(iter(file.entries(number, 1)))
            if entry is not None:
                return entry.sample_index
        else:
            with Playback(self._calls, self._info, number, wanted=1, follow=not self._info.closed, window=1) as playback:
                arrived = playback.take()
            if arrived is not None and not arrived.missing:
                return arrived.sample_index
        raise BlockDamaged(f"{self.name}: block {number} is missing or damaged", code="DATA_LOSS",
                           metadata={"recording": self.name, "blocks": "1"})

    @staticmethod
    def _check_first(first: int) -> None:
        if not 0 <= first < 1 << 62:
            raise ArgumentInvalid(f"first={first} is not a block", code="INVALID_ARGUMENT", metadata={"field": "first"})

    def _play(self, first: int, follow: bool) -> Iterator[Block]:
        if not follow and first >= self._info.blocks:
            return
        with Playback(self._calls, self._info, first, follow=follow) as playback:
            while True:
                arrived = playback.take()
                if arrived is None:
                    return
                yield self._block(arrived)

    def _walk(self, file: LocalFile, first: int) -> Iterator[Block]:
        size = self._info.block_bytes
        for number, entry in file.entries(first, max(self._info.blocks - first, 0)):
            data = file.bytes[:0]
            sample, capture_ns = 0, 0
            if entry is not None:
                sample, capture_ns = entry.sample_index, entry.capture_ns
                if file.is_sound(entry, 0, entry.payload_bytes):
                    data = file.bytes[number * size:number * size + entry.payload_bytes]
            yield self._block(Arrived(number, sample, capture_ns, data))

    def _block(self, arrived: Arrived) -> Block:
        form = layout(self.datatype)
        whole = len(arrived.data) // form.sample_bytes * form.sample_bytes
        return Block(arrived.block, arrived.block * self._info.block_samples, arrived.sample_index, arrived.capture_ns,
                     form.of_bytes(arrived.data[:whole]))
