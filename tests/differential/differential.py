#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""differential.py - random small scenarios, by the program and by a simulator that shares no code with it: `./dev differential`.

What must be the same is compared digit by digit: folded and not, remembered and not, one thread and four, the library
and the command line. `fluid` and `step` are compared with the reference, whose fractions are rounded up to picoseconds
as often as the program rounds; `packet` and `sampled` with what no network can do faster, and with how far packets may
be behind.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import subprocess
import sys

import movement
import reference
import scenarios

KINDS = ("traffic", "collective", "training", "sharded", "pipeline", "zero_bubble", "divided", "shards", "stages", "context", "overlap_tensor", "overlap_shared")
PROGRAM_EVERY, THREADS_EVERY, MOVEMENT_EVERY = 20, 20, 10  # scenarios that are also given to the command line, and so on
# What differed once; it is drawn again whenever the first seed is 1.
FOUND = (("collective", 1222), ("training", 2279), ("divided", 3), ("divided", 5), ("divided", 26), ("shards", 4), ("shards", 17))
ROUNDING_PS = 1  # per message, or part of a step, that the program rounds to a whole picosecond
ROUNDING = 1e-8  # of a step, whose FLOPs the program divides among tensors in floating-point numbers
MTU = 4096
# How far packets may be behind the reference beyond the time that one of them takes on each link of each step, and how
# far a step that is sampled from packets may be from one that is played with packets (docs/models/sampled.md).
MOST_BEHIND, MOST_SAMPLED = 0.5, 0.021
# What the whole program exports as messages: machines of the catalogue, libraries, algorithms.
NODES = ("dgx-a100", "dgx-h100", "mi300x", "gh200-x4", "dgx1-v100", "host")
WAYS = ("plain", "mpi", "nccl") + tuple(f"{library}, algorithm: {name}" for library, names in (
    ("plain", ("ring", "tree", "halving_doubling", "binomial", "direct", "hierarchical", "themis")),
    ("mpi", ("ring", "tree", "halving_doubling", "binomial", "direct")), ("nccl", ("ring", "tree", "pat"))) for name in names)
OPS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all")


class Difference(Exception):
    pass


def same(what, one, other):
    if one != other:
        raise Difference(f"{what}: {one} and {other}")


def near(what, got, wanted, most_ps):
    if abs(got - wanted) > most_ps:
        raise Difference(f"{what}: {got} ps in place of {float(wanted):.3f} ps")


def between(what, low, got, high):
    if not low <= got <= high:
        raise Difference(f"{what}: {got} ps is not between {float(low):.0f} and {float(high):.0f} ps")


class Program:
    """The library in this process, and the command line beside it."""

    def __init__(self, path):
        import fabricast  # finds its library by FABRICAST_LIBRARY
        self.fabricast, self.path = fabricast, path
        self.contexts = {n: fabricast.Context(threads=n) for n in (1, 4)}

    def run(self, text, **keys):
        scenario = self.fabricast.parse(text)
        for key, value in keys.items():
            scenario[key.replace("__", ".")] = value
        return scenario.run()

    def ends(self, result):
        """When the flows of a job of traffic end: a list per flow."""
        ends = {}
        for row in result.table("collective").rows():
            flow = int(row["name"].split(" ")[0][len("flow"):].split(".")[0])
            ends.setdefault(flow, []).append(row["end_ps"])
        return ends

    def command(self, *arguments, text):
        return subprocess.run([self.path, *arguments], input=text, capture_output=True, text=True, check=False)


def figures(result):
    return tuple(result[name] for name in ("step_ps", "compute_ps", "exposed_ps", "idle_ps"))


def alike(program, text, fidelity):
    """The figures of a fidelity, which no shortcut changes."""
    result = program.run(text, fidelity=fidelity)
    same(f"{fidelity}, folded and not", figures(result), figures(program.run(text, fidelity=fidelity, fold="false")))
    if fidelity == "step":
        same("step, remembered and not", figures(result), figures(program.run(text, fidelity="step", fidelity__memo="false")))
    return result


def behind_ps(machine, messages, n_steps):
    """What a step costs packets more: one on each link of the way, as often as steps follow one another."""
    return n_steps * max(sum(MTU / machine.links[link][0] * reference.PS for link in machine.path(m.start, m.end)) for m in messages)


def check_packets(program, text, machine, messages, n_steps, end_ps, least_ps):
    """No faster than the busiest link allows, and not far behind the reference."""
    packet = program.run(text, fidelity="packet")["step_ps"]
    between("packet", least_ps * (1 - 1e-9) - 1, packet, end_ps * (1 + MOST_BEHIND) + behind_ps(machine, messages, n_steps))
    return packet


