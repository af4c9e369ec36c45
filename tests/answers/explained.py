#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `explain` says can be checked with a pocket calculator, as its help promises.

`explained.py PROGRAM`. Each formula is evaluated with its numbers, by Python, and the page is held against the document.
"""
import math
import re

import answer
from answer import support

ASKED = (("hello",), ("four-nodes", "exposed"), ("ddp-20b", "memory", "--set", "job.parallel.tensor=8", "--set", "job.accumulation=8"), ("ddp-2b-4nodes-200g", "token_cost"),
         ("ddp-2b-4nodes-200g", "--collective", "largest"), ("hello", "tokens"), ("hello", "mfu"), ("mpi-rig-100m", "step"),
         ("zero3-13b-slow-fabric", "exposed"), ("moe-mixtral-128-gpus", "exposed.expert"))
UNITS = {"s": "ps|ns|us|ms|s|min|h|hours|days", "B": "[kMGTP]?i?B", "B/s": "[kMGTP]?B/s", "FLOP": "[kMGTPEZY]?FLOP", "FLOP/s": "[kMGTPE]?FLOP/s",
         "fraction": "%", "number": "", "USD": ""}
WIDTH = 110


class Explained(answer.AnswerTest):
    known = {}

    def statements(self, asked):
        """Those of the document, which is made once."""
        if asked not in self.known:
            self.known[asked] = self.json("explain", *asked)["statements"]
        return self.known[asked]

    def test_a_formula_gives_its_value(self):
        for asked in ASKED:
            with self.subTest(asked):
                for one in self.statements(asked):
                    if one["formula"] is not None:
                        value = eval(one["formula"], {"max": max, "min": min}, one["terms"])
                        self.assertTrue(math.isclose(value, one["value"], rel_tol=1e-9, abs_tol=1e-12), f"{one}: {value}")  # times are whole ps
                        self.assertEqual(set(re.findall(r"[a-z_]\w*", one["formula"])) - {"max", "min"}, set(one["terms"]))
                    else:
                        self.assertEqual(one["terms"], {})

    def test_a_term_is_explained_below(self):
        """A statement that has the name of a term of the one above it has its value; the first stands for itself."""
        for asked in ASKED:
            with self.subTest(asked):
                above = []
                for one in self.statements(asked):
                    self.assertLessEqual(one["depth"], len(above))
                    del above[one["depth"]:]
                    if above and one["name"] in above[-1]["terms"]:
                        self.assert_same(one["value"], above[-1]["terms"][one["name"]], one["name"])
                    above.append(one)

    def test_the_page_is_the_document(self):
        """Of each statement: a title, the formula, the numbers in their order, the value with its unit, notes and source."""
        for asked in ASKED:
            with self.subTest(asked):
                statements = self.statements(asked)
                page = self.good("explain", *asked)
                blocks = re.split(r"\n\n", page)[1:]
                self.assertGreaterEqual(len(blocks), len(statements))
                for one, block in zip(statements, blocks):
                    self.check_block(one, block.splitlines())

    def check_block(self, one, lines):
        indent = " " * (2 + 2 * one["depth"])
        self.assertEqual(lines[0], indent + one["title"])
        under = indent + " " * (len(one["name"]) + 1)
        self.assertTrue(lines[1].startswith(f"{indent}{one['name']} = "), lines[1])
        said = [lines[1].removeprefix(f"{indent}{one['name']} = ")]
        rest = lines[2:]
        while rest and rest[0].startswith(under + "= "):
            said.append(rest.pop(0).removeprefix(under + "= "))
        if one["formula"] is not None:
            self.assertEqual(said.pop(0), one["formula"].replace("*", "x"))
            self.check_numbers(one, said[0])
        self.assertEqual(len(said), 1 if one["formula"] is None or len(one["terms"]) == 1 else 2, lines)
        self.check_value(said[-1], one["value"], one["unit"])
        words = [*one["notes"], *([f"[{one['source']}]"] if one["source"] else [])]
        self.assertEqual(" ".join(" ".join(rest).split()), " ".join(" ".join(words).split()))
        for line in rest:
            self.assertTrue(line.startswith(indent + "  ") and line[len(indent) + 2] != " ", line)
            self.assertLessEqual(len(line), WIDTH, line)

    def check_numbers(self, one, numbers):
        """In place of each name stands its number."""
        names = re.findall(r"[a-z_]\w*|[\d.]+", one["formula"])
        shown = re.findall(r"(?<![\w.])([\d.]+(?:e[-+]\d+)?)(?: ((?:[kMGTPEZYmunp]?i?(?:FLOP|B|s)(?:/s)?|min|h|hours|days|%)(?!\w)))?", numbers)
        self.assertEqual(len(names), len(shown), numbers)
        for name, (number, unit) in zip(names, shown):
            value = one["terms"].get(name, float(name) if name[0].isdigit() else None)
            self.assertTrue(self.is_same(number, unit, value), f"{name} is {value}, and shown as {number} {unit}")

    def is_same(self, number, unit, value):
        return answer.is_rounded(number, value / self.scale(unit)) or abs(float(number) * self.scale(unit) / (value or 1) - 1) < 1e-3

    def scale(self, unit):
        flops = re.fullmatch(r"([kMGTPEZY]?)FLOP(/s)?", unit)
        return 1e3 ** " kMGTPEZY".index(flops[1] or " ") if flops else {**answer.UNITS, "hours": 3600}[unit]

    def check_value(self, text, value, unit):
        number, _, name = text.partition(" ")
        if unit == "USD":
            self.assertTrue(number.startswith("$"), text)
            found = answer.quantity(text)
            self.assertTrue(found.is_near(value), f"{text} is not {value}")
            return
        self.assertRegex(name, rf"^(?:{UNITS[unit]})$")
        self.assertTrue(self.is_same(number, name, value), f"{text} is not {value} {unit}")


if __name__ == "__main__":
    support.main()
