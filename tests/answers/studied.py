#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a study, `report STUDY`: every figure, mark and line of it stands where the study has it.

`studied.py PROGRAM`. The studies are what commands print as JSON, and some of them with values that were changed.
"""
import html
import json
import math
import os
import re

import answer
from answer import support

LEARN = os.path.join(support.SOURCE, "scenarios", "learn", "08-oversubscription.yaml")
MOST_ROWS = 12


def words_of(part):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", part)).replace("\u00a0", " ").split())


class Page:
    """What a reader of the page sees: sentences, the marks of the plot with the places of their lines, and the table."""

    def __init__(self, text):
        self.text = text
        self.title, self.heading = (words_of(re.search(rf"<{tag}>(.*?)</{tag}>", text, re.S)[1]) for tag in ("title", "h1"))
        subject = re.search(r'<p class="machine">(.*?)</p>', text)
        self.subject = words_of(subject[1]) if subject else None
        decision = re.search(r'(?s)<div class="decision">(.*?)</div>', text)[1]
        self.sentences = [words_of(found) for found in re.findall(r"<p[^>]*>(.*?)</p>", decision)]
        self.leads = decision.count('class="lead"')
        self.cautions = [words_of(found) for found in re.findall(r"<li>(.*?)</li>", text)]
        plot = re.search(r'(?s)<figure class="plot"><h2>(.*?)</h2>(.*?)</figure>', text)
        self.plot = words_of(plot[1]) if plot else None
        self.marks, self.axis = [], []
        for kind, inside in re.findall(r'(?s)<div class="mark([ a-z]*)">(.*?)</svg>', plot[2]) if plot else ():
            if kind == " axis":
                self.axis = [(found[1], float(found[2]), words_of(found[3]))
                             for found in re.finditer(r'<text y="16" text-anchor="(\w+)" x="([-\d.]+)%">(.*?)</text>', inside)]
            else:
                self.marks.append(Mark(kind == " chosen", inside))
        table = re.search(r"(?s)<table>(.*?)</table>", text)
        self.heads, self.rows, self.chosen, self.numbers = [], {}, set(), {}
        if table:
            self.heads = [words_of(found) for found in re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table[1])]
            self.number_heads = [words_of(found) for found in re.findall(r'<th scope="col" class="number">(.*?)</th>', table[1])]
            for chosen, row in re.findall(r'(?s)<tr( class="chosen")?><th scope="row">(.*?)</tr>', table[1]):
                name, _, cells = row.partition("</th>")
                found = re.findall(r'<td( class="number")? data-label="(.*?)">(.*?)</td>', cells)
                self.rows[words_of(name)] = {html.unescape(label): words_of(cell) for _, label, cell in found}
                self.numbers[words_of(name)] = [html.unescape(label) for number, label, _ in found if number]
                assert [html.unescape(label) for _, label, _ in found] == self.heads[1:], row
                if chosen:
                    self.chosen.add(words_of(name))
        more = re.search(r'<p class="note">(\d+) more are in the study', text)
        self.n_left_out = int(more[1]) if more else 0


class Mark:
    def __init__(self, is_chosen, text):
        self.is_chosen = is_chosen
        self.name, self.value = (words_of(re.search(rf'<p class="{kind}">(.*?)</p>', text)[1]) for kind in ("name", "value"))
        places = lambda kind, name: [float(found) for found in re.findall(rf'<{kind}[^>]* {name}="([-\d.]+)%"', text)]
        self.grid, self.bound = places('line class="grid"', "x1"), places('line class="bound"', "x1")
        self.ends, self.whisker = places('rect class="end"', "x"), places('line class="whisker"', "x1") + places('line class="whisker"', "x2")
        [self.circle] = places("circle", "cx")
        assert self.grid == places('line class="grid"', "x2") and self.bound == places('line class="bound"', "x2"), "lines are upright"


class Studied(answer.AnswerTest):
    def page(self, study):
        self.write("study.json", json.dumps(study))
        self.good("report", self.path("study.json"), "-o", "page.html")
        page = Page(support.read(self.path("page.html")))
        self.assertEqual(page.title, page.heading)
        self.assertEqual(page.leads, 1)
        self.assertIn(f"Made from {self.path('study.json')} by fabricast", page.text)
        self.assertEqual(page.subject, study.get("scenario") or study.get("title"))
        return page

    def assert_cell(self, text, values, what):
        """A cell shows these figures, as they are rounded there. A text is itself; None is a dash."""
        if isinstance(values, str):
            self.assertEqual(text, values, what)
            return
        values = values if isinstance(values, (list, tuple)) else [values]
        if any(value is None for value in values):
            values = values[:1]
        if values[0] is None:
            self.assertIn(text, ("-", "no price"), what)
            return
        found = answer.quantities(text)
        self.assertEqual(len(found), len(values), f"{what}: {text}")
        for one, value in zip(found, values):
            self.assertTrue(answer.is_near_in_unit(one, value), f"{what}: {one.text} is not {value}")

    def check_plot(self, page, marks, bound=None):
        """`marks` are (name, value, low, high, is chosen): each where the lines and the names of the axis put it."""
        self.assertEqual([(mark.name, mark.is_chosen) for mark in page.marks], [(mark[0], mark[4]) for mark in marks])
        grid = page.marks[0].grid
        n = len(grid)
        self.assertTrue(3 <= n <= 8, grid)
        self.assertEqual((grid[0], grid[-1]), (2, 98))
        for i, x in enumerate(grid):
            self.assertAlmostEqual(x, 2 + 96 * i / (n - 1), delta=0.011)
        every = 2 if n > 4 else 1
        self.assertEqual(len(page.axis), (n + every - 1) // every)
        values = [answer.quantity(label).value for _, _, label in page.axis]
        step = (values[1] - values[0]) / every
        mantissa = step / 10 ** math.floor(math.log10(step) + 1e-9)
        self.assertTrue(any(abs(mantissa - one) < 1e-6 for one in (1, 2, 2.4, 2.5, 5)) or step % 60 == 0, f"{step} between lines")
        low, high = values[0], values[0] + step * (n - 1)
        for i, (anchor, x, label) in enumerate(page.axis):
            self.assert_same(answer.quantity(label).value, low + i * every * step, label, rel=1e-3)
            at = grid[i * every]
            self.assertEqual((anchor, x), ("start", 0) if at < 8 else ("end", 100) if at > 92 else ("middle", at), label)
        numbers = [value for mark in marks for value in mark[1:4] if value is not None] + ([bound] if bound is not None else [])
        least, most = min([0, *numbers]), max(numbers)
        self.assertTrue(low <= least + 1e-9 * step and least < low + step, f"{low} for {least}")
        self.assertTrue(most <= high + 1e-9 * step and high - step < most + 1e-9 * step, f"{high} for {most}")
        place = lambda value: 2 + 96 * (value - low) / (high - low)
        for mark, (name, value, least, most, _) in zip(page.marks, marks):
            self.assertEqual(mark.grid, grid)
            self.assertAlmostEqual(mark.circle, place(value), delta=0.02, msg=name)
            has_band = least is not None and most is not None
            ends = [place(least), place(most)] if has_band else []
            for found in (mark.whisker, mark.ends):
                self.assertEqual(len(found), len(ends), name)
                for one, other in zip(found, ends):
                    self.assertAlmostEqual(one, other, delta=0.02, msg=name)
            self.assert_cell(mark.value, [value, least, most] if has_band else value, name)
            self.assertEqual(len(mark.bound), bound is not None)
            for x in mark.bound:
                self.assertAlmostEqual(x, place(bound), delta=0.02)

    def check_table(self, page, rows, chosen):
        self.assertEqual(list(page.rows), [row[0] for row in rows])
        self.assertEqual(page.chosen, set(chosen))
        for name, *cells in rows:
            self.assertEqual(len(cells), len(page.heads) - 1)
            for head, value in zip(page.heads[1:], cells):
                self.assert_cell(page.rows[name][head], value, f"{name}, {head}")
        for head in page.heads[1:]:
            cells = [row[head] for row in page.rows.values()]
            is_number = all("(" not in cell and (cell[0].isdigit() or cell[0] in "$-" or cell == "no price") for cell in cells)
            self.assertEqual(head in page.number_heads, is_number, head)
            self.assertEqual({head in numbers for numbers in page.numbers.values()}, {is_number}, head)

    def check_size(self, study, figure, bound):
        page = self.page(study)
        column = {"exposed": "exposed_fraction", "step": "step_s"}[figure]
        [band] = study["band"] or [{}]
        met = study["answer"]
        limits = lambda point: [band.get("low"), band.get("high")] if point["value"] == met else [None, None]
        self.assertEqual(page.title, f"How much {study['key']} is enough?")
        self.assertEqual(page.plot, f"{figure.capitalize()} by {study['key']}; the line is the target")
        self.check_plot(page, [(point["value"], point[column], *limits(point), point["value"] == met) for point in study["points"]], bound)
        self.assertEqual(page.heads, ["Value", "Step", "Exposed", "MFU", "To buy", "Meets the target", "Limited by"])
        self.check_table(page, [(point["value"], point["step_s"], point["exposed_fraction"], point["mfu_fraction"], point["capex_usd"],
                                 point["is_met"], point["limited_by"]) for point in study["points"]], [met] if met else [])
        if met:
            self.assertEqual(page.sentences[0], f"{study['key']} = {met} is the first value that meets {study['target']}.")
            self.assertTrue(page.sentences[1].startswith(f"With {met}, {figure} is from "))
            self.assert_cell(page.sentences[1].partition(" is from ")[2].partition(", most")[0], [band["low"], band["high"], band["coverage_fraction"]], figure)
            self.assertIn(f" in {100 * band['coverage_fraction']:.0f} % of cases, most of it by {band['most']}.", page.sentences[1])
            ends = [study[key] or "none of them" for key in ("answer_low", "answer_high")]
            self.assertIn(f"the first that is enough is {ends[0]} at the better bound of this band, and {ends[1]} at the worse one.", page.sentences[2])
        for port in study["ports"]:
            verb = "meets" if port["is_met"] == "yes" else "misses"
            self.assertIn(f"A port that is sold with this rate or more: {port['link']} ({port['technology']}), which {verb} the target.", page.sentences)
        return page

    def test_size_of_a_share(self):
        command = ("size", "ddp-2b-4nodes-200g", "--vary", "cluster.nic_rate=100..400Gb/s:100", "--target", "exposed<=75%")
        study = json.loads(self.good(*command, "--format", "json"))
        self.check_size(study, "exposed", 0.75)
        study["answer"], study["closest"] = None, study["points"][1]["value"]
        study["band"] = []
        page = self.page(study)
        self.assertIn(f"No value of cluster.nic_rate that was tried meets {study['target']}; {study['closest']} comes nearest with exposed ", page.sentences[0])
        self.assert_cell(page.sentences[0].partition(" with exposed ")[2], study["points"][1]["exposed_fraction"], "closest")
        self.assertEqual(page.chosen, set())
        study["closest"] = None
        self.assertEqual(self.page(study).sentences[0], f"No value of cluster.nic_rate that was tried meets {study['target']}.")

    def test_size_of_a_time(self):
        study = json.loads(self.good("size", "mpi-rig-100m", "--vary", "cluster.nic_rate=110..130Mb/s:5", "--target", "step<=600ms", "--format", "json"))
        self.check_size(study, "step", 0.6)
        points = study["points"]
        study["points"] = [{**points[0], "value": f"{i}Mb/s"} for i in range(2 * MOST_ROWS + 3)]
        page = self.page(study)
        self.assertEqual((len(page.rows), page.n_left_out), (2 * MOST_ROWS, 3))
        del study["points"][2 * MOST_ROWS:]
        self.assertEqual(self.page(study).n_left_out, 0)

    def check_compare(self, study):
        page = self.page(study)
        bands = {band["name"]: band for band in study["bands"]}
        figures = study["figures"]
        names = [one["name"] for one in figures]
        least = min(variant["step_s"] for variant in study["variants"])
        best = [name for name, variant in zip(names, study["variants"]) if variant["step_s"] <= least]
        band = lambda name, key: [bands[name][key + "_low_s"], bands[name][key + "_high_s"]] if name in bands else [None, None]
        self.check_plot(page, [(name, variant["step_s"], *band(name, "step"), name in best) for name, variant in zip(names, study["variants"])])
        self.assertEqual(page.heads, ["Alternative", "Step", "Exposed", "MFU", "To buy", "A million tokens", "Limited by"])
        tokens = lambda one: [one["usd_per_million_tokens"], *(bands.get(one["name"], {}).get(f"usd_per_million_tokens_{end}") for end in ("low", "high"))]
        self.check_table(page, [(name, [variant["step_s"], *band(name, "step")], variant["exposed_s"] / variant["step_s"], one["mfu_fraction"], one["capex_usd"],
                                 tokens(one), one["limited_by"]) for name, variant, one in zip(names, study["variants"], figures)], best)
        told = []
        for name, variant in sorted(zip(names, study["variants"]), key=lambda pair: pair[1]["step_s"]):
            if variant.get("explanation"):
                told.append(" ".join(variant["explanation"].split()))
                change = [bands.get(name, {}).get(f"step_change_{end}_fraction") for end in ("low", "high")]
                if None not in change:
                    verb = "does not decide" if change[0] < 0 < change[1] else "decides"
                    told.append(f"The forecast {verb} between {name} and {study['against']}: within the band the step changes by ")
        self.assertEqual(len(page.sentences), len(told))
        for sentence, begin in zip(page.sentences, told):
            self.assertTrue(sentence.startswith(begin), f"{sentence}\n{begin}")
        return page

    def test_compare(self):
        study = json.loads(self.good("compare", "hello", "--vary", "cluster.nodes=1,2", "--format", "json"))
        self.check_compare(study)
        changed = study["bands"][1]
        for low, high in ((-0.1, 0.2), (0.1, 0.2), (-0.2, -0.1), (0, 0.1), (-0.1, 0)):
            changed["step_change_low_fraction"], changed["step_change_high_fraction"] = low, high
            page = self.check_compare(study)
            self.assert_cell(page.sentences[1].partition("the step changes by ")[2].rstrip("."), [low, high], "change")
        study["equals"] = [{"name": "b", "figure": "step", "key": "cluster.nodes", "answer": "3"}, {"name": "c", "figure": "step", "key": "x", "answer": None}]
        page = self.page(study)
        self.assertEqual(page.sentences[-1], f"b equals {study['against']} in step with cluster.nodes = 3.")
        study["variants"] = study["variants"][:1]
        study["figures"] = study["figures"][:1]
        study["equals"] = []
        study["variants"][0].pop("explanation", None)
        self.assertEqual(self.page(study).sentences, [f"There is nothing to compare {study['against']} with."])
        verdict = [{"code": code, "text": text} for code, text in (("waits_for_compute", "It waits."), ("does_not_fit", "Too large."))]
        study["variants"][0]["verdict"] = verdict
        cautions = self.page(study).cautions
        self.assertIn(f"{study['figures'][0]['name']}: It waits.", cautions)
        self.assertIn("Too large.", cautions)

    def test_the_quickest_comes_first(self):
        names = ["a", "b", "c", "d"]
        steps = [0.3, 0.1, 0.4, 0.2]
        study = {"title": "t", "against": "a", "variants": [{"scenario": name, "fidelity": "fluid", "step_s": step, "exposed_s": step / 4,
                                                              "explanation": f"This is {name}."} for name, step in zip(names, steps)],
                 "left_out": [], "figures": [], "bands": []}
        page = self.page(study)
        self.assertEqual(page.sentences, ["This is b.", "This is d.", "This is a.", "This is c."])
        self.assertEqual(list(page.rows), [f"{name} at fluid" for name in names])
        self.assertEqual(page.chosen, {"b at fluid"})
        self.check_plot(page, [(f"{name} at fluid", step, None, None, name == "b") for name, step in zip(names, steps)])

    def check_upgrade(self, study):
        page = self.page(study)
        chosen = {study[key] for key in ("set_first", "buy_first", "most") if study[key]}
        gains = [one for one in study["changes"] if one["state"] != "no gain" and one["saved_fraction"] > 0]
        others = [one["change"] for one in gains if one["change"] not in chosen][:MOST_ROWS]
        shown = [one for one in gains if one["change"] in chosen or one["change"] in others]
        self.assertEqual(page.title, "What should change first?")
        self.assertEqual(page.n_left_out, len(study["changes"]) - len(shown) if shown else 0)
        saving = lambda one: [one["saved_fraction"], one["saved_low_fraction"], one["saved_high_fraction"]]
        price = lambda one: [one["price_usd"], one["price_low_usd"], one["price_high_usd"]]
        sure = lambda one: "may be no gain" if one["state"] == "within band" else one["state"]
        if shown:
            self.check_plot(page, [(one["change"], *saving(one), one["change"] in chosen) for one in shown])
            self.assertEqual(page.heads, ["Change", "Saves", "Price", "Step", "How sure", "Then limited by"])
            self.check_table(page, [(one["change"], saving(one), one["price_usd"], one["step_s"], sure(one), one["then_limited_by"]) for one in shown],
                             [one["change"] for one in shown if one["change"] in chosen])
        by_name = {one["change"]: one for one in study["changes"]}
        told = iter(page.sentences)
        if study["set_first"]:
            one, sentence = by_name[study["set_first"]], next(told)
            self.assertTrue(sentence.startswith(f"Set first: {one['change']}. It saves ") and sentence.endswith(" of the time for the same work, and costs nothing."), sentence)
            self.assert_cell(sentence.partition(" It saves ")[2], saving(one), sentence)
        if study["buy_first"]:
            one, sentence = by_name[study["buy_first"]], next(told)
            self.assertTrue(sentence.startswith(f"Buy first: {one['change']}. It saves "), sentence)
            self.assert_cell(sentence.partition(" It saves ")[2].partition(" of the time")[0], saving(one), sentence)
            self.assert_cell(sentence.partition(" work, for ")[2].removesuffix("."), price(one), sentence)
        else:
            self.assertEqual(next(told), f"No purchase is recommended: {study['no_purchase']}.")
            if study["nearest"]:
                self.assertEqual(next(told), f"Nearest comes this: {study['nearest']}.")
        if study["most"] and study["most"] != study["buy_first"]:
            self.assertTrue(next(told).startswith(f"Most is saved by {study['most']}: "))
        today = next(told)
        self.assertTrue(today.startswith("Today a step takes ") and today.endswith(f", limited by {study['limited_by']}."), today)
        self.assert_cell(today.partition(" takes ")[2].partition(", limited")[0], [study["step_s"], study["step_low_s"], study["step_high_s"]], today)
        self.assertEqual(list(told), [])
        return page

    def test_upgrade(self):
        for command in (("upgrade", LEARN, "--only", "nic"), ("upgrade", "mpi-rig-100m", "--only", "setting"), ("upgrade", "ddp-2b-4nodes-200g", "--only", "nic,setting")):
            with self.subTest(command):
                study = json.loads(self.good(*command, "--format", "json"))
                self.check_upgrade(study)
        one = next(change for change in study["changes"] if change["state"] == "sure")
        study["changes"] = [{**one, "change": f"change {i}", "saved_fraction": 0.5 - i / 100, "saved_low_fraction": 0.4 - i / 100} for i in range(MOST_ROWS + 4)]
        study.update(set_first=None, buy_first="change 3", most=f"change {MOST_ROWS + 2}")
        study["larger_saves_less"] = [{"why": "More saves less."}, {"why": None}]
        page = self.check_upgrade(study)
        self.assertEqual(page.n_left_out, 2)
        self.assertIn("More saves less.", page.cautions)
        study["changes"][5]["saved_fraction"] = 0
        study["changes"][6]["state"] = "no gain"
        self.check_upgrade(study)

    def test_growth(self):
        study = json.loads(self.good("upgrade", "fabric-ddp-rail", "--grow", "32", "--format", "json"))
        paths = study["paths"]

        def check(best, n_equal):
            page = self.page(study)
            self.assertEqual(page.title, "How should a machine be built that will grow?")
            priced = [path for path in paths if path["total_usd"] is not None]
            self.check_plot(page, [(path["path"], path["total_usd"], path["total_low_usd"], path["total_high_usd"], path is best) for path in priced])
            self.assertEqual(page.heads, ["Way", "Today", "Later", "In all", "Step today", "Step later", "Cables kept"])
            self.check_table(page, [(path["path"], path["today_usd"], path["later_usd"], path["total_usd"], path["step_s"], path["step_later_s"],
                                     path.get("problem") or f"{path['cables_kept']:.0f} of {path['cables']:.0f}") for path in paths], [best["path"]])
            self.assertTrue(page.sentences[0].startswith(f"Cheapest in all: {best['path']}, for "))
            self.assert_cell(page.sentences[0].rpartition(", for ")[2].removesuffix("."), [best["total_usd"], best["total_low_usd"], best["total_high_usd"]], "best")
            self.assertEqual(len(page.sentences), 1 + (n_equal > 0))
            if n_equal:
                ways = "other ways cost" if n_equal > 1 else "other way costs"
                self.assertTrue(page.sentences[1].startswith(f"{n_equal} {ways} as much, with a step later that is as long or longer: "))
                self.assert_cell(page.sentences[1].rpartition(": ")[2].partition(" here")[0], best["step_later_s"], "step")

        self.assertGreaterEqual(len(paths), 3)
        del paths[3:]
        for totals, steps, best, n_equal in (((3e6, 2e6, 4e6), (0.1, 0.2, 0.3), 1, 0), ((2e6, 2e6, 4e6), (0.2, 0.1, 0.3), 1, 1),
                                             ((2e6, 2e6, 2e6), (0.1, 0.2, 0.3), 0, 2), ((3e6, 3e6, 2e6), (0.1, 0.2, 0.3), 2, 0),
                                             ((2e6, 3e6, 2e6), (0.2, 0.1, 0.1), 2, 1)):
            for path, total, step in zip(paths, totals, steps):
                path.update(total_usd=total, total_low_usd=total * 0.9, total_high_usd=total * 1.2, step_later_s=step, problem=None)
            check(paths[best], n_equal)
        paths[0]["problem"] = "It has no room."
        check(paths[2], 1)
        for path in paths:
            path.update(total_usd=None)
        self.assertEqual(self.page(study).sentences, ["No way to grow has a price."])

    def test_cost(self):
        study = json.loads(self.good("cost", "ddp-2b-4nodes-200g", "--format", "json"))
        study["parts"].append({**study["parts"][0], "product": "a part of another one", "is_included": "yes"})
        page = self.page(study)
        paid = [part for part in study["parts"] if part["is_included"] != "yes"]
        all_of = lambda part: [part["usd"], part["count"] * part["low_usd_each"], part["count"] * part["high_usd_each"]] if part["usd"] is not None else [None]
        figures, bands = study["figures"], study["figures_band"]
        self.check_plot(page, [(part["product"], *all_of(part), False) for part in paid if part["usd"] is not None])
        self.assertEqual(page.heads, ["Product", "Part", "Count", "Each", "All", "Power", "Price of"])
        self.check_table(page, [(part["product"], part["part"], part["count"], part["usd_each"], all_of(part) if part in paid else "included",
                                 part["count"] * part["watts_each"], page.rows[part["product"]]["Price of"]) for part in study["parts"]], [])
        self.assertEqual([page.rows[part["product"]]["Price of"] for part in study["parts"]], [part["date"] or "-" for part in study["parts"]])
        banded = lambda key: [figures[key], bands[key + "_low"], bands[key + "_high"]]
        self.assert_cell(page.sentences[0].partition(" to buy")[0], [figures["capex_usd"], sum(all_of(part)[1] for part in paid), sum(all_of(part)[2] for part in paid)], "capex")
        self.assert_cell(page.sentences[0].rpartition(" is ")[2].rstrip("."), figures["network_capex_fraction"], "network")
        self.assert_cell(page.sentences[1].partition(", and")[0], banded("usd_per_hour"), "hour")
        self.assert_cell(page.sentences[1].rpartition(" takes ")[2].rstrip("."), figures["power_watts"], "power")
        self.assert_cell(page.sentences[2].partition(" cost ")[2].rstrip("."), banded("usd_per_million_tokens"), "tokens")
        self.assert_cell(page.sentences[3].partition(" takes ")[2].rstrip("."), banded("step_s"), "step")
        self.assertIn(f"Not in it: {study['not_in_it']}.", page.cautions)
        figures["usd_per_million_tokens"] = None
        self.assertEqual([sentence.split()[0] for sentence in self.page(study).sentences], ["The", "An", "A"])

    def test_what_a_band_rests_on(self):
        study = json.loads(self.good("cost", "ddp-2b-4nodes-200g", "--format", "json"))
        band = study["figures_band"]["band"] = {"coverage_fraction": 0.9, "tables": 7, "family": "rings", "compute": {"runs": 12, "sources": 3},
                                                "untuned": {"tables": 2, "of": 40, "high_factor": 3.456}}
        begin = "A band holds what a real machine shows in 90 % of cases, by the errors at"
        healthy = "The bands are of healthy networks: 2 of 40 published networks took up to 3.5 times the predicted time."
        cautions = self.page(study).cautions
        self.assertEqual(cautions[-2:], [f"{begin} 7 published tables of rings and 12 published runs of 3 sources.", healthy])
        band["compute"] = {}
        del band["untuned"]["of"]
        self.assertEqual(self.page(study).cautions[-1], f"{begin} 7 published tables of rings.")
        band.update(compute={"runs": 12, "sources": 3}, family=None)
        self.assertEqual(self.page(study).cautions[-1], f"{begin} 12 published runs of 3 sources.")
        band["coverage_fraction"] = None
        self.assertFalse(any("A band holds" in caution for caution in self.page(study).cautions))


if __name__ == "__main__":
    support.main()
