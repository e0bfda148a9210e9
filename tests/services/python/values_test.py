"""What the package makes of names, datatypes, errors and of what nodes say."""
import pathlib
import re
import unittest

import numpy

from tapedeck import descriptors, errors, names, wire
from tapedeck.datatypes import layout, to_complex
from tapedeck.failures import of_status
from tapedeck.jobs import JobState, Note, settings_of, stage_of
from tapedeck.samples import Range, mark_lost
from tapedeck.values import Annotation, Capture, Channel, Lun, RecordingInfo

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMPONENTS = ("f32", "f64", "i32", "i16", "u32", "u16", "i8", "u8")
GOOD = {"name": "luns/l/channels/c/recordings/r", "uid": "u", "state": 2, "blocks": 3, "bytes": 2 * 65536 + 80,
        "block_bytes": 65536, "datatype": "cf32_le", "sample_rate": 1e6}
STREAM = {"block_bytes": 65536, "datatype": "cf32_le", "sample_rate": 1e6}


def recording(**fields):
    """As a node would send it."""
    return descriptors.message("Recording")(**{**GOOD, **fields})


class DatatypesTest(unittest.TestCase):
    def test_each_of_sigmf(self):
        for kind in "cr":
            for component in COMPONENTS:
                for order in ("",) if component[1:] == "8" else ("_le", "_be"):
                    found = layout(kind + component + order)
                    size = int(component[1:]) // 8 * (2 if kind == "c" else 1)
                    self.assertEqual(found.sample_bytes, size)
                    samples = found.of_bytes(numpy.zeros(10 * size, dtype=numpy.uint8))
                    self.assertEqual(len(samples), 10)

    def test_others_are_refused(self):
        for name in ("", "cf32", "ci8_le", "cf16_le", "xf32_le", "cf32_le ", "CF32_LE"):
            with self.assertRaises(errors.DatatypeInvalid):
                layout(name)

    def test_values_and_byte_order(self):
        big = layout("ci16_be").of_bytes(numpy.frombuffer(b"\x00\x01\xff\xff", dtype=numpy.uint8))
        self.assertEqual(big.tolist(), [[1, -1]])
        self.assertEqual(to_complex(big).tolist(), [1 - 1j])
        self.assertEqual(to_complex(big).dtype, numpy.complex64)
        little = layout("cf32_le").of_bytes(numpy.array([1 + 2j], dtype="<c8").view(numpy.uint8))
        self.assertEqual(to_complex(little).tolist(), [1 + 2j])
        with self.assertRaises(errors.DatatypeInvalid):
            to_complex(numpy.zeros(3))

    def test_full_scale_is_one(self):
        for name, given, expected in (("cu8", [[0, 128], [192, 64]], [-1, 0.5 - 0.5j]), ("ci16_be", [[-32768, 16384]], [-1 + 0.5j]),
                                      ("cu32_le", [[0, 1 << 31]], [-1]), ("cf32_le", [2 + 1j], [2 + 1j])):
            samples = numpy.array(given, dtype=layout(name).dtype)
            self.assertEqual(to_complex(samples, scaled=True).tolist(), expected, name)
            self.assertEqual(samples.tolist(), given, name)
        self.assertEqual(to_complex(numpy.array([[0, 128]], dtype=numpy.uint8)).tolist(), [128j])


class ErrorsTest(unittest.TestCase):
    def test_each_reason_of_the_protos_has_its_exception(self):
        reasons = set(descriptors.words_of("ErrorReason")) - {"UNSPECIFIED"}
        self.assertEqual(errors.reasons(), reasons)
        for reason in reasons:
            self.assertEqual(errors.of_reason(reason, "text").reason, reason)

    def test_a_status_becomes_the_exception_of_its_reason(self):
        info = descriptors.message("google.rpc.ErrorInfo")(reason="LUN_FULL", domain="tapedeck", metadata={"lun": "l0"})
        status = descriptors.message("google.rpc.Status")(code=8, message="full")
        status.details.add(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=info.SerializeToString())
        error = of_status(status)
        self.assertIsInstance(error, errors.LunFull)
        self.assertEqual((error.code, error.metadata, str(error)), ("RESOURCE_EXHAUSTED", {"lun": "l0"}, "full"))

    def test_a_newer_reason_is_an_error_with_its_name(self):
        error = errors.of_reason("OF_TOMORROW", "text")
        self.assertIs(type(error), errors.Error)
        self.assertEqual(error.reason, "OF_TOMORROW")


class NamesTest(unittest.TestCase):
    def test_short_and_full_forms(self):
        self.assertEqual(names.full("l0/c0", 2), "luns/l0/channels/c0")
        self.assertEqual(names.full("luns/l0/channels/c0", 2), "luns/l0/channels/c0")

    def test_others_are_refused(self):
        for name in ("", "l0", "l0/c0/r", "l0/", "../c0", "l0/c 0", "l0/-c", "l0/" + "x" * 64, "luns/l0/channel/c0"):
            with self.assertRaises(errors.NameInvalid):
                names.full(name, 2)


