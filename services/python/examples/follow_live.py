#!/usr/bin/python3
"""Blocks of a recording while it is made, each as soon as it is stored, until the recording is closed.
  follow_live.py NODE RECORDING"""
import sys
import time

import numpy

import tapedeck


def main(node: str, name: str) -> None:
    with tapedeck.connect(node) as deck:
        recording = deck.recording(name)
        blocks = missing = 0
        worst_ms = 0.0
        for block in recording.follow():
            blocks += 1
            missing += block.missing
            now = numpy.datetime64(time.time_ns(), "ns")
            late_ms = float((now - block.stamp) / numpy.timedelta64(1, "ms"))
            worst_ms = max(worst_ms, late_ms)
            if blocks % 50 == 1 and not block.missing:
                level = float(numpy.abs(tapedeck.to_complex(block.samples, scaled=True)).max())
                print(f"block {block.number}: captured {late_ms:.0f} ms ago, peak {level:.3f}")
        print(f"{blocks} blocks, {missing} missing, the oldest {worst_ms:.0f} ms after its capture; "
              f"{recording.refresh().info.state}")


if __name__ == "__main__":
    main(*sys.argv[1:])
