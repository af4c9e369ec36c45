#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The heads of the scenarios say what comes out, and it does. Whatever comes out has the promised keys and types, and
sums that hold.

    # simulator: NAME VALUE UNIT     what `fabricast run` prints for the last iteration, to 0.1 %
    # derived: NAME VALUE UNIT       what the head derives by hand, to 1 %

NAME is step or iteration (the same), compute, communication, exposed or memory; UNIT is s, ms, us or ns, GB for memory,
% for exposed: its share of the step. `with KEY=VALUE ...` at the end: as `--set` of each changes it.
"""
import json
import os
import re

from support import LEARN, SCENARIOS, CliTest, main, read, smaller

TOLERANCE = {"simulator": 1e-3, "derived": 1e-2}
KEYS = {"step": "step_s", "iteration": "step_s", "compute": "compute_s", "communication": "comm_s",
        "exposed": "exposed_s", "waiting": "waiting_s", "memory": "bytes"}
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "GB": 1e9, "%": 1e-2}
MARK = re.compile(r"#\s*(simulator|derived):(.*)")
CLAIM = re.compile(r"# (simulator|derived): (\w+) ([0-9.]+) (\w+|%)(?: with (\S+=\S+(?: \S+=\S+)*))?")


PS = 2e-12  # times are whole ps; a sum of two may be off by one in each


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def claims(text):
    """(kind, name, value, is it a share?, sets, line) of every marked line."""
    for line in text.splitlines():
        if MARK.match(line):
            claim = CLAIM.fullmatch(line)
            if claim is None or claim[2] not in KEYS or claim[4] not in UNITS:
                raise AssertionError(f"not as '# simulator: exposed 64.21 ms': {line}")
            yield claim[1], claim[2], float(claim[3]) * UNITS[claim[4]], claim[4] == "%", claim[5] or "", line


class Heads(CliTest):
    def test_scenarios(self):
        for path in SCENARIOS + LEARN:
            with self.subTest(os.path.basename(path)):
                made = list(claims(read(path)))
                for sets in sorted({claim[4] for claim in made}):
                    self.check(self.result(path, sets), [claim for claim in made if claim[4] == sets])
                if not made:
                    self.result(path, "", *smaller(path))

    def test_learn(self):
        """A question, how to find out, an answer with what comes out of every run; and few lines below them."""
        for path in LEARN:
            with self.subTest(os.path.basename(path)):
                head, _, rest = read(path).partition("\nname: learn-" + os.path.basename(path).removesuffix(".yaml") + "\n")
                self.assertRegex(head, r"(?s)^# \d+\. .*\n# Question: .*\n# Run: fabricast run .*\n# Answer: ")
                self.assertLessEqual(rest.count("\n"), 15)
                runs = re.sub(r"\\\n# *", "", head.partition("\n# Run:")[2].partition("\n#\n")[0]).split("fabricast run ")[1:]
                shown = {" ".join(word.strip("'") for word in run.replace("'[]'", "[]").split() if "=" in word)
                         for run in runs if "fabricast size" not in run}
                self.assertEqual(shown - {claim[4] for claim in claims(head)}, set())

    def result(self, path, sets, *more):
        options = [word for one in sets.split() for word in ("--set", one)]
        result = self.json("run", path, *options, *more, "--no-db", "--no-band", "--no-bottleneck", "--allow-oversized")
        self.assertTrue(result["iterations"])
        for row in result["iterations"]:
            self.check_iteration(row)
        self.assertTrue(result["binding_link"] is None or result["binding_link"] != "")
        self.assertIsInstance(result["events"], int)
        measured = result["measured"]
        self.assertIsInstance(measured["peak_rss_bytes"], int)
        self.assertTrue(is_number(measured["wall_s"]))
        self.assertGreater(min(result["events"], measured["peak_rss_bytes"], measured["wall_s"]), 0)
        return result

    def check_iteration(self, row):
        for key, value in row.items():
            self.assertTrue(is_number(value) and value >= 0, f"{key}: {value!r}")
        self.assertAlmostEqual(row["exposed_s"], row["comm_s"] - row["overlapped_s"], delta=PS)
        self.assertLessEqual(row["waiting_s"], row["idle_s"])
        self.assertLessEqual(row["exposed_inter_node_s"], row["exposed_s"])
        self.assertAlmostEqual(row["idle_s"], row["step_s"] - row["compute_s"] - row["exposed_s"], delta=PS)
        self.assertGreater(row["step_s"], 0)
        self.assertLessEqual(row["mfu_fraction"], 1)

    def check(self, answer, made):
        last = {**answer["iterations"][-1], **(answer.get("memory") or {})}
        for kind, name, value, is_share, _, line in made:
            with self.subTest(line):
                found = last[KEYS[name]] / (last["step_s"] if is_share else 1)
                self.assertLessEqual(abs(found - value), TOLERANCE[kind] * max(abs(found), abs(value)),
                                     f"the simulator says {found:.6g}")


if __name__ == "__main__":
    main()
