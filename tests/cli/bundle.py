#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bundle of a run: another machine gets the same bytes from it, and sees when it does not."""
import os
import subprocess

import support
from support import HELLO, CliTest, environment, main, read


class Bundle(CliTest):
    def setUp(self):
        super().setUp()
        self.good("run", HELLO, "--db", "run.db", "--no-band")

    def bundle(self):
        return self.good("bundle", "made", "--db", "run.db")

    def reproduce(self):
        env = {**environment(), "FABRICAST": support.PROGRAM}
        return subprocess.run([self.path("made", "reproduce")], capture_output=True, text=True, env=env, check=False)

    def test_the_same_bytes_again(self):
        self.assertIn("made/reproduce runs it again", self.bundle())
        done = self.reproduce()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("results/iterations.csv: OK", done.stdout)
        self.assertIn("links-nvlink.yaml", os.listdir(self.path("made", "data", "catalog")))
        self.assertFalse(os.path.exists(self.path("made.part")))

    def test_another_scenario_is_seen(self):
        self.bundle()
        path = self.path("made", "scenario.yaml")
        text = read(path)
        self.assertIn("iterations: ", text)
        self.write("made/scenario.yaml", text.replace("iterations: ", "iterations: 1", 1))
        done = self.reproduce()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("results/iterations.csv: FAILED", done.stdout)

    def test_nothing_is_overwritten(self):
        self.bundle()
        self.refused("bundle", "made", "--db", "run.db", names="name a directory that does not")
        os.rename(self.path("made"), self.path("made.part"))
        self.refused("bundle", "made", "--db", "run.db", names="was not finished")

    def test_what_is_not_there_is_refused(self):
        self.refused("bundle", "made", "--db", "run.db", "--run", "7", names="no run 7")
        self.refused("bundle", "made", "--db", "other.db", names="other.db")
        self.refused("bundle", "made", "--db", "run.db", "--with", "none.yaml", names="none.yaml")
        self.assertFalse(os.path.exists(self.path("made")))
        self.assertFalse(os.path.exists(self.path("made.part")))


if __name__ == "__main__":
    main()
