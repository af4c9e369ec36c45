#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that does not grow with iterations, and `run --no-fold`, which changes nothing but the time."""
import os
import subprocess

import support
from support import CliTest


class Scale(CliTest):
    def scenario(self, name):
        return os.path.join(support.SOURCE, "scenarios", name)

    def run_csv(self, *arguments):
        command = [support.PROGRAM, "run", *arguments, "--no-db", "--no-band", "--format", "csv"]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=support.environment()).stdout

    def peak_kib(self, iterations):
        """Of a process of its own, as the kernel counts it. Levers run on threads, whose memory comes and goes."""
        command = [support.PROGRAM, "run", self.scenario("ddp-16384-gpus.yaml"), "--set", "cluster.nodes=64", "--no-db",
                   "--no-band", "--no-bottleneck", "--format", "csv", "--iterations", str(iterations)]
        # AddressSanitizer keeps what was freed for a while, if there is one.
        options = "quarantine_size_mb=0:thread_local_quarantine_size_kb=0:" + os.environ.get("ASAN_OPTIONS", "")
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env={**support.environment(), "ASAN_OPTIONS": options})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_maxrss

    def test_memory_is_flat_over_iterations(self):
        # Two iterations are alive at a time; what 98 more may take is what allocators leave lying about.
        self.assertLess(self.peak_kib(100), self.peak_kib(2) + 1024)

    def test_unfolded_is_the_same(self):
        for name in ("ddp-16384-gpus.yaml", "zero3-70b-16384.yaml"):
            small = [self.scenario(name), "--set", "cluster.nodes=3"]
            self.assertEqual(self.run_csv(*small), self.run_csv(*small, "--no-fold"), name)


if __name__ == "__main__":
    support.main()
