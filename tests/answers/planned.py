#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page for whoever decides, `report --for planning`, says what `upgrade` and `compare` say of the same machines.

`planned.py PROGRAM`.
"""
import html
import os
import re

import answer
from answer import support

LEARN = os.path.join(support.SOURCE, "scenarios", "learn", "08-oversubscription.yaml")
JOB = ("--set", "job.train_tokens=1e12", "--set", "reliability.failures=meta-llama3", "--set", "job.checkpoint={to: network}")
MOST_ROWS = 8


class Planned(answer.AnswerTest):
    def run_of(self, *scenario):
        self.good("run", *scenario, "--no-band", "--no-bottleneck", "--iterations", "1")

    def section(self, *runs):
        """(sentences of the decision, rows of the table by their names, items of the list, names of chosen rows)"""
        page = self.good("report", "--for", "planning", *(word for run in runs for word in ("--run", run)), "-o", "-")
        text = re.search(r'<section class="plan" id="plan">(.*?)</section>', page, re.S)[1]
        self.assertEqual(text.count("<tr"), text.count("</tr>"))
        words = lambda part: html.unescape(re.sub(r"<[^>]+>", "", part))
        rows = re.findall(r'<tr( class="chosen")?><th scope="row">(.*?)</th>(.*?)</tr>', text)
        table = {words(name): {words(label): words(cell) for label, cell in re.findall(r'<td data-label="(.*?)">(.*?)</td>', cells)} for _, name, cells in rows}
        heads = [words(head) for head in re.findall(r'<th scope="col">(.*?)</th>', text)]
        for cells in table.values():
            self.assertEqual(list(cells), heads[1:])
        sentences = [words(sentence) for sentence in re.findall(r"<p>(.*?)</p>", text.split("<table>")[0])]
        return sentences, table, [words(item) for item in re.findall(r"<li>(.*?)</li>", text)], [words(name) for chosen, name, _ in rows if chosen]

    def assert_values(self, cell, values):
        found = answer.quantities(cell)
        self.assertEqual(len(found), len(values), cell)
        for one, value in zip(found, values):
            self.assertTrue(answer.is_near_in_unit(one, value) or one.unit == "" and one.is_near(100 * value), f"{cell}: {one.text} is not {value}")

    def saving(self, change):
        return [change["saved_fraction"], change["saved_low_fraction"], change["saved_high_fraction"]]

    def price(self, change):
        return [change["price_usd"], *(value for value in (change["price_low_usd"], change["price_high_usd"]) if change["price_low_usd"] is not None)]

    def check_upgrade(self, scenario):
        told = self.json("upgrade", *scenario)
        self.run_of(*scenario)
        sentences, table, items, chosen = self.section()
        gains = [change for change in told["changes"] if change["state"] != "no gain" and change["saved_fraction"] > 0]
        by_name = {change["change"]: change for change in gains}
        wanted = {name for name in (told["set_first"], told["buy_first"]) if name}
        self.assertEqual(set(chosen), wanted)
        self.assertEqual(list(table)[0], "as it is")
        first = wanted | {told["most"]}
        others = [name for name in by_name if name not in first][:MOST_ROWS]
        self.assertEqual(list(table)[1:], [name for name in by_name if name in first or name in others], "in their order, those that are named above and eight more")
        self.assert_values(table["as it is"]["Step"], [told["step_s"], told["step_low_s"], told["step_high_s"]])
        self.assertEqual(table["as it is"]["Then limited by"], told["limited_by"])
        for name, cells in list(table.items())[1:]:
            change = by_name[name]
            self.assert_values(cells["Saves"].partition(":")[0], self.saving(change))
            self.assertEqual(cells["Saves"].endswith(": may be none"), change["state"] == "within band")
            self.assertEqual(cells["Then limited by"], change["then_limited_by"])
            self.assertEqual(answer.quantity(cells["Step"]).is_near(change["step_s"]), True, cells)
            if change["price_usd"] is None:
                self.assertEqual(cells["Price"], "no price")
            elif change["price_usd"] == 0:
                self.assertEqual(cells["Price"], "nothing")
            else:
                self.assert_values(cells["Price"], self.price(change))
        self.check_decision(told, by_name, sentences)
        self.check_items(told, gains, items)

    def check_decision(self, told, by_name, sentences):
        self.assertTrue(answer.quantity(sentences[0]).is_near(told["step_s"]), sentences[0])
        self.assertIn(f"limited by {told['limited_by']}.", sentences[0])
        if told["set_first"]:
            self.assertIn(f"Set first: {told['set_first']}.", sentences[1])
            self.assert_values(sentences[1].partition("It saves")[2], self.saving(by_name[told["set_first"]]))
        else:
            self.assertEqual(sentences[1], "No setting of the software surely saves half a percent.")
        if told["buy_first"]:
            change = by_name[told["buy_first"]]
            self.assertIn(f"Buy first: {told['buy_first']}.", sentences[2])
            self.assert_values(sentences[2].partition("It saves")[2], self.saving(change) + self.price(change))
        else:
            self.assertIn(f"Buy nothing: {told['no_purchase']}.", sentences[2])
            self.assertEqual("Nearest comes this" in sentences[2], told["nearest"] is not None)

    def check_items(self, told, gains, items):
        unsure = [change for change in gains if change["state"] == "within band"][:2]
        shown = [item for item in items if item.startswith("A measurement: ")]
        self.assertEqual(len(shown), len(unsure))
        for item, change in zip(shown, unsure):
            self.assertIn(change["change"], item)
            self.assert_values(item.partition(" saves ")[2], self.saving(change))
        offers = [change for change in gains if change["state"] == "sure" and change["price_usd"] is None][:2]
        self.assertEqual([item.split(" surely saves")[0] for item in items if item.startswith("An offer: ")], [f"An offer: {change['change']}" for change in offers])
        self.assertEqual(items[-1].startswith("Another job:"), True)
        self.assertEqual(sum(item.startswith("The step itself: its band is ") for item in items), 1)
        self.assertEqual(any(item.startswith("Its price: above") for item in items), bool(told["buy_first"]) and len([one for one in gains if one["price_usd"] and one["state"] == "sure"]) > 1)

    def test_a_setting_is_enough(self):
        self.check_upgrade(("mpi-rig-100m",))

    def test_a_purchase_is_recommended(self):
        self.check_upgrade((LEARN,))

    def test_a_setting_that_saves_little(self):
        """It is recommended and has its row, however many purchases save more."""
        told = self.json("upgrade", "ddp-2b-4nodes-200g")
        self.assertGreater([change["change"] for change in told["changes"]].index(told["set_first"]), MOST_ROWS + 1)
        self.check_upgrade(("ddp-2b-4nodes-200g",))

    def test_two_runs(self):
        """Times, money and bands are those of the comparison; the faster one is recommended, or each for what it is best at."""
        told = self.json("compare", "hello", "--vary", "cluster.nodes=1,2", *JOB)
        for nodes in ("1", "2"):
            self.run_of("hello", "--set", f"cluster.nodes={nodes}", *JOB)
        sentences, table, items, chosen = self.section("1", "2")
        names = ["hello (run 1)", "hello (run 2)"]
        self.assertEqual(list(table), names)
        for cells, figures, band in zip(table.values(), told["figures"], told["bands"]):
            self.assert_values(cells["To buy"], [figures["capex_usd"]])
            self.assert_values(cells["Step"], [figures["step_s"], band["step_low_s"], band["step_high_s"]])
            self.assert_values(cells["Training"], [figures["train_s"]])
            self.assert_values(cells["With failures"], [figures["calendar_s"]])
            self.assert_values(cells["A million tokens"], [figures["usd_per_million_tokens"], band["usd_per_million_tokens_low"], band["usd_per_million_tokens_high"]])
            self.assertEqual(cells["Limited by"], figures["limited_by"])
        one, two = told["figures"]
        saved = 1 - two["train_s"] / one["train_s"]
        self.assertEqual(table[names[0]]["Less time than the first"], "-")
        self.assertTrue(answer.quantity(table[names[1]]["Less time than the first"]).is_near(saved))
        self.assertIn(f"{names[1]} takes {100 * saved:.1f} % less time for the same work than {names[0]}", sentences[0])
        self.assertEqual(chosen, [names[1]])
        cheapest = names[one["usd_per_million_tokens"] > two["usd_per_million_tokens"]]
        self.assertIn(f"cost least with {cheapest}: ", sentences[1])
        self.assertEqual(sentences[2], f"Take {names[1]} for speed, {cheapest} for money.")
        self.assertEqual([item.split(" unsure")[0] for item in items[:2]], [f"A measurement of what makes {name}" for name in names])
        page = self.good("compare", "hello", "--vary", "cluster.nodes=1,2", *JOB)
        about = [line.partition(" to ")[2].partition(", ")[2].partition("; change")[0] for line in page.partition("\n  bands of the step\n")[2].split("\n")[:2]]
        self.assertEqual([item.partition(" unsure: ")[2] for item in items[:2]], [f"{words}." for words in about])

    def test_runs_without_tokens(self):
        """An all-reduce has no tokens: what they cost is not compared, and speed alone decides."""
        for ports in ("ib-hdr", "ib-ndr"):
            self.run_of(LEARN, "--set", f"cluster.nic={ports}", "--set", "cluster.nics_per_node=1")
        told = self.json("compare", LEARN, "--vary", "cluster.nic=ib-hdr,ib-ndr", "--set", "cluster.nics_per_node=1")
        sentences, table, items, chosen = self.section("1", "2")
        figures = told["figures"]
        self.assertEqual([cells["A million tokens"] for cells in table.values()], ["no tokens", "no tokens"])
        self.assertEqual(sentences[1], "What a token costs cannot be compared: something has no price.")
        for cells, one in zip(table.values(), figures):
            self.assertEqual({"Training", "With failures"} & set(cells), set())
            self.assert_values(cells["To buy"], [one["capex_usd"]]) if one["capex_usd"] else self.assertEqual(cells["To buy"], "not known")
        best = list(table)[figures[1]["step_s"] < figures[0]["step_s"]]
        if chosen:
            self.assertEqual((chosen, sentences[2]), ([best], f"Take {best}, if its price is right."))
        else:
            self.assertTrue(sentences[2].startswith(f"The forecast does not decide between {best} and "), sentences)
        without = [name for name, one in zip(table, figures) if not one["usd_per_hour"]]
        self.assertEqual([item for item in items if item.startswith("A price for ")], [f"A price for {name}: fabricast cost says what has none." for name in without])

    def test_what_is_not_decided(self):
        """The same twice: neither is faster, and none is recommended."""
        for _ in range(2):
            self.run_of("hello")
        sentences, _, _, chosen = self.section("1", "2")
        self.assertTrue(any(sentence.startswith("The forecast does not decide between ") for sentence in sentences), sentences)
        self.assertEqual(chosen, [])


if __name__ == "__main__":
    support.main()
