#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `validate` sums up is what its rows say: medians, bias, largest errors, shares in bands, directions.

`sums.py PROGRAM [Class]`. Each sum is formed once more, by Python, of the rows of the document.
"""
import csv
import json
import math
import os
import re
import statistics

import yaml

import answer
import tables
from answer import support

MEASURED = os.path.join(support.SOURCE, "validate", "measured")


def text_rows(page):
    """(label, quantities) of the lines of a page whose labels end with two blanks or more."""
    return [(found[1], answer.quantities(found[2])) for found in re.finditer(r"(?m)^  (\S+(?: \S+)*?) {2,}(.*)$", page)]


def table_rows(chapter):
    """{first cell: the others} of the tables of a chapter of Markdown."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in chapter.splitlines() if line.startswith("|")]
    return {row[0]: row[1:] for row in cells}


class Sums(answer.AnswerTest):
    def told(self, *args):
        return tables.nodes(json.loads(self.fabricast("validate", *args, "--format", "json").stdout))

    def assert_errors(self, told, errors, what, count="rows"):
        """The median of |errors|, that of the errors with their signs, and the largest."""
        self.assertEqual(told[count], len(errors), what)
        if errors:
            self.assert_same(told.median_fraction, statistics.median(map(abs, errors)), what)
            self.assert_same(told.bias_fraction, statistics.median(errors), what)
            self.assert_same(told.max_fraction, max(map(abs, errors)), what)

    def assert_quantities(self, found, values, what):
        self.assertEqual(len(found), len(values), what)
        for one, value in zip(found, values):
            self.assertTrue(value is None or answer.is_near_in_unit(one, value), f"{what}: {one.text} is not {value}")

    def assert_cells(self, cells, values, what):
        """Cells of Markdown show these values; None: the cell is empty, a text: it is that."""
        self.assertEqual(len(cells), len(values), what)
        for cell, value in zip(cells, values):
            self.assertTrue(cell == value if isinstance(value, str) else tables.is_shown(cell, value), f"{what}: {cell!r} is not {value}")


class Memory(Sums):
    NAMES = ("h100-pytorch", "torchtitan", "torchtune", "simumax-b200")
    GIB = 2**30

    def setUp(self):
        super().setUp()
        self.document = self.told("memory", *self.NAMES)
        index = yaml.safe_load(support.read(MEASURED, "memory", "INDEX.yaml"))
        self.specs = {one["name"]: one for one in index[next(key for key in index if isinstance(index[key], list))]}
        page = self.fabricast("validate", "memory", *self.NAMES).stdout
        self.doubtful = {(name, row) for name, part in self.parts(page).items() for row in re.findall(r"(?m)^  (\S+) .* doubtful$", part)}
        self.page = page

    def parts(self, page):
        found = re.split(r"(?m)^(\S+): .*\n", page.split("\nall sources\n")[0])
        return dict(zip(found[1::2], found[2::2]))

    def counted(self, source):
        return [row for row in source.rows if row.problem is None and (source.name, row.id) not in self.doubtful]

    def test_errors_of_sources(self):
        for source in self.document.sources:
            for row in source.rows:
                self.assert_same(row.error_fraction, row.predicted_bytes / row.measured_bytes - 1, row.id)
            self.assert_errors(source.errors, [row.error_fraction for row in self.counted(source)], source.name)
            self.assertEqual(source.refused, sum(row.is_refused for row in source.rows))
            self.assertEqual(source.skipped, sum(row.problem is not None for row in source.rows))
        for key, roles in (("all", ("looked at", "held out")), ("looked_at", ("looked at",)), ("held_out", ("held out",))):
            of = [row.error_fraction for source in self.document.sources if source.role in roles for row in self.counted(source)]
            self.assertTrue(of)
            self.assert_errors(self.document[key], of, key)

    def band(self, without):
        """Nine tenths of a mixture in which every source weighs the same; it has 1 in it."""
        mixture = []
        sources = [source for source in self.document.sources
                   if source.name != without and self.specs[source.name].get("in_band", True) and self.counted(source)]
        for source in sources:
            rows = self.counted(source)
            mixture += [(-math.log(1 + row.error_fraction), 1 / len(rows)) for row in rows]
        mixture.sort()
        ends = []
        for share in (0.05, 0.95):
            reached = 0
            for residual, weight in mixture:
                reached += weight
                if reached >= share * len(sources) - 1e-9:
                    ends.append(residual)
                    break
        return min(0, ends[0]), max(0, ends[1])

    def test_bands_are_those_of_the_others(self):
        low, high = self.band(None)
        self.assert_same(self.document.band.low_factor, math.exp(low))
        self.assert_same(self.document.band.high_factor, math.exp(high))
        shares = []
        for source in self.document.sources:
            low, high = self.band(source.name)
            rows = self.counted(source)
            held = sum(low <= -math.log(1 + row.error_fraction) <= high for row in rows) / len(rows)
            self.assert_same(source.held_fraction, held, source.name)
            shares.append(held)
        self.assert_same(self.document.band.held_fraction, statistics.fmean(shares))

    def test_the_page(self):
        parts = self.parts(self.page)
        self.assertEqual(list(parts), [source.name for source in self.document.sources])
        for source in self.document.sources:
            rows = text_rows(parts[source.name])
            self.assertEqual([label for label, _ in rows][:len(source.rows)], [row.id for row in source.rows])
            for (label, found), row in zip(rows, source.rows):
                self.assert_quantities(found, [row.measured_bytes, row.predicted_bytes / self.GIB, row.error_fraction], label)
                self.assertIn("+" if row.error_fraction > 0 else "-", found[-1].text)
                self.assertRegex(parts[source.name], rf"(?m)^  {re.escape(row.id)} +\S+ GiB {row.kind} ")
            self.assertIn(f"holds {100 * source.held_fraction:.0f} %; refused {source.refused}; skipped {source.skipped}", parts[source.name])
        rest = dict(text_rows(self.page.split("\nall sources\n")[1]))
        for label, key in (("looked at", "looked_at"), ("held out", "held_out"), ("all", "all")):
            errors = self.document[key]
            self.assert_quantities(rest[label], [errors.rows, errors.median_fraction, errors.bias_fraction, errors.max_fraction], label)

    def test_the_markdown(self):
        page = self.fabricast("validate", "memory", *self.NAMES, "--format", "markdown").stdout
        chapters = dict(re.findall(r"(?ms)^## (\S+)\n(.*?)(?=^## |\Z)", page))
        summary = table_rows(page.split("\n## ")[0])
        for source in self.document.sources:
            errors = source.errors
            self.assert_cells(summary[source.name], [source.role, errors.rows, errors.median_fraction, errors.bias_fraction,
                                                     errors.max_fraction, source.held_fraction, source.refused], source.name)
            rows = table_rows(chapters[source.name])
            for row in source.rows:
                self.assert_cells(rows[row.id], [row.kind, row.measured_bytes / self.GIB, row.predicted_bytes / self.GIB,
                                                 row.error_fraction], row.id)


