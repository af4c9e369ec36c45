#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a machine costs: sums of its parts, of what an hour consists of, and the page that says so.

`priced.py PROGRAM`.
"""
import json
import re

import answer
import tables
from answer import support

SCENARIO = "ddp-2b-4nodes-200g"
HOURS_A_YEAR = 365.25 * 24
KEYS = "cost={maintenance: 5%, staff_usd_per_year: 1e5, site_usd_per_kw_month: 120, utilisation: 80%}"


class Priced(answer.AnswerTest):
    def asked(self, *command):
        """(document, lines of the page by their labels, the page)"""
        told = tables.nodes(json.loads(self.good("cost", *command, "--format", "json")))
        page = self.good("cost", *command)
        lines = {found[1].strip(): found[2] for found in re.finditer(r"(?m)^  (.{12})  (\S.*)$", page)}
        return told, lines, page

    def assert_line(self, text, values):
        found = answer.quantities(text)
        self.assertEqual(len(found), len(values), text)
        for one, value in zip(found, values):
            self.assertTrue(value is None or answer.is_near_in_unit(one, value), f"{text}: {one.text} is not {value}")

    def check_bill(self, told, lines, page):
        """Every row of the bill, and its sum; what another part includes has no price of its own."""
        rows = tables.Table("d.parts")
        rows.add("part: part | of: r['of'] | product: product or '-' | count: count | each: 'included' if is_included == 'yes' else usd_each or 'no price'")
        rows.add("all: 'included' if is_included == 'yes' else usd or 'no price' | low to high: [low_usd_each * count, high_usd_each * count] if usd else '-'")
        rows.add("power: _")
        rows.check(self, page, {"d": told})
        at, heads = tables.head_at(page.splitlines(), ["part", "of", "product", "count", "each", "all", "low to high", "power"])
        for line, part in zip(page.splitlines()[at + 1:], told.parts):
            power = tables.by_head(line, heads, False)[7].text
            if part.watts_each:
                self.assertTrue(answer.quantity(power).is_near(part.watts_each * part.count), line)
            else:
                self.assertIn(power, ("-", "not known"), line)
        paid = [part for part in told.parts if part.usd]
        for part in paid:
            self.assert_same(part.usd, part.usd_each * part.count, part.part)
        total, low, high = (sum(part[key] * (1 if key == "usd" else part.count) for part in paid) for key in ("usd", "low_usd_each", "high_usd_each"))
        has_all = all(part.usd or part.is_included == "yes" for part in told.parts)
        self.assertEqual("more than" in lines["to buy"], not has_all)
        self.assert_line(lines["to buy"], [total, low, high])
        self.assertEqual("no price" in lines, not has_all)
        if has_all:
            network = sum(part.usd for part in paid if part.is_network == "yes")
            self.assert_same(told.figures.capex_usd, total)
            self.assert_same(told.figures.network_capex_fraction, network / total)
            self.assert_line(lines["network"], [network, network / total])
        return total

    def test_an_hour(self):
        """Its price over the years in which it is used, electricity at the meter, maintenance, staff and site."""
        for sets, years, kwh, pue, share, power in (((), 5, 0.08, 1.3, 1, 1), ((KEYS, "cluster.power_cap=80%"), 5, 0.08, 1.3, 0.8, 0.8),
                                                    (("cost={years: 4, usd_per_kwh: 0.2, pue: 1.1}",), 4, 0.2, 1.1, 1, 1)):
            told, lines, page = self.asked(SCENARIO, "--no-band", *(word for one in sets for word in ("--set", one)))
            capex = self.check_bill(told, lines, page)
            hour, used = told.hour_usd, HOURS_A_YEAR * share
            self.assert_same(hour.bought, capex / years / used, rel=1e-6)
            self.assert_same(hour.electricity, told.figures.power_watts / 1e3 * kwh, rel=1e-6)
            if share < 1:
                machines = sum((part.watts_each or 0) * part.count * (power if part.part == "accelerator" else 1) for part in told.parts)
                self.assert_same(hour.maintenance, 0.05 * capex / used, rel=1e-6)
                self.assert_same(hour.staff, 1e5 / used, rel=1e-6)
                self.assert_same(hour.site, machines / 1e3 * 120 * 12 / used, rel=1e-3)
            parts = [hour.bought, hour.electricity, hour.maintenance, hour.staff, hour.site]
            self.assert_same(told.figures.usd_per_hour, sum(parts), rel=1e-6)
            self.assert_line(lines["an hour"], [told.figures.usd_per_hour, told.figures_band.usd_per_hour_low, told.figures_band.usd_per_hour_high,
                                                hour.bought, None, hour.electricity, kwh, *(part for part in parts[2:] if part), *([share] if share < 1 else [])])
            self.assertIn(f" over {years} years, ", lines["an hour"])
            self.assertEqual(re.findall(r", \$\S+ of (\w+)", lines["an hour"]), ["electricity", *(["maintenance", "staff", "site"] if share < 1 else [])])
            self.assert_line(lines["power"], [told.figures.power_watts, pue, told.figures.network_power_fraction])
            self.assertEqual("power cap" in lines, power < 1)
            if power < 1:
                self.assert_line(lines["power cap"], [power])
            self.check_work(told, lines)

    def check_work(self, told, lines):
        """A step and a million tokens, in money and energy."""
        figures, band = told.figures, told.figures_band
        self.assert_same(figures.usd_per_step, figures.usd_per_hour * figures.step_s / 3600, rel=1e-6)
        self.assert_same(figures.usd_per_million_tokens, figures.usd_per_hour / 3600 / figures.tokens_per_s * 1e6, rel=1e-6)
        self.assert_same(figures.step_joules, figures.power_watts * figures.step_s, rel=1e-6)
        of = lambda key: [figures[key], band[key + "_low"], band[key + "_high"]] if band[key + "_high"] > band[key + "_low"] else [figures[key]]
        self.assert_line(lines["step time"], of("step_s"))
        self.assert_line(lines["a step"], [*of("usd_per_step"), figures.step_joules])
        self.assert_line(lines["1M tokens"].replace("1M", ""), [*of("usd_per_million_tokens"), figures.power_watts / figures.tokens_per_s * 1e6])

    def test_a_machine_that_is_rented(self):
        told, lines, _ = self.asked(SCENARIO, "--no-band", "--set", "cost.usd_per_gpu_hour=2.5")
        self.assert_same(told.figures.usd_per_hour, 32 * 2.5)
        self.assertEqual(lines["an hour"], "$80, 32 GPUs rented at $2.5")
        self.check_work(told, lines)
        told, lines, _ = self.asked(SCENARIO, "--no-band", "--set", "cost.rent=rent-a100")
        product = dict(re.findall(r"(?m)^(\w+): (.*)$", self.good("describe", "products", "rent-a100")))
        price, low, high = (float(product[key]) for key in ("price_usd", "low_usd", "high_usd"))
        self.assert_same(told.figures.usd_per_hour, 32 * price)
        self.assertEqual(lines["an hour"], f"${32 * price:g} (${32 * low:g} to ${32 * high:g}), rented by rent-a100, ${price:g} an hour for each {product['accelerator']}, "
                                           f"price of {product['date'].strip(chr(34))}")
        self.assertEqual((told.hour_usd.rent, told.hour_usd.bought), ("rent-a100", 0))
        self.check_work(told, lines)

    def test_what_is_not_counted(self):
        """The dates of the prices from the first to the last; upkeep that has no amount is not counted, and all of it is in a rent."""
        keys = {"maintenance": "maintenance=5%", "staff": "staff_usd_per_year=1000", "site": "site_usd_per_kw_month=10"}
        for n in range(8):
            given = [name for i, name in enumerate(keys) if n >> i & 1]
            command = ("cost", "ddp-2b-4nodes-200g", "--no-band", *(word for name in given for word in ("--set", f"cost.{keys[name]}")))
            dates = sorted({part["date"] for part in self.json(*command)["parts"] if part["date"]})
            rest = [name for name in keys if name not in given]
            wanted = f"US dollars of {' to '.join(dict.fromkeys((dates[0], dates[-1])))}, without tax" + (f"; not counted: {', '.join(rest)}" if rest else "")
            self.assertEqual(re.search(r"(?m)^  prices +(.*)$", self.good(*command))[1], wanted)
            rented = self.good(*command, "--set", "cost.usd_per_gpu_hour=2")
            self.assertEqual(re.search(r"(?m)^  prices +(.*)$", rented)[1], wanted.partition(";")[0])

    def test_parts_without_a_price(self):
        """They are named, and the sum is said to be more."""
        told, lines, page = self.asked("zero3-13b-slow-fabric", "--no-band", "--set", "cluster.nic=ib-xdr", "--set", "cluster.nic_rate=800Gb/s")
        self.check_bill(told, lines, page)
        without = [part for part in told.parts if not part.usd and part.is_included != "yes"]
        self.assertGreater(len(without), 0)
        for part in without:
            self.assertIn(f"{part.part} {part['of']}", lines["no price"])
        self.assertNotIn("a step", {label for label, text in lines.items() if "$" in text})

    def test_parts_that_are_not_known(self):
        """The page lists what has no price and what has no watts, each once, where there is something."""
        for scenario in ("own-node", "mpi-rig-100m", "fabric-torus-all-reduce", "hello"):
            command = ("cost", scenario, "--no-band")
            parts, page = self.json(*command)["parts"], self.good(*command)
            for label, key in (("no price", "usd_each"), ("no watts", "watts_each")):
                unknown = [f"{part['part']} {part['of']}" for part in parts if part[key] is None and part["is_included"] != "yes"
                           and not (key == "watts_each" and part["part"] == "cable" and part["product"])]  # its transceivers do
                shown = re.findall(rf"(?m)^  {label} {{6}}(\S.*)$", page)
                self.assertEqual(len(shown), bool(unknown), label)
                self.assertEqual(set(shown[0].split(", ")) if shown else set(), set(unknown), f"{scenario}: {label}")

    def test_parts_beside_the_network(self):
        """What the document of a design lists, in its order, and the sum of those that have a price."""
        told, lines, page = self.asked("design-superpod-h100", "--set", "cluster.scalable_units=4", "--no-band")
        self.check_bill(told, lines, page)
        text = re.search(r"(?m)^  beside the compute network, as the document of (\S+) counts it; not in the sums below\n((?:  .*\n)+)\n", page)
        *rows, last = text[2].splitlines()
        self.assertEqual(len(rows), len(told.beside))
        for row, part in zip(rows, told.beside):
            network, kind, count, usd, what = re.match(r"  (\S+) +(\S+) +(\d+) +(no price|\S+)  (.*)$", row).groups()
            self.assertEqual((network, kind, int(count), what), (part.network, part.part, part.count, part.what))
            self.assertTrue(usd == "no price" if part.usd is None else answer.quantity(usd).is_near(part.usd), row)
        priced = [part.usd for part in told.beside if part.usd is not None]
        self.assertEqual(last.partition("$")[0], f"  {len(priced)} of {len(told.beside)} of them have a price, together ")
        self.assertTrue(answer.quantity(last.partition("together ")[2]).is_near(sum(priced)))
        self.assertIn(f"for a full rack of nodes, as the document of {text[1]} says", lines["racks"])
        self.assert_line(lines["racks"].partition(" for")[0], [told.rack_watts])
        self.assertEqual("beside the compute network" in self.good("cost", "design-superpod-h100", "--no-band"), False)

    def test_power_of_a_rack(self):
        """Where the document of the design says it; else there is no line of it, and nothing in its place."""
        for scenario in ("design-alibaba-hpn", SCENARIO):
            told, lines, _ = self.asked(scenario, "--no-band")
            self.assertIsNone(told.rack_watts)
            self.assertNotIn("racks", lines)

    def test_figures_of_which_one_is_not_known(self):
        """Of a machine whose watts are not known there is money alone, and no range where both of its ends are the same."""
        for scenario in ("own-node", "mpi-rig-100m"):
            told, lines, page = self.asked(scenario, "--no-band", "--set", "cost.usd_per_gpu_hour=2")
            self.assertFalse(told.figures.step_joules)
            self.assertRegex(lines["a step"], r"^\$[\d.e-]+$")
            self.assertTrue(answer.quantity(lines["a step"]).is_near(told.figures.usd_per_step))
            for low, high in re.findall(r"\((\S.*?) to (\S.*?)\)", page):
                self.assertNotEqual(low, high)

    def test_spread_of_seeds(self):
        """The page has the median and the ends of the step; the document has the spread of every figure, and none of one seed."""
        for n in (1, 3):
            told, lines, _ = self.asked("fabric-ddp-ecmp", "--no-band", "--seeds", str(n))
            self.assertEqual("spread" in told, n > 1)
            self.assertEqual(f", the median of {n} seeds: " in lines["step time"], n > 1)
            if n > 1:
                self.assertEqual(told.spread.seeds, n)
                self.assert_same(told.spread.step_s.median, told.figures.step_s)
                self.assertLess(told.spread.usd_per_step.low, told.spread.usd_per_step.high)


class Lists(answer.AnswerTest):
    """Price lists, as they are written and read."""

    def parts(self, *command):
        return [{key: value for key, value in part.items()} for part in self.json("cost", *command, "--no-band")["parts"]]

    def test_a_list_of_the_products_of_a_bill(self):
        """It has every product of the bill as the catalogue has it, once, in the order of the bill, and a line about what has none."""
        for scenario in (SCENARIO, "own-node", "mpi-rig-100m", "hello"):
            text, parts = self.good("cost", scenario, "--write-prices"), self.parts(scenario)
            names = [part["product"] for part in parts if part["product"]]
            self.assertEqual(re.findall(r"(?m)^  - name: (.*)$", text), names)
            self.assertEqual(text.partition("products:\n")[2].replace("  - name", "    name"), "".join(
                "".join(f"    {line}\n" for line in self.good("describe", "products", part["product"]).splitlines() if line) if part["product"] else
                f"  # No product is known for {part['part']} {part['of']}; this is one without price:\n"
                f"  # - {{name: our-{part['of']}, kind: {part['part']}, {self.key(part)}: {part['of']}, price_usd: 0}}\n" for part in parts))
            self.assertEqual(self.parts(scenario, "--prices", self.write("same.yaml", text)), parts)

    @staticmethod
    def key(part):
        return part["part"] if part["part"] in ("node", "accelerator") else "link"

    def test_prices_of_a_list(self):
        """They take the place of those of the catalogue, before --set and beside it. A list may have a quote in its name."""
        text, parts = self.good("cost", SCENARIO, "--write-prices"), self.parts(SCENARIO)
        doubled = re.sub(r"(price_usd|low_usd|high_usd): (\d+)", lambda found: f"{found[1]}: {2 * int(found[2])}", text)
        told = self.parts(SCENARIO, "--prices", self.write('our "own" prices.yaml', doubled), "--set", "cluster.nodes=8")
        for part, other in zip(parts, told, strict=True):
            self.assertEqual(part["product"], other["product"])
            for key in ("usd_each", "low_usd_each", "high_usd_each"):
                self.assertEqual(other[key], part[key] and 2 * part[key])
        count = lambda of: sum(part["count"] for part in of if part["part"] == "node")
        self.assertEqual(count(told), 2 * count(parts))
        self.refused("cost", SCENARIO, "--prices", "nowhere.yaml", names="--prices: cannot open nowhere.yaml: No such file or directory; ")

    def test_products_without_a_price(self):
        """What the commented line of a list says is a product that can be given a price."""
        text = self.good("cost", "own-node", "--write-prices")
        text = re.sub(r"(?m)^  # - (.*) price_usd: 0\}$", r"  - \1 price_usd: 5000}", text)
        [node] = [part for part in self.parts("own-node", "--prices", self.write("own.yaml", text)) if part["part"] == "node"]
        self.assertEqual((node["product"], node["usd_each"]), ("our-workstation", 5000))


if __name__ == "__main__":
    support.main()
