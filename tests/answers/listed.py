#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists of `describe`: names, summaries and rates are those of the entries, and are those that follow from their numbers.

`listed.py PROGRAM [Class]`.
"""
import re

import yaml

import answer
import tables
from answer import support

CATALOGUE = ("links", "accelerators", "nodes", "models", "products", "technologies", "processors", "generations", "bands", "setups", "failures", "pairs", "designs")
MODELS = ("fabric", "route", "fidelity", "congestion", "algorithm", "collectives", "compute", "shape", "job")
PLURALS = {"fabrics": "fabric", "routes": "route", "algorithms": "algorithm", "fidelities": "fidelity", "jobs": "job"}
RATES = {"line rate, one direction": "line", "achievable, copy engine, NIC": "copy", "achievable, kernel": "kernel",
         "achievable, kernel, reduced in a switch": "reduced", "reached by collectives": "collectives"}


class Listed(answer.AnswerTest):
    def entry(self, section, name):
        """(the entry of the catalogue, the comments below it)"""
        page = self.good("describe", section, name)
        return yaml.safe_load(page), re.findall(r"(?m)^# (.*): (.*)$", page)

    def names(self, *section):
        return self.good("describe", *section, "--names").split()

    def rates(self, link):
        """GB/s in one direction: what is signalled without its coding, and what is left of it with heads of packets."""
        number, prefix, unit = re.fullmatch(r"([\d.]+)([kMGT]?)([bB])/s", str(link["signalling"])).groups()
        scale = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[prefix] / (8 if unit == "b" else 1)
        line = link["lanes"] * float(number) * scale * link["coding"] / 1e9
        rates = {"line": line}
        for name, key in (("copy", "copy"), ("kernel", "kernel"), ("reduced", "multimem")):
            payload, overhead = (float(number) * answer.UNITS[unit] for part in ("payload", "overhead")
                                 for number, unit in [re.fullmatch(r"([\d.]+)([kKMGi]*B)", str(link[key][part])).groups()])
            if payload > 0:
                rates[name] = line * payload / (payload + overhead) * link[key]["achievable"]
            elif name != "reduced":
                rates[name] = line * link[key]["achievable"]
        if link.get("collective_fraction", 0) > 0:
            rates["collectives"] = rates["copy"] * link["collective_fraction"]
        return rates


class Links(Listed):
    def test_links(self):
        """Each link stands once, below its technology, with its rates."""
        page = self.good("describe", "links")
        lines = page.splitlines()
        at, heads = tables.head_at(lines, ["link", "line", "copy", "kernel", "reduced"])
        technology, shown = None, []
        for line in lines[at + 1:]:
            if line and not line.startswith(" "):
                technology = line
                self.assertEqual(lines[lines.index(line) - 1], "")
            elif line:
                shown.append((technology, line))
        groups = [group for group, _ in shown]
        self.assertEqual(len(set(groups)), sum(one != other for one, other in zip([None, *groups], groups)), "a technology has one group")
        self.assertEqual(sorted(line.split()[0] for _, line in shown), sorted(self.names("links")))
        for group, line in shown[::5]:
            name = line.split()[0]
            link, comments = self.entry("links", name)
            rates = self.rates(link)
            self.assertEqual(link.get("technology", "other"), group, name)
            self.assertEqual([label for label, _ in comments], [label for label, key in RATES.items() if key in rates], name)
            for label, text in comments:
                self.assertRegex(text, r"^[\d.]+ GB/s$")
                self.assertAlmostEqual(float(text.split()[0]) / rates[RATES[label]], 1, 4, f"{name}: {label}")
            cells = tables.by_head(line, heads, False)
            for i, key in enumerate(("line", "copy", "kernel", "reduced"), 1):
                if key in rates:
                    self.assertTrue(answer.quantity(cells[i].text).is_near(rates[key]) or abs(float(cells[i].text) - rates[key]) < 0.0051, f"{name}: {key}")
                else:
                    self.assertEqual(cells[i].text, "-", name)
            self.assertEqual(" ".join(line[heads[4].end:].split()), " ".join((link.get("summary") or "").split()), name)

    def test_technologies(self):
        lines = self.good("describe", "technologies").splitlines()
        at, heads = tables.head_at(lines, ["technology", "joins", "flow control", "summary"])
        self.assertEqual(at, 0)
        self.assertEqual([line.split("  ")[0] for line in lines[1:]], [name for name in self.good("describe", "technologies", "--names").splitlines()])
        for line in lines[1:]:
            cells = tables.by_head(line, heads, False)
            entry, _ = self.entry("technologies", cells[0].text)
            self.assertEqual([cells[i].text for i in (1, 2)], [entry["joins"], entry["flow_control"]], line)
            self.assertEqual(line[heads[3].start:], entry["summary"])


class Catalogue(Listed):
    def test_sections_of_the_catalogue(self):
        for section in CATALOGUE:
            names = self.good("describe", section, "--names").splitlines()
            self.assertEqual(len(set(names)), len(names))
            if section in ("links", "technologies"):
                continue
            rows = dict(re.findall(r"(?m)^(\S+) +(.*)$", self.good("describe", section)))
            self.assertEqual(list(rows), names, section)
            for name in (names[0], names[len(names) // 2], names[-1]):
                page = self.good("describe", section, name)
                entry = yaml.safe_load(page)
                self.assertEqual(entry["name"], name)
                self.assertEqual(rows[name], entry.get("summary") or "", name)
                self.assertEqual(self.good("describe", section.removesuffix("s"), name), page, "the section in the singular")
            self.refused("describe", section, names[0] + "x", names=f"no '{names[0]}x' in {section}; nearest is {names[0]}; `fabricast describe {section}` lists them")
            self.refused("describe", section, "qqqqqqqqqqqqqqqq", names=f"no 'qqqqqqqqqqqqqqqq' in {section}; `fabricast describe {section}` lists them")


    def test_a_word_of_summaries(self):
        """Names are told by what summaries say of them where none is written alike."""
        for section, word in (("accelerators", "blackwell"), ("nodes", "grace"), ("links", "infiniband")):
            said = self.refused("describe", section, word, names=f"no '{word}' in {section}; names for it are ")
            names = re.search(r"names for it are (.*); `fabricast describe (\S+)` lists them", said)
            self.assertEqual(names[2], section)
            for name in names[1].split(", "):
                self.assertIn(word, self.entry(section, name)[0]["summary"].lower())


class Models(Listed):
    def test_sections_of_models(self):
        for section in MODELS:
            names = self.names(section)
            page = self.good("describe", section)
            rows = dict(re.findall(r"(?m)^([\w-]+) +(\S.*)$", page.split("\n\n")[0]))
            self.assertEqual(list(rows), names, section)
            for name in names:
                head, see, *more = self.good("describe", section, name).splitlines()
                self.assertEqual(more[:2], ["", "Parameters:"] if more else [], name)
                self.assertEqual(head, f"{name}: {rows[name]}")
                self.assertRegex(see, r"^See docs/\S+\.md(?:#\S+)?\.$")
            self.assertEqual("\n\nOperations: " in page, section == "collectives")
            self.refused("describe", section, names[0] + "x", names=f"no '{names[0]}x' in {section}; nearest is {names[0]}")
        for plural, section in PLURALS.items():
            self.assertEqual(self.good("describe", plural), self.good("describe", section))
            name = self.names(section)[0]
            self.assertEqual(self.good("describe", plural, name), self.good("describe", section, name))
        algorithms = re.findall(r"(?m)^  (\S+) +(\S.*) See (docs/\S+)\.$", self.good("describe", "collectives").partition("\n\nAlgorithms:\n")[2])
        self.assertEqual([row[0] for row in algorithms], self.names("algorithm"))
        for name, words, _ in algorithms:
            self.assertEqual(self.good("describe", "algorithm", name).splitlines()[0], f"{name}: {words}")


class Sections(Listed):
    def test_sections(self):
        rows = dict(re.findall(r"(?m)^(\S+) +(\S.*)$", self.good("describe")))
        names = self.names()
        self.assertEqual(list(rows), names)
        self.assertEqual(names[6:], [*CATALOGUE, *MODELS])
        for section in names[:6]:
            if section != "scenario":
                listed = re.findall(r"(?m)^(\S+) ", self.good("describe", section))
                shown = self.good("describe", section, "--names").splitlines()
                self.assertTrue(shown == listed or section == "glossary" and len(shown) > 50, section)
        for near, wanted in (("lins", "links"), ("scenaro", "scenario"), ("fabrik", "fabric"), ("verdict", "verdicts")):
            self.refused("describe", near, names=f"'{near}' is neither a section nor a key; nearest is {wanted}; `fabricast describe` lists the sections")
        self.refused("describe", "qqqqqqqqqq", names="'qqqqqqqqqq' is neither a section nor a key; `fabricast describe` lists the sections")
        for one in ("link", "node", "model", "accelerator"):
            self.assertEqual(self.good("describe", one), self.good("describe", one + "s"))
        self.refused("describe", "scenario", "hello", names="section 'scenario' has no names")

    def test_a_name_leads_to_its_section(self):
        """Who asks for a name without its section is told the command that describes it, and that command does."""
        for name, sections in (("fsdp", ["job"]), ("dgx-h100", ["nodes", "products"]), ("llama3-8b", ["models"]), ("mi300x", ["accelerators", "nodes", "products"])):
            said = self.refused("describe", name, names=f"'{name}' is no section, but a name in one: ")
            commands = re.findall(r"`fabricast (describe (\S+) \S+)`", said)
            self.assertEqual([section for _, section in commands], sections, name)
            for command, _ in commands:
                self.good(*command.split())


class Backends(Listed):
    def test_names_of_measurements(self):
        """Each is described, or refused with exit code 3 where what it is built with was not there."""
        n_described = 0
        for name in self.names("measure"):
            done = self.fabricast("describe", "measure", name)
            if done.returncode == 3:
                self.assertRegex(done.stderr, rf"\Afabricast describe: {name} is not in this build[,;] .*\n\Z")
                self.assertEqual(done.stdout, "")
                continue
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertTrue(done.stdout.startswith(f"{name}: "), done.stdout[:100])
            self.assertEqual(done.stdout.count("\nNeeds "), "Needs" in done.stdout)
            n_described += 1
        self.assertGreater(n_described, 0)


class Forms(Listed):
    def test_options(self):
        """Help has each option that the command takes."""
        self.assertEqual(re.findall(r"(?m)^ +(--\w+)", self.good("describe", "--help").partition("Options:")[2]), ["--schema", "--names", "--sequence", "--format"])

    def test_sequences(self):
        """2048 tokens unless another number is given, from one to ten million."""
        usual = self.good("describe", "models", "gpt2-xl")
        self.assertEqual(self.good("describe", "models", "gpt2-xl", "--sequence", "2048"), usual)
        self.assertIn("# per token, sequences of 2048 tokens (--sequence)\n", usual)
        self.assertNotEqual(self.good("describe", "models", "gpt2-xl", "--sequence", "2047"), usual)
        for taken in ("1", "10000000"):
            self.assertIn(f"sequences of {taken} tokens", self.good("describe", "models", "gpt2-xl", "--sequence", taken))
        for refused in ("0", "-1", "10000001"):
            self.refused("describe", "models", "gpt2-xl", "--sequence", refused, names=f"--sequence {refused}: from 1 to 10000000 tokens")

    def test_formats(self):
        """The glossary and the designs have more than one format, and nothing else has."""
        said = "`describe glossary` has text, json and markdown, `describe designs` text and markdown; all other sections have text"
        taken = {("glossary", "json"), ("glossary", "markdown"), ("designs", "markdown")}
        for section in ("glossary", "designs", "links", "scenarios", "fabric"):
            text = self.good("describe", section)
            self.assertEqual(self.good("describe", section, "--format", "text"), text)
            for form in ("json", "csv", "markdown"):
                if (section, form) in taken:
                    self.assertNotEqual(self.good("describe", section, "--format", form), text)
                else:
                    self.refused("describe", section, "--format", form, names=f"--format {form}: {said}")
        self.refused("describe", "--format", "json", names=said)
        self.refused("describe", "glossary", "all-reduce", "--format", "json", names=said)
        self.refused("describe", "designs", self.names("designs")[0], "--format", "markdown", names=said)


if __name__ == "__main__":
    support.main()
