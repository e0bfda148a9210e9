"""Samples for CuPy and PyTorch, where these are installed; where they are not, an error that says so."""
import importlib.util
import unittest

import numpy

from tapedeck import arrays, errors
from tapedeck.datatypes import layout


def installed(module):
    return importlib.util.find_spec(module) is not None


def samples(datatype):
    """Eight bytes of each of some samples, not to be written to, as a view of a file is."""
    found = layout(datatype).of_bytes(numpy.arange(64, dtype=numpy.uint8))
    found.flags.writeable = False
    return found


class ArraysTest(unittest.TestCase):
    def test_numpy_has_them_as_they_are(self):
        given = samples("cf32_le")
        self.assertIs(arrays.convert(given, "numpy"), given)
        with self.assertRaises(ValueError):
            arrays.convert(given, "tensorflow")

    def test_what_is_not_installed_is_named(self):
        for module in ("cupy", "torch"):
            if not installed(module):
                with self.assertRaises(errors.DeviceUnusable) as caught:
                    arrays.convert(samples("cf32_le"), module)
                self.assertIn(module, str(caught.exception))

    @unittest.skipUnless(installed("torch"), "PyTorch is not installed")
    def test_torch_on_the_host(self):
        for datatype in ("cf32_le", "cf64_be", "ci16_be", "cu8", "ri32_le", "rf64_be"):
            given = samples(datatype)
            tensor = arrays.convert(given, "torch:cpu")
            self.assertEqual(tensor.tolist(), given.tolist(), datatype)
            self.assertEqual(numpy.from_dlpack(tensor).tolist(), given.tolist(), datatype)
            tensor[0] = 0  # its own memory: the view is of a file
        with self.assertRaises(errors.DatatypeInvalid):
            arrays.convert(samples("ru16_le"), "torch:cpu")

    @unittest.skipUnless(installed("torch"), "PyTorch is not installed")
    def test_torch_on_a_gpu(self):
        import torch
        if torch.cuda.is_available():
            tensor = arrays.convert(samples("cf32_le"), "torch")
            self.assertEqual(tensor.device.type, "cuda")
            self.assertEqual(tensor.cpu().tolist(), samples("cf32_le").tolist())
        else:
            with self.assertRaises(errors.DeviceUnusable):
                arrays.convert(samples("cf32_le"), "torch")

    @unittest.skipUnless(installed("cupy"), "CuPy is not installed")
    def test_cupy(self):
        import cupy
        if cupy.cuda.is_available():
            given = samples("ci16_be")
            self.assertEqual(arrays.convert(given, "cupy").get().tolist(), given.tolist())
        else:
            with self.assertRaises(errors.DeviceUnusable):
                arrays.convert(samples("cf32_le"), "cupy")


if __name__ == "__main__":
    unittest.main()
