#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Study: placement and interleaving of two jobs.

Two equal jobs run on four nodes under two leaves. Under leaves of their own they never meet. Across the leaves they share the
uplinks, and then an offset between them decides whether their communication meets or takes turns (CASSINI, NSDI 2024). The
table has the mean step of both jobs by placement and offset, alone and together; the figure has the curve.

    python3 examples/studies/interleaving.py [--quick] [--out FOLDER]
"""
import pathlib

import report

import fabricast as fc

SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "scenarios/interleave-two-jobs.yaml"
PLACES = {"across": ("neighbours.0.first=1", "neighbours.0.stride=2"), "apart": ("neighbours.0.first=2", "neighbours.0.stride=1")}


def study(quick):
    rows = []
    for place, keys in PLACES.items():
        for offset_ms in range(0, 601, 300 if quick else 50) if place == "across" else (0,):
            scenario = fc.load(SCENARIO).set(*keys, f"neighbours.0.start={offset_ms}ms", f"iterations={3 if quick else 6}")
            for job in scenario.run(jobs=True).table("job").rows():
                rows.append({"placement": place, "offset_ms": offset_ms, "job": job["name"], "alone_s": job["alone_ps"] / 1e12,
                             "step_s": job["together_ps"] / 1e12, "slow_down": job["slow_down"]})
    return rows


def draw(axes, rows):
    first = rows[0]["job"]
    line = [row for row in rows if row["placement"] == "across" and row["job"] == first]
    apart = next(row for row in rows if row["placement"] == "apart" and row["job"] == first)
    axes.plot([row["offset_ms"] for row in line], [row["step_s"] for row in line], "o-", label="across two leaves")
    axes.axhline(apart["step_s"], color="grey", linestyle=":", label="each under a leaf of its own")
    axes.set_xlabel("offset of the other job (ms)")
    axes.set_ylabel("step (s)")
    axes.set_ylim(bottom=0)
    axes.legend()


if __name__ == "__main__":
    report.main("interleaving", study, draw, __doc__)
