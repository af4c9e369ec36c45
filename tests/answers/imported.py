#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run that is written for other programs and read again says what it said.

`imported.py PROGRAM [Class]`. Kineto is the form in which PyTorch records a run, GOAL and Chakra are those of simulators.
"""
import contextlib
import json
import os
import re
import sqlite3

import yaml

import answer
from answer import support

RANKS = 8


class Kineto(answer.AnswerTest):
    folder = None

    def setUp(self):
        """Two steps of eight GPUs, which are simulated and written once."""
        super().setUp()
        if Kineto.folder is None:
            Kineto.told = json.loads(self.good("run", "hello", "--iterations", "2", "--no-band", "--no-bottleneck", "--format", "json"))
            self.good("trace", "--format", "kineto", "-o", "k", "--ranks", ",".join(map(str, range(RANKS))))
            Kineto.folder = {name: support.read(self.path("k", name)) for name in os.listdir(self.path("k"))}
        os.makedirs(self.path("k"), exist_ok=True)
        for name, text in Kineto.folder.items():
            self.write(os.path.join("k", name), text)

    def test_steps_of_every_rank(self):
        page = self.good("import", "trace", "k")
        rows = re.findall(r"(?m)^ +(\d+) +(\d+)((?: +[\d.]+){8})$", page)
        self.assertEqual(len(rows), 2 * RANKS)
        self.assertEqual([(int(step), int(rank)) for step, rank, _ in rows], [(step, rank) for step in range(2) for rank in range(RANKS)])
        names = ("step_s", "compute_s", "comm_s", "overlapped_s", "exposed_s", "idle_s", "waiting_s")
        for step, _, cells in rows:
            iteration = self.told["iterations"][int(step)]
            for name, cell in zip(names, cells.split()):
                self.assertAlmostEqual(float(cell) / 1e3, iteration[name], 5, name)
            self.assertEqual(float(cells.split()[-1]), 0)  # no copies
        self.assertIn("Collectives: 290.", page)

    def test_a_results_file(self):
        self.good("import", "trace", "k", "--db", "t.db")
        run = self.json("query", "runs", "--db", "t.db")[0]
        self.assertEqual((run["n_ranks"], run["n_iterations"], run["fidelity"]), (RANKS, 2, "measured"))
        rows = self.json("query", "iterations", "--db", "t.db")
        for row, iteration in zip(rows, self.told["iterations"], strict=True):
            for name in ("step_s", "compute_s", "comm_s", "overlapped_s", "exposed_s", "idle_s"):
                self.assertAlmostEqual(row[name], iteration[name], 6, name)
        totals = self.json("query", "collective-totals", "--db", "t.db")
        self.assertEqual(sum(row["n_collectives"] for row in totals), 2 * 145)
        self.assertEqual(sum(row["bytes"] for row in totals), 2 * 4 * 1557611200)  # FP32 gradients of GPT-2 XL, each once a step
        self.assertAlmostEqual(sum(row["exposed_us"] for row in totals) / 1e6, sum(one["exposed_s"] for one in self.told["iterations"]), 5)
        for row in totals:
            self.assertAlmostEqual(row["algbw_gb_per_s"], row["bytes"] / row["time_us"] / 1e3, 3)
            self.assertAlmostEqual(row["busbw_gb_per_s"] / row["algbw_gb_per_s"], 2 * 7 / 8, 6)

    def test_spans_of_every_rank(self):
        """A results file has what every rank computes and communicates, as long as it was recorded."""
        self.good("import", "trace", "k", "--db", "t.db")
        with contextlib.closing(sqlite3.connect(self.path("t.db"))) as file:
            spans = file.execute("SELECT rank_class, kind, start_ps, end_ps FROM span").fetchall()
        for rank in range(RANKS):
            events = [event for event in json.loads(self.folder[f"rank-{rank}.json"])["traceEvents"] if event.get("cat") == "kernel"]
            own = [(kind, start, end) for of, kind, start, end in spans if of == rank]
            self.assertGreater(len(events), 0)
            self.assertAlmostEqual(sum(end - start for _, start, end in own) / 1e6, sum(event["dur"] for event in events), delta=1e-3 * len(events))
            self.assertEqual(len({kind for kind, *_ in own}), 2 if len(events) == len(own) else 3)

    def test_its_own_prediction(self):
        """Measured times are those that are predicted on the same machine: every ratio is 1, and every time is in the band."""
        rows = answer.csv_rows(self.good("import", "trace", "k", "--on", "hello", "--format", "csv"))
        page = self.good("import", "trace", "k", "--on", "hello")
        self.assertEqual(sum(int(row["times"]) for row in rows), 2 * 145)
        for row in rows:
            self.assertEqual((row["op"], row["ranks"], row["place"]), ("all_reduce", str(RANKS), "all"))
            for name in ("shortest_us", "median_us"):
                self.assertAlmostEqual(float(row[name]) / float(row["predicted_us"]), 1, 3)
            self.assertTrue(float(row["low_us"]) < float(row["predicted_us"]) < float(row["high_us"]))
            shown = re.search(rf"(?m)^all_reduce +{RANKS} +all +{row['bytes']} +{row['times']} +([\d.]+) +([\d.]+) +([\d.]+) +1\.00 +([\d.]+) to ([\d.]+)$", page)
            self.assertIsNotNone(shown, row)
            for text, name in zip(shown.groups(), ("shortest_us", "median_us", "predicted_us", "low_us", "high_us")):
                self.assertTrue(answer.quantity(text).is_near(float(row[name])), name)
        self.assertIn(f"{len(rows)} sizes, median of predicted / measured 1.00, {len(rows)} in the band", page)

    def test_some_ranks(self):
        """Where only two ranks were recorded, nothing is known of waiting for the others."""
        for rank in range(2, RANKS):
            os.remove(self.path("k", f"rank-{rank}.json"))
        page = self.good("import", "trace", "k")
        self.assertEqual(len(re.findall(r"(?m)^ +\d+ +\d+ +[\d.]+ ", page)), 2 * 2)
        self.assertIn("Not all ranks of 290 collectives are here", page)
        self.assertIn("ratio is that of predicted to shortest time", self.good("import", "trace", "k", "--on", "hello"))
        self.refused("import", "trace", "nowhere", names="nowhere")


class Lengths(answer.AnswerTest):
    """What the inspector of NCCL writes: lengths of collectives in whole microseconds, for each rank by itself."""

    RANKS = 4
    FACTORS = {"all_reduce": 2 * 3 / 4, "all_gather": 3 / 4}
    # operation, bytes of a rank, microseconds of each call
    CALLS = (("AllReduce", 2**20, (40, 50, 60)), ("AllReduce", 2**17, (9, 9, 9, 9, 9)), ("AllReduce", 2**10, (0, 0, 0)), ("AllGather", 2**18, (30, 20, 10, 10)))

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("i"))
        for rank in range(self.RANKS):
            lines, n = [], 0
            for op, size, times in self.CALLS:
                for time in times:
                    lines.append(json.dumps({"header": {"id": "0xabc", "rank": rank, "n_ranks": self.RANKS}, "metadata": {
                        "inspector_output_format_version": "v4.0", "hostname": "h", "pid": 1000 + rank}, "coll_perf": {
                        "coll": op, "coll_sn": n, "coll_msg_size_bytes": size, "coll_exec_time_us": time + (rank if time else 0)}}))
                    n += 1
            self.write(os.path.join("i", f"{rank}.log"), "\n".join(lines) + "\n")

    def known(self):
        """{(operation, bytes): times}; the rank that comes last waits for nobody, and its time is that of the collective."""
        name = {"AllReduce": "all_reduce", "AllGather": "all_gather"}
        return {(name[op], size * (self.RANKS if op == "AllGather" else 1)): sorted(times) for op, size, times in self.CALLS}

    def median(self, values):
        return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2

    def test_lengths_by_size(self):
        page = self.good("import", "trace", "i")
        rows = {(op, int(size)): [int(n), int(ranks), *map(float, (shortest, median, busbw))]
                for op, ranks, size, n, shortest, median, busbw in re.findall(r"(?m)^(\w+) +(\d+) +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+)$", page)}
        known = self.known()
        self.assertEqual(set(rows), set(known))
        for (op, size), times in known.items():
            median = self.median(times)
            busbw = size / median / 1e3 * self.FACTORS[op] if median else 0
            self.assertEqual(rows[op, size], [len(times), self.RANKS, times[0], median, round(busbw, 2)])
        self.assertIn("not the times at which they ran, so there are no steps", page)

    def test_beside_predictions(self):
        """A length of less than a microsecond has no ratio, and counts in no median."""
        page = self.good("import", "trace", "i", "--on", "hello")
        table = answer.csv_rows(self.good("import", "trace", "i", "--on", "hello", "--format", "csv"))
        lines = {(cells[0], int(cells[3])): cells for cells in (line.split() for line in page.splitlines()) if cells[:1] in (["all_reduce"], ["all_gather"])}
        is_shortest = "predicted to shortest time" in page
        classes = {}
        for row in table:
            size = int(row["bytes"])
            measured = float(row["shortest_us" if is_shortest else "median_us"])
            self.assertEqual([float(row["shortest_us"]), float(row["median_us"])], [self.known()[row["op"], size][0], self.median(self.known()[row["op"], size])])
            shown = lines[row["op"], size][8]
            if measured == 0:
                self.assertEqual(shown, "-")
                continue
            self.assertAlmostEqual(float(shown), float(row["predicted_us"]) / measured, delta=0.0051)
            one = classes.setdefault("up to 64 KiB" if size <= 2**16 else "up to 1 MiB" if size <= 2**20 else "up to 16 MiB", [])
            one.append((float(row["predicted_us"]) / measured, float(row["low_us"]) <= measured <= float(row["high_us"])))
        told = re.findall(r"(?m)^(up to \d+ [KM]iB) +(\d+) sizes?, median of predicted / measured ([\d.]+), (\d+) in the band$", page)
        self.assertEqual([name for name, *_ in told], list(classes))
        for name, n, median, inside in told:
            ratios = sorted(ratio for ratio, _ in classes[name])
            self.assertEqual((int(n), int(inside)), (len(ratios), sum(one for _, one in classes[name])))
            self.assertAlmostEqual(float(median), self.median(ratios), delta=0.0051)
        self.assertNotIn("inf", page)


    def test_some_ranks_and_no_sizes(self):
        """Nothing is known of waiting for ranks that are not here, and a collective without a size is none of a size."""
        n = sum(len(times) for _, _, times in self.CALLS)
        self.assertNotIn("Left out", self.good("import", "trace", "i"))
        self.assertNotIn("Not all ranks", self.good("import", "trace", "i"))
        os.remove(self.path("i", "3.log"))
        self.assertIn(f"\nNot all ranks of {n} collectives are here: times may include waiting for the others.\n", self.good("import", "trace", "i"))
        page = self.good("import", "trace", "i", "--on", "hello")
        self.assertIn("\nThe ratio is that of predicted to shortest time, because ranks without a trace may have come late.\n", page)
        table = answer.csv_rows(self.good("import", "trace", "i", "--on", "hello", "--format", "csv"))
        lines = {(cells[0], int(cells[3])): cells for cells in (line.split() for line in page.splitlines()) if cells[:1] in (["all_reduce"], ["all_gather"])}
        for row in table:
            cells, shortest = lines[row["op"], int(row["bytes"])], float(row["shortest_us"])
            self.assertEqual(cells[1:3] + cells[4:5], [row["ranks"], row["place"], row["times"]])
            if shortest:
                self.assertAlmostEqual(float(cells[8]), float(row["predicted_us"]) / shortest, delta=0.0051)
            self.assertEqual(cells[-2], "to")
        for line in (self.path("i", f"{rank}.log") for rank in range(3)):
            text = support.read(line)
            self.write(line, text.replace(f'"coll_msg_size_bytes": {2**10}', '"coll_msg_size_bytes": 0'))
        page = self.good("import", "trace", "i")
        self.assertEqual(re.findall(r"Left out: (\d+) (\w+) without a size\.", page), [("3", "collectives")])
        self.assertIn("Left out: 3 collectives without a size, or of groups that do not fit into the machine.\n", self.good("import", "trace", "i", "--on", "hello"))


class Graphs(answer.AnswerTest):
    SCENARIO = ("four-nodes", "--set", "cluster.nodes=1", "--set", "cluster.gpus_per_node=4")

    def test_nodes_and_bytes(self):
        """The messages of GOAL are those of rings: each rank sends 2 (n - 1) / n of the gradients."""
        run = self.json("run", *self.SCENARIO, "--iterations", "1", "--no-band", "--no-bottleneck")
        total = self.json("query", "collective-totals")
        self.good("export", *self.SCENARIO, "--format", "goal", "-o", "x.goal")
        rows = re.findall(r"(?m)^rank (\d+): (\d+) nodes, (\d+) of them communicate \(([\d.]+) MB\), (\d+) dependencies, compute ([\d.]+) ms",
                          self.good("import", "trace", "x.goal"))
        self.assertEqual([int(row[0]) for row in rows], list(range(4)))
        text = support.read(self.path("x.goal"))
        for block, row in zip(re.findall(r"(?s)rank \d+ \{(.*?)\}", text), rows):
            self.assertEqual(int(row[2]), len(re.findall(r"(?m)^\S+: (?:send|recv) ", block)))
            self.assertEqual(int(row[1]), len(re.findall(r"(?m)^\S+: (?:send|recv|calc) ", block)))
            self.assertEqual(int(row[4]), len(re.findall(r" requires ", block)))
            moved = sum(map(int, re.findall(r"(?:send|recv) (\d+)b", block)))
            self.assertAlmostEqual(float(row[3]) * 1e6 / moved, 1, 4)
            sent = sum(map(int, re.findall(r"send (\d+)b", block)))
            self.assertAlmostEqual(sent / sum(one["bytes"] for one in total) * 4 / 6, 1, 1)
            self.assertAlmostEqual(float(row[5]) / 1e3 / run["iterations"][0]["compute_s"], 1, 1)


class Options(answer.AnswerTest):
    """Each option belongs to what it is of: machines, measurements, traces or jobs."""

    MEASURED, MACHINE = (os.path.join(support.SOURCE, "tests", "fixtures", *name) for name in (("benchmarks", "series.csv"), ("import", "nvidia-smi-dgx1-v100.txt")))
    JOB = os.path.join(support.SOURCE, "docs", "examples", "ds_config.json")
    OF_MACHINES = (("--accelerator", "h100-sxm5-80gb"), ("--nic", "ib-hdr"), ("--name", "mine"), ("--nodes", "2"))
    OF_MEASUREMENTS = (("--system", "two"), ("--source", "a page"), ("--size", "64MiB"), ("--ranks", "4"), ("--op", "all_reduce"))
    FORMAT, DB, ON, WAITING, CALIBRATE, STEPS, MODEL = ("--format", "text"), ("--db", "x.db"), ("--on", "hello"), ("--with-waiting",), ("--calibrate",), ("--steps", "2"), ("--model", "gpt2")

    def said(self, *args):
        return self.refused("import", *args, names="").removeprefix("fabricast import: ").rstrip("\n")

    def test_of_measurements_and_machines(self):
        for option in self.OF_MACHINES:
            self.assertEqual(self.said(self.MEASURED, *option), f"{option[0]}: {self.MEASURED} holds measurements, not a machine")
        for option in (*self.OF_MEASUREMENTS, self.FORMAT):
            self.assertEqual(self.said(self.MACHINE, *option), f"{option[0]} is for measurements, but {self.MACHINE} holds none")
            measured = self.MEASURED.replace("series.csv", "nvbandwidth.json") if option[0] == "--size" else self.MEASURED  # which has none
            self.assertEqual(self.fabricast("import", measured, *option).returncode, 0, option)
        for ranks in ("2", "2147483647"):
            self.assertEqual(self.fabricast("import", self.MEASURED, "--ranks", ranks).returncode, 0)
        for ranks in ("1", "0", "-1", "2147483648"):
            self.assertEqual(self.said(self.MEASURED, f"--ranks={ranks}"), "--ranks must be at least 2")
        for nodes in ("0", "-1"):
            self.assertEqual(self.said(self.MACHINE, f"--nodes={nodes}"), "--nodes must be at least 1")
        self.assertIn("nodes: 1\n", self.good("import", self.MACHINE, "--nodes", "1"))
        self.assertTrue(self.said(self.MEASURED, "--size", "much").startswith("--size: "))
        self.assertEqual(self.said(self.MACHINE, self.MACHINE, "--from", "nvidia-smi"), "--from does not go with a network and files of its hosts")
        for path in (self.MEASURED, self.MACHINE):
            self.assertEqual(self.said(path, *self.MODEL), "--model is for `fabricast import job`")
            for option in (self.DB, self.ON, self.WAITING, self.CALIBRATE, self.STEPS):
                self.assertEqual(self.said(path, *option), f"{option[0]} is for `fabricast import trace`")

    def test_of_traces(self):
        steps = "--steps is for --calibrate, and from 1 to 1000000"
        accelerator = self.OF_MACHINES[0]
        for option in (("--from", "kineto"), ("-o", "x.yaml"), accelerator, *self.OF_MACHINES[1:2], self.OF_MACHINES[3], *self.OF_MEASUREMENTS):
            name = {"-o": "--out"}.get(option[0], option[0])
            self.assertEqual(self.said("trace", "none", *option), f"{name} does not go with `import trace`")
        self.assertEqual(self.said("trace", "none", *self.CALIBRATE, *self.DB), "--calibrate with --db does not go with `import trace`")
        self.assertEqual(self.said("trace", "none", *self.STEPS), steps)
        for n in ("0", "-1", "1000001"):
            self.assertEqual(self.said("trace", "none", *self.CALIBRATE, *accelerator, f"--steps={n}"), steps)
        for taken in ((*self.CALIBRATE, *accelerator, "--steps", "1"), (*self.CALIBRATE, *accelerator, "--steps", "1000000", "-o", "x.yaml"), self.ON, self.WAITING, (*self.ON, *self.FORMAT),
                      ("--name", "mine"), self.DB):
            self.assertIn("none", self.said("trace", "none", *taken), taken)  # which is not there
        self.assertEqual(self.said("trace", "none", *self.CALIBRATE, *self.FORMAT), "--format does not go with --calibrate, which prints text")
        self.assertEqual(self.said("trace", "none", *self.FORMAT), "--format of a trace needs --on SCENARIO")
        self.assertEqual(self.said("trace"), "name the files or the folder of the trace")

    def test_of_jobs(self):
        for option in (*self.OF_MACHINES[:2], self.OF_MACHINES[3], self.STEPS, *self.OF_MEASUREMENTS, self.FORMAT, self.DB, self.WAITING, self.CALIBRATE):
            self.assertEqual(self.said("job", self.JOB, *option), f"{option[0]} does not go with `import job`")
        self.assertEqual(self.said("job", self.JOB, "--name", "mine"), "--name without --on does not go with `import job`")
        self.assertEqual(self.said("job"), "name the files of the job's configuration")
        copies = [self.write(f"{i}.json", "{}") for i in range(17)]
        self.assertEqual(self.said("job", *copies), "more than 16 files cannot describe one job")
        self.assertNotIn("more than", self.said("job", *copies[:16]))
        said = self.said("job", self.JOB, "--model", "gpt2-xll")
        self.assertEqual(said, "--model gpt2-xll: no such entry; nearest is gpt2-xl; it is a name of `fabricast describe models`, or a config.json")
        made = yaml.safe_load(self.good("import", "job", self.JOB, "--model", "gpt2-xl", "--on", "hello", "--name", "mine"))
        self.assertEqual((made["name"], made["job"]["model"], made["cluster"]["node"]), ("mine", "gpt2-xl", "dgx-a100"))
        self.assertEqual(yaml.safe_load(self.good("import", "job", self.JOB, "--model", "gpt2-xl", "--on", "hello"))["name"], "imported")

    def test_formats_stand_in_columns(self):
        """Names of formats, and behind them in one column what prints each."""
        page = self.good("import", "--help")
        lists = [part for part in re.findall(r"(?:^  \S+ +\S.*\n(?: {6,}\S.*\n)*)+", page.partition("\nOptions:")[0], re.M) if "nvidia-smi" in part or "perftest" in part or "megatron" in part]
        self.assertEqual(len(lists), 3)
        for part in lists:
            rows = re.findall(r"(?m)^  (\S+)( +)\S", part)
            self.assertEqual({len(name) + len(blanks) for name, blanks in rows}, {max(len(name) for name, _ in rows) + 2}, part)


class Series(answer.AnswerTest):
    """What benchmarks printed: its page has each file and each point, as the JSON has it."""

    FILES = [os.path.join(support.SOURCE, "tests", "fixtures", "benchmarks", name) for name in ("osu-suite-5.8.txt", "nvbandwidth.json", "series.csv")]

    def good(self, *args, **how):
        done = self.fabricast(*args, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.left_out = [line for line in done.stderr.splitlines() if ": left out: " in line]
        return done.stdout

    def test_pages(self):
        for files in ([one] for one in self.FILES), [self.FILES]:
            for paths in files:
                told = self.json("import", *paths)
                noted = self.left_out
                self.assertEqual([note for note in told["notes"]], noted)
                self.assertTrue(all(note.startswith(tuple(f"{path}: left out: " for path in paths)) for note in noted))
                self.assertEqual((told["file"], told["machine"]), (paths[0], {}))
                page = self.good("import", *paths)
                heads = re.findall(r"(?m)^(/\S+): (\S+), (\d+) series$", page)
                self.assertEqual([head[0] for head in heads], paths)
                self.assertEqual(sum(int(head[2]) for head in heads), len(told["series"]))
                self.assertEqual(page.startswith(heads[0][0]), True)
                self.assertTrue(all(f"\n\n{path}: " in page for path in paths[1:]))
                rows = re.findall(r"(?m)^ +\S+ \S+ +(\S+) +(\S+ \S+) .* (\S+ [kMGT]?B/s)$", page)
                points = [point for one in told["series"] for point in one["points"]]
                for (n, time, rate), point in zip(rows, points, strict=True):
                    self.assertEqual(n, "-")
                    self.assertTrue(answer.quantity(time).is_near(point["time_ps"] * 1e-12), time)
                    self.assertTrue(point["size_bytes"] < 1e3 or answer.quantity(rate).is_near(point["size_bytes"] / point["time_ps"] * 1e12), rate)
                self.good("import", *paths, "-o", f"{len(paths)}-{os.path.basename(paths[0])}.meas")
                kept = self.json("measure", "show", f"{len(paths)}-{os.path.basename(paths[0])}.meas")
                self.assertEqual((kept["series"], kept["notes"]), (told["series"], noted))


if __name__ == "__main__":
    support.main()
