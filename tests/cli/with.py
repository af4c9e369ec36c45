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

    def test_messages_bind(self):
        """A tree's messages follow one another; none of its links is busy all the time."""
        row, = csv.DictReader(io.StringIO(self.good(
            "collective", "--node", "host", "--nodes", "4", "--library", "mpi", "--algorithm", "binomial", "-b", "64M", "--with",
            self.entry("near.yaml"), "--nic", "near", "--format", "csv")))
        self.assertEqual(row["bound"], "messages")

    def test_two_files(self):
        rows = self.p2p("--with", self.entry("near.yaml"), "--with", self.entry("far.yaml", "far", "20GB/s"), "--nic", "near")
        self.assertAlmostEqual(float(rows["one_way_enabled_GBps"]["value"]), 23.5, delta=0.01)
        for nic in "near", "far":
            self.good("collective", "--node", "host", "--nodes", "2", "--library", "mpi", "-b", "1M", "--with", "near.yaml",
                      "--with", "far.yaml", "--nic", nic)

    def test_any_name_of_a_file(self):
        for name in "a: b.yaml", "a #b.yaml", "[x].yaml", "it's.yaml", "{y}, z.yaml", "ü.yaml", "&a.yaml", "null":
            with self.subTest(name):
                self.p2p("--with", self.entry(name), "--nic", "near")
                self.good("collective", "--node", "host", "--nodes", "2", "-b", "1M", "--with", name, "--nic", "near")

    def test_no_file(self):
        self.entry("near.yaml")
        for name, says in (("none.yaml", "--with none.yaml: No such file"), ("", "--with: the name of a file is missing"),
                           (".", "--with .: Is a directory")):
            for command in ("p2p", "--node", "host", "--nodes", "2"), ("collective", "--node", "host", "-b", "1M"):
                with self.subTest(name, command=command[0]):
                    self.refused(*command, "--with", "near.yaml", "--with", name, names=says)


if __name__ == "__main__":
    main()
