"""archives.py FOLDER: archives of SigMF as tools in the field write them, of a ramp of 1000 samples. Python alone."""
import bz2
import gzip
import io
import json
import lzma
import pathlib
import struct
import sys
import tarfile
import zipfile

FOLDER = pathlib.Path(sys.argv[1])
DATA = b"".join(struct.pack("<HH", k & 0x7FFF, k >> 15) for k in range(1000))
META = {"global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.0.0"},
        "captures": [{"core:sample_start": 0}], "annotations": []}


def meta(**of_global):
    return json.dumps({**META, "global": {**META["global"], **of_global}}).encode()


def entry(name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def pair(name, text=None):
    return [entry(name + ".sigmf-meta", text or meta()), entry(name + ".sigmf-data", DATA)]


def archive(entries, form=tarfile.PAX_FORMAT, **options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, **options) as tar:
        for info, data in entries:
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def v7(info, data):
    """Of before there was a magic number."""
    head = info.tobuf(tarfile.USTAR_FORMAT)[:148] + b" " * 8 + b"0" + bytes(355)
    return head[:148] + b"%06o\0 " % sum(head) + head[156:] + data + bytes(-len(data) % 512)


def link(name, target, kind):
    return entry(name, type=kind, linkname=target)


def folder(name):
    return entry(name, type=tarfile.DIRTYPE, mode=0o755)


def write(name, text):
    (FOLDER / (name + ".sigmf")).write_bytes(text)


def main():
    whole = archive(pair("a/a"))
    # As sigmf-python and IQEngine write it, and with other headers.
    write("folder_first", archive([folder("a")] + pair("a/a"), tarfile.GNU_FORMAT))
    write("ustar", archive(pair("a/a"), tarfile.USTAR_FORMAT))
    write("pax_global", archive(pair("a/a"), pax_headers={"comment": "0123456789abcdef"}))
    keys = {"mtime": "1704164645.123", "SCHILY.xattr.user.x": "y", "LIBARCHIVE.creationtime": "1"}
    write("pax_keys", archive([entry(info.name, data, pax_headers=keys) for info, data in pair("a/a")]))
    write("v7", b"".join(v7(*one) for one in pair("a/a")))
    # Names.
    write("absolute", archive(pair("/home/me/a")))
    write("upwards", archive(pair("../../a")))
    write("dot_slash", archive([pair("./a")[0], pair("a")[1]]))
    write("unicode", archive(pair("m\u00fcnchen 2024/a b%20")))
    write("latin1", archive(pair("m\u00fcnchen/a"), tarfile.GNU_FORMAT, encoding="latin-1"))
    write("deep", archive(pair("/".join(["d"] * 90) + "/a")))
    # Other members.
    write("finder", archive([entry(".DS_Store", b"x"), entry("a/._a.sigmf-meta", b"mac"), entry("__MACOSX/a", b"x")]
                            + pair("a/a")))
    write("links", archive(pair("a") + [entry("b.sigmf-meta", meta()),
                                        link("b.sigmf-data", "a.sigmf-data", tarfile.LNKTYPE),
                                        link("c.sigmf-data", "a.sigmf-data", tarfile.SYMTYPE)]))
    write("data_is_a_link", archive([pair("a")[0], link("a.sigmf-data", "b.bin", tarfile.SYMTYPE)]))
    write("data_is_a_folder", archive([pair("a")[0], folder("a.sigmf-data")]))
    write("device", archive(pair("a") + [entry("tty", type=tarfile.CHRTYPE)]))
    write("two_of_one_name", archive(pair("x/a") + pair("y/a")))
    write("collection", archive(pair("a") + [entry("c.sigmf-collection", b"{}")]))
    write("meta_alone", archive([entry("a.sigmf-meta", meta(**{"core:metadata_only": True}))]))
    write("metadata_only", archive(pair("a", meta(**{"core:metadata_only": True}))))
    write("other_dataset", archive(pair("a", meta(**{"core:dataset": "a.wav"}))))
    write("own_dataset", archive(pair("a", meta(**{"core:dataset": "a.sigmf-data"}))))
    write("no_data", archive([pair("a")[0], entry("a.sigmf-data")]))
    write("long_meta", archive(pair("a", meta(**{"core:description": "x" * (17 << 20)}))))
    # Ends.
    write("no_end", whole[:512 * 12])
    write("two_after_each_other", whole + archive(pair("b/b")))
    write("cut_in_the_header", whole[:300])
    write("cut_in_the_meta", whole[:600])
    write("cut_in_the_samples", whole[:512 * 3 + 2000])
    write("empty", b"")
    write("zeros", bytes(10240))
    # Packed.
    write("gz", gzip.compress(whole))
    write("xz", lzma.compress(whole))
    write("bz2", bz2.compress(whole))
    write("zst", b"\x28\xb5\x2f\xfd" + bytes(600))
    with zipfile.ZipFile(FOLDER / "zip.sigmf", "w") as packed:
        packed.writestr("a.sigmf-meta", meta())
        packed.writestr("a.sigmf-data", DATA)


main()
