"""What can go wrong: one exception for each reason of proto/tapedeck/v1/errors.proto, named after it.

    try:
        array = recording.samples(0, 1000)
    except tapedeck.errors.NodeUnreachable as error:
        print(error.reason, error.metadata)      # NODE_UNREACHABLE {'node': '10.0.0.1:7400'}

All of them are Error. A reason that is newer than this package comes as Error itself, with its name in `reason`.
"""
from __future__ import annotations

import re
from typing import Mapping, Optional

_REASONS: dict[str, type[Error]] = {}


class Error(Exception):
    """What all others are. Its text says what happened; `code` is a word of google.rpc.Code."""

    reason = ""

    def __init__(self, message: str, *, code: str = "UNKNOWN", metadata: Optional[Mapping[str, str]] = None,
                 reason: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.metadata: dict[str, str] = dict(metadata or {})
        if reason is not None:
            self.reason = reason

    def __init_subclass__(cls) -> None:
        cls.reason = re.sub(r"(?<=.)(?=[A-Z])", "_", cls.__name__).upper()
        _REASONS[cls.reason] = cls


def of_reason(reason: str, message: str, code: str = "UNKNOWN", metadata: Optional[Mapping[str, str]] = None) -> Error:
    """The exception that is named after `reason`."""
    return _REASONS.get(reason, Error)(message, code=code, metadata=metadata, reason=reason)


def reasons() -> frozenset[str]:
    """All that have an exception of their own."""
    return frozenset(_REASONS)


# One for each reason, made by proto/reasons.py.


class LunNotFound(Error):
    """No such LUN. Metadata: lun."""


class LunExists(Error):
    """The LUN's name is taken, or a LUN with its UUID is here. Metadata: lun."""


class LunNotEmpty(Error):
    """The LUN still holds recordings. Metadata: lun, recordings."""


class LunFull(Error):
    """The LUN's capacity is used up, or its file system is full. Acknowledged blocks are kept. `member` names the one
    member that is full. With `lacks`, `disk` or `capacity`, the recording is larger than the LUN can hold. Metadata:
    lun, capacity_bytes, used_bytes, member, lacks."""


class ChannelNotFound(Error):
    """No such channel. Metadata: channel."""


class ChannelExists(Error):
    """The channel's name is taken. Metadata: channel."""


class ChannelInUse(Error):
    """The channel is being recorded, or still holds recordings and cannot be deleted. Metadata: channel."""


class RecordingNotFound(Error):
    """No such recording; DATA_LOSS if it was deleted before the player of its stream reached it. `moved_to` names the
    copy that replaced it, if there is one. Metadata: recording, moved_to."""


class RecordingBusy(Error):
    """The recording is still being written, or is being deleted. Metadata: recording, state."""


class BlockSizeInvalid(Error):
    """Block sizes are multiples of 4096 from 64 KiB to 8 MiB. Metadata: block_bytes."""


class DatatypeInvalid(Error, ValueError):
    """Not a SigMF datatype. Metadata: datatype."""


class NameInvalid(Error, ValueError):
    """Names are 1 to 63 of [A-Za-z0-9._-] and start with a letter or digit. Metadata: name."""


class ArgumentInvalid(Error, ValueError):
    """Another field of the request is wrong. Metadata: field."""


class MemberUnusable(Error):
    """A member directory is missing, not writable, in another LUN or member, or outside the node's directories for
    members. Or a link has the name of a file of Tapedeck. Metadata: member."""


class RailUnreachable(Error):
    """No connection could be made on a rail; DEADLINE_EXCEEDED if the peer did not come in time. Metadata: rail,
    address."""


class RailUnknown(Error):
    """No rail has that name, or none has a transport that both ends have. Metadata: rail."""


class AllRailsDown(Error):
    """Every rail failed and none came back within the grace period. The recording is kept up to its watermark.
    Metadata: rail."""


class TokenInvalid(Error):
    """A data connection did not prove that it belongs to its session. Metadata: rail."""


class VersionMismatch(Error):
    """The ends speak different protocol versions. Metadata: ours, theirs."""


class PeerLost(Error):
    """The peer's process or its control stream went away. Metadata: node."""


class NodeUnreachable(Error):
    """The storage node cannot be reached. Metadata: node."""


class BlockDamaged(Error):
    """Blocks are damaged, or missing from the range that was to be played. Metadata: recording, blocks, path."""


class FileNotFound(Error):
    """An input file is missing or not readable. Metadata: path."""


class FileInvalid(Error):
    """An input file is not what it claims to be. Metadata: path."""


class DeviceUnusable(Error):
    """The device cannot be used: no GPU, or a build without CUDA. Metadata: device."""


class JobNotFound(Error):
    """No such job. A worker without `--state` knows no jobs from before its restart. Metadata: job."""


class JobCancelled(Error):
    """The job was cancelled; its recorded blocks are kept. Metadata: job."""


class StoreIo(Error):
    """A member failed an operation, or vanished while in use; the durable blocks are kept where the member is.
    DATA_LOSS or OUT_OF_RANGE if the member holds something else than expected or ends too early; RESOURCE_EXHAUSTED if
    the disk of an output file is full. Metadata: member, operation."""


class LimitReached(Error):
    """A limit of the node. Metadata: limit, option."""


class Draining(Error):
    """The node is shutting down and takes no new work."""


class ProtocolViolation(Error):
    """A peer broke the session protocol. Metadata: message, field, peer."""


class ContentMismatch(Error):
    """Played-back data is intact but not what the verify sink expected. Metadata: block."""


class NoRdmaDevice(Error):
    """No RDMA device has the rail's address, or the machine or build has none. Metadata: address."""


class NoRoceV2Gid(Error):
    """The rail's address is no RoCEv2 address (GID) of its port. Metadata: rail, device."""


class PortDown(Error):
    """The RDMA port of a rail is down. Metadata: rail, device."""


class DeviceGone(Error):
    """The RDMA device of a rail was removed or has failed. Metadata: rail, device."""


class PeerNotAnswering(Error):
    """The peer's port does not answer (retries exceeded)."""


class ReceiverOverrun(Error):
    """A payload found no posted receive."""


class MemoryRevoked(Error):
    """An access to the other end's memory was refused."""


class RequestRefused(Error):
    """The peer's port refused a request."""


class MemoryUnreachable(Error):
    """The port cannot reach this end's own registered memory."""


class PathMtuMismatch(Error):
    """Packets of the path MTU do not get through, small ones do. Metadata: mtu_bytes."""


class MemlockTooLow(Error):
    """The limit of locked memory does not allow to register the ring. Metadata: bytes, limit."""


class GpuMemoryNotRegistrable(Error):
    """The RDMA device cannot reach GPU memory. Metadata: bytes."""


class RdmaFailed(Error):
    """An RDMA request failed in another way. The text holds status and vendor code."""


class ChannelNotTriggered(Error):
    """No session waits for a trigger on the channel, or it is not ready: `phase` says how far it is. Metadata: channel,
    phase."""


class LunOffline(Error):
    """A member of the LUN was missing or unusable when the node started, or has vanished since. Or the node is a
    standby for the LUN, and another node has it. The node tries again every few seconds. Metadata: lun."""


class MemberNotEmpty(Error):
    """A directory for a LUN or a channel holds files that Tapedeck did not make. Metadata: member, found."""


class FileExists(Error, FileExistsError):
    """A file that a playback or an export would write already exists. Metadata: path."""


class LunNotResponding(Error):
    """The disks of a LUN did not finish in time. A session waits for them to begin, or the node to release the LUN.
    Metadata: phase, lun."""


class SessionStalled(Error):
    """A session stayed in one of its phases for too long. Metadata: phase, seconds."""


class StagesUnknown(Error):
    """The stage times of a recording or job are not known. It is older than that record, was salvaged after a crash, or
    has moved no block yet. Metadata: recording, job."""


class TlsUnusable(Error):
    """A certificate file cannot be read, is not what it should be, or has expired. Metadata: path."""


class AccessDenied(Error):
    """The caller's certificate does not allow this: no rule of the policy gives its identity the role that the call
    needs. Metadata: identity, role, resource."""


class ResumeRefused(Error):
    """A recording cannot be resumed; it stays as it is. `why` names the cause. TOKEN: another worker made it. SEALED:
    it ended by itself, after `blocks` blocks. CHANNEL: it is in another one. LATE: it ended over an hour ago. GAP: the
    worker has forgotten too much. Or DELETED. Metadata: recording, why, blocks."""


class FileOutsideRoots(Error):
    """A job names a file beneath no directory that its worker was given for that, or a link leads there. Metadata:
    path, option."""


class StorageNotAllowed(Error):
    """A job names a storage node that its worker may not call. Metadata: storage, option."""


class RailTlsUnusable(Error):
    """The connections of a rail cannot be encrypted: the kernel lacks TLS, or the rail is not of TCP. Metadata:
    rail."""


class RailTlsMismatch(Error):
    """The ends of a session differ: only one encrypts its rails. Metadata: rail."""


class RailTlsBroken(Error):
    """Data on an encrypted connection did not come from the peer, or was changed on the way."""


class SourceSilent(Error):
    """A source received nothing of its stream for too long. Metadata: source."""


class DestinationNotAllowed(Error):
    """A job names an address that its worker may not send to. Metadata: address, option."""


class DestinationUnreachable(Error):
    """The samples that a sink sends reach no program. Metadata: address."""


class DeviceFailed(Error):
    """A worker's device failed in use and computes nothing until the worker restarts. Metadata: device."""


class InletNotFound(Error):
    """The worker has no inlet of that name. Metadata: inlet."""


class InletBusy(Error):
    """An inlet of that name is open already, or another stream comes through it. Metadata: inlet."""


class InletTimedOut(Error):
    """No stream came to an inlet. Metadata: inlet."""


class InletsOff(Error):
    """The worker was started without `--inlets`."""


class StateUnusable(Error):
    """The storage node cannot write or read its state directory, or the directory is no longer the one that the node
    opened. Recording goes on. RESOURCE_EXHAUSTED if its file system is full or too much waits for it. Metadata:
    directory, operation."""


class JobNotLive(Error):
    """The job has no live source to stop: it plays, or its source has an end of its own. Metadata: job."""


# The end of what proto/reasons.py makes.
