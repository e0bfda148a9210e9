#!/usr/bin/env python3
"""thread_safety_files.py ROOT OUT: what clang's thread-safety analysis compiles.

Reads ROOT/build/compile_commands.json and writes files OUT/NAME.cc that include the product's .cc files, up to 40 of them each:
most of a file's time goes into headers that it shares with the others. Namespaces are folders, so the files do not mind
their neighbours; a main function is alone. Prints a line of arguments for each: what to compile, and the include
paths and definitions of all.
"""

import json
import pathlib
import re
import sys

FILES_EACH = 40
PRODUCT = ("dataplane", "services", "storage_node", "gpu_worker")


def files_of(entry, root):
    """The files that one entry compiles, relative to root: those of its group, or itself."""
    path = pathlib.Path(entry["file"])
    if path.parent.name == "groups":
        return re.findall(r'^#include "([^"]+)"$', path.read_text(), re.M)
    return [str(path.relative_to(root))]


def flags_of(entry):
    """Only include paths and definitions: g++ knows flags that clang does not."""
    return re.findall(r"(?:-isystem |-I|-D)[^ ]+", entry["command"])


def parts_of(files):
    """Lists of files to be compiled together."""
    mains = [file for file in files if file.endswith("/main.cc")]
    others = [file for file in files if file not in mains]
    for top in PRODUCT:
        below = [file for file in others if file.startswith(top + "/")]
        yield from (below[at : at + FILES_EACH] for at in range(0, len(below), FILES_EACH))
    yield from ([main] for main in mains)


def main():
    root, out = map(pathlib.Path, sys.argv[1:3])
    files, flags = {}, {}
    for entry in json.loads((root / "build/compile_commands.json").read_text()):
        ours = [file for file in files_of(entry, root) if file.split("/")[0] in PRODUCT and file.endswith(".cc")]
        files.update(dict.fromkeys(ours))
        flags.update(dict.fromkeys(flags_of(entry) if ours else []))
    for number, part in enumerate(parts_of(list(files))):
        name = out / f"{number}.cc"
        name.write_text("".join(f'#include "{file}"\n' for file in part))
        print(name, *flags)


main()
