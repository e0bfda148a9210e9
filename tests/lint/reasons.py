#!/usr/bin/python3
"""Each reason of an error is given by one function, with a code and metadata that errors.proto names."""
import pathlib
import re
import runpy
import sys

import tree

OURS = ("dataplane/", "services/", "gpu_worker/", "storage_node/")
PROTO = "proto/tapedeck/v1/errors.proto"
MAKER = pathlib.Path(__file__).resolve().parents[2] / "proto/reasons.py"
GIVEN = re.compile(r'WithReason\(\s*(?:absl::(\w+)Error\()?(?:(?!WithReason\().)*?,\s*"([A-Z][A-Z0-9_]+)"(?:,\s*\{(.*?)\}\s*\))?', re.DOTALL)
KEY = re.compile(r'\{"(\w+)"')
# Functions beside the one of their reason, and why.
AGREED = {
    "services/base/files/errors.h": "a file that a job or tapectl writes lies on no member of a LUN",
}


def as_word(code):
    """NotFound, of absl::NotFoundError, is NOT_FOUND."""
    return re.sub(r"(?<=.)(?=[A-Z])", "_", code).upper()


def faults(listed, code, reason, metadata):
    """What is wrong with a reason that is given so."""
    if reason not in listed:
        yield f"{reason} is no reason of {PROTO}"
        return
    said, _ = listed[reason]
    if code and as_word(code) not in said.codes:
        yield f"{reason} is given with the code {as_word(code)}, which {PROTO} does not name"
    for key in KEY.findall(metadata or ""):
        if key not in said.metadata:
            yield f"{reason} is given with the metadata {key}, which {PROTO} does not name"


def given(files, listed):
    first = {}
    for path in files.code():
        if not path.startswith(OURS) or path in AGREED:
            continue
        text = files.text(path)
        for found in GIVEN.finditer(text):
            code, reason, metadata = found.groups()
            line = text.count("\n", 0, found.start()) + 1
            if reason in first:
                yield path, line, f"{reason} is given at {first[reason]}, too: make it one function"
            first.setdefault(reason, f"{path}:{line}")
            for fault in faults(listed, code, reason, metadata) if listed else ():
                yield path, line, fault


def check(files):
    listed = runpy.run_path(str(MAKER))["read"](files.root) if PROTO in files.files else None
    yield from given(files, listed)


if __name__ == "__main__":
    try:
        import google.protobuf  # noqa: F401
    except ImportError:
        print("skipped: python3-protobuf is not installed")
        sys.exit(77)
    tree.main(check)
