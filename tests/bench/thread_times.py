#!/usr/bin/env python3
"""thread_times.py BYTES_FILE PID...: processor time by name of thread, while it runs.

Looks at the processes' threads every 50 ms until SIGTERM, so that of a thread which ends meanwhile less than that is missed.
Makes BYTES_FILE once it has begun. Whoever ends it has written there how many bytes were moved: then it prints one line of
JSON, seconds of a core for each GB (10^9 bytes).
"""
import collections
import json
import os
import pathlib
import signal
import sys
import time

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def threads(pid):
    """(thread, its start) → (name, seconds so far); the kernel gives numbers of threads again."""
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue  # it has ended
        fields = rest.split()
        yield (task.name, fields[19]), (name, (int(fields[11]) + int(fields[12])) / TICKS_PER_S)


def look(pids):
    return {key: seen for pid in pids for key, seen in threads(pid)}


def main():
    going = True

    def end(*_):
        nonlocal going
        going = False

    signal.signal(signal.SIGTERM, end)
    parent = os.getppid()
    pids = [int(pid) for pid in sys.argv[2:]]
    begin = look(pids)
    last = dict(begin)
    said = pathlib.Path(sys.argv[1])
    said.touch()
    while going and os.getppid() == parent:
        time.sleep(0.05)
        last.update(look(pids))
    sums = collections.Counter()
    for key, (name, seconds) in last.items():
        sums[name] += seconds - begin.get(key, (name, 0))[1]
    gigabytes = float(said.read_text()) / 1e9
    print(json.dumps({name: seconds / gigabytes for name, seconds in sums.most_common() if seconds > 0}))


main()
