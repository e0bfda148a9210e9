#!/usr/bin/python3
"""Writes hostile bytes to each port for some seconds: garbage.py SECONDS ADDRESS:PORT..."""
import random
import socket
import sys
import time

EVERYWHERE = ("*", "0.0.0.0", "[::]")  # as ss writes them
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
TLS_HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(200)


def payloads(rng):
    """A fresh set of things a confused or hostile client may send."""
    return [
        b"", b"\0", b"\0" * 4096, b"\xff" * 4096, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", TLS_HELLO,
        HTTP2[:10], HTTP2 + rng.randbytes(300), rng.randbytes(1), rng.randbytes(64), rng.randbytes(100_000),
        b"TD" + bytes([1, 1]) + rng.randbytes(60), b"TD" + bytes(62), b"DT" + rng.randbytes(62),
    ]


def attack(address, port, payload, linger):
    """One connection; being refused or cut off is what a healthy service may do."""
    try:
        with socket.create_connection((address, port), timeout=1) as peer:
            peer.settimeout(0.2 if linger else 0.02)
            peer.sendall(payload)
            peer.recv(4096)
    except OSError:
        pass


def main(seconds, endpoints):
    rng = random.Random(1)
    end, sent = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for endpoint in endpoints:
            address, port = endpoint.rsplit(":", 1)
            address = "127.0.0.1" if address in EVERYWHERE else address.strip("[]")
            for payload in payloads(rng):
                attack(address, int(port), payload, linger=rng.random() < 0.1)
                sent += 1
    print(f"{sent} connections to {len(endpoints)} ports")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
