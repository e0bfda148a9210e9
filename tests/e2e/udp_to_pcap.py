#!/usr/bin/env python3
"""Receives datagrams and writes them into a capture file, as one taken off the network would have them, without rights to take any.

  udp_to_pcap.py PORT_FILE PCAP    tells its port in PORT_FILE; ends half a second after the last datagram, or with none after 20 s
"""
import os
import socket
import struct
import sys
import time

RAW_IP = 101  # link type: each packet begins with its IP header


def framed(payload, source, target):
    """The datagram with its headers; checksums that are 0 are not looked at."""
    udp = struct.pack(">HHHH", source, target, 8 + len(payload), 0)
    here = socket.inet_aton("127.0.0.1")
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(payload), 0, 0, 64, socket.IPPROTO_UDP, 0) + here + here
    return ip + udp + payload


def main():
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    receiver.bind(("127.0.0.1", 0))
    port = receiver.getsockname()[1]
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(port))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    receiver.settimeout(20)
    with open(sys.argv[2], "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, RAW_IP))
        while True:
            try:
                payload, (_, source) = receiver.recvfrom(1 << 16)
            except socket.timeout:
                return
            receiver.settimeout(0.5)
            packet = framed(payload, source, port)
            now = time.time()
            file.write(struct.pack("<IIII", int(now), int(now % 1 * 1e6), len(packet), len(packet)) + packet)


main()
