#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results files that cannot be written: exit code 2, one line that names the file, and nothing half done."""
import os
import resource
import shutil
import signal
import sqlite3
import subprocess

from support import HELLO, SOURCE, CliTest, environment, main, read
import support

NOBODY = 65534
IS_ROOT = os.geteuid() == 0


def limit_files(n_bytes):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # as a shell has it, where Python ignores it
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
    return limit


class Trouble(CliTest):
    def run_into(self, db, **how):
        return self.refused("run", HELLO, "--db", db, names=db, **how)

    def left(self):
        return sorted(os.listdir(self.directory))

    def runs(self, db):
        return [row["run_id"] for row in self.json("query", "runs", "--db", db)]

    def check_file(self, db):
        """Opens, whole, and every run in it has all its iterations."""
        database = sqlite3.connect(self.path(db))
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual(database.execute("PRAGMA foreign_key_check").fetchall(), [])
        tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        n_runs = database.execute("SELECT count (*) FROM run").fetchone()[0] if "run" in tables else 0
        if n_runs == 0:
            for name in tables:
                columns = [row[1] for row in database.execute(f"PRAGMA table_info ({name})")]
                if "run_id" in columns:
                    self.assertEqual(database.execute(f"SELECT count (*) FROM {name}").fetchone(), (0,), name)
        database.close()
        return n_runs


class WrongPlaces(Trouble):
    def test_directory_missing(self):
        self.run_into("nowhere/x.db")
        self.assertEqual(self.left(), [])

    def test_a_directory(self):
        os.mkdir(self.path("x.db"))
        self.run_into("x.db")
        self.assertEqual((self.left(), os.listdir(self.path("x.db"))), (["x.db"], []))

    def test_not_a_database(self):
        self.write("notes.txt", "Not a database, and dear to somebody.\n" * 100)
        before = read(self.path("notes.txt"))
        self.run_into("notes.txt")
        self.assertEqual((self.left(), read(self.path("notes.txt"))), (["notes.txt"], before))

    def test_somebody_elses_database(self):
        database = sqlite3.connect(self.path("x.db"))
        database.execute("CREATE TABLE run (song TEXT)")
        database.commit()
        database.close()
        with open(self.path("x.db"), "rb") as file:
            before = file.read()
        self.run_into("x.db")
        with open(self.path("x.db"), "rb") as file:
            self.assertEqual((self.left(), file.read()), (["x.db"], before))

    def test_a_device(self):
        self.run_into("/dev/full")

    def test_nothing_to_ask(self):
        self.refused("query", "iterations", "--db", "x.db", names="x.db")
        self.write("notes.txt", "text\n")
        self.refused("query", "iterations", "--db", "notes.txt", names="notes.txt")
        self.assertEqual(self.left(), ["notes.txt"])


class ReadOnly(Trouble):
    """As nobody, because root may write everywhere. The program comes along: nobody may not see the checkout."""

    def setUp(self):
        super().setUp()
        self.program = shutil.copy(support.PROGRAM, self.path("fabricast"))
        shutil.copytree(os.path.join(SOURCE, "models", "catalog"), self.path("data", "catalog"))
        shutil.copy(HELLO, self.path("hello.yaml"))
        os.mkdir(self.path("results"))
        self.good("run", "hello.yaml", "--db", "results/x.db")
        subprocess.run(["chmod", "-R", "a+rX", self.directory], check=True)
        self.how = {"program": self.program, "env": {**environment(), "FABRICAST_DATA": self.path("data")}}
        if IS_ROOT:
            self.how["user"] = self.how["group"] = NOBODY
            self.how["extra_groups"] = []
        try:
            self.good("check", "--quiet", "hello.yaml", **self.how)
        except (PermissionError, AssertionError) as reason:
            self.skipTest(f"another user cannot run programs here: {reason}")

    def make_read_only(self):
        os.chmod(self.path("results", "x.db"), 0o444)
        os.chmod(self.path("results"), 0o555)
        self.addCleanup(os.chmod, self.path("results"), 0o755)

    def run_into(self, db, **how):
        return self.refused("run", "hello.yaml", "--db", db, names=db, **self.how)

    def test_file(self):
        os.chmod(self.path("results", "x.db"), 0o444)
        os.chmod(self.path("results"), 0o777)
        self.run_into("results/x.db")
        self.assertEqual((os.listdir(self.path("results")), self.runs("results/x.db")), (["x.db"], [1]))

    def test_directory(self):
        self.make_read_only()
        self.run_into("results/x.db")
        self.run_into("results/new.db")
        self.assertEqual(os.listdir(self.path("results")), ["x.db"])

    def test_reading_needs_no_more(self):
        self.make_read_only()
        self.assertIn("0.35305", self.good("query", "iterations", "--db", "results/x.db", **self.how))

    def test_unreadable(self):
        os.chmod(self.path("results", "x.db"), 0)
        self.refused("query", "iterations", "--db", "results/x.db", names="results/x.db", **self.how)
        self.run_into("results/x.db")


