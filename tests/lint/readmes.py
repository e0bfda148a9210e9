"""What READMEs show as code, for readme_commands.py and tests/e2e/readme_list.py."""
import re
import typing

FENCED = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


class Code(typing.NamedTuple):
    """A line of a fenced block, or `code`, without comments."""
    line: int
    heading: str  # of the second level, above it
    language: typing.Optional[str]  # of its block; None: it stands in a text
    text: str


def inline(text, begin, heading):
    """The `code` of a text between blocks."""
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        heading = part[3:].split("\n")[0] if part.startswith("## ") else heading
        for found in re.finditer(r"`([^`]+)`", part):
            yield Code(begin + part.count("\n", 0, found.start()), heading, None, " ".join(found.group(1).split()).replace(r"\|", "|"))
        begin += part.count("\n")


def codes(text):
    """Each Code of a README, in order."""
    end, heading = 0, ""
    for block in [*FENCED.finditer(text), None]:
        before = text[end:block.start() if block else len(text)]
        yield from inline(before, text.count("\n", 0, end) + 1, heading)
        heading = (re.findall(r"^## (.*)", before, re.MULTILINE) or [heading])[-1]
        if not block:
            return
        end = block.end()
        first = text.count("\n", 0, block.start()) + 2
        for number, line in enumerate(block.group(2).split("\n")):
            line = re.sub(r"\s+#\s.*", "", line).strip()
            if line:
                yield Code(first + number, heading, block.group(1).strip(), line)
