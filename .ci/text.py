#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""text.py: in every text file no path of somebody's machine, no address of a package registry, no stray blanks."""
import re

from csource import ROOT, files, read, report

MACHINE = re.compile(r"(?<![\w.$}])/(?:home|root|work|Users)/\w")
REGISTRY = re.compile(r"\w+://[^\s\"'<>)]*(?:pypi|pythonhosted|npmjs|crates\.io|rubygems|conda|docker\.io|ghcr|quay"
                      r"|proxy\.golang|archive\.ubuntu|ports\.ubuntu|(?:deb|ftp|snapshot|security)\.debian)")
BINARY = (".png", ".jpg", ".gz", ".zst", ".bin", ".enc", ".pdf", ".db", ".meas")
# Kept as their authors wrote them: the licence, tables from elsewhere, inputs and outputs of tests.
AS_IS = ("LICENSE", "validate/measured/", "tests/fixtures/", "tests/golden/", "tests/fuzz/")
COLUMNS = 120  # clang-format breaks code at 110 and leaves comments and texts alone

problems = []
for path in files():
    if path.endswith(BINARY):
        continue
    text = read(path)
    for number, line in enumerate(text.split("\n"), 1):
        if ROOT + "/" in line or MACHINE.search(line):
            problems.append(f"{path}:{number}: a path of one machine")
        if REGISTRY.search(line):
            problems.append(f"{path}:{number}: the address of a package registry; name the package only")
        if path.startswith(AS_IS):
            continue
        if line != line.rstrip():
            problems.append(f"{path}:{number}: blanks at the end of the line")
        if path.endswith((".c", ".h", ".yaml", ".py")) and "\t" in line:
            problems.append(f"{path}:{number}: a tab")
        if path.endswith((".c", ".h", ".cu")) and len(line) > COLUMNS:
            problems.append(f"{path}:{number}: {len(line)} columns, more than {COLUMNS}")
    if text and not text.endswith("\n") and not path.startswith(AS_IS):
        problems.append(f"{path}: no line end at the end of the file")
report(problems)
