#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quoted.py: figures that README.md and docs/explanation/accuracy.md quote are those of the pages that commands write.

A row is a pattern of the page that quotes and one of the page that has the figure. Groups of the same name must agree: the
quoted number is the other one, rounded to as many decimals as are shown. `s` is a time and `mib` a memory, in any unit.
FAB_UPDATE_GOLDEN=1 writes the figures into the pages that quote.
"""
import os
import re
import unittest

SOURCE = os.environ.get("FAB_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README, ACCURACY = "README.md", "docs/explanation/accuracy.md"
TABLES, TRAINING, BENCH = (f"docs/reference/{name}.md" for name in ("validation", "validation-training", "bench"))
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "MiB": 1, "GiB": 1024, "": 1}

ERROR, ROWS = r"(?P<error>[\d.]+) %", r"(?P<rows>\d+)"
ANCHORED = rf"^\| all \| {ROWS} \| {ERROR}"
JUDGED = rf"^\| \*\*all\*\* \| {ROWS} \| {ERROR}"
CALIBRATING = rf"^\| \*\*all\*\* \|(?:[^|]*\|){{4}} {ROWS} \| {ERROR}"
OF_TABLES = r"^\| all judged [^|]*"


def job(quoted, row):
    return (README, rf"^\| {quoted} \| (?P<s>[\d.]+ s) \| (?P<mib>[\d.]+ [MG]iB) \|", BENCH,
            rf"(?s)^\| {row} \| (?P<s>[\d.]+ \w+) \|.*^- {row}: peak (?P<mib>\d+ MiB)")


QUOTES = (
    (README, rf"^\| {ROWS} published tables of collectives, 64 MiB and more \| {ERROR}", TABLES,
     rf"{OF_TABLES}\|[^|]*\|[^|]*\| {ERROR} \({ROWS}\)"),
    (README, rf"^\| {ROWS} published tables of collectives, 256 KiB to 64 MiB \| {ERROR}", TABLES,
     rf"{OF_TABLES}\|[^|]*\| {ERROR} \({ROWS}\)"),
    (README, rf"^\| {ROWS} training steps, with the compute of one small measured run given \| {ERROR}", TRAINING, ANCHORED),
    (README, rf"^\| {ROWS} training steps, with nothing measured given \| {ERROR}", TRAINING, JUDGED),
    (ACCURACY, rf"^  judged +{ROWS} rows +median \|error\| +{ERROR}", TRAINING, ANCHORED),
    (ACCURACY, rf"^  blind, judged +{ROWS} rows +median \|error\| +{ERROR}", TRAINING, JUDGED),
    (ACCURACY, rf"^  blind, calibrating +{ROWS} rows +median \|error\| +{ERROR}", TRAINING, CALIBRATING),
    job("DDP, 1024 GPUs", "DDP, one iteration, 1024 GPUs, Llama 2 7B"),
    job("ZeRO-3 of a 70B model, 16 384 GPUs", "ZeRO-3, one iteration, 16 384 GPUs, Llama 2 70B"),
    job("the same, 131 072 GPUs", "ZeRO-3, one iteration, 131 072 GPUs, Llama 2 70B"),
    job("the same, 1 048 576 GPUs", "ZeRO-3, one iteration, 1 048 576 GPUs, Llama 2 70B"),
)


def read(page):
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        return file.read()


def as_shown(quoted, actual):
    """The actual figure in the unit and with the decimals of the quoted one: ("0.04 s", "44.3 ms") is "0.04 s"."""
    number, _, unit = quoted.partition(" ")
    value, _, of = actual.partition(" ")
    decimals = len(number.partition(".")[2])
    return f"{float(value) * UNITS[of] / UNITS[unit]:.{decimals}f}" + (" " + unit if unit else "")


class Quoted(unittest.TestCase):
    def test_figures(self):
        for page, quote, source, pattern in QUOTES:
            with self.subTest(f"{page}: {quote}"):
                quoted, actual = (re.search(regex, read(name), re.M) for regex, name in ((quote, page), (pattern, source)))
                self.assertIsNotNone(quoted, f"{page} does not quote this")
                self.assertIsNotNone(actual, f"{source} does not have this")
                shown = {name: as_shown(text, actual[name]) for name, text in quoted.groupdict().items()}
                if os.environ.get("FAB_UPDATE_GOLDEN"):
                    self.update(page, quoted, shown)
                else:
                    self.assertEqual(quoted.groupdict(), shown)

    def test_scenario_of_the_quick_start(self):
        shown = re.search(r"(?s)```yaml\n(.*?)```", read(README))[1]
        whole = read("scenarios/four-nodes.yaml")
        self.assertEqual(shown, whole[whole.index("name: "):])

    def update(self, page, quoted, shown):
        text = read(page)
        for name in sorted(shown, key=quoted.start, reverse=True):
            text = text[:quoted.start(name)] + shown[name] + text[quoted.end(name):]
        if text != read(page):
            with open(os.path.join(SOURCE, page), "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    unittest.main()