class Training(Sums):
    NAMES = ("baskerville", "nvidia-dle", "oci-gb300", "one-bit-adam", "modalities-mn5", "tpu", "mlperf-bert")
    PREDICTED = ("anchor", "layout anchor", "one node", "judged")
    document = None

    def setUp(self):
        super().setUp()
        if type(self).document is None:
            type(self).document = self.told("training", *self.NAMES)
            type(self).cells = self.csv_cells()
            index = yaml.safe_load(support.read(MEASURED, "training", "INDEX.yaml"))
            type(self).index = {one["name"]: one for one in index[next(key for key in index if isinstance(index[key], list))]}
            type(self).measured = {(name, row["id"]): row for name in self.NAMES for row in self.table(self.index[name])}

    def table(self, spec):
        """The rows of what was measured."""
        path = os.path.join(MEASURED, "training", spec["file"])
        with open(path, encoding="utf-8") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    def csv_cells(self):
        return {(row["source"], row["row"]): row for row in answer.csv_rows(self.fabricast("validate", "training", *self.NAMES, "--format", "csv").stdout)}

    def rows(self, role, picked=lambda row: True, sources=None):
        return [row for source in sources or self.document.sources for row in source.rows if row.role == role and picked(row)]

    def assert_blind(self, told, is_calibration, picked, sources, what):
        rows = [row for source in sources for row in source.rows if row.blind_s is not None and row.role != "skipped"
                and not self.measured[source.source, row.row].get("doubtful")
                and row.calibration == is_calibration and picked(row)]
        self.assert_errors(told, [row.blind_error_fraction for row in rows], what)
        self.assertEqual(told.inside, sum(row.inside for row in rows), what)

    def assert_account(self, told, picked, what):
        self.assert_errors(told, [row.error_fraction for row in self.rows("judged", picked)], what)
        for key, is_calibration in (("blind_calibration", True), ("blind_judged", False)):
            self.assert_blind(told[key], is_calibration, picked, self.document.sources, what)

    def test_rows(self):
        for source in self.document.sources:
            for row in source.rows:
                cell = self.cells[source.source, row.row]
                if row.role in self.PREDICTED:
                    self.assert_same(row.error_fraction, row.predicted_s / row.measured_s - 1, row.row)
                if row.blind_s is not None:
                    self.assert_same(row.blind_error_fraction, row.blind_s / row.measured_s - 1, row.row)
                self.assertEqual(cell["calibration"] == "yes", row.calibration)
                for name in ("role", "strategy", "gpus", "nodes", "measured_s", "predicted_s", "exposed_s", "compute", "efficiency"):
                    self.assert_cell(cell[name], row[name], name)

    def test_sums_of_sources(self):
        told = self.document
        for source in told.sources:
            for key, role in (("judged", "judged"), ("one_node", "one node"), ("across_layouts", "layout anchor")):
                self.assert_errors(source[key], [row.error_fraction for row in self.rows(role, sources=[source])], source.source)
            for key, is_calibration in (("blind_calibration", True), ("blind_judged", False)):
                self.assert_blind(source[key], is_calibration, lambda row: True, [source], source.source)
            self.assertEqual(source.skipped, sum(row.role == "skipped" for row in source.rows))
        self.assert_account(tables.Node({**told.all, "blind_calibration": told.blind_calibration, "blind_judged": told.blind_judged}),
                            lambda row: True, "all")
        self.assert_errors(told.over_256_gpus, [row.error_fraction for row in self.rows("judged", lambda row: row.gpus > 256)], "large")
        self.assert_errors(told.across_layouts, [row.error_fraction for row in self.rows("layout anchor")], "across")
        self.assertEqual(told.unanchored, len(self.rows("no anchor")))
        for key in ("right", "wrong", "small", "odd"):
            self.assertEqual(told.directions[key], sum(source.directions[key] for source in told.sources))

    def test_sums_of_kinds(self):
        """By strategy, by how the model is divided, by generation of the accelerator."""
        told = self.document
        cell = {id(row): self.cells[source.source, row.row] for source in told.sources for row in source.rows}
        self.assertEqual(set(told.strategies), {row.strategy for source in told.sources for row in source.rows})
        for name, account in told.strategies.items():
            self.assert_account(account, lambda row: row.strategy == name, name)
        self.assertEqual(list(told.generations), sorted(told.generations))
        for name, account in told.generations.items():
            self.assert_account(account, lambda row: cell[id(row)]["generation"] == name, name)
        columns = {"TP": "tensor", "PP": "pipeline", "EP": "expert", "CP": "context"}
        for name, account in told.divisions.items():
            divided = lambda row: [key for key, column in columns.items() if int(cell[id(row)][column]) > 1]
            self.assert_account(account, lambda row: name in divided(row) if name != "DP" else not divided(row), name)
        for name, account in told.cases.items():
            own = lambda row: cell[id(row)]
            picked = {"TP 8 and more": lambda row: int(own(row)["tensor"]) >= 8, "FP4": lambda row: own(row)["precision"] == "nvfp4",
                      "FP8": lambda row: own(row)["precision"] in ("fp8", "mxfp8"), "experts divided": lambda row: int(own(row)["expert"]) > 1}
            if name in picked:
                self.assert_account(account, picked[name], name)

    def pairs(self, name, told):
        """(row, row, factor) of rows that differ in one factor, with none between them; not both inside a node."""
        spec = self.index[name]
        rows = [row for row in told.rows if row.role in self.PREDICTED]
        same, factors = (spec.get(key, "").split() for key in ("same", "factors"))
        of = lambda row, key: self.measured[name, row.row].get(key, "")
        def are_alike(a, b, factor):
            return all(of(a, key) == of(b, key) for key in [*same, *factors] if key != factor)
        def is_between(a, b, factor):
            try:
                return any(are_alike(a, row, factor) and (float(of(row, factor)) - float(of(a, factor))) * (float(of(b, factor)) - float(of(row, factor))) > 0
                           for row in rows)
            except ValueError:
                return False
        for factor in factors:
            for i, a in enumerate(rows):
                for b in rows[i + 1:]:
                    if (a.nodes >= 2 or b.nodes >= 2) and are_alike(a, b, factor) and of(a, factor) != of(b, factor) and not is_between(a, b, factor):
                        yield a, b, factor, float(of(a, "batch")), float(of(b, "batch"))

    def test_directions(self):
        """A change of one thing makes a sample cheaper or dearer in GPU-seconds, as measured."""
        wrong = []
        for source in self.document.sources:
            count = dict.fromkeys(("right", "wrong", "small", "odd"), 0)
            for a, b, factor, a_batch, b_batch in self.pairs(source.source, source):
                change = lambda key: b[key] * b.gpus / b_batch / (a[key] * a.gpus / a_batch) - 1
                measured, predicted = change("measured_s"), change("predicted_s")
                if abs(measured) < 0.02:
                    count["small"] += 1
                elif measured * predicted > 0:
                    count["right"] += 1
                elif factor == "gpus" and (b.gpus > a.gpus) == (measured < 0):
                    count["odd"] += 1
                else:
                    count["wrong"] += 1
                    wrong.append((source.source, factor, a.row, b.row, measured, predicted))
            self.assertEqual(source.directions, count, source.source)
        self.assertEqual([(one.source, one.factor, one["from"], one.to) for one in self.document.wrong_directions], [one[:4] for one in wrong])
        for one, (*_, measured, predicted) in zip(self.document.wrong_directions, wrong):
            self.assert_same(one.measured_fraction, measured, rel=1e-6)
            self.assert_same(one.predicted_fraction, predicted, rel=1e-6)
        self.assertGreater(len(wrong), 0)


