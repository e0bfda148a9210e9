#!/usr/bin/python3
"""Pastes the blocks of a page of the guide into an interactive shell, one after another, and compares what comes with the page.

run.py PAGE.md bash|zsh            fails if an output differs, a command fails, or something is left running; 77: cannot run here
run.py PAGE.md bash|zsh --write    writes the outputs into the page instead

The programs are those of TAPEDECK_BIN. The shell begins in an empty home, alone on a network of its own where that can be
made. deploy/guide/README.md says how pages are written, pages.py what may vary.
"""
import argparse
import contextlib
import ctypes
import difflib
import fcntl
import importlib.util
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time

import pages

SKIPPED = 77
BLOCK_SECONDS = 60  # of the slowest block on a busy machine
END_SECONDS = 3
PR_SET_CHILD_SUBREAPER = 36
SHELLS = {
    "bash": (["bash", "--noprofile", "--norc", "--noediting", "-i"], r"""PS1= PS2= PROMPT_COMMAND='printf "\036%s\037" "$?" >&2'"""),
    "zsh": (["zsh", "-f", "+Z", "-i"], r"""PS1= PS2= RPS1=; unsetopt prompt_sp prompt_cr; precmd() { printf "\036%s\037" "$?" >&2 }"""),
}
END = r"""printf '\035' >&2"""
ENDED = re.compile(rb"\x1d.*?\x1e\d+\x1f", re.DOTALL)
STATUS = re.compile(r"\x1e(\d+)\x1f")


class Failed(Exception):
    """What a reader would have seen."""


