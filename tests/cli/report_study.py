#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast report STUDY`: what size, compare, upgrade and cost print as JSON, as one page with the decision at its top."""
import html
import json
import os
import re

import support
from report_data import ATTACK
from support import CliTest, main, read

FOUR = os.path.join(support.SOURCE, "scenarios", "four-nodes.yaml")
SIZE = ("size", FOUR, "--vary", "cluster.nic_rate=200..500Gb/s:100", "--target", "exposed<=25%")


def plain(page):
    """What a reader sees: the texts, with usual spaces."""
    body = page[page.index("<body>"):]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).replace("\u00a0", " ").split())


def rows(page):
    """Cells of the table by the name of its row."""
    found = {}
    for row in re.findall(r"<tr[^>]*><th scope=\"row\">(.*?)</tr>", page, re.S):
        name, _, rest = row.partition("</th>")
        found[html.unescape(name)] = [plain("<body>" + cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", rest, re.S)]
    return found


class Study(CliTest):
    def study(self, *args):
        self.write("study.json", self.good(*args, "--format", "json"))
        with open(self.path("study.json"), encoding="utf-8") as file:
            return json.load(file)

    def page(self, name="study.json"):
        said = self.good("report", self.path(name), "-o", "page.html")
        self.assertEqual(said, f"page.html: the study of {self.path(name)}; open it in a browser\n")
        return read(self.path("page.html"))

    def test_size(self):
        study = self.study(*SIZE)
        page = self.page()
        self.assertIn("cluster.nic_rate = 400Gb/s is the first value that meets exposed <= 25 %.", plain(page))
        band = study["band"][0]
        self.assertIn(f"exposed is from {100 * band['low']:.2f} % to {100 * band['high']:.1f} % in 90 % of cases", plain(page))
        self.assertEqual(page.count('<circle'), len(study["points"]))
        self.assertEqual(page.count('class="bound"'), len(study["points"]))  # the target, through each line
        self.assertEqual(page.count('class="whisker"'), 1)
        table = rows(page)
        self.assertEqual(list(table), [point["value"] for point in study["points"]])
        # Figures stand under one another; figures with bands, and words, begin in a line.
        self.assertEqual(re.findall(r'<th scope="col" class="number">(.*?)</th>', page), ["Step", "Exposed", "MFU", "To buy"])
        self.assertEqual(page.count('<td class="number"'), 4 * len(study["points"]))
        self.assertEqual(table["400Gb/s"][1], f"{100 * study['points'][2]['exposed_fraction']:.1f} %")

    def test_a_target_that_nothing_meets(self):
        self.write("study.json", self.fabricast(*SIZE[:-1], "exposed<=1%", "--format", "json").stdout)
        self.assertRegex(plain(self.page()), r"No value of cluster\.nic_rate that was tried meets exposed <= 1 %; \w+/s comes nearest with exposed 17\.7 %\.")

    def test_compare(self):
        study = self.study("compare", FOUR, "--vary", "cluster.nic=ib-hdr,ib-ndr")
        page = self.page()
        self.assertIn(study["variants"][1]["explanation"], plain(page))
        self.assertIn("The forecast decides between", plain(page))
        self.assertIn("nic=ib-hdr: The step is limited by ib-hdr", plain(page))
        self.assertEqual(page.count('class="whisker"'), 2)
        self.assertEqual(len(rows(page)), 2)
        study["bands"][1]["step_change_high_fraction"] = 0.2
        self.write("study.json", json.dumps(study))
        self.assertIn("The forecast does not decide between", plain(self.page()))

    def test_fidelities_are_told_apart(self):
        self.study("compare", FOUR, "--fidelity", "fluid,analytic")
        self.assertEqual(list(rows(self.page())), ["four-nodes at fluid", "four-nodes at analytic"])

    def test_upgrade(self):
        study = self.study("upgrade", FOUR, "--only", "nic,nics,setting")
        bought = next(one for one in study["changes"] if one["change"] == study["buy_first"])
        page = self.page()
        self.assertIn(f"Buy first: {bought['change']}. It saves {100 * bought['saved_fraction']:.3g} % ", plain(page))
        self.assertRegex(page, f'<div class="mark chosen"><p class="name">{bought["change"]}</p>')
        self.assertNotIn("-", [row[0] for row in rows(page).values()])  # nothing that saves nothing
        self.assertEqual({row[3] for row in rows(page).values()}, {"sure"})  # what another change saves for less is left out

    def test_why_nothing_is_bought(self):
        """The reason, and the change that comes nearest with what it misses: its price above the budget, or its band."""
        study = self.study("upgrade", FOUR, "--only", "nic", "--budget", "$1k")
        self.assertIsNone(study["buy_first"])
        price = min(one["price_usd"] for one in study["changes"] if one["state"] == "sure" and one["price_usd"])
        self.assertRegex(study["nearest"], r"^NIC ports \S+ saves [\d.]+ % for \$[\d.]+k, \$[\d.]+k more than the budget$")
        self.assertIn(f"${price / 1e3 - 1:.4g}k more", study["nearest"])
        self.assertIn(f"No purchase is recommended: {study['no_purchase']}. Nearest comes this: {study['nearest']}.", plain(self.page()))
        study = self.study("upgrade", os.path.join(support.SOURCE, "scenarios", "learn", "08-oversubscription.yaml"), "--only", "nic")
        unsure = next(one for one in study["changes"] if one["state"] == "within band")
        self.assertTrue(study["nearest"].startswith(f"{unsure['change']} saves {100 * unsure['saved_fraction']:.1f} %, with a band from "))
        study["nearest"] = study["no_purchase"] = None  # as an earlier version wrote it
        self.write("study.json", json.dumps(study))
        self.assertIn("No purchase is recommended.", plain(self.page()))

    def test_growth(self):
        study = self.study("upgrade", os.path.join(support.SOURCE, "scenarios", "plan-70b-1024-h100.yaml"), "--set",
                           "cluster.nodes=64", "--grow", "128")
        least = min(path["total_usd"] for path in study["paths"])
        for path in study["paths"][1:]:
            path["total_usd"] = least + 1e6
        study["paths"][2]["total_usd"] = least - 1e6
        self.write("study.json", json.dumps(study))
        self.assertIn(f"Cheapest in all: {study['paths'][2]['path']}, for ", plain(self.page()))
        self.assertEqual(self.page().count('<tr class="chosen">'), 1)

    def test_cost(self):
        study = self.study("cost", FOUR)
        page = self.page()
        text = self.good("cost", FOUR)
        to_buy = re.search(r"to buy +(\S+ \(\S+ to \S+\))", text)[1]
        self.assertIn(f"The machine costs {to_buy} to buy", plain(page))
        self.assertEqual(list(rows(page)), [part["product"] for part in study["parts"]])

    def test_it_has_no_scripts_and_asks_nobody(self):
        self.study(*SIZE)
        page = self.page()
        self.assertIn("content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"", page)
        self.assertNotIn("<script", page)
        self.assertNotRegex(page, r"""(?i)(?:src|href|action)\s*=\s*["']?(?:https?:|//)""")

    def test_texts_of_a_file_are_texts(self):
        """Whatever a member holds, it is shown or left out, and never obeyed."""
        def spoilt(value, by):
            if isinstance(value, dict):
                return {key: spoilt(each, by) for key, each in value.items()}
            if isinstance(value, list):
                return [spoilt(each, by) for each in value]
            return by if isinstance(value, str) or by is not ATTACK else value

        for args in (SIZE, ("compare", FOUR, "--vary", "cluster.nic=ib-hdr,ib-ndr"), ("cost", FOUR),
                     ("upgrade", FOUR, "--only", "nics")):
            study = self.study(*args)
            for by in (ATTACK, None, 1e308, -5, True, [], {}, ""):
                self.write("study.json", json.dumps(spoilt(study, by)))
                page = self.page()
                self.assertNotIn("<script", page)
                self.assertNotIn("<img", page)
                self.assertNotIn("(null)", page)
                self.assertNotRegex(page, r"=\"-?(?:nan|inf)")

    def test_what_is_refused(self):
        self.write("other.json", "{}")
        self.write("text.json", "no JSON")
        self.refused("report", self.path("other.json"), names="it is no study; `fabricast size`, `compare`, `upgrade` and `cost` write one")
        self.refused("report", self.path("text.json"), names="it is no JSON")
        self.refused("report", self.path("missing.json"), names="missing.json")
        self.refused("report", self.path("other.json"), "--csv", "links", names="the page of a study takes --out alone")


if __name__ == "__main__":
    main()
