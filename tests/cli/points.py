#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""points.py: single published figures, each within 10 % by the same physics as everything else.

Sweeps are held by `fabricast validate`; these are points of sources that print no sweep: busbw in GB/s of one large
all-reduce, by number of GPUs, with and without reduction in the switch.
"""
import csv
import io

from support import CliTest, main

# stas00/ml-engineering network/README.md: 8 GiB, nccl-tests, NCCL 2.27.7; second column NCCL_NVLS_ENABLE=0.
# Calibration of nvlink4 and nvlink5 `multimem` (the rows where NVLS ran) and of nvlink5 `kernel` (ring).
NVLS = {
    "hgx-h200": {4: (363.3, 363.3), 5: (414.2, 364.4), 6: (435.6, 365.1), 7: (460.0, 365.7), 8: (473.1, 365.6)},
    "hgx-b200": {4: (673.2, 673.8), 5: (677.8, 677.8), 6: (778.2, 677.8), 7: (811.2, 680.5), 8: (838.0, 682.2)},
}
# The same page, all_reduce_bench.py, 4 GiB.
MI300X = {2: 47.671, 8: 312.912}
# NVIDIA/nccl-tests issues 149 and 212: what to expect of 8 GPUs.
EXPECTED = (("dgx-a100", True, 230), ("dgx-h100", False, 370), ("dgx-h100", True, 480))


class Points(CliTest):
    def busbw(self, node, gpus, size="8G", nodes=1, *more):
        text = self.good("collective", "--node", node, "--nodes", str(nodes), "--gpus-per-node", str(gpus), "-b", size,
                         "-e", size, "--format", "csv", *more)
        return next(csv.DictReader(io.StringIO(text)))

    def near(self, row, measured, what):
        found = float(row["busbw_GBps"])
        self.assertLessEqual(abs(found / measured - 1), 0.10, f"{what}: {found:.1f}, measured {measured}")

    def test_nvls_on_and_off(self):
        for node, counts in NVLS.items():
            for gpus, (on, off) in counts.items():
                with self.subTest(node=node, gpus=gpus):
                    release = ("--set", "collectives.nccl_version=2.27.7")
                    self.near(self.busbw(node, gpus, "8G", 1, *release), on, "NVLS possible")
                    row = self.busbw(node, gpus, "8G", 1, *release, "--set", "collectives.nvls=false")
                    self.near(row, off, "NVLS off")
                    self.assertEqual(row["algorithm"], "ring")

    def test_a_mesh_uses_all_its_links(self):
        for gpus, measured in MI300X.items():
            with self.subTest(gpus=gpus):
                self.near(self.busbw("mi300x", gpus, "4G"), measured, f"{gpus} MI300X")

    def test_chips_of_a_square(self):
        """178.77 GB/s that each of four TPU7x receives, all-gather of 512 MiB (AI-Hypercomputer/tpu-recipes,
        microbenchmarks/ironwood/collectives/all_gather.md: 0.4027 GB from three others with two devices each)."""
        row = self.busbw("tpu7x-4", 4, "512M", 1, "-o", "all_gather", "--set", "collectives.gpus_per_process=1")
        self.near(row, 178.77, "4 x TPU7x")

    def test_expected_plateaus(self):
        for node, nvls, measured in EXPECTED:
            with self.subTest(node=node, nvls=nvls):
                self.near(self.busbw(node, 8, "8G", 1, "--set", f"collectives.nvls={str(nvls).lower()}"), measured, node)

    def test_efa_v1(self):
        """340 of 400 Gb/s over four adapters (stas00/ml-engineering network/README.md): rings, as AWS's tests ask for."""
        self.near(self.busbw("p4d", 8, "4G", 2, "--set", "collectives.algorithm=ring"), 340 / 8, "2 x p4d")

    def test_copies_between_gpus(self):
        """p2pBandwidthLatencyTest, one way (the same page): 274 on A100 (270.8 to 276.9), 376 on H100 (363 to 393)."""
        for node, measured in (("dgx-a100", 274), ("dgx-h100", 376)):
            with self.subTest(node=node):
                found = self.json("p2p", "--node", node)["one_way_enabled_GBps"][0][1]
                self.assertLessEqual(abs(found / measured - 1), 0.10, f"{node}: {found}")

    def test_many_small_against_one_large(self):
        """The same page: 1 x 4 GB at 1257, 1000 x 4 MB at 374 Gb/s, through torch, whose calls cost more: what is held
        is that small ones cost two to four times as much."""
        large = self.busbw("dgx-a100", 8, "4GB", 1, "--set", "collectives.gpus_per_process=1")
        small = self.busbw("dgx-a100", 8, "4MB", 1, "--set", "collectives.gpus_per_process=1")
        ratio = float(large["busbw_GBps"]) / float(small["busbw_GBps"])
        self.assertTrue(2 < ratio < 4, ratio)


main()