class Shell:
    """An interactive shell on a terminal. What it prints goes to a pipe: without colours, progress and echo."""

    def __init__(self, kind, env, cwd):
        command, set_up = SHELLS[kind]
        self.terminal, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        self.output, pipe = os.pipe()

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        # The shell starts before any thread does.
        self.process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            command, stdin=slave, stdout=pipe, stderr=pipe, env=env, cwd=cwd, preexec_fn=own_terminal)
        os.close(slave)
        os.close(pipe)
        self.paste(set_up + "\n")

    def paste(self, text):
        """(output, [exit status of each command])"""
        os.write(self.terminal, (text + END + "\n").encode())
        data, deadline = b"", time.monotonic() + BLOCK_SECONDS * float(os.environ.get("TAPEDECK_SLOWNESS", "1"))
        while not ENDED.search(data):
            ready, _, _ = select.select([self.output, self.terminal], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise Failed(f"does not end; so far:\n{data.decode(errors='replace')}")
            try:
                if self.terminal in ready:
                    os.read(self.terminal, 65536)  # prompts
            except OSError:
                raise Failed(f"ends the shell:\n{data.decode(errors='replace')}") from None
            if self.output in ready:
                data += os.read(self.output, 65536)
        text = data[:data.index(b"\x1d")].decode(errors="replace")
        return STATUS.sub("", text), [int(status) for status in STATUS.findall(text)]

    def end(self):
        with contextlib.suppress(OSError):
            os.write(self.terminal, b"\x04exit\n")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        os.close(self.output)


def descendants():
    """{pid: command} below this process, which inherits orphans. Those that have ended are collected."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    parents, names = {}, {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, rest = entry.read_text().split("(", 1)[1].rsplit(")", 1)
            state, parent = rest.split()[:2]
            if state != "Z":
                parents[int(entry.parent.name)], names[int(entry.parent.name)] = int(parent), name
    found = {}
    for pid in parents:
        above = pid
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid() and pid != os.getpid():
            found[pid] = names[pid]
    return found


def left_running(shell):
    """{pid: command} of what the page has started and not ended."""
    deadline = time.monotonic() + END_SECONDS
    while True:
        left = {pid: name for pid, name in descendants().items() if pid != shell.process.pid}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def end_all(processes):
    for pid in processes:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def home_of(page, work):
    """An empty folder; for the main README, one that looks as the repository does after a build."""
    home = work / "home"
    home.mkdir()
    if page.path.name == "README.md" and page.path.parent == pages.ROOT:
        for entry in pages.ROOT.iterdir():
            if not entry.name.startswith((".", "build")):
                (home / entry.name).symlink_to(entry)
        (home / "build").mkdir()
        (home / "build" / "bin").symlink_to(os.environ["TAPEDECK_BIN"])
    return home


def path_here():
    """The programs, and those of a fresh Debian."""
    return f"{os.environ['TAPEDECK_BIN']}:/usr/bin:/bin:/usr/sbin:/sbin"


def environment(home):
    keep = {key: value for key, value in os.environ.items() if key in ("TMPDIR", "TAPEDECK_BIN", "TAPEDECK_SLOWNESS", "LD_LIBRARY_PATH")}
    return {**keep, "HOME": str(home), "PATH": path_here(), "LANG": "C.UTF-8", "TERM": "dumb", "USER": "you", "TZ": "UTC"}


def failure_of(shell_name, block, output, statuses):
    """None, or what is wrong with what a block did."""
    wanted = [0] * (len(statuses) - 1) + [block.status]
    if statuses != wanted:
        return f"exit status {statuses} instead of {wanted}:\n{output}"
    if "varies" not in block.said and not pages.same(block.output, output):
        return "another output:\n" + "\n".join(difflib.unified_diff(block.output.split("\n"), output.split("\n"), "page", shell_name, lineterm=""))
    return None


def run(page, shell_name, write, work):
    """Fails with Failed. With write the page gets each output that differs, also of the blocks before a failure."""
    home, written = home_of(page, work), {}
    shell = Shell(shell_name, environment(home), home)
    try:
        for index, block in pages.steps_of(page):
            try:
                output, statuses = shell.paste(block.code)
                output = pages.clean(output, str(home))
                failure = failure_of(shell_name, block, output, statuses)
                if write and index is not None:
                    if failure and failure.startswith("another") or "varies" in block.said:
                        written[index] = output
                        failure = None
                if failure:
                    raise Failed(failure)
            except Failed as failed:
                raise Failed(f"{page.path if index is not None else pages.GUIDE}:{block.line}: this block\n{block.code}{failed}") from None
        left = left_running(shell)
        if left:
            raise Failed(f"{page.path}: left running: {sorted(left.values())}")
    finally:
        if written:
            page.write(written)
            print(f"{page.path}: wrote {len(written)} outputs")
        end_all(left for left in descendants() if left != shell.process.pid)
        shell.end()
        end_all(descendants())


def lacking(page):
    """What the page needs and this machine has not."""
    def is_there(need):
        kind, _, name = need.rpartition(":")
        return importlib.util.find_spec(name) is not None if kind == "python" else shutil.which(need, path=path_here())
    return [need for need in page.said.get("needs", "").split() if not is_there(need)]


def alone_on_network():
    """Goes on in a network of its own, where ports are free, as the machine `box`. If that cannot be made, holds a lock."""
    if "GUIDE_ALONE" not in os.environ:
        flags = "-nu" if os.geteuid() == 0 else "-rnu"
        if subprocess.run(["unshare", flags, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            os.environ["GUIDE_ALONE"] = "yes"
            os.execvp("unshare", ["unshare", flags, sys.executable, *sys.argv])
        lock = open(pathlib.Path(tempfile.gettempdir()) / f"tapedeck-guide-{os.geteuid()}", "w")  # to the end
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    socket.sethostname("box")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("shell", choices=sorted(SHELLS))
    parser.add_argument("--write", action="store_true")
    told = parser.parse_args()
    os.environ.setdefault("TAPEDECK_BIN", str(pages.ROOT / "build" / "bin"))
    page = pages.Page(told.page.resolve())
    if not shutil.which("tapectl", path=os.environ["TAPEDECK_BIN"]):
        sys.exit(f"{os.environ['TAPEDECK_BIN']} has no programs: build them, or set TAPEDECK_BIN")
    missing = lacking(page) + [shell for shell in [told.shell] if not shutil.which(shell)]
    if missing:
        print(f"skipped: {' '.join(missing)} is missing; deploy/setup.sh --tests installs what there is")
        sys.exit(SKIPPED)
    lock = alone_on_network()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="guide.") as work:
        try:
            run(page, told.shell, told.write, pathlib.Path(work))
        except Failed as failed:
            sys.exit(str(failed))
    del lock


if __name__ == "__main__":
    try:
        main()
    except pages.PageError as error:
        sys.exit(str(error))
