#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`mpirun fabricast sweep`: the rows of one process, whoever plays them and whoever dies."""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import support
from support import main
from sweeps import SweepTest, count, grid, rows

N = 300
POINTS = [*grid(N), "--set", "fidelity=step"]
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none"}


def children(pid):
    """Ids of processes below this one that are fabricast."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        pass
    return found


def rank_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            match = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", file.read())
    except (FileNotFoundError, ProcessLookupError):
        match = None
    return int(match.group(1)) if match else None


def has_played(pid):
    """Has one of its threads that play taken a tick of the processor?"""
    ticks = 0
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/stat", encoding="ascii") as file:
                name, fields = file.read().split("(", 1)[1].rsplit(") ", 1)
            ticks += int(fields.split()[11]) if name == "sweep" else 0
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        pass
    return ticks > 0


class Ranks(SweepTest):
    def mpirun(self, *args, ranks=4, options=(), db="a.db"):
        return self.start(*args, db=db, launcher=["mpirun", "-n", str(ranks), *options], env=MPI)

    def whole(self, *args):
        return super().whole(*(args or POINTS))

    def kill_rank(self, process, rank):
        """Once the sweep is under way."""
        self.wait_for(process, self.path("a.db"), count(self.path("a.db")))
        for child in children(process.pid) if process.poll() is None else ():
            if rank_of(child) == rank:
                os.kill(child, signal.SIGKILL)
                return True
        return False

    def test_same_rows(self):
        process = self.mpirun(*POINTS)
        out, err = process.communicate()
        self.assertEqual((process.returncode, out, err), (0, self.whole()[1], ""))
        self.assertEqual(rows(self.path("a.db")), self.whole()[0])

    def test_all_ranks_play(self):
        process = self.mpirun(*POINTS, "--jobs", "1", ranks=3)
        played = set()
        while process.poll() is None:
            played |= {rank_of(child) for child in children(process.pid) if has_played(child)}
            time.sleep(0.01)
        self.assertEqual((process.communicate()[1], process.returncode), ("", 0))
        self.assertEqual(played, {0, 1, 2})

    def test_a_rank_dies(self):
        """Open MPI ends the others then; the same command goes on."""
        for rank in (2, 0):
            process = self.mpirun(*POINTS, "--jobs", "1")
            was_killed = self.kill_rank(process, rank)
            process.communicate()
            if was_killed:
                self.assertNotEqual(process.returncode, 0)
            n = count(self.path("a.db"))
            process = self.mpirun(*POINTS, "--jobs", "1")
            out, err = process.communicate()
            self.assertEqual((process.returncode, out), (0, self.whole()[1]), err)
            self.assertEqual(err, f"resumed: {n} of {N} points were there\n")
            self.assertEqual(rows(self.path("a.db")), self.whole()[0])
            os.unlink(self.path("a.db"))

    def test_others_go_on_without_a_dead_rank(self):
        """Where mpirun lets them."""
        process = self.mpirun(*POINTS, "--jobs", "1", options=["--enable-recovery"])
        was_killed = self.kill_rank(process, 2)
        out, err = process.communicate()
        self.assertEqual((process.returncode, out), (0, self.whole()[1]), err)
        if not was_killed:
            self.skipTest("it was done before a rank could be killed")
        self.assertRegex(err, r"fabricast sweep: rank 2 on \S+ is gone; others play its \d+ points\n")

    def test_stopped(self):
        process = self.mpirun(*POINTS, "--jobs", "1")
        self.wait_for(process, self.path("a.db"), 0)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertNotEqual(process.returncode, 0)
        process = self.mpirun(*POINTS, "--jobs", "1")
        out, _ = process.communicate()
        self.assertEqual((process.returncode, out), (0, self.whole()[1]))

    def test_mistakes_are_said_once(self):
        process = self.mpirun("--vary", "cluster.nodez=1,2", ranks=2)
        out, err = process.communicate()
        self.assertEqual((out, err.count("unknown key 'nodez'")), ("", 1), err)
        self.write("junk.db", "no database" * 100)
        process = self.mpirun(*POINTS, ranks=2, db="junk.db")
        _, err = process.communicate()
        self.assertEqual(err.count("not a SQLite database"), 1, err)


if __name__ == "__main__":
    if shutil.which("mpirun") is None:
        print("skipped: mpirun is not here")
        sys.exit(support.SKIPPED)
    main()