class AnsweredNamesTest(unittest.TestCase):
    def test_only_names_are_taken(self):
        message = descriptors.message
        makers = {"luns/l": lambda name: Lun.of(message("Lun")(name=name)),
                  "luns/l/channels/c": lambda name: Channel.of(message("Channel")(**{**STREAM, "name": name})),
                  "luns/l/channels/c/recordings/r": lambda name: RecordingInfo.of(recording(name=name)),
                  "jobs/7": lambda name: JobState.of(message("Job")(name=name))}
        for good, make in makers.items():
            self.assertEqual(make(good).name, good)
            for bad in ("", good + "\x1b[2J", good + "\x9b", good + "/", good + "/../x", good[:-1] + "..", "x" + good, good[:-2],
                        good + "\n", good + "x" * 64, good + "/recordings/r/recordings/r"):
                with self.assertRaises(errors.ProtocolViolation):
                    make(bad)

    def test_captures_too(self):
        for field in ({"recording": "\x1b[2J"}, {"recordings": ["luns/l"]}):
            with self.assertRaises(errors.ProtocolViolation):
                Capture.of(descriptors.message("Capture")(**field))


class SettingsTest(unittest.TestCase):
    def test_fields_by_their_names(self):
        fields = settings_of("StartRecordRequest", {"copies": 2, "resume_for_s": 1.5, "standbys": ["s1:1"], "device": None})
        request = descriptors.message("StartRecordRequest")(**fields)
        self.assertEqual((request.copies, request.resume_for.nanos, list(request.standbys)), (2, 500_000_000, ["s1:1"]))
        self.assertNotIn("device", fields)

    def test_all_of_a_channel(self):
        made = descriptors.message("Channel")(**{**STREAM, "name": "luns/l/channels/c", "move_to": "luns/deep"},
                                              **settings_of("Channel", {"move_after_s": 1.5, "transfer_op": "send"}))
        settings = Channel.of(made).settings
        self.assertEqual((settings["move_to"], settings["move_after_s"], settings["transfer_op"]), ("luns/deep", 1.5, "SEND"))
        self.assertLessEqual({field.name for field in made.DESCRIPTOR.fields} - {"create_time", "labels"},
                             {name.removesuffix("_s") for name in settings} | set(settings))
        again = descriptors.message("Channel")(**settings_of("Channel", settings))
        self.assertEqual(Channel.of(again).settings, settings)

    def test_none_need_be_given(self):
        lun = Lun("luns/l", "u", "posix", (), 0, 0, 0, "STOP", 0, 1, "READY", "", "", {})
        channel = Channel("luns/l/channels/c", 65536, "cf32_le", 1e6, "DURABLE", 0, "", {}, "", 0.0)
        self.assertEqual((lun.settings, channel.settings), ({}, {}))

    def test_words_of_enums(self):
        for word in ("WRITE", "write", "TRANSFER_OP_WRITE"):
            self.assertEqual(settings_of("Channel", {"transfer_op": word}), {"transfer_op": 2})
        for word in ("sned", "", "TRANSFER_OP_", "COMMIT_LEVEL_WRITTEN"):
            with self.assertRaises(errors.ArgumentInvalid):
                settings_of("Channel", {"transfer_op": word})

    def test_others_are_refused(self):
        for name in ("copys", "copies_t", "resume_s"):
            with self.assertRaises(TypeError):
                settings_of("StartRecordRequest", {name: 1})


class NotesTest(unittest.TestCase):
    def test_codes_and_facts(self):
        message = descriptors.message
        wire = message("Job")(name="jobs/7", notes=["it listens"], coded_notes=[
            message("Note")(code="INGEST_LISTENS", text="it listens", facts={"port": "5004"}),
            message("Note")(code="FROM_TOMORROW", text="who knows")])
        notes = JobState.of(wire).notes
        self.assertEqual(notes, (Note("INGEST_LISTENS", "it listens", {"port": "5004"}), Note("FROM_TOMORROW", "who knows", {})))
        self.assertEqual([str(note) for note in notes], ["it listens", "who knows"])
        self.assertIn(notes[0].code, descriptors.words_of("NoteCode"))

    def test_a_worker_without_codes(self):
        wire = descriptors.message("Job")(name="jobs/7", notes=["it listens"])
        self.assertEqual(JobState.of(wire).notes, (Note("", "it listens", {}),))


