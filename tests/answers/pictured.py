#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of answers on a terminal: every value of a curve stands at its place, and bars are as long as their figures.

`pictured.py PROGRAM`. The terminal has no letters beyond ASCII, so that a picture can be read back: `*` of the curve, `-` of a bound.
"""
import json
import math
import re

import answer
from answer import support

from screen import on_terminal

ROWS, LABEL, MOST_CELLS = 6, 10, 72
SWEEP = ("sweep", "hello", "--set", "cluster.nodes=2", "--vary")
SIDES = ("compare", "hello", "--vary", "cluster.nodes=1,2", "--set", "job.micro_batch=2", "--no-band")


class Curve:
    """The picture of a page that has this title, with `prefix` before each line."""

    def __init__(self, page, title, prefix):
        lines = page.split("\n")
        at = next(i for i, line in enumerate(lines) if line.startswith(f"{prefix}{title:>{LABEL}}  "))
        self.edge = len(prefix) + LABEL + 2
        self.ends = re.split(r"  +", lines[at][self.edge:])
        self.cells = len(lines[at]) - self.edge
        rows = lines[at - ROWS:at]
        assert all(line.startswith(prefix) and line[self.edge - 2:self.edge] == " |" for line in rows), rows
        self.labels = [line[len(prefix):self.edge - 2].strip() for line in rows]
        self.rows = [line[self.edge:].ljust(self.cells) for line in rows]
        self.mark = lines[at + 1][self.edge:] if "^" in lines[at + 1] else None


class Pictured(answer.AnswerTest):
    def screen(self, columns, *args):
        return on_terminal(columns, args, self.directory, LC_ALL="C", NO_COLOR="1")

    def check_curve(self, curve, columns, values, ends, bound=None):
        """`values` are equally far apart, and None where there is none: the line goes on to the next one."""
        self.assertEqual(curve.ends, list(ends))
        self.assertEqual(curve.cells, min(columns - curve.edge, MOST_CELLS), "the last name ends where the picture ends")
        known = [i for i, value in enumerate(values) if value is not None]
        seen = [values[i] for i in known] + ([bound] if bound is not None else [])
        most = max(seen)
        least = 0 if 0 < min(seen) < most / 2 else min(seen)
        row_of = lambda value: (most - value) / ((most - least) or 1) * (ROWS - 1)
        level = None if bound is None else math.floor(row_of(bound) + 0.5)
        for row, value in ((0, most), (ROWS - 1, least)):
            self.assert_shows(curve.labels[row], value, "label")
        for row in range(1, ROWS - 1):
            self.assertEqual(bool(curve.labels[row]), row == level)
        if level is not None:
            self.assert_shows(curve.labels[level], bound, "bound")
        for x in range(curve.cells):
            at = x * (len(values) - 1) / (curve.cells - 1)
            before, after = [i for i in known if i <= at], [i for i in known if i >= at]
            drawn = [row for row in range(ROWS) if curve.rows[row][x] == "*"]
            self.assertEqual(bool(drawn), bool(before and after), f"column {x}")
            if drawn:
                left, right = before[-1], after[0]
                value = values[left] + ((at - left) / (right - left) * (values[right] - values[left]) if right > left else 0)
                self.assertTrue(any(abs(row - row_of(value)) <= 0.5 + 1e-9 for row in drawn), f"column {x} has {drawn}, and {value} is in row {row_of(value)}")
                self.assertEqual(drawn, list(range(drawn[0], drawn[-1] + 1)))
            if level is not None and x % 2 == 0:
                self.assertIn(curve.rows[level][x], "*-")

    def check_mark(self, curve, n, place, words):
        """A mark stands below its place, with its words behind it or, where they have no room there, before it."""
        self.assertEqual(curve.mark.index("^"), math.floor(place * (curve.cells - 1) / (n - 1) + 0.5))
        self.assertIn(curve.mark.strip(), (f"^ {words}", f"{words} ^"))

    def test_sweep(self):
        """Three points make a curve, in the order of the axis; two make none, nor do two keys, nor a point without a step."""
        rates = "50Gb/s", "100Gb/s", "400Gb/s", "200Gb/s"
        for n in (2, 3, 4):
            told = self.json(*SWEEP, "cluster.nic_rate=" + ",".join(rates[:n]))
            for columns in (60, 140):
                page = self.screen(columns, *SWEEP, "cluster.nic_rate=" + ",".join(rates[:n]))
                self.assertEqual("|*" in page, n > 2)
                if n > 2:
                    curve = Curve(page, "step", "  ")
                    self.check_curve(curve, columns, [point["step_s"] for point in told["points"]], (rates[0], rates[n - 1]))
                    self.assertIsNone(curve.mark)
        self.assertNotIn("|*", self.screen(80, *SWEEP, "job.micro_batch=1,2", "--vary", "cluster.nic_rate=50Gb/s,100Gb/s"))
        self.assertNotIn("|*", self.screen(80, *SWEEP, "job.micro_batch=0,1,2,4"))

    def test_size(self):
        """The bound of the target is a line, and the answer is marked, where there is one."""
        answers = set()
        for target, bound, figure in (("exposed<=2%", 0.02, "exposed"), ("step<=360ms", 0.36, "step"), ("step<=1s", 1, "step"), ("step<=200ms", 0.2, "step")):
            command = ("size", "hello", "--set", "cluster.nodes=2", "--vary", "cluster.nic_rate=50..200Gb/s:50", "--target", target)
            told = json.loads(self.fabricast(*command, "--format", "json").stdout)
            points = told["points"]
            values = [point["exposed_fraction" if figure == "exposed" else "step_s"] for point in points]
            for columns in (60, 140):
                curve = Curve(self.screen(columns, *command), figure, "  ")
                self.check_curve(curve, columns, values, (points[0]["value"], points[-1]["value"]), bound)
                self.assertEqual(curve.mark is None, told["answer"] is None)
                if curve.mark:
                    self.check_mark(curve, len(points), [point["value"] for point in points].index(told["answer"]), told["answer"])
            answers.add(told["answer"] and told["answer"] == points[0]["value"])
        self.assertEqual(answers, {None, True, False})

    def test_tune(self):
        """Values that do not fit have no step, and the best one is marked."""
        for args, knob in ((("hello", "--set", "cluster.nodes=2"), "bucket"), (("hello", "--set", "job.micro_batch=32"), "micro_batch")):
            command = ("tune", *args, "--knobs", knob)
            told = self.json(*command)
            best = told["knobs"][0]["best"]
            page = self.good(*command)
            labels = re.findall(r"(?m)^    (\d.*?)  +\S.* GB ", page.partition(f"{knob}: job.")[2])
            at = {point[knob]: point for point in told["points"]}
            fits = lambda point: point["step_s"] and point["memory_bytes"] <= told["memory_limit_bytes"]
            values = [at[label]["step_s"] if fits(at[label]) else None for label in labels]
            self.assertGreaterEqual(len(labels), 4)
            self.assertEqual(any(value is None for value in values), knob == "micro_batch")
            for columns in (60, 140):
                curve = Curve(self.screen(columns, *command), "step", "    ")
                self.check_curve(curve, columns, values, (labels[0], labels[-1]))
                self.check_mark(curve, len(labels), labels.index(best), "best")

    def test_collective(self):
        command = ("collective", "--node", "dgx-h100", "--nodes", "2", "-b", "8K", "-e", "64M", "-f", "8")
        rows = self.json(*command)["results"]
        self.assertEqual((rows[0]["size_bytes"], rows[-1]["size_bytes"]), (8 << 10, 32 << 20))
        for columns in (60, 140):
            curve = Curve(self.screen(columns, *command), "busbw", "# ")
            self.assertEqual([label.split()[-1] for label in curve.labels if label], ["GB/s"] * 2)
            curve.labels = [label.partition(" ")[0] for label in curve.labels]
            self.check_curve(curve, columns, [row["busbw_GBps"] for row in rows], ("8KiB", "32MiB"))
        self.assertNotIn("|*", self.screen(80, *command[:-4], "-e", "64K", "-f", "8"))

    def test_bars_of_sides(self):
        """The longest step fills the room; a narrow terminal has the table alone."""
        told = self.json(*SIDES)
        steps = [one["step_s"] for one in told["variants"]]
        for columns in (60, 140):
            page = self.screen(columns, *SIDES).partition("\n  step\n")[2]
            bars = re.findall(r"(?m)^  (\S+) +\|(#+) (.*?), exposed (.*?)$", page)
            self.assertEqual([bar[0] for bar in bars], [one["name"] for one in told["figures"]])
            longest = max(len(bar[1]) for bar in bars)
            self.assertTrue(columns - 40 <= longest <= columns - 25, longest)
            for bar, one, step in zip(bars, told["figures"], steps):
                self.assertLessEqual(abs(len(bar[1]) - longest * step / max(steps)), 1)
                self.assert_shows(bar[2], step, "step")
                self.assert_shows(bar[3], one["exposed_fraction"], "exposed")
        self.assertNotIn("|#", self.screen(40, *SIDES))

    def test_bars_of_scaling(self):
        """A bar reaches to the efficiency; all that is beyond the first point's goes to the edge. A file has them too."""
        command = ("scale", "mpi-rig-100m", "--gpus", "2,4,8,16", "--no-band")
        told = self.json(*command)["points"]
        self.assertLess(min(point["efficiency"] for point in told), 0.9)
        for page, room in ((self.screen(140, *command), 94), (self.screen(60, *command), 20), (self.good(*command), 50)):
            bars = {int(gpus): len(bar) for gpus, bar in re.findall(r"(?m)^ +(\d+) \|(#*)", page.partition("\n  efficiency\n")[2])}
            self.assertEqual(list(bars), [point["gpus"] for point in told])
            for point in told:
                self.assertLessEqual(abs(bars[point["gpus"]] - room * min(point["efficiency"], 1)), 0.51)


if __name__ == "__main__":
    support.main()
