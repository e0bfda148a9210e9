#!/usr/bin/python3
"""The Python package against real nodes: python_client.py SCENARIO, with the nodes' addresses in the environment as tapectl
has them, and a folder of its own in WORK. Prints what it tried."""
import concurrent.futures
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy

import tapedeck
from tapedeck import errors
from tapedeck.datatypes import layout

WORK = pathlib.Path(os.environ["WORK"])
LONG = bool(os.environ.get("TAPEDECK_LONG"))
BLOCK = 64 << 10
SOON_S = 5.0 * float(os.environ.get("TAPEDECK_SLOWNESS", "1"))


def connect(**options):
    return tapedeck.connect(os.environ["TAPEDECK_STORAGE"], worker=os.environ.get("TAPEDECK_WORKER"), **options)


def make(deck, lun, members, **channel):
    """A LUN of so many directories with one channel; returns the channel and the directories."""
    paths = [str(WORK / f"{lun}-{number}") for number in range(members)]
    for path in paths:
        os.mkdir(path)
    deck.create_lun(lun, "posix", paths, capacity_bytes=2 << 30)
    deck.create_channel(f"{lun}/c", block_bytes=BLOCK, sample_rate=1e6, **channel)
    return f"{lun}/c", paths


def record_bytes(deck, channel, data):
    """A recording of these bytes."""
    path = WORK / "source"
    path.write_bytes(data)
    deck.record(channel, f"file:{path}").wait(60)
    return deck.recording(f"{channel}/latest")


def data_of(recording, members):
    """The file of a recording in a LUN of one directory."""
    return pathlib.Path(members[0], "c", recording.name.rsplit("/", 1)[1], "data")


def compare(recording, source, count, via, rng):
    """Random ranges of a recording beside the bytes that it was made of."""
    form = layout(recording.datatype)
    size = form.sample_bytes
    for _ in range(count):
        start = rng.randrange(len(recording) + 1)
        n = min(rng.choice((0, 1, 7, 1000, 8192, 20000)), len(recording) - start)
        samples = recording.samples(start, n, via=via)
        assert samples.dtype == form.dtype and len(samples) == n, (samples.dtype, len(samples))
        assert samples.tobytes() == source[start * size:(start + n) * size], f"{recording}: {start}, {n} by {via}"


def ranges():
    rng = random.Random(1)
    by_file, by_rail = 2500, 2500 if LONG else 30
    with connect() as deck:
        for number, datatype in enumerate(("cf32_le", "ci16_be", "cu8", "rf64_le")):
            source = rng.randbytes(40 * BLOCK + 640)
            channel, _ = make(deck, f"r{number}", 1, datatype=datatype)
            recording = record_bytes(deck, channel, source)
            assert len(recording) * layout(datatype).sample_bytes == len(source), len(recording)
            assert isinstance(recording.samples(5, 5), numpy.memmap), "the file is not mapped"
            compare(recording, source, by_file, "file", rng)
            compare(recording, source, by_rail, "rail", rng)
            assert recording.samples(via="rail").tobytes() == source
        channel, _ = make(deck, "striped", 2, datatype="ci16_le")
        source = rng.randbytes(33 * BLOCK + 64)
        recording = record_bytes(deck, channel, source)
        compare(recording, source, by_rail, "auto", rng)
        try:
            recording.samples(0, 1, via="file")
            raise AssertionError("two members are no file")
        except errors.FileInvalid:
            pass
        assert_spares_are_not_mapped(deck, rng.randbytes(2 * BLOCK))
    print(f"{4 * by_file} ranges by file and {5 * by_rail} by rail equal the source")


def assert_spares_are_not_mapped(deck, source):
    """In a LUN that keeps spare files a deleted recording's file becomes another's: only who asks for it gets a view of it."""
    member = WORK / "spares"
    member.mkdir()
    deck.create_lun("spares", "posix", [str(member)], capacity_bytes=1 << 30, prewrite_files=1, prewrite_bytes=16 * BLOCK)
    deck.create_channel("spares/c", block_bytes=BLOCK)
    recording = record_bytes(deck, "spares/c", source)
    for via, mapped in (("auto", False), ("file", True)):
        samples = recording.samples(via=via)
        assert isinstance(samples, numpy.memmap) == mapped and samples.tobytes() == source, via


