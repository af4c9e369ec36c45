#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What benchmarks printed becomes series: printed, as CSV that reads back to itself, and in a file of measurements."""
import csv
import glob
import io
import os

from support import SOURCE, CliTest, main, read

BENCHMARKS = os.path.join(SOURCE, "tests", "fixtures", "benchmarks")
SAMPLES = sorted(path for path in glob.glob(os.path.join(glob.escape(BENCHMARKS), "*")) if not path.endswith(".md"))
MACHINES = sorted(path for path in glob.glob(os.path.join(glob.escape(SOURCE), "tests", "fixtures", "import", "*"))
                  if not path.endswith(".md"))


def sample(name):
    return os.path.join(BENCHMARKS, name)


class Measurements(CliTest):
    def good(self, *arguments, **how):
        """What is left out of a text is said on stderr."""
        done = self.fabricast(*arguments, **how)
        complaints = [line for line in done.stderr.splitlines() if ": left out: " not in line]
        self.assertEqual((done.returncode, complaints), (0, []), arguments)
        return done.stdout

    def bad(self, *arguments):
        done = self.fabricast(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        return done.stderr

    def series(self, *arguments):
        return self.json("import", *arguments)["series"]

    def test_every_sample_goes_into_a_file_and_comes_back(self):
        self.assertGreater(len(SAMPLES), 15)
        for path in SAMPLES:
            with self.subTest(os.path.basename(path)):
                out = os.path.basename(path) + ".meas"
                self.good("import", path, "-o", out)
                stored = self.json("measure", "show", out)["series"]
                self.assertEqual(stored, self.series(path))
                self.assertTrue(all(point["time_ps"] > 0 for one in stored for point in one["points"]))

    def test_csv_reads_back_to_itself(self):
        for path in SAMPLES:
            with self.subTest(os.path.basename(path)):
                text = self.good("import", path, "--format", "csv")
                copy = self.write("copy.csv", text)
                self.assertEqual(self.good("import", copy, "--format", "csv"), text)
                marked = self.write("marked.csv", "\ufeff" + text)
                self.assertEqual(self.good("import", marked, "--format", "csv"), text)
                rows = list(csv.DictReader(io.StringIO(text)))
                self.assertEqual(len(rows), sum(len(one["points"]) for one in self.series(path)))

    def test_the_format_is_found_out(self):
        names = {"perftest": "perftest", "nvbandwidth": "nvbandwidth", "p2p": "p2pBandwidthLatencyTest", "osu": "osu",
                 "fi": "fabtests", "series": "csv", "kernels": "kernels"}
        for path in SAMPLES:
            base = os.path.basename(path)
            name = names[base.replace(".", "-").split("-")[0]] + ("-json" if base.endswith(".json") else "")
            self.assertEqual(self.good("import", path), self.good("import", path, "--from", name))
            self.assertIn(f": {name}, ", self.good("import", path).split("\n", 1)[0])

    def test_machines_are_no_measurements(self):
        for path in MACHINES:
            self.assertIn("cluster:", self.good("import", path))

    def test_several_files_into_one(self):
        paths = [sample("osu-suite-5.8.txt"), sample("fi-pingpong-cxi.txt"), sample("nvbandwidth.json")]
        self.good("import", *paths, "-o", "lab.meas", "--system", "two boxes", "--source", "a page")
        stored = self.json("measure", "show", "lab.meas")
        self.assertEqual(len(stored["series"]), 3 + 1 + 4)
        self.assertEqual({one["system"] for one in stored["series"]}, {"two boxes"})
        self.assertEqual({one["source"] for one in stored["series"]}, {"a page"})
        self.assertTrue(any("Read1" in note for note in stored["notes"]))
        # The same again replaces them.
        self.good("import", *paths, "-o", "lab.meas", "--system", "two boxes", "--source", "a page")
        self.assertEqual(self.json("measure", "show", "lab.meas")["series"], stored["series"])

    def test_one_bad_file_and_nothing_is_written(self):
        bad = self.write("bad.txt", "# OSU MPI Bandwidth Test v5\n# Size      Bandwidth (MB/s)\n1 x\n")
        worse = self.write("worse.csv", "# kind: latency\nsize_bytes,time_us\n8\n")
        error = self.bad("import", sample("osu-suite-5.8.txt"), bad, worse, "-o", "lab.meas")
        self.assertIn("bad.txt:3:3:", error)
        self.assertIn("worse.csv:3:1:", error)
        self.assertFalse(os.path.exists(self.path("lab.meas")))

    def test_a_file_that_is_something_else_stays(self):
        text = "not a database\n" * 100
        self.write("other.meas", text)
        self.bad("import", sample("osu-suite-5.8.txt"), "-o", "other.meas")
        self.assertEqual(read(self.path("other.meas")), text)

    def test_options_belong_to_what_they_are_for(self):
        self.assertIn("holds measurements", self.bad("import", sample("series.csv"), "--nic", "ib-hdr"))
        self.assertIn("--system is for measurements", self.bad("import", MACHINES[0], "--system", "x"))
        self.assertIn("several files of machines need one that lists their network",
                      self.bad("import", *(path for path in MACHINES if "nvidia-smi" in path)))
        self.assertIn("--ranks", self.bad("import", sample("series.csv"), "--ranks", "1"))
        self.assertIn("--ranks", self.bad("import", sample("series.csv"), "--ranks", "0"))
        self.assertIn("--size", self.bad("import", sample("series.csv"), "--size", "much"))

    def test_sizes_and_ranks_that_a_tool_does_not_print(self):
        points = [point for one in self.series(sample("nvbandwidth.json"), "--size", "64MiB") for point in one["points"]]
        self.assertEqual({point["size_bytes"] for point in points}, {64 << 20})
        table = self.write("osu.txt", "# OSU MPI Allgather Latency Test v5.6\n# Size       Avg Latency(us)\n1024   10.00\n")
        made, = self.series(table, "--ranks", "16")
        self.assertEqual((made["op"], made["n_ranks"], made["points"][0]["size_bytes"]), ("all_gather", 16, 16 * 1024))


if __name__ == "__main__":
    main()