class DiskFull(Trouble):
    """The run after it, with room, finds the file in order."""

    def check_recovers(self, db, n_before):
        self.assertEqual(self.check_file(db), n_before)
        self.good("run", HELLO, "--db", db)
        self.assertEqual(self.check_file(db), n_before + 1)

    def test_new_file(self):
        for limit in (0, 4096, 100_000, 300_000, 2_000_000):
            with self.subTest(limit):
                how = {"preexec_fn": limit_files(limit)}
                self.refused("run", HELLO, "--db", f"{limit}.db", "--iterations", "500", names=f"{limit}.db", **how)
                self.check_recovers(f"{limit}.db", 0)

    def test_file_with_a_run(self):
        self.good("run", HELLO, "--db", "x.db")
        before = self.good("query", "timeline", "--db", "x.db")
        for limit in (300_000, 1_000_000):
            self.refused("run", HELLO, "--db", "x.db", "--iterations", "500", names="x.db",
                         preexec_fn=limit_files(limit))
            self.assertEqual(self.left(), ["x.db"])
        self.assertEqual(before, self.good("query", "timeline", "--db", "x.db"))
        self.check_recovers("x.db", 1)

    def test_small_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False)
        if mount.returncode != 0:
            self.skipTest("mounting a small disk is not permitted here")
        try:
            self.refused("run", HELLO, "--db", "disk/x.db", "--iterations", "500", names="disk/x.db")
            subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)  # somebody makes room
            self.check_recovers("disk/x.db", 0)
            self.assertEqual(os.listdir(disk), ["x.db"])
        finally:
            subprocess.run(["umount", disk], check=True)


class Killed(Trouble):
    def kill_in_the_middle(self, db):
        process, log = self.start_program("run", HELLO, "--db", db, "--iterations", "100000"), self.path(db + "-wal")
        self.assertTrue(process.runs_until(lambda: os.path.exists(log) and os.path.getsize(log) > 4_000_000, "it writes"))
        process.kill()
        self.assertEqual(process.wait()[:2], (-signal.SIGKILL, ""))

    def test_new_file(self):
        self.kill_in_the_middle("x.db")
        self.assertEqual(self.check_file("x.db"), 0)
        self.good("run", HELLO, "--db", "x.db")
        self.assertEqual((self.check_file("x.db"), self.left()), (1, ["x.db"]))

    def test_file_with_a_run(self):
        self.good("run", HELLO, "--db", "x.db")
        before = self.good("query", "timeline", "--db", "x.db")
        self.kill_in_the_middle("x.db")
        # Somebody asks before anybody writes.
        self.assertEqual(before, self.good("query", "timeline", "--db", "x.db"))
        self.assertEqual((self.check_file("x.db"), self.runs("x.db")), (1, [1]))
        self.good("run", HELLO, "--db", "x.db")
        self.assertEqual((self.check_file("x.db"), self.runs("x.db")), (2, [1, 2]))


class OverResults(Trouble):
    """Hours of runs are in a results file: no command that writes another file replaces it."""

    def test_every_writer(self):
        self.good("run", HELLO, "--db", "x.db")
        shutil.copy(HELLO, self.path("hello.yaml"))
        os.symlink("x.db", self.path("link"))
        with open(self.path("x.db"), "rb") as file:
            before = file.read()
        writers = [("trace", "--db", "x.db", "-o"), ("report", "--db", "x.db", "-o"), ("run", "hello.yaml", "--trace"),
                   ("tune", "hello.yaml", "--knobs", "bucket", "-o"), ("plan", "hello.yaml", "-o"),
                   ("upgrade", "hello.yaml", "-o"), ("validate", "setups", "--entries")]
        for writer in writers:
            for name in "x.db", "link":
                with self.subTest(writer=writer, name=name):
                    self.refused(*writer, name, names="holds measurements or runs, which would be lost")
        for writer in ("trace", "--db", "x.db", "--format", "kineto", "-o"), ("collective", "--node", "dgx-h100", "-J"):
            with self.subTest(writer=writer):
                self.refused(*writer, "x.db", names="x.db")
        with open(self.path("x.db"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(self.left(), ["hello.yaml", "link", "x.db"])

    def test_the_file_of_this_run(self):
        for is_there in False, True:
            self.refused("run", HELLO, "--db", "x.db", "--trace", "./x.db", names="it would be lost")
            self.assertEqual(self.left(), ["x.db"] if is_there else [])
            self.good("run", HELLO, "--db", "x.db")

    def test_what_is_read(self):
        shutil.copy(HELLO, self.path("hello.yaml"))
        before = read(self.path("hello.yaml"))
        for command in ("run", "--trace"), ("tune", "-o"), ("plan", "-o"), ("upgrade", "-o"):
            self.refused(command[0], "hello.yaml", command[1], "hello.yaml", names="it would be lost")
        self.assertEqual((read(self.path("hello.yaml")), self.left()), (before, ["hello.yaml"]))

    def test_a_directory_that_is_missing_is_told_first(self):
        """Not after the search, whose answer would be lost: on a machine this large it takes far longer than a test."""
        for command in "plan", "tune", "upgrade":
            self.refused(command, "zero3-70b-16384", "-o", "nowhere/x.yaml", names="there is no directory 'nowhere'")


class Output(CliTest):
    def test_an_answer_is_shown_when_its_file_cannot_be_written(self):
        for command in ("tune", HELLO, "--knobs", "bucket", "-o"), ("run", HELLO, "--db", "x.db", "--trace"):
            done = self.fabricast(*command, "/dev/full")
            self.assertEqual(done.returncode, 2)
            self.assertIn("No space left on device", done.stderr)
            self.assertIn("verdict", done.stdout)

    def test_full(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([support.PROGRAM, "run", HELLO, "--no-db"], stdout=full, stderr=subprocess.PIPE,
                                  env=environment(), check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot write", done.stderr)


if __name__ == "__main__":
    main()
