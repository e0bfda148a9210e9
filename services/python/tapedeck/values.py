"""What nodes tell, as plain values. Each is checked here, once: nothing that is beyond what can be gets further."""
from __future__ import annotations

import dataclasses
import math
from typing import Any, Mapping, Optional

from tapedeck.datatypes import layout
from tapedeck.descriptors import word_of
from tapedeck.errors import DatatypeInvalid, ProtocolViolation
from tapedeck.names import is_full

_MOST_BYTES = 1 << 62
_MOST_BLOCK_BYTES = 8 << 20
_BLOCK_MULTIPLE = 4096
_MOST_NAME = 256


def _require(well: bool, message: str, field: str) -> None:
    if not well:
        raise ProtocolViolation(f"the node sent {message} whose {field} cannot be", code="INVALID_ARGUMENT",
                                metadata={"message": message, "field": field})


def _time_ns(owner: Any, field: str) -> Optional[int]:
    if not owner.HasField(field):
        return None
    time = getattr(owner, field)
    return int(time.seconds) * 1_000_000_000 + int(time.nanos)


def check_name(name: str, *collections: str) -> None:
    """ProtocolViolation unless it is luns/{lun} of ("luns",) and so on: it goes into paths, terminals and scripts."""
    if not is_full(name, collections):
        raise ProtocolViolation(f"the node names something {name[:_MOST_NAME]!r}, which is not a name", code="INVALID_ARGUMENT",
                                metadata={"message": "answer", "field": "name"})


def _check_stream(owner: Any, message: str) -> None:
    size = owner.block_bytes
    _require(0 < size <= _MOST_BLOCK_BYTES and size % _BLOCK_MULTIPLE == 0, message, "block_bytes")
    _require(owner.sample_rate >= 0 and math.isfinite(owner.sample_rate), message, "sample_rate")
    try:
        layout(owner.datatype)
    except DatatypeInvalid:
        _require(False, message, "datatype")


def _settings(owner: Any) -> Mapping[str, Any]:
    """Numbers, texts, the words of enums, and durations in seconds: those that settings_of takes."""
    settings: dict[str, Any] = {}
    for field in owner.DESCRIPTOR.fields:
        value = getattr(owner, field.name)
        if field.enum_type is not None:
            settings[field.name] = word_of(field.enum_type.name, value)
        elif field.message_type is None and isinstance(value, (bool, int, float, str)):
            settings[field.name] = value
        elif field.message_type is not None and field.message_type.name == "Duration":
            settings[f"{field.name}_s"] = value.seconds + value.nanos / 1e9
    return settings


@dataclasses.dataclass(frozen=True)
class Lun:
    """A storage container. The fields are those of tapedeck/v1/catalog.proto, as are those of all values here."""

    name: str
    uid: str
    store: str
    members: tuple[str, ...]
    capacity_bytes: int
    used_bytes: int
    recordings: int
    full_policy: str
    prewrite_files: int
    copies: int
    state: str
    cause: str
    description: str
    labels: Mapping[str, str]
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """All that catalog.proto has but lists, labels and times, by name; of a duration NAME_s."""

    @staticmethod
    def of(message: Any) -> Lun:
        """Of what a node sent."""
        check_name(message.name, "luns")
        return Lun(message.name, message.uid, message.store, tuple(message.members), message.capacity_bytes,
                   message.used_bytes, message.recordings, word_of("FullPolicy", message.full_policy),
                   message.prewrite_files, max(1, message.copies), word_of("LunState", message.state), message.cause,
                   message.description, dict(message.labels), _settings(message))


@dataclasses.dataclass(frozen=True)
class Channel:
    """A configured stream of a LUN."""

    name: str
    block_bytes: int
    datatype: str
    sample_rate: float
    commit_level: str
    segment_bytes: int
    description: str
    labels: Mapping[str, str]
    move_to: str  # luns/{lun}; empty: its recordings stay
    move_after_s: float
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """As of a Lun."""

    @staticmethod
    def of(message: Any) -> Channel:
        """Of what a node sent."""
        check_name(message.name, "luns", "channels")
        _check_stream(message, "Channel")
        return Channel(message.name, message.block_bytes, message.datatype, message.sample_rate,
                       word_of("CommitLevel", message.commit_level), message.segment_bytes, message.description,
                       dict(message.labels), message.move_to,
                       message.move_after.seconds + message.move_after.nanos / 1e9, _settings(message))


@dataclasses.dataclass(frozen=True)
class Annotation:
    """A note on part of a recording; sample_start counts as the stream's sample indexes do, not from the recording's
    first sample."""

    sample_start: int
    sample_count: int
    label: str
    comment: str
    details: str = ""
    """A JSON object: the other keys of an imported SigMF annotation or capture."""
    foreign: bool = False
    """Of an imported file: its label is no mark of Tapedeck's."""

    @property
    def lost(self) -> bool:
        """Its samples, or some of them, were lost before they were recorded: zeros are in their place."""
        return self.label == "lost" and not self.foreign


@dataclasses.dataclass(frozen=True)
class OriginStage:
    """A source or transform that made a recording."""

    name: str
    parameters: Mapping[str, str]

    @staticmethod
    def of(message: Any) -> OriginStage:
        """Of what a node sent."""
        return OriginStage(message.name, dict(message.parameters))


