#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job that does not fit into memory: what scripts learn of it from the exit code of every command (docs/reference/verdict.md).

`oversized.py PROGRAM [Class]`.
"""
import json
import re

import answer
from answer import support

LARGE = ("--set", "job.micro_batch=64")
FITS, NONE_FITS, SECOND_FITS = "job.micro_batch=4", "job.micro_batch=64,96", "job.micro_batch=64,4"
# Commands whose answer rests on a point that does not fit.
STOPPED = (
    ("run", "hello", "--no-db", "--no-band", *LARGE), ("run", "hello", "--no-db", "--no-band", "--seeds", "2", *LARGE), ("explain", "hello", *LARGE),
    ("cost", "hello", "--no-band", *LARGE), ("compare", "hello", "--fidelity", "analytic,fluid", *LARGE), ("compare", "hello", "--vary", SECOND_FITS, "--no-band"),
    ("compare", "hello", "--vary", NONE_FITS, "--no-band"), ("whatif", "hello", "--base", "job.micro_batch=64", "--nodes", "2", "--no-band"),
    ("whatif", "hello", "--base", "job.micro_batch=64", "--set", FITS, "--no-band"), ("size", "hello", "--vary", NONE_FITS, "--target", "step<=99s"),
    ("scale", "hello", "--gpus", "8,16", "--no-band", *LARGE), ("tune", "hello", "--knobs", "bucket", *LARGE), ("upgrade", "hello", "--only", "setting", *LARGE),
    ("goodput", "hello", "--set", "reliability.failures=meta-llama3", "--no-band", *LARGE),
)
# Commands whose answer rests on another one, and that of a sweep, which answers with every point.
ANSWERED = (
    ("run", "hello", "--no-db", "--no-band"), ("explain", "hello"), ("cost", "hello", "--no-band"), ("compare", "hello", "--fidelity", "analytic,fluid"),
    ("compare", "hello", "--vary", "job.micro_batch=4,64", "--no-band"), ("compare", "hello", "--vary", SECOND_FITS, "--against", "micro_batch=4", "--no-band"),
    ("whatif", "hello", *LARGE, "--no-band"), ("size", "hello", "--vary", SECOND_FITS, "--target", "step<=99s"), ("sweep", "hello", "--vary", NONE_FITS),
    ("scale", "hello", "--gpus", "8,16", "--no-band"), ("tune", "hello", "--knobs", "micro_batch", "--set", "job.micro_batch=32"), ("upgrade", "hello", "--only", "setting"),
    ("goodput", "hello", "--set", "reliability.failures=meta-llama3", "--no-band"),
)


class Oversized(answer.AnswerTest):
    def check(self, commands, code):
        for command in commands:
            for extra in ((), ("--allow-oversized",)):
                with self.subTest(" ".join(command + extra)):
                    done = self.fabricast(*command, *extra)
                    self.assertEqual(done.returncode, 0 if extra else code, done.stderr)
                    yield done.stdout + done.stderr


class Stopped(Oversized):
    def test_exit_codes(self):
        """1, and 0 where the person allows it; the page says that the job does not fit, allowed or not, in a paragraph of its own."""
        n_stops, commands = 0, (command for command in STOPPED for _ in range(2))
        for told, command in zip(self.check(STOPPED, 1), commands):
            if command[0] in ("run", "explain", "cost", "whatif", "upgrade", "goodput") or "--fidelity" in command:  # before everything else
                self.assertTrue(told.startswith("  stop            The job does not fit: "), command)
            self.assertRegex(" ".join(told.split()), r"does not fit|do not fit|no tried value fits|does_not_fit|fits on none")
            for after in re.findall(r"(?m)^  stop {6,}\S.*\n(?: {10,}\S.*\n)*(.*)$", told):
                self.assertEqual(after, "", told)
                n_stops += 1
        self.assertGreater(n_stops, 15)


class Documents(answer.AnswerTest):
    """A document for programs goes to stdout alone: what stops the job is told beside it, with the advice in the document."""

    def test_what_stops_is_told_beside(self):
        for command in (("run", "hello", "--no-db", "--no-band"), ("run", "hello", "--no-db", "--no-band", "--seeds", "2"), ("cost", "hello", "--no-band"),
                        ("goodput", "hello", "--set", "reliability.failures=meta-llama3", "--no-band")):
            for form in ("text", "json", "csv"):
                with self.subTest(" ".join((*command, form))):
                    done = self.fabricast(*command, *LARGE, "--format", form)
                    said = f"fabricast {command[0]}: The job does not fit: "
                    self.assertEqual([line.startswith(said) for line in done.stderr.splitlines()], [True] if form != "text" else [])
                    self.assertEqual("The job does not fit: " in " ".join(done.stdout.split()), form != "csv" or "verdict" in done.stdout and "The job" in done.stdout)
                    if form == "json":
                        stops = [finding for finding in json.loads(done.stdout)["verdict"] if finding["code"] == "does_not_fit"]
                        self.assertEqual(len(stops), 1)
                        self.assertIn("It fits with", stops[0]["advice"])
                self.assertEqual(self.fabricast(*command, "--format", form).stderr, "")


class Answered(Oversized):
    def test_exit_codes(self):
        self.assertEqual(len(list(filter(None, self.check(ANSWERED, 0)))), 2 * len(ANSWERED))


if __name__ == "__main__":
    support.main()
