#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Study: the tail of flow completion times, by congestion control and load.

Flows with the sizes of a web search arrive at 32 hosts. The table has the slow-downs (completion time over that on an idle
network) of short and long flows at p50 and p99, over all seeds together; the figure has the p99 of short flows by load.

    python3 examples/studies/tail_fct.py [--quick] [--out FOLDER]
"""
import math
import pathlib

import report

import fabricast as fc

SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "scenarios/fct-websearch.yaml"
SIZES = (("up to 10 kB", 0, 10_000), ("above 1 MB", 1_000_000, math.inf))


def percentile(values, share):
    """The nearest rank: a value that occurred, which this share of them does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else math.nan


def study(quick):
    rows = []
    for control in ("dcqcn", "hpcc") if quick else ("none", "dcqcn", "swift", "hpcc", "credit"):
        for load in (0.3, 0.7) if quick else (0.3, 0.5, 0.7):
            flows = []
            for seed in range(1, 2 if quick else 4):
                scenario = fc.load(SCENARIO).set(f"fidelity.congestion={control}", f"job.load={load}", f"seed={seed}",
                                                 "job.duration=" + ("1ms" if quick else "10ms"))
                flows += [(row["bytes"], (row["end_ps"] - row["start_ps"]) / row["alone_ps"])
                          for row in scenario.run().table("collective").rows() if row["alone_ps"] > 0]
            for name, above, most in SIZES:
                slow = [times for size, times in flows if above < size <= most]
                rows.append({"control": control, "load": load, "size": name, "n_flows": len(slow),
                             "slowdown_p50": percentile(slow, 0.5), "slowdown_p99": percentile(slow, 0.99)})
    return rows


def draw(axes, rows):
    for control in dict.fromkeys(row["control"] for row in rows):
        line = [row for row in rows if row["control"] == control and row["size"] == SIZES[0][0]]
        axes.plot([row["load"] for row in line], [row["slowdown_p99"] for row in line], "o-", label=control)
    axes.set_xlabel("load (share of what the NICs carry)")
    axes.set_ylabel("slow-down of flows up to 10 kB, p99")
    axes.set_yscale("log")
    axes.legend()


if __name__ == "__main__":
    report.main("tail_fct", study, draw, __doc__)
