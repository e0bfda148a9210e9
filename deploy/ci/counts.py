#!/usr/bin/python3
"""Counts what a ctest run tried: counts.py JUNIT RESULTS prints "PASSED FAILED SKIPPED", and to stderr what did not pass and
why, the slowest ten entries, and the processor seconds of each kind.

An entry of ctest is a suite or a script. What it tried case by case lies in RESULTS: NAME.xml as GoogleTest writes it, or
NAME.tsv with lines "passed|failed|skipped, name, seconds, reason". An entry without either counts as one case. One that
failed, or that ctest could not start, counts as at least one failure, so that a missing program never looks like success.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import cost

Case = collections.namedtuple("Case", "outcome name seconds reason")
SKIPPED_OUTPUT = re.compile(r"^.*(?:skipped:|Skipped\n)\s*(.*)$", re.MULTILINE)
FAILED_OUTPUT = re.compile(r"^(FAILED .*)$", re.MULTILINE)
VERDICT = re.compile(r"^(passed|failed|skipped)\t", re.MULTILINE)
SHOWN_FIRST, SHOWN_LAST = 20, 100  # lines of a failed entry's output
SHOWN_WHY = 600  # characters
SLOWEST = 10


def entry_outcome(entry):
    """passed, failed or skipped, as ctest saw it."""
    if entry.get("status") == "run":
        return "passed"
    marker = entry.find("skipped")
    skipped = marker is not None and marker.get("message", "").startswith("SKIP_")
    return "skipped" if skipped or entry.get("status") == "disabled" else "failed"


def said(entry, outcome):
    """Why an entry was skipped or failed, by its own words; of one that says nothing, how long it ran until it failed."""
    pattern = SKIPPED_OUTPUT if outcome == "skipped" else FAILED_OUTPUT
    found = pattern.search(entry.findtext("system-out") or "")
    if found:
        return found.group(1).strip()
    return "no reason given" + (f", after {float(entry.get('time')):.0f} s" if outcome == "failed" else "")


def gtest_cases(path):
    """The cases in GoogleTest's XML."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        failure = case.find("failure")
        if failure is not None:
            outcome = "failed"
        else:
            outcome = "skipped" if skipped is not None or case.get("status") == "notrun" else "passed"
        told = failure if failure is not None else skipped
        reason = (told.get("message") or told.text or "").strip() if told is not None else ""
        if outcome == "skipped":
            reason = reason.split("\n")[-1]
        yield Case(outcome, name, float(case.get("time") or 0), reason or "no reason given")


def listed_cases(path):
    """The cases in a script's list."""
    for line in path.read_text().splitlines():
        outcome, name, seconds, reason = (line.split("\t") + [""] * 3)[:4]
        yield Case(outcome, name, float(seconds or 0), reason or "no reason given")


def cases_of(entry, results):
    """What an entry tried."""
    stem, outcome = entry.get("name").replace("/", "_"), entry_outcome(entry)
    cases = []
    if (results / f"{stem}.xml").exists():
        cases = list(gtest_cases(results / f"{stem}.xml"))
    elif (results / f"{stem}.tsv").exists():
        cases = list(listed_cases(results / f"{stem}.tsv"))
    if not cases:
        return [Case(outcome, entry.get("name"), float(entry.get("time")), said(entry, outcome))]
    if outcome == "failed" and all(case.outcome != "failed" for case in cases):
        cases.append(Case("failed", entry.get("name"), 0, "what it says follows"))
    return cases


def shown(output):
    """The lines of a failed entry's output that are worth showing: of a list of checks, those of the ones that failed."""
    starts = [verdict.start() for verdict in VERDICT.finditer(output)]
    if starts:
        parts = [output[start:end] for start, end in zip(starts, starts[1:] + [len(output)])]
        output = "".join(part for part in parts if part.startswith("failed")) or output
    lines = output.splitlines()
    if len(lines) <= SHOWN_FIRST + SHOWN_LAST:
        return lines
    return lines[:SHOWN_FIRST] + ["..."] + lines[-SHOWN_LAST:]


def report_failed(entry, cases):
    """Names of the failed cases, and what their entry said."""
    failed = [case for case in cases if case.outcome == "failed"]
    for case in failed:
        print(f"  FAILED {case.name}: {' '.join(case.reason.split())[:SHOWN_WHY]}", file=sys.stderr)
    for line in shown(entry.findtext("system-out") or "") if failed else []:
        print(f"    {line}", file=sys.stderr)


def report_skipped(cases):
    """Skipped cases by their reason."""
    reasons = collections.defaultdict(list)
    for case in cases:
        if case.outcome == "skipped":
            reasons[case.reason].append(case.name)
    for why, names in reasons.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"  skipped {names[0]}{more}: {why}", file=sys.stderr)


def report_slowest(entries):
    """The entries that took longest."""
    slowest = sorted(entries, key=lambda entry: -float(entry.get("time")))[:SLOWEST]
    said_of = ", ".join(f"{entry.get('name')} {float(entry.get('time')):.0f} s" for entry in slowest)
    print(f"  slowest: {said_of}", file=sys.stderr)


def report_costs(results):
    """Processor seconds of each kind of entry."""
    line = cost.tests_line(cost.tests_of(results))
    if line:
        print(f"  processor seconds: {line}", file=sys.stderr)


def main(junit, results):
    ended = [(entry, cases_of(entry, pathlib.Path(results))) for entry in ElementTree.parse(junit).getroot().iter("testcase")]
    for entry, cases in ended:
        report_failed(entry, cases)
    every = [case for _, cases in ended for case in cases]
    report_skipped(every)
    report_slowest([entry for entry, _ in ended])
    report_costs(pathlib.Path(results))
    counted = collections.Counter(case.outcome for case in every)
    print(counted["passed"], counted["failed"], counted["skipped"])


if __name__ == "__main__":
    main(*sys.argv[1:3])
