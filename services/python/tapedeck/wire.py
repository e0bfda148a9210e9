"""What goes over a TCP rail, as dataplane/README.md and dataplane/transport/tcp/wire.h say: a hello each way, then
operations, each with a header of 32 bytes, a frame of 64 and the payload. Of operations a player needs SEND alone."""
from __future__ import annotations

import struct
from typing import NamedTuple

from tapedeck.crc import crc32c
from tapedeck.errors import ProtocolViolation

TOKEN_BYTES = 16
HELLO_BYTES = 32
PREAMBLE_BYTES = 96
VERSION = 1
# Of sessions.
PROTOCOL = 4

# Types of frames.
BLOCK, GRANT, RECEIVED, ACK, RESEND, PING = range(1, 7)
# Flags of a block.
MISSING, PARTIAL, DAMAGED = 1, 2, 4

_HELLO = struct.Struct("<IHH16s8x")
_HELLO_MAGIC = 0x49484454
_OPERATION = struct.Struct("<IB3xIIQQ")
_OPERATION_MAGIC = 0x504F4454
_SEND = 1
# Magic, version, type, slot, recording, sequence, sample, time, payload bytes, its CRC, number, flags; triggers are
# not for players.
FRAME = struct.Struct("<HBBIQQQqIIIH6x")
_FRAME_MAGIC = 0x4454
_FRAME_VERSION = 2
_FRAME_CRC = struct.Struct("<I")
_FRAME_CHECKED = 60


class Frame(NamedTuple):
    """A frame, without what a player has no use for."""

    kind: int
    sequence: int
    sample_index: int
    capture_ns: int
    payload_bytes: int
    crc: int
    flags: int
    number: int


def hello(token: bytes) -> bytes:
    """Of the end that connects."""
    return _HELLO.pack(_HELLO_MAGIC, VERSION, 0, token)


def verdict(answer: bytes) -> tuple[int, int]:
    """Of the end that listens: its wire version, and 0 if we are welcome."""
    magic, version, said, _ = _HELLO.unpack(answer)
    if magic != _HELLO_MAGIC:
        raise ProtocolViolation("the peer's answer is not a hello: not a Tapedeck rail?", code="INVALID_ARGUMENT")
    return version, said


def _violation(what: str) -> ProtocolViolation:
    return ProtocolViolation(f"the storage node sent {what}", code="INVALID_ARGUMENT",
                             metadata={"peer": "storage node", "message": "frame"})


def operation(kind: int, number: int, sequence: int = 0) -> bytes:
    """A SEND without payload: a frame of this end."""
    frame = FRAME.pack(_FRAME_MAGIC, _FRAME_VERSION, kind, 0, 0, sequence, 0, 0, 0, 0, number, 0)
    return _OPERATION.pack(_OPERATION_MAGIC, _SEND, 0, 0, 0, 0) + frame + _FRAME_CRC.pack(crc32c(frame))


def decode(preamble: bytes) -> Frame:
    """The frame of an operation that came; ProtocolViolation unless it is a SEND that is whole and nothing odd."""
    magic, kind, payload_bytes, _, _, _ = _OPERATION.unpack_from(preamble)
    if magic != _OPERATION_MAGIC or kind != _SEND:
        raise _violation("bytes that are not an operation of this session")
    frame = preamble[_OPERATION.size:]
    found = FRAME.unpack_from(frame)
    if found[0] != _FRAME_MAGIC or _FRAME_CRC.unpack_from(frame, _FRAME_CHECKED)[0] != crc32c(frame[:_FRAME_CHECKED]):
        raise _violation("a frame whose check value does not match")
    _, sequence, sample, time_ns, size, crc, number, flags = found[4:]
    block = Frame(found[2], sequence, sample, time_ns, size, crc, flags, number)
    if found[1] != _FRAME_VERSION or block.kind not in (BLOCK, PING) or payload_bytes != block.payload_bytes:
        raise _violation("a frame that does not belong here")
    return block
