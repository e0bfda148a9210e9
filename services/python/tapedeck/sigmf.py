"""A recording as a SigMF recording: PATH.sigmf-data, the samples and nothing else, and PATH.sigmf-meta."""
from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, Iterator

import numpy

from tapedeck.errors import BlockDamaged, FileExists, StoreIo

if TYPE_CHECKING:
    from tapedeck.recording import Recording
    from tapedeck.values import Annotation, RecordingGroup

_VERSION = "1.2.5"
_NAMESPACE = "tapedeck"
_PIECE_SAMPLES = 1 << 16  # of zeros for what is missing


@contextlib.contextmanager
def _written(path: str, replace: bool) -> Iterator[Any]:
    """A file beside `path`, which gets that name when it is complete."""
    if os.path.lexists(path) and not replace:
        raise FileExists(f"{path} already exists", code="ALREADY_EXISTS", metadata={"path": path})
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(part, path)
        else:
            os.link(part, path)
    except FileExistsError:
        raise FileExists(f"{path} already exists", code="ALREADY_EXISTS", metadata={"path": path}) from None
    except OSError as error:
        raise StoreIo(f"{path}: {error.strerror}", code="INTERNAL", metadata={"member": path}) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def _time(time: numpy.datetime64) -> str:
    return f"{numpy.datetime_as_string(time)}Z"


class _Data:
    """What is written of the samples, and noted on the way."""

    def __init__(self, recording: Recording, file: Any, gaps: bool) -> None:
        self._recording, self._file, self._gaps = recording, file, gaps
        self._sha = hashlib.sha512()
        self.captures: list[dict[str, Any]] = []
        self.missing: list[tuple[int, int]] = []

    def write(self) -> str:
        """All blocks; returns the SHA-512."""
        for block in self._recording.blocks():
            if block.missing:
                self._write_gap(block.number, block.start)
                continue
            if not self.captures:
                self.captures.append({"core:sample_start": 0, "core:global_index": block.sample_index - block.start})
                start = self._recording.time_of(0)
                if not numpy.isnat(start):
                    self.captures[0]["core:datetime"] = _time(start)
            self._put(numpy.ascontiguousarray(block.samples).view(numpy.uint8).data)
        return self._sha.hexdigest()

    def _put(self, data: Any) -> None:
        self._file.write(data)
        self._sha.update(data)

    def _write_gap(self, number: int, start: int) -> None:
        info = self._recording.info
        if not self._gaps:
            raise BlockDamaged(f"{info.name}: block {number} is missing or damaged; with gaps=True zeros are written",
                               code="DATA_LOSS", metadata={"recording": info.name, "blocks": "1"})
        count = min(info.block_samples, info.samples - start)
        sample_bytes = info.block_bytes // info.block_samples
        for begin in range(0, count, _PIECE_SAMPLES):
            self._put(bytes(min(_PIECE_SAMPLES, count - begin) * sample_bytes))
        if self.missing and sum(self.missing[-1]) == start:
            self.missing[-1] = (self.missing[-1][0], self.missing[-1][1] + count)
        else:
            self.missing.append((start, count))


