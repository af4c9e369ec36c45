#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of README.md and of the pages of docs/ works, and prints what the page says.

In a ```sh block a command begins with "$ "; a backslash at its end goes on. The lines up to the next command or the
end of the block are its output, if there are any. In a block without "$ " every line is a command. Only those of
fabricast or build/fabricast are tried, of docs/ those behind a "$ ". The commands of a page share a directory.
FAB_UPDATE_GOLDEN=1 writes what they print into the pages, where they have output: `...` stands for some. Outputs are fitted to
100 columns, which a page of the site has room for.

Commands that no block runs, because they need a second machine, serve a page, take minutes or stand in a sentence, name a
command and options that exist; those that look something up are run. The slides quote what runs print.
"""
import glob
import os
import re
import shlex
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
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", re.M | re.S)
INLINE = re.compile(r"`((?:build/)?fabricast [^`]+)`")
HOLDER = re.compile(r"[A-Z][A-Z-]+|.*\.\.\.|\[.*|.*\]|<.*")  # NAME, FILE..., [FIGURE]: to be filled in
LOOKS_UP = ("describe", "help")
EVERYWHERE = {"--help", "--color", "--version"}
HELLO_SLIDES = ((("cluster.gpus_per_node=1",), "a step takes {step:.0f} ms"),
                (("cluster.nodes=4",), "a step takes {step:.0f} ms, {exposed:.1f} % of it exposed"),
                (("cluster.nodes=4",), "compute alone {alone:.1f} %, hidden {hidden:.1f} %, exposed {exposed:.1f} %"),
                (("cluster.nodes=4", "cluster.nics_per_node=1"), "A step takes {step:.0f} ms, {exposed:.1f} % of it exposed"),
                (("cluster.nodes=4", "cluster.nics_per_node=1"),
                 "compute alone {alone:.1f} %, hidden {hidden:.1f} %, exposed {exposed:.1f} %"))


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


def mentioned(page):
    """Commands that the page names and no test runs, as words."""
    text, lines = read(page), []
    is_run = os.path.relpath(page, SOURCE).split(os.sep)[1:-1] != ["models"] and "decisions" not in page
    for _, language, block in FENCE.findall(text):
        if not (language == "sh" and is_run and (page == README or PROMPT.search(block))):
            lines += [line.strip().removeprefix("$ ") for line in block.replace("\\\n", " ").splitlines()]
    lines += [" ".join(code.split()) for code in INLINE.findall(FENCE.sub("", text))]
    for line in lines:
        if OURS.match(line):
            reader = shlex.shlex(line, posix=True, punctuation_chars="|;&<>")
            reader.whitespace_split = True
            words = []
            for word in reader:
                if word[0] in "|;&<>":
                    break
                words.append(word)
            yield words[1:]


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
        self.env = {**environment(), "FABRICAST_COLUMNS": "100", "PATH": self.path("bin") + ":" + os.environ["PATH"]}

    def check_page(self, page, pattern):
        commands = [step for block in BLOCK.findall(read(page)) if pattern.search(block)
                    for step in steps(block) if OURS.match(step[0])]
        if commands:
            self.enter()
        for command, output in commands:
            if page != README and support.takes_long(command):
                continue
            with self.subTest(f"{os.path.basename(page)}: {command}"):
                self.check(command, output)
        return len(commands)

    def test_readme(self):
        self.assertGreater(self.check_page(README, re.compile("")), 0)

    def test_pages(self):
        for page in PAGES[1:]:
            self.check_page(page, PROMPT)

    def options(self, words, known={}):  # one answer for all
        name = tuple(words[:2] if words[0] == "validate" and re.fullmatch("[a-z]+", "".join(words[1:2])) else words[:1])
        if name not in known:
            known[name] = EVERYWHERE | set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", self.good(*name, "--help")))
        return known[name]

    def test_commands_that_are_mentioned(self):
        self.enter()
        commands = {*support.commands(self.good("--help")), "help"}
        pages = [README, os.path.join(SOURCE, "CONTRIBUTING.md"), *support.PAGES]
        done = set()
        for page in pages:
            for words in mentioned(page):
                with self.subTest(f"{os.path.relpath(page, SOURCE)}: {' '.join(words)}"):
                    if not words or HOLDER.fullmatch(words[0]) or words[0].startswith("-"):
                        continue
                    self.assertIn(words[0], commands)
                    unknown = {word.partition("=")[0] for word in words[1:] if re.match("-[a-zA-Z-]", word)}
                    self.assertEqual(unknown - self.options(words), set())
                    line = tuple(words)
                    is_here = words[1:2] != ["measure"]  # backends of this build only
                    if is_here and words[0] in LOOKS_UP and line not in done and not any(HOLDER.fullmatch(word) for word in words):
                        self.run_command("fabricast " + shlex.join(words))
                    done.add(line)
        self.assertGreater(len(done), 100)

    def test_slides(self):
        slides = read(SOURCE, "docs", "tutorials", "slides.html")
        for sets, text in HELLO_SLIDES:
            last = self.json("run", support.HELLO, "--no-db", "--no-band", *(word for one in sets for word in ("--set", one)))
            last = last["iterations"][-1]
            hidden, exposed = (round(100 * last[key] / last["step_s"], 1) for key in ("overlapped_s", "exposed_s"))
            text = text.format(step=1e3 * last["step_s"], hidden=hidden, exposed=exposed, alone=100 - hidden - exposed)
            self.assertTrue(text in slides, text)

    @unittest.skipUnless(os.environ.get("FAB_UPDATE_GOLDEN"), "only to write the pages anew")
    def test_0_update(self):
        def fresh(block):
            if not PROMPT.search(block[1]):
                return block[0]
            lines = []
            for command, output in steps(block[1]):
                shown = self.run_command(command).splitlines() if OURS.match(command) else output
                shown = shown if any(output) else []
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
