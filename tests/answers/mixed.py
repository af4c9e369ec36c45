#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mix of jobs: figures of all and of each kind are those of its jobs, and the page has them in their places.

`mixed.py PROGRAM [Class]`. The CSV file has a row for every job.
"""
import json
import re
import statistics

import answer
import tables
from answer import support

# Jobs of four kinds on 64 nodes, which fail, wait and give way to others.
MANY = """name: many
cluster: {node: dgx-h100, nodes: 64, fabric: {kind: leaf_spine, nodes_per_leaf: 8, oversubscription: 4}, route: ecmp}
job: {kind: fsdp, model: llama2-7b, micro_batch: 1, sequence: 4096, compute: {kind: mfu, mfu: 45%}, checkpoint: {to: network, total: 200GB/s}}
reliability: {failures: meta-research, detection: 10min, restart: 5min, repair: 2d, spares: 1}
mix:
  placement: packed
  order: priority
  backfill: true
  preempt: true
  jobs:
    - {name: debug, nodes: 1, count: 500, every: 2h, work: 8h, spread: 1, job: {kind: ddp, model: gpt2-xl, micro_batch: 8, sequence: 1024, compute: {kind: mfu, mfu: 35%}, checkpoint: {to: network, total: 200GB/s}}}
    - {name: tune, nodes: 4, count: 200, every: 5h, work: 20h, spread: 0.8, job: {kind: fsdp, model: llama2-7b, micro_batch: 1, sequence: 4096, compute: {kind: mfu, mfu: 40%}, checkpoint: {to: network, total: 200GB/s}}}
    - {name: train, priority: 1, nodes: 12, count: 60, every: 16h, work: 40h, spread: 0.6, job: {kind: fsdp, model: llama2-7b, micro_batch: 1, sequence: 4096, compute: {kind: mfu, mfu: 45%}, checkpoint: {to: network, total: 200GB/s}}}
    - {name: large, priority: 2, nodes: 32, count: 10, every: 4d, work: 60h, spread: 0.4, job: {kind: fsdp, model: llama2-7b, micro_batch: 1, sequence: 4096, compute: {kind: mfu, mfu: 45%}, checkpoint: {to: network, total: 200GB/s}}}
