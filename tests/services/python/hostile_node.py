"""A storage node that lies, or says nothing: a gRPC server of ours and a rail's port, each of which answers as it is told."""
import concurrent.futures
import socket
import struct
import threading

import grpc

from tapedeck import descriptors, wire

RECORDING = {"name": "luns/l/channels/c/recordings/r", "uid": "u", "state": 2, "blocks": 4, "bytes": 4 * 65536,
             "block_bytes": 65536, "datatype": "cf32_le", "sample_rate": 1e6}
ACCEPT = {"session": "s", "recording": RECORDING["name"], "datatype": "cf32_le", "transfer_op": 3, "commit_level": 3,
          "block_bytes": 65536, "slots": 8, "blocks": 4}
TOKEN = bytes(range(16))
SEND = struct.Struct("<IB3xIIQQ")


class HostileNode:
    """`accept` and `offer` change fields of the honest answers, or are None: no answer. `rail` gets the socket of a caller
    that was welcomed and has given its grants; what it sends, the caller gets. `moved` has names of recordings that are not
    there, and where they have gone."""

    def __init__(self, *, recording=None, accept=(), offer=(), rail=None, protocol=4, moved=None):
        self.moved, self.asked = moved or {}, []
        self.recording, self.accept, self.offer, self.protocol = recording or {}, accept, offer, protocol
        self._rail = rail
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._welcome, daemon=True).start()
        self._ended = threading.Event()
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        self._server.add_generic_rpc_handlers((self._handlers("CatalogService", {"GetRecording": self._get_recording, "ListRecordings": self._list_recordings}),
                                               self._handlers("NodeService", {"GetNode": self._get_node}),
                                               self._handlers("SessionService", {"Transfer": self._transfer})))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._server.stop(None)
        self._listener.close()

    @staticmethod
    def _handlers(service, methods):
        handlers = {}
        for name, function in methods.items():
            _, request, response = descriptors.method(service, name)
            make = grpc.stream_stream_rpc_method_handler if name == "Transfer" else grpc.unary_unary_rpc_method_handler
            handlers[name] = make(function, request.FromString, response.SerializeToString)
        return grpc.method_handlers_generic_handler(f"tapedeck.v1.{service}", handlers)

    def _get_node(self, _request, _context):
        return descriptors.message("Node")(name="hostile", role=1, protocol_version=self.protocol)

    def _list_recordings(self, _request, _context):
        return descriptors.message("ListRecordingsResponse")()

    def _get_recording(self, request, context):
        self.asked.append(request.name)
        if request.name in self.moved:
            status = descriptors.message("google.rpc.Status")(code=5, message="it is not there")
            status.details.add().Pack(descriptors.message("google.rpc.ErrorInfo")(
                reason="RECORDING_NOT_FOUND", metadata={"moved_to": self.moved[request.name]}))
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            context.abort(grpc.StatusCode.NOT_FOUND, status.message)
        return descriptors.message("Recording")(**{**RECORDING, **self.recording})

    def _transfer(self, says, _context):
        response = descriptors.message("TransferResponse")
        next(says)
        if self.accept is None:
            self._ended.wait(20)
            return
        fields = {**ACCEPT, **dict(self.accept)}
        fields.setdefault("rails", [descriptors.message("Rail")(name="r0", transport="tcp", address="127.0.0.1")])
        yield response(accept=descriptors.message("Accept")(**fields))
        next(says)
        end = {"address": "127.0.0.1", "port": self._listener.getsockname()[1], "token": TOKEN, **dict(self.offer)}
        yield response(rail_offer=descriptors.message("RailOffer")(rail="r0", generation=1,
                                                                   tcp=descriptors.message("TcpEndpoint")(**end)))
        left = threading.Event()
        threading.Thread(target=self._await_finished, args=(says, left), daemon=True).start()
        while not self._ended.is_set() and not left.wait(0.2):
            yield response(progress=descriptors.message("Progress")())

    @staticmethod
    def _await_finished(says, left):
        try:
            next(says)
        except (StopIteration, grpc.RpcError):
            pass  # the caller broke off
        left.set()

    def _welcome(self):
        try:
            while True:
                peer, _ = self._listener.accept()
                peer.recv(wire.HELLO_BYTES, socket.MSG_WAITALL)
                peer.sendall(struct.pack("<IHH24x", 0x49484454, 1, 0))
                peer.recv(wire.PREAMBLE_BYTES, socket.MSG_WAITALL)  # the first grant
                if self._rail is not None:
                    self._rail(peer)
        except (OSError, struct.error):
            pass  # the test is over, or the caller has closed the connection


def block(number, sequence, payload, *, flags=0, size=None, crc=None):
    """A block as it goes over a rail; `size` and `crc` are the header's, whatever the payload is."""
    size = len(payload) if size is None else size
    frame = wire.FRAME.pack(0x4454, 2, wire.BLOCK, 0, 0, sequence, 0, 0, size,
                            wire.crc32c(payload) if crc is None else crc, number, flags)
    return SEND.pack(0x504F4454, 1, size, 0, 0, 0) + frame + struct.pack("<I", wire.crc32c(frame)) + payload
