# SPDX-License-Identifier: Apache-2.0
"""page.py - what the mutants of a run say, as a page."""
import collections
import re

HEAD = """# Mutants

This page is for contributors. `./dev mutate --write` writes it: it puts plausible faults into the sources one by one, and runs the
tests of the suites unit, property, registry and commands that enter the function with the fault. A fault that no test notices survives. Golden
pages are left out on purpose: an update of a page that nobody reads closely would bless the fault.

The faults of this page were drawn at commit {commit} with `--seed {seed}`, {count} of each room: a relation (`<` is `<=`), a sign (`+` is `-`), `&&` for `||`,
a condition that is negated, a number that is one larger, a result that is 0, a statement that is dropped. Texts, assertions
and frees are left as they are, and so are hashes, signs of comparisons and memory that nobody looks at. A fault that does not compile, or that gives the same instructions, is not counted. A fault survives
when its tests have passed for {cap:g} s of processor time, those that noticed another fault of the function first and then the quickest, and those in C have
passed again with the fault under AddressSanitizer. Some of the survivors change nothing that can be seen, such as a quicker way to the same result; those that somebody has looked at are in
`tests/mutate/equal.txt`, each with its reason, and are not counted.

Tests of the suite registry hold the forms of an answer of a command against each other (`tests/answers`): JSON, CSV and text say the
same. Those of the suite commands (some of `tests/cli`) hold answers of commands against what they are defined to be, and keep no page. {beside}

| room | faults | killed | by unit | by property | by registry | by commands | survived | not reached by any test | killed of all | killed of those reached |{head}
|---|---|---|---|---|---|---|---|---|---|---|{rule}
"""


BESIDE = """The last column counts faults that these suites do not notice and tests of the suite cli
do, which run commands with options, files and errors; it is no part of the rate."""


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def table(rows, has_beside):
    for room in dict.fromkeys(row["room"] for row in rows):
        of_room = [row for row in rows if row["room"] == room]
        states = collections.Counter(row["state"] for row in of_room)
        suites = collections.Counter(row["suite"] for row in of_room if row["state"] == "killed")
        by_beside = sum(row["state"] != "killed" and row["suite"] is not None for row in of_room)
        reached = len(of_room) - states["unreached"]
        yield (f"| {room} | {len(of_room)} | {states['killed']} | {suites['unit']} | {suites['property']} | {suites['registry']} | {suites['commands']} | "
               f"{states['survived']} | {states['unreached']} | {percent(states['killed'], len(of_room))} | {percent(states['killed'], reached)} |"
               + (f" {by_beside} |" if has_beside else "") + "\n")


def listed(rows, state):
    for row in sorted((row for row in rows if row["state"] == state), key=lambda row: (row["path"], row["line"])):
        change = row["change"].replace("||", "¦¦").replace("|", "\\|").replace("¦¦", "\\|\\|")
        yield f"| `{row['path']}` | {row['line']} | {change}{' (noticed by ' + row['test'] + ')' if row['test'] else ''} |\n"


def faults(text):
    """(file, line, fault) of the tables of a page."""
    for path, line, change in re.findall(r"^\| `([^`]+)` \| (\d+) \| (.*) \|$", text, re.M):
        yield path, int(line), re.sub(r" \(noticed by [^()]*\)$", "", change).replace("\\|", "|")


def page(rows, options):
    columns = "\n| file | line | fault |\n|---|---|---|\n"
    return "".join([HEAD.format(seed=options.seed, count=options.count, cap=options.cap, commit=options.commit,
                                beside=BESIDE if options.beside else "Other tests of the suite cli are left out.",
                                head=" by tests of commands |" if options.beside else "", rule="---|" if options.beside else ""),
                    *table(rows, options.beside),
                    "\n## Survivors\n\nTests run the function with the fault, and they pass.\n", columns, *listed(rows, "survived"),
                    "\n## Not reached\n\nNo test of these suites runs the function; tests of commands may run it.\n", columns,
                    *listed(rows, "unreached")])
