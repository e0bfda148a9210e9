#!/usr/bin/python3
"""Steps the machine's clock by so many seconds, exactly: step_clock.py -0.25. For virtual machines."""
import ctypes
import os
import struct
import sys

CLOCK_REALTIME, ADJ_SETOFFSET, ADJ_NANO = 0, 0x0100, 0x2000
SECONDS_AT, BYTES = 72, 208  # struct timex, adjtimex(2)


def main():
    nanoseconds = round(float(sys.argv[1]) * 1e9)
    timex = ctypes.create_string_buffer(BYTES)
    struct.pack_into("I", timex, 0, ADJ_SETOFFSET | ADJ_NANO)
    struct.pack_into("qq", timex, SECONDS_AT, nanoseconds // 10**9, nanoseconds % 10**9)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.clock_adjtime(CLOCK_REALTIME, timex) < 0:
        sys.exit(f"step_clock.py: clock_adjtime: {os.strerror(ctypes.get_errno())}")


main()
