"""wav_field_files.py FOLDER: WAV files as programs in the field write them, and what stands beside each: NAME.raw, the
bytes that its samples must be. The table in wav_field_test.cc says what a reader must say of each. Python alone."""
import os
import pathlib
import struct
import sys

FOLDER = pathlib.Path(sys.argv[1])
NO_SIZE = 0xFFFFFFFF
GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")
W64_TAIL = bytes.fromhex("f3acd3118cd100c04f8edb8a")


def number(value, size):
    return (value % 256 ** size).to_bytes(size, "little")


def ramp(code="h", channels=2, count=500):
    """Sample k is k; where it is complex, -k as its imaginary part. Unsigned ones go round."""
    wide = [part for k in range(count) for part in (k, -k)[:channels]]
    if code == "B":
        wide = [part % 256 for part in wide]
    return struct.pack(f"<{len(wide)}{code}", *wide)


RAMP = ramp()


def chunk(name, data=b"", told=None, pad=b"\0"):
    size = len(data) if told is None else told
    return name.encode() + number(size, 4) + data + pad[:len(data) % 2]


def fmt(tag=1, channels=2, bits=16, rate=48000, align=None, behind=b""):
    align = channels * ((bits + 7) // 8) if align is None else align
    return chunk("fmt ", struct.pack("<HHIIHH", tag, channels, rate, rate * align % 2 ** 32, align, bits) + behind)


def extensible(sub=1, valid=None, tail=GUID_TAIL, bits=16, **more):
    valid = bits if valid is None else valid
    return fmt(0xFFFE, bits=bits, behind=struct.pack("<HHIH", 22, valid, 3, sub) + tail, **more)


def riff(*chunks, form="RIFF", size=None):
    body = b"".join(chunks)
    return form.encode() + number(len(body) + 4 if size is None else size, 4) + b"WAVE" + body


def ds64(riff_bytes, data_bytes, behind=b""):
    return chunk("ds64", struct.pack("<QQQI", riff_bytes, data_bytes, data_bytes // 4, 0) + behind)


def write(name, file, samples=None):
    (FOLDER / f"{name}.wav").write_bytes(file)
    if samples is not None:
        (FOLDER / f"{name}.raw").write_bytes(samples)


def simple(name, *before, data=RAMP, samples=RAMP):
    write(name, riff(*before, chunk("data", data)), samples)


def times(*start):
    return struct.pack("<8H", *start)


def auxi(start=(2024, 1, 2, 2, 3, 4, 5, 678), hertz=100000000, rest=(48000, 0, 0), behind=b""):
    head = times(*start) + times(2024, 1, 2, 2, 3, 4, 6, 0) + struct.pack("<4I", hertz, *rest)
    return chunk("auxi", head + bytes(20) + behind.ljust(96, b"\0"))


def xml(attributes, lead="", encoding="utf-16-le"):
    text = lead + '<?xml version="1.0" encoding="utf-16"?>\r\n<SDR-XML-Root Description="Saved recording data" ' \
        f'Created="20-Jan-2020 01:50"><Definition {attributes}/></SDR-XML-Root>'
    return chunk("auxi", text.encode(encoding))


def data_forms():
    """Each datatype, as the program in its name writes it."""
    simple("sdrsharp_u8", fmt(bits=8), data=ramp("B"), samples=ramp("B"))
    simple("sdrsharp_float", fmt(3, bits=32), data=ramp("f"), samples=ramp("f"))
    simple("scipy_int32", fmt(bits=32), data=ramp("i"), samples=ramp("i"))
    simple("matlab_double", fmt(3, 1, 64, behind=number(0, 2)), chunk("fact", number(500, 4)),
           data=ramp("d", 1), samples=ramp("d", 1))
    simple("arecord_mono", fmt(channels=1), data=ramp("h", 1), samples=ramp("h", 1))
    simple("ffmpeg_float", extensible(3, bits=32), chunk("fact", number(500, 4)), data=ramp("f"), samples=ramp("f"))
    simple("sox_24in32", extensible(valid=24, bits=32), data=ramp("i"), samples=ramp("i"))
    simple("adc_14in16", extensible(valid=14))
    simple("valid_beyond", extensible(valid=40))
    simple("sox_24", fmt(bits=24), data=bytes(3000))
    simple("perseus_24", extensible(bits=24), data=bytes(3000))
    simple("adc_12", fmt(bits=12))
    simple("int64", fmt(bits=64), data=bytes(8000))
    simple("alaw", fmt(6, bits=8))
    simple("mulaw", fmt(7, 1, 8))
    simple("adpcm", fmt(17, 1, 4, align=256, behind=struct.pack("<HH", 2, 505)))
    simple("half_float", fmt(3, bits=16))
    simple("three_channels", extensible(channels=3))
    simple("no_channels", fmt(channels=0))
    simple("wide_align", fmt(align=8))
    simple("no_align", fmt(align=0))
    simple("other_guid", extensible(tail=bytes(14)))
    simple("ambisonic", extensible(tail=bytes.fromhex("00002107d3118644c8c1ca000000")))
    simple("short_extensible", fmt(0xFFFE, behind=number(0, 2)))
    simple("rate_0", fmt(rate=0))
    simple("rate_most", fmt(rate=NO_SIZE))
    simple("rate_1", fmt(rate=1))


def chunks():
    """What stands beside the samples, in all orders."""
    info = chunk("LIST", b"INFO" + chunk("ISFT", b"Lavf59.27.100\0") + chunk("ICRD", b"2020-01-20"))
    bext = chunk("bext", bytes(320) + b"2020-01-2001:50:24" + bytes(264))
    simple("everything", chunk("JUNK", bytes(28)), bext, fmt(), chunk("fact", number(500, 4)), chunk("PAD ", bytes(9)),
           info, chunk("cue ", number(0, 4)), chunk("smpl", bytes(36)))
    write("audacity", riff(fmt(), chunk("data", RAMP), info, chunk("id3 ", b"ID3\3" + bytes(7))), RAMP)
    simple("perseus", fmt(), chunk("rcvr", bytes(60)))
    simple("many_kinds", fmt(), *(chunk(f"c{i:03}") for i in range(20)))
    simple("pad_is_text", fmt(), chunk("LIST", b"INFOx", pad=b"x"))
    write("data_first", riff(chunk("data", RAMP), fmt()), RAMP)
    simple("same_twice", fmt(), fmt())
    simple("wave_list", fmt(), chunk("LIST", b"wavl" + chunk("data", RAMP)), data=b"", samples=b"")
    simple("no_samples", fmt(), data=b"", samples=b"")
    once = riff(fmt(), chunk("data", RAMP))
    write("joined", once + once, RAMP)
    kiwi = [chunk("kiwi", bytes(10)) + chunk("data", RAMP[at:at + 400]) for at in range(0, 2000, 400)]
    write("kiwi", riff(fmt(rate=12001), *kiwi), RAMP)
    split = [chunk("kiwi", bytes(10)) + chunk("data", RAMP[at:at + 402]) for at in range(0, 2000, 402)]
    write("kiwi_split", riff(fmt(rate=12001), *split))


def sizes():
    """Sizes that lie."""
    def lying(name, size, told, behind=b"", form="RIFF", before=b"", samples=RAMP):
        write(name, riff(before, fmt(), chunk("data", samples, told), behind, form=form, size=size), samples)
    lying("ffmpeg_pipe", NO_SIZE, NO_SIZE)
    lying("arecord_pipe", 0x80000024, 0x80000000)
    lying("sox_pipe", 0x7FFFF024, 0x7FFFF000)
    lying("riff_open", NO_SIZE, 0)
    lying("riff_0", 0, 2000)
    lying("riff_small", 36, 2000)
    lying("riff_huge", 0x7FFFFFFF, 2000)
    lying("size_odd", None, 2001)
    write("size_old", riff(fmt(), chunk("data", RAMP + bytes(400), 2000)), RAMP)
    lying("rf64_sizes", NO_SIZE, NO_SIZE, form="RF64", before=ds64(2080, 2000, bytes(12)))
    lying("rf64_no_mark", NO_SIZE, 0, form="RF64", before=ds64(2080, 2000))
    lying("rf64_open", NO_SIZE, NO_SIZE, form="RF64", before=ds64(2080, 0))
    lying("rf64_beyond", NO_SIZE, NO_SIZE, form="RF64", before=ds64(2080, 2 ** 40))
    lying("rf64_small", 2076, 2000, form="RF64", before=ds64(2076, 2000))
    lying("bw64", NO_SIZE, NO_SIZE, form="BW64", before=ds64(2080, 2000), behind=chunk("axml", b"<a/>"))
    lying("riff_ds64", None, 2000, before=ds64(2076, 2000))

    def wide(name, data=b"", told=None):
        size = 24 + len(data) if told is None else told
        return name.encode() + W64_TAIL + number(size, 8) + data + bytes(-len(data) % 8)

    def w64(name, *parts, samples=RAMP):
        body = b"".join(parts)
        head = b"riff" + bytes.fromhex("2e91cf11a5d628db04c10000") + number(40 + len(body), 8) + b"wave" + W64_TAIL
        write(name, head + body, samples)
    form = wide("fmt ", fmt(behind=number(0, 2))[8:])
    w64("w64", form, wide("fact", number(500, 8)), wide("data", RAMP), wide("bext", bytes(602)))
    w64("w64_beyond", form, wide("data", RAMP, 2 ** 63))
    w64("w64_small", form, wide("levl", told=8), samples=None)


def auxis():
    """When and at which frequency, and what cannot be."""
    times_of = {"month_13": (2024, 13, 2, 2, 3, 4, 5, 0), "year_0": (0, 1, 2, 2, 3, 4, 5, 0),
                "year_1601": (1601, 1, 1, 1, 0, 0, 0, 0), "year_1969": (1969, 12, 3, 31, 23, 59, 59, 0),
                "year_1970": (1970, 1, 4, 1, 0, 0, 0, 0), "year_2300": (2300, 1, 1, 1, 0, 0, 0, 0),
                "february_30": (2024, 2, 5, 30, 1, 2, 3, 0), "second_75": (2024, 1, 2, 2, 3, 4, 75, 0),
                "minute_61": (2024, 1, 2, 2, 3, 61, 5, 0), "hour_24": (2024, 1, 2, 2, 24, 0, 0, 0),
                "ms_1000": (2024, 1, 2, 2, 3, 4, 5, 1000), "no_time": (0,) * 8}
    for name, start in times_of.items():
        simple(name, fmt(), auxi(start))
    simple("hdsdr", fmt(), auxi(rest=(122880000, 0, 192000), behind=b"C:\\iq\\second.wav"))
    simple("sdruno_0hz", fmt(), auxi(hertz=0))
    write("auxi_last", riff(fmt(), chunk("data", RAMP), auxi()), RAMP)
    simple("auxi_same", fmt(), auxi(), auxi())
    simple("auxi_two", fmt(), auxi(), auxi(hertz=7100000))
    simple("auxi_text", fmt(), chunk("auxi", b"This receiver tells its frequency in words. Or does it not?"))
    simple("auxi_empty", fmt(), chunk("auxi"))
    console = 'CurrentTimeUTC="20-01-2020 01:50:24"\r\n\tRadioCenterFreq="162550000"\r\n\tUTCSeconds="1579485024"'
    simple("console_lines", fmt(), xml(console + ' SampleRate="48000" Folder="" RadioModel="Airspy"'))
    simple("console_big", fmt(), xml("\r\n" + console, "\ufeff", "utf-16-be"))
    simple("console_space", fmt(), xml(console, "\r\n ", "utf-8"))
    simple("console_quotes", fmt(), xml(console.replace('"', "'"), encoding="utf-8"))
    simple("console_half", fmt(), xml('RadioCenterFreq = "162550000.5" SampleRate="48000.25"'))
    simple("console_words", fmt(), xml('RadioCenterFreq="7.1 MHz" CurrentTimeUTC="2020-01-20T01:50:24Z"'))
    simple("console_nan", fmt(), xml('RadioCenterFreq="nan" UTCSeconds="-1"'))
    simple("console_twice", fmt(), xml('RadioCenterFreq="1000000" RadioCenterFreq="2000000"'))
    simple("console_cut", fmt(), xml('RadioCenterFreq="1000000')[:-30] + bytes(30))


def others():
    """What is no such file."""
    write("rifx", b"RIFX" + struct.pack(">I", 2036) + b"WAVE")
    write("avi", riff(form="RIFF").replace(b"WAVE", b"AVI "))
    write("aiff", b"FORM" + struct.pack(">I", 46) + b"AIFFCOMM" + bytes(38))
    write("flac", b"fLaC" + bytes(60))
    write("id3_first", b"ID3\3" + bytes(60) + riff(fmt(), chunk("data", RAMP)))
    write("empty", b"")
    write("text", b"the frequency was 100 MHz\n")
    (FOLDER / "folder.wav").mkdir()
    os.mkfifo(FOLDER / "fifo.wav")
    (FOLDER / "link.wav").symlink_to("arecord_mono.wav")
    write("link", (FOLDER / "arecord_mono.wav").read_bytes(), ramp("h", 1))
    (FOLDER / "dangling.wav").symlink_to("nothing.wav")


data_forms()
chunks()
sizes()
auxis()
others()
