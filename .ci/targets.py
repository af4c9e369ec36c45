#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""targets.py DIR [--only SUITE | --without SUITE] prints, as names for ninja, what must be built before the tests of DIR
run: what the tests depend on, and everything that is built by default unless only one suite is asked for.

Without names ninja builds the programs of all tests and benchmarks, even those that are not built by default."""
import os
import sys

from introspect import introspected, is_of

directory = os.path.realpath(sys.argv[1])
how, suite = sys.argv[2:4] if len(sys.argv) > 2 else ("--without", None)
targets = introspected(directory, "--targets")
wanted = {target["id"] for target in targets if target["build_by_default"] and how == "--without"}
for one in introspected(directory, "--tests"):
    if is_of(one, suite) == (how == "--only"):
        wanted |= set(one["depends"])
for target in targets:
    if target["id"] in wanted:
        print(*(os.path.relpath(name, directory) for name in target["filename"]), sep="\n")
