#!/usr/bin/python3
"""Every header of ours compiles alone, with the flags of the nearest compiled file."""
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys

import tree

KEPT_FLAGS = re.compile(r"^(-I|-D|-std=|-f|-m|-W)")


def nearest_source(header, commands):
    """The compiled C++ file that shares the longest path with the header."""
    sources = [path for path in commands if path.endswith(".cc") and not path.startswith("..")]
    return max(sources, key=lambda source: (len(os.path.commonprefix([source, header])), source))


def flags_of(entry):
    words = entry.get("arguments") or shlex.split(entry["command"])
    kept = []
    for word, following in zip(words, words[1:] + [""]):
        if word in ("-isystem", "-include"):
            kept += [word, following]
        elif KEPT_FLAGS.match(word):
            kept.append(word)
    return kept


def cache_of(files):
    """An environment in which ccache knows a header again in another clone of the tree."""
    return {**os.environ, "CCACHE_BASEDIR": str(files.root), "CCACHE_NOHASHDIR": "1"}


def compile_alone(files, commands, header):
    """The compiler's first error lines; empty if the header compiles."""
    entry = commands[nearest_source(header, commands)]
    folder = files.build / "lint-headers"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / (header.replace("/", "__") + ".cc")
    source.write_text(f'#include "{header}"\n')
    command = [*([shutil.which("ccache")] if shutil.which("ccache") else []), "g++", *flags_of(entry),
               f"-I{files.root}", "-O0", "-c", str(source), "-o", str(source) + ".o"]
    result = subprocess.run(command, cwd=entry["directory"], env=cache_of(files), capture_output=True, text=True,
                            check=False)
    return "" if result.returncode == 0 else "\n".join(result.stderr.splitlines()[:6]) or "g++ failed"


def check(files):
    commands = files.compile_commands()
    absent = tree.absent_rooms(commands)
    if absent:
        print("headers of rooms that are not built here are left out:", ", ".join(sorted(absent)))
    headers = [path for path in files.code(".h") if not absent & set(path.split("/"))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, error in zip(headers, pool.map(lambda h: compile_alone(files, commands, h), headers)):
            if error:
                yield header, 1, f"does not compile alone:\n{error}"


if __name__ == "__main__":
    if not os.environ.get("TAPEDECK_LONG"):
        print("skipped: takes minutes; deploy/test.sh --all compiles every header alone, as TAPEDECK_LONG=1 does")
        sys.exit(77)
    tree.main(check)
