#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a person sees on a terminal: lines that fit, words that are whole, colours where they are wanted; and that files
and pipes get none of it."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import unittest

from support import HELLO, SOURCE, CliTest, commands, environment, main
import support

CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
FOUR_NODES = os.path.join(SOURCE, "scenarios", "four-nodes.yaml")
HYBRID = os.path.join(SOURCE, "scenarios", "ddp-2b-4nodes-400g.yaml")


END = b"\0end\0"  # no program writes it


def run_on_terminal(columns, args, cwd, stderr=None, **variables):
    """What the program writes to a terminal of so many columns, and its exit code. The terminal stays open until all that
    was written has come: when its last user closes it, a busy kernel may throw away what is still under way."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    env = {**environment(), "TERM": "xterm-256color", **variables}
    for name in ("COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "FABRICAST_PROGRESS"):
        if name not in variables:
            env.pop(name, None)
    with subprocess.Popen([support.PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=theirs, stderr=stderr or theirs, cwd=cwd,
                          env=env) as child:
        seen, is_over = b"", False
        while not seen.endswith(END):
            if select.select([ours], [], [], 0.01)[0]:
                seen += os.read(ours, 1 << 16)
            elif not is_over and child.poll() is not None:
                is_over = True
                os.write(theirs, END)
    os.close(ours)
    os.close(theirs)
    return seen.removesuffix(END).decode().replace("\r\n", "\n"), child.returncode


def on_terminal(columns, args, cwd, stderr=None, **variables):
    return run_on_terminal(columns, args, cwd, stderr, **variables)[0]


class Screen(CliTest):
    def screen(self, columns, *args, **variables):
        return on_terminal(columns, args, self.directory, **variables)

    def plain(self, columns, *args):
        return self.screen(columns, *args, NO_COLOR="1")

    def check_fits(self, columns, *args):
        text = self.plain(columns, *args)
        for line in text.split("\n"):
            self.assertLessEqual(len(line), columns, f"{args}: {line}")
        return text

    def test_help_fits_and_breaks_no_word(self):
        topics = re.findall(r"^  ([a-z-]+) {1,}\S", self.good("help"), re.M)
        for args in ([["--help"], ["help"]] + [["help", topic] for topic in topics]
                     + [[name, "--help"] for name in commands(self.good("--help"))]):
            for columns in (60, 160):
                shown = self.plain(columns, *args).replace(" \\\n", " ")
                self.assertEqual(shown.split(), self.good(*args).split(), args)
                wide = [line for line in shown.split("\n") if len(line) > columns and re.search(r"\S +\S", line)
                        and not line.strip().startswith("fabricast")]
                self.assertEqual([line for line in wide if len(line.split()) > 2], [], args)

    def test_pages_fit(self):
        for args in (["run", "--no-db", HELLO], ["run", "--full", "--no-db", HELLO], ["explain", HELLO], ["cost", HYBRID], ["scale", HYBRID],
                     ["compare", HELLO, "--vary", "job.micro_batch=1,2,3,4,8,16"],
                     ["tune", HELLO], ["describe", "links"], ["describe", "job", "ddp"],
                     ["whatif", HYBRID, "--set", "cluster.nics_per_node=4"],
                     ["collective", "--node", "dgx-h100", "--nodes", "4", "-b", "1M", "-e", "4M"]):
            self.check_fits(80, *args)
        self.check_fits(160, "compare", HELLO, "--vary", "job.micro_batch=1,2,3,4,8,16")
        text = self.check_fits(100, "upgrade", HYBRID, "--only", "nic,nics,nodes")
        heads = re.findall(r"(?m)^  change +step +saves +band +price +\$ per % +limited by$", text)
        self.assertGreaterEqual(len(heads), 1, text)

    def test_the_timeline_takes_the_columns(self):
        for columns in (80, 160):
            widest = max(self.plain(columns, "run", "--full", "--no-db", HELLO).split("\n"), key=len)
            self.assertTrue(columns - 1 <= len(widest) <= columns, widest)

    def test_the_first_screen_is_short(self):
        """On a terminal; a pipe gets the whole page, and --full and --brief give either in both."""
        whole, brief = self.good("run", "--no-db", FOUR_NODES), self.good("run", "--no-db", "--brief", FOUR_NODES)
        self.assertEqual(self.plain(200, "run", "--no-db", FOUR_NODES), brief)
        self.assertEqual(self.good("run", "--no-db", "--full", FOUR_NODES), whole)
        self.assertIn("limited by", self.plain(200, "run", "--no-db", "--full", FOUR_NODES))
        self.assertRegex(brief, r"(?m)^  step +611\.7 ms, ")
        self.assertRegex(brief, r"(?m)^  band +549\.2 ms to 832\.7 ms holds the real step in 90 % of cases$")
        self.assertRegex(brief, r"(?m)^  limited by +ib-hdr, the network port of each NIC$")
        self.assertRegex(brief, r"(?m)^  helps most +every ib-hdr twice as fast: step 357\.9 ms, -41\.5 %$")
        more = re.search(r"(?m)^  more +fabricast (run .* --full)$", brief).group(1)
        self.assertEqual(self.good(*more.split(), "--no-db"), whole)
        data = ["run", "--no-db", "--format", "csv", FOUR_NODES]
        self.assertEqual(self.screen(60, *data), self.good(*data))

    def test_the_first_screen_of_many_jobs_has_twelve_lines(self):
        names = ["hello", "learn/02-ring", "learn/09-straggler", "ddp-2b-4nodes-200g", "plan-70b-1024-h100", "zero3-13b-slow-fabric",
                 "mpi-rig-100m", "moe-mixtral-128-gpus"]
        paths = [os.path.join(SOURCE, "scenarios", name + ".yaml") for name in names]
        for args in [[path] for path in paths] + [["hello", "--set", "job.micro_batch=64", "--allow-oversized"]]:
            lines = self.plain(80, "run", "--no-db", *args).rstrip("\n").split("\n")
            self.assertLessEqual(len(lines), 12, args)
            self.assertTrue(any(line.startswith("  step ") for line in lines), args)

    def test_pages_are_chosen_one_at_a_time(self):
        for words, names in ((["--brief", "--full"], "--brief, --full and --rows"), (["--rows", "step", "--full"], "three pages"),
                             (["--rows", "step", "--format", "csv"], "leave --format out"),
                             (["--brief", "--format", "json"], "leave --format out"), (["--rows", "no"], "its rows are machine, job, step"),
                             (["--brief", "--seeds", "2"], "--seeds has a page of its own")):
            self.refused("run", "--no-db", HELLO, *words, names=names)
        self.assertEqual(self.good("run", "--no-db", HELLO, "--rows", "step,timeline").split("\n")[0].split()[0], "step")

    def test_curves_are_for_screens(self):
        """Braille where the locale is UTF-8, ASCII elsewhere, and nothing in pipes and for programs."""
        braille, collective = "[\u2800-\u28ff]{3}", ["collective", "--node", "dgx-h100", "--nodes", "2", "-b", "8K", "-e", "1G", "-f", "8"]
        sweep = ["sweep", HELLO, "--set", "cluster.nodes=2", "--vary", "cluster.nic_rate=50..400Gb/s:50"]
        for args, title in (collective, "busbw  8KiB"), (sweep, "step  50Gb/s"):
            shown = self.plain(100, *args)
            self.assertRegex(shown, braille)
            self.assertIn(title, shown)
            self.assertLessEqual(max(map(len, self.check_curve(shown, title))), 100)
            for variables in ({"LC_ALL": "C"}, {"TERM": "linux"}):
                poor = self.screen(60, *args, NO_COLOR="1", **variables)
                self.assertNotRegex(poor, braille)
                self.assertTrue(any("|" in line and "*" in line for line in self.check_curve(poor, title)))
            self.assertNotIn(title, self.fabricast(*args).stdout)
        bound = self.plain(100, "size", FOUR_NODES, "--vary", "cluster.nic_rate=200..800Gb/s:100", "--target",
                           "exposed<=25%")
        self.assertRegex(bound, braille)
        self.assertRegex(bound, r"(?m)^ +\^ 400Gb/s$")
        knobs = self.plain(100, "tune", HELLO, "--knobs", "bucket", "--set", "cluster.nodes=2")
        self.assertRegex(knobs, braille)
        self.assertRegex(knobs, r"(?m)^ +(\^ best|best \^)$")
        bars = "scale", HELLO, "--gpus", "8,16,32", "--no-band"
        self.assertRegex(self.plain(100, *bars), "(?m)^ +8 \\|\u2588{50,}")
        self.assertRegex(self.screen(100, *bars, LC_ALL="C"), r"(?m)^ +8 \|#{50,}")
        sides = "compare", FOUR_NODES, "--vary", "cluster.nic_rate=200Gb/s,400Gb/s", "--no-band"
        self.assertRegex(self.plain(100, *sides), "(?m)^  nic_rate=200Gb/s \\|\u2588{50,} 611.7 ms, exposed 56.1 %$")
        self.assertRegex(self.screen(100, *sides, LC_ALL="C"), r"(?m)^  nic_rate=400Gb/s \|#{30,} 357.9 ms")
        self.assertNotIn("|#", self.good(*sides))
        for columns in (60, 120):
            for args in (sides, bars, sweep, collective):
                self.assertLessEqual(max(map(len, self.plain(columns, *args).split("\n"))), columns, args)
        data = [*collective, "--format", "csv"]
        self.assertEqual(self.screen(100, *data), self.good(*data))

    def check_curve(self, text, title):
        """Its lines."""
        lines = text.split("\n")
        end = next(i for i, line in enumerate(lines) if title in line)
        return lines[end - 6:end + 1]

    def test_columns_of_the_environment_win(self):
        text = self.screen(200, "run", "--full", "--no-db", HELLO, COLUMNS="70", NO_COLOR="1")
        self.assertLessEqual(max(map(len, text.split("\n"))), 70)

    def test_files_are_folded_where_asked(self):
        """FABRICAST_COLUMNS is for outputs that go into a page: folded as on a terminal, but whole and without curves."""
        asked = {**environment(), "FABRICAST_COLUMNS": "100"}
        for args in (["compare", HYBRID, "--vary", "cluster.nics_per_node=1,2,4,8", "--no-band"], ["describe", "nodes"],
                     ["size", FOUR_NODES, "--vary", "cluster.nic_rate=200..400Gb/s:100", "--target", "exposed<=25%"],
                     ["run", HYBRID, "--no-db"]):
            plain, folded = self.good(*args), self.good(*args, env=asked)
            self.assertLessEqual(max(map(len, folded.split("\n"))), 100)
            self.assertGreater(max(map(len, plain.split("\n"))), 100)
            self.assertNotRegex(folded, r"\|#|[\u2580-\u28ff]|\x1b")
        self.assertIn("all_reduce x161", folded)  # and no first screen alone
        self.assertLessEqual(max(map(len, self.screen(200, "run", "--no-db", HYBRID, FABRICAST_COLUMNS="90", NO_COLOR="1").split("\n"))), 90)
        refusal = self.fabricast("describe", "no-such-thing", env=asked).stderr
        self.assertLessEqual(max(map(len, refusal.split("\n"))), 100)
        data = ["run", HELLO, "--no-db", "--format", "csv"]
        self.assertEqual(self.good(*data, env=asked), self.good(*data))

    def test_an_error_is_folded_at_words(self):
        self.assertRegex(self.check_fits(60, "describe", "no-such-thing"), r"\Afabricast describe: [^\n]*\n  \S")

    def test_for_programs_it_stays_as_it_is(self):
        for args in (["compare", HELLO, "--vary", "job.micro_batch=1,2", "--format", "csv"], ["cost", HYBRID, "--write-prices"], ["topo", "--node", "dgx-a100", "--format=dot"],
                     ["check", HELLO], ["topo", "--node", "dgx-a100", "--format", "matrix"]):
            self.assertEqual(self.screen(60, *args).expandtabs(), self.good(*args).expandtabs())

    def test_colours_are_for_terminals(self):
        args = ["run", "--no-db", HELLO]
        plain = self.good(*args)
        self.assertNotRegex(plain, CONTROL)
        self.assertRegex(self.screen(200, *args), CONTROL)
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"FABRICAST_COLOR": "never"}):
            self.assertNotRegex(self.screen(200, *args, **variables), CONTROL)
        self.assertNotRegex(self.screen(200, *args, "--color=never"), CONTROL)
        self.assertRegex(self.screen(200, "--color=always", *args, NO_COLOR="1"), CONTROL)
        forced = {**environment(), "CLICOLOR_FORCE": "1"}
        self.assertRegex(self.good(*args, env=forced), CONTROL)
        self.assertNotRegex(self.good(*args, env={**forced, "NO_COLOR": "1"}), CONTROL)
        self.assertNotRegex(self.good(*args, env={**forced, "CLICOLOR_FORCE": "0"}), CONTROL)
        self.assertNotRegex(self.good(*args, "--format", "csv", env=forced), CONTROL)
        painted = self.good(*args, "--color=always")
        self.assertIn("\x1b[31mexposed", painted)
        self.assertEqual(CONTROL.sub("", painted), plain)

    def test_a_long_command_says_how_far_it_is(self):
        line = r"\r\x1b\[K\d+ (of \d+ )?(iterations|plays for the band|what-ifs), (\d+\.\d+ ms simulated, )?\d+:\d\d(, about \d+:\d\d left)?"
        said = r"\r\x1b\[Kfabricast run: (this takes( at most)? about|it holds) [^\n]*\n"  # on a line of its own, where it is long
        left = r"ms simulated, \d+:\d\d, about \d+:\d\d left"
        for size in (32, 64, 128, 256, 512):  # a fast or a busy machine may say it seldom: then more is asked of it
            slow = self.write("slow.yaml", "name: slow\niterations: 1\nfidelity: packet\n"
                              "cluster: {node: dgx-h100, nodes: 32, route: shortest, fabric: {kind: leaf_spine, nodes_per_leaf: 4}}\n"
                              f"job: {{kind: traffic, pattern: permutation, size: {size // support.SLOWNESS}MiB}}\n")
            text = self.screen(80, "run", "--no-db", "--no-band", slow)
            self.assertRegex(text, rf"\A({line}|{said})+\r\x1b\[K\x1b\[1mslow")
            if re.search(left, text):
                break
        self.assertRegex(text, left)
        self.assertEqual(self.fabricast("run", "--no-db", "--no-band", HELLO).stderr, "")

    def test_a_wrong_colour_is_refused(self):
        self.refused("run", HELLO, "--color=blue", names="auto, always and never")
        self.refused("run", HELLO, names="FABRICAST_COLOR=", env={**environment(), "FABRICAST_COLOR": "blue"})

    @unittest.skipUnless(os.path.exists("/dev/full"), "/dev/full is not here")
    def test_a_full_disk_is_noticed_with_colours_too(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([support.PROGRAM, "--color=always", "describe", "nodes"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False, env=environment())
        self.assertEqual(done.returncode, 2)
        self.assertIn("is the disk full?", done.stderr)


if __name__ == "__main__":
    main()
