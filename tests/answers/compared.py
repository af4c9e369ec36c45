#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every line of `compare`: figures in their columns, ranges of seeds, bands, money, links, verdicts and what makes sides equal.

`compared.py PROGRAM [Class]`.
"""
import json
import re

import answer
import tables
from answer import support

VARIED = ("compare", "hello", "--vary", "cluster.nodes=1,2", "--seeds", "2")
FILES = ("compare", "hello", "mpi-rig-100m", "fabric-ddp-rail")
PORTS = ("compare", "ddp-2b-4nodes-200g", "--vary", "cluster.nic_rate=200Gb/s,400Gb/s")
FIGURES = {"exposed": "exposed_fraction", "exposed.inter_node": "exposed_inter_node_fraction", "idle": "idle_fraction", "waiting": "waiting_fraction", "mfu": "mfu_fraction",
           "tokens per second": "tokens_per_s", "memory": "memory_bytes", "train": "train_s", "days": "calendar_s", "ettr": "ettr_fraction", "capex": "capex_usd",
           "network_share": "network_capex_fraction", "power": "power_watts", "network_power": "network_power_fraction", "hour_cost per hour": "usd_per_hour",
           "step_cost per step": "usd_per_step", "token_cost per million tokens": "usd_per_million_tokens", "step_energy per step": "step_joules"}


class Sides(answer.AnswerTest):
    def asked(self, command):
        told = tables.nodes(json.loads(self.fabricast(*command, "--format", "json").stdout))
        page = self.fabricast(*command).stdout
        return told, page, dict(self.parts(page))

    def parts(self, page):
        """(head of a part, its lines): what stands two blanks from the left with lines four blanks from the left below it."""
        for part in page.split("\n\n"):
            lines = part.strip("\n").split("\n")
            yield lines[0].strip(), lines[1:]

    def columns(self, page, names):
        """{label: cells of the columns, by name} of the rows of the tables; a cell ends where the name of its column ends."""
        found, ends = {}, None
        for line in page.splitlines():
            heads = tables.cells(line)
            if [head.text for head in heads] == names:
                ends = [head.end for head in heads]
            elif ends and line.startswith("  ") and len(line) <= ends[-1] and len(line) > ends[0] - 24:
                cells = [cell for cell in tables.cells(line) if cell.end in ends]
                if len(cells) == len(names):
                    label = line[:cells[0].start].strip()
                    found.setdefault(label, [cell.text for cell in cells])
        self.assertIsNotNone(ends, "a table has the names of the sides above its columns")
        return found

    def assert_shown(self, text, value, what):
        if value is None:
            self.assertEqual(text, "-", what)
        else:
            self.assertTrue(answer.is_near_in_unit(answer.quantity(text), value), f"{what}: {text} is not {value}")

    def check_figures(self, told, rows):
        sides = told.figures
        base = next(i for i, one in enumerate(sides) if one.name == told.against)
        for label, key in FIGURES.items():
            known = [one[key] for one in sides]
            if label not in rows:
                self.assertTrue(not any(known) or label in ("ettr", "days", "waiting", "exposed.inter_node", "idle"), f"{label}: {known}")
                continue
            for text, value in zip(rows.pop(label), known):
                self.assertTrue(text == "-" and not value or answer.is_near_in_unit(answer.quantity(text), value), f"{label}: {text} is not {value}")
        for i, one in enumerate(sides):
            self.assertEqual((rows["GPUs"][i], rows["nodes"][i]), (str(one.gpus), str(one.nodes)))
            self.assert_shown(rows["step"][i], told.variants[i].step_s, "step")
            change = told.variants[i].step_s / told.variants[base].step_s - 1
            text = rows[f"against {told.against}"][i]
            self.assertEqual(text, "-") if i == base else self.assertEqual(text.replace(" ", ""), f"{100 * change:+.2f}%")

    def check_words(self, told, page):
        """What explains each side, and what a million tokens cost in place of those of the base."""
        plain = " ".join(page.split())
        base = next(one for one in told.figures if one.name == told.against)
        n = 0
        for one, variant in zip(told.figures, told.variants):
            if variant.explanation:
                self.assertIn(" ".join(variant.explanation.split()), plain)
            if one is not base and one.usd_per_million_tokens and base.usd_per_million_tokens:
                n += 1
                factor = base.usd_per_million_tokens / one.usd_per_million_tokens
                if f"{factor:.3g}" == "1":
                    self.assertTrue(any(answer.quantities(line)[0].is_near(one.usd_per_million_tokens)
                                        for line in re.findall(r"A million tokens cost \S+ in both\.", plain)), one.name)
                    continue
                found = [answer.quantities(line) for line in re.findall(r"A million tokens cost \S+ in place of .*? times as many\.", plain)]
                self.assertTrue(any(values[0].is_near(one.usd_per_million_tokens) and values[1].is_near(base.usd_per_million_tokens) and values[2].is_near(factor)
                                    for values in found), (one.name, factor))
        self.assertLessEqual(plain.count("A million tokens cost "), n)

    def lines_by_name(self, lines, names):
        found = {}
        for line in lines:
            name = next((name for name in names if line.startswith(f"    {name}: ")), None)
            self.assertIsNotNone(name, line)
            found[name] = line[len(name) + 6:]
        return found

    def check_bands(self, told, parts):
        names = [one.name for one in told.figures]
        shown = self.lines_by_name(parts["bands of the step"], names)
        self.assertEqual(list(shown), [band.name for band in told.bands])
        for band in told.bands:
            text, _, change = shown[band.name].partition("; change ")
            low, high, coverage = answer.quantities(text)[:3]
            self.assertTrue(low.is_near(band.step_low_s) and high.is_near(band.step_high_s) and coverage.is_near(band.band.coverage_fraction), text)
            self.assertEqual(bool(change), band.name != told.against and band.step_change_low_fraction is not None)
            if change:
                ends, most = re.match(r"(.*? %), most by (.*)$", change).groups()
                self.assertEqual(ends, f"{100 * band.step_change_low_fraction:+.1f} to {100 * band.step_change_high_fraction:+.1f} %")
                self.assertEqual(most.removesuffix(", possibly none"), band.step_change_most)
                self.assertEqual(most.endswith(", possibly none"), band.is_within_band)
                self.assertEqual(band.is_within_band, band.step_change_low_fraction <= 0 <= band.step_change_high_fraction)
        priced = {one.name: one for one in told.figures if one.usd_per_hour}
        money = self.lines_by_name(parts["US dollars: prices and `cost` from low to high, times within their bands"], names)
        self.assertEqual(list(money), list(priced))
        bands = {band.name: band for band in told.bands}
        for name, one in priced.items():
            band = bands[name]
            wanted = [one.usd_per_hour, band.usd_per_hour_low, band.usd_per_hour_high]
            if one.usd_per_million_tokens:
                wanted += [one.usd_per_million_tokens, band.usd_per_million_tokens_low, band.usd_per_million_tokens_high]
            found = answer.quantities(money[name])
            self.assertEqual(len(found) - 3 * ("the training" in money[name]), len(wanted), money[name])
            for quantity, value in zip(found, wanted):
                self.assertTrue(answer.is_near_in_unit(quantity, value), f"{money[name]}: {quantity.text} is not {value}")
            self.assertEqual(re.findall(r"(?:^|, )(an hour|a million tokens|the training) \$", money[name]),
                             ["an hour", *(["a million tokens"] if one.usd_per_million_tokens else []), *(["the training"] if one.train_usd else [])])

    def check_links(self, told, parts):
        names = [one.name for one in told.figures]
        shown = self.lines_by_name(parts["limited by, and the slowest link"], names)
        self.assertEqual(list(shown), names)
        for one in told.figures:
            begin = f"{one.limited_by}; "
            rest = f"{one.binding_link} ({one.binding_link_spec}), slowest of " if one.binding_link else "no link"
            self.assertTrue(shown[one.name].startswith(begin + rest), f"{shown[one.name]} and {begin + rest}")
            if one.binding_link:
                self.assertTrue(0 <= answer.quantity(shown[one.name].rpartition(" slowest of ")[2]).value <= 1)
        verdicts = self.lines_by_name(parts["verdicts"], names)
        for one in told.figures:
            self.assertEqual(verdicts[one.name], ", ".join(finding.code for finding in one.verdict) or "-")


class Compared(Sides):
    def test_variants_over_seeds(self):
        told, page, parts = self.asked(VARIED)
        names = [one.name for one in told.figures]
        rows = self.columns(page, names)
        first = next(lines for head, lines in self.parts(page) if head.split() == names)
        spread = [line for line in first if "low to high" in line or "against" in line]
        for label, key in (("step, low to high", "step_s"), ("exposed, low to high", "exposed_fraction")):
            cells = tables.cells(next(line for line in spread if line.strip().startswith(label)))[1:]
            for cell, one in zip(cells, told.figures, strict=True):
                low, high = one.spread[key].low, one.spread[key].high
                if cell.text == "the same":
                    self.assertLess(high / low - 1, 1e-3)
                else:
                    self.assertEqual(len(answer.quantities(cell.text)), 2)
        [difference] = told.differences
        change = tables.cells(next(line for line in spread if line.strip().startswith("against")))[1:]
        self.assertEqual(change[0].text, "-")
        for found, value in zip(answer.quantities(change[1].text.replace("-0.2 to", "-0.2 % to")), (difference.difference.low_fraction, difference.difference.high_fraction)):
            self.assertTrue(found.is_near(value), change[1].text)
        rows.pop(f"against {told.against}", None)
        self.assertIn(f"medians and ranges of {told.figures[0].spread.seeds} seeds; changes are those of the same seed", page)
        self.check_bands(told, parts)
        self.check_words(told, page)

    def test_files(self):
        told, page, parts = self.asked(FILES)
        names = [one.name for one in told.figures]
        self.check_figures(told, self.columns(page, names))
        self.check_bands(told, parts)
        self.check_links(told, parts)
        self.check_words(told, page)
        heads = page.split("\n\n")[0].split("\n")
        self.assertEqual([head.split(":")[0] for head in heads], names, "a line for each file, with its summary")
        self.assert_tidy(page)
        firsts = [block.strip().partition("  ")[0].partition("\n")[0] for block in page.split("\n\n")]
        self.assertEqual(firsts[2:], [names[0], "step", "collectives, sums of their times", "busy links, largest differences",
                                      "limited by, and the slowest link", "bands of the step",
                                      "US dollars: prices and `cost` from low to high, times within their bands", "verdicts"])

    def test_against_another(self):
        told, page, parts = self.asked((*FILES, "--against", "mpi-rig-100m", "--no-band"))
        self.assertEqual(told.against, "mpi-rig-100m")
        self.assertNotIn("bands of the step", parts)
        self.check_figures(told, self.columns(page, [one.name for one in told.figures]))
        self.assertEqual([variant.difference_fraction is None for variant in told.variants], [False, True, False])
        for variant in told.variants[::2]:
            self.assert_same(1 + variant.difference_fraction, variant.step_s / told.variants[1].step_s, rel=1e-6)
        self.refused(*FILES, "--against", "mpi-rig", names="--against mpi-rig: ")

    def test_rates_of_ports(self):
        told, page, parts = self.asked((*PORTS, "--no-band"))
        rows = self.columns(page, [one.name for one in told.figures])
        self.assertEqual(rows["a NIC port"], ["200 Gb/s", "400 Gb/s"])
        speed = [told.figures[0].step_s / one.step_s for one in told.figures]
        for text, value in zip(rows["speed-up"], speed):
            self.assertTrue(text.endswith(" x") and abs(float(text[:-2]) - value) <= 0.0051 * value, text)
        self.check_figures(told, rows)
        self.check_links(told, parts)

    def test_titles_and_labels(self):
        """Variants of one scenario have its title, once; scenarios have one each. Labels stand below each other, and what belongs to a row stands below it to the right."""
        for command, titles in ((("hello", "--vary", "job.micro_batch=1,2,3", "--no-band"), 1), (("hello", "mpi-rig-100m", "--no-band"), 2),
                                (("fabric-ddp-ecmp", "--vary", "cluster.nodes=8,16", "--seeds", "2", "--no-band"), 1)):
            page = self.good("compare", *command)
            heads = page.partition("\n\n")[0].split("\n")
            self.assertEqual(len(heads), titles, heads)
            self.assertEqual(len(set(heads)), len(heads))
            for label in ("GPUs", "nodes", "a NIC port", "speed-up", *(["step, low to high", "exposed, low to high"] if "--seeds" in command else [])):
                self.assertRegex(page, rf"(?m)^  {label}  ")
            self.assertEqual(set(re.findall(r"(?m)^( +)against \S+  ", page)), {"    "})


    def test_fidelities(self):
        """What a step is made of: parts stand below what they are parts of, two blanks to the right. Of the links that differ the ten largest have rows for programs."""
        command = ("compare", "fabric-ddp-ecmp", "--fidelity", "fluid,analytic", "--no-band")
        page, rows = self.good(*command), answer.csv_rows(self.good(*command, "--format", "csv"))
        places = {label: len(blanks) for blanks, label in re.findall(r"(?m)^( +)(step|compute|communication|overlapped|exposed|idle)  ", page)}
        self.assertEqual(places, {"step": 2, "compute": 2, "communication": 2, "overlapped": 4, "exposed": 4, "idle": 2})
        for fidelity in ("fluid", "analytic"):
            self.assertEqual(sum(row["kind"] == "link" and row["fidelity"] == fidelity for row in rows), 10)


class Equals(Sides):
    """What makes sides equal."""

    def equal(self, *args):
        return self.asked(("compare", "ddp-2b-4nodes-200g", "ddp-2b-4nodes-400g", "--no-band", *args))

    def test_what_makes_them_equal(self):
        told, page, _ = self.equal("--at-equal", "step", "--by", "cluster.nic_rate=100Gb/s,200Gb/s,300Gb/s,400Gb/s")
        [equal] = told.equals
        self.assertEqual((equal.name, equal.figure, equal.key), ("ddp-2b-4nodes-400g", "step", "cluster.nic_rate"))
        plain = " ".join(page.split())
        base = told.figures[0].step_s
        if equal.answer:
            already = "already with" if equal.answer == "100Gb/s" else "with"
            words = re.search(rf"ddp-2b-4nodes-400g equals ddp-2b-4nodes-200g in step \((.*?)\) {already} cluster\.nic_rate = {equal.answer}", plain)
        else:
            words = re.search(r"With no cluster\.nic_rate from 100Gb/s to 400Gb/s does ddp-2b-4nodes-400g equal ddp-2b-4nodes-200g in step \((.*?)\); it comes closest with "
                              + equal.closest, plain)
        self.assertTrue(answer.quantity(words[1]).is_near(base), plain)
        steps = {rate: self.json("run", "ddp-2b-4nodes-400g", "--no-db", "--no-band", "--no-bottleneck", "--set", f"cluster.nic_rate={rate}")["iterations"][-1]["step_s"]
                 for rate in ("100Gb/s", "200Gb/s", "300Gb/s", "400Gb/s")}
        enough = [rate for rate, step in steps.items() if step <= base * (1 + 1e-9)]
        self.assertEqual(equal.answer, enough[0] if enough else None)

    def test_what_nothing_makes_equal(self):
        """The first and the last value that may be tried, and the one that comes closest, with what it reaches."""
        told, page, _ = self.equal("--against", "ddp-2b-4nodes-400g", "--at-equal", "step", "--by", "cluster.nic_rate=100Gb/s,200Gb/s,400Gb/s")
        [equal] = told.equals
        self.assertIsNone(equal.answer)
        base = next(one for one in told.figures if one.name == told.against)
        found = re.search(r"\n  With no cluster\.nic_rate from (\S+) to (\S+) does (\S+) equal (\S+) in step \((.*?)\); it comes closest with (\S+): (.*)\n", page).groups()
        self.assertEqual((found[0], found[1], found[2], found[3], found[5]), ("100Gb/s", "400Gb/s", "ddp-2b-4nodes-200g", base.name, equal.closest))
        self.assertTrue(answer.quantity(found[4]).is_near(base.step_s))
        reached = self.json("run", "ddp-2b-4nodes-200g", "--no-db", "--no-band", "--no-bottleneck", "--set", f"cluster.nic_rate={equal.closest}")["iterations"][-1]["step_s"]
        self.assertTrue(answer.quantity(found[6]).is_near(reached), found)

    def test_ports_of_what_is_equal(self):
        """Where a rate of ports is found, the sentence ends with how the side's own ports compare with it."""
        seen = set()
        for command in (("ddp-2b-4nodes-200g", "ddp-2b-4nodes-400g"), ("ddp-2b-4nodes-200g", "--vary", "cluster.nic_rate=200Gb/s,100Gb/s"),
                        ("ddp-2b-4nodes-200g", "--vary", "cluster.nic_rate=150Gb/s,152Gb/s")):
            told, page, parts = self.asked(("compare", *command, "--no-band", "--at-equal", "step"))
            ports = self.columns(page, [one.name for one in told.figures]).get("a NIC port", [])
            for equal in told.equals:
                lines = [line for line in page.splitlines() if line.startswith(f"  {equal.name} equals {told.against} in step ")]
                self.assertEqual(len(lines), equal.answer is not None)
                for line in lines:
                    own = answer.quantity(ports[[one.name for one in told.figures].index(equal.name)]).value
                    needed = answer.quantity(re.sub(r"([\d.]+)", r"\1 ", equal.answer)).value
                    times = max(own, needed) / min(own, needed)
                    end = line.partition(f" cluster.nic_rate = {equal.answer}")[2]
                    if not end.startswith("; its ports have "):
                        self.assertIn(" already with ", line)
                        continue
                    shown, words = re.fullmatch(r"; its ports have (.*?), (the same|[\d.]+ times as (?:much|little))\.( Some larger values do not\.)?", end).groups()[:2]
                    self.assertTrue(answer.quantity(shown).is_near(own), line)
                    kind = words.partition("times as ")[2] or words
                    self.assertEqual(kind, "the same" if times < 1.03 else "much" if own > needed else "little", line)
                    if kind != "the same":
                        self.assertTrue(answer.quantity(words.partition(" ")[0]).is_near(times), line)
                    seen.add(kind)
        self.assertEqual(seen, {"much", "little", "the same"})
        for by in ("job.micro_batch=1..4", "cluster.nic_rate=390..420Gb/s:10"):
            self.assertNotIn("its ports have", self.asked(("compare", "ddp-2b-4nodes-200g", "ddp-2b-4nodes-400g", "--no-band", "--at-equal", "step", "--by", by))[1])


