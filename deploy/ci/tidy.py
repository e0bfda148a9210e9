#!/usr/bin/python3
"""clang-tidy over the files that a build compiles: tidy.py BUILD ARGUMENT OF clang-tidy...

Reads BUILD/compile_commands.json; what g++ has precompiled is nothing that clang can read, and is left out of the commands. What is right is remembered (remembered.py) if ninja knows all that a file reads, which it
does once it is built.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

from remembered import Remembered

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = re.compile(r"(build/.*/groups/|(dataplane|services|storage_node|gpu_worker|tests)/).*\.cc$")
GENERATED = re.compile(r"build/proto/")
NOT_CLANGS = re.compile(r"--param=\S+ |-Winvalid-pch |-include \S+/cmake_pch\.hxx ")


def units_of(build, out):
    """{file: its entry} of ours: files of the tree and groups of them; generated protos are a group too. They go into `out`, too."""
    entries = json.loads((build / "compile_commands.json").read_text())
    for entry in entries:
        entry["command"] = NOT_CLANGS.sub("", entry["command"])
    out.mkdir(exist_ok=True)
    (out / "compile_commands.json").write_text(json.dumps(entries))
    named = {entry["file"]: entry for entry in entries}
    relative = {file: os.path.relpath(file, ROOT) for file in named}
    return {file: named[file] for file in sorted(named) if OURS.match(relative[file]) and not GENERATED.match(relative[file])}


def reads_of(build):
    """{object: the files that it was compiled from}."""
    said = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    found = {}
    for block in said.split("\n\n"):
        head, *files = block.strip().split("\n")
        if "(VALID)" in head:
            found[head.split(":")[0]] = [build / file.strip() for file in files]
    return found


def judge(tidy, remembered, reads, file, entry):
    """What clang-tidy says of a file; nothing if it is right."""
    part = [os.path.relpath(file, ROOT), entry["command"].replace(str(ROOT), "ROOT")]
    read = reads.get(re.search(r" -o (\S+)", entry["command"]).group(1))
    if read and remembered.is_known(part):
        return ""
    done = subprocess.run([*tidy, file], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0 and read:
        remembered.remember(part, [pathlib.Path(os.path.normpath(path)) for path in read])
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main(build, *arguments):
    build = pathlib.Path(build).resolve()
    tidy = ["clang-tidy", "-p", str(build / "tidy"), *arguments]
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True, text=True).stdout
    version = "".join(line for line in version.splitlines() if "Host CPU" not in line)
    remembered = Remembered("tapedeck-tidy", ROOT, version + " ".join(tidy) + (ROOT / ".clang-tidy").read_text())
    reads = reads_of(build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [said for said in pool.map(lambda unit: judge(tidy, remembered, reads, *unit), units_of(build, build / "tidy").items()) if said]
    print("".join(wrong), end="")
    remembered.forget_old()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
