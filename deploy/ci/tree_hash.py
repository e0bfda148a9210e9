#!/usr/bin/python3
"""A hash of the tree as it lies there, changes that are not committed included: tree_hash.py ROOT [PATH...] prints that of all
files, or of those below the PATHs. A PATH that is not there is an error, as what moved away would be left out of the hash."""
import hashlib
import pathlib
import subprocess
import sys


def files(root, paths):
    """Files below the paths, relative to root: those that git tracks or would track; without git, all of them."""
    for path in paths:
        if not (root / path).exists():
            sys.exit(f"{path} is not in the tree")
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z", "--", *paths]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return sorted({name for name in listed.split("\0") if name and (root / name).is_file()})
    starts = [root / path for path in paths] or [root]
    found = [file for start in starts for file in ([start] if start.is_file() else start.rglob("*"))]
    return sorted({str(file.relative_to(root)) for file in found if file.is_file() and not is_built(file.relative_to(root))})


def is_built(file):
    return file.parts[0].startswith("build") or any(part in ("node_modules", "__pycache__") for part in file.parts)


def tree_hash(root, paths=(), leave_out=lambda name: False, also=""):
    """Of names and bytes of the files, and of a text."""
    digest = hashlib.sha256(also.encode())
    for name in files(root, list(paths)):
        if not leave_out(name):
            digest.update(f"\0{name}\0".encode())
            digest.update(hashlib.sha256((root / name).read_bytes()).digest())
    return digest.hexdigest()[:32]


if __name__ == "__main__":
    print(tree_hash(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]))
