#!/usr/bin/python3
"""Whether the tests find faults: each of faults.txt is planted in the product, and the entry named there must fail.

  tests/mutants/run.py              all of the below; exits 1 if a fault is not found
  tests/mutants/run.py check        the list is sound: every old piece is in its file once, every entry is there
  tests/mutants/run.py make         a copy of the tree in which each fault is a choice at run time
  tests/mutants/run.py build        the programs of the entries there, once for all faults
  tests/mutants/run.py try          each entry without a fault, where it must pass, and with each of its faults

  --copy DIR    where the copy lies; build-mutants/ unless told
  --only N,M    these faults alone
  --jobs N      entries that run at a time; one unless told
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from faults import LIST, ROOT, check, planted, read_list

# As ctest's own limit. With a fault an entry has a few times as long as without it.
MOST_SECONDS = 300
LEAST_SECONDS = 60
TIMES_AS_LONG = 5

# In the copy alone.
HEADER = "tapedeck_mutant.h"
HEADER_TEXT = """#pragma once
#include <cstdlib>

namespace tapedeck {

// Whether TAPEDECK_MUTANT names this fault.
inline bool IsMutant(int number) {
  static const int planted = [] {
    const char* const text = std::getenv("TAPEDECK_MUTANT");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return planted == number;
}

}  // namespace tapedeck
"""


def faults_of(arguments):
    """Those that are asked for."""
    faults, _ = read_list(LIST.read_text())
    only = {int(number) for number in arguments.only.split(",")} if arguments.only else None
    return [fault for fault in faults if only is None or fault.number in only]


def run_check(_):
    wrong = list(check(ROOT, LIST.read_text()))
    for line, message in wrong:
        print(f"{LIST.relative_to(ROOT)}:{line}: {message}")
    return 1 if wrong else 0


def files_of(root):
    """What git tracks or would track."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
                            check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and (root / name).is_file()]


def run_make(arguments):
    """What has not changed keeps its time, so that only the rest is built again."""
    copy = arguments.copy
    # All of them, so that another choice builds nothing again.
    faults, _ = read_list(LIST.read_text())
    wanted = {HEADER: HEADER_TEXT.encode()}
    for name in files_of(ROOT):
        wanted[name] = (ROOT / name).read_bytes()
    for name in sorted({fault.file for fault in faults}):
        text = wanted[name].decode()
        wanted[name] = planted(text, [fault for fault in faults if fault.file == name], HEADER).encode()
    for path in sorted(copy.rglob("*")):
        name = str(path.relative_to(copy))
        if path.is_file() and not name.startswith("build/") and name not in wanted:
            path.unlink()
    for name, content in wanted.items():
        path = copy / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if (ROOT / name).exists():
            shutil.copymode(ROOT / name, path)
    print(f"{len(faults)} faults in {copy}; to build: {' '.join(targets_of(arguments))}")
    return 0


def targets_of(arguments):
    """What the entries need: all, where one is a script."""
    faults = faults_of(arguments)
    if any(fault.is_script() for fault in faults):
        return ["all"]
    return sorted({fault.program() for fault in faults})


def run_build(arguments):
    """By deploy/setup.sh, as every build."""
    script = 'source "$1/deploy/setup.sh"; TAPEDECK_TARGETS=("${@:2}"); tapedeck_build "$1/build"'
    environment = {**os.environ, "CCACHE_BASEDIR": str(arguments.copy), "TAPEDECK_WERROR": "ON"}
    return subprocess.run(["bash", "-c", script, "build", str(arguments.copy), *targets_of(arguments)],
                          env=environment, check=False).returncode


class Run:
    """One run of an entry: what it ended with, and how long it took."""

    def __init__(self, arguments, fault, planted_number, limit):
        build = arguments.copy / "build"
        words = fault.by.split()
        if fault.is_script():
            command = [str(arguments.copy / words[0]), *words[1:]]
        else:
            command = [str(build / "bin" / words[0]), f"--gtest_filter={words[1]}", "--gtest_break_on_failure"]
        environment = {**os.environ, "TAPEDECK_WAITING": "abort", "TAPEDECK_BIN": str(build / "bin")}
        environment.pop("TAPEDECK_LONG", None)
        environment.pop("TAPEDECK_MUTANT", None)
        if planted_number:
            environment["TAPEDECK_MUTANT"] = str(planted_number)
        began = time.monotonic()
        with subprocess.Popen(command, cwd=build, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", start_new_session=True) as process:
            try:
                self.output, _ = process.communicate(timeout=limit)
                self.status = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                self.output, _ = process.communicate()
                self.status = None
        self.seconds = time.monotonic() - began

    def tried_nothing(self):
        """A filter that fits no case, or cases that are all left out here."""
        return self.status == 77 or "[  PASSED  ] 0 tests." in self.output

    def told(self):
        """The case that failed, or the end of what it said."""
        cases = re.findall(r"^\[ RUN      \] (\S+)", self.output, re.MULTILINE)
        lines = self.output.strip().splitlines()
        where = cases[-1] if cases else (lines[-1] if lines else "")
        return f"{where} does not end" if self.status is None else where


def run_in_turns(jobs, work, items):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, items))


def run_try(arguments):
    """Prints a line for each fault."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faults = faults_of(arguments)
    entries = list({fault.by: fault for fault in faults}.values())
    sound = dict(zip([fault.by for fault in entries],
                     run_in_turns(arguments.jobs, lambda fault: Run(arguments, fault, 0, MOST_SECONDS), entries)))
    broken = [by for by, run in sound.items() if run.status != 0 or run.tried_nothing()]
    for by in broken:
        why = "tries nothing" if sound[by].tried_nothing() else "fails without a fault"
        print(f"{by} {why}: {sound[by].told()}\n{sound[by].output[-2000:]}")

    def look(fault):
        limit = max(LEAST_SECONDS, TIMES_AS_LONG * sound[fault.by].seconds)
        run = Run(arguments, fault, fault.number, limit)
        found = run.status != 0 and fault.by not in broken
        print(f"{fault.number:3} {'found   ' if found else 'SURVIVED'} {run.seconds:6.1f} s  {fault.file}: "
              f"{run.told() if found else fault.by}", flush=True)
        return found

    found = run_in_turns(arguments.jobs, look, faults)
    seconds = sum(run.seconds for run in sound.values())
    print(f"{sum(found)} of {len(faults)} faults found; without a fault {len(sound) - len(broken)} of {len(sound)} "
          f"entries pass, in {seconds:.0f} s")
    return 0 if all(found) and not broken else 1


STEPS = {"check": run_check, "make": run_make, "build": run_build, "try": run_try}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", nargs="?", choices=[*STEPS])
    parser.add_argument("--copy", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "build-mutants")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    for step in [arguments.step] if arguments.step else STEPS:
        status = STEPS[step](arguments)
        if status != 0:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
