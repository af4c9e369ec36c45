# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: the program, a directory of its own for every test, JSON, masks.

Every script here is `NAME.py PROGRAM [unittest option...]`, and skips as meson wants it (77) when a Python
package is missing. FAB_SOURCE_DIR is the checkout.
"""
import ctypes
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ.get("FAB_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCENARIOS = sorted(glob.glob(os.path.join(glob.escape(SOURCE), "scenarios", "*.yaml")))
LEARN = sorted(glob.glob(os.path.join(glob.escape(SOURCE), "scenarios", "learn", "*.yaml")))
PAGES = sorted(glob.glob(os.path.join(glob.escape(SOURCE), "docs", "**", "*.md"), recursive=True))
HELLO = os.path.join(SOURCE, "scenarios", "hello.yaml")
PROGRAM = ""
SKIPPED = 77
IS_WHOLE = os.environ.get("FAB_WHOLE") == "1"  # `./dev test --whole`: what takes long is run too
SLOWNESS = int(os.environ.get("FAB_TEST_SLOWNESS", "1"))  # of this build: sanitizers take several times as long

sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import child  # noqa: E402

# Marks of a program that broke, whatever its exit code says.
BREAKAGE = re.compile(r"Sanitizer|runtime error|Traceback|CRITICAL|WARNING \*\*|Assertion|core dumped")
ADVISED = re.compile(r"[`']fabricast (describe(?: [a-z0-9_.-]+)+)[`']")  # commands in messages, which there must be
EXPECTED_COMPLAINT = re.compile(r"The job does not fit|warning: fluid does not simulate|^fabricast check: note: |"
                                r"warning: Not all of the design")
COMMIT = re.compile(r"\b(\d+\.\d+\.\d+)\+g[0-9a-f]{7,40}(?:-dirty)?")  # of a version
VOLATILE = re.compile(r'("(?:wall_s|peak_rss_bytes)" : )[0-9.e+-]+')


def masked(text):
    return COMMIT.sub(r"\1", VOLATILE.sub(r"\1MASKED", text))


def smaller(path):
    """What makes a run of seconds of a scenario that takes a minute with sanitizers."""
    nodes = {"fabric-24k-pods.yaml": 768, "megatron-405b.yaml": 16, "zero3-70b-16384.yaml": 16}.get(os.path.basename(path))
    return ["--set", f"cluster.nodes={nodes}"] if nodes else []


def takes_long(command):
    """Whether a command of a page is left to `./dev test --whole`, and this is not that."""
    lines = read(os.path.dirname(os.path.abspath(__file__)), "whole.txt").splitlines()
    command = command.removeprefix("build/")
    return not IS_WHOLE and any(command.startswith(line) for line in lines if line and not line.startswith("#"))


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FABRICAST_", "LC_", "LANG"))}
    return {**kept, "LC_ALL": "C.UTF-8", "FABRICAST_PROGRESS": "never"}


def new_directory():
    path = tempfile.mkdtemp(prefix="fab-cli-")
    os.chmod(path, 0o755)
    return path


class CliTest(unittest.TestCase):
    """Runs in a directory of its own, which is gone afterwards."""

    followed = set()

    def setUp(self):
        self.directory = new_directory()
        self.addCleanup(subprocess.run, ["rm", "-rf", self.directory], check=True)

    def path(self, *name):
        return os.path.join(self.directory, *name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def fabricast(self, *args, program=None, **how):
        """The ended process, which did not break."""
        how = {"cwd": self.directory, "env": environment(), **how}
        done = subprocess.run([program or PROGRAM, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, **how)
        self.assertIsNone(BREAKAGE.search(done.stderr), done.stderr)
        self.assertIn(done.returncode, (0, 1, 2, 3), f"{args}: {done.stderr}")
        for words in set(ADVISED.findall(done.stderr)) - self.followed:
            self.followed.add(words)
            self.assertEqual(subprocess.run([PROGRAM, *words.split()], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                            cwd=self.directory, env=environment()).returncode, 0, f"{args}: {done.stderr}")
        return done

    def start_program(self, *args, launcher=(), **how):
        """The program as a child.Child, beside the test."""
        how = {"cwd": self.directory, "env": environment(), **how}
        return child.start(self, [*launcher, PROGRAM, *args], **how)

    def good(self, *args, **how):
        """What a command prints that ends with 0 and complains of nothing but what is so of shipped scenarios: a job
        that is too large, what its fidelity does not see, and designs that were not published in whole."""
        done = self.fabricast(*args, **how)
        complaints = [line for line in done.stderr.splitlines() if not EXPECTED_COMPLAINT.search(line)]
        self.assertEqual((done.returncode, complaints), (0, []), args)
        return done.stdout

    def json(self, *args, **how):
        return json.loads(self.good(*args, "--format", "json", **how))

    def refused(self, *args, names, **how):
        """Exit code 2, nothing on stdout, one line on stderr with `names` in it."""
        done = self.fabricast(*args, **how)
        self.assertEqual((done.returncode, done.stdout), (2, ""), f"{args}: {done.stderr}")
        self.assertRegex(done.stderr, r"\Afabricast \w+(?: \w+)?: [^\n]+\n\Z")
        self.assertIn(names, done.stderr)
        return done.stderr


def commands(help_text):
    """The commands that `fabricast --help` lists, group by group."""
    listed = help_text.split("Start here:\n")[1].split("\n\n", 1)[1]
    return re.findall(r"^  ([a-z0-9]+) {2,}\S", listed, re.M)


def need(*packages):
    """The packages, or exit code 77: skipped."""
    try:
        return [__import__(name) for name in packages]
    except ImportError as missing:
        print(f"skipped: a Python package is missing here: {missing}")
        sys.exit(SKIPPED)


def has_landlock():
    """Whether the kernel can confine a program: the version of Landlock that landlock_create_ruleset tells (man landlock)."""
    return ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) >= 1


def unconfined_threads(pid):
    """The threads of a process that could still gain rights; a thread that Landlock confines cannot."""
    def text(path):
        with open(path, encoding="utf-8") as file:
            return file.read()
    return [path for path in glob.glob(f"/proc/{pid}/task/*/status") if not re.search(r"(?m)^NoNewPrivs:\s+1$", text(path))]


def main():
    """Call it last in a script. The last lines of output say what was skipped, and why."""
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    result = unittest.main(module="__main__", exit=False).result
    sys.stderr.flush()
    for reason in sorted({reason for _, reason in result.skipped}):
        print("skipped:", " ".join(reason.split()))
    if not result.wasSuccessful():
        sys.exit(1)
    if result.skipped and result.testsRun <= len(result.skipped):
        sys.exit(SKIPPED)
