#!/usr/bin/python3
"""Who may include whom, from the #include lines, and that the storage node links no CUDA."""
import re

import tree

# Folder → folders of ours it may include.
MAY_INCLUDE = {
    "dataplane": {"dataplane"},
    "services": {"services", "dataplane"},
    "gpu_worker": {"gpu_worker", "services", "dataplane"},
    "storage_node": {"storage_node", "services", "dataplane"},
}
# Inside a folder of ours the folders, from those that build on nothing to those that build on all: each may include, and its
# libraries may link, those before it. What lies in the folder itself comes where "." stands.
ORDER = {
    "dataplane": (".", "crc", "block", "flight", "executor", "memory", "topology", "transport", "transfer", "ladder"),
    "storage_node": ("format", "disk", "engine", "catalog", "store", "follow", "index", "recording", "capture", "repair", "luns", "doctor",
                     "recordings", "view", "opening", "admission", "moving", "scrub", "node", "."),
    "storage_node/recording": (".", "reading", "recovery", "writing"),
    "gpu_worker": ("device", "sockets", "packets", "stages", "emulator", "pace", "pipeline", "transfer", "api", "doctor", "inlets", "job", "."),
    # The floors.
    "services": ("base", "model", "signal", "observe", "session", "rpc", "daemon", "copy", "formats", "site", "tapectl", "console", "python"),
    "services/base": (".", "threads", "files", "command_line", "addresses", "process", "trace", "config"),
    "services/model": ("words", "recording", ".", "seams"),
    "services/signal": (".", "samples", "vita49", "sigmf"),
    "services/observe": ("telemetry", "flight", "timeline", "explain", "doctor"),
    "services/session": ("protocol", "transfer", "opening", "serving", "parts"),
    "services/rpc": (".", "convert", "identity", "client", "server", "session_stream", "storage_client", "storage_session", "otlp"),
    "services/rpc/convert": ("values", "."),
    "services/rpc/identity": ("tls", "."),
    "services/rpc/client": ("calls", "."),
    "services/rpc/server": (".", "handlers"),
    "services/daemon": (".", "supervisor", "admin"),
    "services/formats": ("io", "wav", "sigmf", "vita49", "hdf5", ".", "mount"),
    "services/tapectl": ("terminal", "program", "nodes", "luns", "jobs", "recordings", "copies", "files", "shell", "."),
    "services/console": ("web", ".", "microhttpd"),
}
# Folders of an order that do not see each other in either direction.
APART = {"services": ("tapectl", "console", "python")}
OURS = set(MAY_INCLUDE) | {"proto", "tests"}
# The only places that see messages of the protos.
SEES_PROTO = ("services/base/config/", "services/observe/timeline/", "services/rpc/", "services/console/")
PROTO = re.compile(r"\.pb\.h$|^google/(protobuf|rpc)/")
# The only places that see gRPC.
SEES_GRPC = ("services/rpc/", "services/console/")
GRPC = re.compile(r"^grpc(pp|)/")
# The only room that sees the library of command lines, which is slow to compile.
SEES_CLI = "services/base/command_line/"
# The only file that sees the library of YAML, which throws.
SEES_YAML = "services/base/config/document.cc"
# The only places that see the library of HTTP.
SEES_HTTP = ("services/daemon/admin/microhttpd/", "services/console/microhttpd/")
# The only room that sees the library of FUSE.
SEES_FUSE = "services/formats/mount/fuse/"
# The only room that sees the library of HDF5.
SEES_HDF5 = "services/formats/hdf5/"
# The only room that sees the library of Ceph.
SEES_RADOS = "storage_node/store/rados/"
CUDA = re.compile(r"^(cuda|cufft|nvml)|/cuda/|^driver_types\.h$")
# Where a stage sees CUDA.
STAGE_ON_CUDA = re.compile(r"^gpu_worker/stages/\w+/(cuda\.cu$|cufft/)")
# Folders whose every sub-folder is a room, and so is every sub-folder of such a room.
ROOMS = ("dataplane/memory", "dataplane/transport", "storage_node/store", "gpu_worker/device", "gpu_worker/stages")
# Files that assemble a program from its rooms, or list a room's kinds.
COMPOSES = re.compile(r"(^|/)(list|main)\.(cc|h)$")
# What any room or node may build on: plain host memory is what every slot without a device is made of.
OPEN = re.compile(r"^dataplane/memory/host/(memory|pages)\.h$|/list\.h$")
# Where one room builds on another: (from, to) and why.
AGREED = {
    ("storage_node/store/posix", "storage_node/store/directory"): "recordings as files in a directory, which both kinds are",
    ("storage_node/store/direct", "storage_node/store/directory"): "the same",
    ("dataplane/transport/verbs", "dataplane/transport/verbs/port"): "the ports that connections are made on",
    ("dataplane/transport/ipc", "dataplane/transport/tcp"): "frames between processes of one machine go over TCP",
    ("gpu_worker/stages/verify", "gpu_worker/stages/synth/source.h"): "verify computes synth's samples again",
    ("gpu_worker/stages/verify", "gpu_worker/stages/fft/transform.h"): "of what its labels say",
    ("gpu_worker/stages/verify", "gpu_worker/stages/power/transform.h"): "the same",
    ("gpu_worker/stages/verify", "gpu_worker/stages/detect/transform.h"): "the same",
    ("gpu_worker/stages/detect", "gpu_worker/stages/fft"): "detect looks at transforms, weighed by windows",
    ("gpu_worker/stages/fft", "gpu_worker/stages/fft/cufft"): "the functions of cuFFT",
}


