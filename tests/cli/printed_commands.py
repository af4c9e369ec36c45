#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that answers, warnings and errors print between `...` do what they promise, in folders whose names have a
space too."""
import os
import shlex
import unittest

from support import SOURCE, CliTest, main

CASES = os.path.join(SOURCE, "validate", "variants", "cases")


class PrintedCommands(CliTest):
    def setUp(self):
        super().setUp()
        self.folder = self.path("a folder's name")
        os.mkdir(self.folder)

    def run_printed(self, text):
        """Runs the one command that the text prints, and returns what that prints."""
        self.assertEqual(text.count("`"), 2, text)
        words = shlex.split(text.split("`")[1])
        self.assertEqual(words[0], "fabricast", text)
        return self.good(*words[1:])

    def copy_of(self, name):
        with open(os.path.join(CASES, name), encoding="utf-8") as file:
            return self.write(os.path.join("a folder's name", name), file.read())

    def test_of_a_warning(self):
        for path in (os.path.join(CASES, "incast-8.yaml"), self.copy_of("incast-8.yaml")):
            line = self.fabricast("check", path, "--quiet", "--set", "fidelity=fluid").stderr
            if "`" not in line:
                self.assertIn("no fidelity of this build does", line)
                raise unittest.SkipTest("no fidelity here sees queues")
            self.assertIn("incast-8", self.run_printed(line))

    def test_of_a_run_that_was_stored(self):
        db = os.path.join(self.folder, "results.db")
        page = self.good("run", os.path.join(CASES, "incast-8.yaml"), "--db", db, "--no-band")
        self.assertIn("iteration", self.run_printed(page))
        page = self.good("run", os.path.join(CASES, "incast-8.yaml"), "--db", db, "--seeds", "2")
        self.assertIn("incast-8", self.run_printed(page))

    def test_of_a_sweep(self):
        db = os.path.join(self.folder, "sweep.db")
        page = self.good("sweep", os.path.join(CASES, "ddp-small.yaml"), "--vary", "job.micro_batch=1,2", "--db", db)
        self.assertIn("micro_batch", self.run_printed(page))

    def test_of_a_secret_that_others_may_read(self):
        secret = self.write(os.path.join("a folder's name", "secret"), "sixteen letters and more\n")
        os.chmod(secret, 0o644)
        done = self.fabricast("measure", "tcp", "--listen", ":0", "--secret-file", secret)
        self.assertEqual(done.returncode, 2, done.stdout)
        words = shlex.split(done.stderr.split("`")[1])
        self.assertEqual(words, ["chmod", "600", secret])


if __name__ == "__main__":
    main()
