"""A playback session of this program's own: blocks of a recording over a TCP rail, in order, each checked by CRC32C.

The op is SEND: the node sends a block for each grant, so what is in memory is bounded by the grants that are out. The
rail's thread only receives; check values are computed by the caller, so that both work at the same time.
"""
from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any, Callable, NamedTuple, Optional

import numpy

from tapedeck import wire
from tapedeck.calls import Calls, request_id
from tapedeck.control import Control
from tapedeck.crc import crc32c
from tapedeck.datatypes import Array
from tapedeck.descriptors import message, number_of
from tapedeck.errors import AllRailsDown, BlockDamaged, Error, ProtocolViolation, RailUnknown, RailUnreachable, SessionStalled, VersionMismatch
from tapedeck.rail import Rail
from tapedeck.values import RecordingInfo

_PATIENCE_S = 30.0  # for the next block of a closed recording
_PEERS_WORD_S = 1.0  # for why the session has ended, once its rail is down
# Blocks that may be known beyond the one that is due, as dataplane/transfer/receiver.cc has it.
_MOST_AHEAD = 8192
_MOST_REJECTED = 4
_NOTHING: Array = numpy.empty(0, dtype=numpy.uint8)


class Arrived(NamedTuple):
    """A block of a recording, as it came. `data` (uint8) is empty where it is missing."""

    block: int
    sample_index: int
    capture_ns: int
    data: Array

    @property
    def missing(self) -> bool:
        """Nothing of it is there, or it is damaged."""
        return len(self.data) == 0


def fresh(_block: int, size: int) -> Array:
    """Where the payload of a block goes, unless somebody knows better."""
    return numpy.empty(size, dtype=numpy.uint8)