LINKS = re.compile(r"^(?:tapedeck_library|target_link_libraries)\(\s*([\w-]+)([^()]*)\)", re.MULTILINE)


def room_of(path):
    """The innermost room a path lies in, or None."""
    folder = path.rsplit("/", 1)[0]
    inside = any(folder.startswith(parent + "/") for parent in ROOMS)
    return folder if inside else None


def check_folder(path, name):
    top, target = path.split("/")[0], name.split("/")[0]
    if target in OURS and target not in MAY_INCLUDE[top]:
        return f"{top} must not include {target}: {name}"
    if PROTO.search(name) and not path.startswith(SEES_PROTO):
        return f"only {', '.join(SEES_PROTO)} may see proto: {name}"
    if GRPC.search(name) and not path.startswith(SEES_GRPC):
        return f"only {', '.join(SEES_GRPC)} may see gRPC: {name}"
    if top == "storage_node" and CUDA.search(name):
        return f"the storage node has no CUDA: {name}"
    if path.startswith("gpu_worker/stages/") and CUDA.search(name) and not STAGE_ON_CUDA.search(path):
        return f"a stage sees CUDA in its cuda.cu alone: {name}"
    return None


def same_kind(path, room):
    """What is of one kind of device goes together: gpu_worker/device/cuda, and a stage's cuda.cu, build on dataplane/memory/cuda."""
    own, kind = room_of(path), room.split("/")[-1]
    return own is not None and kind in (own.split("/")[-1], path.split("/")[-1].split(".")[0])


def check_room(path, name):
    room, top = room_of(name), path.split("/")[0]
    if room is None or path.startswith(room + "/"):
        return None
    agreed = (room_of(path), room) in AGREED or (room_of(path), name) in AGREED
    if top == "dataplane":
        allowed = COMPOSES.search(path) or agreed
    else:
        allowed = COMPOSES.search(path) or OPEN.search(name) or same_kind(path, room) or agreed
    return None if allowed else f"{room} is a room: only its own files, a list or a main include it: {name}"


def place_in_order(folder, path):
    """Which of the folder's order a path below it lies in; None where the order has no such folder."""
    first, *below = path.removeprefix(folder + "/").split("/")
    room = first if below else "."
    return ORDER[folder].index(room) if room in ORDER[folder] else None


