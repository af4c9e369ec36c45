#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `fabricast report` in a real browser: it is whole, quiet, alone, and does not obey what it shows.

Skipped (77) where no Chromium works, or where the program was built without D3.
"""
import contextlib
import json
import os
import re
import sqlite3
import sys
import unittest

import accessible
import browser
import support
from report_data import ATTACK, add_sweep
from support import SKIPPED, CliTest, main, new_directory, read

DDP = os.path.join(support.SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")
SECTIONS = ["answer", "timeline", "exposed", "links", "sweeps", "scenario", "tables", "terms"]
HOSTILE = """
name: {attack}
summary: {long}
iterations: 1
cluster: {{node: {attack}, nodes: 2}}
job: {{kind: ddp, model: {attack}, micro_batch: 1, sequence: 512, bucket: 8MiB, compute: {{kind: mfu, mfu: 50%}}}}
models:
  - name: {attack}
    shape: {{kind: layers, layers: [{{name: {attack}, count: 4, tensors: [{{name: {long}, parameters: 1000000}}]}}]}}
    source: {attack}
    date: "2026-11-22"
links:
  - {{name: {attack}, lanes: 4, signalling: 25Gb/s, latency: 1us, summary: {attack}, technology: {attack},
     copy: {{payload: 4096B, overhead: 26B, source: {attack}}}, endpoint: 1us, source: {long}, date: "2026-11-22"}}
technologies:
  - {{name: {attack}, summary: {long}, matrix_label: {attack}, joins: devices, source: {attack}, date: "2026-11-22"}}
nodes:
  - name: {attack}
    accelerator: a100-sxm4-80gb
    nic: {attack}
    parts:
      - {{name: gpu, kind: accelerator, count: 2}}
      - {{name: cpu, kind: host}}
      - {{name: nic, kind: nic}}
    wires:
      - {{from: gpu, to: cpu, link: {attack}}}
      - {{from: nic, to: cpu, link: {attack}}}
