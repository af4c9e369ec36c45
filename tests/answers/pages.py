#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Short pages and pages of help: what they show is in the answer, in the catalogue of questions or in the glossary.

`pages.py PROGRAM [Class]`.
"""
import json
import os
import re

import yaml

import answer
import forms
import tables
from answer import support


class Brief(answer.AnswerTest):
    """The page of at most twelve lines has the figures of the whole answer."""

    SCENARIOS = ("hello", "four-nodes", "ddp-20b", "interleave-two-jobs", "fault-nic-half-rate", "mpi-rig-100m")

    def test_figures_are_those_of_the_run(self):
        for name in self.SCENARIOS:
            with self.subTest(name):
                options = ("run", name, "--no-db", "--iterations", "1", *(["--allow-oversized"] if name == "ddp-20b" else []))
                page = self.fabricast(*options, "--brief").stdout
                told = json.loads(self.fabricast(*options, "--format", "json").stdout)
                lines = [line for line in page.splitlines() if line]
                self.assertLessEqual(len(lines), 13)
                step = told["iterations"][-1]
                known = answer.numbers(told)
                known += [step[key] / step["step_s"] for key in ("compute_s", "comm_s", "exposed_s", "overlapped_s", "idle_s", "waiting_s")]
                known += [(step["step_s"] - step["exposed_s"] - step["idle_s"]) / step["step_s"], 0.9]
                known += [-value for value in known]
                for line in lines[1:]:
                    label = line[2:14].strip()
                    for found in answer.quantities(line[14:]) if label in ("step", "band", "consists of", "helps most", "helps next") else ():
                        self.assertTrue(forms.is_known(found, known), f"{name}: {found.text!r} is not in the answer:\n{line}")
                self.check_labels(lines, told)

    def check_labels(self, lines, told):
        text = "\n".join(lines)
        self.assertEqual("\n  step " in text, True)
        self.assertEqual("\n  band " in text, "band" in told and told["iterations"][-1].get("step_low_s") is not None)
        bottleneck = told.get("bottleneck")
        if bottleneck and bottleneck["levers"]:
            best = max(bottleneck["levers"], key=lambda lever: lever["saved_fraction"])
            most = re.search(r"helps most +(.*?): step", text)
            if bottleneck["seeds"] == 1 and bottleneck["fidelity"] is None and best["saved_fraction"] > 0.01:
                self.assertRegex(text, r"helps most +.*: step [\d.]+ \w+, -[\d.]+ %")
            if most and best["saved_fraction"] > 0.01:
                self.assertTrue(any(lever["change"] == most[1] for lever in bottleneck["levers"]), most[1])
        if not told.get("memory", {}).get("fits", True):
            self.assertRegex(text, r"does not fit|more memory|GB")

    def test_nothing_limits_one_accelerator(self):
        """Which sends nothing and computes nothing; and the page names the whole one, and the run where it is stored."""
        path = self.write("one.yaml", "name: one\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n")
        page = self.fabricast("run", path, "--no-db", "--brief").stdout
        self.assertRegex(page, r"(?m)^  limited by +nothing alone: no single change saves 1 % of the step$")
        self.assertNotIn("helps", page)
        self.assertRegex(page, rf"(?m)^  more +fabricast run {re.escape(path)} --full$")
        self.assertRegex(self.fabricast("run", path, "--db", "r.db", "--brief").stdout, rf"(?m)^  more +fabricast run {re.escape(path)} --full; this is run 1 in r\.db$")
        self.assertEqual(self.json("run", path, "--no-db")["bottleneck"]["limited_by"], "nothing alone")

    def test_memory_of_an_accelerator(self):
        """What the job needs of what there is; of 0 bytes nobody knows whether it fits."""
        for memory, begin in (("0GB", r"[\d.]+ GB: "), ("1GB", r"does not fit: [\d.]+ GB of 1 GB per GPU: "), ("80GB", r"[\d.]+ of 80 GB: ")):
            path = self.write("own.yaml", f"""name: own
