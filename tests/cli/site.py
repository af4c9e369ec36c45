#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/: each says for whom it is, none but reference is longer than 300 lines, and they make a site.

The site is built where Sphinx, MyST and furo are installed (`./dev docs` installs them): a warning is an error, each
link and anchor leads somewhere, and each page is at most two clicks from the first. Where axe-core and Chromium are too,
axe-core finds nothing serious on a page of each kind, and none is wider than a phone.
"""
import importlib.util
import os
import subprocess
import sys
import unittest

import accessible
import browser
import support
from support import SOURCE, CliTest, main, read

BUILD = os.path.join(SOURCE, "docs", "site", "build.py")
LONGEST = 300
REFERENCE = ("reference", "models")
KINDS = ("index.html", "tutorials/pytorch-to-fabric.html", "reference/units.html", "models/fat_tree.html",
         "search.html?q=bucket")


def load():
    spec = importlib.util.spec_from_file_location("build", BUILD)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def has_sphinx(python):
    return subprocess.run([python, "-c", "import sphinx, myst_parser, furo"], capture_output=True,
                          check=False).returncode == 0


class Site(CliTest):
    def test_every_page_says_for_whom_it_is(self):
        site = load().Site(support.PROGRAM, self.directory)
        site.stage_all()
        self.assertEqual(site.problems, [])
        staged = [os.path.join(where, name) for where, _, names in os.walk(site.source) for name in names
                  if name.endswith(".md")]
        self.assertGreater(len(staged), 100)
        for page in staged:
            self.assertIn('<p class="for-whom">For ', read(page), page)

    def test_pages_are_short(self):
        docs = os.path.join(SOURCE, "docs")
        for where, _, names in os.walk(docs):
            if os.path.relpath(where, docs).split(os.sep)[0] not in REFERENCE:
                for name in names:
                    if name.endswith(".md"):
                        lines = read(os.path.join(where, name)).count("\n")
                        self.assertLessEqual(lines, LONGEST, f"{os.path.join(where, name)} is too long")
        self.assertLessEqual(read(os.path.join(SOURCE, "README.md")).count("\n"), 150)

    @unittest.skipUnless(has_sphinx(sys.executable) or has_sphinx("/usr/bin/python3"), "Sphinx is not installed")
    def test_site(self):
        done = subprocess.run([sys.executable, BUILD, support.PROGRAM, self.directory], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        try:
            checker = accessible.Checker()
        except browser.Missing:
            return
        self.addCleanup(checker.close)
        for page in KINDS:
            with self.subTest(page):
                checker.check(self, "file://" + self.path("html", page), ((1280, "light"), (320, "dark")))


if __name__ == "__main__":
    main()
