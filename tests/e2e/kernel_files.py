#!/usr/bin/python3
"""Asks a file server on a GPU for ranges, over three connections at a time, and compares them with a file.

kernel_files.py PORT FILE RANGES
"""
import errno
import random
import socket
import struct
import sys
import threading

CONNECTIONS = 3
MOST_RANGE = 256 << 20


def receive(peer, count):
    """So many bytes; fewer where the stream ends before."""
    parts = []
    while count > 0:
        part = peer.recv(min(count, 1 << 20))
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def ask(peer, offset, count):
    """The result, and the bytes."""
    peer.sendall(struct.pack("<QQ", offset, count))
    result, = struct.unpack("<q", receive(peer, 8))
    return result, receive(peer, max(result, 0))


def ranges(size, number, seed):
    """Random ones, and those at the file's edges."""
    chance = random.Random(seed)
    for _ in range(number):
        offset = chance.randrange(size)
        yield offset, chance.choice([0, 1, 13, 4096, 65537, 1 << 20, size])
    yield size - 1, 100
    yield size, 100
    yield 2 ** 64 - 1, 2


def check(port, content, number, seed):
    """The first difference, or None."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as peer:
        for offset, count in ranges(len(content), number, seed):
            result, answer = ask(peer, offset, count)
            expected = content[offset:offset + count]
            if result != len(expected) or answer != expected:
                return f"{count} bytes from {offset}: {result}, {len(answer)} bytes"
        result, _ = ask(peer, 0, MOST_RANGE + 1)
        if result != -errno.EMSGSIZE:
            return f"more than the most: {result}"
    return None


def main():
    port, path, number = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with open(path, "rb") as file:
        content = file.read()
    faults = ["did not end"] * CONNECTIONS

    def run(index):
        faults[index] = check(port, content, number, index)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for fault in faults:
        if fault is not None:
            print(fault, file=sys.stderr)
    return 0 if faults == [None] * CONNECTIONS else 1


if __name__ == "__main__":
    sys.exit(main())
