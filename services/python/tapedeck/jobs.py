"""Jobs of a GPU worker: one records into a channel, or plays a recording into a sink of the worker."""
from __future__ import annotations

import dataclasses
import os
import re
import time
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from tapedeck.calls import Calls, request_id
from tapedeck.descriptors import message, number_of, word_of, words_of
from tapedeck.errors import ArgumentInvalid, Error, JobCancelled, SessionStalled
from tapedeck.failures import of_status
from tapedeck.values import check_name

Value = Union[bool, int, float, str, Sequence[float]]
# A source, transform or sink: "synth", "fft:points=1024", "file:PATH", or its name and its parameters.
Stage = Union[str, tuple[str, Mapping[str, Value]]]

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED", "NOT_COMPARED")


@dataclasses.dataclass(frozen=True)
class Note:
    """What a job says without failing. Codes, and the keys of facts, are those of proto/tapedeck/v1/notes.proto."""

    code: str  # "" of a worker that knows no codes
    text: str  # for people
    facts: Mapping[str, str]

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def all_of(told: Any) -> tuple[Note, ...]:
        """Of a job that a worker sent."""
        if told.coded_notes:
            return tuple(Note(note.code, note.text, dict(note.facts)) for note in told.coded_notes)
        return tuple(Note("", text, {}) for text in told.notes)


@dataclasses.dataclass(frozen=True)
class JobState:
    """What a worker says of a job at one moment."""

    name: str
    direction: str
    state: str
    recording: str
    device: str
    blocks: int
    bytes: int
    total_blocks: Optional[int]  # None: unknown
    progress: Optional[float]  # 0 to 1, of the blocks, the time or the turns asked for; None: unknown
    lost_blocks: int
    elapsed_s: float
    mb_per_s: float
    notes: tuple[Note, ...]
    captures: tuple[str, ...]  # of a triggered channel: the recordings that triggers have made, oldest first
    error: Optional[Error]

    @staticmethod
    def of(told: Any) -> JobState:
        """Of what a worker sent."""
        check_name(told.name, "jobs")
        error = of_status(told.error) if told.HasField("error") and told.error.code else None
        return JobState(told.name, word_of("Direction", told.direction), word_of("JobState", told.state), told.recording,
                        told.device, told.blocks, told.bytes,
                        told.total_blocks if told.HasField("total_blocks") else None,
                        told.progress if told.HasField("progress") else None, told.lost_blocks,
                        told.elapsed.seconds + told.elapsed.nanos / 1e9, told.mb_per_s, Note.all_of(told),
                        tuple(told.captures), error)

    @property
    def ended(self) -> bool:
        """It changes no more."""
        return self.state in _ENDED


class Job:
    """Of one worker. It goes on whether anybody looks or not."""

    def __init__(self, calls: Calls, told: Any) -> None:
        self._calls = calls
        self.state = JobState.of(told)

    def __repr__(self) -> str:
        return f"<Job {self.name} {self.state.state} {self.state.blocks} blocks>"

    @property
    def name(self) -> str:
        """jobs/{job}"""
        return self.state.name

    def refresh(self) -> JobState:
        """Asks the worker again."""
        self.state = JobState.of(self._calls.call("PipelineService", "GetJob", {"name": self.name}))
        return self.state

    def watch(self) -> Iterator[JobState]:
        """How it is, as often as it changes, five times a second at most, until it has ended."""
        while not self.refresh().ended:
            yield self.state
            time.sleep(0.2)
        yield self.state

    def wait(self, timeout_s: Optional[float] = None) -> JobState:
        """Until it has ended; raises what it failed with, or SessionStalled if it has not ended by then."""
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        for state in self.watch():
            if not state.ended and deadline_s is not None and time.monotonic() >= deadline_s:
                raise SessionStalled(f"{self.name} has not ended in {timeout_s} s; it goes on", code="DEADLINE_EXCEEDED")
        if self.state.error is not None:
            raise self.state.error
        if self.state.state == "CANCELLED":
            raise JobCancelled(f"{self.name} was cancelled", code="CANCELLED", metadata={"job": self.name})
        return self.state

    def cancel(self) -> JobState:
        """Ends it; a recording keeps what it has."""
        self.state = JobState.of(self._calls.call("PipelineService", "CancelJob", {"name": self.name}))
        return self.state

    def stop(self) -> JobState:
        """Ends a live source well: what has come is sealed, and the job succeeds. JobNotLive if it has none."""
        self.state = JobState.of(self._calls.call("PipelineService", "StopJob", {"name": self.name}))
        return self.state


