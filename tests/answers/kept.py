#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is kept of runs: questions to a results file, bundles of a run, and what failures leave of a training.

`kept.py PROGRAM [Class]`.
"""
import hashlib
import os
import re
import stat
import subprocess

import answer
import tables
from answer import support

CATALOGUE = os.path.join(support.SOURCE, "models", "catalog")


class Query(answer.AnswerTest):
    def setUp(self):
        super().setUp()
        for nodes in ("1", "2"):
            self.good("run", "hello", "--iterations", "1", "--no-band", "--no-bottleneck", "--set", f"cluster.nodes={nodes}")

    def test_runs_and_sweeps(self):
        """The last one unless another is named."""
        n_ranks = lambda *more: [row["n_ranks"] for row in self.json("query", "--sql", "SELECT n_ranks FROM run WHERE run_id = :run", *more)]
        self.assertEqual([n_ranks(), n_ranks("--run", "2"), n_ranks("--run", "1")], [[16], [16], [8]])
        for batches in ("1,2", "4,8"):
            self.good("sweep", "hello", "--vary", f"job.micro_batch={batches}", "--db", "fabricast.db")
        ids = lambda *more: [row["id"] for row in self.json("query", "--sql", "SELECT :sweep AS id", *more)]
        self.assertEqual([ids(), ids("--sweep", "2"), ids("--sweep", "1")], [[2], [2], [1]])
        os.rename(self.path("fabricast.db"), self.path("other.db"))
        self.refused("query", "runs", names="fabricast.db")
        self.assertEqual([row["run_id"] for row in self.json("query", "runs", "--db", "other.db")][:2], [1, 2])

    def test_limits(self):
        rows = ("query", "--sql", "SELECT 1 UNION SELECT 2")
        for option, taken, refused in (("--max-rows", ("0", "2", "9223372036854775807"), ("-1",)), ("--time-limit", ("0", "1", "31536000"), ("-1", "31536001"))):
            for value in taken:
                self.good(*rows, f"{option}={value}")
            for value in refused:
                self.refused(*rows, f"{option}={value}", names=f"{option}: write a whole number of at least 1, or 0 for no limit")
        self.refused(*rows, "--max-rows", "1", names="more than 1 row")
        for option in ("--run", "--sweep"):
            for value in ("0", "-1"):
                said = self.refused("query", "runs", f"{option}={value}", names="counts from 1")
                self.assertIn(option, said)
            self.assertEqual(self.fabricast("query", "runs", option, "1").returncode, 0 if option == "--run" else self.fabricast("query", "runs", option, "1").returncode)

    def test_questions(self):
        listed = re.findall(r"(?m)^([\w-]+) +(\S.*)$", self.good("query"))
        self.assertEqual([name for name, _ in listed], self.good("describe", "queries", "--names").split())
        self.assertEqual(self.good("query"), self.good("describe", "queries"))
        self.refused("query", "runs", "--sql", "SELECT 1", names="give either a QUESTION or --sql, not both")
        self.refused("query", "iteration", names="unknown question 'iteration'; nearest is iterations; `fabricast query` lists the questions")
        self.refused("query", "qqqqqqqqqqqq", names="unknown question 'qqqqqqqqqqqq'; `fabricast query` lists the questions")
        self.refused("query", "--format", "xml", names="--format xml")


class Bundle(answer.AnswerTest):
    QUESTIONS = ("iterations", "classes", "collectives", "flows", "links", "queues", "queue-lengths", "memory")
    OWN = "links: [{name: mine, technology: InfiniBand, signalling: 100Gb/s, lanes: 4, source: a test, date: 2026-01-01}]\n"

    def setUp(self):
        super().setUp()
        self.write("own.yaml", self.OWN)
        self.write("more.yaml", self.OWN.replace("mine", "other"))
        self.good("run", "hello", "--iterations", "1", "--no-band", "--no-bottleneck", "--set", "include=own.yaml", "--set", "cluster.nic=mine")
        self.good("run", "hello", "--iterations", "2", "--no-band", "--no-bottleneck", "--set", "name=second")

    def files(self, folder):
        return sorted(os.path.relpath(os.path.join(at, name), self.path(folder)) for at, _, names in os.walk(self.path(folder)) for name in names)

    def check(self, folder, run, n_with):
        """All files, and what each of them says."""
        catalogue = [name for name in os.listdir(CATALOGUE) if name.endswith(".yaml")]
        results = [f"results/{name}.csv" for name in self.QUESTIONS]
        self.assertEqual(self.files(folder), sorted(["README.md", "SHA256SUMS", "reproduce", "scenario.yaml", *results, *(f"data/catalog/{name}" for name in catalogue),
                                                     *(f"with/{i}.yaml" for i in range(n_with))]))
        for name in catalogue:
            self.assertEqual(support.read(self.path(folder, "data", "catalog", name)), support.read(CATALOGUE, name))
        sums = ""
        for question, name in zip(self.QUESTIONS, results):
            text = support.read(self.path(folder, name))
            self.assertEqual(text, self.good("query", question, "--run", run, "--format", "csv"))
            sums += f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n"
        self.assertEqual(support.read(self.path(folder, "SHA256SUMS")), sums)
        [stored] = self.json("query", "--sql", "SELECT scenario_yaml AS text, name, version FROM run WHERE run_id = :run", "--run", run)
        self.assertEqual(support.read(self.path(folder, "scenario.yaml")), stored["text"])
        self.assertTrue(support.read(self.path(folder, "README.md")).startswith(f"# {stored['name']}\n\nThis directory holds a run of Fabricast {stored['version']}.\n"))
        script = support.read(self.path(folder, "reproduce"))
        self.assertIn(f"made_by='{stored['version']}'\n", script)
        included = re.findall(r" --set 'include=\[(.*?)\]' --no-band ", script)
        self.assertEqual(included, [", ".join(f"with/{i}.yaml" for i in range(n_with))] if n_with else [])
        self.assertIn(f"for question in {' '.join(self.QUESTIONS)}; do\n", script)
        done = subprocess.run([self.path(folder, "reproduce")], capture_output=True, text=True, check=False, env={**support.environment(), "FABRICAST": support.PROGRAM})
        self.assertEqual((done.returncode, done.stdout), (0, "".join(f"{name}: OK\n" for name in results)), done.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(self.path(folder, "reproduce")).st_mode), 0o755)

    def test_the_last_run_or_another(self):
        said = self.good("bundle", "last")
        self.assertRegex(said, r"\Alast: scenario, catalogue and results of \S+; last/reproduce runs it again and compares\n\Z")
        self.check("last", "2", 0)
        self.good("bundle", "a/b/first", "--run", "1", "--with", "own.yaml", "--with", "more.yaml")
        self.check("a/b/first", "1", 2)
        self.assertEqual([support.read(self.path("a", "b", "first", "with", f"{i}.yaml")) for i in range(2)], [self.OWN, self.OWN.replace("mine", "other")])

    def test_nothing_is_left_of_one_that_fails(self):
        before = sorted(os.listdir(self.directory))
        os.mkdir(self.path("bare"))
        env = {"env": {**support.environment(), "FABRICAST_DATA": self.path("bare")}}
        done = self.fabricast("bundle", "made", **env)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for more, names in ((("--run", "7"), "no run 7"), (("--run=-1",), "--run counts from 1"), (("--with", "own.yaml", "--with", "none.yaml"), "--with: there is no file 'none.yaml'"),
                            (("--with", "bare"), "--with: there is no file 'bare'"), (("--db", "none.db"), "none.db")):
            self.refused("bundle", "made", *more, names=names)
        os.rmdir(self.path("bare"))
        self.assertEqual(sorted(os.listdir(self.directory)), before)
        self.refused("bundle", "own.yaml", names="'own.yaml' exists; name a directory that does not")
        self.write("made.part", "")
        self.refused("bundle", "made", names="'made.part' is a bundle that was not finished; remove it")


class Goodput(answer.AnswerTest):
    TRAINING = ("goodput", "ddp-2b-4nodes-200g", "--no-band", "--set", "reliability.failures=meta-llama3")
    OWN = """name: own
