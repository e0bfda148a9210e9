#!/usr/bin/python3
"""What the READMEs tell somebody to type, a command a line, as readme.table has it here.

readme_list.py others       all commands that run here, each once
readme_list.py elsewhere    the names of the tests that run those which are not among these
It fails if a line of the table is of no use. A command is a line of a fenced block that names no language, or `code` that
begins with a program.
"""
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lint"))
import readmes
import tree

TABLE = pathlib.Path(__file__).with_name("readme.table")
NO_COMMANDS = ("text", "cmake", "python", "yaml", "sh")  # tests/guide pastes those of sh
ALONE = re.compile(r"((deploy|tests)/\S+\.(sh|py)|build[\w-]*/bin/\S+)$")
WITH_ARGUMENTS = re.compile(r"(tapectl|tapedeck-[\w-]+|ctest|cmake|ninja|apt-get|sudo|perf|strace|dd|cp|ip|rdma|ping|modprobe|mount"
                            r"|ulimit|nvidia-smi|lstopo|ibv_\w+|fio|jq|python3?|git)$")


def is_command(code):
    words = [word for word in code.split() if not re.match(r"[A-Z_]+=", word)]
    return bool(words) and bool(ALONE.match(words[0]) or (len(words) > 1 and WITH_ARGUMENTS.match(words[0])))


def commands(text):
    """Each, in order."""
    for code in readmes.codes(text):
        if code.language not in NO_COMMANDS and (code.language is not None or is_command(code.text)):
            yield code.text


class Table:
    """What stands for what here, by section; it remembers which lines were of use."""

    def __init__(self, text):
        self.sections, self.unused = {}, set()
        for line in text.split("\n"):
            if line.startswith("["):
                section = self.sections.setdefault(line.strip("[]"), {})
            elif line and not line.startswith("#"):
                left, right = (side.strip() for side in line.split(" => "))
                section[left] = right
                self.unused.add(left)

    def find(self, section, command):
        """What a section says of a command, by its pattern; None if nothing."""
        for pattern, says in self.sections[section].items():
            if fnmatch.fnmatchcase(command, pattern):
                self.unused.discard(pattern)
                return says
        return None

    def as_here(self, command):
        """What is run of a command; nothing if it is not run."""
        if self.find("elsewhere", command) or self.find("not run", command):
            return ""
        here = self.find("long form", command)
        if here:
            return f"long: {here}"
        here = self.find("completed", command) or command
        for part, stands_for in self.sections["shorter"].items():
            if part in here:
                self.unused.discard(part)
                here = here.replace(part, stands_for)
        return here


def main(wanted):
    table, files = Table(TABLE.read_text()), tree.Tree(ROOT)
    lists = {"others": [], "elsewhere": table.sections["elsewhere"].values()}
    for path in sorted(files.code(".md"), key=lambda path: (path.count("/"), path)):
        if path.startswith("deploy/guide/"):
            continue
        for command in commands(files.text(path)):
            here = table.as_here(command)
            if here and here not in lists["others"]:
                lists["others"].append(here)
    print(*lists[wanted], sep="\n")
    if table.unused:
        sys.exit(f"readme.table: no README has {sorted(table.unused)}")


if __name__ == "__main__":
    main(sys.argv[1])