class TrainingPages(Training):
    """The pages of training say what the document says."""

    NAMES = ("baskerville", "nvidia-dle", "oci-gb300", "modalities-mn5")
    document = None
    test_rows = test_sums_of_sources = test_sums_of_kinds = test_directions = None

    def errors(self, told):
        return [told.rows, told.median_fraction, told.bias_fraction, told.max_fraction] if told.rows else None

    def blind(self, told):
        return [told.rows, told.median_fraction, told.bias_fraction, told.max_fraction, told.inside / told.rows] if told.rows else None

    def test_text(self):
        page = self.fabricast("validate", "training", *self.NAMES).stdout
        told = self.document
        found = re.split(r"(?m)^([^\s:][^:\n]*)(?:: .*)?\n(?=  )", page)
        parts = dict(zip(found[1::2], found[2::2]))
        for source in told.sources:
            lines = parts[source.source]
            rows = text_rows(lines)
            for key, label in (("judged", "judged"), ("one_node", "one node"), ("across_layouts", "across layouts"),
                               ("blind_calibration", "blind, calibrating"), ("blind_judged", "blind, judged")):
                values = self.blind(source[key]) if key.startswith("blind") else self.errors(source[key])
                shown = [quantities for name, quantities in rows if name == label]
                self.assertEqual(len(shown), values is not None, f"{source.source} {label}")
                if values is not None:
                    shown = [one for i, one in enumerate(shown[0]) if not ("(accepted" in lines and key == "judged" and i == 2)]
                    self.assert_quantities(shown[:len(values)], values, f"{source.source} {label}")
            counts = source.directions
            if counts.right + counts.wrong + counts.odd > 0:
                self.assertRegex(lines, rf"directions +{counts.right} right, {counts.wrong} wrong, {counts.small} under 2 %, {counts.odd} cheaper")
            for row in source.rows:
                line = next(line for line in lines.splitlines() if line.split()[:1] == [row.row])
                shown = answer.quantities(line)
                values = [row.gpus, row.measured_s, row.predicted_s, row.error_fraction, row.exposed_s / max(row.predicted_s, 1e-12), row.efficiency]
                self.assertTrue(all(any(answer.is_near_in_unit(one, value) for one in shown) for value in values), line)
                self.assertIn(row.role, line)
        for one in told.wrong_directions:
            self.assertIn(f"wrong direction: {one.source}, {one.factor}, rows {one['from']} and {one.to}: measured "
                          f"{100 * one.measured_fraction:+.1f} %, predicted {100 * one.predicted_fraction:+.1f} %", page)

    def test_markdown(self):
        page = self.fabricast("validate", "training", *self.NAMES, "--format", "markdown").stdout
        told = self.document
        chapters = dict(zip(re.findall(r"(?m)^##+ (.*)$", page), re.split(r"(?m)^##+ .*$", page)[1:]))
        empty = [0, None, None, None]
        anchored, blind = table_rows(chapters["Anchored"]), table_rows(chapters["Blind"])
        for name, one in [*((source.source, source) for source in told.sources), ("all", tables.Node({**told, "judged": told.all}))]:
            self.assert_cells(anchored[name][:4], self.errors(one.judged) or empty, name)
            self.assertEqual(anchored[name][5:], [f"{one.directions.right} right, {one.directions.wrong} wrong", str(one.skipped)])
        self.assert_cells(anchored["all, over 256 GPUs"][:4], self.errors(told.over_256_gpus) or empty, "large")
        for title, key in (("Strategies, as sources call them", "strategies"), ("How the model is divided", "divisions"),
                           ("What is hard to predict", "cases"), ("Generations", "generations")):
            rows = table_rows(chapters[title])
            for name, account in told[key].items():
                self.assert_cells(rows[name], self.errors(account) or empty, name)
        names = [("**all**", told), *((f"generation {name}", one) for name, one in told.generations.items()),
                 *((f"divided by {name}", one) for name, one in told.divisions.items()), *told.cases.items(),
                 *((source.source, source) for source in told.sources)]
        for name, one in names:
            sides = [[side.rows, side.median_fraction, side.bias_fraction, side.inside / side.rows] if side.rows else empty
                     for side in (one.blind_judged, one.blind_calibration)]
            self.assertEqual(name in blind, sides != [empty, empty], name)
            if name in blind:
                self.assert_cells(blind[name], sides[0] + sides[1], name)
        self.check_sources(chapters)

    def check_sources(self, chapters):
        for source in self.document.sources:
            rows, chapter = table_rows(chapters[source.source]), chapters[source.source]
            judged = sorted((row for row in source.rows if row.role == "judged"), key=lambda row: -abs(row.error_fraction))
            self.assertEqual("furthest off" in chapter, len(source.rows) > 24)
            if "furthest off" in chapter:
                self.assertEqual([name for name in list(rows)[2:]], [row.row for row in judged[:10]])
            else:
                self.assertEqual(list(rows)[2:], [row.row for row in source.rows])
            for row in source.rows:
                if row.row in rows and row.efficiency > 0:
                    cells = rows[row.row]
                    blind = row.blind_error_fraction
                    self.assert_cells(cells[:1] + cells[2:8], [row.gpus, row.measured_s, row.predicted_s, row.error_fraction,
                                                              row.exposed_s / row.predicted_s, row.efficiency, blind if row.blind_s is not None else ""], row.row)
                    self.assertEqual(cells[8], "" if row.role == "judged" else row.role)
        wrong = table_rows(chapters["Wrong directions"])
        self.assertEqual(len(wrong) - 2, len({one.source for one in self.document.wrong_directions}))


