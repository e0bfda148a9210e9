#!/usr/bin/python3
"""Counts a JUnit file of ctest: prints "PASSED FAILED SKIPPED", and to stderr each test that did not pass and why.

A test that ctest could not start counts as failed, so that a missing program never looks like success.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED_OUTPUT = re.compile(r"^.*(?:skipped:|Skipped\n)\s*(.*)$", re.MULTILINE)


def reason(case):
    """What a skipped test said about itself."""
    output = case.findtext("system-out") or ""
    found = SKIPPED_OUTPUT.search(output)
    return found.group(1).strip() if found else "no reason given"


def main(path):
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        marker = case.find("skipped")
        if case.get("status") == "run":
            passed += 1
        elif case.get("status") == "disabled" or (
                marker is not None and marker.get("message", "").startswith("SKIP_")):
            skipped += 1
            print(f"  skipped {name}: {reason(case)}", file=sys.stderr)
        else:
            failed += 1
            print(f"  FAILED {name}", file=sys.stderr)
    print(passed, failed, skipped)


if __name__ == "__main__":
    main(sys.argv[1])
