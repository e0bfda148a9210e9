#!/usr/bin/python3
"""clang's thread-safety analysis of the product's .cc files: thread_safety.py ROOT OUT [OPTION OF clang++...]

Reads ROOT/build/compile_commands.json and writes files OUT/NAME.cc that include up to 40 .cc files each: most of a file's time
goes into headers that it shares with the others. Namespaces are folders, so the files do not mind their neighbours; a main
function is alone. A file in which a neighbour's names hide what it means is judged by itself.
What is right is remembered (remembered.py).
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

from remembered import Remembered

FILES_EACH = 40
PRODUCT = ("dataplane", "services", "storage_node", "gpu_worker")
ANALYSIS = ["-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror", "-Wno-unknown-warning-option"]


def files_of(entry, root):
    """The files that one entry compiles, relative to root: those of its group, or itself."""
    path = pathlib.Path(entry["file"])
    if path.parent.name == "groups":
        return re.findall(r'^#include "([^"]+)"$', path.read_text(), re.M)
    return [os.path.relpath(path, root)]


def flags_of(entry):
    """Only include paths and definitions: g++ knows flags that clang does not."""
    return re.findall(r"-isystem [^ ]+|-[ID][^ ]+", entry["command"])


def sources_and_flags(root):
    """The product's .cc files and the include paths and definitions of all."""
    files, flags = {}, {}
    for entry in json.loads((root / "build/compile_commands.json").read_text()):
        ours = [file for file in files_of(entry, root) if file.split("/")[0] in PRODUCT and file.endswith(".cc")]
        files.update(dict.fromkeys(ours))
        flags.update(dict.fromkeys(flags_of(entry) if ours else []))
    return list(files), " ".join(flags).split()


def parts_of(files):
    """Lists of files to be analysed together."""
    mains = [file for file in files if file.endswith("/main.cc")]
    others = [file for file in files if file not in mains]
    for top in PRODUCT:
        below = [file for file in others if file.startswith(top + "/")]
        yield from (below[at : at + FILES_EACH] for at in range(0, len(below), FILES_EACH))
    yield from ([main] for main in mains)


class Analysis:
    def __init__(self, root, out, options):
        self.root, self.out = root, out
        self.files, flags = sources_and_flags(root)
        self.command = ["clang++", *ANALYSIS, *options, *flags]
        version = subprocess.run(["clang++", "--version"], check=True, capture_output=True, text=True).stdout
        self.remembered = Remembered("tapedeck-thread-safety", root, version + " ".join(self.command))

    def compile(self, source, name):
        """(whether it is right, what clang said, the files that it read)."""
        depends = self.out / f"{name}.d"
        done = subprocess.run([*self.command, "-MD", "-MF", depends, source], cwd=self.root, capture_output=True, text=True, check=False)
        read = depends.read_text().partition(":")[2].replace("\\\n", " ").split() if done.returncode == 0 else []
        return done.returncode == 0, done.stderr, [pathlib.Path(os.path.normpath(self.root / path)) for path in read]

    def judge(self, number, part):
        """What is wrong with a part; nothing if it is right."""
        if self.remembered.is_known(part):
            return ""
        source = self.out / f"{number}.cc"
        source.write_text("".join(f'#include "{file}"\n' for file in part))
        right, said, read = self.compile(source, number)
        if not right and len(part) > 1:
            alone = [self.compile(self.root / file, f"{number}.alone") for file in part]
            right, said = all(one[0] for one in alone), "".join(one[1] for one in alone if not one[0])
            read = [path for one in alone for path in one[2]]
        if right:
            self.remembered.remember(part, [path for path in read if path != source])
        return "" if right else said


def main(root, out, *options):
    analysis = Analysis(pathlib.Path(root).resolve(), pathlib.Path(out).resolve(), options)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [said for said in pool.map(analysis.judge, *zip(*enumerate(parts_of(analysis.files)))) if said]
    print("".join(wrong), end="", file=sys.stderr)
    analysis.remembered.forget_old()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
