#!/usr/bin/python3
"""Calls a method over TLS with a message as bytes, and prints the status that comes back, OK or PERMISSION_DENIED.
  raw_call.py NODE CA CERT KEY METHOD [--for IDENTITY] [--message HEX]"""
import argparse

import grpc


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    for name in ("node", "ca", "cert", "key", "method"):
        parser.add_argument(name)
    parser.add_argument("--for", dest="acting_for", default="")
    parser.add_argument("--message", default="")
    given = parser.parse_args()
    credentials = grpc.ssl_channel_credentials(read(given.ca), read(given.key), read(given.cert))
    channel = grpc.secure_channel(given.node, credentials)
    # One message each way goes over a stream as it does in a plain call.
    call = channel.stream_stream(given.method, request_serializer=bytes, response_deserializer=bytes)
    metadata = [("tapedeck-acting-for-bin", given.acting_for.encode())] if given.acting_for else []
    try:
        list(call(iter([bytes.fromhex(given.message)]), timeout=10, metadata=metadata))
        print("OK")
    except grpc.RpcError as error:
        print(error.code().name)


main()