class Kernels(Sums):
    def test_sums(self):
        told = self.told("kernels")
        self.assertGreater(len(told.tables), 3)
        for table in told.tables:
            kinds = {}
            for row in table.rows:
                if row.predicted_us is not None:
                    kinds.setdefault((row.kind, row.role), []).append(row.predicted_us / row.measured_us - 1)
            self.assertEqual({(one.kind, one.role) for one in table.errors}, set(kinds))
            for one in table.errors:
                errors = kinds[one.kind, one.role]
                self.assertEqual(one.rows, len(errors))
                self.assert_same(one.median_fraction, statistics.median(map(abs, errors)), one.kind)
                self.assert_same(one.bias_fraction, statistics.median(errors), one.kind)
                self.assert_same(one.p90_fraction, sorted(map(abs, errors))[math.ceil(0.9 * len(errors) - 1e-9) - 1], one.kind)

    def test_pages(self):
        told = self.told("kernels")
        page = self.fabricast("validate", "kernels").stdout
        parts = dict(zip(re.findall(r"(?m)^(\S+|all tables)(?::.*)?$", page.split("\n", 1)[1]), re.split(r"(?m)^(?:\S+: .*|all tables)$", page.split("\n", 1)[1])[1:]))
        for table in told.tables:
            shown = text_rows(parts[table.table])
            self.assertEqual([label for label, _ in shown], [f"{one.kind}, {one.role}" for one in table.errors])
            for (label, found), one in zip(shown, table.errors):
                self.assert_quantities(found, [one.rows, one.median_fraction, one.bias_fraction, 0.9, one.p90_fraction], label)
        sums = {}
        for table in told.tables:
            for row in table.rows:
                if row.predicted_us is not None:
                    sums.setdefault(f"{table.kernel}, {row.role}", []).append(row.predicted_us / row.measured_us - 1)
        shown = dict(text_rows(parts["all tables"]))
        self.assertEqual(set(shown), set(sums))
        for label, errors in sums.items():
            self.assert_quantities(shown[label], [len(errors), statistics.median(map(abs, errors)), statistics.median(errors), 0.9, None], label)


