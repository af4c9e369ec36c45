#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `explain` says of communication, held against the events of the same run: gaps of compute, operations, sizes.

`reasoned.py PROGRAM [Class]`. The events are those that `run --db` writes.
"""
import json
import re
import sqlite3

import answer
from answer import support

DIMENSIONS = ("data", "tensor", "context", "expert", "pipeline", "offload", "other")
TIME = r"([-\d.,e+]+ (?:ps|ns|us|ms|s|min|h|hours|days))"
BYTES = r"([\d.,e+]+ [kMGTP]?i?B)"
PIPELINE = """name: stages
cluster: {node: dgx-a100, nodes: 2}
job: {kind: megatron, model: gpt2-xl, micro_batch: 1, global_batch: 16, sequence: 1024, parallel: {tensor: 2, pipeline: 4}, compute: {kind: mfu, mfu: 40%}}
"""
ALONE = """name: alone
cluster: {node: dgx-a100, nodes: 2}
job: {kind: collective, operations: [{op: all_reduce, size: 1GB}, {op: all_gather, size: 1MB}, {op: all_gather, size: 2MB}, {op: all_gather, size: 3MB}, {op: all_gather, size: 4MB}, {op: all_gather, size: 5MB}, {op: all_gather, size: 5MB}]}
"""
SCENARIOS = ("hello", "four-nodes", "zero3-13b-slow-fabric", "ddp-2b-4nodes-200g", PIPELINE, ALONE)


def joined(intervals):
    """The union of some intervals, in order."""
    found = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        elif end > start:
            found.append([start, end])
    return found


def uncovered(intervals, by):
    """What of each interval the others do not cover."""
    found = []
    for start, end in intervals:
        at = start
        for other_start, other_end in by:
            if other_end <= at or other_start >= end:
                continue
            if other_start > at:
                found.append((at, other_start))
            at = max(at, other_end)
        if at < end:
            found.append((at, end))
    return found


class Events(answer.AnswerTest):
    def played(self, scenario):
        """The path of a scenario, and the events of a run of it."""
        path = self.write("scenario.yaml", scenario) if "\n" in scenario else scenario
        file = self.path(f"{SCENARIOS.index(scenario)}.db")
        self.good("run", path, "--db", file)
        return path, sqlite3.connect(file)

    def rows(self, database, table, order=""):
        database.row_factory = sqlite3.Row
        where = "" if table == "rank_class" else "WHERE iteration = (SELECT max(iteration) FROM iteration)"
        return [dict(row) for row in database.execute(f"SELECT * FROM {table} {where} {order}")]

    def assert_said(self, note, pattern, *values):
        found = re.fullmatch(pattern, note)
        self.assertIsNotNone(found, f"{note!r} is not {pattern!r}")
        for text, value in zip(found.groups(), values):
            self.assertTrue(answer.quantity(text).is_near(value) or abs(answer.quantity(text).value - value) <= 1e-12, f"{note!r}: {text} is not {value}")


class Communication(Events):
    def test_communication(self):
        for scenario in SCENARIOS:
            with self.subTest(scenario.splitlines()[0]):
                path, database = self.played(scenario)
                statements = self.json("explain", path, "exposed")["statements"]
                self.check(database, statements)
                database.close()

    def check(self, database, statements):
        [step] = self.rows(database, "iteration")
        self.classes = self.rows(database, "rank_class", "ORDER BY rank_class")
        self.own = self.rows(database, "iteration_class", "ORDER BY rank_class")
        within = (step["start_ps"], step["start_ps"] + step["step_ps"])
        self.spans = [span for span in self.rows(database, "span", "ORDER BY span") if span["end_ps"] > within[0] and span["start_ps"] < within[1]]
        self.exposures = self.rows(database, "exposure")
        self.collectives = self.rows(database, "collective", "ORDER BY collective")
        n_ranks = sum(one["n_ranks"] for one in self.classes)
        by = {name: sum(one["exposed_ps"] * self.classes[one["rank_class"]]["n_ranks"] for one in self.exposures if one["dimension"] == name) / n_ranks / 1e12 for name in DIMENSIONS}
        exposed = statements[1]
        self.assertEqual((exposed["name"], exposed["title"], exposed["depth"]), ("exposed", "exposed communication", 1))
        self.assertEqual(list(exposed["terms"]), [name for name in DIMENSIONS if by[name] > 0])
        self.assertEqual(exposed["formula"], " + ".join(exposed["terms"]) or None)
        for name, value in exposed["terms"].items():
            self.assert_same(value, by[name], name, rel=1e-6)
        notes = list(exposed["notes"])
        self.assert_said(notes.pop(0), rf"Communication is under way for {TIME} of the step; {TIME} of that is hidden under compute\.", step["comm_ps"] / 1e12, step["overlapped_ps"] / 1e12)
        if step["comm_ps"] > step["compute_ps"] > 0:
            self.assertEqual(notes.pop(0), "It takes longer than compute, so no overlap could hide all of it.")
        self.check_gaps(notes)
        seen = [name for name in DIMENSIONS if any(one["dimension"] == name for one in self.collectives)]
        told = [(at, one) for at, one in enumerate(statements) if one["depth"] == 2 and one["name"] in DIMENSIONS]
        self.assertEqual([one["name"] for _, one in told], seen)
        for at, one in told:
            self.assert_same(one["value"], by[one["name"]], one["name"], rel=1e-6)
            self.check_dimension(one, statements[at + 1:], by[one["name"]], step["exposed_ps"] / 1e12)

    def check_gaps(self, notes):
        most = max(self.own, key=lambda one: (one["exposed_ps"], -one["rank_class"]))["rank_class"]
        own = [span for span in self.spans if span["rank_class"] == most]
        compute = [span for span in own if span["kind"] == "compute" and span["end_ps"] > span["start_ps"]]
        comm = [span for span in own if span["kind"] == "comm"]
        ends = lambda spans: joined((span["start_ps"], span["end_ps"]) for span in spans)
        gaps = sorted(uncovered(ends(comm), ends(compute)), key=lambda gap: (gap[0] - gap[1], gap[0]))
        if not gaps:
            self.assertEqual(notes, [])
            return
        where = f" in {self.classes[most]['name']}" if len(self.classes) > 1 else ""
        self.assertEqual(notes.pop(0), f"Compute waits {len(gaps)} {'time' if len(gaps) == 1 else 'times'}{where}. The longest:")
        self.assertEqual(len(notes), min(len(gaps), 3))
        for note, (start, end) in zip(notes, gaps):
            before = max((span for span in compute if span["end_ps"] <= start), key=lambda span: span["end_ps"], default=None)
            after = min((span for span in compute if span["start_ps"] >= end), key=lambda span: span["start_ps"], default=None)
            under_way = [span for span in comm if span["end_ps"] > start and span["start_ps"] < end]
            last = min(under_way, key=lambda span: abs(span["end_ps"] - end))
            talks = re.escape(last["name"] + (f", with {len(under_way) - 1} more under way" if len(under_way) > 1 else ""))
            name = lambda span: f"`{re.escape(span['name'])}`"
            words = rf": the job computes nothing beside it \({talks}\)\." if before is None and after is None \
                else rf" at the beginning: {name(after)} cannot begin before what it needs is there \({talks}\)\." if before is None \
                else rf" at the end, after {name(before)}: nothing is left to compute beside it \({talks}\)\." if after is None \
                else rf" between {name(before)} and {name(after)}, which waits for it \({talks}\)\."
            self.assert_said(note, TIME + words, (end - start) / 1e12)

    def check_dimension(self, one, rest, exposed_s, all_s):
        """Its operations of the first class; then collectives that are alike, the most exposed first; then one of these, if it matters."""
        notes = list(one["notes"])
        operations = [row for row in self.exposures if row["dimension"] == one["name"] and row["rank_class"] == 0]
        who = f" of {self.classes[0]['name']}" if len(self.classes) > 1 else ""
        for row in operations:
            found = next(note for note in notes if note.startswith(f"{row['n_collectives']} x {row['op']}{who}, "))
            notes.remove(found)
            self.assert_said(found, rf"\d+ x \w+{re.escape(who)}, {BYTES} in all: under way for {TIME}, of which {TIME} is exposed\.", row["bytes"], row["comm_ps"] / 1e12, row["exposed_ps"] / 1e12)
        groups = {}
        for row in self.collectives:
            if row["dimension"] == one["name"]:
                groups.setdefault((row["bytes"], row["n_ranks"], row["op"], row["algorithm"], row["protocol"]), []).append(row)
        total = lambda rows: sum(row["end_ps"] - row["start_ps"] for row in rows)
        shown = lambda rows: sum(row["exposed_ps"] for row in rows)
        ordered = sorted(groups.values(), key=lambda rows: (-shown(rows), -total(rows), rows[0]["collective"]))
        for note, rows in zip(notes, ordered[:4]):
            self.assert_said(note, rf"{len(rows)} x {rows[0]['op']} of {BYTES} over {rows[0]['n_ranks']} ranks: {TIME} each on average, {TIME} exposed in all\.", rows[0]["bytes"],
                             total(rows) / len(rows) / 1e12, shown(rows) / 1e12)
        more = len(ordered) - 4
        self.assertEqual(notes[len(ordered[:4]):], [f"{more} other {'size is' if more == 1 else 'sizes are'} not shown."] if more > 0 else [])
        chain = rest[0] if rest and rest[0]["depth"] == one["depth"] + 1 else None
        self.assertEqual(chain is not None, exposed_s >= 0.01 * all_s, one["name"])
        if chain is not None:
            first = ordered[0][0]
            title = rf"one {first['op']} of {BYTES} over {first['n_ranks']} ranks, mean of {len(ordered[0])}" if len(ordered[0]) > 1 \
                else rf"{re.escape(first['op'])} .* of {BYTES} over {first['n_ranks']} ranks"
            self.assert_said(chain["title"], title, first["bytes"])
            self.assert_same(chain["value"], total(ordered[0]) / len(ordered[0]) / 1e12, chain["title"], rel=1e-6)


class Figures(Events):
    def test_figures(self):
        """The first statement of each figure is what the run has; figures that a job does not have are refused."""
        listed = re.search(r"these figures can: (.*)", self.fabricast("explain", "hello", "capex").stderr)[1]
        for scenario in ("hello", "four-nodes", PIPELINE):
            path, database = self.played(scenario)
            [step], classes, exposures = self.rows(database, "iteration"), self.rows(database, "rank_class"), self.rows(database, "exposure")
            n_ranks = sum(one["n_ranks"] for one in classes)
            length = step["step_ps"]
            values = {"step": length / 1e12, "exposed": step["exposed_ps"] / length, "exposed_time": step["exposed_ps"] / 1e12, "idle": step["idle_ps"] / length,
                      "waiting": step["waiting_ps"] / length, "mfu": step["mfu_fraction"], "tokens": step["tokens_per_s"],
                      "exposed.inter_node": step["exposed_inter_node_ps"] / length, "exposed.intra_node": (step["exposed_ps"] - step["exposed_inter_node_ps"]) / length}
            for name in {one["dimension"] for one in exposures}:
                values[f"exposed.{name}"] = sum(one["exposed_ps"] * classes[one["rank_class"]]["n_ranks"] for one in exposures if one["dimension"] == name) / n_ranks / length
            for figure in listed.split(", "):
                with self.subTest((scenario.splitlines()[0], figure)):
                    done = self.fabricast("explain", path, figure, "--format", "json")
                    if done.returncode != 0:
                        self.assertIn(f"there is no '{figure}' here: ", done.stderr)
                        self.assertNotIn(figure, values)
                        continue
                    first = json.loads(done.stdout)["statements"][0]
                    self.assertEqual(first["depth"], 0)
                    if figure in values:
                        self.assertAlmostEqual(first["value"], values[figure], delta=2e-6 * abs(values[figure]) + 1e-9)
                    if first["formula"] is not None:
                        self.assertAlmostEqual(eval(first["formula"], {"max": max, "min": min}, first["terms"]), first["value"], delta=1e-9 * abs(first["value"]) + 1e-12)
                    if "step" in first["terms"]:
                        self.assert_same(first["terms"]["step"], length / 1e12, figure, rel=1e-6)
            database.close()


class Collectives(Events):
    def test_one_collective(self):
        """By its name the first one; the largest is the first that moves most."""
        for scenario in ("hello", "four-nodes", PIPELINE, ALONE):
            path, database = self.played(scenario)
            rows = self.rows(database, "collective", "ORDER BY collective")
            database.close()
            wanted = {"largest": max(rows, key=lambda row: (row["bytes"], -row["collective"])), "LARGEST": max(rows, key=lambda row: (row["bytes"], -row["collective"]))}
            for row in (rows[0], rows[len(rows) // 2], rows[-1]):
                wanted[row["name"]] = next(one for one in rows if one["name"] == row["name"])
            for name, row in wanted.items():
                with self.subTest((scenario.splitlines()[0], name)):
                    first = self.json("explain", path, "--collective", name)["statements"][0]
                    self.assert_same(first["value"], (row["end_ps"] - row["start_ps"]) / 1e12, name, rel=1e-6)
                    self.assertIn(f"{row['op']} ", first["title"])
                    self.assertTrue(first["title"].endswith(f" over {row['n_ranks']} ranks"), first["title"])
            done = self.fabricast("explain", path, "--collective", "nobody")
            self.assertIn(f"no collective is called 'nobody'; the first is {rows[0]['name']}, the last {rows[-1]['name']}: `fabricast query collectives`", " ".join(done.stderr.split()))


if __name__ == "__main__":
    support.main()
