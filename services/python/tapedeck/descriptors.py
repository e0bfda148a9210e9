"""The messages and services of tapedeck.v1, made at run time from one FileDescriptorSet.

An installed package carries that set in descriptors.pb, which the package's build makes with protoc. In a source tree
there is no such file: there protoc makes it in memory, from the protos of that tree, so that none can be out of date.
The pool is the package's own: a program that has google.rpc.Status from elsewhere meets no name twice, and any
protobuf runtime will do, since no generated code ties it to one.
"""
from __future__ import annotations

import functools
import importlib
import pathlib
from typing import Any

from tapedeck import protoc
from tapedeck.errors import Error

_HERE = pathlib.Path(__file__).parent
_TREE = _HERE.parents[2] / "proto"


def _content() -> bytes:
    installed = _HERE / protoc.FILE
    if installed.exists():
        return installed.read_bytes()
    try:
        return protoc.make(_TREE)
    except RuntimeError as error:
        raise Error(str(error)) from None


@functools.lru_cache(maxsize=None)
def _pool() -> Any:
    # By name at run time: what Debian packages of protobuf has no annotations.
    descriptor_pb2: Any = importlib.import_module("google.protobuf.descriptor_pb2")
    descriptor_pool: Any = importlib.import_module("google.protobuf.descriptor_pool")
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(_content()).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def _class_of(descriptor: Any) -> Any:
    message_factory: Any = importlib.import_module("google.protobuf.message_factory")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return _factory().GetPrototype(descriptor)


@functools.lru_cache(maxsize=None)
def _factory() -> Any:
    """Of runtimes before 4.22, which have no GetMessageClass."""
    message_factory: Any = importlib.import_module("google.protobuf.message_factory")
    return message_factory.MessageFactory(_pool())


@functools.lru_cache(maxsize=None)
def message(name: str) -> Any:
    """The class of a message: message("Lun"), message("google.rpc.Status")."""
    full = name if "." in name else f"tapedeck.v1.{name}"
    return _class_of(_pool().FindMessageTypeByName(full))


@functools.lru_cache(maxsize=None)
def method(service: str, name: str) -> tuple[str, Any, Any]:
    """The path of a call, the class of its request and of its response."""
    found = _pool().FindServiceByName(f"tapedeck.v1.{service}").methods_by_name[name]
    return f"/tapedeck.v1.{service}/{name}", _class_of(found.input_type), _class_of(found.output_type)


def _prefix(enum: str) -> str:
    """Of LunState LUN_STATE_."""
    return "".join("_" + c if c.isupper() else c for c in enum).lstrip("_").upper() + "_"


@functools.lru_cache(maxsize=None)
def _enum(name: str) -> tuple[dict[int, str], dict[str, int]]:
    values = _pool().FindEnumTypeByName(f"tapedeck.v1.{name}").values
    words = {value.number: value.name[len(_prefix(name)):] for value in values}
    return words, {word: number for number, word in words.items()}


def word_of(enum: str, number: int) -> str:
    """The word of a value: word_of("LunState", 1) is "READY"; of one that is not known "UNSPECIFIED"."""
    return _enum(enum)[0].get(number, "UNSPECIFIED")


def number_of(enum: str, word: str) -> int:
    """And back, in any case, also of the proto's name: LUN_STATE_READY; KeyError."""
    return _enum(enum)[1][word.upper().removeprefix(_prefix(enum))]


def words_of(enum: str) -> list[str]:
    """All of them, in the order of their numbers."""
    return list(_enum(enum)[0].values())
