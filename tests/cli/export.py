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


class Scenario(CliTest):
    """No command writes over a file of the scenario that it reads."""

    def test_files_of_a_scenario_are_kept(self):
        texts = {"own.yaml": "include: site.yaml\nname: own\niterations: 1\njob: {kind: ddp, model: tiny.json}\n",
                 "site.yaml": "cluster: {node: dgx-a100}\n",
                 "tiny.json": json.dumps({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
                                          "vocab_size": 100, "intermediate_size": 128})}
        for name, text in texts.items():
            self.write(name, text)
        for name, text in texts.items():
            for args in (("export", "own.yaml", "--format", "goal", "-o"), ("run", "own.yaml", "--trace"), ("tune", "own.yaml", "-o"),
                         ("plan", "own.yaml", "-o"), ("upgrade", "own.yaml", "-o")):
                with self.subTest(name=name, command=args[0]):
                    done = self.fabricast(*args, self.path(name))
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn("is a file that this command needs, and it would be lost", done.stderr)
                    with open(self.path(name), encoding="utf-8") as file:
                        self.assertEqual(file.read(), text)

    def test_a_schedule_of_chakra_is_kept(self):
        """The file of the first rank stands for those of all."""
        self.write("ring.yaml", RING.format(op="all_reduce", fidelity="fluid"))
        self.good("export", "ring.yaml", "--format", "chakra", "--messages", "-o", "ring")
        again = ("export", "ring.yaml", "--set", "schedules=[{file: ring.0.et, op: all_reduce, size: 8MiB}]", "--format", "chakra", "-o")
        done = self.fabricast(*again, "ring")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("ring.0.et is a file that this command needs", done.stderr)
        self.good(*again, "other")


# mlcommons/chakra, schema/protobuf/et_def.proto, version 0.0.4.
ID, NAME, TYPE, DEPS, MICROS, ATTR = 1, 2, 3, 5, 7, 10
COMP, SEND, RECV, COLL = 4, 5, 6, 7
VALUES = {"is_cpu_op": 27, "comm_type": 9, "comm_size": 9, "comm_src": 7, "comm_dst": 7, "comm_tag": 7, "pg_name": 29}
ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER, BROADCAST = 0, 2, 6, 7, 5


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """[(number of the field, value)] of a message of protobuf."""
    found, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 in (0, 2)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        found.append((key >> 3, value))
    return found


def messages(data):
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        yield fields(data[at:at + size])
        at += size


class Node:
    def __init__(self, found):
        self.order = [number for number, _ in found]
        single = dict(one for one in found if one[0] != ATTR)
        self.id, self.type, self.micros = single[ID], single[TYPE], single.get(MICROS)
        self.name, self.deps, at = single[NAME].decode(), [], 0
        while at < len(single.get(DEPS, b"")):
            of, at = varint(single[DEPS], at)
            self.deps.append(of)
        self.attributes = {}
        for number, data in found:
            if number == ATTR:
                (one, name), (kind, value) = fields(data)
                assert one == 1 and VALUES[name.decode()] == kind
                self.attributes[name.decode()] = value.decode() if kind == 29 else value


