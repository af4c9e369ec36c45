#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help: commands in groups, topics whose commands work, the nearest name for every kind of mistake. And the glossary: complete, true to keys and commands of the program, and the same in help, pages and JSON."""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

import support
from support import HELLO, SOURCE, CliTest, commands, environment, main, read, takes_long

PAGE = os.path.join("docs", "reference", "glossary.md")
WANTED = """all-reduce reduce-scatter all-gather all-to-all broadcast NCCL RCCL DDP ZeRO ZeRO-1 ZeRO-2 ZeRO-3 FSDP HSDP bucket
prefetch TP PP EP CP DP micro-batch bubble NVLink NVSwitch SHARP PCIe HCA NIC rail leaf spine tier oversubscription bisection
ECMP spraying incast PFC ECN DCQCN RDMA RoCE InfiniBand EFA algbw busbw roofline MFU HFU exposed overlapped idle step band
straggler jitter fidelity critical_path binding_link alpha-beta Slurm GEMM MPI MTU BF16 FP8 DiLoCo LoRA DeepEP MSCCL Chakra GOAL
DGX NVL72 TPU UPI NUMA DMA FEC GID DSCP CNP HPCC NSCC Swift REPS UGAL Clos ETTR PUE p95 HDR NDR catalogue verdict
""".split()
MOST_WORDS = 60  # of a paragraph


ANSWERED = {  # what is asked, and what the first answer runs
    "how many gpus do I need": "fabricast scale ",
    "how long does it take to train llama 70b": "fabricast goodput ",
    "is 200 Gb/s enough": "fabricast size four-nodes --vary cluster.nic_rate=",
    "do I need infiniband or is ethernet enough": "fabricast compare four-nodes --vary cluster.nic=",
    "what should I buy first": "fabricast upgrade ",
    "is a third nic worth it": "fabricast upgrade four-nodes --only nics,nic,nodes ",
    "how many nodes can I connect before exposed is over 5 %": "fabricast size four-nodes --vary cluster.nodes=32,",
    "how many switches do I need": "fabricast cost ",
    "how much power does it draw": "fabricast cost ",
    "which topology is best": "fabricast compare fabric-",
    "what bandwidth should nccl-tests show": "fabricast collective ",
    "can I trust the numbers": "fabricast validate accuracy",
    "does llama 3 70b fit on 8 gpus": "fabricast run hello --no-db --rows memory",
    "how to use my own model": "fabricast describe job",
    "how to compare two runs": "fabricast compare hello four-nodes",
    "how do I export a chrome trace": "fabricast trace ",
    "how to read results in python": "fabricast run hello --no-db --format csv",
    "what happens when a link fails": "fabricast whatif fabric-ddp-rail --fault ",
    "how do checkpoints affect training time": "fabricast goodput ",
    "how do I change the number of nodes": "fabricast run hello --no-db --brief --set cluster.nodes=",
    "which fidelity should I use": "fabricast run hello --no-db --brief --fidelity packet",
    "how do I run a parameter sweep": "fabricast sweep ",
    "how to use less memory": "fabricast run hello --set job.micro_batch=64",
    "pipeline or tensor parallel": "fabricast plan ",
    "does it need a gpu": "fabricast run hello --no-db --brief",
    "can I simulate inference": "fabricast run kv-qwen3-8b",
    "how do I model mixture of experts": "fabricast run moe-",
    "what is the effect of congestion control": "fabricast describe congestion",
    "which nodes are supported": "fabricast describe nodes",
    "which link is the bottleneck": "fabricast run four-nodes --no-db --rows step,limited-by",
    "how do I reproduce a result": "fabricast bundle ",
    "how to draw the network": "fabricast topo ",
    "how many nics": "fabricast size hello --set cluster.nodes=4 --vary cluster.nics_per_node=",
    "why is my training slow?": "fabricast run four-nodes --no-db --rows step,limited-by,verdict",
    "what does it cost": "fabricast cost ",
    "how accurate is it?": "fabricast validate accuracy",
    "does it fit into memory": "fabricast run hello --no-db --rows memory",
    "Which oversubscription is fine": "fabricast compare ",
    "what if a link is broken": "fabricast whatif fabric-ddp-rail --fault ",
}


