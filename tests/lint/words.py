#!/usr/bin/python3
"""No words of the process in the tree, and no link in a Markdown file to a file that is not there."""
import re

import tree

# Written in pieces, so that this file passes its own check.
ANYWHERE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
IN_PROSE = re.compile(r"\b(for no" r"w|place" r"holder|iss" r"ue #?\d+|pha" r"se \d+|mile" r"stone)\b|(?<![\w.])stu" r"b\b",
                      re.IGNORECASE)
COMMENT = re.compile(r"//(.*)|/\*(.*?)\*/|(?:^|\s)#(.*)")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
TEXT = tree.CODE + (".proto", ".py", ".sh", ".md", ".txt", ".cmake", ".yaml", ".yml", ".json")
NOT_OURS = ("LICENSE", "proto/google/", "proto/package-lock.json",
           "services/console/web/package-lock.json", "services/console/web/node/package-lock.json",
           "tests/e2e/console/package-lock.json", "tests/e2e/otlp/package-lock.json", "tests/helm/package-lock.json")


def prose(path, line):
    """The part of a line that is written for people."""
    if path.endswith(".md"):
        return line
    found = COMMENT.search(line)
    return next(part for part in found.groups() if part is not None) if found else ""


def check_words(files, path):
    for number, line in enumerate(files.text(path).splitlines(), 1):
        found = ANYWHERE.search(line) or IN_PROSE.search(prose(path, line))
        if found:
            yield path, number, f"say what is, not what is left to do: '{found.group(0)}'"


def check_targets(files, path):
    text = files.text(path)
    for found in LINK.finditer(text):
        target = found.group(1)
        if "://" not in target and not (files.root / path).parent.joinpath(target).exists():
            yield path, text.count("\n", 0, found.start()) + 1, f"link to a missing file: {target}"


def check(files):
    for path in files.files:
        if path.startswith(NOT_OURS):
            continue
        if path.endswith(TEXT) or path.startswith(".ci/"):
            yield from check_words(files, path)
        if path.endswith(".md"):
            yield from check_targets(files, path)


if __name__ == "__main__":
    tree.main(check)