class Whatif(Sides):
    """Changes of one scenario."""

    def test_other_algorithms(self):
        """Collectives that go by another algorithm, with both times of all of a size."""
        for command in (("four-nodes", "--nodes", "1"), ("ddp-2b-4nodes-200g", "--set", "collectives.algorithm=all_reduce:tree"), ("fabric-ddp-ecmp", "--set", "cluster.nodes=8"), ("hello", "--nodes", "2")):
            told = tables.nodes(self.json("whatif", *command, "--no-band"))
            page = self.good("whatif", *command, "--no-band")
            n = 0
            for effect in told.changes:
                found = re.search(rf"(?m)^  collectives with another algorithm: {re.escape(effect.change)}\n((?:    .*\n)+)", page)
                self.assertEqual(found is not None, bool(effect.other_algorithms))
                for line, one in zip(found[1].splitlines() if found else (), effect.other_algorithms, strict=True):
                    n += one.collectives
                    size, before, after = re.fullmatch(rf" {{4}} *{one.collectives} x {one.op} of (.*?): {one.before} (.*?), {one.after} (.*)", line).groups()
                    for text, value in ((size, one.bytes), (before, one.before_s), (after, one.after_s)):
                        self.assertTrue(answer.quantity(text).is_near(value), f"{line}: {value}")
            self.assertEqual(n > 0, command[0] != "hello")

    def test_columns_of_whatif(self):
        """Each figure of a change, and how it differs from the first; a job whose GPUs wait for each other has idle times."""
        for command in (("whatif", "moe-mixtral-128-gpus", "--set", "cluster.nic_rate=100Gb/s", "--no-band"), ("whatif", "fsdp-8b-straggler", "--nodes", "2", "--no-band")):
            points, page = self.json(*command)["points"], self.good(*command)
            lines = page.splitlines()
            at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["GPUs", "step"])
            self.assertEqual(re.split(r" {2,}", lines[at].strip()), ["GPUs", "step", "change", "exposed", "change", "idle", "waiting", "MFU", "tokens/s", "limited by"])
            base = points[0]
            for line, point in zip(lines[at + 1:], points):
                name, gpus, step, change, exposed, more, idle, waiting, mfu, tokens, limited = re.split(r" {2,}", line.strip())
                self.assertEqual((name, int(gpus), limited), (point["change"], point["gpus"], point["limited_by"]))
                for cell, value in ((step, point["step_s"]), (exposed, point["exposed_s"]), (idle, point["idle_fraction"]), (waiting, point["waiting_fraction"]),
                                    (mfu, point["mfu_fraction"]), (tokens, point["tokens_per_s"])):
                    self.assertTrue(answer.quantity(cell).is_near(value), f"{cell} is not {value}")
                if point is base:
                    self.assertEqual((change, more), ("-", "-"))
                else:
                    self.assertEqual(change, f"{100 * (point['step_s'] / base['step_s'] - 1):+.1f} %")
                    self.assertTrue(answer.quantity(more).is_near(point["exposed_s"] - base["exposed_s"]), more)
            self.assertGreater(max(point["idle_fraction"] for point in points), 0.1)

    def test_changes_that_are_none(self):
        """What is not changed, or by less than is shown, has no sign of less."""
        for command, exposed in ((("hello", "--set", "cluster.nic_rate=100Gb/s"), r"\+0 s"), (("four-nodes", "--set", "cluster.nic_rate=200.1Gb/s"), r"-\d+ us")):
            base, point = self.json("whatif", *command, "--no-band")["points"]
            self.assertTrue(base["step_s"] * 0.9995 < point["step_s"] <= base["step_s"])
            page = self.good("whatif", *command, "--no-band")
            self.assertRegex(page, rf"(?m)^  {re.escape(point['change'])} +\d+ +\S+ ms +\+0\.0 % +\S+ ms +{exposed} ")
            self.assertNotIn("-0.0", page)
        command = ("compare", "four-nodes", "--vary", "cluster.nic_rate=200Gb/s,200.01Gb/s", "--no-band")
        one, two = self.json(*command)["variants"]
        self.assertTrue(one["step_s"] * 0.99995 < two["step_s"] < one["step_s"])
        self.assertRegex(self.good(*command), r"(?m)^    against nic_rate=200Gb/s +- +\+0\.00 %$")
        told, page, _ = self.asked(("compare", "hello", "--vary", "seed=1,2", "--no-band"))
        self.check_words(told, page)
        self.assertRegex(page, r"(?m)^  A million tokens cost \$0\.0\d+ in both\.$")


    def test_many_sizes_with_other_algorithms(self):
        """Six of them have lines, and the page says how many more there are."""
        for n in (5, 6, 7, 8):
            operations = ", ".join(f"{{op: all_reduce, size: {2**i}MiB}}" for i in range(n))
            command = ("whatif", "hello", "--base", "cluster.nodes=2", "--base", f"job={{kind: collective, operations: [{operations}]}}", "--base", "collectives.algorithm=all_reduce:ring",
                       "--set", "collectives.algorithm=all_reduce:tree", "--no-band")
            page, told = self.good(*command), self.json(*command)["changes"][0]["other_algorithms"]
            self.assertEqual(len(told), n)
            lines = page.partition("  collectives with another algorithm: collectives.algorithm=all_reduce:tree\n")[2].partition("\n\n")[0].splitlines()
            self.assertEqual([re.match(r" +1 x all_reduce of (\S+ \S+): ring ", line) is not None for line in lines], [True] * min(n, 6) + [False] * (n > 6))
            self.assertEqual(lines[6:], {5: [], 6: [], 7: ["    and 1 more size"], 8: ["    and 2 more sizes"]}[n])

    def test_columns_of_seeds(self):
        """The range of the step over the seeds, and that of its changes seed by seed; one seed has neither."""
        for n in (1, 3):
            command = ("whatif", "fabric-ddp-ecmp", "--nodes", "8", "--seeds", str(n), "--no-band")
            page, told = self.good(*command), self.json(*command)
            lines = page.splitlines()
            at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["GPUs", "step"])
            self.assertEqual(re.split(r" {2,}", lines[at].strip())[3:-7], ["step, low to high", "seed by seed"] if n > 1 else [])
            for line, point, change in zip(lines[at + 1:at + 3], told["points"], (None, told["changes"][0]), strict=True):
                cells = re.split(r" {2,}", line.strip())[4:-7]
                self.assertEqual(len(cells), 2 * (n > 1), line)
                if n > 1:
                    step = point["spread"]["step_s"]
                    found = answer.quantities(cells[0])
                    self.assertEqual([one.is_near(value) for one, value in zip(found, (step["low"], step["high"]))], [] if cells[0] == "the same" else [True, True])
                    self.assertEqual(cells[0] == "the same", step["low"] == step["high"])
                    self.assertEqual(cells[1], "-" if change is None else "{:+.1f} to {:+.1f} %".format(*(100 * change["difference"][key] for key in ("low_fraction", "high_fraction"))))
            self.assertEqual(f"\n  medians and ranges of {n} seeds; " in page, n > 1)
            self.assertEqual("difference" in told["changes"][0], n > 1)

    def test_verdicts_and_what_stops(self):
        """The codes of every point, and before everything what stops the scenario as it is."""
        for base, stops in (((), False), (("--base", "job.micro_batch=64"), True)):
            command = ("whatif", "hello", *base, "--nodes", "2", "--set", "job.bucket=50MiB", "--no-band")
            page = self.fabricast(*command).stdout
            points = json.loads(self.fabricast(*command, "--format", "json").stdout)["points"]
            self.assertEqual(page.startswith("  stop            The job does not fit: "), stops)
            self.assertEqual(page.partition("\n  verdicts\n")[2].splitlines(), [f"    {point['change']}: {', '.join(one['code'] for one in point['verdict'])}" for point in points])
            self.assertEqual([point["change"] for point in points], ["as it is", "nodes 2", "job.bucket=50MiB", "all together"])

    def test_changes_that_are_refused(self):
        """Each is told by the option that stands for it; what is written with --set, by its key."""
        for args, names in (((), "no change is given; give --fault, --nic, --nvls, --domain or others (--help)"), (("--nodes", "0"), "--nodes 0: '0' is not a number of nodes"),
                            (("--nic", "0"), "--nic 0: 'nic_rate': '0' has no unit; write for example 200Gb/s"), (("--domain", "3"), "--domain 3: nodes of 8 GPUs cannot be divided into domains of 3"),
                            (("--nvls", "maybe"), "--nvls maybe: "), (("--sharp", "maybe"), "--sharp maybe: "), (("--gpus", "x"), "--gpus x: "), (("--fault", "nic=nowhere:50%"), "--fault nic=nowhere:50%: ")):
            self.refused("whatif", "four-nodes", "--no-band", *args, names=names)
        for args, names in ((("--set", "job.nothing=1"), "--set: job.nothing=1: unknown key 'nothing'"), (("--base", "cluster.nodes=0", "--nodes", "2"), "--set: cluster.nodes=0: 'nodes' is 0: the lower limit is 1")):
            done = self.fabricast("whatif", "four-nodes", "--no-band", *args)
            self.assertEqual((done.returncode, done.stdout, done.stderr.startswith(names)), (2, "", True))


