"""What the lints share: the files of the tree, their includes, and how findings are reported."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

CODE = (".h", ".cc", ".cu", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


class Tree:
    """The project's own files under a root. `build` is a configured build directory, or None."""

    def __init__(self, root, build=None):
        self.root = pathlib.Path(root).resolve()
        self.build = pathlib.Path(build).resolve() if build else None
        self.files = sorted(self._list())

    def _list(self):
        """Paths relative to the root: what git tracks or would track; without git, everything not built."""
        if (self.root / ".git").exists():
            listed = subprocess.run(
                ["git", "-C", str(self.root), "ls-files", "-co", "--exclude-standard", "-z"],
                check=True, capture_output=True, text=True).stdout
            return [f for f in listed.split("\0") if f and (self.root / f).is_file()]
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [d for d in folders
                          if not d.startswith(("build", ".")) and d != "node_modules"]
            found += [os.path.relpath(os.path.join(folder, n), self.root) for n in names]
        return found

    def code(self, *extensions):
        """Our files with one of the extensions; by default C++ and CUDA."""
        return [f for f in self.files if f.endswith(extensions or CODE)]

    def text(self, path):
        """The file's text."""
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def includes(self, path):
        """(line, quoted, name) of each #include."""
        text = self.text(path)
        return [(text.count("\n", 0, m.start(2)) + 1, m.group(1) == '"', m.group(2))
                for m in INCLUDE.finditer(text)]

    def compile_commands(self):
        """How each file is compiled by itself: a map from path (relative where it is ours) to its entry."""
        entries = json.loads((self.build / "units" / "compile_commands.json").read_text())
        return {os.path.relpath(e["file"], self.root): e for e in entries}


def absent_rooms(commands):
    """Rooms that this build left out for want of a compiler or library: neither their tests nor their headers compile."""
    built = {"cuda": any(path.endswith(".cu") for path in commands),
             "cufft": any(path.endswith(".cu") for path in commands),
             "verbs": "dataplane/transport/verbs/transport.cc" in commands}
    return {room for room, is_built in built.items() if not is_built}


def main(check):
    """Runs `check(tree)`, which yields (path, line, message); exits 1 if it yields anything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--build")
    arguments = parser.parse_args()
    findings = list(check(Tree(arguments.root, arguments.build)))
    for path, line, message in findings:
        print(f"{path}:{line}: {message}")
    sys.exit(1 if findings else 0)
