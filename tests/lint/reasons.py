#!/usr/bin/python3
"""Each reason of an error is given by one function, which has its code and its metadata."""
import re

import tree

OURS = ("dataplane/", "services/", "gpu_worker/", "storage_node/")
GIVEN = re.compile(r'WithReason\((?:(?!WithReason\().)*?,\s*"([A-Z][A-Z0-9_]+)"', re.DOTALL)
# Functions beside the one of their reason, and why.
AGREED = {
    "services/base/files/errors.h": "a file that a job or tapectl writes lies on no member of a LUN",
}


def check(files):
    first = {}
    for path in files.code():
        if not path.startswith(OURS) or path in AGREED:
            continue
        text = files.text(path)
        for found in GIVEN.finditer(text):
            reason, line = found.group(1), text.count("\n", 0, found.start()) + 1
            if reason in first:
                yield path, line, f"{reason} is given at {first[reason]}, too: make it one function"
            first.setdefault(reason, f"{path}:{line}")


if __name__ == "__main__":
    tree.main(check)
