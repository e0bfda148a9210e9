"""CRC32C, as all of Tapedeck has it.

By ISA-L (`crc32_iscsi` of libisal.so.2, Debian: libisal2), through ctypes, at about the rate of memory, where that
library is there. Else by numpy: many lanes of the bytes at once, each by tables, then joined; some 200 MB/s.
`BY` says which of them is in use: "isal" or "numpy".
"""
from __future__ import annotations

import ctypes
import functools
from typing import Any, Callable, Optional

import numpy

from tapedeck.datatypes import Array

_POLYNOMIAL = 0x82F63B78  # 0x1EDC6F41, bits reversed
_LANES = 2048  # enough that a step of all of them outweighs what numpy takes for a call
_STEP_BYTES = 8


def _load() -> Optional[Callable[[Any, int, int], int]]:
    try:
        function = ctypes.CDLL("libisal.so.2").crc32_iscsi
    except (OSError, AttributeError):
        return None
    function.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint]
    function.restype = ctypes.c_uint
    return function


_ISAL = _load()
BY = "numpy" if _ISAL is None else "isal"


@functools.lru_cache(maxsize=1)
def _byte_table() -> Array:
    """What a CRC state becomes by 8 zero bits, by its low byte."""
    table = numpy.arange(256, dtype=numpy.uint32)
    for _ in range(8):
        table = (table >> numpy.uint32(1)) ^ (table & numpy.uint32(1)) * numpy.uint32(_POLYNOMIAL)
    return table


def _zero_bytes(states: Array, count: int) -> Array:
    """States after so many zero bytes."""
    table = _byte_table()
    for _ in range(count):
        states = table[states & numpy.uint32(0xFF)] ^ (states >> numpy.uint32(8))
    return states


@functools.lru_cache(maxsize=1)
def _step_tables() -> list[Array]:
    """By 16 bits of a step, its first ones first: what they add to the state behind the step."""
    words = numpy.arange(1 << 16, dtype=numpy.uint32)
    return [_zero_bytes(words, _STEP_BYTES - 2 * place) for place in range(_STEP_BYTES // 2)]


@functools.lru_cache(maxsize=64)
def _shift(count: int) -> tuple[Array, ...]:
    """Four tables, by the bytes of a state, of what it becomes by `count` zero bytes; count is a power of two."""
    units = numpy.uint32(1) << numpy.arange(32, dtype=numpy.uint32)
    images = _zero_bytes(units, 1) if count == 1 else _apply(_shift(count // 2), _apply(_shift(count // 2), units))
    tables = []
    for place in range(4):
        values = numpy.arange(256, dtype=numpy.uint32)
        table = numpy.zeros(256, dtype=numpy.uint32)
        for bit in range(8):
            table ^= (values >> numpy.uint32(bit) & numpy.uint32(1)) * images[8 * place + bit]
        tables.append(table)
    return tuple(tables)


def _apply(tables: tuple[Array, ...], states: Array) -> Array:
    result: Array = numpy.zeros_like(states)
    for place in range(4):
        result = result ^ tables[place][states >> numpy.uint32(8 * place) & numpy.uint32(0xFF)]
    return result


def _in_lanes(data: Array) -> int:
    """The state after the bytes from state 0; there are so many that each lane has whole steps, a power of two."""
    lanes = data.reshape(_LANES, -1)
    words = numpy.ascontiguousarray(lanes.view(numpy.uint16).T)
    tables = _step_tables()
    states: Array = numpy.zeros(_LANES, dtype=numpy.uint32)
    for step in range(0, len(words), 4):
        low = (states & numpy.uint32(0xFFFF)) ^ words[step]
        high = (states >> numpy.uint32(16)) ^ words[step + 1]
        states = tables[0][low] ^ tables[1][high] ^ tables[2][words[step + 2]] ^ tables[3][words[step + 3]]
    length = lanes.shape[1]
    while len(states) > 1:
        states = _apply(_shift(length), states[0::2]) ^ states[1::2]
        length *= 2
    return int(states[0])


def by_numpy(data: Array) -> int:
    """CRC32C of bytes (uint8), without ISA-L."""
    size = len(data)
    if size < 4 * _LANES:
        state = 0xFFFFFFFF
        table = _byte_table().tolist()
        for byte in data.tolist():
            state = table[(state ^ byte) & 0xFF] ^ state >> 8
        return ~state & 0xFFFFFFFF
    # Zeros before the bytes leave a state of 0 as it is; that it begins with ones is the same as inverting 4 bytes.
    steps = -(-size // (_LANES * _STEP_BYTES))
    lane_bytes = _STEP_BYTES << (steps - 1).bit_length()
    padded = numpy.zeros(_LANES * lane_bytes, dtype=numpy.uint8)
    padded[-size:] = data
    padded[-size:len(padded) - size + 4] ^= numpy.uint8(0xFF)
    return ~_in_lanes(padded) & 0xFFFFFFFF


def crc32c(data: Any) -> int:
    """CRC32C of contiguous bytes: an array of uint8, bytes, a memoryview."""
    array: Array = data if isinstance(data, numpy.ndarray) else numpy.frombuffer(data, dtype=numpy.uint8)
    if _ISAL is None:
        return by_numpy(array)
    return ~_ISAL(array.ctypes.data, array.nbytes, 0xFFFFFFFF) & 0xFFFFFFFF
