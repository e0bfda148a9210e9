"""A stream in segments as one recording: what a session records into a channel that cuts it."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator, Optional

import numpy

from tapedeck.calls import Calls
from tapedeck.datatypes import Array
from tapedeck.errors import ArgumentInvalid, RecordingNotFound
from tapedeck.local_file import LocalFile
from tapedeck.playback import Arrived
from tapedeck.recording import Block, Recording
from tapedeck.samples import Range
from tapedeck.values import Annotation, RecordingInfo

_NOTHING: Array = numpy.empty(0, dtype=numpy.uint8)


def _state(segments: list[RecordingInfo]) -> str:
    states = [one.state for one in segments]
    return next((state for state in ("RECORDING", "DELETING", "SALVAGED") if state in states), "SEALED")


@dataclasses.dataclass(frozen=True)
class _Part:
    """A segment, and which blocks of the stream it has."""

    first: int
    recording: Recording

    @property
    def blocks(self) -> range:
        return range(self.first, self.first + self.recording.info.blocks)


class Stream(Recording):
    """All segments of a session, one behind the other. Samples and blocks count from the oldest segment that there was when this
    was made; those of segments that are gone are missing. Made by Client.recording(); any thread."""

    def __init__(self, calls: Calls, name: str, segments: list[RecordingInfo],
                 look: Callable[[], list[RecordingInfo]]) -> None:
        self._look = look
        self._stream = name
        self._oldest = segments[0].segment
        self._parts: list[_Part] = []
        self._take(calls, segments)
        super().__init__(calls, self._joined(segments))

    @property
    def segments(self) -> list[Recording]:
        """Those there are, in order."""
        return [part.recording for part in self._parts]

    def refresh(self) -> Recording:
        """Asks the node which segments there are now."""
        segments = self._look()
        if not segments:
            raise RecordingNotFound(f"{self.name} has no segment any more", code="NOT_FOUND", metadata={"recording": self.name})
        self._take(self._calls, segments)
        self._info = self._joined(segments)
        return self

    def place(self, block: int) -> tuple[str, int]:
        """Of a block the segment's name, and which block of that it is; beyond the last: the next to come."""
        part = next((part for part in self._parts if block in part.blocks), self._parts[-1])
        return part.recording.name, max(block - part.first, 0)

    def blocks(self, first: int = 0, *, via: str = "auto") -> Iterator[Block]:
        """As of a recording; blocks of a segment that is gone are missing."""
        self._check_first(first)
        index = self._first_index(0)
        for part in self._parts:
            yield from self._gone(first, part.first, index)
            first = max(first, part.first)
            if first >= part.blocks.stop:
                continue
            for block in part.recording.blocks(first - part.first, via=via):
                index = block.sample_index - (part.first + block.number) * self._info.block_samples
                yield self._moved(block, part)
            first = part.blocks.stop

    def follow(self, first: int = 0) -> Iterator[Block]:
        """As of a recording: from segment to segment, until the stream has no other one."""
        self._check_first(first)
        done = -1  # segment
        while True:
            part = next((part for part in self._parts if part.recording.info.segment > done), None)
            if part is None:
                return
            done = part.recording.info.segment
            last = part is self._parts[-1]
            if last or first < part.blocks.stop:
                yield from self._gone(first, part.first, 0)
                try:
                    for block in part.recording.follow(max(first - part.first, 0)):
                        yield self._moved(block, part)
                        first = part.first + block.number + 1
                except RecordingNotFound:
                    if not last:
                        raise
                    return  # it was made ahead, and the stream has ended
            self.refresh()

    def annotate(self, i: int, count: int = 0, *, label: str = "", comment: str = "") -> None:
        """Adds a marker at sample `i` of the stream, to the segment that has it."""
        Range.of(self._info, i, 1)
        block = i // self._info.block_samples
        part = next((part for part in self._parts if block in part.blocks), None)
        if part is None:
            raise ArgumentInvalid(f"sample {i} of {self.name}: its segment is gone", code="INVALID_ARGUMENT", metadata={"field": "i"})
        part.recording.annotate(i - part.first * self._info.block_samples, count, label=label, comment=comment)
        self.refresh()

    def keep(self, kept: bool = True) -> None:
        """Each segment. Of a stream under way those to come would not be kept: ArgumentInvalid."""
        if not self._info.closed:
            raise ArgumentInvalid(f"{self.name} is under way, and segments to come would not be kept: keep one, "
                                  "recording(name, segment=N), or trigger", code="INVALID_ARGUMENT", metadata={"field": "recording"})
        for segment in self.segments:
            segment.keep(kept)
        self.refresh()

    def _take(self, calls: Calls, segments: list[RecordingInfo]) -> None:
        full = max(one.blocks for one in segments)
        self._parts = [_Part(max(one.segment - self._oldest, 0) * full, Recording(calls, one)) for one in segments]

    @staticmethod
    def notes_of(segments: list[tuple[Annotation, ...]]) -> tuple[Annotation, ...]:
        """Of all segments, in order. A segment may have taken over from the one before it what tells the signal."""
        notes: list[Annotation] = []
        before: tuple[Annotation, ...] = ()
        for annotations in segments:
            notes += [note for note in annotations if note.label != "signal" or note not in before]
            before = annotations
        return tuple(notes)

    def _joined(self, segments: list[RecordingInfo]) -> RecordingInfo:
        first = segments[0]
        blocks = max(part.blocks.stop for part in self._parts)
        there = sum(one.blocks for one in segments)
        return dataclasses.replace(
            first, name=self._stream, state=_state(segments), blocks=blocks, bytes=sum(one.bytes for one in segments),
            missing_blocks=sum(one.missing_blocks for one in segments) + blocks - there, close_time_ns=segments[-1].close_time_ns,
            cause=next((one.cause for one in segments if one.cause), ""), annotations=self.notes_of([one.annotations for one in segments]),
            kept=all(one.kept for one in segments))

    def _read(self, start: int, n: Optional[int], via: str, check: bool, limit_bytes: int,
              out: Optional[Array] = None) -> tuple[Range, Array, list[int]]:
        wanted = Range.of(self._info, start, n)
        wanted.check_limit(limit_bytes)
        data = numpy.zeros(wanted.size, dtype=numpy.uint8) if out is None else wanted.bytes_of(out)
        data[:] = 0
        bad = set(wanted.blocks)
        sample_bytes = wanted.layout.sample_bytes
        for part in self._parts:
            begin = part.first * self._info.block_samples
            first, end = max(wanted.start, begin), min(wanted.start + wanted.count, begin + len(part.recording))
            if first >= end:
                continue
            _, some, lacking = part.recording._read(first - begin, end - first, via, check, limit_bytes)
            at = (first - wanted.start) * sample_bytes
            data[at:at + len(some)] = some
            bad -= set(part.blocks) - {part.first + block for block in lacking}
        return wanted, data, sorted(bad)

    def _first_index(self, number: int) -> int:
        part = next((part for part in self._parts if number in part.blocks), self._parts[0])
        return part.recording._first_index(max(number - part.first, 0))

    def _local(self, via: str) -> Optional[LocalFile]:
        raise NotImplementedError("each segment has a file of its own")

    def _gone(self, first: int, end: int, index: int) -> Iterator[Block]:
        for number in range(first, end):
            yield self._block(Arrived(number, index + number * self._info.block_samples, 0, _NOTHING))

    def _moved(self, block: Block, part: _Part) -> Block:
        number = part.first + block.number
        return dataclasses.replace(block, number=number, start=number * self._info.block_samples)


def segments_of(infos: list[RecordingInfo], stream: str) -> list[RecordingInfo]:
    """Those of a channel's recordings that are of the stream with this ID, in order."""
    return sorted((one for one in infos if one.stream == stream), key=lambda one: one.segment)


def stream_or_segment(calls: Calls, name: str, look: Callable[[], list[RecordingInfo]],
                      segment: Optional[int]) -> Optional[Recording]:
    """Of the stream that has this name; None: there is none."""
    segments = look()
    if not segments:
        return None
    if segment is None:
        return Stream(calls, name, segments, look)
    one = next((one for one in segments if one.segment == segment), None)
    if one is None:
        raise RecordingNotFound(f"{name} has no segment {segment}", code="NOT_FOUND", metadata={"recording": name})
    return Recording(calls, one)
