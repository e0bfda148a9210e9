"""What gRPC and google.rpc.Status say of a failure, as the exception that is named after its reason."""
from __future__ import annotations

from typing import Any, Optional

import grpc

from tapedeck.descriptors import message
from tapedeck.errors import Error, NodeUnreachable, PeerLost, of_reason

_DETAILS = "grpc-status-details-bin"
_ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
# google.rpc.Code, by number.
_CODES = ("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
          "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
          "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED")
_MOST_TEXT = 16 << 10


def of_status(status: Any) -> Error:
    """Of a google.rpc.Status."""
    code = _CODES[status.code] if 0 <= status.code < len(_CODES) else "UNKNOWN"
    text = status.message[:_MOST_TEXT]
    for detail in status.details:
        if detail.type_url == _ERROR_INFO:
            info = message("google.rpc.ErrorInfo").FromString(detail.value)
            return of_reason(info.reason, text, code, dict(info.metadata))
    return Error(text, code=code)


def _told(error: Any) -> Optional[Error]:
    """What the node itself has said, if it has."""
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS:
            return of_status(message("google.rpc.Status").FromString(value))
    return None


def of_call(error: Any, node: str, met: bool = False) -> Error:
    """Of a grpc.RpcError; `met`: the node had answered before."""
    told = _told(error)
    if told is not None:
        return told
    code, text = error.code(), str(error.details())
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return NodeUnreachable(f"{node} has not answered in time", code=code.name, metadata={"node": node})
    if code == grpc.StatusCode.UNIMPLEMENTED:
        return NodeUnreachable(f"{node} answers, but does not serve this call; check the address", code=code.name,
                               metadata={"node": node})
    if code not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
        return Error(f"{node}: {text}", code=code.name)
    if met or code == grpc.StatusCode.CANCELLED:
        return PeerLost(f"the connection to {node} broke: {text}", code="UNAVAILABLE", metadata={"node": node})
    return NodeUnreachable(f"connect({node}): {text}; check the address and that the node runs", code="UNAVAILABLE",
                           metadata={"node": node})