def times():
    with connect() as deck:
        channel, _ = make(deck, "times", 1)
        deck.record(channel, "synth", blocks=20).wait(30)
        recording = deck.recording(f"{channel}/latest")
        for via in ("file", "rail"):
            blocks = list(recording.blocks(via=via))
            assert [block.number for block in blocks] == list(range(20))
            assert recording.time_of(0) == blocks[0].stamp, via
            for block in blocks[::7]:
                assert recording.time_of(block.start) - recording.time_of(0) == numpy.timedelta64(block.start * 1000, "ns")
                assert recording.time_of(block.start + 5) - recording.time_of(block.start) == numpy.timedelta64(5000, "ns")
        recording.annotate(100, 10, label="here")
        assert [(note.sample_start, note.label) for note in recording.annotations] == [(100, "here")]
        for outside in (-1, len(recording)):
            try:
                recording.annotate(outside, label="outside")
                raise AssertionError(f"sample {outside} is marked")
            except errors.ArgumentInvalid:
                pass
        recording.annotate(20_000, 300, label="lost")
        for via in ("file", "rail"):
            _, mask = recording.samples_with_gaps(19_990, 400, via=via)
            assert numpy.array_equal(numpy.flatnonzero(mask), numpy.arange(10, 310)), via
        assert recording.time_of(0) == numpy.datetime64(recording.info.start_time_ns, "ns")
    print("times of samples count from the start")


def follow():
    found = {"whole": [], "newest": []}
    with connect() as deck:
        channel, members = make(deck, "live", 1)
        job = deck.record(channel, "synth", blocks=20_000 if LONG else 1000, slots=16)
        while not job.refresh().recording or job.state.blocks < 10:
            time.sleep(0.01)
        recording = deck.recording(job.state.recording)
        assert recording.info.state == "RECORDING", recording
        live = recording.samples(0, 5000)

        def run(name, first):
            found[name] = [(block.number, block.missing, block.samples.tobytes()) for block in recording.follow(first)]

        threads = [threading.Thread(target=run, args=one) for one in (("whole", 0), ("newest", 1 << 40))]
        for thread in threads:
            thread.start()
        total = job.wait(120).blocks
        for thread in threads:
            thread.join(30)
        recording.refresh()
        assert recording.info.state == "SEALED", recording
        content = data_of(recording, members).read_bytes()
    numbers = [number for number, _, _ in found["whole"]]
    assert numbers == list(range(total)), f"{len(numbers)} of {total} blocks, each once?"
    assert b"".join(payload for _, _, payload in found["whole"]) == content
    assert live.tobytes() == content[:live.nbytes]
    newest = [number for number, _, _ in found["newest"]]
    assert newest == list(range(total - len(newest), total)), "blocks are missing or came twice"
    print(f"{total} blocks followed once each, {len(newest)} of them from the newest on")


def stop():
    """A live source ends well when it is told to."""
    with connect() as deck:
        channel, _ = make(deck, "stop", 1)
        job = deck.record(channel, "synth", duration_s=600)
        while job.refresh().blocks < 20:
            time.sleep(0.01)
        assert job.state.total_blocks is None and 0 <= job.state.progress < 0.5, job.state
        job.stop()
        ended = job.wait(30)
        assert ended.state == "SUCCEEDED" and ended.progress < 0.5 and ended.total_blocks is None, ended
        assert deck.play(ended.recording, "verify").wait(60).blocks == ended.blocks
    print("a live source was stopped, and the job has succeeded")


