"""Samples of a recording as bytes: in place where its file is here, else by a playback over a rail."""
from __future__ import annotations

import dataclasses
from typing import Iterable, Optional

import numpy

from tapedeck.calls import Calls
from tapedeck.datatypes import Array, Layout, layout
from tapedeck.errors import ArgumentInvalid, BlockDamaged, LimitReached
from tapedeck.local_file import LocalFile
from tapedeck.playback import Arrived, Playback, fresh, window_for
from tapedeck.values import Annotation, RecordingInfo

# What one call may hold in memory, unless it is told otherwise.
LIMIT_BYTES = 4 << 30


@dataclasses.dataclass(frozen=True)
class Range:
    """Samples of a recording: `count` of them from `start`, counted from its first one."""

    info: RecordingInfo
    start: int
    count: int

    @staticmethod
    def of(info: RecordingInfo, start: int, count: Optional[int]) -> Range:
        """ArgumentInvalid beyond the recording."""
        if count is None:
            count = max(info.samples - start, 0)
        if start < 0 or count < 0 or start + count > info.samples:
            raise ArgumentInvalid(f"samples {start} to {start + count}: {info.name} has {info.samples}",
                                  code="INVALID_ARGUMENT", metadata={"field": "start"})
        return Range(info, start, count)

    @property
    def layout(self) -> Layout:
        """Of the samples."""
        return layout(self.info.datatype)

    @property
    def begin(self) -> int:
        """The first byte."""
        return self.start * self.layout.sample_bytes

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.layout.sample_bytes

    @property
    def blocks(self) -> range:
        """Those with a part of it."""
        size = self.info.block_bytes
        return range(self.begin // size, -(-(self.begin + self.size) // size)) if self.count else range(0)

    def part(self, block: int) -> slice:
        """Which of its bytes are of that block."""
        size = self.info.block_bytes
        return slice(max(block * size - self.begin, 0), min((block + 1) * size - self.begin, self.size))

    def bytes_of(self, out: Array) -> Array:
        """Those of an array that the samples are to be put into; ArgumentInvalid unless it is just such a one."""
        layout_ = self.layout
        shape = (self.count,) if layout_.columns == 1 else (self.count, layout_.columns)
        if out.dtype != layout_.dtype or out.shape != shape or not out.flags.c_contiguous or not out.flags.writeable:
            raise ArgumentInvalid(f"out: {shape} of {layout_.dtype}, contiguous and writable, is needed, and is not "
                                  f"{out.shape} of {out.dtype}", code="INVALID_ARGUMENT", metadata={"field": "out"})
        return out.reshape(-1).view(numpy.uint8)

    def check_limit(self, limit_bytes: int) -> None:
        """LimitReached if it is larger."""
        if self.size > limit_bytes:
            raise LimitReached(f"{self.count} samples take {self.size} bytes, more than limit_bytes, {limit_bytes}; "
                               "read fewer at a time, or by blocks()", code="RESOURCE_EXHAUSTED",
                               metadata={"limit": str(limit_bytes), "option": "limit_bytes"})


def from_file(file: LocalFile, wanted: Range, check: bool) -> tuple[Array, list[int]]:
    """Bytes, which are the file's own, and the blocks of which they are not to be believed."""
    begin, end = wanted.begin, wanted.begin + wanted.size
    if not wanted.count:
        return file.bytes[:0], []
    bad = file.damaged(begin, end) if check else file.known_missing(begin, end)
    return file.bytes[begin:end], bad


def from_rail(calls: Calls, wanted: Range, bytes_: Array) -> list[int]:
    """Receives them into `bytes_`, which has as many; the blocks that are missing, which are zeros there."""
    if not wanted.count:
        return []
    begin, size = wanted.begin, wanted.info.block_bytes

    def is_whole(block: int, length: int) -> bool:
        return begin <= block * size and block * size + length <= begin + wanted.size

    def place(block: int, length: int) -> Array:
        at = block * size - begin
        return bytes_[at:at + length] if is_whole(block, length) else fresh(block, length)

    bad: list[int] = []
    numbers = wanted.blocks
    with Playback(calls, wanted.info, numbers[0], wanted=len(numbers), follow=not wanted.info.closed,
                  window=min(window_for(size), len(numbers)), place=place) as playback:
        for block in numbers:
            arrived = playback.take()
            part = wanted.part(block)
            if not _put(bytes_[part], arrived, begin + part.start - block * size,
                        arrived is not None and is_whole(block, len(arrived.data))):
                bad.append(block)
    return bad


def _put(into: Array, arrived: Optional[Arrived], offset: int, in_place: bool) -> bool:
    """False if the block has not all that belongs here; then it is zeros."""
    if arrived is None or offset + len(into) > len(arrived.data):
        into[:] = 0
        return False
    if not in_place:
        into[:] = arrived.data[offset:offset + len(into)]
    return True


def refuse(wanted: Range, bad: list[int]) -> None:
    """BlockDamaged if there are any."""
    if bad:
        raise BlockDamaged(f"{wanted.info.name}: of samples {wanted.start} to {wanted.start + wanted.count} "
                           f"{len(bad)} blocks are missing or damaged, the first is block {bad[0]}; "
                           "samples_with_gaps() gives the rest",
                           code="DATA_LOSS", metadata={"recording": wanted.info.name, "blocks": str(len(bad)),
                                                       "first_block": str(bad[0])})


def without(data: Array, wanted: Range, bad: list[int]) -> tuple[Array, Array]:
    """The bytes with zeros for those blocks, and which samples these are."""
    mask: Array = numpy.zeros(wanted.count, dtype=numpy.bool_)
    if bad and not data.flags.writeable:
        data = numpy.array(data)
    for block in bad:
        part = wanted.part(block)
        data[part] = 0
        mask[part.start // wanted.layout.sample_bytes:part.stop // wanted.layout.sample_bytes] = True
    return data, mask


def mark_lost(mask: Array, annotations: Iterable[Annotation], first: int) -> None:
    """True for the samples that annotations say were lost; `first` is the number that the mask's first has in them."""
    for note in annotations:
        if note.lost:
            begin = note.sample_start - first
            mask[max(begin, 0):max(begin + note.sample_count, 0)] = True
