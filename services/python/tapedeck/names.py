"""Resource names: what people write, "l0/c0", as what nodes take, "luns/l0/channels/c0"."""
from __future__ import annotations

import re

from tapedeck.errors import NameInvalid

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_COLLECTIONS = ("luns", "channels", "recordings")


def check_id(text: str) -> str:
    """An ID, as a LUN's; it also names a directory."""
    if not _ID.fullmatch(text):
        raise NameInvalid(f"{text!r}: names are 1 to 63 of [A-Za-z0-9._-] and start with a letter or digit",
                          code="INVALID_ARGUMENT", metadata={"name": text})
    return text


def ids_of(text: str, depth: int) -> list[str]:
    """The IDs of a LUN (depth 1), channel (2) or recording (3), in the short or the full form."""
    parts = text.split("/")
    if len(parts) == 2 * depth and tuple(parts[::2]) == _COLLECTIONS[:depth]:
        parts = parts[1::2]
    if len(parts) != depth:
        form = "/".join(word[:-1].upper() for word in _COLLECTIONS[:depth])
        raise NameInvalid(f"{text!r} must be {form}", code="INVALID_ARGUMENT", metadata={"name": text})
    return [check_id(part) for part in parts]


def is_full(text: str, collections: tuple[str, ...]) -> bool:
    """Whether it is such a name: ("jobs",) of jobs/{job}."""
    parts = text.split("/")
    return tuple(parts[::2]) == collections and all(_ID.fullmatch(part) for part in parts[1::2]) and len(parts) % 2 == 0


def name_of(ids: list[str]) -> str:
    """The full name."""
    return "/".join(f"{collection}/{one}" for collection, one in zip(_COLLECTIONS, ids))


def full(text: str, depth: int) -> str:
    """The full name of what `text` names."""
    return name_of(ids_of(text, depth))
