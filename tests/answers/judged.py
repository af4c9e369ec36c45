#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every cell and every line of what `validate kernels` and `validate training` print, held against the document.

`judged.py PROGRAM [Class]`.
"""
import json
import os
import re

import yaml

import answer
import sums
import tables
from answer import support

KERNELS = os.path.join(sums.MEASURED, "kernels")


def share(text):
    return float(str(text).rstrip("%")) / (100 if str(text).endswith("%") else 1)


class Kernels(sums.Sums):
    def setUp(self):
        super().setUp()
        self.document = self.told("kernels")
        index = yaml.safe_load(support.read(KERNELS, "INDEX.yaml"))["tables"]
        self.index = {os.path.splitext(one["file"])[0]: one for one in index}

    def test_every_cell(self):
        """A row for each time that is predicted, in the order of the tables and their lines."""
        rows = answer.csv_rows(self.fabricast("validate", "kernels", "--format", "csv").stdout)
        predicted = [(table, row) for table in self.document.tables for row in table.rows if row.predicted_us is not None]
        self.assertEqual(len(rows), len(predicted))
        for cells, (table, row) in zip(rows, predicted):
            wanted = {"table": table.table, "kernel": table.kernel, "accelerator": table.accelerator.name, "kind": row.kind, "role": row.role, "line": row.line,
                      "measured_us": row.measured_us, "predicted_us": row.predicted_us, "error_fraction": row.predicted_us / row.measured_us - 1}
            self.assertEqual(list(cells), list(wanted))
            for name, value in wanted.items():
                if isinstance(value, str):
                    self.assertEqual(cells[name], value, cells)
                else:
                    self.assert_same(float(cells[name]), value, f"{name} of {cells}", rel=6e-6)

    def test_rows_are_those_of_the_files(self):
        for table in self.document.tables:
            own = self.index[table.table]
            lines = support.read(KERNELS, own["file"]).splitlines()
            head = next(line for line in lines if not line.startswith("#")).split(",")
            column = {name: i for i, name in enumerate(head)}
            for row in table.rows:
                cells = lines[row.line - 1].split(",")
                self.assert_same(float(cells[column["us"]]), row.measured_us, f"{table.table} {row.line}")
                for name in set(head) & set(row) - {"us", "kind", "role", "line", "measured_us", "predicted_us"}:
                    self.assert_same(float(cells[column[name]]), row[name], f"{table.table} {row.line} {name}")

    def test_tables_are_those_of_the_list(self):
        self.assertEqual([table.table for table in self.document.tables], list(self.index))
        for table in self.document.tables:
            own = self.index[table.table]
            self.assertEqual((table.kernel, table.software, table.accelerator.name), (own["kernel"], own["software"], own["accelerator"]))
            self.assertEqual((table.cache_fill, table.quantising), tuple(own.get("includes") == name for name in ("cache_fill", "quantising")), table.table)
            self.assert_same(table.best_fraction, share(own.get("best", 0)), table.table)

    def test_devices_are_those_of_the_catalogue(self):
        known = {one["name"]: one for one in yaml.safe_load(support.read(support.SOURCE, "models", "catalog", "accelerators.yaml"))["accelerators"]}
        units = {"TFLOP/s": 1e12, "PFLOP/s": 1e15, "GB/s": 1e9, "TB/s": 1e12}
        rate = lambda text: next(float(text.removesuffix(unit)) * scale for unit, scale in units.items() if str(text).endswith(unit))
        for table in self.document.tables:
            device = table.accelerator
            own = known[device.name]
            self.assertEqual((device.architecture, device.sms), (own["architecture"], own.get("sms", 0)), device.name)
            self.assert_same(device.matmul_fraction, share(own.get("matmul", 0)), device.name)
            self.assert_same(device.memory_bytes_per_s, rate(own["memory_rate"]), device.name)
            for name, peak in device.peak_flops_per_s.items():
                text = own.get(f"peak_{'fp16' if name == 'bf16' else name}")
                if text is not None:
                    self.assert_same(peak, rate(text), f"{device.name} {name}")

    def test_heads(self):
        """A table's head says the machine, the software and the limit."""
        limits = {one["table"]: one["median"] for one in yaml.safe_load(support.read(support.SOURCE, "validate", "accept-kernels.yaml"))["tables"]}
        page = self.fabricast("validate", "kernels").stdout
        self.assertTrue(page.startswith("Times of single kernels: predicted / measured - 1\n\n"))
        heads = dict(re.findall(r"(?m)^(\w+): (.*)$", page.split("\n", 1)[1]))
        self.assertEqual(list(heads), list(self.index))
        for name, own in self.index.items():
            machine, _, limit = heads[name].partition("; accepted ")
            self.assertEqual(machine, f"{own['machine']}, {own['software']}")
            self.assertEqual(bool(limit), name in limits, name)
            if limit:
                self.assertAlmostEqual(share(limit.replace(" ", "")), share(limits[name]), delta=5e-4)


