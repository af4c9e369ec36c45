#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Study: how much of a training step waits for the network, by the oversubscription of the fabric and the global batch.

A larger batch gives each step more to compute for the same gradients, so that it hides more of a narrow fabric. The table has
the exposed communication of every combination, the figure a curve for each batch.

    python3 examples/studies/oversubscription.py [--quick] [--out FOLDER]
"""
import report

import fabricast as fc

YAML = """
name: oversubscription
iterations: 2
cluster:
  node: dgx-h100
  nodes: 32
  nics_per_node: 2
  fabric: {kind: leaf_spine, nodes_per_leaf: 8}
  placement: random
  route: adaptive
job: {kind: fsdp, model: llama2-13b, micro_batch: 1, sequence: 4096, recompute: full}
"""


def study(quick):
    scenario = fc.parse(YAML, "oversubscription")
    if quick:
        scenario.set("cluster.nodes=16")
    ratios = (1, 4) if quick else (1, 1.5, 2, 3, 4, 6, 8)
    points = scenario.sweep(vary=["job.micro_batch=" + ("1,2" if quick else "1,2,4"),
                                  "cluster.fabric.oversubscription=" + ",".join(map(str, ratios))], progress=not quick)
    return [{"micro_batch": int(row["job.micro_batch"]), "oversubscription": float(row["cluster.fabric.oversubscription"]),
             "step_s": row["step_s"], "exposed_pct": 100 * row["exposed_s"] / row["step_s"], "mfu_pct": 100 * row["mfu_fraction"],
             "binding_link_spec": row["binding_link_spec"], "fits": row["memory_bytes"] <= row["memory_max_bytes"]}
            for row in points.rows()]


def draw(axes, rows):
    for batch in sorted({row["micro_batch"] for row in rows}):
        line = [row for row in rows if row["micro_batch"] == batch]
        axes.plot([row["oversubscription"] for row in line], [row["exposed_pct"] for row in line], "o-",
                  label=f"{batch} x 4096 tokens per GPU")
    axes.set_xlabel("oversubscription of the leaf switches")
    axes.set_ylabel("exposed communication (% of the step)")
    axes.legend()


if __name__ == "__main__":
    report.main("oversubscription", study, draw, __doc__)