def _parameter(value: Value) -> Any:
    if isinstance(value, bool):
        return message("Parameter")(flag=value)
    if isinstance(value, int):
        return message("Parameter")(**({"integer": value} if value < 1 << 63 else {"unsigned_integer": value}))
    if isinstance(value, float):
        return message("Parameter")(number=value)
    if isinstance(value, str):
        return message("Parameter")(text=value)
    return message("Parameter")(numbers=message("NumberList")(values=value))


def _parse(text: str) -> tuple[str, dict[str, Value]]:
    """As tapectl has it: NAME:KEY=VALUE,KEY=VALUE, where a value may have commas; file:PATH."""
    name, colon, rest = text.partition(":")
    if name == "file" and rest:
        return name, {"path": os.path.abspath(rest)}
    settings: dict[str, Value] = {}
    key = ""
    for piece in rest.split(",") if colon else ():
        word, equals, value = piece.partition("=")
        if equals and _WORD.fullmatch(word) and word not in settings:
            key = word
            settings[key] = value
        elif key and not equals:
            settings[key] = f"{settings[key]},{piece}"
        else:
            name = ""
    if not _WORD.fullmatch(name):
        raise ArgumentInvalid(f"{text!r} must be NAME or NAME:KEY=VALUE,..., for example synth:seed=7",
                              code="INVALID_ARGUMENT", metadata={"field": "stage"})
    return name, settings


def stage_of(stage: Stage) -> Any:
    """The message."""
    name, settings = _parse(stage) if isinstance(stage, str) else stage
    return message("Stage")(name=name, parameters={key: _parameter(value) for key, value in settings.items()})


def start(calls: Calls, method: str, fields: dict[str, Any], transforms: Sequence[Stage], rails: Sequence[str],
          slots: int) -> Job:
    """Asks the worker for a job."""
    return Job(calls, calls.call("PipelineService", method, {
        **fields, "transforms": [stage_of(stage) for stage in transforms], "rails": list(rails), "slots": slots,
        "request_id": request_id()}))


def number(enum: str, word: str) -> int:
    """Of a word of the enum. ArgumentInvalid."""
    try:
        return number_of(enum, word)
    except KeyError:
        raise ArgumentInvalid(f"{word!r} is none of {', '.join(words_of(enum)[1:])}", code="INVALID_ARGUMENT",
                              metadata={"field": enum}) from None


def settings_of(request: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the message `request`: NAME_s is the duration NAME in seconds, an enum is its word, its name in the proto or
    its number, and None leaves a field out. TypeError, ArgumentInvalid."""
    known = message(request).DESCRIPTOR.fields_by_name
    fields = {}
    for name, value in settings.items():
        in_seconds = name not in known and name.endswith("_s")
        field = name[:-2] if in_seconds else name
        if field not in known:
            raise TypeError(f"{request} has no field {name!r}")
        if in_seconds and value is not None:
            value = duration(value)
        elif isinstance(value, str) and known[field].enum_type is not None:
            value = number(known[field].enum_type.name, value)
        if value is not None:
            fields[field] = value
    return fields


def duration(seconds: float) -> Any:
    """The message."""
    whole_ns = round(seconds * 1e9)
    return {"seconds": whole_ns // 1_000_000_000, "nanos": whole_ns % 1_000_000_000}
