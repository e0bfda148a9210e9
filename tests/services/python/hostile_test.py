"""A storage node that lies, breaks off, or falls silent: each time an exception with its name, in time."""
import concurrent.futures
import socket
import time
import unittest

import numpy

import tapedeck
from hostile_node import HostileNode, block
from tapedeck import descriptors, errors, wire

PAYLOAD = bytes(range(256)) * 256
SOON_S = 5.5  # 5 s, and what a busy machine adds


def told(operation):
    """(type, sequence) of a frame that we sent."""
    fields = wire.FRAME.unpack_from(operation, 32)
    return fields[2], fields[5]


class HostileTest(unittest.TestCase):
    def fails(self, expected, **node):
        """Reading four blocks of that node does so, and soon."""
        with HostileNode(**node) as hostile, tapedeck.connect(hostile.address) as deck:
            begun_s = time.monotonic()
            with self.assertRaises(expected) as caught:
                deck.recording("l/c/r").samples(via="rail")
            self.assertLess(time.monotonic() - begun_s, SOON_S)
            return caught.exception

    def test_an_honest_one_is_read(self):
        def rail(peer):
            for number in range(2):
                peer.sendall(block(number, number, PAYLOAD))

        with HostileNode(rail=rail) as node, tapedeck.connect(node.address) as deck:
            samples = deck.recording("l/c/r").samples(8000, 1000, via="rail")
        self.assertEqual(samples.tobytes(), (4 * PAYLOAD)[64000:72000])

    def test_it_is_read_into_an_array(self):
        def rail(peer):
            for number in range(2):
                peer.sendall(block(number, number, PAYLOAD))

        out = numpy.zeros(1000, numpy.complex64)
        with HostileNode(rail=rail) as node, tapedeck.connect(node.address) as deck:
            deck.recording("l/c/r").samples(8000, 1000, via="rail", out=out)
        self.assertEqual(out.tobytes(), (4 * PAYLOAD)[64000:72000])

    def test_one_that_has_moved_is_followed(self):
        at = "luns/l/channels/c/recordings/{}".format
        with HostileNode(moved={at("a"): at("b"), at("b"): at("r")}) as node, tapedeck.connect(node.address) as deck:
            self.assertEqual(deck.recording("l/c/a").name, at("r"))
            self.assertEqual(node.asked, [at("a"), at("b"), at("r")])

    def test_what_has_moved_is_not_deleted_by_its_old_name(self):
        at = "luns/l/channels/c/recordings/{}".format
        with HostileNode(moved={at("a"): at("r")}) as node, tapedeck.connect(node.address) as deck:
            with self.assertRaises(errors.RecordingNotFound):
                deck.delete_recording("l/c/a")

    def test_moves_in_a_circle_and_to_nowhere(self):
        at = "luns/l/channels/c/recordings/{}".format
        for moved in ({at("a"): at("b"), at("b"): at("a")}, {at("a"): at("a")}, {at("a"): "l/../x"}, {at("a"): ""},
                      {at("a"): "luns/l/channels/c"}, {at("a"): "x" * 4000}):
            with HostileNode(moved=moved) as node, tapedeck.connect(node.address) as deck:
                with self.assertRaises(errors.RecordingNotFound):
                    deck.recording("l/c/a")
                self.assertLessEqual(len(node.asked), 9)

    def test_a_recording_that_cannot_be(self):
        self.fails(errors.ProtocolViolation, recording={"block_bytes": 1 << 40})
        self.fails(errors.ProtocolViolation, recording={"blocks": 1 << 60})

    def test_one_beyond_any_memory(self):
        self.fails(errors.LimitReached, recording={"blocks": 1 << 40, "bytes": 1 << 56})

    def test_an_accept_of_something_else(self):
        for field, value in (("block_bytes", 131072), ("datatype", "cu8"), ("transfer_op", 1), ("first_block", 1)):
            error = self.fails(errors.ProtocolViolation, accept={field: value}.items())
            self.assertEqual(error.metadata["field"], field)

    def test_no_rail_that_we_could_use(self):
        verbs = descriptors.message("Rail")(name="r0", transport="verbs", address="10.0.0.1")
        self.fails(errors.RailUnknown, accept={"rails": [verbs]}.items())
        self.fails(errors.RailUnreachable, offer={"port": 1}.items())
        self.fails(errors.ProtocolViolation, offer={"token": b"short"}.items())

    def test_another_version(self):
        error = self.fails(errors.VersionMismatch, protocol=99)
        self.assertEqual(error.metadata["theirs"], "99")

    def test_silence(self):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for done in (pool.submit(self.fails, errors.SessionStalled, accept=None),
                         pool.submit(self.fails, errors.AllRailsDown, rail=lambda peer: time.sleep(6)),
                         pool.submit(self.fails, errors.AllRailsDown, rail=lambda peer: peer.close())):
                done.result()

    def test_what_is_no_operation(self):
        self.fails(errors.ProtocolViolation, rail=lambda peer: peer.sendall(b"x" * 4096))

    def test_payloads_that_nobody_has_room_for(self):
        for size in (65537, 1 << 31):
            self.fails(errors.ProtocolViolation, rail=lambda peer, size=size: peer.sendall(block(0, 0, PAYLOAD, size=size)))
        self.fails(errors.ProtocolViolation, rail=lambda peer: peer.sendall(block(0, 1 << 40, PAYLOAD)))

    def test_payloads_without_a_grant(self):
        def rail(peer):
            for number in range(5):
                peer.sendall(block(number, min(number + 1, 3), PAYLOAD))  # the first never comes

        self.assertIn("grant", str(self.fails(errors.ProtocolViolation, rail=rail)))

    def test_a_block_that_is_damaged_on_the_way_is_asked_for_again(self):
        heard = []

        def rail(peer):
            peer.sendall(block(0, 0, PAYLOAD, crc=1))
            while True:
                frame = told(peer.recv(wire.PREAMBLE_BYTES, socket.MSG_WAITALL))
                heard.append(frame)
                if frame == (wire.RESEND, 0):
                    break
            for number in range(4):
                peer.sendall(block(number + 1, number, PAYLOAD))

        with HostileNode(rail=rail) as node, tapedeck.connect(node.address) as deck:
            samples = deck.recording("l/c/r").samples(via="rail")
        self.assertEqual(samples.tobytes(), 4 * PAYLOAD)
        self.assertIn((wire.RESEND, 0), heard)

    def test_a_block_that_always_comes_damaged(self):
        def rail(peer):
            for number in range(20):
                peer.sendall(block(number, 0, PAYLOAD, crc=1))
                while told(peer.recv(wire.PREAMBLE_BYTES, socket.MSG_WAITALL)) != (wire.RESEND, 0):
                    pass

        self.assertIn("4 times", str(self.fails(errors.BlockDamaged, rail=rail)))

    def test_missing_blocks(self):
        def rail(peer):
            for number in range(4):
                peer.sendall(block(number, number, b"" if number == 2 else PAYLOAD, flags=number == 2))

        with HostileNode(rail=rail) as node, tapedeck.connect(node.address) as deck:
            samples, mask = deck.recording("l/c/r").samples_with_gaps(via="rail")
        self.assertEqual(numpy.flatnonzero(mask).tolist(), list(range(2 * 8192, 3 * 8192)))
        self.assertEqual(samples.tobytes(), 2 * PAYLOAD + bytes(65536) + PAYLOAD)
        error = self.fails(errors.BlockDamaged, rail=rail)
        self.assertEqual(error.metadata["first_block"], "2")

    def test_blocks_that_are_said_to_be_damaged(self):
        def rail(peer):
            for number in range(4):
                peer.sendall(block(number, number, PAYLOAD, flags=wire.DAMAGED if number == 1 else 0))

        self.assertEqual(self.fails(errors.BlockDamaged, rail=rail).metadata["first_block"], "1")


if __name__ == "__main__":
    unittest.main()
