#!/usr/bin/python3
"""Asks all that tells a sample's time: sample_times.py WORK < {"what": {"name": ..., "start": ...}, ...}. Start is the ns
that the recording must have, where the test knows it; `unknown` says that nobody knows it. Compares samples 0, n/2 and
n-1 of each, to the resolution of the teller: 1 ns, of WAV 1 ms, of the table of a list 1 s."""
import ctypes
import ctypes.util
import datetime
import fractions
import glob
import json
import os
import pathlib
import struct
import subprocess
import sys
import tarfile
import urllib.request

import numpy

import tapedeck

WORK = pathlib.Path(sys.argv[1])
SECOND = 10**9


def tapectl(*arguments, output="json"):
    return subprocess.run([f"{os.environ['TAPEDECK_BIN']}/tapectl", "--output", output, *arguments], check=True, text=True,
                          capture_output=True).stdout


def ns_of(text):
    """Of RFC 3339 in UTC, with any number of digits; None: it is absent."""
    if text is None:
        return None
    whole, _, fraction = text.removesuffix("Z").partition(".")
    seconds = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc).timestamp()
    return int(seconds) * SECOND + int(fraction.ljust(9, "0") or 0)


def later(start, sample, rate):
    return None if start is None else start + round(fractions.Fraction(sample * SECOND) / fractions.Fraction(rate))


def console(method, request):
    url = f"{os.environ['CONSOLE']}/api/tapedeck.v1.{method}"
    asked = urllib.request.Request(url, json.dumps(request).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=20) as answer:
        return json.load(answer)


def export(name, form, *options):
    path = WORK / f"export-{len(glob.glob(f'{WORK}/export-*'))}.{form}"
    tapectl("recordings", "export", name, "--format", form, "--to", str(path), *options)
    return path


def of_sigmf(path):
    with tarfile.open(path) as archive:
        meta = next(one for one in archive.getmembers() if one.name.endswith(".sigmf-meta"))
        captures = json.load(archive.extractfile(meta))["captures"]
    assert captures[0]["core:sample_start"] == 0, captures
    return ns_of(captures[0].get("core:datetime"))


def of_wav(path):
    data = path.read_bytes()
    at = data.index(b"auxi") + 8
    year, month, _, day, hour, minute, second, millisecond = struct.unpack_from("<8H", data, at)
    if year == 0:
        return None
    when = datetime.datetime(year, month, day, hour, minute, second, tzinfo=datetime.timezone.utc)
    return int(when.timestamp()) * SECOND + millisecond * 10**6


def of_hdf5(path):
    found = glob.glob("/usr/lib/*/libhdf5_serial.so.[0-9]*") + [ctypes.util.find_library("hdf5") or ""]
    library = ctypes.CDLL(found[0])
    library.H5open()
    for function in ("H5Fopen", "H5Dopen2", "H5Aopen"):
        getattr(library, function).restype = ctypes.c_int64
    handle, value = ctypes.c_int64, ctypes.c_int64()
    file = library.H5Fopen(str(path).encode(), 0, handle(0))
    samples = library.H5Dopen2(handle(file), b"samples", handle(0))
    has = library.H5Aexists(handle(samples), b"start_time_ns")
    if has > 0:
        attribute = library.H5Aopen(handle(samples), b"start_time_ns", handle(0))
        kind = ctypes.c_int64.in_dll(library, "H5T_NATIVE_INT64_g")
        assert library.H5Aread(handle(attribute), kind, ctypes.byref(value)) >= 0
        library.H5Aclose(handle(attribute))
    library.H5Dclose(handle(samples))
    library.H5Fclose(handle(file))
    return value.value if has > 0 else None


def of_vita49(path, samples, sample_bytes, rate):
    """Of each of the samples, by the packet that has it, in UDP over IPv4."""
    data, at, count, found = path.read_bytes(), 24, 0, {}
    while at < len(data):
        packet = data[at + 16 + 28:at + 16 + struct.unpack_from("<I", data, at + 8)[0]]
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        head, = struct.unpack_from(">I", packet)
        if head >> 28 not in (0, 1):
            continue
        seconds_kind, fraction_kind = head >> 22 & 3, head >> 20 & 3
        place = 4 * (2 + 2 * (head >> 27 & 1))
        if seconds_kind:
            seconds, picoseconds = struct.unpack_from(">IQ", packet, place)
        begin = place + (4 if seconds_kind else 0) + (8 if fraction_kind else 0)
        here = (len(packet) - begin) // sample_bytes
        for sample in samples:
            if count <= sample < count + here:
                base = seconds * SECOND + fractions.Fraction(picoseconds, 1000) if seconds_kind else None
                found[sample] = None if base is None else round(
                    base + fractions.Fraction((sample - count) * SECOND) / fractions.Fraction(rate))
        count += here
    return [found[sample] for sample in samples]


