#!/usr/bin/python3
"""Misuses an admin port for some seconds, all ways at the same time: admin_abuse.py SECONDS PORT. Counts what it did. It takes up to
ten times as long where the processors do other things, until it has come to each."""
import collections
import random
import socket
import sys
import threading
import time

LORIS = 200
CROWD = 1000
End = collections.namedtuple("End", "soonest latest")  # by the steady clock


def connect(port):
    try:
        peer = socket.create_connection(("127.0.0.1", port), timeout=2)
        peer.settimeout(2)
        return peer
    except OSError:
        return None


def say(peer, data):
    """False if the other end does not listen any more."""
    try:
        peer.sendall(data)
        return True
    except (OSError, AttributeError):
        return False


def goes_on(end, counts):
    """Whether it is not over yet."""
    now = time.monotonic()
    return now < end.soonest or (now < end.latest and not all(counts.values()))


def slow_loris(port, end, counts):
    """Connections that say a byte now and then, and are made again when they are cut."""
    peers = [None] * LORIS
    while goes_on(end, counts):
        for i, peer in enumerate(peers):
            if peer is None or not say(peer, b"x"):
                peers[i] = connect(port)
                say(peers[i], b"GET /metrics HTTP/1.1\r\nX-Slow: ")
                counts["slow"] += 1
        time.sleep(0.05)


def crowd(port, end, counts):
    """Connections that say nothing, all open at the same time."""
    while goes_on(end, counts):
        peers = [connect(port) for _ in range(CROWD)]
        counts["silent"] += sum(peer is not None for peer in peers)
        time.sleep(0.2)
        del peers


def long_headers(port, end, counts):
    while goes_on(end, counts):
        say(connect(port), b"GET /metrics HTTP/1.1\r\nX: " + b"x" * (1 << 20) + b"\r\n\r\n")
        say(connect(port), b"GET /" + b"x" * (1 << 20))
        counts["long"] += 2


def garbage(port, end, counts):
    rng = random.Random(1)
    while goes_on(end, counts):
        say(connect(port), rng.randbytes(rng.randrange(1, 10_000)))
        say(connect(port), b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n" + rng.randbytes(1000))
        counts["garbage"] += 2


def unread(port, end, counts):
    """Asks for the page again and again, and reads nothing of it."""
    peers = []
    while goes_on(end, counts):
        peers = peers[-50:] + [connect(port)]
        say(peers[-1], b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
        counts["unread"] += 1


def main(seconds, port):
    counts = dict.fromkeys(("slow", "silent", "long", "garbage", "unread"), 0)
    now = time.monotonic()
    end = End(now + seconds, now + 10 * seconds)
    threads = [threading.Thread(target=way, args=(port, end, counts))
               for way in (slow_loris, crowd, long_headers, garbage, unread)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(" ".join(f"{way} {count}" for way, count in counts.items()))
    sys.exit(0 if all(counts.values()) else 1)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
