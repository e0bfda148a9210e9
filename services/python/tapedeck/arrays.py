"""Samples in GPU memory, through CuPy or PyTorch where one of them is installed. Neither is needed otherwise."""
from __future__ import annotations

import importlib
from typing import Any

import numpy

from tapedeck.datatypes import Array
from tapedeck.errors import ArgumentInvalid, DatatypeInvalid, DeviceUnusable

_TORCH_HAS_NO = (numpy.dtype("u2"), numpy.dtype("u4"))


def _library(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DeviceUnusable(f'to="{name}" needs {what}, which this Python does not have: {error}',
                             code="FAILED_PRECONDITION", metadata={"device": name}) from None


def _native(samples: Array) -> Array:
    """In this machine's byte order, contiguous and writable, as both libraries want it."""
    return numpy.require(samples, samples.dtype.newbyteorder("="), ["C", "W"])


def _to_cupy(samples: Array) -> Any:
    cupy = _library("cupy", "CuPy")
    try:
        return cupy.asarray(_native(samples))
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceUnusable(f"CuPy: {error}", code="FAILED_PRECONDITION", metadata={"device": "cuda"}) from None


def _to_torch(samples: Array, device: str) -> Any:
    torch = _library("torch", "PyTorch")
    native = _native(samples)
    if native.dtype in _TORCH_HAS_NO:
        raise DatatypeInvalid(f"PyTorch has no {native.dtype}; take the samples as numpy has them and convert them",
                              code="INVALID_ARGUMENT")
    if device == "cuda" and not torch.cuda.is_available():
        raise DeviceUnusable('PyTorch sees no CUDA device; to="torch:cpu" gives a tensor of the host',
                             code="FAILED_PRECONDITION", metadata={"device": "cuda"})
    return torch.from_numpy(native).to(device)


def convert(samples: Array, to: str) -> Any:
    """"numpy": as they are. "cupy": a cupy.ndarray, which has __cuda_array_interface__ and __dlpack__. "torch": a tensor on
    the current CUDA device, which has both, too. "torch:cpu": a tensor that has copied nothing if it need not."""
    if to == "numpy":
        return samples
    if to == "cupy":
        return _to_cupy(samples)
    if to in ("torch", "torch:cpu"):
        return _to_torch(samples, "cpu" if to == "torch:cpu" else "cuda")
    raise ArgumentInvalid(f'to={to!r} is none of "numpy", "cupy", "torch" and "torch:cpu"', code="INVALID_ARGUMENT",
                          metadata={"field": "to"})
