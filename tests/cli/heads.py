#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The heads of the scenarios say what comes out, and it does.

    # simulator: NAME VALUE UNIT     what `fabricast run` prints for the last iteration, to 0.1 %
    # derived: NAME VALUE UNIT       what the head derives by hand, to 1 %

NAME is step or iteration (the same), compute, communication or exposed; UNIT is s, ms, us or ns.
"""
import json
import os
import re

from support import SCENARIOS, CliTest, main, read

TOLERANCE = {"simulator": 1e-3, "derived": 1e-2}
KEYS = {"step": "duration_s", "iteration": "duration_s", "compute": "compute_s", "communication": "comm_s",
        "exposed": "exposed_s"}
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
MARK = re.compile(r"#\s*(simulator|derived):(.*)")
CLAIM = re.compile(r"# (simulator|derived): (\w+) ([0-9.]+) (\w+)")


def claims(text):
    """(kind, name, seconds, line) of every marked line."""
    for line in text.splitlines():
        if MARK.match(line):
            claim = CLAIM.fullmatch(line)
            if claim is None or claim[2] not in KEYS or claim[4] not in UNITS:
                raise AssertionError(f"not as '# simulator: exposed 64.21 ms': {line}")
            yield claim[1], claim[2], float(claim[3]) * UNITS[claim[4]], line


class Heads(CliTest):
    def test_scenarios(self):
        for path in SCENARIOS:
            with self.subTest(os.path.basename(path)):
                made = list(claims(read(path)))
                if made:
                    self.check(path, made)

    def check(self, path, made):
        done = self.fabricast("run", path, "--no-db", "--format", "json")  # it may say that the job does not fit
        self.assertEqual(done.returncode, 0, done.stderr)
        last = json.loads(done.stdout)["iterations"][-1]
        for kind, name, seconds, line in made:
            with self.subTest(line):
                found = last[KEYS[name]]
                self.assertLessEqual(abs(found - seconds), TOLERANCE[kind] * max(abs(found), abs(seconds)),
                                     f"the simulator says {found:.6g} s")


if __name__ == "__main__":
    main()
