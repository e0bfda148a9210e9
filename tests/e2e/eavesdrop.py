#!/usr/bin/python3
"""Listens to a network interface until SIGTERM: eavesdrop.py INTERFACE TEXT

Prints "ready", then {"bytes": what passed, "found": packets with TEXT in them}.
"""
import json
import signal
import socket
import sys

SOL_SOCKET_RCVBUFFORCE = 33


def main():
    interface, text = sys.argv[1], sys.argv[2].encode()
    everything = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    everything.setsockopt(socket.SOL_SOCKET, SOL_SOCKET_RCVBUFFORCE, 256 << 20)
    everything.bind((interface, 0))
    everything.settimeout(0.2)
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    print("ready", flush=True)
    seen = found = 0
    while True:
        try:
            packet = everything.recv(1 << 17)
        except socket.timeout:
            if ended:
                break
            continue
        seen += len(packet)
        found += text in packet
    print(json.dumps({"bytes": seen, "found": found}))


main()
