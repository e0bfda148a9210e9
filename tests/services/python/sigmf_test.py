"""What an export says of the signal."""
import types
import unittest

import numpy

from tapedeck import sigmf
from tapedeck.stream import Stream
from tapedeck.values import Annotation


def signal(sample, comment, **more):
    return Annotation(sample_start=sample, sample_count=0, label="signal", comment=comment, **more)


class CapturesTest(unittest.TestCase):
    def captures(self, *notes):
        """Of a segment that begins with sample 1000 of its stream and has 500."""
        recording = types.SimpleNamespace(info=types.SimpleNamespace(annotations=notes, samples=500),
                                          time_of=lambda start: numpy.datetime64("NaT"))
        data = types.SimpleNamespace(captures=[{"core:sample_start": 0, "core:global_index": 1000}])
        return sigmf._captures(recording, data)  # pylint: disable=protected-access

    def test_what_was_told_before_holds_at_its_begin(self):
        first, = self.captures(signal(900, "frequency=2e6"), signal(100, "frequency=1e6 gain=3"),
                               signal(950, "frequency=9e6", foreign=True))
        self.assertEqual(first, {"core:sample_start": 0, "core:global_index": 1000, "core:frequency": 2e6, "tapedeck:gain": 3.0})

    def test_its_own_wins(self):
        first, later = self.captures(signal(900, "frequency=2e6"), signal(1000, "frequency=3e6"), signal(1200, "frequency=4e6"))
        self.assertEqual((first["core:frequency"], first["core:sample_start"]), (3e6, 0))
        self.assertEqual((later["core:frequency"], later["core:sample_start"]), (4e6, 200))


class JoinedTest(unittest.TestCase):
    def test_a_signal_of_two_segments_is_told_once(self):
        told, user = signal(5, "frequency=1e6"), Annotation(sample_start=7, sample_count=1, label="a", comment="")
        self.assertEqual(Stream.notes_of([(told, user), (told, user)]), (told, user, user))
