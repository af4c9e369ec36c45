#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Equal questions have equal answers: lines that start nccl-tests, options, files and lists that say the same.

`equals.py PROGRAM [Class]`.
"""
import json
import os
import re
import shlex

import answer
from answer import support

SIZES = ("-b", "1M", "-e", "8M", "--no-band")


class Collective(answer.AnswerTest):
    def rows(self, *args):
        return json.loads(self.good("collective", "--format", "json", *args))["results"]

    def test_a_line_that_starts_nccl_tests(self):
        """What mpirun and srun say of ranks, nodes, sizes, operation and variables is what the options say."""
        wanted = self.rows("--node", "dgx-h100", "--nodes", "2", *SIZES)
        ring = self.rows("--node", "dgx-h100", "--nodes", "2", "-x", "NCCL_ALGO=Ring", *SIZES)
        gather = self.rows("--node", "dgx-h100", "--nodes", "2", "--op", "all_gather", *SIZES)
        self.assertNotEqual(wanted, gather)
        tail = ("-b", "1M", "-e", "8M", "-f", "2")
        for line, rows in (
                (("mpirun", "-np", "16", "-N", "8", "./all_reduce_perf", *tail), wanted),
                (("mpirun", "-n", "16", "--map-by", "ppr:8:node", "-x", "NCCL_ALGO=Ring", "/opt/all_reduce_perf", *tail), ring),
                (("srun", "-N", "2", "--ntasks-per-node=8", "all_gather_perf", *tail), gather),
                (("srun", "-N2", "-n16", "all_reduce_perf", *tail), wanted),  # values right behind their options
                (("srun", "--nodes=2", "-n", "16", "all_reduce_perf", "-b1M", "-e8M", "-f2", "-g1"), wanted),
                (("mpirun", "-np", "16", "-N", "8", "./all_reduce_perf", "-b", "1M", "-e", "8M", "-f", "2", "-g", "1"), wanted)):
            self.assertEqual(self.rows("--node", "dgx-h100", "--no-band", *line), rows, line)

    def test_sizes(self):
        """Factors and steps give the sizes that they say."""
        sizes = lambda *args: [row["size_bytes"] for row in self.rows("--node", "dgx-a100", "--no-band", *args)]
        self.assertEqual(sizes("-b", "1M", "-e", "16M", "-f", "4"), [1 << 20, 4 << 20, 16 << 20])
        self.assertEqual(sizes("-b", "1M", "-e", "4M", "-i", "1M"), [1 << 20, 2 << 20, 3 << 20, 4 << 20])
        self.assertEqual(sizes("-b", "2M"), [2 << 20])
        self.assertEqual(sizes(), [32 << 20])

    def test_rates_are_those_of_the_times(self):
        """algbw is size by time; nccl-tests counts 2 (n - 1) / n of it as busbw of an all-reduce, (n - 1) / n of an all-gather."""
        for op, factor in (("all_reduce", 2 * 7 / 8), ("all_gather", 7 / 8), ("broadcast", 1)):
            for row in self.rows("--node", "dgx-a100", "--op", op, *SIZES):
                self.assert_same(row["algbw_GBps"], row["size_bytes"] / row["time_us"] / 1e3, op)
                self.assert_same(row["busbw_GBps"], row["algbw_GBps"] * factor, op)

    def test_the_file_of_nccl_tests(self):
        """-J writes what the table says, and a table is held against itself: nothing is slower. Against half of it, all is."""
        rows = self.rows("--node", "dgx-a100", "-b", "64M", "-e", "256M", "-J", "own.json")
        told = json.loads(support.read(self.path("own.json")))
        self.assertEqual(answer.numbers(told) and [row["size_bytes"] for row in rows], [64 << 20, 128 << 20, 256 << 20])
        for row in rows:
            self.assertTrue(any(abs(value - row["busbw_GBps"]) < 0.01 for value in answer.numbers(told)), row)
        table = self.good("collective", "--node", "dgx-a100", "-b", "64M", "-e", "256M")
        measured = self.write("own.txt", table)
        same = self.fabricast("collective", "--node", "dgx-a100", "--check", measured)
        self.assertEqual(same.returncode, 0)
        self.assertEqual(re.findall(r" (\d\.\d\d)  ok ", same.stdout), ["1.00"] * 3)
        slow = self.write("slow.txt", re.sub(r"(?m)^( +\d+ +\d+ +float +sum +-1 +)(\S+)( +)(\S+)( +)(\S+)",
                                             lambda row: f"{row[1]}{float(row[2]) * 2:.2f}{row[3]}{float(row[4]) / 2:.2f}{row[5]}{float(row[6]) / 2:.2f}", table))
        told = self.fabricast("collective", "--node", "dgx-a100", "--check", slow)
        self.assertEqual(told.returncode, 1)
        self.assertEqual(re.findall(r" (\d\.\d\d)  (?!ok)\w+ ", told.stdout), ["0.50"] * 3)
        self.assertEqual(self.fabricast("collective", "--node", "dgx-a100", "--check", slow, "--tolerance", "60%").returncode, 0)


class Lists(answer.AnswerTest):
    def test_rates_of_a_list_are_those_of_its_entries(self):
        table = {row[0]: row[1:] for row in re.findall(r"^  ([\w.-]+) +([\d.]+) +([\d.-]+) +([\d.-]+) +([\d.-]+)  ", self.good("describe", "links"), re.M)}
        self.assertGreater(len(table), 20)
        names = sorted(table)
        for name in (names[0], "ib-hdr", "nvlink4", names[-1]):
            page = self.good("describe", "links", name)
            for text, cell in zip((r"line rate, one direction", r"achievable, copy engine, NIC", r"achievable, kernel"), table[name]):
                found = re.search(rf"(?m)^# {text}: (.*)$", page)
                if found and cell != "-":
                    self.assertAlmostEqual(answer.quantity(found[1]).value / 1e9 / float(cell), 1, 2, f"{name}: {text}")

    def test_layers_of_a_model_are_its_parameters(self):
        """What the blocks, the embedding and the head have is what a rank of one GPU keeps in 16 bits."""
        page = self.good("describe", "models", "gpt2-xl", "--sequence", "1024")
        blocks, each = map(int, re.search(r"^# (\d+) x block0 to block47, (\d+) parameters each", page, re.M).groups())
        alone = [int(n) for n in re.findall(r"^# \w+, (\d+) parameters$", page, re.M)]
        parts = [int(n) for n in re.findall(r"^#   (?:attention|mlp) +(\d+) ", page, re.M)]
        self.assertEqual(sum(parts), each)
        memory = self.json("run", "hello", "--no-db", "--no-band", "--no-bottleneck", "--iterations", "1")["memory"]["parts"]
        self.assertEqual(2 * (blocks * each + sum(alone)), memory["parameters"])

    def test_help_has_one_list_of_options(self):
        """The pages of man, and what completes in zsh and fish, have the options of --help."""
        for command in ("run", "size", "collective"):
            page = self.good(command, "--help")
            options = [name for name in re.findall(r"^  (?:-., |    )?--([\w-]+)", page, re.M) if name != "help"]
            for form in ("man", "zsh", "fish"):
                text = self.good(command, "--help-as", form).replace("\\-", "-")
                for name in options:
                    self.assertIn(name, text, f"{command} {form}")
                self.assertNotIn("(null)", text)
            self.assertIn("--help", page)
            self.assertEqual(self.good("help", command), page)

    def test_completions_say_what_help_says(self):
        """Of every option of every command the same words: a shell reads its own quotes and backslashes, and shows none of them."""
        n_quotes = n_files = 0
        for command in support.commands(self.good("--help")):
            page = self.good(command, "--help")
            told = {name: (short, value, words) for short, name, value, words in re.findall(r"(?m)^  (?:-(\w), )?--([\w-]+)(?:=(\S+))? {2,}(\S.*)$", page)}
            zsh, fish = self.good(command, "--help-as", "zsh"), self.good(command, "--help-as", "fish")
            shown = {}
            for spec in shlex.split(zsh.replace("\\\n", " ").split("_arguments", 1)[1].rstrip(" ;\n")):
                found = re.fullmatch(r"\*?-(?:-([\w-]+)=?|(\w)\+?)\[((?:[^][\\]|\\[][])*)\](?::((?:[^][:\\]|\\[][:])*):(.*))?", spec)
                if found:
                    words, value = (re.sub(r"\\(.)", r"\1", part or "") for part in found.groups()[2:4])
                    if found[5] in (" ", "_files"):  # and no list of values
                        self.assertEqual(found[5] == "_files", bool(re.search("FILE|PATH", value)), spec)
                        n_files += found[5] == "_files"
                    shown[found[1] or found[2]] = words, value
            self.assertEqual(set(shown), {name for name, (short, *_) in told.items() for name in (name, short) if name} - {"h", "help"}, command)
            for name, (short, value, words) in told.items():
                for one in filter(lambda one: one in shown, (name, short)):
                    self.assertEqual(shown[one][0], words)
                    self.assertIn(shown[one][1], (value, "value"), f"{command} --{name}")
                n_quotes += "'" in words
            for name, how in re.findall(r"(?m)^complete -c fabricast -n .*? -l ([\w-]+)(?: -s \w)?( -[xr])? -d", fish):
                value = told[name][1]
                self.assertEqual(how, "" if not value else " -r" if re.search("FILE|PATH", value) else " -x", f"{command} --{name}")
            lines = {}
            for name, words in re.findall(r"(?m)^complete -c fabricast -n .*? -l ([\w-]+) .*?-d '((?:[^'\\]|\\['\\])*)'$", fish):
                lines[name] = re.sub(r"\\(.)", r"\1", words)
            self.assertEqual(lines, {name: words for name, (_, _, words) in told.items()}, command)
        self.assertGreater(n_quotes, 5)
        self.assertGreater(n_files, 20)


class Shares(answer.AnswerTest):
    def test_shares_of_failures_are_all(self):
        """What fails is listed with its share of all failures, and how often: one every so many days."""
        command = ("goodput", "ddp-2b-4nodes-200g", "--set", "reliability.failures=meta-llama3", "--set", "job.train_tokens=1e12", "--no-band", "--trials", "2")
        rows = re.findall(r"(?m)^  [\w-]+ +([\d.e+-]+) +([\d.]+) % +([\d.e+-]+) days   \S", self.good(*command))
        classes = self.json(*command)["classes"]
        self.assertEqual(len(rows), len(classes))
        total = sum(one["per_day"] for one in classes)
        for (per_day, share, days), one in zip(rows, classes):
            self.assertAlmostEqual(float(share), 100 * one["per_day"] / total, delta=0.051)
            self.assertAlmostEqual(float(per_day) * float(days), 1, 2)
        self.assertAlmostEqual(sum(float(row[1]) for row in rows), 100, delta=0.05 * len(rows))

    def test_what_slows_steps_says_by_how_much(self):
        """Failures that stop the job, those that slow its steps until they are found, and planned stops."""
        command = ("goodput", "ddp-2b-4nodes-200g", "--set", "reliability={failures: meta-research, repair: 2d}", "--no-band", "--trials", "0")
        classes, page = self.json(*command)["classes"], self.good(*command)
        found = set()
        for one in classes:
            found.add(one["does"])
            said = re.search(rf"(?m)^  {re.escape(one['name'])} .*? days   (\S.*)$", page)[1]
            self.assertEqual(said.endswith(", the node is repaired"), one["repair"])
            what = said.removesuffix(", the node is repaired")
            if "slowdown" in one:
                self.assertTrue(answer.quantity(what).is_near(one["slowdown"]), what)
                self.assertRegex(what, r"^steps take [\d.]+ % longer until it is found$")
            else:
                self.assertIn(what, ("stops the job", "planned stop"))
        self.assertGreaterEqual(len(found), 2)

    def test_matrices_are_square(self):
        told = self.json("p2p", "--node", "dgx-a100", "-g", "3")
        for key, matrix in told.items():
            if isinstance(matrix, list):
                self.assertEqual([len(row) for row in matrix], [3] * 3, key)
                for i in range(3):
                    for j in range(3):
                        self.assertEqual(matrix[i][j], matrix[j][i], f"{key}: what joins a and b joins b and a")
        self.assertEqual(told["is_peer"], [[True] * 3] * 3)

    def test_differences_of_congestion_are_of_the_two(self):
        for row in self.json("validate", "congestion", "incast-4-100g"):
            self.assert_same(row["difference"], row["ours"] / row["theirs"] - 1, row["control"], rel=1e-6)
            self.assertLessEqual(abs(row["difference"]), row["limit"])

    def test_a_plan_lists_twelve(self):
        told = self.json("plan", "hello")
        ranked = [point for point in told["points"] if point["rank"]]
        rows = re.findall(r"(?m)^ +(\d+)  \S", self.good("plan", "hello"))
        self.assertEqual([int(row) for row in rows], list(range(1, min(len(ranked), 12) + 1)))


class Files(answer.AnswerTest):
    def test_no_file_is_read_and_written_at_once(self):
        """What is imported stays as it is: -o does not name it, by whichever way."""
        text = support.read(support.SOURCE, "tests", "fixtures", "import", "nccl-p4d.xml")
        path = self.write("own.xml", text)
        for other in (path, os.path.join(os.path.dirname(path), ".", "own.xml")):
            self.refused("import", path, "-o", other, names="own.xml")
            self.assertEqual(support.read(path), text)
        self.good("import", path, "-o", "new.yaml")
        self.assertEqual(support.read(self.path("new.yaml")), self.good("import", path))


if __name__ == "__main__":
    support.main()
