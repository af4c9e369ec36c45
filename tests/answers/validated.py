#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of `validate` that sum up or compare: every figure stands in the row and the column that it belongs to.

`validated.py PROGRAM [Class]`.
"""
import json
import re
import statistics

import answer
import tables
from answer import support

CLASSES = ("large", "middle", "small")
KINDS = ("", "accuracy", "bands", "bills", "calibrated", "congestion", "experts", "fidelity", "jobs", "kernels", "links", "memory", "pairs", "published", "setups", "training")


def cells_of(page):
    """[cells] of the rows of all tables of a page of Markdown."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]


class Accuracy(answer.AnswerTest):
    """One row for all judged tables, one for each part of them, and one for what a band holds."""

    def assert_cell(self, text, errors, what):
        """"3.3 % (90)": the median over tables of the medians of their sizes, and the number of tables; nothing where there are none."""
        if not errors:
            self.assertEqual(text, "", what)
        else:
            self.assertEqual(text, f"{100 * errors[0]:.1f} % ({errors[1]})", what)

    def test_every_row(self):
        page = self.good("validate", "accuracy")
        self.assertEqual(self.assert_tables(page), 1)
        head, _, *rows = cells_of(page)
        self.assertEqual([re.match(r"(\w+) [<>]", cell)[1] for cell in head[1:]], list(CLASSES))
        shown = {row[0]: row[1:] for row in rows}
        self.assertEqual(len(shown), len(rows))
        told = tables.nodes(json.loads(self.fabricast("validate", "--format", "json").stdout))
        medians = lambda key, picked: {size: [table.errors[size][key] for table in told.tables if picked(table) and table.errors.get(size, {}).get(key) is not None]
                                       for size in CLASSES}
        judged = medians("median_fraction", lambda table: table.role == "judged" and not table.doubtful)
        left_out = medians("left_out_median_fraction", lambda table: not table.doubtful)
        doubtful = medians("median_fraction", lambda table: table.doubtful and table.role == "judged")
        alone = medians("median_fraction", lambda table: table.role == "judged" and not table.doubtful and table.nodes == 1 and table.op in ("all_to_all", "send_recv"))
        for name, known in (("**all**", judged), ("all tables, each family left out (its constants put back)", left_out), ("doubtful", doubtful),
                            ("one node, all-to-all and send-receive", alone)):
            for text, size in zip(shown.pop(name), CLASSES, strict=True):
                self.assert_cell(text, known[size] and (statistics.median(known[size]), len(known[size])), f"{name}, {size}")
        for account in told.accounts:
            if account.judged and account.name in shown:
                for text, size in zip(shown.pop(account.name), CLASSES, strict=True):
                    one = account.judged.get(size)
                    self.assert_cell(text, one and (one.tables_median_fraction, one.tables), f"{account.name}, {size}")
        self.assertEqual(list(shown), [f"within the band of 90 %, {what} left out" for what in ("publications", "families")])
        families = {table.interconnect for table in told.tables}
        for text in shown["within the band of 90 %, families left out"]:
            self.assertLessEqual(int(re.fullmatch(r"\d+ % \((\d+)\)", text)[1]), len(families))
        for texts in shown.values():
            for text in texts:
                self.assertTrue(75 <= answer.quantity(text).value * 100 <= 100, f"a band of 90 % holds {text}")


