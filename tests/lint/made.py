#!/usr/bin/python3
"""Texts that programs make of the protos and of the help, and that are kept in the tree, are as these programs would make them."""
import pathlib
import runpy
import sys

import tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKERS = {
    "proto/tapedeck/v1/errors.proto": "proto/reasons.py",
    "proto/tapedeck/v1/pipeline.proto": "proto/page_types.py",
    "deploy/guide/commands.md": "deploy/guide/reference.py",
}
OF_BUILD = ("deploy/guide/reference.py",)  # those that also look at its programs


def check(files):
    for source, maker in MAKERS.items():
        if source not in files.files:
            continue
        texts = runpy.run_path(str(ROOT / maker))["texts"]
        for path, text, wanted in texts(files.root, files.build) if maker in OF_BUILD else texts(files.root):
            if text != wanted:
                yield path, 1, f"the protos or the programs say something else: run {maker}"


if __name__ == "__main__":
    try:
        import google.protobuf  # noqa: F401
    except ImportError:
        print("skipped: python3-protobuf is not installed")
        sys.exit(77)
    tree.main(check)
