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
        entry = {"file": f"{self.root}/build/groups/g.cc", "command": f"g++ -I{self.root} -isystem {self.folder}/library -DX=1 -O2 -c g.cc"}
        self.write("build/compile_commands.json", json.dumps([entry]))

    def analyse(self):
        """(exit status, what was said, how often clang compiled)."""
        (self.folder / "runs").unlink(missing_ok=True)
        (self.root / "build/out").mkdir(exist_ok=True)
        environment = {**os.environ, "PATH": f"{self.folder}/tools:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = subprocess.run([SCRIPT, self.root, self.root / "build/out"], env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr, (self.folder / "runs").read_text().count("-fsyntax-only")

    def judged(self):
        """The files of the first part of the last analysis."""
        return [line.split('"')[1] for line in (self.root / "build/out/0.cc").read_text().splitlines()]

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
        self.write("services/shared.h", HEADER + "\n\n")
        self.assertEqual(self.analyse(), (0, "", 3))
        self.assertEqual(self.analyse(), (0, "", 0))

    def test_only_what_reads_a_changed_file_is_judged_again(self):
        self.write("services/own.h", "#pragma once\n")
        self.write("services/a.cc", '#include "own.h"\n' + RIGHT)
        self.assertEqual(self.analyse(), (0, "", 1))
        self.write("services/own.h", "#pragma once\n\n")
        self.assertEqual((self.analyse(), self.judged()), ((0, "", 1), ["services/a.cc"]))
        self.write("services/b.cc", WRONG.replace("Read", "Other"))
        status, said, _ = self.analyse()
        self.assertEqual((status, self.judged()), (1, ["services/b.cc"]))
        self.assertIn("services/b.cc:2", said)

    def test_a_file_that_sees_no_lock_is_left_out_until_it_does(self):
        self.write("services/plain.h", "#pragma once\n")
        self.write("services/b.cc", '#include "services/plain.h"\n')
        self.assertEqual((self.analyse(), self.judged()), ((0, "", 1), ["services/a.cc"]))
        self.write("services/plain.h", "#pragma once\n" + WRONG.replace("int Read", "inline int Read"))
        status, said, _ = self.analyse()
        self.assertEqual((status, self.judged()), (1, ["services/b.cc"]))
        self.assertIn("services/plain.h:3", said)

    def test_a_changed_library_is_seen(self):
        library = self.folder / "library" / "library.h"
        library.parent.mkdir()
        library.write_text("#pragma once\n")
        self.write("services/b.cc", "#include <library.h>\n" + RIGHT.replace("Read", "Other"))
        self.assertEqual(self.analyse(), (0, "", 1))
        self.assertEqual(self.analyse(), (0, "", 0))
        library.write_text("#pragma once\n\n")
        self.assertEqual((self.analyse(), self.judged()), ((0, "", 1), ["services/a.cc", "services/b.cc"]))


if __name__ == "__main__":
    unittest.main()