class Nodes(CliTest):
    """The nodes of Chakra are those of GOAL, number by number."""

    def setUp(self):
        super().setUp()
        self.write("pipeline.yaml", "name: pipeline\niterations: 1\ncluster: {node: dgx-h100}\njob: {kind: megatron, model: gpt2-xl, "
                   "sequence: 1024, micro_batch: 1, accumulation: 4, parallel: {pipeline: 2, tensor: 2}}\n")

    def nodes(self, name, rank):
        with open(self.path(f"{name}.{rank}.et"), "rb") as file:
            head, *rest = messages(file.read())
        self.assertEqual(head, [(1, b"0.0.4")])
        return [Node(found) for found in rest]

    def test_messages_are_those_of_goal(self):
        self.good("export", "pipeline.yaml", "--format", "chakra", "--messages", "-o", "p")
        ranks = re.split(r"\nrank \d+ \{\n", self.good("export", "pipeline.yaml", "--format", "goal", "-o", "-"))
        self.assertEqual(ranks[0], "num_ranks 8\n")
        self.assertEqual(len(ranks), 9)
        self.assertFalse(os.path.exists(self.path("p.8.et")))
        for rank, text in enumerate(ranks[1:]):
            nodes, spent = self.nodes("p", rank), {}
            lines = re.findall(r"^l(\d+): (calc|send|recv) (\d+)b?(?: (?:to|from) (\d+) tag (\d+))? cpu (\d+)$", text, re.M)
            deps = {}
            for line, of in re.findall(r"^l(\d+) requires l(\d+)$", text, re.M):
                deps.setdefault(int(line), []).append(int(of))
            self.assertEqual(len(nodes), len(lines))
            for number, (node, (line, kind, amount, peer, tag, cpu)) in enumerate(zip(nodes, lines), 1):
                self.assertEqual((node.id, int(line), node.deps), (number, number, deps.get(number, [])))
                self.assertEqual(node.type, {"calc": COMP, "send": SEND, "recv": RECV}[kind])
                self.assertEqual(node.order, sorted(node.order))
                self.assertEqual(node.attributes.pop("is_cpu_op"), 0)
                if kind == "calc":
                    # both round, and what one leaves goes to the next work of the stream
                    ns, micros = spent.get(cpu, (0, 0))
                    spent[cpu] = ns + int(amount), micros + node.micros
                    self.assertLessEqual(abs(spent[cpu][0] - 1000 * spent[cpu][1]), 501)
                    self.assertEqual(node.attributes, {})
                else:
                    self.assertIsNone(node.micros)
                    src, dst = (rank, int(peer)) if kind == "send" else (int(peer), rank)
                    self.assertEqual(node.attributes, {"comm_size": int(amount), "comm_src": src, "comm_dst": dst, "comm_tag": int(tag)})

    def test_collectives_have_groups(self):
        """Every group's ranks have the same collectives of it, with the same bytes."""
        self.good("export", "pipeline.yaml", "--format", "chakra", "-o", "p")
        with open(self.path("p.groups.json"), encoding="utf-8") as file:
            groups = json.load(file)
        self.assertEqual(list(groups), [str(number + 1) for number in range(len(groups))])
        seen = {}
        for rank in range(8):
            for node in self.nodes("p", rank):
                if node.type != COLL:
                    continue
                group = node.attributes["pg_name"]
                self.assertIn(rank, groups[group])
                self.assertEqual(set(node.attributes), {"is_cpu_op", "comm_type", "comm_size", "pg_name"})
                self.assertEqual(node.attributes["comm_type"], ALL_REDUCE)
                self.assertIsNone(node.micros)
                seen.setdefault(group, {}).setdefault(rank, []).append((node.name, node.attributes["comm_size"]))
        for group, by_rank in seen.items():
            self.assertEqual(sorted(by_rank), groups[group])
            for calls in by_rank.values():
                self.assertEqual(sorted(calls), sorted(by_rank[groups[group][0]]))
        self.assertIn(list(range(8)), groups.values())

    def test_types_of_collectives(self):
        for op, number in (("all_reduce", ALL_REDUCE), ("all_gather", ALL_GATHER), ("all_to_all", ALL_TO_ALL),
                           ("reduce_scatter", REDUCE_SCATTER), ("broadcast", BROADCAST)):
            self.write("ring.yaml", RING.format(op=op, fidelity="fluid"))
            self.good("export", "ring.yaml", "--format", "chakra", "-o", "r")
            for rank in range(8):
                calls = [node for node in self.nodes("r", rank) if node.type == COLL]
                self.assertEqual([(node.attributes["comm_type"], node.attributes["comm_size"]) for node in calls], [(number, 8 << 20)], op)


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
