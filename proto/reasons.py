#!/usr/bin/python3
"""Writes what errors.proto says of each reason into the files that repeat it: between the two lines that name this program.

tests/lint/made.py refuses a tree where that changes something.
"""
import pathlib
import subprocess
import textwrap

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ROOT = pathlib.Path(__file__).resolve().parents[1]
PREFIX = "ERROR_REASON_"
COLUMNS = 120
# Classes that are one of Python's own, too.
ALSO = {"ARGUMENT_INVALID": "ValueError", "DATATYPE_INVALID": "ValueError", "NAME_INVALID": "ValueError",
        "FILE_EXISTS": "FileExistsError"}
SIDES = {0: "", 1: "on tapectl's machine", 2: "on a node's machine"}


def described(root, *protos):
    """The descriptors of files of tapedeck/v1, and of all that they import, which go first."""
    made = subprocess.run(["protoc", f"-I{root / 'proto'}", "--include_imports", "--include_source_info",
                           "--descriptor_set_out=/dev/stdout", *(f"tapedeck/v1/{name}.proto" for name in protos)],
                          check=True, capture_output=True)
    return descriptor_pb2.FileDescriptorSet.FromString(made.stdout).file


def spliced(text, maker, body):
    """The text with `body` between the lines that name the maker."""
    start = text.index("\n", text.index(f", made by proto/{maker}")) + 1
    end = text.rindex("\n", 0, text.index(f"end of what proto/{maker} makes")) + 1
    return text[:start] + body + text[end:]


def write(files):
    for path, text, wanted in files:
        if text != wanted:
            (ROOT / path).write_text(wanted, encoding="utf-8")
            print(path)


def read(root=ROOT):
    """By name: what tapedeck.v1.Reason says of it, and its meaning, the comment. In the order of their numbers."""
    pool, files = descriptor_pool.DescriptorPool(), described(root, "errors")
    for file in files:
        pool.AddSerializedFile(file.SerializeToString())
    file = files[-1]
    extension = pool.FindExtensionByName("tapedeck.v1.reason")
    options = message_factory.MessageFactory(pool).GetPrototype(extension.containing_type)
    # Paths of source info: the first enum (5, 0), its value (2, i).
    comments = {tuple(at.path): at.leading_comments for at in file.source_code_info.location}
    reasons = {}
    for i, value in enumerate(file.enum_type[0].value[1:], 1):
        said = options.FromString(value.options.SerializeToString()).Extensions[extension]
        reasons[value.name[len(PREFIX):]] = said, " ".join(comments[5, 0, 2, i].split())
    return reasons


def class_of(name, said, meaning):
    """Of services/python/tapedeck/errors.py."""
    bases = f"Error, {ALSO[name]}" if name in ALSO else "Error"
    keys = f" Metadata: {', '.join(said.metadata)}." if said.metadata else ""
    lines = textwrap.wrap(f'"""{meaning}{keys}"""', COLUMNS, initial_indent="    ", subsequent_indent="    ",
                          break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"class {''.join(word.capitalize() for word in name.split('_'))}({bases}):", *lines])


def case_of(case):
    """What the errors have in common that it is about."""
    commands = ", ".join(f"`{command}`" for command in case.commands)
    said = (f"for {commands}" if commands else "", SIDES[case.side], f"with `{case.metadata}`" if case.metadata else "")
    return " ".join(filter(None, said))


def sentence(text):
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def row_of(name, said, meaning):
    """Of the table of services/README.md."""
    remedies = [said.remedy] + [f"{case_of(case)}: {case.text}" for case in said.cases if case.text]
    return f"| `{name}` | {' or '.join(said.codes)} | {meaning} | {' '.join(map(sentence, remedies))} |"


def classes(reasons):
    return "\n\n" + "".join(class_of(name, *about) + "\n\n\n" for name, about in reasons.items())


def table(reasons):
    rows = "".join(row_of(name, *about) + "\n" for name, about in reasons.items())
    return f"\n| reason | code | meaning | remedy |\n|---|---|---|---|\n{rows}\n"


MADE = {"services/python/tapedeck/errors.py": classes, "services/README.md": table}


def texts(root=ROOT):
    """(path, text as it is, text as it should be) of each file."""
    reasons = read(root)
    for path, make in MADE.items():
        text = (root / path).read_text(encoding="utf-8")
        yield path, text, spliced(text, "reasons.py", make(reasons))


if __name__ == "__main__":
    write(texts())
