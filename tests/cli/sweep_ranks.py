#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`mpirun fabricast sweep`: the rows of one process, whoever plays them and whoever dies."""
import os
import re
import shutil
import signal
import sys

import support
from support import child, main
from sweeps import SweepTest, count, grid, has_played, rows

N = 300
KILLS = int(os.environ.get("FAB_KILLS", "1"))  # how often a rank is killed at some moment; campaigns set more
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none"}
PARTS = ["--mca", "btl_vader_eager_limit", "256"]  # Open MPI sends a larger message in two parts, its head and the rest


def points(n):
    """Of 2 ms each."""
    return [*grid(n), "--set", "fidelity=step"]


def children(pid):
    """Ids of processes below this one that are fabricast."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(one) for one in file.read().split()]
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


def is_there(pid):
    """Whether a process of this number runs. One that has ended and that nobody has waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(") ", 1)[1][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Ranks(SweepTest):
    ranks = ()

    def mpirun(self, *args, ranks=4, options=(), db="a.db"):
        return self.start(*args, db=db, launcher=["mpirun", "-n", str(ranks), *options], env=MPI)

    def kill_rank(self, process, rank, after=0):
        """Once more points than that are kept. FALSE: it was done before."""
        if self.wait_for_points(process, self.path("a.db"), after):
            self.ranks = children(process.pid)
            for one in self.ranks:
                if rank_of(one) == rank:
                    os.kill(one, signal.SIGKILL)
                    return True
        return False

    def wait_for_ranks(self):
        """mpirun may end before the ranks that it ends with it: rank 0 keeps points until then."""
        child.until(lambda: not any(is_there(rank) for rank in self.ranks), "the ranks end after mpirun")

    def test_same_rows(self):
        self.assertEqual(self.mpirun(*points(N)).wait(), (0, self.whole(*points(N))[1], ""))
        self.assertEqual(rows(self.path("a.db")), self.whole(*points(N))[0])

    def test_all_ranks_play(self):
        played = set()

        def look(process):
            played.update(rank_of(one) for one in children(process.pid) if has_played(one))

        def attempt(n):
            process = self.mpirun(*points(n), "--jobs", "1", ranks=3)
            process.runs_until(lambda: look(process), "ranks play")
            self.assertEqual(process.wait()[::2], (0, ""))
            return played == {0, 1, 2}

        self.retry_with_more(attempt, N)

    def test_a_rank_dies(self):
        """Open MPI ends the others then; the same command goes on."""
        for kill in range(2 * KILLS):
            def attempt(n):
                process = self.mpirun(*points(n), "--jobs", "1")
                # pylint: disable-next=cell-var-from-loop
                was_killed = self.kill_rank(process, (2, 0)[kill % 2], int(kill / KILLS / 4 * n))
                code = process.wait()[0]
                self.wait_for_ranks()
                self.assertEqual(code != 0, was_killed)
                return was_killed

            n = self.retry_with_more(attempt, N)
            there = count(self.path("a.db"))
            self.assertEqual(self.mpirun(*points(n), "--jobs", "1").wait(),
                             (0, self.whole(*points(n))[1], f"resumed: {there} of {n} points were done before\n"))
            self.assertEqual(rows(self.path("a.db")), self.whole(*points(n))[0])
            os.unlink(self.path("a.db"))

    def test_others_go_on_without_a_dead_rank(self):
        """Where mpirun lets them. A rank may die between the parts of a message: rank 0 must not wait for the rest."""
        for kill in range(KILLS):
            with self.subTest(kill=kill):
                self.others_go_on(after=kill / KILLS / 2)
                os.unlink(self.path("a.db"))

    def others_go_on(self, after):
        """`after`: the share of its points that the sweep keeps before. One that dies within MPI_Finalize stops the others
        for ever, because Open MPI waits for it there."""
        errors = []

        def attempt(n):
            process = self.mpirun(*points(n), "--jobs", "1", options=["--enable-recovery", *PARTS])
            was_killed = self.kill_rank(process, 2, int(after * n))
            code, out, err = process.wait()
            self.assertEqual((code, out), (0, self.whole(*points(n))[1]), err)
            errors.append(err)
            return was_killed and "no longer answers" in err  # else it had simulated all its points before it was killed

        self.retry_with_more(attempt, N)
        self.assertRegex(errors[-1], r"fabricast sweep: rank 2 on \S+ no longer answers; other ranks simulate its \d+ points?\n")

    def test_stopped(self):
        def attempt(n):
            process = self.mpirun(*points(n), "--jobs", "1")
            self.wait_for_points(process, self.path("a.db"), 0)
            process.send_signal(signal.SIGINT)
            return process.wait()[0] != 0

        n = self.retry_with_more(attempt, N)
        self.assertEqual(self.mpirun(*points(n), "--jobs", "1").wait()[:2], (0, self.whole(*points(n))[1]))

    def test_mistakes_are_said_once(self):
        _, out, err = self.mpirun("--vary", "cluster.nodez=1,2", ranks=2).wait()
        self.assertEqual((out, err.count("unknown key 'nodez'")), ("", 1), err)
        self.write("junk.db", "no database" * 100)
        _, _, err = self.mpirun(*points(N), ranks=2, db="junk.db").wait()
        self.assertEqual(err.count("not a SQLite database"), 1, err)


if __name__ == "__main__":
    if shutil.which("mpirun") is None:
        print("skipped: the program 'mpirun' is missing (Debian: openmpi-bin)")
        sys.exit(support.SKIPPED)
    main()
