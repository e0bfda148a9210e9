#!/usr/bin/python3
"""Runs examples that shall fail: examples_refuse.py FOLDER <TABLE. A line of the table has a pattern, an example and its arguments,
with tabs between them. The example fails, without a traceback, and its last line is its name and a sentence that fits the pattern.

Each runs in a child of this process, which has loaded what the examples import: that takes longer than the examples.
"""
import fnmatch
import os
import pathlib
import runpy
import sys
import tempfile
import traceback

import grpc  # noqa: F401
import numpy  # noqa: F401
import tapedeck  # noqa: F401

try:
    import matplotlib.pyplot  # noqa: F401
except ImportError:
    pass


def run_as_program(path, arguments):
    """What this process does and ends with as that program."""
    sys.argv = [str(path), *arguments]
    sys.path[0] = str(path.parent)
    status = 1
    try:
        runpy.run_path(str(path), run_name="__main__")
        status = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def run(path, arguments):
    """(exit status, output)"""
    with tempfile.TemporaryFile("w+") as said:
        pid = os.fork()
        if pid == 0:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            run_as_program(path, arguments)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        said.seek(0)
        return status, said.read().rstrip("\n")


def main(folder):
    wrong, count = [], 0
    for line in sys.stdin.read().splitlines():
        pattern, example, *arguments = line.split("\t")
        status, said = run(pathlib.Path(folder) / example, arguments)
        last = said.rpartition("\n")[2]
        count += 1
        if status == 0 or "Traceback" in said or not fnmatch.fnmatchcase(last, f"{example}: {pattern}"):
            wrong.append(f"{' '.join([example, *arguments])} ends with {status}: {said}")
    if not count:
        wrong.append("no example was run")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main(sys.argv[1])