def _object(text: str) -> dict[str, Any]:
    """Of a JSON text; empty for what is no object."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _capture(note: Annotation, start: int) -> dict[str, Any]:
    """What a mark `signal` tells: its details, and NAME=NUMBER of its comment."""
    capture = _object(note.details)
    for field in note.comment.split():
        name, _, number = field.partition("=")
        with contextlib.suppress(ValueError):
            capture[f"core:{name}" if name == "frequency" else f"{_NAMESPACE}:{name}"] = float(number)
    return {**capture, "core:sample_start": start}


def _captures(recording: Recording, data: _Data) -> list[dict[str, Any]]:
    """The begin, with what earlier marks `signal` tell of it, and each mark there."""
    info, found = recording.info, {}
    first = data.captures[0].get("core:global_index", 0) if data.captures else 0
    for capture in data.captures or [{"core:sample_start": 0}]:
        found[capture["core:sample_start"]] = capture
    early: dict[str, Any] = {}
    signals = [note for note in info.annotations if note.label == "signal" and not note.foreign]
    for note in sorted(signals, key=lambda note: note.sample_start):
        start = note.sample_start - first
        if start < 0:
            early.update(_capture(note, 0))
        if not 0 <= start <= info.samples:
            continue
        capture = found.setdefault(start, {"core:global_index": note.sample_start})
        time = recording.time_of(start)
        if not numpy.isnat(time):
            capture.setdefault("core:datetime", _time(time))
        capture.update(_capture(note, start))
    begin = found[min(found)]
    found[min(found)] = {**early, **begin}
    return [found[start] for start in sorted(found)]


def _annotations(recording: Recording, data: _Data) -> list[dict[str, Any]]:
    """Of the recording and its gaps, in order. The file's first sample is 0."""
    info = recording.info
    first = data.captures[0].get("core:global_index", 0) if data.captures else 0
    found = [{"core:sample_start": start, "core:sample_count": count, "core:label": "missing",
              f"{_NAMESPACE}:missing": True} for start, count in data.missing]
    for note in info.annotations:
        start = note.sample_start - first
        if not 0 <= start <= info.samples or (note.label == "signal" and not note.foreign):
            continue
        entry = _object(note.details)
        entry["core:sample_start"] = start
        entry["core:sample_count"] = min(note.sample_count, info.samples - start)
        if note.label:
            entry["core:label"] = note.label
        if note.comment:
            entry["core:comment"] = note.comment
        if note.lost:
            entry[f"{_NAMESPACE}:lost"] = True
        found.append(entry)
    return sorted(found, key=lambda entry: int(entry["core:sample_start"]))


def _group(group: RecordingGroup) -> dict[str, Any]:
    told: dict[str, Any] = {"id": group.id}
    if group.members:
        told.update(name=group.name, number=group.number, members=group.members)
    if group.starts_at_ns is not None:
        told["starts_at"] = f"{numpy.datetime64(group.starts_at_ns, 'ns')}Z"
    if group.clock:
        told.update(clock=group.clock, clock_error_ns=round(group.clock_error_s * 1e9))
    return told


def _meta(recording: Recording, data: _Data, sha512: str) -> dict[str, Any]:
    info = recording.info
    others = _object(info.origin.metadata)
    given = others.get("global", {})
    fields: dict[str, Any] = {
        "core:recorder": "Tapedeck", **given, "core:datatype": info.datatype, "core:version": _VERSION,
        "core:sha512": sha512, "core:extensions": [
            *given.get("core:extensions", []), {"name": _NAMESPACE, "version": "1.0.0", "optional": True}],
        f"{_NAMESPACE}:recording": info.name, f"{_NAMESPACE}:uid": info.uid, f"{_NAMESPACE}:labels": dict(info.labels)}
    if info.origin.source.name:
        fields[f"{_NAMESPACE}:origin"] = {key: value for key, value in dataclasses.asdict(info.origin).items()
                                           if value and key != "metadata"}
    if info.group is not None:
        fields[f"{_NAMESPACE}:group"] = _group(info.group)
    if info.sample_rate:
        fields["core:sample_rate"] = info.sample_rate
    if info.description:
        fields["core:description"] = info.description
    return {**others, "global": fields, "captures": _captures(recording, data),
            "annotations": _annotations(recording, data)}


def export(recording: Recording, path: str, replace: bool, gaps: bool) -> str:
    """See Recording.to_sigmf."""
    stem = path.removesuffix(".sigmf-meta").removesuffix(".sigmf-data")
    meta_path, data_path = f"{stem}.sigmf-meta", f"{stem}.sigmf-data"
    with _written(meta_path, replace) as meta_file:
        with _written(data_path, replace) as data_file:
            data = _Data(recording, data_file, gaps)
            sha512 = data.write()
        meta_file.write(json.dumps(_meta(recording, data, sha512), indent=2, ensure_ascii=False).encode() + b"\n")
    return meta_path
