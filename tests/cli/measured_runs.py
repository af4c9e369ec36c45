#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast import trace`: a measured run has the figures of Holistic Trace Analysis and of the run that it came from.

With FABRICAST_TRACES=FOLDER every file below that folder is read, or refused with one sentence; skipped without it.
"""
import csv
import gzip
import io
import json
import os
import sqlite3
import unittest

import kineto
from support import HELLO, SOURCE, CliTest, main

TRACES = os.environ.get("FABRICAST_TRACES")
MS = 10 ** 9  # in ps


def event(name, start, length, stream=7, category="kernel", **args):
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": length, "pid": 0, "tid": stream,
            "args": {"stream": stream, "correlation": -1, **args}}


REDUCE = {"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float",
          "Group size": 2, "Process Group Ranks": "[0, 1]"}


def all_reduce(start, length):
    return event("ncclDevKernel_AllReduce_Sum_f32_RING_LL", start, length, 20, **REDUCE)


class Measured(CliTest):
    def put(self, name, events, rank=0, world=2):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump({"distributedInfo": {"rank": rank, "world_size": world}, "traceEvents": events}, file)

    def times(self, *options):
        self.good("import", "trace", *options, "--db", "m.db")
        return self.json("query", "--db", "m.db", "--sql", "SELECT * FROM iteration_class WHERE run_id = :run")

    def test_one_rank_by_hand(self):
        """Computes 0-40 and 80-100 us, communicates 30-60, copies 60-70."""
        self.put("a.json", [event("gemm", 0, 40), all_reduce(30, 30), event("Memcpy DtoH", 60, 10, category="gpu_memcpy"),
                              event("gemm", 80, 20)])
        row = self.times("a.json")[0]
        us = {key: row[key] / 10 ** 6 for key in ("step_ps", "compute_ps", "comm_ps", "overlapped_ps", "exposed_ps", "idle_ps")}
        self.assertEqual(us, {"step_ps": 100, "compute_ps": 60, "comm_ps": 30, "overlapped_ps": 10, "exposed_ps": 20,
                              "idle_ps": 20})

    @staticmethod
    def lagging(n_steps, us, before=0):
        """Steps of two kernels of `us` each, which the host gives in 20 us each; `before` kernels were given earlier. The launches
        of kernels on stream 20 are not recorded."""
        events, now_us, number = [], 0, 100
        for _ in range(before):
            events.append(event("gemm", now_us, us, correlation=number))
            now_us, number = now_us + us, number + 1
        for step in range(n_steps):
            for stream in (7, 20):
                if stream == 7:
                    events.append(event("cudaLaunchKernel", 20 * step + 5, 1, 1, "cuda_runtime", correlation=number))
                events.append(event("gemm", now_us, us, stream, correlation=number))
                now_us, number = now_us + us, number + 1
        return events

    def steps_us(self, name):
        return [row["step_ps"] / 10 ** 6 for row in self.times(name)]

    def test_gpu_runs_behind_the_host(self):
        """A step is what its launches caused: the GPU runs steps behind the host, and three kernels are left from before."""
        marks = [event(f"ProfilerStep#{5 + step}", 20 * step, 19, 1, "user_annotation") for step in range(4)]
        self.put("lag.json", marks + self.lagging(4, 10000, before=3))
        text = self.good("import", "trace", "lag.json")
        self.assertIn("lag.json: 3 operations ran before the first one of their stream whose launch was recorded", text)
        self.assertIn("Left out: 3 operations that no step launched", text)
        self.assertEqual(self.steps_us("lag.json"), [20000] * 4)

    def test_what_was_left_from_before_without_marks(self):
        self.put("lag.json", self.lagging(2, 10000, before=3))
        self.assertEqual(self.steps_us("lag.json"), [40000])
        self.put("all.json", self.lagging(2, 10000))
        self.assertEqual(self.steps_us("all.json"), [40000])

    def test_the_optimizer_ends_steps(self):
        """Two optimizers end each step; the recording began within a step, and what follows the last mark is no step."""
        marks = [event("Optimizer.step#AdamW.step", 20 * step + first, 1, 1, "user_annotation")
                 for step in range(3) for first in (14, 16)]
        self.put("opt.json", marks + self.lagging(4, 100))
        text = self.good("import", "trace", "opt.json")
        self.assertIn("opt.json: the profiler marked no steps, so that the optimizer's 3 steps end them", text)
        self.assertEqual(self.steps_us("opt.json"), [200] * 3)
        late = [event("gemm", 0, 100, correlation=1), event("cudaLaunchKernel", 0, 1, 1, "cuda_runtime", correlation=1)]
        begun = [event("Optimizer.step#AdamW.step", 2, 1, 1, "user_annotation")]
        for k in range(20):
            late += [event("gemm", 200 + 100 * k, 100, correlation=10 + k),
                     event("cudaLaunchKernel", 10 + k, 1, 1, "cuda_runtime", correlation=10 + k)]
        begun += [event("Optimizer.step#AdamW.step", at, 1, 1, "user_annotation") for at in (19, 29)]
        self.put("part.json", late + begun)
        self.assertIn("the first one began before the recording and is left out", self.good("import", "trace", "part.json"))
        self.assertEqual(self.steps_us("part.json"), [1000, 1000])

    def test_two_ranks_by_hand(self):
        """Rank 1 comes 15 us later, and its clock is 1000 us ahead."""
        os.mkdir(self.path("two"))
        self.put("two/0.json", [event("gemm", 0, 30), all_reduce(30, 30)])
        self.put("two/1.json", [event("gemm", 1000, 45), all_reduce(1045, 15)], 1)
        first, second = self.times("two")
        self.assertEqual((first["waiting_ps"], first["comm_ps"], first["idle_ps"]), (15 * 10 ** 6, 15 * 10 ** 6, 15 * 10 ** 6))
        self.assertEqual((second["start_ps"], second["waiting_ps"], second["comm_ps"]), (0, 0, 15 * 10 ** 6))
        row = self.json("query", "--db", "m.db", "--sql", "SELECT * FROM collective WHERE run_id = :run")
        self.assertEqual([(one["op"], one["bytes"], one["n_ranks"], one["ready_ps"], one["start_ps"], one["end_ps"]) for one in row],
                         [("all_reduce", 4000, 2, 30 * 10 ** 6, 45 * 10 ** 6, 60 * 10 ** 6)])
        waits = self.times("two", "--with-waiting")[0]
        self.assertEqual((waits["waiting_ps"], waits["comm_ps"]), (0, 30 * 10 ** 6))

    def test_a_simulated_run_comes_back(self):
        """Exported as Kineto and imported: the same times, and those of HTA."""
        self.good("run", HELLO, "--db", "r.db")
        self.good("trace", "--db", "r.db", "--iteration", "1", "--format", "kineto", "-o", "t")
        self.good("import", "trace", "t", "--db", "r.db")
        query = "SELECT * FROM v_overlap WHERE run_id = :run"
        before = self.json("query", "--db", "r.db", "--run", "1", "--sql", query + " AND iteration = 1")[0]
        after = self.json("query", "--db", "r.db", "--run", "2", "--sql", query)[0]
        hta = kineto.breakdown(kineto.kernels(kineto.load(self.path("t", "rank-0.json"))))
        for key in ("comp_comm_overlap_pctg", "idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg"):
            self.assertAlmostEqual(after[key], before[key], delta=1e-3, msg=key)
            self.assertAlmostEqual(after[key], hta[key], delta=1e-3, msg=key)
        for command in (["query", "exposed"], ["query", "collectives"], ["report", "-o", "r.html"]):
            self.good(*command, "--db", "r.db", "--run", "2")

    def test_predictions_stand_beside_measured_times(self):
        """What was measured is a simulated run, so that each collective takes what is predicted for it alone."""
        place = os.path.join(SOURCE, "scenarios", "traces", "six-blocks")
        text = self.good("import", "trace", place, "--on", "replay-six-blocks", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(row["op"], row["ranks"], row["place"], row["bytes"], row["times"]) for row in rows],
                         [("all_reduce", "4", "all", "100000000", "12")])
        self.assertAlmostEqual(float(rows[0]["predicted_us"]) / float(rows[0]["median_us"]), 1, delta=1e-4)
        self.assertLess(float(rows[0]["low_us"]), float(rows[0]["predicted_us"]))
        self.assertIn("1 size, median of predicted / measured 1.00, 1 in the band",
                      self.good("import", "trace", place, "--on", "replay-six-blocks"))
        self.write("small.yaml", "name: small\ncluster: {node: dgx-a100, gpus_per_node: 2}\n"
                                 "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n")
        for options, said in ((("--on", "small.yaml"), "a group that fits into the machine"), (("--format", "csv"), "needs --on"),
                              (("--on", "hello", "--format", "json"), "text or csv")):
            done = self.fabricast("import", "trace", place, *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_groups_are_parts_of_the_machine(self):
        """Ranks 0 and 1 share a node, ranks 0 and 8 do not; PyTorch's operators say how many ranks gather."""
        one = dict(REDUCE, **{"In msg nelems": 25000000, "Out msg nelems": 25000000})
        gather = event("ncclKernel_AllGather_RING_LL", 3000, 500, 20, correlation=3)
        host = [event("c10d::_allgather_base_", 2900, 90, 1, "cpu_op", **{"Input Dims": [[4000, 10], [1000, 10], []],
                                                                          "Input type": ["float", "float", ""]}),
                event("nccl:_all_gather_base", 2910, 60, 1, "user_annotation", **{"Input Dims": [[1000, 10]], "Input type": ["float"]}),
                event("cudaLaunchKernel", 2920, 10, 1, "cuda_runtime", correlation=3)]
        self.put("g.json", [event("nccl_AllReduce", 0, 900, 20, **dict(one, **{"Process Group Ranks": "[0, 1]"})),
                            event("nccl_AllReduce", 1000, 900, 20, **dict(one, **{"Process Group Ranks": "[0, 8]"})), gather, *host],
                 0, 16)
        self.write("m.yaml", "name: m\ncluster: {node: dgx-a100, nodes: 2}\n"
                             "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n")
        text = self.good("import", "trace", "g.json", "--on", "m.yaml", "--format", "csv")
        rows = {(row["op"], row["place"]): row for row in csv.DictReader(io.StringIO(text))}
        self.assertEqual({key: (row["ranks"], row["bytes"]) for key, row in rows.items()},
                         {("all_reduce", "packed"): ("2", "100000000"), ("all_reduce", "across"): ("2", "100000000"),
                          ("all_gather", "packed"): ("4", "160000")})
        for place, options in (("packed", ["--gpus-per-node", "2"]), ("across", ["--nodes", "2", "--gpus-per-node", "1",
                                                                                  "--set", "cluster.nics_per_node=1"])):
            alone = self.json("collective", "--op", "all_reduce", "--node", "dgx-a100", "-b", "100000000", *options)
            self.assertAlmostEqual(float(rows["all_reduce", place]["predicted_us"]), alone["results"][0]["time_us"], delta=0.01)

    def test_execution_traces_give_sizes(self):
        """A profile without sizes beside the execution traces of the same ranks, in both of their schemas."""
        def node(number, name, values, types, attributes=None, outputs=()):
            if attributes is None:
                return {"id": number, "name": name, "parent": 1, "inputs": values, "input_types": types, "outputs": list(outputs)}
            return {"id": number, "name": name, "ctrl_deps": 1, "inputs": {"values": values, "shapes": [], "types": types},
                    "outputs": {"values": list(outputs), "shapes": [], "types": []},
                    "attrs": [{"name": key, "type": "x", "value": value} for key, value in attributes.items()]}

        def tensor(n):
            return [7, 8, 0, n, 4, "cuda:0"]

        kernels = [event("ncclKernel_AllReduce_RING_LL", 10, 20, 20), event("ncclKernel_SendRecv", 50, 20, 20)]
        step = event("ProfilerStep#1", 0, 100, 1, "user_annotation")
        os.mkdir(self.path("two"))
        os.mkdir(self.path("two/in"))
        for rank in (0, 1):
            self.put(f"two/in/profile{rank}.json", [step, *kernels], rank)
            old = [node(5, "record_param_comms", [[tensor(250)], 3, 94594108284448, rank, "allreduce", [], []], []),
                   node(6, "record_param_comms", [4, 0, rank, "wait", [], []], []),
                   node(7, "record_param_comms", [tensor(16), 5, 94594108284448, rank, "all_to_allv", [8, 8], [4, 4]], [], None,
                        [tensor(24)])]
            new = [node(5, "record_param_comms", [[tensor(9)], 3, ["0", "default_pg"], rank, "allreduce", [], [], 0, 1, 2], [],
                        {"collective_name": "allreduce", "dtype": "Float", "in_msg_nelems": 250, "out_msg_nelems": 250, "pg_size": 2}),
                   node(6, "record_param_comms", [3, ["", ""], 1, "wait", [], []], [], {"collective_name": "wait", "dtype": "Byte"}),
                   node(7, "record_param_comms", [tensor(16), 5, ["0", "default_pg"], rank, "all_to_allv", [], []], [],
                        {"collective_name": "all_to_allv", "dtype": "Float", "in_msg_nelems": 16, "out_msg_nelems": 24, "pg_size": 2})]
            for name, nodes in (("old", old), ("new", new)):
                with open(self.path(f"{name}{rank}.json"), "w", encoding="utf-8") as file:
                    json.dump({"schema": "1", "nodes": nodes}, file)
        for name in ("old", "new"):
            graphs = [f"{name}{rank}.json" for rank in (0, 1)]
            self.assertIn("rank 1: 3 nodes, 2 of them communicate (0.001 MB)", self.good("import", "trace", *graphs))
            text = self.good("import", "trace", "two", *graphs, "--db", "m.db")
            self.assertIn("Execution traces gave sizes to 4 collectives of 2 ranks.", text)
            row = self.json("query", "--db", "m.db", "--sql", "SELECT * FROM collective WHERE run_id = :run ORDER BY start_ps")
            self.assertEqual([(one["op"], one["bytes"]) for one in row], [("all_reduce", 1000), ("all_to_all", 96)])
        os.rename(self.path("new0.json"), self.path("graph.json"))
        text = self.good("import", "trace", "two", "graph.json", "old1.json")
        self.assertIn("gave sizes to 4 collectives of 2 ranks", text)
        with open(self.path("a.log"), "w", encoding="utf-8") as file:
            file.write("h:1:2 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n")
        self.put("lone.json", [step, *kernels])
        done = self.fabricast("import", "trace", "a.log", "lone.json", "graph.json")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("a.log: byte 49: the log holds no collectives", done.stderr)
        self.put("other.json", [step, *kernels[:1]])
        self.assertIn("1 execution traces gave none", self.good("import", "trace", "other.json", "graph.json"))

    def test_a_folder_without_traces(self):
        os.mkdir(self.path("empty"))
        done = self.fabricast("import", "trace", "empty")
        self.assertEqual(done.returncode, 2)
        self.assertIn("empty: has no file", done.stderr)

    def test_kernels_of_another_accelerator(self):
        """A kernel of 1 ms on A100: between the ratios of matrix rates (312 / 989) and of memory rates (2039 / 3350)."""
        self.put("one.json", [event("gemm", 0, 1000)], 0, 1)
        self.write("j.yaml", "name: j\niterations: 1\ncontention: false\ncluster: {node: dgx-h100, gpus_per_node: 1}\n"
                             "job: {kind: trace, file: one.json, recorded_on: a100-sxm4-80gb}\n")
        run = self.json("run", "j.yaml", "--no-db")
        matrix, memory = 312 / 989, 2039 / 3350
        self.assertAlmostEqual(run["iterations"][0]["step_s"], 1e-3 * (matrix * memory) ** 0.5, delta=1e-9)
        band = run["band"]["compute"]
        self.assertAlmostEqual(band["low_factor"], (matrix / memory) ** 0.5, delta=1e-6)
        self.assertAlmostEqual(band["high_factor"], (memory / matrix) ** 0.5, delta=1e-6)
        self.assertIn("315.5 us to 608.7 us", self.good("run", "j.yaml", "--no-db"))
        self.assertEqual(self.json("run", "j.yaml", "--no-db", "--set", "job.recorded_on=''", "--set", "job.compute_scale=0.5")
                         ["iterations"][0]["step_s"], 5e-4)

    def test_what_nccl_chose(self):
        """Rings, and the choices of a log with NCCL_DEBUG_SUBSYS=INIT,COLL,TUNING, before and from NCCL 2.24."""
        head = "h:1:2 [0] NCCL INFO "
        with open(self.path("n.log"), "w", encoding="utf-8") as file:
            for line in ("Channel 00/03 :    0   1   2   3   4   5   6   7", "Channel 01/03 :    0   1   2   3   4   5   6   7",
                         "Channel 02/03 :    0   3   2   1   4   5   6   7",
                         "comm 0x1 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 1000 commId 0x2 - Init COMPLETE",
                         "AllReduce: 1073741824 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}",
                         "AllReduce: 1073741824 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}",
                         "AllGather: 1000 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}",
                         "4000000 Bytes -> Algo 0 proto 1 time 123.4"):
                file.write(head + line + "\n")
        text = self.good("import", "trace", "n.log")
        self.assertIn("The ring of channels 0 to 1 goes through the ranks 0 1 2 3 4 5 6 7.", text)
        self.assertIn("The ring of channel 2 goes through the ranks 0 3 2 1 4 5 6 7.", text)
        self.assertRegex(text, r"all_reduce +1073741824 +2  ring simple")
        self.assertRegex(text, r"all_gather +8000 +1  ring ll")
        self.assertRegex(text, r"\? +4000000 +1  tree ll128")
        self.write("m.yaml", "name: m\ncluster: {node: dgx-a100}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n")
        text = self.good("import", "trace", "n.log", "--on", "m.yaml")
        self.assertRegex(text, r"all_reduce +1073741824 +2  ring simple +ring simple")
        self.assertIn("2 of 2 choices are the expected ones.", text)
        self.assertIn("as text only", self.fabricast("import", "trace", "n.log", "--on", "m.yaml", "--format", "csv").stderr)
        self.write("g.goal", "num_ranks 1\nrank 0 {\na: calc 100\n}\n")
        self.assertIn("--on has nothing to compare", self.fabricast("import", "trace", "g.goal", "--on", "m.yaml").stderr)

    def inspector(self, rank, rows, ranks=8):
        with open(self.path("inspector", f"h-{rank}.log"), "w", encoding="utf-8") as file:
            for number, (op, size, length) in enumerate(rows):
                kind = {"coll": op, "coll_sn": 1407 + number, "coll_msg_size_bytes": size, "coll_exec_time_us": length}
                if op == "Send":
                    kind = {"p2p": op, "p2p_sn": 3, "p2p_peer": 1, "p2p_msg_size_bytes": size, "p2p_exec_time_us": length}
                file.write(json.dumps({"header": {"id": "0x7f", "rank": rank, "n_ranks": ranks, "nnodes": 1},
                                       "metadata": {"inspector_output_format_version": "v4.0", "hostname": "h", "pid": 50 + rank},
                                       "p2p_perf" if op == "Send" else "coll_perf": kind}) + "\n")

    def test_the_inspector_of_nccl(self):
        """The rows of NVIDIA's own example (plugins/profiler/inspector/README.md); every rank but the last waits some us."""
        os.mkdir(self.path("inspector"))
        for rank in range(8):
            self.inspector(rank, [("AllReduce", 17179869184, 61974 + 7 - rank), ("ReduceScatter", 2147483648, 41057 + 7 - rank),
                                  ("Send", 4096, 10)])
        text = self.good("import", "trace", "inspector")
        self.assertRegex(text, r"all_reduce +8 +17179869184 +1 +61974\.0 +61974\.0 +485\.12\n")
        self.assertRegex(text, r"reduce_scatter +8 +17179869184 +1 +41057\.0 +41057\.0 +366\.13\n")
        self.assertIn("1 messages between two ranks were left out", text)
        self.write("m.yaml", "name: m\ncluster: {node: dgx-h100}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n")
        self.assertIn("2 in the band", self.good("import", "trace", "inspector", "--on", "m.yaml"))
        done = self.fabricast("import", "trace", "inspector", "--db", "x.db")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--db has nothing to store", done.stderr)
        self.write("j.yaml", "name: j\ncluster: {node: dgx-h100}\njob: {kind: trace, file: inspector}\n")
        self.assertIn("it cannot be played", self.fabricast("run", "j.yaml", "--no-db").stderr)

    def test_the_example_profiler_of_nccl(self):
        os.mkdir(self.path("p"))
        for rank in (0, 1):
            rows = []
            for phase, at in (("b", 20 + rank), ("e", 820)):
                rows.append({"name": "KernelCh", "cat": "GPU", "ph": phase, "id": 0, "pid": 7 + rank, "tid": 1, "ts": at,
                             "args": {"Channel": 0}})
            begin = {"name": "AllGather", "cat": "COLL", "ph": "b", "id": 0, "pid": 7 + rank, "tid": 1, "ts": 5.0,
                     "args": {"SeqNum": 0, "CommHash": 99, "Rank": rank, "Count": 1000, "Datatype": "ncclFloat32"}}
            end = {"name": "AllGather", "cat": "COLL", "ph": "e", "id": 0, "pid": 7 + rank, "tid": 1, "ts": 830.0}
            with open(self.path(f"p/out_99_{rank}.json"), "w", encoding="utf-8") as file:
                json.dump([begin, *rows, end, {}], file)
        self.good("import", "trace", "p", "--db", "m.db")
        row = self.json("query", "--db", "m.db", "--sql", "SELECT * FROM collective WHERE run_id = :run")
        self.assertEqual([(one["op"], one["bytes"], one["n_ranks"], one["end_ps"] - one["start_ps"]) for one in row],
                         [("all_gather", 8000, 2, 799 * 10 ** 6)])

    def test_nsight_systems(self):
        """Computes 0-40 us, communicates 30-60 and 40-60, copies 60-70; the range is called step 4."""
        base = sqlite3.connect(self.path("r.sqlite"))
        base.executescript("""CREATE TABLE StringIds(id INT, value TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT, correlationId INT, globalPid INT,
                                                    shortName INT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId INT, correlationId INT, globalPid INT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT);
            CREATE TABLE NVTX_EVENTS(start INT, end INT, text TEXT, textId INT, globalTid INT);
            INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (3, 'step 4');""")
        for device in (0, 1):
            process = (100 + device) << 24
            base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 40000, ?, 7, 1, ?, 1)", (device, process))
            base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, 60000, ?, 20, 2, ?, 2)",
                         (30000 + device * 10000, device, process))
            base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (60000, 70000, ?, 7, 3, ?)", (device, process))
            base.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, 1, ?, ?)",
                             [(0, process | 5, 1), (10, process | 5, 2), (12, process | 5, 3)])
            base.execute("INSERT INTO NVTX_EVENTS VALUES (0, 100000, NULL, 3, ?)", (process | 5,))
        base.commit()
        base.close()
        for row in self.times("r.sqlite"):
            us = [row[key] / 10 ** 6 for key in ("step_ps", "compute_ps", "comm_ps", "overlapped_ps", "idle_ps")]
            self.assertEqual(us, [70, 40, 20, 0, 10])
        with open(self.path("r.sqlite"), "rb") as file:
            whole = file.read()
        for number in range(40):
            broken = bytearray(whole[:len(whole) - 512 * (number % 5)])
            for at in range(100 + 37 * number, len(broken), 997):
                broken[at] ^= 1 << number % 8
            with open(self.path("b.sqlite"), "wb") as file:
                file.write(broken)
            done = self.fabricast("import", "trace", "b.sqlite")
            self.assertIn(done.returncode, (0, 2))
            self.assertEqual(done.stderr.count("\n"), 1 if done.returncode else 0, done.stderr)
        self.assertIn("unpack it", self.sentence(gzip.compress(whole), "r.gz"))
        sqlite3.connect(self.path("e.sqlite")).execute("CREATE TABLE t(x)").connection.commit()
        done = self.fabricast("import", "trace", "e.sqlite")
        self.assertIn("without kernels of a GPU", done.stderr)

    def sentence(self, data, name="x.json"):
        with open(self.path(name), "wb") as file:
            file.write(data)
        done = self.fabricast("import", "trace", name)
        self.assertEqual(done.returncode, 2, done.stderr)
        text = done.stderr
        self.assertEqual(text.count("\n"), 1, text)
        return text

    def test_hostile(self):
        self.put("a.json", [event("gemm", 0, 40)])
        with open(self.path("a.json"), "rb") as file:
            whole = file.read()
        self.assertIn("it is cut", self.sentence(whole[:100]))
        self.assertIn("the file is cut", self.sentence(gzip.compress(whole)[:-20]))
        self.assertIn("expands more than 200 times", self.sentence(gzip.compress(b"{" + b" " * (80 << 20))))
        self.assertIn("nested deeper", self.sentence(b'{"a":' * 1000))
        self.assertIn("is empty", self.sentence(b""))
        self.assertIn("is XML and no trace", self.sentence(b'<!-- a licence -->\n<algo name="x">\n</algo>\n', "a.xml"))
        self.assertIn("none is a kernel of a GPU", self.sentence(b'{"traceEvents": []}'))
        self.assertIn("byte", self.sentence(b"\x03\x0a\x01x\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "x.et"))

    def test_texts(self):
        for name, text, found in (
                ("w.txt", "HYBRID_TRANSFORMER all_gpus: 8\n1\nlayer -1 5000 ALLREDUCE 1000000 1 NONE 0 1 NONE 0 1\n",
                 "4 nodes, 1 of them communicate (1.000 MB)"),
                ("g.goal", "num_ranks 2\nrank 0 {\na: calc 100\nb: send 8b to 1 tag 0\nb requires a\n}\n"
                 "rank 1 {\nrecv 8b from 0 tag 0\n}\n", "2 nodes, 1 of them communicate (0.000 MB), 1 dependencies"),
                ("n.log", "h:1:2 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0 recvbuff 0 count 1000000 datatype 7 op 0 "
                 "root 0 comm 0x1 [nranks=8] stream 0\n", "1 of them communicate (4.000 MB)"),
                ("a.csv", "comm_type,comm_group,comm_group_size,msg_size,_elapsed_time\n"
                 "CommType.all_reduce,CommGroup.dp_group,4,2000000,1.5\n", "1 of them communicate (2.000 MB)")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
            self.assertIn(found, self.good("import", "trace", name))

    @unittest.skipUnless(TRACES, "FABRICAST_TRACES names no folder")
    def test_one_ring_from_two_formats(self):
        """ASTRA-sim's custom ring is there as XML of MSCCL and as files of Chakra; both take the same time, to the ps."""
        entries = ["{file: " + os.path.join(TRACES, "msccl", "astra_ring_allreduce_8npus_1MB.xml") + "}",
                   "{file: " + os.path.join(TRACES, "chakra", "astra_custom_ring_allreduce_8npus_1MB.0.et")
                   + ", op: all_reduce, size: 1MiB, protocol: ll128}"]
        for library in ("plain", "mpi", "nccl"):
            for fidelity in ("fluid", "step", "packet"):
                times = []
                for entry in entries:
                    self.write("ring.yaml", "name: ring\niterations: 1\ncluster: {node: dgx-a100}\n"
                               f"collectives: {library}\nfidelity: {fidelity}\nschedules: [{entry}]\n"
                               "job: {kind: collective, operations: [{op: all_reduce, size: 1MiB}]}\n")
                    times.append(self.json("run", "ring.yaml", "--no-db", "--no-band")["iterations"][0]["step_s"])
                self.assertEqual(times[0], times[1], (library, fidelity))

    @unittest.skipUnless(TRACES, "FABRICAST_TRACES names no folder")
    def test_real_files(self):
        for folder, _, names in os.walk(TRACES or "."):
            for name in names:
                done = self.fabricast("import", "trace", os.path.join(folder, name))
                self.assertIn(done.returncode, (0, 2), name)
                if done.returncode:
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    main()
