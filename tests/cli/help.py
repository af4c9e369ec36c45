#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The glossary: complete, true to keys and commands of the program, and the same in help, pages and JSON."""
import json
import os
import re

from support import SOURCE, CliTest, main, read

PAGE = os.path.join("docs", "glossary.md")
WANTED = """all-reduce reduce-scatter all-gather all-to-all broadcast NCCL RCCL DDP ZeRO ZeRO-1 ZeRO-2 ZeRO-3 FSDP HSDP bucket
prefetch TP PP EP CP DP micro-batch bubble NVLink NVSwitch SHARP PCIe HCA NIC rail leaf spine tier oversubscription bisection
ECMP spraying incast PFC ECN DCQCN RDMA RoCE InfiniBand EFA algbw busbw roofline MFU HFU exposed overlapped idle step band
straggler jitter fidelity critical_path binding_link alpha-beta""".split()
MOST_WORDS = 60  # of a paragraph


class Glossary(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.terms = None

    def setUp(self):
        super().setUp()
        if not Glossary.terms:
            Glossary.terms = json.loads(self.good("describe", "glossary", "--format", "json"))

    def names(self):
        return {name for term in self.terms for name in [term["name"], *term["also"]]}

    def test_what_readers_meet_is_there(self):
        found = {re.sub("[ _/]", "-", name.lower()) for name in self.names()}
        self.assertEqual([word for word in WANTED if re.sub("[ _/]", "-", word.lower()) not in found], [])

    def test_a_name_means_one_thing(self):
        own = [{re.sub("[ _/]", "-", name.lower()) for name in [term["name"], *term["also"]]} for term in self.terms]
        names = [name for term in own for name in term]
        self.assertEqual(sorted(name for name in set(names) if names.count(name) > 1), [])

    def test_terms_lead_on(self):
        known = {term["name"] for term in self.terms}
        for term in self.terms:
            with self.subTest(term["name"]):
                self.assertLessEqual(set(term["see"]), known - {term["name"]})
                self.assertTrue(term["page"] is None or os.path.isfile(os.path.join(SOURCE, term["page"])))

    def test_paragraphs_are_short_sentences(self):
        for term in self.terms:
            for text in (term["text"], term["shows"]):
                with self.subTest(text):
                    self.assertLessEqual(len(text.split()), MOST_WORDS)
                    self.assertRegex(text, r"\A[A-Z`0-9].*\.\Z")

    def test_every_entry_prints(self):
        for term in self.terms[::20]:
            shown = self.good("describe", "glossary", term["name"])
            self.assertEqual(" ".join(shown.split("\n\n")[1].split()), term["text"])
        self.assertEqual(self.good("describe", "glossary", "All_Reduce"), self.good("describe", "glossary", "all-reduce"))
        self.refused("describe", "glossary", "ringg", names="nearest is ring")

    def test_the_page_is_what_the_program_writes(self):
        self.assertEqual(self.good("describe", "glossary", "--format", "markdown"), read(SOURCE, PAGE),
                         f"write it anew: fabricast describe glossary --format markdown > {PAGE}")

    def test_keys_and_commands_exist(self):
        keys = self.good("describe", "scenario")
        for section in ("job", "fidelity", "collectives", "fabric", "compute"):
            for name in self.good("describe", section, "--names").split():
                keys += self.good("describe", section, name)
        known = set(re.findall(r"^ *([a-z_0-9]+) ", keys, re.M))
        questions = set(self.good("describe", "queries", "--names").split())
        for term in self.terms:
            for key in re.findall(r"`(?:job|cluster|fidelity|collectives)\.([a-z_.0-9]+)", term["shows"]):
                self.assertLessEqual(set(key.split(".")), known, term["name"])
            for question in re.findall(r"[Qq]uery `([a-z-]+)`", term["shows"]):
                self.assertIn(question, questions)
            for command, options in re.findall(r"`fabricast (\w+)([^`]*)`", term["shows"]):
                shown = self.good("help", *([command] if command != "help" else []))
                for option in re.findall(r"--[a-z-]+", options):
                    self.assertIn(option, shown, term["name"])

    def test_other_sections_have_no_format(self):
        self.refused("describe", "links", "--format", "json", names="describe glossary")


if __name__ == "__main__":
    main()
