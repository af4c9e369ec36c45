#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs read from `run` and `collective`: the promised keys and types, and sums that hold. heads.py looks at every
scenario."""
import csv
import io

from heads import is_number
from support import HELLO, CliTest, main

RESULT = {"size_bytes": int, "time_us": float, "algbw_GBps": float, "busbw_GBps": float, "wire_GBps": float,
          "algorithm": str, "protocol": str, "channels": int, "binding": str}
TABLE = "collective --node dgx-a100 --nodes 1 --gpus-per-node 8 --op all_reduce -b 32K -e 16G -f 2".split()


class Run(CliTest):
    def test_nothing_binds_on_one_gpu(self):
        result = self.json("run", HELLO, "--no-db", "--set", "cluster.gpus_per_node=1")
        self.assertIsNone(result["binding_link"])
        self.assertEqual([row["comm_s"] for row in result["iterations"]], [0, 0, 0])

    def test_as_many_iterations_as_asked_for(self):
        self.assertEqual(len(self.json("run", HELLO, "--no-db", "--iterations", "7")["iterations"]), 7)

    def test_csv_is_the_json(self):
        result = self.json("run", HELLO, "--no-db")
        rows = list(csv.DictReader(io.StringIO(self.good("run", HELLO, "--no-db", "--format", "csv"))))
        self.assertEqual(len(rows), len(result["iterations"]))
        for row, expected in zip(rows, result["iterations"]):
            for key in filter(lambda name: is_number(expected[name]), expected):
                self.assertAlmostEqual(float(row[key]), expected[key], delta=1e-8 * max(1, expected[key]), msg=key)

    def test_seeds_up_to_the_last_one(self):
        last = 2 ** 63 - 1
        quick = ("run", HELLO, "--no-db", "--iterations", "1", "--seeds", "2", "--seed")
        self.good(*quick, str(last - 1))
        done = self.fabricast(*quick, str(last))
        self.assertEqual((done.returncode, done.stderr), (2, f"fabricast run: there are no 2 seeds from {last} on\n"))

    def test_tokens_per_second(self):
        # 8 GPUs x micro_batch 4 x 1024 tokens.
        for row in self.json("run", HELLO, "--no-db")["iterations"]:
            self.assertAlmostEqual(row["tokens_per_s"] * row["step_s"], 8 * 4 * 1024, delta=1e-3)


class Collective(CliTest):
    def check_row(self, row, ranks):
        for key, type_ in RESULT.items():
            self.assertTrue(is_number(row[key]) if type_ is float else isinstance(row[key], type_), f"{key}: {row[key]!r}")
        self.assertAlmostEqual(row["algbw_GBps"], row["size_bytes"] / row["time_us"] / 1e3, delta=1e-9 * row["algbw_GBps"])
        self.assertAlmostEqual(row["busbw_GBps"], row["algbw_GBps"] * 2 * (ranks - 1) / ranks,
                               delta=1e-9 * row["busbw_GBps"])
        self.assertGreater(row["channels"], 0)

    def test_the_table(self):
        rows = self.json(*TABLE)["results"]
        self.assertEqual([row["size_bytes"] for row in rows], [2**15 * 2**i for i in range(20)])
        for row in rows:
            self.check_row(row, 8)
        times = [row["time_us"] for row in rows]
        self.assertEqual(times, sorted(times))

    def test_four_nodes(self):
        rows = self.json("collective", "--node", "dgx-a100", "--nodes", "4", "-b", "8", "-e", "8G", "-f", "8")["results"]
        for row in rows:
            self.check_row(row, 32)

    def test_no_rate_above_the_line(self):
        # 12 NVLinks of 25 GB/s per GPU.
        for row in self.json(*TABLE)["results"]:
            self.assertLessEqual(row["wire_GBps"], 300)

    def test_bus_factors(self):
        for op, factor in {"all_gather": 7 / 8, "reduce_scatter": 7 / 8, "broadcast": 1, "reduce": 1}.items():
            row, = self.json("collective", "--node", "dgx-h100", "--op", op, "-b", "1G")["results"]
            self.assertAlmostEqual(row["busbw_GBps"], factor * row["algbw_GBps"], delta=1e-9 * row["algbw_GBps"], msg=op)

    def test_csv_is_the_json(self):
        rows = list(csv.DictReader(io.StringIO(self.good(*TABLE, "--format", "csv"))))
        for row, expected in zip(rows, self.json(*TABLE)["results"], strict=True):
            for key, type_ in RESULT.items():
                if type_ is float:
                    self.assertAlmostEqual(float(row[key]), expected[key], delta=1e-6, msg=key)
                else:
                    self.assertEqual(row[key], str(expected[key]), key)


if __name__ == "__main__":
    main()
