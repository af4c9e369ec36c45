#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options and arguments that make no sense are refused: exit code 2, nothing on standard output, one line that names them.

`refused.py PROGRAM COMMAND...`: the lines of refused.txt that begin with one of these commands. Somebody who errs learns which part
is wrong; a script learns it from the exit code, and never reads half an answer.
"""
import os
import shlex
import sys

import answer
from answer import support


class Refused(answer.AnswerTest):
    commands = []

    def test_each_is_refused_with_a_reason(self):
        lines = support.read(os.path.dirname(os.path.abspath(__file__)), "refused.txt").splitlines()[1:]
        cases = [(line, words.strip()) for line, words in zip(lines[::2], lines[1::2]) if line.split()[0] in self.commands]
        self.assertGreater(len(cases), 0)
        for line, words in cases:
            with self.subTest(line):
                arguments = [word.replace("$SOURCE", support.SOURCE) for word in shlex.split(line)]
                self.refused(*arguments, names=words.replace("$SOURCE", support.SOURCE))


if __name__ == "__main__":
    Refused.commands = [sys.argv.pop() for _ in range(len(sys.argv) - 2)]
    support.main()
