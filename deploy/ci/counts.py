#!/usr/bin/python3
"""Counts a JUnit file of ctest: prints "PASSED FAILED SKIPPED", and to stderr what did not pass and why.

A test that ctest could not start counts as failed, so that a missing program never looks like success.
"""
import collections
import re
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED_OUTPUT = re.compile(r"^.*(?:skipped:|Skipped\n)\s*(.*)$", re.MULTILINE)
SHOWN_FIRST, SHOWN_LAST = 10, 20  # lines of a failed test's output


def outcome(case):
    """passed, failed or skipped."""
    if case.get("status") == "run":
        return "passed"
    marker = case.find("skipped")
    skipped = marker is not None and marker.get("message", "").startswith("SKIP_")
    return "skipped" if skipped or case.get("status") == "disabled" else "failed"


def reason(case):
    """What a skipped test said about itself."""
    found = SKIPPED_OUTPUT.search(case.findtext("system-out") or "")
    return found.group(1).strip() if found else "no reason given"


def name(case):
    """The name without ctest's comment on its parameter."""
    return case.get("name").split("  #")[0]


def shown(output):
    """The lines of a failed test's output that are worth showing."""
    lines = output.splitlines()
    if len(lines) <= SHOWN_FIRST + SHOWN_LAST:
        return lines
    return lines[:SHOWN_FIRST] + ["..."] + lines[-SHOWN_LAST:]


def report(cases):
    """Failures with what they said; skipped tests by their reason."""
    for case in cases["failed"]:
        print(f"  FAILED {name(case)}", file=sys.stderr)
        for line in shown(case.findtext("system-out") or ""):
            print(f"    {line}", file=sys.stderr)
    reasons = collections.defaultdict(list)
    for case in cases["skipped"]:
        reasons[reason(case)].append(name(case))
    for why, names in reasons.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"  skipped {names[0]}{more}: {why}", file=sys.stderr)


def main(path):
    cases = collections.defaultdict(list)
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        cases[outcome(case)].append(case)
    report(cases)
    print(len(cases["passed"]), len(cases["failed"]), len(cases["skipped"]))


if __name__ == "__main__":
    main(sys.argv[1])
