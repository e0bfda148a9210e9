#!/usr/bin/env python3
"""block_times.py INDEX FROM TO FROM TO: the capture times of a recording's blocks in two windows, in ns since the epoch.

One line of JSON: the rate in the second over that in the first, and the longest time between two blocks in each. The
index's layout is in storage_node/format/README.md.
"""
import itertools
import json
import struct
import sys

ENTRIES = 12288


def capture_times(path):
    with open(path, "rb") as index:
        (entry_bytes,) = struct.unpack_from("<H", index.read(8), 6)
        index.seek(ENTRIES)
        while entry := index.read(entry_bytes):
            if entry[:4] == b"TDIE":
                yield struct.unpack_from("<q", entry, 24)[0]


def window(times, begin, end):
    inside = [time for time in times if begin <= time < end]
    gaps = (b - a for a, b in itertools.pairwise([begin, *inside, end]))
    return len(inside) / (end - begin), max(gaps) / 1e6


def main():
    times = sorted(capture_times(sys.argv[1]))
    bounds = [int(bound) for bound in sys.argv[2:6]]
    alone, gap_alone = window(times, *bounds[:2])
    beside, gap_beside = window(times, *bounds[2:])
    print(json.dumps({"beside_to_alone": beside / alone, "gap_alone_ms": gap_alone, "gap_beside_ms": gap_beside}))


main()
