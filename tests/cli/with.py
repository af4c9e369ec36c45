#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`collective` and `p2p` over links that were measured: what --with FILE brings, and how far their bands go."""
import csv
import io

from support import CliTest, main

ENTRY = """links:
  - name: {name}
    signalling: 200Gb/s
    latency: 1us
    messages: [{{overhead: 2us, rate: {rate}}}]
    uncertainty: {{messages: 15%}}
    source: made up
    date: "2026-11-21"
"""


class With(CliTest):
    def entry(self, path, name="near", rate="23.5GB/s"):
        self.write(path, ENTRY.format(name=name, rate=rate))
        return path

    def p2p(self, *args):
        text = self.good("p2p", "--node", "host", "--nodes", "2", "--format", "csv", *args)
        return {row["matrix"]: row for row in csv.DictReader(io.StringIO(text)) if (row["from"], row["to"]) == ("0", "1")}

    def test_copies_are_no_faster_than_the_line(self):
        rows = self.p2p("--with", self.entry("near.yaml"), "--nic", "near")
        for matrix, ways in (("one_way_enabled_GBps", 1), ("both_ways_disabled_GBps", 2)):
            value, low, high = (float(rows[matrix][key]) / ways for key in ("value", "low", "high"))
            self.assertAlmostEqual(value, 23.5, delta=0.01)
            self.assertAlmostEqual(low, 23.5 / 1.15, delta=0.01)
            self.assertAlmostEqual(high, 25, delta=1e-6)
        text = self.good("p2p", "--node", "host", "--nodes", "2", "--with", "near.yaml", "--nic", "near")
        self.assertIn("# one_way_enabled_GBps: widest 95 % band: 20.4 to 25 where 23.5 is shown, most by messages of near", text)


if __name__ == "__main__":
    main()
