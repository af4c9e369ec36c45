# SPDX-License-Identifier: Apache-2.0
"""reference.py - a simulator that is slow and short, so that anybody can see that it is right. It shares no code with the
program, and has fractions in place of floating-point numbers.

A machine is a tree of links with rates and latencies. A message waits for others, passes its links as one flow, and
rates are max-min fair. What a message carries is known, so that a collective ends with the right contents or fails.
"""
import math
from fractions import Fraction

PS = 10**12


class Machine:
    """Vertices, and links in each direction: (from, to) to (bytes per s, latency in ps)."""

    def __init__(self):
        self.links, self.beside = {}, {}

    def join(self, a, b, rate, latency_ps):
        for pair in ((a, b), (b, a)):
            self.links[pair] = (Fraction(rate), latency_ps)
            self.beside.setdefault(pair[0], []).append(pair[1])

    def path(self, start, end):
        """The links from start to end; a tree has one way."""
        came_from, waiting = {start: None}, [start]
        for vertex in waiting:
            for other in self.beside[vertex]:
                if other not in came_from:
                    came_from[other] = vertex
                    waiting.append(other)
        links = []
        while end != start:
            links.insert(0, (came_from[end], end))
            end = came_from[end]
        return links

    def latency_ps(self, start, end):
        return sum(self.links[link][1] for link in self.path(start, end))


def max_min(machine, flows):
    """Rates of flows (each the links that it uses): all rise together, and stop where a link is full."""
    rates, rising = {}, set(range(len(flows)))
    left = {link: rate for link, (rate, _) in machine.links.items()}
    while rising:
        users = {}
        for flow in rising:
            for link in flows[flow]:
                users.setdefault(link, []).append(flow)
        share = min(left[link] / len(of) for link, of in users.items())
        stopped = {flow for link, of in users.items() if left[link] / len(of) == share for flow in of}
        for flow in stopped:
            rates[flow] = share
            for link in flows[flow]:
                left[link] -= share
        rising -= stopped
    return [rates[i] for i in range(len(flows))]


class Message:
    """`after`: messages that must have been passed on. `behind`: one that must have left. Bytes travel for a time that
    the rate gives. `before_ps` passes before them, `behind_ps` after them, and `gap_ps` after `behind` has left."""

    def __init__(self, start, end, size, after=(), behind=None, before_ps=0, behind_ps=0, gap_ps=0, at_ps=0, carries=None):
        self.start, self.end, self.size = start, end, Fraction(size)
        self.after, self.behind = list(after), behind
        self.before_ps, self.behind_ps, self.gap_ps, self.at_ps = before_ps, behind_ps, gap_ps, at_ps
        self.carries = carries  # what of the contents it moves: names of parts
        self.begin_ps = self.left_ps = self.end_ps = None


def play(machine, messages):
    """Sets when each message begins, has left and has been passed on, in whole ps. Returns the last end."""
    paths = [machine.path(m.start, m.end) for m in messages]
    joins, remaining, now = {}, {}, 0
    while any(m.end_ps is None for m in messages):
        for i, m in enumerate(messages):
            if i in joins or any(messages[a].end_ps is None for a in m.after):
                continue
            if m.behind is not None and messages[m.behind].left_ps is None:
                continue
            m.begin_ps = max([m.at_ps, *(messages[a].end_ps for a in m.after)]
                             + ([messages[m.behind].left_ps + m.gap_ps] if m.behind is not None else []))
            joins[i] = m.begin_ps + m.before_ps
        under_way = [i for i in remaining if messages[i].left_ps is None]
        rates = dict(zip(under_way, max_min(machine, [paths[i] for i in under_way])))
        ends = {i: now + math.ceil(remaining[i] / rates[i] * PS) for i in under_way}
        due = [at for i, at in joins.items() if i not in remaining] + list(ends.values())
        after = min(due)
        for i in under_way:
            remaining[i] -= rates[i] * (after - now) / PS
            if ends[i] == after:
                messages[i].left_ps = after
                messages[i].end_ps = after + messages[i].behind_ps
        now = after
        for i, at in joins.items():
            if i not in remaining and at == now:
                remaining[i] = messages[i].size
    return max((m.end_ps for m in messages), default=0)


# --- collectives: what each rank holds is a dictionary from a part to the ranks whose data are in it ---


