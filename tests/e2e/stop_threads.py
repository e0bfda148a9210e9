#!/usr/bin/python3
"""Stops some threads of a process, and no others, for a while: what waits for them waits, what does not goes on.
  stop_threads.py PID SECONDS NAME...     those whose names begin so; says "stopped N" once they are"""
import ctypes
import os
import sys
import time

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
ALL_THREADS = 0x40000000  # __WALL
LIBC = ctypes.CDLL(None, use_errno=True)


def ptrace(request, thread):
    """The system call; exits with status 77 where it is not allowed."""
    if LIBC.ptrace(request, thread, ctypes.c_void_p(0), ctypes.c_void_p(0)) != 0:
        print("ptrace:", os.strerror(ctypes.get_errno()), flush=True)
        sys.exit(77)


def threads_of(pid, names):
    """The threads with such names."""
    for thread in sorted(map(int, os.listdir(f"/proc/{pid}/task"))):
        with open(f"/proc/{pid}/task/{thread}/comm", encoding="utf-8") as comm:
            if comm.read().startswith(tuple(names)):
                yield thread


def main():
    pid, seconds, names = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    threads = list(threads_of(pid, names))
    for thread in threads:
        ptrace(SEIZE, thread)
        ptrace(INTERRUPT, thread)
        os.waitpid(thread, ALL_THREADS)
    print("stopped", len(threads), flush=True)
    time.sleep(seconds)
    for thread in threads:
        ptrace(DETACH, thread)


main()
