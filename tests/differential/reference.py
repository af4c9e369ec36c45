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


class Queue:
    """Tasks that run one by one in the order in which they are added: a stream of computation, or a communicator."""

    def __init__(self):
        self.end = Fraction(0)

    def run(self, time_ps, *after):
        """The end of a task that begins when those before it here have ended, and these others."""
        self.end = max(self.end, *after, 0) + time_ps
        return self.end


def ddp_ps(layers, tokens, flops_per_s, gradient_bytes, keys, caps, reduce_ps):
    """Time of a step of data-parallel training: forward, backward with buckets behind it. `layers` are lists of numbers
    of parameters; `caps` the bytes of the first bucket and of the others; `reduce_ps` gives the time of a bucket. A
    micro-batch that reduces ends when its buckets are reduced."""
    work = [Fraction(2 * sum(tensors) * tokens) / flops_per_s * PS for tensors in layers]
    compute, network = Queue(), Queue()
    for micro in range(keys["accumulation"]):
        is_reduced = micro == keys["accumulation"] - 1 or not keys["no_sync"]
        filled, closed = 0, []  # bytes of the bucket; of those that are closed, and when
        compute.run(sum(work))
        for tensors, time_ps in zip(reversed(layers), reversed(work)):
            for count in reversed(tensors):
                compute.run(2 * time_ps * Fraction(count, sum(tensors)))
                filled += count * gradient_bytes
                if filled >= caps[min(len(closed), 1)]:
                    closed.append((filled, compute.end))
                    filled = 0
        closed += [(filled, compute.end)] if filled > 0 else []
        for size, at in closed if is_reduced else []:
            network.run(reduce_ps(size), at if keys["overlap"] else compute.end)
        compute.end = max(compute.end, network.end)
    return compute.end


def fsdp_ps(layers, tokens, flops_per_s, gradient_bytes, keys, collective_ps):
    """Time of a step of fully sharded training. `layers` are lists of numbers of parameters, `keys` those of the job.
    `collective_ps` gives the time of an operation on so many bytes. All of them are on one communicator. Where backward
    gathers ahead, and in forward, the host does not wait: a gather begins when the unit that was used `in_flight` uses
    before has computed, as far as that one was begun before the gather."""
    units = [sum(tensors) for tensors in layers]
    work = [Fraction(2 * count * tokens) / flops_per_s * PS for count in units]
    compute, network = Queue(), Queue()
    computed, whole, ends = [], {}, []  # ends of uses; when a unit is whole; ends of reductions
    is_ahead = keys["backward_prefetch"] == "pre"

    def gather(unit, ahead, after_all):
        if unit in whole:
            return
        use = len(computed) + ahead  # the number of the use that it is for
        after = compute.end if after_all else 0
        if not after_all and keys["limit_all_gathers"] and use >= keys["in_flight"]:
            after = computed[min(use - keys["in_flight"], len(computed) - 1)]
        whole[unit] = network.run(collective_ps("all_gather", 2 * units[unit]), after)

    for micro in range(keys["accumulation"]):
        is_reduced = micro == keys["accumulation"] - 1 or not keys["no_sync"]
        for unit, time_ps in enumerate(work):
            gather(unit, 0, False)
            computed.append(compute.run(time_ps, whole[unit]))
            if keys["sharding"] == "full":
                del whole[unit]
        for unit in reversed(range(len(units))):
            gather(unit, 0, not is_ahead)
            for ahead in range(1, keys["in_flight"]) if is_ahead else []:
                if unit - ahead >= 0:
                    gather(unit - ahead, ahead, False)
            computed.append(compute.run(2 * work[unit], whole[unit]))
            if keys["sharding"] == "full" or is_reduced:
                del whole[unit]
            if keys["backward_prefetch"] == "post" and unit > 0:
                gather(unit - 1, 0, True)
            if is_reduced:
                ends.append(network.run(collective_ps("reduce_scatter", gradient_bytes * units[unit]), compute.end))
        compute.end = max([compute.end, *ends])
    return compute.end + collective_ps("all_reduce", 4)  # of the norm of the gradients