class Mistakes(Sides):
    """What cannot be compared."""

    def test_what_is_refused(self):
        for args, names in ((("hello", "--vary", "job.micro_batch=1..17"), "17 columns are too many; the limit is 16"),
                            (("hello", "mpi-rig-100m", "--hold", "batch"), "--hold batch: each scenario sets its own batch; --hold is for the variants of --vary"),
                            (("hello", "mpi-rig-100m", "--at-equal", "stepp"), "--at-equal stepp: there is no such figure; nearest is step"),
                            (("hello", "mpi-rig-100m", "--at-equal", "train"), "--at-equal train: hello has none: ")):
            self.refused("compare", *args, names=names)
        told = self.json("compare", "hello", "--vary", "job.micro_batch=1..16", "--no-band")
        self.assertEqual(len(told["figures"]), 16)

    def test_mistakes_are_told_together(self):
        """Those of the options and of the scenario, each once, with the name of the command where a line has no place in a file."""
        wrong = "fabricast compare: --fidelity: unknown fidelity 'nothing'; the fidelities are "
        for args, others in ((("hello", "--set", "cluster.nodes=0"), ["--set: cluster.nodes=0: 'nodes' is 0: the lower limit is 1", "      | cluster.nodes=0"]),
                             (("no-such.yaml",), ["fabricast compare: cannot open no-such.yaml: No such file or directory"]),
                             (("hello", "--against", "analytic"), ["fabricast compare: --against analytic: this is not one of the fidelities of --fidelity"]),
                             (("hello",), [])):
            done = self.fabricast("compare", *args, "--fidelity", "fluid,nothing")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            lines = [line for line in done.stderr.splitlines() if line.strip(" |^~")]
            self.assertEqual(len(lines), 1 + len(others), done.stderr)
            for line, begin in zip(lines, [wrong, *others]):
                self.assertTrue(line.startswith(begin), line)

    def test_one_that_cannot_be_simulated(self):
        """It is named with the reason, and the others are compared."""
        told, page, _ = self.asked(("compare", "hello", "--vary", "job.micro_batch=0,1,2", "--no-band"))
        self.assertEqual([one.name for one in told.figures], ["micro_batch=1", "micro_batch=2"])
        [left] = told.left_out
        self.assertTrue(left.startswith("micro_batch=0 cannot be simulated: "))
        self.assertIn(" ".join(left.split()), " ".join(page.split()))
        self.refused("compare", "hello", "no-such-file.yaml", names="no-such-file.yaml: cannot open no-such-file.yaml")


if __name__ == "__main__":
    support.main()
