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
    def checked(self, what, n, threads, memory):
        scenario, key, _, *more = what
        env = {**support.environment(), "FABRICAST_MEMORY": memory, "FABRICAST_THREADS": str(threads)}
        return self.fabricast("check", scenario, "--set", f"{key}={n}", "--quiet", *more, env=env)

    @functools.lru_cache
    def bytes_of(self, what, n):
        """On one thread: a run that does not fit on several is tried on one."""
        done = self.checked(what, n, 7, "1MB")
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        found = re.fullmatch(rf"fabricast check: {n} {what[2]} take about (\S+ [kMGT]?B) of memory, and 1 MB are free here: .*, or try it nevertheless with --allow-large\n", done.stderr)
        self.assertIsNotNone(found, done.stderr)
        return answer.quantity(found[1]).value

    def test_growth(self):
        """An estimate rests on what small runs took, which varies from run to run."""
        for what in (REQUESTS, MICRO_BATCHES):
            with self.subTest(what[1]):
                self.assertAlmostEqual(self.bytes_of(what, 100000) / self.bytes_of(what, 50000), 2, delta=0.4)
        self.assertGreater(self.bytes_of(NODES, 100000) / self.bytes_of(NODES, 10000), 7)

    def test_threads_hold_runs_of_their_own(self):
        """A run is held, the same one without a change beside it, and one with a change on each thread: three on one
        thread and nine on seven. Where memory is short there are fewer threads."""
        n = 42000
        one = self.bytes_of(REQUESTS, 100000) / 100000 * n / 3
        for plays, threads in ((20, 7), (6.5, 4)):
            with self.subTest(plays=plays):
                done = self.checked(REQUESTS, n, 7, f"{int(one * plays)}B")
                found = re.search(rf"^fabricast: {n} requests take about (\S+ [kMGT]?B) of memory on (\d+) threads?$", done.stderr, re.M)
                self.assertIsNotNone(found, done.stderr)
                self.assertAlmostEqual(int(found[2]), threads, delta=0 if plays == 20 else 1)
                self.assertAlmostEqual(answer.quantity(found[1]).value / one / (2 + int(found[2])), 1, delta=0.2)

    def test_few_are_not_estimated(self):
        """An estimate takes three runs, so that only what is many has one: half as many on four threads, where six runs
        are held and not three."""
        for (scenario, key, _, *more), least in ((REQUESTS, 8192), (MICRO_BATCHES, 4096), (NODES, 512), (("hello", "cluster.nodes", ""), 16384)):
            for threads, divisor in ((1, 1), (4, 2)):
                env = {**support.environment(), "FABRICAST_MEMORY": "1MB", "FABRICAST_THREADS": str(threads)}
                for n in (least // divisor - 1, least // divisor):
                    done = self.fabricast("check", scenario, "--set", f"{key}={n}", *more, env=env)
                    self.assertEqual("take about" in done.stderr, n == least // divisor, f"{key}={n}: {done.stderr}")


if __name__ == "__main__":
    support.main()
