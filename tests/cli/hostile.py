#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a hostile file, or a machine that gives too little, does to a command: it ends soon, with one sentence, and shows a
terminal nothing that it would obey."""
import json
import os
import re
import resource
import sqlite3
import subprocess
import time
import unittest

from screen import run_on_terminal
from support import HELLO, SLOWNESS, SOURCE, CliTest, environment, main
import child
import support

EVIL = "a\u202eb\u2066c\u200bd\x1b[31m"
JOB = "job: {kind: ddp, model: gpt2, sequence: 1024, compute: {kind: mfu, mfu: 50%}}\n"


class Included(CliTest):
    def scenario(self, include="", model="gpt2"):
        return self.write("s.yaml", f"name: s\n{include}cluster: {{node: dgx-h100}}\n" + JOB.replace("gpt2", model))

    def refused_at_once(self, says, *args):
        begun_s = time.monotonic()
        done = self.fabricast("check", self.path("s.yaml"), *args, timeout=60)
        self.assertLess(time.monotonic() - begun_s, 10 * SLOWNESS)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(says, done.stderr)
        self.assertNotIn("hunter2", done.stderr)

    def test_no_pipe_is_waited_for(self):
        os.mkfifo(self.path("pipe"))
        os.mkfifo(self.path("pipe.json"))
        for name in ("pipe", "/dev/zero", "/dev/random", "."):
            self.scenario(f"include: {name}\n")
            self.refused_at_once("is not a regular file")
        self.scenario(model="pipe.json")
        self.refused_at_once("is not a regular file")
        self.scenario()
        self.refused_at_once("is not a regular file", "--set", "include=pipe")

    def test_no_text_of_others_is_shown(self):
        for i, text in enumerate(("hunter2\n", "root:hunter2:1::\n", "token: hunter2\n", "{\"hunter2\": 1}", "hunter2: [\n")):
            self.write(f"private-{i}.json", text)
            self.scenario(f"include: private-{i}.json\n")
            self.refused_at_once("its text is not shown")
            self.scenario(model=f"private-{i}.json")
            self.refused_at_once("its text is not shown")

    def test_a_scenario_shows_its_mistakes(self):
        self.write("part.yaml", "links: [{name: l, lane: 3}]\n")
        self.scenario("include: part.yaml\n")
        self.refused_at_once("lane: 3}]")

    def test_a_pipe_that_the_person_names(self):
        with open(self.scenario(), "rb") as file:
            done = subprocess.run([support.PROGRAM, "check", "/dev/stdin"], stdin=file, capture_output=True, check=False,
                                  env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)


class Printed(CliTest):
    def check_text(self, *args, code=0):
        done = self.fabricast(*args)
        self.assertEqual(done.returncode, code, done.stderr)
        for c in EVIL:
            if not c.isascii() or c == "\x1b":
                self.assertNotIn(c, done.stdout + done.stderr, args)
        return done.stdout + done.stderr

    def test_query(self):
        self.good("run", HELLO)
        text = "char (97, 8238, 98, 8294, 99, 8203, 100, 27) || '[31m'"
        self.assertIn(r"a\x202eb\x2066c\x200bd\x1b[31m", self.check_text("query", "--sql", f"SELECT {text} AS one"))
        self.check_text("query", "--sql", f"SELECT {text} || char (10) || 'second line'")
        self.check_text("query", "--sql", f'SELECT 1 AS "{EVIL}"')
        self.check_text("query", EVIL, code=2)
        self.assertEqual(json.loads(self.good("query", "--format", "json", "--sql", f"SELECT {text} AS one"))[0]["one"], EVIL)

    def test_names_of_a_scenario(self):
        """A text that a terminal would obey is refused, wherever it stands, and not printed meanwhile."""
        name = json.dumps(EVIL)
        good = {"name": "s", "summary": "t", "link": "l", "source": "here"}
        for key in good:
            value = {**good, key: name}
            scenario = self.write("evil.yaml", f"""name: {value["name"]}
