#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a page of `report` draws from is what the results file has: spans, links, times of classes, tables.

`reported.py PROGRAM`. The file is read a second time, by Python.
"""
import json
import os
import re
import sqlite3

import answer
from answer import support

KINDS = ("compute", "comm", "load", "wait")
STRIP, MOST_GROUPS = 48, 400
RUNS = (1, 2, 3, 4)


class Reported(answer.AnswerTest):
    file = None

    def setUp(self):
        """Runs with more than ten switches of a kind, with hundreds of places in a node, with a slow rank, for which the others wait, and with hundreds of links."""
        super().setUp()
        if Reported.file is None:
            self.good("run", "mpi-rig-100m", "--iterations", "1", "--no-band", "--no-bottleneck", "--set", "cluster.nodes=44", "--set", "cluster.fabric={kind: leaf_spine, nodes_per_leaf: 4}")
            self.good("run", "hello", "--iterations", "1", "--no-band", "--no-bottleneck", "--set", "cluster.node=gb200-nvl72")
            self.good("run", "fsdp-8b-straggler", "--iterations", "2", "--no-band", "--no-bottleneck")
            self.good("run", "four-nodes", "--iterations", "2", "--no-band", "--set", "cluster.nodes=16")
            with open(self.path("fabricast.db"), "rb") as file:
                Reported.file = file.read()
        with open(self.path("fabricast.db"), "wb") as file:
            file.write(Reported.file)
        page = self.good("report", *(word for run in RUNS for word in ("--run", str(run))), "-o", "-")
        self.data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
        db = sqlite3.connect(self.path("fabricast.db"))
        self.addCleanup(db.close)
        self.ask = lambda sql, *values: db.execute(sql, values).fetchall()

    def runs(self):
        """(run of the page, its number, its last iteration, where that begins and ends)"""
        for run in self.data["runs"]:
            iteration, start, step = self.ask("SELECT iteration, start_ps, step_ps FROM iteration WHERE run_id = ? ORDER BY iteration DESC LIMIT 1", run["run"])[0]
            yield run, run["run"], iteration, start, step

    def test_spans_are_those_of_the_file(self):
        """Of the last iteration every span, stream by stream in the order of time, cut off at its ends."""
        nanoseconds = lambda time: (time + 500) // 1000
        for run, number, iteration, start, step in self.runs():
            told = run["timeline"]
            self.assertEqual((told["iteration"], told["duration_ns"], told["short_ns"]), (iteration, nanoseconds(step), 0))
            shown, n = {}, 0
            for lane in told["lanes"]:
                at = 0
                for i in range(0, len(lane["spans"]), 6):
                    kind, gap, length, name, form, count = lane["spans"][i:i + 6]
                    at += gap
                    self.assertEqual(count, 1)
                    shown.setdefault((lane["class"], lane["stream"]), []).append((at, at + length, KINDS[kind], told["names"][name], form))
                    n += 1
            self.assertEqual(n, told["recorded"])
            known = {}
            for rank_class, stream, kind, name, first, last, collective, of in self.ask(
                    "SELECT rank_class, stream, kind, name, start_ps, end_ps, collective, iteration FROM span WHERE run_id = ? ORDER BY span", number):
                first, last = max(first, start) - start, min(last, start + step) - start
                if last > first:
                    known.setdefault((rank_class, stream), []).append((first, last, kind, name, (of, collective)))
            self.assertEqual(set(shown), set(known))
            for lane, spans in known.items():
                spans.sort(key=lambda span: span[:2])
                self.assertEqual([(nanoseconds(first), nanoseconds(last), kind, name) for first, last, kind, name, _ in spans],
                                 [one[:4] for one in shown[lane]])
                for (*_, collective), (*_, form) in zip(spans, shown[lane]):
                    self.check_form(number, collective, told["forms"][form] if form >= 0 else None)

    def check_form(self, number, collective, form):
        self.assertEqual(collective[1] is None, form is None)
        if form is not None:
            row = self.ask("SELECT c.op, c.dimension, c.algorithm, c.protocol, c.n_channels, c.n_ranks, c.bytes, l.from_vertex, l.to_vertex, l.spec FROM collective AS c"
                           " LEFT JOIN link AS l ON l.run_id = c.run_id AND l.link = c.binding_link WHERE c.run_id = ? AND c.iteration = ? AND c.collective = ?", number, *collective)[0]
            self.assertEqual(tuple(form[key] for key in ("op", "dimension", "algorithm", "protocol", "channels", "ranks", "bytes", "link_from", "link_to", "spec")), row)

    def grouped(self, rows, are_joined):
        """({ends with their kind of link: links}, {name of switches: those}, {name of places in nodes: those})"""
        groups, switches, places = {}, {}, {}
        for first, last, spec, parallel, rate, busy, moved in rows:
            ends = []
            for vertex in (first, last):
                inside = re.match(r"node\d+/(.*)", vertex)
                name = inside[1] if inside else vertex
                joined = name if inside and not are_joined else re.sub(r"\d+", "#", name)
                ends.append((joined, bool(inside)))
                if not inside or are_joined:
                    (places if inside else switches).setdefault(joined, set()).add(name)
            groups.setdefault((*ends, spec), []).append((busy or 0, moved or 0, busy is not None, first, last, parallel, rate))
        return groups, switches, places

    def test_links_are_joined_by_their_places(self):
        """Nodes lie over one another, and switches go by their names without numbers: a group has all its links. Where these
        are too many groups, places in nodes go by their names without numbers too."""
        kinds = set()
        for run, number, iteration, _, _ in self.runs():
            rows = self.ask("SELECT l.from_vertex, l.to_vertex, l.spec, l.n_parallel, l.line_rate_bytes_per_s, b.busy_fraction, b.bytes FROM link AS l LEFT JOIN link_load AS b"
                            " ON b.run_id = l.run_id AND b.iteration = ? AND b.link = l.link WHERE l.run_id = ? ORDER BY l.link", iteration, number)
            are_joined = len(self.grouped(rows, False)[0]) > MOST_GROUPS
            groups, switches, places = self.grouped(rows, are_joined)
            kinds |= {"many places"} if are_joined else {"many switches"} if any(len(of) > 10 for of in switches.values()) else {"few"}
            told = run["links"]
            self.assertEqual(told["n"], sum(map(len, groups.values())))
            for key, known in (("tiers", switches), ("parts", places)):
                self.assertEqual({one["name"]: one["n"] for one in told[key]}, {name: len(of) for name, of in known.items()})
            self.assertEqual(len(told["groups"]), len(groups))
            for group, (key, links) in zip(told["groups"], groups.items()):
                self.assertEqual(((group["from"], bool(group["from_inside"])), (group["to"], bool(group["to_inside"])), group["spec"]), key)
                self.assertEqual((group["n"], group["carried"], group["parallel"]), (len(links), sum(link[2] for link in links), links[0][5]))
                self.assert_same(group["rate_bytes_per_s"], links[0][6], rel=1e-6)
                self.assert_same(group["bytes"], sum(link[1] for link in links), rel=1e-6)
                self.assertAlmostEqual(group["mean"], sum(link[0] for link in links) / len(links), 6)
                most = max(links, key=lambda link: link[0])
                self.assertAlmostEqual(group["busiest"], most[0], 6)
                self.assertEqual((group["busiest_from"], group["busiest_to"]), most[3:5])
                self.check_strip(group["strip"], sorted((link[0] for link in links), reverse=True))
        self.assertEqual(kinds, {"many places", "many switches", "few"})

    def check_strip(self, strip, busy):
        """Every link, or as many of them as have room, evenly spaced from the busiest to the idlest."""
        n = min(len(busy), STRIP)
        chosen = [busy[i * (len(busy) - 1) // (n - 1) if n > 1 else 0] for i in range(n)]
        self.assertEqual(len(strip), n)
        for shown, value in zip(strip, chosen):
            self.assertAlmostEqual(shown, 1000 * value, delta=0.51)

    def test_figures_are_those_of_the_file(self):
        for run, number, iteration, _, step in self.runs():
            names = ("step", "compute", "comm", "overlapped", "exposed", "idle")
            of = ", ".join(name + "_ps" for name in names)
            rows = self.ask(f"SELECT iteration, {of} FROM iteration WHERE run_id = ? ORDER BY iteration", number)
            self.assert_times(run["iterations"], [row[1:] for row in rows], names)
            self.assertEqual([one["iteration"] for one in run["iterations"]], [row[0] for row in rows])
            rows = self.ask(f"SELECT {of} FROM iteration_class WHERE run_id = ? AND iteration = ? ORDER BY rank_class", number, iteration)
            self.assert_times(run["classes"], rows, names)
            self.assertEqual(sum(one["ranks"] for one in run["classes"]), run["ranks"])
            self.assertAlmostEqual(sum(part["time_s"] for part in run["path"]), step / 1e12, 9)
            self.assertEqual([part["time_s"] for part in run["path"]], sorted((part["time_s"] for part in run["path"]), reverse=True))
            shares = self.ask("SELECT dimension, op, sum (exposed_ps * 1.0 * n_ranks) / (SELECT n_ranks FROM run WHERE run_id = ?1) FROM exposure JOIN rank_class USING (run_id, rank_class)"
                              " WHERE run_id = ?1 AND iteration = ?2 GROUP BY 1, 2", number, iteration)
            self.assertEqual({(one["dimension"], one["op"]): round(one["exposed_s"] * 1e12 / 1e3) for one in run["exposure"]}, {(row[0], row[1]): round(row[2] / 1e3) for row in shares})

    def assert_times(self, told, rows, names):
        self.assertEqual(len(told), len(rows))
        for one, row in zip(told, rows):
            for name, value in zip(names, row):
                self.assertAlmostEqual(one[name + "_s"], value / 1e12, 8, name)

    def test_tables_are_those_of_query(self):
        """A table on the page is what `query` prints, or its beginning."""
        for run, number, *_ in self.runs():
            for table in run["tables"]:
                if "csv" not in table or table["rows"] == 0:
                    continue
                lines = self.good("query", table["name"], "--run", str(number), "--format", "csv").splitlines()
                shown = table["csv"].splitlines()
                self.assertEqual(shown, lines[:len(shown)], table["name"])
                self.assertEqual(table["held"], len(shown) - 1)
                self.assertEqual(table["rows"], len(lines) - 1, table["name"])
            self.assertEqual(len({table["name"] for table in run["tables"]}), len(run["tables"]))

    def test_what_is_left_open_is_the_last_run(self):
        """Without --run, commands are about the last run."""
        for command in (("trace", "-o", "-"), ("query", "iterations", "--format", "json"), ("query", "exposed", "--format", "json"), ("report", "--svg", "exposed")):
            last = self.good(*command)
            self.assertEqual(last, self.good(*command, "--run", "4"), command)
            if command[0] != "query" or "iterations" not in command:
                self.assertNotEqual(last, self.good(*command, "--run", "3"), command)

    def test_terms_of_the_glossary(self):
        """The page has those that its data or its script can show, by one of their names and not within a longer word, in the order of `describe glossary`."""
        known = self.json("describe", "glossary")
        for more in ((), ("--run", "1", "--run", "3"), ("--run", "2")):
            page = self.good("report", *more, "-o", "-")
            data, script = (re.search(rf'<script{tag}>(.*?)</script>', page, re.S)[1] for tag in (' type="application/json" id="data"', ""))
            scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
            shown = json.loads(re.search(r'<script type="application/json" id="glossary">(.*?)</script>', page, re.S)[1])
            text = (data.replace("\\u003c", "<") + scripts[-1]).lower()
            names = lambda term: [term["name"], *term["also"]]
            wanted = [term for term in known if any(re.search(rf"(?<![a-z0-9_-]){re.escape(name.lower())}(?![a-z0-9_-])", text, re.A) for name in names(term))]
            self.assertEqual([(one["name"], one["also"], one["text"]) for one in shown], [(one["name"], one["also"], one["text"]) for one in wanted])
            self.assertTrue(0 < len(shown) < len(known))

    def test_a_table_of_one_run(self):
        self.refused("report", "--csv", "links", "--run", "1", "--run", "2", names="of one run or sweep")
        told = self.good("report", "--csv", "tables/", "--run", "1", "--run", "2")
        names = os.listdir(self.path("tables"))
        self.assertIn(f"tables/: {len(names)} tables", told)
        self.assertEqual({name.split("-")[1] for name in names}, {"1", "2"})


if __name__ == "__main__":
    support.main()
