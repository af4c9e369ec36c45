#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory that a run is said to take grows as what it holds: with its numbers, and with threads that hold jobs of their own.

`estimated.py PROGRAM`. A limit of one megabyte makes every estimate a message.
"""
import functools
import re

import answer
from answer import support

REQUESTS = ("kv-qwen3-8b", "job.requests", "requests")
MICRO_BATCHES = ("hello", "job.accumulation", "micro-batches", "--set", "fold=false")
NODES = ("hello", "cluster.nodes", "nodes", "--set", "fold=false")


class Estimated(answer.AnswerTest):
    @functools.lru_cache
    def bytes_of(self, what, n, threads=1):
        scenario, key, name, *more = what
        env = {**support.environment(), "FABRICAST_MEMORY": "1MB", "FABRICAST_THREADS": str(threads)}
        done = self.fabricast("check", scenario, "--set", f"{key}={n}", *more, env=env)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        found = re.fullmatch(rf"fabricast check: {n} {name} take about (\S+ [kMGT]?B) of memory, and 1 MB are free here: .*, or try it nevertheless with --allow-large\n", done.stderr)
        self.assertIsNotNone(found, done.stderr)
        return answer.quantity(found[1]).value

    def test_threads_hold_jobs_of_their_own(self):
        """One thread holds the job and one beside it, for what-ifs; seven hold eight, and twice as many jobs are twice as much.
        An estimate rests on what small runs took, which varies from run to run."""
        for what, threads in ((REQUESTS, 7), (MICRO_BATCHES, 3)):
            with self.subTest(what[1]):
                alone = self.bytes_of(what, 100000)
                self.assertAlmostEqual(self.bytes_of(what, 100000, threads) / alone / ((1 + threads) / 2), 1, delta=0.25)
                self.assertAlmostEqual(alone / self.bytes_of(what, 50000), 2, delta=0.4)

    def test_nodes_are_held_once(self):
        """Nodes that are simulated each take as much each, or more, and threads share them."""
        many = self.bytes_of(NODES, 100000)
        self.assertAlmostEqual(self.bytes_of(NODES, 100000, 7) / many, 1, delta=0.4)
        self.assertGreater(many / self.bytes_of(NODES, 10000), 7)

    def test_few_are_not_estimated(self):
        """An estimate takes three runs, so that only what is many has one."""
        for (scenario, key, _, *more), least in ((REQUESTS, 8192), (MICRO_BATCHES, 4096), (NODES, 512), (("hello", "cluster.nodes", ""), 16384)):
            env = {**support.environment(), "FABRICAST_MEMORY": "1MB"}
            for n in (least - 1, least):
                done = self.fabricast("check", scenario, "--set", f"{key}={n}", *more, env=env)
                self.assertEqual("take about" in done.stderr, n == least, f"{key}={n}: {done.stderr}")


if __name__ == "__main__":
    support.main()
