#!/usr/bin/python3
"""Writes the reference pages of the guide: commands.md of the help of the programs, errors.md of errors.proto, configuration.md of
config.proto. tests/lint/made.py refuses a tree where that changes something.

reference.py [BUILD]      without a build that has the programs, commands.md stays
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = "deploy/guide"
PROGRAMS = ("tapectl", "tapedeck-storage", "tapedeck-worker", "tapedeck-emulator")
MARK = "<!-- The rest is made by deploy/guide/reference.py -->\n"
REPEATED, MESSAGE, ENUM, BOOL, STRING, UINT32, UINT64 = 3, 11, 14, 8, 9, 13, 4


def reasons_module(root):
    """proto/reasons.py, which reads the protos."""
    spec = importlib.util.spec_from_file_location("reasons", root / "proto" / "reasons.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def output(build, *command):
    environment = {**os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}", "TERM": "dumb", "LANG": "C.UTF-8", "HOME": "/nonexistent"}
    environment.pop("COLUMNS", None)
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def help_of(build, words):
    return "\n".join(line.rstrip() for line in output(build, *words, "--help").strip("\n").split("\n")) + "\n"


def commands_of(build, words):
    """(words, help) of a command and of all below it."""
    text = help_of(build, words)
    yield words, text
    for name in re.findall(r"^  ([a-z][a-z-]*)(?:$| {2,})", text, re.MULTILINE):
        below = [*words, name]
        if f"Usage: {' '.join(below)}" in help_of(build, below):
            yield from commands_of(build, below)


def commands(build):
    return "".join(f"\n## {' '.join(words)}\n\n```sh\n{' '.join(words)} --help\n```\n```text\n{text}```\n"
                   for program in PROGRAMS for words, text in commands_of(build, [program]))


def errors(root):
    module = reasons_module(root)
    table = module.table(module.read(root)).rstrip("\n") + "\n"
    table = re.sub(r"\]\((?!https?:|#)", "](../../services/", table)  # its links are those of services/README.md
    return table.replace("](../../services/../", "](../../")


def default_of(comment):
    """(what a comment says, its default)"""
    found = re.search(r" ?Default:? (.*?)(?:\.(?= |$)|$)", comment)
    return (comment.replace(found.group(0), "", 1).strip(), found.group(1)) if found else (comment, "")


KINDS = {BOOL: "true or false", STRING: "text", ENUM: "on or off", UINT32: "number", UINT64: "number", MESSAGE: "mapping"}


def kind_of(field, setting):
    kind = KINDS.get(field.type, "number")
    if field.type_name.endswith("Duration"):
        kind = "time, e.g. `60s`"
    if setting.unit == 1:
        kind = "bytes, e.g. `1GiB`"
    return f"list of {kind}" if field.label == REPEATED else kind


def rows_of(file, index, options):
    """A table of a message of the configuration."""
    message, extension = file.message_type[index], options[1]
    comments = {tuple(at.path): " ".join(at.leading_comments.split()) for at in file.source_code_info.location}
    rows = ["| key | value | default | meaning |\n|---|---|---|---|\n"]
    for i, field in enumerate(message.field):
        setting = options[0].FromString(field.options.SerializeToString()).Extensions[extension]
        meaning, default = default_of(comments.get((4, index, 2, i), ""))
        rows.append(f"| `{field.name}` | {kind_of(field, setting)} | {default} | {meaning.replace('|', chr(92) + '|')} |\n")
    return "".join(rows)


def configuration(root):
    module = reasons_module(root)
    pool, files = module.descriptor_pool.DescriptorPool(), module.described(root, "config")
    for file in files:
        pool.AddSerializedFile(file.SerializeToString())
    extension = pool.FindExtensionByName("tapedeck.v1.setting")
    options = module.message_factory.MessageFactory(pool).GetPrototype(extension.containing_type), extension
    file = files[-1]
    names = [message.name for message in file.message_type]
    text = ""
    for title, name in (("tapedeck-storage", "StorageConfig"), ("tapedeck-worker", "WorkerConfig"), ("A rail", "RailConfig")):
        text += f"\n## {title}\n\n" + rows_of(file, names.index(name), options)
    return text


def texts(root=ROOT, build=None):
    """(path, text as it is, text as it should be) of each page."""
    made = {"errors.md": errors(root), "configuration.md": configuration(root)}
    if build and all((build / "bin" / program).exists() for program in PROGRAMS):
        made["commands.md"] = commands(build)
    for name, below in made.items():
        text = (root / GUIDE / name).read_text(encoding="utf-8")
        yield f"{GUIDE}/{name}", text, text[:text.index(MARK)] + MARK + below


if __name__ == "__main__":
    reasons_module(ROOT).write(texts(build=pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None))
