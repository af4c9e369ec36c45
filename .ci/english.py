#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""english.py: the worst habits of the prose here (docs/reference/style.md): phrases without a noun or an antecedent,
figures of speech, and in printed strings, summaries and notes sentences and texts that are too long."""
import re

from csource import files, read, report, without_comments
from prose import values

GAP = r"(?:\s|[#*|/])+"
HABITS = [(re.compile(pattern.replace(" ", GAP), re.I), instead) for pattern, instead in (
    (r"\bfor who\b(?! is\b)", "say who: 'for anyone who', 'for a planner who'"),
    (r"\bthat that\b", "name the second thing"),
    (r"\b(?:are|is) crossed alike\b", "say which links, crossed by which streams"),
    (r"\bplays its \S+ again\b", "say what is simulated a second time, and why"),
    (r"\bis not played again\b", "say what is remembered and reused"),
    (r"\bwhat the cable is longer\b", "cable beyond the length in the link entry"),
    (r"\bnodes that are twins\b", "identical nodes"),
)]
# In strings of C, and in summaries and notes of YAML: what a person reads without the page around it.
SPOKEN = [(re.compile(pattern), instead) for pattern, instead in (
    (r"^Likewise\.$|, likewise\.$", "repeat the noun: the description is read alone"),
    (r"\b\d*%\S+ (?:are|is) possible$", "'the limit is'"),
    (r"\bcannot talk\b", "'cannot reach each other'"),
    (r"(?:^|[.:;] )(?:What|Who)(?: [\w'`%-]+){1,12}, (?!who\b|what\b|where\b)", "begin with the noun"),
    (r"\bstands? twice\b", "'is given twice'"),
)]
SENTENCE, TEXT = 40, 60  # words
STRINGS = re.compile(r'(?:"(?:\\.|[^"\\\n])*"\s*)+')
AS_IS = ("docs/reference/style.md", ".ci/", "tests/", "validate/measured/")


def spoken(path):
    """(line, text) of the strings of a C file, joined as the compiler joins them."""
    text = without_comments(path)
    for match in STRINGS.finditer(text):
        joined = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match.group(0)))
        yield text.count("\n", 0, match.start()) + 1, joined


def too_long(text):
    """What is too long of a string; rows of tables, SQL and layouts have no sentences."""
    for paragraph in re.split(r"(?:\\n)+", text):
        if re.search(r"[<>{}\\]|\b(?:SELECT|CREATE|VIEW)\b", paragraph):
            continue
        if len(paragraph.split()) > TEXT:
            yield f"{len(paragraph.split())} words in one text, more than {TEXT}"
        for sentence in re.split(r"(?<=[.;:?]) ", paragraph):
            if len(sentence.split()) > SENTENCE:
                yield f"{len(sentence.split())} words in one sentence, more than {SENTENCE}"


def texts(path):
    """(line, text) of what a person reads without the page around it."""
    if path.endswith(".yaml"):
        return [(line, said) for line, _, said in values(read(path))]
    return [] if path.endswith(".md") else spoken(path)


problems = []
for path in files("*.c", "*.h", "*.md", "*.yaml"):
    if path.startswith(AS_IS):
        continue
    text = read(path)
    problems += [f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {' '.join(m.group(0).split())}: {instead}"
                 for pattern, instead in HABITS for m in pattern.finditer(text)]
    for line, said in texts(path):
        problems += [f"{path}:{line}: {m.group(0)}: {instead}"
                     for pattern, instead in SPOKEN for m in pattern.finditer(said)]
        problems += [f"{path}:{line}: {what}" for what in too_long(said)]
report(problems)
