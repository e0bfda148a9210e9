"""The control stream of a playback session: services/session/README.md has its course. Its life is the session's lease.

A thread reads what the node says. Before it accepts, the node says every second what it is at; afterwards, five times a
second how far it is. So a node that is silent is gone, whatever the network says.
"""
from __future__ import annotations

import queue
import threading
import time
from typing import Any, Iterator, Optional

import grpc

from tapedeck.calls import Calls
from tapedeck.descriptors import message
from tapedeck.errors import Error, PeerLost, ProtocolViolation, SessionStalled
from tapedeck.failures import of_call, of_status

_ANSWER_S = 4.0  # of a node that is well; each word of what it is at begins it anew
_SILENCE_S = 3.5
_OPENING_S = 60.0
_FAREWELL_S = 2.0
# An honest node says an answer to each offer, Accept, EndOfStream and Finished.
_MOST_WAITING = 64


class Control:
    """Opened at once. `changed` is notified of all that comes."""

    def __init__(self, calls: Calls, fields: dict[str, Any], changed: threading.Condition) -> None:
        self._node = calls.node
        self._changed = changed
        self._says: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: list[tuple[str, Any]] = []
        self._heard_s = time.monotonic()
        self._failure: Optional[Error] = None
        self._ended = False
        self.total: Optional[int] = None  # of blocks, once it is known
        self.say(open=message("Open")(**fields))
        self._stream = calls.converse("SessionService", "Transfer", self._outgoing())
        threading.Thread(target=self._listen, name="tapedeck-control", daemon=True).start()

    def say(self, **fields: Any) -> None:
        """A TransferRequest."""
        self._says.put(message("TransferRequest")(**fields))

    def take(self, kind: str) -> Any:
        """The next message of that kind; others but news are out of place."""
        begun_s = time.monotonic()
        with self._changed:
            while not self._waiting:
                self._check()
                now_s = time.monotonic()
                if now_s - max(self._heard_s, begun_s) >= _ANSWER_S or now_s - begun_s >= _OPENING_S:
                    raise SessionStalled(f"{self._node} has not answered: no {kind}", code="DEADLINE_EXCEEDED",
                                         metadata={"phase": kind})
                self._changed.wait(0.5)
            found, content = self._waiting.pop(0)
        if found != kind:
            raise self._violation(f"{found} where {kind} was due")
        return content

    def check(self) -> None:
        """Raises what has ended the session, or PeerLost if the node is silent. Under `changed`."""
        self._check()
        if time.monotonic() - self._heard_s >= _SILENCE_S:
            raise PeerLost(f"{self._node} has said nothing for {_SILENCE_S} s", code="UNAVAILABLE",
                           metadata={"node": self._node})

    def leave(self, well: bool) -> None:
        """Ends the session. Waits until the node has let go of the recording, if all was well."""
        if well and self._failure is None and not self._ended:
            self.say(finished=message("Finished")())
            deadline_s = time.monotonic() + _FAREWELL_S
            with self._changed:
                while not self._ended and time.monotonic() < deadline_s:
                    self._changed.wait(0.1)
        self._says.put(None)
        self._stream.cancel()

    def _outgoing(self) -> Iterator[Any]:
        return iter(self._says.get, None)

    def _listen(self) -> None:
        met = False
        try:
            for answer in self._stream:
                met = True
                with self._changed:
                    self._heard(answer)
                    self._changed.notify_all()
        except grpc.RpcError as error:
            self._end(of_call(error, self._node, met))
            return
        except Error as error:
            self._end(error)
            return
        self._end(PeerLost(f"{self._node} closed the stream", code="UNAVAILABLE", metadata={"node": self._node}))

    def _heard(self, answer: Any) -> None:
        self._heard_s = time.monotonic()
        kind = answer.WhichOneof("message")
        if kind == "progress":
            return
        if kind == "finished":
            finished = answer.finished
            raise of_status(finished.error) if finished.error.code else self._violation("Finished of a playback")
        if kind == "end_of_stream":
            if self.total not in (None, answer.end_of_stream.blocks):
                raise self._violation("EndOfStream with another number of blocks than before")
            self.total = answer.end_of_stream.blocks
            return
        if kind is None or len(self._waiting) >= _MOST_WAITING:
            raise self._violation("messages that do not belong here")
        self._waiting.append((kind, getattr(answer, kind)))

    def _end(self, failure: Error) -> None:
        with self._changed:
            self._ended = True
            if self._failure is None:
                self._failure = failure
            self._changed.notify_all()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _violation(self, what: str) -> ProtocolViolation:
        return ProtocolViolation(f"{self._node} sent {what}", code="INVALID_ARGUMENT",
                                 metadata={"peer": self._node, "message": what})