"""
HOURS = {"busy_node_hours": "busy_s", "places_lost_node_hours": "places_lost_s", "sharing_lost_node_hours": "sharing_lost_s", "undone_node_hours": "undone_s",
         "down_node_hours": "down_s", "checkpoint_node_hours": "checkpoint_s", "slowed_node_hours": "slowed_s"}


class Mixed(answer.AnswerTest):
    document = None

    def setUp(self):
        super().setUp()
        if Mixed.document is None:
            command = ("mix", self.write("many.yaml", MANY))
            Mixed.document = tables.nodes(json.loads(self.good(*command, "--format", "json")))
            Mixed.jobs = [{name: cell if name == "kind" else float(cell) for name, cell in row.items()} for row in answer.csv_rows(self.good(*command, "--format", "csv"))]
            Mixed.page = self.good(*command)
            Mixed.lines = {found[1]: found[2] for found in re.finditer(r"(?m)^ {2,4}(\w+(?: \w+)?) {2,}(.*)$", Mixed.page.split("\n  kind ")[0])}

    def assert_figures(self, told, jobs, what):
        self.assertEqual(told.jobs, len(jobs), what)
        for key, column in HOURS.items():
            self.assert_same(told[key], sum(job["nodes"] * job[column] for job in jobs) / 3600, f"{what} {key}", rel=1e-6)
        waits = sorted(job["end_s"] - job["submit_s"] - job["busy_s"] for job in jobs)  # at first, and when another one had its nodes
        self.assertGreaterEqual(waits[0], -1e-6)
        self.assert_same(told.wait_mean_s, statistics.fmean(waits), what, rel=1e-6)
        self.assert_same(told.wait_max_s, waits[-1], what, rel=1e-6)
        self.assertTrue(waits[(len(waits) - 1) // 2] - 1e-6 <= told.wait_p50_s <= waits[len(waits) // 2] + 1e-6, what)
        at = 0.95 * len(waits)
        self.assertTrue(waits[int(at) - 1] - 1e-6 <= told.wait_p95_s <= waits[min(int(at) + 1, len(waits) - 1)] + 1e-6, what)
        for key in ("failures", "preempted"):
            self.assertEqual(told[key], sum(job[key] for job in jobs), what)
        self.assert_same(told.groups_mean, statistics.fmean(job["groups"] for job in jobs), what, rel=1e-6)

    def test_figures_are_those_of_the_jobs(self):
        told = self.document
        self.assert_figures(told, self.jobs, "all")
        self.assertEqual([kind.name for kind in told.kinds], list(dict.fromkeys(kind.name for kind in told.kinds)))
        for kind in told.kinds:
            self.assert_figures(kind, [job for job in self.jobs if job["kind"] == kind.name], kind.name)
        for job in self.jobs:
            self.assertGreaterEqual(job["end_s"] + 1e-6, job["start_s"] + job["busy_s"])
            parts = job["work_s"] + sum(job[name] for name in ("places_lost_s", "sharing_lost_s", "undone_s", "down_s", "checkpoint_s", "slowed_s"))
            self.assertAlmostEqual(job["busy_s"], parts, delta=1e-3 * job["busy_s"] + 1)
        span = max(job["end_s"] for job in self.jobs) - min(job["submit_s"] for job in self.jobs)
        self.assert_same(told.span_s, span, rel=1e-6)
        self.assert_same(told.used_fraction, told.busy_node_hours * 3600 / (told.nodes * told.span_s), rel=1e-6)
        self.assert_same(told.useful_fraction, told.useful_node_hours * 3600 / (told.nodes * told.span_s), rel=1e-6)

    def says(self, label, values):
        found = answer.quantities(self.lines[label])
        self.assertEqual(len(found), len(values), self.lines[label])
        for one, value in zip(found, values):
            self.assertTrue(value is None or answer.is_near_in_unit(one, value), f"{label}: {one.text} is not {value}")

    def test_lines_of_the_page(self):
        told = self.document
        share = lambda hours: hours * 3600 / (told.nodes * told.span_s)
        self.says("used", [told.used_fraction])
        self.says("useful", [told.useful_fraction])
        self.says("places", [share(told.places_lost_node_hours)])
        self.says("sharing", [share(told.sharing_lost_node_hours), None])
        worst = answer.quantities(self.lines["sharing"])[1].value  # over a longer time, as jobs take longer then
        lost = share(told.sharing_lost_worst_node_hours)
        self.assertTrue(0.99 * lost / (1 + lost) < worst < lost)  # longer by what is lost, where all nodes are in use
        for label, key in (("undone", "undone_node_hours"), ("down", "down_node_hours"), ("checkpoints", "checkpoint_node_hours")):
            self.says(label, [share(told[key])])
        self.says("away", [told.away_fraction])
        self.says("wait", [told.wait_mean_s, told.wait_p50_s, 0.95, told.wait_p95_s, told.wait_max_s, told.longest_queue])
        self.says("time", [told.slowdown_mean, 0.95, told.slowdown_p95, told.slowdown_max])
        self.assertIn(f"{told.failures} failures stopped jobs, {told.preempted} jobs gave way to others", self.lines["stops"])
        busiest = max(told.groups, key=lambda group: group.uplinks_used_fraction)
        self.assertIn(f"busiest uplinks {busiest.switch}: jobs use {100 * busiest.uplinks_used_fraction:.1f} %", self.page)
        uplinks = told.places_lost_node_hours + told.sharing_lost_node_hours
        sentence = re.search(r"Jobs lose ([\d.]+) % of their node hours between leaf switches, ([\d.e+]+) node hours; ([\d.]+) %", self.page)
        self.assertAlmostEqual(float(sentence[2]), uplinks, delta=0.51)
        self.assertAlmostEqual(float(sentence[1]), 100 * uplinks / told.busy_node_hours, delta=0.051)
        self.assertGreater(float(sentence[3]), float(sentence[1]))

    def table(self, rows, *columns):
        table = tables.Table(rows)
        for column in columns:
            table.add(column)
        table.check(self, self.page, {"d": self.document})

    def test_tables_of_the_page(self):
        self.table("d.kinds", "kind: name | jobs: jobs | nodes: nodes | step: step_s | exposed: exposed_inter_node_fraction",
                   "mean wait: wait_mean_s | time x: slowdown_mean | at most x: slowdown_max | groups: groups_mean")
        self.table("[d, *d.changes]", 'what would change it: r.name or "as it is" | used: used_fraction | useful: useful_fraction | mean wait: wait_mean_s',
                   "mean time: slowdown_mean")
        rows = "[{'name': k.name, 'at': k.nodes_per_group[l], 'own': k.own_load_fraction[l], 'slow': k.slowdown[l]} for k in d.kinds for l in range(len(k.slowdown))" \
               " if k.nodes_per_group[l] < k.nodes]"
        self.table(rows, "slower by places: name | nodes/leaf: at | own load: own", "others   0 %: slow[0] | 25 %: slow[1] | 50 %: slow[2] | 75 %: slow[3] | 90 %: slow[4]")


class Logs(answer.AnswerTest):
    SCENARIO = """name: logged
