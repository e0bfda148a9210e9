#!/usr/bin/python3
"""Every command that a README gives is one: its script or program is there, the tests that it names exist, and so do its options."""
import fnmatch
import functools
import json
import os
import re
import shlex
import subprocess

import readmes
import tree

SCRIPT = re.compile(r"(deploy|tests)/\S+\.(sh|py)$")
PROGRAM = re.compile(r"(build/bin/)?(tapectl|tapedeck-storage|tapedeck-worker)$")
TEST = re.compile(r"build/bin/[a-z_]+_test$")
CASE = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.MULTILINE)
WORD = re.compile(r"[a-z][a-z-]*$")


def commands(text):
    """(line, words) of each, without what the shell makes of it."""
    for code in readmes.codes(text):
        try:
            words = shlex.split(re.split(r"\s+#\s|[|&;<>]", code.text.replace("…", "..."))[0])
        except ValueError:
            continue
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1:]
        if words:
            yield code.line, words


def output(*command):
    """What a command prints; nothing if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout if done.returncode == 0 else ""


class Programs:
    """What the programs of a build say of themselves."""

    def __init__(self, files):
        self.build = files.build
        self.files = files
        self.helps = {}

    def help(self, *words):
        """The help of a program or of one of its commands, by name."""
        if words not in self.helps:
            self.helps[words] = output(str(self.build / "bin" / words[0]), *words[1:], "--help")
        return self.helps[words]

    def wrong_choice(self, words):
        """None, or what is wrong with a run of ctest or of a test program."""
        if words[0] == "ctest":
            chosen = [w for w in words[1:] if not w.startswith(("-V", "-j", "--test-dir")) and w != "build"]
            listed = self.entries_of(chosen)
        else:
            program = self.build / words[0].removeprefix("build/")
            chosen = [w for w in words if w.startswith("--gtest_filter=")]
            listed = program.exists() and output(str(program), "--gtest_list_tests", *chosen)
        return None if listed or self.is_chosen_in_sources(words) else f"{' '.join(words)}: chooses no test"

    @functools.cache
    def entries(self):
        """(name, labels) of all entries of ctest, which runs every test program for them."""
        listed = output("ctest", "--test-dir", str(self.build), "--show-only=json-v1")
        return [(entry["name"], [label for p in entry["properties"] if p["name"] == "LABELS" for label in p["value"]])
                for entry in (json.loads(listed)["tests"] if listed else [])]

    def entries_of(self, chosen):
        """The entries that options of ctest choose; none if they are others than -R and -L."""
        options = dict(zip(chosen[::2], chosen[1::2]))
        if len(chosen) % 2 or not options.keys() <= {"-R", "-L"}:
            return []
        return [name for name, labels in self.entries() if re.search(options.get("-R", ""), name)
                and any(re.search(options.get("-L", ""), label) for label in labels or [""])]

    def is_chosen_in_sources(self, words):
        """Whether they choose a test by what the sources say: programs of unit tests need not be built."""
        if words[0] == "ctest":
            name = re.search(r" -R (\S+)", " ".join(words))
            return name is not None and any(re.search(name.group(1), case) for case in self.cases())
        if (self.build / words[0].removeprefix("build/")).exists():
            return False
        told = [word.partition("=")[2] for word in words if word.startswith("--gtest_filter=")]
        patterns = (told or ["*"])[0].split("-")[0].split(":")
        return any(fnmatch.fnmatchcase(case, pattern) for case in self.cases() for pattern in patterns)

    @functools.cache
    def cases(self):
        """Names of all cases, without those of their parameters."""
        paths = [path for path in self.files.code(".cc", ".cu") if path.startswith("tests/")]
        return {f"{suite}.{case}" for path in paths for suite, case in CASE.findall(self.files.text(path))}

    def wrong_option(self, words):
        """None, or which option a program of ours does not know."""
        known = [os.path.basename(words[0])]
        rest = words[1:]
        while rest and rest[0].startswith("--"):  # of the program, with what it says, before the command
            rest = rest[1 if "=" in rest[0] else 2:]
        for word in rest:
            usage = " ".join(["Usage:", *known, word])
            if not WORD.match(word) or usage not in self.help(*known, word):
                break
            known.append(word)
        told = self.help(known[0]) + self.help(*known)
        for word in words[1:]:
            option = word.split("=")[0].rstrip(".,")
            if option.startswith("--") and not re.search(rf"{re.escape(option)}\b", told):
                return f"{' '.join(known)} has no option {option}"
        return None


def check_one(files, programs, words):
    """None, or what is wrong with a command."""
    if SCRIPT.match(words[0]):
        return None if os.access(files.root / words[0], os.X_OK) else f"{words[0]} is no script that can be run"
    if programs and (words[0] == "ctest" or TEST.match(words[0])):
        return programs.wrong_choice(words)
    if programs and PROGRAM.match(words[0]):
        return programs.wrong_option(words)
    return None


def check(files):
    built = files.build and (files.build / "bin" / "tapectl").exists()
    programs = Programs(files) if built else None
    for path in files.code(".md"):
        for line, words in commands(files.text(path)):
            wrong = check_one(files, programs, words)
            if wrong:
                yield path, line, wrong


if __name__ == "__main__":
    tree.main(check)
