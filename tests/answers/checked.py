#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of checks: what was measured beside what is predicted, cables beside their peers, and files of measurements.

`checked.py PROGRAM [Class]`.
"""
import json
import os
import re

import answer
import tables
from answer import support

NODE = ("collective", "--node", "dgx-a100", "--no-band")
SIZES = ("-b", "16M", "-e", "512M", "-f", "2")
EXAMPLE = os.path.join(support.SOURCE, "docs", "examples", "ibnetdiscover.txt")
MEASURED = os.path.join(support.SOURCE, "validate", "measured", "links", "h100_cuda.meas")


class Collective(answer.AnswerTest):
    """`collective --check`: every size with its ratio, and what is said of all of them."""

    FAST = """
links: [{name: fast, technology: NVLink, signalling: 1000Tb/s, lanes: 8, coding: 1, latency: 1ns}]
nodes:
  - name: quick
    accelerator: b200-sxm
    parts: [{name: gpu, kind: accelerator, count: 8}, {name: switch, kind: switch}, {name: cpu, kind: host}]
    wires: [{from: gpu, to: switch, link: fast}, {from: gpu, to: cpu, link: pcie4-x16}]
"""

    def setUp(self):
        super().setUp()
        self.begin(NODE, SIZES)

    def begin(self, node, sizes):
        self.node, self.rows = node, self.json(*node, *sizes)["results"]

    def measured(self, factors, wrong=()):
        """An output of nccl-tests with times so many times as long as predicted."""
        lines = ["# nThread 1 nGpus 8 minBytes 16777216 maxBytes 536870912 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0"]
        for row, factor in zip(self.rows, factors):
            time = row["time_us"] * factor
            algbw = row["size_bytes"] / time / 1e3
            n_wrong = 3 if row["size_bytes"] in wrong else 0
            one = f"{time:.6f} {algbw:.2f} {algbw * 1.75:.2f} {n_wrong}"
            lines.append(f"{row['size_bytes']} {row['size_bytes'] // 4} float sum -1 {one} {one}")
        return self.write("measured.txt", "\n".join(lines) + "\n")

    def check(self, factors, *more, wrong=(), tolerance=0.2, judged=2**26):
        """Runs the check, and holds its page against the ratios of the times."""
        done = self.fabricast(*self.node, "--check", self.measured(factors, wrong), *more)
        lines = done.stdout.splitlines()
        shown = [re.split(r" +", line.strip()) for line in lines if not line.startswith("#")]
        self.assertEqual([int(cells[0]) for cells in shown], [row["size_bytes"] for row in self.rows])
        heads = [[found.end() for found in re.finditer(r"[^\s#]+", line)] for line in lines if line.startswith("#")][1:4]
        ends, *others = [[found.end() for found in re.finditer(r"\S+", line)][:6] for line in lines if not line.startswith("#")]
        self.assertTrue(all(other == ends for other in others), "figures of a column end in the same place")
        self.assertEqual([heads[0][:6], heads[1], heads[2]], [ends[:6], ends[1:5], ends[:5]], "figures stand below their heads and units")
        slow = fast = n_judged = 0
        worst = None
        for cells, row, factor in zip(shown, self.rows, factors):
            ratio = 1 / factor
            size = row["size_bytes"]
            for cell, value in zip(cells[1:6], (row["time_us"] * factor, row["time_us"], row["busbw_GBps"] * ratio, row["busbw_GBps"], ratio)):
                self.assertAlmostEqual(float(cell), value, delta=0.006 + 2e-3 * value * (value is not row["time_us"]), msg=f"{cells}")
            is_judged = size >= judged
            verdict = "WRONG" if size in wrong else "-" if not is_judged else "SLOW" if ratio < 1 - tolerance else "fast" if ratio > 1 + tolerance else "ok"
            self.assertEqual(cells[6], verdict, cells)
            rest = cells[8:] if size in wrong else cells[7:]
            self.assertEqual(rest[:2], [row["algorithm"], row["protocol"]])
            slow += is_judged and ratio < 1 - tolerance
            fast += is_judged and ratio > 1 + tolerance
            n_judged += is_judged
            if is_judged and (worst is None or ratio < worst[0]):
                worst = (ratio, row)
        said = "\n".join(lines)
        percent = f"{100 * tolerance:.0f}%"
        self.assertEqual("# WRONG DATA: " in said, bool(wrong))
        if wrong:
            self.assertIn(f"# WRONG DATA: {len(wrong)} {'size has' if len(wrong) == 1 else 'sizes have'} wrong elements;", said)
        self.assertEqual("\n# fast: " in said, fast > 0)
        if fast:
            self.assertIn(f"# fast: {fast} {'size is' if fast == 1 else 'sizes are'} more than {percent} above the prediction; check that --node {self.node[2]}", said)
        if worst is None:
            self.assertIn(f"# no size is {judged} bytes or more, so none is judged; see --check-from", said)
        else:
            verb = "sizes is" if slow == 1 else "sizes are"
            self.assertIn(f"# {'SLOW' if slow else 'bandwidth ok'}: {slow} of {n_judged} compared {verb} more than {percent} below the prediction; "
                          f"worst {worst[0]:.2f} at {worst[1]['size_bytes']} bytes", said)
            self.assertIn(f"# at this size a healthy machine has busbw {worst[1]['busbw_GBps']:.2f} GB/s; it is limited by ", said)
        self.assertEqual(done.returncode, 1 if slow or wrong else 0)

    def test_ratios(self):
        n = len(self.rows)
        self.assertEqual(n, 6)
        equal, slower = [1, 1, 1.01, 1.03, 1.02, 1], [1.3, 1.31, 1.32, 1.35, 1.34, 1.33]
        self.check(equal)
        self.check([1.1, 1.2, 1.24, 1.26, 1.3, 2])
        self.check([1, 1, 1, 1.26, 1, 1])
        self.check([1, 1, 0.7, 1, 1.01, 1])
        self.check([3, 1, 1, 0.8, 0.7, 0.5])
        self.check(slower, "--tolerance", "10%", tolerance=0.1)
        self.check(slower, "--tolerance", "0.5", tolerance=0.5)
        self.check(slower, "--check-from", "128M", judged=2**27)
        self.check(slower, "--check-from", "16M", judged=2**24)
        self.check(slower, "--check-from", "1G", judged=2**30)
        self.check(equal, wrong=(2**24,))
        self.check(equal, wrong=(2**26, 2**28))

    def test_a_machine_that_is_faster_than_any(self):
        """At hundreds of TB/s figures have fewer digits behind the point, and stay in their columns."""
        self.begin(("collective", "--node", "quick", "--no-band", "--library", "plain", "--with", self.write("fast.yaml", self.FAST)), ("-b", "256K", "-e", "16G", "-f", "16"))
        self.assertLess(self.rows[0]["busbw_GBps"], 1e5)
        self.assertGreater(self.rows[-1]["busbw_GBps"], 5e5)
        self.check([1.02, 1.03, 1.05, 1.04, 1.01])
        self.check([1, 1.5, 0.5, 1, 2])

    def test_another_number_of_ranks(self):
        """Bus over algorithm bandwidth is 2 (n - 1) / n of an all-reduce over n ranks; of all-gather it is half of that."""
        path = self.measured([1] * len(self.rows))
        self.refused(*NODE, "--op", "all_gather", "--check", path, names="its busbw is 1.750 x algbw, but all_gather over 8 ranks has 0.875")
        self.refused(*NODE, "--nodes", "2", "--check", path, names="its busbw is 1.750 x algbw, but all_reduce over 16 ranks has 1.875")


class Cables(answer.AnswerTest):
    LABELS = {"missing": "missing", "missing_nic": "missing port", "slow": "slow", "crossed": "crossed", "misplaced": "wrong place", "few_uplinks": "few uplinks"}

    def check(self, command, shown=None, columns=None):
        told = json.loads(self.fabricast(*command, "--format", "json").stdout)
        done = self.fabricast(*command)
        findings = told["findings"]
        self.assertEqual(done.returncode, 1 if findings else 0)
        head, *parts = done.stdout.split("\n\n")
        self.assertTrue(head.startswith(f"{told['source']}: "), head)
        self.assertEqual(len(re.findall(r", \d+ (?!ports|cables)\w+", head.split(";")[0])), len(told["switches_by_tier"]))
        for n in told["switches_by_tier"]:
            self.assertRegex(head, rf", {n} ")
        lost = [finding["lost_GBps"] for finding in findings]
        for finding in findings:
            self.assertEqual([key for key in finding if key not in ("has", "usual")], ["kind", "part", "port", "peer", "peer_port", "lost_GBps", "text"])
            self.assertIn(finding["part"], finding["text"])
            self.assertEqual("has" in finding, "usual" in finding, finding)
            if "usual" in finding:
                self.assertLess(finding["has"], finding["usual"])
            if finding["kind"] == "missing":
                self.assertIn(f" has {finding['has'] or 'none'} of {finding['usual']} cables to ", finding["text"])
        self.assertEqual(lost, sorted(lost, reverse=True))
        if not findings:
            self.assertEqual(parts[0].strip(), "No cable is unlike its peers.")
            return told
        n = len(findings)
        self.assertTrue(parts[0].startswith(f"{n} {'thing is unlike its' if n == 1 else 'things are unlike their'} peers. The worst come first"), parts[0])
        rows = re.split(r"(?m)^  (?=\S)", parts[1])[1:]
        more = rows.pop() if rows[-1].startswith("... and ") else None
        limit = shown or min(n, 30)
        self.assertEqual(len(rows), limit)
        self.assertEqual(more and more.strip(), f"... and {n - limit} more; --all shows every one" if n > limit else None)
        for row, finding in zip(rows, findings):
            label, rate, words = re.match(r"(\S+(?: \S+)*?) +(\S+ GB/s)  (.*)", row, re.S).groups()
            self.assertEqual(label, self.LABELS[finding["kind"]])
            self.assertEqual(row.index(rate) + len(rate), 24, row)
            self.assertTrue(answer.quantity(rate).is_near(finding["lost_GBps"] * 1e9), row)
            self.assertEqual(" ".join(words.split()), " ".join(finding["text"].split()))
            lines = words.rstrip("\n").split("\n")
            self.assertTrue(all(line.startswith(" " * 28) and line[28] != " " for line in lines[1:]), row)
            self.assertTrue(all(len(line) <= 100 for line in row.split("\n")), row)
            for line, after in zip([" " * 28 + lines[0], *lines[1:]], lines[1:]):
                self.assertGreater(len(line) + 1 + len(after.split()[0]), 100, "a line has as many words as there is room for")
        self.assertEqual(" ".join(" ".join(parts[2:]).split()), " ".join(" ".join(told["notes"]).split()))
        return told

    def test_a_network_of_a_tool(self):
        self.check(("topo", EXAMPLE, "--check"))

    def test_a_cluster_as_it_is_built(self):
        self.check(("topo", "--node", "dgx-h100", "--nodes", "4", "--check"))
        self.check(("topo", "fabric-ddp-ecmp", "--check"))

    def test_many_findings(self):
        """The first thirty, and with --all every one."""
        text = support.read(EXAMPLE)
        hosts = re.findall(r"(?m)^\[\d+\].*4xNDR.*$", text)
        slower = {line: line.replace("4xNDR", "4xHDR") for line in hosts[::3]}
        path = self.write("many.txt", "\n".join(slower.get(line, line) for line in text.splitlines()) + "\n")
        told = self.check(("topo", path, "--check"))
        self.check(("topo", path, "--check", "--all"), shown=len(told["findings"]))

    def test_one_fault(self):
        for name in ("fault-leaf-outage", "fault-nic-half-rate"):
            self.check(("topo", name, "--check"))


class Measured(answer.AnswerTest):
    """`measure show FILE`: its page has the points of its JSON, and its CSV too."""

    def test_forms_of_a_file(self):
        self.check_file(MEASURED)

    def test_forms_of_what_was_imported(self):
        """It has no samples, and nothing of the machine."""
        for name in ("osu-suite-5.8.txt", "nvbandwidth.json", "fi-pingpong-cxi.txt", "series.csv"):
            done = self.fabricast("import", os.path.join(support.SOURCE, "tests", "fixtures", "benchmarks", name), "-o", f"{name}.meas", "--system", "two boxes", "--source", "a page")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_file(f"{name}.meas")

    def check_file(self, path):
        told = json.loads(self.good("measure", "show", path, "--format", "json"))
        page = self.good("measure", "show", path)
        rows = answer.csv_rows(self.good("measure", "show", path, "--format", "csv"))
        points = [(series, point) for series in told["series"] for point in series["points"]]
        self.assertEqual(len(rows), len(points))
        for row, (series, point) in zip(rows, points):
            for key, value in {**series, **point}.items():
                if key != "points":
                    self.assertEqual(row[key], "" if value is None else str(value), key)
        head, *parts = page.split("\n\n")
        lines = head.split("\n")
        at = lines.index("notes") if told["notes"] else len(lines)
        self.assertEqual(lines[:2 if told["machine"] else 1], [path, "machine"] if told["machine"] else [path])
        self.assertEqual([re.match(r"  (\S+) +(.*)$", line).groups() for line in lines[2:at]], list(told["machine"].items()))
        self.assertEqual([line[2:] for line in lines[at + 1:]], told["notes"])
        foot = parts.pop() if parts[-1].startswith("* ") else None
        is_sure = all(point["is_complete"] for _, point in points if point["n_samples"])
        self.assertEqual(foot is None, is_sure)
        self.assertEqual(len(parts), len(told["series"]))
        for part, series in zip(parts, told["series"]):
            self.check_series(part.rstrip("\n").split("\n"), series)

    def check_series(self, lines, series):
        for word in (series["backend"], series["kind"], series["method"]):
            if word:
                self.assertIn(word if word != "collective" else series["op"], lines[0])
        said = [f"{before}{series[key]}" for before, key in (("  on ", "system"), ("  from ", "source"), ("  ", "note")) if series[key]]
        self.assertEqual(lines[1:1 + len(said)], said)
        at, heads = tables.head_at(lines, ["size", "samples", "median", "+-95 %", "p5", "p95", "outliers", "rate"])
        self.assertEqual((at, len(lines) - at - 1), (1 + len(said), len(series["points"])))
        for line, point in zip(lines[at + 1:], series["points"]):
            cells = tables.by_head(line.replace("*", " "), heads, False)
            half = (point["high_ps"] - point["low_ps"]) / 2 / point["time_ps"]
            n = point["n_samples"]
            wanted = (point["size_bytes"], n or None, point["time_ps"] * 1e-12, half if point["high_ps"] else None, point["p05_ps"] * 1e-12 or None, point["p95_ps"] * 1e-12 or None,
                      point["n_outliers"] if n else None, point["size_bytes"] / point["time_ps"] * 1e12)
            for i, value in enumerate(wanted):
                self.assertTrue(cells[i].text == "-" if value is None else tables.is_shown(cells[i].text, value), f"{heads[i].text}: {cells[i].text!r} is not {value}: {line}")
            self.assertEqual("*" in line, bool(point["n_samples"]) and not point["is_complete"])


if __name__ == "__main__":
    support.main()
