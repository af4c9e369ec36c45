#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Advice for jobs that do not fit into memory: every command that is printed runs a job that fits, with the memory that
was said."""
import json
import re
import shlex

import support

JOBS = {  # nodes of eight GPUs, and the job
    "ddp-8b": ("dgx-h100", 1, "kind: ddp, model: llama3-8b"),
    "ddp-70b": ("dgx-h100", 1, "kind: ddp, model: llama3-70b"),
    "ddp-keys": ("dgx-h100", 4, "kind: ddp, model: llama3-8b, bucket: 50MiB, global_batch: 128, micro_batch: 4"),
    "lora": ("dgx-h100", 1, "kind: ddp, model: llama2-70b, trains: lora"),
    "fsdp": ("dgx-h100", 8, "kind: fsdp, model: llama3-70b, micro_batch: 8, sequence: 8192"),
    "fsdp-one": ("dgx-h100", 1, "kind: fsdp, model: llama3-70b"),
    "hsdp": ("dgx-h100", 4, "kind: fsdp, sharding: hybrid, shard: 4, model: llama3-70b"),
    "zero1": ("dgx-a100", 4, "kind: zero, stage: 1, model: llama2-13b, micro_batch: 4, sequence: 4096"),
    "zero3": ("dgx-h100", 2, "kind: zero, stage: 3, model: llama3-70b, sequence: 32768"),
    "hpz": ("dgx-h100", 4, "kind: zero, stage: 3, secondary: 8, model: llama3-70b, sequence: 4096"),
    "megatron": ("dgx-h100", 16, "kind: megatron, model: llama3-405b, sequence: 8192, parallel: {tensor: 8, pipeline: 4}"),
    "moe": ("dgx-h100", 16, "kind: megatron, model: mixtral-8x7b, sequence: 4096, parallel: {expert: 8}"),
    "long": ("dgx-h100", 2, "kind: fsdp, model: llama3-8b, sequence: 131072, micro_batch: 2"),
}
ONCE = ("--no-db", "--no-band", "--no-bottleneck", "--iterations", "1")


class Memory(support.CliTest):
    def scenario(self, name):
        node, nodes, job = JOBS[name]
        text = f"name: {name}\ncluster: {{node: {node}, nodes: {nodes}}}\njob: {{{job}}}\n"
        return self.write(f"{name}.yaml", text)

    def memory(self, words):
        """What `fabricast run` says of memory."""
        return json.loads(self.fabricast(*words, *ONCE, "--format", "json").stdout)["memory"]

    def check_job(self, name):
        path = self.scenario(name)
        memory = self.memory(["run", path])
        self.assertFalse(memory["fits"])
        self.assertTrue(memory["hints"], "no hint")
        for hint in memory["hints"]:
            sets = [word for one in hint["assignments"] for word in ("--set", one)]
            changed = self.memory(["run", path, *sets])
            self.assertTrue(changed["fits"], hint)
            self.assertEqual(changed["bytes"], hint["bytes"], hint)
            self.assertNotIn("does not fit", self.fabricast("check", "-q", path, *sets).stderr)
        page = self.fabricast("run", path, *ONCE).stdout
        commands = re.findall(r"(?m)^  (?:it fits with)? +([\d.]+) GB +fabricast (run .*)$", page)
        self.assertEqual(len(commands), len(memory["hints"]))
        for (shown, command), hint in zip(commands, memory["hints"]):
            self.assertAlmostEqual(float(shown), hint["bytes"] / 1e9, delta=0.5)
            self.assertEqual(self.memory(shlex.split(command))["bytes"], hint["bytes"])

    def test_what_is_printed_fits(self):
        for name in JOBS:
            with self.subTest(name):
                self.check_job(name)

    def test_the_strategies_of_the_field_are_named(self):
        self.assertIn("job.kind=fsdp", self.fabricast("run", self.scenario("ddp-8b"), *ONCE).stdout)
        page = self.fabricast("run", self.scenario("fsdp"), *ONCE).stdout
        self.assertRegex(page, r"It fits with\s+job\.micro_batch=2\s+job\.recompute=full\s+job\.accumulation=4 \(")

    def test_what_a_person_set_is_kept(self):
        words = ("run", support.HELLO, *ONCE, "--set", "job.micro_batch=64", "--set", "name=a b")
        page = self.fabricast(*words).stdout
        self.assertRegex(page, r"--set 'name=a b' --set job\.micro_batch=8 --set job\.accumulation=8\n")
        self.assertRegex(page, r"--set job\.micro_batch=64 --set 'name=a b' --set job\.recompute=full\n")

    def test_every_command_gives_the_same_advice(self):
        path = self.scenario("ddp-8b")
        finding = json.loads(self.fabricast("run", path, *ONCE, "--format", "json").stdout)["verdict"][0]
        self.assertIn(finding["advice"], self.fabricast("check", "-q", path).stderr)
        for command in (("explain", path), ("cost", path, "--no-band")):
            said = json.loads(self.fabricast(*command, "--format", "json").stdout)["verdict"][0]
            self.assertEqual(said["advice"], finding["advice"], command)
        start = finding["advice"].split(" (")[0]
        for command in (("whatif", path, "--set", "name=y", "--no-band"), ("compare", path, "--fidelity", "fluid,analytic"),
                        ("run", path, "--no-db", "--seeds", "2"), ("upgrade", path, "--no-band", "--top", "1"),
                        ("size", path, "--vary", "cluster.nodes=1,2", "--target", "mfu>=10%")):
            self.assertIn(start, " ".join(self.fabricast(*command).stdout.split()), command)


if __name__ == "__main__":
    support.main()
