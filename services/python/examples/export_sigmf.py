#!/usr/bin/python3
"""A recording as a SigMF recording, read back with numpy alone.
  export_sigmf.py NODE RECORDING PATH             writes PATH.sigmf-meta and PATH.sigmf-data"""
import hashlib
import json
import pathlib
import sys

import numpy

import tapedeck


def main(node: str, name: str, path: str) -> None:
    with tapedeck.connect(node) as deck:
        recording = deck.recording(name)
        meta_path = pathlib.Path(recording.to_sigmf(path))
        expected = recording.samples(0, 1000)
        samples_in_all = len(recording)

    meta = json.loads(meta_path.read_text(encoding="utf-8"))
    data_path = meta_path.with_suffix(".sigmf-data")
    samples = numpy.memmap(data_path, dtype=expected.dtype, mode="r").reshape(-1, *expected.shape[1:])
    assert hashlib.sha512(data_path.read_bytes()).hexdigest() == meta["global"]["core:sha512"]
    assert len(samples) == samples_in_all and samples[:1000].tobytes() == expected.tobytes()
    print(f"{meta_path}: {len(samples)} samples of {meta['global']['core:datatype']}, "
          f"from {meta['captures'][0].get('core:datetime')} on, {len(meta['annotations'])} annotations")


if __name__ == "__main__":
    main(*sys.argv[1:])
