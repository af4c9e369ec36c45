#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""circles.py: no file needs one that needs it. --draw prints the rooms and their includes as text for Graphviz's dot.

A unit is FILE.c with FILE.h. A header without a .c file belongs to no unit: what only shares types may do so through it.
A unit that includes the header of another one needs it. No circle is allowed. What breaks one: types in a header of
their own, or a function that moves to the file whose subject it is."""
import collections
import os
import re
import sys

from csource import files, read, report

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
OUTSIDE = ("tests/", "examples/")


def sources():
    return [path for path in files("*.c", "*.h") if not path.startswith(OUTSIDE)]


def units(paths):
    """What each unit needs: {unit: {unit}}."""
    known = {path[:-2] for path in paths if path.endswith(".c")}
    needs = {unit: set() for unit in known}
    for path in paths:
        if path[:-2] in known:
            needs[path[:-2]].update(os.path.splitext(target)[0] for target in INCLUDE.findall(read(path)))
    return {unit: {other for other in others if other in known and other != unit} for unit, others in needs.items()}


def reach(needs, start):
    """All units that one needs, directly or through others."""
    found, todo = set(), [start]
    while todo:
        for other in needs[todo.pop()]:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def circles(needs):
    """The sets of units that all need each other, sorted."""
    reached = {unit: reach(needs, unit) for unit in needs}
    found = {tuple(sorted(other for other in reached[unit] if unit in reached[other]))
             for unit in needs if unit in reached[unit]}
    return sorted(found)


def room(path):
    """ "sim/net", or "lib" where files lie in a top folder."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def draw(paths):
    arrows = collections.Counter((room(path), room(target)) for path in paths for target in INCLUDE.findall(read(path))
                                 if "/" in target and room(path) != room(target))
    print("digraph rooms {\n  rankdir=BT; node [shape=box];")
    for (here, to), n in sorted(arrows.items()):
        print(f'  "{here}" -> "{to}" [label="{n}"];')
    print("}")
    for circle in circles(units(paths)):
        print("# circle:", " ".join(circle))


def main():
    paths = sources()
    if sys.argv[1:] == ["--draw"]:
        draw(paths)
        return
    report([f"these need each other: {' '.join(circle)}" for circle in circles(units(paths))])


if __name__ == "__main__":
    main()
