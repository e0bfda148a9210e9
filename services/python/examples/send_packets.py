#!/usr/bin/python3
"""Sends a tone over UDP in packets with 16 bytes of header, at its sample rate. A worker records it, if this runs first:
  tapectl record l0/c0 --source ingest:udp=127.0.0.1:4000          l0/c0 is a channel of cf32_le
  send_packets.py HOST:PORT [SECONDS [SAMPLE_RATE [TONE_HZ]]]"""
import socket
import struct
import sys
import time

import numpy

SAMPLES = 1000  # in each packet


def main(address: str, seconds: str = "2", rate: str = "1e6", tone: str = "125e3") -> None:
    host, _, port = address.rpartition(":")
    if not (host and port.isdigit() and 0 < float(rate) < 1e12 and SAMPLES <= float(seconds) * float(rate) < 1e15):
        sys.exit(f"send_packets.py: HOST:PORT, and a time of {SAMPLES} samples or more at a rate above 0, are needed")
    family, kind, _, _, to = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
    udp = socket.socket(family, kind)
    begin = time.monotonic()
    for number in range(packets := round(float(seconds) * float(rate) / SAMPLES)):
        cycles = float(tone) / float(rate) * numpy.arange(number * SAMPLES, (number + 1) * SAMPLES)
        samples = (0.5 * numpy.exp(2j * numpy.pi * cycles)).astype("<c8").tobytes()
        header = struct.pack("<4sIIH", b"TDNR", number % 2**32, 1, len(samples))  # 1 names the stream
        udp.sendto(header + bytes(2) + samples, to)
        time.sleep(max(0.0, begin + (number + 1) * SAMPLES / float(rate) - time.monotonic()))
    udp.sendto(header + b"\1\0", to)  # the last header again, with the mark of the end
    print(f"{packets * SAMPLES} samples sent")


if __name__ == "__main__":
    main(*sys.argv[1:])
