#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The published tables of links: each has its row in INDEX.yaml, says where it is from, and can be imported."""
import datetime
import os
import re

from support import SOURCE, CliTest, main, need, read

yaml, = need("yaml")
FOLDER = os.path.join(SOURCE, "validate", "measured", "links")
KEYS = {"file", "link", "kind", "role", "date", "count", "doubtful", "note"}


class Links(CliTest):
    def setUp(self):
        super().setUp()
        self.rows = yaml.safe_load(read(FOLDER, "INDEX.yaml"))["links"]

    def test_each_table_has_one_row(self):
        names = [row["file"] for row in self.rows]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(set(names) | {"INDEX.yaml"}, set(os.listdir(FOLDER)))

    def test_rows_say_what_may_be_done_with_a_table(self):
        links = self.good("describe", "--names", "links").split()
        for row in self.rows:
            with self.subTest(row["file"]):
                self.assertLessEqual(set(row), KEYS)
                self.assertIn(row["link"], links)
                self.assertIn(row["role"], ("calibration", "judged"))
                self.assertIsInstance(row["date"], datetime.date)
                self.assertGreaterEqual(row.get("count", 1), 1)
                self.assertIsInstance(row.get("doubtful", False), bool)

    def tables(self):
        return [row for row in self.rows if row["file"].endswith(".csv")]

    def test_tables_can_be_imported_and_say_where_they_are_from(self):
        for row in self.tables():
            with self.subTest(row["file"]):
                made = self.json("import", os.path.join(FOLDER, row["file"]))["series"]
                self.assertEqual({series["kind"] for series in made}, {row["kind"]})
                for series in made:
                    for key in ("system", "backend", "method", "source", "note", "from_end", "to_end", "from_memory",
                                "to_memory"):
                        self.assertTrue(series[key], key)
                    self.assertNotEqual(series["source"], row["file"])

    def line_rate(self, link):
        rate, unit = re.search(r"# line rate, one direction: ([0-9.]+) ([GT])B/s", self.good("describe", "links", link)).groups()
        return float(rate) * {"G": 1e9, "T": 1e12}[unit]

    def test_rates_are_below_the_line(self):
        """A table in a wrong unit, or with both directions together, is above what the link can carry."""
        for row in self.tables():
            limit = self.line_rate(row["link"]) * row.get("count", 1)
            for series in self.json("import", os.path.join(FOLDER, row["file"]))["series"]:
                for point in series["points"]:
                    with self.subTest(row["file"], size_bytes=point["size_bytes"]):
                        self.assertLess(point["size_bytes"] / point["time_ps"] * 1e12, limit * 1.001)

    def test_files_of_measure_say_what_machine_it_was_and_judge_their_link(self):
        """PCIe 5 as the catalogue has it carries copies of an H100 within 3 % at sizes that were not fitted."""
        rows = [row for row in self.rows if row["file"].endswith(".meas")]
        self.assertTrue(rows)
        for row in rows:
            path = os.path.join(FOLDER, row["file"])
            shown = self.json("measure", "show", path)
            self.assertIn("H100", shown["machine"]["gpu0"])
            host = [series for series in shown["series"] if "host" in (series["from_end"], series["to_end"])]
            self.assertEqual({series["kind"] for series in host}, set(row["kind"].split()))
            for link in ("host-to-gpu", "gpu-to-host"):
                done = self.good("validate", "links", path, "--link", row["link"], "--series", link, "--method", "copy",
                                 "--min-size", "16M", "--summary")
                one_way = done.split("\n\n")[1]
                self.assertRegex(one_way, "bandwidth, .*, copy, ")
                for error in re.findall(r"median .error. +([0-9.]+) %", one_way):
                    self.assertLess(float(error), 3)


if __name__ == "__main__":
    main()
