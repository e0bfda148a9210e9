"""captures.py FOLDER: captures of packets of VITA 49 as tools and devices in the field make them. Python alone.

Forty packets, each of 64 samples ci16 of a ramp at 1 MS/s, of the stream 7, with a context before them, unless said."""
import gzip
import pathlib
import struct
import sys

FOLDER = pathlib.Path(sys.argv[1])
BASE, COUNT, SAMPLES, RATE = 1704164645, 40, 64, 1000000
CI16, CI8, RI16, CF32 = 0xA00003CF, 0xA00001C7, 0x800003CF, 0xAE0007DF
UTC, GPS, OTHER, NO_TIME = 1, 2, 3, 0
DIFI_DATA, DIFI_CONTEXT = b"\0\x6a\x62\x1e\0\0\0\0", b"\0\x6a\x62\x1e\0\0\0\1"
DEVICE, OTHER_DEVICE, HERE = bytes((10, 0, 0, 2)), bytes((10, 0, 0, 3)), bytes((10, 0, 0, 1))


def ramp(first, samples=SAMPLES):
    return b"".join(struct.pack(">HH", k & 0x7FFF, k >> 15) for k in range(first, first + samples))


# --------------------------------------------------------------------------------------- VITA 49
def vita(kind, body, at=0.0, count=0, stream=7, tsi=UTC, tsf=2, stamp=None, cls=b"", bits=0):
    seconds, fraction = stamp if stamp else (BASE + int(at) // RATE, int(at) % RATE * 1000000)
    rest = struct.pack(">I", stream) if stream is not None else b""
    rest += cls
    rest += struct.pack(">I", seconds) if tsi else b""
    rest += struct.pack(">Q", fraction) if tsf else b""
    rest += body
    words = (len(rest) + 4 + 3) // 4
    head = kind << 28 | bool(cls) << 27 | bits | tsi << 22 | tsf << 20 | (count & 15) << 16 | words
    return struct.pack(">I", head) + rest


def data(i, body=None, kind=1, trailer=b"", **fields):
    bits = fields.pop("bits", 0) | (bool(trailer) << 26)
    return vita(kind, (ramp(i * SAMPLES) if body is None else body) + trailer, i * SAMPLES, fields.pop("count", i),
                bits=bits, **fields)


def context(rate=RATE, form=CI16, second=0, before=b"", more=0, **fields):
    bits, body = 1 << 27 | more, before + struct.pack(">q", 100000000 << 20)
    if rate is not None:
        bits, body = bits | 1 << 21, body + struct.pack(">q", int(rate * (1 << 20)))
    if form is not None:
        bits, body = bits | 1 << 15, body + struct.pack(">II", form, second)
    return vita(4, struct.pack(">I", bits) + body, **fields)


def stream(first=None, make=data, count=COUNT, **fields):
    return [context() if first is None else first] + [make(i, **fields) for i in range(count)]


# ------------------------------------------------------------------------------- what is around it
def udp(body, to=4991, check=0):
    return struct.pack(">HHHH", 5000, to, 8 + len(body), check) + body


def ip(body, protocol=17, source=DEVICE, target=HERE, options=b"", flags=0):
    return struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(body), 1, flags, 64, protocol,
                       0xBAD) + source + target + options + body


def ipv6(body, following=17, extra=b""):
    return struct.pack(">IHBB", 6 << 28, len(extra + body), following, 64) + DEVICE * 4 + HERE * 4 + extra + body


def ether(body, kind=0x0800):
    return b"\1" * 12 + struct.pack(">H", kind) + body


def frame(packet, **to):
    return ether(ip(udp(packet, **to)))


def when(i):
    return BASE * 10**9 + i * SAMPLES * 1000


def pcap(frames, magic=0xA1B23C4D, order="<", link=1, unit=1, extra=b"", at=when, snap=262144):
    text = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, snap, link)
    for i, one in enumerate(frames):
        seconds, rest = divmod(at(i), 10**9)
        text += struct.pack(order + "IIII", seconds, rest // unit, len(one), len(one)) + extra + one
    return text


def block(kind, body, order="<"):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def option(code, value, order="<"):
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order="<"):
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link=1, options=b"", order="<"):
    return block(1, struct.pack(order + "HHI", link, 0, 262144) + options, order)


def enhanced(body, ticks, number=0, options=b"", order="<"):
    return block(6, struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(body), len(body)) + body
                 + bytes(-len(body) % 4) + options, order)


def microseconds(i):
    return when(i) // 1000


def write(name, text):
    (FOLDER / (name + ".pcap")).write_bytes(text)


def packets(name, list_of, **to):
    write(name, pcap([frame(one, **to) for one in list_of]))


def framed(name, make, **options):
    write(name, pcap([make(one) for one in stream()], **options))


