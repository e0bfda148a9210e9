"""What a machine tries (file "tried"), as a hash: of those files, of the command that starts it and of its list of checks."""
import os
import pathlib
import sys

LAB = pathlib.Path(__file__).resolve().parent
ROOT = LAB.parents[1]
sys.path.insert(0, str(ROOT / "deploy" / "ci"))
from tree_hash import files, tree_hash  # noqa: E402

RECORD = LAB / "passed"
# They decide whether a machine runs, and nothing that it tries.
DECIDING = {f"tests/lab/{name}" for name in ("tried", "tried.py", "passed", "if_changed.py", "record_passed.py")}


def paths_of(machine):
    """Folders and files that the table names for it."""
    paths, known = [], False
    for line in (LAB / "tried").read_text().splitlines():
        name, *named = line.split()  # of a comment, "#"
        known = known or name == machine
        paths += named if name in ("every", machine) else []
    if not known:
        sys.exit(f"FAILED: tests/lab/tried does not say what {machine} tries")
    return paths


def machines():
    """Those that the table names."""
    names = {line.split()[0] for line in (LAB / "tried").read_text().splitlines()}
    return names - {"#", "every"}


def bears_on_nothing(name):
    return name in DECIDING or name.endswith(".md")


def hash_of(machine, command, build, root=ROOT):
    """Of what it tries in the tree at root, with what `build` has configured."""
    lists = [pathlib.Path(word).read_text() for word in command if word.endswith(".checks")]
    also = "\n".join([*command, *lists])
    for folder, name in ((build, "BUILD"), (ROOT, "ROOT")):
        also = also.replace(f"{folder}{os.sep}", f"{name}/")
    return tree_hash(root, paths_of(machine), bears_on_nothing, also)


def recorded():
    """{machine: hash} of those that passed."""
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    return dict(line.split() for line in lines if not line.startswith("#"))
