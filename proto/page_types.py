#!/usr/bin/python3
"""Writes the types of the console's page into services/console/web/src/types.ts: the messages of the protos that it speaks, in the
JSON that the console answers in (services/console/message_json.h). It writes the settings of a channel into luns/settings.ts, too.
tests/lint/made.py refuses a tree where that changes something."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import reasons  # noqa: E402

FILE = "services/console/web/src/types.ts"
# The settings of a channel, of its list of fields.
SETTINGS, LISTED = "services/console/web/src/luns/settings.ts", "services/model/channel.h"
ENTRY = re.compile(r"Describe\(\s*&Channel::\w+,\s*\{(.*?)\}\)", re.DOTALL)
TRAIT = re.compile(r'\.(\w+) = ((?:"(?:[^"\\]|\\.)*"\s*)+|[\w:]+)')
PROTOS = ("catalog", "doctor", "node", "pipeline", "recorder", "view")
# The page speaks these, and what they hold. Their names there, where these differ.
SPOKEN = ("Lun", "Channel", "Recording", "VerifyRecordingResponse", "Scrub", "Node", "WatchStatsResponse", "Job", "DoctorFinding",
          "Timeline", "Spectrogram", "Samples", "Envelope", "Explanation")
NAMES = {"Node": "NodeInfo", "WatchStatsResponse": "Stats", "VerifyRecordingResponse": "VerifyProgress", "DoctorFinding": "Finding",
         "SampleSpan": "SampleRun", "Spectrogram": "SpectrogramMessage", "Samples": "SamplesMessage", "Envelope": "EnvelopeMessage"}
DURATION, STATUS, COUNTERS = ".google.protobuf.Duration", ".google.rpc.Status", ".tapedeck.v1.Counters"
WELL_KNOWN = {".google.protobuf.Timestamp": "Time", DURATION: "number", STATUS: "ErrorBody"}
# By FieldDescriptorProto.Type; the others are messages and enums.
PLAIN = {1: "number", 2: "number", 3: "number", 4: "number", 5: "number", 8: "boolean", 9: "string", 12: "string", 13: "number"}
# Where the model's object is not its message: what it has none of, has in another type, and has besides.
LACKS = {"Job": ("coded_notes", "stage_times"), "Recording": ("stage_times",)}
OTHERS = {"Job": {"notes": "Note[]"}}
KEYS = {"elapsed_seconds": "elapsed_s"}  # where a key is not its field's name
MORE = {"Timing": ("jitter_p50_s", "jitter_p99_s", "jitter_p999_s")}
# Left out where they say nothing.
SPARSE = {"Job": ("timing", "error"), "JobOutput": ("error",), "StageShare": ("thread", "thread_share")}
# Enums whose words in the model are in small letters.
SMALL = ("CommitLevel", "DamageKind", "FullPolicy", "Severity")
# Where "not set" has a word, and where it is null; elsewhere a node sets it.
ZERO = {"DamageKind": "none", "ScrubState": "NONE"}
UNSET = (".tapedeck.v1.TransferOp",)
MESSAGE, ENUM, STRING, REPEATED = 11, 14, 9, 3
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
                return f"Record<string, {self.of_value(entry.field[1])}>"
        value = self.of_value(field)
        if field.label == REPEATED:
            return f"{value}[]"
        absent = field.type == MESSAGE or field.type_name in UNSET or field.HasField("oneof_index")
        known = field.type_name == DURATION or field.name in SPARSE.get(message.name, ())
        return f"{value} | null" if absent and not known else value

    def words_of(self, full):
        """Of an enum, without the one for "not set"."""
        values = [value.name for value in self.enums[full].value]
        words = [value.removeprefix(values[0].removesuffix("UNSPECIFIED")) for value in values[1:]]
        return [word.lower() if named(full) in SMALL else word for word in words]

    def lines_of(self, message):
        """The members of its interface."""
        for field in message.field:
            if field.type_name == COUNTERS:
                yield from self.lines_of(self.messages[COUNTERS])
            elif field.name not in LACKS.get(message.name, ()):
                value = OTHERS.get(message.name, {}).get(field.name) or self.of_field(message, field)
                key = KEYS.get(field.name, field.name) + "_s" * (field.type_name == DURATION)
                yield f"  {key}{'?' * (field.name in SPARSE.get(message.name, ()))}: {value};\n"
        for name in MORE.get(message.name, ()):
            yield f"  {name}: number;\n"

    def add(self, full):
        if full in self.found:
            return
        self.found[full] = ""
        if full in self.enums:
            words = [f"'{word}'" for word in [ZERO.get(named(full))] + self.words_of(full) if word]
            line = f"export type {named(full)} = {' | '.join(words)};\n"
            self.found[full] = line if len(line) <= COLUMNS else f"export type {named(full)} =\n" + "".join(
                f"  | {word}\n" for word in words)[:-1] + ";\n"
            return
        lines = "".join(self.lines_of(self.messages[full]))
        self.found[full] = f"export interface {named(full)} {{\n{lines}}}\n"


def settings(types, header):
    """A line for each field of a channel that has an option, with what its list says of it."""
    fields = {field.name: field for field in types.messages[".tapedeck.v1.Channel"].field}
    for entry in ENTRY.finditer(header):
        traits = {key: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', value)) if '"' in value else value
                  for key, value in TRAIT.findall(entry.group(1))}
        if "option" not in traits:
            continue
        field, kind = fields[traits["name"]], "text"
        if field.type_name == DURATION:
            kind = "span"
        elif traits.get("unit") == "Unit::kBytes":
            kind = "bytes"
        elif field.type == MESSAGE:
            kind = "labels"
        elif field.type not in (ENUM, STRING):
            kind = "number"
        words = types.words_of(field.type_name) if field.type == ENUM else []
        shown = {"name": traits["name"], "option": traits["option"], "kind": kind, "words": words, "help": traits["help"].replace('\\"', '"'),
                 "initial": traits.get("initial", ""), "zero": traits.get("zero", "")}
        yield f"  {json.dumps(shown)},\n"


def texts(root=reasons.ROOT):
    """(path, text as it is, text as it should be)."""
    types = Types(reasons.described(root, *PROTOS))
    for name in SPOKEN:
        types.add(f".tapedeck.v1.{name}")
    text = (root / FILE).read_text(encoding="utf-8")
    yield FILE, text, reasons.spliced(text, "page_types.py", "\n" + "".join(made + "\n" for made in types.found.values()))
    text = (root / SETTINGS).read_text(encoding="utf-8")
    lines = settings(types, (root / LISTED).read_text(encoding="utf-8"))
    yield SETTINGS, text, reasons.spliced(text, "page_types.py", "".join(lines))


if __name__ == "__main__":
    reasons.write(texts())
