#!/usr/bin/python3
"""Writes tests/lab/passed from the machines that passed whole in a build: record_passed.py [--show] [BUILD]

Only a run leaves what this reads, and only if the tree is still what that run tried. With --show it says what it would write.
"""
import json
import pathlib
import sys

import tried

HEAD = "# Machines, and the hash of what each tried when it last passed whole: record_passed.py writes it.\n"


def passed(build):
    """{machine: hash} of runs that passed on the tree as it is."""
    found = {}
    for evidence in sorted((build / "lab" / "passed").glob("*")):
        if evidence.name not in tried.machines():
            print(f"{evidence.name}: there is no such machine any more", file=sys.stderr)
            continue
        run = json.loads(evidence.read_text())
        if run["hash"] == tried.hash_of(evidence.name, run["command"], build):
            found[evidence.name] = run["hash"]
        else:
            print(f"{evidence.name}: the tree has changed since it passed", file=sys.stderr)
    return found


def main(arguments):
    show = "--show" in arguments
    places = [word for word in arguments if word != "--show"]
    build = pathlib.Path(places[0] if places else tried.ROOT / "build").resolve()
    before = tried.recorded()
    new = {machine: now for machine, now in passed(build).items() if before.get(machine) != now}
    for machine, now in new.items():
        print(f"{machine} {now}")
    if new and not show:
        lines = sorted(f"{machine} {now}\n" for machine, now in {**before, **new}.items())
        tried.RECORD.write_text(HEAD + "".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
