#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `fabricast explore` in a real browser: knobs turned by hand and by keys, what they change, no complaints."""
import os
import unittest
from urllib.parse import parse_qs

import accessible
import support
from browser import Browser, Missing
from serving import shared
from support import child

SCENARIO = os.path.join(support.SOURCE, "scenarios", "explore.yaml")
TURN = """
  const control = document.getElementById(arguments[0]);
  if (control.tagName === "SELECT") control.value = arguments[1];
  else control.value = String(Number(control.value) + arguments[1]);
  control.dispatchEvent(new Event(control.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
"""


class Page(support.CliTest):
    browser = None

    @classmethod
    def setUpClass(cls):
        try:
            cls.browser = Browser()
        except Missing as missing:
            raise unittest.SkipTest(str(missing)) from missing
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        super().setUp()
        self.server = shared(SCENARIO)
        self.browser.open(self.server.url)
        self.n_shown = 0

    def tearDown(self):
        complaints = [message for level, message in self.browser.console() if level in ("SEVERE", "WARNING")]
        self.assertEqual(complaints, [])

    def text(self, name):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", name)

    def shown(self):
        return int(self.browser.run("return document.getElementById('explore').dataset.shown ?? 0"))

    def wait(self):
        """Until something newer is shown."""
        child.until(lambda: self.shown() > self.n_shown, "something newer is shown")
        self.n_shown = self.shown()

    def reopen(self, fragment):
        self.browser.open("about:blank")
        self.browser.open(self.server.url + "#" + fragment)
        self.n_shown = 0

    def turn(self, knob, to):
        self.browser.run(TURN, "knob-" + knob, to)
        self.wait()
        return self.text("changed")

    def test_knobs(self):
        self.assertRegex(self.text("changed"), r"A step takes [0-9.]+\s?m?s on 64 GPUs, [0-9.]+\s?% of it exposed")
        before = self.text("answer")
        # PCIe is as slow as the port, so that a faster port alone changes nothing, and the page says so.
        said = self.turn("rate", +3)
        self.assertRegex(said, r"^Network 200\s?Gb/s → [0-9]+\s?Gb/s: nothing moved, because .* is the slowest link of the collectives")
        said = self.turn("rate", -5)
        self.assertRegex(said, r"^Network [0-9]+\s?Gb/s → [0-9]+\s?Gb/s: step .*, exposed .* → ")
        rows = self.browser.run("return [...document.querySelectorAll('#moved tbody tr')].map((row) => row.cells[0].textContent)")
        self.assertEqual(rows[:4], ["Network", "step", "exposed", "communication"])
        self.assertNotEqual(self.text("answer"), before)
        self.assertIn("--set cluster.nic_rate=", self.text("command"))
        self.assertIn("nic_rate: ", self.text("yaml"))
        said = self.turn("strategy", "zero3")
        self.assertRegex(said, r"Strategy ddp → zero3: step .* → .*communication takes ")
        moved = self.browser.run("return document.getElementById('moved').innerText")
        self.assertRegex(moved, r"memory of a GPU\s+[0-9.]+\s?GB\s+[0-9.]+\s?GB\s+\u2212")
        self.assertIn("collectives of a step", moved)
        self.turn("strategy", "fsdp")
        self.assertTrue(self.browser.run("return document.getElementById('knob-bucket').disabled"))
        self.turn("design", "superpod-h100")
        for name, is_disabled in (("node", True), ("gpus", True), ("rate", True), ("units", False)):
            self.assertEqual(self.browser.run(f"return document.getElementById('knob-{name}').disabled"), is_disabled, name)
        self.assertIn("design: superpod-h100", self.text("yaml"))
        self.turn("design", "none")
        self.assertTrue(self.browser.run("return document.getElementById('knob-units').disabled"))
        # What is shown is in the address, and the address brings it back.
        address = self.browser.run("return location.hash").removeprefix("#")
        self.assertEqual(parse_qs(address)["strategy"], ["fsdp"])
        self.outlook()
        answer = self.text("answer")
        self.reopen(address)
        self.wait()
        child.until(lambda: self.outlook() and self.text("answer") == answer, "the answer is that of the address")

    def test_knobs_that_others_move_are_told(self):
        effects = """return Object.fromEntries([...document.querySelectorAll("#knobs small")].filter((one) => one.textContent)
                       .map((one) => [one.id, one.textContent]))"""
        self.assertEqual(self.browser.run(effects), {})
        self.turn("nic", "ib-ndr")
        self.assertEqual(self.browser.run(effects), {"effect-rate": "in effect: 400\u00a0Gb/s"})
        self.assertEqual(self.browser.run("return document.getElementById('knob-rate').ariaDescribedByElements?.[0]?.id ?? 'effect-rate'"),
                         "effect-rate")
        moved = self.browser.run("return document.getElementById('moved').innerText")
        self.assertRegex(moved, r"Network\s+200\s?Gb/s\s+400\s?Gb/s")
        self.turn("design", "superpod-h100")
        self.assertEqual(self.browser.run(effects)["effect-nics"], "in effect: 8")
        self.turn("design", "none")
        self.turn("nic", "own")
        self.assertEqual(self.browser.run(effects), {})
        self.turn("strategy", "fsdp")  # it has no bucket at all
        self.assertEqual(self.browser.run(effects), {})

    def test_lists_are_searched(self):
        options = "return [...document.getElementById('knob-node').options].map((one) => one.value)"
        everything = self.browser.run(options)
        self.browser.run("""const filter = document.querySelector('[aria-label="Find a node"]'); filter.value = "hopper";
                            filter.dispatchEvent(new Event("input", { bubbles: true }))""")
        some = self.browser.run(options)
        self.assertIn("dgx-h100", some)
        self.assertIn("dgx-a100", some)  # what is chosen stays
        self.assertLess(len(some), len(everything) / 2)
        heads = "return [...document.querySelectorAll('#knob-node optgroup')].map((one) => one.label)"
        self.assertIn("NVIDIA Hopper", self.browser.run(heads))
        makers = "return [...document.querySelectorAll('#knob-model optgroup')].map((one) => one.label)"
        self.assertLess({"OpenAI", "Meta", "DeepSeek"}, set(self.browser.run(makers)))

    def test_two_settings_side_by_side(self):
        titles = "return [...document.querySelectorAll('#timeline h2, #kept-timeline h2')].map((one) => one.textContent)"
        self.turn("nics", -1)
        self.outlook()
        child.until(lambda: len(self.browser.run(titles)) == 2, "both timelines are shown")
        self.assertEqual(self.browser.run(titles), ["Timeline of an iteration", "Beside it: the scenario as it was opened"])
        lanes = "return [...document.querySelectorAll('svg.timeline')].map((one) => one.querySelectorAll('.lanes path').length > 0)"
        self.assertEqual(self.browser.run(lanes), [True, True])
        self.browser.run("document.getElementById('back').click()")
        self.wait()

    def test_what_is_shown_can_be_taken_away(self):
        self.browser.run("""window.saved = []; const real = fabricast.download;
          fabricast.download = async (name, what, type) => { saved.push([name, type, what instanceof Blob
            ? [...new Uint8Array(await what.slice(0, 8).arrayBuffer())] : what.slice(0, 5)]); };
          document.getElementById("picture").click(); document.getElementById("save").click();""")
        child.until(lambda: len(self.browser.run("return saved")) == 2, "both are saved")
        saved = {name: (kind, begin) for name, kind, begin in self.browser.run("return saved")}
        self.assertEqual(saved["explored.png"], ("image/png", [137, 80, 78, 71, 13, 10, 26, 10]))
        self.assertEqual(saved["explored.yaml"], ("text/yaml", "name:"))

    def outlook(self):
        """Until the page says how sure the newest setting is."""
        child.until(lambda: self.browser.run("const page = document.getElementById('explore');"
                                             "return !page.classList.contains('waiting') && page.dataset.outlook === (page.dataset.shown ?? '0')"),
                    "the outlook is shown")
        return self.browser.run("return [...document.querySelectorAll('#answer .verdict dd')].map((one) => one.textContent)")

    def test_how_sure_it_is_and_what_it_is_compared_with(self):
        waits, sure, change = self.outlook()
        self.assertTrue(waits.startswith("The step is limited by NICs: 4 NICs a node in place of 2 shortens it by 21.6\u00a0%. "))
        lead = "return document.querySelector('#answer .lead').textContent"
        self.assertTrue(self.browser.run(lead).startswith("The step is limited by NICs. A step takes "))
        self.assertRegex(sure, r"^In 90 of 100 cases a measured step is expected from [0-9.]+.ms to [0-9.]+.m?s, with ")
        self.assertRegex(change, r"4 NICs a node in place of 2[0-9.]+.ms\u221221\.6.%")
        self.assertRegex(change, r"every ib-hdr twice as fast[0-9.]+.msno change$")
        bars = "return [...document.querySelectorAll('#answer .picture .item-name')].map((one) => one.textContent)"
        self.assertEqual(self.browser.run(bars), [])
        self.turn("gpus", +1)
        self.assertEqual(self.browser.run(bars), ["the scenario as it was opened", "this setting"])
        self.assertRegex(self.browser.run("return document.querySelector('#answer .against').textContent"),
                         r"^This setting takes .* per step instead of ")
        self.browser.run("document.getElementById('keep').click()")
        self.assertEqual(self.browser.run(bars), [])
        self.turn("gpus", +1)
        self.assertRegex(self.browser.run(bars)[0], "^kept: gpt3-2.7b, ddp, 128, ")
        self.browser.run("document.getElementById('back').click()")
        self.wait()
        self.assertEqual(self.browser.run("return document.getElementById('knob-gpus').getAttribute('aria-valuetext')"), "64")

    def test_how_sure_what_was_left_at_once_is(self):
        """A knob is turned before the page knows how sure the scenario as it was opened is."""
        self.turn("gpus", +1)
        self.outlook()
        self.assertEqual(self.text("answer").count("90\u00a0% band: "), 2)
        # The same of a setting that was kept at once.
        self.turn("gpus", +1)
        self.browser.run("document.getElementById('keep').click()")
        self.turn("rate", +3)
        self.outlook()
        self.assertIn("kept: gpt3-2.7b, ddp, 256, ", self.text("answer"))
        self.assertEqual(self.text("answer").count("90\u00a0% band: "), 2)

    def test_hostile_address(self):
        self.reopen("model=%3Cimg%20src=x%20onerror=alert(1)%3E&gpus=1e9&rate=<script>&nonsense=1")
        self.assertEqual(self.browser.run("return document.getElementById('knob-model').value"), "gpt3-2.7b")
        self.assertEqual(self.browser.run("return document.images.length"), 0)

    def test_keyboard(self):
        self.browser.run("document.getElementById('knob-gpus').focus()")
        self.browser.command("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": "\ue014"}, {"type": "keyUp", "value": "\ue014"}]}]})
        self.wait()
        self.assertRegex(self.text("changed"), r"^GPUs 64 → 128: ")
        label = self.browser.run("return document.getElementById('knob-gpus').getAttribute('aria-valuetext')")
        self.assertEqual(label, "128")

    def test_answer_is_in_sight_on_a_phone(self):
        self.browser.resize(390, 700)
        self.addCleanup(self.browser.resize, 1280, 900)
        self.reopen("")
        self.assertRegex(self.turn("micro_batch", +1), "^Micro-batch ")
        place = "const box = document.getElementById(arguments[0]).getBoundingClientRect(); return [box.top, box.bottom]"
        self.assertLess(self.browser.run(place, "knob-micro_batch")[1], self.browser.run(place, "changed")[0])
        self.assertLessEqual(self.browser.run(place, "changed")[1], 701)

    def test_page_is_light(self):
        page = self.write("page.html", self.server.get("/", "Connection: close").partition(b"\r\n\r\n")[2].decode())
        self.assertLess(accessible.weight(page), accessible.HEAVIEST_PAGE)

    def test_cannot_be_played(self):
        answer = self.text("answer")
        said = self.turn("node", "p3dn")
        self.assertIn("cannot be simulated: ", said)
        self.assertIn("node 'p3dn' has 1 NIC, not 2", said)
        self.assertNotEqual(answer, "")
        self.assertRegex(self.turn("node", "dgx-a100"), r"step ")


if __name__ == "__main__":
    support.main()
