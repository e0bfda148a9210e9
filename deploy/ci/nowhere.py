#!/usr/bin/python3
"""Tests that run nowhere: nowhere.py PLAIN SANITIZED LABELS names them; exit status 1 if there are any.

PLAIN and SANITIZED are builds in which ctest has run: the first without what has one of the LABELS (a regular expression), the
second with that alone. Each entry must be in one of the two, and of each test program each registered set of labels. With
TAPEDECK_LONG both have run whole; then each case that passed in PLAIN and that the short form has in SANITIZED alone must have
passed there as well: one that is not compiled or is skipped there would pass nowhere.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import counts

Entry = collections.namedtuple("Entry", "name program labels")  # program: of a suite, or None
Run = collections.namedtuple("Run", "entries ran")  # what ctest lists, and the names of what has run


def entry_of(test):
    """An entry of ctest's list. That of a program that is not built has its path as name."""
    command = test.get("command", [])
    filters = [place for place, word in enumerate(command) if word.startswith("--gtest_filter=")]
    labels = {p["name"]: p["value"] for p in test.get("properties", [])}.get("LABELS", [])
    program = command[filters[0] - 1] if filters else test["name"] if test["name"].startswith("/") else None
    return Entry(test["name"], program and os.path.basename(program), frozenset(labels))


def run_of(build):
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout
    ran = ElementTree.parse(build / "junit.xml").getroot().iter("testcase")
    return Run([entry_of(test) for test in json.loads(listed)["tests"]], {case.get("name") for case in ran})


def registered_in(build):
    """(program, labels) of what CMake registered."""
    lines = [line.split("\t") for line in (build / "tests" / "registered.tsv").read_text().splitlines()]
    return [(program, frozenset(labels.split())) for program, labels in lines]


def has(labels, pattern):
    return any(re.search(pattern, label) for label in labels)


def never_ran(plain, sanitized, pattern, registered):
    """Names of entries and programs."""
    for entry in plain.entries:
        here = plain.ran if not has(entry.labels, pattern) else sanitized.ran
        if entry.name not in here and (entry.program is None or here is plain.ran):
            yield entry.name
    for entry in sanitized.entries:
        if has(entry.labels, pattern) and entry.name not in sanitized.ran | plain.ran:
            yield entry.name
    tried = {(entry.program, entry.labels) for run in (plain, sanitized) for entry in run.entries if entry.name in run.ran}
    for program, labels in registered:
        if (program, labels) not in tried:
            yield f"{program} ({' '.join(sorted(labels))})"


def passed_in(build, names):
    """(entry, case) of what passed there."""
    results = build / "test-results"
    found = set()
    for name in names:
        path = results / f"{name.replace('/', '_')}.xml"
        if path.exists():
            found |= {case.name for case in counts.gtest_cases(path) if case.outcome == "passed"}
    return found


def only_plain(plain, pattern, builds):
    """Cases that passed in the plain build alone, though the short form runs them in the other."""
    names = [entry.name for entry in plain.entries if has(entry.labels, pattern)]
    return sorted(passed_in(builds[0], names) - passed_in(builds[1], names))


def main(plain_build, sanitized_build, pattern):
    builds = pathlib.Path(plain_build), pathlib.Path(sanitized_build)
    plain, sanitized = map(run_of, builds)
    missing = sorted(set(never_ran(plain, sanitized, pattern, registered_in(builds[0]))))
    for name in missing:
        print(f"{name}: runs nowhere")
    late = only_plain(plain, pattern, builds) if os.environ.get("TAPEDECK_LONG") else []
    for name in late:
        print(f"{name}: passes in the plain build alone, and the short form does not run it there")
    sys.exit(1 if missing or late else 0)


if __name__ == "__main__":
    main(*sys.argv[1:4])
