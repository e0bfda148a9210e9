#!/usr/bin/python3
"""Sentences that people read: their mean and greatest length in each file, and openings and phrases that hide who acts.

Read are Markdown files, the comments of protos, the remedies of errors, and the help of options, metrics and findings.
"""
import re
import typing

import tree

MEAN, LONGEST = 15, 30  # words; a mean is asked of files with FEWEST sentences or more
FEWEST = 5
SHORTEST = 3  # words of what counts as a sentence

OPENING = re.compile(r"^(What|Of|Whoever|Who|One|That which|Whose|Nobody|Meanwhile|Else)\b(?! (is|are|does|do|to)\b.*\?$)")
PHRASE = re.compile(r"\b(of what|meanwhile|unless told|as its \w+ has|so many|so long|is to|are to|had been|whoever|that which|"
                    r"not un\w+|on its own account)\b|\belse[.;]", re.IGNORECASE)

# Why a file may break the limits. One that keeps them must not stand here.
NOT_YET = "not yet rewritten"
EXEMPT = {
    "gpu_worker/README.md": "a test holds its table to the texts of services/model/seams/features.h",
    "proto/tapedeck/otlp/v1/trace.proto": NOT_YET,
    "proto/tapedeck/perfetto/v1/trace.proto": NOT_YET,
}

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
LITERALS = re.compile(rf"(?:{LITERAL}\s*)+")
HELP_CALL = re.compile(r"\bAdd(?:Option|Flag|Command|Parsed|Choice)\(")
# Lists whose every literal of some words is for people.
LISTS = ("services/model/channel.h", "services/model/lun.h", "services/model/job_spec.h", "services/model/recording/recording.h",
         "services/observe/doctor/codes.h", "services/observe/explain/advice.cc", "services/observe/telemetry/metrics.h",
         "services/tapectl/terminal/failure.h")
HELP_IN = re.compile(r"(services|storage_node|gpu_worker|tests/bench)/.*\.(cc|h)$")
PROTO_TEXT = re.compile(rf"\b(?:remedy|text):\s*({LITERAL}(?:\s*{LITERAL})*)")
MADE = re.compile(r"<!-- [^\n]*made by proto/reasons\.py -->.*?<!-- The end of what proto/reasons\.py makes\. -->", re.DOTALL)
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx)\.$")


class Text(typing.NamedTuple):
    """A paragraph, item, cell, comment or literal."""
    line: int
    words: str


def joined(literals):
    """Adjacent literals as the compiler joins them."""
    inner = "".join(one[1:-1] for one in re.findall(LITERAL, literals))
    return inner.replace('\\"', '"').replace("\\n", " ")


def markdown(text):
    """Paragraphs, items and cells; no code, no headings, nothing that a program has made."""
    text = MADE.sub(lambda made: "\n" * made.group(0).count("\n"), text)
    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", lambda code: "\n" * code.group(0).count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    lines, begin = [], 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        line = line.strip().lstrip("> ")
        starts = re.match(r"(?:[-*+]|\d+\.)\s+", line)
        if lines and (not line or starts or line[0] in "|#<"):
            yield Text(begin, " ".join(lines))
            lines = []
        if line.startswith("|"):
            yield from (Text(number, cell.strip()) for cell in re.split(r"(?<!\\)\|", line.strip("|")))
        elif line and line[0] not in "#<":
            begin = begin if lines else number
            lines.append(line[starts.end():] if starts else line)


def comments(text):
    """Comments of a proto that stand on lines of their own."""
    lines = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        found = re.match(r"\s*//\s?(.*)", line)
        if found:
            lines.append(found.group(1))
        elif lines:
            yield Text(number - len(lines), " ".join(lines))
            lines = []


def found_in(pattern, text, group, begin=0, end=None):
    """A Text for each clause of the matches between two places: help and remedies put "; " between sentences."""
    for found in pattern.finditer(text, begin, len(text) if end is None else end):
        line = text.count("\n", 0, found.start()) + 1
        yield from (Text(line, clause) for clause in joined(found.group(group)).split("; "))


def end_of_call(text, at):
    """Behind the parenthesis that closes the one at `at`."""
    depth = 0
    for found in re.compile(rf"{LITERAL}|[()]").finditer(text, at):
        depth += {"(": 1, ")": -1}.get(found.group(0), 0)
        if depth == 0:
            return found.end()
    return len(text)


def helps(text):
    """Literals that calls which make an option or a command are given."""
    text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    end = 0
    for call in HELP_CALL.finditer(text):
        if call.start() < end:
            continue
        end = end_of_call(text, call.end() - 1)
        yield from found_in(LITERALS, text, 0, call.end(), end)


def texts(path, text):
    """All that people read in a file."""
    if path.endswith(".md"):
        yield from markdown(text)
    elif path.endswith(".proto"):
        yield from comments(text)
        yield from found_in(PROTO_TEXT, text, 1)
    elif path in LISTS:
        yield from found_in(LITERALS, re.sub(r"^(\s*//|#include).*$", "", text, flags=re.MULTILINE), 0)
    elif HELP_IN.match(path):
        yield from helps(text)


def sentences(words):
    """Its sentences, `code` as one word."""
    words = re.sub(r"`[^`]*`", "CODE", words)
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)
    words = re.sub(r"[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", "", words)
    kept = ""
    for part in re.split(r"(?<=[.!?])\)?\s+(?=[A-Z0-9(\"'])", words):
        kept = f"{kept} {part}".strip()
        if not ABBREVIATION.search(kept):
            yield kept
            kept = ""
    if kept:
        yield kept


def length(sentence):
    return len(re.findall(r"[A-Za-z0-9][\w'’./%-]*", sentence))


def faults(found):
    """(line, message) of a file's Texts."""
    counts = []
    for line, words in found:
        for sentence in sentences(words):
            if length(sentence) < SHORTEST:
                continue
            counts.append((length(sentence), line))
            wrong = OPENING.search(sentence) or PHRASE.search(sentence)
            if wrong:
                yield line, f"say who acts, without '{wrong.group(0)}': {sentence[:60]}"
            if counts[-1][0] > LONGEST:
                yield line, f"a sentence of {counts[-1][0]} words, at most {LONGEST}: {sentence[:60]}"
    mean = sum(count for count, _ in counts) / max(len(counts), 1)
    if len(counts) >= FEWEST and mean > MEAN:
        yield counts[0][1], f"{mean:.1f} words in a sentence, at most {MEAN} in the mean"


def check(files):
    for path in files.files:
        if path.startswith(("proto/google/", "tests/mutants/")):
            continue
        wrong = list(faults(texts(path, files.text(path))))
        if path not in EXEMPT:
            yield from ((path, line, message) for line, message in wrong)
        elif not wrong:
            yield path, 1, f"keeps the limits: take it from the exemptions of {__file__.rsplit('/', 1)[-1]}"


if __name__ == "__main__":
    tree.main(check)