cluster: {node: dgx-h100, nodes: 16}
job: {kind: collective, operations: [{op: all_reduce, size: 1MiB}]}
mix:
  log: log.csv
  jobs: [{name: small, nodes: 2, job: {kind: collective, operations: [{op: all_reduce, size: 1MiB}]}}]
"""
    # submit, nodes and seconds of jobs, and what became of them; none of them waits
    JOBS = ((0, 4, 3600, "COMPLETED"), (100, 2, 3800, "FAILED"), (200, 1, 3800, "CANCELLED"), (300, 8, 4600, "PREEMPTED"))

    def test_groups_of_the_machine(self):
        """Sixteen nodes, so many of them at the leaf switches of each group."""
        self.write("log.csv", "submit,start,end,nodes,state,user\n0,10,3610,4,COMPLETED,a\n")
        for per_leaf, words in ((16, "all at the same switches, so that jobs share no uplink"), (1, "each at leaf switches of its own"), (2, "in 8 groups of 2 that share leaf switches"),
                                (8, "in 2 groups of 8 that share leaf switches"), (15, "in 2 groups of 1 to 15 that share leaf switches"), (5, "in 4 groups of 1 to 5 that share leaf switches")):
            scenario = self.write("grouped.yaml", self.SCENARIO.replace("nodes: 16}", f"nodes: 16, fabric: {{kind: rail, nodes_per_leaf: {per_leaf}}}}}"))
            self.assertEqual(re.search(r"(?m)^  machine +(.*)$", self.good("mix", scenario))[1], f"16 nodes, {words}")

    def test_jobs_of_a_log(self):
        """Jobs that ran count with the time that they ran, whatever became of them; the page says how many others there are, one or more."""
        for n_waiting, n_failed, n_preempted, n_large in ((0, 0, 0, 0), (1, 1, 0, 1), (2, 2, 1, 2), (0, 0, 1, 0), (0, 1, 1, 0)):
            jobs = [job for job in self.JOBS if job[3] == "COMPLETED" or job[3] == "FAILED" and n_failed > 0 or job[3] == "CANCELLED" and n_failed > 1
                    or job[3] == "PREEMPTED" and n_preempted > 0]
            lines = ["submit,start,end,nodes,state,user", *(f"{submit},{submit + 10},{submit + 10 + length},{nodes},{state},a" for submit, nodes, length, state in jobs),
                     *("400,,,2,PENDING,e" for _ in range(n_waiting)), *("500,600,900,17,COMPLETED,f" for _ in range(n_large))]
            self.write("log.csv", "\n".join(lines) + "\n")
            told, page = self.json("mix", self.write("logged.yaml", self.SCENARIO)), self.good("mix", self.path("logged.yaml"))
            self.assertEqual([told[key] for key in ("jobs", "log_rows_left_out", "log_jobs_failed", "log_jobs_preempted", "log_jobs_too_large")],
                             [len(jobs), n_waiting, n_failed, n_preempted, n_large])
            hours, span = sum(nodes * length for _, nodes, length, _ in jobs) / 3600, max(submit + length for submit, _, length, _ in jobs)
            self.assert_same(told["busy_node_hours"], hours)
            self.assert_same(told["span_s"], span)
            self.assert_same(told["used_fraction"], hours * 3600 / 16 / span)
            head = page.partition("\n  queue ")[0]
            self.assertRegex(head, rf"(?m)^  jobs +{len(jobs)} of 1 kind, ")
            said = {0: None, 1: "1 row of the log is not a job that ran", 2: "2 rows of the log are not jobs that ran"}[n_waiting]
            failed = ("0 jobs of the log failed or were", "1 job of the log failed or was", "2 jobs of the log failed or were")[n_failed]
            ended = f"{failed} cancelled, {n_preempted} {'was' if n_preempted == 1 else 'were'} preempted; they count with the time that they ran"
            large = {0: None, 1: "1 job of the log is larger than the machine and left out", 2: "2 jobs of the log are larger than the machine and left out"}[n_large]
            self.assertEqual(re.findall(r"(?m)^ {18}(\S.*)$", head), [one for one in (said, ended if n_failed + n_preempted else None, large) if one])

    def test_a_kind_without_jobs(self):
        """A log names no kind: jobs belong to the kind whose nodes are nearest. One that has none has no figures of jobs."""
        job = "job: {kind: collective, operations: [{op: all_reduce, size: 1MiB}]}"
        scenario = self.write("two.yaml", self.SCENARIO.replace("jobs: [", f"jobs: [{{name: large, nodes: 16, {job}}}, "))
        self.write("log.csv", "submit,start,end,nodes,state,user\n0,10,3610,2,COMPLETED,a\n")
        [large, small], page = self.json("mix", scenario)["kinds"], self.good("mix", scenario)
        self.assertEqual((large["jobs"], small["jobs"]), (0, 1))
        cells = {line.split()[0]: re.split(r" {2,}", line.strip()) for line in page.partition("  kind ")[2].partition("\n\n")[0].splitlines()[1:]}
        self.assertEqual((len(cells["large"]), len(cells["small"])), (5, 9))
        self.assertEqual(cells["large"][1:3], ["0", "16"])


class Failing(answer.AnswerTest):
    """Sixteen nodes whose NICs become slow, whose GPUs fail, and whose jobs are written down."""

    SCENARIO = """name: failing
