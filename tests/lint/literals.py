"""What C++ says to people: its literals, those that StrCat and StrFormat join as one text, with X for each value."""
import re
import typing

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
LITERALS = re.compile(rf"(?:{LITERAL}\s*)+")
CHARACTER = r"'(?:[^'\\\n]|\\[^\n])[^'\n]{0,3}'"
ASIDE = re.compile(rf'(?P<kept>{LITERAL}|{CHARACTER})|R"(\w*)\(.*?\)\2"|//[^\n]*|^\s*#\s*include[^\n]*', re.DOTALL | re.MULTILINE)
TOKEN = re.compile(rf"{LITERAL}|{CHARACTER}|::|[()\[\]{{}},?:]|[^\"'()\[\]{{}},?:]+|.", re.DOTALL)
JOINS = re.compile(rf"\b(?P<call>StrCat|StrFormat|StrAppend|StrAppendFormat)\(|{LITERALS.pattern}")
WHOLE = re.compile(r"(?:absl::|std::)?(StrCat|StrFormat|string|string_view|AlphaNum)\((.*)\)$", re.DOTALL)
FORMAT = re.compile(r"%[-+ #0-9.*]*(?:l|ll|z)?[a-zA-Z]")
VALUE = "X"


class Said(typing.NamedTuple):
    """A text, and the line where it begins."""
    line: int
    words: str


def joined(literals):
    """Adjacent literals as the compiler joins them."""
    inner = "".join(one[1:-1] for one in re.findall(LITERAL, literals))
    return inner.replace('\\"', '"').replace("\\n", " ")


def end_of_call(text, at):
    """Behind the parenthesis that closes the one at `at`."""
    depth = 0
    for found in re.compile(rf"{LITERAL}|{CHARACTER}|[()]").finditer(text, at):
        depth += {"(": 1, ")": -1}.get(found.group(0), 0)
        if depth == 0:
            return found.end()
    return len(text)


def parts(code, separator):
    """Its parts between separators that stand in no bracket."""
    depth, begin = 0, 0
    for found in TOKEN.finditer(code):
        token = found.group(0)
        depth += 1 if token in ("(", "[", "{") else -1 if token in (")", "]", "}") else 0
        if token == separator and depth == 0:
            yield code[begin:found.start()]
            begin = found.end()
    yield code[begin:]


def text_of(code):
    """The text of an expression: of a choice the longest, X for what only a run knows."""
    code = code.strip()
    if re.fullmatch(LITERALS, code):
        return joined(code)
    call = WHOLE.match(code)
    if call and end_of_call(code, call.start(2) - 1) == len(code):
        arguments = list(parts(call.group(2), ","))
        if call.group(1) == "StrFormat":
            return FORMAT.sub(VALUE, text_of(arguments[0]))
        return "".join(map(text_of, arguments))
    choice = list(parts(code, "?"))
    if len(choice) > 1:
        return max((text_of(one) for one in parts(choice[-1], ":")), key=len)
    return VALUE


def without_asides(text):
    """Code without comments, includes and raw literals, which hold scripts, JSON and SQL."""
    return ASIDE.sub(lambda found: found.group("kept") or "\n" * found.group(0).count("\n"), text)


def said(text):
    """Each text of a C++ file."""
    text, end = without_asides(text), 0
    for found in JOINS.finditer(text):
        if found.start() < end:
            continue
        end, words = found.end(), joined(found.group(0))
        if found.group("call"):
            end = end_of_call(text, end - 1)
            call = found.group("call")
            arguments = list(parts(text[found.end():end - 1], ","))[call.startswith("StrAppend"):]
            words = text_of(f"{'StrFormat' if call.endswith('Format') else 'StrCat'}({','.join(arguments)})")
        yield Said(text.count("\n", 0, found.start()) + 1, words)
