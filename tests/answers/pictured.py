#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Curves and bars on a screen are as high and as long as the figures of the document.

`pictured.py PROGRAM`. The screen has a hundred columns and no Braille: a place of a curve is one character.
"""
import json
import re

import answer
from answer import support
from screen import on_terminal

COLUMNS, ROWS, MOST_CELLS = 100, 6, 72


class Pictured(answer.AnswerTest):
    def screen(self, *args, columns=COLUMNS):
        return on_terminal(columns, args, self.directory, LC_ALL="C", NO_COLOR="1")

    def told(self, *args):
        return json.loads(self.fabricast(*args, "--format", "json").stdout)

    def check_curve(self, page, title, first, last, values, level=None, mark=None):
        """A picture of six rows: labels of the highest and the lowest, the values in their places, and the mark below its own."""
        lines = page.split("\n")
        end = next(i for i, line in enumerate(lines) if re.search(rf" {title}  {re.escape(first)} +{re.escape(last)}$", line))
        rows = [re.match(r"(#? *)(.{10}) \|(.*)$", line) for line in lines[end - ROWS:end]]
        self.assertTrue(all(rows), lines[end - ROWS:end])
        left = rows[0].start(3)
        cells = min(COLUMNS - left, MOST_CELLS)
        self.assertEqual(len(lines[end]), left + cells, "the last name ends where the picture ends")
        known = [value for value in values if value is not None] + ([level] if level is not None else [])
        most, least = max(known), min(known)
        least = 0 if 0 < least < most / 2 else least
        span = (most - least) or 1
        row_of = lambda value: (most - value) / span * (ROWS - 1)
        labels = {0: most, ROWS - 1: least}
        if level is not None:
            labels[int(row_of(level) + 0.5)] = level
        for i, row in enumerate(rows):
            label = row[2].strip()
            if i in labels:
                self.assertTrue(answer.quantity(label).is_near(labels[i]), f"{label} is not {labels[i]}")
            else:
                self.assertEqual(label, "")
        stars = [(y, x) for y, row in enumerate(rows) for x, sign in enumerate(row[3]) if sign == "*"]
        self.assertTrue(stars)
        inside = [i for i, value in enumerate(values) if value is not None]
        columns = {x for _, x in stars}
        begin, stop = (round(i * (cells - 1) / (len(values) - 1)) for i in (inside[0], inside[-1]))
        self.assertTrue(set(range(begin + 1, stop)) <= columns <= set(range(begin, stop + 1)), "no column between the first and the last is without a star")
        for i in inside:
            x = i * (cells - 1) / (len(values) - 1)
            near = [y for y, at in stars if abs(at - x) <= 1]
            self.assertTrue(any(abs(y - row_of(values[i])) <= 1 for y in near), f"value {i}, {values[i]}: {near} and not {row_of(values[i])}")
        if level is not None:
            self.assertRegex(rows[int(row_of(level) + 0.5)][3], r"- -|-")
        if mark is not None:
            index, words = mark
            line = lines[end + 1]
            self.assertIn(line.strip(), (f"^ {words}", f"{words} ^"))
            self.assertAlmostEqual(line.index("^") - left, index * (cells - 1) / (len(values) - 1), delta=0.51 + (len(words) + 1 if line.index("^") == left else 0))

    def test_collectives(self):
        command = ("collective", "--node", "dgx-a100", "-b", "1M", "-e", "64M", "-f", "2", "--no-band")
        values = [row["busbw_GBps"] for row in self.told(*command)["results"]]
        self.check_curve(self.screen(*command), "busbw", "1MiB", "64MiB", [value * 1e9 for value in values])

    def test_sweeps(self):
        command = ("sweep", "mpi-rig-100m", "--vary", "cluster.nic_rate=50..400Mb/s:50")
        values = [point["step_s"] for point in self.told(*command)["points"]]
        self.check_curve(self.screen(*command), "step", "50Mb/s", "400Mb/s", values)

    def test_three_points_are_a_curve(self):
        """Two are not, and neither are points of two keys."""
        command = ("sweep", "mpi-rig-100m", "--vary", "cluster.nic_rate=100Mb/s,200Mb/s,400Mb/s")
        self.check_curve(self.screen(*command), "step", "100Mb/s", "400Mb/s", [point["step_s"] for point in self.told(*command)["points"]])
        for command in (("sweep", "mpi-rig-100m", "--vary", "cluster.nic_rate=100Mb/s,400Mb/s"), (*command, "--vary", "cluster.nodes=2,4")):
            self.assertNotRegex(self.screen(*command), r"(?m)^ +step  100Mb/s")

    def test_sizes(self):
        for target, level in (("step<=600ms", 0.6), ("step<=1s", 1.0)):
            command = ("size", "mpi-rig-100m", "--vary", "cluster.nic_rate=50..400Mb/s:50", "--target", target)
            told = self.told(*command)
            values = [point["step_s"] for point in told["points"]]
            names = [point["value"] for point in told["points"]]
            mark = (names.index(told["answer"]), told["answer"]) if told["answer"] else None
            self.check_curve(self.screen(*command), "step", names[0], names[-1], values, level, mark)

    def test_tuned(self):
        command = ("tune", "hello", "--knobs", "bucket")
        told = self.told(*command)
        size = lambda text: answer.quantity(text).value
        points = sorted(told["points"], key=lambda point: size(point["bucket"]))
        names = [point["bucket"] for point in points]
        self.check_curve(self.screen(*command), "step", names[0], names[-1], [point["step_s"] for point in points], mark=(names.index(told["knobs"][0]["best"]), "best"))

    def test_bars_of_compare(self):
        """The longest step has the longest bar, and the others as much of it as their steps."""
        command = ("compare", "four-nodes", "--vary", "cluster.nic_rate=100Gb/s,200Gb/s,400Gb/s", "--no-band")
        figures = self.told(*command)["figures"]
        longest = max(one["step_s"] for one in figures)
        found = re.findall(r"(?m)^  (nic_rate=\w+/s) \|(#*) (.*), exposed (.*)$", self.screen(*command))
        self.assertEqual([row[0] for row in found], [one["name"] for one in figures])
        room = COLUMNS - max(len(one["name"]) for one in figures) - 30
        for (_, bar, step, exposed), one in zip(found, figures):
            self.assertAlmostEqual(len(bar), room * one["step_s"] / longest, delta=0.51)
            self.assertTrue(answer.quantity(step).is_near(one["step_s"]))
            self.assertTrue(answer.quantity(exposed).is_near(one["exposed_fraction"]))
        self.assertNotIn("|#", self.screen(*command, columns=50))

    def test_bars_of_scale(self):
        """A bar to the efficiency; a whole one is that of the first."""
        command = ("scale", "mpi-rig-100m", "--gpus", "1:16:x2", "--no-band")
        points = [point for point in self.told(*command)["points"] if point["efficiency"]]
        found = re.findall(r"(?m)^ +(\d+) \|(#*)(?:  (.*))?$", self.screen(*command))
        self.assertEqual([int(row[0]) for row in found], [point["gpus"] for point in points])
        whole = len(found[0][1])
        for (_, bar, _), point in zip(found, points):
            self.assertAlmostEqual(len(bar), whole * min(1, point["efficiency"]), delta=0.51)


if __name__ == "__main__":
    support.main()