@dataclasses.dataclass(frozen=True)
class Origin:
    """How a recording was made. Nobody changes it later; a source without a name is unknown."""

    source: OriginStage
    transforms: tuple[OriginStage, ...]
    datatype: str
    device: str
    worker: str
    version: str
    beside: str
    metadata: str = ""
    """A JSON object: what an imported file says and no other field has."""

    @staticmethod
    def of(message: Any) -> Origin:
        """Of what a node sent."""
        return Origin(OriginStage.of(message.source), tuple(OriginStage.of(one) for one in message.transforms),
                      message.datatype, message.device, message.worker, message.version, message.beside,
                      message.metadata)


@dataclasses.dataclass(frozen=True)
class RecordingGroup:
    """Which recording of a group one is; without a name and a number for those of the devices of one job."""

    id: str
    name: str
    number: int
    members: int
    starts_at_ns: Optional[int]
    clock: str
    clock_error_s: float

    @staticmethod
    def of(message: Any) -> RecordingGroup:
        """Of what a node sent."""
        return RecordingGroup(message.id, message.name, message.number, message.members, _time_ns(message, "starts_at"),
                              message.clock, message.clock_error.seconds + message.clock_error.nanos / 1e9)


@dataclasses.dataclass(frozen=True)
class Part:
    """Which part of a recording one node has."""

    number: int
    parts: int
    copies: int
    whole: str

    @staticmethod
    def of(message: Any) -> Part:
        """Of what a node sent."""
        return Part(message.number, message.parts, message.copies, message.whole)


@dataclasses.dataclass(frozen=True)
class RecordingInfo:
    """What a node says of a recording at one moment."""

    name: str
    uid: str
    state: str
    blocks: int
    bytes: int
    missing_blocks: int
    block_bytes: int
    datatype: str
    sample_rate: float
    open_time_ns: Optional[int]  # when it was opened
    start_time_ns: Optional[int]  # of its first sample; None: unknown
    close_time_ns: Optional[int]  # when it was closed
    cause: str
    description: str
    labels: Mapping[str, str]
    annotations: tuple[Annotation, ...]
    kept: bool
    stream: str
    segment: int
    origin: Origin
    group: Optional[RecordingGroup]
    part: Optional[Part]
    original: str

    @staticmethod
    def of(message: Any) -> RecordingInfo:
        """Of what a node sent."""
        check_name(message.name, "luns", "channels", "recordings")
        _check_stream(message, "Recording")
        _require(message.blocks <= _MOST_BYTES // message.block_bytes, "Recording", "blocks")
        _require(message.bytes <= _MOST_BYTES, "Recording", "bytes")
        _require(message.missing_blocks <= message.blocks, "Recording", "missing_blocks")
        notes = tuple(Annotation(one.sample_start, one.sample_count, one.label, one.comment, one.details, one.foreign)
                      for one in message.annotations)
        return RecordingInfo(message.name, message.uid, word_of("RecordingState", message.state), message.blocks,
                             message.bytes, message.missing_blocks, message.block_bytes, message.datatype,
                             message.sample_rate, _time_ns(message, "open_time"), _time_ns(message, "start_time"),
                             _time_ns(message, "close_time"),
                             message.cause, message.description, dict(message.labels), notes, message.kept,
                             message.stream, message.segment, Origin.of(message.origin),
                             RecordingGroup.of(message.group) if message.HasField("group") else None,
                             Part.of(message.part) if message.HasField("part") else None, message.original)

    @property
    def closed(self) -> bool:
        """It does not grow any more."""
        return self.state in ("SEALED", "SALVAGED")

    @property
    def block_samples(self) -> int:
        """Samples of a whole block."""
        return self.block_bytes // layout(self.datatype).sample_bytes

    @property
    def samples(self) -> int:
        """Of all blocks, missing ones included: only the last may be short, and by how much the bytes tell."""
        rest = self.bytes % self.block_bytes // layout(self.datatype).sample_bytes
        return (self.blocks - 1) * self.block_samples + rest if rest and self.closed else self.blocks * self.block_samples


@dataclasses.dataclass(frozen=True)
class Capture:
    """What a trigger keeps. `recording` is empty until one is made: the sample has not come."""

    recording: str
    first_sample: int
    trigger_sample: int
    end_sample: int
    recordings: tuple[str, ...]

    @staticmethod
    def of(message: Any) -> Capture:
        """Of what a node sent."""
        names: list[str] = [name for name in (message.recording, *message.recordings) if name]
        for name in names:
            check_name(name, "luns", "channels", "recordings")
        return Capture(message.recording, message.first_sample, message.trigger_sample, message.end_sample,
                       tuple(message.recordings))


@dataclasses.dataclass(frozen=True)
class Node:
    """A storage node or worker."""

    name: str
    role: str
    version: str
    protocol_version: int
    stages: tuple[str, ...]
    stores: tuple[str, ...]

    @staticmethod
    def of(message: Any) -> Node:
        """Of what a node sent."""
        return Node(message.name, word_of("NodeRole", message.role), message.version, message.protocol_version,
                    tuple(message.stages), tuple(store.name for store in message.stores))