iterations: 1
cluster: {{node: mine, nodes: 1}}
accelerators: [{{name: own, memory: {memory}, memory_rate: 1TB/s, peak_fp16: 100TFLOP/s, peak_fp32: 10TFLOP/s}}]
nodes:
  - name: mine
    accelerator: own
    parts: [{{name: gpu, kind: accelerator, count: 2}}, {{name: switch, kind: switch}}]
    wires: [{{from: gpu, to: switch, link: nvlink3}}]
job: {{kind: ddp, model: gpt2, sequence: 512, compute: {{kind: mfu, mfu: 40%}}}}
""")
            command = ("run", path, "--no-db", "--no-band", "--no-bottleneck")
            told = json.loads(self.fabricast(*command, "--format", "json").stdout)["memory"]
            said = re.search(r"(?m)^  memory +(.*)$", self.fabricast(*command, "--full").stdout)[1]
            self.assertRegex(said, "^" + begin)
            self.assertTrue(answer.quantity(said).is_near(told["bytes"]) or answer.quantity(said).is_near(told["bytes"] / 1e9), said)


class Lines(answer.AnswerTest):
    """The short page of a run, word for word."""

    CAUTIONS = {"may_not_fit": "memory may not suffice", "spread": "other seeds give other steps",
                "choice": "the collective library could choose a faster algorithm", "extrapolated": "messages have sizes that were not measured",
                "assumed_design": "parts of the design of the machine were published nowhere", "uncalibrated": "a link, GPU or clock was not measured",
                "fidelity_no_sharing": "this fidelity does not share links", "fidelity_collision": "colliding paths, whose queues this fidelity leaves out",
                "fidelity_incast": "many senders to one port, whose queue is left out", "fidelity_spreading": "congestion that spreads, which this fidelity leaves out",
                "fidelity_channels": "collectives share a link in a way that is left out"}

    def caution(self, told):
        """The first reservation, in half a line, and how many more there are."""
        found = [self.CAUTIONS[finding["code"]] for finding in told["verdict"] if finding["code"] in self.CAUTIONS]
        untuned = (told.get("band") or {}).get("untuned") or {"tables": 0}
        if untuned["tables"] and untuned["high_factor"] >= 1.05:
            found.append(f"{untuned['tables']} of {untuned['of']} networks took up to {untuned['high_factor']:.2g} times the predicted time")
        return found and found[0] + (f"; {len(found) - 1} more" if len(found) > 1 else "")

    def test_each_line(self):
        """All lines in their order, and nothing else; those of levers are another test's."""
        codes = set()
        for command in (("hello", "--db", "runs.db"), ("ddp-20b", "--no-db"), ("ddp-20b", "--no-db", "--allow-oversized"), ("fabric-ddp-ecmp", "--no-db"), ("hello", "--no-db", "--no-band", "--no-bottleneck"),
                        ("mpi-rig-100m", "--no-db"), ("fsdp-8b-straggler", "--no-db"), ("interleave-two-jobs", "--no-db"), ("fabric-hyperx", "--no-db"), ("four-nodes", "--no-db"),
                        ("four-nodes", "--no-db", "--set", "fidelity=analytic"), ("design-alibaba-hpn", "--no-db"), ("own-node", "--no-db")):
            with self.subTest(command):
                told = json.loads(self.fabricast("run", *command, "--iterations", "1", "--format", "json").stdout)
                title, _, page = self.fabricast("run", *command, "--iterations", "1", "--brief").stdout.partition("\n\n")
                self.assertEqual(title.partition(":")[0], told["name"])
                self.assertRegex(page, r"\A(  [a-z][a-z ]{13}\S.*\n)+\Z")
                lines = {line[2:16].strip(): line[16:] for line in page.splitlines()}
                self.assertEqual(len(lines), page.count("\n"))
                step = told["iterations"][-1]
                wanted = {}
                stop = next((finding for finding in told["verdict"] if finding["severity"] == "stops"), None)
                if stop:
                    wanted["stop"] = stop["text"].partition(". ")[0] + "."
                    hints = told["memory"]["hints"]
                    wanted["it fits with"] = f"fabricast run {command[0]} --set iterations=1" + "".join(f" --set {one}" for one in hints[0]["assignments"])
                rates = [f", {step['tokens_per_s']:.0f} tokens/s"] if step["tokens_per_s"] else []
                rates += [f", {100 * step['mfu_fraction']:.1f} % of the GPUs' peak (MFU)"] if step["mfu_fraction"] else []
                wanted["step"] = re.match(r"[\d.]+ \w+", lines["step"])[0] + "".join(rates)
                self.assertTrue(answer.quantity(lines["step"]).is_near(step["step_s"]))
                if "--no-band" not in command:
                    low, high = step["step_low_s"], step["step_high_s"]
                    band = answer.quantities(lines["band"])
                    self.assertTrue(band[0].is_near(low) and band[1].is_near(high) and band[2].is_near(told["band"]["coverage_fraction"]), lines["band"])
                    wanted["band"] = f"{band[0].text} to {band[1].text} " + (f"in {band[2].text} of cases: too wide to quote the step" if high >= 2 * low else
                                                                               f"holds the real step in {band[2].text} of cases")
                parts = (("compute", step["compute_s"]), ("waiting for communication" if step["compute_s"] else "communication", step["exposed_s"]), ("idle", step["idle_s"]))
                wanted["consists of"] = ", ".join(f"{name} {100 * part / step['step_s']:.1f} %" for name, part in parts if part > 0.001 * step["step_s"]) or "nothing that takes time"
                levers = {label: lines[label] for label in ("limited by", "helps most", "helps next") if label in lines}
                self.assertEqual("limited by" in levers, "bottleneck" in told)
                if stop:
                    self.assertNotIn("helps next", levers)
                wanted.update(levers)
                if not stop and self.caution(told):
                    wanted["caution"] = self.caution(told)
                    codes.add(wanted["caution"].partition(";")[0])
                more = [f" --set {one}" for at, one in enumerate(command) if command[at - 1] == "--set"]
                wanted["more"] = f"fabricast run {command[0]} --set iterations=1" + "".join(more) + " --full"
                if "--db" in command:
                    wanted["more"] += f"; this is run {told['run_id'] + 1} in runs.db"
                self.assertEqual(lines, wanted)
                self.assertEqual(list(lines), list(wanted))
        self.assertGreaterEqual(len(codes), 6, codes)



