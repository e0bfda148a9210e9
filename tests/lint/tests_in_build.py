#!/usr/bin/python3
"""Every *_test file is compiled by the build, and every Python or shell test is registered."""
import os

import tree


def check_compiled(files):
    commands = files.compile_commands()
    absent = tree.absent_rooms(commands)
    for path in files.code(".cc", ".cu"):
        stem = path.rsplit(".", 1)[0]
        rooms = {*path.split("/"), *(["cuda"] if path.endswith(".cu") else [])}
        if stem.endswith("_test") and path not in commands and not rooms & absent:
            yield path, 1, "no target builds this test"


def check_registered(files):
    """Scripts in tests/e2e and tests/lint are named by their CMakeLists.txt, or by a script there that uses them."""
    for path in files.code(".sh", ".py"):
        folder, name = os.path.split(path)
        if folder not in ("tests/e2e", "tests/lint") or name in ("lib.sh", "tree.py"):
            continue
        users = [f"{folder}/CMakeLists.txt"] + [other for other in files.code(".sh", ".py")
                                                if other.startswith(folder + "/") and other != path]
        if not any(name.split(".")[0] in files.text(user) for user in users):
            yield path, 1, f"{folder}/CMakeLists.txt does not run this test"


def check(files):
    if files.build:
        yield from check_compiled(files)
    yield from check_registered(files)


if __name__ == "__main__":
    tree.main(check)
