#!/usr/bin/python3
"""Runs a machine of tests/lab if what it tries has changed since it last passed: if_changed.py NAME [--always CHECK] COMMAND...

If nothing has, it is skipped, or runs that CHECK alone. With TAPEDECK_LONG it always runs. A run that passed whole leaves
BUILD/lab/passed/NAME, from which record_passed.py makes the line to commit. BUILD is the folder above TAPEDECK_BIN.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import tried

UNCHANGED = "unchanged since it last passed; TAPEDECK_LONG=1 runs it"


def keep(line):
    """Says a check's verdict, and keeps it as results.sh does."""
    print(line, flush=True)
    if "TAPEDECK_RESULTS" in os.environ:
        with open(os.environ["TAPEDECK_RESULTS"], "a", encoding="utf-8") as results:
            results.write(line + "\n")


def run_one(command, check):
    """The check that always runs; its list is the command's second word."""
    listed = subprocess.run([pathlib.Path(command[0]).with_name("checks.sh"), "--list", command[1]], check=True, capture_output=True, text=True)
    if check not in listed.stdout.split():
        sys.exit(f"FAILED: {command[1]} has no check {check}")
    status = subprocess.run([*command, "--", check], check=False).returncode
    if status == 0:
        for other in listed.stdout.split():
            if other != check:
                keep(f"skipped\t{other}\t0\t{UNCHANGED}")
    return status


def is_built(build):
    """Whether the programs are those of the tree. Under its own name ninja's file would first be made anew, for the globs."""
    made = build / "build.ninja"
    rules = [tried.ROOT / name for name in tried.files(tried.ROOT, []) if name.endswith(("CMakeLists.txt", ".cmake"))]
    if not made.exists() or any(rule.stat().st_mtime > made.stat().st_mtime for rule in rules):
        return False
    try:
        with tempfile.NamedTemporaryFile() as copy:
            copy.write(made.read_bytes())
            copy.flush()
            done = subprocess.run(["ninja", "-C", build, "-f", copy.name, "-n", "tapedeck_plain"], check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return False
    return "no work to do" in done.stdout


def is_whole():
    """Whether each check of the run has passed."""
    path = pathlib.Path(os.environ.get("TAPEDECK_RESULTS", ""))
    return not path.is_file() or all(line.startswith("passed\t") for line in path.read_text().splitlines())


def run_whole(machine, command, build, now):
    built = is_built(build)
    status = subprocess.run(command, check=False).returncode
    if status == 0 and is_whole() and now == tried.hash_of(machine, command, build):
        if not built:
            print("not noted as passed: the programs were older than the tree, or some were not built")
            return status
        evidence = build / "lab" / "passed" / machine
        evidence.parent.mkdir(parents=True, exist_ok=True)
        evidence.write_text(json.dumps({"hash": now, "command": command}) + "\n")
    return status


def main(machine, *command):
    always = None
    if command[0] == "--always":
        always, command = command[1], command[2:]
    build = pathlib.Path(os.environ["TAPEDECK_BIN"]).resolve().parent
    now = tried.hash_of(machine, command, build)
    if os.environ.get("TAPEDECK_LONG") or tried.recorded().get(machine) != now:
        return run_whole(machine, list(command), build, now)
    if always:
        return run_one(command, always)
    print(f"skipped: {UNCHANGED}")
    return 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
