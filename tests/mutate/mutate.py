#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py - plausible faults, put into the sources one by one: which tests notice?

A fault is drawn from all places of a room where an operator, a condition, a constant, a statement or a result can be
wrong (points.py). The tests of the suites unit, property, registry and commands that enter its function run, the quickest first,
until one fails. A fault that no test notices survives; its line is a question that no test asks. Faults that change nothing
that anybody can see are listed in equal.txt, each with its reason, and are not counted.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import sys
import threading

import harness as harness_of
import page
import points as points_of

ROOMS = ("sim", "formats", "models", "answer", "lib", "validate", "cli")
LIMIT_FACTOR, LIMIT_S = 10, 5  # a test that takes ten times as long and five seconds more hangs: it noticed
Outcome = collections.namedtuple("Outcome", "state by")  # killed, survived, unreached, same, refused, equal; the test
How = collections.namedtuple("How", "name compiled linked")
PLAIN = How("plain", ("-O1", "-g0"), ())
CHECKED = How("checked", ("-O1", "-g0", "-fsanitize=address"), ("-fsanitize=address",))  # as programs of tests run in CI
EQUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equal.txt")


def say(text):
    print("mutate:", text, file=sys.stderr, flush=True)


def equal_faults():
    """{(file, fault): reason} of equal.txt: a line `FILE FAULT`, and below it, further to the right, why nobody can see it."""
    faults, key = {}, None
    with open(EQUAL, encoding="utf-8") as file:
        for line in file:
            if line.startswith(" "):
                faults[key] = f"{faults[key]} {line.strip()}".strip()
            elif line.strip() and not line.startswith("# "):
                key = tuple(line.strip().split(" ", 1))
                faults[key] = ""
    return faults


def function_of(content, line):
    """The line where the function of this line begins: the one that its name stands in."""
    lines = content.split("\n")
    start = next(at for at in range(line - 1, -1, -1) if lines[at] == "{")
    while not (lines[start - 1][:1].isalpha() or lines[start - 1][:1] == "_"):
        start -= 1
    return start


def drawn(harness, room, count, seed):
    """Mutants of a room in the order of the draw. A place keeps its rank when other places come and go."""
    ranked = []
    for path in sorted(path for path in harness.sources if path == room or path.startswith(room + "/")):
        with open(os.path.join(harness.root, path), encoding="utf-8") as file:
            content = file.read()
        seen = collections.Counter()
        for point in points_of.points(content):
            name = f"{seed}/{path}/{points_of.described(content, point)}"
            seen[name] += 1
            ranked.append((hashlib.sha256(f"{name}/{seen[name]}".encode()).digest(), path, point))
    return [(path, point) for _, path, point in sorted(ranked)[:2 * count + 20]]


def at_line(harness, place):
    """The mutants of one line, FILE:LINE."""
    path, _, line = place.rpartition(":")
    with open(os.path.join(harness.root, path), encoding="utf-8") as file:
        return [(path, point) for point in points_of.points(file.read()) if point.line == int(line)]


def not_noticed(harness, text):
    """The mutants of a page that survived or were not reached, in the sources as they are now: FILE and the fault name them."""
    mutants = []
    for path, _, fault in page.faults(text):
        if path in harness.sources:
            with open(os.path.join(harness.root, path), encoding="utf-8") as file:
                content = file.read()
            mutants += [(path, point) for point in points_of.points(content) if points_of.described(content, point) == fault]
    return mutants


