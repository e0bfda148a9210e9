#!/usr/bin/python3
"""What a storage node holds, and the first samples of a recording.
  list_and_read.py NODE RECORDING            such as 127.0.0.1:7400 l0/c0/latest"""
import sys

import numpy

import tapedeck


def main(node: str, name: str) -> None:
    with tapedeck.connect(node) as deck:
        for lun in deck.luns():
            print(f"{lun.name}: {lun.store}, {lun.used_bytes / 1e6:.1f} MB used, {lun.state}")
        for channel in deck.channels():
            print(f"{channel.name}: {channel.datatype} at {channel.sample_rate:g} samples/s")
        for one in deck.recordings():
            print(f"{one.name}: {len(one)} samples, {one.info.state}")

        recording = deck.recording(name)
        samples = recording.samples(0, min(len(recording), 100_000))
        values = tapedeck.to_complex(samples, scaled=True) if recording.datatype.startswith("c") else samples
        power = float(numpy.mean(numpy.abs(values) ** 2))
        print(f"{len(samples)} samples from {recording.time_of(0)} on, mean power {power:.4g}")


if __name__ == "__main__":
    main(*sys.argv[1:])
