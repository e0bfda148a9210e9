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


class LunNotFound(Error):
    """No such LUN."""


class LunExists(Error):
    """The LUN's name is taken, or a LUN with its UUID is here."""


class LunNotEmpty(Error):
    """The LUN still holds recordings; delete them first or set force."""


class LunFull(Error):
    """The LUN's capacity is used up, or its file system is full."""


class ChannelNotFound(Error):
    """No such channel."""


class ChannelExists(Error):
    """The channel's name is taken."""


class ChannelInUse(Error):
    """The channel is being recorded or still holds recordings."""


class RecordingNotFound(Error):
    """No such recording."""


class RecordingBusy(Error):
    """The recording is still being written, or is being deleted."""


class BlockSizeInvalid(Error):
    """Block sizes are multiples of 4096 from 64 KiB to 8 MiB."""


class DatatypeInvalid(Error, ValueError):
    """Not a SigMF datatype."""


class NameInvalid(Error, ValueError):
    """Names are 1 to 63 of [A-Za-z0-9._-] and start with a letter or digit."""


class ArgumentInvalid(Error, ValueError):
    """Another field of the request is wrong."""


class MemberUnusable(Error):
    """A member is missing, not writable, or belongs to another LUN."""


class RailUnreachable(Error):
    """No connection could be made on a rail."""


class RailUnknown(Error):
    """No rail of that name, or of a transport both ends have."""


class AllRailsDown(Error):
    """Every rail failed and none came back within the grace period."""


class TokenInvalid(Error):
    """A data connection did not prove that it belongs to its session."""


class VersionMismatch(Error):
    """The ends speak different protocol versions."""


class PeerLost(Error):
    """The peer's process or its control stream went away."""


class NodeUnreachable(Error):
    """The storage node cannot be reached."""


class BlockDamaged(Error):
    """Blocks are damaged or missing."""


class FileNotFound(Error):
    """An input file is missing or not readable."""


class FileInvalid(Error):
    """An input file is not what it claims to be."""


class DeviceUnusable(Error):
    """The device cannot be used: no GPU, or a build without CUDA."""


class JobNotFound(Error):
    """No such job."""


class JobNotLive(Error):
    """The job has no live source to stop: it plays, or its source has an end of its own."""


class JobCancelled(Error):
    """The job was cancelled; what it had recorded is kept."""


class StoreIo(Error):
    """A member failed an operation, or vanished while in use."""


class LimitReached(Error):
    """A limit of the node."""


class Draining(Error):
    """The node is shutting down and takes no new work."""


class ProtocolViolation(Error):
    """A peer broke the session protocol."""


class ContentMismatch(Error):
    """Played-back data is intact but not what the verify sink expected."""


class NoRdmaDevice(Error):
    """No RDMA device has the rail's address, or the machine or build has none."""


class NoRoceV2Gid(Error):
    """The rail's address is no RoCEv2 address (GID) of its port."""


class PortDown(Error):
    """The RDMA port of a rail is down."""


class DeviceGone(Error):
    """The RDMA device of a rail was removed or has failed."""


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
    """Packets of the path MTU do not get through, small ones do."""


class MemlockTooLow(Error):
    """The limit of locked memory does not allow to register the ring."""


class GpuMemoryNotRegistrable(Error):
    """The RDMA device cannot reach GPU memory."""


class RdmaFailed(Error):
    """An RDMA request failed in a way that has no name of its own."""


class ChannelNotTriggered(Error):
    """No session records into the channel, or it has no trigger window."""


class LunOffline(Error):
    """A LUN could not be opened, or a member vanished since; it is tried again."""


class MemberNotEmpty(Error):
    """A directory for a LUN or a channel holds what Tapedeck has not made."""


class FileExists(Error, FileExistsError):
    """A file that a playback would write is there already."""


class LunNotResponding(Error):
    """The disks of a LUN have not done in time what was asked of them."""


class SessionStalled(Error):
    """A session stayed in one of its phases for too long."""


class StagesUnknown(Error):
    """What a recording or job spent its time on is not known."""


class TlsUnusable(Error):
    """A certificate file cannot be read, is not what it should be, or has expired."""


class AccessDenied(Error):
    """No rule of the policy gives the caller the role that the call needs."""


class ResumeRefused(Error):
    """A recording cannot be gone on with; it stays as it is."""


class FileOutsideRoots(Error):
    """A job names a file beneath no directory that its worker was given for that."""


class StorageNotAllowed(Error):
    """A job names a storage node that its worker may not call."""


class RailTlsUnusable(Error):
    """The connections of a rail cannot be encrypted."""


class RailTlsMismatch(Error):
    """One end of a session encrypts what its rails carry, the other does not."""


class RailTlsBroken(Error):
    """What came over an encrypted connection was not sent by the peer, or not so."""


class SourceSilent(Error):
    """Nothing of the stream that a source receives came for too long."""


class DestinationNotAllowed(Error):
    """A job names an address that its worker may not send to."""


class DestinationUnreachable(Error):
    """What a sink sends reaches nobody."""


class StateUnusable(Error):
    """The state directory of the storage node cannot be written or read; recording goes on."""


class DeviceFailed(Error):
    """The device of a worker has failed in use, and computes nothing more until the worker is started again."""


class InletNotFound(Error):
    """The worker has no inlet of that name."""


class InletBusy(Error):
    """An inlet of that name is open already, or another stream comes through it."""


class InletTimedOut(Error):
    """No stream came to an inlet."""


class InletsOff(Error):
    """The worker was started without inlets."""
