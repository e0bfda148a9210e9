#!/usr/bin/python3
"""Writes the types of the console's page into services/console/web/src/types.ts: the messages of the protos that it speaks, as
protobuf's JSON has them. tests/lint/made.py refuses a tree where that changes something."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import reasons  # noqa: E402

FILE = "services/console/web/src/types.ts"
PROTOS = ("catalog", "doctor", "node", "pipeline", "recorder", "view")
# The page speaks these, and what they hold. Their names there, where these differ.
SPOKEN = ("Lun", "Channel", "Recording", "VerifyRecordingResponse", "Scrub", "Node", "WatchStatsResponse", "Job", "Stage", "DoctorFinding",
          "Timeline", "Spectrogram", "Samples", "Envelope", "Explanation")
NAMES = {"Node": "NodeInfo", "WatchStatsResponse": "Stats", "VerifyRecordingResponse": "VerifyProgress", "DoctorFinding": "Finding",
         "SampleSpan": "SampleRun", "Spectrogram": "SpectrogramMessage", "Samples": "SamplesMessage", "Envelope": "EnvelopeMessage"}
WELL_KNOWN = {".google.protobuf.Timestamp": "Time", ".google.protobuf.Duration": "Span",
              ".google.rpc.Status": "{ code: number; message: string }"}
# By FieldDescriptorProto.Type; the others are messages and enums.
PLAIN = {1: "number", 2: "number", 3: "Int64", 4: "Int64", 5: "number", 8: "boolean", 9: "string", 12: "string", 13: "number"}
MESSAGE, ENUM, REPEATED = 11, 14, 3
COLUMNS = 160


def named(full):
    """Of .tapedeck.v1.Node: NodeInfo."""
    name = full.rsplit(".", 1)[-1]
    return NAMES.get(name, name)


class Types:
    """Those that have been asked for, in the order in which they were found."""

    def __init__(self, files):
        self.messages = {f".{file.package}.{m.name}": m for file in files for m in file.message_type}
        self.enums = {f".{file.package}.{e.name}": e for file in files for e in file.enum_type}
        self.found = {}

    def of_value(self, field):
        if field.type_name in WELL_KNOWN:
            return WELL_KNOWN[field.type_name]
        if field.type not in (MESSAGE, ENUM):
            return PLAIN[field.type]
        self.add(field.type_name)
        return named(field.type_name)

    def of_field(self, message, field):
        for entry in message.nested_type:
            if entry.options.map_entry and field.type_name.endswith(f".{message.name}.{entry.name}"):
                return f"Record<string, {self.of_value(entry.field[1])}>", True
        value = self.of_value(field)
        if field.label == REPEATED:
            return (f"({value})" if " " in value else value) + "[]", True
        return value, field.type == MESSAGE or field.HasField("oneof_index")

    def add(self, full):
        if full in self.found:
            return
        self.found[full] = ""
        if full in self.enums:
            words = [f"'{value.name}'" for value in self.enums[full].value]
            line = f"export type {named(full)} = {' | '.join(words)};\n"
            self.found[full] = line if len(line) <= COLUMNS else f"export type {named(full)} =\n" + "".join(
                f"  | {word}\n" for word in words)[:-1] + ";\n"
            return
        message, lines = self.messages[full], []
        for field in message.field:
            value, absent = self.of_field(message, field)
            lines.append(f"  {field.json_name}{'?' if absent else ''}: {value};\n")
        self.found[full] = f"export interface {named(full)} {{\n{''.join(lines)}}}\n"


def texts(root=reasons.ROOT):
    """(path, text as it is, text as it should be)."""
    types = Types(reasons.described(root, *PROTOS))
    for name in SPOKEN:
        types.add(f".tapedeck.v1.{name}")
    text = (root / FILE).read_text(encoding="utf-8")
    yield FILE, text, reasons.spliced(text, "page_types.py", "\n" + "".join(made + "\n" for made in types.found.values()))


if __name__ == "__main__":
    reasons.write(texts())
