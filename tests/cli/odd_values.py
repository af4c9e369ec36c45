#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options with values that nobody means: empty, half a range, a lone separator. A command refuses each with a sentence, or
takes it; it never breaks. Every option that takes a value has the empty one and another one; `--whole` gives it all."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import zlib

from support import BREAKAGE, HELLO, IS_WHOLE, SOURCE, CliTest, environment, main
import support

ODD = (" ", "x", "-1", "0", "1e400", "nan", ",", ":", "=", "/", "..", "1..", "..1", "1:", "%", "a=b", "a=", "=b", "[", "{", "'", '"', "\n",
       "99999999999999999999", "1..2:0", "a.b.c=", "job.=1", "cluster.nodes=", "$", "$1", ">", "exposed<", "a/b", ";", "1/0", "\u20ac")
LINK = os.path.join(SOURCE, "docs", "examples", "link.csv")
HOST = os.path.join(SOURCE, "docs", "examples", "topo-a100.txt")
# A short use of each command. `explore` and `measure` are left out: with a good value they serve, and measure this machine.
USES = {
    "run": (HELLO, "--no-db", "--no-bottleneck"), "check": (HELLO, "--quiet"), "collective": ("--node", "dgx-a100", "-b", "1M", "-e", "2M"),
    "p2p": ("--node", "dgx-a100", "-g", "2"), "compare": (HELLO, "--vary", "job.micro_batch=1,2"), "whatif": (HELLO, "--set", "job.micro_batch=2"),
    "sweep": (HELLO, "--vary", "job.micro_batch=1,2"), "scale": (HELLO, "--gpus", "8..16:x2"),
    "size": (HELLO, "--vary", "job.micro_batch=1..2", "--target", "mfu>=1%"), "plan": (HELLO, "--strategies", "ddp"),
    "tune": (HELLO, "--knobs", "bucket"), "upgrade": (HELLO, "--only", "setting"), "cost": (HELLO,),
    "goodput": (os.path.join(SOURCE, "scenarios", "goodput-llama3-405b.yaml"), "--trials", "2"),
    "mix": (os.path.join(SOURCE, "scenarios", "mix-512.yaml"),), "topo": ("--node", "dgx-a100"), "import": (HOST,), "calibrate": (LINK,),
    "validate": ("h100x8_nvswitch_allgather_8",), "query": ("iterations",), "report": (), "trace": (), "export": (HELLO,), "bundle": ("out",),
    "explain": (HELLO,), "describe": ("links",), "help": (),
}
READS_RESULTS = ("query", "report", "trace", "bundle")


def without(args, option):
    """The use of a command without what the option says in it already."""
    at = args.index(option) if option in args else len(args)
    return args[:at] + args[at + 2:]


class OddValues(CliTest):
    def options(self, command):
        done = self.fabricast(command, "--help")
        return re.findall(r"(--[a-z0-9-]+)=[A-Z]", done.stdout)

    def try_one(self, case):
        command, option, value = case
        name = f"{zlib.crc32(repr(case).encode()):08x}"
        os.mkdir(self.path(name))
        if command in READS_RESULTS:
            shutil.copy(self.path("fabricast.db"), self.path(name))
        done = subprocess.run([support.PROGRAM, command, *without(USES[command], option), f"{option}={value}"], cwd=self.path(name),
                              env=environment(), capture_output=True, check=False, timeout=100, stdin=subprocess.DEVNULL)
        says = done.stderr.decode("utf-8")
        shutil.rmtree(self.path(name))
        is_good = done.returncode in (0, 1, 2, 3) and not BREAKAGE.search(says) and (done.returncode in (0, 1) or says.strip())
        return None if is_good else (case, done.returncode, says[:300])

    def test_options_refuse_what_nobody_means(self):
        self.fabricast("run", HELLO, "--db", self.path("fabricast.db"))
        cases = []
        for command in USES:
            options = self.options(command)
            self.assertEqual(bool(options), command != "help", command)
            for option in options:
                other = ODD if IS_WHOLE else (ODD[zlib.crc32((command + option).encode()) % len(ODD)],)
                cases += [(command, option, value) for value in ("", *other)]
        self.assertGreater(len(cases), 300)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual([found for found in pool.map(self.try_one, cases) if found], [])


if __name__ == "__main__":
    main()
