#!/usr/bin/python3
"""long_way.py MS HERE THERE: a network of two addresses (10.9.0.1 in this network namespace, 10.9.0.2 in a new one) whose
packets take MS milliseconds each way. Prints "ready" once it carries; the new namespace is this process's own."""
import ctypes
import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
MTU = 9000


def tun(name, address):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    subprocess.run(["ip", "addr", "add", f"{address}/24", "dev", name], check=True)
    subprocess.run(["ip", "link", "set", name, "up", "mtu", str(MTU), "txqueuelen", "5000"], check=True)
    return fd


def carry(ends, delay_s):
    waiting, number = [], 0
    while True:
        timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for fd in select.select(ends, [], [], timeout)[0]:
            try:
                while True:
                    packet = os.read(fd, MTU + 100)
                    number += 1
                    heapq.heappush(waiting, (time.monotonic() + delay_s, number, ends[1 - ends.index(fd)], packet))
            except BlockingIOError:
                pass
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, to, packet = heapq.heappop(waiting)
            try:
                os.write(to, packet)
            except BlockingIOError:
                pass  # lost, as on any wire


def main():
    here = tun("td-here", "10.9.0.1")
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        sys.exit(f"unshare: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    there = tun("td-there", "10.9.0.2")
    print("ready", flush=True)
    carry([here, there], float(sys.argv[1]) / 1000)


main()