class Levers(answer.AnswerTest):
    """What limits a step, what helps most, and what helps next: of another kind of part, as all parts of the network are one."""

    SCENARIOS = (("hello",), ("four-nodes",), ("mpi-rig-100m",), ("fabric-ddp-rail",), ("moe-mixtral-128-gpus",), ("ddp-2b-4nodes-200g",), ("fabric-ddp-ecmp",),
                 ("fsdp-8b-straggler",), ("hello", "--set", "job.compute={kind: mfu, mfu: 100%}", "--set", "cluster.nodes=4"))
    NETWORK = ("link", "links", "pair", "nics")
    MEANINGS = {"compute": ", the kernels of the GPUs", "nics": ", the network adapters of each node", "latency": ", the time before the first byte arrives",
                "channels": ", with which the collective library fills the links", "pair": ", which are as slow as each other",
                "memory": ": the kernels wait for bytes of their own memory", "host": ", the processor beside the GPUs", "ranks": ", for which the others wait"}

    def check_whole_page(self, command, told):
        """The whole page has each change with its step, and over which seeds or at which fidelity these were played."""
        page = self.good(*command, "--full")
        rows = re.findall(r"(?m)^ {2,4}(?:what if)? +(\S.*?)  +step +(\S+ \S+) +([-+][\d.]+) %$", page)
        self.assertEqual([row[0] for row in rows], [lever["change"] for lever in told["levers"]])
        for (_, step, percent), lever in zip(rows, told["levers"]):
            self.assertTrue(answer.quantity(step).is_near(lever["step_s"]), step)
            self.assertAlmostEqual(float(percent), -100 * lever["saved_fraction"], delta=0.051)
        medians = re.findall(r"These are medians of (\d+) seeds, with which the step is (.*?) to (.*?), median (.*?)\.\n", page)
        self.assertEqual(len(medians), told["seeds"] > 1)
        for n, *steps in medians:
            self.assertEqual(int(n), told["seeds"])
            for text, key in zip(steps, ("step_low_s", "step_high_s", "step_s")):
                self.assertTrue(answer.quantity(text).is_near(told[key]), text)

    def test_lines_are_those_of_the_levers(self):
        kinds = set()
        for scenario in self.SCENARIOS:
            with self.subTest(scenario):
                command = ("run", *scenario, "--no-db", "--no-band", "--iterations", "1")
                told = self.json(*command)["bottleneck"]
                page = self.good(*command, "--brief")
                lines = {found[1]: found[2] for found in re.finditer(r"(?m)^  (limited by|helps most|helps next) +(.*)$", page)}
                levers = told["levers"]
                for lever in levers if told["seeds"] == 1 else ():
                    self.assertAlmostEqual(lever["saved_fraction"], 1 - lever["step_s"] / told["step_s"], 6)
                first = next(lever for lever in levers if lever["name"] == told["limited_by"])
                kinds.add(first["kind"])
                self.assertTrue(lines["limited by"].startswith(told["limited_by"]), lines)
                if first["kind"] in self.MEANINGS:
                    self.assertEqual(lines["limited by"], told["limited_by"] + self.MEANINGS[first["kind"]])
                self.check_whole_page(command, told)
                is_network = first["kind"] in self.NETWORK
                others = [lever for lever in levers if lever["kind"] not in (first["kind"], "links", "draws", *(self.NETWORK if is_network else ()))
                          and lever["saved_fraction"] >= 0.01]
                self.assertEqual("helps next" in lines, bool(others), lines)
                for label, lever in (("helps most", first), *((("helps next", others[0]),) if others else ())):
                    percent = f"{-100 * lever['saved_fraction']:+.1f} %"
                    begin = f"{lever['change']}: "
                    self.assertTrue(lines[label].startswith(begin), lines[label])
                    rest = lines[label].removeprefix(begin)
                    if told["seeds"] > 1:
                        self.assertEqual(rest, f"{percent}, the median of {told['seeds']} seeds")
                    elif told["fidelity"] is not None:
                        self.assertEqual(rest, f"{percent}, at fidelity {told['fidelity']}")
                    else:
                        step, _, shown = rest.removeprefix("step ").partition(", ")
                        self.assertTrue(answer.quantity(step).is_near(lever["step_s"]), rest)
                        self.assertEqual(shown, percent)
        self.assertGreaterEqual(len(kinds), 3, kinds)


