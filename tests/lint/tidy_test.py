#!/usr/bin/python3
"""Which files clang-tidy reads again, with a clang-tidy and a ninja that only look like them."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CI = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "ci"
TIDY = """#!/bin/sh
[ "$1" != --version ] || { echo "LLVM version $(cat version)"; exit 0; }
for file; do :; done
echo "$file" >>runs
! grep -q bad "$file" services/a.h || { echo "$file: bad"; exit 1; }
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve() / "tree"
        for name in ("tidy.py", "remembered.py"):
            (self.root / "deploy/ci").mkdir(parents=True, exist_ok=True)
            shutil.copy(CI / name, self.root / "deploy/ci" / name)
        self.files = ["services/a.cc", "tests/b_test.cc", "build/services/groups/c_0.cc"]
        for name in [*self.files, "services/a.h", "build/proto/groups/p_0.cc", "build/tests/generated.cc"]:
            self.write(name, "good")
        self.write("version", "14")
        self.write(".clang-tidy", "Checks: all")
        self.write("tools/clang-tidy", TIDY)
        self.write("tools/ninja", "#!/bin/sh\ncat deps\n")
        entries = [{"file": f"{self.root}/{name}", "command": f"g++ -DX=1 --param=ggc-min-heapsize=1 -Winvalid-pch -include {self.root}/build/cmake_pch.hxx -o {name}.o -c {self.root}/{name}"}
                   for name in [*self.files, "build/proto/groups/p_0.cc", "build/tests/generated.cc"]]
        self.write("build/compile_commands.json", json.dumps(entries))
        self.depend(*self.files)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)

    def depend(self, *files, state="VALID"):
        self.write("deps", "".join(f"{name}.o: #deps 2, deps mtime 1 ({state})\n    ../{name}\n    ../services/a.h\n\n" for name in files))

    def tidy(self, *arguments):
        """(exit status, what was said, which files were read)."""
        (self.root / "runs").unlink(missing_ok=True)
        environment = {**os.environ, "PATH": f"{self.root}/tools:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.root.parent / "cache")}
        done = subprocess.run([self.root / "deploy/ci/tidy.py", "build", *arguments], cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        runs = self.root / "runs"
        return done.returncode, done.stdout, sorted(os.path.relpath(line, self.root) for line in runs.read_text().split()) if runs.exists() else []

    def test_ours_are_read_once(self):
        self.assertEqual(self.tidy(), (0, "", sorted(self.files)))
        commands = {entry["command"] for entry in json.loads((self.root / "build/tidy/compile_commands.json").read_text())}
        self.assertIn(f"g++ -DX=1 -o services/a.cc.o -c {self.root}/services/a.cc", commands)
        self.assertEqual(self.tidy(), (0, "", []))
        self.write("services/a.cc", "good as well")
        self.assertEqual(self.tidy(), (0, "", ["services/a.cc"]))
        self.write("services/a.h", "changed")
        self.assertEqual(self.tidy()[2], sorted(self.files))

    def test_what_else_the_result_depends_on(self):
        for change in (lambda: self.write("version", "15"), lambda: self.write(".clang-tidy", "Checks: some")):
            self.tidy()
            change()
            self.assertEqual(len(self.tidy()[2]), 3)
        self.assertEqual(len(self.tidy("--checks=x")[2]), 3)

    def test_what_is_wrong_is_said_each_time(self):
        self.write("services/a.cc", "bad")
        for _ in range(2):
            status, said, read = self.tidy()
            self.assertEqual((status, said), (1, f"{self.root}/services/a.cc: bad\n"))
        self.assertEqual(read, ["services/a.cc"])

    def test_what_is_not_built_is_always_read(self):
        self.depend("services/a.cc")
        self.tidy()
        self.assertEqual(self.tidy()[2], sorted(set(self.files) - {"services/a.cc"}))
        self.depend("services/a.cc", state="STALE")
        self.assertIn("services/a.cc", self.tidy()[2])


if __name__ == "__main__":
    unittest.main()
