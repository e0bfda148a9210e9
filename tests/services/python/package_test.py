"""The package as it is installed: built without a compiler, and used without protoc and without the tree."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
USE = """
import tapedeck
from tapedeck import descriptors
assert tapedeck.__file__.startswith({target!r}), tapedeck.__file__
print(descriptors.method("CatalogService", "GetLun")[0])
"""


class PackageTest(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("setuptools") is None, "python3-setuptools is not installed")
    def test_it_is_built_and_used(self):
        with tempfile.TemporaryDirectory() as place:
            # setuptools writes beside what it builds.
            tree = pathlib.Path(place, "tree")
            shutil.copytree(ROOT / "proto", tree / "proto", ignore=shutil.ignore_patterns("node_modules"))
            shutil.copytree(ROOT / "services/python", tree / "services/python",
                            ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
            target = str(pathlib.Path(place, "target"))
            subprocess.run([sys.executable, "setup.py", "-q", "build_py", "--build-lib", target], check=True, timeout=60,
                           cwd=tree / "services/python", env={**os.environ, "CC": "false"}, capture_output=True)
            shutil.rmtree(tree)
            used = subprocess.run([sys.executable, "-c", USE.format(target=target)], check=True, timeout=60, cwd=place,
                                  env={"PATH": "/nowhere", "PYTHONPATH": target}, capture_output=True, text=True)
            self.assertEqual(used.stdout.strip(), "/tapedeck.v1.CatalogService/GetLun")
            self.assertTrue(pathlib.Path(target, "tapedeck/py.typed").exists())


if __name__ == "__main__":
    unittest.main()
