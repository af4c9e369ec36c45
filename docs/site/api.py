#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""api.py [--check]: writes docs/reference/api.md from lib/fabricast.h: every type and function with its comment.

--check compares instead, and says how to write it. FAB_UPDATE_GOLDEN=1 writes in any case.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER, PAGE = os.path.join(ROOT, "lib/fabricast.h"), os.path.join(ROOT, "docs/reference/api.md")
START = """# Functions of the library

This page is for people who call `libfabricast.so.0` from a program. It is made of `lib/fabricast.h` and has every type and
function with the comment of the header. [How to use the library](../how-to/library.md); [names of figures and
tables](library.md).

Functions that may change with any version need `FABRICAST_UNSTABLE`; their comments end with "unstable".
"""
COMMENT = r"/\*((?:(?!\*/).)*)\*/\n"
# A declaration ends with a brace in the first column, or with a semicolon where it has no braces.
CODE = r"((?:FABRICAST_API|typedef|enum)\b(?:[^;{]*\{.*?^\}[^\n]*;|[^{};]*;))"
PIECE = re.compile(COMMENT + CODE, re.S | re.M)
HEADING = re.compile(r"--- (.+?) ---\s*")
NAME = re.compile(r"\b(fabricast_\w+) \(|^\} (\w+);|typedef struct \w+ (\w+);|\(\*(\w+)\)", re.M)


def prose(comment):
    """A comment as lines of text. Lines that it sets off by blanks are code."""
    lines = [re.sub(r"^ \* ?", "", line).rstrip() for line in comment.strip(" ").split("\n")]
    found, code = [], False
    for line in lines:
        if line.startswith("  ") != code and (line or code):
            code = not code
            found.append("```c" if code else "```")
        found.append(line[2:] if code else escaped(line))
    return "\n".join(found + ["```"] * code).strip()


def escaped(text):
    """Names of the header as code."""
    text = re.sub(r"(?<![`\w])(fabricast_\w+(?: \(\))?|FABRICAST_\w+)", r"`\1`", text)
    return re.sub(r"(?<!`)\b(NULL|INT64_MAX)\b(?!`)", r"`\1`", text).replace("<", "&lt;")


def page():
    with open(HEADER, encoding="utf-8") as file:
        text = file.read()
    head = re.search(r"/\* fabricast\.h - (.*?)\*/", text, re.S)
    found = [START, "## What it is\n", prose("This is " + head.group(1)) + "\n"]
    for piece in re.finditer(COMMENT + "(?:" + CODE + ")?", text[head.end():], re.S | re.M):
        comment, code = piece.group(1), piece.group(2)
        heading = HEADING.match(comment.strip())
        if heading:
            found.append(f"## {heading.group(1).capitalize()}\n")
            comment = comment.strip()[heading.end():]
        elif code is None:
            continue  # within a declaration, or about none
        if code:
            name = next((next(filter(None, match.groups())) for match in NAME.finditer(code)), None)
            found.append((f"### {name}\n\n" if name else "") + "```c\n" + re.sub(r"^FABRICAST_API ", "", code) + "\n```\n")
        if comment.strip():
            found.append(prose(comment) + "\n")
    return "\n".join(found)


def main():
    made = page()
    if "--check" in sys.argv[1:] and not os.environ.get("FAB_UPDATE_GOLDEN"):
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != made:
                sys.exit("docs/reference/api.md is not what lib/fabricast.h says: run python3 docs/site/api.py")
        return
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(made)


main()
