#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `upgrade`: who stands in which group, what is recommended, and what a budget changes.

`upgraded.py PROGRAM`.
"""
import json
import os
import re

import answer
import tables
from answer import support

LEARN = os.path.join(support.SOURCE, "scenarios", "learn", "08-oversubscription.yaml")
GROUPS = {"Gains over the whole band": "sure", "Not recommended": "within band", "Gains; no bands were asked for": "within band"}
SCENARIOS = (("ddp-2b-4nodes-200g", "--only", "nic,setting"), (LEARN, "--only", "nic"), ("four-nodes", "--only", "nic,nics,setting"), ("zero3-13b-slow-fabric", "--only", "nics"), ("four-nodes", "--only", "nic,nics,nodes"), ("ddp-2b-4nodes-200g", "--only", "nodes", "--no-band"))


class Upgraded(answer.AnswerTest):
    def asked(self, *command):
        told = tables.nodes(json.loads(self.good("upgrade", *command, "--format", "json")))
        return told, self.good("upgrade", *command)

    def groups(self, page):
        """{state: (heads, rows)} of the tables of changes."""
        found = {}
        for title, head, rows in re.findall(r"(?m)^  (Gains over the whole band|Not recommended|Gains; no bands were asked for).*\n(  change .*)\n((?:  \S.*\n)*)", page):
            found[GROUPS[title]] = (tables.cells(head), rows.splitlines())
        return found

    def assert_values(self, text, values, what):
        found = answer.quantities(text)
        self.assertEqual(len(found), len(values), f"{what}: {text}")
        for one, value in zip(found, values):
            self.assertTrue(answer.is_near_in_unit(one, value) or one.unit == "" and one.is_near(100 * value), f"{what}: {one.text} is not {value}")

    def check_row(self, line, heads, one, budget):
        cells = tables.by_head(line.replace(" (over budget)", ""), heads, False)
        shown = {head.text: cells[i].text if i in cells else "" for i, head in enumerate(heads)}
        self.assertEqual(shown["change"], one.change)
        self.assert_values(shown["step"], [one.step_s], "step")
        self.assert_values(shown["saves"], [one.saved_fraction], "saves")
        if one.saved_low_fraction is None:
            self.assertEqual(shown["band"], "-")
        else:
            self.assert_values(shown["band"], [one.saved_low_fraction, one.saved_high_fraction], "band")
        price = one.price_usd
        self.assertEqual(shown["price"], "no price" if price is None else "nothing" if price == 0 else shown["price"])
        if price:
            self.assert_values(shown["price"], [price], "price")
            self.assert_values(shown["$ per %"], [price / (100 * one.saved_fraction)], "$ per %")
        else:
            self.assertEqual(shown["$ per %"], "-" if price is None else "0")
        self.assertEqual(shown["limited by"], one.then_limited_by)
        self.assertEqual(line.endswith(" (over budget)"), bool(budget and price and price > budget), line)

    def check(self, told, page, budget=None, top=12):
        groups = self.groups(page)
        for state in ("sure", "within band"):
            own = [one for one in told.changes if one.state == state]
            self.assertEqual(state in groups, bool(own), state)
            if own:
                heads, rows = groups[state]
                shown = [row for row in rows if not row.startswith("  and ")]
                self.assertEqual(len(shown), min(len(own), top))
                for line, one in zip(shown, own):
                    self.check_row(line, heads, one, budget)
                more = [row.strip() for row in rows if row.startswith("  and ")]
                self.assertEqual(more, [f"and {len(own) - top} more: --top {len(own)}, or --format csv"] if len(own) > top else [])
        self.assert_values(re.search(r"(?m)^  as it is +(.*);", page)[1], [told.step_s, told.exposed_fraction], "as it is")
        self.assertIn(f"; limited by: {told.limited_by}\n", page)
        bands = re.findall(r"(?m)^  band +step from (.*) to (.*?): ", page)
        self.assertEqual(len(bands), told.step_low_s is not None)
        for ends in bands:
            self.assert_values(" ".join(ends), [told.step_low_s, told.step_high_s], "band")
        self.check_purchases(told, page, top)
        self.check_recommendations(told, page, budget)
        self.assertEqual(told.budget_usd, budget)
        self.assertRegex(page, r"(?m)^  \d+ changes and combinations were played$")

    def check_purchases(self, told, page, top):
        """Of every single change that buys something, and of the recommended ones: the lowest and the highest price, and the parts."""
        text = re.search(r"(?m)^  What single and recommended changes buy, with the lowest and the highest price\n((?: {4,}\S.*\n)*)", page)
        wanted = [one for one in told.changes if one.state in ("sure", "within band") and one.buys and (" + " not in one.change or one.change in (told.buy_first, told.most))][:top]
        self.assertEqual(text is not None, bool(wanted))
        blocks = re.findall(r"(?m)^    (\S.*)\n((?: {6}\S.*\n)*)", text[1] if text else "")
        self.assertEqual([head.rpartition(": ")[0] for head, _ in blocks], [one.change for one in wanted])
        for (head, parts), one in zip(blocks, wanted):
            price = head.rpartition(": ")[2]
            if one.price_usd is not None:
                self.assert_values(price, [one.price_low_usd, one.price_high_usd], head)
            else:
                has_none = all(part.endswith(" (no price)") for part in one.buys.split(", "))
                self.assertEqual(price, "no price" if has_none else "more than the parts that have a price")
            kinds = (("buys", one.buys), ("keeps", one.keeps), ("leaves over", one.leaves))
            self.assertEqual(re.findall(r"(?m)^ {6}(buys|keeps|leaves over) +(.*)$", parts), [(word, of) for word, of in kinds if of])

    def check_recommendations(self, told, page, budget):
        by_name = {one.change: one for one in told.changes}
        said = dict(re.findall(r"(?m)^  (set first|buy first|buy|most in it|most|nearest) +((?:\S.*)\n(?: {15}\S.*\n)*)", page))
        wanted = [("set first", told.set_first), ("buy first", told.buy_first)]
        for label, name in wanted:
            self.assertEqual(label in said, bool(name), label)
        if not told.buy_first:
            self.assertEqual(said["buy"].strip(), f"nothing: {told.no_purchase}.")
        self.assertEqual("nearest" in said, told.nearest is not None)
        if told.nearest:
            self.assertEqual(said["nearest"].strip(), f"{told.nearest}.")
        label = "most in it" if budget else "most"
        wanted.append((label, told.most if label in said else None))
        for label, name in wanted:
            if not name:
                continue
            one, words = by_name[name], " ".join(said[label].split())
            self.assertTrue(words.startswith(f"{name}: saves "), words)
            words, _, rest = words.partition(f" It is then limited by: {one.then_limited_by}.")
            sets = next((row.set for row in told.assignments if row.change == name), [])
            self.assertEqual(re.findall(r"--set (\S+=)", rest), [f"{text.partition('=')[0]}=" for text in sets], "how it is set")
            saved, _, price = words.removeprefix(f"{name}: saves ").partition(" and costs ")
            band = [] if one.saved_low_fraction is None else [one.saved_low_fraction, one.saved_high_fraction]
            self.assert_values(saved, [one.saved_fraction, *band], label)
            if one.price_usd:
                self.assert_values(price.partition(" for each percent")[0], [one.price_usd, one.price_usd / (100 * one.saved_fraction)], label)
                self.assertTrue(budget is None or one.price_usd <= budget)
            else:
                self.assertTrue(price.startswith("nothing."), price)
        if told.set_first:
            self.assertEqual(by_name[told.set_first].price_usd, 0)
        if told.buy_first:
            self.assertGreater(by_name[told.buy_first].price_usd, 0)
            self.assertGreater(by_name[told.buy_first].saved_fraction, by_name[told.set_first].saved_fraction if told.set_first else 0)

    def test_pages(self):
        for command in SCENARIOS:
            with self.subTest(command):
                self.check(*self.asked(*command))

    def test_without_bands(self):
        told, page = self.asked("four-nodes", "--only", "nic,nics", "--no-band")
        self.assertIsNone(told.step_low_s)
        self.assertNotRegex(page, r"(?m)^  band ")
        self.check(told, page)

    def test_budgets(self):
        """A dollar is a budget too; a price that is the budget is within it."""
        told, _ = self.asked("four-nodes", "--only", "nic,nics")
        prices = sorted({one.price_usd for one in told.changes if one.price_usd})
        for budget in (1, prices[0], prices[0] - 1, prices[-1]):
            one, page = self.asked("four-nodes", "--only", "nic,nics", "--budget", f"{budget:.0f}")
            self.check(one, page, budget=round(budget))
        self.refused("upgrade", "four-nodes", "--budget", "x", names="--budget")

    def test_growth(self):
        """Each way costs what it costs today and later; today's machine is the one that `cost` prices, and later so many more nodes are bought."""
        for scenario, nodes, later in (("fabric-ddp-rail", 16, 24), ("four-nodes", 4, 5), ("four-nodes", 4, 17)):
            told, page = self.asked(scenario, "--grow", str(later))
            self.assertIn(f"\n\n  {nodes} nodes today, {later} later, as much work for each GPU\n\n", page)
            paths = {path.path: path for path in told.paths}
            self.assertEqual([path.total_usd for path in told.paths], sorted(path.total_usd for path in told.paths))
            for path in told.paths:
                self.assert_same(path.total_usd, path.today_usd + path.later_usd, path.path)
                self.assertTrue(path.total_low_usd <= path.total_usd <= path.total_high_usd, path)
                self.assertTrue(0 <= path.cables_kept <= path.cables, path)
                self.assertRegex(path.buys_later, rf"(?:^|, ){later - nodes} x dgx-[ah]100(?:,|$| )", path.path)
                for words, parts in (("buys later", path.buys_later), ("leaves over", path.leaves_over)):
                    own = page.partition(f"\n\n  {path.path}\n")[2].partition("\n\n")[0]
                    self.assertEqual(re.findall(rf"(?m)^    {words} +(.*)$", own), [parts] if parts else [])
            cost = tables.nodes(json.loads(self.good("cost", scenario, "--no-band", "--format", "json"))).figures
            one = paths["extended as it is"]
            self.assert_same(one.step_s, cost.step_s, rel=1e-6)
            self.assert_same(one.today_usd, cost.capex_usd, rel=1e-6)
            with_room = paths["with room from the start"]
            self.assertGreaterEqual(with_room.today_usd, one.today_usd)
            self.assertLessEqual(with_room.later_usd, one.later_usd)

    def test_the_first_rows(self):
        for top in (1, 2):
            self.check(*self.asked("ddp-2b-4nodes-200g", "--only", "nic,setting", "--top", str(top)), top=top)


if __name__ == "__main__":
    support.main()
