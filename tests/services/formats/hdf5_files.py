"""hdf5_files.py FOLDER: HDF5 files as others write them, of a ramp of 1000 samples. Python: h5py, numpy."""
import pathlib
import sys

import h5py
import numpy as np

FOLDER = pathlib.Path(sys.argv[1])
COUNT = 1000
RAMP = np.arange(COUNT, dtype="<i2")


def pairs(names, offsets=(0, 2), itemsize=4):
    """I counts up, Q down; in the order of the names."""
    kind = np.dtype({"names": names, "formats": ["<i2", "<i2"], "offsets": offsets, "itemsize": itemsize})
    samples = np.zeros(COUNT, kind)
    samples[names[0]] = RAMP
    samples[names[1]] = -RAMP
    return samples


def write(name, **datasets):
    with h5py.File(FOLDER / name, "w") as file:
        for path, data in datasets.items():
            file.create_dataset(path.replace("__", "/"), data=data)


write("column.h5", samples=pairs(["r", "i"]).reshape(COUNT, 1))
write("row.h5", samples=pairs(["r", "i"]).reshape(1, COUNT))
write("group.h5", rx__channel0__iq=pairs(["r", "i"]))
write("names.h5", iq=pairs(["I", "Q"]))
write("other_names.h5", iq=pairs(["first", "second"]))
write("padded.h5", iq=pairs(["re", "im"], (2, 8), 12))
swapped = pairs(["im", "re"])
swapped["im"], swapped["re"] = -RAMP, RAMP
write("swapped.h5", iq=swapped)
write("two.h5", a=pairs(["r", "i"]), rx__b=-RAMP)
write("matrix.h5", samples=RAMP.reshape(10, 100))
with h5py.File(FOLDER / "filter.h5", "w") as file:
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((100,))
    # Of no library here: registered for tests. Optional, or the file could not be written.
    made.set_filter(511, h5py.h5z.FLAG_OPTIONAL)
    space = h5py.h5s.create_simple((COUNT,))
    dataset = h5py.h5d.create(file.id, b"samples", h5py.h5t.STD_I16LE, space, made)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, RAMP)
with h5py.File(FOLDER / "loop.h5", "w") as file:
    group = file.create_group("a")
    group["up"] = file["/"]
    file.create_dataset("a/iq", data=RAMP)
