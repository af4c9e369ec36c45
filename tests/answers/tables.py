# SPDX-License-Identifier: Apache-2.0
"""Tables and lines of a page of text, held against the document: which figure stands under which head, in which row.

A cell belongs to the head with which it shares an edge, so that a column that is out of line is noticed too.
"""
import re

import answer


class Node(dict):
    """An object of a document, whose fields are attributes too: `d.goodput.calendar_s`. A field that is missing is None."""

    def __getattr__(self, name):
        return self.get(name)


def nodes(data):
    if isinstance(data, dict):
        return Node((name, nodes(value)) for name, value in data.items())
    return [nodes(value) for value in data] if isinstance(data, list) else data


class Cell:
    def __init__(self, start, end, text):
        self.start, self.end, self.text = start, end, text


def cells(line):
    """What two blanks or more keep apart."""
    return [Cell(*found.span(), found.group()) for found in re.finditer(r"\S+(?: \S+)*", line)]


def head_at(lines, heads):
    """(index, cells) of the line of a page that has these heads in this order, and nothing else."""
    wanted = re.compile(r"\s*" + r"\s+".join(f"({re.escape(head)})" for head in heads) + r"\s*")
    for i, line in enumerate(lines):
        found = wanted.fullmatch(line)
        if found:
            return i, [Cell(*found.span(k), found[k]) for k in range(1, len(heads) + 1)]
    raise AssertionError(f"no line has the heads {heads}")


def rows_below(lines, at):
    """The lines of a table, up to an empty one or one that goes on far to the right or begins a section."""
    rows = []
    for line in lines[at + 1:]:
        if not line.strip():
            break
        if not line.startswith("#"):  # units, below the heads of nccl-tests
            rows.append(line)
    return rows


def by_head(line, heads, label):
    """{index of the head: cell} of a line. What stands left of the first head is the label, where the table has one. Marks
    behind the last column, such as `<`, are left out."""
    found, rest = {}, cells(line)
    if label:
        first = rest.pop(0)
        found[-1] = first
    for cell in rest:
        if cell.text == "+-":  # before what a band has to either side
            continue
        ends = (cell.end, cell.start + len(cell.text.partition(" (")[0]))  # with or without what stands in brackets
        fitting = [i for i, head in enumerate(heads) if i not in found and (head.start == cell.start or head.end in ends)]
        if fitting:
            found[fitting[0]] = cell
        elif cell.start < heads[-1].end and cell.text[0] not in "<(":
            raise AssertionError(f"{cell.text!r} stands below no head:\n{line}")
    return found


def is_shown(cell, value, formula=""):
    """Whether a cell shows a value: a text, a number with as many digits as the cell has, or several of them."""
    if value is None:
        return cell in ("", "-")
    if isinstance(value, bool):
        return cell == ("yes" if value else "no")
    if isinstance(value, str):
        return " ".join(cell.split()) == " ".join(value.split())
    values = value if isinstance(value, (list, tuple)) else [value]
    found = answer.quantities(cell)
    if formula.startswith("+") and not all(one.text[0] in "+-" for one in found):
        return False
    return len(found) == len(values) and all(wanted is None or answer.is_near_in_unit(one, wanted) for one, wanted in zip(found, values))


class Table:
    """`table ROWS` of forms/*.txt, with `HEAD: FORMULA` of its columns (`HEAD := FORMULA` where a head has a colon); `.` is the head of labels that have none.
    The formula `_` is any figure."""

    def __init__(self, rows):
        self.rows, self.columns = rows, []

    def add(self, text):
        for part in text.split(" | "):
            if part.strip(" |"):
                head, _, formula = part.strip(" |").partition(" := " if " := " in part else ": ")
                self.columns.append((head, formula.strip()))

    def check(self, test, page, scope):
        wanted = eval(self.rows, scope)  # of this repository's own file, as the formulas are
        test.assertTrue(wanted, f"{self.rows} are no rows, and would be found on any page")
        lines = page.splitlines()
        label = self.columns[0][0] == "."
        names = [head for head, _ in self.columns[label:]]
        at, heads = head_at(lines, names)
        rows = rows_below(lines, at)[:len(wanted)]
        test.assertEqual(len(rows), len(wanted), f"rows below {names}")
        for line, row in zip(rows, wanted):
            found = by_head(line, heads, label)
            for i, (head, formula) in enumerate(self.columns):
                if formula == "_":
                    continue
                cell = found.get(i - label)
                value = eval(formula, {**scope, "r": row, "rows": wanted}, dict(row) if isinstance(row, dict) else {})
                text = cell.text if cell else ""
                test.assertTrue(is_shown(text, value, formula), f"{head}: {text!r} is not {value}:\n{line}")


class Line:
    """`says WORDS: [FORMULA, ...]`: the quantities of the line that begins with these words and has as many of them, in their
    order; `_` is any."""

    def __init__(self, text):
        self.words, _, self.formula = text.partition(": [")
        self.formula = "[" + self.formula

    def check(self, test, scope, paragraphs):
        values = eval(self.formula, {**scope, "_": None})
        plain = [re.sub(r" +", " ", line.strip()) for line in paragraphs]
        found = [(line, answer.quantities(line[len(self.words):])) for line in plain if line.startswith(self.words)]
        fitting = [(line, shown) for line, shown in found if len(shown) == len(values)]
        test.assertEqual(len(fitting), 1, f"lines that begin with {self.words!r} and have {len(values)} quantities:\n{found}")
        line, shown = fitting[0]
        for one, value in zip(shown, values):
            test.assertTrue(value is None or answer.is_near_in_unit(one, value), f"{one.text!r} is not {value}:\n{line}")
