#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/support/child.py: a program that prints more than a pipe holds does not wait for the test that watches it."""
import sys

from support import CliTest, child, main

PRINTS = "import sys; sys.stdout.write('x' * (1 << 20)); sys.stderr.write('ready\\n'); sys.exit(3)"


class Child(CliTest):
    def test_watched_and_not_read(self):
        process = child.start(self, [sys.executable, "-c", PRINTS])
        self.assertFalse(process.runs_until(lambda: False, "it ends"))
        self.assertEqual(process.wait(), (3, "x" * (1 << 20), "ready\n"))
        self.assertEqual(process.wait_for_text("r(.)ady").group(1), "e")

    def test_ends_without_the_text(self):
        process = child.start(self, [sys.executable, "-c", PRINTS])
        with self.assertRaisesRegex(AssertionError, "ended with 3 without 'never'"):
            process.wait_for_text("never")

    def test_does_not_end(self):
        process = child.start(self, ["sleep", "1000"])
        with self.assertRaisesRegex(AssertionError, "timed out"):
            process.wait(0.01)
        process.stop()
        self.assertIsNotNone(process.returncode)


if __name__ == "__main__":
    main()
