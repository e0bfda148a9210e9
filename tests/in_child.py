"""Runs what would be a program of its own in a child of this process, which has loaded already what that program imports."""
import os
import sys
import tempfile
import traceback


def _end_as_program(action):
    """What this process does and ends with as a program that is this action."""
    status = 1
    try:
        action()
        status = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def in_child(action):
    """(exit status, output) of the action. What it changes, it changes in the child alone."""
    sys.stdout.flush()
    with tempfile.TemporaryFile("w+") as said:
        pid = os.fork()
        if pid == 0:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            _end_as_program(action)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        said.seek(0)
        return status, said.read()
