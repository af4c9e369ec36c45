#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What help calls the default of an option is what happens without it, and another value makes a difference.

`defaults.py PROGRAM`. Help is read: a default that is not tried here has to be named in UNTRIED.
"""
import os
import re

import answer
from answer import support

LINK = os.path.join(support.SOURCE, "docs", "examples", "link.csv")
# Below each command: words with which a default shows, and for each option another value than the default, or None.
BASES = {
    "collective": (("--node", "dgx-a100", "-b", "1M", "-e", "4M", "--no-band"),
                   {"--nodes": "2", "--nthreads": None, "--op": "all_gather", "--datatype": None, "--stepfactor": "4", "--library": "plain", "--form": "closed"}),
    "p2p": (("--node", "dgx-a100", "-g", "2"), {"--nodes": "2"}),
    "plan": (("hello",), {"--top": "13", "--by": "memory"}),
    "tune": (("hello",), {"--by": "memory"}),
    "upgrade": (("ddp-2b-4nodes-200g", "--only", "nics,nic,setting", "--no-band"), {"--top": "1"}),
    "scale": (("mpi-rig-100m", "--gpus", "1:16:x2", "--no-band"), {"--efficiency": "50%"}),
    "goodput": (("ddp-2b-4nodes-200g", "--set", "reliability.failures=meta-llama3"), {"--trials": "10"}),
    "topo": (("--node", "dgx-a100"), {"--nodes": "4"}),
    "calibrate": ((LINK, "--base", "ib-hdr", "--format", "text"), {"--holdout": "20%", "--count": None, "--hops": "1"}),
    "describe": (("models", "gpt2-xl"), {"--sequence": "1024"}),
    "compare": (("hello", "mpi-rig-100m", "--no-band", "--at-equal", "step"), {"--by": "cluster.nic_rate=100Gb/s,200Gb/s"}),
}
# Of a file, an address, a time of the day, or of how many processors there are; and those whose default is no value but words.
UNTRIED = {"--db", "--out", "--port", "--listen", "--jobs", "--peer", "--date", "--gpus-per-node", "--nic", "--fabric", "--maxbytes", "--algorithm", "--fidelity",
           "--against", "--gpus", "--vary", "--strategies", "--memory", "--only", "--from", "--name", "--nodes", "--system", "--source", "--steps", "--kinds", "--base",
           "--knobs", "--accept", "--measured", "--run", "--sweep", "--iteration", "--ranks", "--brief", "--full", "--seeds", "--units", "--tolerance", "--check-from", "--minbytes"}
SPELT = {"1/3": "33.3333333333%", "2, through one switch": "2", "200; 0: none": "200"}


class Defaults(answer.AnswerTest):
    def listed(self, command):
        """{option: its default} of the help of a command; the default is a value, or one of several words."""
        found = {}
        for option, words in re.findall(r"(?m)^  (?:-\w, |    )?(--[\w-]+)(?:=\S+)? +(.*)$", self.good(command, "--help")):
            value = re.search(r"(?:^|[\s,;:])([\w.]+) \(default\)", words) or re.search(r"\(default:? ([^)]*)\)", words)
            if value and option != "--format":
                found[option] = value[1]
        return found

    def test_each_default_is_what_happens(self):
        for command, (base, others) in BASES.items():
            defaults = self.listed(command)
            with self.subTest(command):
                self.assertLessEqual(set(others), set(defaults), command)
                without = self.fabricast(command, *base).stdout
                self.assertTrue(without)
                for option, value in others.items():
                    same = SPELT.get(defaults[option], defaults[option].replace(", ", ","))
                    self.assertEqual(self.fabricast(command, *base, option, same).stdout, without, f"{command} {option} {same}")
                    if value is not None:
                        self.assertNotEqual(self.fabricast(command, *base, option, value).stdout, without, f"{command} {option} {value}")

    def test_formats(self):
        """The first format is the one without the option."""
        for command, words in (("run", ("hello", "--no-db", "--no-band", "--iterations", "1")), ("cost", ("hello", "--no-band")), ("explain", ("hello",)),
                               ("p2p", ("--node", "dgx-a100", "-g", "2")), ("topo", ("--node", "dgx-a100"))):
            plain = self.good(command, *words)
            self.assertEqual(self.good(command, *words, "--format", "text"), plain)
            self.assertNotEqual(self.good(command, *words, "--format", "json"), plain)

    def test_rows_that_help_names(self):
        """They are rows of the command's own page."""
        words = {"run": ("hello", "--no-db"), "compare": ("hello",), "cost": ("hello",),
                 "mix": ("mix-512",)}
        for command in support.commands(self.good("--help")):
            named = re.search(r"(?m)^  --rows=ROWS +Print these rows of the page alone: (\S+)$", self.good(command, "--help"))
            self.assertEqual(named is not None, command in words, command)
            if named:
                rows = named[1].split(",")
                page = self.good(command, *words[command], "--rows", named[1])
                self.assertGreaterEqual(len(page.splitlines()), len(rows), page)
                for row in rows:
                    self.assertRegex(page, rf"(?m)^ +{row.replace('-', ' ')} ")

    def test_no_default_is_left_out(self):
        for command in support.commands(self.good("--help")):
            known = set(BASES[command][1]) if command in BASES else set()
            left = set(self.listed(command)) - known - UNTRIED
            self.assertEqual(left, set(), command)

    def test_sizes_that_are_judged(self):
        """From 64M on, and up to 20 % below the prediction."""
        measured = self.write("own.txt", self.good("collective", "--node", "dgx-a100", "-b", "16M", "-e", "256M", "--no-band"))
        command = ("collective", "--node", "dgx-a100", "--no-band", "--check", measured)
        without = self.good(*command)
        self.assertEqual(self.good(*command, "--check-from", "64M", "--tolerance", "20%"), without)
        for other in (("--check-from", "32M"), ("--check-from", "128M"), ("--tolerance", "21%")):
            self.assertNotEqual(self.good(*command, *other), without)
        one = self.good("collective", "--node", "dgx-a100", "--no-band")
        self.assertEqual(self.good("collective", "--node", "dgx-a100", "--no-band", "-b", "32M", "-e", "32M"), one)


if __name__ == "__main__":
    support.main()
