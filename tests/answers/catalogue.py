#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `describe` says of the catalogue is what the files of the catalogue say.

`catalogue.py PROGRAM [Class]`. The files in models/catalog/ are read a second time, by Python.
"""
import functools
import glob
import os
import re

import yaml

import answer
from answer import support


@functools.cache
def entries(section):
    """{name: entry} of all files of a section."""
    found = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(support.SOURCE), "models", "catalog", section + "*.yaml"))):
        for entry in (yaml.load(support.read(path), getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}).get(section, []):
            found[entry["name"]] = entry
    return found


def text(value):
    return " ".join(str(value).split())


class Entries(answer.AnswerTest):
    def test_an_entry_is_printed_as_it_is_written(self):
        """Comments apart, `describe SECTION NAME` is YAML: what the file says of the entry is there."""
        for section in ("links", "accelerators", "nodes", "models", "products", "technologies", "processors"):
            known = entries(section)
            self.assertGreater(len(known), 1, section)
            names = sorted(known)
            for name in names[::max(1, len(names) // 3)]:
                page = self.good("describe", section, name)
                shown = yaml.safe_load(page)
                shown = shown[0] if isinstance(shown, list) else shown
                for key, value in known[name].items():
                    self.assertIn(key, shown, f"{section} {name}")
                    if isinstance(value, str) and key in ("name", "summary", "source"):
                        self.assertEqual(text(shown[key]), text(value), f"{section} {name} {key}")
                    elif isinstance(value, (list, dict)):
                        self.assertEqual(len(shown[key]) >= len(value), True, f"{section} {name} {key}")

    def test_lists_have_every_entry_once(self):
        for section in ("links", "accelerators", "nodes", "models", "products", "technologies", "processors", "designs"):
            page = self.good("describe", section)
            for name in entries(section):
                self.assertEqual(len(re.findall(rf"(?m)^ *{re.escape(name)}(?=[ ,:]|$)", page)), 1, f"{section} {name}")


class Forms(answer.AnswerTest):
    """Which forms a list has, and of what kind its keys are."""

    def test_formats(self):
        for section, formats in (("glossary", ("text", "json", "markdown")), ("designs", ("text", "markdown")), ("links", ("text",)),
                                 ("nodes", ("text",)), ("job", ("text",))):
            for form in ("text", "json", "csv", "markdown"):
                done = self.fabricast("describe", section, "--format", form)
                self.assertEqual(done.returncode == 0, form in formats, f"{section} {form}: {done.stderr}")
                self.assertEqual(bool(done.stdout), form in formats, f"{section} {form}")
        self.assertEqual(self.fabricast("describe", "designs", "superpod-h100", "--format", "markdown").returncode, 2)

    def test_kinds_of_keys(self):
        """A key is of a kind that the section or the type has: a number, a quantity, a choice, or an entry of a section."""
        page = self.good("describe", "job", "ddp")
        kinds = dict(re.findall(r"(?m)^  (\w+) +(\w+)", page))
        for key, kind in (("model", "model"), ("micro_batch", "count"), ("precision", "bf16"), ("compute", "compute"), ("bucket", "size")):
            self.assertEqual(kinds[key], kind, key)


class Designs(answer.AnswerTest):
    def test_the_page_of_designs(self):
        """Of each design: a row of the table, and a chapter with its sizes, what is assumed and the source."""
        page = self.good("describe", "designs", "--format", "markdown")
        rows = {row[0]: row[1:] for row in re.findall(
            r"(?m)^\| \[([\w.-]+)\]\(#[\w.-]+\) \| `([\w.-]+)` \| (\d+) \| (\d+) \| ([\w-]+) \| (\d+) \| ([\w ]+) \|$", page)}
        chapters = dict(zip(re.findall(r"(?m)^## (.*)$", page), re.split(r"(?m)^## .*$", page)[1:]))
        designs = entries("designs")
        self.assertEqual(list(rows), list(chapters))
        self.assertEqual(sorted(rows), sorted(designs))
        for name, design in designs.items():
            node, unit_nodes, most_units, fabric, n_checked, basis = rows[name]
            sizes = design["sizes"]
            checked = sum(not row.get("unchecked", False) for row in design.get("counts", []))
            assumes = bool(design.get("assumed")) or any(size.get("assumed") for size in sizes)
            self.assertEqual(node, design["node"])
            self.assertEqual(int(unit_nodes), design["unit_nodes"])
            self.assertEqual(int(most_units), max(size["units"] for size in sizes))
            last = sizes[-1].get("fabric")
            self.assertEqual(fabric, (last if isinstance(last, str) else last["kind"]) if last else "usual")
            self.assertEqual(int(n_checked), checked)
            self.assertEqual(basis, "assumed" if checked == 0 else "published in part" if assumes else "published")
            self.check_chapter(" ".join(chapters[name].split()), name, design)

    def test_numbers_of_bills(self):
        """Of each published number stands by how much ours differs: with a sign, or 0."""
        page = self.fabricast("validate", "bills", "superpod-h100").stdout
        cells = re.findall(r"(?<= )(\d+) \(([-+\d]*)\)", page.split("\n\n")[0].split("table\n", 1)[1])
        rows = [row for row in entries("designs")["superpod-h100"]["counts"] if not row.get("unchecked")]
        self.assertGreater(len(cells), 3 * len(rows))
        for published, differs in cells:
            self.assertRegex(differs, r"^(0|[+-][1-9]\d*)$")
        for row in rows:
            for key in ("gpus", "leaves", "node_cables"):
                if key in row:
                    self.assertIn(str(row[key]), [published for published, _ in cells])

    def check_chapter(self, chapter, name, design):
        units = [str(size["units"]) for size in design["sizes"]]
        listed = units[0] if len(units) == 1 else ", ".join(units[:-1]) + " and " + units[-1]
        self.assertIn(f"up to {listed} units of {design['unit_nodes']} node", chapter)
        self.assertIn(f"Machine: {text(design['summary'])}.", chapter)
        self.assertIn(text(design["source"]), chapter)
        self.assertIn(f"(read on {design['date']})", chapter)
        self.assertEqual("![The fabric" in chapter, bool(design["sizes"][-1].get("fabric")), name)
        self.assertEqual("Routing and congestion control" in chapter, bool(design.get("transport")), name)
        assumed = [design.get("assumed"), *(size.get("assumed") for size in design["sizes"])]
        for words in filter(None, assumed):
            self.assertIn(text(words), chapter)
        self.assertEqual(chapter.count("- Assumed"), len({text(words) for words in filter(None, assumed)}), name)


if __name__ == "__main__":
    support.main()
