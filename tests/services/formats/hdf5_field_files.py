"""hdf5_field_files.py FOLDER: HDF5 files as programs in the field write them, or leave them, and beside each NAME.raw,
the bytes that its samples must be. The table in hdf5_field.txt says what a reader must say of each. Python: h5py, numpy."""
import os
import pathlib
import shutil
import sys

import h5py
import numpy as np

FOLDER = pathlib.Path(sys.argv[1])
COUNT = 500
K = np.arange(COUNT)
REAL = K.astype("<i2")
IQ = (K - 1j * K).astype("<c8")


def pairs(first, second, kind="<i2"):
    samples = np.zeros(COUNT, [(first, kind), (second, kind)])
    samples[first], samples[second] = K, -K
    return samples


SHORTS = pairs("r", "i")


def path(name):
    return FOLDER / f"{name}.h5"


def raw(name, samples):
    (FOLDER / f"{name}.raw").write_bytes(samples.tobytes())


def write(name, samples=None, *, data=None, attributes=None, dataset="iq", group=None, file=None, **options):
    """A file of one dataset; `samples` are what must come out of it, `data` what is written if it differs."""
    with h5py.File(path(name), "w", **(file or {})) as into:
        made = into.create_dataset(dataset, data=samples if data is None else data, **options)
        made.attrs.update(attributes or {})
        for key, value in (group or {}).items():
            into[key.rpartition("/")[0] or "/"].attrs[key.rpartition("/")[2]] = value
    if samples is not None:
        raw(name, samples)


def low(name, kind, data, size=(COUNT,), made=None):
    """Of a type that h5py's own words do not make."""
    with h5py.File(path(name), "w") as file:
        space = h5py.h5s.create_simple(size)
        dataset = h5py.h5d.create(file.id, b"iq", kind, space, made)
        if data is not None:
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data, kind)


def kinds():
    """Each type, and those that are none of SigMF's."""
    write("complex64", IQ)
    write("complex128", IQ.astype("<c16"))
    write("complex64_big", IQ.astype(">c8"))
    write("short_big", K.astype(">i2"))
    write("digital_rf_pairs", SHORTS)
    write("bytes", (K % 256).astype("u1"))
    write("pairs_of_bytes", pairs("re", "im", "i1"))
    write("polar", pairs("magnitude", "phase", "<f4"))
    write("table", pairs("time", "value", "<u4"))
    write("mixed_pairs", data=np.zeros(COUNT, [("r", "<i2"), ("i", "<i4")]))
    write("triples", data=np.zeros(COUNT, [("r", "<i2"), ("i", "<i2"), ("flags", "<i2")]))
    write("columns", data=np.stack([REAL, -REAL], 1))
    write("rows", data=np.stack([REAL, -REAL]))
    write("long_integers", data=K.astype("<i8"))
    write("half", data=K.astype("<f2"))
    write("long_double", data=K.astype("longdouble"))
    write("complex_half", data=np.zeros(COUNT, [("r", "<f2"), ("i", "<f2")]))
    write("booleans", data=K % 2 == 0)
    write("enumeration", data=REAL % 2, dtype=h5py.enum_dtype({"A": 0, "B": 1}, "<i2"))
    write("opaque", data=np.zeros(COUNT, "V4"))
    write("texts", data=[str(k) for k in K], dtype=h5py.string_dtype())
    write("ragged", data=np.array([REAL[:k] for k in range(1, 9)], object), dtype=h5py.vlen_dtype("<i2"))
    low("bits", h5py.h5t.STD_B16LE, None)
    low("arrays", h5py.h5t.array_create(h5py.h5t.STD_I16LE, (2,)), None)
    fourteen = h5py.h5t.STD_I16LE.copy()
    fourteen.set_precision(14)
    low("fourteen_bits", fourteen, None)
    write("nothing", data=h5py.Empty("<c8"))
    write("scalar", data=np.complex64(1))
    write("empty", IQ[:0])
    write("empty_column", IQ[:0].reshape(0, 1))
    write("one", IQ[:1])


