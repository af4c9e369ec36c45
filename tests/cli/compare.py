#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast compare`, `whatif` and `scale`: the same numbers as `run`, in every format, for every fidelity that there is."""
import csv
import io
import json
import os

from support import SOURCE, CliTest, environment, main

SHARED = os.path.join(SOURCE, "scenarios", "neighbour-oversubscribed.yaml")
SMALL = os.path.join(SOURCE, "validate", "variants", "cases", "ddp-small.yaml")


class Compare(CliTest):
    def fidelities(self):
        return self.good("describe", "--names", "fidelity").split()

    def run_at(self, path, fidelity):
        text = self.good("run", path, "--no-db", "--no-band", "--format", "json", "--fidelity", fidelity)
        return json.loads(text)["iterations"][-1]

    def test_every_fidelity_says_what_run_says(self):
        names = self.fidelities()
        compared = json.loads(self.good("compare", SMALL, "--fidelity", ",".join(names), "--format", "json"))
        self.assertEqual([variant["fidelity"] for variant in compared["variants"]], names)
        for variant in compared["variants"]:
            last = self.run_at(SMALL, variant["fidelity"])
            self.assertAlmostEqual(variant["step_s"], last["step_s"], places=12)
            self.assertAlmostEqual(variant["exposed_s"], last["exposed_s"], places=12)

    def test_steps_add_up(self):
        for variant in json.loads(self.good("compare", SMALL, "--format", "json"))["variants"]:
            parts = {"compute": 0, "exposed_by": 0, "idle": 0}
            for time in variant["times"]:
                if time["kind"] in parts:
                    parts[time["kind"]] += time["time_s"]
            self.assertAlmostEqual(sum(parts.values()), variant["step_s"], places=9)

    def test_csv_has_the_same_rows(self):
        rows = list(csv.DictReader(io.StringIO(self.good("compare", SHARED, "--format", "csv"))))
        steps = {row["fidelity"]: row for row in rows if row["kind"] == "step"}
        self.assertEqual(list(steps), ["analytic", "fluid"])
        self.assertEqual(steps["analytic"]["difference_s"], "")
        gap = float(steps["fluid"]["time_s"]) - float(steps["analytic"]["time_s"])
        self.assertAlmostEqual(float(steps["fluid"]["difference_s"]), gap, places=9)

    def test_against_and_order(self):
        compared = json.loads(self.good("compare", SHARED, "--fidelity", "fluid,analytic", "--against", "analytic",
                                        "--format", "json"))
        self.assertEqual(compared["against"], "analytic")
        fluid, analytic = compared["variants"]
        self.assertNotIn("difference_fraction", analytic)
        self.assertAlmostEqual(fluid["difference_fraction"], fluid["step_s"] / analytic["step_s"] - 1, places=9)
        self.assertIn("slower than analytic", fluid["explanation"])

    def test_the_scenarios_own_parameters_and_sets_stay(self):
        one = json.loads(self.good("compare", SMALL, "--set", "cluster.nodes=2", "--format", "json"))
        last = self.fabricast("run", SMALL, "--no-db", "--set", "cluster.nodes=2", "--format", "json")
        self.assertAlmostEqual(one["variants"][-1]["step_s"], json.loads(last.stdout)["iterations"][-1]["step_s"],
                               places=12)

    def test_a_hang_is_one(self):
        path = self.write("hang.yaml", "name: hang\ncluster: {node: dgx-a100, nodes: 2, nics_per_node: 1}\n"
                                       "collectives: {kind: plain, algorithm: ring}\n"
                                       "faults: [{what: nic, name: node1/nic0, dead: true, at: 1ms}]\n"
                                       "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n")
        done = self.fabricast("compare", path)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("never ends", done.stderr)


