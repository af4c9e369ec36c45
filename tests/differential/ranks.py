# SPDX-License-Identifier: Apache-2.0
"""ranks.py - training jobs of which every rank does the same, beside one switch. So one rank is enough: its computation,
and its port, which its collectives share. As in PyTorch, a rank issues its work from one stream. What it computes begins
when all before it has been computed and waited for; a collective begins when the stream gets there, behind those of its
own communicator, and the stream waits for it at once or later.
"""
from fractions import Fraction

import reference


class Ports(reference.Machine):
    """Ranks beside a switch. A collective of a rank and others like it is a message to itself, by way of the switch."""

    def path(self, start, end):
        return [(start, "switch"), ("switch", end)] if start == end else super().path(start, end)


class Rank:
    def __init__(self, star, flops_per_s, beside=None):
        """`star`: the machine, of hosts that are all alike. `beside`: one of the ranks that differ from this one."""
        self.star, self.flops_per_s = star, flops_per_s
        self.machine, self.messages, self.ranks = (beside.machine, beside.messages, beside.ranks) if beside else (Ports(), [], [])
        self.number = len(self.ranks)
        self.ranks.append(self)
        rate = min(star.machine.links[link][0] for link in star.machine.path(star.host(0), star.host(1)))
        self.machine.join(f"idle{self.number}", f"computed{self.number}", flops_per_s, 0)
        self.machine.join(self.number, "switch", rate, 0)
        self.stream, self.last = [], {}  # what the stream waits for; the last collective of each communicator

    def compute(self, flops):
        self.messages.append(reference.Message(f"idle{self.number}", f"computed{self.number}", flops, self.stream))
        self.stream = [len(self.messages) - 1]

    def send(self, other, size, after):
        """What is sent to another rank when `after` has ended."""
        self.messages.append(reference.Message(self.number, other.number, size, after,
                                               before_ps=self.star.machine.latency_ps(self.star.host(0), self.star.host(1))))
        return [len(self.messages) - 1]

    def pass_on(self, communicator, size, after):
        """Begins to send as much to the next rank as comes from the one before, when `after` has ended."""
        self.messages.append(reference.Message(self.number, self.number, size, after + self.last.get(communicator, []),
                                               before_ps=self.star.machine.latency_ps(self.star.host(0), self.star.host(1))))
        self.last[communicator] = [len(self.messages) - 1]
        return self.last[communicator]

    def start(self, communicator, op, size, n, algorithm=reference.direct):
        """Begins a collective of n ranks; the result is for wait ()."""
        if n < 2 or size == 0:
            return []
        schedule = algorithm(reference.Schedule(op, n, size, self.star.host), self.star.machine)
        sent = sum(m.size for m in schedule.messages if m.start == self.star.host(0))
        self.messages.append(reference.Message(self.number, self.number, sent, self.stream + self.last.get(communicator, []),
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
        self.context = keys.get("context", 1)
        self.is_split = keys.get("schedule", "").startswith("zero_bubble")  # gradients of weights are computed later
        self.products = 1 if self.is_split else 2  # of a backward pass and a matrix
        self.t, self.tokens = keys["tensor"], keys["sequence"] // self.context
        h, n_first = keys["hidden"], 2 if keys["gated"] else 1
        self.kept = 2 * h * self.tokens  # bytes between layers
        # Matrices (inputs x outputs) whose columns the ranks divide, and those whose rows they divide.
        self.attention = h * (h + 2 * keys["kv"]), h * h
        self.mlp = n_first * h * keys["width"], h * keys["width"]
        self.scores = 2 * 2 * h * keys["sequence"]  # FLOPs of a token: its scores, and the sum of values

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
        if not self.is_split:
            self.rank.compute(self.flops(parameters))
        self.rank.wait(summed)

    def pair(self, columns, rows, between, is_backward):
        """Two matrices: columns are divided in the first one, rows in the second; `between` has FLOPs of a token."""
        between = Fraction(between * self.tokens, self.t)
        # overlap_tensor: parts of the first product run beside the gather, and of the last one beside the sum.
        beside = Fraction(self.t - 1, self.t) if self.keys.get("overlap_tensor") else 0
        gathered = self.rank.start("tensor", "all_gather", self.kept, self.t) if self.keys["is_sequence"] else []
        first = self.flops(rows if is_backward else columns) * beside
        if beside:
            self.rank.compute(first)
        self.rank.wait(gathered)
        if is_backward:
            self.rank.compute(self.flops(rows, self.products) - first)
            self.attend(2 * between, True)
            self.column_backward(columns)
            return
        self.rank.compute(self.flops(columns) - first)
        self.attend(between, False)
        self.rank.compute(self.flops(rows) * (1 - beside))
        summed = self.rank.start("tensor", "reduce_scatter" if self.keys["is_sequence"] else "all_reduce", self.kept, self.t)
        if beside:
            self.rank.compute(self.flops(rows) * beside)
        self.rank.wait(summed)

    def attend(self, flops, is_backward):
        """Attention to the keys and values of all ranks that share a sequence, in 2 bytes; in backward, their gradients
        travel too."""
        values = 2 * 2 * self.keys["kv"] * self.tokens // self.t  # bytes of one rank
        if flops == 0:
            return
        if self.keys.get("context_kind") == "ring" and self.context > 1:
            (self.ring_backward if is_backward else self.ring_forward)(flops, values)
            return
        self.rank.run("context", "all_gather", values * self.context * (2 if is_backward else 1), self.context)
        self.rank.compute(flops)

    def ring_forward(self, flops, values):
        """AttnFuncWithCPAndKVP2P: while a round computes, the keys and values of the next one come. Kernels alternate between
        two streams, so that this exchange waits for the kernel before the last one."""
        before = self.rank.stream
        for i in range(self.context):
            now = self.rank.stream
            task = self.rank.pass_on("context", values, before) if i + 1 < self.context else []
            before = now
            self.rank.compute(flops / self.context)
            self.rank.wait(task)

    def ring_backward(self, flops, values):
        """Gradients of keys and values follow them one round behind. The last round sends gradients alone."""
        for i in range(self.context):
            task = self.rank.pass_on("context", values * (1 if i in (0, self.context - 1) else 2), self.rank.stream)
            self.rank.compute(flops / self.context)
            self.rank.wait(task)

    def router(self, is_backward):
        """Each rank routes the tokens that it has."""
        part = self.t if self.keys["is_sequence"] else 1
        self.rank.compute(Fraction(2 * self.keys["hidden"] * self.keys["count"] * self.tokens, part) * (self.products if is_backward else 1))

    def experts(self, is_backward, beside=None):
        """MoEAlltoAllTokenDispatcher: all-to-all, all-gather among the ranks that share an expert, the experts,
        reduce-scatter, all-to-all. The backward pass is the same from its end. `beside`: what is done while tokens go to
        their experts, or their gradients come back."""
        keys, share = self.keys, self.keys["expert_tensor"] or self.t
        sent = Fraction(self.kept * keys["per_token"], self.t)
        task = self.rank.start("expert", "all_to_all", sent, keys["expert"])
        if beside and not is_backward:
            beside()
        self.rank.wait(task)
        self.rank.run("tensor", "all_gather", sent * share, share)
        self.rank.compute(self.flops(sum(self.mlp), keys["per_token"] * (self.products if is_backward else 1)))
        self.rank.run("tensor", "reduce_scatter", sent * share, share)
        task = self.rank.start("expert", "all_to_all", sent, keys["expert"])
        if beside and is_backward:
            beside()
        self.rank.wait(task)

    def block(self, is_backward):
        keys = self.keys
        parts = [lambda: self.pair(*self.attention, self.scores, is_backward)]
        if keys["count"] == 0:
            parts.append(lambda: self.pair(*self.mlp, 0, is_backward))
        else:
            parts.append(lambda: self.router(is_backward))
            shared = [lambda: self.pair(*self.mlp, 0, is_backward)] if keys["shared"] else []
            if keys.get("overlap") != "shared":
                parts, shared = parts + shared, []
            parts.append(lambda: self.experts(is_backward, *shared))
        for part in reversed(parts) if is_backward else parts:
            part()

    def head(self):
        return self.keys["hidden"] * self.keys["vocabulary"]

    def forward(self, blocks, is_first, is_last):
        if is_first:
            self.sum(self.kept)  # of the parts of the vocabulary
        for _ in range(blocks):
            self.block(False)
        if is_last:
            self.gather(self.kept)
            self.rank.compute(self.flops(self.head()))

    def backward(self, blocks, is_first, is_last):
        if is_last:
            self.column_backward(self.head())
        for _ in range(blocks):
            if self.keys["recompute"] == "full":
                self.block(False)
            self.block(True)
        if is_first:
            self.gather(self.kept)

    def weights(self, blocks, _, is_last):
        """What zero_bubble leaves for later: a product of each matrix."""
        keys = self.keys
        block = self.flops(sum(self.attention))
        if keys["count"] == 0 or keys["shared"]:
            block += self.flops(sum(self.mlp))
        if keys["count"]:
            block += self.flops(sum(self.mlp), keys["per_token"])
            block += Fraction(2 * keys["hidden"] * keys["count"] * self.tokens, self.t if keys["is_sequence"] else 1)
        self.rank.compute(block * blocks + (self.flops(self.head()) if is_last else 0))

    def step(self):
        part = self.keys["layers"], True, True
        for _ in range(self.keys["accumulation"]):
            self.forward(*part)
            self.backward(*part)
        self.reduce([part])
        return self.rank.end_ps()

    def reduce(self, parts):
        """All gradients of each part of the model at once, in 4 bytes: one communicator for those of experts."""
        keys, h, tasks = self.keys, self.keys["hidden"], []
        is_moe, n_ranks = keys["count"] > 0, self.t * self.context * keys["data"]
        n_share = keys["expert"] * (keys["expert_tensor"] or self.t)
        is_apart = is_moe and (keys["expert"] > 1 or keys["expert_tensor"] > 0)
        for blocks, is_first, is_last in parts:
            n_pairs = blocks * (1 if not is_moe or keys["shared"] else 0)
            divided = (is_first + is_last) * self.head() + blocks * sum(self.attention) + n_pairs * sum(self.mlp)
            whole = h * is_last + blocks * (2 * h + h * keys["count"])
            experts = blocks * keys["count"] * sum(self.mlp)
            each = [("data", divided // self.t + whole + (0 if is_apart else experts // self.t), n_ranks // self.t)]
            each += [("expert data", experts // n_share, n_ranks // n_share)] if is_apart else []
            tasks += [self.rank.start(name, "all_reduce", 4 * count, n) for name, count, n in each]
        for task in tasks:
            self.rank.wait(task)


def stages(rank, keys):
    """A pipeline of such ranks, as pipeline_ps () of reference.py says. `layers`: the blocks of each part of the model."""
    n, n_parts = keys["pipeline"], len(keys["layers"])
    of = [Divided(rank if stage == 0 else Rank(rank.star, rank.flops_per_s, rank), keys) for stage in range(n)]
    orders = [reference.passes_of(keys["schedule"], stage, n, keys["accumulation"], n_parts // n) for stage in range(n)]
    parts = [(blocks, place == 0, place == n_parts - 1) for place, blocks in enumerate(keys["layers"])]
    done, sent, last_sent, at = {}, {}, {}, [0] * n
    while any(at[stage] < len(orders[stage]) for stage in range(n)):
        for stage, divided in enumerate(of):
            while at[stage] < len(orders[stage]):
                is_backward, part, micro = orders[stage][at[stage]]
                place = part * n + stage
                source, target = (place + 1, place - 1) if is_backward else (place - 1, place + 1)
                if is_backward == "weights":
                    source, target = n_parts, n_parts
                if 0 <= source < n_parts and (is_backward, source, micro) not in sent:
                    break
                own = divided.rank
                own.wait(sent.get((is_backward, source, micro), []))
                {False: divided.forward, True: divided.backward, "weights": divided.weights}[is_backward](*parts[place])
                done[stage, at[stage]] = own.stream
                if 0 <= target < n_parts:
                    sent[is_backward, place, micro] = own.send(of[target % n].rank, divided.kept // (keys["tensor"] if keys["is_sequence"] else 1),
                                                               own.stream + last_sent.get((stage, is_backward), []))
                    last_sent[stage, is_backward] = sent[is_backward, place, micro]
                    if not keys["overlap_p2p"]:
                        own.wait(last_sent[stage, is_backward])
                at[stage] += 1
    for stage, order in enumerate(orders):  # what a pass needs is received while the one before it is done, or after it
        for i, (is_backward, part, micro) in enumerate(order):
            for message in sent.get((is_backward, part * n + stage + (1 if is_backward else -1), micro), []):
                rank.messages[message].after += done.get((stage, i - (2 if keys["overlap_p2p"] else 1)), [])
    for stage, divided in enumerate(of):
        divided.reduce([parts[place] for place in range(stage, n_parts, n)])
    return rank.end_ps()


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
