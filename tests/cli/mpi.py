# SPDX-License-Identifier: Apache-2.0
"""`fabricast measure mpi` under mpirun: ranks of this machine."""
import json
import os
import shutil
import subprocess
import sys

import support

QUICK = ["--sizes", "8,64K", "--min-samples", "6", "--max-samples", "6", "--time", "1"]
OPS = ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "send_recv", "gather", "scatter"]


class MpiTest(support.CliTest):
    def mpirun(self, ranks, *args):
        environment = {**support.environment(), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
                       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # MPI keeps what it has
        done = subprocess.run(["mpirun", "-n", str(ranks), support.PROGRAM, "measure", "mpi", *args], cwd=self.directory,
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertIsNone(support.BREAKAGE.search(done.stderr), done.stderr)
        return done

    def measure(self, ranks, *args):
        done = self.mpirun(ranks, *QUICK, "--format", "json", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["series"]  # one document: only rank 0 prints

    def test_kinds(self):
        series = self.measure(3)
        self.assertEqual([one["kind"] for one in series], ["latency", "bandwidth", "exchange", "bidirectional", "collective"])
        for one in series:
            self.assertEqual([point["size_bytes"] for point in one["points"]], [8, 65536])
            self.assertTrue(all(point["time_ps"] > 0 for point in one["points"]))
            self.assertEqual(one["n_ranks"], 3 if one["kind"] == "collective" else 2)
        self.assertRegex(series[0]["from_end"], "^rank0@")
        self.assertRegex(series[0]["to_end"], "^rank1@")
        self.assertEqual(os.listdir(self.directory), ["fabricast.meas"])

    def test_ops(self):
        for op in OPS:
            (one,) = self.measure(2, "--kinds", "collective", "--set", f"op={op}", "--set", "algorithm=mine", "-o", op)
            self.assertEqual((one["op"], one["algorithm"], one["n_ranks"]), (op, "mine", 2))
            self.assertEqual(len(one["points"]), 2)

    def test_other(self):
        (one,) = self.measure(3, "--kinds", "latency", "--set", "other=2")
        self.assertRegex(one["to_end"], "^rank2@")
        done = self.mpirun(2, *QUICK, "--set", "other=2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no rank 2; ranks are 0 to 1", done.stderr)

    def test_alone(self):
        self.refused("measure", "mpi", "-o", "alone.meas", names="mpirun -n 2")
        self.refused("measure", "mpi", "--listen", ":0", names="mpirun starts all ranks")
        self.assertEqual(os.listdir(self.directory), [])


if __name__ == "__main__":
    listed = subprocess.run([sys.argv[1], "measure", "--format", "json"], capture_output=True, text=True, check=True).stdout
    rows = {row["backend"]: row for row in json.loads(listed)}
    if rows["mpi"]["works"] != "yes" or not shutil.which("mpirun"):
        print("skipped:", "the program 'mpirun' is missing (Debian: openmpi-bin)" if rows["mpi"]["works"] == "yes" else rows["mpi"]["what"])
        sys.exit(support.SKIPPED)
    support.main()
