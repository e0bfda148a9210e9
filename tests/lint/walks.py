#!/usr/bin/python3
"""Each step of a walk in a README names folders, and functions that are there: `folder` `Class::Function` `Function`: what it does.
A function may lie anywhere below the folder that is named before it."""
import re

import tree

SECTION = re.compile(r"^## Walks\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^\d+\. (.*(?:\n +\S.*)*)", re.MULTILINE)
NAMED = re.compile(r"`([^`]+)`")


def is_in(name, text):
    """Whether a file with this text declares or defines the function."""
    *scopes, function = name.split("::")
    if not scopes:
        return re.search(rf"^(?:[\w\[].*[ *&])?{function}\(", text, re.MULTILINE) is not None
    if re.search(rf"\b{scopes[-1]}::{function}\(", text):
        return True
    of_class = re.search(rf"\b(?:class|struct) {scopes[-1]}\b[^;{{]*\{{(.*?)^\}};", text, re.MULTILINE | re.DOTALL)
    return of_class is not None and re.search(rf"[ *&]{function}\(", of_class.group(1)) is not None


def wrong(files, step):
    """What is wrong with the names before the step's colon."""
    folder = None
    for name in NAMED.findall(step.split(": ")[0]):
        below = [path for path in files.code() if path.startswith(name + "/")]
        if "/" in name or below:
            folder = name
            if not below:
                yield f"no code lies below {name}"
        elif folder is None:
            yield f"{name} stands before its folder"
        elif not any(is_in(name, files.text(path)) for path in files.code() if path.startswith(folder + "/")):
            yield f"no function {name} below {folder}"


def check(files):
    for path in files.code(".md"):
        text = files.text(path)
        for section in SECTION.finditer(text):
            for step in STEP.finditer(section.group(1)):
                line = text.count("\n", 0, section.start(1) + step.start()) + 1
                for message in wrong(files, step.group(1)):
                    yield path, line, message


if __name__ == "__main__":
    tree.main(check)
