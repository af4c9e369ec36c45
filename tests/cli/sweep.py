#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast sweep`: killed, stopped, shared and resumed, it keeps the same rows."""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time

import support
from support import SLOWNESS, main
from sweeps import TINY, SweepTest, ask, count, grid, has_played, rows

FEW = ["--vary", "cluster.nic_rate=1Gb/s,2Gb/s"]
MANY, SOME = 1000 // SLOWNESS, 400 // SLOWNESS


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


class Sweep(SweepTest):
    def sweep(self, *args, db="a.db", **how):
        return self.good("sweep", self.tiny, *args, "--db", db, **how)

    def resumed(self, *args, **how):
        """What a sweep prints of which some points were there, and how many."""
        done = self.fabricast("sweep", self.tiny, *args, "--db", "a.db", "--format", "csv", **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Aresumed: \d+ of \d+ points were done before\n\Z")
        return int(done.stderr.split()[1]), done.stdout

    def n_sweeps(self):
        return len(ask(self.path("a.db"), "SELECT * FROM sweep"))

    def test_points_are_runs(self):
        points = self.json("sweep", self.tiny, "--vary", "cluster.nic_rate=1..4Gb/s", "--vary", "cluster.nodes=1,2")["points"]
        self.assertEqual([(one["cluster.nic_rate"], one["cluster.nodes"]) for one in points],
                         [(f"{rate}Gb/s", nodes) for rate in range(1, 5) for nodes in ("1", "2")])
        for one in points[:3]:
            sets = [part for key in ("cluster.nic_rate", "cluster.nodes") for part in ("--set", f"{key}={one[key]}")]
            run = self.good("run", self.tiny, "--no-db", "--no-band", "--format", "csv", *sets).splitlines()
            figures = dict(zip(run[0].split(","), run[1].split(",")))
            self.assertEqual(float(figures["step_s"]), one["step_s"])

    def test_killed_again_and_again(self):
        chance = random.Random(7)

        def attempt(n):
            n_killed = 0
            for kill in range(10):
                process = self.start(*grid(n), "--jobs", "1")
                if kill % 2 == 0:
                    self.wait_for_points(process, self.path("a.db"), count(self.path("a.db")))
                time.sleep(chance.uniform(0, 0.3 if kill % 2 else 0.05))
                process.kill()
                n_killed += process.wait()[0] == -signal.SIGKILL
            return n_killed > 2

        n = self.retry_with_more(attempt, MANY)
        before = count(self.path("a.db"))
        self.assertEqual(self.resumed(*grid(n)), (before, self.whole(*grid(n))[1]))
        self.assertEqual(rows(self.path("a.db")), self.whole(*grid(n))[0])

    def test_number_of_threads_does_not_show(self):
        self.sweep(*grid(SOME), "--jobs", "7")
        self.sweep(*grid(SOME), db="b.db", env={**support.environment(), "FABRICAST_THREADS": "1"})
        for name in ("a.db", "b.db"):
            self.assertEqual(rows(self.path(name)), self.whole(*grid(SOME))[0])

    def test_stopped(self):
        ends = []

        def attempt(n):
            process = self.start(*grid(n), "--jobs", "1")
            self.wait_for_points(process, self.path("a.db"), 0)
            process.send_signal(signal.SIGINT)
            ends.append(process.wait())
            return ends[-1][0] != 0 and count(self.path("a.db")) < n  # else the last point was kept before the signal

        n = self.retry_with_more(attempt, MANY)
        there = count(self.path("a.db"))
        self.assertEqual(ends[-1], (2, "", f"fabricast sweep: stopped; a.db has {there} of {n} points, and the same command "
                                           "continues the sweep\n"))
        self.assertTrue(0 < there < n)
        self.assertEqual(self.resumed(*grid(n)), (there, self.whole(*grid(n))[1]))

    def test_stopped_while_a_point_takes_long(self):
        self.tiny = os.path.join(support.SOURCE, "scenarios", "fabric-24k-pods.yaml")
        process = self.start("--vary", "seed=1,2", "--set", "fidelity=step", "--set", "fold=false", "--jobs", "2")
        self.assertTrue(process.runs_until(lambda: has_played(process.pid), "it plays a point"), process.err)
        process.send_signal(signal.SIGTERM)
        code, _, err = process.wait()
        self.assertEqual((code, count(self.path("a.db"))), (2, 0), err)

    def test_two_at_once(self):
        def attempt(n):
            both = [self.start(*grid(n), "--jobs", "1") for _ in range(2)]
            ends = [process.wait() for process in both]
            self.assertEqual([(code, out) for code, out, _ in ends], [(0, self.whole(*grid(n))[1])] * 2, ends)
            self.assertEqual(rows(self.path("a.db")), self.whole(*grid(n))[0])
            return any("another process runs the same sweep into this file" in err for _, _, err in ends)

        self.retry_with_more(attempt, MANY)

    def test_what_is_another_sweep(self):
        self.sweep(*FEW)
        self.sweep("--vary", "cluster.nic_rate=1Gb/s,3Gb/s")  # other values
        self.sweep("--vary", "cluster.nic_rate=2Gb/s,1Gb/s")  # another order
        self.sweep(*FEW, "--set", "cluster.nodes=3")
        self.write("tiny.yaml", TINY.replace("64MiB", "65MiB"))
        self.sweep(*FEW)
        self.write("tiny.yaml", TINY.replace("name: tiny\n", "# The same.\nname: 'tiny'\n"))
        self.assertEqual(self.resumed(*FEW)[0], 2)
        self.assertEqual(self.n_sweeps(), 5)

    def test_included_files_count(self):
        self.write("base.yaml", TINY)
        self.tiny = self.write("top.yaml", "include: base.yaml\nname: top\n")
        self.sweep(*FEW)
        self.write("base.yaml", TINY.replace("nodes: 2", "nodes: 3"))
        self.sweep(*FEW)
        self.assertEqual(self.n_sweeps(), 2)

    def test_files_that_values_name_count(self):
        self.write("tiny.yaml", TINY.replace("nodes: 2, ", ""))
        for nodes in (3, 4):
            self.write("nodes.yaml", f"cluster: {{nodes: {nodes}}}\n")
            self.sweep("--vary", f"include={self.path('nodes.yaml')}")
            self.assertEqual(ask(self.path("a.db"), "SELECT n_nodes FROM sweep_point")[-1], (nodes,))
        self.assertEqual(self.n_sweeps(), 2)

    def test_catalogue_counts(self):
        catalog = self.path("catalog")
        env = {**support.environment(), "FABRICAST_CATALOG": catalog}
        entry = os.path.join(catalog, "nodes-nvidia.yaml")
        self.sweep(*FEW)
        shutil.copytree(os.path.join(support.SOURCE, "models", "catalog"), catalog)
        self.assertEqual(self.resumed(*FEW, env=env)[0], 2)  # an equal one, elsewhere
        text = support.read(entry)
        with open(entry, "w", encoding="utf-8") as file:
            file.write(text.replace("DGX A100", "Other"))
        self.assertNotEqual(text, support.read(entry))
        self.sweep(*FEW, env=env)
        self.assertEqual(self.n_sweeps(), 2)

    def test_scenario_that_changes_meanwhile(self):
        def attempt(n):
            self.write("tiny.yaml", TINY)
            process = self.start(*grid(n), "--jobs", "1")
            self.wait_for_points(process, self.path("a.db"), 0)
            self.write("tiny.yaml", TINY.replace("nic_rate: 100Gb/s", "gpus_per_node: 4"))
            code, _, err = process.wait()
            if code != 0:
                self.assertEqual(code, 2)
                self.assertIn("tiny.yaml, or a file that it includes, changed during the sweep", err)
            return code != 0

        n = self.retry_with_more(attempt, MANY)
        kept = rows(self.path("a.db"))[3]
        self.assertTrue(0 < len(kept) < n)
        self.write("tiny.yaml", TINY)
        whole = {row[1]: row for row in self.whole(*grid(n))[0][3]}
        self.assertEqual(kept, [whole[row[1]] for row in kept])  # none is of the other scenario

    def test_points_that_cannot_be_played(self):
        self.tiny = self.write("ddp.yaml", TINY.split("job:")[0] + "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, "
                               "compute: {kind: mfu, mfu: 40%}}\n")
        done = self.fabricast("sweep", self.tiny, "--vary", "job.global_batch=64,65,128", "--db", "a.db")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(ask(self.path("a.db"), "SELECT point, step_s IS NULL, problem IS NULL FROM sweep_point"),
                         [(0, 0, 1), (1, 1, 0), (2, 0, 1)])
        self.assertIn("65 is not a multiple", self.good("query", "sweep-problems", "--db", "a.db"))
        done = self.fabricast("sweep", self.tiny, "--vary", "job.global_batch=65,66", "--db", "b.db")
        self.assertEqual((done.returncode, done.stderr), (2, "fabricast sweep: none of the points can be simulated\n"))
        self.assertEqual(count(self.path("b.db")), 2)

    def test_files_that_are_not_ours(self):
        foreign, junk = self.path("foreign.db"), self.write("junk.db", "no database, whatever its name says\n" * 100)
        with sqlite3.connect(foreign) as db:
            db.execute("CREATE TABLE t (x)")
        for path, says in ((foreign, "of another program"), (junk, "not a SQLite database")):
            before = read_bytes(path)
            self.refused("sweep", self.tiny, *FEW, "--db", path, names=says)
            self.assertEqual(read_bytes(path), before)
        self.refused("sweep", self.tiny, *FEW, "--db", "no/such.db", names="does not exist")
        self.assertEqual(sorted(os.listdir(self.directory)), ["foreign.db", "junk.db", "tiny.yaml"])

    def test_without_the_module(self):
        program = shutil.copy(support.PROGRAM, self.path("fabricast"))
        env = {**support.environment(), "OMPI_COMM_WORLD_SIZE": "2"}
        done = self.fabricast("sweep", self.tiny, *FEW, program=program, env=env)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("fabricast was started under MPI, but this build has no MPI module", done.stderr)

    def test_full_disk(self):
        """The tables and half of the points fit."""
        self.sweep(*FEW, db="few.db")

        def attempt(n):
            self.sweep(*grid(n), db=f"{n}.db")
            limit_kib = sum(os.path.getsize(self.path(name)) for name in ("few.db", f"{n}.db")) // 2048
            command = ["bash", "-c", f'ulimit -f {limit_kib}; trap "" XFSZ; exec "$0" "$@"', support.PROGRAM, "sweep",
                       self.tiny, *grid(n), "--db", "a.db"]
            done = subprocess.run(command, cwd=self.directory, text=True, env=support.environment(), capture_output=True,
                                  check=False)
            self.assertEqual(done.returncode, 2)
            if "cannot fold the log" in done.stderr:  # which had room for all points
                return False
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Afabricast sweep: a.db: cannot keep points of the sweep: [^\n]*\n\Z")
            return count(self.path("a.db")) > 0

        n = self.retry_with_more(attempt, MANY)
        there, printed = self.resumed(*grid(n))
        self.assertTrue(0 < there < n)
        self.assertEqual(printed, self.whole(*grid(n))[1])


if __name__ == "__main__":
    main()
