#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of README.md works, and prints what the README says.

In a ```sh block a command begins with "$ "; a backslash at its end goes on. The lines up to the next command or the
end of the block are its output, if there are any. In a block without "$ " every line is a command. Only those of
fabricast or build/fabricast are tried. FAB_UPDATE_GOLDEN=1 writes what they print into the README.
"""
import os
import re
import subprocess
import unittest

import support
from support import SOURCE, CliTest, environment, main, masked, read

README = os.path.join(SOURCE, "README.md")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)
OURS = re.compile(r"(?:build/)?fabricast ")


def steps(block):
    """(command without "$ ", output lines) in turn."""
    has_prompts = re.search(r"^\$ ", block, re.M)
    found = []
    for line in re.findall(r"(?:[^\n]*\\\n)*[^\n]*\n", block):
        line = line[:-1]
        if line.startswith("$ ") or not has_prompts:
            found.append((line.removeprefix("$ "), []))
        elif found:
            found[-1][1].append(line)
    return found


def trimmed(text):
    return [line.rstrip() for line in masked(text).strip("\n").splitlines()]


class Readme(CliTest):
    def setUp(self):
        super().setUp()
        if not os.path.exists(README):
            self.skipTest("there is no README.md yet")
        for name in ("build", "bin"):
            os.mkdir(self.path(name))
            os.symlink(support.PROGRAM, self.path(name, "fabricast"))
        for name in ("scenarios", "docs", "tests"):
            os.symlink(os.path.join(SOURCE, name), self.path(name))
        self.env = {**environment(), "PATH": self.path("bin") + ":" + os.environ["PATH"]}

    def test_commands(self):
        n_commands = 0
        for block in BLOCK.findall(read(README)):
            for command, output in steps(block):
                if OURS.match(command):
                    n_commands += 1
                    with self.subTest(command):
                        self.check(command, output)
        self.assertGreater(n_commands, 0, "README.md shows no command")

    @unittest.skipUnless(os.environ.get("FAB_UPDATE_GOLDEN"), "only to write the README anew")
    def test_0_update(self):
        def fresh(block):
            lines = []
            for command, output in steps(block[1]):
                ours = OURS.match(command)
                lines += ["$ " + command, *(self.run_command(command).stdout.splitlines() if ours else output)]
            return "```sh\n" + "".join(line.rstrip() + "\n" for line in lines) + "```"

        text = BLOCK.sub(fresh, read(README))
        with open(README, "w", encoding="utf-8") as file:
            file.write(text)

    def run_command(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.directory, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def check(self, command, output):
        done = self.run_command(command)
        expected = trimmed("\n".join(output))
        if expected:
            self.assertEqual(expected, trimmed(done.stdout))


if __name__ == "__main__":
    main()
