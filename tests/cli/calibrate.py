#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was measured becomes a link, a scenario runs on it, and the link is held against what was measured."""
import csv
import io
import json
import os
import unittest

import yaml

from support import SOURCE, CliTest, main, read

LINKS = os.path.join(SOURCE, "validate", "measured", "links")
HEAD = "# system: lab\n# backend: mine\n# from: a\n# to: b\n# from_memory: host\n# to_memory: host\n"
SCENARIO = """include: lab.yaml
name: on-lab
cluster: {{node: dgx-a100, nodes: 2, nic: {nic}}}
job: {{kind: collective, operations: [{{op: all_reduce, size: 64MiB}}]}}
"""


def table(kind, overhead_us, gbps, sizes=range(0, 25), method="sockets"):
    """A series at overhead + m / rate."""
    rows = "".join(f"{1 << i},{overhead_us + (1 << i) / gbps / 1e3:.6f}\n" for i in sizes)
    return f"{HEAD}# kind: {kind}\n# method: {method}\nsize_bytes,time_us\n{rows}"


def link(name):
    return os.path.join(LINKS, name)


class Calibrate(CliTest):
    def calibrate(self, *args):
        return json.loads(self.good("calibrate", *args, "--format", "json"))["links"]

    def write_lab(self):
        kinds = {"latency": (20, 10), "exchange": (25, 8), "bandwidth": (2, 9.9), "bidirectional": (2, 7.92)}
        return [self.write(f"{kind}.csv", table(kind, *truth)) for kind, truth in kinds.items()]

    def test_from_files_to_a_run(self):
        files = self.write_lab()
        page = self.good("calibrate", *files, "--base", "roce-100", "--name", "lab", "-o", self.path("lab.yaml"))
        self.assertIn("Quality: good.", page)
        entry = yaml.safe_load(read(self.path("lab.yaml")))["links"][0]
        self.assertEqual((entry["name"], entry["measured"]["from"], entry["measured"]["to"]), ("lab", "1B", "16MiB"))
        self.assertEqual([(row["way"], row["up_to"]) for row in entry["messages"]], [("one", "0B"), ("both", "0B")])
        self.write("scenario.yaml", SCENARIO.format(nic="lab"))
        self.assertIn("8 x lab each", self.good("run", "scenario.yaml", "--no-db"))
        text = self.good("validate", "links", *files, "--with", "lab.yaml", "--summary")
        self.assertEqual(text.count("held-out"), 4)
        self.assertNotIn("outside", text)

    def test_without_a_base(self):
        self.write("lab.yaml", self.good("calibrate", *self.write_lab()))
        self.write("scenario.yaml", SCENARIO.format(nic="measured"))
        self.assertIn("8 x measured each", self.good("run", "scenario.yaml", "--no-db"))

    def test_the_order_of_files_does_not_matter(self):
        files = self.write_lab()
        one, other = self.calibrate(*files), self.calibrate(*files[::-1])
        self.assertEqual(one, other)

    def test_other_sizes_are_marked(self):
        files = self.write_lab()
        self.good("calibrate", *files, "--max-size", "64KiB", "-o", self.path("lab.yaml"))
        rows = list(csv.DictReader(io.StringIO(self.good("validate", "links", files[0], "--with", "lab.yaml",
                                                         "--format", "csv"))))
        outside = [int(row["size_bytes"]) for row in rows if row["part"] == "outside"]
        self.assertEqual(outside, [1 << i for i in range(17, 25)])

    def test_sizes_are_spelt_as_measure_spells_them(self):
        file = self.write_lab()[0]
        for least, most in (("1K", "1M"), ("1KiB", "1MiB"), ("1024", "1048576")):
            entry = self.calibrate(file, "--min-size", least, "--max-size", most)[0]
            self.assertEqual((entry["from_bytes"], entry["to_bytes"]), (1 << 10, 1 << 20))

    def test_formats_agree(self):
        files = self.write_lab()
        entry = self.calibrate(*files)[0]
        rows = list(csv.DictReader(io.StringIO(self.good("calibrate", *files, "--format", "csv"))))
        self.assertEqual(len(rows), sum(len(kind["rows"]) for kind in entry["measured"]))
        self.assertAlmostEqual(entry["copy_GBps"], 9.9, places=6)
        self.assertAlmostEqual(entry["collective_fraction"], 0.8, places=6)

    def test_a_rate_above_the_base_is_what_was_reached(self):
        file = os.path.join(SOURCE, "tests", "fixtures", "benchmarks", "perftest-read-write-hdr.txt")
        entry = self.calibrate(file, "--base", "ib-hdr", "--series", "write-host")[0]
        self.assertAlmostEqual(entry["measured"][0]["rate_GBps"], 24.5687, places=3)
        self.assertAlmostEqual(entry["copy_GBps"], 24.5687, places=3)
        self.assertTrue(any("what 8 MiB reaches stands for it" in note for note in entry["notes"]))

    def test_a_noisy_kind_is_left_out(self):
        self.write_lab()
        noisy = "".join(f"{1 << i},{90 if i < 4 else 20}\n" for i in range(12))
        self.write("latency.csv", HEAD + "# kind: latency\n# method: sockets\nsize_bytes,time_us\n" + noisy)
        entry = self.calibrate("latency.csv", "bandwidth.csv", "bidirectional.csv")[0]
        self.assertEqual([kind["kind"] for kind in entry["measured"]], ["bandwidth", "bidirectional"])
        self.assertAlmostEqual(entry["copy_GBps"], 9.9, places=6)
        self.assertTrue(any(note.startswith("latency is left out: no link has times that fall with size") for note in entry["notes"]))
        self.refused("calibrate", "latency.csv", says="nothing is left to fit")

    def test_odd_names_are_escaped(self):
        file = self.write_lab()[0]
        with open(os.fsencode(self.path("")) + b"odd\xff\xe2\x80\xa8\x01.csv", "w", encoding="utf-8") as odd:
            odd.write(read(file).replace("system: lab", "system: l\u2028ab"))
        for name in ("a\u2028b", "a\x01b", "a\x7fb", "a\x85b", "a\ufffeb", "a\tb", "a\u202eb"):
            self.refused("calibrate", odd.name, "--name", name, says="the invisible character")
        for name in ("\U0001f98a", "a 'b': {c}", "#a", "\u00e4"):
            self.good("calibrate", odd.name, "--name", name, "-o", self.path("odd.yaml"))
            self.assertEqual(yaml.safe_load(read(self.path("odd.yaml")))["links"][0]["name"], name)
            self.good("validate", "links", file, "--with", "odd.yaml", "--summary")

    def test_the_page_says_how_bad_a_fit_is_that_held_nothing_out(self):
        page = self.good("calibrate", os.path.join(SOURCE, "tests", "fixtures", "benchmarks", "osu-suite-5.8.txt"),
                         "--base", "ib-hdr", "--format", "text")
        self.assertIn("Quality: poor. No size was held out; those that were fitted are 19 % off", page)
        self.assertIn("collective_fraction  0.9588 (of the base)", page)
        files = self.write_lab()
        page = self.good("calibrate", *files, "--base", "roce-100", "--holdout", "0", "--format", "text")
        self.assertRegex(page, "Quality: not known. No size was held out; those that were fitted are [0-9.e-]+ % off[.]")
        self.assertIn("collective_fraction  0.8\n", page)
        page = self.good("calibrate", files[2], "--base", "roce-100", "--format", "text")
        self.assertRegex(page, "endpoint .*[(]of the base[)]")

    def test_several_links_are_several_entries(self):
        kernel = table("bandwidth", 3, 26, range(10, 25), "copy").replace("from_memory: host", "from_memory: gpu")
        host = self.write("d2h.csv", kernel)
        done = yaml.safe_load(self.good("calibrate", host, self.write_lab()[0], "--name", "lab"))
        self.assertEqual([entry["name"] for entry in done["links"]], ["lab-gpu-to-host", "lab-sockets-host"])
        self.assertEqual(self.calibrate(host, "latency.csv", "--series", "gpu-to-host")[0]["link"], "measured")
        self.refused("calibrate", host, "latency.csv", "--base", "roce-100", says="--base is for one link")
        self.refused("validate", "links", host, "latency.csv", "--link", "roce-100", says="choose one with --series")

    def test_held_out(self):
        files = self.write_lab()[:1]
        for part, number in (("0", 0), ("20%", 4), ("1/3", 8), ("0.4", 9)):
            entry = self.calibrate(*files, "--holdout", part)[0]
            self.assertEqual(entry["held_out"], number, part)

    def test_a_base_of_another_name_wins(self):
        self.write("nvlink4.yaml", self.good("calibrate", link("nvlink4_h800_write_kernel.csv"), "--base", "nvlink4",
                                             "--count", "8", "--name", "nvlink4"))
        with_it = self.fabricast("validate", "h100x8_nvswitch_allgather_8", "--with", "nvlink4.yaml", "--format", "csv")
        self.assertNotEqual(with_it.stdout, self.good("validate", "h100x8_nvswitch_allgather_8", "--format", "csv"))

    def refused(self, *args, says):
        done = self.fabricast(*args)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(says, done.stderr)

    def test_what_was_measured_is_not_overwritten(self):
        file = self.write_lab()[0]
        os.symlink(file, self.path("same"))
        self.good("import", file, "-o", self.path("lab.meas"))
        for args, says in ((("calibrate", file, "-o", file), "is a file that this command needs"),
                           (("calibrate", "lab.meas", "-o", "lab.meas"), "is a file that this command needs"),
                           (("calibrate", file, "-o", "same"), "is a file that this command needs"),
                           (("calibrate", file, "-o", "lab.meas"), "holds measurements"),
                           (("import", file, "-o", self.path(".", os.path.basename(file))), "is a file that this command needs"),
                           (("import", os.path.join(SOURCE, "docs", "examples", "topo-a100.txt"), "-o", "lab.meas"),
                            "holds measurements")):
            with self.subTest(args):
                before = [os.stat(self.path(name)).st_mtime_ns for name in (file, "lab.meas")]
                self.refused(*args, says=says)
                self.assertEqual([os.stat(self.path(name)).st_mtime_ns for name in (file, "lab.meas")], before)

    def test_mistakes(self):
        lab = self.write_lab()[0]
        fast = self.write("fast.csv", table("bandwidth", 1, 60))
        quick = self.write("quick.csv", table("latency", 1, 60))
        gpus = os.path.join(SOURCE, "tests", "fixtures", "benchmarks", "nvbandwidth-h100-both.txt")
        one = self.write("one.csv", table("latency", 3, 10, range(3, 4)))
        other = self.write("other.csv", table("latency", 3, 10, range(3, 4), "tagged"))
        falling = self.write("falling.csv", HEAD + "# kind: latency\nsize_bytes,time_us\n1,90\n16,20\n64,21\n128,22\n")
        slow = self.write("slow.csv", HEAD + "# kind: latency\nsize_bytes,time_us\n" +
                          "".join(f"{8 << i},5000000000\n" for i in range(6)))
        for args, says in (
                (("nothing.csv",), "nothing.csv"),
                ((lab, "--base", "roce-10000"), "nearest is roce-100"),
                ((lab, "--holdout", "50%"), "is not a share below one half"),
                ((lab, "--holdout", "some"), "is not a share below one half"),
                ((lab, "--holdout", ""), "is not a share below one half"),
                ((lab, "--holdout", "/2"), "is not a share below one half"),
                ((lab, "--min-size", "1 furlong"), "--min-size"),
                ((lab, "--date", "yesterday"), "is not a date"),
                ((lab, "--min-size", "0"), "--min-size"),
                ((lab, "--count", "-1"), "--count"),
                ((lab, "--count", "0"), "--count must be from 1"),
                ((lab, "--hops", "0"), "--hops from 1"),
                ((lab, "--name", ""), "--name must not be empty"),
                ((lab, "--format", "xml"), "--format"),
                ((lab, "--series", "window=64"), "there are the links"),
                ((lab, "--system", "elsewhere"), "asked for"),
                ((lab, "--min-size", "8MiB", "--max-size", "4MiB"), "no size that was measured"),
                ((fast, "--base", "roce-100"), "name a faster --base"),
                ((quick, "--base", "tcp-10"), "1 x tcp-10 carry 1.25 GB/s at most"),
                ((gpus, "--base", "nvlink4"), "with --count"),
                ((gpus, "--base", "nvlink4", "--count", "18"), "only both directions at once were measured"),
                ((one,), "nothing that was measured tells a rate"),
                ((one, other), "no rate is known of any of these 2 links"),
                ((falling,), "times that fall with size"),
                ((slow,), "is the unit right?")):
            with self.subTest(args):
                self.refused("calibrate", *args, says=says)
        for file in (one, falling, slow):  # a link alone needs no name
            self.assertNotIn("link '", self.fabricast("calibrate", file).stderr)
        self.refused("validate", "links", lab, says="the link is missing")
        self.refused("validate", "links", lab, "--link", "roce-10000", says="does not exist; `fabricast describe links` lists")
        self.refused("validate", "links", lab, "--with", "nothing.yaml", says="nothing.yaml")

    def test_every_published_table_is_read(self):
        """Refused are four sizes of which the first was cold, and one size of latency alone."""
        refused = [name for name in sorted(os.listdir(LINKS)) if name.endswith(".csv")
                   and self.fabricast("calibrate", link(name)).returncode != 0]
        self.assertEqual(refused, ["efa3_h200_pingpong.csv", "pcie5_rtx5090_p2p_staged_latency.csv"])


if __name__ == "__main__":
    main()
