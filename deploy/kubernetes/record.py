#!/usr/bin/python3
"""Records from Python: starts a job on a worker, follows it to its end, and prints it as one line of JSON.

record.py --worker HOST:PORT --storage HOST:PORT --channel luns/l0/channels/c0 --blocks 1000 [--request-id ID]

What a call or its answer is made of comes from proto/, which protoc reads at run time. Every call may be made again: one that has
the request_id of an earlier one gets the job of that one, so neither a lost answer nor a Kubernetes Job that is tried again records
twice. Debian: python3-grpcio python3-protobuf protobuf-compiler. Exit status: 0 recorded, 1 not.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time
import uuid

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
# Of a call that is answered at once; the job is followed for as long as it runs.
CALL_SECONDS = 15
TRIES = 6


class Contracts:
    """The messages of proto/, by name."""

    def __init__(self, root):
        files = [str(path.relative_to(root)) for path in (root / "tapedeck" / "v1").glob("*.proto")]
        files += ["google/rpc/status.proto", "google/rpc/error_details.proto"]
        read = subprocess.run(["protoc", f"-I{root}", "--include_imports", "--descriptor_set_out=/dev/stdout", *files],
                              check=True, capture_output=True, timeout=30)
        self.pool = descriptor_pool.DescriptorPool()
        for file in descriptor_pb2.FileDescriptorSet.FromString(read.stdout).file:
            self.pool.Add(file)
        self.factory = message_factory.MessageFactory(self.pool)

    def message(self, name):
        return self.factory.GetPrototype(self.pool.FindMessageTypeByName(name))

    def call(self, channel, name):
        """The method of that name, e.g. PipelineService/GetJob."""
        service, method = name.split("/")
        found = self.pool.FindServiceByName(f"tapedeck.v1.{service}").FindMethodByName(method)
        make = channel.unary_stream if method.startswith("Watch") else channel.unary_unary
        return make(f"/tapedeck.v1.{name}", request_serializer=lambda m: m.SerializeToString(),
                    response_deserializer=self.message(found.output_type.full_name).FromString)

    def why(self, error):
        """What a failed call says, with its reason."""
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                for detail in self.message("google.rpc.Status").FromString(value).details:
                    if detail.type_url.endswith("google.rpc.ErrorInfo"):
                        info = self.message("google.rpc.ErrorInfo").FromString(detail.value)
                        return f"{error.code().name} ({info.reason}): {error.details()}"
        return f"{error.code().name}: {error.details()}"


class Worker:
    """A worker's jobs. A call whose answer is lost is made again, up to TRIES times."""

    def __init__(self, contracts, channel):
        self.contracts = contracts
        self.channel = channel

    def again(self, act):
        for left in reversed(range(TRIES)):
            try:
                return act()
            except grpc.RpcError as error:
                lost = error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
                if not lost or not left:
                    raise
                time.sleep(1)

    def start(self, request):
        call = self.contracts.call(self.channel, "PipelineService/StartRecord")
        message = json_format.ParseDict(request, self.contracts.message("tapedeck.v1.StartRecordRequest")())
        return self.again(lambda: call(message, timeout=CALL_SECONDS))

    def follow(self, name):
        """The job once it has ended."""
        call = self.contracts.call(self.channel, "PipelineService/WatchJob")
        request = self.contracts.message("tapedeck.v1.WatchJobRequest")(name=name)

        def to_its_end():
            last = None
            for answer in call(request):
                last = answer.job
            return last

        return self.again(to_its_end)


def open_channel(options):
    if not options.tls_cert:
        return grpc.insecure_channel(options.worker)
    ca, key, cert = (pathlib.Path(path).read_bytes() for path in (options.tls_ca, options.tls_key, options.tls_cert))
    return grpc.secure_channel(options.worker, grpc.ssl_channel_credentials(ca, key, cert))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--worker", required=True, help="HOST:PORT")
    parser.add_argument("--storage", required=True, help="HOST:PORT, as the worker reaches it")
    parser.add_argument("--channel", required=True, help="luns/{lun}/channels/{channel}")
    parser.add_argument("--source", default="synth")
    parser.add_argument("--blocks", type=int, required=True)
    parser.add_argument("--request-id", default=str(uuid.uuid4()), help="the same for one recording, however often it is asked for")
    parser.add_argument("--proto", type=pathlib.Path, default=PROTO, help="directory of the contracts")
    for name in ("cert", "key", "ca"):
        parser.add_argument(f"--tls-{name}", help="PEM file; all three or none")
    return parser.parse_args()


def main():
    options = parse_arguments()
    contracts = Contracts(options.proto)
    try:
        with open_channel(options) as channel:
            worker = Worker(contracts, channel)
            job = worker.start({"storage": options.storage, "channel": options.channel, "source": {"name": options.source},
                                "blocks": str(options.blocks), "requestId": options.request_id})
            job = worker.follow(job.name)
    except grpc.RpcError as error:
        print(contracts.why(error), file=sys.stderr)
        return 1
    told = json_format.MessageToDict(job, preserving_proto_field_name=True, descriptor_pool=contracts.pool)
    print(json.dumps({key: told.get(key) for key in ("name", "state", "recording", "blocks", "mb_per_s", "error")}))
    return 0 if told["state"] == "JOB_STATE_SUCCEEDED" else 1


if __name__ == "__main__":
    sys.exit(main())
