#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs.py: every room is on the map (docs/architecture.md), every page that a model names exists, so does every
page that another page links to."""
import os
import re

from csource import ROOT, files, read, report

MAP = "docs/architecture.md"


def rooms_on_map(text):
    """Folders in the text: `sim/base` anywhere, or indented as a tree (`sim/`, then `  base/`)."""
    found = set(re.findall(r"\b(?:sim|models|validate)/\w+", text))
    parents = []
    for match in re.finditer(r"^( *)([\w.]+)/(?=\s|$)", text, re.M):
        depth = len(match.group(1))
        parents = [(d, name) for d, name in parents if d < depth] + [(depth, match.group(2))]
        found.add("/".join(name for _, name in parents))
    return found


def folders():
    return sorted({"/".join(path.split("/")[:2]) for path in files("sim", "models", "validate")
                   if path.count("/") >= 2})


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
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(path)):
        target = os.path.join(ROOT, os.path.dirname(path), link)
        if "://" not in link and not link.startswith("mailto:") and not os.path.exists(target):
            problems.append(f"{path}: link to {link}, which does not exist")
report(problems)
