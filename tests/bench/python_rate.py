#!/usr/bin/python3
"""Reads a recording: python_rate.py NODE RECORDING samples|blocks|file prints 10^6 bytes per second. The package is found by
PYTHONPATH. What is measured is the second time: the first one gets its memory from a machine that may have to find it."""
import sys
import time

import tapedeck


def read(recording, way):
    """All of it; how many bytes those were."""
    if way == "blocks":
        return sum(block.samples.nbytes for block in recording.blocks(via="rail"))
    return recording.samples(via="file" if way == "file" else "rail").nbytes


def main(node, name, way):
    with tapedeck.connect(node) as deck:
        recording = deck.recording(name)
        read(recording, way)
        begun = time.perf_counter()
        size = read(recording, way)
        print(f"{size / 1e6 / (time.perf_counter() - begun):.1f}")


main(*sys.argv[1:])
