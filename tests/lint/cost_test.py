#!/usr/bin/python3
"""What processor seconds are kept, summed, compared and recorded."""
import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

CI = pathlib.Path(__file__).parents[2] / "deploy" / "ci"
sys.path.insert(0, str(CI))
import cost  # noqa: E402

LAUNCHER = CI.parent / "cmake" / "cost.sh"
BUSY = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"


def unit(path, number=0):
    return "build", f"{path}/CMakeFiles/t.dir/groups/t_{number}.cc.o"


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()


class Launcher(Folder):
    def launch(self, name, *command):
        return subprocess.run([LAUNCHER, self.folder / "costs", name, *command], capture_output=True, text=True, check=False)

    def test_output_and_status_are_the_commands(self):
        done = self.launch("a", "sh", "-c", "echo out; echo err >&2; exit 77")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (77, "out\n", "err\n"))
        self.assertEqual(self.launch("b", "sh", "-c", "kill -SEGV $$").returncode, 139)
        self.assertEqual([(name, status) for name, _, status in cost.lines_of(self.folder / "costs")], [("a", "77"), ("b", "139")])

    def test_children_count(self):
        self.launch("alone", "sh", "-c", BUSY)
        self.launch("of a child", "sh", "-c", f"({BUSY}) & wait")
        self.launch("idle", "sleep", "0.2")
        seconds = {name: seconds for name, seconds, _ in cost.lines_of(self.folder / "costs")}
        self.assertGreater(seconds["of a child"], seconds["alone"] / 3)
        self.assertLess(seconds["idle"], seconds["alone"] / 3)

    def test_what_it_leaves_running_does_not_hold_it(self):
        self.assertEqual(subprocess.run([LAUNCHER, self.folder / "costs", "a", "sh", "-c", "sleep 30 >/dev/null 2>&1 & exit 0"], timeout=10, check=False).returncode, 0)

    def test_an_interrupted_command_leaves_nothing(self):
        command = [LAUNCHER, self.folder / "costs", "a", "sh", "-c", "trap '' INT; echo begun; sleep 1; exit 1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as run:
            run.stdout.readline()
            os.killpg(run.pid, signal.SIGINT)
            self.assertEqual(run.wait(), 130)
        self.assertFalse((self.folder / "costs").exists())


class Costs(Folder):
    def test_what_was_skipped_or_cached_is_left_out(self):
        (self.folder / "test-results").mkdir()
        (self.folder / "test-results/costs").write_text("unit A/B\t1\t0.5\t0\ne2e e2e.x\t0.1\t0\t77\nunit A/B\t2\t1\t0\n")
        (self.folder / "compile.costs").write_text("a/CMakeFiles/t.dir/x.o\t3\t1\t0\na/CMakeFiles/t.dir/y.o\t0.02\t0.01\t0\n")
        self.assertEqual(cost.tests_of(self.folder / "test-results"), {("unit", "A/B"): 3})
        self.assertEqual(cost.units_of(self.folder), {(self.folder.name, "a/CMakeFiles/t.dir/x.o"): 4})

    def test_lines(self):
        self.assertEqual(cost.tests_line({("unit", "A"): 1, ("e2e", "b"): 5, ("unit", "C"): 2}), "e2e 5, unit 3; all 8")
        self.assertEqual(cost.tests_line({}), "")
        units = {unit("s/store/posix"): 30, unit("s/store", 1): 5, unit("s/disk"): 2, unit("d"): 50}
        self.assertEqual(cost.build_line(units), "d 50, s 37 (store 35)")

    def test_growth(self):
        before = {("unit", "A"): 50, ("unit", "B"): 20, unit("s/disk"): 20, unit("s/store"): 30, ("e2e", "x"): 4}
        self.assertEqual(list(cost.grown(before, before)), [])
        self.assertEqual(list(cost.grown({**before, ("unit", "A"): 56}, before)), [])  # less than a tenth of both
        self.assertEqual(list(cost.grown({**before, ("e2e", "x"): 8}, before)), [])  # too few seconds
        self.assertEqual(list(cost.grown({**before, ("unit", "New"): 90}, before)), [])
        self.assertEqual(list(cost.grown({("unit", "A"): 60}, before)), ["unit: 60 s where it was 50: A 60.0 (was 50.0)"])
        self.assertEqual(list(cost.grown({**before, unit("s/disk"): 30}, before)), ["build s/disk: 30 s where it was 20: t_0.cc.o 30.0 (was 20.0)"])

    def test_record(self):
        build = self.folder / "build"
        (build / "test-results").mkdir(parents=True)
        (build / "build.ninja").write_text(f"build {unit('a')[1]}: CXX\nbuild {unit('b')[1]}: CXX\n")
        (build / "compile.costs").write_text(f"{unit('a')[1]}\t3\t1\t0\n")
        (build / "test-results/costs").write_text("unit A\t7\t0\t0\nlab lab.x\t0.1\t0\t77\nunit Quick\t0.1\t0\t0\n")
        record = self.folder / "cost.tsv"
        record.write_text(f"# x\nbuild\t{unit('a')[1]}\t9.0\nbuild\t{unit('b')[1]}\t8.0\nbuild\t{unit('gone')[1]}\t8.0\n"
                          f"build-asan\t{unit('a')[1]}\t5.0\nlab\tlab.x\t90.0\nunit\tGone\t4.0\n")
        cost.RECORD, kept = record, cost.RECORD
        self.addCleanup(setattr, cost, "RECORD", kept)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            cost.main([str(build)])
            self.assertIn("Gone", record.read_text())
            cost.main(["--record", str(build)])
        self.assertIn("processor seconds of build: 4 in 1 units compiled: a 4\n", said.getvalue())
        self.assertEqual(cost.recorded(), {unit("a"): 4, unit("b"): 8, ("build-asan", unit("a")[1]): 5, ("lab", "lab.x"): 90, ("unit", "A"): 7})


if __name__ == "__main__":
    unittest.main()
