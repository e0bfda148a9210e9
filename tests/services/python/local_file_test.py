"""The files of a recording, read in place: as the format says they are, and as nobody should believe them."""
import json
import os
import pathlib
import struct
import tempfile
import unittest

import numpy

from tapedeck import descriptors, errors, local_file
from tapedeck.crc import crc32c
from tapedeck.samples import Range, from_file, refuse, without
from tapedeck.values import Lun, RecordingInfo

UID = "0f1e2d3c-4b5a-4968-8776-a5b4c3d2e1f0"
EPOCH, BLOCK, PIECE, ENTRY = 0x01020304, 65536, 4096, 128
BLOCKS, MISSING = 5, 3
# From storage_node/format/README.md: an entry at byte 12672 of copy 0.
EXAMPLE = bytes.fromhex("54444945" "0100" "0000" "0300000000000000" "0000060000000000" "00a00e5ae6e5e918" "09000000"
                        "00000000" "d1b356b1" "839206e3" "04030201" "839206e3") + bytes(68) + bytes.fromhex("50d67c77")


def sealed(record, position):
    """With the CRC of copy 0 at its end."""
    return record + struct.pack("<I", crc32c(struct.pack("<QI", position, 0) + record))


def entry(sequence, payload, epoch=EPOCH, flags=0):
    pieces = [crc32c(payload[at:at + PIECE]) for at in range(0, len(payload), PIECE)]
    record = struct.pack("<4sHHQQqIIIII", b"TDIE", 1, 0, sequence, sequence * 8192, 1000 + sequence, len(payload), flags, 0, 0,
                         epoch) + struct.pack(f"<{len(pieces)}I", *pieces)
    return sealed(record.ljust(ENTRY - 4, b"\0"), 12288 + sequence * ENTRY)


class LocalFileTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.member = pathlib.Path(place.name)
        self.folder = self.member / "c" / "r"
        self.folder.mkdir(parents=True)
        self.payload = numpy.random.default_rng(3).integers(0, 256, BLOCKS * BLOCK, dtype=numpy.uint8).tobytes()
        self.index = [sealed(struct.pack("<4sHH16s16sIIII", b"TDIX", 1, ENTRY, bytes(16), bytes.fromhex(UID.replace("-", "")),
                                         BLOCK, EPOCH, 1, PIECE).ljust(4092, b"\0"), 0) + bytes(8192)]
        self.index += [entry(number, b"" if number == MISSING else self.block(number), flags=number == MISSING)
                       for number in range(BLOCKS)]
        self.manifest = {"version": 3, "uid": UID, "members": 1, "block_bytes": BLOCK, "datatype": "cf32_le",
                         "blocks": BLOCKS, "bytes": (BLOCKS - 1) * BLOCK, "missing": [[MISSING, 1]]}
        self.data = self.payload

    def block(self, number):
        return self.payload[number * BLOCK:(number + 1) * BLOCK]

    def open(self):
        (self.folder / "data").write_bytes(self.data)
        (self.folder / "index").write_bytes(b"".join(self.index))
        (self.folder / "manifest.json").write_text(self.manifest if isinstance(self.manifest, str) else json.dumps(self.manifest))
        recording = descriptors.message("Recording")(
            name="luns/l/channels/c/recordings/r", uid=UID, state=2, blocks=BLOCKS, bytes=(BLOCKS - 1) * BLOCK,
            missing_blocks=1, block_bytes=BLOCK, datatype="cf32_le", sample_rate=1e6)
        self.info = RecordingInfo.of(recording)
        lun = Lun.of(descriptors.message("Lun")(name="luns/l", store="posix", members=[str(self.member)]))
        return local_file.LocalFile(self.info, lun)

    def bad(self, start=0, count=None, check=True):
        """Which blocks of that range are not to be believed."""
        file = self.open()
        return from_file(file, Range.of(self.info, start, count), check)[1]

    def test_the_worked_example_of_the_format(self):
        self.assertTrue(local_file._record_is_sound(EXAMPLE, b"TDIE", 12672))
        self.assertFalse(local_file._record_is_sound(EXAMPLE, b"TDIE", 12800))

    def test_what_is_there_is_given(self):
        file = self.open()
        wanted = Range.of(self.info, 100, 8192)
        data, bad = from_file(file, wanted, True)
        self.assertEqual((data.tobytes(), bad), (self.payload[800:800 + BLOCK], []))
        found = [one for _, one in file.entries(0, BLOCKS)]
        self.assertEqual([one and (one.sample_index, one.capture_ns) for one in found],
                         [(0, 1000), (8192, 1001), (16384, 1002), None, (32768, 1004)])

    def test_missing_blocks_with_and_without_a_look_at_the_index(self):
        for check in (True, False):
            self.assertEqual(self.bad(check=check), [MISSING])
            self.assertEqual(self.bad(0, 3 * 8192, check=check), [])
        file = self.open()
        wanted = Range.of(self.info, 3 * 8192 - 10, 20)
        data, bad = from_file(file, wanted, True)
        with self.assertRaises(errors.BlockDamaged):
            refuse(wanted, bad)
        data, mask = without(data, wanted, bad)
        self.assertEqual(mask.tolist(), [False] * 10 + [True] * 10)
        self.assertEqual(data.tobytes(), self.payload[3 * BLOCK - 80:3 * BLOCK] + bytes(80))

    def test_damage_is_found_in_the_piece_that_has_it(self):
        self.data = bytearray(self.payload)
        self.data[BLOCK + 5000] ^= 1
        self.assertEqual(self.bad(), [1, MISSING])
        self.assertEqual(self.bad(8192, 512), [])
        self.assertEqual(self.bad(8192 + 512, 1), [1])
        self.assertEqual(self.bad(check=False), [MISSING])

    def test_entries_that_are_not_this_block_s(self):
        self.index[1] = entry(0, self.block(0), epoch=7)  # of an earlier recording
        self.index[2], self.index[3] = self.index[3], self.index[2]
        self.index[5] = self.index[5][:40] + b"\xff" + self.index[5][41:]
        self.assertEqual(self.bad(), [0, 1, 2, MISSING, 4])
        del self.index[3:]
        self.assertEqual(self.bad(), [0, 1, 2, MISSING, 4])

    def test_payload_beyond_the_block(self):
        record = bytearray(self.index[1][:-4])
        record[32:36] = struct.pack("<I", 1 << 31)
        self.index[1] = sealed(bytes(record), 12288)
        self.assertEqual(self.bad(), [0, MISSING])

    def test_what_is_not_this_recording_is_left_alone(self):
        sound = dict(self.manifest)
        for change in ({"uid": "other"}, {"members": 2}, {"version": 2}, {"block_bytes": 4096}, {"blocks": 4}, {"bytes": 0},
                       {"missing": [[-1, 5]]}, {"missing": [[1]]}, {"missing": None}):
            self.manifest = {**sound, **change}
            with self.assertRaises(errors.FileInvalid, msg=change):
                self.open()
        for text in ("", "[]", "{}", "[" * 100_000, "nonsense"):
            self.manifest = text
            with self.assertRaises(errors.FileInvalid):
                self.open()

    def test_an_index_of_something_else(self):
        head = self.index[0]
        for at, value in ((0, b"none"), (24, b"\0\0\0\0"), (40, struct.pack("<I", 4096)), (52, struct.pack("<I", 1)),
                          (6, struct.pack("<H", 64)), (52, struct.pack("<I", 0))):
            changed = head[:at] + value + head[at + len(value):4092]
            self.index[0] = sealed(changed, 0) + bytes(8192)
            with self.assertRaises(errors.FileInvalid, msg=at):
                self.open()

    def test_files_that_are_none(self):
        self.open()
        with self.assertRaises(errors.FileInvalid):
            self.data = self.payload[:-1]
            self.open()
        self.data = self.payload
        for name in ("data", "index", "manifest.json"):
            self.open()
            path = self.folder / name
            content = path.read_bytes()
            for spoil in (lambda p: None, lambda p: p.symlink_to(self.member / "elsewhere"), os.mkfifo, lambda p: p.mkdir()):
                path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
                (self.member / "elsewhere").write_bytes(content)
                spoil(path)
                lun = Lun.of(descriptors.message("Lun")(name="luns/l", store="posix", members=[str(self.member)]))
                with self.assertRaises((errors.FileNotFound, errors.FileInvalid), msg=name):
                    local_file.LocalFile(self.info, lun)
            path.rmdir()


if __name__ == "__main__":
    unittest.main()
