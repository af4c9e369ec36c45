#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of `validate` about whole sources, held against the rows of these sources.

`sources.py PROGRAM [Class]`. A few small sources, so that it is quick.
"""
import json
import os
import re
import shutil
import statistics

import yaml

import answer
from answer import support

MEASURED = os.path.join(support.SOURCE, "validate", "measured")


def told(done):
    """The document of a command that may find an error too large."""
    return json.loads(done.stdout)


def percent(cell):
    return float(cell.strip(" *%").replace(" %", "")) / 100


class Setups(answer.AnswerTest):
    NAMES = ("kempnerforge", "h100-plain")

    def test_the_file(self):
        done = self.fabricast("validate", "setups", *self.NAMES, "--entries", "entries.yaml", "--training", "page.md")
        self.assertLessEqual(done.returncode, 1, done.stderr)
        self.assertEqual(support.read(self.path("entries.yaml")), done.stdout)
        page = self.fabricast("validate", "training", *self.NAMES, "--format", "markdown").stdout
        self.assertEqual(support.read(self.path("page.md")), page)
        entries = {entry["name"]: entry for entry in yaml.safe_load(done.stdout)["setups"]}
        for name, entry in entries.items():
            self.assertEqual(entry["factor"], 1 if name == "anchored" else entries["any"]["factor"])
            self.assertTrue(entry["low"] <= 1 <= entry["high"], entry)
            self.assertTrue(entry["sources"] <= entry["groups"] <= entry["rows"], entry)
            self.assertEqual(entry["evidence"], {0: "assumed", 1: "one_source"}.get(entry["sources"], "sources"))
            self.assertEqual(entry.get("stack"), None if name == "any" else name)
        parts = [entry for name, entry in entries.items() if name not in ("any", "anchored", "experts")]
        self.assertEqual(sum(entry["rows"] for entry in parts), entries["any"]["rows"])
        self.assertLessEqual(entries["any"]["sources"], len(self.NAMES))
        self.assertLessEqual(entries["anchored"]["sources"], len(self.NAMES))

    def test_files_that_cannot_be_written(self):
        for option in ("--entries", "--training"):
            done = self.fabricast("validate", "setups", self.NAMES[0], option, os.path.join("nowhere", "x"))
            self.assertEqual((done.returncode, done.stdout), (2, ""), option)
            self.assertIn(os.path.join("nowhere", "x"), done.stderr)
            self.assertIn("there is no directory 'nowhere'", done.stderr)

    def test_means_are_those_of_the_rows(self):
        page = self.good("validate", "setups", *self.NAMES, "--format", "markdown")
        self.assertNotIn("mean of 0", page, "nothing is said of sources that are not there: none of these divides experts")
        chapters = re.split(r"(?m)^### ", page)[1:]
        self.assertEqual(len(chapters), 2)
        for chapter in chapters:
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in chapter.splitlines() if line.startswith("|")][2:]
            mean, rows = rows[0], rows[1:]
            self.assertEqual(mean[0], f"**mean of {len(rows)} source{'' if len(rows) == 1 else 's'}**")
            self.assertTrue({row[0] for row in rows} <= set(self.NAMES))
            values = [percent(row[4]) for row in rows]
            self.assertAlmostEqual(percent(mean[4]), statistics.fmean(values), delta=0.001 + 1e-9)
            inside = [round(percent(row[2]) * int(row[1])) / int(row[1]) for row in rows]  # whole rows are inside or not
            self.assertAlmostEqual(percent(mean[2]), statistics.fmean(inside), delta=0.005 + 1e-9)
            for row in rows:
                self.assertTrue(0 <= percent(row[2]) <= 1 and percent(row[4]) >= 0 and int(row[1]) > 0, row)


    def test_the_mean_of_one_source_is_that_source(self):
        """Of a source alone nothing is left to make a band of."""
        for name in ("baskerville", "oci-gb300"):
            for chapter in re.split(r"(?m)^### ", self.good("validate", "setups", name, "--format", "markdown"))[1:]:
                mean, row = [[cell.strip() for cell in line.strip("|").split("|")] for line in chapter.splitlines() if line.startswith("|")][2:]
                self.assertEqual((mean[0], mean[1], row[0]), ("**mean of 1 source**", "", name))
                self.assertEqual(mean[2:], row[2:])

    def test_shares_of_several_sources(self):
        """Most rows of these are in the band of the others."""
        page = self.good("validate", "setups", "kempnerforge", "h100-plain", "tpu", "oci-gb300", "--format", "markdown")
        shares = []
        for chapter in re.split(r"(?m)^### ", page)[1:]:
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in chapter.splitlines() if line.startswith("|")][2:]
            inside = [round(percent(row[2]) * int(row[1])) / int(row[1]) for row in rows[1:]]
            self.assertAlmostEqual(percent(rows[0][2]), statistics.fmean(inside), delta=0.005 + 1e-9)
            shares.append(statistics.fmean(inside))
        self.assertGreater(max(shares), 0.7, shares)


class Published(answer.AnswerTest):
    """A folder with two of the sources for which others have published projections."""

    NAMES = ("simumax-b200", "megascale-175b")

    def folder(self):
        for name in ("published", "training"):  # the first names scenarios of the second
            shutil.copytree(os.path.join(MEASURED, name), self.path("measured", name))
        folder = self.path("measured", "published")
        head, *entries = re.split(r"(?m)^(?=  - name: )", support.read(folder, "INDEX.yaml"))
        self.write(os.path.join("measured", "published", "INDEX.yaml"),
                   head + "".join(entry for entry in entries if entry.split()[2] in self.NAMES))
        return folder

    def test_errors_are_those_of_the_times(self):
        folder = self.folder()
        page = self.good("validate", "published", "--measured", folder)
        known = {source["source"]: source for source in told(self.fabricast("validate", "training", *self.NAMES, "--measured", folder, "--format", "json"))["sources"]}
        chapters = re.split(r"(?m)^## ", page)[1:]
        self.assertEqual(len(chapters), len(self.NAMES))
        for chapter, name in zip(chapters, self.NAMES):
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in chapter.splitlines() if line.startswith("|")][2:]
            median, rows = rows[-1], rows[:-1]
            blind = [row for row in known[name]["rows"] if "blind_s" in row]
            self.assertGreaterEqual(len(blind), len(rows))
            ours, theirs, nearer = [], [], 0
            for row in rows:
                measured, own = float(row[3]), float(row[4])
                self.assertAlmostEqual(percent(row[5]), own / measured - 1, delta=2e-3)
                self.assertTrue(any(abs(own / one["blind_s"] - 1) < 1e-3 and abs(measured / one["measured_s"] - 1) < 1e-3 for one in blind), row)
                ours.append(percent(row[5]))
                if row[6]:
                    theirs.append(percent(row[7]))
                    self.assertAlmostEqual(theirs[-1], float(row[6]) / measured - 1, delta=2e-3)
                    nearer += abs(ours[-1]) < abs(theirs[-1])
            self.assertEqual(median[0], f"**median of {len(rows)}**")
            self.assertAlmostEqual(percent(median[5]), statistics.median(map(abs, ours)), delta=1.1e-3)
            if theirs:
                self.assertAlmostEqual(percent(median[7].split(",")[0]), statistics.median(map(abs, theirs)), delta=1.1e-3)
                self.assertIn(f"ours is nearer on {nearer} of {len(theirs)}", median[7])


if __name__ == "__main__":
    support.main()
