#!/usr/bin/env python3
"""What a recording of VITA 49.2 tells of its stream, held against who sent it: where the signal changes, and which samples are lost.

  vita49_context.py sent SENT RECORDING RATE    what the emulator says that it has sent
  vita49_context.py same RECORDING RECORDING
  vita49_context.py part RECORDING RECORDING FIRST END   the second is of these samples of the first
  vita49_context.py captured SENT RECORDING RATE FIRST END   it is a capture of these samples, and counts as the stream does
"""
import json
import sys


def joined(ranges):
    """(first, end) of each, in order; none touches the next."""
    out = []
    for first, end in sorted(ranges):
        if out and first <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([first, end])
    return out


def told(recording):
    """(changes, losses) of a recording."""
    changes, losses = [], []
    for annotation in recording["annotations"]:
        if annotation["label"] == "trigger":
            continue
        start, count = annotation["sample_start"], annotation.get("sample_count", 0)
        if annotation["label"] == "signal":
            changes.append((start, annotation["comment"]))
        else:
            comment = annotation.get("comment", "")
            assert annotation["label"] == "lost" and count > 0 and not comment, annotation
            losses.append((start, start + count))
    block = recording["block_samples"]
    missing = [(sequence * block, (sequence + 1) * block) for sequence in recording["missing"]]
    return sorted(changes), joined(losses + missing)


def sent(answer, rate):
    """The same of what the emulator says."""
    signal = f"bandwidth={0.8 * rate:.15g} gain=3.5 sample_rate={rate:.15g}"
    changes = [(one["sample_start"], f"frequency={one['frequency']:.15g} {signal}") for one in answer["tuned"]]
    losses = [(one["sample_start"], one["sample_start"] + one["sample_count"]) for one in answer["lost"]]
    return sorted(changes), joined(losses)


def part(story, first, end, place=0):
    """The same of some of the samples, at that place: what held before the first of them holds from that on."""
    changes, losses = story
    before = [text for start, text in changes if start <= first][-1:]
    within = [(start - first + place, text) for start, text in changes if first < start < end]
    clipped = [[max(begin, first), min(stop, end)] for begin, stop in losses if begin < end and stop > first]
    return [(place, text) for text in before] + within, [[sample - first + place for sample in one] for one in clipped]


def differences(what, expected, found):
    for one in expected:
        if one not in found:
            print(f"{what} {one} is not in the recording")
    for one in found:
        if one not in expected:
            print(f"{what} {one} of the recording was not expected")


def main():
    with open(sys.argv[2]) as first, open(sys.argv[3]) as second:
        expected, recording = json.load(first), json.load(second)
    if sys.argv[1] in ("sent", "captured"):
        expected = sent(expected, float(sys.argv[4]))
    else:
        expected = told(expected)
    if sys.argv[1] == "part":
        expected = part(expected, int(sys.argv[4]), int(sys.argv[5]))
    if sys.argv[1] == "captured":
        first, end = map(int, sys.argv[5:7])
        expected = part(expected, first, end, place=first)
    found = told(recording)
    if expected == found:
        print(f"{len(found[0])} changes and {len(found[1])} losses, each at its sample")
        return 0
    differences("change", expected[0], found[0])
    differences("loss", expected[1], found[1])
    return 1


sys.exit(main())
