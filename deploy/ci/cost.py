#!/usr/bin/python3
"""Processor seconds of builds and tests, beside those of the last landed commit (tests/cost.tsv): cost.py [--record] BUILD...

A BUILD's compile.costs has a line for each unit that was compiled, and its test-results/costs one for each entry of ctest
(deploy/cmake/cost.sh). Only what was compiled and run now is compared with what is recorded of the same names: a warm compiler
cache compiles little. What grew by more than a tenth, and by more than GROWTH_SECONDS, is named. --record writes the file: names
that ran get what they cost now, others keep what they had.
"""
import collections
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests" / "cost.tsv"
HEAD = "# Processor seconds of builds by unit and of tests by entry, those of a second and more: deploy/ci/cost.py --record writes it.\n"
COMPILED_SECONDS = 0.75  # a unit that took less came from the compiler's cache
RECORDED_SECONDS = 1
GROWTH, GROWTH_SECONDS = 1.1, 5
SHARE, SHOWN_SECONDS = 0.1, 10  # of a folder below a top one that is shown
SKIPPED = "77"
CULPRITS = 3


def lines_of(path):
    """(name, seconds, exit status) in a file of cost.sh; of a name that is there twice, the last."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        name, user, system, status = line.split("\t")
        found[name] = (float(user) + float(system), status)
    return [(name, seconds, status) for name, (seconds, status) in found.items()]


def tests_of(results):
    """{(kind, entry): seconds} of what ran."""
    return {tuple(name.split(" ", 1)): seconds for name, seconds, status in lines_of(results / "costs") if status != SKIPPED}


def units_of(build):
    """{(build's name, unit): seconds} of what was compiled."""
    return {(build.name, name): seconds for name, seconds, _ in lines_of(build / "compile.costs") if seconds >= COMPILED_SECONDS}


def folders_of(unit):
    """The top folder that a unit's object lies in, and the one below it."""
    parts = unit.split("/CMakeFiles/")[0].split("/")
    return parts[0], "/".join(parts[:2])


def sums(costs, key):
    """{key: seconds}, most first."""
    found = collections.Counter()
    for name, seconds in costs.items():
        found[key(name)] += seconds
    return dict(found.most_common())


def tests_line(tests):
    """Of each kind; nothing without tests."""
    kinds = sums(tests, lambda name: name[0])
    return ", ".join(f"{kind} {seconds:.0f}" for kind, seconds in kinds.items()) + f"; all {sum(kinds.values()):.0f}" if kinds else ""


def build_line(units):
    """Of each top folder, and of those below that are large."""
    tops, below = (sums(units, lambda name, level=level: folders_of(name[1])[level]) for level in (0, 1))
    said = []
    for top, seconds in tops.items():
        large = [f"{name[len(top) + 1:]} {part:.0f}" for name, part in below.items()
                 if name.startswith(top + "/") and part > max(SHOWN_SECONDS, SHARE * seconds)]
        said.append(f"{top} {seconds:.0f}" + (f" ({', '.join(large)})" if large else ""))
    return ", ".join(said)


def group_of(name):
    """What is compared as one: a kind of tests, or a folder of a build."""
    kind, rest = name
    return kind if "/CMakeFiles/" not in rest else f"{kind} {folders_of(rest)[1]}"


def grown(now, before):
    """A line for each group that costs more, with the names that cost most of it."""
    common = {name: (seconds, before[name]) for name, seconds in now.items() if name in before}
    for group, total in sums({name: seconds for name, (seconds, _) in common.items()}, group_of).items():
        members = {name: pair for name, pair in common.items() if group_of(name) == group}
        was = sum(pair[1] for pair in members.values())
        if total > was * GROWTH and total - was > GROWTH_SECONDS:
            worst = sorted(members, key=lambda name: members[name][1] - members[name][0])[:CULPRITS]
            said = ", ".join(f"{name[1].split('/')[-1]} {members[name][0]:.1f} (was {members[name][1]:.1f})" for name in worst)
            yield f"{group}: {total:.0f} s where it was {was:.0f}: {said}"


def recorded():
    """{(kind, name): seconds}."""
    lines = [line.split("\t") for line in RECORD.read_text().splitlines() if not line.startswith("#")] if RECORD.exists() else []
    return {(kind, name): float(seconds) for kind, name, seconds in lines}


def updated(now, before, known):
    """What to record: what ran, and of what did not, what is still there."""
    kept = {name: seconds for name, seconds in before.items() if known(name)}
    return {name: seconds for name, seconds in {**kept, **now}.items() if seconds >= RECORDED_SECONDS}


def is_known_to(builds):
    """Whether one of the builds compiles a unit, or has run an entry or skipped it; what another build made is."""
    rules = {build.name: (build / "build.ninja").read_text() for build in builds if (build / "build.ninja").exists()}
    entries = {name for build in builds for name, _, _ in lines_of(build / "test-results" / "costs")}

    def known(name):
        kind, rest = name
        if "/CMakeFiles/" in rest:
            return kind not in rules or f" {rest}:" in rules[kind]
        return not entries or f"{kind} {rest}" in entries

    return known


def main(arguments):
    builds = [pathlib.Path(word).resolve() for word in arguments if word != "--record"]
    tests, units = {}, {}
    for build in builds:
        tests |= tests_of(build / "test-results")
        compiled = units_of(build)
        units |= compiled
        print(f"processor seconds of {build.name}: {sum(compiled.values()):.0f} in {len(compiled)} units compiled"
              + (f": {build_line(compiled)}" if compiled else ""))
    print(f"processor seconds of tests: {tests_line(tests)}")
    before = recorded()
    for line in grown({**tests, **units}, before):
        print(f"grew: {line}")
    if "--record" in arguments:
        lines = [f"{kind}\t{name}\t{seconds:.1f}\n" for (kind, name), seconds in sorted(updated({**tests, **units}, before, is_known_to(builds)).items())]
        RECORD.write_text(HEAD + "".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