class RecordingTest(unittest.TestCase):
    def test_the_length_follows_from_the_bytes(self):
        self.assertEqual(RecordingInfo.of(recording()).samples, 2 * 8192 + 10)
        self.assertEqual(RecordingInfo.of(recording(bytes=3 * 65536)).samples, 3 * 8192)
        self.assertEqual(RecordingInfo.of(recording(bytes=2 * 65536, missing_blocks=1)).samples, 3 * 8192)
        self.assertEqual(RecordingInfo.of(recording(bytes=0, blocks=0)).samples, 0)

    def test_what_cannot_be_is_refused(self):
        for field, value in (("block_bytes", 0), ("block_bytes", 4097), ("block_bytes", 16 << 20), ("blocks", 1 << 50),
                             ("bytes", 1 << 63), ("missing_blocks", 4), ("sample_rate", float("inf")),
                             ("sample_rate", -1.0), ("datatype", "cf32")):
            with self.assertRaises(errors.ProtocolViolation, msg=field) as caught:
                RecordingInfo.of(recording(**{field: value}))
            self.assertEqual(caught.exception.metadata["field"], field)

    def test_ranges(self):
        info = RecordingInfo.of(recording())
        self.assertEqual(list(Range.of(info, 8191, 2).blocks), [0, 1])
        self.assertEqual(list(Range.of(info, 8192, None).blocks), [1, 2])
        self.assertEqual(list(Range.of(info, 5, 0).blocks), [])
        for start, count in ((-1, 1), (0, -1), (0, info.samples + 1), (info.samples + 1, 0)):
            with self.assertRaises(ValueError):
                Range.of(info, start, count)
        with self.assertRaises(errors.LimitReached):
            Range.of(info, 0, None).check_limit(1000)

    def test_arrays_to_put_samples_into(self):
        wanted = Range.of(RecordingInfo.of(recording()), 0, 100)
        out = numpy.zeros(100, wanted.layout.dtype)
        wanted.bytes_of(out)[:8] = 1
        self.assertTrue(out[0] != 0 and not out[1:].any())
        fixed = numpy.zeros(100, wanted.layout.dtype)
        fixed.flags.writeable = False
        for wrong in (out[:99], out.astype("c16"), numpy.zeros(200, wanted.layout.dtype)[::2], fixed, out.reshape(10, 10)):
            with self.assertRaises(errors.ArgumentInvalid):
                wanted.bytes_of(wrong)


class WireTest(unittest.TestCase):
    def test_it_speaks_the_version_of_this_tree(self):
        header = (ROOT / "services/base/version.h").read_text(encoding="utf-8")
        self.assertEqual(int(re.search(r"kProtocolVersion = (\d+)", header)[1]), wire.PROTOCOL)

    def test_what_is_damaged_is_refused(self):
        sound = wire.operation(wire.PING, 7)
        self.assertEqual((wire.decode(sound).kind, wire.decode(sound).number), (wire.PING, 7))
        for position in range(len(sound)):
            if 5 <= position < 8 or 12 <= position < 32:
                continue  # key, address and work count for nothing in a SEND
            damaged = bytearray(sound)
            damaged[position] ^= 1
            with self.assertRaises(errors.ProtocolViolation, msg=position):
                wire.decode(bytes(damaged))


class StageTest(unittest.TestCase):
    def test_as_tapectl_has_them(self):
        stage = stage_of("synth:seed=7,tones=0.1,-0.2")
        self.assertEqual((stage.name, stage.parameters["seed"].text, stage.parameters["tones"].text),
                         ("synth", "7", "0.1,-0.2"))
        self.assertEqual(stage_of("file:/a,b=c").parameters["path"].text, "/a,b=c")
        stage = stage_of(("fft", {"points": 64, "seed": 1 << 63, "on": True, "x": 0.5, "list": [1.0]}))
        self.assertEqual((stage.parameters["points"].integer, stage.parameters["seed"].unsigned_integer,
                          stage.parameters["on"].flag, stage.parameters["x"].number,
                          list(stage.parameters["list"].numbers.values)), (64, 1 << 63, True, 0.5, [1.0]))

    def test_others_are_refused(self):
        for text in ("", ":", "synth:", "synth:seed", "1x", "synth:a=1,a=2", "a b:c=d"):
            with self.assertRaises(errors.ArgumentInvalid, msg=text):
                stage_of(text)


class LostTest(unittest.TestCase):
    def test_lost_samples_are_masked_wherever_the_range_begins(self):
        notes = [Annotation(1000, 50, "lost", ""), Annotation(1060, 5, "burst", ""), Annotation(1070, 5, "lost", "", foreign=True),
                 Annotation(1090, 100, "lost", "3 samples in 2 places of this span")]
        mask = numpy.zeros(60, dtype=numpy.bool_)
        mark_lost(mask, notes, 1040)
        self.assertEqual(numpy.flatnonzero(mask).tolist(), [*range(10), *range(50, 60)])
        mask[:] = False
        mark_lost(mask, notes, 2000)
        self.assertFalse(mask.any())


if __name__ == "__main__":
    unittest.main()
