#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""targets.py DIR [SUITE] prints, as names for ninja, what must be built before the tests of DIR run: everything that is
built by default, and what the tests depend on. Tests of SUITE are left out.

Without names ninja builds the programs of all tests and benchmarks, even those that are not built by default."""
import json
import os
import subprocess
import sys


def introspected(directory, what):
    done = subprocess.run(["meson", "introspect", what, directory], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return json.loads(done.stdout)


def is_of(test, suite):
    return any(name.split(":")[-1] == suite for name in test["suite"])


directory = os.path.realpath(sys.argv[1])
left_out = sys.argv[2] if len(sys.argv) > 2 else None
targets = introspected(directory, "--targets")
wanted = {target["id"] for target in targets if target["build_by_default"]}
for one in introspected(directory, "--tests"):
    if not is_of(one, left_out):
        wanted |= set(one["depends"])
for target in targets:
    if target["id"] in wanted:
        print(*(os.path.relpath(name, directory) for name in target["filename"]), sep="\n")