def is_apart(folder, own, other):
    return own != other and {ORDER[folder][own], ORDER[folder][other]} <= set(APART.get(folder, ()))


def check_order(path, name):
    for folder in ORDER:
        if not (path.startswith(folder + "/") and name.startswith(folder + "/")):
            continue
        own, other = place_in_order(folder, path), place_in_order(folder, name)
        if own is None:
            return f"in no place of the order of {folder} that {__file__.rsplit('/', 1)[-1]} has"
        if other is not None and (other > own or is_apart(folder, own, other)):
            return f"a room builds on those before it in the order of {folder} alone: {name}"
    return None


def check_includes(files):
    for path in files.code():
        for line, _, name in files.includes(path):
            if name.startswith("CLI/") and not path.startswith(SEES_CLI):
                yield path, line, f"only {SEES_CLI} may see CLI11: {name}"
            if name.startswith("yaml-cpp/") and path != SEES_YAML:
                yield path, line, f"only {SEES_YAML} may see yaml-cpp: {name}"
            if name == "microhttpd.h" and not path.startswith(SEES_HTTP):
                yield path, line, f"only {' and '.join(SEES_HTTP)} may see libmicrohttpd: {name}"
            if name == "hdf5.h" and not path.startswith(SEES_HDF5):
                yield path, line, f"only {SEES_HDF5} may see libhdf5: {name}"
            if name.startswith("rados/") and not path.startswith(SEES_RADOS):
                yield path, line, f"only {SEES_RADOS} may see librados: {name}"
            if name.startswith("fuse3/") and not path.startswith(SEES_FUSE):
                yield path, line, f"only {SEES_FUSE} may see libfuse: {name}"
        if path.split("/")[0] not in MAY_INCLUDE:
            continue
        for line, quoted, name in files.includes(path):
            for message in (check_folder(path, name), check_room(path, name), check_order(path, name)):
                if message:
                    yield path, line, message
            if quoted and name.split("/")[0] not in OURS and not PROTO.search(name) and not GRPC.search(name) and (
                    (files.root / path).parent / name).exists():
                yield path, line, f"include by the path from the root: {name}"


def statements(files):
    """(list, line, target, libraries) of what the CMakeLists.txt outside tests link."""
    for path in files.files:
        if path.rsplit("/", 1)[-1] == "CMakeLists.txt" and path.split("/")[0] in MAY_INCLUDE:
            text = files.text(path)
            for found in LINKS.finditer(text):
                yield path, text.count("\n", 0, found.start()) + 1, found.group(1), found.group(2).split()


def check_lists(files):
    """A library links those of the folders that its own may include. A list that makes those of several folders is in none."""
    made = {target: path for path, _, target, _ in reversed(list(statements(files)))}
    for path, line, target, libraries in statements(files):
        for library in libraries:
            message = check_order(path, made.get(library, ""))
            if message and not message.startswith("in no place"):
                yield path, line, f"{target} links {library}: {message}"


def check_links(files):
    """The storage node's link line in build.ninja names no CUDA library."""
    ninja = files.build / "build.ninja" if files.build else None
    if ninja is None or not ninja.exists():
        return
    rule = re.search(r"^build bin/tapedeck-storage: (?:.*\n)(?:  .*\n)*", ninja.read_text(), re.MULTILINE)
    if rule is None:
        yield "storage_node/CMakeLists.txt", 1, "build.ninja has no bin/tapedeck-storage"
        return
    for library in re.findall(r"\S*(?:libcud|libcufft|libnvrtc)\S*", rule.group(0)):
        yield "storage_node/CMakeLists.txt", 1, f"the storage node links CUDA: {library}"


def check(files):
    yield from check_includes(files)
    yield from check_lists(files)
    yield from check_links(files)


if __name__ == "__main__":
    tree.main(check)
