#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py: doors open one way only (docs/architecture.md).

    cli -> validate -> answer -> models -> formats -> sim
               lib -> answer
    inside sim: what SEES says; inside the others: what INSIDE says
    formats and validate/measure see the parts of what is below that PARTS lists
"""
import os
import re

from csource import files, read, report

ROOMS = {"sim": 0, "formats": 1, "models": 2, "answer": 3, "lib": 4, "validate": 4, "cli": 5, "tests": 6}
# Satellites: of what lies outside, each sees these files and folders only.
PARTS = {
    "formats/": (
        "sim/base/",
        "sim/config/",
        "sim/registry.h",
        "sim/collective/collective.h",  # operations, by which files name collectives
        "sim/collective/plan/given.h",  # what a file with a schedule becomes
        "sim/scenario/catalog.h",  # entries that a machine's text names
        "sim/scenario/model_file.h",  # what a config.json becomes
        "sim/result/store.h",  # runs that are written as traces
        "sim/run/job_graph.h",  # jobs that are written as graphs
    ),
    "validate/measure/": (
        "sim/base/",
        "sim/collective/collective.h",
        "formats/measurement/series.h",
    ),
}
# What the rooms inside these may include, beside the heads that lie in none of them.
INSIDE = {
    "formats": {
        "text": "",
        "machine": "text",
        "measurement": "text",
        "model": "text",
        "trace": "text",
        "schedule": "text trace",  # Chakra and GOAL are read as traces
        "job": "text",
        "job_log": "text",
        "export": "",
    },
    "answer": {
        "explain": "",
        "study": "",
        "topology": "",
        "variants": "",
        "compare": "variants study",
    },
    "validate": {
        "check": "",
        "measure": "",
        "traces": "",
        "kernels": "check",
        "bills": "",
        "congestion": "check",
        "jobs": "check",
        "variants": "check",
        "compare": "check",
        "training": "check",
        "memory": "check training",
        "setups": "training",
        "fit": "check compare measure",
        "bands": "check compare training setups",
    },
    "cli": {
        "terminal": "",
        "help": "terminal",
        "mpi": "",
        "trace": "",
        "results": "",
        "run": "terminal",
        "study": "terminal run",
        "compare": "terminal study",
        "hardware": "terminal help compare",  # validate fidelity prints as compare does
        "report": "terminal help study",
        "explore": "report run",
    },
}
# Who sees which heads of a satellite; the first row that fits decides, and without one all of it is seen. `validate`
# judges the model by what measure recorded, and measures nothing itself.
FACES = (
    ("models/models.c", "formats/", ("formats/model/huggingface.h", "formats/schedule/schedule.h")),
    ("models/workload/replay/", "formats/", ("formats/trace/trace.h",)),
    ("models/", "formats/", ()),
    ("validate/", "validate/measure/", ("validate/measure/samples.h", "validate/measure/stats.h")),
)
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
    "shortcut": "base engine fabric net machine collective execution",
    "scenario": "base reliability sharing config fabric net",
    "assembly": "base config fabric net machine collective shortcut scenario",
    "cost": "base fabric scenario assembly",
    "run": "base engine fabric result config net collective execution shortcut scenario assembly",
    "verdict": "base cost engine fabric result config net collective execution scenario assembly run",
    "decision": "base fabric config result net machine collective execution scenario assembly run verdict",
    "study": "base reliability sharing result scenario cost run verdict decision",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)

# A library stays behind one door; tests may look behind SQLite's.
DOORS = {
    "yaml.h": ("sim/config/yaml_doc.c",),
    "sqlite3.h": ("sim/base/foreign_db", "sim/result/", "validate/measure/", "formats/trace/nsys.c", "tests/"),
    "zlib.h": ("formats/text/bytes.c",),
    "libsoup/": ("cli/explore/server.c",),
    "json-glib/": ("cli/report/report_svg", "cli/report/study/", "tests/"),
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
    """A model sees models.h, the header of its own file and of its own folder, so that each can be read alone."""
    if target == "models/models.h" or os.path.splitext(source)[0] == os.path.splitext(target)[0]:
        return None
    if source.count("/") == 3 and os.path.dirname(source) == os.path.dirname(target):
        return None
    return "no model includes another; only models/models.h"


def inside(top, source, target):
    """Why `source` may not include `target`, both below `top`; None when it may."""
    if source.count("/") == 1 or target.count("/") == 1:
        return None
    here, to = source.split("/")[1], target.split("/")[1]
    sees = INSIDE[top]
    if here not in sees or to not in sees:
        return f"a room that the plan does not name: {here if here not in sees else to}"
    return None if to in (here, *sees[here].split()) else f"{top}/{here} does not see {top}/{to}"


def of_satellites(source, target):
    """Why `source` may not include `target`, where one of them is a satellite; None when it may."""
    for home, parts in PARTS.items():
        if source.startswith(home) and not target.startswith((home, *parts)):
            return f"{home} sees {', '.join(parts)} only"
    for home, satellite, heads in FACES:
        if source.startswith(home) and target.startswith(satellite) and not source.startswith(satellite):
            return None if target in heads else f"of {satellite} {home} sees {', '.join(heads) or 'nothing'}"
    return None


def why_not(source, target):
    here, to = source.split("/")[0], target.split("/")[0]
    if to not in ROOMS:
        return "project includes are written from the root: sim/base/units.h"
    if here not in ROOMS:
        return None
    if ROOMS[to] > ROOMS[here] or (ROOMS[to] == ROOMS[here] and to != here):
        return f"{here} does not see {to}"
    reason = of_satellites(source, target)
    if reason:
        return reason
    if here == to and here in INSIDE:
        return inside(here, source, target)
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
