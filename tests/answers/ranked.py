#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `plan`: which divisions of a strategy it lists, how far those that do not fit are from it, and what cannot be done.

`ranked.py PROGRAM`.
"""
import json
import re

import answer
from answer import support

MACHINE = ("hello", "--memory", "12GB")


class Ranked(answer.AnswerTest):
    def asked(self, *command):
        told = json.loads(self.fabricast("plan", *command, "--format", "json").stdout)
        for point in told["points"]:
            point["needs_bytes"] = float(point["needs_bytes"] or 0)
        return told, self.fabricast("plan", *command).stdout

    def by_strategy(self, told):
        """{strategy: {division: points}}, of those that can be done."""
        found = {}
        for point in told["points"]:
            if point["state"] != "impossible":
                found.setdefault(point["strategy"], {}).setdefault(point["division"], []).append(point)
        return found

    def lines(self, page, head):
        """What stands below a head, without the blanks before it."""
        return [line.strip() for line in re.findall(rf"(?m)^  {head}\n((?: {{7}}\S.*\n)*)", page)[0].splitlines()] if re.search(rf"(?m)^  {head}$", page) else []

    def check_misfits(self, told, page):
        gigabytes = told["memory_limit_bytes"] / 1e9
        wanted = []
        for strategy, divisions in self.by_strategy(told).items():
            large = {division: min(points, key=lambda point: point["needs_bytes"]) for division, points in divisions.items() if all(point["state"] == "too large" for point in points)}
            if large:
                nearest = min(large.values(), key=lambda point: point["needs_bytes"])
                name = "undivided" if nearest["division"] == "-" else nearest["division"]
                ways = "" if len(divisions) == 1 else f" ({len(large)} of {len(divisions)} divisions" + (f"; the nearest is {name})" if len(large) > 1 else f": {name})")
                wanted.append((strategy, nearest, ways))
        found = self.lines(page, f"does not fit in {gigabytes:.3g} GB")
        self.assertEqual(len(found), len(wanted), found)
        for line, (strategy, nearest, ways) in zip(found, wanted):
            needs, over = answer.quantities(line.partition(" needs ")[2])[:2]
            self.assertTrue(line.startswith(f"{strategy} "), line)
            self.assertTrue(needs.is_near(nearest["needs_bytes"]) and over.is_near(nearest["needs_bytes"] - told["memory_limit_bytes"]), line)
            self.assertTrue(line.endswith(f" too much, with micro-batch {nearest['batch']}, recompute {nearest['recompute']}{ways}"), f"{line}{ways}")
        return {ways.partition(":")[0].partition(";")[0] for *_, ways in wanted}

    def check_impossible(self, told, page):
        """Each reason once, with all strategies that it is of, and with the division where it is of one."""
        reasons = {}
        for point in told["points"]:
            if point["state"] == "impossible":
                reasons.setdefault(point["problem"], []).append(point)
        found = self.lines(page, "cannot be done")
        for line, (problem, points) in zip(found, reasons.items()):
            strategies = ", ".join(dict.fromkeys(point["strategy"] for point in points))
            division = "" if points[0]["division"] == "-" else f" with {points[0]['division']}"
            self.assertEqual(line, f"{strategies}{division}: {problem.splitlines()[0]}")
        shown = [line for line in found if not line.startswith("and for ")]
        self.assertTrue(len(shown) == len(reasons) or found[-1] == f"and for {len(reasons) - len(shown)} more {'reasons' if len(reasons) - len(shown) > 1 else 'reason'}: --format csv")
        return {point["division"] == "-" for points in reasons.values() for point in points[:1]}

    def check_counts(self, told, page):
        count = lambda state: sum(point["state"] == state for point in told["points"])
        slower = f"; {count('slower')} {'were' if count('slower') > 1 else 'was'} left when another batch was sure to be faster" if count("slower") else ""
        large = count("too large")
        self.assertEqual(told["played"], count("fits"))
        self.assertIn(f"\n  {told['candidates']} candidates: {told['played']} {'was' if told['played'] == 1 else 'were'} simulated{slower}; "
                      f"{large} more {'does' if large == 1 else 'do'} not fit, by their memory\n", page)

    def test_what_drops_out(self):
        ways, is_whole = set(), set()
        for command in (MACHINE, ("hello", "--memory", "1MB", "--strategies", "ddp"), ("hello", "--memory", "7GB", "--strategies", "hsdp,zero3"), ("zero3-13b-slow-fabric", "--strategies", "megatron,hsdp"),
                        ("fsdp-8b-straggler", "--strategies", "hsdp,ddp,zero3-hpz", "--memory", "40GB")):
            with self.subTest(command):
                told, page = self.asked(*command)
                ways |= self.check_misfits(told, page)
                is_whole |= self.check_impossible(told, page)
                self.check_counts(told, page)
        self.assertIn("\n  does not fit in 0 GB\n", self.fabricast("plan", "hello", "--memory", "999999B", "--strategies", "ddp").stdout)
        self.assertTrue({"", " (1 of 2 divisions", " (2 of 2 divisions", " (2 of 4 divisions"} <= ways, ways)
        self.assertEqual(is_whole, {True})

    def test_the_first_rows(self):
        """The first so many, and behind them the first of every other strategy; what is left out is counted."""
        told, _ = self.asked("hello")
        ranked = sorted((point for point in told["points"] if point["rank"]), key=lambda point: int(point["rank"]))
        for top in (1, 5, len(ranked) - 1, len(ranked)):
            page = self.good("plan", "hello", "--top", str(top))
            seen, wanted = set(), []
            for i, point in enumerate(ranked):
                if i < top or point["strategy"] not in seen:
                    wanted.append((point["rank"], point["strategy"]))
                seen.add(point["strategy"])
            self.assertEqual(re.findall(r"(?m)^ +(\d+)  (\S+(?: \S+)*)  ", page), wanted)
            more = len(ranked) - len(wanted)
            self.assertEqual(re.findall(r"(?m)^ +(and .*)$", page), [f"and {more} more {'division' if more == 1 else 'divisions'}: --top {len(ranked)}, or --format csv"] if more else [])
        several = ("plan", "hello", "--set", "cluster.nodes=2")
        self.assertEqual([self.good(*several) == self.good(*several, "--top", top) for top in ("11", "12", "13")], [False, True, False])


if __name__ == "__main__":
    support.main()
