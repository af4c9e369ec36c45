#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tune` finds best is best among its points, and each line of its page is that of a point.

`tuned.py PROGRAM`.
"""
import json
import re

import answer
import tables
from answer import support

FIGURES = {"tokens": ("tokens_per_s", max), "step": ("step_s", min)}


class Tuned(answer.AnswerTest):
    def asked(self, *command):
        told = tables.nodes(json.loads(self.fabricast(*command, "--format", "json").stdout))
        return told, self.fabricast(*command).stdout

    def at(self, told, values):
        """The point that has these values of the knobs."""
        found = [point for point in told.points if all(point[knob.knob] == value for knob, value in zip(told.knobs, values))]
        return found[0] if found else None

    def check_point(self, text, point, knobs):
        names, figures = text.split("\n", 1)
        self.assertEqual(names, ", ".join(f"{knob.knob} {point[knob.knob]}" for knob in knobs))
        step, tokens, exposed, memory = answer.quantities(figures.split("\n")[0].partition("step ")[2])[:4]
        for found, value in ((step, point.step_s), (tokens, point.tokens_per_s), (exposed, point.exposed_fraction), (memory, point.memory_bytes)):
            self.assertTrue(found.is_near(value), f"{figures}: {found.text} is not {value}")
        self.assertEqual("does not fit" in figures, point.memory_bytes > self.limit)

    def check(self, *command, by="tokens"):
        told, page = self.asked(*command)
        self.limit = told.memory_limit_bytes
        key, best_of = FIGURES[by]
        parts = dict(re.findall(r"(?m)^  (as written|best|gain|band)  +((?:.*\n)(?: {14}.*\n)*)", page))
        written, best = (self.at(told, [knob[which] for knob in told.knobs]) for which in ("written", "best"))
        fitting = [point for point in told.points if point.step_s and point.memory_bytes <= told.memory_limit_bytes]
        self.assertEqual(told.by, by)
        self.assertIsNotNone(best)
        self.assertEqual(best[key], best_of(point[key] for point in fitting))
        self.check_point(parts["as written"], written, told.knobs)
        self.check_point(parts["best"], best, told.knobs)
        gain = parts["gain"].strip()
        if best is written:
            self.assertEqual(gain, "none, because the scenario already has the best values")
        elif written.memory_bytes > told.memory_limit_bytes:
            self.assertEqual(gain, "the job fits into memory")
        else:
            change, tokens = best.step_s / written.step_s - 1, best.tokens_per_s / written.tokens_per_s - 1
            figure = tokens if by == "tokens" else -change
            self.assertEqual(gain, f"step {100 * change:+.1f} %, tokens/s {100 * tokens:+.1f} %" + (", less than 1 %, so it hardly matters" if figure < 0.01 else ""))
        self.assertEqual({f"{knob.key}={knob.best}" for knob in told.knobs if knob.best != knob.written and knob.knob == "bucket"},
                         {one.removeprefix("job.") for one in told.assignments if one.startswith("job.bucket")})
        for k, knob in enumerate(told.knobs):
            self.check_knob(page, told, k, knob, best, key)
        self.assertIn(f"\n  by {by}; {len(told.points)} of {told.points_in_all:.0f} points were simulated", page)
        return told, page

    def check_knob(self, page, told, k, knob, best, key):
        """One value of the knob after the other, with the best values of the others."""
        text = re.search(rf"(?m)^  {knob.knob}: job\.{re.escape(knob.key)}\n  (.*)\n((?:    .*\n)+)", page)
        self.assertEqual(text[1], knob.source)
        head, *rows, flat = text[2].splitlines()
        self.assertEqual(re.split(r"  +", head.strip()), ["value", "step", "tokens/s", "exposed", "memory", "worse by"])
        heads = tables.cells(head)
        near = []
        for line in rows:
            label = line[4:16].strip()
            values = [knob.best for knob in told.knobs]
            values[k] = label
            point = self.at(told, values)
            self.assertEqual(line.endswith("  (as written)"), label == knob.written, line)
            self.assertEqual("  < best" in line, label == knob.best, line)
            if "cannot be simulated" in line:
                self.assertTrue(point is None or not point.step_s, line)
                continue
            cells = tables.by_head(line.replace("< best", "").replace("(as written)", "").replace("does not fit", ""), heads, False)
            for i, value in enumerate((point.step_s, point.tokens_per_s, point.exposed_fraction, point.memory_bytes), 1):
                self.assertTrue(tables.is_shown(cells[i].text, value), f"{cells[i].text} is not {value}: {line}")
            fits = point.memory_bytes <= told.memory_limit_bytes
            self.assertEqual("does not fit" in line, not fits)
            if fits:
                loss = best[key] / point[key] - 1 if key != "step_s" else point[key] / best[key] - 1
                shown = answer.quantity(cells[5].text)
                self.assertTrue(abs(shown.value - loss) < 6e-4 or abs(shown.value - loss / (1 + loss)) < 6e-4, f"{line}: {loss}")
                near.append((label, min(loss, loss / (1 + loss)) <= 0.01))
        names = [label for label, _ in near]
        first = last = names.index(knob.best)
        is_near = [one for _, one in near]
        while first > 0 and is_near[first - 1]:
            first -= 1
        while last + 1 < len(names) and is_near[last + 1]:
            last += 1
        self.assertEqual(flat.strip(), "alone: no other value can be simulated and fits" if len(names) == 1 else
                         "sharp: the neighbouring values lose more than 1 %" if first == last else
                         f"flat from {names[first]} to {names[last]}: these values are within 1 % of the best")

    def test_of_tokens(self):
        self.check("tune", "hello")

    def test_of_one_knob(self):
        told, page = self.check("tune", "hello", "--knobs", "bucket")
        self.assertEqual([knob.knob for knob in told.knobs], ["bucket"])
        self.assertIn("flat from", page)

    def test_of_a_knob_with_one_value(self):
        page = self.check("tune", "hello", "--set", "job.micro_batch=1", "--set", "cluster.gpus_per_node=1")[1]
        self.assertIn("alone: ", page)

    def test_of_the_step(self):
        self.check("tune", "ddp-2b-4nodes-200g", "--knobs", "bucket", "--by", "step", by="step")

    def test_of_several_seeds(self):
        """Each step with its range, what limits it, and what the gain is seed by seed; a value that no seed tells from the best has `=`."""
        gains = set()
        for command in (("hello", "--knobs", "bucket", "--seeds", "2"), ("fabric-ddp-ecmp", "--knobs", "bucket", "--seeds", "3"),
                        ("fabric-ddp-ecmp", "--knobs", "bucket", "--seeds", "3", "--set", "job.bucket=25MiB"), ("fabric-ddp-ecmp", "--knobs", "bucket", "--seeds", "3", "--set", "job.bucket=50MiB")):
            told, page = self.asked("tune", *command)
            n = int(command[command.index("--seeds") + 1])
            [knob] = told.knobs
            written, best = self.at(told, [knob.written]), self.at(told, [knob.best])
            self.assertEqual(best.tokens_per_s, max(point.tokens_per_s for point in told.points))
            for label, point in (("as written", written), ("best", best)):
                spread = point.spread.step_s
                text = re.search(rf"\n  {label:12}(.*)\n {{14}}step (.*?) \((.*) over seeds\), (.*)\n {{14}}limited by (.*)\n", page)
                self.assertEqual((text[1], text[5]), (f"{knob.knob} {point[knob.knob]}", point.limited_by))
                self.assertTrue(answer.quantity(text[2]).is_near(point.step_s))
                if spread.low < spread.high:
                    low, high = answer.quantities(text[3])
                    self.assertTrue(low.is_near(spread.low) and high.is_near(spread.high), text[3])
                else:
                    self.assertEqual(text[3], "the same")
            gain = re.search(r"\n  gain {8}(.*)\n", page)[1]
            over = re.findall(r"(?m)^ {14}step (.*) over (\d+) seeds$", page)
            if best is written:
                self.assertEqual((gain, over), ("none, because the scenario already has the best values", []))
            elif gain.startswith("not significant"):
                self.assertTrue(gain.endswith(f" with {n} seeds"))
                self.assertEqual(over, [])
            else:
                self.assertEqual([seeds for _, seeds in over], [str(n)])
                change, *_ = answer.quantities(gain)
                low, high = re.match(r"(\S+) to (\S+) %", over[0][0]).groups()
                self.assertTrue(float(low) - 0.051 <= 100 * change.value <= float(high) + 0.051, f"{gain} and {over}")
            gains.add(gain.partition(" ")[0] if best is written or gain.startswith("not") else "step")
            self.assertIn(f"\n  = no significant difference from the best\n  medians and ranges of {n} seeds; changes are those of the same seed, and their median\n", page)
            rows = re.findall(r"(?m)^    (\d+MiB) .*? ([\d.]+) %(  =)?(  < best)?(  \(as written\))?$", page)
            self.assertEqual(len(rows), len(told.points))
            for label, loss, is_near, is_best, is_written in rows:
                self.assertEqual((bool(is_best), bool(is_written)), (label == knob.best, label == knob.written), label)
                self.assertFalse(is_near and is_best)
                if is_near and float(loss) > 0.05:  # then the ranges of both meet
                    self.assertLessEqual(self.at(told, [label]).spread.step_s.low, best.spread.step_s.high)
                if self.at(told, [label]).spread.step_s.low > best.spread.step_s.high:
                    self.assertFalse(is_near, label)
        self.assertGreaterEqual(len(gains), 2, gains)

    def test_a_job_that_is_too_large(self):
        told, page = self.asked("tune", "ddp-20b", "--knobs", "micro_batch")
        self.assertTrue(all(point.memory_bytes > told.memory_limit_bytes for point in told.points if point.step_s))
        self.assertIn(f"\n  best        none, because no tried value fits in {told.memory_limit_bytes / 1e9:.3g} GB\n", page)
        self.assertNotIn("\n  gain ", page)

    def test_a_job_that_is_too_large_and_allowed(self):
        """Its values are compared as if they did fit, and the page says at each that it does not."""
        _, page = self.asked("tune", "hello", "--knobs", "bucket", "--set", "job.micro_batch=64", "--allow-oversized")
        parts = dict(re.findall(r"(?m)^  (as written|best|gain)  +((?:.*\n)(?: {14}.*\n)*)", page))
        for which in ("as written", "best"):
            self.assertIn(" GB of memory: does not fit\n", parts[which])
        change, tokens = answer.quantities(parts["gain"])[:2]
        self.assertTrue(abs(change.value) < 5e-4 and abs(tokens.value) < 5e-4)
        self.assertNotRegex(page, r"-0\.0 %")
        rows = [line for line in page.splitlines() if re.match(r"    \d+MiB ", line)]
        self.assertEqual(len(rows), 9)
        for row in rows:
            self.assertRegex(row, r" \d+ GB +\d\.\d %(  < best)?  does not fit(  \(as written\))?$")


if __name__ == "__main__":
    support.main()
