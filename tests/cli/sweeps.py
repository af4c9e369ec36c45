# SPDX-License-Identifier: Apache-2.0
"""What the tests of `fabricast sweep` share: a scenario that is quickly played, its grids, rows of results files."""
import contextlib
import os
import sqlite3

import support

TINY = """\
name: tiny
iterations: 1
cluster: {node: dgx-a100, nodes: 2, nic_rate: 100Gb/s}
job: {kind: collective, operations: [{op: all_reduce, size: 64MiB}]}
"""
N_ATTEMPTS = 6


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


def grid(n):
    """A grid of so many points."""
    return ["--vary", f"cluster.nic_rate=1..{n // 2}Gb/s", "--vary", "cluster.nodes=2,3"]


def ask(path, sql, *values, mode="ro"):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode={mode}", uri=True)) as db:
        return db.execute(sql, values).fetchall()


def rows(path, sweep=1):
    """Every row of every table about a sweep."""
    return [ask(path, f"SELECT * FROM {table} WHERE sweep_id = ? ORDER BY 1, 2, 3", sweep)
            for table in ("sweep", "sweep_axis", "sweep_value", "sweep_point")]


def count(path):
    """Points in the file. Where a sweep was killed within a transaction, only a reader that may write can undo it."""
    for mode in ("ro", "rw"):
        with contextlib.suppress(sqlite3.OperationalError):
            return ask(path, "SELECT count (*) FROM sweep_point", mode=mode)[0][0]
    return 0  # not made yet


class SweepTest(support.CliTest):
    whole_rows = {}

    def setUp(self):
        super().setUp()
        self.tiny = self.write("tiny.yaml", TINY)

    def start(self, *args, db="a.db", launcher=(), env=None):
        return self.start_program("sweep", self.tiny, *args, "--db", db, "--format", "csv", launcher=launcher,
                                  env={**support.environment(), **(env or {})})

    def whole(self, *args):
        """The rows of a sweep that nothing happened to, and what it printed."""
        if args not in self.whole_rows:
            printed = self.good("sweep", self.tiny, *args, "--db", "whole.db", "--format", "csv")
            self.whole_rows[args] = rows(self.path("whole.db")), printed
            os.unlink(self.path("whole.db"))
        return self.whole_rows[args]

    def retry_with_more(self, attempt, n):
        """Calls attempt (n), which says whether a sweep of n points into a.db took long enough for what is tested. If not,
        twice as many points are tried. The number of points."""
        for _ in range(N_ATTEMPTS):
            if attempt(n):
                return n
            os.unlink(self.path("a.db"))
            n *= 2
        return self.fail(f"a sweep of {n // 2} points is done before anything can happen to it")

    def wait_for_points(self, process, path, more_than):
        """Until more points than that are in the file. FALSE: it has ended."""
        return process.runs_until(lambda: count(path) > more_than, "a sweep keeps points")