def layouts():
    """How samples lie in the file, and in others."""
    write("gzip", IQ, compression="gzip", shuffle=True, chunks=(64,))
    write("checked", IQ, fletcher32=True, chunks=(64,))
    write("lzf", data=IQ, compression="lzf")
    write("column", IQ, data=IQ.reshape(COUNT, 1), maxshape=(None, 1), chunks=(64, 1))
    write("unlimited", IQ, maxshape=(None,))
    write("userblock", IQ, file={"userblock_size": 512})
    with open(path("userblock"), "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    write("newest", IQ, file={"libver": "latest"})
    write("compact", SHORTS)
    with h5py.File(path("holes"), "w") as file:
        made = file.create_dataset("iq", (COUNT,), "<i2", chunks=(100,), fillvalue=7)
        made[100:200], made[450:] = REAL[100:200], REAL[450:]
    raw("holes", np.concatenate([REAL[:100] * 0, REAL[100:200], REAL[200:400] * 0, REAL[400:] * 0 + 7])[:450])
    with open(FOLDER / "holes.raw", "ab") as file:
        file.write(REAL[450:].tobytes())
    with h5py.File(path("never_written"), "w") as file:
        file.create_dataset("iq", (COUNT,), "<c8")
    with h5py.File(path("endless"), "w") as file:
        made = file.create_dataset("iq", (2 ** 35,), "<c8", chunks=(2 ** 20,), compression="gzip")
        made[2 ** 35 - 1] = 1
    with h5py.File(path("endless_small"), "w") as file:
        made = file.create_dataset("iq", (2 ** 40,), "<c8", chunks=(64,))
        made[0] = 1
    with h5py.File(path("huge_chunks"), "w") as file:
        file.create_dataset("iq", (COUNT,), "<c8", chunks=(2 ** 26,), maxshape=(None,))
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_external(str(FOLDER / "bytes.raw").encode(), 0, COUNT)
    low("external", h5py.h5t.STD_U8LE, None, made=made)
    with h5py.File(path("virtual"), "w") as file:
        layout = h5py.VirtualLayout((COUNT,), "<c8")
        layout[:] = h5py.VirtualSource(path("complex64"), "iq", (COUNT,))
        file.create_virtual_dataset("iq", layout)
    with h5py.File(path("link_outside"), "w") as file:
        file["iq"] = h5py.ExternalLink(str(path("complex64")), "/iq")
    write("soft_link", IQ, dataset="rx/0/samples")
    write("hard_link", IQ, dataset="rx/0/samples")
    for name, link in (("soft_link", h5py.SoftLink("/rx/0/samples")), ("hard_link", None)):
        with h5py.File(path(name), "a") as file:
            file["latest"] = link or file["rx/0/samples"]


def beside():
    """Other datasets in the file."""
    def more(name, right=None, **datasets):
        with h5py.File(path(name), "w") as file:
            for key, data in datasets.items():
                file[key] = data
        if right is not None:
            raw(name, right)
    matlab = np.zeros((COUNT, 1), [("real", "<f8"), ("imag", "<f8")])
    matlab["real"][:, 0], matlab["imag"][:, 0] = K, -K
    more("matlab", matlab, iq=matlab, Fs=np.array([[2.4e6]]))
    more("time_and_value", REAL, t=K / 1e6, iq=REAL)
    more("time_and_columns", K / 1e6, t=K / 1e6, iq=np.stack([REAL, -REAL], 1))
    more("missing_of_others", REAL, samples=REAL, missing=np.array([[0, 400]], "<u8"))
    index = np.array([[1394368230, 0]], "<u8")
    more("digital_rf", SHORTS, rf_data=SHORTS.reshape(COUNT, 1), rf_data_index=index)
    with h5py.File(path("digital_rf"), "a") as file:
        file["rf_data"].attrs.update({"sample_rate_numerator": np.uint64(100), "sample_rate_denominator": np.uint64(3),
                                      "epoch": "1970-01-01T00:00:00Z", "is_complex": np.int32(1)})


def numbers():
    """Attributes: rate, time and frequency in all forms."""
    rates = {"text": "2.4e6", "integer": 2400000, "float32": np.float32(2.4e6), "array": np.array([2.4e6]),
             "two": np.array([2.4e6, 1]), "negative": -1.0, "zero": 0.0, "nan": np.nan, "infinite": np.inf,
             "true": True, "empty": h5py.Empty("f8"), "big": np.array(2.4e6, ">f8"), "long": np.longdouble(2.4e6)}
    for name, rate in rates.items():
        write(f"rate_{name}", REAL, attributes={"sample_rate": rate})
    start = 1704164645678901234
    starts = {"integer": start, "unsigned": np.uint64(start), "float": 1.704164645e18, "nan": np.nan, "text": str(start),
              "far": np.uint64(2 ** 64 - 1), "farther": 2 ** 63 - 1, "before_1970": -5, "zero": 0, "infinite": np.inf,
              "array": np.array([start]), "date": "2024-01-02T03:04:05Z"}
    for name, time in starts.items():
        write(f"start_{name}", REAL, attributes={"start_time_ns": time})
    hertz = {"integer": 433920000, "fraction": 433920000.5, "nan": np.nan, "text": "433.92 MHz", "zero": 0, "far": 1e300}
    for name, frequency in hertz.items():
        write(f"frequency_{name}", REAL, attributes={"frequency": frequency})
    write("rate_of_group", REAL, dataset="rx/iq", attributes={"gain": 30},
          group={"sample_rate": 2.4e6, "rx/center_freq": 1e8})
    write("other_names", REAL, attributes={"samp_rate": 2.4e6, "Fs": 2.4e6, "time": "now"})


def damaged():
    """What is no whole file."""
    whole = path("complex64").read_bytes()
    path("cut").write_bytes(whole[:len(whole) // 2])
    path("superblock").write_bytes(whole[:8] + b"\x09" + whole[9:])
    path("no_signature").write_bytes(b"\x89HDG" + whole[4:])
    longer = whole.replace(COUNT.to_bytes(8, "little"), (2 ** 50).to_bytes(8, "little"))
    path("longer").write_bytes(longer.replace((COUNT * 8).to_bytes(8, "little"), (2 ** 53).to_bytes(8, "little")))
    # The second number of a pair lies behind the pair.
    beyond = bytearray(whole)
    beyond[whole.index(b"i\0\0\0\0\0\0\0\x04") + 8] = 60
    path("pair_beyond").write_bytes(beyond)
    newest = bytearray(path("newest").read_bytes())
    newest[20] ^= 1
    path("checksum").write_bytes(newest)
    checked = bytearray(path("checked").read_bytes())
    at = checked.find(IQ[64:66].tobytes())
    checked[at] ^= 1
    path("checked_damaged").write_bytes(checked)
    with h5py.File(path("writer"), "w", libver="latest") as file:
        file["iq"] = IQ
        file.swmr_mode = True
        shutil.copy(path("writer"), path("left_open"))
    path("writer").unlink()
    path("zero").write_bytes(b"")
    path("text").write_text("no samples here\n")
    path("folder").mkdir()
    os.mkfifo(path("fifo"))


kinds()
layouts()
beside()
numbers()
damaged()
