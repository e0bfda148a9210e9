#!/usr/bin/python3
"""Texts that programs make of the protos, and that are kept in the tree, are as these programs would make them."""
import pathlib
import runpy
import sys

import tree

MAKERS = {"proto/tapedeck/v1/errors.proto": "reasons.py", "proto/tapedeck/v1/pipeline.proto": "page_types.py"}


def check(files):
    for proto, maker in MAKERS.items():
        if proto not in files.files:
            continue
        texts = runpy.run_path(str(pathlib.Path(__file__).resolve().parents[2] / "proto" / maker))["texts"]
        for path, text, wanted in texts(files.root):
            if text != wanted:
                yield path, 1, f"the protos say something else: run proto/{maker}"


if __name__ == "__main__":
    try:
        import google.protobuf  # noqa: F401
    except ImportError:
        print("skipped: python3-protobuf is not installed")
        sys.exit(77)
    tree.main(check)
