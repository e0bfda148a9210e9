"""What READMEs show as code, for readme_commands.py and tests/e2e/readme_list.py."""
import re
import typing

FENCED = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


class Code(typing.NamedTuple):
    """A line of a fenced block, or `code`, without comments."""
    line: int
    language: typing.Optional[str]  # of its block; None: it stands in a text
    text: str


def inline(text, begin):
    """The `code` of a text between blocks."""
    for found in re.finditer(r"`([^`]+)`", text):
        yield Code(begin + text.count("\n", 0, found.start()), None, " ".join(found.group(1).split()).replace(r"\|", "|"))


def codes(text):
    """Each Code of a README, in order."""
    end = 0
    for block in [*FENCED.finditer(text), None]:
        yield from inline(text[end:block.start() if block else len(text)], text.count("\n", 0, end) + 1)
        if not block:
            return
        end = block.end()
        first = text.count("\n", 0, block.start()) + 2
        for number, line in enumerate(block.group(2).split("\n")):
            line = re.sub(r"\s+#\s.*", "", line).strip()
            if line:
                yield Code(first + number, block.group(1).strip(), line)
