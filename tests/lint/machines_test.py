#!/usr/bin/python3
"""Whether a machine of tests/lab runs, rests, and is noted as passed, in a small tree with git and without."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = [f"tests/lab/{name}" for name in ("if_changed.py", "record_passed.py", "tried.py", "checks.sh", "results.sh", "guest.sh")]
CHECKS = "a.fast : x\na.slow : x\na.longer long : x\n"
MACHINE = '#!/bin/sh\necho ran "$@" >>"$RUNS"\n[ ! -e "$RUNS.fails" ] || exit 1\nprintf "$VERDICTS" >>"$TAPEDECK_RESULTS"\n'


class Tree(unittest.TestCase):
    GIT = False

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name in [*SCRIPTS, "deploy/ci/tree_hash.py"]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.write("tests/lab/tried", "# a comment\nevery tests/lab\na store\nb engine\n")
        self.write("store/a.cc", "one")
        self.write("engine/a.cc", "one")
        self.write("tests/lab/machine.sh", MACHINE)
        self.write("build/lab/a.checks", CHECKS)
        self.write("build/tools/ninja", "#!/bin/sh\necho ninja: no work to do.\n")
        self.write("build/build.ninja", "")
        (self.root / "build" / "bin").mkdir()
        if self.GIT:
            self.write(".gitignore", "/build*/\n*.pyc\n")
            for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
                subprocess.run(["git", "-C", self.root, *command], check=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)

    def script(self, name, *arguments, **environment):
        plain = {name: value for name, value in os.environ.items() if not name.startswith("TAPEDECK_")}
        added = {"TAPEDECK_BIN": str(self.root / "build/bin"), "TAPEDECK_RESULTS": str(self.root / "build/results.tsv"), "RUNS": str(self.root / "build/runs"),
                 "VERDICTS": r"passed\ta.fast\t1\t\n", "PATH": f"{self.root}/build/tools:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, self.root / "tests/lab" / name, *arguments]
        return subprocess.run(command, env={**plain, **added, **environment}, cwd=self.root, capture_output=True, text=True, check=False)

    def run_a(self, *always, machine="a", **environment):
        """(exit status, output, how the machine was started or None)."""
        for name in ("runs", "results.tsv"):
            (self.root / "build" / name).unlink(missing_ok=True)
        done = self.script("if_changed.py", machine, *always, str(self.root / "tests/lab/machine.sh"), str(self.root / "build/lab/a.checks"), **environment)
        runs = self.root / "build/runs"
        return done.returncode, done.stdout + done.stderr, runs.read_text() if runs.exists() else None

    def pass_and_record(self):
        self.write("build/build.ninja", "")  # as a build after a change
        self.assertEqual(self.run_a()[0], 0)
        self.assertRegex(self.script("record_passed.py").stdout, r"^a [0-9a-f]{32}\n$")

    def rests(self, *always, **options):
        status, output, started = self.run_a(*always, **options)
        self.assertEqual((status, started), (77, None), output)
        self.assertEqual(output, "skipped: unchanged since it last passed; TAPEDECK_LONG=1 runs it\n")

    def runs(self, **options):
        status, output, started = self.run_a(**options)
        self.assertEqual(status, 0, output)
        self.assertIn("a.checks\n", started)


class Machines(Tree):
    def test_rests_once_it_has_passed(self):
        self.runs()
        self.runs()  # not noted yet
        self.pass_and_record()
        self.rests()
        self.runs(TAPEDECK_LONG="1")
        self.assertEqual(self.script("record_passed.py").stdout, "")

    def test_runs_when_what_it_tries_has_changed(self):
        for name, text in (("store/a.cc", "two"), ("store/new.cc", "one"), ("store/CMakeLists.txt", "one"), ("tests/lab/machine.sh", MACHINE + "\n"), ("build/lab/a.checks", CHECKS + "a.new : x\n")):
            with self.subTest(name):
                self.pass_and_record()
                self.write(name, text)
                self.runs()
        (self.root / "store/new.cc").unlink()
        self.runs()

    def test_rests_when_another_thing_has_changed(self):
        self.pass_and_record()
        for name in ("engine/a.cc", "store/README.md"):
            self.write(name, "two")
        self.rests()

    def test_a_run_that_is_not_whole_is_not_noted(self):
        self.write("build/runs.fails", "")
        self.assertEqual(self.run_a()[0], 1)
        (self.root / "build/runs.fails").unlink()
        self.assertEqual(self.script("record_passed.py").stdout, "")
        self.runs(VERDICTS=r"passed\ta.fast\t1\t\nskipped\ta.slow\t0\tno disk\n")
        self.assertEqual(self.script("record_passed.py").stdout, "")

    def test_a_run_of_old_programs_is_not_noted(self):
        self.write("build/tools/ninja", "#!/bin/sh\necho '[1/1] c++ a.cc'\n")
        self.assertIn("older than the tree", self.run_a()[1])
        self.assertEqual(self.script("record_passed.py").stdout, "")

    def test_a_run_of_old_rules_is_not_noted(self):
        self.write("engine/CMakeLists.txt", "of a source that the programs do not have")
        os.utime(self.root / "build/build.ninja", (0, 0))
        self.assertIn("older than the tree", self.run_a()[1])
        self.assertEqual(self.script("record_passed.py").stdout, "")

    def test_what_a_machine_that_is_gone_has_passed_is_left_out(self):
        self.runs()
        self.write("build/lab/passed/gone", "{}")
        self.assertRegex(self.script("record_passed.py").stdout, r"^a [0-9a-f]{32}\n$")

    def test_a_tree_that_has_changed_since_is_not_noted(self):
        self.runs()
        self.write("store/a.cc", "two")
        done = self.script("record_passed.py")
        self.assertEqual((done.stdout, done.stderr), ("", "a: the tree has changed since it passed\n"))

    def test_showing_writes_nothing(self):
        self.runs()
        self.assertNotEqual(self.script("record_passed.py", "--show").stdout, "")
        self.runs()

    def test_one_check_runs_always(self):
        self.pass_and_record()
        status, output, started = self.run_a("--always", "a.fast")
        self.assertEqual((status, started), (0, f"ran {self.root}/build/lab/a.checks -- a.fast\n"), output)
        self.assertIn("skipped\ta.slow\t0\tunchanged", (self.root / "build/results.tsv").read_text())
        self.assertIn("has no check a.gone", self.run_a("--always", "a.gone")[1])

    def test_a_folder_that_moved_away_is_an_error(self):
        (self.root / "store").rename(self.root / "shop")
        status, output, _ = self.run_a()
        self.assertEqual((status, output), (1, "store is not in the tree\n"))
        self.assertIn("does not say what c tries", self.run_a(machine="c")[1])


class MachinesInGit(Tree):
    GIT = True
    test_rests = Machines.test_rests_once_it_has_passed
    test_runs = Machines.test_runs_when_what_it_tries_has_changed


class Table(unittest.TestCase):
    def test_every_machine_is_there_and_every_path(self):
        lines = [line.split() for line in (ROOT / "tests/lab/tried").read_text().splitlines() if not line.startswith("#")]
        for machine, *paths in lines:
            for path in paths:
                self.assertTrue((ROOT / path).exists(), f"{machine}: {path}")
        wrapped = set(re.findall(r"(?:\$\{IF_CHANGED\} |tapedeck_lab_machine\()(\w+)", (ROOT / "tests/lab/CMakeLists.txt").read_text())) - {"NAME"}
        self.assertEqual(wrapped, {machine for machine, *_ in lines} - {"every"})

    def test_what_is_noted_are_machines(self):
        noted = [line.split() for line in (ROOT / "tests/lab/passed").read_text().splitlines() if not line.startswith("#")]
        for machine, found in noted:
            self.assertRegex(found, r"^[0-9a-f]{32}$", machine)


if __name__ == "__main__":
    unittest.main()
