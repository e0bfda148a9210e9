"""A storage node, and the worker that records into it."""
from __future__ import annotations

from types import TracebackType
from typing import Any, Mapping, Optional, Sequence, Union

from tapedeck import names
from tapedeck.calls import DISK_S, Calls, Tls, request_id
from tapedeck.descriptors import message
from tapedeck.errors import ArgumentInvalid, ChannelNotFound, LunNotFound, RecordingNotFound
from tapedeck.jobs import Job, Stage, duration, number, settings_of, stage_of, start
from tapedeck.recording import Recording, look_up
from tapedeck.stream import Stream, segments_of, stream_or_segment
from tapedeck.values import Capture, Channel, Lun, Node, RecordingInfo

_TIMEOUT_S = 4.0
# CreateLun of a memory LUN touches all of its pages before it answers.
_CREATE_LUN_S = 60.0


class Client:
    """Made by tapedeck.connect(). Any thread; a context manager."""

    def __init__(self, storage: str, worker: Optional[str], tls: Optional[Tls], timeout_s: float) -> None:
        self.storage = storage
        self._storage = Calls(storage, tls, timeout_s)
        self._worker = Calls(worker, tls, timeout_s) if worker else None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Ends all that is under way; jobs go on."""
        self._storage.close()
        if self._worker is not None:
            self._worker.close()

    def node(self) -> Node:
        """What the storage node says about itself."""
        return Node.of(self._storage.call("NodeService", "GetNode", {}))

    def luns(self) -> list[Lun]:
        """In the order of their names."""
        return [Lun.of(one) for one in self._storage.pages("CatalogService", "ListLuns", {}, "luns")]

    def lun(self, lun: str) -> Lun:
        """By its ID."""
        return Lun.of(self._storage.call("CatalogService", "GetLun", {"name": names.full(lun, 1)}))

    def create_lun(self, lun: str, store: str, members: Sequence[str] = (), *, capacity_bytes: int = 0,
                   full_policy: str = "STOP", max_age_s: float = 0.0, max_fill_percent: int = 0, prewrite_files: int = 0,
                   prewrite_bytes: int = 0, copies: int = 1, description: str = "", labels: Optional[Mapping[str, str]] = None, **settings: Any) -> Lun:
        """`store` is posix, direct, device, rados or memory, `members` what it lies on: directories, devices or pools; with 2 copies two directories.
        `settings` are other fields of Lun (catalog.proto), durations in seconds as NAME_s."""
        wanted = message("Lun")(store=store, members=list(members), capacity_bytes=capacity_bytes,
                                full_policy=number("FullPolicy", full_policy), max_fill_percent=max_fill_percent,
                                max_age=duration(max_age_s), prewrite_files=prewrite_files, prewrite_bytes=prewrite_bytes, copies=copies,
                                description=description, labels=dict(labels or {}), **settings_of("Lun", settings))
        return Lun.of(self._storage.call("CatalogService", "CreateLun", {
            "lun_id": names.check_id(lun), "lun": wanted, "request_id": request_id()}, _CREATE_LUN_S))

    def channels(self, lun: str = "-") -> list[Channel]:
        """Of a LUN, or of all."""
        parent = "luns/-" if lun == "-" else names.full(lun, 1)
        return [Channel.of(one) for one in
                self._storage.pages("CatalogService", "ListChannels", {"parent": parent}, "channels")]

    def channel(self, channel: str) -> Channel:
        """By LUN/CHANNEL."""
        return Channel.of(self._storage.call("CatalogService", "GetChannel", {"name": names.full(channel, 2)}))

    def create_channel(self, channel: str, *, block_bytes: int = 1 << 20, datatype: str = "cf32_le",
                       sample_rate: float = 0.0, commit_level: str = "DURABLE", pre_trigger_s: float = 0.0,
                       post_trigger_s: float = 0.0, segment_bytes: int = 0, description: str = "",
                       labels: Optional[Mapping[str, str]] = None, **settings: Any) -> Channel:
        """LUN/CHANNEL. `settings` are other fields of Channel, as of create_lun: move_to="luns/deep", move_after_s=3600."""
        lun, one = names.ids_of(channel, 2)
        wanted = message("Channel")(
            block_bytes=block_bytes, datatype=datatype, sample_rate=sample_rate, segment_bytes=segment_bytes,
            commit_level=number("CommitLevel", commit_level), description=description, labels=dict(labels or {}),
            pre_trigger=duration(pre_trigger_s), post_trigger=duration(post_trigger_s), **settings_of("Channel", settings))
        return Channel.of(self._storage.call("CatalogService", "CreateChannel", {
            "parent": names.name_of([lun]), "channel_id": one, "channel": wanted, "request_id": request_id()}, DISK_S))

    def recordings(self, channel: str = "-", *, most: Optional[int] = None) -> list[Recording]:
        """Newest first, of LUN/CHANNEL or of all channels; `most` of them."""
        parent = "luns/-/channels/-" if channel == "-" else names.full(channel, 2)
        found = self._storage.pages("CatalogService", "ListRecordings", {"parent": parent}, "recordings", most)
        return [Recording(self._storage, RecordingInfo.of(one)) for one in found]

    def recording(self, recording: str, *, segment: Optional[int] = None) -> Recording:
        """By LUN/CHANNEL/ID, LUN/CHANNEL/latest or its full name, also by that which it had before it was moved within the node.
        A stream in segments, by the ID of its first one or as the latest, is a Stream; with `segment` that one of it."""
        channel, _, last = recording.rpartition("/")
        if last == "latest":
            newest = self.recordings(channel.removesuffix("/recordings"), most=1)
            if not newest:
                raise RecordingNotFound(f"recording {recording!r}: the channel has no recordings", code="NOT_FOUND",
                                        metadata={"recording": recording})
            found = newest[0]
            name = f"{found.name.rpartition('/')[0]}/{found.info.stream or found.name.rpartition('/')[2]}"
            return self._stream(name, segment) or found
        name = names.full(recording, 3)
        try:
            found = Recording(self._storage, look_up(self._storage, name))
        except RecordingNotFound:
            stream = self._stream(name, segment)
            if stream is None:
                raise
            return stream
        of_stream = f"{found.name.rpartition('/')[0]}/{found.info.stream}"
        if found.name != name or (found.info.stream and (segment is not None or of_stream == found.name)):
            # A copy of a segment that is gone since does not stand for its stream.
            return self._stream(name if found.name != name else of_stream, segment) or found
        if segment:
            raise RecordingNotFound(f"{name} has no segment {segment}", code="NOT_FOUND", metadata={"recording": name})
        return found

    def _stream(self, name: str, segment: Optional[int]) -> Optional[Recording]:
        ids = names.ids_of(name, 3)

        def look() -> list[RecordingInfo]:
            return segments_of([one.info for one in self.recordings(f"{ids[0]}/{ids[1]}")], ids[2])
        try:
            return stream_or_segment(self._storage, name, look, segment)
        except (ChannelNotFound, LunNotFound):
            return None

    def delete_recording(self, recording: Union[str, Recording]) -> None:
        """At once; of a stream all segments, the newest first. RecordingBusy while it is written or played. A name that it had
        before it was moved is RecordingNotFound."""
        found = recording if isinstance(recording, Recording) else self.recording(recording)
        if isinstance(recording, str) and not recording.endswith("/latest") and found.name != names.full(recording, 3):
            raise RecordingNotFound(f"{recording} is gone; {found.name} is its copy or its new name; give that name to "
                                    "delete it", code="NOT_FOUND", metadata={"recording": recording})
        for one in reversed(found.segments if isinstance(found, Stream) else [found]):
            self._storage.call("CatalogService", "DeleteRecording", {"name": one.name, "request_id": request_id()}, DISK_S)

    def trigger(self, channel: str, *, sample: Optional[int] = None, label: str = "", comment: str = "") -> list[Capture]:
        """Keeps what a triggered channel holds around `sample`, the newest unless told; one capture for each session."""
        fields: dict[str, Any] = {"channel": names.full(channel, 2), "label": label, "comment": comment}
        if sample is not None:
            fields["sample"] = sample
        answer = self._storage.call("RecorderService", "TriggerRecording", fields, DISK_S)
        return [Capture.of(one) for one in answer.captures]

    def record(self, channel: str, source: Stage, *, blocks: Optional[int] = None, duration_s: Optional[float] = None,
               transforms: Sequence[Stage] = (), rails: Sequence[str] = (), slots: int = 0, **settings: Any) -> Job:
        """Starts a job of the worker that records `source` into LUN/CHANNEL; it ends after `blocks` or `duration_s`, or
        with the source. `settings` are other fields of StartRecordRequest (pipeline.proto), durations in seconds:
        resume_for_s=60, standbys=["HOST:PORT"], copies=2."""
        fields = {"storage": self.storage, "channel": names.full(channel, 2), "source": stage_of(source),
                  **settings_of("StartRecordRequest", {"blocks": blocks, "duration_s": duration_s, **settings})}
        return start(self._of_worker(), "StartRecord", fields, transforms, rails, slots)

    def play(self, recording: Union[str, Recording], sink: Stage, *, transforms: Sequence[Stage] = (),
             rails: Sequence[str] = (), slots: int = 0, follow: bool = False, first_block: int = 0, **settings: Any) -> Job:
        """Starts a job of the worker that plays into one of its sinks: "verify", "null", "file:PATH". `settings` are other
        fields of StartPlaybackRequest."""
        found = recording if isinstance(recording, Recording) else self.recording(recording)
        name, stream = found.name, isinstance(found, Stream)
        if isinstance(found, Stream):
            name, first_block = found.place(first_block)
        fields: dict[str, Any] = {"storage": self.storage, "recording": name, "sink": stage_of(sink),
                                  **settings_of("StartPlaybackRequest", settings)}
        if follow or first_block or stream:
            fields["playhead"] = message("Playhead")(block=first_block, follow=follow, stream=stream)
        return start(self._of_worker(), "StartPlayback", fields, transforms, rails, slots)

    def jobs(self) -> list[Job]:
        """Of the worker, newest first."""
        calls = self._of_worker()
        return [Job(calls, one) for one in calls.pages("PipelineService", "ListJobs", {}, "jobs")]

    def job(self, job: str) -> Job:
        """By its name, jobs/{job}, or its ID."""
        calls = self._of_worker()
        name = job if job.startswith("jobs/") else f"jobs/{names.check_id(job)}"
        return Job(calls, calls.call("PipelineService", "GetJob", {"name": name}))

    def _of_worker(self) -> Calls:
        if self._worker is None:
            raise ArgumentInvalid('jobs need a worker: tapedeck.connect("HOST:PORT", worker="HOST:PORT")',
                                  code="INVALID_ARGUMENT", metadata={"field": "worker"})
        return self._worker


def connect(storage: str, *, worker: Optional[str] = None, tls: Optional[Tls] = None,
            timeout_s: float = _TIMEOUT_S) -> Client:
    """A client of the storage node at HOST:PORT, and of a worker, which reaches that node at the same address. Nothing is
    sent before it is needed. `timeout_s` is the deadline of a call; with `tls` the calls are encrypted."""
    return Client(storage, worker, tls, timeout_s)
