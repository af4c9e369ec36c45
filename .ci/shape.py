#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shape.py: no file over 800 lines, no function over 80, no FALSE returned as a pointer, a licence line on top; folders of
tests/unit mirror those of the source."""
import os
import re

from csource import ROOT, files, functions, read, report

MAX_FILE, MAX_FUNCTION = 800, 80

problems = []
for path in files("*.c", "*.h"):
    text = read(path)
    if text.count("\n") > MAX_FILE:
        problems.append(f"{path}: {text.count(chr(10))} lines, more than {MAX_FILE}; would two rooms read better?")
    if not text.startswith("/* SPDX-License-Identifier: Apache-2.0 */\n"):
        problems.append(f"{path}:1: the first line is /* SPDX-License-Identifier: Apache-2.0 */")
    if path.endswith(".h") and "#pragma once" not in text and not path.startswith("pch/"):  # gcc compiles those by themselves
        problems.append(f"{path}: no #pragma once")
    for name, line, head, body in functions(path):
        if body.count("\n") > MAX_FUNCTION:
            problems.append(f"{path}:{line}: {name}: {body.count(chr(10))} lines, more than {MAX_FUNCTION}")
        if head.endswith("*") and re.search(r"\breturn (?:FALSE|TRUE|false|fab_throw\b)", body):
            problems.append(f"{path}:{line}: {name} returns a pointer: NULL, not FALSE")
        if head.split()[-1] in ("gboolean", "bool") and re.search(r"\breturn NULL\b", body):
            problems.append(f"{path}:{line}: {name} returns a gboolean: FALSE, not NULL")
for path in files("tests/unit/"):
    room = os.path.dirname(path)[len("tests/unit/"):]
    if path != "tests/unit/meson.build" and not (room and os.path.isdir(os.path.join(ROOT, room))):
        problems.append(f"{path}: tests/unit/ mirrors the rooms of the source, and there is no room {room or 'for this'}")
report(problems)