def tellers(name, deck):
    """Each is a word, the ns to which it tells, and its times of the three samples."""
    recording = deck.recording(name)
    info, n, rate = recording.info, len(recording), recording.sample_rate
    wanted = (0, n // 2, n - 1)
    shown = json.loads(tapectl("recordings", "show", name))
    listed = [one for one in json.loads(tapectl("recordings", "list", "--segments"))["recordings"] if one["name"] == info.name]
    sample_bytes = info.block_bytes // info.block_samples

    def by_start(start):
        return [later(start, sample, rate) for sample in wanted]

    yield "show", 1, by_start(ns_of(shown["start_time"]))
    yield "list", 1, by_start(ns_of(listed[0]["start_time"]))
    short = "/".join(info.name.split("/")[1::2])
    row = next(line for line in tapectl("recordings", "list", "--segments", output="table").splitlines() if line.startswith(f"{short} "))
    words = [word for word in row.split() if word.endswith("Z") and word.count(":") == 2 or word == "unknown"]
    yield "the table", SECOND, by_start(None if words[0] == "unknown" else ns_of(words[0]))
    yield "Python", 1, [None if numpy.isnat(recording.time_of(i)) else int(recording.time_of(i).astype(int)) for i in wanted]
    yield "console", 1, by_start(ns_of(console("CatalogService/GetRecording", {"name": info.name}).get("start_time")))
    timeline = console("ViewService/GetTimeline", {"recording": info.name})
    yield "timeline", 1, by_start(ns_of(timeline.get("start_time")))
    yield "captures", 1, by_start(ns_of(timeline["captures"][0].get("time")))
    for form, grain, read in (("sigmf", 1, of_sigmf), ("wav", 10**6, of_wav), ("hdf5", 1, of_hdf5)):
        yield form, grain, by_start(read(export(name, form)))
        yield f"{form} from n/2", grain, [None, read(export(name, form, "--from-sample", str(wanted[1]))), None]
    yield "vita49", 1, of_vita49(export(name, "vita49-pcap"), wanted, sample_bytes, rate)


def begins_at(name, deck, sample):
    """--from-time finds the block that has it."""
    recording = deck.recording(name)
    time = f"{numpy.datetime_as_string(recording.time_of(sample))}Z"
    path = WORK / "from-time.bin"
    tapectl("play", name, "--from-time", time, "--sink", f"file:{path}", "--replace")
    block = sample // recording.info.block_samples
    assert path.stat().st_size == recording.info.bytes - block * recording.info.block_bytes, (name, time, path.stat())


def check(what, said, deck):
    name = said["name"]
    start = int(said["start"]) if "start" in said else None
    recording = deck.recording(name)
    n, rate = len(recording), recording.sample_rate
    stamp = next(iter(recording.blocks())).stamp
    truth = start if start is not None else None if numpy.isnat(stamp) else int(stamp.astype(int))
    if said.get("unknown"):
        truth = None
    right = [later(truth, sample, rate) for sample in (0, n // 2, n - 1)]
    for word, grain, told in tellers(name, deck):
        for i, (one, other) in enumerate(zip(told, right)):
            skipped = word.endswith("n/2") and i != 1
            same = one == other if one is None or other is None else one // grain == other // grain or abs(one - other) < grain
            assert skipped or same, f"{what}: {word} tells {told}, and the samples are of {right}"
    if truth is not None and "segment" not in said:  # a playback goes on with the segments that follow
        begins_at(name, deck, n // 2)
    print(f"{what}: {n} samples, the first of {'nobody knows when' if truth is None else right[0]}")


with tapedeck.connect(os.environ["TAPEDECK_STORAGE"]) as client:
    for what_it_is, said_of_it in json.load(sys.stdin).items():
        check(what_it_is, said_of_it, client)