class Collectives(Sums):
    NAMES = ("a100x8_nvswitch_reduce_8", "a100x8_nvswitch_allreduce_8", "dgxa100_allreduce_32", "dgxa100_hdr_allreduce_16_ring",
             "polaris_a100_ss11_alltoall_8", "polaris_a100_ss11_allgather_8", "snellius_h100_allreduce_4", "mi300x_allreduce_8",
             "mi300x_2nodes_allreduce_16_b", "oci_gb300_alltoall_4", "oci_gb300_allreduce_64", "aic_a100_sxm_alltoall_4", "l40s_pcie_roce_allreduce_2")
    PAIRS = ("all_to_all", "send_recv")
    CLASSES = {"small": lambda size: size < 2**18, "middle": lambda size: 2**18 <= size < 2**26, "large": lambda size: size >= 2**26}
    document = None

    def setUp(self):
        super().setUp()
        if Collectives.document is None:
            Collectives.document = self.told(*self.NAMES)

    def errors(self, table, size_class):
        return [(row.error_fraction, row.size_bytes) for row in table.rows if self.CLASSES[size_class](row.size_bytes)]

    def assert_sizes(self, told, pairs, what):
        self.assert_errors(told, [error for error, _ in pairs], what, "sizes")
        largest = max(abs(error) for error, _ in pairs)
        self.assertEqual(told.max_size_bytes, min(size for error, size in pairs if abs(error) == largest), what)

    def test_tables(self):
        for table in self.document.tables:
            for row in table.rows:
                self.assert_same(row.error_fraction, row.predicted_us / row.measured_us - 1, table.table)
            for size_class in self.CLASSES:
                pairs = self.errors(table, size_class)
                self.assertEqual(size_class in table.errors, bool(pairs), table.table)
                if pairs:
                    self.assert_sizes(table.errors[size_class], pairs, table.table)

    def assert_tally(self, told, picked, what):
        """Over all sizes; over the tables' own medians; over families, each by the median of its tables. None: there is none."""
        for size_class in self.CLASSES:
            tables_of = [table for table in picked if size_class in table.errors]
            self.assertEqual(size_class in told, bool(tables_of), f"{what} {size_class}")
            if not tables_of:
                continue
            tally = told[size_class]
            self.assert_sizes(tally, [pair for table in tables_of for pair in self.errors(table, size_class)], what)
            self.assertEqual(tally.tables, len(tables_of))
            medians = [table.errors[size_class].median_fraction for table in tables_of]
            self.assert_same(tally.tables_median_fraction, statistics.median(medians), what)
            families = {}
            for table, median in zip(tables_of, medians):
                families.setdefault(table.interconnect, []).append(median)
            self.assertEqual(tally.families, len(families), what)
            self.assert_same(tally.families_median_fraction, statistics.median(map(statistics.median, families.values())), what)

    def picked(self, name, role):
        of = [table for table in self.document.tables if table.role == role and table.doubtful == ("doubtful" in name)]
        for part in name.split(", "):
            of = [table for table in of if {
                "rings and trees": table.op not in self.PAIRS, "all-to-all and send-receive": table.op in self.PAIRS,
                "one node": table.nodes == 1, "one rack": "NVL72" in table.interconnect and table.nodes > 1,
                "several nodes": table.nodes > 1 and "NVL72" not in table.interconnect, "AMD GPUs": table.interconnect.startswith("xGMI"),
            }.get(part, True)]
        return of

    def test_accounts(self):
        for role in ("calibration", "judged"):
            self.assert_tally(self.document.roles[role], self.picked("all", role), role)
            for account in self.document.accounts:
                self.assert_tally(account[role], self.picked(account.name, role), f"{account.name} {role}")
            for one in self.document.interconnects:
                own = [table for table in self.picked("all", role) if table.interconnect == one.interconnect]
                self.assert_tally(one[role], own, f"{one.interconnect} {role}")
        self.assertEqual({one.interconnect for one in self.document.interconnects}, {table.interconnect for table in self.document.tables if not table.doubtful})

    def test_text(self):
        page = self.fabricast("validate", *self.NAMES).stdout
        told = self.document
        parts = {found[1]: found[2] for found in re.finditer(r"(?m)^(\S.*?)(?: \((?:judged|calibration)(?:, doubtful)?\))?(?:: .*)?\n((?:  .*\n)+)", page)}
        for table in told.tables:
            lines = parts[table.table].splitlines()
            at, heads = tables.head_at(lines, ["size", "measured us", "predicted us", "error", "measured", "predicted", "algor.", "protocol", "bound by"])
            for line, row in zip(lines[at + 1:], table.rows):
                cells = tables.by_head(line, heads, False)
                for i, value in enumerate((row.size_bytes, row.measured_us, row.predicted_us, row.error_fraction, row.measured_busbw_GBps,
                                           row.predicted_busbw_GBps, row.algorithm, row.protocol, row.bound)):
                    self.assertTrue(tables.is_shown(cells[i].text, value, "+" if i == 3 else ""), f"{value}: {line}")
            self.check_lines(parts[table.table], table.errors, lambda one: [one.sizes, one.median_fraction, one.accepted_fraction, one.bias_fraction,
                                                                            one.max_fraction, one.max_size_bytes, one.left_out_median_fraction])
        for account in told.accounts:
            for role in ("calibration", "judged"):
                if account[role] and account.name != "all":
                    shown = re.search(rf"(?m)^{re.escape(account.name)} \({role}\)\n((?:  .*\n)+)", page)
                    self.check_lines(shown[1], account[role], lambda one: [one.sizes, one.median_fraction, one.bias_fraction, one.max_fraction, one.max_size_bytes,
                                                                           one.tables_median_fraction, one.tables,
                                                                           *([one.families_median_fraction, one.families] if one.families > 1 else [])])

    def check_lines(self, lines, told, values):
        shown = dict(text_rows(lines))
        for size_class in self.CLASSES:
            self.assertEqual(size_class in shown, size_class in told, lines)
            if size_class in told:
                self.assert_quantities(shown[size_class], [value for value in values(told[size_class]) if value is not None], lines)