class Questions(answer.AnswerTest):
    def setUp(self):
        super().setUp()
        self.questions = yaml.safe_load(support.read(support.SOURCE, "cli", "help", "questions.yaml"))["questions"]

    def answers(self, words):
        """(question, command, page) of the answers, in their order."""
        page = self.good("help", *words.split())
        return re.findall(r"(?m)^(\S.*)\n\n  (fabricast .*)\n\n  More: (\S+)$", page)

    def test_each_question_answers_itself(self):
        for known in self.questions:
            with self.subTest(known["question"]):
                words = re.sub(r"[?,.]", " ", known["question"])
                found = self.answers(words)
                self.assertGreaterEqual(len(found), 1)
                self.assertLessEqual(len(found), 3)
                self.assertEqual(found[0], (known["question"], known["command"], known["page"]))
                self.assertEqual(len({one[0] for one in found}), len(found))

    def test_pages_are_there(self):
        for known in self.questions:
            self.assertTrue(os.path.exists(os.path.join(support.SOURCE, known["page"])), known["page"])


class Glossary(answer.AnswerTest):
    def setUp(self):
        super().setUp()
        groups = yaml.safe_load(support.read(support.SOURCE, "cli", "help", "glossary.yaml"))
        self.terms = {term["name"]: {**term, "group": group} for group, terms in groups.items() for term in terms}

    def listed(self, term, key):
        return [name.strip() for name in term.get(key, "").split(",") if name.strip()]

    def test_the_document_is_the_file(self):
        told = self.json("describe", "glossary")
        self.assertEqual(sorted(term["name"] for term in told), sorted(self.terms))
        for term in told:
            known = self.terms[term["name"]]
            self.assertEqual(term["text"], " ".join(known["text"].split()))
            self.assertEqual(term["shows"], " ".join(known["shows"].split()))
            self.assertEqual(term["group"], known["group"])
            self.assertEqual(term.get("page"), known.get("page"))
            self.assertEqual(term.get("also", []) or [], self.listed(known, "also"))
            self.assertEqual(term.get("see", []) or [], self.listed(known, "see"))

    def test_the_page_has_each_term_below_its_group(self):
        page = self.good("describe", "glossary", "--format", "markdown")
        group, found = None, {}
        for line in page.splitlines():
            if line.startswith("## "):
                group = line[3:]
            elif line.startswith("### "):
                found[line[4:]] = group
        if found:
            self.assertEqual(found, {name: term["group"] for name, term in self.terms.items()})
        plain = " ".join(page.split())
        for name, term in self.terms.items():
            self.assertIn(" ".join(term["text"].split())[:40], plain, name)

    def test_the_page_has_the_parts_of_each_term(self):
        """Links go to other pages from the folder of this one, and to other terms by their names in small letters, with dashes for blanks."""
        page = self.good("describe", "glossary", "--format", "markdown")
        shown = dict(part.partition("\n\n")[::2] for part in re.split(r"(?m)^### ", re.sub(r"(?m)^## .*\n\n", "", page))[1:])
        self.assertEqual(set(shown), set(self.terms))
        for name, term in self.terms.items():
            parts = [f"Other names: {', '.join(self.listed(term, 'also'))}."] if term.get("also") else []
            parts += [" ".join(term["text"].split()), f"In Fabricast: {' '.join(term['shows'].split())}"]
            if term.get("page"):
                link = os.path.relpath(term["page"], os.path.join("docs", "reference"))
                self.assertTrue(os.path.exists(os.path.join(support.SOURCE, term["page"].partition("#")[0])), term["page"])
                parts.append(f"More: [{link}]({link})")
            if term.get("see"):
                links = [f"[{other}](#{re.sub('[^a-z0-9 -]', '', other.lower()).replace(' ', '-')})" for other in self.listed(term, "see")]
                parts.append(f"See also: {', '.join(links)}.")
            self.assertEqual(shown[name].strip().split("\n\n"), parts, name)

    def test_the_list_has_each_term_beside_its_group(self):
        """Groups in the order of the file, terms by the alphabet, and as many on a line of 100 columns as there is room for."""
        page = self.good("describe", "glossary")
        parts = re.findall(r"(?m)^  (\S.*?) {2,}(\S.*(?:\n {15}.*)*)$", page)
        groups = list(dict.fromkeys(term["group"] for term in self.terms.values()))
        self.assertEqual([group for group, _ in parts], groups)
        for group, text in parts:
            wanted = sorted((name for name, term in self.terms.items() if term["group"] == group), key=str.lower)
            self.assertEqual(sorted(re.split(r",\s+", text), key=str.lower), wanted, group)
        lines = page.splitlines()
        for line, after in zip(lines, lines[1:]):
            self.assertLessEqual(len(line), 101)
            if after.startswith(" " * 15):
                self.assertTrue(line.endswith(","))
                self.assertGreater(len(line) + 1 + len(after.strip().split(", ")[0].rstrip(",")), 100, line)
        self.assertEqual(len(lines), sum(text.count("\n") + 1 for _, text in parts))

    def test_a_term_is_found_by_each_of_its_names(self):
        names = sorted(self.terms)
        for name in names[::8]:
            term = self.terms[name]
            wanted = " ".join(term["text"].split())
            for word in (name, *self.listed(term, "also")):
                page = self.good("describe", "glossary", word)
                self.assertIn(wanted, " ".join(page.split()), word)
        self.refused("describe", "glossary", "gradiemt", names="gradient")


