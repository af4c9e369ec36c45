#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""advice.py: what plan and tune find is so when it is run by itself, and nothing that they looked at is better; what
explain says can be computed again."""
import csv
import io
import json
import os

from support import HELLO, SOURCE, CliTest, main, read

SLOW = os.path.join(SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")
# Every kind of job, library and dimension, without what takes long.
EXPLAINED = ("hello", "fsdp-8b-straggler", "mpi-rig-100m", "neighbour-oversubscribed", "own-node", "zero3-13b-slow-fabric")
ZERO = os.path.join(SOURCE, "scenarios", "zero3-13b-slow-fabric.yaml")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


class Advice(CliTest):
    def played(self, scenario, assignments):
        """Step and tokens per second of a scenario by itself."""
        sets = [word for assignment in assignments for word in ("--set", assignment)]
        run = json.loads(self.good("run", scenario, "--no-db", "--format", "json", *sets))
        last = run["iterations"][-1]
        return last["step_s"], last["tokens_per_s"]

    def plan(self, scenario, *more):
        return rows_of(self.good("plan", scenario, "--format", "csv", *more))

    def tune(self, scenario, *more):
        return rows_of(self.good("tune", scenario, "--format", "csv", *more))


class Plan(Advice):
    def test_every_candidate_is_what_it_says(self):
        rows = [row for row in self.plan(SLOW, "--memory", "40GB") if row["state"] == "fits"]
        self.assertGreater(len(rows), 8)
        best = max(rows, key=lambda row: float(row["tokens_per_s"]))
        self.assertEqual(best["rank"], "1")
        tokens = {round(float(row["tokens_per_s"]) * float(row["step_s"])) for row in rows}
        self.assertEqual(len(tokens), 1, "a step has the same tokens whatever the strategy")
        for row in rows:
            with self.subTest(row["strategy"], batch=row["batch"]):
                self.assertLessEqual(float(row["needs_bytes"]), 40e9)
                # What is between quotes is one assignment; flow mappings have blanks.
                step_s, tokens_per_s = self.played(SLOW, split_assignments(row["assignments"]))
                self.assertAlmostEqual(step_s, float(row["step_s"]), delta=1e-9 * step_s)
                self.assertLessEqual(tokens_per_s, float(best["tokens_per_s"]) * (1 + 1e-9))

    def test_what_is_too_large_is_so(self):
        rows = self.plan(HELLO, "--strategies", "ddp,zero2", "--memory", "16GB")
        for row in rows:
            self.assertEqual(row["state"] == "too large", float(row["needs_bytes"]) > 16e9, row)
        large = [row for row in rows if row["state"] == "too large"]
        self.assertTrue(large)
        for row in large:
            self.assertEqual(row["step_s"], "", "what does not fit was not played")

    def test_the_rest_of_the_job_stays(self):
        sets = ("--set", "job.sequence=512", "--set", "job.train_tokens=1e9", "--set", "job.gradient=bf16",
                "--set", "job.compute={kind: mfu, mfu: 30%}")
        rows = self.plan(HELLO, "--strategies", "zero3,fsdp,megatron", *sets)
        others = [row for row in rows if row["state"] == "fits" and row["strategy"] != "as written"]
        self.assertEqual({row["strategy"] for row in others}, {"zero3", "fsdp", "megatron"})
        for row in others:
            for what in ("sequence: 512", "train_tokens: 1e9", "gradient: bf16", "mfu: 0.3"):
                self.assertIn(what, row["assignments"].replace("1e+9", "1e9").replace("1000000000", "1e9"))
            self.assertNotEqual(row["train_s"], "")

    def test_the_winner_is_a_scenario(self):
        text = self.good("plan", HELLO, "--strategies", "zero3,fsdp", "--format", "csv", "-o", "best.yaml")
        first = next(row for row in rows_of(text) if row["rank"] == "1")
        step_s, _ = self.played("best.yaml", [])
        self.assertAlmostEqual(step_s, float(first["step_s"]), delta=1e-9 * step_s)
        self.good("check", "best.yaml", "--quiet")
        with open(self.path("best.yaml"), encoding="utf-8") as file:
            self.assertIn("fabricast plan", file.readline())

    def test_it_does_not_depend_on_processors(self):
        texts = [self.good("plan", HELLO, "--format", "csv", env={**os.environ, "FABRICAST_THREADS": n})
                 for n in ("1", "3")]
        self.assertEqual(*texts)

    def test_nothing_fits(self):
        done = self.fabricast("plan", HELLO, "--strategies", "ddp", "--memory", "1GB")
        self.assertEqual(done.returncode, 1)
        done = self.fabricast("plan", HELLO, "--strategies", "ddp", "--memory", "1GB", "-o", "best.yaml")
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists(self.path("best.yaml")))

    def test_the_scenario_is_not_overwritten(self):
        self.write("mine.yaml", read(HELLO))
        done = self.fabricast("plan", "mine.yaml", "--strategies", "ddp", "-o", "mine.yaml")
        self.assertEqual(done.returncode, 2)


class Tune(Advice):
    def check_best(self, rows):
        best = next(row for row in rows if row["state"] == "best")
        for row in rows:
            if row["state"] in ("fits", "best"):
                self.assertLessEqual(float(row["tokens_per_s"]), float(best["tokens_per_s"]))
        return best

    def test_the_whole_grid(self):
        rows = self.tune(HELLO, "--knobs", "bucket,micro_batch,recompute", "-o", "best.yaml")
        self.assertEqual(len(rows), 9 * 3 * 3)
        self.assertEqual(len({(row["bucket"], row["micro_batch"], row["recompute"]) for row in rows}), len(rows))
        best = self.check_best(rows)
        step_s, _ = self.played("best.yaml", [])
        self.assertAlmostEqual(step_s, float(best["step_s"]), delta=1e-9 * step_s)
        tokens = {round(float(row["tokens_per_s"]) * float(row["step_s"])) for row in rows}
        self.assertEqual(len(tokens), 1, "a step has the same tokens wherever the knobs stand")

    def test_one_knob_after_another(self):
        knobs = {"bucket": 6, "prefetch": 7, "max_live": 4, "micro_batch": 2}
        rows = self.tune(ZERO, "--knobs", ",".join(knobs), "--set", "cluster.nodes=4")
        self.assertLess(len(rows), 6 * 7 * 4 * 2)
        best = self.check_best(rows)
        for knob, n_values in knobs.items():
            around = [row for row in rows if all(row[other] == best[other] for other in knobs if other != knob)]
            self.assertEqual(len(around), n_values, f"the curve of {knob}")

    def test_what_does_not_fit_is_no_answer(self):
        rows = self.tune(HELLO, "--knobs", "micro_batch,recompute", "--memory", "38GB")
        best = self.check_best(rows)
        self.assertLessEqual(float(best["memory_bytes"]), 38e9)
        self.assertTrue(any(row["state"] == "too large" for row in rows))

    def test_written_accumulation(self):
        rows = self.tune(HELLO, "--knobs", "micro_batch", "--set", "job.accumulation=4")
        self.assertEqual({row["micro_batch"] for row in rows}, {"1 x 16", "2 x 8", "4 x 4", "8 x 2", "16 x 1"})
        self.assertNotIn("impossible", {row["state"] for row in rows})


# Figures of explain and where `run` prints the same.
FIGURES = {"step": "step_s", "exposed_time": "exposed_s", "mfu": "mfu_fraction", "tokens": "tokens_per_s"}


class Explain(Advice):
    def statements(self, scenario, *more):
        return json.loads(self.good("explain", scenario, "--format", "json", *more))["statements"]

    def check_formulas(self, statements):
        """Every value follows from its formula and its terms, and a term is the statement of its name below it."""
        for place, said in enumerate(statements):
            if said["formula"] is None:
                continue
            with self.subTest(said["title"], formula=said["formula"]):
                again = eval(said["formula"], {"__builtins__": {}}, said["terms"])  # arithmetic of our own output
                self.assertAlmostEqual(again, said["value"], delta=1e-6 * abs(said["value"]) + 1e-11)
            for below in statements[place + 1:]:
                if below["depth"] <= said["depth"]:
                    break
                if below["depth"] == said["depth"] + 1 and below["name"] in said["terms"]:
                    self.assertAlmostEqual(below["value"], said["terms"][below["name"]],
                                           delta=1e-9 * abs(below["value"]))

    def test_every_product_computes_again(self):
        for name in EXPLAINED:
            path = os.path.join(SOURCE, "scenarios", name + ".yaml")
            statements = self.statements(path)
            self.check_formulas(statements)
            run = json.loads(self.good("run", path, "--no-db", "--no-band", "--format", "json"))["iterations"][-1]
            self.assertAlmostEqual(statements[0]["value"], run["step_s"], delta=1e-9 * run["step_s"])

    def test_every_figure(self):
        run = json.loads(self.good("run", ZERO, "--no-db", "--format", "json"))["iterations"][-1]
        for figure, key in FIGURES.items():
            statements = self.statements(ZERO, figure)
            self.check_formulas(statements)
            self.assertAlmostEqual(statements[0]["value"], run[key], delta=1e-9 * run[key], msg=figure)
        for figure in ("exposed", "memory", "hour_cost", "step_cost", "token_cost"):
            self.check_formulas(self.statements(ZERO, figure))

    def test_contention_is_said(self):
        """Gathers and reductions of ZeRO-3 share a port: what they take beyond the formula of an idle network is."""
        beside = [said for said in self.statements(ZERO) if "beside" in said["terms"]]
        self.assertTrue(beside)
        self.assertGreater(max(said["terms"]["beside"] for said in beside), 0)

    def test_one_collective(self):
        said = self.statements(HELLO, "--collective", "largest")
        self.check_formulas(said)
        self.assertIn("328.2 MB", said[0]["title"])
        flow = next(one for one in said if one["name"] == "flow")
        self.assertEqual(flow["terms"]["n"], 8)
        self.assertEqual(flow["terms"]["line_rate"], 300e9)
        again = self.statements(HELLO, "--collective", "bucket0")
        self.assertIn("bucket0", again[0]["title"])

    def test_a_slower_link_is_said(self):
        said = self.statements(SLOW, "--set", "cluster.nic_rate=100Gb/s")
        rate = next(one for one in said if one["name"] == "line_rate")
        self.assertEqual(rate["value"], 12.5e9)
        self.assertIsNone(rate["formula"], "the catalogue's lanes do not make it")


def split_assignments(text):
    """"job={kind: ddp, model: x} job.micro_batch=2" at blanks outside of braces."""
    found, depth, word = [], 0, ""
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if letter == " " and depth == 0:
            found.append(word)
            word = ""
        else:
            word += letter
    return [word for word in found + [word] if word]


if __name__ == "__main__":
    main()