class Mistakes(answer.AnswerTest):
    """Each kind refuses files that are not there or not whole, and what it does not know, before it plays anything."""

    WRITTEN = ("--entries", "--training")  # what these name is written

    def wrong(self, kind, *args, names, code=2):
        done = self.fabricast("validate", *([kind] if kind else []), *args)
        self.assertEqual((done.returncode, done.stdout), (code, ""), (kind, args, done.stderr))
        self.assertIn(names, done.stderr, (kind, args))
        return done.stderr

    def test_files_that_are_not_there(self):
        self.write("broken.yaml", "a: [")
        n = 0
        for kind in KINDS:
            for option, what in re.findall(r"(?m)^  (--[a-z]+)=(FILE|DIR) ", self.good("validate", *([kind] if kind else []), "--help")):
                if option in self.WRITTEN or kind == "links":  # which has a test of its own
                    continue
                with self.subTest(f"{kind} {option}"):
                    self.wrong(kind, option, "nowhere-at-all", names="nowhere-at-all")
                    if option == "--accept":
                        self.wrong(kind, option, "broken.yaml", names="broken.yaml:1:5: a value is missing here")
                    n += 1
        self.assertGreater(n, 18)

    def test_names_that_are_not_known(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.wrong(kind, "no-such-name", names="the link is missing" if kind == "links" else "'no-such-name'")
                if kind == "accuracy":  # which has one form
                    continue
                said = self.wrong(kind, *(["no-such-name"] if kind == "links" else []), "--format", "markdwn", names="--format markdwn: unknown format")
                self.assertIn("nearest is markdown; there are text, json, csv and markdown", said)


class Fidelity(answer.AnswerTest):
    CASES = ("ring-nccl", "incast-8", "incast-victim", "ddp-small")

    def gap(self, one, against):
        """Of less than half of what is shown there is no sign."""
        difference = one.difference_fraction if abs(one.difference_fraction) >= 5e-5 else 0
        accepted = f" (accepted {100 * one.accepted_fraction:.3g} %)" if one.accepted_fraction else ""
        return f"{one.fidelity}{against}{one.against} {100 * difference:+.2f} %{accepted}"

    def test_pages(self):
        told = tables.nodes(json.loads(self.good("validate", "fidelity", *self.CASES, "--format", "json"))).cases
        text, page = (self.good("validate", "fidelity", *self.CASES, "--format", form) for form in ("text", "markdown"))
        self.assertEqual({one.case for one in told}, set(self.CASES))
        fidelities = list(told[0].step_s)
        self.assertEqual(text.splitlines()[0].split(), ["step", "at", *fidelities])
        self.assert_tables(page)
        lines = {line.split()[0]: re.split(r" {2,}", line.strip())[1:] for line in text.splitlines() if line.startswith("  ")}
        rows = {row[0]: row[1:] for row in cells_of(page)}
        self.assertEqual(rows["case"], [*fidelities, "differences", "what, and why they differ"])
        self.assertEqual([row[0] for row in cells_of(page) if row[0] not in ("case", "---")], [one.case for one in told])
        for one in told:
            for cells in (lines[one.case], rows[one.case]):
                for cell, fidelity in zip(cells, fidelities):
                    self.assertTrue(answer.quantity(cell).is_near(one.step_s[fidelity]), f"{one.case} at {fidelity}: {cell}")
            self.assertEqual(lines[one.case][len(fidelities):], [self.gap(gap, "/") for gap in one.differences])
            self.assertEqual(rows[one.case][len(fidelities):], ["; ".join(self.gap(gap, " against ") for gap in one.differences), ": ".join(filter(None, (one.title, one.why)))])
        for group in {one.group for one in told}:
            title = re.search(rf"(?m)^{group}: (.*)$", text)[1]
            self.assertIn(f"\n\n## {group}\n\n{title}.\n\n|", page)
            own = text.partition(f"\n\n{group}: ")[2].partition("\n\n")[0].splitlines()[1:]
            self.assertEqual([line.split()[0] for line in own], [one.case for one in told if one.group == group])
        table = answer.csv_rows(self.good("validate", "fidelity", *self.CASES, "--format", "csv"))
        self.assertEqual([(row["case"], row["group"], row["fidelity"]) for row in table], [(one.case, one.group, fidelity) for one in told for fidelity in fidelities])
        for row in table:
            self.assert_same(float(row["step_s"]), next(one for one in told if one.case == row["case"]).step_s[row["fidelity"]], row["case"])
            self.assertTrue(0 <= float(row["exposed_s"]) <= float(row["step_s"]))


class Shapes(answer.AnswerTest):
    """Tables of Markdown are tables: as many cells in every row as in the head."""

    PAGES = (("validate", "kernels"), ("validate", "bills"), ("validate", "jobs", "torchtitan-llama3-8b"), ("validate", "setups", "oci-gb300"), ("validate", "calibrated"),
             ("validate", "congestion", "incast-4-100g"), ("validate", "training", "oci-gb300"), ("validate", "training", "oci-gb300", "--summary"),
             ("validate", "memory", "torchtune"), ("validate", "dgxa100_allreduce_32"), ("validate", "dgxa100_allreduce_32", "--summary"), ("describe", "designs"))

    def test_tables(self):
        for command in self.PAGES:
            with self.subTest(command):
                page = self.fabricast(*command, "--format", "markdown").stdout
                self.assertGreater(self.assert_tables(page), 0)
                if "setups" not in command:  # which is a part of a page
                    self.assert_tidy(page)


if __name__ == "__main__":
    support.main()