class Columns(answer.AnswerTest):
    """Columns of a table stand apart, however long its figures are."""

    def test_classes_that_hardly_ever_fail(self):
        command = ("goodput", "ddp-2b-4nodes-200g", "--set", "cluster.nodes=3", "--set", "reliability.failures=meta-llama3", "--trials", "1")
        told = tables.nodes(self.json(*command))
        page = self.good(*command)
        self.assertRegex(page, r"\d\.\d{3}e\+04 days")
        table = tables.Table("d.classes")
        table.add("what fails: name | per day: per_day | share: per_day / sum(one.per_day for one in d.classes) | one every: 86400 / per_day")
        table.add("what it does: ('planned stop' if does == 'planned' else 'stops the job') + (', the node is repaired' if repair else '')")
        table.check(self, page, {"d": told, "sum": sum})


class Calibrated(answer.AnswerTest):
    """What is fitted to measurements is the same in the catalogue's form, in JSON and in CSV."""

    def test_forms_agree(self):
        for file, base, *more in (("docs/examples/link.csv", "ib-hdr"), ("validate/measured/links/slingshot11_alps_mpich_host.csv", "slingshot-11"),
                                  ("tests/fixtures/benchmarks/perftest-read-write-hdr.txt", "ib-hdr", "--series", "write-host")):
            with self.subTest(file):
                command = ("calibrate", os.path.join(support.SOURCE, file), "--base", base, *more)
                page = self.good(*command)
                links = {link["name"]: link for link in yaml.safe_load(page)["links"]}
                told = self.json(*command)["links"]
                rows = self.csv(*command)
                self.assertEqual(sorted(links), sorted(link["link"] for link in told))
                comments = [line.strip("# ") for line in page.splitlines() if line.startswith("#")]
                for link in told:
                    self.assertIn(f"Link '{link['link']}':", comments)
                    for note in link["notes"]:
                        self.assertIn(note, comments)
                for link in told:
                    self.check_link(links[link["link"]], link)
                listed = [(link["link"], kind, row) for link in told for kind in link["measured"] for row in kind["rows"]]
                self.assertEqual(len(rows), len(listed))
                for row, (name, kind, found) in zip(rows, listed):
                    self.assertEqual((row["link"], row["kind"], row["drive"]), (name, kind["kind"], kind["drive"]))
                    for column, key in (("size_bytes", "size_bytes"), ("measured_us", "measured_us"), ("fitted_us", "predicted_us")):
                        self.assertTrue(answer.is_rounded(row[column], found[key]), f"{row[column]} and {found[key]}")
                    self.assertAlmostEqual(float(row["error_fraction"]), found["predicted_us"] / found["measured_us"] - 1, 5)
                    self.assertAlmostEqual(found["error_fraction"], found["predicted_us"] / found["measured_us"] - 1, 9)
                    self.assertEqual(row["held_out"], "1" if found["part"] == "held-out" else "0")

    def check_link(self, entry, link):
        measured = entry["measured"]
        self.assertEqual(entry["summary"], "Measured: " + link["system"] if link["system"] else entry["summary"])
        for key in ("from", "to"):
            number, unit = re.fullmatch(r"([\d.]+)([kMGi]*B)", str(measured[key])).groups()
            self.assertEqual(float(number) * answer.UNITS[unit], link[f"{key}_bytes"])
        self.assertEqual(int(measured.get("held_out", 0)), link["held_out"])
        self.assertEqual(int(measured["rows"]) + int(measured.get("held_out", 0)), sum(len(kind["rows"]) for kind in link["measured"]))
        self.assert_same(float(measured["held_out_error"]), link["held_out_error_fraction"], rel=1e-4)
        for key in ("rate", "endpoint", "messages"):
            if key in entry["uncertainty"] and f"{key}_fraction" in link["uncertainty"]:
                self.assert_same(float(entry["uncertainty"][key]), link["uncertainty"][f"{key}_fraction"], key, rel=1e-4)
        self.assertTrue(answer.quantity(str(entry["endpoint"])).is_near(link["endpoint_us"] * 1e-6))
        regimes = [regime for kind in link["measured"] for regime in kind.get("regimes", [])]
        for message in entry.get("messages", []):
            self.assertTrue(any(answer.quantity(str(message["overhead"])).is_near(regime["overhead_us"] * 1e-6) for regime in regimes), message)
            self.assertTrue(any(answer.quantity(str(message["rate"])).is_near(regime["rate_GBps"] * 1e9) for regime in regimes), message)
        for kind in link["measured"]:
            for part, words in (("fitted", "fitted"), ("held-out", "held-out")):
                errors = sorted(abs(row["error_fraction"]) for row in kind["rows"] if row["part"] == part)
                if errors and words in kind["errors"]:
                    self.assertEqual(kind["errors"][words]["sizes"], len(errors))
                    self.assert_same(kind["errors"][words]["max_fraction"], errors[-1], rel=1e-6)


if __name__ == "__main__":
    support.main()