NEAREST = [  # what is written, and what is meant
    (["rum", HELLO], "run"),
    (["--hlp"], "--help"),
    (["run", HELLO, "--fidelty", "fluid"], "--fidelity"),
    (["run", HELLO, "--fidelity", "fliud"], "fluid"),
    (["run", HELLO, "--set", "job.micro_bath=2"], "micro_batch"),
    (["run", HELLO, "--set", "job.model=llama2-7v"], "llama2-7b"),
    (["run", HELLO, "--set", "cluster.node=dgx-h10"], "dgx-h100"),
    (["run", HELLO, "--format", "jsn"], "json"),
    (["size", HELLO, "--vary", "cluster.nodes=1,2", "--target", "exposd<=1%"], "exposed"),
    (["explain", HELLO, "expsed"], "exposed"),
    (["tune", HELLO, "--knobs", "buckt"], "bucket"),
    (["tune", HELLO, "--by", "stp"], "step"),
    (["upgrade", HELLO, "--only", "nods"], "node"),
    (["plan", HELLO, "--strategies", "zer3"], "zero3"),
    (["compare", HELLO, HELLO, "--at-equal", "tokns"], "tokens"),
    (["collective", "--node", "dgx-h100", "-b", "1M", "--op", "all_reduc"], "all_reduce"),
    (["collective", "--node", "dgx-h100", "-b", "1M", "--algorithm", "rng"], "Ring"),
    (["help", "scenaro"], "scenario"),
    (["help", "colective"], "collective"),
    (["help", "glossary", "allreduc"], "all-reduce"),
    (["help", "tensor paralel"], "TP"),
    (["help", "oversubscribtion"], "oversubscription"),
    (["describe", "nods"], "nodes"),
    (["query", "exposd"], "exposed"),
]


