"""Puts what protoc makes of ../../proto beside the modules. The rest of the package is said in pyproject.toml."""
import pathlib
import runpy

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent


class BuildWithDescriptors(build_py):
    """And the FileDescriptorSet."""

    def run(self):
        super().run()
        protoc = runpy.run_path(str(HERE / "tapedeck" / "protoc.py"))
        target = pathlib.Path(self.build_lib, "tapedeck", protoc["FILE"])
        target.write_bytes(protoc["make"](HERE.parents[1] / "proto"))


setup(cmdclass={"build_py": BuildWithDescriptors})
