#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What commands print to a person, by the pages and checks of tests/golden: no paragraph is longer than 60 words, and no
message either. It runs no program."""
import glob
import os
import re
import sys

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
MOST_WORDS = 60
# For programs, or a drawing; what Fabricast prints of a scenario or an entry is YAML.
DATA = re.compile(r"json|csv|dot|svg|schema|matrix|kineto|chrome|markdown")
YAML = re.compile(r"^ *(- )?[\w.]+:( |$)|^ *[-{}\[\]\"]|^#")


def is_row(line):
    """A row of a table, a label with its text, or a drawing."""
    return re.search(r"\S {2,}\S", line) or not re.search(r"[a-z]{2}", line)


def paragraphs(text, is_wrapped):
    """Lists of lines that belong together. Only help is wrapped; elsewhere a file and a pipe get a paragraph as one line."""
    lines = []
    for line in text.split("\n") + [""]:
        ends = not line.strip() or is_row(line) or YAML.match(line) or line.lstrip().startswith("fabricast ")
        if lines and (ends or not is_wrapped):
            yield lines
            lines = []
        if not ends:
            lines.append(line.strip())
        elif is_row(line):
            yield [line.strip().split("  ")[-1]]  # the last cell of a row may be a sentence


def printed():
    """(where, paragraph) of everything that is printed to a person."""
    for path in sorted(glob.glob(os.path.join(GOLDEN, "pages", "*.out"))):
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if not DATA.search(name) and not text.startswith(("{", "[")):
            yield from ((name, lines) for lines in paragraphs(text, name.startswith("help-")))
    for path in sorted(glob.glob(os.path.join(GOLDEN, "checks", "*.txt"))):
        with open(path, encoding="utf-8") as file:
            for line in file:
                kind, _, text = line.rstrip("\n").partition(" ")
                if kind in ("out", "err") and not re.match(r"\d+,\d*,", text):  # no CSV
                    yield from ((os.path.basename(path), lines) for lines in paragraphs(text, False))


def main():
    long = []
    for where, lines in printed():
        text = " ".join(lines)
        if len(text.split()) > MOST_WORDS:
            long.append(f"{where}: {len(text.split())} words: {text[:100]}...")
    print("\n".join(long) or "no paragraph has more than 60 words")
    sys.exit(1 if long else 0)


main()
