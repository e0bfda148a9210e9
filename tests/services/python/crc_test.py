"""CRC32C: both ways to compute it, against the format's known value and against a computation bit by bit."""
import random
import unittest

import numpy

from tapedeck import crc


def bit_by_bit(data):
    """As the definition has it."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


class CrcTest(unittest.TestCase):
    def test_known_value(self):
        self.assertEqual(crc.crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(crc.by_numpy(numpy.frombuffer(b"123456789", dtype=numpy.uint8)), 0xE3069283)

    def test_both_ways_agree_with_the_definition(self):
        rng = random.Random(1)
        for size in (0, 1, 3, 4, 5, 60, 8191, 8192, 8193, 16384, 16385, 20001):
            data = rng.randbytes(size)
            expected = bit_by_bit(data)
            self.assertEqual(crc.crc32c(data), expected, size)
            self.assertEqual(crc.by_numpy(numpy.frombuffer(data, dtype=numpy.uint8)), expected, size)

    def test_large_payloads_and_parts_of_arrays(self):
        data = numpy.random.default_rng(2).integers(0, 256, (8 << 20) + 11, dtype=numpy.uint8)
        for part in (data, data[1:], data[3:(1 << 20) + 3]):
            self.assertEqual(crc.crc32c(part), crc.by_numpy(part))

    def test_a_flipped_bit_changes_it(self):
        data = numpy.zeros(1 << 20, dtype=numpy.uint8)
        before = crc.by_numpy(data)
        data[777_777] ^= 16
        self.assertNotEqual(crc.by_numpy(data), before)


if __name__ == "__main__":
    unittest.main()
