#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast export`: what is written has the job's work and bytes, is read back, and a collective that comes back as a
schedule takes the same time."""
import json
import os
import re
import sys

from support import HELLO, SOURCE, CliTest, main

sys.path.append(os.path.join(SOURCE, "tests/differential"))
import movement  # noqa: after the path

RING = """\
name: ring
iterations: 1
cluster: {{node: dgx-a100}}
collectives: plain
fidelity: {fidelity}
job: {{kind: collective, operations: [{{op: {op}, size: 8MiB}}]}}
"""


class Goal(CliTest):
    def ranks(self, text):
        return re.split(r"\nrank \d+ \{\n", text)[1:]

    def test_work_is_that_of_the_run(self):
        """The calcs of the compute stream last as long as the run computes."""
        run = self.json("run", HELLO, "--no-db", "--no-band", "--iterations", "1", "--set", "contention=false")
        for rank in self.ranks(self.good("export", HELLO, "--format", "goal", "-o", "-")):
            calcs = re.findall(r"^l\d+: calc (\d+) cpu (\d+)$", rank, re.M)
            compute = max(calcs, key=lambda calc: int(calc[0]))[1]
            total_s = sum(int(ns) for ns, cpu in calcs if cpu == compute) * 1e-9
            self.assertAlmostEqual(total_s, run["iterations"][0]["compute_s"], delta=2e-9)

    def test_every_send_has_its_receive(self):
        text = self.good("export", HELLO, "--format", "goal", "-o", "-")
        sends, receives = [], []
        for rank, part in enumerate(self.ranks(text)):
            sends += [(rank, int(to), size, tag) for size, to, tag in re.findall(r"send (\d+)b to (\d+) tag (\d+)", part)]
            receives += [(int(of), rank, size, tag) for size, of, tag in re.findall(r"recv (\d+)b from (\d+) tag (\d+)", part)]
        self.assertGreater(len(sends), 1000)
        self.assertEqual(sorted(sends), sorted(receives))
        self.assertEqual(len({(one[0], one[1], one[3]) for one in sends}), len(sends), "LogGOPSim posts receives in any order")

    def test_data_reach_every_rank(self):
        """What a rank sends on can have in it what it must have, also where calls block."""
        for algorithm in ("binomial", "halving_doubling", "ring", "tree", "direct"):
            for op in ("all_reduce", "all_gather", "reduce_scatter", "broadcast"):
                with self.subTest(algorithm=algorithm, op=op):
                    text = RING.format(op=op, fidelity="fluid").replace("plain", f"{{kind: plain, algorithm: {algorithm}}}")
                    self.write("moved.yaml", text)
                    done = self.fabricast("export", "moved.yaml", "--format", "goal", "-o", "-")
                    if done.returncode == 0:
                        movement.check(done.stdout, op, 8 << 20)

    def test_nothing_requires_a_later_line(self):
        for rank in self.ranks(self.good("export", HELLO, "--format", "goal", "-o", "-")):
            for line, of in re.findall(r"^l(\d+) requires l(\d+)$", rank, re.M):
                self.assertLess(int(of), int(line))


class Chakra(CliTest):
    def read(self, name):
        return self.good("import", "trace", *[self.path(f"{name}.{rank}.et") for rank in range(8)])

    def test_is_read_back(self):
        self.good("export", HELLO, "--format", "chakra", "-o", "h")
        self.good("export", HELLO, "--format", "goal", "-o", "h.goal")
        with open(self.path("h.groups.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), {"1": list(range(8))})
        compute = re.findall(r"compute ([0-9.]+) ms", self.read("h"))
        self.assertEqual(len(compute), 8)
        self.assertEqual(len(set(compute)), 1)

    def test_a_collective_comes_back(self):
        for op in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
            for fidelity in ("fluid", "step"):
                with self.subTest(op=op, fidelity=fidelity):
                    self.write("ring.yaml", RING.format(op=op, fidelity=fidelity))
                    self.good("export", "ring.yaml", "--format", "chakra", "--messages", "-o", "ring")
                    own = self.json("run", "ring.yaml", "--no-db", "--no-band")
                    file = f"schedules=[{{file: {self.path('ring.0.et')}, op: {op}, size: 8MiB}}]"
                    back = self.json("run", "ring.yaml", "--no-db", "--no-band", "--set", file)
                    self.assertEqual(own["iterations"][0]["step_s"], back["iterations"][0]["step_s"])

    def test_stages_send_messages(self):
        self.write("pipeline.yaml", "name: pipeline\niterations: 1\ncluster: {node: dgx-h100}\njob: {kind: megatron, "
                   "model: gpt2-xl, sequence: 1024, micro_batch: 1, accumulation: 4, parallel: {pipeline: 2, tensor: 2}}\n")
        self.good("export", "pipeline.yaml", "--format", "chakra", "-o", "p")
        with open(self.path("p.groups.json"), encoding="utf-8") as file:
            groups = {tuple(ranks) for ranks in json.load(file).values()}
        self.assertIn((0, 1), groups)  # tensor
        self.assertIn((0, 2), groups)  # data
        with open(self.path("p.0.et"), "rb") as file:
            self.assertIn(b"comm_dst", file.read())


class Scenarios(CliTest):
    def test_kinds_of_jobs(self):
        for name in ("neighbour-oversubscribed", "fsdp-8b-straggler", "incast-transports", "hybrid-nemotron-3-nano",
                     "fault-nic-half-rate", "schedule-all-pairs", "diloco-two-sites"):
            with self.subTest(name):
                self.good("export", os.path.join(SOURCE, "scenarios", name + ".yaml"), "--format", "chakra", "-o", name)
                self.assertTrue(os.path.isfile(self.path(name + ".0.et")))


class Refused(CliTest):
    def refuses(self, *options, says):
        done = self.fabricast("export", *options)
        self.assertEqual(done.returncode, 2)
        self.assertIn(says, done.stderr)

    def test_options(self):
        self.refuses(HELLO, says="--format is missing; possible are chakra and goal")
        self.refuses(HELLO, "--format", "pdf", says="unknown format 'pdf'; possible are chakra and goal")
        self.refuses(HELLO, "--format", "goal", says="-o is missing")
        self.refuses(HELLO, "--format", "chakra", "-o", "-", says="which is not standard output")
        self.refuses(HELLO, "--format", "goal", "--messages", "-o", "-", says="GOAL always has messages")
        self.refuses(HELLO, "--format", "goal", "-o", "no/such/folder.goal", says="no/such/folder.goal")


if __name__ == "__main__":
    main()