cluster: {node: dgx-h100, nodes: 16}
failures: [{name: ours, classes: [{name: slow-nic, per: nic, per_year: 40, does: slows, rate: 20%}, {name: gpu, per: gpu, per_year: 4}]}]
reliability: {failures: ours, slow_detection: 6h}
job: JOB
mix:
  jobs: [{name: small, nodes: 2, count: 100, every: 1h, work: 10h, job: JOB}, {name: other, nodes: 8, count: 10, every: 10h, work: 5h, job: OTHER}]
"""
    JOB = "{kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024, checkpoint: {to: network, total: 200GB/s}, compute: {kind: mfu, mfu: 40%}}"

    def scenario(self, other="gpt2-xl"):
        return self.write("failing.yaml", self.SCENARIO.replace("JOB", self.JOB).replace("OTHER", self.JOB.replace("gpt2-xl", other)))

    def test_shares_that_are_lost(self):
        """Each from a two hundredth of a percent on; the others have no line."""
        labels, seen = {"undone": "undone", "down": "down", "checkpoints": "checkpoint", "slow parts": "slowed"}, set()
        for rate in ("0", "0.0002", "0.003", "0.03", "1"):
            command = ("mix", self.scenario(), "--set", f"reliability.rates={rate}")
            told, page = self.json(*command), self.good(*command)
            for label, key in labels.items():
                share = told[f"{key}_node_hours"] * 3600 / told["nodes"] / told["span_s"]
                shown = re.findall(rf"(?m)^    {label} +(\d+\.\d\d) %   lost ", page)
                self.assertEqual(shown, [f"{100 * share:.2f}"] if share > 5e-5 else [], f"{label}: {share}")
                seen |= {(label, share > 5e-5)} if share > 0 else set()
            self.assertEqual(f"{told['failures']} {'failure' if told['failures'] == 1 else 'failures'} stopped jobs, 0 jobs gave way to others; " in page, told["failures"] > 0)
        self.assertLessEqual({("undone", True), ("down", True), ("checkpoints", True), ("checkpoints", False), ("slow parts", True), ("slow parts", False)}, seen)

    def test_a_job_that_does_not_fit(self):
        """It is named before everything else, with what is too large; the others are not."""
        for other, fits in (("gpt2-xl", True), ("llama2-70b", False)):
            done = self.fabricast("mix", self.scenario(other))
            self.assertEqual(done.returncode, 0 if fits else 1)
            self.assertEqual(re.findall(r"(?m)^Jobs '(.*)':$", done.stdout), [] if fits else ["other"])
            self.assertEqual(done.stdout.startswith("Jobs 'other':\n  stop            The job does not fit: rank 0 needs "), not fits)
            self.assertEqual(done.stdout.count("does not fit"), 0 if fits else 1)
            self.assertEqual(self.fabricast("mix", self.path("failing.yaml"), "--allow-oversized").returncode, 0)


if __name__ == "__main__":
    support.main()
