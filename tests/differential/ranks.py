# SPDX-License-Identifier: Apache-2.0
"""ranks.py - training jobs of which every rank does the same, beside one switch. So one rank is enough: its computation,
and its port, which its collectives share. As in PyTorch, a rank issues its work from one stream. What it computes begins
when all before it has been computed and waited for; a collective begins when the stream gets there, behind those of its
own communicator, and the stream waits for it at once or later.
"""
from fractions import Fraction

import reference


class Rank:
    def __init__(self, star, flops_per_s):
        """`star`: the machine, of hosts that are all alike."""
        self.star, self.machine, self.messages = star, reference.Machine(), []
        rate = min(star.machine.links[link][0] for link in star.machine.path(star.host(0), star.host(1)))
        self.machine.join("idle", "computed", flops_per_s, 0)
        self.machine.join("rank", "others", rate, 0)
        self.stream, self.last = [], {}  # what the stream waits for; the last collective of each communicator

    def compute(self, flops):
        self.messages.append(reference.Message("idle", "computed", flops, self.stream))
        self.stream = [len(self.messages) - 1]

    def start(self, communicator, op, size, n, algorithm=reference.direct):
        """Begins a collective of n ranks; the result is for wait ()."""
        if n < 2 or size == 0:
            return []
        schedule = algorithm(reference.Schedule(op, n, size, self.star.host), self.star.machine)
        sent = sum(m.size for m in schedule.messages if m.start == self.star.host(0))
        self.messages.append(reference.Message("rank", "others", sent, self.stream + self.last.get(communicator, []),
                                               before_ps=schedule.n_steps * schedule.hop_ps))
        self.last[communicator] = [len(self.messages) - 1]
        return self.last[communicator]

    def wait(self, task):
        self.stream = self.stream + task

    def run(self, *collective):
        self.wait(self.start(*collective))

    def end_ps(self):
        return reference.play(self.machine, self.messages), len(self.messages)


# --- models that are divided: Megatron-LM's tensor, sequence and expert parallelism ---


