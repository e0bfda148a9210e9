#!/usr/bin/env python3
"""Packets as tshark has read them, held against what was to be sent; times are computed here anew, as fractions.

  vita49_dissected.py PACKETS stream=S rate=R sample_bytes=B packet_samples=N sent=JSON [cut=SAMPLE] [recording=JSON]

A packet begins at every N-th sample and at `cut`; those of lost samples are not there, but counted. Without a recording the begin is
the first packet's.
"""
import json
import sys
from fractions import Fraction

SECOND = 10**12
DATA, CONTEXT = 1, 4
DIFI = 0x6A621E
POSIX, PICOSECONDS = 3, 2


def number(text):
    return int(text, 0)


def read(path):
    names = "udp type words count stream oui icc pcc tsi tsf seconds picoseconds rough".split()
    with open(path) as file:
        return [dict(zip(names, line.rstrip("\n").split("\t"))) for line in file]


def expected_data(settings, sent):
    """(first sample, samples, count) of each packet that was to be sent."""
    step, cut = int(settings["packet_samples"]), int(settings.get("cut", 0))
    begins = sorted({*range(0, sent["samples"], step), cut})
    lost = {one["sample_start"] + at for one in sent["lost"] for at in range(0, one["sample_count"], step)}
    ends = begins[1:] + [sent["samples"]]
    return [(first, end - first, at % 16) for at, (first, end) in enumerate(zip(begins, ends)) if first not in lost]


def time_of(packet):
    return number(packet["seconds"]) * SECOND + number(packet["picoseconds"])


class Check:
    def __init__(self, settings):
        self.rate = Fraction(settings["rate"])
        self.stream = int(settings["stream"])
        self.begin = 0

    def exact(self, sample):
        whole, rest = divmod(sample * SECOND, self.rate)
        return self.begin + whole + (2 * rest >= self.rate)

    def head(self, packet, words, count, pcc):
        assert number(packet["udp"]) == 8 + 4 * words, packet
        assert number(packet["words"]) == words, packet
        assert number(packet["count"]) == count, packet
        assert number(packet["stream"]) == self.stream, packet
        assert (number(packet["oui"]), number(packet["icc"]), number(packet["pcc"])) == (DIFI, 0, pcc), packet
        assert (number(packet["tsi"]), number(packet["tsf"])) == (POSIX, PICOSECONDS), packet


def main():
    settings = dict(one.split("=", 1) for one in sys.argv[2:])
    sent = json.loads(settings["sent"])
    packets = read(sys.argv[1])
    data = [one for one in packets if number(one["type"]) == DATA]
    contexts = [one for one in packets if number(one["type"]) == CONTEXT]
    assert len(data) + len(contexts) == len(packets)
    check = Check(settings)
    check.begin = time_of(data[0])
    if "recording" in settings:
        assert check.begin % 1000 == 0, "a capture time is in nanoseconds"
    expected = expected_data(settings, sent)
    assert len(data) == len(expected), (len(data), len(expected))
    for packet, (first, samples, count) in zip(data, expected):
        check.head(packet, 7 + (samples * int(settings["sample_bytes"]) + 3) // 4, count, 0)
        assert time_of(packet) == check.exact(first), (packet, first)
    for at, packet in enumerate(contexts):
        check.head(packet, 27, at % 16, 1)
    times = [time_of(one) for one in contexts]
    for tuned in sent["tuned"]:
        assert check.exact(tuned["sample_start"]) in times, tuned
    apart = max((b - a for a, b in zip(times, times[1:] + [check.exact(sent["samples"])])), default=0)
    assert apart <= SECOND, f"no context for {apart} ps"
    print(f"tshark reads {len(data)} packets of data and {len(contexts)} contexts, all as they were to be sent")


main()
