#!/usr/bin/python3
"""Batches of samples of all recordings of a channel, in random order, for PyTorch or CuPy on a GPU, else for numpy.
  batches.py NODE LUN/CHANNEL [LENGTH [BATCH]]            run it where the recordings lie: each row is a read"""
import importlib
import sys
from typing import Any, Iterator, Sequence

import numpy

import tapedeck


def library() -> Any:
    """The first of CuPy and PyTorch that finds a GPU, else numpy."""
    why = []
    for name in ("cupy", "torch"):
        try:
            if (module := importlib.import_module(name)).cuda.is_available():
                return module
            why.append(f"{name} finds no GPU")
        except ImportError as error:
            why.append(str(error))
    print(f"no GPU is used: {', '.join(why)}", file=sys.stderr)
    return numpy


class Batches:
    """Each iteration is an epoch. A row is `length` samples in succession; those with missing samples are left out."""

    def __init__(self, recordings: Sequence[tapedeck.Recording], length: int, batch: int, seed: int = 0) -> None:
        self.places = [(one, start) for one in recordings for start in range(0, len(one) - length + 1, length)]
        self.length, self.batch, self.library = length, batch, library()
        self.on = {"device": "cuda"} if self.library.__name__ == "torch" else {}
        self.random = numpy.random.default_rng(seed)

    def __iter__(self) -> Iterator[Any]:
        order = self.random.permutation(len(self.places))
        for first in range(0, len(order), self.batch):
            places = (self.places[i] for i in order[first:first + self.batch])
            read = (recording.samples_with_gaps(start, self.length) for recording, start in places)
            rows = [tapedeck.to_complex(samples, scaled=True) for samples, missing in read if not missing.any()]
            if rows:
                yield self.library.asarray(numpy.stack(rows), **self.on)


def main(node: str, channel: str, length: str = "4096", batch: str = "64") -> None:
    with tapedeck.connect(node) as deck:
        recordings = [one for one in deck.recordings(channel) if len(one) >= int(length) > 0 and one.datatype.startswith("c")]
        if not recordings or not recordings[0].sample_rate or int(batch) < 1:
            sys.exit(f"batches.py: {channel} needs a sample rate and {length} complex samples; LENGTH and BATCH are 1 or more")
        batches = Batches(recordings, int(length), int(batch))
        rows, power = 0, 0.0
        spectrum: Any = 0
        for samples in batches:  # here a model would learn
            rows, power = rows + len(samples), power + float((abs(samples) ** 2).mean(1).sum())
            spectrum += abs(batches.library.fft.fft(samples)).sum(0)
    if not rows or not numpy.isfinite(power):
        sys.exit(f"batches.py: no row of {channel} is whole" if not rows else f"batches.py: {channel} has samples that are no numbers")
    hertz = numpy.fft.fftfreq(int(length), 1 / recordings[0].sample_rate)[int(spectrum.argmax())]
    print(f"{rows} rows of {length} samples by {batches.library.__name__}: mean power {power / rows:.6f}, strongest at {hertz:g} Hz")


if __name__ == "__main__":
    main(*sys.argv[1:])
