"""What protoc makes of the protos. Imports nothing but Python's own modules: the package's build runs this file alone."""
from __future__ import annotations

import pathlib
import subprocess

PROTOS = ("tapedeck/v1/catalog.proto", "tapedeck/v1/errors.proto", "tapedeck/v1/node.proto",
          "tapedeck/v1/notes.proto", "tapedeck/v1/pipeline.proto", "tapedeck/v1/recorder.proto", "tapedeck/v1/session.proto",
          "google/rpc/error_details.proto", "google/rpc/status.proto")
# Beside the modules of an installed package.
FILE = "descriptors.pb"
_PROTOC_S = 30


def make(protos: pathlib.Path) -> bytes:
    """The FileDescriptorSet of PROTOS, which lie in that folder, and of all that they import. RuntimeError."""
    command = ["protoc", f"-I{protos}", "--include_imports", "--descriptor_set_out=/dev/stdout", *PROTOS]
    try:
        return subprocess.run(command, check=True, capture_output=True, timeout=_PROTOC_S).stdout
    except FileNotFoundError:
        raise RuntimeError("protoc is not installed (Debian: protobuf-compiler); it is needed to build the package "
                           "tapedeck, and to use it from a source tree") from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = error.stderr.decode(errors="replace") if error.stderr else str(error)
        raise RuntimeError(f"protoc: {said}") from None
