#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py: doors open one way only (docs/architecture.md).

    cli -> validate -> answer -> models -> sim
               lib -> answer
    inside sim: what SEES says
"""
import os
import re

from csource import files, read, report

ROOMS = {"sim": 0, "models": 1, "answer": 2, "lib": 3, "validate": 3, "cli": 4, "tests": 5}
# What each room inside sim may include, beside sim/registry.h.
SEES = {
    "base": "",
    "engine": "base",
    "reliability": "base engine",
    "sharing": "base",
    "fabric": "base",
    "solve": "base",
    "result": "base",
    "config": "base",
    "net": "base engine fabric",
    "machine": "base fabric net",
    "collective": "base fabric solve net machine",
    "execution": "base engine result net machine collective",
    "scenario": "base reliability sharing config fabric net",
    "assembly": "base config fabric net machine collective scenario",
    "cost": "base scenario assembly",
    "run": "base engine fabric result config net collective execution scenario assembly",
    "verdict": "base engine fabric result config net collective execution scenario assembly run",
    "decision": "base fabric config result net machine collective execution scenario assembly run verdict",
    "study": "base reliability sharing result scenario cost run verdict decision",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)

# A library stays behind one door; tests may look behind SQLite's.
DOORS = {
    "yaml.h": ("sim/config/yaml_doc.c",),
    "sqlite3.h": ("sim/result/", "validate/measure/", "models/format/trace/nsys.c", "tests/"),
    "zlib.h": ("models/format/trace/bytes.c",),
    "libsoup/": ("cli/explore/server.c",),
    "json-glib/": ("cli/report/report_svg", "tests/"),
    "cuda": ("validate/measure/",),
    "nvml.h": ("validate/measure/",),
    "nccl.h": ("validate/measure/",),
    "infiniband/": ("validate/measure/", "tests/support/"),
    "rdma/": ("validate/measure/",),
    "mpi.h": ("validate/measure/", "cli/mpi/"),
}


def inside_sim(source, target):
    """Why `source` may not include `target`, both below sim/; None when it may."""
    if target == "sim/registry.h":
        return None
    to = target.split("/")[1]
    if source.startswith("sim/registry."):
        return None if to == "base" else "sim/registry sees sim/base only"
    here = source.split("/")[1]
    if here not in SEES or to not in SEES:
        return f"a room that the plan does not name: {here if here not in SEES else to}"
    if here == to or to in SEES[here].split():
        return None
    return f"sim/{here} does not see sim/{to}"


def between_models(source, target):
    """A model sees models.h, the header of its own file and of its own folder, so that each can be read alone. The job
    that plays traces sees what a trace says."""
    if target == "models/models.h" or os.path.splitext(source)[0] == os.path.splitext(target)[0]:
        return None
    if source.count("/") == 3 and os.path.dirname(source) == os.path.dirname(target):
        return None
    if source.startswith("models/workload/replay/") and target == "models/format/trace/trace.h":
        return None
    return "no model includes another; only models/models.h"


def why_not(source, target):
    here, to = source.split("/")[0], target.split("/")[0]
    if to not in ROOMS:
        return "project includes are written from the root: sim/base/units.h"
    if here not in ROOMS:
        return None
    if ROOMS[to] > ROOMS[here]:
        return f"{here} does not see {to}"
    if here == to == "sim":
        return inside_sim(source, target)
    if here == to == "models":
        return between_models(source, target)
    return None


problems = []
for source in files("*.c", "*.h"):
    text = read(source)
    for match in INCLUDE.finditer(text):
        target = match.group(2)
        if match.group(1) == '"':
            reason = why_not(source, target)
        else:
            rooms = [rooms for door, rooms in DOORS.items() if target.startswith(door)]
            reason = f"only in {' and '.join(rooms[0])}" if rooms and not source.startswith(rooms[0]) else None
        if reason:
            problems.append(f"{source}:{text.count(chr(10), 0, match.start()) + 1}: {target}: {reason}")
report(problems)
