#!/usr/bin/python3
"""clang's thread-safety analysis of the product's .cc files: thread_safety.py ROOT OUT [OPTION OF clang++...]

Reads ROOT/build/compile_commands.json and writes files OUT/NAME.cc that include up to 40 .cc files each: most of a file's time
goes into headers that it shares with the others. Namespaces are folders, so the files do not mind their neighbours; a main
function is alone. A file in which a neighbour's names hide what it means is judged by itself.
A file is left out if neither it nor a header of the product that it includes knows of a lock: nothing there is guarded.
Of each file that is right it is remembered what it reads (remembered.py), so that only files that read a changed one are judged.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

from remembered import Remembered

FILES_EACH = 40
PRODUCT = ("dataplane", "services", "storage_node", "gpu_worker")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.M)
# What an annotation comes from, of Abseil or of the compiler itself.
LOCK = re.compile(r"absl/base/thread_annotations\.h|absl/synchronization/mutex\.h|\bABSL_\w*(GUARDED|LOCK)|capability")
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


class Includes:
    """What files of a tree include of it, whatever the preprocessor would leave out. `folders`: where they look, relative to it."""

    def __init__(self, root, folders):
        self.root, self.folders = root, folders

    @functools.cache
    def _read(self, file):
        """(the files of the tree that this one names, whether it knows of a lock)."""
        text = (self.root / file).read_text(errors="replace")
        folders = [*self.folders, os.path.dirname(file)]
        named = {os.path.normpath(os.path.join(folder, name)) for name in INCLUDE.findall(text) for folder in folders}
        return [path for path in sorted(named) if (self.root / path).is_file()], LOCK.search(text) is not None

    @functools.cache
    def of(self, file):
        """The file, and all that it includes."""
        found, left = {file}, [file]
        while left:
            new = set(self._read(left.pop())[0]) - found
            found |= new
            left += new
        return found

    def know_a_lock(self, file):
        return any(self._read(path)[1] for path in self.of(file))


def folders_in(root, flags):
    """Those of the include paths that lie in the tree, relative to it."""
    paths = [pathlib.Path(flag.removeprefix("-I")) for flag in flags if flag.removeprefix("-I").startswith("/")]
    return [os.path.relpath(path, root) for path in paths if path.is_relative_to(root)]


class Analysis:
    def __init__(self, root, out, options):
        self.root, self.out = root, out
        self.files, flags = sources_and_flags(root)
        self.includes = Includes(root, folders_in(root, flags))
        self.command = ["clang++", *ANALYSIS, *options, *flags]
        version = subprocess.run(["clang++", "--version"], check=True, capture_output=True, text=True).stdout
        self.remembered = Remembered("tapedeck-thread-safety", root, version + " ".join(self.command))

    def compile(self, source, name):
        """(whether it is right, what clang said, the files that it read)."""
        depends = self.out / f"{name}.d"
        done = subprocess.run([*self.command, "-MD", "-MF", depends, source], cwd=self.root, capture_output=True, text=True, check=False)
        read = depends.read_text().partition(":")[2].replace("\\\n", " ").split() if done.returncode == 0 else []
        return done.returncode == 0, done.stderr, {pathlib.Path(os.path.normpath(self.root / path)) for path in read}

    def unknown(self):
        """Files that may have something wrong."""
        return [file for file in self.files if self.includes.know_a_lock(file) and not self.remembered.is_known([file])]

    def judge(self, number, part):
        """(what is wrong with a part, the files that it read); of one that is right only those."""
        source = self.out / f"{number}.cc"
        source.write_text("".join(f'#include "{file}"\n' for file in part))
        right, said, read = self.compile(source, number)
        if not right and len(part) > 1:
            alone = [self.compile(self.root / file, f"{number}.alone") for file in part]
            right, said = all(one[0] for one in alone), "".join(one[1] for one in alone if not one[0])
            read = set().union(*(one[2] for one in alone))
        return ("", read - {source}) if right else (said, set())

    def remember(self, parts, reads):
        """Of each file of parts that are right what it includes of the tree. The rest, as of libraries, may be any file's."""
        own = {file: {self.root / path for path in self.includes.of(file)} for part in parts for file in part}
        read = set().union(*reads)
        rest = self.remembered.remember_files(read.difference(*own.values())) if own else None
        for file, included in own.items():
            self.remembered.remember([file], included & read, [rest])


def main(root, out, *options):
    analysis = Analysis(pathlib.Path(root).resolve(), pathlib.Path(out).resolve(), options)
    parts = list(parts_of(analysis.unknown()))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(analysis.judge, range(len(parts)), parts))
    wrong = "".join(said for said, _ in found)
    print(wrong, end="", file=sys.stderr)
    analysis.remember([part for part, one in zip(parts, found) if not one[0]], [read for _, read in found])
    analysis.remembered.forget_old()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