summary: for tests
include: SOURCE/scenarios/ddp-2b-4nodes-200g.yaml
failures:
  - name: mine
    source: a test
    date: 2026-01-01
    classes: [{name: never, per: gpu, per_year: 0, does: stops}, {name: rare, per: nic, per_year: RATE, does: slows, rate: 0.5, repair: true}]
reliability: {failures: mine}
"""

    def test_a_training_without_an_end(self):
        """It has no days, and nothing is lost in hours; a life of none is not played."""
        page = self.good(*self.TRAINING, "--trials", "0")
        told = tables.nodes(self.json(*self.TRAINING, "--trials", "0"))
        self.assertNotRegex(page, r"(?m)^  (training|played|  +days) ")
        self.assertNotIn("trials", told)
        self.assertTrue(all(row.calendar_s is None and row.lost_gpu_hours is None and row.ettr_fraction > 0.9 for row in told.rows))
        self.assertNotIn("(+", page.partition("what would change it")[2])
        table = answer.csv_rows(self.good(*self.TRAINING, "--trials", "0", "--format", "csv"))
        for cells, row in zip(table, told.rows, strict=True):
            for name, value in row.items():
                self.assert_cell(cells[name], value, name)
        self.assertEqual([row.kind for row in told.rows], ["as it is"] + ["change"] * (len(told.rows) - 7) + ["rates"] * 6)

    def test_lives(self):
        for n in (1, 2):
            page, told = self.good(*self.TRAINING, "--trials", str(n)), self.json(*self.TRAINING, "--trials", str(n))
            self.assertEqual(told["trials"]["n"], n)
            self.assertIn(f"\n  played          {n} {'life' if n == 1 else 'lives'} of the job, event by event: {100 * told['trials']['goodput_fraction']:.2f} % useful "
                          f"(by formula {100 * told['goodput']['goodput_fraction']:.2f} %)\n", page)
            self.assertNotIn("by luck alone", page)
            self.assertRegex(page, r"(?m)^  what would change it .* goodput$")  # no tokens to train, no end
            self.assertRegex(self.good(*self.TRAINING, "--trials", str(n), "--set", "job.train_tokens=1e12"), r"(?m)^  what would change it .* goodput +days$")
        self.assertEqual(self.json(*self.TRAINING)["trials"]["n"], 200)
        for value in ("-1", "100001"):
            self.refused(*self.TRAINING, f"--trials={value}", names=f"--trials {value}: 0 to 100000 are possible")
        self.refused(*self.TRAINING, "--trials", "few", names="--trials few: 'few' is not a whole number")

    def test_parts_that_never_fail(self):
        for rate in (0, 1):
            path = self.write("own.yaml", self.OWN.replace("SOURCE", support.SOURCE).replace("RATE", str(rate)))
            page, told = self.good("goodput", path, "--no-band", "--trials", "1"), tables.nodes(self.json("goodput", path, "--no-band", "--trials", "1"))
            self.assertEqual([one.per_day for one in told.classes], [0, rate * 4 * 1 / 365.25 if rate else 0])
            self.assertRegex(page, r"(?m)^  never +0 +0\.0 % +never   stops the job$")
            self.assertRegex(page, rf"(?m)^  rare +{'[0-9.]+' if rate else '0'} +{100 * rate}\.0 % +{'91.31 days' if rate else 'never'}   steps take "
                                   rf"{100 * told.classes[1].slowdown:.1f} % longer until it is found, the node is repaired$")
            self.assertEqual(told.classes[1].slowdown > 0.2, rate > 0)
            self.assertNotIn("best interval", page)

    def test_spares(self):
        said = lambda *more: re.search(r"(?m)^  spares +(.*)$", self.good(*self.TRAINING, "--trials", "0", *more))[1]
        self.assertEqual(said(), "another node is always there (reliability.repair says how long one is away)")
        self.assertRegex(said("--set", "reliability.repair=2d", "--set", "reliability.spares=3"), r"^3; with \d+ the job waits for at most 0\.1 % of the time$")

    def test_what_has_no_goodput(self):
        self.refused("goodput", "hello", names="hello does not say how often parts fail; try --set reliability.failures=NAME with a set of `fabricast describe failures`")
        self.refused("goodput", "send-80b-200g", "--set", "reliability.failures=meta-llama3", names="a job of kind collective writes no checkpoints: only trainings do")


if __name__ == "__main__":
    support.main()
