#!/usr/bin/python3
"""The table of coverage, from a summary as gcovr writes it."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "deploy" / "ci"))
import coverage_table  # noqa: E402


def rows(**files):
    """The rows for {path: (lines, covered)}."""
    listed = [{"filename": name, "line_total": lines, "line_covered": covered} for name, (lines, covered) in files.items()]
    return list(coverage_table.table({"files": listed}))[2:]


class CoverageTable(unittest.TestCase):
    def test_a_folder_is_the_sum_of_its_files(self):
        self.assertEqual(rows(**{"a/b/x.cc": (10, 5), "a/b/y.h": (30, 25), "a/z.cc": (3, 1)}),
                         ["| `a` | 3 | 33 % |  |", "| `a/b` | 40 | 75 % |  |"])

    def test_the_least_covered_below_is_named(self):
        self.assertEqual(rows(**{"a/b/x.cc": (10, 10), "a/b/c/x.cc": (10, 4), "a/b/c/d/x.cc": (10, 2), "a/b/e/x.cc": (10, 9)}),
                         ["| `a/b` | 40 | 62 % | `c/d` 20 % |"])

    def test_none_is_named_that_is_covered_as_well(self):
        self.assertEqual(rows(**{"a/b/c/x.cc": (10, 10), "a/b/x.cc": (10, 9)}), ["| `a/b` | 20 | 95 % |  |"])

    def test_a_folder_without_code_is_covered(self):
        self.assertEqual(rows(**{"a/b/x.h": (0, 0)}), ["| `a/b` | 0 | 100 % |  |"])


if __name__ == "__main__":
    unittest.main()
