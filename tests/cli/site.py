#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/: each says for whom it is, none but reference is longer than 300 lines, and they make a site.

The site is built where Sphinx, MyST and furo are installed (`./dev docs` installs them): a warning is an error, each
link and anchor leads somewhere, and each page is at most two clicks from the first. Where axe-core and Chromium are too,
axe-core finds nothing serious on the few pages that have a part of each kind, and none is wider than a phone.
"""
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import unittest
import urllib.parse

import accessible
import browser
import support
from support import SOURCE, CliTest, main, read

BUILD = os.path.join(SOURCE, "docs", "site", "build.py")
LONGEST = 300
REFERENCE = ("reference", "models")
SMALLEST_TEXT_PX = 11
LEAST_CONTRAST = 4.5  # of WCAG 2, level AA
TAB, ENTER = "\ue004", "\ue007"


def load():
    spec = importlib.util.spec_from_file_location("build", BUILD)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def has_sphinx(python):
    return subprocess.run([python, "-c", "import sphinx, myst_parser, furo"], capture_output=True,
                          check=False).returncode == 0


def luminance(colour):
    digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


HAS_SPHINX = has_sphinx(sys.executable) or has_sphinx("/usr/bin/python3")


class Site(CliTest):
    @unittest.skipIf(HAS_SPHINX, "the site is built, and its pages are looked at")
    def test_every_page_says_for_whom_it_is(self):
        site = load().Site(support.PROGRAM, self.directory)
        site.stage_all()
        self.assertEqual(site.problems, [])
        self.check_staged()

    def check_staged(self):
        staged = [os.path.join(where, name) for where, _, names in os.walk(self.path("source")) for name in names
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

    @unittest.skipUnless(HAS_SPHINX, "Sphinx is not installed")
    def test_site(self):
        done = subprocess.run([sys.executable, BUILD, support.PROGRAM, self.directory], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_staged()
        self.check_colours_of_code()
        self.check_weight()
        self.check_comments()
        try:
            checker = accessible.Checker()
        except browser.Missing:
            return
        self.addCleanup(checker.close)
        chosen = accessible.few_of_each_kind(self.path("html"), "index.html")
        self.assertLess({"index.html", "tutorials/pytorch-to-fabric.html", "genindex.html", "search.html"}, set(chosen))
        for page in chosen:
            with self.subTest(page):
                address = "file://" + self.path("html", page) + ("?q=bucket" if page == "search.html" else "")
                checker.check(self, address, ((1280, "light"), (320, "dark")), is_still=True)
        self.check_scheme(checker.browser)
        self.check_help_for_readers(checker.browser)
        self.check_keyboard(checker.browser)
        self.check_plot(checker.browser)
        self.check_motion(checker.browser)
        self.check_pictures(checker.browser)
        self.check_outputs(checker.browser)
        self.check_sorting(checker.browser)

    def check_colours_of_code(self):
        """Each class of tokens that some page has, on the ground of its block, in light and in dark."""
        used = set()
        for where, _, names in os.walk(self.path("html")):
            for name in names:
                if name.endswith(".html"):
                    used |= set(re.findall(r'<span class="(\w{1,3})">', read(os.path.join(where, name))))
        self.assertLess({"gp", "go", "s1"}, used)
        light, _, dark = read(self.path("html", "_static", "pygments.css")).partition("@media")
        for sheet in (light, dark):
            ground = re.search(r"\.highlight \{ background: #(\w+)", sheet)[1]
            colours = dict(re.findall(r"\.highlight \.(\w+) \{ color: #(\w+)", sheet))
            colours.pop("w")  # white space
            self.assertEqual([name for name in used & set(colours) if contrast(colours[name], ground) < LEAST_CONTRAST], [])

    def check_weight(self):
        weights = {page: accessible.weight(self.path("html", page)) for page in accessible.pages_of(self.path("html"))}
        self.assertGreater(len(weights), 200)
        self.assertEqual({page: weight for page, weight in weights.items() if weight > accessible.HEAVIEST_PAGE}, {})

    def small_texts(self, page):
        """Texts of pictures that are smaller on the screen than can be read."""
        return page.run("""return [...document.querySelectorAll("article svg text")].filter((text) =>
          text.getBoundingClientRect().width > 0 && parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a !== 0 &&
          parseFloat(getComputedStyle(text).fontSize) * Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b) < arguments[0])
          .map((text) => text.textContent)""", SMALLEST_TEXT_PX)

    def check_plot(self, page):
        """A mark of each measured table, which opens the table; a kind that is ticked off goes."""
        tables = json.loads(self.good("validate", "--format", "json"))["tables"]
        page.resize(1280, 900)
        page.open(self.path("html", "reference", "validation.html"))
        self.assertEqual(page.run("return document.querySelectorAll('.plot svg a').length"), 2 * len(tables))
        marks = page.run("return [...document.querySelectorAll('.plot svg:first-of-type a.judged')].length")
        self.assertEqual(marks, sum(table["role"] == "judged" for table in tables))
        self.assertEqual(page.run("return document.querySelectorAll('article details[open]').length"), 0)
        page.run("location.hash = 'table-dgxa100-allreduce-32'")
        shown = "return document.getElementById('table-dgxa100-allreduce-32').closest('details')?.open"
        for _ in range(50):
            if page.run(shown):
                break
            time.sleep(0.1)
        self.assertTrue(page.run(shown))
        visible = "return [...document.querySelectorAll('.plot svg a.k4')].filter((one) => one.getBoundingClientRect().width).length"
        self.assertGreater(page.run(visible), 0)
        page.run("document.querySelector('.plot input[value=k4]').click()")
        self.assertEqual(page.run(visible), 0)
        for width in (1280, 390):
            page.resize(width, 900)
            self.assertEqual(self.small_texts(page), [], width)

    def check_pictures(self, page):
        """Texts of pictures can be read on a desk and on a phone, and the front page shows its picture as a whole."""
        for width in (1280, 390):
            page.resize(width, 900)
            for name in ("index.html", "tutorials/gallery.html"):
                page.open(self.path("html", name))
                shown = page.run("""return [...document.querySelectorAll("article img[src$='.svg']")].map((one) =>
                  [decodeURIComponent(one.src).replace("file://", ""), one.getBoundingClientRect().width, one.closest(".wide") !== null])""")
                self.assertGreater(len(shown), 0)
                for path, drawn, is_wide in shown:
                    text = read(path)
                    own = float(re.search(r'<svg [^>]*?width="(\d+)"', text)[1])
                    least = min(float(size) for size in re.findall(r'<(?:svg|text) [^>]*?font-size="([\d.]+)"', text))
                    self.assertGreaterEqual(least * drawn / own, SMALLEST_TEXT_PX, (path, width))
                    self.assertFalse(is_wide and name == "index.html", path)

    def check_outputs(self, page):
        """On a desk no output of a lesson or a guide scrolls sideways, but rows with tabs; on a phone sentences do not."""
        scrolls = """return [...document.querySelectorAll("article pre")].filter((one) => !one.textContent.includes("\\t")
          && one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent.slice(0, 200))"""
        page.resize(1400, 900)
        for folder in ("tutorials", "how-to", "explanation"):
            for name in sorted(os.listdir(self.path("html", folder))):
                if name.endswith(".html") and name != "slides.html":
                    page.open(self.path("html", folder, name))
                    page.run("for (const one of document.querySelectorAll('details')) one.open = true")
                    self.assertEqual(page.run(scrolls), [], name)
        page.resize(390, 900)
        page.open(self.path("html", "index.html"))
        self.assertEqual(page.run(scrolls), [])

    def check_sorting(self, page):
        """A click on the name of a column sorts, with the largest figures first; a third one undoes it. "/" leads to the search."""
        page.resize(1400, 900)
        page.open(self.path("html", "reference", "validation-memory.html"))
        column = """const [i, j] = arguments, table = [...document.querySelectorAll("article table")].find((one) => one.querySelector(".sort"));
          if (j >= 0) table.tHead.rows[0].cells[j].querySelector(".sort").click();
          return [...table.tBodies[0].rows].map((row) => row.cells[i].textContent)"""
        before = page.run(column, 1, -1)
        figures = page.run(column, 1, 1)
        self.assertEqual(sorted(before), sorted(figures))
        self.assertNotEqual(before, figures)
        self.assertEqual(page.run(column, 1, 1), list(reversed(figures)) if len(set(figures)) == len(figures) else page.run(column, 1, -1))
        self.assertEqual(page.run(column, 1, 1), before)
        page.run("document.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }))")
        self.assertEqual(page.run("return document.activeElement.className"), "sidebar-search")

    def check_comments(self):
        """A line of an output that begins with "#" is no command."""
        tour = read(self.path("html", "tutorials", "tour.html"))
        self.assertIn('<span class="go"># predicted all_reduce_perf', tour)
        self.assertNotIn('<span class="gp">#', tour)

    def check_motion(self, page):
        """A collective stands still until it is asked to move, and in the end every GPU has all sums."""
        page.resize(390, 900)
        page.open(self.path("html", "models", "ring.html"))
        self.assertEqual(self.small_texts(page), [])
        texts = "return [...document.querySelectorAll('.motion button, .motion p')].map((one) => one.textContent)"
        time.sleep(0.3)
        self.assertEqual(page.run("return document.querySelectorAll('.packet').length"), 0)
        self.assertEqual(page.run(texts)[:2], ["Play", "Next round"])
        page.run("document.querySelector('.motion button:last-of-type').click()")
        self.assertEqual(page.run("return document.querySelectorAll('.packet').length"), 8)
        for _ in range(100):
            if page.run(texts)[2].startswith("Round 1 of 14"):
                break
            time.sleep(0.1)
        self.assertIn("Each link has carried 1/8 of the size", page.run(texts)[2])
        self.assertEqual(page.run("return document.querySelectorAll('.packet').length"), 0)
        kinds = page.run("return Object.fromEntries(Object.entries(window.fabricastMotion).map(([name, one]) => [name, one.isWhole]))")
        self.assertEqual(kinds, {"ring": True, "tree": True, "all-to-all": True})

    def check_scheme(self, page):
        """The pages are as light or dark as the system, and not only their code."""
        for scheme, is_dark in (("light", False), ("dark", True)):
            page.media(prefers_color_scheme=scheme)
            page.open(self.path("html", "index.html"))
            for part in ("body", ".highlight"):
                ground = page.run("return getComputedStyle(document.querySelector(arguments[0])).backgroundColor", part)
                channels = [int(number) for number in re.findall(r"\d+", ground)[:3]]
                self.assertEqual(max(channels) < 64, is_dark, (scheme, part, ground))

    def check_help_for_readers(self, page):
        """Commands wrap and can be copied without their answer, answers wait, and a page found shows what was found."""
        page.resize(500, 900)
        page.open(self.path("html", "tutorials", "learn.html"))
        self.assertEqual(page.run("return document.querySelectorAll('details[open]').length"), 0)
        self.assertEqual(page.run("return document.querySelectorAll('details').length"), 10)
        page.run("document.querySelector('details').open = true")
        width = "const one = document.querySelector('details .command'); return one.offsetWidth <= one.closest('pre').clientWidth"
        self.assertTrue(page.run(width))
        self.assertEqual(page.run("return commandsOf(document.querySelector('details pre'))").split("\n")[0],
                         "build/fabricast run scenarios/learn/01-one-gpu.yaml --no-db --rows step,MFU")
        self.assertEqual(page.run("return document.querySelectorAll('details .copy').length"), 10)
        page.open("file://" + self.path("html", "search.html?q=straggler"))
        for _ in range(50):
            shown = page.run("return [...document.querySelectorAll('.excerpt')].map((one) => one.textContent.toLowerCase())")
            if shown:
                break
            time.sleep(0.1)
        self.assertTrue(shown and all("straggler" in one for one in shown), shown)
        found = page.run("return [...document.querySelectorAll('ul.search a')].map((one) => one.textContent)")
        self.assertEqual(len(found), 10)
        self.assertTrue(any(one.startswith("Glossary: straggler") for one in found[:3]), found)
        loaded = page.run("return [...document.scripts, ...document.querySelectorAll('link[rel=stylesheet]')].map((one) => one.src ?? one.href)")
        files = {self.path("html", "search.html"), *(urllib.parse.urlsplit(one).path for one in loaded if one)}
        self.assertGreater(sum("/search/texts-" in one for one in files), 3)
        self.assertLess(sum(map(os.path.getsize, files)), accessible.HEAVIEST_PAGE)
        page.run("document.querySelector('ul.search + button').click()")
        for _ in range(50):
            if (n := page.run("return document.querySelectorAll('ul.search > li').length")) > 10:
                break
            time.sleep(0.1)
        self.assertEqual(n, 20)
        page.open("file://" + self.path("html", "search.html?q=xyzzy"))
        for _ in range(50):
            if (said := page.run("return document.querySelector('.search-summary').textContent")) != "Type a word above.":
                break
            time.sleep(0.1)
        self.assertTrue(said.startswith("Nothing was found."), said)

    def check_keyboard(self, page):
        """The first Tab leads past the list of pages, and a narrow page opens that list."""
        def press(key):
            page.command("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

        page.resize(320, 900)
        page.open(self.path("html", "index.html"))
        press(TAB)
        self.assertEqual(page.run("return document.activeElement.textContent"), "Skip to the page")
        press(ENTER)
        self.assertEqual(page.run("return document.activeElement.tagName"), "ARTICLE")
        page.run("document.querySelector('.nav-overlay-icon').focus()")
        left = "return document.querySelector('.sidebar-drawer').getBoundingClientRect().right"
        self.assertLessEqual(page.run(left), 0)
        press(ENTER)
        self.assertEqual(page.run("return document.activeElement.getAttribute('aria-expanded')"), "true")
        page.run("return Promise.all(document.getAnimations().map((one) => one.finished))")
        self.assertGreater(page.run(left), 0)


if __name__ == "__main__":
    main()
