#!/usr/bin/env python3
"""Sends what the UDP packets of a capture file carry to a port of this machine, in their order and not faster than told.

  pcap_to_udp.py PCAP PORT PACKETS_A_SECOND    Ethernet, IPv4, whole datagrams; times of nanoseconds
"""
import socket
import struct
import sys
import time

NANOSECONDS, ETHERNET, IPV4 = 0xA1B23C4D, 1, 0x0800
HEADERS = 14 + 20 + 8


def payloads(path):
    """What each packet carries; the last may be cut."""
    with open(path, "rb") as file:
        magic, _, _, _, _, _, link = struct.unpack("<IHHiIII", file.read(24))
        assert (magic, link) == (NANOSECONDS, ETHERNET), path
        while len(head := file.read(16)) == 16:
            _, _, captured, sent = struct.unpack("<IIII", head)
            packet = file.read(captured)
            if len(packet) < captured:
                return
            assert captured == sent and struct.unpack(">H", packet[12:14])[0] == IPV4, path
            yield packet[HEADERS:]


def main():
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    pace, begin = 1 / float(sys.argv[3]), time.monotonic()
    for number, payload in enumerate(payloads(sys.argv[1])):
        time.sleep(max(0, begin + number * pace - time.monotonic()))
        sender.sendto(payload, ("127.0.0.1", int(sys.argv[2])))


main()