"""


def quoted(text):
    """A double-quoted scalar of YAML."""
    return '"' + re.sub(r'["\\]', lambda match: "\\" + match.group(), text).replace("\u2028", "\\u2028") + '"'


class Page(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.pages = new_directory()
        cls.addClassCleanup(support.subprocess.run, ["rm", "-rf", cls.pages], check=True)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        super().setUp()
        self.browser.media()
        self.browser.resize(1280, 900)

    def play(self, scenario, *args, db="results.db"):
        path = scenario if os.path.exists(scenario) else os.path.join(support.SOURCE, "scenarios", scenario)
        self.good("run", path, "--db", db, "--no-band", *args)

    def page(self, *args, db="results.db"):
        self.good("report", "--db", db, "-o", "page.html", *args)
        return self.path("page.html")

    def visit(self, path):
        """Opens it, and holds it to what every page keeps: no complaint, nothing asked of anybody."""
        self.browser.requests()
        self.browser.open(path)
        self.assertEqual([message for level, message in self.browser.console() if level != "INFO"], [])
        asked = [address for address in self.browser.requests() if not address.startswith(("chrome:", "data:image"))]
        self.assertEqual(asked, ["file://" + path])

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", selector)

    def n(self, selector):
        return self.browser.run("return document.querySelectorAll(arguments[0]).length", selector)

    def test_1024_gpus(self):
        self.play("zero3-70b-16384.yaml", "--set", "cluster.nodes=128")
        path = self.page()
        self.assertLess(os.path.getsize(path), 4e6)
        self.visit(path)
        for section in SECTIONS:
            self.assertEqual(self.n(f"#{section} > *") > 0, section != "sweeps", section)
        self.assertIn("1 024\u00a0GPUs".replace(" ", "\u202f"), self.texts("#answer .lead")[0])
        self.assertGreater(self.n("svg.timeline .lanes path"), 3)
        self.assertGreater(self.n("svg.links path.reach"), 10)
        self.assertGreater(self.n("#tables details"), 8)
        self.assertGreater(self.n("#scenario .sources tbody tr"), 4)
        # Every picture says in words what it shows.
        self.assertEqual(self.n("svg:not([aria-hidden]):not([aria-label])"), 0)
        self.assertGreater(self.browser.run("return fabricast.drawnIn"), 0)

    def test_phone_dark_and_print(self):
        self.play("moe-mixtral-128-gpus.yaml", "--iterations", "1")
        add_sweep(self.path("results.db"))
        path = self.page()
        for width in (360, 800):
            self.browser.resize(width, 800)
            self.visit(path)
            self.browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
        background = "return getComputedStyle(document.body).backgroundColor"
        light = self.browser.run(background)
        self.browser.media(prefers_color_scheme="dark")
        self.assertNotEqual(self.browser.run(background), light)
        self.browser.cdp("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.browser.run(background), "rgb(255, 255, 255)")
        # What decides is on the first sheet, and buttons are on none.
        self.assertLess(self.browser.run("return document.querySelector('#answer .lead').getBoundingClientRect().bottom + scrollY"), 500)
        shown = "return [...document.querySelectorAll('button, input')].filter((one) => one.getBoundingClientRect().width > 0).length"
        self.assertEqual(self.browser.run(shown), 0)
        self.browser.pdf(self.path("page.pdf"))
        self.assertGreater(os.path.getsize(self.path("page.pdf")), 20000)

    def test_the_answer_of_a_run_is_one_sheet(self):
        """All of it fits A4 and Letter with margins of a centimetre, and the machine begins on a sheet of its own."""
        self.good("run", "four-nodes", "--db", "results.db")
        for width, height in ((718, 1047), (740, 980)):
            self.browser.resize(width, height)
            self.visit(self.page())
            self.browser.cdp("Emulation.setEmulatedMedia", media="print")
            end = self.browser.run("return document.querySelector('#answer').getBoundingClientRect().bottom + scrollY")
            self.assertLess(end, height)
            self.assertEqual(self.browser.run("return getComputedStyle(document.querySelector('#answer')).breakAfter"), "page")
            self.browser.media()

    def test_times_below_a_timeline_are_whole(self):
        """The last one stands near the right edge of the picture."""
        self.play("four-nodes.yaml")
        path = self.page()
        for width in (390, 1000, 1400):
            self.browser.resize(width, 900)
            self.visit(path)
            self.assertEqual(self.browser.run("""const box = document.querySelector("svg.timeline").getBoundingClientRect();
              return [...document.querySelectorAll("svg.timeline .tick")].map((one) => [one.textContent, one.getBoundingClientRect()])
                .filter(([, place]) => place.right > box.right + 0.5 || place.left < box.left - 0.5).map(([text]) => text)"""), [])

    def test_a_study_is_one_sheet(self):
        """The decision is above what follows it, the band is drawn where its numbers are, and it prints on one sheet."""
        study = self.good("upgrade", "four-nodes", "--format", "json")
        self.write("study.json", study)
        self.good("report", "study.json", "-o", "study.html")
        for width in (390, 1400):
            self.browser.resize(width, 900)
            self.visit(self.path("study.html"))
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
            top, bottom = (self.browser.run("return document.querySelector(arguments[0]).getBoundingClientRect().top", one)
                           for one in (".decision", ".plot"))
            self.assertLess(top, bottom)
            out = self.browser.run("""return [...document.querySelectorAll(".track line, .track circle, .track text")].filter((one) =>
              one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1).length""")
            self.assertEqual(out, 0)
        places = self.browser.run("""const mark = document.querySelector(".mark.chosen");
          const middle = (one) => (one.getBoundingClientRect().left + one.getBoundingClientRect().right) / 2;
          const lines = [...mark.querySelectorAll(".grid")], ends = [...mark.querySelectorAll(".end")];
          return [middle(lines[0]), middle(lines[1]), ...ends.map(middle), middle(mark.querySelector("circle"))]""")
        ticks = [float(text.split("\u00a0")[0]) / 100 for text in self.texts(".axis text")]
        bought = next(one for one in json.loads(study)["changes"] if one["change"] == json.loads(study)["buy_first"])
        per_pixel = (ticks[1] - ticks[0]) / (places[1] - places[0])
        for place, name in zip(places[2:], ("saved_low_fraction", "saved_high_fraction", "saved_fraction")):
            self.assertAlmostEqual(ticks[0] + (place - places[0]) * per_pixel, bought[name], delta=0.01)
        self.browser.pdf(self.path("study.pdf"))
        with open(self.path("study.pdf"), "rb") as file:
            self.assertEqual(len(re.findall(rb"/Type\s*/Page\b", file.read())), 1)

    def test_nothing_that_it_shows_runs(self):
        attack = ATTACK.replace("\u2028", "")  # a scenario with invisible characters is refused; a database may hold them
        self.write("hostile.yaml", HOSTILE.format(attack=quoted(attack), long=quoted(attack + "x" * 10000)))
        self.play(self.path("hostile.yaml"))
        add_sweep(self.path("results.db"))
        path = self.page()
        self.assertEqual(len(re.findall("<script", read(path))), 4 + read(path).count('"<script'))
        self.visit(path)
        self.browser.run("""
          for (const one of document.querySelectorAll("details")) one.open = true;
          for (const one of document.querySelectorAll("svg *, button, select, summary"))
            for (const type of ["pointermove", "focus"]) one.dispatchEvent(new PointerEvent(type, { clientX: 300, clientY: 300 }));""")
        self.browser.run("return new Promise ((done) => setTimeout (done, 100))")
        self.assertEqual(self.browser.run("return [document.title, window.pwned ?? 0, document.images.length, document.scripts.length]"),
                         ["Fabricast report", 0, 0, 4])
        self.assertIn("</script><script>", "".join(self.texts("#answer")))
        self.assertEqual(self.browser.console(), [])
        self.browser.resize(360, 800)
        self.visit(path)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 360)

    def test_zoom(self):
        self.play("zero3-13b-slow-fabric.yaml", "--iterations", "1")
        self.visit(self.page())
        view = "return fabricast.state.view"
        press = """document.querySelector("svg.timeline").dispatchEvent(new KeyboardEvent("keydown", { key: arguments[0], bubbles: true }))"""
        self.assertIsNone(self.browser.run(view))
        labels = self.n("svg.timeline .lanes text")
        for _ in range(6):
            self.browser.run(press, "+")
        start, end = self.browser.run(view)
        self.assertAlmostEqual(end - start, 1.6 ** -6, places=3)
        self.browser.run("return new Promise ((done) => requestAnimationFrame (() => done ()))")
        self.assertGreater(self.n("svg.timeline .lanes text"), labels)
        self.browser.run(press, "ArrowRight")
        self.assertGreater(self.browser.run(view)[0], start)
        kept = self.browser.run(view)
        self.browser.run("fabricast.render(fabricast.data)")  # fresh data keep what is shown
        for before, after in zip(kept, self.browser.run(view)):
            self.assertAlmostEqual(before, after, places=6)
        self.browser.run(press, "0")
        self.assertIsNone(self.browser.run(view))
        self.browser.run("""document.querySelector("#timeline .controls button").click()""")
        self.assertIsNotNone(self.browser.run(view))
        self.assertEqual(self.browser.console(), [])

    def sums(self):
        """Cells of the sums below the timeline, by their row's name."""
        return self.browser.run("""return Object.fromEntries([...document.querySelectorAll("table.sums tbody tr")].map((row) =>
          [row.cells[0].textContent, [...row.cells].slice(1).map((cell) => cell.textContent)]))""")

    def test_sums_follow_what_the_timeline_shows(self):
        self.play("four-nodes.yaml", "--iterations", "1")
        self.visit(self.page())
        spans = json.loads(self.good("query", "--db", "results.db", "--format", "json", "--sql",
                                     "SELECT kind, name, start_ps, end_ps FROM span WHERE iteration = 0"))
        def expected(start, end, begins):
            parts = [min(one["end_ps"], end) - max(one["start_ps"], start) for one in spans
                     if one["name"].startswith(begins) and one["end_ps"] > start and one["start_ps"] < end]
            return len(parts), sum(parts) / 1e9
        end = max(one["end_ps"] for one in spans)
        for start, stop in ((0, end), (end // 4, end // 2)):
            self.browser.run("fabricast.timeline.showRange(arguments[0], arguments[1])", start / 1000, stop / 1000)
            self.browser.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            for row, begins in (("backward", "backward"), ("all-reduce, data", "all_reduce")):
                n, ms = expected(start, stop, begins)
                shown = self.sums()[row]
                self.assertAlmostEqual(int(shown[0]), n, delta=2)  # one at either edge, which a pixel may hold
                self.assertAlmostEqual(float(shown[1].split("\u00a0")[0]), ms, delta=0.01 * ms)
        self.browser.run("fabricast.timeline.reset()")

    def test_blocks_are_found_by_name(self):
        self.play("four-nodes.yaml", "--iterations", "1")
        self.visit(self.page())
        find = """const box = document.querySelector(".find input"); box.value = arguments[0];
                  box.dispatchEvent(new Event("input"));
                  if (arguments[1]) box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
                  return document.querySelector(".find .about").textContent"""
        n, = json.loads(self.good("query", "--db", "results.db", "--format", "json", "--sql",
                                  "SELECT count(*) AS n FROM span WHERE iteration = 0 AND name LIKE '%block12%'"))
        self.assertRegex(self.browser.run(find, "Block12", False), rf"^{n['n']}.blocks, .* in all; Enter shows the next\.$")
        self.assertIn("1 of ", self.browser.run(find, "block12", True))
        start, end = self.browser.run("return fabricast.state.view")
        self.assertLess(end - start, 0.2)
        self.browser.run("return new Promise((done) => requestAnimationFrame(done))")
        self.assertIn("block12", "".join(self.texts("svg.timeline .lanes text")))
        self.assertEqual(self.browser.run(find, "nothing of this name", False), "No block has this in its name.")

    def test_names_of_blocks_tell_them_apart(self):
        self.play("hello.yaml")
        self.visit(self.page())
        fitting = "return arguments[0].map((most) => fabricast.paint.fitting('forward block12.experts', most))"
        self.assertEqual(self.browser.run(fitting, [30, 20, 12, 4, 1]),
                         ["forward block12.experts", "block12.experts", "12 experts", "12", None])

    def test_a_lane_without_blocks_says_why(self):
        self.play("moe-mixtral-128-gpus.yaml", "--iterations", "1")
        self.visit(self.page())
        self.assertTrue([text for text in self.texts("svg.timeline .why") if re.fullmatch(r"1.block at .*, too short to see", text)])
        self.browser.run("fabricast.timeline.showRange(0, 1e6)")
        self.browser.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.assertTrue([text for text in self.texts("svg.timeline .why") if text.startswith("next at ")])

    def test_figures_can_be_copied_as_tables(self):
        self.play("four-nodes.yaml", "--iterations", "2")
        self.visit(self.page())
        self.browser.run("""window.saved = []; Object.defineProperty(navigator, "clipboard",
          { value: { writeText: async (text) => { saved.push(text); } } });
          for (const button of document.querySelectorAll("#exposed .copier button, .sums-of button")) button.click();""")
        tables = [[line.split("\t") for line in text.splitlines()] for text in self.browser.run("return saved")]
        self.assertEqual(len(tables), self.n("#exposed .copier button") + 1)
        for table in tables:
            self.assertEqual(len({len(row) for row in table}), 1, table)  # as many cells in each row
        self.assertEqual(tables[0][0], ["what", "blocks", "sum", "of the part shown", "exposed", "longest"])

    def test_runs_side_by_side(self):
        for nodes in ("2", "4"):
            self.play("ddp-2b-4nodes-200g.yaml", "--iterations", "1", "--set", f"cluster.nodes={nodes}")
        self.visit(self.page("--run", "1", "--run", "2"))
        self.assertEqual(self.texts("#exposed .bar-name")[:2], ["1: ddp-2b-4nodes-200g, 16\u00a0GPUs", "2: ddp-2b-4nodes-200g, 32\u00a0GPUs"])
        self.assertEqual(self.n("#exposed svg.curve .dot"), 2)
        self.assertRegex(self.texts("#answer .lead")[0], r"^A step of run 2 takes .*, more than the .* of run 1 \(\+[0-9.]+.%\)\.$")
        self.assertIn("The runs differ in GPUs (16 \u2192 32), nodes (2 \u2192 4).", self.texts("#answer .differences p"))
        self.assertIn("Both steps are limited by NICs.", self.texts("#answer .differences p"))
        self.assertIn("limited byNICsNICs", self.texts("#answer .sides tr"))
        self.assertEqual(self.n("#answer svg.picture .b-exposed"), 2)
        self.assertIn("16\u00a0GPUs", self.texts("#answer > .lead")[0])
        self.browser.run("""const box = document.querySelector(".chooser select"); box.value = "2"; box.dispatchEvent(new Event("change"))""")
        self.assertIn("32\u00a0GPUs", self.texts("#answer > .lead")[0])

    def test_a_wide_band_forbids_to_quote_the_step(self):
        self.good("run", DDP, "--set", "collectives=mpi", "--db", "wide.db")
        self.visit(self.page(db="wide.db"))
        self.assertIn("Do not quote the step by itself", self.texts("#answer .verdict dd")[1])

    def test_changes_of_another_fidelity_have_their_own_step(self):
        """Those of long runs at `packet` and `step` are simulated at `fluid`."""
        said = json.loads(self.good("run", DDP, "--iterations", "1", "--db", "results.db", "--format", "json"))["bottleneck"]
        for factor, far in ((1.01, False), (1.5, True)):
            with contextlib.closing(sqlite3.connect(self.path("results.db"))) as db, db:
                self.assertEqual(db.execute("SELECT DISTINCT fidelity FROM lever").fetchall(), [("fluid" if far else None,)])
                db.execute("UPDATE lever SET fidelity = 'fluid', base_step_s = ?", (factor * said["step_s"],))
            self.visit(self.page())
            change = self.texts("#answer .verdict dd")[2]
            self.assertRegex(change, r"The changes were simulated at fidelity fluid, where the step is [0-9.]+.m?s\.")
            self.assertEqual("queues may decide what helps." in change, far, change)
            self.assertEqual("That is +50" in change, far, change)

    def test_the_verdict_opens_the_page(self):
        self.good("run", DDP, "--db", "results.db")
        band = self.good("query", "--db", "results.db", "--sql",
                         "SELECT low_s, high_s FROM band WHERE figure = 'step' AND iteration = 2", "--format", "csv")
        low, high = (float(text) for text in band.splitlines()[1].split(","))
        self.visit(self.page())
        waits, sure, change = self.texts("#answer .verdict dd")
        # The page says what limits the step in the words of `run`, and of the slowest link no more than that it is that.
        self.assertTrue(self.texts("#answer .lead")[0].startswith("The step is limited by NICs. A step takes 861.1\u00a0ms on "))
        said = json.loads(self.good("run", DDP, "--no-db", "--format", "json", "--no-band"))["bottleneck"]
        self.assertTrue(waits.startswith(said["explanation"].replace(" %", "\u00a0%")), (waits, said))
        self.assertIn("The slowest link of the collectives with 100\u00a0% of the exposed communication is node0/nic0 \u2192 switch, "
                      "ib-hdr (InfiniBand) with 200\u00a0Gb/s one way", waits)
        self.assertIn(f"from {1e3 * low:.3g}\u00a0ms to {high:.3g}\u00a0s", sure)
        self.assertLess(high / low, 2)  # so it may be quoted by itself
        self.assertNotIn("Do not quote the step by itself", sure)
        # What saves something, best first, and the ports, which save nothing.
        rows = [*[lever["change"] for lever in said["levers"] if lever["saved_fraction"] >= 0.01], "every ib-hdr twice as fast"]
        self.assertEqual(self.texts("#answer .levers tbody td:first-child"), rows)
        self.assertIn("2 NICs a node in place of 1487.9\u00a0ms\u221243.3\u00a0%", change)
        self.assertIn("every ib-hdr twice as fast861.1\u00a0msno change", change)
        self.assertEqual(self.texts("#answer .levers .limits td:first-child"), ["2 NICs a node in place of 1"])
        tiles = dict(zip(self.texts("#answer .tile dt"), self.texts("#answer .tile dd:nth-of-type(1)")))
        self.assertEqual((tiles["Limited by"], tiles["Slowest link"]), ("NICs", "ib-hdr"))
        self.assertEqual(self.n("#answer svg.picture .band"), 1)
        self.assertEqual(self.texts("svg.links .node-name"), ["4 \u00d7 this node: dgx-a100"])
        self.assertEqual(self.texts("svg.links .slowest-name"), ["slowest link: ib-hdr, 200\u00a0Gb/s"])
        self.assertIn("The step is limited by NICs.", self.texts("#links figcaption")[0])
        # A chart says which question it answers.
        self.assertEqual([text for text in self.texts("figcaption") if "?" not in text], [])

    def test_terms_lead_to_the_glossary(self):
        self.play("hello.yaml")
        self.visit(self.page())
        linked = self.browser.run("""return [...document.querySelectorAll("a.term")].map((one) =>
          [one.textContent.toLowerCase(), document.querySelector(one.getAttribute("href"))?.textContent ?? ""])""")
        self.assertIn("slowest link", [word for word, _ in linked])
        self.assertEqual([word for word, text in linked if word not in text.lower()], [])
        self.browser.run("document.querySelector('a.term').focus()")
        self.assertEqual(self.n(".tip:not([hidden])"), 1)

    def test_a_link_limits_the_step(self):
        self.play("fabric-dragonfly-plus.yaml")
        self.visit(self.page())
        self.assertTrue(self.texts("#answer .lead")[0].startswith("The step is limited by ib-ndr. A step takes "))
        self.assertEqual(self.texts("svg.links .slowest-name"), ["slowest link: ib-ndr, 400\u00a0Gb/s"])
        self.assertEqual(self.texts("#answer .tile dt")[2:4], ["Limited by", "Slowest link"])
        self.assertEqual(self.texts("#answer .tile dd")[4:6], ["ib-ndr", "every ib-ndr twice as fast: \u221249.7\u00a0%"])
        # As `explore` shows it until it knows.
        self.browser.run("fabricast.data.runs[0].levers = null; fabricast.render(fabricast.data)")
        self.assertTrue(self.texts("#answer .lead")[0].startswith("A step takes "))
        self.assertTrue(self.texts("#answer .verdict dd")[0].startswith("What limits the step is being computed. "))
        self.assertEqual(self.texts("#answer .verdict dd")[2], "Changes of the machine and of the software are being tried.")
        self.assertEqual(self.texts("#answer .tile dd")[4:6], ["\u2026", "is being computed"])

    def test_nobody_looked_for_what_limits_the_step(self):
        """With --no-bottleneck, and of runs of an older program, whose finding named a link, the page only says what the
        step consists of."""
        self.play("four-nodes.yaml", "--iterations", "1")
        self.play("four-nodes.yaml", "--iterations", "1", "--no-bottleneck")
        with contextlib.closing(sqlite3.connect(self.path("results.db"))) as db:
            self.assertEqual(db.execute("DELETE FROM lever").rowcount > 0, True)
            db.execute("UPDATE finding SET text = 'The link x sets the pace.' WHERE code = 'waits_for_network'")
            db.commit()
        for run in ("1", "2"):
            self.visit(self.page("--run", run))
            self.assertTrue(self.texts("#answer .lead")[0].startswith("A step takes "))
            waits = self.texts("#answer .verdict dd")[0]
            self.assertRegex(waits, r"^This run does not say what limits the step; a run without --no-bottleneck finds it\. "
                             r"[0-9.]+.% of the step is compute, [0-9.]+.% exposed communication and 0.% idle\.")
            self.assertNotIn("What would change it", self.texts("#answer .verdict dt"))
            self.assertNotIn("Limited by", self.texts("#answer .tile dt"))
            self.assertNotRegex("".join(self.texts("#answer, #links")), r"limited by|pace|binding")
        self.visit(self.page("--run", "1", "--run", "2"))
        self.assertNotIn("limited by", "".join(self.texts("#answer .differences")))

    def test_places_of_a_rack_are_counted(self):
        self.play("compare-domain-72.yaml", "--iterations", "1")
        self.visit(self.page())
        boxes = self.texts("svg.links text")
        for box in ("72 \u00d7 gpu", "36 \u00d7 cpu", "72 \u00d7 nic", "8 \u00d7 this node: gb200-nvl72"):
            self.assertIn(box, boxes)
        self.assertEqual(self.n("svg.links .slowest-halo"), 1)

    def test_a_run_without_a_band_says_so(self):
        self.play("hello.yaml")
        self.visit(self.page())
        self.assertIn("This run carries no band", self.texts("#answer .verdict dd")[1])

    def test_a_line_over_scale_is_of_one_job(self):
        for nodes, model in (("1", "example-2b"), ("4", "example-2b"), ("2", "gpt2-xl")):
            self.play("ddp-2b-4nodes-200g.yaml", "--iterations", "1", "--set", f"cluster.nodes={nodes}", "--set",
                      f"job.model={model}")
        self.visit(self.page("--run", "1", "--run", "2", "--run", "3"))
        legend = [text for text in self.texts("#exposed .legend li") if "2b" in text or "gpt2" in text]
        self.assertEqual(legend, ["example-2b", "ddp-2b-4nodes-200g: gpt2-xl"])
        self.assertEqual(self.n("#exposed svg.curve .line"), 2)

    def test_paper_does_not_clip_bars(self):
        self.play("moe-mixtral-128-gpus.yaml", "--iterations", "1")
        self.browser.resize(1600, 900)
        self.visit(self.page())
        outside = self.browser.run("""
          document.querySelector("main").style.maxWidth = "640px";
          return [...document.querySelectorAll(".bar-box .part")].filter((one) => one.getBoundingClientRect().right
            > one.closest(".bar-box").getBoundingClientRect().right + 1).length;""")
        self.assertGreater(self.n(".bar-box .part"), 10)
        self.assertEqual(outside, 0)

    def test_collectives_alone_have_no_dimension(self):
        self.write("alone.yaml", "name: alone\niterations: 1\ncluster: {node: dgx-a100}\n"
                   "job: {kind: collective, operations: [{op: all_reduce, size: 1MiB}]}\n")
        self.play(self.path("alone.yaml"))
        self.visit(self.page())
        self.assertIn("All of it is all-reduce: there is no compute that could hide it.", "".join(self.texts("#answer dd")))
        self.assertNotIn("other", "".join(self.texts("#answer") + self.texts("#exposed")))

    def test_sweep(self):
        self.play("hello.yaml")
        add_sweep(self.path("results.db"))
        self.visit(self.page("--sweep", "1"))
        self.assertEqual(self.n("#answer > *"), 0)
        self.assertEqual(self.n("svg.map .map-cell"), 12)
        self.assertEqual(self.texts("svg.map .map-text").count("\u00d7"), 1)
        self.assertEqual(self.n("svg.map .map-best"), 1)
        self.browser.run("""const box = document.querySelector("#sweeps select"); box.value = "1"; box.dispatchEvent(new Event("change"))""")
        self.assertIn("1.5\u00a0s", self.texts("svg.map .map-text"))

    def test_tables_are_those_of_the_file(self):
        self.play("hello.yaml")
        self.visit(self.page())
        self.assertLess(accessible.weight(self.path("page.html")), accessible.HEAVIEST_PAGE)
        tables = self.browser.run("""return Promise.all(fabricast.data.runs[0].tables.map(async (table) =>
          [table.name, await fabricast.csvOf(table), table.rows]))""")
        self.assertGreater(len(tables), 10)
        for name, csv, rows in tables:  # of a long one the 250 rows that are shown
            whole = self.good("query", name, "--db", "results.db", "--format", "csv")
            self.assertEqual(csv, "".join(whole.splitlines(keepends=True)[:251]), name)
            self.assertEqual(rows, whole.count("\n") - 1)
        tables = {name: csv for name, csv, _ in tables}
        # What the button hands over.
        given = self.browser.run("""
          const blobs = [], make = URL.createObjectURL;
          URL.createObjectURL = (blob) => { blobs.push(blob); return make.call(URL, blob); };
          document.querySelector("#table-iterations button").click();
          return new Promise((done) => setTimeout(() => done(blobs[0].text()), 50));""")
        self.assertEqual(given, tables["iterations"])
        rows = self.browser.run("""
          document.querySelector("#table-iterations").open = true;
          return new Promise ((done) => setTimeout (() => done (document.querySelectorAll ("#table-iterations tbody tr").length), 50));""")
        self.assertEqual(rows, tables["iterations"].count("\n") - 1)
        self.assertEqual(self.browser.console(), [])


def skip_unless_possible():
    try:
        browser.Browser().close()
    except browser.Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
    directory = new_directory()
    program = os.path.abspath(sys.argv[1])
    scenario = os.path.join(support.SOURCE, "scenarios", "hello.yaml")
    support.subprocess.run([program, "run", scenario], cwd=directory, stdout=support.subprocess.DEVNULL, check=True)
    done = support.subprocess.run([program, "report"], cwd=directory, capture_output=True, text=True, check=False)
    support.subprocess.run(["rm", "-rf", directory], check=True)
    if done.returncode == 3:
        print(f"skipped: {done.stderr}")
        sys.exit(SKIPPED)


if __name__ == "__main__":
    skip_unless_possible()
    unittest.TestCase.maxDiff = 2000
    main()