def zero_ps(layers, tokens, flops_per_s, gradient_bytes, keys, collective_ps):
    """Time of a step of ZeRO stage 1 or 2. `layers` are lists of numbers of parameters. A gradient that does not fit into
    the bucket any more closes it. Computation waits for the reduction, unless they overlap."""
    work = [Fraction(2 * sum(tensors) * tokens) / flops_per_s * PS for tensors in layers]
    compute, network = Queue(), Queue()
    op = "all_reduce" if keys["multi_rank_all_reduce"] else "reduce_scatter"
    for micro in range(keys["accumulation"]):
        is_reduced = keys["stage"] == 2 or micro == keys["accumulation"] - 1
        filled = 0

        def reduce():
            end = network.run(collective_ps(op, filled * gradient_bytes), compute.end)
            if not keys["overlap_comm"]:
                compute.end = end

        compute.run(sum(work))
        for tensors, time_ps in zip(reversed(layers), reversed(work)):
            for count in reversed(tensors):
                compute.run(2 * time_ps * Fraction(count, sum(tensors)))
                if is_reduced and filled > 0 and filled + count > keys["reduce_bucket"]:
                    reduce()
                    filled = 0
                filled += count
        if is_reduced:
            reduce()
        compute.end = max(compute.end, network.end)  # the host waits for the end of each backward pass
    end = compute.end + collective_ps("all_reduce", 4)
    left = sum(map(sum, layers))
    while left > 0:
        part = min(left, keys["allgather_bucket"])
        end += collective_ps("all_gather", 2 * part)
        left -= part
    return end


def zero3_ps(layers, tokens, flops_per_s, gradient_bytes, keys, collective_ps):
    """Time of a step of ZeRO stage 3 without overlap: the sum of what is computed, gathered and reduced. The trace is the
    order in which a micro-batch uses the tensors that are sharded. A tensor is gathered before a use, unless it is whole,
    and stays whole after it if less than `max_reuse_distance` elements are used before its next use begins."""
    sharded = [[(i, t) for t in range(len(tensors)) if tensors[t] > keys["persistence_threshold"]] for i, tensors in enumerate(layers)]
    trace = [use for layer in sharded for use in layer]
    for layer in reversed(sharded):
        trace += layer + layer[::-1] if keys["recompute"] == "full" else layer[::-1]
    sizes = [layers[i][t] for i, t in trace]
    gathered_ps = Fraction(0)
    for at, use in enumerate(trace):
        last = max((k for k in range(at) if trace[k] == use), default=None)
        if last is None or sum(sizes[last + 1:at]) >= keys["max_reuse_distance"]:
            gathered_ps += collective_ps("all_gather", 2 * sizes[at])
    reduced_ps, filled = Fraction(0), 0
    for count in [count for tensors in reversed(layers) for count in reversed(tensors)]:
        if filled > 0 and filled + count > keys["reduce_bucket"]:
            reduced_ps, filled = reduced_ps + collective_ps("reduce_scatter", filled * gradient_bytes), 0
        filled += count
    reduced_ps += collective_ps("reduce_scatter", filled * gradient_bytes)
    n_passes = 4 if keys["recompute"] == "full" else 3
    work_ps = n_passes * Fraction(2 * sum(map(sum, layers)) * tokens) / flops_per_s * PS
    persistent = sum(map(sum, layers)) - sum(sum(layers[i][t] for i, t in layer) for layer in sharded)
    return (keys["accumulation"] * (work_ps + gathered_ps + reduced_ps) + collective_ps("all_reduce", 4)
            + (collective_ps("all_gather", 2 * persistent) if persistent > 0 else 0))


# --- pipelines ---


