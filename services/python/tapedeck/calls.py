"""Calls to one node: a channel of gRPC, TLS, and a deadline for each call."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import uuid
from typing import Any, Iterator, Optional

import grpc

from tapedeck.descriptors import method
from tapedeck.errors import LimitReached, ProtocolViolation, TlsUnusable
from tapedeck.failures import of_call

# As services/rpc/limits.h and services/rpc/client/calls/channel.cc have them.
_OPTIONS = (("grpc.max_receive_message_length", 1 << 20), ("grpc.max_send_message_length", 1 << 20),
            ("grpc.keepalive_time_ms", 10_000), ("grpc.keepalive_timeout_ms", 5_000),
            ("grpc.keepalive_permit_without_calls", 1), ("grpc.http2.max_pings_without_data", 0),
            ("grpc.max_reconnect_backoff_ms", 2_000), ("grpc.use_local_subchannel_pool", 1),
            ("grpc.enable_http_proxy", 0))
# For a call that a LUN's disks may keep waiting: the node says so after 15 s (LUN_NOT_RESPONDING).
DISK_S = 20.0
# A page has 1 MiB at most: what a node can make a list take.
_MOST_PAGES = 1000


@dataclasses.dataclass(frozen=True)
class Tls:
    """The files that prove who we are, and whose proofs we believe: PEM, as tapectl takes them."""

    cert: str
    key: str
    ca: str

    @staticmethod
    def from_environment() -> Optional[Tls]:
        """TAPEDECK_TLS_CERT, TAPEDECK_TLS_KEY and TAPEDECK_TLS_CA; None if none of them is set."""
        found = [os.environ.get(f"TAPEDECK_TLS_{word}", "") for word in ("CERT", "KEY", "CA")]
        if not any(found):
            return None
        if not all(found):
            raise TlsUnusable("TAPEDECK_TLS_CERT, TAPEDECK_TLS_KEY and TAPEDECK_TLS_CA go together",
                              code="FAILED_PRECONDITION")
        return Tls(*found)

    def credentials(self) -> Any:
        """For gRPC."""
        return grpc.ssl_channel_credentials(_read(self.ca), _read(self.key), _read(self.cert))


def _read(path: str) -> bytes:
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise TlsUnusable(f"{path}: {error.strerror}", code="FAILED_PRECONDITION", metadata={"path": path}) from None


def request_id() -> str:
    """For a call that shall have one effect, however often it is sent."""
    return str(uuid.uuid4())


class Calls:
    """To one node. Any thread."""

    def __init__(self, node: str, tls: Optional[Tls], timeout_s: float) -> None:
        self.node = node
        self.timeout_s = timeout_s
        self._protocol: Optional[int] = None
        if tls is None:
            self._channel = grpc.insecure_channel(node, options=_OPTIONS)
        else:
            self._channel = grpc.secure_channel(node, tls.credentials(), options=_OPTIONS)

    def call(self, service: str, name: str, fields: dict[str, Any], timeout_s: Optional[float] = None) -> Any:
        """One request, one answer."""
        path, request, response = method(service, name)
        invoke = self._channel.unary_unary(path, request_serializer=request.SerializeToString,
                                           response_deserializer=response.FromString)
        try:
            return invoke(request(**fields), timeout=timeout_s or self.timeout_s)
        except grpc.RpcError as error:
            raise of_call(error, self.node) from None

    def converse(self, service: str, name: str, says: Iterator[Any]) -> Any:
        """A stream both ways, as gRPC gives it: whoever reads it sees to the deadlines."""
        path, request, response = method(service, name)
        invoke = self._channel.stream_stream(path, request_serializer=request.SerializeToString,
                                             response_deserializer=response.FromString)
        return invoke(says)

    def pages(self, service: str, name: str, fields: dict[str, Any], field: str, most: Optional[int] = None) -> list[Any]:
        """All pages of a list, or those with the first `most` entries. LimitReached where it does not end."""
        found: list[Any] = []
        token = ""
        seen = set()
        for _ in range(_MOST_PAGES):
            page = self.call(service, name, {**fields, "page_size": min(most or 1000, 1000), "page_token": token})
            found += getattr(page, field)
            token = page.next_page_token
            if not token or (most is not None and len(found) >= most):
                return found[:most]
            if token in seen:
                raise ProtocolViolation(f"{self.node}: {name} sends the same page of a list again",
                                        code="INVALID_ARGUMENT", metadata={"field": "next_page_token"})
            seen.add(token)
        raise LimitReached(f"{self.node}: {name} has not ended after {_MOST_PAGES} pages", code="RESOURCE_EXHAUSTED",
                           metadata={"limit": str(_MOST_PAGES)})

    def protocol(self) -> int:
        """Of sessions, as the node speaks it; asked once."""
        if self._protocol is None:
            self._protocol = int(self.call("NodeService", "GetNode", {}).protocol_version)
        return self._protocol

    def close(self) -> None:
        """All calls under way end."""
        self._channel.close()
