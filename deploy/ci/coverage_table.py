#!/usr/bin/python3
"""coverage_table.py SUMMARY: gcovr's JSON summary as the table of tests/README.md, line coverage of each folder of a room.

Deeper folders count into theirs; of these the one that is covered least is named, if it is covered less than all together.
"""
import collections
import json
import pathlib
import sys


class Lines:
    """Of some files: how many have code, and how many of these ran."""

    def __init__(self):
        self.total = self.covered = 0

    def add(self, file):
        self.total += file["line_total"]
        self.covered += file["line_covered"]

    def share(self):
        return 100 * self.covered // self.total if self.total else 100


def table(summary):
    """The table's lines."""
    folders = collections.defaultdict(Lines)
    below = collections.defaultdict(lambda: collections.defaultdict(Lines))
    for file in summary["files"]:
        parts = pathlib.PurePosixPath(file["filename"]).parent.parts
        folder, deeper = "/".join(parts[:2]), "/".join(parts[2:])
        folders[folder].add(file)
        if deeper:
            below[folder][deeper].add(file)
    yield "| folder | lines | covered | least below it |"
    yield "|---|---:|---:|---|"
    for folder, lines in sorted(folders.items()):
        least = min(below[folder].items(), key=lambda item: item[1].share(), default=None)
        named = least is not None and least[1].share() < lines.share()
        worst = f"`{least[0]}` {least[1].share()} %" if named else ""
        yield f"| `{folder}` | {lines.total} | {lines.share()} % | {worst} |"


def main():
    print("\n".join(table(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main()
