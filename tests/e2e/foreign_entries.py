#!/usr/bin/python3
"""Plants what others have on a member of a LUN, named like Tapedeck's own: foreign_entries.py MEMBER OUTSIDE FIRST LAST.
For each number five entries or more below MEMBER, with links to what it makes of the same number in OUTSIDE."""
import os
import pathlib
import socket
import sys


def write(text, *paths):
    for path in paths:
        path.write_text(text)


def make_folders(*paths):
    for path in paths:
        path.mkdir(parents=True, exist_ok=True)


def plant_kind(number, channel, outside, name):
    """One more, of five kinds."""
    deleted, kind = channel / f".deleted-{name}", number % 5
    if kind == 0:
        (channel / f"linked{number}").symlink_to(outside)
    elif kind == 1:
        os.mkfifo(channel / f"fifo{number}")
        (channel / name / "index").symlink_to(outside / "index")
    elif kind == 2:
        deleted.symlink_to(outside)
        (channel.parent / f"linked{number}").symlink_to(outside)
    elif kind == 3:
        make_folders(deleted)
        write("mine\n", deleted / "data")
    else:
        os.chdir(channel)  # a socket's name may have 108 bytes
        socket.socket(socket.AF_UNIX).bind(f"socket{number}")


def plant(root, outside, number):
    """The entries of one number."""
    name = f"20261122T{number:06}Z-{number:04x}"
    channel, project, other = root / "c0", root / "projects" / f"exp{number}", root / f"other{number}"
    outside = outside / str(number)
    make_folders(project, outside / name, channel / name, other / name)
    write(f"results of {number}\n", project / "results.csv")
    write(f"payload of {number}\n", project / "data", channel / name / "data", other / name / "data", outside / "data",
          outside / name / "data", outside / "index", outside / "manifest.json", outside / "channel.json")
    plant_kind(number, channel, outside, name)
    (channel / name / "manifest.json").symlink_to(outside / "manifest.json")
    (other / "channel.json").symlink_to(outside / "channel.json")


def main(member, outside, first, last):
    for number in range(int(first), int(last) + 1):
        plant(pathlib.Path(member), pathlib.Path(outside), number)


if __name__ == "__main__":
    main(*sys.argv[1:])
