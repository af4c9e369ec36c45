#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a page is on a screen of any width, with and without colours: the same words and figures.

`shown.py PROGRAM [Class]`. FABRICAST_COLUMNS stands for the screen.
"""
import os
import re

import answer
from answer import support
from screen import on_terminal

CONTROL = re.compile(r"\x1b\[[0-9;]*m")
RUN = ("run", "hello", "--no-db", "--no-band", "--iterations", "1")
PROSE = (("run", "--help"), ("explain", "hello"), ("help", "fidelity"), ("describe", "glossary", "all-reduce"), ("help", "how", "fast", "is", "it?"))
TABLES = (("query", "runs"), ("goodput", "ddp-2b-4nodes-200g", "--set", "reliability.failures=meta-llama3", "--trials", "1"), ("describe", "technologies"),
          ("cost", "ddp-2b-4nodes-200g", "--no-band"), ("compare", "hello", "--vary", "cluster.nodes=1,2", "--no-band"), ("collective", "--node", "dgx-a100", "-b", "1M", "-e", "8M"))
WIDTHS = (40, 60, 80, 100, 140)


class Colours(answer.AnswerTest):
    def page(self, *args, **variables):
        kept = {name: value for name, value in support.environment().items() if name not in ("NO_COLOR", "CLICOLOR_FORCE")}
        done = self.fabricast(*args, env={**kept, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_who_wants_colours(self):
        """--color says it before FABRICAST_COLOR, and both before what the environment says of all programs."""
        plain = self.page(*RUN)
        self.assertIsNone(CONTROL.search(plain))
        coloured = self.page(*RUN, "--color=always")
        self.assertIsNotNone(CONTROL.search(coloured))
        self.assertEqual(CONTROL.sub("", coloured), plain)
        self.assertEqual(coloured.count("\x1b[0m"), len(CONTROL.findall(coloured)) / 2, "every colour ends")
        for is_coloured, args, variables in (
                (True, ("--color=always",), {"NO_COLOR": "1"}), (True, ("--color=always",), {"FABRICAST_COLOR": "never"}), (True, (), {"FABRICAST_COLOR": "always"}),
                (True, (), {"CLICOLOR_FORCE": "1"}), (True, (), {"FABRICAST_COLOR": "always", "NO_COLOR": "1"}), (True, (), {"CLICOLOR_FORCE": "1", "NO_COLOR": ""}),
                (True, ("--color=auto",), {"CLICOLOR_FORCE": "1"}), (True, ("--color=never", "--color=always"), {}), (False, ("--color=never",), {"CLICOLOR_FORCE": "1"}),
                (False, ("--color=never",), {"FABRICAST_COLOR": "always"}), (False, (), {"FABRICAST_COLOR": "never", "CLICOLOR_FORCE": "1"}),
                (False, (), {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}), (False, (), {"CLICOLOR_FORCE": "0"}), (False, (), {"CLICOLOR_FORCE": ""}),
                (False, ("--color=auto",), {}), (False, (), {"FABRICAST_COLOR": "auto"}), (False, ("--color=auto",), {"FABRICAST_COLOR": "always"})):
            self.assertEqual(self.page(*RUN, *args, **variables), coloured if is_coloured else plain, (args, variables))

    def test_it_stands_anywhere(self):
        """Before the command, between its words, and behind them."""
        wanted = self.page(*RUN, "--color=always")
        for at in range(len(RUN)):
            if RUN[at - 1] != "--iterations":
                self.assertEqual(self.page(*RUN[:at], "--color=always", *RUN[at:]), wanted, at)

    def test_data_have_none(self):
        for form in ("json", "csv"):
            told = self.page("compare", "hello", "--vary", "cluster.nodes=1,2", "--no-band", "--format", form, "--color=always")
            self.assertIsNone(CONTROL.search(told))

    def test_other_words(self):
        self.refused(*RUN, "--color=blue", names="--color=blue: there are auto, always and never")
        self.refused(*RUN, "--color=", names="--color=: there are auto, always and never")
        self.refused(*RUN, names="FABRICAST_COLOR=x: there are auto, always and never", env={**support.environment(), "FABRICAST_COLOR": "x"})


class Widths(answer.AnswerTest):
    def page(self, columns, *args):
        done = self.fabricast(*args, env={**support.environment(), "FABRICAST_COLUMNS": str(columns)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_prose(self):
        """Sentences have the same words in the same order; a line is too long only where a word is."""
        for command in PROSE:
            whole = self.good(*command).split()
            for columns in WIDTHS:
                page = self.page(columns, *command)
                self.assertEqual([word for word in page.split() if word != "\\"], [word for word in whole if word != "\\"], (command, columns))
                for line in page.splitlines():
                    self.assertTrue(len(line) <= columns or len(line.split()) <= 2 or "'" in line, f"{command} on {columns}: {line}")

    def test_tables(self):
        """A table may become several, which repeat labels and say nothing else; it is whole where it has room."""
        self.good(*RUN[:2], "--iterations", "1", "--no-band")
        for command in TABLES:
            whole = self.good(*command)
            rows = lambda page: [line for line in page.splitlines() if len(re.findall(r"\S  +\S", line)) > 2]
            self.assertEqual(rows(self.page(400, *command)), rows(whole), command)
            known = {}
            for word in whole.split():
                known[word] = known.get(word, 0) + 1
            for columns in WIDTHS:
                found = {}
                for word in self.page(columns, *command).split():
                    found[word] = found.get(word, 0) + 1
                self.assertEqual(set(found), set(known), (command, columns))
                for word, n in found.items():
                    self.assertGreaterEqual(n, known[word], f"{word} on {columns}: {command}")

    def test_the_least_and_the_most(self):
        """Less than forty columns are forty, and what is no number is no screen."""
        command = ("describe", "glossary", "all-reduce")
        self.assertEqual(self.page(1, *command), self.page(40, *command))
        self.assertNotEqual(self.page(41, *command), self.page(60, *command))
        for word in ("0", "x", ""):
            self.assertEqual(self.page(word, *command), self.good(*command))
        self.assertEqual(self.page(65536, *TABLES[2]), self.page(65535, *TABLES[2]))


class Singular(answer.AnswerTest):
    """One thing is one thing: no page says "1 GPUs"."""

    ONE = """name: one
cluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1, nics_per_node: 1}
job: {kind: ddp, model: gpt2-xl, micro_batch: 1, train_tokens: 1e9}
reliability: {failures: meta-llama3}
iterations: 1
"""
    NOUNS = ("GPUs", "nodes", "NICs", "switches", "iterations", "ranks", "links", "ports", "sequences", "machines", "trays", "channels", "steps", "runs", "points", "seeds", "candidates",
             "changes", "jobs", "cables", "collectives", "messages", "units", "divisions", "reasons", "micro-batches", "hosts", "NVLinks", "packages")

    def test_pages_of_one(self):
        one = self.write("one.yaml", self.ONE)
        for command in (("run", one), ("explain", one), ("cost", one, "--no-band"), ("cost", one, "--no-band", "--set", "cost.usd_per_gpu_hour=2"), ("goodput", one, "--no-band", "--trials", "1"),
                        ("topo", one), ("scale", one, "--gpus", "1", "--no-band"), ("scale", one, "--gpus", "1,2", "--no-band"), ("plan", one), ("tune", one, "--knobs", "bucket"),
                        ("sweep", one, "--vary", "cluster.nodes=1"), ("compare", one, "hello", "--no-band"), ("whatif", one, "--nodes", "2", "--no-band"), ("query", "runs"),
                        ("topo", "fabric-torus-all-reduce"), ("topo", "--node", "dgx-h100", "--nodes", "2", "--check"), ("topo", "hello", "--set", "cluster.nodes=2", "--set", "cluster.nics_per_node=1")):
            with self.subTest(command):
                self.check(self.good(*command))

    def check(self, page):
        self.assertEqual(re.findall(rf"(?<![\w.,/-])1 (?:{'|'.join(self.NOUNS)})\b.{{0,30}}", " ".join(page.split())), [])

    def test_notes_of_imported_machines(self):
        folder = os.path.join(support.SOURCE, "tests", "fixtures", "import")
        n_said = 0
        for name in sorted(os.listdir(folder)):
            with self.subTest(name):
                notes = "".join(re.findall(r"(?m)^# - .*\n(?:#   .*\n)*", self.fabricast("import", os.path.join(folder, name)).stdout))
                self.check(notes.replace("#", ""))
                n_said += len(re.findall(r"\b1 (?:host|port|cable|NIC)\b", notes))
        self.assertGreater(n_said, 5)


class Progress(answer.AnswerTest):
    """A line of what is done is there while a command works, and is gone before its page."""

    CLEAR = "\r\x1b[K"
    COLLECTIVE = "{kind: collective, operations: [{op: all_reduce, size: 1MiB}]}"

    def test_a_mix_of_many_jobs(self):
        path = self.write("many.yaml", f"""name: many
cluster: {{node: dgx-h100, nodes: 64}}
job: {self.COLLECTIVE}
mix:
  jobs:
    - {{name: small, nodes: 1, count: 80000, every: 1min, work: 30min, spread: 1, job: {self.COLLECTIVE}}}
    - {{name: large, nodes: 16, count: 1600, every: 50min, work: 2h, spread: 1, job: {self.COLLECTIVE}}}
""")
        done, told = on_terminal(80, ("mix", path), self.directory, NO_COLOR="1"), self.good("mix", path, env={**support.environment(), "FABRICAST_COLUMNS": "80"})
        before, _, page = done.rpartition(self.CLEAR)
        self.assertRegex(before, r"\d+ of \d+ runs, 0:0[1-9]")  # it takes more than a second
        self.assertEqual(page, told)
        for part in before.split(self.CLEAR):
            self.assertRegex(part, r"^(\d+ of \d+ runs, \d+:\d\d(, about \d+:\d\d left)?)?$")


if __name__ == "__main__":
    support.main()
