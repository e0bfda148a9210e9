"""Pages of the guide as data: blocks that a reader pastes, the output below them, and what the page says about both."""
import dataclasses
import pathlib
import re
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "deploy" / "guide"
BLOCK = re.compile(r"((?:^<!-- guide: [^\n]* -->\n)*)^```sh\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"^<!-- guide: (\w+)(.*) -->$", re.MULTILINE)
OF_PAGE = ("before", "after", "needs")
OF_BLOCK = ("name", "status", "varies", "not")
PASTE_BYTES = 4000  # a terminal takes a line of 4095

# What differs from run to run or from machine to machine, and what stands for it when two outputs are compared.
VARIES = (
    (r"\d{8}T\d{6}Z-[0-9a-f]{4,}", "ID"),  # of recordings, groups and jobs
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}", "UUID"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?", "TIME"),
    (r"\b[IWE]?\d{2}:\d{2}:\d{2}\.\d+\b", "TIME"),
    (r"\b\d+:\d\d\b", "CLOCK"),  # time left
    (r"[\d.,]+ (k|M|G)?(i?B|Bit|blocks|samples)/s", "RATE"),
    (r"(?m)^( *r\d+) +\d+ blocks", r"\1 BLOCKS"),  # which rail takes a block
    (r"[\d.]+ (ns|us|µs|ms|s|min|h|days?)\b", "DURATION"),
    (r"[\d.]+ [KMGT]?i?B free", "SIZE free"),  # of a disk
    (r"\b(host|cuda:\d+) \([^)]*\)", "DEVICE"),
    (r"\bpid \d+|\bprocess \d+", "PID"),
    (r"\b(cpu|cores?|processors?) [\d.]+ ?%?", "LOAD"),
    (r"[\d.]+ ?%", "SHARE"),
    (r"-{2,}|─{2,}|[ \t]+", " "),  # columns are as wide as what stands in them
)
# Lines that a shell adds about background jobs.
NOTICE = re.compile(r"^\[\d+\]( \d+$|[-+ ]+(Done|Terminated|Exit|Killed|Running|Interrupt|done|terminated|exit)\b.*$)")


class PageError(Exception):
    """The page is written against its rules."""


@dataclasses.dataclass
class Block:
    """What is pasted as a whole, and the output below it."""
    code: str
    output: str
    line: int
    span: typing.Tuple[int, int]  # in the page: where its output lies, or belongs
    said: typing.Dict[str, str]

    @property
    def status(self):
        return int(self.said.get("status", "0"))


def said_in(text):
    return {key: rest.strip(" :") for key, rest in SAID.findall(text)}


def block_of(path, text, found):
    head, code, output = found.groups()
    line = text.count("\n", 0, found.start(2))
    said = said_in(head)
    unknown = set(said) - set(OF_BLOCK)
    if unknown:
        raise PageError(f"{path}:{line}: unknown: {sorted(unknown)}")
    if len(code.encode()) > PASTE_BYTES:
        raise PageError(f"{path}:{line}: a block has at most {PASTE_BYTES} bytes")
    if re.search(r"(^|\s)# ", code):
        raise PageError(f"{path}:{line}: zsh takes no comments at its prompt: write it into the text")
    span = found.span(3) if output is not None else (found.end(), found.end())
    return Block(code, output or "", line, span, said)


class Page:
    """A page of the guide, or the main README."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text()
        self.blocks = [block_of(path, self.text, found) for found in BLOCK.finditer(self.text)]
        fences = len(re.findall(r"^```sh$", self.text, re.MULTILINE))
        if fences != len(self.blocks):
            raise PageError(f"{path}: {fences} blocks begin, {len(self.blocks)} end as they should")
        rest = BLOCK.sub("", self.text)
        self.said = said_in(rest)
        unknown = set(self.said) - set(OF_PAGE)
        if unknown:
            raise PageError(f"{path}: belongs before a block, or is unknown: {sorted(unknown)}")

    def write(self, outputs):
        """outputs: {index of a block: new output}. Rewrites the page with them."""
        text = self.text
        for index in sorted(outputs, reverse=True):
            begin, end = self.blocks[index].span
            new = outputs[index]
            if begin == end and not self.blocks[index].output:
                new = f"```text\n{new}```\n" if new else ""
            text = text[:begin] + new + text[end:]
        self.path.write_text(text)


def named_blocks():
    """{name: Block} of all pages: what a page begins or ends with stands on another one."""
    found = {}
    for path in sorted(GUIDE.glob("*.md")):
        for block in Page(path).blocks:
            if "name" in block.said:
                found[block.said["name"]] = block
    return found


def steps_of(page):
    """(index in the page or None, Block) in the order in which they are pasted."""
    named = named_blocks()

    def others(key):
        names = page.said.get(key, "").split()
        missing = [name for name in names if name not in named]
        if missing:
            raise PageError(f"{page.path}: no page has a block with the name {missing}")
        return [(None, named[name]) for name in names]

    own = [(index, block) for index, block in enumerate(page.blocks) if "not" not in block.said]
    return others("before") + own + others("after")


def clean(output, home):
    """As a page shows it: without notices of the shell, with the reader's home."""
    lines = [line.rstrip() for line in output.replace("\r\n", "\n").split("\n")]
    text = "\n".join(line for line in lines if not NOTICE.match(line)).strip("\n")
    return text.replace(home, "/home/you") + "\n" if text else ""


def plain(text):
    """Its lines without what varies."""
    for pattern, stands_for in VARIES:
        text = re.sub(pattern, stands_for, text)
    return [line.strip() for line in text.strip().split("\n")]


def same(expected, actual):
    """Whether an output is the one of the page, where a line `...` stands for any number of lines, also for none."""
    pattern = "".join(r"(?s:(?:.*\n)?)" if line == "..." else re.escape(line) + "\n" for line in plain(expected))
    return re.fullmatch(pattern, "".join(line + "\n" for line in plain(actual))) is not None
