#!/usr/bin/python3
"""A recording's spectrum over time, as a picture in shades of grey: time goes down, frequency to the right.
  waterfall.py NODE RECORDING FILE.png"""
import pathlib
import struct
import sys
import zlib
from typing import Any

import numpy
from numpy.typing import NDArray

import tapedeck

POINTS, LINES = 256, 200


def spectrum(samples: NDArray[Any]) -> NDArray[Any]:
    """In dB, the lowest frequency first."""
    bins = numpy.fft.fftshift(numpy.fft.fft(samples * numpy.hanning(len(samples))))
    power: NDArray[Any] = 20 * numpy.log10(numpy.abs(bins) + 1e-12)
    return power


def png(picture: NDArray[Any]) -> bytes:
    """A picture of bytes, one for each pixel, as a PNG."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = picture.shape
    lines = b"".join(b"\0" + line.tobytes() for line in picture)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def main(node: str, name: str, path: str) -> None:
    with tapedeck.connect(node) as deck:
        recording = deck.recording(name)
        if len(recording) < POINTS or not recording.datatype.startswith("c"):
            sys.exit(f"waterfall.py: {name} needs {POINTS} complex samples")
        step = max((len(recording) - POINTS) // LINES, 1)
        starts = range(0, len(recording) - POINTS + 1, step)[:LINES]
        lines = [spectrum(tapedeck.to_complex(recording.samples(start, POINTS), scaled=True)) for start in starts]
    power = numpy.array(lines)
    if not numpy.isfinite(power).all():
        sys.exit(f"waterfall.py: {name} has samples that are no numbers")
    low, high = numpy.percentile(power, [1, 100])
    picture = (255 * numpy.clip((power - low) / max(high - low, 1e-9), 0, 1)).astype(numpy.uint8)
    pathlib.Path(path).write_bytes(png(picture))
    print(f"{path}: {picture.shape[1]} × {picture.shape[0]}, peak at bin {int(power.mean(axis=0).argmax())} of {POINTS}")


if __name__ == "__main__":
    main(*sys.argv[1:])
