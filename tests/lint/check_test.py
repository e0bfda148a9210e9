#!/usr/bin/python3
"""deploy/test.sh in a small tree: what it counts, and how it goes on where it was broken off; the same of a run of ctest."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("asan", "tsan")
SHORT = ["nowhere", "thread_safety", "shell", "format", "packages", "fuzz", "proto"]
LONG = re.search(r"for name in tsan (.*); do", (ROOT / "deploy/test.sh").read_text()).group(1).split()
CHECKS = SHORT + LONG
CASE = '<testcase name="{0}" status="{1}" time="1"><system-out>{2}</system-out></testcase>'
SETUP = """source {root}/deploy/setup.sh
TAPEDECK_ROOT=$(cd "$(dirname "${{BASH_SOURCE[0]}}")/.." && pwd)
tapedeck_install() {{ :; }}
tapedeck_install_if_can() {{ :; }}
tapedeck_build_shown() {{ mkdir -p "$3"; }}
tapedeck_ctest() {{ "$TAPEDECK_ROOT/deploy/ci/part.sh" tests "$1"; }}
"""
PART = """#!/usr/bin/env bash
# A part that leaves a junit.xml, or a check; the file it.NAME in the tree's build is run by it.
root=$(cd "$(dirname "$0")/../.." && pwd)
echo "$1" >>"$root/build/ran"
[[ ! -e $root/build/it.$1 ]] || source "$root/build/it.$1"
[[ -z ${2:-} ]] || { mkdir -p "$2/test-results" && cp "$root/build/junit" "$2/junit.xml"; }
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)


