"""SigMF datatypes as numpy has them.

| SigMF | array of n samples |
|---|---|
| rf32_le, ri16_be, ru8, … | shape (n,), in the byte order of the datatype |
| cf32_le, cf64_le, … | shape (n,), complex64 or complex128 |
| ci16_le, cu8, … | shape (n, 2) of the component's integer type: numpy has no complex integers |

`to_complex` makes complex numbers of any of them.
"""
from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import numpy

from tapedeck.errors import DatatypeInvalid

Array = numpy.ndarray[Any, numpy.dtype[Any]]

_NAME = re.compile(r"([cr])(f32|f64|i32|i16|u32|u16|i8|u8)(_le|_be)?")


@dataclasses.dataclass(frozen=True)
class Layout:
    """How samples of a datatype lie in memory."""

    name: str
    dtype: numpy.dtype[Any]
    columns: int  # elements of a sample: 2 of a complex integer

    @property
    def sample_bytes(self) -> int:
        """Of one sample."""
        return int(self.dtype.itemsize) * self.columns

    def of_bytes(self, data: Array) -> Array:
        """The samples in bytes (uint8, whole samples), without a copy."""
        elements = data.view(self.dtype)
        return elements if self.columns == 1 else elements.reshape(-1, self.columns)


@functools.lru_cache(maxsize=64)
def layout(name: str) -> Layout:
    """Of a SigMF datatype; DatatypeInvalid."""
    found = _NAME.fullmatch(name)
    if not found or (found[2][1:] == "8") == bool(found[3]):
        raise DatatypeInvalid(f"{name!r} is not a SigMF datatype, such as cf32_le, ri16_be or cu8",
                              code="INVALID_ARGUMENT", metadata={"datatype": name})
    order = ">" if found[3] == "_be" else "<"
    kind, size = found[2][0], int(found[2][1:]) // 8
    if found[1] == "c" and kind == "f":
        return Layout(name, numpy.dtype(f"{order}c{2 * size}"), 1)
    return Layout(name, numpy.dtype(f"{order}{kind}{size}"), 2 if found[1] == "c" else 1)


def to_complex(samples: Array, *, scaled: bool = False) -> Array:
    """Samples of any complex datatype as complex64, or complex128 where that is needed. With `scaled`, full scale of an
    integer of b bits is 1.0: a signed n is n / 2^(b-1), an unsigned one n / 2^(b-1) - 1."""
    if samples.dtype.kind == "c":
        return samples.astype(samples.dtype.newbyteorder("="), copy=False)
    if samples.ndim != 2 or samples.shape[1] != 2:
        raise DatatypeInvalid("these samples are real", code="INVALID_ARGUMENT")
    wide = samples.dtype.itemsize > 2
    parts = numpy.ascontiguousarray(samples, dtype=numpy.float64 if wide else numpy.float32)
    if scaled and samples.dtype.kind in "iu":
        parts /= 2.0 ** (8 * samples.dtype.itemsize - 1)
        parts -= samples.dtype.kind == "u"
    complexes: Array = parts.view(numpy.complex128 if wide else numpy.complex64)
    return complexes.reshape(-1)