summary: {value["summary"]}
links: [{{name: {value["link"]}, technology: InfiniBand, lanes: 4, signalling: 100Gb/s, latency: 600ns, source: {value["source"]}}}]
cluster: {{node: dgx-h100, nodes: 2, nic: {value["link"]}}}
{JOB}""".replace("gpt2,", "gpt2-xl,"))
            for command in ("run", "check"):
                self.assertIn("U+202E", self.check_text(command, scenario, code=2))
        self.check_text("run", HELLO, "--no-db", "--set", f"cluster.nic={EVIL}", code=2)
        self.check_text("run", self.path(EVIL), code=2)

class Output(CliTest):
    """- is standard output, and nothing else goes there."""

    def alone(self, *args, begins):
        done = self.fabricast(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(begins), done.stdout[:200])
        self.assertFalse(os.path.exists(self.path("-")))
        return done

    def test_every_command(self):
        self.alone("import", os.path.join(SOURCE, "docs", "examples", "topo-a100.txt"), "-o", "-", begins="# ")
        self.good("run", HELLO)
        json.loads(self.alone("trace", "-o", "-", begins="{").stdout)
        self.alone("report", "-o", "-", begins="<!")
        self.alone("report", "--csv", "links", "-o", "-", begins="")
        best = self.alone("tune", HELLO, "--knobs", "bucket", "-o", "-", begins="# ")
        self.assertIn("bucket", best.stderr)
        json.loads(self.alone("collective", "--node", "dgx-a100", "-J", "-", begins="{").stdout)
        json.loads(self.alone("run", HELLO, "--trace", "-", begins="{").stdout)
        self.refused("import", os.path.join(SOURCE, "docs", "examples", "ib_write_bw.txt"), "--system", "s", "-o", "-",
                     names="not a stream")
        self.refused("measure", "tcp", "--peer", "127.0.0.1:1", "-o", "-", names="not a stream")
        self.refused("run", HELLO, "--db", "-", names="not a stream")
        self.refused("trace", "--format", "kineto", "-o", "-", names="not standard output")
        self.assertEqual([name for name in os.listdir(self.directory) if name.startswith("-")], [])


class Query(CliTest):
    ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "

    def test_limits(self):
        self.good("run", HELLO)
        self.refused("query", "--time-limit", "1", "--sql", self.ENDLESS + "sum (i) FROM n", names="has not ended within 1 s")
        self.refused("query", "--sql", self.ENDLESS + "i FROM n", names="more than 1000000 rows")
        self.refused("query", "--max-rows", "5", "--sql", self.ENDLESS + "i FROM n", names="more than 5 rows")
        self.refused("query", "--sql", "SELECT zeroblob (900000000)", names="too large")
        self.good("query", "--max-rows", "5", "--sql", self.ENDLESS + "i FROM n LIMIT 5")
        self.good("query", "--max-rows", "0", "--time-limit", "0", "--sql", self.ENDLESS + "count (*) FROM (SELECT 1 FROM n LIMIT 9)")
        self.refused("query", "--max-rows", "-1", "runs", names="--max-rows")

    def test_only_reads(self):
        self.good("run", HELLO)
        for sql in ("ATTACH '/tmp/x.db' AS x", "SELECT load_extension ('x')", "DELETE FROM run", "PRAGMA journal_mode = DELETE",
                    "SELECT fts3_tokenizer ('simple')", "VACUUM INTO 'x.db'"):
            self.refused("query", "--sql", sql, names="the query")
        self.assertEqual(sorted(os.listdir(self.directory)), ["fabricast.db"])


class Foreign(CliTest):
    """A database that somebody else made: a view that never ends where a table is expected, other views, damaged pages."""

    def change(self, sql, name="fabricast.db"):
        with sqlite3.connect(self.path(name)) as db:
            db.executescript("PRAGMA legacy_alter_table = 1;" + sql)
        db.close()

    def refused_soon(self, says, *args):
        begun_s = time.monotonic()
        done = self.fabricast(*args, timeout=60)
        self.assertLess(time.monotonic() - begun_s, 10 * SLOWNESS)
        self.assertIn(done.returncode, (2, 3), done.stderr)
        self.assertIn(says, done.stderr)

    def test_views_of_a_results_file(self):
        self.good("run", HELLO)
        self.change(f"DROP VIEW v_step; CREATE VIEW v_step AS {Query.ENDLESS} i AS step_s FROM n")
        for command in (("query", "runs"), ("report", "-o", "r.html"), ("run", HELLO)):
            self.refused_soon("its view v_step is not that of Fabricast", *command)
        self.change(f"ALTER TABLE iteration RENAME TO old; CREATE VIEW iteration AS {Query.ENDLESS} i FROM n")
        for command in (("query", "runs"), ("report", "-o", "r.html"), ("run", HELLO)):
            self.refused_soon("has a view in place of its table iteration", *command)
        self.assertFalse(os.path.exists(self.path("r.html")))

    def test_views_of_somebodys_own(self):
        self.good("run", HELLO)
        self.change("CREATE VIEW mine AS SELECT count (*) AS n FROM run")
        self.assertIn("1", self.good("query", "--sql", "SELECT n FROM mine"))

    def test_views_of_a_profile(self):
        self.change(f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
                    f" correlationId INTEGER, globalPid INTEGER, shortName INTEGER, demangledName INTEGER);"
                    f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 1, 0, 1, 1);"
                    f"CREATE VIEW StringIds AS {Query.ENDLESS} i AS id, 'x' AS value FROM n", "profile.sqlite")
        self.refused_soon("a view in place of the table StringIds", "import", "trace", "profile.sqlite")

    def test_damaged_pages(self):
        """Wherever the file is damaged, there is a report or a sentence."""
        self.good("run", HELLO)
        self.change("PRAGMA journal_mode = DELETE; VACUUM")
        with open(self.path("fabricast.db"), "rb") as file:
            whole = file.read()
        codes = set()
        for at in range(4096, len(whole), 4096):
            with open(self.path("fabricast.db"), "wb") as file:
                file.write(whole[:at] + b"\xa5" * 4096 + whole[at + 4096:])
            done = self.fabricast("report", "-o", "r.html", timeout=60)
            self.assertIn(done.returncode, (0, 2, 3), (at, done.stderr))
            self.assertEqual(done.returncode != 0, bool(done.stderr), at)
            codes.add(done.returncode)
        self.assertGreater(len(codes), 1)


class Scarce(CliTest):
    def test_an_estimate_by_packets(self):
        """Flows of which no step is known beforehand have no pace: what their packets take at most is said, and of twenty iterations twenty times as much."""
        flows = self.write("flows.yaml", "name: f\ncluster: {node: dgx-h100, nodes: 16}\nfidelity: {kind: packet, memo: false}\niterations: 1\n"
                                         "job: {kind: traffic, pattern: all_pairs, size: 36MiB}\n")
        said_s = []
        for options in ((), ("--set", "iterations=20")):
            done = self.fabricast("check", flows, "--quiet", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = re.fullmatch(r"fabricast check: warning: a run on this machine takes at most about (\d+) (s|min), by the packets that it simulates; "
                                 r"its band and what limits it take longer\n", done.stderr)
            self.assertIsNotNone(found, done.stderr)
            said_s.append(float(found[1]) * {"s": 1, "min": 60}[found[2]])
        self.assertAlmostEqual(said_s[1] / said_s[0] / 20, 1, delta=0.02)  # whole minutes are said

    @unittest.skipIf(SLOWNESS > 1, "sanitizers reserve more memory than any limit")
    def test_memory(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
        done = self.fabricast("run", HELLO, "--no-fold", "--set", "cluster.nodes=400", "--db", "r.db", preexec_fn=limit,
                              env={**environment(), "FABRICAST_THREADS": "1"})
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn("memory", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_too_many_nodes(self):
        """Estimated and refused before they are built; the person may know better."""
        many = ("run", HELLO, "--no-db", "--no-band", "--no-fold", "--set", "cluster.nodes=100000")
        done = self.fabricast(*many, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertRegex(done.stderr, r"^fabricast run: 100000 nodes take about \d+\.?\d* [GT]B of memory, and [\d.]+ [GM]B are free "
                                      r"here: fold them .*, or try it nevertheless with --allow-large\n$")
        for command in ("explain", "size", "compare"):
            args = {"size": ("--target", "exposed<=5%", "--vary", "cluster.nic=ib-ndr"), "compare": ("--vary", "seed=1,2")}
            done = self.fabricast(command, HELLO, *args.get(command, ()), "--set", "fold=false", "--set", "cluster.nodes=100000",
                                  timeout=100)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        some = ("check", HELLO, "--set", "cluster.nodes=16384", "--set", "iterations=1")
        for limit, code in (("100MB", 3), ("1000GB", 0), ("much", 2)):
            done = self.fabricast(*some, env={**environment(), "FABRICAST_MEMORY": limit})
            self.assertEqual(done.returncode, code, done.stderr)

    def test_too_many_nodes_of_a_variant(self):
        """A study asks for the memory of its largest variant, before it simulates any."""
        study, env = (HELLO, "--set", "fold=false"), {**environment(), "FABRICAST_MEMORY": "500MB"}
        for args in (("sweep", *study, "--vary", "cluster.nodes=2,100000,4", "--db", "r.db"),
                     ("sweep", *study, "--zip", "job.micro_batch=1,2 cluster.nodes=2,100000", "--db", "r.db"),
                     ("size", *study, "--vary", "cluster.nodes=2,100000", "--target", "exposed<=5%"),
                     ("compare", *study, "--vary", "cluster.nodes=100000,2"), ("scale", *study, "--gpus", "8,800000"),
                     ("whatif", HELLO, "--gpus", "800000", "--set", "fold=false")):
            done = self.fabricast(*args, timeout=100, env=env)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
            self.assertRegex(done.stderr, rf"^fabricast {args[0]}: 100000 nodes take about [\d.]+ [GT]B of memory, and 500 MB are free here: ")
        self.assertFalse(os.path.exists(self.path("r.db")))
        self.assertEqual(self.fabricast("sweep", *study, "--vary", "cluster.nodes=2,4", "--db", "r.db", env=env).returncode, 0)

    def test_memory_that_cannot_be_estimated(self):
        """No machine of the sizes that are tried divides this batch, so that a terminal is told nothing about memory."""
        odd = self.write("odd.yaml", "name: odd\ncluster: {node: dgx-h100, nodes: 20000, gpus_per_node: 1}\niterations: 1\n"
                                     "job: {kind: megatron, model: gpt2-xl, global_batch: 20000}\n")
        seen = self.on_terminal("check", "--quiet", odd)
        self.assertIn("estimating the memory of cluster.nodes=20000\r\x1b[K", seen)
        self.assertNotRegex(seen, r"takes? about .* of memory")

    def on_terminal(self, *args):
        """All that a command shows on a terminal."""
        shown, code = run_on_terminal(100, args, self.directory)
        self.assertEqual(code, 0, shown)
        return shown

    def test_a_large_parent_changes_no_estimate(self):
        """The system counts the memory of the program that started this one as if it were this one's peak."""
        def estimate():
            done = self.fabricast("check", HELLO, "--set", "cluster.nodes=16384", env={**environment(), "FABRICAST_MEMORY": "1MB"})
            number, unit = re.search(r"nodes take about ([\d.]+) ([MG])B of memory", done.stderr).groups()
            return float(number) * {"M": 1, "G": 1000}[unit]

        small = estimate()
        held = bytearray(300 << 20)
        held[::4096] = b"x" * len(held[::4096])
        self.assertAlmostEqual(estimate() / small, 1, delta=0.1)

    def test_many_micro_batches(self):
        long = ("run", HELLO, "--no-db", "--no-band", "--no-bottleneck", "--set", "job.accumulation=100000")
        self.assertEqual(self.fabricast(*long, env={**environment(), "FABRICAST_MEMORY": "500MB"}, timeout=100).returncode, 0)
        done = self.fabricast(*long, "--no-fold", env={**environment(), "FABRICAST_MEMORY": "500MB"}, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertRegex(done.stderr, r"^fabricast run: 100000 micro-batches take about [\d.]+ GB of memory, and 500 MB are free here: ")

    def test_every_multiplier_says_so(self):
        """What takes gigabytes or minutes is said before, or after two seconds, whichever key it is."""
        env = {name: value for name, value in environment().items() if name != "FABRICAST_PROGRESS"}
        serving = self.write("kv.yaml", "name: kv\ncluster: {node: dgx-h100, nodes: 2}\njob: {kind: kv, model: gpt2-xl, prompt: 1000, "
                                        "requests: 100000, prefill: 8, decode: 8}\n")
        done = self.fabricast("run", serving, "--no-db", env={**env, "FABRICAST_MEMORY": "1GB"}, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertRegex(done.stderr, r"^fabricast run: 100000 requests take about [\d.]+ GB of memory, and 1 GB are free here: .* --allow-large\n$")
        for options, says in ((("--iterations", "1000000"), r"^fabricast run: this takes about .*, by the pace of its first seconds: 1000000 "),
                              (("--set", "fidelity={kind: packet, memo: false}", "--set", "cluster.nodes=64"),
                               r"^fabricast run: this takes (at most )?about .*, by the (packets that it simulates|pace of its first .*)\n")):
            running = child.start(self, [support.PROGRAM, "run", HELLO, "--no-db", *options], cwd=self.directory, env=env)
            self.assertRegex(child.until(lambda: running.err, "an estimate"), says)
        for options, says in ((("--set", "iterations=1000000"), "by the pace of its first seconds"),
                              (("--set", "fidelity={kind: packet, memo: false}", "--set", "cluster.nodes=64"),
                               "by the (packets that it simulates|pace of its first seconds)")):
            done = self.fabricast("check", HELLO, "--quiet", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, rf"(?m)^fabricast check: warning: a run on this machine takes (at most )?about .*, {says}; .*$")

    @unittest.skipIf(SLOWNESS > 1, "sanitizers reserve more memory than any limit")
    def test_a_limit_ends_what_was_not_estimated(self):
        """Its key is none of those that are sampled beforehand; the kernel would have killed the program without a word."""
        flows = self.write("flows.yaml", "name: f\ncluster: {node: dgx-h100, nodes: 8}\njob: {kind: traffic, pattern: random, size: 1MiB, "
                                         "flows: 500000, arrivals: poisson, load: 50%}\n")
        done = self.fabricast("run", flows, "--no-db", env={**environment(), "FABRICAST_MEMORY": "100MB"}, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertRegex(done.stderr, r"^fabricast: out of memory: [^\n]*\n$")

    def test_a_log_shows_that_something_goes_on(self):
        """Ten seconds without an answer end the silence, on a stream too, unless the person wants none."""
        env = {name: value for name, value in environment().items() if name != "FABRICAST_PROGRESS"}
        long = ("run", HELLO, "--no-db", "--no-band", "--set", "iterations=1000000")
        running = child.start(self, [support.PROGRAM, *long], cwd=self.directory, env=env)
        child.until(lambda: re.search(r"(?m)^fabricast run: .*0:\d\d", running.err), "a line after ten seconds")

    def test_numbers(self):
        for args in (("--tolerance", "nan%"), ("--tolerance", "nan"), ("--tolerance", "inf"), ("--tolerance", "20%"),
                     ("--check-from", "1M"), ("-f", "inf"), ("-f", "nan")):
            self.refused("collective", "--node", "dgx-a100", *args, names=args[0])


main()
