#!/usr/bin/env python3
"""tapectl on a terminal of its own: terminal.py quit|signals|stop|dumb|progress COMMAND...

quit, signals and stop run a command that shows something again and again, and look at the settings of the terminal. dumb prints all
that came with TERM=dumb, and progress what came on a usual terminal.
"""
import contextlib
import os
import pty
import select
import signal
import sys
import termios
import time

PATIENCE_S = 30


class Terminal:
    """A command that has a terminal, as its session's leader in the foreground."""

    def __init__(self, command, **environment):
        self.output = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, {**os.environ, **environment})

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        with contextlib.suppress(OSError):
            self.output += os.read(self.master, 65536) if ready else b""

    def await_output(self, text):
        end = time.monotonic() + PATIENCE_S
        while text not in self.output:
            assert time.monotonic() < end, f"no {text!r} in {self.output!r}"
            self.read(0.1)

    def await_state(self, wanted, what):
        """The command waits for keys, or not: raw or usual."""
        both = termios.ICANON | termios.ECHO
        end = time.monotonic() + PATIENCE_S
        while termios.tcgetattr(self.master)[3] & both != (both if wanted == "usual" else 0):
            assert time.monotonic() < end, f"the terminal is not {wanted} {what}"
            self.read(0.02)

    def await_end(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
            self.read(0.02)
        raise AssertionError("the command does not end")


def watch(command):
    terminal = Terminal(command, TERM="xterm")
    terminal.await_state("raw", "while it shows")
    terminal.await_output(b"\033[H")
    return terminal


def quit_by_key(command):
    terminal = watch(command)
    os.write(terminal.master, b"xq")
    assert terminal.await_end() == 0, "q is no success"
    terminal.await_state("usual", "after q")


def end_by_signals(command):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        terminal = watch(command)
        if number == signal.SIGINT:
            os.write(terminal.master, b"\x03")
        else:
            os.kill(terminal.pid, number)
        assert terminal.await_end() == -number, f"signal {number} is not what ended it"
        terminal.await_state("usual", f"after signal {number}")
    terminal = watch(command)
    os.kill(terminal.pid, signal.SIGTSTP)
    # Of a group without a shell above it the kernel drops what SIGTSTP does by itself.
    terminal.await_state("raw", "after SIGTSTP that stops nothing")
    os.write(terminal.master, b"q")
    assert terminal.await_end() == 0
    terminal.await_state("usual", "at the end")


def stop_and_continue(command):
    """Under a shell, which is what makes a group that can be stopped."""
    script = " ".join(f"'{word}'" for word in command)
    terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], TERM="xterm", PS1="@@", HISTFILE="")
    terminal.await_output(b"@@")
    os.write(terminal.master, (script + "\n").encode())
    terminal.await_output(b"\033[H")
    terminal.output = b""
    os.write(terminal.master, b"\x1a")
    terminal.await_output(b"@@")
    terminal.output = b""
    os.write(terminal.master, b"stty -a | tr -d '\\n'; echo '=='\n")
    terminal.await_output(b"==\r\n")
    # The shell reads its own line without ICANON; what a command finds is what was there before.
    assert b" icanon" in terminal.output and b" echo " in terminal.output, terminal.output
    terminal.output = b""
    os.write(terminal.master, b"fg\n")
    terminal.await_output(b"\033[H")
    terminal.output = b""
    os.write(terminal.master, b"q")
    terminal.await_output(b"@@")
    terminal.output = b""
    os.write(terminal.master, b"echo \"st$?\"; exit\n")
    terminal.await_output(b"st0")


def show(command, **environment):
    terminal = Terminal(command, **environment)
    status = terminal.await_end()
    terminal.read(0.1)
    sys.stdout.buffer.write(terminal.output)
    return status


def main():
    what, command = sys.argv[1], sys.argv[2:]
    if what == "quit":
        quit_by_key(command)
    elif what == "signals":
        end_by_signals(command)
    elif what == "stop":
        stop_and_continue(command)
    elif what == "dumb":
        sys.exit(show(command, TERM="dumb"))
    else:
        sys.exit(show(command, TERM="xterm"))


if __name__ == "__main__":
    main()
