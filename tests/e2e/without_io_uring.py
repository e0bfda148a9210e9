#!/usr/bin/python3
"""Runs a command to which the kernel refuses io_uring, as a container's seccomp profile does: without_io_uring.py COMMAND..."""
import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
IO_URING_SETUP = 425  # on every architecture
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM


def main():
    steps = [(LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, IO_URING_SETUP), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        sys.exit(f"without_io_uring.py: prctl: {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[1], sys.argv[1:])


main()
