#!/usr/bin/python3
"""Each error that is ignored has its reason in a comment, on the same line or the one before its statement."""
import re

import tree

OURS = ("dataplane/", "services/", "gpu_worker/", "storage_node/")
IGNORED = re.compile(r"\.IgnoreError\(\)")
COMMENT = re.compile(r"//.*\w")


def statement_begins(lines, number):
    """The line on which the statement that ends on line `number` begins."""
    while number > 0 and not re.search(r"([;{}:]|//.*)\s*$", lines[number - 1]):
        number -= 1
    # A lambda's body is part of the statement that ignores what the call with it returns.
    if re.match(r"\s*\}\)", lines[number]):
        indent = len(lines[number]) - len(lines[number].lstrip())
        number -= 1
        while number > 0 and len(lines[number]) - len(lines[number].lstrip()) > indent:
            number -= 1
    return number


def check(files):
    for path in files.code():
        if not path.startswith(OURS):
            continue
        lines = files.text(path).splitlines()
        for number, line in enumerate(lines):
            if not IGNORED.search(line) or COMMENT.search(line):
                continue
            first = statement_begins(lines, number)
            if first == 0 or not COMMENT.search(lines[first - 1]):
                yield path, number + 1, "an error is ignored: say in a comment why nothing is lost"


if __name__ == "__main__":
    tree.main(check)
