#!/usr/bin/python3
"""Runs the tests of the Python package that need no node; exit status 77 where Python lacks what the package needs."""
import importlib.util
import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
NEEDED = {"numpy": "python3-numpy", "grpc": "python3-grpcio", "google.protobuf": "python3-protobuf"}


def missing():
    """The package of Debian that is not installed, or None."""
    for module, package in NEEDED.items():
        try:
            if importlib.util.find_spec(module) is None:
                return package
        except ModuleNotFoundError:
            return package
    return None if shutil.which("protoc") else "protobuf-compiler"


def main():
    package = missing()
    if package:
        print(f"skipped: {package} is not installed")
        sys.exit(77)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(HERE.parents[2] / "services" / "python"))
    suite = unittest.defaultTestLoader.discover(str(HERE), "*_test.py")
    sys.exit(0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1)


if __name__ == "__main__":
    main()