class Divided:
    """One rank of a transformer. `keys`: the model (hidden, kv, width, gated, vocabulary, layers, sequence) and how it is
    divided (tensor, is_sequence, data; count, per_token, shared, expert, expert_tensor of experts)."""

    def __init__(self, rank, keys):
        self.rank, self.keys = rank, keys
        self.t, self.tokens = keys["tensor"], keys["sequence"]
        h, n_first = keys["hidden"], 2 if keys["gated"] else 1
        self.kept = 2 * h * self.tokens  # bytes between layers
        # Matrices (inputs x outputs) whose columns the ranks divide, and those whose rows they divide.
        self.attention = h * (h + 2 * keys["kv"]), h * h
        self.mlp = n_first * h * keys["width"], h * keys["width"]
        self.scores = 2 * 2 * h * self.tokens  # FLOPs of a token: its scores, and the sum of values

    def sum(self, size):
        self.rank.run("tensor", "reduce_scatter" if self.keys["is_sequence"] else "all_reduce", size, self.t)

    def gather(self, size):
        if self.keys["is_sequence"]:
            self.rank.run("tensor", "all_gather", size, self.t)

    def flops(self, parameters, times=1):
        return Fraction(2 * parameters * self.tokens * times, self.t)

    def column_backward(self, parameters):
        """LinearWithGradAccumulationAndAsyncCommunication: the input is gathered once more beside the product for its
        gradient, which is summed beside the product for the gradient of the weights."""
        gathered = self.rank.start("tensor", "all_gather", self.kept, self.t) if self.keys["is_sequence"] else []
        self.rank.compute(self.flops(parameters))
        self.rank.wait(gathered)
        summed = self.rank.start("tensor", "reduce_scatter" if self.keys["is_sequence"] else "all_reduce", self.kept, self.t)
        self.rank.compute(self.flops(parameters))
        self.rank.wait(summed)

    def pair(self, columns, rows, between, is_backward):
        """Two matrices: columns are divided in the first one, rows in the second; `between` has FLOPs of a token."""
        between = Fraction(between * self.tokens, self.t)
        self.gather(self.kept)
        if is_backward:
            self.rank.compute(self.flops(rows, 2) + 2 * between)
            self.column_backward(columns)
        else:
            self.rank.compute(self.flops(columns) + between + self.flops(rows))
            self.sum(self.kept)

    def router(self, is_backward):
        """Each rank routes the tokens that it has."""
        part = self.t if self.keys["is_sequence"] else 1
        self.rank.compute(Fraction(2 * self.keys["hidden"] * self.keys["count"] * self.tokens, part) * (2 if is_backward else 1))

    def experts(self, is_backward):
        """MoEAlltoAllTokenDispatcher: all-to-all, all-gather among the ranks that share an expert, the experts,
        reduce-scatter, all-to-all. The backward pass is the same from its end."""
        keys, share = self.keys, self.keys["expert_tensor"] or self.t
        sent = Fraction(self.kept * keys["per_token"], self.t)
        self.rank.run("expert", "all_to_all", sent, keys["expert"])
        self.rank.run("tensor", "all_gather", sent * share, share)
        self.rank.compute(self.flops(sum(self.mlp), keys["per_token"] * (2 if is_backward else 1)))
        self.rank.run("tensor", "reduce_scatter", sent * share, share)
        self.rank.run("expert", "all_to_all", sent, keys["expert"])

    def block(self, is_backward):
        keys = self.keys
        parts = [lambda: self.pair(*self.attention, self.scores, is_backward)]
        if keys["count"] == 0:
            parts.append(lambda: self.pair(*self.mlp, 0, is_backward))
        else:
            parts.append(lambda: self.router(is_backward))
            if keys["shared"]:
                parts.append(lambda: self.pair(*self.mlp, 0, is_backward))
            parts.append(lambda: self.experts(is_backward))
        for part in reversed(parts) if is_backward else parts:
            part()

    def step(self):
        keys, head = self.keys, self.keys["hidden"] * self.keys["vocabulary"]
        for _ in range(keys["accumulation"]):
            self.sum(self.kept)  # of the parts of the vocabulary
            for _ in range(keys["layers"]):
                self.block(False)
            self.gather(self.kept)
            self.rank.compute(self.flops(head))
            self.column_backward(head)
            for _ in range(keys["layers"]):
                if keys["recompute"] == "full":
                    self.block(False)
                self.block(True)
            self.gather(self.kept)
        self.reduce(head)
        return self.rank.end_ps()

    def reduce(self, head):
        """All gradients at once, in 4 bytes: one communicator for those of experts."""
        keys, h = self.keys, self.keys["hidden"]
        is_moe, n_ranks = keys["count"] > 0, self.t * keys["data"]
        n_pairs = keys["layers"] * (1 if not is_moe or keys["shared"] else 0)
        divided = 2 * head + keys["layers"] * sum(self.attention) + n_pairs * sum(self.mlp)
        whole = h + keys["layers"] * (2 * h + h * keys["count"])
        experts = keys["layers"] * keys["count"] * sum(self.mlp)
        n_share = keys["expert"] * (keys["expert_tensor"] or self.t)
        is_apart = is_moe and (keys["expert"] > 1 or keys["expert_tensor"] > 0)
        each = [("data", divided // self.t + whole + (0 if is_apart else experts // self.t), keys["data"])]
        each += [("expert data", experts // n_share, n_ranks // n_share)] if is_apart else []
        for task in [self.rank.start(name, "all_reduce", 4 * count, n) for name, count, n in each]:
            self.rank.wait(task)


# --- shards ---


def backward_order(layers):
    """(layer, tensor, parameters, share of the layer), the last registered first."""
    return [(i, t, layers[i][t], Fraction(layers[i][t], sum(layers[i]))) for i in reversed(range(len(layers)))
            for t in reversed(range(len(layers[i])))]


def megatron(rank, layers, tokens, keys, n):
    """Megatron-LM's buckets and distributed optimizer. `keys`: accumulation, gradient_bytes, bucket (parameters),
    distributed_optimizer, overlap_grad_reduce, overlap_param_gather."""
    work = [2 * sum(tensors) * tokens for tensors in layers]
    buckets, filled = [[]], 0  # of tensors; a bucket that has `bucket` parameters is closed
    for i, t, count, _ in backward_order(layers):
        if keys["overlap_grad_reduce"] and filled >= keys["bucket"]:
            buckets, filled = buckets + [[]], 0
        buckets[-1].append((i, t))
        filled += count
    sizes = [sum(layers[i][t] for i, t in bucket) for bucket in buckets]
    is_sharded, first = keys["distributed_optimizer"], len(buckets) - 1
    gathered = {}

    def gather(bucket):
        if bucket >= 0 and bucket not in gathered:
            gathered[bucket] = rank.start("data", "all_gather", 2 * sizes[bucket], n)

    if keys["overlap_param_gather"]:
        gather(first)
    for micro in range(keys["accumulation"]):
        for i, flops in enumerate(work):
            # A layer waits for its buckets, and each wait begins the gather of the bucket behind it.
            for bucket in reversed(range(len(buckets))) if keys["overlap_param_gather"] and micro == 0 else []:
                if any(layer == i for layer, _ in buckets[bucket]):
                    gather(bucket)
                    rank.wait(gathered[bucket])
                    gather(bucket - 1)
            rank.compute(flops)
        reduced = []
        for i, t, _, share in backward_order(layers):
            rank.compute(2 * work[i] * share)
            for bucket, tensors in enumerate(buckets):
                if micro == keys["accumulation"] - 1 and tensors[-1] == (i, t):
                    reduced.append(rank.start("data", "reduce_scatter" if is_sharded else "all_reduce",
                                              keys["gradient_bytes"] * sizes[bucket], n))
        for task in reduced:
            rank.wait(task)
    if is_sharded:
        rank.run("norm", "all_reduce", 4, n)
    if is_sharded and not keys["overlap_param_gather"]:
        rank.run("data", "all_gather", 2 * sum(sizes), n)
    return rank.end_ps()


def hybrid(rank, layers, tokens, keys, n):
    """FSDP with shards in groups of `shard` ranks: what a unit reduced is summed over the groups, on a communicator of
    its own. `backward_prefetch: none`: a unit is gathered when it is needed, and the root is not a unit of its own."""
    units = [sum(tensors) for tensors in layers]
    k, whole, summed = keys["shard"], set(), []

    def gather(unit):
        if unit not in whole:
            rank.run("shard", "all_gather", 2 * units[unit], k)
            whole.add(unit)

    for micro in range(keys["accumulation"]):
        is_reduced = micro == keys["accumulation"] - 1 or not keys["no_sync"]
        for unit, count in enumerate(units):
            gather(unit)
            rank.compute(2 * count * tokens)
            if keys["sharding"] == "hybrid":
                whole.discard(unit)
        for unit in reversed(range(len(units))):
            gather(unit)
            rank.compute(4 * units[unit] * tokens)
            if keys["sharding"] == "hybrid" or is_reduced:
                whole.discard(unit)
            if is_reduced:
                stream = rank.stream
                rank.wait(rank.start("shard", "reduce_scatter", keys["gradient_bytes"] * units[unit], k))
                summed.append(rank.start("replica", "all_reduce", keys["gradient_bytes"] * units[unit] // k, n // k))
                rank.stream = stream  # computation goes on
        for task in summed:
            rank.wait(task)
    rank.run("norm", "all_reduce", 4, n)
    return rank.end_ps()


def zero3(rank, layers, tokens, keys, n):
    """ZeRO stage 3 with overlap_comm: a tensor is gathered before its use, and computation waits; buckets are reduced
    beside what follows, on a communicator of their own."""
    work = [2 * sum(tensors) * tokens for tensors in layers]
    forward = [[(i, t) for t in range(len(tensors))] for i, tensors in enumerate(layers)]
    trace = [use for layer in forward for use in layer]
    for layer in reversed(forward):
        trace += layer + layer[::-1] if keys["recompute"] == "full" else layer[::-1]
    sizes = [layers[i][t] for i, t in trace]
    n_forward = sum(map(len, layers))
    for _ in range(keys["accumulation"]):
        filled, reduced, met = 0, [], {}
        for at, (i, t) in enumerate(trace):
            last = max((k for k in range(at) if trace[k] == (i, t)), default=None)
            if last is None or sum(sizes[last + 1:at]) >= keys["max_reuse_distance"]:
                rank.run("all", "all_gather", 2 * sizes[at], n)
            met[i, t] = met.get((i, t), 0) + 1
            is_backward = at >= n_forward and met[i, t] == (3 if keys["recompute"] == "full" else 2)
            rank.compute(work[i] * Fraction(sizes[at], sum(layers[i])) * (2 if is_backward else 1))
            if not is_backward:
                continue
            if filled > 0 and filled + sizes[at] > keys["reduce_bucket"]:
                reduced.append(rank.start("data", "reduce_scatter", keys["gradient_bytes"] * filled, n))
                filled = 0
            filled += sizes[at]
        reduced.append(rank.start("data", "reduce_scatter", keys["gradient_bytes"] * filled, n))
        for task in reduced:
            rank.wait(task)
    rank.run("norm", "all_reduce", 4, n)
    return rank.end_ps()
