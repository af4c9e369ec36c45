#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `scale`: efficiencies, where they bend and up to where they are high, formed once more of the points.

`scaled.py PROGRAM`.
"""
import json
import math
import re

import answer
from answer import support

WEAK, STRONG = "Weak", "Strong"
LEAST_BEND = 0.02


def gpus(n):
    return f"{n} GPU" if n == 1 else f"{n} GPUs"


class Scaled(answer.AnswerTest):
    def check(self, kind, *command):
        told, page = json.loads(self.good("scale", *command, "--no-band", "--format", "json")), self.good("scale", *command, "--no-band")
        points = told["points"]
        rated = [i for i, point in enumerate(points) if point["step_s"]]
        first, last = points[rated[0]], points[rated[-1]]
        rate = lambda point: point["tokens_per_s"] or (point["gpus"] if kind is WEAK else 1) / point["step_s"]
        for i in rated:
            self.assert_same(points[i]["efficiency"], rate(points[i]) / points[i]["gpus"] / (rate(first) / first["gpus"]), points[i]["gpus"], rel=1e-6)
        low = next((i for i in rated if points[i]["efficiency"] < told["bound"] - 1e-12), None)
        efficient = points[rated[-1] if low is None else rated[rated.index(low) - 1]]
        self.assertEqual(told["efficient_up_to"], efficient["gpus"])
        shares = f"{100 * told['bound']:.4g} % or more"
        at_last = f"{100 * last['efficiency']:.1f} %"
        self.assertIn(f"\n  Up to {gpus(last['gpus'])}, the largest number simulated, efficiency stays at {shares}: {at_last}.\n" if efficient is last else
                      f"\n  Up to {gpus(efficient['gpus'])} efficiency stays at {shares}; at {last['gpus']} it is {at_last}.\n", page)
        bend = self.check_bend(told, [points[i] for i in rated], page)
        dominated = next((point for point in points if point["gpus"] == told["network_dominates_from"]), None)
        if dominated:
            self.assertIn(f"\n  From {gpus(dominated['gpus'])} on the network dominates: exposed communication takes longer than compute, and the step is limited by {dominated['limited_by']}.\n", page)
        else:
            self.assertIn(f"\n  The network dominates nowhere: at {gpus(last['gpus'])}, {100 * last['exposed_fraction']:.1f} % of the step is exposed communication.\n", page)
        for point in points:  # neither idle nor exposed: computing
            dominates = point["exposed_fraction"] > 1 - point["exposed_fraction"] - point["idle_fraction"]
            self.assertEqual(dominates, dominated is not None and point["gpus"] >= dominated["gpus"], point["gpus"])
        batches = [point["global_batch"] for point in points if point["global_batch"]]
        batch = "" if not batches else f", and the global batch is {min(batches):.0f}" + (f" to {max(batches):.0f}" if max(batches) > min(batches) else "") + " sequences"
        self.assertEqual(len(set(batches)) <= 1, kind is STRONG or not batches)
        self.assertIn(f"\n  {kind} scaling: the batch of {'every GPU' if kind is WEAK else 'the job'} stays the same{batch}; efficiency is per GPU, relative to {gpus(first['gpus'])}.\n", page)
        self.check_table(points, page)
        marks = {}
        for name, point in (("  bends", bend), ("  worth it up to here", efficient), ("  the network dominates from here on", dominated)):
            if point:
                marks[point["gpus"]] = name
        self.assertEqual([(int(number), mark) for number, mark in re.findall(r"(?m)^ +(\d+) \|#*(.*)$", page)], [(points[i]["gpus"], marks.get(points[i]["gpus"], "")) for i in rated])
        self.assertIn(f"\n  on {gpus(efficient['gpus'])}:\n", page)
        return told, bool(bend), bool(dominated), efficient is last

    def check_bend(self, told, points, page):
        """The middle of three points where the efficiency falls most, by two points of a hundred per doubling or more."""
        slope = lambda one, other: (other["efficiency"] - one["efficiency"]) / math.log2(other["gpus"] / one["gpus"])
        bends = [(slope(one, two) - slope(two, three), two, slope(one, two), slope(two, three)) for one, two, three in zip(points, points[1:], points[2:])]
        fall, point, before, after = max(bends, key=lambda bend: bend[0], default=(0, None, 0, 0))
        if fall <= LEAST_BEND:
            self.assertIsNone(told["bends_at"])
            self.assertNotIn("bends", page)
            return None
        self.assertEqual(told["bends_at"], point["gpus"])
        found = re.search(r"(?m)^  Efficiency bends most at (\d+) GPUs: ([-+]\d+\.\d) points per doubling before, ([-+]\d+\.\d) after\.$", page)
        self.assertEqual(int(found[1]), point["gpus"])
        for shown, value in zip(found.groups()[1:], (before, after)):
            self.assertLessEqual(abs(float(shown) - 100 * value), 0.0501)
            self.assertNotEqual(shown, "-0.0")
        return point

    def check_table(self, points, page):
        lines = page.partition("limited by\n")[2].partition("\n\n")[0].splitlines()
        self.assertEqual(len(lines), len(points))
        for line, point in zip(lines, points):
            cells = re.split(r" {2,}", line.strip())
            self.assertEqual(cells[0], str(point["gpus"]))
            if not point["step_s"]:
                self.assertEqual(cells[1], f"cannot be simulated: {point['problem'].splitlines()[0]}")
                continue
            for cell, value in zip(cells[1:6], (point["step_s"], point["efficiency"], point["exposed_fraction"], point["mfu_fraction"], point["tokens_per_s"])):
                self.assertTrue(cell == "-" and not value or answer.quantity(cell).is_near(value), f"{line}: {cell} is not {value}")
            self.assertTrue(cells[6].startswith(point["limited_by"]), line)

    def test_pages(self):
        job = "ddp-2b-4nodes-200g"
        seen = [self.check(WEAK, job, "--gpus", "8,16,32,64,128"), self.check(STRONG, job, "--gpus", "8,16,32,64", "--strong"), self.check(WEAK, "hello", "--gpus", "1,2,4,8,16"),
                self.check(WEAK, "mpi-rig-100m", "--gpus", "2,4,8,16"), self.check(WEAK, "mpi-rig-100m", "--gpus", "2,3,5"), self.check(WEAK, job, "--gpus", "8,16,64", "--efficiency", "50%"),
                self.check(STRONG, "hello", "--gpus", "1,8", "--hold", "batch")]
        for k in (1, 2, 3):
            self.assertEqual({one[k] for one in seen}, {True, False})


if __name__ == "__main__":
    support.main()
