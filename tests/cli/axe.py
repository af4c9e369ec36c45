#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""axe.py: the pages of `fabricast report` and `fabricast explore`, and the slides, under axe-core. site.py does the same
with a few pages of the site.

`axe.py PROGRAM --all SITE` looks at every page of the site, at the reports of all shipped scenarios and at explore of one
scenario of each kind of job; `./dev docs --check` calls it, and it takes over an hour.

Skipped (77) where axe-core or Chromium is missing.
"""
import os
import re
import sys
import time
import unittest

import accessible
import browser
import support
from report_data import add_sweep
from serving import Server, shared

DDP = os.path.join(support.SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")
CLASSES = os.path.join(support.SOURCE, "scenarios", "fsdp-8b-straggler.yaml")  # more than one timeline
EXPLORE = os.path.join(support.SOURCE, "scenarios", "explore.yaml")
SITE = sys.argv.pop(3) if sys.argv[2:3] == ["--all"] else None
EXPLORED = ("ddp", "zero", "fsdp", "megatron")  # kinds of jobs that explore opens
EVERY_VIEW = ((1280, "light"), (1280, "dark"), (320, "light"), (320, "dark"))


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
                self.checker.check(self, self.path("study.html"), EVERY_VIEW if support.IS_WHOLE else EVERY_VIEW[3:])

    def test_slides(self):
        self.checker.check(self, os.path.join(support.SOURCE, "docs", "tutorials", "slides.html"))

    def test_explore(self):
        self.checker.check(self, shared(EXPLORE).url)
        # On a phone too the value of a knob is one line.
        self.checker.browser.resize(320, 900)
        heights = self.checker.browser.run("return [...document.querySelectorAll('#knobs output')].map((one) => one.offsetHeight)")
        self.assertEqual(len(heights), 13)
        self.assertLess(max(heights), 40)


class Whole(support.CliTest):
    """Every page that a reader can come to."""

    def setUp(self):
        super().setUp()
        self.checker = accessible.Checker()
        self.addCleanup(self.checker.close)

    def check(self, page, address, views=((1280, "dark"), (320, "light")), is_still=False):
        begun = time.monotonic()
        with self.subTest(page):
            if os.path.exists(address):
                self.assertLess(accessible.weight(address), accessible.HEAVIEST_PAGE)
            self.checker.check(self, address, views, is_still)
        print(f"{page}: {time.monotonic() - begun:.1f} s", flush=True)

    def test_site(self):
        for page in accessible.pages_of(SITE):
            self.check(page, os.path.join(SITE, page), EVERY_VIEW, is_still=True)

    def test_reports(self):
        for scenario in support.SCENARIOS + support.LEARN:
            self.good("run", scenario, "--db", "results.db", "--no-band", "--allow-oversized", *support.smaller(scenario))
            self.good("report", "--db", "results.db", "-o", "report.html")
            self.check(os.path.basename(scenario), self.path("report.html"))

    def test_explore(self):
        for kind in EXPLORED:
            of_kind = [path for path in support.SCENARIOS if re.search(rf"kind: {kind}\b", support.read(path))]
            server = Server(self, min(of_kind, key=os.path.getsize))
            self.check(kind, server.url)


def load_tests(loader, _tests, _pattern):
    if SITE is None:
        return loader.loadTestsFromTestCase(Axe)
    return unittest.TestSuite(map(loader.loadTestsFromTestCase, (Axe, Whole)))


if __name__ == "__main__":
    try:
        accessible.Checker().close()
    except browser.Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(support.SKIPPED)
    unittest.TestCase.maxDiff = 4000
    if SITE is not None:
        sys.argv.remove("--all")
    support.main()
