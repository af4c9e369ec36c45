#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""axe.py: the pages of `fabricast report` and `fabricast explore` under axe-core: nothing serious, in light, in dark, on a phone.

FAB_AXE names axe.min.js, which `./dev test` fetches with npm. Skipped (77) where that or Chromium is missing.
"""
import os
import sys
import unittest

import browser
import support
from report_data import add_sweep
from serving import shared

AXE = os.environ.get("FAB_AXE", "")
CHECK = """
  const done = arguments[0];
  for (const one of document.querySelectorAll("details")) one.open = true;
  axe.run(document, { resultTypes: ["violations"] }).then((found) => done(found.violations.map((one) =>
    [one.impact, one.id, one.help, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])));
"""
DDP = os.path.join(support.SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")
CLASSES = os.path.join(support.SOURCE, "scenarios", "fsdp-8b-straggler.yaml")  # more than one timeline
EXPLORE = os.path.join(support.SOURCE, "scenarios", "explore.yaml")


class Axe(support.CliTest):
    @classmethod
    def setUpClass(cls):
        with open(AXE, encoding="utf-8") as file:
            cls.axe = file.read()
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def check(self, address):
        """A page in dark, and in light on the narrowest phone, where nothing may stick out."""
        for width, scheme in ((1280, "dark"), (320, "light")):
            self.browser.resize(width, 900)
            self.browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            self.browser.open(address)
            self.browser.cdp("Runtime.evaluate", expression=self.axe)  # the page's own policy lets no script in
            found = self.browser.command("POST", "/execute/async", {"script": CHECK, "args": []})
            self.assertEqual([one for one in found if one[0] in ("serious", "critical")], [], (width, scheme))
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
        complaints = [message for level, message in self.browser.console() if level in ("SEVERE", "WARNING")]
        self.assertEqual(complaints, [])

    def test_report(self):
        self.good("run", DDP, "--db", "results.db")
        self.good("run", CLASSES, "--db", "results.db", "--no-band")
        add_sweep(self.path("results.db"))
        self.good("report", "--db", "results.db", "--run", "2", "--run", "1", "--sweep", "1", "-o", "report.html")
        self.check(self.path("report.html"))

    def test_explore(self):
        self.check(shared(EXPLORE).url)


if __name__ == "__main__":
    if not os.path.exists(AXE):
        print(f"skipped: no axe-core at {AXE or '$FAB_AXE'}; `./dev test` fetches it with npm")
        sys.exit(support.SKIPPED)
    try:
        browser.Browser().close()
    except browser.Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(support.SKIPPED)
    unittest.TestCase.maxDiff = 4000
    support.main()