class Contents:
    """Parts of all ranks. A message that is added carries what its sender holds then."""

    def __init__(self, n, holds):
        self.n, self.holds = n, [{part: frozenset(of) for part, of in holds(rank).items()} for rank in range(n)]

    def move(self, start, end, parts, adds):
        for part in parts:
            what = self.holds[start][part]
            own = self.holds[end].get(part, frozenset())
            if adds:
                assert not (own & what), "the data of a rank are added twice"
                what = own | what
            self.holds[end][part] = what

    def check(self, op):
        everyone = frozenset(range(self.n))
        for rank in range(self.n):
            wanted = {"all_reduce": {part: everyone for part in range(self.n)},
                      "reduce_scatter": {rank: everyone},
                      "all_gather": {part: frozenset([part]) for part in range(self.n)},
                      "broadcast": {0: frozenset([0])}, "reduce": {0: everyone} if rank == 0 else {},
                      "all_to_all": {(other, rank): frozenset([other]) for other in range(self.n)}}[op]
            for part, of in wanted.items():
                assert self.holds[rank].get(part) == of, f"{op}: rank {rank} has {self.holds[rank].get(part)} in part {part}"


def begin(op, n):
    return Contents(n, {"all_reduce": lambda rank: {part: [rank] for part in range(n)},
                        "reduce_scatter": lambda rank: {part: [rank] for part in range(n)},
                        "all_gather": lambda rank: {rank: [rank]},
                        "broadcast": lambda rank: {0: [0]} if rank == 0 else {},
                        "reduce": lambda rank: {0: [rank]},
                        "all_to_all": lambda rank: {(rank, other): [rank] for other in range(n)}}[op])


class Schedule:
    """Messages of a collective with the contents that they move. Rank r is on the vertex host (r)."""

    def __init__(self, op, n, size, host):
        self.messages, self.contents = [], begin(op, n)
        self.op, self.n, self.size, self.host = op, n, size, host

    def send(self, start, end, parts, share, adds, after=(), behind=None):
        self.contents.move(start, end, parts, adds)
        self.messages.append(Message(self.host(start), self.host(end), share * self.size, after, behind,
                                     carries=(start, end, tuple(parts))))
        return len(self.messages) - 1

    def finish(self, machine):
        """The contents must be right. Every step costs as much as the longest hop."""
        self.contents.check(self.op)
        depths = []
        for message in self.messages:
            depths.append(1 + max((depths[other] for other in message.after), default=0))
        self.n_steps = max(depths)
        self.hop_ps = max(machine.latency_ps(m.start, m.end) for m in self.messages)
        for message in self.messages:
            message.behind_ps = message.gap_ps = self.hop_ps
        return self

    def busiest_ps(self, machine):
        """What the link that carries most for its rate takes, without any waiting: no run is shorter."""
        loads = {}
        for message in self.messages:
            for link in machine.path(message.start, message.end):
                loads[link] = loads.get(link, 0) + message.size
        return max(load / machine.links[link][0] for link, load in loads.items()) * PS

    def stream_ps(self, machine):
        """As one flow: the steps, and the bytes as long as they take without latencies where each waits for others."""
        still = [Message(m.start, m.end, m.size, m.after, m.behind) for m in self.messages]
        return self.n_steps * self.hop_ps + max(self.busiest_ps(machine), play(machine, still))


def ring(s, machine):
    """Parts go around, first to be added up, then to be copied."""
    n = s.n
    rounds = ([True] * (n - 1) if s.op in ("all_reduce", "reduce_scatter") else []) \
        + ([False] * (n - 1) if s.op in ("all_reduce", "all_gather") else [])
    last, sent = [None] * n, [None] * n  # the message that a rank received last, and sent last
    shift = 0 if s.op == "all_gather" else -1  # a part that is added up ends at the rank of its number
    for i, adds in enumerate(rounds):
        sent = [s.send(rank, (rank + 1) % n, [(rank + shift - i) % n], Fraction(1, n), adds,
                       [last[rank]] if last[rank] is not None else [], sent[rank]) for rank in range(n)]
        last = [sent[(rank - 1) % n] for rank in range(n)]
    return s.finish(machine)


