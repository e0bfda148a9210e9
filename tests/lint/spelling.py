#!/usr/bin/python3
"""Words as codespell knows them, in every text of the tree. spelling.txt lists the words that are right, where and why."""
import pathlib
import re
import shutil
import subprocess
import sys

import tree

KNOWN = pathlib.Path(__file__).with_name("spelling.txt")
NOT_OURS = re.compile(r"LICENSE$|tests/lint/spelling\.txt$|proto/google/|.*package-lock\.json$|.*\.(svg|png|gz|zst|sigmf-data|bin)$")
FOUND = re.compile(r"(.*):(\d+): (.*) ==> (.*)")
BATCH = 1000  # files of a call


def known():
    """(word, path) of each line of the list: a word of the file or folder."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split(None, 2)[:2]) for line in lines if line.strip() and not line.startswith("#")]


def misspelt(files):
    """(path, line, word, what codespell takes it for)."""
    paths = [path for path in files.files if not NOT_OURS.match(path)]
    for begin in range(0, len(paths), BATCH):
        done = subprocess.run(["codespell", *paths[begin:begin + BATCH]], cwd=files.root, check=False, capture_output=True, text=True)
        yield from (found.groups() for found in map(FOUND.match, done.stdout.splitlines()) if found)


def check(files):
    listed, used = known(), set()
    for path, line, word, right in misspelt(files):
        path = path.removeprefix("./")
        fitting = [entry for entry in listed if entry[0] == word and path.startswith(entry[1].rstrip("*"))]
        used.update(fitting)
        if not fitting:
            yield path, line, f"'{word}' is misspelt: {right}"
    for word, place in listed:
        if (word, place) not in used and any(path.startswith(place.rstrip("*")) for path in files.files if place != "*"):
            yield f"tests/lint/{KNOWN.name}", 1, f"{place} does not have '{word}': take it from the list"


if __name__ == "__main__":
    if not shutil.which("codespell"):
        print("skipped: codespell is not installed")
        sys.exit(77)
    tree.main(check)
