#!/usr/bin/python3
"""What is found to run nowhere, of two builds."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "deploy" / "ci"))
import nowhere  # noqa: E402

PATTERN = "^(unit|conformance)$"


def suite(name, program, *labels):
    return nowhere.Entry(name, program, frozenset(labels))


def script(name, *labels):
    return nowhere.Entry(name, None, frozenset(labels))


UNIT, SIM, SCRIPT = suite("Scrub", "node_test", "unit"), suite("PowerCut", "sim_test", "sim"), script("e2e.demo", "e2e")
REGISTERED = [("node_test", frozenset(["unit"])), ("sim_test", frozenset(["sim"]))]


class Nowhere(unittest.TestCase):
    def missing(self, plain, sanitized, plain_ran, sanitized_ran, registered=None):
        runs = nowhere.Run(plain, set(plain_ran)), nowhere.Run(sanitized, set(sanitized_ran))
        return sorted(set(nowhere.never_ran(*runs, PATTERN, REGISTERED if registered is None else registered)))

    def test_all_ran(self):
        self.assertEqual(self.missing([SIM, SCRIPT], [UNIT], ["PowerCut", "e2e.demo"], ["Scrub"]), [])
        self.assertEqual(self.missing([UNIT, SIM, SCRIPT], [UNIT, SIM], ["PowerCut", "e2e.demo"], ["Scrub"]), [])

    def test_an_entry_did_not_run_where_it_should(self):
        self.assertEqual(self.missing([SIM, SCRIPT], [UNIT], ["PowerCut"], ["Scrub"]), ["e2e.demo"])
        self.assertEqual(self.missing([SIM, SCRIPT], [UNIT], ["e2e.demo"], ["Scrub", "PowerCut"]), ["PowerCut", "sim_test (sim)"])
        self.assertEqual(self.missing([UNIT, SIM, SCRIPT], [UNIT], ["PowerCut", "e2e.demo"], []), ["Scrub", "node_test (unit)"])

    def test_suites_of_a_gpu_run_plain_in_the_long_form(self):
        gpu = suite("Cuda/Fft", "fft_test", "gpu"), suite("Cuda/Fft", "fft_test", "gpu", "unit")
        registered = [("fft_test", frozenset(["gpu"]))]
        self.assertEqual(self.missing(gpu[:1], gpu[1:], ["Cuda/Fft"], [], registered), [])
        self.assertEqual(self.missing(gpu[1:], gpu[1:], [], [], [("fft_test", gpu[1].labels)]), ["Cuda/Fft", "fft_test (gpu unit)"])

    def test_programs_of_unit_suites_that_are_not_built(self):
        absent = suite("/b/node_test", "node_test", "unit")
        self.assertEqual(self.missing([absent, SIM], [UNIT], ["PowerCut"], ["Scrub"]), [])

    def test_a_script_that_the_sanitized_build_does_not_register(self):
        self.assertEqual(self.missing([script("services.python", "unit")], [], [], [], []), ["services.python"])

    def test_a_program_that_neither_build_has(self):
        self.assertEqual(self.missing([SIM], [], ["PowerCut"], []), ["node_test (unit)"])

    def test_each_set_of_labels_of_a_program(self):
        registered = [("dataplane_test", frozenset(["unit"])), ("dataplane_test", frozenset(["plain"]))]
        crc = suite("Crc", "dataplane_test", "unit")
        self.assertEqual(self.missing([crc], [crc], [], ["Crc"], registered), ["dataplane_test (plain)"])

    def test_entries_of_ctest(self):
        listed = {"name": "A/B", "command": ["/x/cost.sh", "f", "/y/bin/a_test", "--gtest_filter=A/B.*"], "properties": [{"name": "LABELS", "value": ["unit"]}]}
        self.assertEqual(nowhere.entry_of(listed), suite("A/B", "a_test", "unit"))
        self.assertEqual(nowhere.entry_of({"name": "/y/bin/a_test", "properties": listed["properties"]}), suite("/y/bin/a_test", "a_test", "unit"))
        self.assertEqual(nowhere.entry_of({"name": "x", "command": ["/bin/a.sh"], "properties": []}), script("x"))

    def test_cases_that_only_the_plain_build_has(self):
        case = '<testcase name="{}" status="run" time="0" classname="Scrub">{}</testcase>'
        with tempfile.TemporaryDirectory() as folder:
            builds = pathlib.Path(folder, "a"), pathlib.Path(folder, "b")
            skipped = case.format("Skipped", '<skipped message="no"/>')
            for build, cases in zip(builds, (case.format("Both", "") + case.format("Skipped", "") + case.format("Absent", ""), case.format("Both", "") + skipped)):
                (build / "test-results").mkdir(parents=True)
                (build / "test-results" / "Scrub.xml").write_text(f"<testsuites>{cases}</testsuites>")
            self.assertEqual(nowhere.only_plain(nowhere.Run([UNIT], set()), PATTERN, builds), ["Scrub.Absent", "Scrub.Skipped"])


if __name__ == "__main__":
    unittest.main()