def direct(s, machine):
    """Everybody to everybody at once; an all-reduce is done in two phases."""
    n, got = s.n, [[] for _ in range(s.n)]
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    for a, b in pairs:
        if s.op in ("all_reduce", "reduce_scatter"):
            got[b].append(s.send(a, b, [b], Fraction(1, n), True))
        elif s.op == "all_to_all":
            s.send(a, b, [(a, b)], Fraction(1, n), False)
        elif (s.op == "broadcast" and a == 0) or (s.op == "reduce" and b == 0):
            s.send(a, b, [0], 1, s.op == "reduce")
    for a, b in pairs if s.op in ("all_reduce", "all_gather") else []:
        s.send(a, b, [a], Fraction(1, n), False, got[a])
    return s.finish(machine)


def halving_doubling(s, machine):
    """Partners at doubling distances halve what each of them adds up, and gather it on the way back. Calls block: an
    exchange begins when both have ended the one before."""
    n, got = s.n, [[] for _ in range(s.n)]
    distances = [1 << bit for bit in range(n.bit_length() - 1)]
    steps = ([(d, True) for d in distances] if s.op in ("all_reduce", "reduce_scatter") else []) \
        + ([(d, False) for d in reversed(distances)] if s.op in ("all_reduce", "all_gather") else [])
    for distance, adds in steps:
        sends = []
        for rank in range(n):
            other = rank ^ distance
            # Of what both still add up, the other one's half; or all that this one has.
            parts = ([part for part in range(n) if (part ^ other) % (2 * distance) == 0] if adds
                     else [part for part, of in s.contents.holds[rank].items() if s.op == "all_gather" or len(of) == n])
            sends.append((rank, other, parts, got[rank] + got[other]))
        before = [dict(holds) for holds in s.contents.holds]
        now = []
        for rank, other, parts, after in sends:
            s.contents.holds[rank], kept = dict(before[rank]), s.contents.holds[rank]
            now.append((rank, other, s.send(rank, other, parts, Fraction(len(parts), n), adds, after)))
            s.contents.holds[rank] = kept
        got = [[message for start, end, message in now if rank in (start, end)] for rank in range(n)]
    return s.finish(machine)


def binomial(s, machine):
    """Trees of whole buffers with rank 0 as their root. A rank takes from one child at a time."""
    n, parts = s.n, list(range(s.n)) if s.op == "all_reduce" else [0]
    busy, distances = [[] for _ in range(n)], [1 << bit for bit in range((n - 1).bit_length())]
    for distance in distances if s.op in ("all_reduce", "reduce") else []:
        for rank in range(distance, n, 2 * distance):
            message = s.send(rank, rank - distance, parts, 1, True, busy[rank] + busy[rank - distance])
            busy[rank], busy[rank - distance] = [message], [message]
    if s.op in ("all_reduce", "broadcast"):
        for rank in sorted(range(n), key=lambda rank: bin(rank).count("1")):
            after = busy[rank]
            for child in [rank + distance for distance in distances if distance > rank and rank + distance < n]:
                busy[child] = [s.send(rank, child, parts, 1, False, after)]
    return s.finish(machine)


ALGORITHMS = {"ring": (ring, ("all_reduce", "reduce_scatter", "all_gather")),
              "direct": (direct, ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce")),
              "halving_doubling": (halving_doubling, ("all_reduce", "reduce_scatter", "all_gather")),
              "binomial": (binomial, ("all_reduce", "broadcast", "reduce"))}


def ddp_ps(layers, tokens, flops_per_s, gradient_bytes, caps, reduce_ps):
    """Time of a step of data-parallel training: forward, backward with buckets behind it. `layers` are lists of numbers
    of parameters; `caps` the bytes of the first bucket and of the others; `reduce_ps` gives the time of a bucket."""
    work = [2 * sum(tensors) * tokens for tensors in layers]
    now = Fraction(sum(work)) / flops_per_s * PS  # of the forward pass
    filled, n_closed, reduced = 0, 0, Fraction(0)
    for tensors, flops in zip(reversed(layers), reversed(work)):
        for parameters in reversed(tensors):
            now += 2 * flops * Fraction(parameters, sum(tensors)) / flops_per_s * PS
            filled += parameters * gradient_bytes
            if filled >= caps[min(n_closed, 1)]:
                reduced = max(now, reduced) + reduce_ps(filled)
                filled, n_closed = 0, n_closed + 1
    if filled > 0:
        reduced = max(now, reduced) + reduce_ps(filled)
    return max(now, reduced)
