#!/usr/bin/python3
"""What clang's thread-safety analysis finds in a small tree, and what it remembers."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "ci" / "thread_safety.py"
CLANG = shutil.which("clang++")
HEADER = """#pragma once
struct __attribute__((capability("mutex"))) Mutex {
  void Lock() __attribute__((acquire_capability()));
  void Unlock() __attribute__((release_capability()));
};
struct Shared { Mutex mutex; int value __attribute__((guarded_by(mutex))); };
"""
RIGHT = '#include "services/shared.h"\nnamespace a { int Read(Shared& s) { s.mutex.Lock(); int v = s.value; s.mutex.Unlock(); return v; } }\n'
WRONG = '#include "services/shared.h"\nnamespace a { int Read(Shared& s) { return s.value; } }\n'


@unittest.skipUnless(CLANG, "clang++ is not installed")
class ThreadSafety(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.root = self.folder / "one"
        self.write("services/shared.h", HEADER)
        self.write("services/a.cc", RIGHT)
        self.write("services/b.cc", RIGHT.replace("Read", "Other"))
        self.list("services/a.cc", "services/b.cc")
        clang = self.folder / "tools" / "clang++"
        clang.parent.mkdir()
        clang.write_text(f'#!/bin/sh\necho "$*" >>{self.folder}/runs\nexec {CLANG} "$@"\n')
        clang.chmod(0o755)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def list(self, *files):
        self.write("build/groups/g.cc", "".join(f'#include "{file}"\n' for file in files))
        entry = {"file": f"{self.root}/build/groups/g.cc", "command": f"g++ -I{self.root} -isystem /opt/none -DX=1 -O2 -c g.cc"}
        self.write("build/compile_commands.json", json.dumps([entry]))

    def analyse(self):
        """(exit status, what was said, how often clang compiled)."""
        (self.folder / "runs").unlink(missing_ok=True)
        (self.root / "build/out").mkdir(exist_ok=True)
        environment = {**os.environ, "PATH": f"{self.folder}/tools:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = subprocess.run([SCRIPT, self.root, self.root / "build/out"], env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr, (self.folder / "runs").read_text().count("-fsyntax-only")

    def test_what_is_right_is_remembered_here_and_in_another_clone(self):
        self.assertEqual(self.analyse(), (0, "", 1))
        self.assertEqual(self.analyse(), (0, "", 0))
        shutil.copytree(self.root, self.folder / "two")
        self.root = self.folder / "two"
        self.list("services/a.cc", "services/b.cc")
        self.assertEqual(self.analyse(), (0, "", 0))

    def test_what_is_wrong_is_said_each_time(self):
        self.write("services/a.cc", WRONG)
        for _ in range(2):
            status, said, runs = self.analyse()
            self.assertEqual((status, runs), (1, 3))
            self.assertIn("services/a.cc:2", said)
            self.assertIn("requires holding mutex 'mutex'", said.replace("s.mutex", "mutex"))

    def test_a_changed_file_or_header_is_seen(self):
        self.analyse()
        self.write("services/shared.h", HEADER + "\n")
        self.assertEqual(self.analyse(), (0, "", 1))
        self.write("services/b.cc", WRONG)
        self.assertEqual(self.analyse()[0], 1)
        self.write("services/b.cc", RIGHT)  # hides the name of its neighbour
        self.assertEqual(self.analyse(), (0, "", 3))
        self.assertEqual(self.analyse(), (0, "", 0))


if __name__ == "__main__":
    unittest.main()