def traffic(draw, program, is_deep):
    text, machine, messages, flows = scenarios.traffic(draw)
    for fidelity in ("fluid", "step"):
        if fidelity == "step":  # the latency counts once the bytes have left
            for m in messages:
                m.before_ps, m.behind_ps = 0, m.before_ps
        for m in messages:
            m.begin_ps = m.left_ps = m.end_ps = None
        end_ps = reference.play(machine, messages)
        result = alike(program, text, fidelity)
        got = sorted(end for ends in program.ends(result).values() for end in ends)
        wanted = sorted(messages[i].end_ps for flow in flows for i in flow)
        same("the number of messages", len(got), len(wanted))
        for one, other in zip(got, wanted):
            near(f"a message at {fidelity}", one, other, ROUNDING_PS * len(messages))
    if is_deep:
        least = max(m.at_ps + m.behind_ps + m.size / min(machine.links[link][0] for link in machine.path(m.start, m.end))
                    * reference.PS for m in messages)
        check_packets(program, text, machine, messages, len(messages), end_ps, least)
    return text


def collective(draw, program, is_deep):
    text, machine, schedule, name = scenarios.collective(draw, draw.random() < 0.5)
    n_messages = len(schedule.messages)
    end_ps = reference.play(machine, schedule.messages)
    near(f"{name} at step", alike(program, text, "step")["step_ps"], end_ps, ROUNDING_PS * n_messages)
    near(f"{name} at fluid", alike(program, text, "fluid")["step_ps"], schedule.stream_ps(machine), ROUNDING_PS * n_messages)
    if is_deep:
        packet = check_packets(program, text, machine, schedule.messages, schedule.n_steps, end_ps, schedule.busiest_ps(machine))
        whole = program.run(text, fidelity="sampled", fidelity__effort="1000000000")
        near("one collective, sampled beside packets", whole["step_ps"], packet, ROUNDING_PS)
    if schedule.size >= 4000 * schedule.n and draw.randrange(MOVEMENT_EVERY) == 0:
        exported = program.command("export", "/dev/stdin", "--format", "goal", "-o", "-", text=text)
        sent = movement.check(exported.stdout, schedule.op, schedule.size)
        own = sorted((*m.carries[:2], m.size) for m in schedule.messages)
        same(f"the pairs of ranks of {name}", [m[:2] for m in sent], [m[:2] for m in own])
        for one, other in zip(sent, own):
            if abs(one[2] - other[2]) > 1:
                raise Difference(f"{name} sends {one}, and the reference {other}")
    return text


def training(draw, program, is_deep):
    text, step_ps, n_parts = scenarios.training(draw)
    fluid = alike(program, text, "fluid")["step_ps"]
    near("a step at fluid", fluid, step_ps, ROUNDING_PS * n_parts + ROUNDING * step_ps)
    alike(program, text, "step")
    if is_deep:
        packet, sampled = (program.run(text, fidelity=fidelity)["step_ps"] for fidelity in ("packet", "sampled"))
        between("a step that is sampled", packet * (1 - MOST_SAMPLED), sampled, packet * (1 + MOST_SAMPLED))
        between("a step with packets", step_ps * (1 - 1e-9), packet, step_ps * (1 + MOST_BEHIND))
    return text


def sharded(draw, program, _):
    text, step_ps, n_parts = scenarios.sharded(draw)
    near("a step with shards at fluid", alike(program, text, "fluid")["step_ps"], step_ps, ROUNDING_PS * n_parts + ROUNDING * step_ps)
    alike(program, text, "step")
    return text


def pipeline(draw, program, _, is_split=False):
    text, step_ps = scenarios.pipeline(draw, is_split)
    for fidelity in ("fluid", "step"):
        wanted_ps, n_parts = step_ps(fidelity == "fluid")
        near(f"a pipeline at {fidelity}", alike(program, text, fidelity)["step_ps"], wanted_ps, ROUNDING_PS * n_parts + ROUNDING * wanted_ps)
    return text


def zero_bubble(draw, program, is_deep):
    return pipeline(draw, program, is_deep, is_split=True)


def of_ranks(what, drawn, program):
    text, step_ps = drawn
    wanted_ps, n_parts = step_ps()
    near(what, alike(program, text, "fluid")["step_ps"], wanted_ps, ROUNDING_PS * 2 * n_parts + ROUNDING * wanted_ps)
    alike(program, text, "step")
    return text


