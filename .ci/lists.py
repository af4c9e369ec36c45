#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lists.py: the lists of models in pages are those of models/models.h, in its order.

A row of a table lists the models of one kind, by their names, up to its first semicolon or the end of its second cell:
"| `job` | [ddp](ddp.md), [zero](zero.md); [experts](experts.md) |". What stands for a model, as "`fat_tree` (2 and 3
tiers)", stays; --write adds the models that are missing, with links where the page of a model lies beside, drops those
that are no more, and puts them in order."""
import os
import re
import sys

from csource import ROOT, read, report

MODELS = "models/models.h"
# A page, and the first cells of its rows with the list of each.
PAGES = {
    "docs/models/README.md": {
        "`fidelity`": "NETS", "`fidelity.congestion`": "CONGESTIONS", "`collectives`": "LIBRARIES",
        "`collectives.algorithm`": "ALGORITHMS", "`cluster.fabric`": "FABRICS", "`cluster.route`": "ROUTES", "`job`": "WORKLOADS",
        "`job.compute`": "COMPUTES", "`models[].shape`": "SHAPES"},
    "docs/reference/contents.md": {
        "fidelities": "NETS", "congestion controls": "CONGESTIONS", "jobs": "WORKLOADS", "algorithms": "ALGORITHMS",
        "fabrics": "FABRICS", "routes": "ROUTES", "compute": "COMPUTES"},
}
NAME = re.compile(r"[`\[](\w+)[`\]]")


def lists():
    text = read(MODELS)
    found = re.findall(r"^#define FAB_(\w+)\(M\)((?:.*\\\n)*.*)\n", text, re.M)
    return {name: re.findall(r"\bM \((\w+)\)", body) for name, body in found}


def items(cell):
    """Name: how the list writes it. Commas inside parentheses separate nothing."""
    parts = re.split(r", (?![^()]*\))", cell)
    return {(NAME.match(part) or re.match("(.*)", part)).group(1): part for part in parts}


def new_item(page, name):
    beside = os.path.join(ROOT, os.path.dirname(page), name + ".md")
    return f"[{name}]({name}.md)" if os.path.exists(beside) else f"`{name}`"


def renewed(page, text, head, names):
    """The text with the list of the row; None when there is no such row."""
    row = re.search(r"^\| " + re.escape(head) + r" \| ([^;|]*?)(?=;| \|)", text, re.M)
    if row is None:
        return None
    known = items(row.group(1))
    wanted = ", ".join(known.get(name, new_item(page, name)) for name in names)
    return text[:row.start(1)] + wanted + text[row.end(1):]


problems = []
known_lists = lists()
for path, rows in PAGES.items():
    page = read(path)
    for first, kind in rows.items():
        after = renewed(path, page, first, known_lists[kind])
        if after is None:
            problems.append(f"{path}: no row '{first}'")
        elif after != page and "--write" not in sys.argv:
            problems.append(f"{path}: the row '{first}' is not FAB_{kind} of {MODELS}; `python3 .ci/lists.py --write` writes it")
        page = after or page
    if "--write" in sys.argv:
        with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
            file.write(page)
report(problems)
