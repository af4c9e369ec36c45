#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is fitted to measurements: the catalogue's file of bands, how often they hold, and how far predictions are off.

`fitted.py PROGRAM`.
"""
import json
import re
import statistics

import yaml

import answer
from answer import support

CLASSES = ("small", "middle", "large")


def rows_of(chapter):
    """Rows of the tables of a chapter of Markdown, without heads."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in chapter.splitlines() if line.startswith("|")]
    return [row for row in rows[2:] if not row[0].startswith("---")]


def share(cell):
    """("89 % (18)": 0.89, 18); None where the cell is empty."""
    found = re.fullmatch(r"([\d.]+) % \((\d+)\)", cell)
    return (float(found[1]) / 100, int(found[2])) if found else None


class Fitted(answer.AnswerTest):
    page = None

    def setUp(self):
        super().setUp()
        if Fitted.page is None:
            Fitted.page = self.good("validate", "bands", "--format", "markdown")
        page = Fitted.page
        self.chapters = dict(zip(re.findall(r"(?m)^### (.*)$", page), re.split(r"(?m)^### .*$", page)[1:]))

    def test_the_catalogue_has_what_is_fitted(self):
        """The file of the catalogue is in date, its ends hold the prediction, and the page of tables has the same ends."""
        text = self.good("validate", "bands")
        self.assertEqual(text, support.read(support.SOURCE, "models", "catalog", "bands.yaml"))
        page = {}
        for entry, place, operations, *cells in rows_of(self.chapters["Measured over predicted time, 90 % (tables, families)"]):
            page.update({(entry.strip("`"), place, operations, name): cell for name, cell in zip(CLASSES, cells)})
        names = {"256KiB": "small", "64MiB": "middle", "0B": "large"}
        n = 0
        for band in yaml.safe_load(text)["bands"]:
            for cell in band["cells"]:
                self.assertTrue(cell["low"] <= 1 <= cell["high"] or cell["low"] < cell["high"], cell)
                self.assertLessEqual(cell.get("families", 1), cell.get("tables", 1))
                shown = page.get((band["name"], cell.get("place"), cell.get("operations"), names.get(cell.get("up_to"))))
                if shown and "families" in cell and band["name"] == "any":  # the entry for families that were not measured is widened
                    n += 1
                    found = re.fullmatch(r"([\d.]+) to ([\d.]+) \((\w+): (\d+), (\d+)\)", shown)
                    self.assertAlmostEqual(float(found[1]), cell["low"], delta=0.0056)
                    self.assertAlmostEqual(float(found[2]), cell["high"], delta=0.0056)
                    self.assertEqual((int(found[4]), int(found[5])), (cell["tables"], cell["families"]))
        self.assertEqual(n, 12)

    def test_the_row_of_all_is_the_mean(self):
        """Of each size the mean over families or publications, and their number."""
        n = 0
        for title, chapter in self.chapters.items():
            rows = rows_of(chapter)
            if not rows or not rows[0][0].startswith("**all "):
                continue
            n += 1
            self.assertIn(f"**all {len(rows) - 1} ", rows[0][0], title)
            for column in (2, 3, 4):
                shares = [found[0] for found in map(share, [row[column] for row in rows[1:]]) if found]
                mean, number = share(rows[0][column])
                self.assertEqual(number, len(shares), title)
                self.assertAlmostEqual(mean, statistics.fmean(shares), delta=0.0101, msg=title)
            for row in rows[1:]:
                counts = [found[1] for found in map(share, row[2:]) if found]
                self.assertEqual(max(counts), int(row[1]), row)
        self.assertEqual(n, 3)

    def test_accuracy_is_that_of_the_tables(self):
        rows = {row[0]: row[1:] for row in rows_of(self.good("validate", "accuracy"))}
        told = json.loads(self.fabricast("validate", "--format", "json").stdout)
        accounts = {"**all**": told["roles"]["judged"], **{one["name"]: one["judged"] for one in told["accounts"]}}
        left_out = next(one for one in told["left_out"] if one["by"] == "all")["errors"]
        accounts["all tables, each family left out (its constants put back)"] = left_out
        for name, account in accounts.items():
            if not account:
                self.assertNotIn(name, rows)
                continue
            for cell, size_class in zip(rows.pop(name), ("large", "middle", "small")):
                found = share(cell)
                self.assertEqual(found is not None, size_class in account, f"{name} {size_class}")
                if found:
                    self.assertAlmostEqual(found[0], account[size_class]["tables_median_fraction"], delta=0.00051)
                    self.assertEqual(found[1], account[size_class]["tables"])
        for what, title in (("publications", "Publications left out, each against what all others say"),
                            ("families", "Families left out, predicted without what was learned of them")):
            self.assertEqual(rows.pop(f"within the band of 90 %, {what} left out"), rows_of(self.chapters[title])[0][:1:-1])
        self.assertEqual(rows, {})


if __name__ == "__main__":
    support.main()
