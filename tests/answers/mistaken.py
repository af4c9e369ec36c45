#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every option of every command that plays a scenario, with a value that cannot be: exit code 2, nothing on stdout, and a reason that names it.

`mistaken.py PROGRAM COMMAND...`. What a command has is read from its --help.
"""
import re
import sys

import answer
from answer import support

COMMANDS = {
    "run": ("run", "hello", "--no-db"), "explain": ("explain", "hello"), "check": ("check", "hello"), "compare": ("compare", "hello", "--vary", "seed=1,2"),
    "whatif": ("whatif", "hello", "--nodes", "2"), "scale": ("scale", "hello"), "size": ("size", "hello", "--vary", "cluster.nodes=1,2", "--target", "step<=1s"), "sweep": ("sweep", "hello", "--vary", "seed=1,2"),
    "tune": ("tune", "hello"), "plan": ("plan", "hello"), "upgrade": ("upgrade", "hello"), "cost": ("cost", "hello"),
    "goodput": ("goodput", "hello", "--set", "reliability.failures=meta-llama3"), "mix": ("mix", "mix-512"), "export": ("export", "hello", "--format", "goal", "-o", "-"),
    "collective": ("collective", "--node", "dgx-a100"), "p2p": ("p2p", "--node", "dgx-a100"), "topo": ("topo", "hello"), "explore": ("explore", "hello"),
}
# Values that cannot be, by the name of the option.
WRONG = {
    "set": ("cluster.nodes=-1", "cluster.nodez=1", "nonsense", "job.micro_batch=x", "reliability.failures=x"), "format": ("jsn",), "rows": ("no-such-row",), "seeds": ("x", "0"), "hold": ("nothing",),
    "iterations": ("0", "x"), "fidelity": ("fluit",), "seed": ("-1", "x"), "trace": ("nowhere/x.json",), "db": ("nowhere/x.db",), "collective": ("no-such-one",),
    "vary": ("cluster.nodez=1,2", "cluster.nodes", "nonsense"), "against": ("nobody",), "at-equal": ("stepp",), "fault": ("x", "nic=nowhere:50%"), "sharp": ("perhaps",),
    "nvls": ("perhaps",), "nic": ("no-such-link",), "domain": ("x",), "nodes": ("x",), "gpus": ("x",), "base": ("cluster.nodez=1",), "efficiency": ("x", "0%"),
    "target": ("stepp<=1s", "step<=1", "step"), "zip": ("nonsense",), "jobs": ("x",), "knobs": ("no-such-knob",), "by": ("stepp",), "memory": ("x",), "out": ("nowhere/x.yaml",),
    "strategies": ("ddpp",), "top": ("0", "x"), "budget": ("x",), "only": ("x",), "grow": ("x",), "prices": ("nowhere.yaml",), "trials": ("-1", "x"), "output": ("nowhere/x/y",),
    "node": ("no-such-node",), "gpus-per-node": ("x",), "ngpus": ("x",), "nthreads": ("x",), "with": ("nowhere.yaml",), "fabric": ("no-such-fabric",), "op": ("all_reduze",),
    "datatype": ("floot",), "minbytes": ("x",), "maxbytes": ("x",), "stepfactor": ("x",), "stepbytes": ("x",), "iters": ("x",), "library": ("nckl",), "algorithm": ("ringg",),
    "protocol": ("simpel",), "env": ("NCCL_ALGOO=Ring",), "form": ("x",), "check": ("nowhere.txt",), "tolerance": ("x",), "check-from": ("x",), "json": ("nowhere/x.json",),
    "design": ("no-such-design",), "units": ("x",), "port": ("x", "65536"), "listen": ("nowhere",), "warmup_iters": ("x",), "check-data": ("x",),
}
TAKEN = (("plan", "top", "0"), ("size", "vary", "cluster.nodes"))  # no rows, and the usual values


class Mistaken(answer.AnswerTest):
    commands = []

    def refusals(self, command):
        base = COMMANDS[command]
        told = re.findall(r"(?m)^  (?:-\w, )?--([\w-]+)=", self.good(command, "--help"))
        self.assertEqual([name for name in told if name not in WRONG], [], f"options of {command} of which no wrong value is known")
        if base[1] in ("hello", "mix-512"):
            yield (command, "no-such-file.yaml", *base[2:]), "no-such-file.yaml"
        for name in told:
            for value in WRONG[name]:
                if (command, name, value) in TAKEN:
                    continue
                if command == "topo" and name in ("node", "nodes", "design", "units"):  # in place of a scenario
                    yield ("topo", *(["--node", "dgx-h100"] if name == "nodes" else ["--design", "superpod-h100"] if name == "units" else []), f"--{name}={value}"), name, value
                    continue
                rest = [word for i, word in enumerate(base) if word != f"--{name}" and (i == 0 or base[i - 1] != f"--{name}" or name == "set")]
                yield (*(base if name == "set" else rest), f"--{name}={value}"), name, value.split("=")[0]

    def test_each_is_named(self):
        for command in self.commands:
            for arguments, *words in self.refusals(command):
                with self.subTest(" ".join(arguments)):
                    done = self.fabricast(*arguments)
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    self.assertTrue(any(word in done.stderr for word in words), done.stderr)


if __name__ == "__main__":
    Mistaken.commands = [sys.argv.pop() for _ in range(len(sys.argv) - 2)]
    support.main()