class CollectivesRows(Collectives):
    """The CSV files of collectives have the rows, and with --summary the sums, of the document."""

    test_tables = test_accounts = test_text = None

    def csv_of(self, *more):
        return answer.csv_rows(self.fabricast("validate", *self.NAMES, *more, "--format", "csv").stdout)

    def test_sizes(self):
        rows = self.csv_of()
        sizes = [(table, row) for table in self.document.tables for row in table.rows]
        self.assertEqual(len(rows), len(sizes))
        for cells, (table, row) in zip(rows, sizes):
            self.assertEqual(list(cells)[:4], ["table", "role", "op", "ranks"])
            for key, cell in cells.items():
                value = table[key] if key in ("table", "role", "op", "ranks") else row[key]
                is_near = isinstance(value, float) and (answer.is_rounded(cell, value) or abs(float(cell) - value) <= 1e-5 * abs(value))
                self.assertTrue(is_near or cell == str(value), f"{key}: {cell} is not {value}")

    def test_summary(self):
        """A row for each table and class of sizes, and one for each account, role and class."""
        told, wanted = self.document, []
        for table in told.tables:
            wanted += [(table.table, table.role, size_class, "table", table.errors[size_class]) for size_class in self.CLASSES if size_class in table.errors]
        accounts = [("", told.roles), *((account.name, account) for account in told.accounts if account.name != "all"), *((one.interconnect, one) for one in told.interconnects)]
        for name, account in accounts:
            wanted += [(name, role, size_class, None, account[role][size_class]) for role in ("calibration", "judged") for size_class in self.CLASSES
                       if size_class in (account[role] or {})]
        rows = self.csv_of("--summary")
        self.assertEqual(sorted((row["table"], row["role"], row["class"]) for row in rows), sorted(one[:3] for one in wanted))
        by_key = {(row["table"], row["role"], row["class"]): row for row in rows}
        for name, role, size_class, kind, one in wanted:
            row = by_key[name, role, size_class]
            for key in ("sizes", "max_size_bytes", *(["tables", "families"] if kind is None else [])):
                self.assertEqual(int(row[key]), one[key], f"{name}: {key}")
            for key in ("median_fraction", "bias_fraction", "max_fraction", "accepted_fraction", "tables_median_fraction", "families_median_fraction",
                        "left_out_median_fraction"):
                value = one.get(key)
                self.assertTrue(row[key] == "" if value is None else abs(float(row[key]) - value) <= 6e-7, f"{name}: {key} is {row[key]!r} and not {value}")
            self.assertEqual(row["account"] == "table", kind == "table", name)
        kinds = {row["table"]: row["account"] for row in rows}
        self.assertEqual({kinds[""], kinds["one node"], kinds["rings and trees"], kinds["one node, rings and trees"], kinds[told.interconnects[0].interconnect]},
                         {"all", "place", "operations", "place and operations", "interconnect"})


