#!/usr/bin/python3
"""Every *_test file is compiled by the build, and every Python or shell test is registered."""
import os

import tree


def has_cuda(commands):
    return any(path.endswith(".cu") for path in commands)


def check_compiled(files):
    commands = files.compile_commands()
    for path in files.code(".cc", ".cu"):
        stem = path.rsplit(".", 1)[0]
        needs_cuda = path.endswith(".cu") or "cuda" in path.split("/")
        if stem.endswith("_test") and path not in commands:
            if not needs_cuda or has_cuda(commands):
                yield path, 1, "no target builds this test"


def check_registered(files):
    """Scripts in tests/e2e and tests/lint are named by their CMakeLists.txt."""
    for path in files.code(".sh", ".py"):
        folder, name = os.path.split(path)
        if folder not in ("tests/e2e", "tests/lint") or name in ("lib.sh", "tree.py"):
            continue
        if name.split(".")[0] not in files.text(f"{folder}/CMakeLists.txt"):
            yield path, 1, f"{folder}/CMakeLists.txt does not run this test"


def check(files):
    if files.build:
        yield from check_compiled(files)
    yield from check_registered(files)


if __name__ == "__main__":
    tree.main(check)