def divided(draw, program, _):
    return of_ranks("a model that is divided", scenarios.divided(draw), program)


def shards(draw, program, _):
    return of_ranks("a step with shards", scenarios.shards(draw), program)


def stages(draw, program, _):
    return of_ranks("a model that is divided, in a pipeline", scenarios.stages(draw), program)


def context(draw, program, _):
    return of_ranks("sequences that are divided", scenarios.context(draw), program)


def overlap_tensor(draw, program, _):
    return of_ranks("products beside gathers and sums", scenarios.overlap_tensor(draw), program)


def overlap_shared(draw, program, _):
    return of_ranks("experts beside exchanges", scenarios.overlap_shared(draw), program)


def export(draw, program):
    """A collective of the catalogue as messages. Returns how it was made; None: it cannot be."""
    node, way, op = draw.choice(NODES), draw.choice(WAYS), draw.choice(OPS)
    nodes = draw.randint(2, 16) if node == "host" else draw.randint(1, 3)
    size = draw.choice((65536, 10**6, 16 << 20))
    text = (f"name: m\ncluster: {{node: {node}, nodes: {nodes}}}\ncollectives: {{kind: {way}}}\n"
            f"job: {{kind: collective, operations: [{{op: {op}, size: {size}B}}]}}\n")
    made = program.command("export", "/dev/stdin", "--format", "goal", "-o", "-", text=text)
    if made.returncode != 0:
        if made.returncode not in (2, 3) or "export" not in made.stderr:
            raise Difference(f"exit code {made.returncode}: {made.stderr}\n{text}")
        return None
    movement.check(made.stdout, op, size)
    return way


def check_command(program, text):
    """The command line says what the library says."""
    said = program.command("run", "/dev/stdin", "--no-db", "--format", "json", text=text)
    if said.returncode != 0:
        raise Difference(f"exit code {said.returncode}: {said.stderr}")
    printed, result = json.loads(said.stdout)["iterations"][-1], program.run(text)
    for name in ("step_s", "compute_s", "exposed_s"):
        same(f"{name}, printed and of the library", printed[name], result[name])


def check_threads(program, text):
    """A sweep is the same with any number of threads."""
    tables = []
    for context in program.contexts.values():
        points = context.parse(text).sweep(vary=["seed=1,2,3", "fidelity=fluid,step"])
        tables.append([[row[name] for name in ("settings", "step_s", "exposed_s")] for row in points.rows()])
    same("a sweep with one thread and with four", *tables)


def check(kind, seed, program):
    draw = random.Random(seed)
    text = globals()[kind](draw, program, draw.random() < 0.25)
    done = [kind]
    if draw.randrange(PROGRAM_EVERY) == 0:
        check_command(program, text)
        done.append("command line")
    if draw.randrange(THREADS_EVERY) == 0:
        check_threads(program, text)
        done.append("threads")
    if draw.randrange(MOVEMENT_EVERY) == 0 and export(draw, program) is not None:
        done.append("exported collective")
    return done


def work(path, seeds):
    """Checks some seeds in this process. Returns how many checks of each kind were made, and what was found."""
    program, done, found = Program(path), collections.Counter(), []
    for kind, seed in seeds:
        try:
            done.update(check(kind, seed, program))
        except (Difference, AssertionError, program.fabricast.FabricastError) as problem:
            found.append(f"seed {seed}, {kind}: {problem}")
    return done, found


def main():
    parser = argparse.ArgumentParser(prog="./dev differential", description="Compares random scenarios with a slow reference.")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="processes (one per processor)")
    parser.add_argument("--kind", choices=KINDS, help="this kind alone (all in turn)")
    parser.add_argument("--seed", type=int, default=1, help="the first one (1)")
    parser.add_argument("scenarios", nargs="?", type=int, default=1000, metavar="SCENARIOS", help="how many (1000)")
    options = parser.parse_args()
    seeds = [(options.kind or KINDS[seed % len(KINDS)], seed) for seed in range(options.seed, options.seed + options.scenarios)]
    seeds += FOUND if options.seed == 1 else []
    parts = [seeds[i:i + 100] for i in range(0, len(seeds), 100)]
    done, found = collections.Counter(), []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for part in concurrent.futures.as_completed([pool.submit(work, options.program, part) for part in parts]):
            done.update(part.result()[0])
            found += part.result()[1]
    for problem in sorted(found):
        print(problem)
    print(f"{len(seeds)} scenarios, {len(found)} differences: " + ", ".join(f"{n} {kind}" for kind, n in sorted(done.items())))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