class Check(Folder):
    def setUp(self):
        super().setUp()
        for name in ("deploy/test.sh", "deploy/ci/counts.py", "deploy/ci/cost.py", "deploy/ci/tree_hash.py"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.write("deploy/setup.sh", SETUP.format(root=ROOT))
        self.write("deploy/ci/part.sh", PART)
        for name in CHECKS:
            self.write(f"deploy/ci/{name}.sh", f'#!/usr/bin/env bash\nexec "$(dirname "$0")/part.sh" {name}\n')
        for name in PARTS:
            self.write(f"deploy/ci/{name}.sh", f'#!/usr/bin/env bash\nexec "$(dirname "$0")/part.sh" {name} "$(dirname "$0")/../../build-{name}"\n')
        self.write("tests/lab/record_passed.py", "#!/bin/sh\necho boot abc\n")
        self.write("build/junit", f"<testsuite>{CASE.format('a', 'run', '')}{CASE.format('b', 'fail', 'FAILED at x')}</testsuite>")

    def check(self, *options):
        """(what ran, output)."""
        (self.root / "build/ran").unlink(missing_ok=True)
        done = subprocess.run([self.root / "deploy/test.sh", *options], capture_output=True, text=True, check=False, start_new_session=True)
        return (self.root / "build/ran").read_text().split(), done.stdout + done.stderr

    def test_counts_all(self):
        ran, output = self.check()
        self.assertEqual(sorted(ran), sorted(("tests", "asan", *SHORT)))
        self.assertTrue(output.endswith(f"9 passed, 2 failed, {1 + len(LONG)} skipped\n"), output)
        self.assertIn("  tests: FAILED b: FAILED at x\n  asan: FAILED b: FAILED at x\n", output)
        self.assertIn("processor seconds of tests", output)
        self.assertIn("passed whole, to be noted by tests/lab/record_passed.py: boot abc\n", output)

    def test_a_failed_check_counts(self):
        self.write("build/it.fuzz", "exit 1\n")
        self.write("build/it.proto", "echo skipped: no npm; exit 77\n")
        output = self.check()[1]
        self.assertTrue(output.endswith(f"7 passed, 3 failed, {2 + len(LONG)} skipped\n"), output)
        self.assertIn("proto: skipped: no npm\n", output)

    def test_a_slow_machine_leaves_out_what_clang_compiles(self):
        ran, output = self.check("--minutes", "-1")
        self.assertNotIn("fuzz", ran)
        self.assertTrue(output.endswith(f"7 passed, 2 failed, {3 + len(LONG)} skipped\n"), output)

    def broken_off_at(self, name):
        self.write(f"build/it.{name}", "kill -KILL 0\n")
        ran = self.check("--all")[0]
        (self.root / f"build/it.{name}").unlink()
        return ran

    def test_goes_on_where_it_was_broken_off(self):
        self.write("build/it.nowhere", "exit 1\n")
        self.assertEqual(self.broken_off_at("tidy")[-2:], ["ungrouped", "tidy"])
        ran, output = self.check("--all", "--continue")
        self.assertEqual(ran, LONG[1:])
        self.assertTrue(output.endswith(f"{9 + len(LONG)} passed, 4 failed, 0 skipped\n"), output)
        self.assertIn("FAILED nowhere", output)
        self.assertEqual(output.count("tests: FAILED b"), 1)

    def test_a_suite_that_was_broken_off_runs(self):
        self.broken_off_at("asan")
        self.assertEqual(self.check("--all", "--continue")[0][:2], ["asan", "nowhere"])

    def test_begins_anew_in_another_tree_or_form(self):
        self.broken_off_at("tidy")
        self.assertEqual(self.check("--continue")[0][0], "tests")
        self.broken_off_at("tidy")
        self.write("a.cc", "changed")
        ran, output = self.check("--all", "--continue")
        self.assertEqual(ran[0], "tests")
        self.assertIn("begins anew", output)


class Entries(Folder):
    ENTRIES = {"passes": "exit 0", "fails": "exit 3", "skips": "exit 77", "begun": 'echo "failed\tx\t0\tbroken" >>test-results/begun.tsv; [ ! -e slow ] || sleep 60'}

    def setUp(self):
        super().setUp()
        lines = [f'add_test({name} "{ROOT}/deploy/cmake/cost.sh" "{self.root}/test-results/costs" "e2e {name}" "sh" "-c" [==[cd {self.root}; echo {name} >>ran; {does}]==])\n'
                 f"set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77)\n" for name, does in self.ENTRIES.items()]
        self.write("CTestTestfile.cmake", "".join(lines))

    def ctest(self, **environment):
        (self.root / "ran").unlink(missing_ok=True)
        command = f"source {ROOT}/deploy/setup.sh; set +e; tapedeck_ctest {self.root}"
        return subprocess.Popen(["bash", "-c", command], env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def broken_off(self):
        self.write("slow", "")
        run = self.ctest()
        costs = self.root / "test-results/costs"
        while not (costs.exists() and len(costs.read_text().splitlines()) == 3 and (self.root / "test-results/begun.tsv").exists()):
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGINT)
        run.wait()
        (self.root / "slow").unlink()

    def counted(self):
        done = subprocess.run([ROOT / "deploy/ci/counts.py", "junit.xml", "test-results"], cwd=self.root, capture_output=True, text=True, check=False)
        return done.stdout, done.stderr

    def test_goes_on(self):
        self.broken_off()
        self.ctest(TAPEDECK_CONTINUED="yes").wait()
        self.assertEqual(sorted((self.root / "ran").read_text().split()), ["begun", "skips"])
        self.assertEqual((self.root / "test-results/begun.tsv").read_text().count("\n"), 1)
        counts, said = self.counted()
        self.assertEqual(counts, "1 2 1\n")  # begun's list has a failed case
        self.assertIn("FAILED fails: FAILED with status 3, before the run was broken off", said)

    def test_begins_anew(self):
        self.broken_off()
        self.ctest().wait()
        self.assertEqual(len((self.root / "ran").read_text().split()), 4)
        self.assertFalse((self.root / "test-results/costs.before").exists())

    def test_counts(self):
        self.write("junit.xml", "<testsuite>" + CASE.format("unit/A", "run", "") + CASE.format("b", "fail", "no word") +
                   '<testcase name="c" status="notrun" time="0"><skipped message="SKIP_RETURN_CODE=77"/><system-out>skipped: no disk</system-out></testcase>'
                   '<testcase name="d" status="notrun" time="0"><skipped message="Unable to find executable"/></testcase></testsuite>')
        self.write("test-results/unit_A.xml", '<testsuites><testcase name="x" classname="A" status="run"/><testcase name="y" classname="A" status="run"/></testsuites>')
        self.write("test-results/b.tsv", "passed\tp\t1\t\nskipped\ts\t0\tno disk\n")
        counts, said = self.counted()
        self.assertEqual(counts, "3 2 2\n")
        for line in ("FAILED b: what it says follows", "FAILED d: no reason given", "skipped s and 1 more: no disk"):
            self.assertIn(line, said)


if __name__ == "__main__":
    unittest.main()
