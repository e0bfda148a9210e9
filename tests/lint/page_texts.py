"""The texts of the console's page: the literals of its TypeScript, and what stands between the tags of its elements.

A value in a text is one word. A regular expression sees no grammar: it takes whatever has words with blanks between them.
"""
import re

FOLDER = "services/console/web/"
QUOTED = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)\"""")
TEMPLATE = re.compile(r"`((?:[^`\\]|\\.)*)`")
# The innermost value of a template; outer ones are next.
VALUE = re.compile(r"\$\{[^{}]*\}")
BETWEEN_TAGS = re.compile(r"(?<![=<])>((?:[^<>{}]|\{[^{}]*\})*)<(?=[/A-Za-z])")
CODE = re.compile(r"[;=|&]|\)\s*:|^\s*[().,]")


def read_by_people(path):
    return path.startswith(FOLDER) and path.endswith((".ts", ".tsx", ".html"))


def blank(found):
    """A value in its place: one word, and as many lines."""
    return "N" + "\n" * found.group(0).count("\n")


def without_values(text):
    """Templates without what they compute, however deep."""
    before = None
    while before != text:
        before, text = text, VALUE.sub(blank, text)
    return text


def page_texts(text):
    """(line, words) of each text."""
    text = re.sub(r"^\s*//.*$|(?<=[\s;{])// .*$", "", text, flags=re.MULTILINE)
    found = [(match, match.group(1) or match.group(2) or "") for match in QUOTED.finditer(text)]
    plain = without_values(text)
    found += [(match, match.group(1)) for match in TEMPLATE.finditer(plain)]
    for match in BETWEEN_TAGS.finditer(text):
        words = re.sub(r"\{[^{}]*\}", "N", match.group(1))
        if not CODE.search(words):
            found.append((match, words))
    for match, words in found:
        line = match.string.count("\n", 0, match.start()) + 1
        yield from ((line, " ".join(clause.split())) for clause in words.split("; ") if " " in clause.strip())
