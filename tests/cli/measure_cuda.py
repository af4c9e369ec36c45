#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast measure cuda` on GPUs that are not there: series, notes, machine, sentences, exit codes.

What the times are, tests/fake_gpu/machine.h says. FAKE_GPU names the library.
"""
import json
import os

import support
from support import CliTest, environment


def gpus(count, failure="", **more):
    library = os.environ["FAKE_GPU"]
    return {**environment(), "FABRICAST_CUDA_DRIVER": library, "FABRICAST_NVML": library, "FAKE_GPUS": str(count),
            "FAKE_GPU_FAIL": failure, **more}


class Cuda(CliTest):
    def measure(self, env, *args):
        """The file, and what was said beside it."""
        done = self.fabricast("measure", "cuda", "--time", "0.2", "--max-samples", "20", "-o", "f.meas", *args, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.json("measure", "show", "f.meas"), done.stderr

    def rate(self, data, kind, start, end, method, memory="host", pairs=1, size=4096):
        """GB/s of the one series that fits."""
        def fits(series):
            return ((series["kind"], series["from_end"], series["to_end"], series["method"], series["n_pairs"]) == (
                kind, start, end, method, pairs) and memory in (series["from_memory"], series["to_memory"]))
        found = [series for series in data["series"] if fits(series)]
        self.assertEqual(len(found), 1, (kind, start, end, method, memory))
        times = {point["size_bytes"]: point["time_ps"] for point in found[0]["points"]}
        return size * 1000 / times[size]

    def test_one_gpu(self):
        data, said = self.measure(gpus(1), "--sizes", "8,4K")
        self.assertIn("one GPU takes part: links between GPUs, and several GPUs at once, cannot be measured", said)
        self.assertIn("which processors are near gpu0", said)
        self.assertEqual(sorted(data["notes"]), sorted(said.strip().splitlines()))
        self.assertTrue(data["machine"]["gpu0"].startswith("Fake GPU A, 16 SMs, sm_90"))
        self.assertEqual(data["machine"]["gpu0.pcie"], "gen 4 x8, at most gen 4 x16")
        ways = {(s["kind"], s["from_end"], s["to_end"], s["method"]) for s in data["series"]}
        for kind in ("latency", "bandwidth", "exchange", "bidirectional"):
            self.assertIn((kind, "host", "gpu0", "copy"), ways)
            self.assertIn((kind, "gpu0", "host", "copy"), ways)
        self.assertIn(("bandwidth", "gpu0", "gpu0", "copy"), ways)

    def test_four_gpus(self):
        data, said = self.measure(gpus(4), "--sizes", "4K", "--kinds", "bandwidth,bidirectional")
        self.assertNotIn("one GPU", said)
        pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
        for a, b in pairs:
            for kind in ("bandwidth", "bidirectional"):
                rate = self.rate(data, kind, f"gpu{a}", f"gpu{b}", "copy", "gpu")
                self.assertAlmostEqual(rate, 4096 / (800 + 40.96), 2)
                self.assertLess(self.rate(data, kind, f"gpu{a}", f"gpu{b}", "staged", "gpu"), 1)
        alone = self.rate(data, "bandwidth", "host", "gpu3", "copy")
        self.assertAlmostEqual(self.rate(data, "bandwidth", "host", "gpus", "copy", pairs=4), alone / 2, 2)
        self.assertAlmostEqual(self.rate(data, "bandwidth", "gpu0", "gpu1", "copy", "gpu", pairs=2), 4.87, 2)

    def test_goes_on_where_it_was(self):
        first, _ = self.measure(gpus(1), "--sizes", "8", "--kinds", "bandwidth")
        second, _ = self.measure(gpus(1), "--sizes", "8,64", "--kinds", "bandwidth")
        self.assertEqual(len(first["series"]), len(second["series"]))
        for before, after in zip(first["series"], second["series"]):
            self.assertEqual(after["points"][0], before["points"][0])
            self.assertEqual([point["size_bytes"] for point in after["points"]], [8, 64])

    def test_calibrates(self):
        """Flags between host and GPU tell no rate, the other links do."""
        self.measure(gpus(1), "--sizes", "8,1M", "--kinds", "latency,bandwidth")
        done = self.fabricast("calibrate", "f.meas", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "link 'flag-host' is left out, because no measurement gives its rate")
        links = {entry["link"]: entry for entry in json.loads(done.stdout)["links"]}
        self.assertGreaterEqual(set(links), {"measured-host-to-gpu", "measured-gpu-to-host"})
        self.assertNotIn("measured-flag-host", links)
        self.refused("calibrate", "f.meas", "--series", "flag-host", names="nothing that was measured tells a rate")

    def test_a_gpu_that_fails_on_the_way(self):
        """What was measured before stays."""
        done = self.fabricast("measure", "cuda", "--sizes", "8", "-o", "f.meas", env=gpus(2, "copy-out"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("gpu0 to host: copy: a fake error (CUDA_ERROR_FAKE, 719)", done.stderr)
        ends = {(s["kind"], s["from_end"], s["to_end"]) for s in self.json("measure", "show", "f.meas")["series"]}
        self.assertEqual(ends, {("latency", "host", "gpu0"), ("bandwidth", "host", "gpu0")})

    def unsupported(self, env, part):
        done = self.fabricast("measure", "cuda", "--sizes", "8,64K", "-o", "f.meas", env=env)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn(part, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_machines_that_cannot(self):
        self.unsupported({**gpus(1), "FABRICAST_CUDA_DRIVER": "/nowhere/libcuda.so.1"},
                         "the CUDA driver (/nowhere/libcuda.so.1) was not found")
        self.unsupported({**gpus(1), "FABRICAST_CUDA_DRIVER": os.environ["FAKE_OLD_GPU"]}, "it is too old")
        self.unsupported(gpus(1, "init"), "there is no NVIDIA GPU in this machine")
        self.unsupported(gpus(1, "mismatch"), "of different versions")
        self.unsupported(gpus(0), "the CUDA driver shows no GPU")
        self.unsupported(gpus(1, FAKE_GPU_MEMORY="100000"), "gpu0 has no room for two buffers of 64KiB")

    def test_input_that_is_wrong(self):
        self.refused("measure", "cuda", "--set", "gpus=2", "-o", "f.meas", "--sizes", "8", env=gpus(1),
                     names="gpus is 2, but this machine shows 1")
        self.refused("measure", "cuda", "--window", "1000", "-o", "f.meas", "--sizes", "8", env=gpus(1),
                     names="256 would do")
        done = self.fabricast("measure", "cuda", "--set", "pairs=some", "-o", "f.meas", env=gpus(1))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("'pairs' cannot be 'some'", done.stderr)

    def test_what_is_here(self):
        """`fabricast measure` says whether it works and why not."""
        self.assertRegex(self.good("measure", env=gpus(1)), r"cuda +yes")
        self.assertRegex(self.good("measure", env=gpus(1, "init")), r"cuda +no +there is no NVIDIA GPU")


if __name__ == "__main__":
    support.main()
