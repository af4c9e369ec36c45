#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast trace`: what other programs find in the files, and what it refuses.

The overlap that Holistic Trace Analysis computes from a Kineto file is ours; holistic.py says the same with HTA itself.
"""
import json
import os
from collections import Counter, defaultdict

import kineto
from support import HELLO, SOURCE, CliTest, main

DDP = os.path.join(SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")


class Traces(CliTest):
    def play(self, scenario=HELLO, *options):
        self.good("run", scenario, "--db", "r.db", *options)

    def overlap(self, run, iteration, rank_class):
        for row in self.json("query", "overlap", "--db", "r.db", "--run", str(run)):
            if (row["iteration"], row["rank_class"]) == (iteration, rank_class):
                return row
        self.fail("no such row")

    def chrome(self, *options):
        return json.loads(self.good("trace", "--db", "r.db", "-o", "-", *options))["traceEvents"]


class Kineto(Traces):
    def check(self, run, iteration, rank, rank_class):
        where = f"{run}-{iteration}"
        self.good("trace", "--db", "r.db", "--run", str(run), "--iteration", str(iteration), "--format", "kineto", "-o",
                  where)
        found = kineto.breakdown(kineto.kernels(kineto.load(self.path(where, f"rank-{rank}.json"))))
        ours = self.overlap(run, iteration, rank_class)
        for key, value in found.items():
            self.assertAlmostEqual(value, ours[key], delta=1e-6 * 100, msg=f"{key} of rank {rank}, iteration {iteration}")

    def test_overlap_is_that_of_hta(self):
        for scenario in (HELLO, DDP):
            self.play(scenario)
        for run in (1, 2):
            for iteration in (0, 2):
                self.check(run, iteration, 0, 0)

    def test_overlap_of_classes_with_idle_ends(self):
        self.play(HELLO, "--iterations", "1")
        run = kineto.add_two_classes(self.path("r.db"))
        for iteration in (0, 1):
            self.check(run, iteration, 0, 0)
            self.check(run, iteration, 4, 1)

    def test_several_steps_are_one_sum(self):
        """HTA leaves the last step out, and adds the others up."""
        self.play()
        self.good("trace", "--db", "r.db", "--format", "kineto", "-o", "t")
        found = kineto.breakdown(kineto.kernels(kineto.load(self.path("t", "rank-0.json"))))
        rows = self.json("query", "--db", "r.db", "--sql", "SELECT * FROM v_overlap WHERE run_id = :run AND iteration < 2")
        share = sum(row["compute_time_us"] for row in rows) / sum(row["kernel_time_us"] for row in rows)
        self.assertAlmostEqual(found["compute_time_pctg"], 100 * share, delta=1e-4)

    def test_waiting(self):
        self.play(HELLO, "--iterations", "1")
        run = str(kineto.add_two_classes(self.path("r.db")))
        for options, start in (((), 30), (("--with-waiting",), 25)):
            self.good("trace", "--db", "r.db", "--run", run, "--format", "kineto", "-o", "t", *options)
            trace = kineto.load(self.path("t", "rank-0.json"))
            sends = [event for event in trace["traceEvents"] if event["name"].startswith("ncclDevKernel_SendRecv")]
            self.assertEqual([(event["ts"], event["ts"] + event["dur"]) for event in sends],
                             [(1000.0 * start, 60000.0), (1000.0 * (start + 100), 160000.0)])

    def test_shape(self):
        self.play(HELLO, "--iterations", "2")
        self.good("trace", "--db", "r.db", "--format", "kineto", "-o", "t", "--ranks", "0,5")
        self.assertEqual(sorted(os.listdir(self.path("t"))), ["rank-0.json", "rank-5.json"])
        trace = kineto.load(self.path("t", "rank-5.json"))
        self.assertEqual(trace["distributedInfo"], {"backend": "nccl", "rank": 5, "world_size": 8})
        self.assertEqual((trace["schemaVersion"], trace["deviceProperties"][0]["id"]), (1, 5))
        events = trace["traceEvents"]
        launches = [event["args"]["correlation"] for event in events if event.get("cat") == "cuda_runtime"]
        gpu = [event for event in events if event.get("cat") in ("kernel", "gpu_memset")]
        self.assertEqual(sorted(launches), sorted(event["args"]["correlation"] for event in gpu))
        self.assertEqual(len(launches), len(set(launches)))
        for event in gpu:
            self.assertEqual((event["pid"], event["tid"]), (event["args"]["device"], event["args"]["stream"]))
        flows = Counter((event["ph"], event["id"]) for event in events if event.get("cat") == "ac2g")
        self.assertEqual(flows, Counter((phase, number) for phase in "sf" for number in launches))
        steps = Counter(event["name"] for event in events if event["name"].startswith("ProfilerStep#"))
        self.assertEqual(steps, {"ProfilerStep#0": 2, "ProfilerStep#1": 2})
        comms = [event["args"] for event in events if event["name"] == "record_param_comms"]
        self.assertEqual(len(comms), 2 * 145)
        self.assertEqual({(args["Collective name"], args["Group size"]) for args in comms}, {("allreduce", 8)})
        # 1.558 billion FP32 gradients, each once an iteration
        self.assertEqual(sum(args["In msg nelems"] for args in comms), 2 * 4 * 1557611200)


class Chrome(Traces):
    def test_nests(self):
        """On a thread a slice lies within another or beside it, never across; times are whole ns."""
        self.play(DDP)
        rows = defaultdict(list)
        for event in self.chrome():
            self.assertAlmostEqual(event["ts"] * 1000, round(event["ts"] * 1000), delta=1e-3)
            if event["ph"] == "X":
                start = kineto.ns(event["ts"])
                rows[event["pid"], event["tid"]].append((start, -kineto.ns(event["dur"])))
        self.assertEqual(len(rows), 3)
        for row in rows.values():
            open_ends = []
            for start, minus in sorted(row):
                while open_ends and open_ends[-1] <= start:
                    open_ends.pop()
                self.assertTrue(not open_ends or start - minus <= open_ends[-1])
                open_ends.append(start - minus)

    def test_is_the_run(self):
        self.play()
        spans = self.json("query", "--db", "r.db", "--sql", "SELECT * FROM v_timeline WHERE run_id = :run ORDER BY span")
        events = self.chrome()
        slices = [event for event in events if event["ph"] == "X" and event["cat"] != "iteration"]
        self.assertEqual(len(slices), len(spans))
        for span, event in zip(spans, slices):
            self.assertAlmostEqual(event["ts"], span["start_us"], delta=1e-3)
            self.assertAlmostEqual(event["dur"], span["duration_us"], delta=2e-3)
            self.assertEqual((event["name"], event["args"].get("bytes"), event["args"].get("op")),
                             (span["name"], span["bytes"], span["op"]))
        self.assertEqual(sum(event["ph"] == "i" for event in events), 3)

    def test_arrows_lead_from_compute_to_collective(self):
        self.play(HELLO, "--iterations", "1")
        ends = {kineto.ns(event["ts"]) + kineto.ns(event["dur"]) for event in self.chrome()
                if event.get("cat") == "compute"}
        begins = {kineto.ns(event["ts"]) for event in self.chrome() if event.get("cat") == "comm"}
        arrows = [event for event in self.chrome() if event.get("cat") == "release"]
        self.assertGreater(len(arrows), 100)
        for tail, head in zip(arrows[::2], arrows[1::2]):
            self.assertEqual((tail["ph"], head["ph"], tail["id"]), ("s", "f", head["id"]))
            self.assertIn(kineto.ns(tail["ts"]) + 1, ends)
            self.assertIn(kineto.ns(head["ts"]), begins)

    def counted_bytes(self, events):
        """Each counter's integral."""
        values = defaultdict(list)
        for event in events:
            if event["ph"] == "C":
                values[event["name"]].append((event["ts"], event["args"]["GB/s"]))
        return {name: sum((after[0] - now[0]) * 1e-6 * now[1] * 1e9 for now, after in zip(rows, rows[1:]))
                for name, rows in values.items()}

    def test_counters_hold_what_links_carried(self):
        self.play()
        counted = self.counted_bytes(self.chrome())
        carried = {f"{row['from_vertex']} -> {row['to_vertex']}": row["bytes"]
                   for row in self.json("query", "links", "--db", "r.db")}
        self.assertGreaterEqual(len(counted), 1)
        for name, value in counted.items():
            link = name.removeprefix("load of ").split(" (")[0]
            self.assertAlmostEqual(value / carried[link], 1, delta=1e-4, msg=name)

    def test_counters_are_samples(self):
        """Steps only where the load changes; zero between samples."""
        self.play(HELLO, "--iterations", "1")
        run = kineto.add_two_classes(self.path("r.db"))
        kineto.add_samples(self.path("r.db"), run, [(0, 30, 40, 1e9), (0, 40, 60, 2e9), (1, 130, 160, 3e9)])
        values = [(event["ts"] / 1000, event["args"]["GB/s"]) for event in self.chrome("--run", str(run))
                  if event["ph"] == "C" and event["name"] == "load of a -> b (wire)"]
        self.assertEqual(values, [(30, 1), (40, 2), (60, 0), (130, 3), (160, 0)])

    def test_classes_are_processes(self):
        self.play(HELLO, "--iterations", "1")
        run = kineto.add_two_classes(self.path("r.db"))
        events = self.chrome("--run", str(run))
        names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
        self.assertEqual(names, {"rank 0 (x4)", "rank 4 (x4)", "fabric"})
        waits = [event for event in events if event.get("cat") == "wait"]
        self.assertEqual([(event["ts"], event["dur"]) for event in waits], [(25000, 5000), (125000, 5000)])

    def test_run_writes_the_same(self):
        self.play(HELLO, "--trace", "t.json")
        with open(self.path("t.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.good("trace", "--db", "r.db", "-o", "-"))
        self.refused("run", HELLO, "--no-db", "--trace", "t.json", names="leave --no-db out")

    def test_same_bytes_again(self):
        self.play()
        self.assertEqual(self.good("trace", "--db", "r.db", "-o", "-"), self.good("trace", "--db", "r.db", "-o", "-"))


class Refused(Traces):
    def refuses(self, *options, names):
        self.refused("trace", "--db", "r.db", *options, names=names)

    def test_options(self):
        self.play()
        self.refuses(names="-o FILE")
        self.refuses("--format", "kineto", names="-o FOLDER")
        self.refuses("-o", "t", "--format", "perfetto", names="chrome and kineto")
        self.refuses("-o", "t", "--ranks", "0", names="--ranks is for --format kineto")
        self.refuses("-o", "t", "--with-waiting", names="--with-waiting is for --format kineto")
        self.refuses("-o", "t", "--iteration", "1", "--iterations", "0:1", names="not both")
        for bad in ("1", "2:1", "a:b", "0:1:2", "-1:2"):
            self.refuses("-o", "t", f"--iterations={bad}", names="expected A:B")
        self.refuses("-o", "t", "--iteration=-1", names="counts from 0")
        self.refuses("-o", "t", "--run", "0", names="counts from 1")
        self.assertFalse(os.path.exists(self.path("t")))

    def test_what_is_not_there(self):
        self.refuses("-o", "t", names="r.db")
        self.play()
        self.refuses("-o", "t", "--run", "7", names="no run 7")
        self.refuses("-o", "t", "--iteration", "3", names="they are 0 to 2")
        self.refuses("-o", "t", "--iterations", "1:3", names="no iteration 3")
        self.refuses("-o", "t", "--format", "kineto", "--ranks", "8", names="they are 0 to 7")
        self.refuses("-o", "t", "--format", "kineto", "--ranks", "0,x", names="expected numbers")
        self.assertFalse(os.path.exists(self.path("t")))

    def test_places_that_cannot_be_written(self):
        self.play()
        self.write("file", "kept")
        self.refuses("-o", "no/such/folder/t.json", names="No such file")
        self.refuses("-o", ".", names="directory")
        self.refuses("-o", "file", "--format", "kineto", names="file")
        os.symlink("/dev/full", self.path("full"))
        self.refuses("-o", "full", names="full: No space left")
        self.assertEqual(os.listdir(self.directory).count("file"), 1)
        self.assertFalse([name for name in os.listdir(self.directory) if name.startswith("file.")])

    def test_no_other_ranks_in_the_folder(self):
        self.play()
        self.good("trace", "--db", "r.db", "--format", "kineto", "-o", "t", "--ranks", "0,3")
        self.refuses("--format", "kineto", "-o", "t", names="rank-3.json")
        self.good("trace", "--db", "r.db", "--format", "kineto", "-o", "t", "--ranks", "3,0")


if __name__ == "__main__":
    main()
