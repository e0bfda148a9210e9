#!/usr/bin/python3
"""Sessions by hand, over TLS: what becomes of a token that was used, of a stream that says nothing, of a large message.
  tls_replay.py NODE CERTIFICATES NAME ATTACK CHANNEL VERSION     as NAME, of that session protocol; prints how it ended"""
import queue
import re
import socket
import struct
import sys

import grpc
from message_fields import fields

TRANSFER = "/tapedeck.v1.SessionService/Transfer"
GET_LUN = "/tapedeck.v1.CatalogService/GetLun"
HELLO = 0x49484454
VERDICTS = {0: "welcome", 1: "refused", 2: "refused"}
TOKEN_BYTES = 16
PATIENCE_S = 120  # longer than the node takes beside ten times as much work


def varint(number):
    """As in a message."""
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field with that number: bytes, text or a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def last_fields(message):
    """Number → last value of a message's fields."""
    return dict(fields(message))


def reason_in(finished):
    """The reason of the error that a session ends with: the one word in capitals."""
    return re.search(rb"[A-Z]+(_[A-Z]+)+", finished)[0].decode()


class Session:
    """One control stream; its messages are bytes."""

    def __init__(self, channel, version=0):
        self.version = version
        self.says = queue.Queue()
        call = channel.stream_stream(TRANSFER, request_serializer=bytes, response_deserializer=bytes)
        self.hears = call(iter(self.says.get, None), timeout=PATIENCE_S)

    def open(self, channel):
        """A recording."""
        self.says.put(field(1, field(1, self.version) + field(2, 1) + field(3, channel) + field(5, "eve") + field(9, 3) + field(10, 64)))
        self.hear(1)

    def offer(self):
        """The node's end of a new connection: its address, and the token that admits one."""
        mine = field(1, "r0") + field(2, 0) + field(3, 1) + field(4, field(1, "127.0.0.1") + field(3, bytes(TOKEN_BYTES)))
        self.says.put(field(2, mine))
        end = last_fields(last_fields(self.hear(2))[4])
        return (end[1].decode(), end[2]), end[3]

    def hear(self, kind):
        """The next message of that kind."""
        for message in self.hears:
            found = last_fields(message)
            if 5 in found and kind != 5:
                raise RuntimeError("the session ended: " + reason_in(found[5]))
            if kind in found:
                return found[kind]
        raise RuntimeError(f"no message {kind} came")

    def close(self):
        """And with it the session."""
        self.says.put(None)
        self.hears.cancel()


def greet(address, token):
    """How the rail's port answers this token, and the connection."""
    peer = socket.create_connection(address, timeout=PATIENCE_S)
    peer.sendall(struct.pack("<IHH", HELLO, 1, 0) + token + bytes(32 - 8 - TOKEN_BYTES))
    answer = b""
    while len(answer) < 8:
        more = peer.recv(32)
        if not more:
            return "refused", peer
        answer += more
    return VERDICTS[struct.unpack("<IHH", answer[:8])[2]], peer


def replay(channel, target, version):
    """A token once, again while its session lives, and when that has ended."""
    session = Session(channel, version)
    session.open(target)
    address, token = session.offer()
    said = []
    first, rail = greet(address, token)
    said.append("first=" + first)
    said.append("again=" + greet(address, token)[0])
    session.close()
    rail.close()
    said.append("afterwards=" + greet(address, token)[0])
    said.append("guessed=" + greet(address, bytes(TOKEN_BYTES))[0])
    return " ".join(said)


def ends(call):
    """Which status ends a call, and the start of what it says."""
    try:
        for _ in call:
            pass
        return "OK"
    except grpc.RpcError as error:
        return f"{error.code().name} {error.details()[:120]}"


def mute_stream(channel, _target, _version):
    """A stream that is opened and says nothing."""
    session = Session(channel)
    try:
        return reason_in(session.hear(5))
    except (RuntimeError, grpc.RpcError) as error:
        return str(error)


def large_message(channel, _target, _version):
    """Beyond what a node takes."""
    call = channel.unary_stream(GET_LUN, request_serializer=bytes, response_deserializer=bytes)
    return ends(call(field(1, "luns/" + "x" * (1 << 20)), timeout=PATIENCE_S))


ATTACKS = {"replay": replay, "mute_stream": mute_stream, "large_message": large_message}


def main():
    node, directory, name, attack, target, version = sys.argv[1:]

    def read(path):
        with open(f"{directory}/{path}", "rb") as file:
            return file.read()

    credentials = grpc.ssl_channel_credentials(read("ca.pem"), read(f"{name}.key"), read(f"{name}.pem"))
    with grpc.secure_channel(node, credentials) as channel:
        print(attack, ATTACKS[attack](channel, target, int(version)), flush=True)


main()
