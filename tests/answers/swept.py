#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `sweep`: every point in its order, the best of many, the mark of the best, and those that have no step.

`swept.py PROGRAM`.
"""
import json
import re

import answer
import tables
from answer import support


class Swept(answer.AnswerTest):
    def asked(self, *command):
        told = tables.nodes(json.loads(self.fabricast("sweep", *command, "--format", "json").stdout))
        return told, self.fabricast("sweep", *command).stdout

    def rows(self, page, key):
        lines = page.splitlines()
        at = next(i for i, line in enumerate(lines) if line.strip().startswith(f"{key} "))
        return tables.cells(lines[at]), tables.rows_below(lines, at)

    def check_rows(self, page, key, points, marks=()):
        heads, lines = self.rows(page, key)
        self.assertEqual(len(lines), len(points))
        columns = {"step": "step_s", "exposed": "exposed_fraction", "idle": "idle_fraction", "waiting": "waiting_fraction", "MFU": "mfu_fraction", "tokens/s": "tokens_per_s"}
        for line, point in zip(lines, points):
            cells = tables.by_head(line.replace(" <", "  ").replace(" =", "  "), heads, False)
            self.assertEqual(cells[0].text, point[key], line)
            for i, head in enumerate(heads):
                if head.text in columns:
                    value = point[columns[head.text]]
                    self.assertTrue(tables.is_shown(cells[i].text, value or None) or tables.is_shown(cells[i].text, value), f"{head.text} is not {value}: {line}")
            self.assertEqual("  <" in line, point[key] in marks, line)

    def test_up_to_a_hundred(self):
        """All points of a hundred; of one more the twenty with the shortest steps, the shortest first."""
        for last, n in ((149, 100), (150, 101)):
            told, page = self.asked("mpi-rig-100m", "--vary", f"cluster.nic_rate=50..{last}Mb/s:1")
            self.assertEqual(len(told.points), n)
            self.assertIn(f"\n  {n} points of cluster.nic_rate\n", page)
            best = sorted(told.points, key=lambda point: point.step_s)
            self.assertEqual("the 20 points with the shortest step" in page, n > 100)
            self.assertEqual("  < the shortest step" in page, n <= 100)
            if n > 100:
                self.check_rows(page, "cluster.nic_rate", best[:20])
            else:
                self.check_rows(page, "cluster.nic_rate", told.points, [best[0]["cluster.nic_rate"]])

    def test_tokens_come_first(self):
        """Where a step has tokens, the best has most of them, and not the shortest step."""
        told, page = self.asked("hello", "--vary", "job.micro_batch=1,2,4", "--set", "job.accumulation=1")
        best = max(told.points, key=lambda point: point.tokens_per_s)
        self.assertNotEqual(best, min(told.points, key=lambda point: point.step_s))
        self.assertIn("\n  < the most tokens per second\n", page)
        self.check_rows(page, "job.micro_batch", told.points, [best["job.micro_batch"]])

    def test_points_that_do_not_fit(self):
        told, page = self.asked("hello", "--vary", "job.micro_batch=4,64")
        large = [point for point in told.points if any(finding.code == "does_not_fit" for finding in point.verdict)]
        self.assertEqual([point["job.micro_batch"] for point in large], ["64"])
        self.assertIn("\n  1 of the points does not fit into memory; the sweep recommends no such point\n", page)
        _, page = self.asked("hello", "--vary", "job.micro_batch=64,96")
        self.assertIn("\n  2 of the points do not fit into memory, so there is none to recommend\n", page)
        self.assertNotIn("\n  < ", page)

    def test_points_that_cannot_be_simulated(self):
        told, page = self.asked("hello", "--vary", "job.micro_batch=0,1,2")
        self.assertEqual([point.problem is not None for point in told.points], [True, False, False])
        self.assertIn("\n  3 points of job.micro_batch; 1 cannot be simulated\n", page)

    def test_one_point(self):
        """It is not the best of several."""
        told, page = self.asked("hello", "--vary", "job.micro_batch=4")
        self.assertEqual(len(told.points), 1)
        self.assertIn("\n  1 point of job.micro_batch\n", page)
        self.assertNotIn("<", page)
        self.check_rows(page, "job.micro_batch", told.points)

    def test_two_keys(self):
        """Each value of the first with each of the second, and the number of the sweep that the file has."""
        told, page = self.asked("mpi-rig-100m", "--vary", "cluster.nic_rate=100Mb/s,200Mb/s", "--vary", "cluster.nodes=2,4")
        self.assertEqual([(point["cluster.nic_rate"], point["cluster.nodes"]) for point in told.points], [(rate, nodes) for rate in ("100Mb/s", "200Mb/s") for nodes in "24"])
        self.assertIn("\n  4 points of cluster.nic_rate x cluster.nodes\n", page)
        [number] = re.findall(r"(?m)^  sweep (\d+) in fabricast\.db; `fabricast query sweep --db fabricast\.db` reads it back$", page)
        self.assertGreaterEqual(int(number), told.sweep_id)
        rows = answer.csv_rows(self.good("query", "sweep", "--format", "csv"))
        self.assertEqual(len(rows), 4)


if __name__ == "__main__":
    support.main()
