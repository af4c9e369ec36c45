#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bands of ratios and of times, made of a few published tables: their forms agree, and sums are those of their lines.

`paired.py PROGRAM`. The folder has two tables of each kind of links with every third size, and four publications of training.
"""
import json
import os
import re
import shutil

import yaml

import answer
import tables
from answer import support

MEASURED = os.path.join(support.SOURCE, "validate", "measured")
SOURCES = ("kempnerforge", "h100-plain", "baskerville", "modalities-mn5")
CLASSES = ("small", "middle", "large")
UP_TO = {"256KiB": "small", "64MiB": "middle", "0B": "large"}
FIGURES = ("pairs", "families", "held_fraction", "within_factor", "opposite_held_fraction", "opposite_within_factor")


def small_folder(folder):
    os.makedirs(folder)
    head, *entries = re.split(r"(?m)^(?=  - file: )", support.read(MEASURED, "INDEX.yaml"))
    seen, kept = {}, []
    for entry in entries:
        links = re.search(r"interconnect: (.*)", entry)[1].strip()
        if "doubtful: true" not in entry and seen.setdefault(links, 0) < 2:
            seen[links] += 1
            kept.append(entry)
            name = entry.split()[2]
            lines = support.read(MEASURED, name).splitlines(True)
            rows = [line for line in lines if not line.startswith("#")]
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.writelines([line for line in lines if line.startswith("#")] + rows[:1] + rows[1::3])
    with open(os.path.join(folder, "INDEX.yaml"), "w", encoding="utf-8") as file:
        file.write(head + "".join(kept))
    shutil.copytree(os.path.join(MEASURED, "training"), os.path.join(folder, "training"))
    head, *entries = re.split(r"(?m)^(?=  - name: )", support.read(MEASURED, "training", "INDEX.yaml"))
    with open(os.path.join(folder, "training", "INDEX.yaml"), "w", encoding="utf-8") as file:
        file.write(head + "".join(entry for entry in entries if entry.split()[2] in SOURCES))


def markdown_rows(page):
    return [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]


class Paired(answer.AnswerTest):
    def setUp(self):
        super().setUp()
        self.folder = self.path("measured")
        small_folder(self.folder)

    def pairs(self, *more):
        return self.good("validate", "pairs", "--measured", self.folder, *more)

    def test_forms_of_pairs(self):
        told = tables.nodes(json.loads(self.pairs("--format", "json", "--entries", "entries.yaml")))
        lines = told.pairs
        self.assertGreater(len(lines), 12)
        rows = iter(answer.csv_rows(self.pairs("--format", "csv")))
        for line in lines:
            for size_class in ("all", *CLASSES):
                if line.get(size_class):
                    row = next(rows)
                    self.assertEqual([row[key] for key in ("of", "relation", "place", "differ_in", "size_class")],
                                     [line.of, line.relation, line.place or "", line.differ_in or "all", size_class])
                    for key in FIGURES:
                        self.assertAlmostEqual(float(row[key]), line[size_class][key], delta=6e-7 * max(1, line[size_class][key]), msg=key)
        self.assertIsNone(next(rows, None))
        self.check_text(self.pairs(), lines)
        self.check_markdown(self.pairs("--format", "markdown"), lines)
        self.check_sums(lines)

    def shares(self, line):
        return [f"{100 * line[name].held_fraction:.0f} %" if line.get(name) else "" for name in CLASSES]

    def check_text(self, page, lines):
        listed = page.splitlines()
        heads = ["of", "relation", "place", "differ in", "pairs", "families", "small", "middle", "large", "all", "within", "opposite", "within"]
        at, columns = tables.head_at(listed, heads)
        for text, line in zip(tables.rows_below(listed, at), lines, strict=True):
            cell = lambda k: text[columns[k].start - (9 if k > 3 else 0):columns[k + 1].start if k < 4 else columns[k].end].strip()
            self.assertEqual([cell(k) for k in range(4)], [line.of, line.relation, line.place or "", line.differ_in or "all"])
            found = [text[columns[k - 1].end:columns[k].end].strip() for k in range(4, 13)]
            found[0] = found[0].split()[-1]
            wanted = [str(line.all.pairs), str(line.all.families), *self.shares(line), f"{100 * line.all.held_fraction:.0f} %", f"{line.all.within_factor:.2f}",
                      f"{100 * line.all.opposite_held_fraction:.0f} %", f"{line.all.opposite_within_factor:.2f}"]
            self.assertEqual(found, wanted, text)

    def check_markdown(self, page, lines):
        first, second = page.split("\n### Factor around a predicted ratio")
        for row, line in zip(markdown_rows(first)[2:], lines, strict=True):
            self.assertEqual(row, [f"{line.of}, {line.relation}", line.place or "", line.differ_in or "all", f"{line.all.pairs} ({line.all.families})", *self.shares(line),
                                   f"{100 * line.all.held_fraction:.0f} %", f"{line.all.within_factor:.2f}", f"{100 * line.all.opposite_held_fraction:.0f} %",
                                   f"{line.all.opposite_within_factor:.2f}"])
        self.assertEqual(first.count("| **"), sum(line.differ_in is None for line in lines))
        factors = {(row[0], row[1]): dict(zip(CLASSES, row[2:])) for row in markdown_rows(second)[2:]}
        self.assertEqual(len(factors), 2 * 4 + 3)
        order = ("same", "alike", "other", "unmeasured")
        for subject, place in (("collectives", "inside"), ("collectives", "between"), ("compute", "")):
            for size_class in CLASSES:
                cells = [factors.get((f"{subject}, {relation}", place), {}).get(size_class) for relation in order[1:]]
                known = [float(cell.split()[0]) for cell in cells if cell]
                self.assertEqual(known, sorted(known), "what has less in common is no nearer")
        entries = {entry["name"]: entry["cells"] or [] for entry in yaml.safe_load(support.read(self.path("entries.yaml")))["pairs"]}
        n = 0
        for name, cells in entries.items():
            subject, relation = name.split("-")
            for cell in cells:
                shown = factors[f"{subject}, {relation}", cell.get("place", "")][UP_TO.get(cell.get("up_to"), "large")]
                factor, pairs, measured, families = re.fullmatch(r"([\d.]+) \((\d+), (\d+), (\d+)\)", shown).groups()
                self.assertEqual([int(pairs), int(measured), int(families)], [cell[key] for key in ("pairs", "tables", "families")])
                self.assertAlmostEqual(cell["high"], min(float(factor), 999), delta=0.0056)
                self.assertAlmostEqual(cell["low"], 1 / cell["high"], delta=6e-4 + 6e-4 / cell["high"] ** 2, msg="a ratio may be as much too low as too high")
                n += 1
        self.assertGreater(n, 15)

    def check_sums(self, lines):
        """Pairs of one relation differ in one kind of thing each; of families that were not measured there are as many as of others."""
        whole = {(line.of, line.relation, line.place): line for line in lines if line.differ_in is None}
        for key, line in whole.items():
            parts = [one for one in lines if (one.of, one.relation, one.place) == key and one.differ_in]
            if parts:
                self.assertEqual(sum(part.all.pairs for part in parts), line.all.pairs, key)
                self.assertLessEqual(max(part.all.families for part in parts), line.all.families)
                self.assertGreaterEqual(sum(part.all.families for part in parts), line.all.families)
            for one in (line.all, *(line[name] for name in CLASSES if line.get(name))):
                self.assertTrue(0 <= one.held_fraction <= 1 and one.within_factor >= 1 and one.opposite_within_factor >= 1, one)
                self.assertLessEqual(one.pairs, line.all.pairs)
            if line.of == "collectives":
                self.assertEqual(sum(line[name].pairs for name in CLASSES if line.get(name)), line.all.pairs, "a pair has one size")
            else:
                self.assertTrue(all(line.get(name) is None for name in CLASSES))
        for (of, relation, place), line in whole.items():
            if relation == "unmeasured":
                self.assertEqual(line.all.pairs, whole[of, "other", place].all.pairs)

    def test_forms_of_bands(self):
        """The file of the catalogue has the ends of the page's table, and the row of all is the mean of the others."""
        told = yaml.safe_load(self.good("validate", "bands", "--measured", self.folder))["bands"]
        page = self.good("validate", "bands", "--measured", self.folder, "--format", "markdown")
        chapters = dict(zip(re.findall(r"(?m)^### (.*)$", page), re.split(r"(?m)^### .*$", page)[1:]))
        ends = {}
        for entry, place, operations, *cells in markdown_rows(chapters["Measured over predicted time, 90 % (tables, families)"])[2:]:
            for size_class, cell in zip(CLASSES, cells):
                if cell:
                    ends[entry, place, operations, size_class] = re.fullmatch(r"([\d.]+) to ([\d.]+) \((\w+): (\d+), (\d+)\)", cell).groups()
        n = 0
        for band in told:
            for cell in band["cells"]:
                size_class = UP_TO[cell["up_to"]]
                self.assertLessEqual(cell["families"], cell["publications"] if band["name"] == "any" else cell["tables"])
                self.assertLessEqual(cell["publications"], cell["tables"])
                self.assertEqual("machines" in cell, "spread" in cell)
                self.assertGreaterEqual(cell.get("spread", 1), 1)
                self.assertTrue(cell["low"] <= 1 <= cell["high"], cell)
                if (band["name"], cell["place"], cell["operations"], size_class) not in ends:
                    continue
                low, high, of, n_tables, n_families = ends[band["name"], cell["place"], cell["operations"], size_class]
                self.assertEqual((of, int(n_tables), int(n_families)), (size_class, cell["tables"], cell["families"]))
                self.assertGreaterEqual(float(low) + 0.0056, cell["low"])
                self.assertLessEqual(float(high) - 0.0056, cell["high"])
                n += 1
        self.assertEqual(n, 24)
        shown = 0
        for title, chapter in chapters.items():
            rows = markdown_rows(chapter)[2:]
            if not rows or not rows[0][0].startswith("all "):
                continue
            shown += 1
            self.assertEqual(int(rows[0][0].split()[1]), len(rows) - 1, title)
            for column in (2, 3, 4):
                shares = [int(row[column].split()[0]) for row in rows[1:] if row[column]]
                mean, count = re.fullmatch(r"(\d+) % \((\d+)\)", rows[0][column]).groups()
                self.assertEqual(int(count), len(shares), title)
                self.assertAlmostEqual(int(mean), sum(shares) / len(shares), delta=1.01, msg=title)
            for row in rows[1:]:
                self.assertLessEqual(max(int(re.search(r"\((\d+)\)", cell)[1]) for cell in row[2:] if cell), int(row[1]), row)
        self.assertEqual(shown, 3)


if __name__ == "__main__":
    support.main()