# ------------------------------------------------------------------------------------ the captures
def files():
    frames = [frame(one) for one in stream()]
    write("microseconds", pcap(frames, 0xA1B2C3D4, unit=1000))
    write("big_endian", pcap(frames, order=">"))
    write("kuznetzov", pcap(frames, 0xA1B2CD34, unit=1000, extra=bytes(8)))
    write("after_2038", pcap([frame(context(stamp=(2**31 + 5, 0)))] + [frame(data(i, stamp=(2**31 + 5, i * 64000000)))
                                                                     for i in range(COUNT)],
                             at=lambda i: (2**31 + 5) * 10**9 + i * 64000))
    names = block(4, struct.pack("<HH4s", 1, 9, DEVICE) + b"radio\0\0\0" + bytes(4))
    comment = option(1, b"antenna turned here") + option(0, b"")
    write("ng_comments", section() + interface(options=option(2, b"eth0")) + names
          + b"".join(enhanced(one, microseconds(i), options=comment) for i, one in enumerate(frames))
          + block(5, struct.pack("<III", 0, 0, 0)) + block(0xBAD, b"custom"))
    write("ng_nanoseconds", section() + interface(options=option(9, b"\x09") + option(0, b""))
          + b"".join(enhanced(one, when(i)) for i, one in enumerate(frames)))
    write("ng_binary_fractions", section() + interface(options=option(9, b"\x94") + option(0, b""))
          + b"".join(enhanced(one, when(i) * 2**20 // 10**9) for i, one in enumerate(frames)))
    write("ng_two_interfaces", section() + interface() + interface(options=option(9, b"\x09") + option(0, b""))
          + b"".join(enhanced(one, microseconds(i) if i % 2 else when(i), 1 - i % 2) for i, one in enumerate(frames)))
    write("ng_two_links", section() + interface() + b"".join(enhanced(one, microseconds(i)) for i, one in
                                                             enumerate(frames[:20])) + interface(113))
    write("ng_two_sections", b"".join(section() + interface() + b"".join(
        enhanced(frames[i], microseconds(i)) for i in part) for part in (range(20), range(20, COUNT + 1))))
    write("ng_big_endian", section(">") + interface(order=">")
          + b"".join(enhanced(one, microseconds(i), order=">") for i, one in enumerate(frames)))
    write("ng_simple", section() + interface() + b"".join(
        block(3, struct.pack("<I", len(one)) + one) for one in frames))
    write("empty", b"")
    write("head_alone", pcap([]))
    write("gzip", gzip.compress(pcap(frames)))
    write("erf", bytes(7) + b"\x40\2\4\0\x40" + bytes(60))
    write("link_erf", pcap(frames, link=197))
    write("huge_record", pcap(frames[:5]) + struct.pack("<IIII", BASE, 0, 2**31, 2**31) + bytes(100))
    write("cut", pcap(frames)[:-100])


def links():
    framed("ipv6", lambda one: ether(ipv6(udp(one)), 0x86DD))
    framed("ipv6_options", lambda one: ether(ipv6(udp(one), 0, b"\x11\0\1\4\0\0\0\0"), 0x86DD))
    framed("ip_options", lambda one: ether(ip(udp(one), options=b"\x94\4\0\0")))
    framed("wrong_checksums", lambda one: ether(ip(udp(one, check=0xDEAD))))
    framed("ethernet_tail", lambda one: frame(one) + b"\xee" * 6)
    framed("tcp", lambda one: ether(ip(bytes(12) + b"\x50\x18" + bytes(6) + one, 6)))
    framed("mpls", lambda one: ether(b"\x45\0\x11\xff" + ip(udp(one)), 0x8847))
    framed("gre", lambda one: ether(ip(b"\0\0\x08\0" + ip(udp(one)), 47)))
    framed("vxlan", lambda one: ether(ip(udp(b"\x08\0\0\0\0\0\x7b\0" + frame(one), to=4789))))
    framed("pppoe", lambda one: ether(b"\x11\0\0\1" + struct.pack(">HH", len(ip(udp(one))) + 2, 0x21) + ip(udp(one)),
                                      0x8864))
    framed("rtp", lambda one: frame(b"\x80\x60" + bytes(10) + one))
    noise = [ether(b"\0\1\x08\0\6\4\0\1" + bytes(20), 0x0806), frame(b"\x23\2\x0a\xe9" + bytes(44), to=123),
             frame(b"\x12\x34\1\0\0\1" + bytes(20), to=53), ether(b"\x42\x42\3" + bytes(40), 38)]
    write("noise", pcap(noise + [frame(one) for one in stream()]))


def streams():
    all_of = stream()
    twice = [one for packet in all_of for one in (packet, packet)]
    packets("twice", twice)
    late = list(all_of)
    late[10], late[11] = late[11], late[10]
    packets("late", late)
    other = [data(i, ramp(50000 + i * SAMPLES)) for i in range(COUNT)]
    both = [ether(ip(udp(one), source=source)) for pair in zip(all_of[1:], other)
            for one, source in zip(pair, (DEVICE, OTHER_DEVICE))]
    write("two_devices", pcap([frame(context()), ether(ip(udp(context(2000000)), source=OTHER_DEVICE))] + both))
    write("two_ports", pcap([frame(context())] + [frame(one, to=port) for pair in zip(all_of[1:], other)
                                                  for one, port in zip(pair, (4991, 4992))]))
    write("context_to_another_port", pcap([frame(context(), to=4990)] + [frame(one) for one in all_of[1:]]))
    packets("stream_changes", all_of[:21] + [context(stream=8)] + [data(i, stream=8) for i in range(20, COUNT)])
    packets("many_streams", [context(stream=1000 + i) for i in range(80)] + all_of)
    packets("context_alone", [context(), context()])
    packets("context_last", all_of[1:] + all_of[:1])
    packets("no_stream", [data(i, kind=0, stream=None) for i in range(COUNT)])
    packets("extensions", all_of + [data(40, kind=3), data(41, kind=2, stream=None), vita(5, bytes(8)),
                                    vita(6, bytes(16)), vita(7, bytes(8))])
    packets("no_samples", all_of + [data(40, b"")])
    packets("half_samples", all_of + [data(40, ramp(0, 1), cls=b"\x80" + DIFI_DATA[1:])])
    packets("cut_inside", all_of + [data(40)[:-4]])
    packets("longer_than_told", all_of + [data(40) + b"more"])
    packets("little_endian", [b"".join(one[at + 3:at - 1 if at else None:-1] for at in range(0, len(one), 4))
                              for one in all_of])


def times():
    packets("sample_count", stream(tsf=1, make=lambda i, **k: data(i, stamp=(BASE, i * SAMPLES), **k)))
    packets("free_count", stream(tsi=0, tsf=3, make=lambda i, **k: data(i, stamp=(0, 2**40 + i * SAMPLES), **k)))
    packets("sample_count_alone", stream(tsi=0, tsf=1, make=lambda i, **k: data(
        i, stamp=(0, 990000 + i * SAMPLES), **k)))
    packets("gps", stream(tsi=GPS))
    packets("since_power_up", stream(tsi=OTHER, make=lambda i, **k: data(i, stamp=(1234, i * 64000000), **k)))
    packets("no_times", stream(tsi=0, tsf=0))
    packets("whole_seconds", stream(tsf=0))
    split = 1000000 - 20 * SAMPLES
    packets("fraction_alone", stream(tsi=0, make=lambda i, **k: data(
        i, stamp=(0, (split + i * SAMPLES) % 1000000 * 1000000), **k)))
    packets("zeros", stream(make=lambda i: data(i, stamp=(0, 0))))
    packets("year_2106", [context(stamp=(2**32 - 256, 0))]
            + [data(i, stamp=(2**32 - 256, i * 64000000)) for i in range(COUNT)])
    packets("a_second_of_picoseconds", stream(make=lambda i: data(i, stamp=(
        (BASE - 1, 10**12 + i * 64000000) if i < 20 else None))))
    packets("no_count", stream(count=COUNT, make=lambda i: data(i, count=0)))


def samples():
    packets("difi", stream(context(cls=DIFI_CONTEXT), cls=DIFI_DATA))
    packets("trailers", stream(trailer=b"\x40\4\0\0", cls=b"\0\0\x12\x34\0\0\0\1"))
    packets("jumbo", [context()] + [vita(1, ramp(i * 4000, 4000), i * 4000, i) for i in range(COUNT)])
    packets("padding", [context(form=RI16)] + [vita(1, ramp(0, 1320)[i * 66:i * 66 + 66] + b"pp", i * 33, i,
                                                    cls=b"\x80" + DIFI_DATA[1:]) for i in range(COUNT)])
    packets("padding_beyond", stream() + [data(40, b"abcd", cls=b"\xf8" + DIFI_DATA[1:]), data(41, b"")])
    packets("bits_12_in_16", stream(context(form=0xA00003CB)))
    packets("bits_12_in_12", stream(context(form=0xA00002CB)))
    packets("vectors", stream(context(second=1)))
    packets("repeats", stream(context(form=CI16 | 1 << 23, second=3 << 16)))
    packets("polar", stream(context(form=0xC00003CF)))
    packets("spectra", stream(bits=1 << 25 | 1 << 24))
    packets("real", stream(context(form=RI16, rate=2000000)))
    packets("floats", [context(form=CF32)] + [vita(1, ramp(i * SAMPLES), i * 32, i) for i in range(COUNT)])
    packets("format_changes", stream()[:21] + [context(form=CI8)] + [data(i) for i in range(20, COUNT)])
    packets("format_that_is_none_follows", stream()[:21] + [context(form=0xA00002CB)]
            + [data(i) for i in range(20, COUNT)])
    packets("rate_0", stream(context(rate=0)))
    packets("rate_below_0", stream(context(rate=-1000000)))
    packets("no_rate", stream(context(rate=None)))
    packets("more_fields", stream(context(more=1 << 1 | 1 << 2, before=struct.pack(">II", 1 << 31, 0))))
    packets("attributes", stream(context(more=1 << 7, before=struct.pack(">I", 3 << 30) + bytes(8))))


files()
links()
streams()
times()
samples()
