#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holistic Trace Analysis itself on our Kineto files: its percentages are those of `fabricast query overlap`.

Skipped (77) where the package HolisticTraceAnalysis is missing. traces.py computes the same without it.
"""
import os

import kineto
from support import HELLO, SOURCE, CliTest, main, need

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # else it rounds times to whole us
need("hta")

DDP = os.path.join(SOURCE, "scenarios", "ddp-2b-4nodes-200g.yaml")
SHARES = ("idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg")


class Hta(CliTest):
    def rows(self, folder):
        """{rank: {column: value}} of both tables."""
        from hta.trace_analysis import TraceAnalysis

        analyser = TraceAnalysis(trace_dir=self.path(folder))
        tables = (analyser.get_comm_comp_overlap(visualize=False), analyser.get_temporal_breakdown(visualize=False))
        found = {}
        for table in tables:
            for row in table.to_dict("records"):
                found.setdefault(row["rank"], {}).update(row)
        return found

    def check(self, run):
        ours = [row for row in self.json("query", "overlap", "--db", "r.db", "--run", str(run)) if row["iteration"] == 0]
        self.good("trace", "--db", "r.db", "--run", str(run), "--iteration", "0", "--format", "kineto", "-o", f"t{run}")
        found = self.rows(f"t{run}")
        self.assertEqual(sorted(found), [row["first_rank"] for row in ours])
        for row in ours:
            for key in ("comp_comm_overlap_pctg", *SHARES):  # HTA rounds to two decimals
                self.assertAlmostEqual(found[row["first_rank"]][key], row[key], delta=0.00501, msg=key)

    def test_shipped_scenarios(self):
        for scenario in (HELLO, DDP):
            self.good("run", scenario, "--db", "r.db")
        self.check(1)
        self.check(2)

    def test_two_classes(self):
        self.good("run", HELLO, "--db", "r.db", "--iterations", "1")
        self.check(kineto.add_two_classes(self.path("r.db")))


if __name__ == "__main__":
    main()
