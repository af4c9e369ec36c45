#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast report` without a browser: the page as a file, tables as CSV, what is refused."""
import contextlib
import json
import os
import re
import sqlite3
import xml.etree.ElementTree

from report_data import add_sweep
from support import HELLO, CliTest, main, read

NO_D3 = 3


class Report(CliTest):
    def setUp(self):
        super().setUp()
        self.good("run", HELLO, "--no-band")

    def page(self, *args):
        """The text of a page; skipped where the program has no D3 to draw it with."""
        done = self.fabricast("report", *args, "-o", "-")
        if done.returncode == NO_D3:
            self.assertIn("node-d3", done.stderr)
            self.skipTest("built without D3")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def data(self, *args):
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', self.page(*args), re.S).group(1))

    def test_the_same_run_is_the_same_page(self):
        self.assertEqual(self.page(), self.page())

    def test_it_asks_nobody(self):
        page = self.page()
        self.assertRegex(page, r"""content="default-src 'none'; script-src 'sha256-[^"]*; base-uri 'none'""")
        self.assertNotRegex(page, r"""(?i)(?:src|href|action)\s*=\s*["']?(?:https?:|//)""")
        self.assertIn("Mike Bostock", page)  # the licence of what it draws with

    def test_its_figures_are_those_of_the_file(self):
        step, = json.loads(self.good("query", "--sql", "SELECT * FROM v_step WHERE run_id = :run ORDER BY iteration DESC LIMIT 1",
                                     "--format", "json"))
        shown = self.data()["runs"][0]["iterations"][-1]
        for name in ("step_s", "compute_s", "comm_s", "exposed_s", "idle_s", "tokens_per_s"):
            self.assertAlmostEqual(shown[name], step[name], delta=1e-9 * abs(step[name]), msg=name)

    def test_its_spans_are_those_of_the_file(self):
        spans = json.loads(self.good("query", "--format", "json", "--sql",
                                     "SELECT s.rank_class, s.stream, s.name, s.start_ps - i.start_ps AS start_ps, s.end_ps - s.start_ps AS ps"
                                     " FROM span AS s JOIN iteration AS i USING (run_id, iteration) WHERE run_id = :run AND s.end_ps > s.start_ps"
                                     " AND iteration = (SELECT max (iteration) FROM iteration)"))
        timeline = self.data()["runs"][0]["timeline"]
        shown = []
        for lane in timeline["lanes"]:
            start = 0
            for i in range(0, len(lane["spans"]), 6):
                start += lane["spans"][i + 1]
                shown.append((lane["class"], lane["stream"], timeline["names"][lane["spans"][i + 3]], start, lane["spans"][i + 2]))
        self.assertEqual(len(shown), len(spans))
        for got, span in zip(sorted(shown), sorted(spans, key=lambda s: (s["rank_class"], s["stream"], s["name"], s["start_ps"]))):
            self.assertEqual(got[:3], (span["rank_class"], span["stream"], span["name"]))
            self.assertLessEqual(abs(got[3] - span["start_ps"] / 1e3), 1)
            self.assertLessEqual(abs(got[4] - span["ps"] / 1e3), 1)

    def test_links_of_the_page_add_up(self):
        total, = json.loads(self.good("query", "--format", "json", "--sql",
                                      "SELECT count (*) AS n, max (busy_fraction) AS busiest, sum (bytes) AS bytes FROM link_load"
                                      " WHERE run_id = :run AND iteration = (SELECT max (iteration) FROM iteration)"))
        groups = self.data()["runs"][0]["links"]["groups"]
        self.assertEqual(sum(group["carried"] for group in groups), total["n"])
        self.assertEqual(sum(group["bytes"] for group in groups), total["bytes"])
        self.assertAlmostEqual(max(group["busiest"] for group in groups), total["busiest"], places=6)

    def test_tables(self):
        self.good("run", HELLO, "--no-band")
        self.assertEqual(self.good("report", "--csv", "links"), self.good("query", "links", "--format", "csv"))
        self.assertEqual(self.good("report", "--csv", "links", "-o", "links.csv"), "")
        self.assertEqual(read(self.path("links.csv")), self.good("query", "links", "--format", "csv"))
        said = self.good("report", "--csv", "tables/", "--run", "1", "--run", "2")
        written = os.listdir(self.path("tables"))
        self.assertEqual(said, f"tables/: {len(written)} tables\n")
        self.assertEqual(sum(name.startswith("run-1-") for name in written), len(written) // 2)
        for run in ("1", "2"):
            self.assertEqual(read(self.path("tables", f"run-{run}-iterations.csv")),
                             self.good("query", "iterations", "--run", run, "--format", "csv"))

    def test_figures(self):
        self.good("run", HELLO, "--no-band", "--set", "cluster.nodes=2")
        with contextlib.closing(sqlite3.connect(self.path("fabricast.db"))) as database, database:
            database.execute("UPDATE run SET name = ? WHERE run_id = 2", ("<script>&\u2028\a]]>",))  # no scenario has it
        add_sweep(self.path("fabricast.db"))
        for figure, least in (("timeline", 5), ("exposed", 8), ("sweep", 12), ("wait", 12)):
            svg = self.good("report", "--svg", figure, "--run", "2", "--run", "1", "--sweep", "1")
            root = xml.etree.ElementTree.fromstring(svg)
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            tags = {element.tag.rpartition("}")[2] for element in root.iter()}
            self.assertLessEqual(tags, {"svg", "title", "defs", "pattern", "rect", "circle", "line", "path", "text", "g",
                                        *(["style"] if figure == "wait" else [])}, figure)
            self.assertGreater(len(list(root.iter())), least, figure)
            self.assertEqual(self.good("report", "--svg", figure, "--run", "2", "--run", "1", "--sweep", "1", "-o", "f.svg"), "")
            self.assertEqual(read(self.path("f.svg")), svg)
        self.refused("report", "--svg", "timelin", names="nearest is timeline")
        self.refused("report", "--svg", "sweep", "--run", "1", names="no sweep to draw")
        self.refused("report", "--svg", "sweep", "--csv", "links", names="either --csv or --svg")

    def test_refused(self):
        self.refused("report", "--csv", "lnks", names="nearest is links")
        self.refused("report", "--csv", "links", "--run", "1", "--run", "1", names="of one run")
        self.refused("report", "--run", "0", names="--run 0: not a whole number from 1 on")
        self.refused("report", "--sweep", "1", names="no sweep")
        self.refused("report", *["--run=1"] * 25, names="a page holds 24")
        self.assertEqual(self.fabricast("report", "-o", "fabricast.db").returncode, 2 if self.page() else NO_D3)
        self.good("query", "runs")  # and the runs are still there


main()
