#!/usr/bin/python3
"""Runs examples that shall fail: examples_refuse.py FOLDER <TABLE. A line of the table has a pattern, an example and its arguments,
with tabs between them. The example fails, without a traceback, and its last line is its name and a sentence that fits the pattern.

Each runs in a child of this process, which has loaded what the examples import: that takes longer than the examples.
"""
import fnmatch
import pathlib
import runpy
import sys

import grpc  # noqa: F401
import numpy  # noqa: F401
import tapedeck  # noqa: F401

try:
    import matplotlib.pyplot  # noqa: F401
except ImportError:
    pass

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
from in_child import in_child  # noqa: E402


def run_example(path, arguments):
    sys.argv = [str(path), *arguments]
    sys.path[0] = str(path.parent)
    runpy.run_path(str(path), run_name="__main__")


def main(folder):
    wrong, count = [], 0
    for line in sys.stdin.read().splitlines():
        pattern, example, *arguments = line.split("\t")
        path = pathlib.Path(folder) / example
        status, said = in_child(lambda path=path, arguments=arguments: run_example(path, arguments))
        said = said.rstrip("\n")
        last = said.rpartition("\n")[2]
        count += 1
        if status == 0 or "Traceback" in said or not fnmatch.fnmatchcase(last, f"{example}: {pattern}"):
            wrong.append(f"{' '.join([example, *arguments])} ends with {status}: {said}")
    if not count:
        wrong.append("no example was run")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main(sys.argv[1])