class Help(CliTest):
    def topics(self):
        return re.findall(r"^  ([a-z-]+) +\S", self.good("help"), re.M)

    def test_groups(self):
        text = self.good("--help")
        for title in ("Start here", "Play", "Compare", "Decide", "Hardware", "Results", "Learn"):
            self.assertIn(f"\n\n{title}:\n", text)
        self.assertEqual(len(commands(text)), len(set(commands(text))))
        for line in text.splitlines():
            self.assertLessEqual(len(line), 100)
        self.assertEqual(self.good("-h"), text)

    def test_a_topic_explains_itself(self):
        self.assertIn("glossary", self.topics())
        for topic in self.topics():
            for paragraph in self.good("help", topic).split("\n\n"):
                if not paragraph.startswith("  "):
                    self.assertLessEqual(len(paragraph.split("\n  ")[0].split()), MOST_WORDS, paragraph)

    def test_commands_of_topics_work(self):
        for name in ("scenarios", "docs"):
            os.symlink(os.path.join(SOURCE, name), self.path(name))
        os.mkdir(self.path("bin"))
        os.symlink(support.PROGRAM, self.path("bin", "fabricast"))
        env = {**environment(), "PATH": self.path("bin") + ":" + os.environ["PATH"]}
        lines = {line.strip() for topic in self.topics() for line in self.good("help", topic).splitlines()
                 if line.startswith("  fabricast ") and ">" not in line.split("--target")[0]}
        self.assertGreater(len(lines), 12)
        for line in filter(lambda line: not takes_long(line), lines):
            with self.subTest(line):
                done = subprocess.run(["bash", "-c", line], cwd=self.directory, env=env, capture_output=True, text=True,
                                      check=False)
                self.assertIn(done.returncode, (0, 1) if " validate " in line else (0,), done.stderr)
                self.assertNotIn("cannot be simulated:", done.stdout)

    def test_questions_are_answered_with_commands(self):
        for question, command in ANSWERED.items():
            for words in (question.split(), [question]):
                found = re.findall(r"^  (fabricast .*)$", self.good("help", *words), re.M)
                self.assertTrue(found[0].startswith(command), (question, found))
                self.assertLessEqual(len(found), 3)
        for question, term in (("what is all-reduce", "all-reduce"), ("what does MFU mean?", "MFU"), ("what is a rail", "rail"),
                               ("what are gradients", "gradient"), ("explain oversubscription", "oversubscription")):
            self.assertEqual(self.good("help", *question.split()), self.good("help", term))
        self.refused("help", "how", "xyzzy", names="there is no command, topic or term 'how xyzzy'")

    def test_commands_of_answers_work(self):
        listed = read(SOURCE, "cli", "help", "questions.yaml")
        lines = re.findall(r"^    command: (fabricast .*)$", listed, re.M)
        self.assertGreater(len(lines), 20)
        self.assertEqual(len(lines), listed.count("- question: "))
        os.mkdir(self.path("bin"))
        os.symlink(support.PROGRAM, self.path("bin", "fabricast"))
        env = {**environment(), "PATH": self.path("bin") + ":" + os.environ["PATH"]}
        for line in filter(lambda line: not takes_long(line), lines):
            with self.subTest(line):
                done = subprocess.run(["bash", "-c", line], cwd=self.directory, env=env, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
        for page in re.findall(r"^    page: (.*)$", listed, re.M):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, page)), page)

    def test_help_of_a_command_and_of_a_term(self):
        self.assertEqual(self.good("help", "run"), self.good("run", "--help"))
        self.assertEqual(self.good("--help", "run"), self.good("run", "--help"))
        self.assertEqual(self.good("help", "critical", "path"), self.good("describe", "glossary", "critical path"))
        self.assertEqual(self.good("help", "glossary", "NCCL"), self.good("help", "NCCL"))

    def test_a_mistake_is_answered_with_the_nearest(self):
        for args, meant in NEAREST:
            with self.subTest(" ".join(args)):
                done = self.fabricast(*args)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, rf"nearest is '?{meant}\b")


    def test_shipped_scenarios_by_name(self):
        """`hello` and the paths that pages write work from anywhere; a file of that name in the directory comes first."""
        for command, *more in (["run", "--no-db"], ["check"], ["cost"], ["topo", "--only", "fabric", "--set", "cluster.nodes=2"],
                               ["size", "--vary", "cluster.nodes=1,2", "--target", "step<=1s"]):
            wanted = self.fabricast(command, HELLO, *more).stdout
            for name in ("hello", "hello.yaml", "scenarios/hello.yaml"):
                with self.subTest(command, name=name):
                    self.assertEqual(self.fabricast(command, name, *more).stdout, wanted)
        self.assertIn("name: learn-02-ring\n", self.good("check", "02-ring"))
        os.mkdir(self.path("hello"))
        self.assertIn("name: hello\n", self.good("check", "hello"))  # a folder is no scenario
        self.write("hello.yaml", read(HELLO).replace("name: hello", "name: mine"))
        self.assertIn("name: mine\n", self.good("check", "hello"))
        os.rmdir(self.path("hello"))
        self.write("hello", read(HELLO).replace("name: hello", "name: first"))
        self.assertIn("name: first\n", self.good("check", "hello"))

    def test_scenarios_that_are_not_there(self):
        for command in ("run", "check", "topo"):
            self.refused(command, "helo", names="nearest is hello, which comes with Fabricast")
            self.refused(command, "elsewhere/hello", names=f"the one that comes with Fabricast is {HELLO}")
            self.refused(command, "zzzz.yaml", names="`fabricast describe scenarios` lists those")
        self.refused("explore", "helo", names="nearest is hello")

    def test_list_of_scenarios(self):
        names = self.good("describe", "scenarios", "--names").split()
        self.assertEqual(names, sorted(os.path.basename(path).removesuffix(".yaml") for path in support.SCENARIOS + support.LEARN))
        lines = self.good("describe", "scenarios").splitlines()
        self.assertRegex(lines[names.index("hello")], r"^hello +ddp, gpt2-xl on 1 x dgx-a100$")  # it has no summary
        self.assertRegex(lines[names.index("02-ring")], r"^02-ring +An all-reduce of 1 GB over two nodes with one GPU each$")
        self.assertTrue(all(re.fullmatch(r"\S+ +\S.{10,}", line) for line in lines))
        self.assertNotIn("Every token", lines[names.index("moe-mixtral-128-gpus")])

    def test_lists(self):
        self.assertEqual(self.good("help", "topics"), self.good("help"))
        self.assertEqual(self.good("help", "commands"), self.good("--help"))


