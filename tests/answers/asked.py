#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What help lists, what sections of the catalogue list, files of collectives, and tables that compare.

`asked.py PROGRAM [Class]`.
"""
import glob
import json
import os
import re
import shlex

import yaml

import answer
from answer import support

TESTS = os.path.dirname(os.path.abspath(__file__))


class Help(answer.AnswerTest):
    def used(self):
        """{command: options} of the command lines in the documentation and in the files of these tests."""
        texts = [support.read(path) for path in glob.glob(os.path.join(glob.escape(support.SOURCE), "docs", "**", "*.md"), recursive=True)]
        lines = [line for text in texts for line in re.findall(r"(?m)(?:^(?:\$ |  )?|`)fabricast ([^\n|>`]*)", text)]
        lines += [line for path in glob.glob(os.path.join(glob.escape(TESTS), "forms", "*.txt")) for line in re.findall(r"(?m)^\$ (.*)$", support.read(path))]
        found = {}
        for line in lines:
            try:
                words = shlex.split(line, comments=True)
            except ValueError:
                continue
            for word in words[1:]:
                if re.match(r"--[a-z]", word):
                    found.setdefault(words[0], set()).add(word.partition("=")[0])
        return found

    def test_options_that_are_used_are_listed(self):
        commands, n = support.commands(self.good("--help")), 0
        for command, options in self.used().items():
            if command not in commands:
                continue
            page = self.good(command, "--help")
            if command in ("validate", "import", "help"):  # kinds of them have options of their own
                continue
            listed = set(re.findall(r"(?m)^  (?:-., |    )?(--[\w-]+)", page))
            self.assertEqual(options - listed, set(), command)
            n += len(options)
        self.assertGreater(n, 60)

    def test_short_names_are_letters(self):
        for command in support.commands(self.good("--help")):
            for short in re.findall(r"(?m)^  -(.), --", self.good(command, "--help")):
                self.assertTrue(short.isalpha(), f"{command}: -{short!r}")

    def test_lists_of_help(self):
        topics = self.good("help")
        self.assertEqual(self.good("help", "topics"), topics)
        listed = self.good("help", "commands")
        commands = support.commands(self.good("--help"))
        self.assertEqual([command for command in commands if not re.search(rf"(?m)^  {command} ", listed)], [])
        self.assertNotEqual(listed, topics)
        self.refused("help", "nothing-of-the-kind", names="nothing-of-the-kind")

    def test_ways_to_ask_for_a_term(self):
        """However somebody asks what a word means, the glossary answers as if only the word stood there."""
        wanted = self.good("help", "all-reduce")
        self.assertEqual(self.good("help", "glossary", "all-reduce"), wanted)
        for question in ("what is an all-reduce?", "What is all-reduce", "what are all-reduce?", "what's an all-reduce", "whats the all-reduce?", "define all-reduce",
                         "explain all-reduce", "meaning of all-reduce", "what does all-reduce mean?", "what does an all-reduce do?", "what does all-reduce stand for?"):
            self.assertEqual(self.good("help", *question.split()), wanted, question)

    def test_answers_stand_apart(self):
        """Each answer is a question, a command and a page with a blank line between, and another one before the next answer."""
        answers = self.good("help", "how", "long", "does", "a", "step", "take?")
        parts = answers.strip("\n").split("\n\n")
        self.assertFalse(answers.startswith("\n"))
        self.assertEqual((len(parts) % 3, "\n\n\n" in answers), (0, False), answers)
        self.assertGreaterEqual(len(parts), 6, answers)
        for i, part in enumerate(parts):
            begin = ("", "  fabricast ", "  More: ")[i % 3]
            self.assertTrue(part.startswith(begin) and "\n" not in part.replace("\n   ", ""), answers)

    def test_what_is_a_question(self):
        """Three words, a question mark, or two words of which the first asks: these have answers, and others are names."""
        for words in (("how", "fast"), ("which", "network?"), ("network", "speed?"), ("network", "too", "slow")):
            self.assertIn("\n  More: ", self.good("help", *words), words)
        self.refused("help", "network", "speedo", names="network speedo")

    def test_what_is_written_wrongly_is_near(self):
        """Every command and every topic is found when a letter too many stands behind it."""
        topics = re.findall(r"(?m)^  ([a-z-]+) {2,}\S", self.good("help", "topics"))
        self.assertGreater(len(topics), 5)
        for name in (*topics, *support.commands(self.good("--help"))):
            self.assertRegex(self.refused("help", name + "q", names=f"there is no command, topic or term '{name}q'"), rf"; nearest is ({name}|{name}s); `fabricast help` lists")

    def test_completion_offers_what_options_take(self):
        """Completions of fish have each command with its summary, and each option with its words; a format is one of those that are described."""
        fish, n = self.good("help", "completion", "fish"), 0
        listed = dict(re.findall(r"(?m)^  ([a-z0-9]+) {2,}(\S.*)$", self.good("--help").split("Start here:\n")[1].split("\n\n", 1)[1]))
        told = {name: text.replace("\\'", "'") for name, text in re.findall(r"(?m)^complete -c fabricast -f -n __fish_use_subcommand -a (\w+) -d '(.*)'$", fish)}
        self.assertEqual(told, listed)
        for command in listed:
            page = self.good(command, "--help")
            options = re.findall(rf"(?m)^complete -c fabricast -n '__fish_seen_subcommand_from {command}' .*?-l ([\w-]+)(?: .*)? -d '", fish)
            shown = re.findall(r"(?m)^  (?:-\w, )?--([\w-]+)", page)
            self.assertEqual(sorted(options), sorted(shown), command)
            for words, about in re.findall(rf"(?m)^complete -c fabricast -n '__fish_seen_subcommand_from {command}' .*-l format -x -a '(.*?)' -d '(.*)'$", fish):
                named = re.findall(r"\b(text|json|csv|markdown|matrix|dot|svg|chrome|kineto|chakra|goal)\b", about)
                self.assertEqual(words.split(), list(dict.fromkeys(named)), f"{command}: {about}")
                n += 1
        self.assertGreater(n, 15)

    def test_completion_knows_the_commands(self):
        for shell in ("bash", "zsh", "fish"):
            text = self.good("help", "completion", shell)
            for command in support.commands(self.good("--help")):
                self.assertRegex(text, rf"\b{command}\b", shell)
            self.assertNotIn("(null)", text)
        self.refused("help", "completion", "tcsh", names="tcsh")


class Written(answer.AnswerTest):
    """Manual pages and completions say what the help of each command says."""

    FORMATS = r"\b(text|json|csv|markdown|matrix|dot|svg|chrome|kineto|chakra|goal)\b"
    LISTED = {"node": "nodes", "accelerator": "accelerators", "nic": "links", "fabric": "fabric", "fidelity": "fidelity", "library": "collectives", "algorithm": "algorithm"}
    NAMED = {"describe": "$(fabricast describe --names 2>/dev/null)", "query": "$(fabricast describe queries --names 2>/dev/null)",
             "measure": "show $(fabricast describe measure --names 2>/dev/null)"}
    SCENARIOS = "$(fabricast describe scenarios --names 2>/dev/null)"

    def setUp(self):
        super().setUp()
        listed = self.good("--help").split("Start here:\n")[1].split("\n\n", 1)[1]
        self.summaries = dict(re.findall(r"(?m)^  ([a-z0-9]+) {2,}(\S.*)$", listed))
        self.pages = {command: self.good(command, "--help") for command in self.summaries}

    def options(self, command):
        """(letter, name, value, words) of each."""
        found = re.findall(r"(?m)^  (?:-(\w), |    )?--([\w-]+)(?:=(\S+))? +(\S.*)$", self.pages[command])
        self.assertIn(("h", "help", "", "Show this help"), found)
        return [option for option in found if option[1] != "help"]

    def values(self, name, words):
        """What a shell offers for an option: words, or a command that lists names."""
        if name == "format":
            return " ".join(dict.fromkeys(re.findall(self.FORMATS, words)))
        return f"$(fabricast describe {self.LISTED[name]} --names 2>/dev/null)" if name in self.LISTED else None

    def names(self, command):
        if command == "help":
            return " ".join([*self.summaries, *re.findall(r"(?m)^  ([a-z-]+) {2,}\S", self.good("help", "topics"))])
        return self.NAMED.get(command)

    def test_manual_pages(self):
        for command, page in self.pages.items():
            with self.subTest(command):
                man = self.good(command, "--help-as=man")
                plain = lambda text: re.sub(r"(?m)^\\&", "", text).replace("\\-", "-").replace("\\e", "\\")
                parts = dict(re.findall(r"(?ms)^\.SH ([A-Z ]+)\n(.*?)(?=^\.SH |\Z)", man))
                self.assertEqual(list(parts), ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"])
                self.assertEqual(plain(parts["NAME"]), f"fabricast-{command} - {self.summaries[command]}\n")
                usage = page.partition("Usage:\n  ")[2].partition("\n")[0].split()
                self.assertEqual(plain(parts["SYNOPSIS"]).split(), [".B", *usage])
                self.assertIn(f'.TH FABRICAST-{command.upper()} 1 "" "fabricast ', man)
                blocks = [part.split("\n") for part in parts["OPTIONS"].split(".TP\n")[1:]]
                wanted = [(f".B {f'-{letter}, ' if letter else ''}--{name}{'=' if value else ''}{value}", words) for letter, name, value, words in self.options(command)]
                self.assertEqual([(plain(head), plain(words)) for head, words, *_ in blocks], [*wanted, (".B -h, --help", "Show this help")])
                for part, text in (("DESCRIPTION", page.split("\n\n", 1)[1].partition("\n\nOptions:")[0] if "Options:" in page else None), ("EXAMPLES", page.partition("Examples:\n")[2])):
                    if text is not None:
                        lines = [line for line in plain(parts[part]).splitlines() if line not in (".PP", ".nf", ".fi")]
                        self.assertEqual(lines, [line for line in text.splitlines() if line], part)
                    inside = False
                    for line in parts[part].splitlines():  # what is indented, and nothing else, stands in a block
                        inside = line == ".nf" or inside and line != ".fi"
                        if not line.startswith("."):
                            self.assertEqual(inside, line.startswith(" "), line)

    def test_zsh(self):
        script = self.good("help", "completion", "zsh")
        told = dict(word.replace("\\:", "\0").split(":") for word in shlex.split(script.partition("commands=(")[2].partition("\n  )\n")[0]))
        self.assertEqual({name: words.replace("\0", ":") for name, words in told.items()}, self.summaries)
        marked = lambda text, marks: re.sub(f"([{re.escape(marks)}])", r"\\\1", text)
        for command in self.summaries:
            with self.subTest(command):
                block = re.search(rf"(?ms)^    {command}\)\n(.*?);;$", script)[1]
                words, wanted = shlex.split(block.replace("\\\n", " ")), []
                for letter, name, value, about in self.options(command):
                    values = self.values(name, about)
                    end = (f"({values})" if values and values[0] != "$" else f"{{compadd -- {values}}}" if values else "_files" if "FILE" in value or "PATH" in value else " ")
                    for spelt in (f"--{name}{'=' if value else ''}", *([f"-{letter}{'+' if value else ''}"] if letter else [])):
                        wanted.append(f"{spelt}[{marked(about, '[]')}]" + (f":{marked(value, ':[]')}:{end}" if value else ""))
                names = self.names(command)
                last = f"*:name:{{compadd -- {names}}}" if names else f"*:scenario:{{compadd -- {self.SCENARIOS}; _files}}" if "SCENARIO" in self.pages[command].split("\n")[1] else "*:file:_files"
                self.assertEqual([words[0], *(word.removeprefix("*") for word in words[1:-1]), words[-1]], ["_arguments", *wanted, "(-h --help){-h,--help}[Show this help]", last])
                for word in words[1:-1]:
                    if re.search(r"--set=", word):
                        self.assertTrue(word.startswith("*"), word)
                    if "[" in word and ":" not in word.rpartition("]")[2]:
                        self.assertFalse(word.startswith("*"), word)

    def test_fish(self):
        script = self.good("help", "completion", "fish")
        for command in self.summaries:
            with self.subTest(command):
                begin = f"complete -c fabricast -n '__fish_seen_subcommand_from {command}'"
                lines, wanted = [line.removeprefix(begin) for line in script.splitlines() if line.startswith(begin)], []
                for letter, name, value, about in self.options(command):
                    values = self.values(name, about)
                    offer = f" -x -a '{values.removeprefix('$')}'" if values else "" if not value else " -r" if "FILE" in value or "PATH" in value else " -x"
                    said = about.replace("\\", "\\\\").replace("'", "\\'")
                    wanted.append(f" -l {name}{f' -s {letter}' if letter else ''}{offer} -d '{said}'")
                wanted.append(" -l help -s h -d 'Show this help'")
                names = self.names(command)
                if names:
                    wanted.append(f" -f -a '{names.replace('$(', '(')}'")
                elif "SCENARIO" in self.pages[command].split("\n")[1]:
                    wanted.append(f" -a '{self.SCENARIOS[1:]}'")
                self.assertEqual(lines, wanted)

    def test_other_shells_and_forms(self):
        self.refused("run", "--help-as=html", names="--help-as html: there are man, zsh and fish")
        self.refused("help", "completion", "fsh", names="completion fsh: there are bash, zsh and fish; nearest is ")
        self.assertEqual(self.good("help", "completion", "bash"), support.read(support.SOURCE, "cli", "completion", "fabricast.bash"))


class Options(answer.AnswerTest):
    """Options however they are spelt, sizes as nccl-tests writes them, and what is said of those that are not there."""

    SIZE = ("collective", "--node", "dgx-a100", "--no-band", "--format", "json")

    def sizes(self, *args):
        return [row["size_bytes"] for row in json.loads(self.good(*self.SIZE, *args))["results"]]

    def test_an_option_has_one_value(self):
        for twice in (("-b", "1M", "-b", "2M"), ("-b", "1M", "--minbytes", "2M"), ("--minbytes=1M", "--minbytes=2M"), ("--minbytes", "1M", "--minbytes=2M")):
            self.refused(*self.SIZE, *twice, names="it is given twice; leave one of them out")
        for same in (("-b", "1M", "-b", "1M"), ("-b", "1M", "--minbytes=1M"), ("--minbytes=1M", "-e", "1M")):
            self.assertEqual(self.sizes(*same), [2**20], same)
        self.assertEqual(self.sizes("-b", "1M", "-x", "NCCL_ALGO=Ring", "-x", "NCCL_PROTO=Simple"), [2**20])  # one of many values
        self.assertEqual(self.json("run", "hello", "--no-db", "--no-band", "--no-bottleneck", "--iterations", "1", "--set", "cluster.nodes=2", "--set", "cluster.gpus_per_node=4")["ranks"], 8)

    def test_options_without_a_value_take_none(self):
        """A flag, one of many values and a word that is no option leave the next one as it is."""
        for before in (("--no-db",), ("--no-db", "--no-db"), ("--set", "cluster.nodes=2"), ("--set=cluster.nodes=2",), ("--no-band", "--set", "--seeds"), ()):
            for twice in (("--seeds", "2", "--seeds", "3"), ("--seeds=2", "--seeds", "3"), ("--seeds", "2", "--no-band", "--seeds=3"), ("--seeds", "2", *before, "--seeds", "3")):
                self.refused("run", *before, "hello", *twice, names="--seeds 2 and --seeds 3: it is given twice; leave one of them out")
        for before in (("-x", "NCCL_ALGO=Ring"), ("--no-band",)):
            self.refused("collective", "--node", "dgx-a100", *before, "-b", "1M", "-b", "2M", names="it is given twice")
            self.assertEqual(self.sizes(*before, "-b", "1M", "-b", "1M"), [2**20])

    def test_sizes_are_spelt_as_people_do(self):
        for text, value in (("32K", 2**15), ("32k", 2**15), ("8M", 2**23), ("8MiB", 2**23), ("1G", 2**30), ("1GB", 10**9), ("100kB", 10**5), ("4096", 4096), ("4096B", 4096)):
            self.assertEqual(self.sizes("-b", text), [value], text)
        for text in ("0", "1.5", "x", "-1", "", "K", "M", "1Q", "1Ki", "1 M M"):
            self.refused(*self.SIZE, "-b", text, names="this is not a size; write for example 32K, 8MiB or 1GB")

    def test_what_is_no_option(self):
        for option, key in (("--nodes", "cluster.nodes"), ("--micro-batch", "job.micro_batch"), ("--nic-rate", "cluster.nic_rate"), ("--iterationss", None)):
            said = self.refused("run", "hello", f"{option}=2", names="Unknown option")
            self.assertIn(f"a key of the scenario is changed with --set {key}=..." if key else "; nearest is --iterations", said)
        said = self.refused("run", "hello", "--zzzzzz", names="Unknown option")
        self.assertIn("`fabricast run --help` lists the options, and --set KEY=VALUE changes a key of the scenario", said)
        said = self.refused("query", "runs", "--zzzzzz", names="Unknown option")
        self.assertIn("`fabricast query --help` lists the options", said)
        self.assertNotIn("--set", said)
        self.refused("run", "--", "-hello", names="'--' is not needed here")
        self.refused("run", names="an argument is missing; usage: fabricast run [OPTION...] SCENARIO")
        self.refused("run", "hello", "hello", names="unexpected argument 'hello'")

    def test_addresses_of_the_other_end(self):
        """HOST, HOST:PORT or [ADDRESS]:PORT; what is wrong is said with the part that is wrong."""
        for peer, names in (("host:x", "'host:x': 'x' is not a port; ports are 1 to 65535, as in host:7471"), ("host:65536", "'65536' is not a port"),
                            ("host:-1", "'-1' is not a port"), ("[::1]:y", "'y' is not a port"), ("host:0", "'host:0' names no host to connect to"),
                            ("", "'' names no host to connect to; write HOST or HOST:PORT"), (":7471", "':7471' names no host to connect to"),
                            ("[::1", "'[::1' is not an address; an IPv6 address with a port is [fe80::1]:7471"), ("[::1]7471", "'[::1]7471' is not an address")):
            self.refused("measure", "tcp", "--peer", peer, names=names)

    def test_formats(self):
        for command in (("run", "hello", "--no-db"), ("cost", "hello"), ("collective", "--node", "dgx-a100")):
            self.refused(*command, "--format", "jsn", names="--format jsn: unknown format; nearest is json; there are text, json and csv")
            self.refused(*command, "--format", "markdown", names="unknown format")
        done = self.fabricast("validate", "memory", "h100-pytorch", "--format", "markdwn")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("nearest is markdown; there are text, json, csv and markdown", done.stderr)
        self.refused("cost", "hello", "--rows", "to-buy", "--format", "json", names="--rows to-buy: only a page of text has rows; leave --format out")
        whole, part = self.good("cost", "hello", "--no-band"), self.good("cost", "hello", "--no-band", "--rows", "to-buy,power")
        self.assertEqual(len([line for line in part.splitlines() if line.strip()]), 2)
        self.assertTrue(set(part.splitlines()) <= set(whole.splitlines()))


class Sections(answer.AnswerTest):
    def test_scenarios_have_the_summaries_of_their_files(self):
        rows = dict(re.findall(r"(?m)^([\w-]+) +(\S.*)$", self.good("describe", "scenarios")))
        paths = [*support.SCENARIOS, *support.LEARN]
        self.assertEqual(set(rows), {os.path.basename(path)[:-5] for path in paths})
        for path in paths:
            told = yaml.safe_load(support.read(path))
            if told.get("summary"):
                self.assertEqual(" ".join(rows[os.path.basename(path)[:-5]].split()), " ".join(told["summary"].split()), path)
        names = self.good("describe", "scenarios", "--names").split()
        self.assertEqual(names, list(rows))

    def test_verdicts_have_their_codes(self):
        page = self.good("describe", "verdicts")
        rows = re.findall(r"(?m)^(\w+) +(stops|warns|notes) +(\S.*)$", page)
        self.assertEqual(len(rows), len(page.splitlines()))
        self.assertEqual(len({row[0] for row in rows}), len(rows))
        self.assertEqual([row[0] for row in rows if row[0] == "does_not_fit"], ["does_not_fit"])
        self.assertTrue(all(row[2].endswith(".") for row in rows))

    def test_sections_of_choices_name_what_they_list(self):
        """`describe` lists the names of a section of models, and the section lists each with its words."""
        page = self.good("describe")
        for section in ("fabric", "route", "fidelity", "congestion", "collectives", "compute", "shape", "job"):
            names = re.search(rf"(?m)^{section} +(\S.*)$", page)[1].split(", ")
            listed = self.good("describe", section)
            self.assertEqual(re.findall(r"(?m)^([\w-]+) +\S", listed.split("\n\n")[0]), names)
        operations = re.search(r"(?m)^Operations: (.*)$", self.good("describe", "collectives"))[1].split(", ")
        self.assertIn("all_reduce", operations)
        for operation in operations:
            self.fabricast("collective", "--node", "dgx-a100", "--op", operation, "--no-band")

    def test_backends_say_how_they_measure(self):
        page = self.good("describe", "measure")
        names = re.findall(r"(?m)^([\w-]+) {2,}\S", page)
        self.assertIn("tcp", names)
        self.assertGreater(len(self.good("describe", "measure", "tcp")), 100)
        self.refused("describe", "measure", "nothing", names="nothing")


class Files(answer.AnswerTest):
    def test_a_file_has_what_was_asked_for(self):
        """-J writes the configuration as nccl-tests does, and times and rates of both places."""
        rows = json.loads(self.good("collective", "--node", "dgx-a100", "-b", "1M", "-e", "4M", "--op", "all_gather", "--format", "json"))["results"]
        self.good("collective", "--node", "dgx-a100", "-b", "1M", "-e", "4M", "--op", "all_gather", "-J", "x.json")
        told = json.loads(support.read(self.path("x.json")))
        config = told["config"]
        self.assertEqual(told["args"], ["all_gather_perf"])
        self.assertEqual((config["nthreads"], config["ngpus"], config["minimum_bytes"], config["maximum_bytes"], config["step_factor"]), (1, 8, 2**20, 2**22, 2))
        self.assertEqual([one["rank"] for one in config["devices"]], list(range(len(config["devices"]))))
        self.assertEqual([one["size"] for one in told["results"]], [row["size_bytes"] for row in rows])
        for one, row in zip(told["results"], rows):
            self.assertEqual(one["out_of_place"], one["in_place"])
            self.assert_same(one["in_place"]["time"], row["time_us"])
            self.assert_same(one["in_place"]["alg_bw"], row["algbw_GBps"])
            self.assert_same(one["in_place"]["bus_bw"], row["busbw_GBps"])
            self.assertEqual((one["type"], one["redop"], one["root"].strip(), one["count"]), ("float", "none", "-1", row["size_bytes"] // 4 // 8))
        self.assert_same(told["average_bus_bandwidth"]["bandwidth"], sum(row["busbw_GBps"] for row in rows) / len(rows))
        self.refused("collective", "--node", "dgx-a100", "-J", "x.json", names="this file exists")

    def test_messages_of_sizes_that_were_not_measured(self):
        """Of a link that was measured every form says how many sizes of messages there are, and the page marks rows with some
        beyond what was measured; other links say nothing."""
        self.good("calibrate", os.path.join(support.SOURCE, "docs", "examples", "link.csv"), "--base", "ib-hdr", "--name", "mine", "-o", "mine.yaml")
        command = ("collective", "--node", "host", "--nodes", "4", "--library", "mpi", "-b", "8", "-e", "1G", "-f", "64", "--no-band")
        for more in (("--with", "mine.yaml", "--nic", "mine"), ()):
            rows = self.json(*command, *more)["results"]
            self.assertTrue(all(("message_sizes" in row) == bool(more) for row in rows))
            table = answer.csv_rows(self.good(*command, *more, "--format", "csv"))
            shown = [line.endswith(" *") for line in self.good(*command, *more).splitlines() if not line.startswith("#")]
            for row, cells, is_marked in zip(rows, table, shown, strict=True):
                self.assertEqual([cells.get(name) for name in ("message_sizes", "message_sizes_outside")],
                                 [str(row[name]) if more else None for name in ("message_sizes", "message_sizes_outside")])
                self.assertEqual(is_marked, row.get("message_sizes_outside", 0) > 0)
            self.assertEqual({is_marked for is_marked in shown}, {True, False} if more else {False})

    def test_results_are_named_as_nccl_tests_names_them(self):
        """Number of elements, their type, the operation and the root are those of the table, in which all have their columns."""
        for i, (op, kind) in enumerate((("all_reduce", "bfloat16"), ("reduce", "half"), ("broadcast", "int8"), ("alltoall", "float"), ("reduce_scatter", "double"))):
            command = ("collective", "--node", "dgx-a100", "-b", "1M", "-e", "4M", "--op", op, "-d", kind, "--no-band")
            rows = [line.split()[:5] for line in self.good(*command).splitlines() if not line.startswith("#")]
            self.good(*command, "-J", f"{i}.json")
            told = json.loads(support.read(self.path(f"{i}.json")))["results"]
            self.assertEqual([[str(one["size"]), str(one["count"]), one["type"], one["redop"], one["root"].strip()] for one in told], rows)
            self.assertEqual({row[2] for row in rows}, {kind})

    def test_tolerances(self):
        """A share from 0 on and below 1, with or without a percent sign."""
        measured = self.write("own.txt", self.good("collective", "--node", "dgx-a100", "-b", "64M", "-e", "256M"))
        for taken in ("0.2", "20%", "0", "99%", "0.999"):
            done = self.fabricast("collective", "--node", "dgx-a100", "--check", measured, "--tolerance", taken)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertTrue(done.stdout)
        for refused in ("1", "100%", "-1%", "2x", "x", "", "0.2x", "%"):
            self.refused("collective", "--node", "dgx-a100", "--check", measured, "--tolerance", refused, names="--tolerance")


class Matrices(answer.AnswerTest):
    """Rates and latencies between two GPUs, as p2pBandwidthLatencyTest prints them."""

    TITLES = {"P2P Connectivity Matrix": "is_peer", "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)": "one_way_disabled_GBps",
              "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)": "one_way_enabled_GBps",
              "Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)": "both_ways_disabled_GBps", "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)": "both_ways_enabled_GBps",
              "P2P=Disabled Latency Matrix (us)": "latency_disabled_us", "P2P=Enabled Latency (P2P Writes) Matrix (us)": "latency_enabled_us"}

    def test_each_cell_is_that_of_the_document(self):
        for machine in (("--node", "dgx-a100", "-g", "3"), ("--node", "dgx-h100", "--nodes", "2", "-g", "2")):
            told, lines = self.json("p2p", *machine), self.good("p2p", *machine).splitlines()
            n = told["nodes"] * told["gpus_per_node"]
            for title, key in self.TITLES.items():
                at = lines.index(title)
                self.assertEqual(lines[at + 1].split()[1:], [str(i) for i in range(n)], title)
                for i in range(n):
                    first, *cells = lines[at + 2 + i].split()
                    self.assertEqual(first, str(i))
                    self.assertEqual(len(cells), n)
                    for cell, value in zip(cells, told[key][i]):
                        self.assertTrue(cell == str(int(value)) if isinstance(value, bool) else answer.quantity(cell).is_near(value), f"{title}: {cell} is not {value}")
            rows = answer.csv_rows(self.good("p2p", *machine, "--format", "csv"))
            values = [told[key][i][k] for key in self.TITLES.values() for i in range(n) for k in range(n)]
            self.assertEqual([(int(row["from"]), int(row["to"])) for row in rows], [(i, k) for _ in self.TITLES for i in range(n) for k in range(n)])
            self.assertEqual(len({row["matrix"] for row in rows}), len(self.TITLES))
            for row, value in zip(rows, values, strict=True):
                self.assert_cell(row["value"], float(value), row["matrix"])


class Compared(answer.AnswerTest):
    COMMAND = ("compare", "moe-mixtral-128-gpus", "--vary", "cluster.nic_rate=100Gb/s,400Gb/s", "--no-band")

    def rows(self, part):
        """(indent, words, quantities) of the lines of a part of the page; what is too long for its column goes on below."""
        lines = []
        for line in part.splitlines():
            if lines and not lines[-1][2] and line.startswith(" " * 30):
                lines[-1] = (lines[-1][0], lines[-1][1], answer.quantities(line))
                continue
            cells = re.split(r" {2,}", line.strip())
            found = [quantity for cell in cells[1:] for quantity in answer.quantities(cell)]
            lines.append((len(line) - len(line.lstrip()), cells[0], found))
        return lines

    FIGURES = {"GPUs": "gpus", "nodes": "nodes", "exposed": "exposed_fraction", "exposed.inter_node": "exposed_inter_node_fraction", "idle": "idle_fraction",
               "waiting": "waiting_fraction", "mfu": "mfu_fraction", "tokens per second": "tokens_per_s", "memory": "memory_bytes", "capex": "capex_usd",
               "network_share": "network_capex_fraction", "power": "power_watts", "network_power": "network_power_fraction", "hour_cost per hour": "usd_per_hour",
               "step_cost per step": "usd_per_step", "token_cost per million tokens": "usd_per_million_tokens", "step_energy per step": "step_joules"}

    def test_each_figure_has_its_row(self):
        told = self.json(*self.COMMAND)
        part = next(part for part in self.good(*self.COMMAND).split("\n\n") if re.search(r"(?m)^  GPUs ", part))
        rows = {words: found for _, words, found in self.rows(part)}
        for label, key in self.FIGURES.items():
            for one, figures in zip(rows.pop(label), told["figures"], strict=True):
                self.assertTrue(answer.is_near_in_unit(one, figures[key]), f"{label}: {one.text} is not {figures[key]}")
        first, second = told["figures"]
        for one, figures in zip(rows.pop("speed-up"), told["figures"], strict=True):
            self.assertTrue(one.is_near(first["step_s"] / figures["step_s"]))
        for one, rate in zip(rows.pop("a NIC port"), (100, 400), strict=True):
            self.assertEqual(one.value, rate * 1e9 / 8)
        self.assertEqual([words for words in rows if not words.startswith("nic_rate=")], [])

    def test_parts_stand_below_their_sums(self):
        page = self.good(*self.COMMAND)
        told = self.json(*self.COMMAND)
        parts = page.split("\n\n")
        step = self.rows(next(part for part in parts if part.startswith("  step ")))
        self.assertEqual([(indent, words.split()[0]) for indent, words, _ in step],
                         [(2, "step"), (4, "against"), (2, "compute"), (2, "communication"), (4, "overlapped"), (4, "exposed"), (6, "data"), (6, "tensor"), (6, "expert"),
                          (6, "pipeline"), (6, "other"), (2, "idle")])
        for i, variant in enumerate(told["variants"]):
            value = {words.split()[0]: found[i] for _, words, found in step if words != "against" and len(found) == 2}
            self.assertTrue(value["step"].is_near(variant["step_s"]))
            self.assert_adds_up(value["step"], [value["compute"], value["exposed"], value["idle"]])
            self.assert_adds_up(value["communication"], [value["overlapped"], value["exposed"]])
            self.assert_adds_up(value["exposed"], [value[name] for name in ("data", "tensor", "expert", "pipeline", "other")])
        [against] = step[1][2]
        self.assertTrue(against.is_near(told["variants"][1]["step_s"] / told["variants"][0]["step_s"] - 1))

    def assert_adds_up(self, whole, parts):
        self.assertAlmostEqual(whole.value, sum(part.value for part in parts), delta=(whole.step + sum(part.step for part in parts)) / 2 * 1.01)

    def test_kinds_of_collectives_add_up(self):
        page = self.good(*self.COMMAND)
        rows = self.rows(next(part for part in page.split("\n\n") if part.startswith("  collectives, sums")))
        kinds = [found for indent, words, found in rows if re.match(r"\d+ x ", words)]
        self.assertTrue(all(indent == 4 for indent, *_ in rows[1:]), rows)
        self.assertGreater(len(kinds), 4)
        for i in range(2):
            self.assert_adds_up(rows[0][2][i], [found[i] for found in kinds])

    def test_one_question_has_one_answer(self):
        """Step and days of a job whose iterations differ are the same whichever command is asked."""
        hello = os.path.join(support.SOURCE, "scenarios", "hello.yaml")
        self.write("mine.yaml", f"name: mine\ninclude: {hello}\ncluster: {{gpus_per_node: 2}}\njob: {{jitter: {{cv: 20%}}, train_tokens: 1e12}}\n")
        run = self.json("run", "mine.yaml", "--no-db", "--no-band", "--no-bottleneck")
        steps = [iteration["step_s"] for iteration in run["iterations"]]
        self.assertNotEqual(steps[-1], steps[-2])
        for command, key in (("compare mine.yaml --vary iterations=3 --no-band", "figures"), ("whatif mine.yaml --set iterations=3 --no-band", "points"),
                             ("scale mine.yaml --gpus 2 --no-band", "points"), ("size mine.yaml --vary iterations=3 --target step<=10s", "points"),
                             ("sweep mine.yaml --vary iterations=3", "points")):
            figures = self.json(*command.split(), "--seeds", "1")[key][0]
            self.assert_same(figures["step_s"], steps[-1], command)
            self.assert_same(figures["train_s"] / 86400, run["train_days"], command)

    def test_what_an_upgrade_says_is_what_a_run_gives(self):
        """Each change has the assignments with which `run` takes the step that `upgrade` says, and the page has those of what it recommends."""
        asked = ("upgrade", "four-nodes", "--only", "setting,nic,nics,node", "--no-band")
        told = self.json(*asked)
        played = [(one["step_s"], its) for one, its in zip(told["changes"], told["assignments"], strict=True) if one["step_s"] is not None]
        self.assertGreater(len(played), 10)
        for step_s, its in played:
            sets = [word for assignment in its["set"] for word in ("--set", assignment)]
            run = json.loads(self.fabricast("run", "four-nodes", "--no-db", "--no-band", "--no-bottleneck", *sets, "--format", "json").stdout)
            self.assert_same(run["iterations"][-1]["step_s"], step_s, its["change"])
        page = self.good(*asked[:-1])
        said = dict(re.findall(r"(?m)^  (?:\w+ first|most) +(.+?): saves .*\n.*\n +It is set with (.*)$", page))
        self.assertGreater(len(said), 0)
        sets = {its["change"]: " ".join(f"--set {one}" for one in its["set"]) for its in self.json(*asked[:-1])["assignments"]}
        self.assertEqual(said, {name: sets[name] for name in said})

    def test_a_limit_that_was_not_looked_for_is_called_so(self):
        """A plan asks what limits the best of each kind; of the others the column says that they were not asked."""
        job = "{kind: fsdp, model: llama3-8b, micro_batch: 1, sequence: 8192}"
        self.write("mine.yaml", f"name: mine\ncluster: {{node: dgx-h100, nodes: 8}}\njob: {job}\n")
        asked = ("plan", "mine.yaml", "--top", "50")
        limits = [one["limited_by"] for one in self.json(*asked)["points"] if one["rank"] is not None]
        self.assertTrue(None in limits and set(limits) != {None}, limits)
        rows = re.findall(r"(?m)^ +\d+  \S.* GB  +(\S.*)$", self.good(*asked))
        self.assertEqual(len(rows), len(limits))
        self.assertEqual(sum(row == "not asked" for row in rows), limits.count(None), rows)

    def test_eight_kinds_have_room(self):
        """Of more than eight kinds of collectives the others are counted."""
        for n in (8, 9, 10):
            operations = ", ".join("{op: %s, size: %dMB}" % (op, 1 + i)
                                   for i, op in enumerate((["all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "send_recv", "gather", "scatter"] * 2)[:n]))
            done = self.fabricast("compare", "four-nodes", "--vary", "cluster.nic_rate=100Gb/s,200Gb/s", "--no-band", "--set", f"job={{kind: collective, operations: [{operations}]}}")
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = len(re.findall(r"(?m)^    (?:\d+ x )?(?:all_|reduce|broadcast|send_|gather|scatter)\w* ", done.stdout))
            rest = re.search(r"and (\d+) more kinds?: --format csv", done.stdout)
            kinds = shown + (int(rest[1]) if rest else 0)
            self.assertEqual(shown, min(kinds, 8))
            self.assertEqual(rest is not None, kinds > 8)


if __name__ == "__main__":
    support.main()
