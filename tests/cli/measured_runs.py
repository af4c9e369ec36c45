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
        us = {key: row[key] / 10 ** 6 for key in ("duration_ps", "compute_ps", "comm_ps", "overlapped_ps", "exposed_ps", "idle_ps")}
        self.assertEqual(us, {"duration_ps": 100, "compute_ps": 60, "comm_ps": 30, "overlapped_ps": 10, "exposed_ps": 20,
                              "idle_ps": 20})

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
        self.assertEqual([(row["op"], row["ranks"], row["bytes"], row["times"]) for row in rows],
                         [("all_reduce", "4", "100000000", "12")])
        self.assertAlmostEqual(float(rows[0]["predicted_us"]) / float(rows[0]["median_us"]), 1, delta=1e-4)
        self.assertLess(float(rows[0]["low_us"]), float(rows[0]["predicted_us"]))
        self.assertIn("1 size, median of predicted / measured 1.00, 1 in their bands",
                      self.good("import", "trace", place, "--on", "replay-six-blocks"))
        for options, said in ((("--on", "hello"), "as many ranks as the machine"), (("--format", "csv"), "needs --on"),
                              (("--on", "hello", "--format", "json"), "text or csv")):
            done = self.fabricast("import", "trace", place, *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

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
                    times.append(self.json("run", "ring.yaml", "--no-db", "--no-band")["iterations"][0]["duration_s"])
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
