# SPDX-License-Identifier: Apache-2.0
"""What the tests of answers share: fields of a JSON document, rows of a CSV file, quantities on a page of text.

A command gives one answer in several forms. These tests know no figure by heart: they hold the forms against each other,
and figures against what they are defined to be.
"""
import csv
import io
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support  # noqa: E402

UNITS = {"": 1, "%": 0.01, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400,
         "days": 86400, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
         "TiB": 2**40, "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "Gb/s": 1.25e8, "Tb/s": 1.25e11, "Mb/s": 1.25e5,
         "W": 1, "kW": 1e3, "MW": 1e6}
NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?"
QUANTITY = re.compile(rf"(?<![\w.\-/'])(\$?)({NUMBER})(?: ?(k|M|G)(?=[\s,;)]|$))?(?: ?(%|[kMGTP]?i?B/s|[MGT]b/s|[kKMGTP]i?B|[pnum]?s|min|h|days|[kM]?W)(?![\w/]))?(?![\w])")


def numbers(data):
    """All numbers of a document."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return [number for value in data for number in numbers(value)]
    if isinstance(data, str):
        return [quantity.value for quantity in quantities(data)]
    return [float(data)] if isinstance(data, (int, float)) and not isinstance(data, bool) else []


class Quantity:
    """A number on a page with its unit: its value in SI units, and how far its rounding may have moved it."""

    def __init__(self, found):
        dollar, number, prefix, unit = found.groups()
        self.text = found.group()
        self.unit = unit or ("$" if dollar else "")
        plain = number.replace(",", "")
        scale = {"k": 1e3, "M": 1e6, "G": 1e9}.get(prefix, 1) * UNITS[unit or ""]
        digits = len(plain.lower().split("e")[0].partition(".")[2])
        exponent = int(plain.lower().partition("e")[2] or 0)
        self.value = float(plain) * scale
        self.step = 10.0 ** (exponent - digits) * scale
        self.significant = re.sub(r"[-+.]|e.*", "", plain).lstrip("0")

    def is_near(self, value):
        # `%.4g` drops zeros at the end: 350 may be 350.0 to 350.04.
        return abs(self.value - value) <= 0.5001 * self.step + 1e-12 * abs(value)


def is_near_in_unit(found, value):
    """Whether a quantity is this value. A page may leave out a unit that its head has."""
    scales = (1, 0.01, 1e3, 1e6, 1e9, 1e12, 2**30, 1e-3, 1e-6, 3600, 86400) if found.unit in ("", "$") else (1,)
    return any(found.is_near(value / scale) for scale in scales)


def quantities(text):
    return [Quantity(found) for found in QUANTITY.finditer(text)]


def quantities_values(text):
    return [found.value for found in quantities(text)]


def quantity(text):
    found = quantities(text)
    assert found, f"no quantity in {text!r}"
    return found[0]


def is_rounded(cell, value):
    """Whether a cell is this value, with as many digits as it has; four at least."""
    mantissa, _, exponent = cell.lower().partition("e")
    step = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    enough = len(re.sub(r"[-+.]", "", mantissa).lstrip("0")) >= 4 or float(cell) == value or abs(value) < 1e4 * step
    return enough and abs(float(cell) - value) <= 0.5001 * step + 1e-9 * abs(value)


def csv_rows(text):
    rows = list(csv.reader(io.StringIO(text)))
    assert all(len(row) == len(rows[0]) for row in rows), "a row has more or fewer cells than the head"
    return [dict(zip(rows[0], row)) for row in rows[1:]]


class AnswerTest(support.CliTest):
    def csv(self, *args):
        return csv_rows(self.good(*args, "--format", "csv"))

    def assert_same(self, left, right, what="", rel=1e-9):
        self.assertTrue(math.isclose(left, right, rel_tol=rel, abs_tol=1e-15), f"{what}: {left} and {right}")

    def assert_tidy(self, page):
        """A page begins with words and ends with the end of a line; there are no two empty lines, and no blanks at the end of one."""
        self.assertRegex(page, r"\A(?!\n)[^\t\r\v\f\x1b]*[^\n]\n\Z")
        self.assertNotIn("\n\n\n", page)
        self.assertNotRegex(page, r"(?m) $")

    def assert_tables(self, page):
        """Every table of a page of Markdown has a head, a line below it, and as many cells in each row; numbers stand to the right."""
        n_tables = 0
        for table in re.findall(r"(?m)(?:^\|.*\n)+", page):
            rows = [row.strip().strip("|").split("|") for row in table.replace("\\|", "/").splitlines()]
            self.assertGreater(len(rows), 2, table)
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, table)
            self.assertTrue(all(re.fullmatch(r" ?-{3,}:? ?", cell) for cell in rows[1]), table)
            n_tables += 1
        return n_tables

    def assert_shows(self, text, value, what=""):
        """One of the quantities of the text is this value, as it is rounded there."""
        self.assertTrue(any(found.is_near(value) for found in quantities(text)), f"{what}: {text!r} does not show {value}")

    def assert_cell(self, cell, value, name):
        if value is None:
            self.assertEqual(cell, "", name)
        elif isinstance(value, bool):
            self.assertIn(cell, ("true", "yes", "1") if value else ("false", "no", "0"), name)
        elif isinstance(value, (int, float)):
            self.assertTrue(is_rounded(cell, value), f"{name}: {cell} and {value}")
        else:
            self.assertEqual(cell, value, name)
