#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options of `run` in pairs: each does its own beside every other one, or the pair is refused. And options of the
other commands that say the same thing as a key: together they agree or are refused. None is dropped without a word."""
import contextlib
import itertools
import os
import re
import sqlite3
import subprocess

from support import HELLO, IS_WHOLE, CliTest, main

SCENARIO = """\
name: pairs
iterations: 2
links:
  - {name: unsure, technology: InfiniBand, lanes: 4, signalling: 50Gb/s, latency: 600ns, uncertainty: {latency: 10%}}
cluster: {node: dgx-h100, nodes: 2, nic: unsure, gpus_per_node: 1, nics_per_node: 1}
fidelity: step
job: {kind: ddp, model: bert-base, sequence: 1024, jitter: {cv: 5%}, compute: {kind: mfu, mfu: 50%}}
"""
# The same job, which does not fit: only then --allow-oversized has something to allow.
OVERSIZED = SCENARIO.replace("sequence: 1024", "sequence: 1024, optimizer_state: 2kB")
# One use of every option of `run`; each changes what the command answers by itself.
USES = {
    "--format": ["--format", "json"],
    "--db": ["--db", "other.db"],
    "--no-db": ["--no-db"],
    "--no-band": ["--no-band"],
    "--no-bottleneck": ["--no-bottleneck"],
    "--no-fold": ["--no-fold"],
    "--no-memo": ["--no-memo"],
    "--iterations": ["--iterations", "3"],
    "--fidelity": ["--fidelity", "fluid"],
    "--seed": ["--seed", "7"],
    "--seeds": ["--seeds", "2"],
    "--allow-oversized": ["--allow-oversized"],
    "--trace": ["--trace", "trace.json"],
    "--set": ["--set", "cluster.nics_per_node=2"],
    "--brief": ["--brief"],
    "--rows": ["--rows", "step"],
}
# What an option does not change beside another one, because the two want the same.
AGREE = {
    ("--no-db", "--no-fold"): "the numbers are the same, and they are stored nowhere",
    ("--fidelity", "--no-memo"): "fluid has nothing to remember",
    ("--no-band", "--seeds"): "seeds show percentiles in place of the band",
    ("--no-bottleneck", "--seeds"): "seeds show percentiles in place of what limits one step",
    ("--no-bottleneck", "--rows"): "the row `step` has nothing of what limits it",
}
CONFLICTS = [
    (["--fidelity", "packet", "--set", "fidelity.mtu=banana"], "'mtu': 'banana' is not a size"),
    (["--set", "fidelity.mtu=banana", "--fidelity", "packet"], "'mtu': 'banana' is not a size"),
    (["--fidelity", "packet", "--set", "fidelity=step"], "fidelity=step: this undoes 'fidelity=packet'"),
    (["--fidelity", "packet", "--set", "fidelity.kind=step"], "this undoes 'fidelity=packet'"),
    (["--set", "fidelity.mtu=4096B", "--set", "fidelity=packet"], "give it first"),
    (["--set", "fidelity={kind: packet, mtu: 9000B}", "--set", "fidelity.mtu=4096B"], "give only one of the two"),
    (["--iterations", "2", "--set", "iterations=3"], "iterations=3: this undoes 'iterations=2'"),
    (["--seed", "2", "--set", "seed=3"], "seed=3: this undoes 'seed=2'"),
    (["--no-fold", "--set", "fold=true"], "fold=true: this undoes 'fold=false'"),
    (["--set", "job.micro_batch=2", "--set", "job.micro_batch=4"], "this undoes 'job.micro_batch=2'"),
    (["--set", "faults.+={what: rail, rail: 0, share: 50%}", "--set", "faults=[]"], "this undoes 'faults.+="),
    (["--seed", "2", "--seed", "3"], "given twice"),
    (["--format", "csv", "--format=json"], "given twice"),
    (["--db", "a.db", "--no-db"], "not both"),
    (["--seeds", "2", "--trace", "t.json"], "--trace"),
]


class Pairs(CliTest):
    """Runs with and without each option, in fresh directories."""

    def outcome(self, *options, text=SCENARIO):
        """What a person has of a run: the answer, and what is in the files. None: refused."""
        subprocess.run(["rm", "-rf", self.path("pair")], check=True)
        os.mkdir(self.path("pair"))
        self.write("pair/pairs.yaml", text)
        done = self.fabricast("run", "pairs.yaml", *options, cwd=self.path("pair"))
        if done.returncode == 2:
            self.assertTrue(done.stderr)
            return None, done.stderr
        files = sorted(os.listdir(self.path("pair")))
        stored = []
        for file in files:
            if file.endswith(".db"):
                with contextlib.closing(sqlite3.connect(self.path("pair", file))) as store:
                    stored += store.execute("SELECT scenario_yaml FROM run").fetchall()
        answer = re.sub(r'"(wall_s|peak_rss_bytes)" : [0-9.e+-]+', "", done.stdout)
        return (answer, files, stored, done.returncode), done.stderr

    def test_every_option_is_known_here(self):
        listed = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", self.good("run", "--help"), re.M)) - {"--help", "--full"}  # what is no terminal gets the full page anyway
        self.assertEqual(listed, set(USES), "an option of `run` needs a use in this test")

    def test_pairs(self):
        alone = {(name, text): self.outcome(*use, text=text)[0] for name, use in USES.items()
                 for text in (SCENARIO, OVERSIZED)}
        for name in USES:
            text = self.text_for(name)
            self.assertNotEqual(alone[name, text], self.outcome(text=text)[0], name)
        for first, second in list(itertools.combinations(sorted(USES), 2))[::1 if IS_WHOLE else 3]:
            with self.subTest(f"{first} {second}"):
                text = self.text_for(first, second)
                both, refusal = self.outcome(*USES[first], *USES[second], text=text)
                if both is None:
                    self.assertTrue(first in refusal or second in refusal, refusal)
                elif (first, second) not in AGREE:
                    self.assertNotEqual(both, alone[first, text], f"{second} does nothing")
                    self.assertNotEqual(both, alone[second, text], f"{first} does nothing")

    @staticmethod
    def text_for(*names):
        return OVERSIZED if "--allow-oversized" in names else SCENARIO

    def test_what_contradicts_is_refused(self):
        for options, text in CONFLICTS:
            with self.subTest(" ".join(options)):
                got, refusal = self.outcome(*options)
                self.assertIsNone(got)
                self.assertIn(text, refusal)

    def test_what_agrees_is_taken(self):
        fine = self.outcome("--fidelity", "packet", "--set", "fidelity.mtu=4096B")[0]
        self.assertIn("mtu: 4KiB", fine[2][0][0])
        self.assertEqual(self.outcome("--seed", "7", "--set", "seed=7")[0], self.outcome("--seed", "7")[0])
        # The fidelity that the file has already keeps what the file says of it.
        text = SCENARIO.replace("fidelity: step", "fidelity: {kind: packet, mtu: 8KiB}")
        for options, mtu in ([], "8KiB"), (["--fidelity", "packet"], "8KiB"), (["--set", "fidelity.mtu=2KiB"], "2KiB"):
            self.write("own.yaml", text)
            self.assertIn(f"mtu: {mtu}", self.good("check", "own.yaml", *self.as_sets(options)))

    @staticmethod
    def as_sets(options):
        return ["--set", "fidelity=" + options[1]] if options[:1] == ["--fidelity"] else options


class Siblings(CliTest):
    """Other commands: an option and a key that say different things."""

    REFUSED = [
        (["size", HELLO, "--vary", "job.micro_batch=1,2", "--set", "job.micro_batch=4", "--target", "step<=1s"],
         "--vary job.micro_batch undoes --set job.micro_batch=4"),
        (["sweep", HELLO, "--vary", "job.micro_batch=1,2", "--set", "job.micro_batch=4"], "undoes --set"),
        (["sweep", HELLO, "--zip", "job.micro_batch=1,2 seed=1,2", "--set", "seed=4"], "--vary seed undoes --set seed=4"),
        (["sweep", HELLO, "--vary", "fidelity=fluid,step", "--set", "fidelity.mtu=2KiB"], "undoes --set"),
        (["compare", HELLO, "--vary", "job.micro_batch=1,2", "--set", "job.micro_batch=4"], "undoes --set"),
        (["p2p", "--node", "dgx-h100", "--nodes", "2", "--set", "cluster.nodes=4"], "this undoes 'cluster.nodes=2'"),
        (["topo", "--node", "dgx-h100", "--nodes", "2", "--set", "cluster.nodes=4"], "this undoes"),
        (["plan", HELLO, "--by", "step", "--by", "tokens"], "given twice"),
        (["tune", HELLO, "--by", "step", "--by=tokens"], "given twice"),
        (["scale", HELLO, "--gpus", "8,16", "--gpus", "8"], "given twice"),
    ]
    COLLECTIVE = [
        (["--nodes", "2", "--set", "cluster.nodes=4"], "--set cluster.nodes=4: this command does not read the key; use --nodes"),
        (["--set", "job.operations.0.size=2KiB"], "this command does not read the key; use --op, -b and -e"),
        (["--nodes", "2", "--nic", "ib-ndr", "--set", "cluster.nic=ib-hdr"], "this undoes 'cluster.nic=ib-ndr'"),
        (["--library", "nccl", "--set", "collectives=mpi"], "this undoes 'collectives=nccl'"),
        (["-x", "NCCL_ALGO=Ring", "--algorithm", "tree"], "this undoes 'collectives.algorithm=ring'"),
        (["-x", "NCCL_PROTO=LL", "--set", "collectives.protocol=simple"], "this undoes 'collectives.protocol=ll'"),
        (["-b", "1M", "-e", "4M", "-f", "2", "-i", "1M"], "either -f FACTOR or -i SIZE"),
        (["-b", "1M", "--minbytes", "2M"], "given twice"),
        (["--tolerance", "10%"], "--check FILE"),
    ]

    def test_refused(self):
        for command, text in self.REFUSED + [(["collective", "--node", "dgx-a100", *o], t) for o, t in self.COLLECTIVE]:
            with self.subTest(" ".join(command)):
                done = self.fabricast(*command)
                self.assertEqual(done.returncode, 2, done.stdout[:200])
                self.assertIn(text, done.stderr)

    def test_agreeing(self):
        self.good("collective", "--node", "dgx-a100", "-b", "1M", "-x", "NCCL_ALGO=Ring", "--algorithm", "ring")
        self.good("collective", "--node", "dgx-a100", "-b", "1M", "--library", "nccl", "--set", "collectives.algorithm=ring")


class Zero(CliTest):
    """0 of what is counted from 1 is refused, and is not taken for an option that was left out."""

    def test_zero_is_refused(self):
        self.good("run", HELLO, "--db", "results.db", "--no-band")
        for args in (["topo", "--node", "dgx-a100", "--nodes=0"], ["topo", "--design", "superpod-h100", "--units", "0"],
                     ["p2p", "--node", "dgx-a100", "--nodes", "0"], ["p2p", "--node", "dgx-a100", "-g", "0"],
                     ["collective", "--node", "dgx-a100", "--nodes", "0"], ["collective", "--node", "dgx-a100", "-t", "0"],
                     ["collective", "--node", "dgx-a100", "-g", "0"], ["upgrade", HELLO, "--grow", "0"],
                     ["sweep", HELLO, "--vary", "cluster.nodes=1,2", "--jobs", "0"], ["bundle", "--db", "results.db", "--run", "0", "out"]):
            self.refused(*args, names=" 0: it counts from 1")
        # Where 0 says something, it stays what it is.
        self.good("query", "exposed", "--db", "results.db", "--max-rows", "0")
        self.good("collective", "--node", "dgx-a100", "-b", "1M", "-w", "0", "-c", "0")
        self.good("plan", HELLO, "--top", "0", "--strategies", "ddp")


if __name__ == "__main__":
    main()
