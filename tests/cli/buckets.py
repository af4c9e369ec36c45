#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exposed communication against bucket size, held against DDP's schedule written down independently.

Theory: gradients become ready during backward; bucket k's all-reduce starts at
max(ready_k, end_{k-1}) and takes cost_k; exposed = end of the last one - end of backward.
So many small buckets pay a start-up each, and one huge bucket overlaps with nothing.
Costs come from `fabricast collective`, one size at a time; everything else is arithmetic here.
"""
import json
import subprocess
import sys

FABRICAST, SCENARIOS = sys.argv[1], sys.argv[2]
MIB = 1 << 20
BLOCKS, TENSORS, TENSOR_BYTES = 40, 8, 25_000_000  # of the 2B example
COMPUTE_S = 2e9 * 4 * 2 * 4096 / (312e12 * 0.5)


def fabricast(*args):
    out = subprocess.run([FABRICAST, *args, "--format", "json"], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def cost_s(size, nics, known={}):
    if (size, nics) not in known:
        rows = fabricast("collective", "--node", "dgx-a100", "--nodes", "4", "-b", str(size), "-e", str(size),
                         "--set", f"cluster.nics_per_node={nics}")["results"]
        known[size, nics] = rows[0]["time_us"] * 1e-6
    return known[size, nics]


def schedule(bucket, nics):
    """(exposed seconds, number of buckets)"""
    forward = COMPUTE_S / 4 / BLOCKS  # of one block; recomputation the same, backward twice that
    now = end = filled = 0.0
    n = 0
    for _ in range(BLOCKS):
        now += forward
        for _ in range(TENSORS):
            now += 2 * forward / TENSORS
            filled += TENSOR_BYTES
            if filled >= (1 * MIB if n == 0 else bucket):
                end = max(end, now) + cost_s(int(filled), nics)
                filled, n = 0, n + 1
    if filled:
        end = max(end, now) + cost_s(int(filled), nics)
        n += 1
    return end - now, n


def check(scenario, nics):
    curve = []
    for mib in (1, 25, 50, 100, 200, 400, 800, 2000, 8000):
        run = fabricast("run", f"{SCENARIOS}/{scenario}.yaml", "--no-db", "--set", f"job.bucket={mib}MiB")
        exposed = run["iterations"][-1]["exposed_s"]
        expected, n = schedule(mib * MIB, nics)
        curve.append(exposed)
        print(f"{scenario}: bucket {mib:5d} MiB, {n:3d} buckets: exposed {exposed:.6f} s, schedule {expected:.6f} s")
        assert abs(exposed - expected) <= 1e-4 * expected, (scenario, mib, exposed, expected)
    best = min(curve)
    assert best < curve[0], "the smallest buckets pay a start-up each: they cannot be best"
    assert best < curve[-1], "one bucket for everything overlaps with nothing: it cannot be best"


check("ddp-2b-4nodes-200g", 1)
check("ddp-2b-4nodes-400g", 2)