def passes_of(schedule, stage, n_stages, n_micro, virtual):
    """The order in which a stage does its passes: (is backward, part of the stage, micro-batch). Of zero-bubble schedules
    (Qi et al. 2023) a backward pass is that of inputs, and those of weights are ("weights", part, micro-batch): later, so
    that all stages keep the activations of as many micro-batches as the first: n_stages with ZB-H1, 2 n_stages - 1 with ZB-H2."""
    if schedule.startswith("zero_bubble"):
        depth = 2 if schedule == "zero_bubble_h2" else 1
        order, n_forward, n_weights = [], 0, 0
        for micro in range(n_micro):
            while n_forward < min(n_micro, micro + depth * (n_stages - 1 - stage) + 1):
                order.append((False, 0, n_forward))
                n_forward += 1
            order.append((True, 0, micro))
            if micro + 1 - n_weights > depth * stage:
                order.append(("weights", 0, n_weights))
                n_weights += 1
        return order + [("weights", 0, micro) for micro in range(n_weights, n_micro)]

    def nth(k):
        part, group = k // n_stages % virtual, k // (n_stages * virtual)
        return part, group * n_stages + k % n_stages

    if virtual == 1:
        ahead = n_micro if schedule == "gpipe" else min(n_micro, n_stages - stage - 1)
        forward = [(False, 0, micro) for micro in range(n_micro)]
        backward = [(True, 0, micro) for micro in range(n_micro)]
    else:
        ahead = min(n_micro * virtual, 2 * (n_stages - stage - 1) + (virtual - 1) * n_stages)
        forward = [(False, *nth(k)) for k in range(n_micro * virtual)]
        backward = [(True, virtual - 1 - nth(k)[0], nth(k)[1]) for k in range(n_micro * virtual)]
    order = forward[:ahead]
    for one, other in zip(forward[ahead:], backward):
        order += [one, other]
    return order + backward[len(forward) - ahead:]


def pipeline_ps(machine, host, keys, flops, flops_per_s, sent_bytes, is_stream):
    """Time of the passes of a pipeline with one rank per stage. A pass is a message over a link that only its stage uses:
    it begins when the one before it on its stage has ended and its input has come. What it gives is sent behind what the
    stage sent in that direction before, when its receiver has no more than one pass to do before it needs that. Without
    `overlap_p2p` the receiver has none to do, and a stage waits until what it sent has come. `is_stream`: the latency passes before the bytes, and not after them."""
    n, n_micro, virtual = keys["pipeline"], keys["accumulation"], keys["virtual"]
    messages, of, orders = [], {}, [passes_of(keys["schedule"], stage, n, n_micro, virtual) for stage in range(n)]
    last_sent, at = {}, [0] * n
    for stage in range(n):
        machine.join(f"before{stage}", f"behind{stage}", flops_per_s, 0)
    while any(at[stage] < len(orders[stage]) for stage in range(n)):
        for stage in range(n):
            while at[stage] < len(orders[stage]):
                is_backward, part, micro = orders[stage][at[stage]]
                place = part * n + stage
                source = place + (1 if is_backward else -1)
                is_end = is_backward == "weights" or place == (n * virtual - 1 if is_backward else 0)
                needs = [] if is_end else [("sent", is_backward, source, micro)]
                needs += [("pass", False, place, micro)] if is_backward else []
                if any(need not in of for need in needs):
                    break
                kinds = ("pass",) if keys["overlap_p2p"] else ("pass", "sent")
                before = [of[kind, is_before, part_before * n + stage, micro_before] for kind in kinds
                          for is_before, part_before, micro_before in orders[stage][max(at[stage] - 1, 0):at[stage]]
                          if (kind, is_before, part_before * n + stage, micro_before) in of]
                is_whole = is_backward and not keys["schedule"].startswith("zero_bubble")
                messages.append(Message(f"before{stage}", f"behind{stage}", (2 if is_whole else 1) * flops,
                                        before + [of[need] for need in needs]))
                done = of["pass", is_backward, place, micro] = len(messages) - 1
                target = place + (-1 if is_backward else 1)
                if 0 <= target < n * virtual and is_backward != "weights":
                    start, end = host(stage), host(target % n)
                    latency_ps = machine.latency_ps(start, end)
                    messages.append(Message(start, end, sent_bytes, [done, *last_sent.get((stage, is_backward), [])],
                                            before_ps=latency_ps if is_stream else 0, behind_ps=0 if is_stream else latency_ps))
                    of["sent", is_backward, place, micro] = len(messages) - 1
                    last_sent[stage, is_backward] = [len(messages) - 1]
                at[stage] += 1
    for stage, order in enumerate(orders):
        for i, (is_backward, part, micro) in enumerate(order):
            source = ("sent", is_backward, part * n + stage + (1 if is_backward else -1), micro)  # there is none of weights
            behind = 2 if keys["overlap_p2p"] else 1
            if i >= behind and source in of:
                was_backward, part_before, micro_before = order[i - behind]
                messages[of[source]].after.append(of["pass", was_backward, part_before * n + stage, micro_before])
    return play(machine, messages), len(messages)
