#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full within a transaction, signals that interrupt calls, and a clock that is set back, for real: no call is made to
fail by a library (world.py), but a file system has no room, a timer sends signals, and the time of day jumps."""
import os
import signal
import subprocess
import sys
import threading
import time

import support
import world

INJECT = ""


class Disk(world.WorldTest):
    def mounted(self, kib):
        directory = self.path(f"disk-{kib}")
        os.mkdir(directory)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", directory], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", directory], check=True)
        return directory

    def full(self, directory, *args):
        """Exit code 2 with one sentence, or all was written."""
        done = self.command(directory, args)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        if done.returncode == 2:
            self.assertRegex(done.stderr, r"\Afabricast \w+: [^\n]*(full|No space left|disk)[^\n]*\n\Z")
        return done.returncode == 2

    def test_full_disks(self):
        """Of every size, until all fits: databases are whole, and no file is there in part."""
        scenario = self.write("s.yaml", world.SCENARIO)
        n_full = 0
        for kib in (32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512, 4096):
            directory = self.mounted(kib)
            was_full = self.full(directory, "run", scenario, "--db", "r.db", "--trace", "t.json")
            if was_full:
                self.assertFalse(os.path.exists(os.path.join(directory, "t.json")))
            else:
                was_full = self.full(directory, "report", "--db", "r.db", "-o", "p.html")
                self.assertNotEqual(was_full, os.path.exists(os.path.join(directory, "p.html")))
            n_full += was_full
            if os.path.exists(os.path.join(directory, "r.db")) and os.path.getsize(os.path.join(directory, "r.db")) > 0:
                self.assertLessEqual(set(world.tables_of(os.path.join(directory, "r.db"))), {0, 1})
            self.assertLessEqual(set(os.listdir(directory)), {"r.db", "r.db-wal", "r.db-shm", "r.db-journal", "t.json", "p.html"})
        self.assertGreater(n_full, 3)

    def test_a_sweep_goes_on_after_a_full_disk(self):
        scenario = self.write("s.yaml", world.SCENARIO)
        args = ("sweep", scenario, "--db", "r.db", "--vary", "job.micro_batch=1..64", "--jobs", "1")
        whole = self.new_directory("whole")
        self.assertEqual(self.command(whole, args).returncode, 0)
        directory = self.mounted(256)
        self.assertTrue(self.full(directory, *args))
        subprocess.run(["mount", "-o", "remount,size=16m", directory], check=True)
        self.assertFalse(self.full(directory, *args))
        self.assertEqual(world.tables_of(os.path.join(directory, "r.db")), world.tables_of(os.path.join(whole, "r.db")))


class Signals(world.WorldTest):
    def test_signals_that_interrupt(self):
        """SIGCONT and SIGWINCH a thousand times a second, as a terminal that is dragged sends them, change nothing."""
        directory = self.new_directory("signals")
        for name, case in (("run", world.CASES["run"]), ("sweep", world.CASES["sweep"])):
            self.whole, self.made, self.left, self.rows, self.first = {}, {}, {}, {}, {}
            self.prepare(name, case)
            running = self.start_program(*case.args, cwd=directory)
            stop = threading.Event()

            def disturb(pid=running.pid, stop=stop):
                while not stop.is_set():
                    try:
                        os.kill(pid, signal.SIGCONT)
                        os.kill(pid, signal.SIGWINCH)
                    except ProcessLookupError:
                        return
                    time.sleep(0.001)
            thread = threading.Thread(target=disturb)
            thread.start()
            code, out, err = running.wait()
            stop.set()
            thread.join()
            self.assertEqual((code, out, err), (0, self.whole[name].stdout, ""))
            self.assertEqual(world.tables_of(os.path.join(directory, "r.db")), self.rows[name])
            os.unlink(os.path.join(directory, "r.db"))


class Clock(world.WorldTest):
    def test_a_clock_that_is_set_back(self):
        """An hour, at the n-th look at the time of day: no figure, row or file hangs on it."""
        for name in ("run", "sweep", "report", "size", "bundle"):
            case = world.CASES[name]
            self.whole, self.made, self.left, self.rows, self.first = {}, {}, {}, {}, {}
            prepared = self.prepare(name, case)
            for look in (1, 2, 5):
                directory = self.path(f"{name}-{look}")
                subprocess.run(["cp", "-r", prepared, directory], check=True)
                env = support.environment() | {"FABRICAST_THREADS": "1", "LD_PRELOAD": INJECT, "FAB_FAULT_CLOCK": str(look)}
                done = subprocess.run([support.PROGRAM, *case.args], cwd=directory, env=env, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, self.whole[name].stdout, ""))
                self.assertEqual(self.contents(directory, case), self.made[name])
                if case.database:
                    self.assertEqual(world.tables_of(os.path.join(directory, case.database)), self.rows[name])


if __name__ == "__main__":
    INJECT = os.path.abspath(sys.argv.pop(2))
    support.main()