class Training(sums.Training):
    """The page of text: a block for every source, and one for all of them."""

    NAMES = ("baskerville", "nvidia-dle", "modalities-mn5", "tpu")
    SUMS = (("judged", "judged"), ("one node", "one_node"), ("across layouts", "across_layouts"))
    BLIND = (("blind, calibrating", "blind_calibration"), ("blind, judged", "blind_judged"))
    document = page = None
    test_rows = test_sums_of_sources = test_sums_of_kinds = test_directions = None

    def setUp(self):
        super().setUp()
        if type(self).page is None:
            type(self).page = self.fabricast("validate", "training", *self.NAMES).stdout

    def lines_of_errors(self, label, told, largest, accepted=None):
        if not told.rows:
            return []
        limit = f" (accepted {accepted * 100:.1f} %)" if accepted else ""
        return [f"  {label:<24} {told.rows:3} rows  median |error| {told.median_fraction * 100:5.1f} %{limit}  bias {told.bias_fraction * 100:+6.1f} %  "
                f"largest {told.max_fraction * 100:5.1f} %{largest}"]

    def lines_of_blind(self, label, told):
        return self.lines_of_errors(label, told, f", {100 * told.inside / told.rows:.0f} % in the band" if told.rows else "")

    def at_the_largest(self, picked, role="judged", sources=None):
        """The GPUs of the row that is furthest off, in the words of the page."""
        rows = self.rows(role, picked, sources)
        return f" at {max(rows, key=lambda row: abs(row.error_fraction)).gpus} GPUs" if rows else ""

    def lines_of_directions(self, told):
        shown = told.right + told.wrong + told.odd > 0
        return [f"  {'directions':<24} {told.right:3} right, {told.wrong} wrong, {told.small} under 2 %, {told.odd} cheaper with more GPUs"] if shown else []

    def assert_lines(self, found, wanted, what):
        """The same words, and numbers that are the same as they are rounded."""
        squeezed = lambda lines: [re.sub(r" +", " ", line.strip()) for line in lines]
        self.assertEqual(squeezed(found), squeezed(wanted), what)

    def test_a_block_for_every_source(self):
        limits = {one["source"]: one for one in yaml.safe_load(support.read(support.SOURCE, "validate", "accept-training.yaml"))["sources"]}
        blocks = self.page.split("\n\n")
        self.assertEqual(blocks[0], "error = predicted step / measured step - 1; efficiencies are fixed by the anchor rows, blind: by the catalogue")
        self.assertEqual([block.split(":")[0] for block in blocks[1:-1]], [source.source for source in self.document.sources])
        n_samples = n_told = 0
        for source, block in zip(self.document.sources, blocks[1:-1]):
            own = self.index[source.source]
            head, network, columns, *lines = block.split("\n")
            self.assertEqual((head, network), (f"{source.source}: {own['title']}", f"  network: {own['network']}"))
            self.assertEqual(columns.split(), "row GPUs measured s predicted s error exposed effic. blind role what".split())
            for row, line in zip(source.rows, lines):
                self.check_row(source, row, line)
            said = lines[len(source.rows):]
            wanted = []
            n_all = len(self.table(own))
            if len(source.rows) < n_all:
                n_samples += 1
                wanted.append(f"  {'sample':<24} {len(source.rows):3} of {n_all} rows (--all plays all of them)")
            for label, key in self.SUMS:
                role = {"judged": "judged", "one_node": "one node", "across_layouts": "layout anchor"}[key]
                self.assertEqual(source.accepted_fraction, share(limits[source.source]["median"]) if source.source in limits else None)
                wanted += self.lines_of_errors(label, source[key], self.at_the_largest(lambda row: True, role, [source]), source.accepted_fraction if key == "judged" else None)
            for label, key in self.BLIND:
                wanted += self.lines_of_blind(label, source[key])
            wanted += self.lines_of_directions(source.directions)
            problems = [row for row in source.rows if row.problem]
            at = len(wanted)
            if problems:
                wanted.append(f"  {'skipped or no anchor':<24} {len(problems):3} rows")
            self.assert_lines(said[:len(wanted)], wanted, source.source)
            said = said[len(wanted):]
            self.assertEqual(len(said), min(len(problems), 5) + (len(problems) > 5), (at, source.source))
            for line, row in zip(said[:5], problems):
                self.assertIn(row.problem.split(": ")[-1], line)
            if len(problems) > 5:
                self.assertEqual(said[5], f"    and {len(problems) - 5} more")
            n_told += len(problems) > 0
        self.assertGreater(n_samples, 1)
        self.assertGreater(n_told, 1)

    def check_row(self, source, row, line):
        spec, measured = self.index[source.source], self.measured[source.source, row.row]
        what = ", ".join(measured[key] for key in f"{spec.get('same', '')} {spec.get('factors', '')}".split() if key in measured)
        blind = [f"{row.blind_error_fraction * 100:+.1f}%"] if row.blind_s is not None else []
        wanted = [row.row, str(row.gpus), f"{row.measured_s:.4f}", f"{row.predicted_s:.4f}", f"{row.error_fraction * 100:+.1f}%",
                  f"{row.exposed_s / max(row.predicted_s, 1e-12) * 100:.1f}%", f"{row.efficiency * 100:.1f}%", *blind, row.role]
        self.assertEqual(" ".join(line.split()), " ".join(f"{' '.join(wanted)} {what}".split()))

    def test_a_block_for_all(self):
        told = self.document
        wanted = []
        own = {id(row): self.cells[source.source, row.row] for source in told.sources for row in source.rows}
        columns = {"TP": "tensor", "PP": "pipeline", "EP": "expert", "CP": "context"}
        divided = lambda row: [key for key, column in columns.items() if int(own[id(row)][column]) > 1]
        picked = {"strategies": lambda name: lambda row: row.strategy == name, "generations": lambda name: lambda row: own[id(row)]["generation"] == name,
                  "divisions": lambda name: lambda row: name in divided(row) if name != "DP" else not divided(row), "cases": lambda name: None}
        for title, key in (("strategies as sources call them (judged rows)", "strategies"), ("how the model is divided", "divisions"),
                           ("what is hard to predict", "cases"), ("generations", "generations")):
            wanted.append(title)
            for name, account in told[key].items():
                wanted += self.lines_of_errors(name, account, self.at_the_largest(picked[key] (name)) if key != "cases" else " at _ GPUs")
                wanted += self.lines_of_blind(f"{name}, blind, calibr.", account.blind_calibration) + self.lines_of_blind(f"{name}, blind, judged", account.blind_judged)
        wanted.append("all sources")
        wanted += self.lines_of_errors("judged", told.all, self.at_the_largest(lambda row: True))
        wanted += self.lines_of_errors("over 256 GPUs", told.over_256_gpus, self.at_the_largest(lambda row: row.gpus > 256))
        wanted += self.lines_of_errors("across layouts", told.across_layouts, self.at_the_largest(lambda row: True, "layout anchor"))
        for label, key in self.BLIND:
            wanted += self.lines_of_blind(label, told[key])
        wanted += self.lines_of_directions(told.directions)
        for one in told.wrong_directions:
            wanted.append(f"  wrong direction: {one.source}, {one.factor}, rows {one['from']} and {one.to}: "
                          f"measured {100 * one.measured_fraction:+.1f} %, predicted {100 * one.predicted_fraction:+.1f} %")
        found = self.page.rstrip("\n").split("\n\n")[-1].split("\n")
        at = slice(found.index("what is hard to predict"), found.index("generations"))
        found[at] = [re.sub(r" at \d+ GPUs$", " at _ GPUs", line) for line in found[at]]
        self.assert_lines(found, wanted, "all")

    def test_a_summary_has_no_rows(self):
        page = self.fabricast("validate", "training", *self.NAMES, "--summary").stdout
        left = [line for line in self.page.split("\n") if not re.match(r"  (network: |row  )", line)]
        rows = {row.row for source in self.document.sources for row in source.rows}
        self.assertEqual(page.split("\n"), [line for line in left if not (line.startswith("  ") and line.split()[0] in rows and "|error|" not in line)])
        short = json.loads(self.fabricast("validate", "training", *self.NAMES, "--summary", "--format", "json").stdout)
        self.assertEqual(short["sources"], [{key: value for key, value in source.items() if key != "rows"} for source in self.document.sources])

    def test_the_first_five_that_are_left_out(self):
        lines = self.fabricast("validate", "training", "mlperf-llm").stdout.split("\n\n")[1].split("\n")
        names = [line.split()[0] for line in lines if "  no anchor  " in line]
        at = next(i for i, line in enumerate(lines) if line.startswith("  skipped or no anchor "))
        self.assertGreater(len(names), 5)
        self.assertEqual(lines[at].split()[-2:], [str(len(names)), "rows"])
        self.assertEqual(lines[at + 1:], [*(f"    mlperf-llm row {name}: no row of its group can be its anchor" for name in names[:5]), f"    and {len(names) - 5} more"])

    def test_cells(self):
        """What the document has no field for: residuals are logarithms of the factor on compute that explains the measured step."""
        for source in self.document.sources:
            for row in source.rows:
                cells = self.cells[source.source, row.row]
                self.assertEqual("blind_s" in row, float(cells["blind_s"]) > 0 and row.role != "skipped", row.row)
                if row.role in self.PREDICTED:
                    self.assertAlmostEqual(float(cells["error_fraction"]), row.error_fraction, delta=6e-7)
                    self.assertGreaterEqual(float(cells["comm_s"]) * (1 + 1e-5), float(cells["exposed_s"]))
                if row.blind_s is not None:
                    self.assert_cell(cells["blind_s"], row.blind_s, "blind_s")
                    self.assertAlmostEqual(float(cells["blind_error_fraction"]), row.blind_error_fraction, delta=6e-7)
                    late = row.measured_s - row.blind_s
                    self.assertEqual(float(cells["blind_residual"]) > 0, late > 0)


if __name__ == "__main__":
    support.main()
