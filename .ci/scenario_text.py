#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scenario_text.py: the program does not talk to itself in YAML. Scenarios are edited by key (fab_scenario_set, _get,
_copy, _edit); their text is written for people and for the stored scenario, and read where people or files hand it in."""
import os
import re

from csource import code, files, report

# What writes or reads the text of a scenario, of a table or of a document.
CALLS = r"\b(fab_(?:scenario_(?:parse|open_text|resolved|text)|yaml_doc_parse(?:_foreign)?|yaml_node_text|yaml_writer_new|schema_write)) \("

# Files that may, by their names, and why. The functions themselves are in those of the first five rows.
ALLOWED = {
    "scenario.c": "the functions themselves",
    "schema_write.c": "the functions themselves",
    "yaml_doc.c": "the functions themselves",
    "yaml_foreign.c": "the functions themselves",
    "yaml_writer.c": "the functions themselves",
    "catalog.c": "the catalogue as text, whose checksum tells sweeps apart",
    "yaml_set.c": "tells whether two assignments of a command mean the same",
    "model_file.c": "an entry of `models` for people",
    "simulation.c": "the stored scenario",
    "sweep.c": "the stored scenario, and the checksum of a sweep",
    "fragment.c": "entries of links for people",
    "print_accelerator.c": "entries of accelerators for people",
    "play.c": "a published source's scenario, with the places of its table filled in",
    "report.c": "a published source's scenario, with the places of its table filled in",
    "nccl_tests.c": "JSON of another program",
    "topograph.c": "YAML and JSON of another program",
    "search_options.c": "a scenario for people",
    "context.c": "an entry of the catalogue for people",
    "cmd_describe.c": "an entry for people",
    "cmd_cost.c": "products for people",
    "cmd_import.c": "reads what was written for people, so that it is right",
    "import_job.c": "a scenario for people, whose machine a file of theirs has",
    "job.c": "a section for people",
    "settings.c": "JSON and YAML of other programs",
    "explored.c": "a scenario for people",
    "report_sources.c": "reads the stored scenario",
    "data.c": "topics and the glossary of help",
}

problems, seen = [], set()
for path in files("*.c"):
    if path.startswith("tests/"):
        continue
    name, text = os.path.basename(path), code(path)
    for match in re.finditer(CALLS, text):
        seen.add(name)
        if name not in ALLOWED:
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{path}:{line}: {match.group(1)}: edit a copy by key: fab_scenario_copy, fab_scenario_set")
problems += [f".ci/scenario_text.py: {name} is allowed and does not need it" for name in sorted(set(ALLOWED) - seen)]
report(problems)
