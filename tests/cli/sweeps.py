# SPDX-License-Identifier: Apache-2.0
"""What the tests of `fabricast sweep` share: a scenario that is quickly played, its grids, rows of results files."""
import contextlib
import os
import sqlite3
import subprocess
import time

import support

TINY = """\
name: tiny
iterations: 1
cluster: {node: dgx-a100, nodes: 2, nic_rate: 100Gb/s}
job: {kind: collective, operations: [{op: all_reduce, size: 64MiB}]}
"""
IS_SLOW = "ASAN_OPTIONS" in os.environ


def grid(n):
    """A grid of so many points."""
    return ["--vary", f"cluster.nic_rate=1..{n // 2}Gb/s", "--vary", "cluster.nodes=2,3"]


def ask(path, sql, *values):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql, values).fetchall()


def rows(path, sweep=1):
    """Every row of every table about a sweep."""
    return [ask(path, f"SELECT * FROM {table} WHERE sweep_id = ? ORDER BY 1, 2, 3", sweep)
            for table in ("sweep", "sweep_axis", "sweep_value", "sweep_point")]


def count(path):
    try:
        return ask(path, "SELECT count (*) FROM sweep_point")[0][0]
    except sqlite3.OperationalError:  # not made yet
        return 0


class SweepTest(support.CliTest):
    whole_rows = {}

    def setUp(self):
        super().setUp()
        self.tiny = self.write("tiny.yaml", TINY)

    def start(self, *args, db="a.db", launcher=(), env=None):
        return subprocess.Popen([*launcher, support.PROGRAM, "sweep", self.tiny, *args, "--db", db, "--format", "csv"],
                                cwd=self.directory, env={**support.environment(), **(env or {})}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def whole(self, *args):
        """The rows of a sweep that nothing happened to, and what it printed."""
        if args not in self.whole_rows:
            printed = self.good("sweep", self.tiny, *args, "--db", "whole.db", "--format", "csv")
            self.whole_rows[args] = rows(self.path("whole.db")), printed
        return self.whole_rows[args]

    def wait_for(self, process, path, more_than):
        """Until more points than that are in the file, or it has ended."""
        while process.poll() is None and count(path) <= more_than:
            time.sleep(0.01)
