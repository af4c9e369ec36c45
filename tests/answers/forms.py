#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The forms of an answer agree: JSON, CSV and the page of text of a command say the same, and keep what scripts read.

`forms.py PROGRAM FILE...`; forms/NAME.txt lists command lines. Below each stands what another program or a person relies on:

    json PARENT    names of fields; `name:text` is a text, `:flag` a flag, `:null` nothing, none of these a number. @figures are
                   the figures that every point of a study has
    csv PATH       the list of the document that the rows of the CSV file are, and the columns that are no fields of it
    text           lines of the page: the words at the beginning, and how many quantities stand in them
    derived        figures of the page that the document has not, as formulas over it
    own            lines whose figures stand in the page alone, by their first words
    table ROWS     of a table of the page its rows, as a formula, and below it `HEAD: FORMULA | ...`: what each column shows
    says WORDS: [] the quantities of the line that begins with these words, in their order, as formulas; `_` is any
    before         a command that runs first, in the same folder

No figure is written down there: what the page shows must be in the document, and the rows of the CSV file must be its lists. A
field or a line that goes away breaks somebody's script. One that is new is added here by hand.
"""
import json
import math
import os
import re
import shlex
import shutil
import sys

import answer
import tables
from answer import support

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forms")
FIGURES = """step_s exposed_fraction exposed_s exposed_data_fraction exposed_tensor_fraction exposed_context_fraction
    exposed_expert_fraction exposed_pipeline_fraction exposed_offload_fraction exposed_other_fraction exposed_inter_node_fraction
    exposed_intra_node_fraction idle_fraction waiting_fraction mfu_fraction tokens_per_s train_s calendar_s ettr_fraction
    goodput_tokens_per_s lost_gpu_hours memory_bytes capex_usd network_capex_fraction power_watts network_power_fraction
    usd_per_hour usd_per_step usd_per_million_tokens train_usd step_joules train_joules""".split()
PROSE = ("verdict", "warning", "note", "error")
LABEL = re.compile(r"\s*(.*?)(?=  |:|$)")


def walk(data, path=""):
    """(path, name, type) of every field; `bands[].band` is the parent of a field of a field of a list."""
    if isinstance(data, dict):
        for name, value in data.items():
            if isinstance(value, (dict, list)):
                yield from walk(value, f"{path}.{name.replace(' ', '_')}".lstrip("."))
                if not value:
                    yield path, name, "empty"
            else:
                yield path, name.replace(" ", "_"), {bool: "flag", int: "number", float: "number", str: "text", type(None): "null"}[type(value)]
    elif isinstance(data, list):
        for value in data:
            if isinstance(value, (dict, list)):
                yield from walk(value, path + "[]")
            else:
                yield path + "[]", "-", {bool: "flag", int: "number", float: "number", str: "text", type(None): "null"}[type(value)]


def described_fields(data):
    """{parent: {names with types}}, as forms/*.txt has them."""
    kinds = {}
    for parent, name, kind in walk(data):
        kinds.setdefault(parent or ".", {}).setdefault(name, set()).add(kind)
    described = {}
    for parent, names in kinds.items():
        words = set()
        if set(FIGURES) <= set(names):
            words.add("@figures")
            names = {name: found for name, found in names.items() if name not in FIGURES}
        for name, found in names.items():
            found = found - {"null"} or found
            words.add(name + "".join(f":{kind}" for kind in sorted(found) if kind != "number"))
        described[parent] = words
    return described


def paragraphs(page):
    """The lines of a page; what stands far to the right goes on with the line above it. Of a page of Markdown, which has
    sentences about what it shows, the headings and the rows of tables."""
    lines, is_markdown = [], "\n|---" in page or "\n| ---" in page
    for line in page.splitlines():
        if is_markdown and line[:1] not in ("|", "#"):
            continue
        if lines and line.startswith(" " * 14) and not lines[-1].startswith(" " * 14):
            lines[-1] += "  " + line.strip()
        elif line.strip():
            lines.append(line)
    return lines


def described_lines(page):
    """The lines of a page without their figures: "exposed 3" is a line that begins so and has three quantities. Sentences
    have as many as they need."""
    lines = set()
    for line in paragraphs(page):
        cell = line.split("|")[1] if line.startswith("|") else line
        words = answer.QUANTITY.sub("#", LABEL.match(cell).group(1)).replace("|", "").strip()
        count = "" if words in PROSE else f" {len(answer.quantities(line))}"
        lines.add((words[:40].strip() or "-") + count)
    return lines


def list_at(data, path):
    """The list of a document at `cases[].differences`: those of all cases, one after another. `.` is the document."""
    things = [data]
    for name in path.split(".") if path != "." else ():
        things = [thing[name.removesuffix("[]")] for thing in things]
        if name.endswith("[]"):
            things = [one for thing in things for one in thing]
    return [one for thing in things for one in thing]


def is_known(found, known):
    """Whether a quantity of a page is one of the values."""
    return any(answer.is_near_in_unit(found, value) for value in known)


class Form:
    """A command line of forms/*.txt with what stands below it."""

    def __init__(self, command):
        self.command = command
        self.json, self.csv, self.derived, self.own, self.before = {}, None, [], set(), []
        self.pages = {}  # text and markdown
        self.tables, self.lines = [], []
        self.last = None

    def take(self, line):
        word, _, rest = line.partition(" ")
        if word == "json":
            parent, _, names = rest.strip().partition(" ")
            self.last = self.json.setdefault(parent, set())
            self.last |= set(names.split())
        elif word == "csv":
            path, _, names = rest.strip().partition(" ")
            self.csv = (path, set(names.split()))
            self.last = self.csv[1]
        elif word in ("text", "markdown"):
            self.last = self.pages.setdefault(word, set())
            self.last |= lines_of(rest)
        elif word == "derived":
            self.derived.append(rest.partition("  # ")[0].strip())
        elif word == "own":
            self.own |= lines_of(rest)
        elif word == "before":
            self.before.append(rest)
        elif word == "table":
            self.last = tables.Table(rest)
            self.tables.append(self.last)
        elif word == "says":
            self.lines.append(tables.Line(rest))
        elif isinstance(self.last, tables.Table):
            self.last.add(line)
        else:
            self.last |= lines_of(line) if any(self.last is page for page in self.pages.values()) else set(line.split())


def lines_of(text):
    return {part.strip() for part in text.split("|") if part.strip()}


def forms_of(name):
    forms = []
    for line in support.read(FOLDER, name + ".txt").splitlines():
        if line.startswith("$ "):
            forms.append(Form(line[2:]))
        elif line.strip() and not line.startswith("#"):
            forms[-1].take(line.strip())
    return forms


class Forms(answer.AnswerTest):
    names = []

    def ask(self, command, form):
        arguments = [word.replace("$SOURCE", support.SOURCE) for word in shlex.split(command)]
        done = self.fabricast(*arguments, *(["--format", form] if form != "text" else []),
                              cwd=self.directory)
        self.assertLessEqual(done.returncode, 1, done.stderr)
        return done.stdout.replace(support.SOURCE, "$SOURCE")

    def check_csv(self, form, data):
        path, own = form.csv
        rows, things = answer.csv_rows(self.ask(form.command, "csv")), list_at(data, path)
        self.assertEqual(len(rows), len(things))
        columns = set(rows[0])
        self.assertEqual(columns - set().union(*map(set, things)), own, "columns that are no fields")
        for row, thing in zip(rows, things):
            for name in columns & set(thing):
                if not isinstance(thing[name], (dict, list)):
                    self.assert_cell(row[name], thing[name], name)

    def check_page(self, form, kind, data):
        page = self.ask(form.command, kind)
        self.assertNotRegex(page, r"\(null\)|\b(?:nan|inf)\b")
        self.assertNotIn("\n\n\n", page)
        if not form.command.startswith(("collective", "p2p")):  # which print as programs of others do
            self.assert_tidy(page)
        self.assert_tables(page)
        if not form.command.startswith("validate"):  # whose errors have signs
            self.assertNotRegex(page, r"(?<![\w.])-0(?:\.0+)?(?= %| to )")
        scope = {"d": data, "sum": sum, "max": max, "min": min, "len": len, "set": set, "abs": abs, "zip": zip, "str": str, "math": math}
        own = {key: value for key, value in data.items() if key != "version"} if isinstance(data, dict) else data  # which another release has not
        known = answer.numbers(own) + answer.quantities_values(form.command)
        for formula in form.derived:
            made = eval(formula, scope)  # of this repository's own file
            known += list(made) if isinstance(made, (list, tuple)) else [made]
        known += [-value for value in known]
        for line in paragraphs(page):
            for found in answer.quantities(line) if not line.strip(" |").startswith(tuple(form.own)) else ():
                self.assertTrue(is_known(found, known), f"{found.text!r} is neither in the JSON nor derived from it:\n{line}")
        self.assertEqual(described_lines(page), form.pages[kind])
        if kind == "text":
            scope.update(d=tables.nodes(data), size=lambda text: answer.quantity(text).value, numbers=answer.quantities_values, next=next, sorted=sorted, int=int)
            for table in form.tables:
                table.check(self, page, scope)
            for line in form.lines:
                line.check(self, scope, paragraphs(page))

    def test_forms_agree(self):
        for name in self.names:
            for form in forms_of(name):
                with self.subTest(form.command):
                    self.directory = support.new_directory()
                    self.addCleanup(shutil.rmtree, self.directory)
                    for command in form.before:
                        self.fabricast(*shlex.split(command))
                    data = json.loads(self.ask(form.command, "json"))
                    self.assertEqual(described_fields(data), form.json)
                    if form.csv is not None:
                        self.check_csv(form, data)
                    for kind in form.pages:
                        self.check_page(form, kind, data)


if __name__ == "__main__":
    Forms.names = [sys.argv.pop() for _ in range(len(sys.argv) - 2)]
    support.main()
