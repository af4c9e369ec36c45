#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdict on a run: every command shows the same one, and none recommends a job that does not fit."""
import csv
import io
import json
import os
import re
import sqlite3

import support

HELLO = os.path.join(support.SOURCE, "scenarios", "hello.yaml")
STRAGGLER = os.path.join(support.SOURCE, "scenarios", "fsdp-8b-straggler.yaml")
HASHED = os.path.join(support.SOURCE, "scenarios", "fabric-ddp-ecmp.yaml")


def codes(findings):
    return [finding["code"] for finding in findings]


def without_waits(expected):
    return [code for code in expected if not code.startswith("waits_for_")]


class Verdict(support.CliTest):
    def answer(self, *args):
        """The JSON of a command whose exit code does not matter."""
        return json.loads(self.fabricast(*args, "--format", "json").stdout)

    def same_everywhere(self, path, *sets):
        """The codes, on which run, sweep, compare, whatif, size, explain, cost, the file and a report agree."""
        options = [word for one in sets for word in ("--set", one)]
        run = self.answer("run", path, *options, "--db", "a.db")["verdict"]
        expected = codes(run)
        step = run and self.answer("run", path, *options, "--no-db")["iterations"][0]["step_s"]
        with sqlite3.connect(self.path("a.db")) as db:
            stored = db.execute("SELECT code, severity, text, advice FROM finding ORDER BY place").fetchall()
        self.assertEqual([(one["code"], one["severity"], one["text"], one["advice"]) for one in run], stored)
        self.assertEqual(codes(self.answer("explain", path, *options)["verdict"]), expected)
        # What the step waits for is asked of all seeds; of one seed alone it may be another.
        waits = self.answer("cost", path, *options)["verdict"]
        self.assertEqual(codes(waits)[-1], expected[-1])
        played = without_waits(expected)
        seed = ("--seeds", "1")
        self.assertEqual(without_waits(codes(self.answer("cost", path, *options, *seed)["verdict"])), played)
        once = ("--vary", "iterations=1", *seed)
        point = self.answer("sweep", path, *options, *once, "--db", "b.db")["points"][0]
        self.assertEqual(codes(point["verdict"]), played)  # sweeps do not play levers
        sides = self.answer("compare", path, path, *options, *seed)["variants"]
        self.assertEqual([without_waits(codes(side["verdict"])) for side in sides], [played, played])
        base = [word for one in sets for word in ("--base", one)]
        point = self.answer("whatif", path, *base, "--set", "name=x", *seed)["points"][0]
        self.assertEqual(without_waits(codes(point["verdict"])), played)
        size = self.answer("size", path, *options, *once, "--target", f"step<={2 * step}s")
        self.assertEqual(without_waits(codes(size["verdict"])), played)
        page = support.read(self.report("a.db"))
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
        self.assertEqual(codes(data["runs"][0]["verdict"]), expected)
        table = io.StringIO(self.fabricast("run", path, *options, "--no-db", "--format", "csv").stdout)
        self.assertEqual(next(csv.DictReader(table))["verdict"].split(";"), expected)
        return expected

    def report(self, db):
        self.good("report", "--db", db, "-o", "page.html")
        return self.path("page.html")

    def test_a_job_that_fits(self):
        self.assertEqual(self.same_everywhere(HELLO, "seed=1"), ["waits_for_compute"])

    def test_a_job_that_does_not_fit(self):
        self.assertEqual(self.same_everywhere(HELLO, "seed=1", "job.micro_batch=64"),
                         ["does_not_fit", "waits_for_compute"])

    def test_a_straggler(self):
        self.assertEqual(self.same_everywhere(STRAGGLER, "seed=1"), ["waits_for_straggler"])

    def test_hashed_paths(self):
        self.assertIn("fidelity_collision", self.same_everywhere(HASHED, "seed=1"))

    def test_exit_codes(self):
        large = ("--set", "job.micro_batch=64")
        for command in (("run", "--no-db"), ("run", "--no-db", "--seeds", "2"), ("explain",), ("cost",)):
            words = (command[0], HELLO, *command[1:], *large)
            self.assertEqual(self.fabricast(*words).returncode, 1, command)
            self.assertEqual(self.fabricast(*words, "--allow-oversized").returncode, 0, command)
        page = self.fabricast("run", HELLO, "--no-db", *large).stdout
        self.assertRegex(page, r"\A  stop +The job does not fit: rank 0 needs 220 GB of the 80 GB")

    def test_no_study_recommends_it(self):
        compared = self.fabricast("compare", HELLO, "--vary", "job.micro_batch=4,64")
        self.assertEqual(compared.returncode, 0)
        self.assertIn("micro_batch=64: The job does not fit: rank 0 needs 220 GB of the 80 GB", compared.stdout)
        self.assertNotIn("a dollar buys", compared.stdout)
        sized = ("size", HELLO, "--vary", "job.micro_batch=4,64", "--target", "mfu>=39%")
        self.assertEqual(self.fabricast(*sized).returncode, 1)
        self.assertEqual(self.json(*sized, "--allow-oversized")["answer"], "64")
        swept = self.good("sweep", HELLO, "--vary", "job.micro_batch=4,64", "--db", "c.db")
        self.assertRegex(swept, r"(?m)^  4 .*<$")
        self.assertRegex(swept, r"(?m)^  64 .*does not fit: 220 of 80 GB$")
        large = ("--set", "job.micro_batch=64")
        self.assertEqual(self.fabricast("tune", HELLO, "--knobs", "bucket", *large).returncode, 1)
        scaled = self.fabricast("scale", HELLO, "--gpus", "8,16", *large)
        self.assertEqual((scaled.returncode, scaled.stdout), (1, ""))
        self.assertIn("the job fits on none of these numbers of GPUs", scaled.stderr)

    def test_what_only_several_plays_tell(self):
        unmet = self.answer("size", HELLO, "--vary", "cluster.nic_rate=200Gb/s,400Gb/s", "--target", "mfu>=60%")
        self.assertEqual(codes(unmet["verdict"]), ["unreachable_target", "waits_for_compute"])
        self.assertRegex(unmet["verdict"][0]["text"], r"99\.1 % of the step is compute.*All values that were tried have the same mfu\.")
        unmet = self.answer("size", HELLO, "--vary", "job.micro_batch=4,2", "--target", "mfu>=60%")
        self.assertRegex(unmet["verdict"][0]["text"], r"99\.1 % of the step is compute.*No later value that was tried comes closer\.")
        unmet = self.answer("size", HELLO, "--vary", "job.micro_batch=2,4", "--target", "mfu>=60%")
        self.assertRegex(unmet["verdict"][0]["text"], r"It is the last value; none beyond it was tried\.")
        seeds = ("--seeds", "2", "--no-db", "--iterations", "1")
        self.assertIn("spread", codes(self.answer("run", HASHED, *seeds)["verdict"]))
        self.assertNotIn("spread", codes(self.answer("run", HELLO, *seeds)["verdict"]))


if __name__ == "__main__":
    support.main()
