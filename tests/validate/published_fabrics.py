#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""published_fabrics.py PROGRAM: published results about fabrics beside what the program computes for them.

The rows are in published_fabrics.json: what was published and where, and the scenario and settings of one or two runs. The
page docs/reference/published-fabrics.md has their figures. Without FAB_UPDATE_GOLDEN=1 the page must be what these runs
give; with it the page is written anew. What a row's figure is follows from its kind (FIGURES)."""
import json
import os
import pathlib
import shlex
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("FAB_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FIXTURES = "tests/fixtures/published-fabrics"
PAGE = SOURCE / "docs/reference/published-fabrics.md"
HEAD = """# Published results about fabrics, beside ours

This page is for readers who want to know how far comparisons of topologies and routes can be trusted. Each row is a result that
somebody published, with our figure for it. No number of the catalogue was fitted to a row. Rows that we do not reproduce are shown
as they are. "Not read again" means that the number is the field's common knowledge of that source, and nobody opened it for this page.

`tests/validate/published_fabrics.py` runs the commands below the table and writes the page; a test keeps it up to date.

| result | published | ours | inside | source | what differs |
|---|---|---:|---|---|---|
"""
FOOT = """
## Not reproduced

- Alibaba HPN trains 14.9 % faster than the network before it (Qian et al., SIGCOMM 2024, as retold in notes on the paper). HPN is a
  design here (`alibaba-hpn`), but the network before it, in which hashes of a bond met on ports, and the job are not described well enough.
- HyperX against a fat tree: figures of programs (Domke et al., SC 2019) are of a machine with other processors and one adapter of QDR
  a node; its counts are rows above.

## Commands

"""


COMMANDS = {"switches": "cost", "switch_change": "cost", "price_change": "cost", "bisection": "topo"}  # of a kind; else run
SINGLE = ("switches", "bisection", "rate")  # kinds whose figure is that of one run


def call(program, row, more):
    """The JSON of one run."""
    what = COMMANDS.get(row["kind"], "run")
    line = [program, *words(row, more, what), *(["--no-band"] if what == "run" else [])]
    done = subprocess.run(line, cwd=SOURCE, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{row['id']}: {shlex.join(line)}\n{done.stderr}")
    return json.loads(done.stdout)


def words(row, more, what=None):
    what = what or COMMANDS.get(row["kind"], "run")
    name = row["scenario"]
    path = "scenarios/fabric-twisted-torus.yaml" if name == "twisted" else f"{FIXTURES}/{name}.yaml"
    sets = [word for text in row["sets"] + more for word in ("--set", text)]
    return [what, path, *sets, "--format", "json", *(["--no-db", "--no-bottleneck"] if what == "run" else [])]


def seconds(answer):
    return answer["iterations"][-1]["step_s"]


def price(answer):
    """Of switches, cables and transceivers."""
    return sum(part["usd"] for part in answer["parts"] if part["part"] in ("switch", "cable", "optic"))


def pair(program, row, value):
    return value(call(program, row, row["first"])), value(call(program, row, row["second"]))


def figure(program, row):
    """The number of a row, and how it is shown."""
    kind = row["kind"]
    if kind == "switches":
        number = call(program, row, [])["switches"]
        return number, f"{number}"
    if kind == "bisection":
        number = 1 / call(program, row, [])["fabric"]["oversubscription"]
        return number, f"{100 * number:.1f} %"
    if kind == "rate":
        number = row["bytes"] / seconds(call(program, row, [])) / 1e9
        return number, f"{number:.0f} GB/s"
    value = {"switch_change": lambda answer: answer["switches"], "price_change": price}.get(kind, seconds)
    first, second = pair(program, row, value)
    if kind == "ratio":
        return first / second, f"{first / second:.2f}"
    change = first / second - 1
    return change, f"{100 * change:+.0f} %" if kind in ("gain", "switch_change", "price_change") else f"{100 * change:+.1f} %"


def page(program):
    rows = json.loads((SOURCE / "tests/validate/published_fabrics.json").read_text(encoding="utf-8"))
    text, commands = HEAD, ""
    for row in rows:
        number, shown = figure(program, row)
        inside = "yes" if row["low"] <= number <= row["high"] else "no"
        text += f"| {row['claim']} | {row['published']} | {shown} | {inside} | {row['source']} | {row['differs']} |\n"
        lines = [[]] if row["kind"] in SINGLE else [row["first"], row["second"]]
        commands += f"- {row['claim']}:\n\n" + "".join(
            f"      fabricast {shlex.join(words(row, more))}\n" for more in lines) + "\n"
    return text + FOOT + commands.rstrip("\n") + "\n"


def main():
    text = page(str(pathlib.Path(sys.argv[1]).resolve()))
    if os.environ.get("FAB_UPDATE_GOLDEN", "0") == "1":
        PAGE.write_text(text, encoding="utf-8")
    if PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE} is not what the runs give; write it anew with FAB_UPDATE_GOLDEN=1")


main()
