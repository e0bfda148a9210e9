#!/usr/bin/python3
"""The runner of the guide finds what is planted in pages: wrong outputs, failures, and what is left running."""
import os
import pathlib
import subprocess
import sys
import tempfile

import pages

RUN = pathlib.Path(__file__).with_name("run.py")

# (what is planted, page, what the runner says or None)
PAGES = (
    ("nothing", "```sh\necho a\necho b | cat\n```\n```text\na\nb\n```\n", None),
    ("nothing, with a wide column", "```sh\necho 'a     b'\n```\n```text\na b\n```\n", None),
    ("nothing, with a loop", "```sh\nfor i in 1 2; do\n  echo $i\ndone\n```\n```text\n1\n2\n```\n", None),
    ("nothing, with a status", "<!-- guide: status 3 -->\n```sh\n(exit 3)\n```\n", None),
    ("nothing, with lines left out", "```sh\nseq 9\n```\n```text\n1\n...\n9\n```\n", None),
    ("nothing, with a job", "```sh\nsleep 60 &\nkill %1\nwait\n```\n", None),
    ("nothing, as it is not run", "<!-- guide: not run: needs root -->\n```sh\nfalse\n```\n", None),
    ("nothing, with a time", "```sh\necho 2026-01-31T12:00:00Z\n```\n```text\n2026-02-01T13:00:00Z\n```\n", None),
    ("an output", "```sh\necho a\n```\n```text\nb\n```\n", "another output"),
    ("an output that is not shown", "```sh\necho a\n```\n", "another output"),
    ("a failure", "```sh\nfalse\n```\n", "exit status [1]"),
    ("a failure before others", "```sh\nfalse\ntrue\n```\n", "exit status [1, 0]"),
    ("a process", "```sh\nsleep 60 &\n```\n", "left running: ['sleep']"),
    ("a process on its own", "```sh\nsetsid -f sleep 60 > /dev/null\n```\n", "left running: ['sleep']"),
    ("an end", "```sh\nexit 0\n```\n", "ends the shell"),
    ("a comment", "```sh\ntrue # for people\n```\n", "zsh takes no comments"),
    ("a rule that there is not", "<!-- guide: stauts 3 -->\n```sh\ntrue\n```\n", "unknown: ['stauts']"),
    ("a block without an end", "```sh\ntrue\n", "as they should"),
    ("a name that no block has", "<!-- guide: before nonsense -->\n\n```sh\ntrue\n```\n", "no page has a block"),
)


def run(text, shell, *options):
    """(exit status, what the runner says, the page afterwards)"""
    with tempfile.TemporaryDirectory() as work:
        page = pathlib.Path(work) / "page.md"
        page.write_text(text)
        done = subprocess.run([sys.executable, RUN, page, shell, *options], capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout + done.stderr, page.read_text()


def main():
    os.environ.setdefault("TAPEDECK_BIN", str(pages.ROOT / "build" / "bin"))
    wrong = []
    for planted, text, says in PAGES:
        for shell in ("bash", "zsh"):
            status, output, _ = run(text, shell)
            if status == 77:
                continue
            if (status == 0) != (says is None) or (says or "") not in output:
                wrong.append(f"{planted}, {shell}: status {status}: {output}")
    _, _, written = run("```sh\necho a\n```\n\n```sh\necho b\n```\n```text\nc\n```\n", "bash", "--write")
    if written != "```sh\necho a\n```\n```text\na\n```\n\n```sh\necho b\n```\n```text\nb\n```\n":
        wrong.append(f"--write wrote {written}")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
