#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`collective`: what its options ask for, and every line of its page held against the JSON of the same answer.

`predicted.py PROGRAM [Class]`.
"""
import itertools
import json
import os
import re

import answer
from answer import support

NODE = ("collective", "--node", "dgx-a100")
COLUMNS = (("time", "time_us", 7), ("algbw", "algbw_GBps", 6), ("busbw", "busbw_GBps", 6), ("wire", "wire_GBps", 7), ("low", "time_low_us", 7), ("high", "time_high_us", 7))
FLAGS = {"ll": 2, "ll128": 128 / 120}  # 4 of 8 bytes, and 8 of 128
FACTORS = {"all_reduce": lambda n: 2 * (n - 1) / n, "all_gather": lambda n: (n - 1) / n, "reduce_scatter": lambda n: (n - 1) / n, "all_to_all": lambda n: (n - 1) / n,
           "broadcast": lambda n: 1, "sendrecv": lambda n: 1}
ADDED = "switches add and copy the data on its way"
REASONS = {"nvls": "the switch adds and copies, so each GPU sends its buffer plus 1/n of the result", "nvls_tree": ADDED, "collnet_chain": ADDED, "collnet_direct": ADDED,
           "binomial": "each rank sends the whole buffer to each of its children"}
MORE = {"tree": "a rank in the middle of a tree sends the whole buffer on"}


def shown(value, width):
    """Two digits behind the point, or as many as there is room for."""
    return next((text for text in (f"{value:.{digits}f}" for digits in (2, 1)) if len(text) <= width), f"{value:.0f}")


class Page(answer.AnswerTest):
    CASES = (("--node", "dgx-h100", "--nodes", "4", "-b", "8", "-e", "4G", "-f", "8"),
             ("--node", "dgx-a100", "-b", "1M", "-e", "4M", "--op", "all_gather", "-n", "7", "-w", "3", "-c", "0"),
             ("--node", "host", "--nodes", "4", "--library", "mpi", "-b", "8", "-e", "1G", "-f", "64"),
             ("--node", "host", "--nodes", "4", "--library", "mpi", "--algorithm", "binomial", "-b", "1M", "-e", "3M", "-i", "1M", "--op", "broadcast", "--no-band"),
             ("--node", "dgx-a100", "--nodes", "2", "--nic", "ib-ndr", "--form", "step", "-b", "1M", "--no-band", "-g", "4"),
             ("--node", "dgx-a100", "--nodes", "2", "-t", "4", "-b", "1M", "-e", "64M", "-f", "1.5", "--op", "alltoall", "-x", "NCCL_ALGO=Ring", "-x", "NCCL_IB_TC=106"),
             ("--node", "dgx-a100", "--nodes", "2", "--algorithm", "tree", "-b", "1K", "-e", "1G", "-f", "32"),
             ("four-nodes", "-b", "1K", "-e", "1M", "-f", "8", "--op", "all_gather"))

    def test_every_line(self):
        for case in self.CASES:
            with self.subTest(case):
                self.check(case)

    def check(self, case):
        told = self.json("collective", *case)
        page = self.good("collective", *case)
        rows = told["results"]
        lines = [line for line in page.splitlines() if not line.startswith("# ") or "|" not in line]
        at = next(i for i, line in enumerate(lines) if not line.startswith("#"))
        self.check_head(lines[:at], case, told)
        self.check_table(lines[at - 2:at + len(rows)], rows)
        rest = lines[at + len(rows):]
        self.assertEqual((float(rest[0].split(":")[1]), rest[1]), (float(f"{sum(row['busbw_GBps'] for row in rows) / len(rows):g}"), "#"))
        rest = [line for line in rest[2:] if re.match(r"# (wire|choice|low|beyond|\*|left)", line)]
        wanted = [*self.wire(told), *self.choices(rows)]
        self.assertEqual(rest[:len(wanted)], wanted)
        self.check_band(rest[len(wanted):], rows)

    def value(self, case, *names, default=None):
        return next((case[i + 1] for i in range(len(case) - 1) if case[i] in names), default)

    def check_head(self, lines, case, told):
        nodes, node = self.value(case, "--nodes", default={"four-nodes": "4"}.get(case[0], "1")), told["node"]
        self.assertEqual(lines[0], f"# predicted {told['op'].replace('all_to_all', 'alltoall')}_perf, {told['ranks']} ranks: {nodes} x {node}; form: {told['form']}")
        self.assertEqual(any("message by message" in line for line in lines), told["form"] == "step")
        config = dict(re.findall(r"(nThread|nGpus|minBytes|maxBytes|step|warmup iters|agg iters|iters|validation|graph):? (\S+)", next(line for line in lines if line.startswith("# nThread"))))
        threads = self.value(case, "-t", default="1")
        sizes = {name: self.json("collective", *case, *more)["results"][i]["size_bytes"] for name, i, more in (("minBytes", 0, ()), ("maxBytes", -1, ()))}
        step = self.value(case, "-i")
        self.assertEqual(config["step"], f"{2**20}(bytes)" if step else f"{int(float(self.value(case, '-f', default='2')))}(factor)")
        self.assertEqual([config[name] for name in ("nThread", "warmup iters", "iters", "validation", "graph")],
                         [threads, self.value(case, "-w", default="1"), self.value(case, "-n", default="20"), self.value(case, "-c", default="1"), "0"])
        self.assertGreaterEqual(sizes["minBytes"], int(config["minBytes"]))
        self.assertLessEqual(sizes["maxBytes"], int(config["maxBytes"]))
        nic = [line for line in lines if line.startswith("# link of NIC ports")]
        self.assertEqual(nic, [f"# link of NIC ports, and of switch ports where the fabric names no link: {self.value(case, '--nic')}"] if "--nic" in case else [])
        variables = [line for line in lines if line.startswith("# -x ")]
        self.assertEqual([line.split(":")[0] for line in variables], [f"# -x {case[i + 1]}" for i, word in enumerate(case) if word == "-x"])
        for line in variables:
            self.assertEqual(": no effect, since " in line, "IB_TC" in line, line)

    def check_table(self, lines, rows):
        head, _, *table = lines
        ends = {found.group(): found.end() for found in re.finditer(r"[^\s#]+|#wrong", head)}
        for line, row in zip(table, rows, strict=True):
            for name, key, width in COLUMNS:
                if name in ends and key in row:
                    self.assertEqual(line[:ends[name]].split()[-1], shown(row[key], width), f"{name}: {line}")
            self.assertEqual("time_low_us" in row, "low" in ends)
            self.assertEqual(line.split()[:5], [str(row["size_bytes"]), line.split()[1], "float", *line.split()[3:5]])
            bound = line[ends["high" if "high" in ends else "wire"]:].strip()
            self.assertEqual(bound.removesuffix("  *"), row["binding"] if row["bound"] == "link" and row["binding"] else row["bound"])
            self.assertEqual(bound.endswith("  *"), row.get("message_sizes_outside", 0) > 0)

    def wire(self, told):
        """What the busiest link carries of a byte, beside what busbw counts: each way once."""
        found = []
        for row in told["results"]:
            if row["algbw_GBps"] <= 0:
                continue
            flags = FLAGS.get(row["protocol"], 1)
            carried, counted = row["wire_GBps"] / row["algbw_GBps"] / flags, FACTORS[told["op"]](told["ranks"])
            if flags > 1:
                found.append(f"# wire, {row['protocol']}: 1 byte of data takes {flags:.3g}, the rest are flags")
            if abs(carried / counted - 1) > 0.01:
                name = row["algorithm"]
                reason = REASONS.get(name) or (MORE.get(name) if carried > counted else None) or (
                    "the bytes are spread over several such links" if carried < counted else "bytes cross it more than once, as on a path through host memory")
                found.append(f"# wire, {name}: the link carries {carried:.4g} x size where busbw counts {counted:.4g}: {reason}")
        return list(dict.fromkeys(found))

    def choices(self, rows):
        """Where another way takes less than 1/1.1 of the time: of rows that are alike the one that loses most."""
        key = lambda row: (row["algorithm"], row["protocol"], row["fastest"]["algorithm"], row["fastest"]["protocol"])
        times = lambda row: row["time_us"] / row["fastest"]["time_us"] if "fastest" in row else 1
        told = {}
        for row in rows:
            if times(row) >= 1.1:
                told.setdefault(key(row), max((other for other in rows if "fastest" in other and key(other) == key(row)), key=times))
        return [f"# choice, {row['size_bytes']} B: the library's estimate takes {row['algorithm']} with {row['protocol']} on {row['channels']} channel{'s' * (row['channels'] != 1)}; "
                f"{row['fastest']['algorithm']} with {row['fastest']['protocol']} on {row['fastest']['channels']} would take {row['fastest']['time_us']:.4g} us. "
                f"The choice takes {times(row):.2g} times as long" for row in told.values()]

    def check_band(self, lines, rows):
        last = rows[-1]
        outside = sum(row.get("message_sizes_outside", 0) > 0 for row in rows)
        wanted = []
        if last.get("band_tables"):
            bases = ", ".join(dict.fromkeys(row["band_most"] for row in rows if row.get("band_tables")))
            wanted.append(f"# low, high: {100 * last['band_coverage_fraction']:.0f} % of such collectives lie between, by {bases} (docs/explanation/uncertainty.md)")
        elif "band_most" in last:
            wanted.append(f"# low, high: {100 * last['band_coverage_fraction']:.0f} % band of the time from the uncertainty of the links; in the last row mostly from {last['band_most']}")
        if outside:
            wanted.append(f"# *: the row has messages of sizes that were not measured; {outside} of {len(rows)} rows")
        self.assertEqual([line for line in lines if not line.startswith(("# beyond", "# left"))], wanted)
        for row in rows:
            if "time_low_us" in row:
                self.assert_same(row["busbw_low_GBps"], row["busbw_GBps"] * row["time_us"] / row["time_high_us"])
                self.assert_same(row["busbw_high_GBps"], row["busbw_GBps"] * row["time_us"] / row["time_low_us"])

    def test_bands_of_links(self):
        """Of links that were measured, and no tables, the band is that of the links."""
        self.good("calibrate", os.path.join(support.SOURCE, "docs", "examples", "link.csv"), "--base", "ib-hdr", "--name", "mine", "-o", "mine.yaml")
        case = ("--node", "host", "--nodes", "4", "--library", "mpi", "-b", "8", "-e", "1G", "-f", "64", "--with", "mine.yaml", "--nic", "mine")
        self.check(case)
        self.check((*case, "--no-band"))

    def test_sizes_that_are_left_out(self):
        """Of an all-gather each of 8 ranks has whole 16 B, as nccl-tests divides it; smaller sizes are left out, and it is said."""
        for args, n, first in ((("-b", "1", "-e", "256"), 7, 128), (("-b", "64", "-e", "256"), 1, 128), (("-b", "128", "-e", "256"), 0, 128)):
            command = (*NODE, "--op", "all_gather", *args, "--no-band")
            self.assertEqual(self.json(*command)["results"][0]["size_bytes"], first)
            said = re.findall(r"(?m)^# left out: (\d+) (sizes?) with less than one element for each rank, which nccl-tests runs empty$", self.good(*command))
            self.assertEqual(said, [(str(n), "size" if n == 1 else "sizes")] if n else [])

    def test_csv(self):
        """Rows and columns of the JSON, a column only where some row has it."""
        for case in self.CASES[:4]:
            rows = self.json("collective", *case)["results"]
            table = answer.csv_rows(self.good("collective", *case, "--format", "csv"))
            plain = ["size_bytes", "time_us", "algbw_GBps", "busbw_GBps", "wire_GBps", "algorithm", "protocol", "channels", "bound", "binding"]
            band = ["time_low_us", "time_high_us", "busbw_low_GBps", "busbw_high_GBps", "band_coverage_fraction", "band_tables", "band_most"]
            sizes = ["message_sizes", "message_sizes_outside"]
            self.assertEqual(list(table[0]), plain + band * ("time_low_us" in rows[0]) + sizes * any("message_sizes" in row for row in rows))
            for cells, row in zip(table, rows, strict=True):
                for key, cell in cells.items():
                    value = row.get(key, 0 if key in ("band_tables", *sizes) else None)
                    self.assertTrue(cell == (value or "") if isinstance(value, str) or value is None else abs(float(cell) - value) <= 6e-7 or abs(float(cell) / value - 1) < 0.01, f"{key}: {cell}")


class Asked(answer.AnswerTest):
    def sizes(self, *args):
        return [row["size_bytes"] for row in self.json(*NODE, "--no-band", *args)["results"]]

    def test_ranges(self):
        """One of 32 MiB, or from the smallest to the largest, doubling or as is said."""
        for args, wanted in (((), [2**25]), (("-b", "1M"), [2**20]), (("-b", "1M", "-e", "4M"), [2**20, 2**21, 2**22]), (("-e", "64M",), [2**25, 2**26]), (("-b", "1M", "-e", "1M"), [2**20]),
                             (("-b", "1M", "-e", "7M", "-i", "2M"), [2**20, 3 << 20, 5 << 20, 7 << 20]), (("-b", "1M", "-e", "8M", "-f", "3"), [2**20, 3 << 20]),
                             (("-b", "1M", "-e", "3M", "-f", "1.5"), [2**20, 1572864, 2359296])):
            self.assertEqual(self.sizes(*args), wanted, args)

    def test_keys_that_options_say(self):
        for key, more in (("cluster.nodes", "use --nodes"), ("cluster.gpus_per_node", "use --gpus-per-node"), ("cluster.node", "use --node"), ("job", "use --op, -b and -e"),
                          ("cluster", "use --node, --nodes, --nic and --set cluster.KEY"), ("iterations", "leave it out, because a prediction has no noise to average"),
                          ("job.model", "use --op, -b and -e"), ("job.operations.0.size", "use --op, -b and -e")):
            self.assertEqual(self.refused(*NODE, "--set", f"{key}=2", names="--set"), f"fabricast collective: --set {key}=2: this command does not read the key; {more}\n")
        self.assertEqual(len(self.sizes("--set", "cluster.p2p=none", "--set", "seed=3")), 1)
        for key in ("jobs", "iterations.x", "cluster.nodes.x", "nodes"):
            done = self.fabricast(*NODE, "--set", f"{key}=2")
            self.assertEqual((done.returncode, "does not read the key" in done.stderr), (2, False), done.stderr)

    def test_pairs(self):
        measured = self.write("own.txt", self.good(*NODE, "-b", "64M", "-e", "128M", "--no-band"))
        self.assertEqual(self.fabricast(*NODE, "--check", measured).returncode, 0)
        for option, value in (("-b", "1M"), ("-e", "128M"), ("-i", "1M"), ("-f", "2")):
            self.refused(*NODE, "--check", measured, option, value, names="--check uses the sizes of its file; leave out -b, -e, -f and -i")
        for option, value in (("--tolerance", "10%"), ("--check-from", "1M")):
            self.refused(*NODE, option, value, names="--tolerance and --check-from need a measurement; give --check FILE too")
            self.assertEqual(self.fabricast(*NODE, "--check", measured, option, value).returncode, 0)
        self.refused(*NODE, "-f", "2", "-i", "1M", names="give either -f FACTOR or -i SIZE, not both")
        for form in ("json", "csv"):
            self.refused(*NODE, "--check", measured, "--format", form, names="--check prints text only; leave --format out")
        self.refused("collective", names="give either --node NAME or a SCENARIO; `fabricast describe nodes` lists the nodes")
        self.refused(*NODE, "hello", names="give either --node NAME or a SCENARIO, not both")
        self.refused(*NODE, "all_reduce", names="all_reduce is an operation: give it as --op all_reduce")

    def test_names(self):
        said = self.refused(*NODE, "--op", "all_reduc", names="--op all_reduc: unknown operation; nearest is all_reduce; the operations are ")
        operations = said.rstrip("\n").partition("operations are ")[2].split(", ")
        for operation in operations:
            self.assertEqual(self.json(*NODE, "--op", operation, "--no-band")["op"], operation)
        types = self.refused(*NODE, "-d", "quad", names="-d quad: unknown data type; the types are ").rstrip("\n").partition("types are ")[2].split(", ")
        self.assertGreater(len(types), 9)
        self.assertEqual(len(set(types)), len(types))
        for kind in types:
            self.assertEqual(self.json(*NODE, "-d", kind, "-b", "64K", "--no-band")["type"], kind)
        self.assertEqual(self.json(*NODE, "--no-band")["type"], "float")
        forms = self.refused(*NODE, "--form", "wave", names="--form wave: unknown form; the forms are ").rstrip("\n").partition("forms are ")[2].split(", ")
        self.assertEqual(sorted(forms), ["closed", "step", "stream"])
        self.assertEqual(self.json(*NODE, "--no-band")["form"], "stream")
        for algorithm in ("Ring", "ring", "RING"):
            self.assertEqual(self.json(*NODE, "--algorithm", algorithm, "--no-band")["results"][0]["algorithm"], "ring")

    def test_several_mistakes_are_told_at_once(self):
        done = self.fabricast(*NODE, "--op", "x", "-d", "y", "--form", "z", "-b", "a", "-e", "b", "--set", "job=1")
        self.assertEqual(done.returncode, 2)
        for part in ("--op x", "-d y", "--form z", "-b a", "-e b", "--set job=1"):
            self.assertIn(part, done.stderr)

    def test_the_machine_of_a_scenario(self):
        for args, nodes, ranks in (((), 4, 32), (("--nodes", "2"), 2, 16), (("--gpus-per-node", "2"), 4, 8), (("-g", "4"), 4, 16)):
            self.assertIn(f", {ranks} ranks: {nodes} x ", self.good("collective", "four-nodes", "--no-band", *args).splitlines()[0])
        path = self.write("few.yaml", "name: few\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 3}\njob: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 512}\n")
        for args, ranks in (((), 6), (("-g", "4"), 8), (("--gpus-per-node", "8"), 16)):
            self.assertEqual(self.json("collective", path, "--no-band", *args)["ranks"], ranks, args)

    def test_variables_of_the_environment(self):
        """A variable without a value has that of the environment, and none where it has none."""
        env = {**support.environment(), "NCCL_ALGO": "Tree"}
        usual = ("-x", "NCCL_ALGO")
        for args, how, wanted in ((("-x", "NCCL_ALGO=Ring"), {}, "ring"), (("-x", "NCCL_ALGO=Tree"), {}, "tree"), (usual, {"env": env}, "tree")):
            self.assertEqual(self.json("collective", "--node", "dgx-a100", "--nodes", "2", "--no-band", *args, **how)["results"][0]["algorithm"], wanted)

    def test_what_a_file_says(self):
        """A measurement that names its program and its type is compared with the same; options say otherwise."""
        for op, kind in itertools.product(("all_gather", "reduce_scatter"), ("half", "double")):
            self.good(*NODE, "--op", op, "-d", kind, "-b", "64M", "-J", f"{op}-{kind}.json", "--no-band")
            page = self.good(*NODE, "--check", f"{op}-{kind}.json")
            self.assertIn(f"{op}", page.splitlines()[0])
            self.assertIn("bandwidth ok: 0 of 1 compared", page)


if __name__ == "__main__":
    support.main()
