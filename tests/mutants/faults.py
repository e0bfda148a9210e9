"""The list of faults: what it says, and whether it fits the tree."""
import fnmatch
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).resolve().parent / "faults.txt"
KEYS = ["why", "file", "old", "new", "by"]
COUNT = 50


class Fault:
    """One of the list, by its number from 1 on."""

    def __init__(self, number, line, values):
        self.number = number
        self.line = line
        self.why, self.file, self.old, self.new, self.by = (values.get(key, "") for key in KEYS)

    def choice(self):
        """What stands for the old piece: both, of which one is taken at run time."""
        has = f"::tapedeck::IsMutant({self.number})"
        if not self.old.endswith(";"):
            return f"({has} ? ({self.new}) : ({self.old}))"
        return f"{{ if ({has}) {{ {self.new} }} else {{ {self.old} }} }}"

    def program(self):
        return self.by.split()[0]

    def is_script(self):
        return "/" in self.program()


def read_list(text):
    """The faults, in order; what is wrong with the list's form as (line, message)."""
    faults, wrong = [], []
    values, begin = {}, 0
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            key, _, value = line.partition(" ")
            if key != KEYS[min(len(values), len(KEYS) - 1)]:
                wrong.append((number, f"'{key}' where '{KEYS[min(len(values), len(KEYS) - 1)]}' is expected"))
            begin = begin or number
            values[key] = value.strip()
        elif values:
            if len(values) == len(KEYS):
                faults.append(Fault(len(faults) + 1, begin, values))
            else:
                wrong.append((begin, "a fault has the lines " + ", ".join(KEYS)))
            values, begin = {}, 0
    return faults, wrong


class Tests:
    """Programs, suites and scripts of a tree's tests, as its files name them."""

    def __init__(self, root):
        self.root = root
        self.programs, self.suites = set(), set()
        for path in sorted((root / "tests").rglob("*")):
            if path.name == "CMakeLists.txt":
                self.programs.update(re.findall(r"tapedeck_test(?:_program)?\(\s*(\w+)", path.read_text()))
            elif path.suffix == ".cc":
                self.suites.update(re.findall(r"^TEST(?:_F|_P)?\((\w+),", path.read_text(), re.MULTILINE))

    def lacks(self, fault):
        """What of the entry is not there; empty if all is."""
        words = fault.by.split()
        if fault.is_script():
            return "" if (self.root / words[0]).exists() else f"there is no {words[0]}"
        if words[0] not in self.programs:
            return f"no test program is called {words[0]}"
        if len(words) != 2:
            return f"{words[0]} needs a filter"
        for pattern in words[1].split(":"):
            suite = pattern.split(".")[0].split("/")[-1]
            if not fnmatch.filter(self.suites, suite):
                return f"no suite is called {suite}"
        return ""


def check(root, text, count=COUNT):
    """Yields (line, message) for each fault of the list that no longer fits the tree."""
    faults, wrong = read_list(text)
    yield from wrong
    if count and len(faults) != count:
        yield 1, f"{len(faults)} faults, and there should be {count}"
    tests = Tests(root)
    for fault in faults:
        path = root / fault.file
        times = path.read_text().count(fault.old) if path.is_file() else -1
        if times < 0:
            yield fault.line, f"there is no {fault.file}"
        elif times != 1:
            yield fault.line, f"{fault.file} has '{fault.old}' {times} times: name another piece, or a longer one"
        if fault.old.endswith(";") != fault.new.endswith(";"):
            yield fault.line, "a statement stands for a statement, an expression for an expression"
        if fault.old == fault.new:
            yield fault.line, "nothing changes"
        lacking = tests.lacks(fault)
        if lacking:
            yield fault.line, lacking


def planted(text, faults, header):
    """A file's text with each of its faults as a choice."""
    for fault in faults:
        text = text.replace(fault.old, fault.choice(), 1)
    return f'#include "{header}"\n{text}'
