#!/usr/bin/python3
"""Sizes that keep the tree readable: folders, files, functions, seams, lines of READMEs."""
import collections
import re
import sys

import tree

FOLDER_FILES = 30
FILE_LINES, FILE_LINES_HARD = 300, 500
FUNCTION_LINES = 60
SEAM_LINES, SEAM_VIRTUALS = 80, 5
README_COLUMNS = 120
CODE_AND_SCRIPTS = tree.CODE + (".py", ".sh", ".proto")

# Comments, literals and preprocessor lines, in the order in which they must be looked for.
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r'\b(namespace|class|struct|union|enum)\b|\bextern\s*$')
CONTROL = re.compile(r"\b(if|for|while|switch|catch|do|else|return)\b")
FUNCTION_END = re.compile(
    r"\)\s*((const|noexcept|override|final|mutable|volatile|try|&&?|requires\b.*|->[^;{}]*|ABSL_\w+\(\))\s*)*"
    r"(:[^:].*[)}]\s*)?$", re.DOTALL)


def strip_noise(text):
    """Blanks comments, literals and directives, keeping every line break."""
    return NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def strip_groups(text, opening, closing):
    """Empties the outermost groups: f(a, (b)) becomes f()."""
    depth, kept = 0, []
    for character in text:
        if character == closing and depth:
            depth -= 1
        if depth == 0:
            kept.append(character)
        if character == opening:
            depth += 1
    return "".join(kept)


def brace_kind(statement):
    """What a { after this unfinished statement opens: scope, function or other."""
    statement = strip_groups(re.sub(r"\btemplate\s*<[^{;]*?>\s*(?=[\w:\[])", "", statement), "(", ")").strip()
    is_function = FUNCTION_END.search(statement) is not None and not CONTROL.search(statement)
    if is_function and "=" not in re.sub(r"operator\s*[=!<>+\-*/]+", "", statement.split("(")[0]):
        return "function"
    return "scope" if SCOPE.search(statement) else "other"


def functions(text):
    """(first line, lines) of the body of each outermost function, by matching braces."""
    stack, statement, line, start = [], "", 1, 0
    for character in strip_noise(text):
        line += character == "\n"
        if character == "{":
            kind = "inside" if "function" in stack else brace_kind(statement)
            stack.append(kind)
            if kind == "function":
                start = line
            if kind in ("scope", "function"):
                statement = ""
        elif character == "}" and stack:
            kind = stack.pop()
            if kind == "function":
                yield start, line - start + 1
            statement = statement + "{}" if kind == "other" else ""
        elif character == ";" and "other" not in stack:
            statement = ""
        elif "function" not in stack and "other" not in stack:
            statement += character


def classes_with_virtuals(text):
    """(line, name, pure virtuals) of each class that has any. Nested classes count for themselves."""
    code = strip_noise(text)
    found = [(m.start(), m.group(1)) for m in re.finditer(r"\b(?:class|struct)\s+(\w+)[^;{(]*\{", code)]
    for index, (position, name) in enumerate(found):
        end = found[index + 1][0] if index + 1 < len(found) else len(code)
        count = len(re.findall(r"\bvirtual\b[^;{]*=\s*0\s*;", code[position:end]))
        if count:
            yield code.count("\n", 0, position) + 1, name, count


def code_lines(text):
    return sum(1 for line in strip_noise(text).splitlines() if line.strip())


def check_seam(path, text):
    seams = list(classes_with_virtuals(text))
    for line, name, count in seams:
        if count > SEAM_VIRTUALS:
            yield path, line, f"{name} has {count} pure virtuals, at most {SEAM_VIRTUALS}"
    if seams and code_lines(text) > SEAM_LINES:
        yield path, 1, f"a seam of {code_lines(text)} code lines, at most {SEAM_LINES}"


OUTPUT = re.compile(r"^```sh\n.*?^```\n\n?```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def check_readme(path, text):
    """Nobody can break a row of a table, or the output of a program."""
    text = OUTPUT.sub(lambda found: "\n" * found.group().count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > README_COLUMNS and not line.startswith("|"):
            yield path, number, f"a line of {len(line)} characters, at most {README_COLUMNS}"


def check_folders(files):
    """No folder has more C++ files of its own than a reader takes in at once."""
    folders = collections.Counter(path.rpartition("/")[0] for path in files.code())
    for folder, count in sorted(folders.items()):
        if count > FOLDER_FILES:
            yield folder, 1, f"a folder of {count} C++ files, at most {FOLDER_FILES}"


def check(files):
    yield from check_folders(files)
    for path in files.code(".md"):
        yield from check_readme(path, files.text(path))
    for path in files.code(*CODE_AND_SCRIPTS):
        text = files.text(path)
        lines = text.count("\n")
        if lines > FILE_LINES_HARD:
            yield path, lines, f"{lines} lines, at most {FILE_LINES_HARD}"
        elif lines > FILE_LINES:
            print(f"{path}: warning: {lines} lines, better at most {FILE_LINES}", file=sys.stderr)
        if path.endswith(tree.CODE):
            for line, length in functions(text):
                if length > FUNCTION_LINES:
                    yield path, line, f"a function of {length} lines, at most {FUNCTION_LINES}"
        if path.endswith(".h"):
            yield from check_seam(path, text)


if __name__ == "__main__":
    tree.main(check)
