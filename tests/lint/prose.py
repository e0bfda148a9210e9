#!/usr/bin/python3
"""Sentences that people read: their mean and greatest length in each file, and openings and phrases that hide who acts.

Read are Markdown files, the comments of protos, the remedies of errors, the literals of the product's C++ (errors, notes, lines of
the log, findings and help), and the texts of the console's page.
"""
import re
import typing

import page_texts
import tree
from literals import LITERAL, LITERALS, end_of_call, joined, said

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
    "services/tapectl/main.cc": "the help of --timeout lists its defaults in one sentence",
    "proto/tapedeck/otlp/v1/trace.proto": NOT_YET,
    "proto/tapedeck/perfetto/v1/trace.proto": NOT_YET,
}

HELP_CALL = re.compile(r"\bAdd(?:Option|Flag|Command|Parsed|Choice)\(")
# Whose every literal is for people: errors, notes, lines of the log, findings, help. Of tests/bench only the help is.
PRODUCT = re.compile(r"(dataplane|services|storage_node|gpu_worker)/.*\.(cc|h|cu|cuh)$")
HELP_IN = re.compile(r"tests/bench/.*\.(cc|h)$")
# Literals of the product that no person reads, and why.
UNREAD = re.compile("|".join((
    r"^(PRAGMA|SELECT|INSERT|DELETE) ",  # SQL
    r"^(default-src |<!doctype )",  # a header and a page of HTTP
)))
LONGEST_SAID = 25  # words of a sentence between "; " in the product
# What errors, notes and the log do not say: words for no actor, and turns that want a second reading.
SPOKEN = re.compile(r"^(what (?!helps|its)|who|whoever|meanwhile|else)\b|"
                    r"\b(nobody|everybody|all the same|for the time being|in its stead|anew|no further|are the most|than any|"
                    r"(was|were) to (?!the)|(go|goes|went|going|gone) on|(be|is|are|was|were) told|"
                    r"(?<!there )(is|are) no (?!longer|more)|of no (?!space)\w+|"
                    r"(has|have) not (a|an|the|as|its|enough|\d))\b")
PROTO_TEXT = re.compile(rf"\b(?:remedy|text):\s*({LITERAL}(?:\s*{LITERAL})*)")
MADE = re.compile(r"<!-- [^\n]*made by proto/reasons\.py -->.*?<!-- The end of what proto/reasons\.py makes\. -->", re.DOTALL)
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx)\.$")


class Text(typing.NamedTuple):
    """A paragraph, item, cell, comment or literal."""
    line: int
    words: str


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
    if page_texts.read_by_people(path):
        yield from (Text(line, words) for line, words in page_texts.page_texts(text))
    elif path.endswith(".md"):
        yield from markdown(text)
    elif path.endswith(".proto"):
        yield from comments(text)
        yield from found_in(PROTO_TEXT, text, 1)
    elif PRODUCT.match(path):
        yield from (Text(line, clause) for line, words in said(text) if not UNREAD.match(words) for clause in words.split("; "))
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


def faults(found, spoken=False):
    """(line, message) of a file's Texts; `spoken` by the product."""
    longest = LONGEST_SAID if spoken else LONGEST
    counts = []
    for line, words in found:
        for sentence in sentences(words):
            if length(sentence) < SHORTEST:
                continue
            counts.append((length(sentence), line))
            wrong = OPENING.search(sentence) or PHRASE.search(sentence) or (spoken and SPOKEN.search(sentence))
            if wrong:
                yield line, f"say who acts, without '{wrong.group(0)}': {sentence[:60]}"
            if counts[-1][0] > longest:
                yield line, f"a sentence of {counts[-1][0]} words, at most {longest}: {sentence[:60]}"
    mean = sum(count for count, _ in counts) / max(len(counts), 1)
    if len(counts) >= FEWEST and mean > MEAN:
        yield counts[0][1], f"{mean:.1f} words in a sentence, at most {MEAN} in the mean"


def check(files):
    for path in files.files:
        if path.startswith(("proto/google/", "tests/mutants/")):
            continue
        wrong = list(faults(texts(path, files.text(path)), spoken=bool(PRODUCT.match(path))))
        if path not in EXEMPT:
            yield from ((path, line, message) for line, message in wrong)
        elif not wrong:
            yield path, 1, f"keeps the limits: take it from the exemptions of {__file__.rsplit('/', 1)[-1]}"


if __name__ == "__main__":
    tree.main(check)
