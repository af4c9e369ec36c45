#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same_results.py - whether two builds of Fabricast give the same results, to the byte.

    tests/same/same_results.py OLD NEW [--limit-s 20] [--jobs 2] [--only TEXT] [--fidelity NAME]... [--without KEY]...

OLD and NEW are two programs, each in the build folder of its own checkout. Every shipped scenario of NEW's checkout is
run at every fidelity, one iteration of it, and a few questions are asked of each; what the programs print, what they
complain of and how they end is compared. A case that takes longer than the limit in OLD is left out and counted. Use it
for a change that must not change any result: build the commit before in another worktree, and compare. It is no test of
the suite, because it takes several minutes and needs another build.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

FIDELITIES = ["fluid", "step", "packet", "analytic"]
CLOCK = ["version", "wall_s", "peak_rss_bytes"]
QUESTIONS = [["check"], ["explain", "step"], ["explain", "exposed"]]


def root_of(program):
    """The checkout in whose build folder a program lies."""
    return os.path.dirname(os.path.dirname(os.path.abspath(program)))


def cases(root, only, fidelities):
    """Yields the arguments of each case, with paths relative to the checkout."""
    for folder, _, names in sorted(os.walk(os.path.join(root, "scenarios"))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root)
            if not name.endswith(".yaml") or only not in path:
                continue
            for fidelity in fidelities:
                yield ["run", path, "--fidelity", fidelity, "--iterations", "1", "--allow-oversized", "--no-db",
                       "--format", "json"]
            for question in QUESTIONS:
                yield [question[0], path] if len(question) == 1 else [question[0], question[1], path]


def play(program, arguments, limit_s, without):
    """What the program prints, with its checkout's path, its version, what a clock says and these keys left out; None when
    it takes too long."""
    root = root_of(program)
    environment = dict(os.environ, FABRICAST_THREADS="1", NO_COLOR="1", COLUMNS="120")
    try:
        done = subprocess.run([os.path.abspath(program)] + arguments, cwd=root, env=environment, timeout=limit_s,
                              capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return None
    printed = (without.sub(b"", text).replace(root.encode(), b"") for text in (done.stdout, done.stderr))
    return done.returncode, *printed


def compare(old, new, arguments, limit_s, without):
    before = play(old, arguments, limit_s, without)
    if before is None:
        return arguments, "slow"
    after = play(new, arguments, 4 * limit_s, without)
    return arguments, "same" if after == before else "slower" if after is None else "different"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--limit-s", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="scenarios whose path has this text")
    parser.add_argument("--fidelity", action="append", choices=FIDELITIES)
    parser.add_argument("--without", action="append", default=[], metavar="KEY", help="a key of JSON that came or went")
    options = parser.parse_args()
    keys = "|".join(map(re.escape, CLOCK + options.without))
    without = re.compile(rf'\n? *"({keys})" : [^\n]*'.encode())
    counts = {"same": 0, "different": 0, "slow": 0, "slower": 0}
    todo = list(cases(root_of(options.new), options.only, options.fidelity or FIDELITIES))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for arguments, verdict in pool.map(lambda case: compare(options.old, options.new, case, options.limit_s, without),
                                          todo):
            counts[verdict] += 1
            if verdict in ("different", "slower"):
                print(f"{verdict}: fabricast {' '.join(arguments)}", flush=True)
    print(f"{counts['same']} cases are the same, {counts['different']} differ, {counts['slower']} take over four times "
          f"the limit now; {counts['slow']} were left out, because they take over {options.limit_s:g} s")
    return 1 if counts["different"] + counts["slower"] else 0


if __name__ == "__main__":
    sys.exit(main())
