#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the world, one by one: the N-th write, read, sync, close, ... of a command fails, for N = 1, 2, 3, ... until the
command makes fewer calls (tests/world/inject.c). Each time the command must end as documented: 0 where it can do without, else 2
with one sentence. It leaves no half of a file, and its database holds whole runs and points, each once, after it was run again.

`world.py PROGRAM INJECT.SO` takes a few points of each kind; with --all every point of every command, as `./dev faults` does, and
with --all COMMAND... those of some. Malloc is no part of it: GLib ends the program when there is no memory, with a sentence
(hostile.py)."""
import collections
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import support

INJECT = ""
ALL = None  # commands whose every point is tried; None: a few points of all of them

SCENARIO = """name: w
iterations: 1
cluster: {node: dgx-a100, nodes: 2}
job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 256, compute: {kind: mfu, mfu: 40%}}
"""
MIX = """name: m
cluster: {node: dgx-a100, nodes: 4}
job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 256, compute: {kind: mfu, mfu: 40%}}
mix:
  jobs:
    - {name: a, nodes: 2, count: 3, every: 1h, work: 1h, job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 256, compute: {kind: mfu, mfu: 40%}}}
"""
# What a family of calls can suffer, and how many points of it the short test takes.
KINDS = [("write", "ENOSPC+", 6), ("write", "EIO", 3), ("write", "short", 3), ("write", "EINTR", 2), ("read", "EIO", 4), ("read", "short", 3),
         ("read", "EINTR", 2), ("sync", "EIO", 3), ("close", "EIO", 3), ("open", "EMFILE", 3), ("truncate", "EIO", 1), ("rename", "EIO", 1),
         ("unlink", "EIO", 1), ("map", "EIO", 1),
         ("receive", "EIO", 4), ("send", "EIO", 4), ("send", "short", 4)]
# Whoever reads or writes goes on after a part. No call is interrupted here, for the program has no handlers of signals; a file system
# may say so all the same, and then the command ends like after any error.
HARMLESS = ("short",)

# `is_measured`: times are measured, so that rows and answers are alike in number only. `first`: options with which the command writes
# what it writes in a first transaction; a run whose band and levers could not be added to it any more is like one without.
Case = collections.namedtuple("Case", "args prepare files database is_measured first", defaults=((), (), None, False, None))
CASES = {
    "run": Case(["run", "s.yaml", "--db", "r.db", "--trace", "t.json"], files=["t.json"], database="r.db", first=["--no-band", "--no-bottleneck"]),
    "sweep": Case(["sweep", "s.yaml", "--db", "r.db", "--vary", "job.micro_batch=1,2,4", "--jobs", "1"], database="r.db"),
    "report": Case(["report", "--db", "r.db", "-o", "p.html"], [["run", "s.yaml", "--db", "r.db"]], ["p.html"], "r.db"),
    "bundle": Case(["bundle", "b", "--db", "r.db"], [["run", "s.yaml", "--db", "r.db"]], ["b"], "r.db"),
    "query": Case(["query", "runs", "--db", "r.db"], [["run", "s.yaml", "--db", "r.db"]], [], "r.db"),
    "trace": Case(["trace", "--db", "r.db", "-o", "t.json"], [["run", "s.yaml", "--db", "r.db"]], ["t.json"], "r.db"),
    "size": Case(["size", "s.yaml", "--target", "exposed<=95%", "--vary", "cluster.nic_rate=100Gb/s,200Gb/s"]),
    "mix": Case(["mix", "m.yaml"]),
    "import": Case(["import", "topo.txt", "-o", "i.yaml"], files=["i.yaml"]),
    "export": Case(["export", "s.yaml", "--format", "chakra", "-o", "e"], files=[f"e.{rank}.et" for rank in range(16)]),
    "measure": Case(["measure", "tcp", "--peer", "127.0.0.1:PORT", "--kinds", "latency", "--sizes", "8", "--min-samples", "6", "--max-samples",
                     "6", "--time", "1", "--timeout", "5", "-o", "m.meas"], database="m.meas", is_measured=True),
    "compare": Case(["compare", "s.yaml", "--fidelity", "fluid,step"]),
    "whatif": Case(["whatif", "s.yaml", "--fault", "nic=node1/nic0:50%"]),
    "upgrade": Case(["upgrade", "s.yaml", "-o", "u.yaml"], files=["u.yaml"]),
    "plan": Case(["plan", "s.yaml", "-o", "p.yaml"], files=["p.yaml"]),
    "tune": Case(["tune", "s.yaml", "-o", "u.yaml"], files=["u.yaml"]),
    "topo": Case(["topo", "s.yaml", "--format", "svg"]),
    "validate": Case(["validate", "bills"]),
    "goal": Case(["export", "s.yaml", "--format", "goal", "-o", "e.goal"], files=["e.goal"]),
}


def tables_of(path):
    """The rows of every table by run, sorted; of a run its number is left out. A copy is read, with what a command left beside it:
    a reader of the file itself may write there, and a full disk has no room for that."""
    with tempfile.TemporaryDirectory() as directory:
        for end in ("", "-wal", "-journal"):
            if os.path.exists(path + end):
                shutil.copy(path + end, os.path.join(directory, "copy.db" + end))
        with contextlib.closing(sqlite3.connect(os.path.join(directory, "copy.db"))) as db:
            return rows_of(db)


def rows_of(db):
    problems = db.execute("PRAGMA integrity_check").fetchall()
    assert problems == [("ok",)], problems
    rows = {}
    for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
        for row in db.execute(f"SELECT * FROM {name}"):
            run = row[columns.index("run_id")] if "run_id" in columns else 0
            rest = tuple(value for value, column in zip(row, columns) if column != "run_id")
            rows.setdefault(run, {}).setdefault(name, []).append(rest)
    return {run: {name: sorted(found, key=repr) for name, found in of.items()} for run, of in rows.items()}


class WorldTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.n_points = self.n_refused = 0
        self.failures = []
        self.listener = None

    def command(self, directory, args, fault=None):
        if "127.0.0.1:PORT" in args:
            args = [f"127.0.0.1:{self.port()}" if arg == "127.0.0.1:PORT" else arg for arg in args]
        env = support.environment() | {"FABRICAST_THREADS": "1", "TMPDIR": directory}
        if fault:
            env |= {"FAB_FAULT": fault, "FAB_FAULT_LOG": self.path("log"), "LD_PRELOAD": INJECT}
        return subprocess.run([support.PROGRAM, *args], cwd=directory, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=120)

    def port(self):
        """Of a listening end that no fault meets."""
        if not self.listener:
            self.listener = self.start_program("measure", "tcp", "--listen", "127.0.0.1:0", "--timeout", "5")
        return self.listener.wait_for_text(r"on port (\d+)\.")[1]

    def new_directory(self, name):
        directory = self.path(name)
        os.mkdir(directory)
        for file, text in (("s.yaml", SCENARIO), ("m.yaml", MIX)):
            with open(os.path.join(directory, file), "w", encoding="utf-8") as out:
                out.write(text)
        shutil.copy(os.path.join(support.SOURCE, "tests", "fixtures", "import", "nvidia-smi-dgx1-v100.txt"), os.path.join(directory, "topo.txt"))
        return directory

    def contents(self, directory, case):
        found = {}
        for name in case.files:
            path = os.path.join(directory, name)
            inside = [os.path.join(root, file) for root, _, files in os.walk(path) for file in files] if os.path.isdir(path) else [path]
            for file in inside:
                if os.path.exists(file):
                    with open(file, "rb") as data:
                        found[os.path.relpath(file, directory)] = data.read()
        return found

    def judge(self, name, case, fault, directory, done):
        """What is wrong after a fault, as sentences."""
        wrong = []
        lines = [line for line in done.stderr.splitlines() if not line.endswith("run the same command again to continue")]
        if len(lines) == 2 and lines[1].startswith("fabricast: cannot write the answer to standard output"):
            lines.pop()  # a disk that is full for the database is full for the answer, too
        how = fault.split(":")[2]
        if done.returncode not in (0, 2):
            wrong.append(f"exit code {done.returncode}")
        if done.returncode == 2 and (len(lines) != 1 or not re.match(r"fabricast( \w+)?: \S.*\S$", lines[0])):
            wrong.append("not one sentence")
        if support.BREAKAGE.search(done.stderr):
            wrong.append("it broke")
        if done.returncode == 0 and not case.is_measured and done.stdout != self.whole[name].stdout:
            wrong.append("another answer, and exit code 0")
        if done.returncode != 0 and how in HARMLESS and fault.split(":")[0] in ("read", "write", "send"):
            wrong.append("it does not try again")
        allowed = set(self.left[name]) | {case.database + end for end in ("-journal", "-wal", "-shm") if case.database}
        wrong += [f"left {file}" for file in os.listdir(directory) if file not in allowed]
        found = self.contents(directory, case)
        wrong += [f"half of {file}" for file, data in found.items() if data != self.made[name].get(file)]
        if done.returncode == 0:
            wrong += [f"no {file}, and exit code 0" for file in self.made[name] if file not in found]
        return wrong

    def judge_again(self, name, case, directory, code):
        """Whether the same command, undisturbed, makes everything whole."""
        wrong = []
        if code != 0:
            if name == "bundle":  # it makes a new directory
                shutil.rmtree(os.path.join(directory, "b"), ignore_errors=True)
            again = self.command(directory, case.args)
            if again.returncode != 0:
                return [f"again: exit code {again.returncode}: {again.stderr}"]
            found = self.contents(directory, case)
            if set(found) != set(self.made[name]) or (found != self.made[name] and name != "run"):  # a trace has the number of its run
                wrong.append("again: other files")
        if case.database:
            try:
                rows = tables_of(os.path.join(directory, case.database))
            except (AssertionError, sqlite3.Error) as error:
                return wrong + [f"database: {error}"]
            whole = self.rows[name]
            if case.is_measured:
                rows, whole = ({run: {table: len(found) for table, found in of.items()} for run, of in one.items()} for one in (rows, whole))
            runs = [run for run in rows if run != 0]
            may_be = [whole[max(whole)], *self.first[name]]
            if rows.get(0) != whole.get(0) or len(runs) > len(whole) + 1 or any(rows[run] not in may_be for run in runs):
                wrong.append(f"database: runs {runs}, not the rows of an undisturbed command")
        return wrong

    def prepare(self, name, case):
        directory = self.new_directory(f"{name}-prepared")
        for args in case.prepare:
            done = self.command(directory, args)
            self.assertEqual(done.returncode, 0, done.stderr)
        whole = shutil.copytree(directory, self.path(f"{name}-whole"))
        self.whole[name] = self.command(whole, case.args)
        self.assertEqual(self.whole[name].returncode, 0, self.whole[name].stderr)
        self.made[name] = self.contents(whole, case)
        self.left[name] = os.listdir(whole)
        self.rows[name] = tables_of(os.path.join(whole, case.database)) if case.database else {}
        self.first[name] = self.rows_at_first(name, case, directory) if case.first else []
        return directory

    def rows_at_first(self, name, case, directory):
        """Rows of the runs that a command leaves that could not add to them."""
        place = shutil.copytree(directory, self.path(f"{name}-first"))
        done = self.command(place, [*case.args, *case.first])
        self.assertEqual(done.returncode, 0, done.stderr)
        return [found for run, found in tables_of(os.path.join(place, case.database)).items() if run != 0]


class World(WorldTest):
    def inject(self, name, case, prepared, fault):
        """FALSE: the command makes fewer such calls."""
        log = self.path("log")
        if os.path.exists(log):
            os.unlink(log)
        directory = shutil.copytree(prepared, self.path("now"))
        try:
            done = self.command(directory, case.args, fault)
            if done.returncode == 99:
                self.skipTest("the kernel traps no calls here")
            where = support.read(log).strip()
            if not where:
                return False
            self.n_points += 1
            self.n_refused += done.returncode != 0
            wrong = self.judge(name, case, fault, directory, done) + self.judge_again(name, case, directory, done.returncode)
            if wrong:
                self.failures.append(f"{name} {fault} ({where}): {'; '.join(wrong)}; {done.stderr.strip()[:300]}")
            return True
        finally:
            shutil.rmtree(directory)

    def points(self, name, case, prepared, family, how, most):
        """A few points of a kind, the first and others further on; or all."""
        nth, step = 1, 1
        while self.inject(name, case, prepared, f"{family}:{nth}:{how}"):
            if ALL is None:
                most -= 1
                if most == 0:
                    break
                step = 2 * step + 1
            nth += step

    def try_commands(self, names):
        self.whole, self.made, self.left, self.rows, self.first = {}, {}, {}, {}, {}
        for name in names:
            prepared = self.prepare(name, CASES[name])
            for family, how, most in KINDS:
                before = self.n_points
                self.points(name, CASES[name], prepared, family, how, most)
                if ALL is not None:
                    print(f"{name}: {family} {how}: {self.n_points - before} points", flush=True)
        print(f"{self.n_points} points, {self.n_refused} of them ended the command, {len(self.failures)} wrongly")
        self.assertEqual(self.failures, [], "\n".join(self.failures))

    def test_each_call_fails_once(self):
        self.try_commands(ALL or list(CASES) if ALL is not None else ["run", "sweep", "report"])

    def test_a_message_goes_on_after_a_part(self):
        """Those that introduce the two ends of `measure tcp` to each other."""
        self.whole, self.made, self.left, self.rows, self.first = {}, {}, {}, {}, {}
        prepared = self.prepare("measure", CASES["measure"])
        for nth in (2, 3, 4):
            self.assertTrue(self.inject("measure", CASES["measure"], prepared, f"send:{nth}:short"))
        self.assertEqual(self.failures, [], "\n".join(self.failures))

    def test_what_is_read_is_whole_or_none(self):
        """A read that fails is no table that an older program did not record. SQLite tries each read three times."""
        self.whole, self.made, self.left, self.rows, self.first = {}, {}, {}, {}, {}
        for name in ("trace", "report"):
            prepared, nth = self.prepare(name, CASES[name]), 1
            while self.inject(name, CASES[name], prepared, f"read:{nth}:EIO"):
                nth += 3
            self.assertGreater(nth, 60)
        self.assertEqual(self.failures, [], "\n".join(self.failures))


if __name__ == "__main__":
    INJECT = os.path.abspath(sys.argv.pop(2))
    if "--all" in sys.argv:
        at = sys.argv.index("--all")
        ALL = sys.argv[at + 1:]
        del sys.argv[at:]
    support.main()
