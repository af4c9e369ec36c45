#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""axe.py: the pages of `fabricast report` and `fabricast explore`, and the slides, under axe-core. site.py does the same
with the site.

Skipped (77) where axe-core or Chromium is missing.
"""
import os
import sys
import unittest

import accessible
import browser
import support
from report_data import add_sweep
from serving import shared

DDP = os.path.join(support.SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")
CLASSES = os.path.join(support.SOURCE, "scenarios", "fsdp-8b-straggler.yaml")  # more than one timeline
EXPLORE = os.path.join(support.SOURCE, "scenarios", "explore.yaml")


class Axe(support.CliTest):
    @classmethod
    def setUpClass(cls):
        cls.checker = accessible.Checker()
        cls.addClassCleanup(cls.checker.close)

    def test_report(self):
        self.good("run", DDP, "--db", "results.db")
        self.good("run", CLASSES, "--db", "results.db", "--no-band")
        add_sweep(self.path("results.db"))
        self.good("report", "--db", "results.db", "--run", "2", "--run", "1", "--sweep", "1", "-o", "report.html")
        self.checker.check(self, self.path("report.html"))

    def test_planning(self):
        self.good("run", DDP, "--db", "results.db", "--set", "job.train_tokens=1e12")
        self.good("report", "--for", "planning", "--db", "results.db", "-o", "planning.html")
        self.checker.check(self, self.path("planning.html"))

    def test_studies(self):
        for args in (("size", DDP, "--vary", "cluster.nic_rate=200..400Gb/s:100", "--target", "exposed<=60%"), ("cost", DDP),
                     ("upgrade", DDP, "--only", "nic,nics"), ("compare", DDP, "--vary", "cluster.nics_per_node=1,2")):
            with self.subTest(args[0]):
                self.write("study.json", self.good(*args, "--format", "json"))
                self.good("report", "study.json", "-o", "study.html")
                self.checker.check(self, self.path("study.html"))

    def test_slides(self):
        self.checker.check(self, os.path.join(support.SOURCE, "docs", "tutorials", "slides.html"))

    def test_explore(self):
        self.checker.check(self, shared(EXPLORE).url)
        # On a phone too the value of a knob is one line.
        self.checker.browser.resize(320, 900)
        heights = self.checker.browser.run("return [...document.querySelectorAll('#knobs output')].map((one) => one.offsetHeight)")
        self.assertEqual(len(heights), 13)
        self.assertLess(max(heights), 40)


if __name__ == "__main__":
    try:
        accessible.Checker().close()
    except browser.Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(support.SKIPPED)
    unittest.TestCase.maxDiff = 4000
    support.main()
