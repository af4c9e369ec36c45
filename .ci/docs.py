#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs.py: every room is on the map (docs/architecture.md), every page that a model names exists, so does every
page that another page links to; every table begins with its head; no command of a page cuts its answer with grep."""
import os
import re

from csource import ROOT, files, read, report

MAP = "docs/architecture.md"


def rooms_on_map(text):
    """Folders in the text: `sim/base` anywhere, or indented as a tree (`sim/`, then `  base/`)."""
    found = set(re.findall(r"\b(?:sim|formats|models|validate)/\w+", text))
    parents = []
    for match in re.finditer(r"^( *)([\w.]+)/(?=\s|$)", text, re.M):
        depth = len(match.group(1))
        parents = [(d, name) for d, name in parents if d < depth] + [(depth, match.group(2))]
        found.add("/".join(name for _, name in parents))
    return found


def folders():
    return sorted({"/".join(path.split("/")[:2]) for path in files("sim", "formats", "models", "validate")
                   if path.count("/") >= 2})


def headless_tables(text):
    """Lines at which rows of a table begin without a head: an empty line splits it."""
    lines = re.sub(r"^```.*?^```", lambda block: "\n" * block.group().count("\n"), text, flags=re.M | re.S).split("\n")
    for i, line in enumerate(lines):
        if line.startswith("|") and not (i and lines[i - 1].startswith("|")):
            if not re.fullmatch(r"\|[-| :]+\|", "".join(lines[i + 1:i + 2])):
                yield i + 1


def greps(text):
    """Lines of console blocks that give an answer to grep: what a reader sees should be what the reader would get."""
    for block in re.finditer(r"^```\w*\n(.*?)^```", text, flags=re.M | re.S):
        for match in re.finditer(r"\|\s*(?:e|f)?grep\b", block.group(1)):
            yield text.count("\n", 0, block.start(1) + match.start()) + 1


problems = []
if os.path.exists(os.path.join(ROOT, MAP)):
    known = rooms_on_map(read(MAP))
    problems += [f"{MAP}: {folder}/ is missing" for folder in folders() if folder not in known]
else:
    problems.append(f"{MAP}: missing")

for path in files("*.c"):
    for page in re.findall(r'\.doc = "([^"]*)"', read(path)):
        if not os.path.isfile(os.path.join(ROOT, page)):
            problems.append(f"{path}: its page {page} does not exist")

for path in files("*.md"):
    problems += [f"{path}:{line}: a table begins without its head" for line in headless_tables(read(path))]
    if path == "README.md" or path.startswith("docs/"):
        problems += [f"{path}:{line}: a command cuts its answer with grep; use --brief or --rows" for line in greps(read(path))]
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(path)):
        target = os.path.join(ROOT, os.path.dirname(path), link)
        if "://" not in link and not link.startswith("mailto:") and not os.path.exists(target):
            problems.append(f"{path}: link to {link}, which does not exist")
report(problems)