def most_memory():
    """Of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def memory():
    """Iterating takes some blocks, however long the recording is and however slow the reader."""
    with connect() as deck:
        deck.create_lun("memory", "memory", capacity_bytes=130 << 20)
        deck.create_channel("memory/c", block_bytes=1 << 20)
        deck.record("memory/c", "synth", blocks=128).wait(30)
        recording = deck.recording("memory/c/latest")
        before = most_memory()
        pause_s = 7.0 if LONG else 0.2
        for block in recording.blocks(via="rail"):
            if block.number == 64:
                time.sleep(pause_s)
        taken = most_memory() - before
        assert taken < 32 << 20, f"{taken >> 20} MiB for blocks of 1 MiB"
    print(f"{taken >> 20} MiB taken for {recording.info.bytes >> 20} MiB, with a pause of {pause_s} s")


def damage():
    with connect() as deck:
        channel, members = make(deck, "damage", 1)
        source = random.Random(2).randbytes(20 * BLOCK)
        recording = record_bytes(deck, channel, source)
        path = data_of(recording, members)
        with open(path, "r+b") as file:
            file.seek(7 * BLOCK + 50_000)
            byte = file.read(1)[0]
            file.seek(7 * BLOCK + 50_000)
            file.write(bytes([byte ^ 4]))
        spoiled = numpy.arange(7 * 8192, 8 * 8192)
        for via in ("file", "rail"):
            recording = deck.recording(recording.name)
            try:
                recording.samples(0, 10 * 8192, via=via)
                raise AssertionError(f"damage was given as good by {via}")
            except errors.BlockDamaged as error:
                assert error.reason == "BLOCK_DAMAGED" and error.metadata["first_block"] == "7", error.metadata
            samples, mask = recording.samples_with_gaps(via=via)
            assert numpy.array_equal(numpy.flatnonzero(mask), spoiled), via
            assert samples.tobytes() == source[:7 * BLOCK] + bytes(BLOCK) + source[8 * BLOCK:], via
            assert [block.number for block in recording.blocks(via=via) if block.missing] == [7], via
        # What lies in another piece of the block is sound, and its own CRC says so.
        assert recording.samples(7 * 8192, 100, via="file").tobytes() == source[7 * BLOCK:7 * BLOCK + 800]
        target = WORK / "gaps"
        try:
            recording.to_sigmf(target)
            raise AssertionError("a gap was exported without a word")
        except errors.BlockDamaged:
            assert not list(WORK.glob("gaps*")), "a part was left"
        recording.to_sigmf(target, gaps=True)
        assert target.with_suffix(".sigmf-data").read_bytes() == samples.tobytes()
        assert '"missing"' in target.with_suffix(".sigmf-meta").read_text(encoding="utf-8")
    print("a flipped bit is found by file and by rail, and the rest read")


def fails_soon(what, call):
    """An exception that says that the node is gone, within 5 s."""
    begun_s = time.monotonic()
    try:
        call()
    except (errors.NodeUnreachable, errors.PeerLost, errors.AllRailsDown, errors.SessionStalled) as error:
        took_s = time.monotonic() - begun_s
        assert took_s < SOON_S, f"{what} took {took_s:.1f} s to fail with {error}"
        assert error.reason and os.environ["TAPEDECK_STORAGE"].rsplit(":", 1)[0] in str(error), error
        print(f"{what}: {error.reason} after {took_s * 1000:.0f} ms")
        return
    raise AssertionError(f"{what} did not fail")


def dies(how):
    """The storage node is killed, or stopped, under a follower; then all else is asked."""
    pid = int(os.environ["STORAGE_PID"])
    with connect() as deck:
        channel, _ = make(deck, f"dies-{int(how)}", 1)
        job = deck.record(channel, "synth", duration_s=60, resume_for_s=0)
        while not job.refresh().recording or job.state.blocks < 20:
            time.sleep(0.01)
        recording = deck.recording(job.state.recording)
        blocks = recording.follow(1 << 40)
        next(blocks)
        os.kill(pid, how)
        asked = {"a follower": lambda: list(blocks), "samples": lambda: recording.samples(0, 10), "a list": deck.luns}
        with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
            for answer in [pool.submit(fails_soon, *one) for one in asked.items()]:
                answer.result()
        if how == signal.SIGSTOP:
            os.kill(pid, signal.SIGCONT)
            job.cancel()


def moved():
    """A recording that was moved is the one under its old name."""
    deck = connect()
    source = random.Random(5).randbytes(40 * BLOCK + 800)
    places = [make(deck, f"mv{number}", 1)[0] for number in range(3)]
    one = record_bytes(deck, places[0], source)
    first = one.name
    for place in places[1:]:
        old = one.name
        subprocess.run([os.path.join(os.environ["TAPEDECK_BIN"], "tapectl"), "recordings", "move", old, "--to", place],
                       check=True, stdout=subprocess.DEVNULL)
        found = deck.recording(old)
        assert found.name.startswith(f"luns/{place.split('/')[0]}/"), found.name
        for via in ("file", "rail"):
            compare(found, source, 20, via, random.Random(6))
        assert one.refresh().name == found.name, one.name
        for via in ("file", "rail"):
            compare(one, source, 5, via, random.Random(7))
        assert deck.play(old, "null").wait(60).blocks == 41
        assert deck.recording(first).name == found.name, first
    deck.delete_recording(one)
    for name in (old, f"{places[0]}/none"):
        try:
            deck.recording(name)
            raise AssertionError(f"{name} is there")
        except errors.RecordingNotFound:
            pass
    print("a recording that was moved, twice, is read and played under the name that it had before")


def tls():
    found = tapedeck.Tls.from_environment()
    assert found is not None
    with connect(tls=found) as deck:
        recording = deck.recording("l0/ann/latest")
        assert recording.samples(0, 8192 * 3, via="rail").shape == (8192 * 3,)
        assert deck.node().role == "STORAGE"
    with connect() as deck:
        fails_soon("plain text", deck.luns)
    print("read over TLS")


SCENARIOS = {"ranges": ranges, "times": times, "follow": follow, "stop": stop, "memory": memory, "moved": moved, "damage": damage,
             "tls": tls,
             "killed": lambda: dies(signal.SIGKILL), "stopped": lambda: dies(signal.SIGSTOP)}

if __name__ == "__main__":
    for scenario in sys.argv[1:]:
        SCENARIOS[scenario]()