class Run:
    def __init__(self, harness, tests, cap_s):
        self.harness, self.tests, self.cap_s, self.equal = harness, tests, cap_s, equal_faults()
        self.lock, self.locks, self.built = threading.Lock(), {}, {}
        self.noticed = collections.defaultdict(list)  # (file, line of a function): tests that noticed a fault in it
        self.by_function = collections.defaultdict(list)
        for test in sorted(tests, key=lambda test: test.processor_s):
            for place in test.reached:
                self.by_function[place].append(test)

    def covering(self, path, content, line):
        begin = function_of(content, line)
        # Lines of debuggers name the line of the function's name or that of its brace.
        seen = []
        for place in sorted(place for place in self.by_function if place[0] == path and begin <= place[1] <= begin + 6):
            if not any(content.split("\n")[at - 1] == "}" for at in range(begin, place[1])):
                seen += [test for test in self.by_function[place] if test not in seen]
        first = self.noticed[path, begin]
        return sorted(seen, key=lambda test: (test not in first, test.processor_s))

    def outcome(self, path, point):
        with open(os.path.join(self.harness.root, path), encoding="utf-8") as file:
            content = file.read()
        if (path, points_of.described(content, point)) in self.equal:
            return Outcome("equal", None)
        mutant = os.path.join(self.harness.folder, f"mutant-{threading.get_ident()}")
        if not self.build(mutant, path, points_of.changed(content, point), PLAIN):
            return Outcome("refused", None)
        same = self.same(path, content, PLAIN)
        with open(mutant + ".o", "rb") as one, open(same + ".o", "rb") as other:
            if one.read() == other.read():
                return Outcome("same", None)
        covering = self.covering(path, content, point.line)
        tests = [test for test in covering if test.suite in harness_of.SUITES]
        if not covering:
            return Outcome("unreached", None)
        killer = self.tried(tests, mutant, same)
        in_c = [test for test in tests if test.script is None]
        if killer is None and in_c and self.build(mutant, path, points_of.changed(content, point), CHECKED):
            killer = self.tried(in_c, mutant, self.same(path, content, CHECKED), harness_of.CHECKED)
        if killer is not None:
            self.noticed[path, function_of(content, point.line)].append(killer)
            return Outcome("killed", killer)
        self.build(mutant, path, points_of.changed(content, point), PLAIN)
        return Outcome("survived" if tests else "unreached", self.tried([test for test in covering if test not in tests], mutant, same))

    def build(self, place, path, content, how):
        """A library of one source with this content, PLACE.so, beside its object. Whether it compiles."""
        with open(place + ".c", "w", encoding="utf-8") as file:
            file.write(f'#line 1 "{path}"\n' + content)
        if self.harness.compile(self.harness.sources[path], place + ".o", place + ".c", how.compiled).returncode != 0:
            return False
        linked = harness_of.quiet(["cc", "-shared", *how.linked, "-o", place + ".so", place + ".o", "-L" + self.harness.folder, "-leverything"],
                                  self.harness.folder)
        assert linked.returncode == 0, linked.stderr
        return True

    def same(self, path, content, how):
        """The library of the source as it is, which is built once."""
        with self.lock:
            lock = self.locks.setdefault((path, how), threading.Lock())
        with lock:
            if (path, how) not in self.built:
                place = os.path.join(self.harness.folder, f"same-{how.name}-{path.replace('/', '__')}")
                self.built[path, how] = place if self.build(place, path, content, how) else None
            return self.built[path, how]

    def tried(self, tests, place, same, before=""):
        """The first of the tests that notices the fault; None: none of them does, within the time for it."""
        left_s = self.cap_s
        for test in tests:
            limit_s = (LIMIT_FACTOR * test.wall_s + LIMIT_S) * (2 if before else 1)
            status, used_s = test.run(self.harness, limit_s, LD_PRELOAD=f"{before} {place}.so")
            # A test that fails with the source as it is, loaded in the same way, says nothing.
            if status != 0 and test.run(self.harness, limit_s, LD_PRELOAD=f"{before} {same}.so")[0] == 0:
                return test
            left_s -= used_s
            if left_s < 0:
                break
        return None

    def room(self, room, mutants, count):
        """The outcomes of the first `count` mutants that compile and change the code, in their order."""
        outcomes = []
        with concurrent.futures.ThreadPoolExecutor(harness_of.processors()) as pool:
            at = 0
            while len(outcomes) < count and at < len(mutants):
                batch = mutants[at:at + count - len(outcomes)]
                at += len(batch)
                for (path, point), outcome in zip(batch, pool.map(lambda mutant: self.outcome(*mutant), batch)):
                    if outcome.state not in ("refused", "same", "equal"):
                        outcomes.append((path, point, outcome))
                        if outcome.state != "killed":
                            say(f"{path}:{point.line} {outcome.state}")
                        if len(outcomes) % 10 == 0 or len(outcomes) == count:
                            say(f"{room}: {len(outcomes)} of {count}")
        return outcomes


def rows_of(harness, room, outcomes):
    for path, point, outcome in outcomes:
        with open(os.path.join(harness.root, path), encoding="utf-8") as file:
            content = file.read()
        yield {"room": room, "path": path, "line": point.line, "kind": point.kind, "change": points_of.described(content, point),
               "state": outcome.state, "suite": outcome.by.suite if outcome.by else None, "test": outcome.by.name if outcome.by else None}


def chosen(harness, options):
    """(name, mutants) of what was asked for."""
    rooms = options.rooms or ROOMS
    if options.again:
        with open(options.again, encoding="utf-8") as file:
            again = not_noticed(harness, file.read())
        return [(room, [mutant for mutant in again if mutant[0].startswith(room)]) for room in rooms]
    return [(room, at_line(harness, room) if ":" in room else drawn(harness, room.removesuffix("/"), options.count, options.seed))
            for room in rooms]


def main():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__.split("\n\n")[0].split(" - ")[1])
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("rooms", nargs="*", metavar="ROOM",
                        help=f"of {', '.join(ROOMS)}; or a file, such as sim/cost/spending.c; or a line, such as sim/cost/spending.c:40")
    parser.add_argument("--count", type=int, default=80, help="mutants per room (default: 80)")
    parser.add_argument("--seed", type=int, default=1, help="which ones are drawn (default: 1)")
    parser.add_argument("--tests", metavar="PATTERN", help="ask only tests with such names, for a quick look")
    parser.add_argument("--cap", type=float, default=60, help="processor seconds of tests after which a mutant survives (default: 60)")
    parser.add_argument("--beside", action="store_true",
                        help="ask the tests of the suite cli too what the others do not notice; they are counted apart")
    parser.add_argument("--again", metavar="PAGE", help="try those faults of a page once more that no test noticed")
    parser.add_argument("--write", metavar="PAGE", help="write the page with the table")
    parser.add_argument("--rows", metavar="FILE", help="append each mutant as a line of JSON")
    options = parser.parse_args()

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    harness = harness_of.Harness(options.build, root)
    tests = harness.trace(harness.make(say, options.beside), say, options.tests)
    run = Run(harness, tests, options.cap)
    rows = []
    for room, mutants in chosen(harness, options):
        found = list(rows_of(harness, room, run.room(room, mutants, min(options.count, len(mutants)))))
        rows += found
        if options.rows:
            with open(options.rows, "a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in found)
    options.commit = harness_of.quiet(["git", "-c", "safe.directory=*", "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"],
                                      root).stdout.strip() or "that is not known"
    text = page.page(rows, options)
    if options.write:
        with open(options.write, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