class Check(CliTest):
    def test_warnings_leave_the_answer_alone(self):
        path = os.path.join(SOURCE, "validate", "variants", "cases", "incast-victim.yaml")
        done = self.fabricast("check", path, "--set", "fidelity=fluid")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len([line for line in done.stderr.splitlines() if "warning: fluid does not simulate" in line]), 2)
        again = self.write("again.yaml", done.stdout)
        self.assertEqual(self.fabricast("check", again).stdout, done.stdout)
        self.assertEqual(self.fabricast("check", path, "--set", "fidelity=analytic").stderr, "")

    def figures_of(self, *arguments):
        return json.loads(self.good("compare", *arguments, "--format", "json"))

    def test_scenarios_say_what_run_says(self):
        compared = self.figures_of(SHARED, SMALL)
        for row, variant, path in zip(compared["figures"], compared["variants"], (SHARED, SMALL)):
            last = json.loads(self.good("run", path, "--no-db", "--no-band", "--format", "json"))["iterations"][-1]
            self.assertAlmostEqual(row["step_s"], last["step_s"], places=12)
            self.assertAlmostEqual(variant["step_s"], last["step_s"], places=12)
            self.assertAlmostEqual(row["exposed_s"], last["exposed_s"], places=12)

    def test_variants_are_what_set_makes(self):
        compared = self.figures_of(SMALL, "--vary", "job.micro_batch=1,2")
        for row, value in zip(compared["figures"], "12"):
            last = json.loads(self.good("run", SMALL, "--no-db", "--no-band", "--format", "json", "--set",
                                        f"job.micro_batch={value}"))["iterations"][-1]
            self.assertAlmostEqual(row["step_s"], last["step_s"], places=12)

    def test_equal_to_itself_at_its_own_rate(self):
        """The same scenario twice: the second equals the first at no more than its own 200 Gb/s, and not at 2/3 of it."""
        scenario = os.path.join(SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")
        compared = self.figures_of(scenario, scenario, "--at-equal", "step")
        answer = compared["equals"][0]["answer"]
        self.assertRegex(answer, r"^[0-9.]+Gb/s$")
        self.assertLessEqual(float(answer[:-4]), 200)
        self.assertGreater(float(answer[:-4]), 133)

    def test_thread_count_changes_nothing(self):
        arguments = ("compare", SMALL, "--vary", "cluster.nodes=1,2,4", "--at-equal", "exposed", "--by",
                     "cluster.nic_rate=50..400Gb/s:50")
        one = self.good(*arguments, env={**environment(), "FABRICAST_THREADS": "1"})
        many = self.good(*arguments, env={**environment(), "FABRICAST_THREADS": "4"})
        self.assertEqual(one, many)


class WhatIf(CliTest):
    RAIL = os.path.join(SOURCE, "scenarios", "fabric-ddp-rail.yaml")

    def step_of(self, *sets):
        arguments = [word for text in sets for word in ("--set", text)]
        text = self.good("run", self.RAIL, "--no-db", "--no-band", "--format", "json", *arguments)
        return json.loads(text)["iterations"][-1]["step_s"]

    def test_changes_are_what_set_makes(self):
        changes = {
            "as it is": (),
            "nic=node3/nic2:50%": ("faults=[{what: nic, name: node3/nic2, rate: 50%}]",),
            "nodes 8": ("cluster.nodes=8",),
            "job.bucket=50MiB": ("job.bucket=50MiB",),
        }
        found = json.loads(self.good("whatif", self.RAIL, "--fault", "nic=node3/nic2:50%", "--nodes", "8", "--set",
                                     "job.bucket=50MiB", "--format", "json"))
        steps = {point["change"]: point["step_s"] for point in found["points"]}
        together = steps.pop("all together")
        self.assertEqual(list(steps), list(changes))
        for name, sets in changes.items():
            self.assertAlmostEqual(steps[name], self.step_of(*sets), places=12)
        self.assertAlmostEqual(together, self.step_of(*(text for sets in changes.values() for text in sets)), places=12)

    def test_a_fault_is_added_to_those_of_the_scenario(self):
        """A port of 50 % that is 50 % again, of another fault: a quarter; the all-reduce takes twice as long again."""
        scenario = os.path.join(SOURCE, "scenarios", "fault-nic-half-rate.yaml")
        rows = list(csv.DictReader(io.StringIO(self.good("whatif", scenario, "--fault", "nic=node2/nic1:50%",
                                                         "--format", "csv"))))
        self.assertAlmostEqual(float(rows[1]["step_s"]) / float(rows[0]["step_s"]), 2, places=2)

    def test_base_is_under_all(self):
        found = json.loads(self.good("whatif", self.RAIL, "--base", "cluster.nodes=4", "--set", "job.bucket=50MiB",
                                     "--format", "json"))
        self.assertAlmostEqual(found["points"][1]["step_s"], self.step_of("cluster.nodes=4", "job.bucket=50MiB"),
                               places=12)


class Scale(CliTest):
    JOB = os.path.join(SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")

    def points(self, *arguments):
        return json.loads(self.good("scale", self.JOB, "--format", "json", *arguments))["points"]

    def run_with(self, *sets):
        arguments = [word for text in sets for word in ("--set", text)]
        text = self.good("run", self.JOB, "--no-db", "--no-band", "--format", "json", *arguments)
        return json.loads(text)["iterations"][-1]

    def test_points_are_what_set_makes(self):
        """Weak: as written. Strong: two sequences on each of 32 GPUs are 64, eight on each of 8, one of 64."""
        weak, strong = self.points("--gpus", "8:64:x2"), self.points("--gpus", "8..64:x2", "--strong")
        for nodes, each, all_ in zip((1, 2, 4, 8), weak, strong):
            self.assertEqual((each["gpus"], all_["gpus"]), (8 * nodes, 8 * nodes))
            self.assertAlmostEqual(each["step_s"], self.run_with(f"cluster.nodes={nodes}")["step_s"], places=12)
            size, times = (1, 1) if nodes == 8 else (2, 4 // nodes)
            last = self.run_with(f"cluster.nodes={nodes}", f"job.micro_batch={size}", f"job.accumulation={times}")
            self.assertAlmostEqual(all_["step_s"], last["step_s"], places=12)
            per_gpu = each["tokens_per_s"] / each["gpus"] / (weak[0]["tokens_per_s"] / 8)
            self.assertAlmostEqual(each["efficiency"], per_gpu, places=9)


if __name__ == "__main__":
    main()
