"""One TCP connection of a rail: the end of a player. A thread of its own reads it and keeps it alive.

Every wait has an end: the socket wakes the thread twice a second, which pings the node once a second and gives up when
the node was silent for 3 s. What the node sends is checked before it is used: no payload is read for which there was no
grant, and none that is longer than a block.
"""
from __future__ import annotations

import socket
import threading
import time
from typing import Callable, Optional

from tapedeck import wire
from tapedeck.datatypes import Array
from tapedeck.errors import Error, LimitReached, ProtocolViolation, RailUnreachable, TokenInvalid, VersionMismatch

CONNECT_S = 4.0
_WAKE_S = 0.5
_PING_S = 1.0
_SILENCE_S = 3.0
# The kernel wakes the thread for a good piece of a payload, not for every segment.
_PIECE_BYTES = 256 << 10


def _connected(rail: str, address: str, port: int, token: bytes) -> socket.socket:
    deadline_s = time.monotonic() + CONNECT_S
    peer = socket.create_connection((address, port), timeout=CONNECT_S)
    try:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.sendall(wire.hello(token))
        answer = b""
        while len(answer) < wire.HELLO_BYTES:
            peer.settimeout(max(deadline_s - time.monotonic(), 0.001))
            more = peer.recv(wire.HELLO_BYTES - len(answer))
            if not more:
                raise ConnectionError("the peer closed the connection before its hello")
            answer += more
        version, said = wire.verdict(answer)
        if version != wire.VERSION:
            raise VersionMismatch(f"the peer speaks wire version {version}, this end {wire.VERSION}",
                                  code="FAILED_PRECONDITION", metadata={"ours": str(wire.VERSION), "theirs": str(version)})
        if said != 0:
            raise TokenInvalid(f"rail {rail}: the peer refused the session token", code="UNAUTHENTICATED",
                               metadata={"rail": rail})
    except BaseException:
        peer.close()
        raise
    return peer


class Rail:
    """Up from the start. `place` says where the payload of a block goes, `arrived` is told of each block, `failed` of
    the end of the connection; all three on the thread."""

    def __init__(self, rail: str, address: str, port: int, token: bytes) -> None:
        self.name = rail
        try:
            self._socket = _connected(rail, address, port, token)
        except OSError as error:
            raise RailUnreachable(f"rail {rail} to {address}:{port}: {error}", code="UNAVAILABLE",
                                  metadata={"rail": rail, "address": address}) from None
        self._socket.settimeout(_WAKE_S)
        self._lock = threading.Lock()  # of what is sent, and of the numbers
        self._sent = 0
        self._credits = 0
        self._closed = False
        self._heard_s = self._pinged_s = time.monotonic()
        self._thread: Optional[threading.Thread] = None

    def start(self, place: Callable[[wire.Frame], Array], arrived: Callable[[wire.Frame, Array], None],
              failed: Callable[[Error], None]) -> None:
        """Begins to read."""
        def read() -> None:
            try:
                self._read_blocks(place, arrived)
            except (OSError, Error) as error:
                if not self._closed:
                    failed(error if isinstance(error, Error) else self._down(str(error)))
            except MemoryError:
                failed(LimitReached("there is no memory for a block", code="RESOURCE_EXHAUSTED"))

        self._thread = threading.Thread(target=read, name=f"tapedeck-{self.name}", daemon=True)
        self._thread.start()

    def send(self, *kinds: tuple[int, int], grants: int = 0) -> None:
        """Frames (kind, sequence), and so many grants. RailUnreachable where the node does not read."""
        with self._lock:
            self._credits += grants
            frames = []
            for kind, sequence in (*kinds, *[(wire.GRANT, 0)] * grants):
                frames.append(wire.operation(kind, self._sent, sequence))
                self._sent = (self._sent + 1) & 0xFFFFFFFF
            try:
                self._socket.sendall(b"".join(frames))
            except OSError as error:
                raise self._down(str(error)) from None

    def close(self) -> None:
        """The thread ends; no callback comes afterwards."""
        self._closed = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed already
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(2 * _WAKE_S)
        self._socket.close()

    def _down(self, why: str) -> RailUnreachable:
        return RailUnreachable(f"rail {self.name}: {why}", code="UNAVAILABLE", metadata={"rail": self.name})

    def _read_blocks(self, place: Callable[[wire.Frame], Array], arrived: Callable[[wire.Frame, Array], None]) -> None:
        preamble = bytearray(wire.PREAMBLE_BYTES)
        number = 0
        while not self._closed:
            self._fill(memoryview(preamble))
            frame = wire.decode(bytes(preamble))
            if frame.number != number:
                raise self._down(f"frame {frame.number} came where {number} was due")
            number = (number + 1) & 0xFFFFFFFF
            if frame.kind == wire.PING:
                continue
            if frame.payload_bytes:
                self._take_credit()
            into = place(frame)
            if frame.payload_bytes:
                self._fill(memoryview(into))  # type: ignore[arg-type]
            self.send((wire.RECEIVED, frame.sequence))
            arrived(frame, into)

    def _take_credit(self) -> None:
        with self._lock:
            self._credits -= 1
            if self._credits < 0:
                raise ProtocolViolation("the storage node sent a payload that no grant was given for",
                                        code="INVALID_ARGUMENT", metadata={"peer": "storage node", "message": "block"})

    def _fill(self, view: memoryview) -> None:
        lowest = 0
        while view:
            self._beat()
            wanted = min(len(view), _PIECE_BYTES)
            if wanted != lowest:
                lowest = wanted
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)
            try:
                got = self._socket.recv_into(view)
            except socket.timeout:
                continue
            if got == 0:
                raise self._down("the storage node closed the connection")
            self._heard_s = time.monotonic()
            view = view[got:]

    def _beat(self) -> None:
        now_s = time.monotonic()
        if now_s - self._heard_s >= _SILENCE_S:
            raise self._down("the storage node has been silent for 3 s")
        if now_s - self._pinged_s >= _PING_S:
            self._pinged_s = now_s
            self.send((wire.PING, 0))
