#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of README.md and of the pages of docs/ works, and prints what the page says.

In a ```sh block a command begins with "$ "; a backslash at its end goes on. The lines up to the next command or the
end of the block are its output, if there are any. In a block without "$ " every line is a command. Only those of
fabricast or build/fabricast are tried, of docs/ those behind a "$ ". The commands of a page share a directory.
FAB_UPDATE_GOLDEN=1 writes what they print into the pages.
"""
import glob
import os
import re
import subprocess
import unittest

import support
from support import SOURCE, CliTest, environment, main, masked, read

README = os.path.join(SOURCE, "README.md")
FOLDERS = ("tutorials", "how-to", "reference", "explanation", "")
PAGES = [README, *(page for folder in FOLDERS
                   for page in sorted(glob.glob(os.path.join(glob.escape(SOURCE), "docs", folder, "*.md"))))]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)
PROMPT = re.compile(r"^\$ ", re.M)
OURS = re.compile(r"(?:build/)?fabricast ")


def steps(block):
    """(command without "$ ", output lines) in turn."""
    has_prompts = PROMPT.search(block)
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
    def enter(self):
        """A new directory that looks like a checkout with a build."""
        self.doCleanups()
        super().setUp()
        for name in ("build", "bin"):
            os.mkdir(self.path(name))
            os.symlink(support.PROGRAM, self.path(name, "fabricast"))
        for name in ("scenarios", "docs", "tests"):
            os.symlink(os.path.join(SOURCE, name), self.path(name))
        self.env = {**environment(), "PATH": self.path("bin") + ":" + os.environ["PATH"]}

    def check_page(self, page, pattern):
        commands = [step for block in BLOCK.findall(read(page)) if pattern.search(block)
                    for step in steps(block) if OURS.match(step[0])]
        if commands:
            self.enter()
        for command, output in commands:
            with self.subTest(f"{os.path.basename(page)}: {command}"):
                self.check(command, output)
        return len(commands)

    def test_readme(self):
        self.assertGreater(self.check_page(README, re.compile("")), 0)

    def test_pages(self):
        for page in PAGES[1:]:
            self.check_page(page, PROMPT)

    @unittest.skipUnless(os.environ.get("FAB_UPDATE_GOLDEN"), "only to write the pages anew")
    def test_0_update(self):
        def fresh(block):
            if not PROMPT.search(block[1]):
                return block[0]
            lines = []
            for command, output in steps(block[1]):
                shown = self.run_command(command).splitlines() if OURS.match(command) else output
                lines += ["$ " + command, *(output if trimmed("\n".join(output)) == trimmed("\n".join(shown)) else shown)]
            return "```sh\n" + "".join(line.rstrip() + "\n" for line in lines) + "```"

        for page in PAGES:
            self.enter()
            text = BLOCK.sub(fresh, read(page))
            if text != read(page):
                with open(page, "w", encoding="utf-8") as file:
                    file.write(text)

    def run_command(self, command):
        """What a person sees: the answer, or what is said where there is none."""
        done = subprocess.run(["bash", "-c", command], cwd=self.directory, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, command + "\n" + done.stderr)
        return done.stdout or done.stderr

    def check(self, command, output):
        shown = self.run_command(command)
        expected = trimmed("\n".join(output))
        if expected:
            self.assertEqual(expected, trimmed(shown))


if __name__ == "__main__":
    main()
