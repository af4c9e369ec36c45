#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast measure nccl` over a library and GPUs that are not there: series, machine, sentences, exit codes."""
import os

import support
from support import CliTest, environment


def gpus(count, failure="", **more):
    library = os.environ["FAKE_GPU"]
    return {**environment(), "FABRICAST_CUDA_DRIVER": library, "FABRICAST_NVML": library, "FABRICAST_NCCL": library,
            "FAKE_GPUS": str(count), "FAKE_GPU_FAIL": failure, **more}


class Nccl(CliTest):
    def measure(self, env, *args):
        return self.fabricast("measure", "nccl", "--sizes", "8,64K", "--time", "0.2", "-o", "f.meas", *args, env=env)

    def test_four_gpus(self):
        done = self.measure(gpus(4))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        data = self.json("measure", "show", "f.meas")
        self.assertEqual([series["op"] for series in data["series"]],
                         ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all"])
        for series in data["series"]:
            self.assertEqual((series["kind"], series["n_ranks"]), ("collective", 4))
            time_ps = series["points"][1]["time_ps"]
            self.assertAlmostEqual(time_ps / 1e6, 20.655, delta=0.1)
        self.assertEqual(data["machine"]["nccl"], "2.21.5")

    def test_runs_with_another_algorithm_are_other_series(self):
        for environ in ({}, {"NCCL_ALGO": "Tree"}):
            self.assertEqual(self.measure(gpus(2, **environ), "--set", "ops=all_reduce").returncode, 0)
        data = self.json("measure", "show", "f.meas")
        self.assertEqual([series["algorithm"] for series in data["series"]], [None, "tree"])

    def unsupported(self, env, part):
        done = self.measure(env)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn(part, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_machines_that_cannot(self):
        self.unsupported(gpus(1), "one GPU takes part: collectives need two or more")
        self.unsupported(gpus(2, "init"), "there is no NVIDIA GPU")
        self.unsupported(gpus(2, FABRICAST_NCCL="/nowhere/libnccl.so.2"), "NCCL (/nowhere/libnccl.so.2) was not found")
        self.unsupported(gpus(2, "nccl-join"), "join the GPUs: unhandled system error (NCCL, 2): no plug")

    def test_input_that_is_wrong(self):
        for args, part in ((["--set", "ops=gather"], "'gather' is none of all_reduce"),
                           (["--kinds", "latency"], "kind collective only")):
            self.refused("measure", "nccl", "--sizes", "8", "-o", "f.meas", *args, env=gpus(2), names=part)


if __name__ == "__main__":
    support.main()
