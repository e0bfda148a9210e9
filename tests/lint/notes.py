#!/usr/bin/python3
"""Notes have the codes of notes.proto, each of which something gives, and tests look at codes and facts, not at English."""
import re

import tree

OURS = ("dataplane/", "services/", "gpu_worker/", "storage_node/")
PROTO = "proto/tapedeck/v1/notes.proto"
LISTED = re.compile(r"^  NOTE_CODE_([A-Z][A-Z0-9_]*) = [1-9]", re.MULTILINE)
GIVEN = re.compile(r'\b(?:MakeNote|NotePackets|NoteTimes|Tell|TellDegraded)\(\s*"([A-Z][A-Z0-9_]*)"')
WORD = re.compile(r'"([A-Z][A-Z0-9_]*)"')
# Of a script or page: a filter of jq or a method of JavaScript that looks into a note's text.
SCRIPT = re.compile(r"\.notes\b.*\b(?:contains|test|startswith|endswith|capture|match|includes|exec)\(|\bnotes\b.*\.text\b")
# Of a unit test: what stands behind a list of notes, up to the statement's end.
STATEMENT = re.compile(r"\b(?:EXPECT|ASSERT)_THAT\(\s*[^,;]*(?:\bnotes|Notes\(\)|TextsOf\([^;]*?\))(?:\[\d+\])?,[^;]*?\b(?:HasSubstr|StartsWith|EndsWith"
                       r"|ContainsRegex|MatchesRegex)\([^;]*;")
# Whose texts are tried: what a port or its driver says stands in a note's text alone.
TEXTS = ("tests/gpu_worker/device/transfer_ring_test.cc", "tests/gpu_worker/job/direct_job_test.cc")


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def codes(files):
    proto = files.text(PROTO) if PROTO in files.files else ""
    listed = {found.group(1): line_of(proto, found.start()) for found in LISTED.finditer(proto)}
    given = set()
    for path in files.code():
        if not path.startswith(OURS):
            continue
        text = files.text(path)
        given.update(WORD.findall(text))
        for found in GIVEN.finditer(text):
            if found.group(1) not in listed:
                yield path, line_of(text, found.start()), f"{found.group(1)} is no code of {PROTO}"
    for code, line in listed.items():
        if code not in given:
            yield PROTO, line, f"nothing gives the code {code}"


def english(files):
    for path in files.files:
        if not path.startswith("tests/") or path.startswith("tests/lint/") or path in TEXTS:
            continue
        if path.endswith((".sh", ".js", ".py")):
            for number, line in enumerate(files.text(path).splitlines(), 1):
                if SCRIPT.search(line):
                    yield path, number, "this looks at the text of a note: look at its code and facts"
        elif path.endswith((".cc", ".h")):
            text = files.text(path)
            for found in STATEMENT.finditer(text):
                yield path, line_of(text, found.start()), "this looks at the text of a note: use Noted (tests/services/noted.h)"


def check(files):
    yield from codes(files)
    yield from english(files)


if __name__ == "__main__":
    tree.main(check)