class CollectivesPage(Collectives):
    """The Markdown of collectives says what the document says."""

    test_tables = test_accounts = test_text = None

    def assert_tallies(self, cells, told, what):
        """"tables % (n), families % (n), sizes % (n), max %" of each class of sizes."""
        for cell, size_class in zip(cells, self.CLASSES, strict=True):
            one = told.get(size_class)
            values = [one.tables_median_fraction, one.tables, one.families_median_fraction, one.families, one.median_fraction, one.sizes, one.max_fraction] if one else []
            self.assert_quantities(answer.quantities(cell), values, f"{what} {size_class}")

    def test_markdown(self):
        told = self.document
        page = self.fabricast("validate", *self.NAMES, "--summary", "--format", "markdown").stdout
        chapters = dict(zip(re.findall(r"(?m)^## (.*)$", page), re.split(r"(?m)^## .*$", page)[1:]))
        rows = table_rows(page)
        left_out = {one.name: one.errors for one in told.left_out}
        for role in ("judged", "calibration"):
            for name, account in [*((account.name, account[role]) for account in told.accounts), *((one.interconnect, one[role]) for one in told.interconnects)]:
                self.assertEqual(f"{name}, {role}" in rows, bool(account), name)
                if account:
                    self.assert_tallies(rows[f"{name}, {role}"], account, name)
            whole = next(cells for name, cells in rows.items() if name.startswith(f"all {role} ("))
            self.assert_tallies(whole, told.roles[role], role)
            shown = table_rows(chapters[f"Tables: {role}"])
            self.assertEqual(len(shown) - 2, sum(table.role == role for table in told.tables))
            for table in (table for table in told.tables if table.role == role):
                cells = next(cells for name, cells in shown.items() if name.startswith((f"{table.table}: ", f"{table.table} (doubtful): ")))
                for cell, size_class in zip(cells, self.CLASSES, strict=True):
                    one = table.errors.get(size_class)
                    values = [one.median_fraction, one.max_fraction, one.sizes, one.accepted_fraction, one.left_out_median_fraction] if one else []
                    self.assert_quantities(answer.quantities(cell), [value for value in values if value is not None], table.table)
        for name, errors in left_out.items():
            if f"{name}, family left out" in rows:
                self.assert_tallies(rows[f"{name}, family left out"], errors, name)
        notes = chapters["What is known of each table"]
        self.assertEqual(re.findall(r"(?m)^- `(\w+)`:.* source: \S", notes), [table.table for table in told.tables])

    def test_sizes_of_tables(self):
        page = self.fabricast("validate", *self.NAMES[:4], "--format", "markdown").stdout
        for table in self.document.tables[:4]:
            chapter = re.search(rf"(?ms)^### {table.table} \({table.role}\)\n(.*?)(?=^##|\Z)", page)[1]
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in chapter.splitlines() if line.startswith("|")][2:]
            self.assertEqual(len(rows), len(table.rows))
            for cells, row in zip(rows, table.rows):
                self.assert_cells(cells[:6], [row.size_bytes, row.measured_us, row.predicted_us, row.error_fraction, row.measured_busbw_GBps, row.predicted_busbw_GBps], table.table)
                self.assertEqual(cells[6], f"{row.algorithm} {row.protocol}, {row.channels} channels")


class Bills(Sums):
    def test_the_page_has_all_numbers_and_their_sum(self):
        told = self.told("bills", "superpod-h100")
        page = self.fabricast("validate", "bills", "superpod-h100", "--format", "markdown").stdout
        text = self.fabricast("validate", "bills", "superpod-h100").stdout
        checked = [one for one in told if one.is_checked == "yes"]
        words = f"{sum(one.published == one.ours for one in checked)} of {len(checked)} published numbers are equal to ours."
        self.assertEqual((page.count(words), text.count(words)), (1, 1))
        for one in told:
            self.assertEqual(one.difference, one.ours - one.published)
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if re.match(r"\| \d", line)]
        shown = sorted(int(found[1]) for row in rows for cell in row[2:-1] for found in [re.match(r"(\d+) \(", cell)] if found)
        self.assertEqual(shown, sorted(one.published for one in told))
        self.assertEqual({(row[0], row[1]) for row in rows}, {(str(one.units), str(one.nodes)) for one in told})


