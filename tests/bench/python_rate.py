#!/usr/bin/python3
"""Reads a recording: python_rate.py NODE RECORDING samples|fresh|blocks|file prints 10^6 bytes per second. The package is found
by PYTHONPATH. `samples` go into the same array each time, `fresh` into memory that the kernel has to find. What is measured is
the second time."""
import sys
import time

import numpy
import tapedeck


def read(recording, way, out):
    """All of it; how many bytes those were."""
    if way == "samples":
        return recording.samples(via="rail", out=out).nbytes
    if way == "blocks":
        return sum(block.samples.nbytes for block in recording.blocks(via="rail"))
    return recording.samples(via="file" if way == "file" else "rail").nbytes


def main(node, name, way):
    with tapedeck.connect(node) as deck:
        recording = deck.recording(name)
        out = numpy.empty_like(recording.samples(via="rail")) if way == "samples" else None
        read(recording, way, out)
        begun = time.perf_counter()
        size = read(recording, way, out)
        print(f"{size / 1e6 / (time.perf_counter() - begun):.1f}")


main(*sys.argv[1:])
