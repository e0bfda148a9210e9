#!/usr/bin/python3
"""What a file keeps for itself has a name of its own in its group: a build with sanitizers compiles twelve files of a target as
one, and deploy/ci/thread_safety.sh forty of the product's, so that two constants, types or functions of one name would be one too
many, or hide what a third file calls."""
import pathlib
import re

import tree

PRODUCT = ("dataplane", "services", "storage_node", "gpu_worker")  # what thread_safety.py analyses
TOGETHER = 2  # groups of a plain build that are one with sanitizers: deploy/cmake/tapedeck_groups.cmake
INCLUDED = re.compile(r'^#include "([^"]+\.cc)"', re.MULTILINE)
# As clang-format leaves them, from the first column on.
SCOPE = re.compile(r"^namespace(?: ([\w:]+))? \{|^\}  // namespace", re.MULTILINE)
KEPT = re.compile(r"^(?:(?:constexpr|const)\b[^;={(]*?(\w+)(?:\[\w*\])* ?[={]"
                  r"|(?:class|struct|enum class|enum) (\w+)[ ;]"
                  r"|(?!using\b|return\b|namespace\b)[\w:][\w:<>,&* \n]*?[ *&](\w+)(\([^;{]*?\))[\w ]* \{)", re.MULTILINE)


def kept_in(text):
    """(namespace, name, parameters or None, line) of what the anonymous namespaces of a file define."""
    scopes, begin = [], 0
    for mark in SCOPE.finditer(text):
        if scopes and scopes[-1] is None:
            for found in KEPT.finditer(text, begin, mark.start()):
                name = found.group(1) or found.group(2) or found.group(3)
                where = "::".join(scope for scope in scopes if scope)
                parameters = found.group(4) and re.sub(r"\s+", " ", found.group(4))
                yield where, name, parameters, text.count("\n", 0, found.start(found.lastindex)) + 1
        if mark.group(0).startswith("}"):
            if scopes:
                scopes.pop()
        else:
            scopes.append(mark.group(1))
        begin = mark.end()


def groups(build):
    """Lists of files that a build with sanitizers compiles as one."""
    folders = {}
    for path in pathlib.Path(build).glob("**/groups/*_*.cc"):
        target, _, number = path.stem.rpartition("_")
        folders.setdefault((path.parent, target, int(number) // TOGETHER), []).append((int(number), path))
    for members in folders.values():
        yield [name for _, path in sorted(members) for name in INCLUDED.findall(path.read_text(encoding="utf-8"))]


def product(files):
    """Lists of files that the thread-safety analysis may compile as one."""
    yield from ([path for path in files.code() if path.startswith(top + "/") and path.endswith(".cc") and "/examples/" not in path]
                for top in PRODUCT)


def check(files):
    for group in [*groups(files.build), *product(files)]:
        first = {}
        for path in group:
            if path not in files.code():
                continue
            for where, name, parameters, line in kept_in(files.text(path)):
                other = first.setdefault((where, name, parameters), path)
                if other != path:
                    yield path, line, f"{name} is in {other}, too, which is compiled with it: give one another name"


if __name__ == "__main__":
    tree.main(check)