class Cases(Sums):
    """Fidelities, configurations and flows."""

    def test_fidelities(self):
        told = self.told("fidelity", "incast-8")
        for case in told.cases:
            for one in case.differences:
                self.assert_same(one.difference_fraction, case.step_s[one.fidelity] / case.step_s[one.against] - 1, case.case)

    JOBS = ("torchtitan-llama3-8b", "megatron-gpt-15b", "bloom-176b", "nemo-llama2-7b", "nemo-gpt3-175b", "nanotron-tiny")

    def test_jobs(self):
        """With a published step, inside its band or not, of runs that calibrate and of others; and without one."""
        told = self.told("jobs", *self.JOBS)
        text = self.good("validate", "jobs", *self.JOBS)
        page = self.good("validate", "jobs", *self.JOBS, "--format", "markdown")
        shown = table_rows(page)
        rows = dict(re.findall(r"(?m)^([\w-]+) {2,}(.*)$", text))
        self.assertEqual({one.role for one in told}, {"new", "judged", "calibrates", None})
        self.assertEqual({one.is_inside for one in told}, {"yes", "no", None})
        for one in told:
            known = one.published_s is not None
            if known:
                self.assert_same(one.difference_fraction, one.ours_s / one.published_s - 1, one.name)
                self.assertEqual(one.is_inside, "yes" if one.low_s <= one.published_s <= one.high_s else "no", one.name)
            else:
                self.assertEqual((one.difference_fraction, one.is_inside, one.role), (None, None, None))
            self.assert_cells(shown[one.name], [one.kind, f"{one.gpus} {one.node}", one.published_s or "-", one.ours_s, one.difference_fraction if known else "-",
                                                [one.low_s, one.high_s], one.is_inside or "-", one.role or "-"], one.name)
            kind, machine, *cells = shown[one.name]
            self.assertEqual(rows[one.name].split(), " ".join([kind, *reversed(machine.split()), *cells[:-1]]).split(), "the page of text has the cells of the table")
            source = re.search(rf"(?m)^- \*\*{one.name}\*\*: settings of (.*)$", page)[1]
            self.assertTrue(source.startswith(f"{one.settings} ({one.licence})."), source)
            self.assertEqual("No step of it is published, as far as is known here." in source, not known)
            self.assertEqual(f"Changes: `{one.changes}`." in source, one.changes is not None)
            if one.note:
                self.assertTrue(source.endswith(f" {one.note}."), source)
        for page in (text, page):
            self.assertIn(f"{len(told)} configurations are read and played.", page)
            for words, of in (("calibrate nothing", ("new", "judged")), ("calibrate", ("calibrates",))):
                own = [one for one in told if one.role in of]
                found = re.search(rf"(?m)^Of runs that {words} (\d+) of (\d+) published steps lie in the band; the median difference is (\S+) %\.$", page)
                self.assertEqual([int(found[1]), int(found[2])], [sum(one.is_inside == "yes" for one in own), len(own)])
                self.assertAlmostEqual(float(found[3]) / 100, statistics.median(abs(one.difference_fraction) for one in own), delta=6e-4)

    def test_limits_of_flows(self):
        """Some rows have limits of their own with a reason; the others have those of all scenes."""
        content = yaml.safe_load(support.read(support.SOURCE, "validate", "accept-congestion.yaml"))
        of_all = {"median": content["median"], "p99": content["p99"]}
        share = lambda value: float(str(value).rstrip("%")) / 100 if str(value).endswith("%") else float(value)
        for scene in ("permutation-200g", "incast-4-100g"):
            own = {(limit["control"], limit["sizes"]): limit for entry in content["scenes"] if entry["scene"] == scene for limit in entry.get("limits", [])}
            rows = self.told("congestion", scene)
            for row in rows:
                limit = own.get((row.control, row.sizes))
                self.assertEqual(row.why, limit["why"] if limit else None)
                if row.sizes == "all":
                    wanted = (limit or {}).get(row.quantile, of_all[row.quantile])
                    self.assert_same(row.limit, share(wanted), f"{row.control} {row.quantile}", rel=1e-6)
            self.assertEqual({(row.control, row.sizes) for row in rows if row.why}, set(own))

    def test_flows(self):
        """The other side's slow-downs are those of its list of flows: at the nearest rank, of all seeds."""
        columns = {"hpcc": ["hpcc_ns"], "timely": ["timely_ns"], "dcqcn": [f"dcqcn_{seed}_ns" for seed in range(1, 5)]}
        sizes = {"all": (0, math.inf), "to 10 kB": (0, 10000), "to 100 kB": (10000, 100000), "to 1 MB": (100000, 1000000), "longer": (1000000, math.inf)}
        for scene in ("incast-4-100g", "hadoop-30"):
            flows = answer.csv_rows(support.read(support.SOURCE, "validate", "congestion", "scenes", scene + ".csv"))
            rows = self.told("congestion", scene)
            self.assertGreater(len(rows), 0)
            for row in rows:
                low, high = sizes[row.sizes]
                own = [flow for flow in flows if low < int(flow["bytes"]) <= high]
                self.assertEqual(row.flows, len(own))
                slow = sorted(int(flow[column]) / int(flow["alone_ns"]) for flow in own for column in columns[row.control])
                share = {"median": 0.5, "p50": 0.5, "p99": 0.99}[row.quantile]
                self.assert_same(row.theirs, slow[max(1, math.ceil(share * len(slow) - 1e-9)) - 1], row.control, rel=1e-5)
                self.assert_same(row.difference, row.ours / row.theirs - 1, row.control, rel=1e-5)
                least = {"median": 20, "p99": 100}[row.quantile]  # of fewer flows a quantile is that of one or two of them
                if row.why is None:
                    self.assertEqual(row.limit > 0, row.sizes == "all" or row.flows >= least, row)
            page = self.good("validate", "congestion", scene)
            judged = [row for row in rows if row.limit > 0]
            self.assertIn(f"{sum(abs(row.difference) <= row.limit for row in judged)} of {len(judged)} quantiles are within their limits. "
                          f"{len({(row.control, row.sizes) for row in rows if row.why})} rows have a limit of their own.", page)
            self.assertEqual({row.sizes for row in rows}, {name for name, (low, high) in sizes.items()
                                                           if name == "all" or 20 <= sum(low < int(flow["bytes"]) <= high for flow in flows) < len(flows)})

    def test_experts(self):
        """A line per table: the median of |errors|, that of errors with their sign, and the largest."""
        rows = answer.csv_rows(self.fabricast("validate", "experts", "--format", "csv").stdout)
        tables_of = {}
        for row in rows:
            tables_of.setdefault(row["table"], []).append(float(row["predicted_us"]) / float(row["measured_us"]) - 1)
        shown = dict(text_rows(self.good("validate", "experts")))
        for table, errors in tables_of.items():
            self.assertEqual(shown[table][0].value, len(errors))
            for one, value in zip(shown[table][1:], (statistics.median(map(abs, errors)), statistics.median(errors), max(map(abs, errors)))):
                self.assertAlmostEqual(one.value, value, delta=1.5e-3)  # times of the file have two digits behind the point


if __name__ == "__main__":
    support.main()