class Playback:
    """From block `first` on; with `follow` of a recording that is being written, too."""

    def __init__(self, calls: Calls, info: RecordingInfo, first: int, *, wanted: Optional[int] = None,
                 follow: bool = False, window: int = 2, place: Callable[[int, int], Array] = fresh) -> None:
        self._info, self._wanted, self._follow, self._place_in = info, wanted, follow, place
        self._changed = threading.Condition()
        self._rail: Optional[Rail] = None
        self._down: Optional[Error] = None
        self._arrived: dict[int, tuple[wire.Frame, Array]] = {}
        self._next = 0
        self._granted = 0
        self._rejected = 0  # times in a row
        _check_version(calls)
        self._control = Control(calls, _open_fields(info, first, follow, window), self._changed)
        try:
            accept = self._control.take("accept")
            self._first = self._check_accept(accept, first)
            self._rail = self._connect(accept)
            self._rail.start(self._place, self._on_arrived, self._on_down)
            self._grant(window)
        except BaseException:
            self.close(well=False)
            raise

    def __enter__(self) -> Playback:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        # Whoever breaks off an iteration has what was wanted.
        self.close(well=kind is None or issubclass(kind, GeneratorExit))

    def close(self, well: bool = True) -> None:
        """Ends the session, in order if all is well."""
        self._control.leave(well)
        if self._rail is not None:
            self._rail.close()

    def take(self) -> Optional[Arrived]:
        """The next block; None behind the last that there is, or that was wanted."""
        assert self._rail is not None
        while self._wanted is None or self._next < self._wanted:
            found = self._await_next()
            if found is None:
                return None
            frame, data = found
            sound = not frame.payload_bytes or crc32c(data) == frame.crc
            self._next += sound
            self._rejected = 0 if sound else self._rejected + 1
            try:
                self._answer(frame, sound)
            except RailUnreachable as error:
                self._on_down(error)
            if frame.flags & (wire.MISSING | wire.DAMAGED):
                data = _NOTHING  # what is good of a block was not asked for
            if sound:
                return Arrived(self._first + frame.sequence, frame.sample_index, frame.capture_ns, data)
        return None

    def _answer(self, frame: wire.Frame, sound: bool) -> None:
        """Takes the block, or asks for it again: the node reads it once more, and the second time ends the session."""
        assert self._rail is not None
        if sound:
            self._rail.send((wire.ACK, self._next))
            if frame.payload_bytes:
                self._grant(1)
        elif self._rejected < _MOST_REJECTED:
            self._rail.send((wire.RESEND, frame.sequence), grants=1)
        else:
            raise BlockDamaged(f"{self._info.name}: block {self._first + frame.sequence} came damaged {self._rejected} times",
                               code="DATA_LOSS", metadata={"recording": self._info.name, "blocks": "1"})

    def _grant(self, more: int) -> None:
        """As many as are wanted at most."""
        assert self._rail is not None
        if self._wanted is not None:
            more = min(more, self._wanted - self._granted)
        self._granted += more
        self._rail.send(grants=more)

    def _await_next(self) -> Optional[tuple[wire.Frame, Array]]:
        deadline_s = time.monotonic() + _PATIENCE_S
        down_s: Optional[float] = None
        with self._changed:
            while self._next not in self._arrived:
                if self._control.total is not None and self._next >= self._control.total:
                    return None
                self._control.check()
                now_s = time.monotonic()
                if self._down is not None:
                    down_s = down_s or now_s
                    self._give_up_on(self._down, now_s - down_s >= _PEERS_WORD_S)
                if not self._follow and now_s >= deadline_s:
                    raise SessionStalled(f"{self._info.name}: block {self._first + self._next} has not come in "
                                         f"{_PATIENCE_S:.0f} s", code="DEADLINE_EXCEEDED", metadata={"phase": "move"})
                self._changed.wait(0.2)
            return self._arrived.pop(self._next)

    @staticmethod
    def _give_up_on(down: Error, waited: bool) -> None:
        """What the node did wrong is told at once; why a connection is gone the node itself may say."""
        if not isinstance(down, RailUnreachable):
            raise down
        if waited:
            raise AllRailsDown(str(down), code="UNAVAILABLE", metadata=down.metadata)

    def _place(self, frame: wire.Frame) -> Array:
        total = self._control.total
        if (frame.payload_bytes > self._info.block_bytes or frame.sequence >= self._next + _MOST_AHEAD
                or (total is not None and frame.sequence >= total)):
            raise ProtocolViolation(f"block {frame.sequence} of {frame.payload_bytes} bytes does not belong to this session",
                                    code="INVALID_ARGUMENT", metadata={"message": "block"})
        if frame.payload_bytes == 0:
            return _NOTHING
        if self._needs(frame.sequence):
            return self._place_in(self._first + frame.sequence, frame.payload_bytes)
        return fresh(0, frame.payload_bytes)

    def _needs(self, sequence: int) -> bool:
        """Not one that came again, nor one beyond what was asked for."""
        return (self._next <= sequence and sequence not in self._arrived
                and (self._wanted is None or sequence < self._wanted))

    def _on_arrived(self, frame: wire.Frame, data: Array) -> None:
        with self._changed:
            if self._needs(frame.sequence):
                self._arrived[frame.sequence] = (frame, data)
                self._changed.notify_all()

    def _on_down(self, why: Error) -> None:
        with self._changed:
            self._down = self._down or why
            self._changed.notify_all()

    def _check_accept(self, accept: Any, first: int) -> int:
        """The block that comes first."""
        info = self._info
        wrong = [field for field, well in (
            ("block_bytes", accept.block_bytes == info.block_bytes), ("datatype", accept.datatype == info.datatype),
            ("transfer_op", accept.transfer_op == number_of("TransferOp", "SEND")),
            ("blocks", accept.blocks <= (1 << 62) // info.block_bytes),
            ("first_block", accept.first_block == first or (self._wanted is None and accept.first_block < first))) if not well]
        if wrong:
            raise ProtocolViolation(f"the storage node sent Accept whose {wrong[0]} is not the one requested",
                                    code="INVALID_ARGUMENT", metadata={"message": "Accept", "field": wrong[0]})
        return int(accept.first_block)

    def _connect(self, accept: Any) -> Rail:
        """Over the first rail of the node that is of TCP and answers."""
        failure: Error = RailUnknown("the storage node has no TCP rail, the only kind that this package uses",
                                     code="INVALID_ARGUMENT")
        for rail in accept.rails:
            if rail.transport != "tcp":
                continue
            own = message("TcpEndpoint")(address="", port=0, token=bytes(wire.TOKEN_BYTES))
            self._control.say(rail_offer=message("RailOffer")(rail=rail.name, generation=1, tcp=own))
            end = self._control.take("rail_offer").tcp
            if len(end.token) != wire.TOKEN_BYTES or not 0 < end.port <= 65535:
                raise ProtocolViolation("the storage node sent RailOffer whose endpoint cannot be",
                                        code="INVALID_ARGUMENT", metadata={"message": "RailOffer"})
            try:
                return Rail(rail.name, end.address, end.port, end.token)
            except RailUnreachable as error:
                failure = error
        raise failure


def window_for(block_bytes: int) -> int:
    """Grants that fill a rail: 8 MiB, as dataplane/transfer/lane_depth.h has it."""
    return min(max((8 << 20) // block_bytes, 4), 64)


def _check_version(calls: Calls) -> None:
    """VersionMismatch where the node speaks another session protocol."""
    theirs = calls.protocol()
    if theirs != wire.PROTOCOL:
        raise VersionMismatch(f"{calls.node} speaks session protocol {theirs}, this package {wire.PROTOCOL}",
                              code="FAILED_PRECONDITION",
                              metadata={"ours": str(wire.PROTOCOL), "theirs": str(theirs)})


def _open_fields(info: RecordingInfo, first: int, follow: bool, window: int) -> dict[str, Any]:
    return {"version": wire.PROTOCOL, "direction": number_of("Direction", "PLAYBACK"), "recording": info.name,
            "recorder": "tapedeck for Python", "request_id": request_id(), "slots": 2 * window,
            "slot_bytes": info.block_bytes, "transfer_op": number_of("TransferOp", "SEND"),
            "playhead": message("Playhead")(block=first, follow=follow)}
