#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""campaign.py - runs the fuzz targets in turns for some minutes, and says what they have done: `./dev fuzz`.

Each target keeps a corpus of inputs in the build directory, begun with those of tests/fuzz/corpus/ and with samples of
the repository. `--write` keeps those that enter code that no other one enters, and adds what was run since the last time to the page.
"""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import report

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MAX_BYTES, KEPT_FILES, KEPT_BYTES = 4096, 60, 65536  # of an input; of the kept inputs of a target
SHORTEST_TURN_S, LONGEST_TURN_S, SLOWEST_S, MEMORY_MB = 10, 300, 25, 2560
LEAKING = ("study",)  # a library leaks there: suppressions.txt names it, but only the slow way to unwind a stack sees its frame
MOST_ENDS = 3  # of a turn, by inputs that are findings
Ended = collections.namedtuple("Ended", "returncode stderr processor_s")
# Files of the repository that a target begins with, beside its own corpus. They are not kept: they are there already.
SAMPLES = {
    "import": ("tests/fixtures/import/*", "tests/fixtures/huggingface/*", "tests/fixtures/benchmarks/*", "tests/fixtures/nccl-tests/*"),
    "job": ("validate/measured/jobs/*",),
    "library": ("scenarios/*.yaml", "scenarios/learn/*.yaml"),
    "nccl_tests": ("tests/fixtures/nccl-tests/*",),
    "schedule": ("scenarios/schedules/*",),
    "study": ("tests/golden/*/*.json",),
    "yaml": ("tests/fixtures/small/scenario.yaml", "tests/fixtures/small/catalog/*"),
}


def say(text):
    print("fuzz:", text, file=sys.stderr, flush=True)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def samples_of(target):
    return [path for pattern in SAMPLES.get(target, ()) for path in sorted(glob.glob(os.path.join(ROOT, pattern)))
            if os.path.isfile(path) and not path.endswith(".md")]


class Campaign:
    def __init__(self, build, slowest_s):
        self.slowest_s = slowest_s
        self.programs = {os.path.basename(path)[len("libfuzz_"):]: path
                         for path in sorted(glob.glob(os.path.join(build, "tests/fuzz/libfuzz_*"))) if "." not in os.path.basename(path)}
        self.folder = os.path.join(build, "campaign")
        self.findings = os.path.join(self.folder, "findings")
        self.known = set(os.listdir(self.findings)) if os.path.isdir(self.findings) else set()
        os.makedirs(self.findings, exist_ok=True)
        self.turns = os.path.join(self.folder, "turns.csv")  # since the page was written last

    def corpus(self, target):
        """The folder of the corpus that grows, with the samples in it."""
        folder = os.path.join(self.folder, "corpus", target)
        if not os.path.isdir(folder):
            os.makedirs(folder)
            for path in samples_of(target):
                if os.path.getsize(path) <= MAX_BYTES:
                    shutil.copy(path, os.path.join(folder, digest(path)))
        return folder

    def kept(self, target):
        folder = os.path.join(HERE, "corpus", target)
        return [folder] if os.path.isdir(folder) else []

    def command(self, target, *options):
        dictionary = os.path.join(HERE, "dictionaries", target + ".dict")
        return ["nice", "-n", "19", self.programs[target], *options, f"-max_len={MAX_BYTES}", f"-timeout={self.slowest_s}",
                f"-rss_limit_mb={MEMORY_MB}", f"-artifact_prefix={self.findings}/{target}-",
                *([f"-dict={dictionary}"] if os.path.exists(dictionary) else [])]

    def run(self, command):
        is_leaking = any(command[3] == self.programs.get(target) for target in LEAKING)
        environment = dict(os.environ, G_DEBUG="fatal-criticals", G_SLICE="always-malloc", FAB_SOURCE_DIR=ROOT,
                           ASAN_OPTIONS="quarantine_size_mb=16:malloc_context_size=8:detect_odr_violation=0:intercept_strstr=0"
                           + (":fast_unwind_on_malloc=0" if is_leaking else ""),
                           LSAN_OPTIONS=f"suppressions={HERE}/suppressions.txt:print_suppressions=0",
                           UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")
        with tempfile.TemporaryFile("w+", errors="replace", dir=self.folder) as said:
            process = subprocess.Popen(command, env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=said)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            return Ended(process.returncode, said.read(), used.ru_utime + used.ru_stime)

    def turn(self, target, seconds):
        """Runs a target for so long. A finding ends it, and it begins again with what is left of the time. What is noted is the
        time of processors that it took."""
        begun, processor_s, executions, edges = time.monotonic(), 0.0, 0, 0
        for _ in range(MOST_ENDS):
            left = seconds - (time.monotonic() - begun)
            if left < 1:
                break
            ended = self.run(self.command(target, f"-max_total_time={int(left) + 1}", "-print_final_stats=1", "-reload=0")
                             + [self.corpus(target)] + self.kept(target))
            processor_s += ended.processor_s
            executions += sum(map(int, re.findall(r"stat::number_of_executed_units:\s*(\d+)", ended.stderr)))
            edges = max([edges, *map(int, re.findall(r"\bcov: (\d+)", ended.stderr))])
            if ended.returncode != 0:
                with open(os.path.join(self.folder, f"{target}.log"), "a", encoding="utf-8") as log:
                    log.write(ended.stderr[-20000:])
                say(f"{target}: a finding; {self.folder}/{target}.log says more")
        with open(self.turns, "a", encoding="utf-8") as file:
            file.write(f"{target},{processor_s:.1f},{executions},{edges}\n")

    def edges(self, target, folder):
        """Those that the inputs of a folder enter."""
        said = self.run(self.command(target, "-runs=0") + [folder]).stderr
        return max(map(int, re.findall(r"\bcov: (\d+)", said)), default=0)

    def found(self, target):
        return sorted(name for name in os.listdir(self.findings) if name.startswith(target + "-") and name not in self.known
                      and not name.startswith(f"{target}-slow-unit"))

    def rows(self, targets, first=0):
        """What each target has done, from the turn `first` on, and which of its inputs are kept."""
        rows = {target: {"target": target, "seconds": 0.0, "executions": 0, "edges": 0} for target in targets}
        for line in self.lines()[first:]:
            target, seconds, executions, edges = line.split(",")
            if target in rows:
                rows[target]["seconds"] += float(seconds)
                rows[target]["executions"] += int(executions)
                rows[target]["edges"] = max(rows[target]["edges"], int(edges))
        for target, row in rows.items():
            names = [name for folder in self.kept(target) for name in os.listdir(folder)]
            row.update(kept=len(names), mended=sum(name.startswith("finding-") for name in names), open=len(self.found(target)))
        return list(rows.values())

    def lines(self):
        if not os.path.exists(self.turns):
            return []
        with open(self.turns, encoding="utf-8") as file:
            return file.read().split()


def play(campaign, targets, minutes, jobs):
    """Gives each target a turn after the other, until the time is over. No target has two turns at once."""
    end = time.monotonic() + 60 * minutes
    turn_s = min(max(60 * minutes * jobs / len(targets), SHORTEST_TURN_S), LONGEST_TURN_S)
    waiting, lock = collections.deque(targets), threading.Lock()

    def work():
        while time.monotonic() < end - 1:
            with lock:
                if not waiting:
                    return
                target = waiting.popleft()
            campaign.turn(target, min(turn_s, end - time.monotonic()))
            with lock:
                waiting.append(target)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(work) for _ in range(min(jobs, len(targets)))]:
            done.result()


def keep(campaign, target):
    """Puts into the repository the inputs that together enter what all enter, the small ones first. What is kept there already stays
    unless these enter more: few inputs fit there, and a short campaign has found less."""
    folder, merged = os.path.join(HERE, "corpus", target), os.path.join(campaign.folder, "merged", target)
    shutil.rmtree(merged, ignore_errors=True)
    os.makedirs(merged)
    campaign.run(campaign.command(target, "-set_cover_merge=1") + [merged, campaign.corpus(target)] + campaign.kept(target))
    foreign = {digest(path) for path in samples_of(target)}
    chosen = sorted((os.path.join(merged, name) for name in os.listdir(merged)), key=lambda path: (os.path.getsize(path), path))
    chosen = [path for path in chosen if digest(path) not in foreign][:KEPT_FILES]
    while sum(map(os.path.getsize, chosen)) > KEPT_BYTES:
        chosen.pop()
    os.makedirs(folder, exist_ok=True)
    before = [name for name in os.listdir(folder) if not name.startswith("finding-")]  # what was found once is tried for ever
    for path in set(os.listdir(merged)) - {os.path.basename(path) for path in chosen}:
        os.remove(os.path.join(merged, path))
    for name in set(os.listdir(folder)) - set(before):
        shutil.copyfile(os.path.join(folder, name), os.path.join(merged, name))
    if not chosen or campaign.edges(target, merged) <= campaign.edges(target, folder):
        return
    for name in before:
        os.remove(os.path.join(folder, name))
    for path in chosen:
        shutil.copyfile(path, os.path.join(folder, digest(path) + ".bin"))


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description="Searches for inputs that break a reader of foreign input.")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--page", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="targets that run at once (one per processor)")
    parser.add_argument("--slowest", type=int, default=SLOWEST_S, metavar="SECONDS",
                        help=f"an input that takes longer is a finding ({SLOWEST_S}); more beside other programs, since a clock tells")
    parser.add_argument("--write", action="store_true", help="keep inputs in tests/fuzz/corpus and write docs/reference/fuzzing.md")
    parser.add_argument("minutes", nargs="?", type=float, default=10, metavar="MINUTES", help="how long (10); 0 only keeps inputs")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all")
    options = parser.parse_args()
    campaign = Campaign(options.build, options.slowest)
    unknown = [target for target in options.targets if target not in campaign.programs]
    if unknown or options.minutes < 0 or options.jobs < 1 or options.slowest < 1:
        parser.error(f"no such target: {unknown[0]}; there are {', '.join(campaign.programs)}" if unknown
                     else "MINUTES is at least 0, N and SECONDS at least 1")
    targets = options.targets or sorted(campaign.programs)
    say(f"{len(targets)} targets for {options.minutes:g} minutes, {options.jobs} at once")
    first = len(campaign.lines())
    play(campaign, targets, options.minutes, options.jobs)
    if options.write:
        for target in targets:
            keep(campaign, target)
        report.write(options.page, campaign.rows(targets))
    print(report.text(campaign.rows(targets, first)))
    if options.write and os.path.exists(campaign.turns):
        os.remove(campaign.turns)
    found = [os.path.join(campaign.findings, name) for target in targets for name in campaign.found(target)]
    for path in found:
        print(path)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
