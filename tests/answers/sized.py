#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every line of `size` above its table is what the points of the same answer say, and its curve stands where the points are.

`sized.py PROGRAM [Class]`.
"""
import json
import math
import operator
import re

import answer
import tables
from answer import support

BIG = "ddp-2b-4nodes-200g"
RATES = "cluster.nic_rate=100..400Gb/s:100"
MET = (
    ("mpi-rig-100m", "cluster.nic_rate=110..130Mb/s:5", "step<=600ms"),
    ("hello", "cluster.nodes=4,2,1", "step<=353ms"),
    ("hello", "cluster.nodes=1,2,3,5", "step<=400ms", "--hold", "batch"),
    ("hello", "job.micro_batch=1,2,3,128", "mfu>=30%"),
    ("hello", "cluster.nodes=1,2,4", "mfu>=38.2%", "--seeds", "2"),
    ("ddp-20b", "job.micro_batch=2,1", "step<=30s", "--allow-oversized"),
    (BIG, RATES, "exposed<=75%", "--target", "step<=3s"),
    (BIG, "cluster.nic_rate=2000..3000Gb/s:500", "exposed<=75%"),
    (BIG, "cluster.nic_rate=800Gb/s,1Tb/s", "exposed<=75%"),
    ("hello", "fidelity=fluid,analytic", "exposed<=75%"),
    ("hello", "cluster.nodes=2,2", "exposed<=75%"),
    ("zero3-13b-slow-fabric", "cluster.nic_rate=50..400Gb/s:50", "exposed<=20%"),
    ("fabric-ddp-ecmp", "cluster.nodes=8,4,2", "exposed<=13%"),
    ("fabric-torus-all-reduce", "cluster.nodes=2,4", "step<=1s"),
)
OTHERS = (
    ("mpi-rig-100m", "cluster.nic_rate=110..130Mb/s:10", "step<=100ms"),
    ("hello", "cluster.nodes=1..2", "tokens>=2e9"),
    ("hello", "cluster.nodes=1,2,3", "step<=400ms", "--hold", "batch"),
    ("ddp-20b", "job.micro_batch=2,1", "step<=30s"),
    (BIG, RATES, "exposed<=45%"),
    (BIG, "cluster.nic_rate=100..200Gb/s:50", "step<=800ms", "--target", "exposed<=75%"),
    (BIG, "cluster.nic_rate=100Gb/s,90Gb/s", "step<=1.3s"),
    ("fabric-ddp-ecmp", "cluster.nodes=9,8,4", "exposed<=13%"),
    ("fabric-torus-all-reduce", "cluster.nodes=2,4", "step<=100us"),
)
COLUMNS = {"exposed": "exposed_fraction", "step": "step_s", "tokens": "tokens_per_s", "mfu": "mfu_fraction"}
AFTER = {"tokens": " per second"}  # a figure, in a sentence
MEETS = {"<=": operator.le, ">=": operator.ge}


class Target:
    def __init__(self, text):
        self.name, self.order, bound = re.fullmatch(r"(\w+) ([<>]=) (.*)", text).groups()
        self.column, self.meets = COLUMNS[self.name], MEETS[self.order]
        self.bound = answer.quantity(bound).value

    def spread(self, point):
        """(better, worse) of the seeds of a point."""
        spread = (point.spread or {}).get(self.column)
        ends = (spread.low, spread.high) if spread else (point[self.column],) * 2
        return ends if self.order == "<=" else ends[::-1]


class Sized(answer.AnswerTest):
    def assert_line(self, line, template, *values):
        """A line is the template with a quantity or a word in the place of each `{}`."""
        found = re.fullmatch(re.escape(template).replace(r"\{\}", "(.+?)"), line)
        self.assertIsNotNone(found, f"{line!r} is not {template!r}")
        for text, value in zip(found.groups(), values, strict=True):
            if isinstance(value, str):
                self.assertEqual(text, value, line)
            else:
                self.assertEqual(len(answer.quantities(text)), 1, line)
                self.assertTrue(answer.is_near_in_unit(answer.quantity(text), value), f"{text} is not {value}: {line}")

    def take(self, *line):
        self.assert_line(self.lines.pop(0), *line)

    def asked(self, scenario, vary, target, *more):
        command = ("size", scenario, "--vary", vary, "--target", target, *more)
        done = self.fabricast(*command, "--format", "json")
        told = tables.nodes(json.loads(done.stdout))
        page = self.fabricast(*command)
        self.assertEqual(done.returncode, 0 if told.answer else 1)
        self.assertEqual(page.returncode, done.returncode)
        self.values = [point.value for point in told.points]
        self.is_allowed = "--allow-oversized" in more
        self.targets = [Target(text) for text in told.target.split(", ")]
        return told, page.stdout, command

    def has_luck(self, point):
        return all(target.meets(target.spread(point)[0], target.bound) for target in self.targets) and not self.meets(point)

    def meets(self, point):
        return all(target.meets(target.spread(point)[1], target.bound) for target in self.targets)

    def fits(self, point):
        return self.is_allowed or not any(one.code == "does_not_fit" for one in point.verdict)

    def check_hold(self, told):
        played = [point for point in told.points if point.step_s]
        if not self.lines[0].startswith("  The global batch"):
            return
        batches = sorted({point.global_batch for point in played})
        if told.hold == "batch":
            self.take("  The global batch is held at {} sequences (strong scaling); --hold micro_batch lets it grow with the ranks.", batches[0])
        else:
            self.take("  The global batch grows with the ranks, from {} to {} sequences (weak scaling); --hold batch holds it.", batches[0], batches[-1])

    def check_luck(self, told):
        lucky = [point.value for point in told.points if point.step_s and self.has_luck(point)]
        if lucky:
            where = f"With {lucky[0]}" if len(lucky) == 1 else f"Between {lucky[0]} and {lucky[-1]}"
            self.take(f"  {where} the seed decides whether it is met, so other seeds may give another answer.")

    def check_unmet(self, told, closest):
        first = told.points[0].value
        stop = next((finding for finding in told.verdict if finding.code == "does_not_fit"), None)
        if not any(point.problem or self.fits(point) for point in told.points):
            self.assertTrue(self.lines.pop(0).startswith(f"  With no value from {first} to {self.values[-1]} the job fits into memory. With {closest.value}: {stop.text}"))
        else:
            reached = []
            for target in self.targets:
                words = f"{target.name} {{}}"
                if len(set(target.spread(closest))) > 1:
                    words += f" ({{}} with the worst of {closest.spread.seeds} seeds)"
                reached.append(words)
            line, _, rest = self.lines.pop(0).partition(". With ")
            values = [value for target in self.targets for value in ([closest[target.column]] if len(set(target.spread(closest))) == 1 else
                                                                     [closest[target.column], target.spread(closest)[1]])]
            self.assert_line(line, f"  No value from {first} to {self.values[-1]} meets {told.target}; {closest.value} comes closest with {', '.join(reached)}", *values)
            unreachable = [finding.text for finding in told.verdict if finding.code == "unreachable_target"]
            self.assertEqual(["With " + rest] if rest else [], unreachable)
        self.check_luck(told)
        if stop is not None and stop.advice:
            self.take(f"  {stop.advice}")
        [limit] = [finding.text for finding in closest.verdict if finding.code.startswith("waits_for_")][:1] or [None]
        if limit and stop is None:
            line = self.lines.pop(0)
            self.assertTrue(limit.startswith(line.strip().rstrip(".")), f"{line} and {limit}")

    def check_met(self, told, met):
        at = told.points.index(met)
        numbers, units = zip(*(re.fullmatch(r"([\d.]*)(.*)", text).groups() for text in (self.values[0], self.values[-1])))
        is_down = all(numbers) and units[0] == units[1] and float(numbers[0]) > float(numbers[1])
        seeds = f" with each of {met.spread.seeds} seeds" if met.spread else ""
        self.take(f"  {told.key} = {met.value} is the first value from {self.values[0]} {'down' if is_down else 'on'} that meets {told.target}{seeds}.")
        self.check_luck(told)
        after = told.points[at + 1:]
        is_unsteady = any(point.step_s and not (self.meets(point) and self.fits(point)) for point in after)
        self.assertEqual(told.is_unsteady, is_unsteady)
        if is_unsteady:
            self.take("  Not all values after it meet it; see the table.")
        impossible = sum(bool(point.problem) for point in after)
        if impossible:
            self.take(f"  {'One value' if impossible == 1 else 'Some values'} after it cannot be simulated; the table says why.")
        before = [point for point in told.points[:at] if point.step_s]
        part = lambda point: point.limited_by.partition(" at ")[0]
        if before:
            is_same = part(before[-1]) == part(met)
            self.take(f"  The step is limited by {part(before[-1])} with {before[-1].value}, and {'still' if is_same else 'by ' + part(met)} with {met.value}.")
        else:
            self.take(f"  The step is limited by {part(met)} with this value.")
        return before

    def check_ports(self, told, vary):
        [first, *_] = self.targets
        for i, port in enumerate(told.ports):
            self.take(f"  {'' if i else 'nearest':10}{port.link} ({port.technology}, {{}}): {first.name} {{}}{'' if port.is_met == 'yes' else ', which is not enough'}",
                      port.rate_bytes_per_s, port[first.column])
            self.assertEqual(port.is_met == "yes", all(target.meets(port[target.column], target.bound) for target in self.targets))
        if told.answer and vary.startswith("cluster.nic_rate") and not told.ports:
            self.take("  nearest   no port of the catalogue is as fast")

    def check_band(self, told):
        closest = told.answer or told.closest
        if not told.band:
            self.take("  band      none: nothing in the scenario has a known uncertainty")
            return
        for i, (target, band) in enumerate(zip(self.targets, told.band)):
            self.assertEqual(band.figure, target.column)
            self.assertIn(f"{100 * band.coverage_fraction:.0f} %, ", self.lines[0])
            name, _, rest = band.most.partition(" (")
            alone = f"by {name} alone" + (f" ({rest}" if rest else "")
            self.take(f"  {'' if i else 'band':10}{target.name} from {{}} to {{}}{AFTER.get(target.name, '')} with {closest}; {{}}, {{}}", band.low, band.high,
                      band.coverage_fraction, alone if " alone" in self.lines[0] else "most by " + band.most)
        low, high = told.answer_low, told.answer_high
        if low and low == high:
            self.take(f"            at both bounds of the band {low} meets it")
        elif low:
            self.take(f"            at the better bound of the band {low} meets it, and at the worse one {high or 'no tried value'}")

    def check_curve(self, told):
        """Nine rows, in which the largest value stands above and the least below, and the bound as a line."""
        [target, *_] = self.targets
        n = len(self.values)
        points = [(i / (n - 1), point[target.column], point.value == told.answer) for i, point in enumerate(told.points) if point[target.column] is not None]
        if len(points) < 3:
            return
        self.assertEqual(self.lines.pop(0), "")
        values = [value for _, value, _ in points] + [target.bound]
        low, high = min(values), max(values)
        row_of = lambda value: round((1 - (value - low) / (high - low)) * 8) if high > low else 4
        cells = {(row_of(value), math.floor(at * 65 + 0.5)): is_met for at, value, is_met in points}
        for row in range(9):
            label, _, marks = self.lines.pop(0).partition(" |")
            shown = target.bound if row == row_of(target.bound) else high if row == 0 else low if row == 8 else None
            self.assertEqual(len(label), 14)
            self.assertTrue(not label.strip() if shown is None else answer.quantity(label).is_near(shown), f"{label}: {shown}")
            wanted = "".join(("@" if cells[row, x] else "o") if (row, x) in cells else "-" if row == row_of(target.bound) else " " for x in range(66))
            self.assertEqual(marks, wanted.rstrip())
        self.assertEqual(self.lines.pop(0), f"  {target.name:>12}  {self.values[0]}{self.values[-1]:>{66 - len(self.values[0])}}")

    def check_foot(self, told):
        """Behind the table stands how many values were tried, with what is told of the whole."""
        text = "\n".join(self.lines)
        tried = sum(bool(point.step_s or point.problem) for point in told.points)
        [(one, other)] = re.findall(r"\n\n  (\d+) of (\d+) values? (?:was|were) tried\n", text)
        self.assertEqual(int(one), tried)
        self.assertGreaterEqual(int(other), tried)

    def check_lines(self, cases):
        for case in cases:
            with self.subTest(case):
                told, page, command = self.asked(*case)
                head, _, rest = page.partition("\n\n")
                self.assertEqual(head, told.scenario)
                self.lines = rest.split("\n")
                self.check_hold(told)
                met = next((point for point in told.points if point.value == told.answer), None)
                closest = next(point for point in told.points if point.value == told.closest)
                if met is None:
                    self.assertFalse(any(point.step_s and self.meets(point) and self.fits(point) for point in told.points))
                    self.check_unmet(told, closest)
                else:
                    self.assertEqual(told.closest, told.answer)
                    before = self.check_met(told, met)
                    self.assertFalse(any(self.meets(point) and self.fits(point) for point in before))
                self.check_ports(told, case[1])
                self.check_band(told)
                n_before = len(self.lines)
                self.check_curve(told)
                self.assertEqual(self.lines.pop(0), "")
                self.assertTrue(self.lines[0].startswith("  value "), self.lines[0])
                marks = [line.split()[0] for line in self.lines if line.endswith("  <")]
                self.assertEqual(marks, [told.answer] if told.answer else [])
                self.check_foot(told)
                brief = self.fabricast(*command, "--brief").stdout.split("\n")
                top = page.split("\n")[:len(page.split("\n")) - n_before]
                self.assertEqual(brief[:len(top) + 1], [*top, ""])
                table = "\n".join(self.lines).partition("\n\n")[0].split("\n")
                self.assertEqual(brief[len(top) + 1:len(top) + 1 + len(table)], table)
                self.assertNotIn("tried\n", "\n".join(brief[len(top) + 1:]))


class Met(Sized):
    def test_lines(self):
        self.check_lines(MET)


class Others(Sized):
    """No value is enough, or the seeds decide, or some values cannot be simulated."""

    def test_lines(self):
        self.check_lines(OTHERS)

    def test_why_the_batch_is_held(self):
        """A target of the whole training holds it, which is said too where it leaves one value alone that can be simulated."""
        for target, words in (("train<=9999d", 1), ("step<=1s", 0)):
            page = self.fabricast("size", "hello", "--set", "job.train_tokens=1e9", "--vary", "cluster.nodes=1,3", "--target", target, "--brief").stdout
            self.assertEqual(page.count("  The global batch is held at 32 sequences (strong scaling), because train is of the whole training; "), words)
            self.assertEqual(page.count("cannot be simulated: "), words)


if __name__ == "__main__":
    support.main()
