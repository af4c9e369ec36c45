#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A limit that a message names is the limit: the last value that it allows is taken, and the next one is refused.

`limits.py PROGRAM COMMAND...`: the cases of these commands.
"""
import shlex
import sys

import answer
from answer import support

RUN = "run hello --no-db --no-band --no-bottleneck --iterations 1"
LINK = "$SOURCE/docs/examples/link.csv"
# A command with {} for the value; values that are taken; values that are refused, with words of the reason.
CASES = (
    ("describe models gpt2 --sequence {}", ("1", "10000000"), ("0", "10000001"), "from 1 to 10000000 tokens"),
    (RUN + " --seeds {}", ("1", "2"), ("0", "100001", "two"), "--seeds"),
    ("sweep hello --vary seed=1,2 --jobs {}", ("1", "2"), ("-1", "1000"), "--jobs"),
    ("scale hello --gpus 1..2:x2 --efficiency {}", ("100%", "0.1%"), ("0%", "100.1%"), "--efficiency"),
    ("import $SOURCE/tests/fixtures/benchmarks/series.csv --ranks {}", ("2",), ("1", "0", "-1"), "--ranks must be at least 2"),
    (f"calibrate {LINK} --base ib-hdr --count {{}}", ("1", "4096"), ("0", "4097"), "--count must be from 1 to 4096"),
    (f"calibrate {LINK} --base ib-hdr --hops {{}}", ("1", "64"), ("0", "65"), "--hops from 1 to 64"),
    (f"calibrate {LINK} --base ib-hdr --holdout {{}}", ("0%", "49%"), ("50%", "-1%"), "below one half"),
    ("collective --node dgx-h100 -g {}", ("2", "8"), ("-1", "1000001"), "from 1 to 1000000"),
    ("collective --node dgx-h100 --nodes {}", ("1", "2"), ("-1", "1000001"), "from 1 to 1000000"),
    ("explore --port {}", (), ("-1", "65536"), "from 1 to 65535"),
    ("explore --port 0 --seeds {}", (), ("0", "1001"), "from 1 to 1000"),
    ("upgrade mpi-rig-100m --only setting --top {}", ("1",), ("0", "-1"), "--top"),
    ("goodput hello --set reliability.failures=meta-llama3 --no-band --trials {}", ("0", "1"), ("-1",), "--trials"),
)


class Limits(answer.AnswerTest):
    commands = []

    def arguments(self, command, value):
        return [word.replace("$SOURCE", support.SOURCE) for word in shlex.split(command.format(value))]

    def test_the_last_value_is_taken_and_the_next_refused(self):
        cases = [case for case in CASES if case[0].split()[0] in self.commands]
        self.assertGreater(len(cases), 0)
        for command, taken, refused, words in cases:
            for value in taken:
                with self.subTest(command.format(value)):
                    done = self.fabricast(*self.arguments(command, value))
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assertTrue(done.stdout)
            for value in refused:
                with self.subTest(command.format(value)):
                    self.refused(*self.arguments(command, value), names=words)


if __name__ == "__main__":
    Limits.commands = [sys.argv.pop() for _ in range(len(sys.argv) - 2)]
    support.main()
