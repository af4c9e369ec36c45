#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same scenario and seed give the same bytes: on stdout, and in everything the results file holds."""
import os
import sqlite3

from support import HELLO, SOURCE, CliTest, main, masked

FOUR_NODES = os.path.join(SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")
TWO_SENDS = os.path.join(SOURCE, "scenarios", "send-80b-1600g.yaml")


def dump(path):
    with sqlite3.connect(path) as database:
        text = "\n".join(database.iterdump())
    database.close()
    return text


class Determinism(CliTest):
    def twice(self, *args):
        texts, dumps = [], []
        for name in ("first", "second"):
            os.mkdir(self.path(name))
            texts.append(masked(self.good(*args, "--db", "x.db", cwd=self.path(name))))
            dumps.append(dump(self.path(name, "x.db")))
        return texts, dumps

    def check_twice(self, *args):
        texts, dumps = self.twice(*args)
        self.assertEqual(texts[0], texts[1])
        self.assertTrue(dumps[0] == dumps[1], "the results files differ")
        self.assertIn("INSERT INTO", dumps[0])

    def test_hello(self):
        self.check_twice("run", HELLO)

    def test_four_nodes(self):
        self.check_twice("run", FOUR_NODES, "--format", "csv", "--seed", "7")

    def test_sends(self):
        self.check_twice("run", TWO_SENDS, "--format", "json")

    def test_only_what_was_measured_differs(self):
        """JSON is the same but for its last object, `measured`; the file holds nothing that is measured."""
        pages, dumps = [], []
        for name in ("first", "second"):
            os.mkdir(self.path(name))
            pages.append(self.json("run", FOUR_NODES, "--db", "x.db", cwd=self.path(name)))
            dumps.append(dump(self.path(name, "x.db")))
            self.assertEqual(list(pages[-1])[-1], "measured")
            self.assertEqual(sorted(pages[-1].pop("measured")), ["peak_rss_bytes", "wall_s"])
        self.assertEqual(pages[0], pages[1])
        self.assertTrue(dumps[0] == dumps[1], "the results files differ")
        compared = [self.json("compare", FOUR_NODES, "--fidelity", "analytic,fluid") for _ in range(2)]
        for page in compared:
            for variant in page["variants"]:
                self.assertEqual(list(variant.pop("measured")), ["wall_s"])
        self.assertEqual(compared[0], compared[1])

    def test_version(self):
        """What is printed is what a run stores, in JSON and in the results file."""
        version = self.good("--version").removeprefix("fabricast ").strip()
        self.assertRegex(version, r"^\d+\.\d+\.\d+(\+g[0-9a-f]{7,40}(-dirty)?)?$")
        self.assertEqual(self.json("run", HELLO, "--db", "x.db")["version"], version)
        self.assertEqual(self.json("query", "--sql", "SELECT version FROM run", "--db", "x.db"), [{"version": version}])

    def test_several_runs_in_one_file(self):
        runs = [(HELLO,), (FOUR_NODES, "--iterations", "2"), (TWO_SENDS,), (HELLO,)]
        dumps = []
        for name in ("a.db", "b.db"):
            for args in runs:
                self.good("run", *args, "--db", name)
            dumps.append(dump(self.path(name)))
        self.assertTrue(dumps[0] == dumps[1], "the results files differ")
        self.assertEqual([row["run_id"] for row in self.json("query", "runs", "--db", "a.db")], [1, 2, 3, 4])

    def test_a_run_does_not_depend_on_the_runs_before(self):
        self.good("run", FOUR_NODES, "--db", "x.db")
        for _ in range(2):
            self.good("run", HELLO, "--db", "x.db")
        for question in ("iterations", "collectives", "links", "timeline"):
            answers = [self.good("query", question, "--db", "x.db", "--run", run) for run in ("2", "3")]
            self.assertEqual(answers[0], answers[1], question)

    def test_the_store_does_not_change_the_answer(self):
        without = self.good("run", HELLO, "--no-db", "--format", "csv")
        self.assertEqual(without, self.good("run", HELLO, "--db", "x.db", "--format", "csv"))
        self.assertEqual(os.listdir(self.directory), ["x.db"])

    def test_the_locale_does_not_change_the_answer(self):
        for locale in ("C", "de_DE.UTF-8"):
            self.assertEqual(self.good("run", HELLO, "--no-db"),
                             self.good("run", HELLO, "--no-db", env={**os.environ, "LC_ALL": locale}))


if __name__ == "__main__":
    main()
