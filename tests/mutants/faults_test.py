#!/usr/bin/python3
"""A list of faults that does not fit the tree is refused with the right message, and a fault becomes a choice."""
import pathlib
import tempfile
import unittest

import faults

FAULT = """why   it adds
file  product/sum.cc
old   a + b
new   a - b
by    sum_test SumTest.*
"""
TREE = {"product/sum.cc": "int Sum(int a, int b) {\n  return a + b;\n}\n",
        "tests/CMakeLists.txt": "tapedeck_test(sum_test SOURCES sum_test.cc)\n",
        "tests/sum_test.cc": "TEST(SumTest, Adds) {}\n"}


def problems(text, tree=None):
    with tempfile.TemporaryDirectory() as folder:
        for path, content in (tree or TREE).items():
            (pathlib.Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder) / path).write_text(content)
        return [message for _, message in faults.check(pathlib.Path(folder), text, count=0)]


class ListTest(unittest.TestCase):
    def test_fits(self):
        self.assertEqual(problems(FAULT), [])

    def test_does_not_fit(self):
        for old, new, message in (
                ("a + b", "a * b", "has 'a * b' 0 times"), ("old   a + b", "old   a", "times: name another piece"),
                ("sum.cc", "sam.cc", "there is no product/sam.cc"), ("sum_test ", "sam_test ", "no test program"),
                ("SumTest", "SamTest", "no suite is called SamTest"), (" SumTest.*", "", "needs a filter"),
                ("new   a - b", "new   a + b", "nothing changes"), ("old   a + b", "old   return a + b;", "a statement"),
                ("sum_test SumTest.*", "tests/e2e/sum.sh", "there is no tests/e2e/sum.sh"),
                ("why   it adds\n", "", "'file' where 'why'"), ("by    sum_test SumTest.*\n", "", "has the lines")):
            found = problems(FAULT.replace(old, new))
            self.assertTrue(any(message in one for one in found), f"{message}: {found}")

    def test_count(self):
        found = [message for _, message in faults.check(faults.ROOT, FAULT, count=2)]
        self.assertIn("1 faults, and there should be 2", found)


class ChoiceTest(unittest.TestCase):
    def choice(self, old, new):
        listed, _ = faults.read_list(FAULT.replace("old   a + b", f"old   {old}").replace("new   a - b", f"new   {new}"))
        return faults.planted(f"  {old}", listed, "fault.h")

    def test_expression(self):
        self.assertEqual(self.choice("a + b", "a - b"),
                         '#include "fault.h"\n  (::tapedeck::IsMutant(1) ? (a - b) : (a + b))')

    def test_statement(self):
        self.assertEqual(self.choice("Flush();", ";"),
                         '#include "fault.h"\n  { if (::tapedeck::IsMutant(1)) { ; } else { Flush(); } }')


if __name__ == "__main__":
    unittest.main()