class Forms(CliTest):
    """Completions and manual pages, which the program makes of its tables of options."""

    def options(self, command):
        block = self.good(command, "--help").split("Options:\n")[1].split("\n\n")[0]
        return set(re.findall(r"^  (?:-\w, )?--([\w-]+)", block, re.M))

    def test_completions_have_every_command_and_option(self):
        zsh, fish = (self.good("help", "completion", shell) for shell in ("zsh", "fish"))
        for command in commands(self.good("--help")):
            with self.subTest(command):
                part = zsh.split(f"\n    {command})\n")[1].split(";;\n")[0]
                self.assertEqual(set(re.findall(r"--([\w-]+)[=\[}]", re.sub(r"\[[^\]]*\]", "[]", part))), self.options(command))
                lines = [line for line in fish.splitlines() if f"_from {command}'" in line]
                self.assertEqual({name for line in lines for name in re.findall(r" -l ([\w-]+)", line)},
                                 self.options(command))
        self.assertIn("text matrix dot svg json", fish)
        self.assertEqual(self.good("help", "completion", "bash"), read(SOURCE, "cli", "completion", "fabricast.bash"))
        self.refused("help", "completion", "zhs", names="nearest is zsh")

    def test_shells_take_them(self):
        for shell in ("bash", "zsh", "fish"):
            file = self.write("completion", self.good("help", "completion", shell, "--color=always"))
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", file], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)

    @unittest.skipUnless(shutil.which("fish"), "fish is not here")
    def test_fish_offers(self):
        os.mkdir(self.path("bin"))
        os.symlink(support.PROGRAM, self.path("bin", "fabricast"))
        file = self.write("fabricast.fish", self.good("help", "completion", "fish"))
        env = {**environment(), "PATH": self.path("bin") + ":" + os.environ["PATH"], "HOME": self.directory}
        for line, wanted in (("fabricast col", "collective"), ("fabricast run --fidelity fl", "fluid"),
                             ("fabricast topo --format do", "dot"), ("fabricast help glos", "glossary"),
                             ("fabricast run hel", "hello")):
            done = subprocess.run(["fish", "-c", f"source {file}; complete -C '{line}'"], env=env, capture_output=True, text=True,
                                  cwd=self.directory, check=False)
            self.assertIn(wanted, done.stdout.split(), done.stderr)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not here")
    def test_zsh_offers(self):
        """What Tab makes of a line in a shell that somebody types into."""
        os.makedirs(self.path("functions"))
        os.makedirs(self.path("bin"))
        os.symlink(support.PROGRAM, self.path("bin", "fabricast"))
        self.write(os.path.join("functions", "_fabricast"), self.good("help", "completion", "zsh"))
        env = {**environment(), "PATH": self.path("bin") + ":" + os.environ["PATH"], "HOME": self.directory, "TERM": "dumb",
               "ZDOTDIR": self.directory}
        self.write(".zshrc", "unsetopt zle_bracketed_paste beep\nPS1='ready> '\nfpath=($HOME/functions $fpath)\n"
                   "autoload -U compinit && compinit -u -D\n"
                   "report () { print -r -- \"[$BUFFER]\"; BUFFER= }\nzle -N report\nbindkey '^X' report\n")
        lines = (("fabricast col", "fabricast collective"), ("fabricast run --fide", "fabricast run --fidelity"),
                 ("fabricast topo --format=do", "fabricast topo --format=dot"), ("fabricast report --fo", "fabricast report --for"))
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.directory)
            os.execvpe("zsh", ["zsh", "-i"], env)
        self.addCleanup(os.close, terminal)
        self.addCleanup(os.waitpid, process, 0)
        self.addCleanup(os.kill, process, signal.SIGKILL)
        seen = self.read_until(terminal, "ready> ")
        for line, wanted in lines:
            os.write(terminal, (line + "\t\x18").encode())
            seen = self.read_until(terminal, "]")
            self.assertIn(wanted, re.findall(r"\[([^\]]*)\]", seen)[-1], seen)

    def read_until(self, terminal, mark):
        """What a terminal shows up to a text; fails after half a minute."""
        seen, end = "", time.monotonic() + 30
        while mark not in seen:
            self.assertTrue(select.select([terminal], [], [], max(0, end - time.monotonic()))[0], seen)
            seen += os.read(terminal, 4096).decode(errors="replace")
        return seen

    def test_a_manual_page_has_every_option(self):
        for command in commands(self.good("--help")):
            page = self.good(command, "--help-as=man").replace("\\-", "-")
            self.assertEqual(set(re.findall(r"^\.B .*--([\w-]+)(?:=|$)", page, re.M)), self.options(command))
            self.assertIn(f".SH NAME\nfabricast-{command} - ", page)
        self.refused("run", "--help-as=html", names="man, zsh and fish")

    @unittest.skipUnless(shutil.which("man"), "man is not here")
    def test_manual_pages_are_clean(self):
        for command in ("run", "query", "collective"):
            page = self.write(f"fabricast-{command}.1", self.good(command, "--help-as=man"))
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class Glossary(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.terms = None

    def setUp(self):
        super().setUp()
        if not Glossary.terms:
            Glossary.terms = json.loads(self.good("describe", "glossary", "--format", "json"))

    def names(self):
        return {name for term in self.terms for name in [term["name"], *term["also"]]}

    def test_what_readers_meet_is_there(self):
        found = {re.sub("[ _/]", "-", name.lower()) for name in self.names()}
        self.assertEqual([word for word in WANTED if re.sub("[ _/]", "-", word.lower()) not in found], [])

    def test_a_name_means_one_thing(self):
        own = [{re.sub("[ _/]", "-", name.lower()) for name in [term["name"], *term["also"]]} for term in self.terms]
        names = [name for term in own for name in term]
        self.assertEqual(sorted(name for name in set(names) if names.count(name) > 1), [])

    def test_terms_lead_on(self):
        known = {term["name"] for term in self.terms}
        for term in self.terms:
            with self.subTest(term["name"]):
                self.assertLessEqual(set(term["see"]), known - {term["name"]})
                self.assertTrue(term["page"] is None or os.path.isfile(os.path.join(SOURCE, term["page"])))

    def test_paragraphs_are_short_sentences(self):
        for term in self.terms:
            for text in (term["text"], term["shows"]):
                with self.subTest(text):
                    self.assertLessEqual(len(text.split()), MOST_WORDS)
                    self.assertRegex(text, r"\A[A-Z`0-9].*\.\Z")

    def test_every_entry_prints(self):
        for term in self.terms[::20]:
            shown = self.good("describe", "glossary", term["name"])
            self.assertEqual(" ".join(shown.split("\n\n")[1].split()), term["text"])
        self.assertEqual(self.good("describe", "glossary", "All_Reduce"), self.good("describe", "glossary", "all-reduce"))
        self.refused("describe", "glossary", "ringg", names="nearest is ring")

    def test_the_page_is_what_the_program_writes(self):
        self.assertEqual(self.good("describe", "glossary", "--format", "markdown"), read(SOURCE, PAGE),
                         f"write it anew: fabricast describe glossary --format markdown > {PAGE}")

    def test_keys_and_commands_exist(self):
        keys = self.good("describe", "scenario")
        for section in ("job", "fidelity", "collectives", "fabric", "compute"):
            for name in self.good("describe", section, "--names").split():
                keys += self.good("describe", section, name)
        known = set(re.findall(r"^ *([a-z_0-9]+) ", keys, re.M))
        shown = {}
        questions = set(self.good("describe", "queries", "--names").split())
        for term in self.terms:
            for key in re.findall(r"`(?:job|cluster|fidelity|collectives)\.([a-z_.0-9]+)", term["shows"]):
                self.assertLessEqual(set(key.split(".")), known, term["name"])
            for question in re.findall(r"[Qq]uery `([a-z-]+)`", term["shows"]):
                self.assertIn(question, questions)
            for command, options in re.findall(r"`fabricast (\w+)([^`]*)`", term["shows"]):
                shown[command] = shown.get(command) or self.good(command, "--help")
                for option in re.findall(r"--[a-z-]+", options):
                    self.assertIn(option, shown[command], term["name"])

    def test_other_sections_have_no_format(self):
        self.refused("describe", "links", "--format", "json", names="describe glossary")


if __name__ == "__main__":
    main()
