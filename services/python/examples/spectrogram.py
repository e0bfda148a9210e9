#!/usr/bin/python3
"""A spectrogram of a complex recording by matplotlib (Debian: python3-matplotlib). If the recording is longer than 500
transforms, they are spread evenly over it.
  spectrogram.py NODE RECORDING FILE.png          such as 127.0.0.1:7400 l0/c0/latest /tmp/spectrogram.png"""
import re
import sys
from typing import Any

import numpy
from matplotlib.figure import Figure  # type: ignore[import]
from numpy.typing import NDArray

import tapedeck

POINTS, LINES = 1024, 500


def centre(recording: tapedeck.Recording) -> float:
    """Hz, of the first annotation `signal` that tells it; else 0."""
    comments = [note.comment for note in recording.annotations if note.label == "signal"]
    found = re.search(r"frequency=([-+]?\d+\.?\d*(e[-+]?\d+)?)(?!\S)", " ".join(comments))
    return float(found[1]) if found else 0.0


def spectrogram(recording: tapedeck.Recording) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Seconds, Hz around the centre, and dBFS of both: a tone of full scale has 0. Rows with missing samples are NaN."""
    starts = numpy.arange(0, len(recording) - POINTS + 1, max(POINTS, len(recording) // LINES))
    window = numpy.hanning(POINTS + 1)[:-1]
    power = numpy.full((len(starts), POINTS), numpy.nan)
    for row, start in zip(power, starts):
        samples, missing = recording.samples_with_gaps(int(start), POINTS)
        if not numpy.isfinite(samples).all():
            sys.exit(f"spectrogram.py: samples {start} to {start + POINTS} of {recording.name} have values that are no numbers")
        if not missing.any():
            bins = numpy.fft.fft(tapedeck.to_complex(samples, scaled=True) * window) / window.sum()
            row[:] = 20 * numpy.log10(numpy.fft.fftshift(numpy.abs(bins)) + 1e-10)
    hertz = numpy.fft.fftshift(numpy.fft.fftfreq(POINTS, 1 / recording.sample_rate))
    return (starts + POINTS / 2) / recording.sample_rate, hertz, power


def main(node: str, name: str, path: str) -> None:
    with tapedeck.connect(node) as deck:
        recording = deck.recording(name)
        if len(recording) < POINTS or not recording.sample_rate or not recording.datatype.startswith("c"):
            sys.exit(f"spectrogram.py: {name} needs {POINTS} complex samples and a sample rate")
        seconds, hertz, power = spectrogram(recording)
        middle = centre(recording)
    if numpy.isnan(power).all():
        sys.exit(f"spectrogram.py: {name} has no {POINTS} samples in succession")
    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots()
    mesh = axes.pcolormesh(hertz, seconds, power, shading="nearest", vmin=numpy.nanpercentile(power, 5))
    axes.set(title=name, xlabel=f"frequency around {middle:.10g} Hz [Hz]", ylabel="time [s]")
    figure.colorbar(mesh, label="power [dBFS]")
    figure.savefig(path)
    mean = numpy.nanmean(power, axis=0)
    print(f"{path}: {len(seconds)} spectra, {seconds[0]:.6f} to {seconds[-1]:.6f} s, "
          f"strongest at {middle + hertz[mean.argmax()]:.10g} Hz with {mean.max():.2f} dBFS")


if __name__ == "__main__":
    main(*sys.argv[1:])
