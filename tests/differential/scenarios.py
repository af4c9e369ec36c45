# SPDX-License-Identifier: Apache-2.0
"""scenarios.py - draws small scenarios: a tree of links with rates and latencies of its own, and a job. Each is made
twice: as a scenario of the program, and as what the reference plays."""
import ranks
import reference

RATES = (5, 10, 12.5, 20, 25, 40, 50, 100)  # GB/s
LATENCIES = (0, 50, 130, 500, 700, 1200)  # ns
HEAD = """name: differential
cluster:
  node: box
  nodes: {nodes}
  route: shortest
  fabric: {{kind: custom, switches: [{switches}], links: [{links}], attach: [{attach}]}}
links:
{entries}
technologies:
  - {{name: Own, joins: machines}}
accelerators:
  - {{name: chip, architecture: own, peak_fp16: 100TFLOP/s, peak_fp32: 100TFLOP/s, memory: 80GB, memory_rate: 1000GB/s}}
nodes:
  - name: box
    accelerator: chip
    nic: port
    parts: [{{name: gpu, kind: accelerator, count: 1}}, {{name: nic, kind: nic, count: 1}}]
    wires: [{{from: gpu, to: nic, link: wire}}]
"""
# No overhead of packets, so that the rate of a link is what it carries.
ENTRY = ("  - {{name: {name}, technology: Own, signalling: {rate:g}GB/s, latency: {latency}ns, "
         "copy: {{payload: 4KiB, overhead: 0B, achievable: 1}}, kernel: {{payload: 4KiB, overhead: 0B, achievable: 1}}}}\n")


def host(rank):
    return f"gpu{rank}"


class Tree:
    """Hosts under leaves under one switch; each leaf has an uplink of its own."""

    def __init__(self, draw, most_hosts=8, is_even=False, one_leaf=0):
        """`one_leaf`: that many hosts under one leaf."""
        n_leaves = 1 if one_leaf else draw.randint(1, 4)
        counts = [one_leaf] if one_leaf else [draw.randint(1, max(1, most_hosts // n_leaves)) for _ in range(n_leaves)]
        if sum(counts) < 2:
            counts[0] = 2
        self.n, self.machine, self.host, entries = sum(counts), reference.Machine(), host, []

        def link(name):
            rate, latency = draw.choice(RATES), draw.choice(LATENCIES)
            entries.append(ENTRY.format(name=name, rate=rate, latency=latency))
            return int(rate * 10**9), latency * 1000

        wire, port = link("wire"), link("port")
        ups = [link(f"up{leaf}") for leaf in range(n_leaves)]
        if is_even:
            entries[2:] = [ENTRY.format(name=f"up{leaf}", rate=ups[0][0] / 10**9, latency=ups[0][1] // 1000) for leaf in range(n_leaves)]
            ups = [ups[0]] * n_leaves
        first, attach = 0, []
        for leaf, count in enumerate(counts):
            for rank in range(first, first + count):
                self.machine.join(host(rank), f"nic{rank}", *wire)
                self.machine.join(f"nic{rank}", f"leaf{leaf}", *port)
            self.machine.join(f"leaf{leaf}", "top", *ups[leaf])
            attach.append(f"{{to: leaf{leaf}, nodes: {first}-{first + count - 1}}}")
            first += count
        self.head = HEAD.format(
            nodes=self.n, switches=", ".join([f"{{name: leaf{leaf}}}" for leaf in range(n_leaves)] + ["{name: top}"]),
            links=", ".join(f"{{from: leaf{leaf}, to: top, link: up{leaf}}}" for leaf in range(n_leaves)),
            attach=", ".join(attach), entries="".join(entries).rstrip("\n"))

    def scenario(self, job, *more):
        return self.head + "iterations: 1\n" + "".join(line + "\n" for line in more) + "job: " + job + "\n"


def draw_size(draw):
    return draw.choice((1, 999, 4096, 65537, 10**6, 3 * 10**6, 10**7)) * draw.randint(1, 3)


def traffic(draw):
    """Flows of messages that follow one another. Returns the text, the machine and the flows with their messages."""
    tree = Tree(draw)
    count, messages, pairs, flows = draw.randint(1, 3), [], [], []
    for _ in range(draw.randint(1, 9)):
        start, end = draw.sample(range(tree.n), 2)
        size, at_us = draw_size(draw), draw.choice((0, 0, 3, 10, 41))
        pairs.append(f"{{from: {start}, to: {end}, size: {size}B, at: {at_us}us}}")
        latency_ps, flow = tree.machine.latency_ps(host(start), host(end)), []
        for i in range(count):
            messages.append(reference.Message(host(start), host(end), size, after=flow[-1:], before_ps=latency_ps,
                                              at_ps=0 if i else at_us * 10**6))
            flow.append(len(messages) - 1)
        flows.append(flow)
    job = f"{{kind: traffic, pattern: pairs, size: 1B, count: {count}, pairs: [{', '.join(pairs)}]}}"
    return tree.scenario(job), tree.machine, messages, flows


def collective(draw, is_even):
    """One collective of one algorithm. Returns the text, the machine and the schedule."""
    name = draw.choice(sorted(reference.ALGORITHMS))
    make, ops = reference.ALGORITHMS[name]
    op = draw.choice(ops)
    tree = Tree(draw, is_even=is_even)
    while name == "halving_doubling" and tree.n & (tree.n - 1):
        tree = Tree(draw, is_even=is_even)
    size = draw_size(draw) * tree.n
    schedule = make(reference.Schedule(op, tree.n, size, host), tree.machine)
    job = f"{{kind: collective, operations: [{{op: {op}, size: {size}B}}]}}"
    return tree.scenario(job, f"collectives: {{kind: plain, algorithm: {name}}}"), tree.machine, schedule, name


def ring_ps(tree):
    """The time of an operation of a ring that is alone."""
    def time_ps(op, size):
        return reference.ring(reference.Schedule(op, tree.n, size, host), tree.machine).stream_ps(tree.machine)
    return time_ps


def written(keys):
    return ", ".join(f"{key}: {('no', 'yes')[value] if isinstance(value, bool) else value}" for key, value in keys.items())


def sharded(draw):
    """Training with shards: FSDP, or ZeRO. What training() returns."""
    tree, way = Tree(draw, is_even=True), draw.choice(("fsdp", "zero", "zero3"))
    layers = [[tree.n * draw.randint(1, 40) * draw.choice((1000, 10**4, 10**5)) for _ in range(draw.randint(1, 4))]
              for _ in range(draw.randint(1, 5))]
    sequence, mfu, half = draw.choice((16, 128, 1024)), draw.choice((25, 50, 100)), draw.choice((True, False))
    keys = {"accumulation": draw.randint(1, 3)}
    if way == "fsdp":
        keys |= {"sharding": draw.choice(("full", "grad_op")), "backward_prefetch": draw.choice(("pre", "post", "none")),
                 "limit_all_gathers": draw.random() < 0.8, "in_flight": draw.randint(1, 4), "no_sync": draw.random() < 0.5}
    else:
        keys |= {"stage": 3 if way == "zero3" else draw.randint(1, 2), "overlap_comm": way == "zero" and draw.random() < 0.5,
                 "reduce_bucket": tree.n * draw.choice((10**4, 10**5, 10**6, 10**8))}
    if way == "zero":
        keys |= {"multi_rank_all_reduce": draw.random() < 0.5, "allgather_bucket": tree.n * draw.choice((10**5, 10**6, 10**8))}
    if way == "zero3":
        keys |= {"persistence_threshold": draw.choice((0, draw.choice(layers)[0])), "recompute": draw.choice(("none", "full")),
                 "max_reuse_distance": draw.choice((0, 1, tree.n * 10**5, tree.n * 10**6, 10**9))}
    step_ps = {"fsdp": reference.fsdp_ps, "zero": reference.zero_ps, "zero3": reference.zero3_ps}[way](
        layers, sequence, 10**12 * mfu, 2 if half else 4, keys, ring_ps(tree))
    shape = ", ".join("{tensors: [" + ", ".join(f"{{parameters: {count}}}" for count in tensors) + "]}" for tensors in layers)
    job = (f"{{kind: {way.removesuffix('3')}, model: own, sequence: {sequence}, gradient: {'bf16' if half else 'fp32'}, {written(keys)}, "
           f"compute: {{kind: mfu, mfu: {mfu}%}}}}")
    text = tree.scenario(job, "collectives: {kind: plain, algorithm: ring}",
                         f"models: [{{name: own, shape: {{kind: layers, layers: [{shape}]}}}}]")
    return text, step_ps, 4 * keys["accumulation"] * (sum(map(len, layers)) + 1) * (2 * tree.n + 4)


def pipeline(draw, is_split=False):
    """A pipeline with one rank per stage; `is_split`: its backward passes are those of inputs and of weights. Returns the
    text, and what gives the time of a step and of how many parts it is the sum, at `fluid` (is_stream) or `step`. At its
    end the norm of the gradients is added up."""
    tree = Tree(draw, most_hosts=6)
    virtual = 1 if is_split else draw.choice((1, 1, 2, 3))
    micro = draw.randint(1, 6) if virtual == 1 else tree.n * draw.randint(1, 3)
    keys = {"pipeline": tree.n, "accumulation": micro, "virtual": virtual,
            "schedule": "interleaved" if virtual > 1 else draw.choice(("1f1b", "gpipe")), "overlap_p2p": virtual > 1 or draw.random() < 0.5}
    if is_split:
        keys |= {"schedule": draw.choice(("zero_bubble", "zero_bubble_h2")), "overlap_p2p": True}
    sequence, mfu, blocks = draw.choice((16, 128, 1024)), draw.choice((25, 50, 100)), draw.randint(1, 2)
    parameters, output = draw.randint(1, 40) * 1000, draw.choice((1, 64, 500, 4000))
    shape = f"{{count: {tree.n * virtual * blocks}, tensors: [{{parameters: {parameters}}}], output: {output}B}}"
    job = (f"{{kind: ddp, model: own, sequence: {sequence}, accumulation: {micro}, parallel: {{pipeline: {tree.n}, virtual: {virtual}, "
           f"schedule: {keys['schedule']}, overlap_p2p: {str(keys['overlap_p2p']).lower()}}}, compute: {{kind: mfu, mfu: {mfu}%}}}}")
    text = tree.scenario(job, "collectives: {kind: plain, algorithm: direct}",
                         f"models: [{{name: own, shape: {{kind: layers, layers: [{shape}]}}}}]")

    def step_ps(is_stream):
        passes_ps, n_parts = reference.pipeline_ps(tree.machine, host, keys, blocks * 2 * parameters * sequence, 10**12 * mfu,
                                                   output * sequence, is_stream)
        norm = reference.direct(reference.Schedule("all_reduce", tree.n, 4, host), tree.machine)
        norm_ps = norm.stream_ps(tree.machine) if is_stream else reference.play(tree.machine, norm.messages)
        return passes_ps + norm_ps, 2 * (n_parts + len(norm.messages))
    return text, step_ps


def training(draw):
    """Data-parallel training whose buckets are reduced by a ring. Returns the text, the time of a step, and of how many
    parts it is the sum."""
    tree = Tree(draw, is_even=True)
    layers = [[draw.randint(1, 40) * draw.choice((1000, 10**5, 10**6)) for _ in range(draw.randint(1, 4))]
              for _ in range(draw.randint(1, 5))]
    sequence, mfu, half = draw.choice((1, 16, 128)), draw.choice((25, 50, 100)), draw.choice((True, False))
    caps = draw.choice((1, 4)), draw.choice((1, 10, 25))
    shape = ", ".join("{tensors: [" + ", ".join(f"{{parameters: {count}}}" for count in tensors) + "]}" for tensors in layers)
    keys = {"accumulation": draw.randint(1, 3), "no_sync": draw.random() < 0.5, "overlap": draw.random() < 0.8}
    job = (f"{{kind: ddp, model: own, sequence: {sequence}, gradient: {'bf16' if half else 'fp32'}, first_bucket: {caps[0]}MiB, "
           f"bucket: {caps[1]}MiB, {written(keys)}, compute: {{kind: mfu, mfu: {mfu}%}}}}")

    def reduce_ps(size):
        return reference.ring(reference.Schedule("all_reduce", tree.n, size, host), tree.machine).stream_ps(tree.machine)

    step_ps = reference.ddp_ps(layers, sequence, 10**12 * mfu, 2 if half else 4, keys, [cap << 20 for cap in caps], reduce_ps)
    text = tree.scenario(job, "collectives: {kind: plain, algorithm: ring}",
                         f"models: [{{name: own, shape: {{kind: layers, layers: [{shape}]}}}}]")
    n_tensors, n_rounds = sum(map(len, layers)), 2 * (tree.n - 1)  # the reference rounds each round of a ring up
    return text, step_ps, keys["accumulation"] * ((4 + n_rounds) * n_tensors + len(layers))


# --- jobs of which every rank does the same, beside one switch (ranks.py) ---


def job_of_ranks(tree, rank, job, shape):
    text = tree.scenario(job, "collectives: {kind: plain, algorithm: direct}", f"models: [{{name: own, shape: {shape}}}]")
    return text, rank


def draw_mfu(draw):
    return draw.choice((25, 50, 100))


def draw_transformer(draw, tensor, data):
    """Keys of a transformer that tensor, sequence and expert parallelism divide."""
    keys = {"tensor": tensor, "data": data, "layers": draw.randint(1, 3), "hidden": 64 * draw.randint(1, 8), "kv": 0,
            "width": 64 * draw.randint(1, 16), "gated": draw.random() < 0.5, "vocabulary": 64 * draw.randint(1, 16),
            "sequence": draw.choice((16, 128, 1024)), "accumulation": draw.randint(1, 3), "recompute": draw.choice(("none", "none", "full")),
            "count": 0, "per_token": 0, "shared": 0, "expert": 1, "expert_tensor": 0}
    keys["kv"] = draw.choice((keys["hidden"], keys["hidden"] // 4))
    if draw.random() < 0.6:
        keys |= {"count": 8, "per_token": draw.randint(1, 3), "shared": draw.randint(0, 1)}
        keys["expert"] = draw.choice([n for n in (1, 2, 4) if data % n == 0])
        if tensor > 1 and draw.random() < 0.4:
            keys |= draw.choice([{"expert": e, "expert_tensor": s} for e in (2, 4, 8) for s in (1, 2)
                                 if tensor * data % (e * s) == 0 and s <= tensor] or [{}])
    keys["is_sequence"] = tensor > 1 and (keys["count"] > 0 or draw.random() < 0.5)
    return keys


def job_of_transformer(tree, mfu, step, keys, n_layers, more):
    experts = f", experts: {{count: {keys['count']}, per_token: {keys['per_token']}, shared: {keys['shared']}}}" if keys["count"] else ""
    shape = (f"{{kind: transformer, layers: {n_layers}, hidden: {keys['hidden']}, heads: 4, kv_heads: {4 * keys['kv'] // keys['hidden']}, "
             f"vocabulary: {keys['vocabulary']}, feed_forward: {keys['width']}, gated: {('no', 'yes')[keys['gated']]}, tied: no, biases: no{experts}}}")
    parallel = {"tensor": keys["tensor"], "sequence": keys["is_sequence"], "expert": keys["expert"], "expert_tensor": keys["expert_tensor"]} | more
    job = (f"{{kind: megatron, model: own, sequence: {keys['sequence']}, accumulation: {keys['accumulation']}, recompute: {keys['recompute']}, "
           f"clip_gradients: no, parallel: {{{written(parallel)}}}, compute: {{kind: mfu, mfu: {mfu}%}}}}")
    return job_of_ranks(tree, step, job, shape)


def divided(draw):
    """A transformer that tensor, sequence and expert parallelism divide."""
    tensor, data = draw.choice(((1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2), (2, 3)))
    keys = draw_transformer(draw, tensor, data)
    tree, mfu = Tree(draw, one_leaf=tensor * data), draw_mfu(draw)
    return job_of_transformer(tree, mfu, ranks.Divided(ranks.Rank(tree, 10**12 * mfu), keys).step, keys, keys["layers"], {})


def draw_overlaps(draw, keys):
    """Whether gathers and sums run beside products, and shared experts while tokens are exchanged. Returns these keys."""
    keys["overlap_tensor"] = keys["is_sequence"] and draw.random() < 0.5
    if keys["shared"] and keys["expert"] > 1 and draw.random() < 0.5:
        keys["overlap"] = "shared"
    return {"overlap_tensor": keys["overlap_tensor"], "moe": f"{{overlap: {keys.get('overlap', 'none')}}}"}


def overlap_tensor(draw):
    """Such a transformer whose gathers and sums run beside products."""
    tensor, data = draw.choice(((2, 1), (4, 1), (3, 1), (8, 1), (2, 2), (2, 4)))
    keys = draw_transformer(draw, tensor, data) | {"is_sequence": True, "overlap_tensor": True}
    tree, mfu = Tree(draw, one_leaf=tensor * data), draw_mfu(draw)
    return job_of_transformer(tree, mfu, ranks.Divided(ranks.Rank(tree, 10**12 * mfu), keys).step, keys, keys["layers"], {"overlap_tensor": True})


def overlap_shared(draw):
    """Such a transformer whose shared experts compute while tokens are exchanged."""
    tensor, data = draw.choice(((1, 2), (1, 4), (1, 8), (2, 2), (2, 4), (4, 2)))
    keys = draw_transformer(draw, tensor, data) | {"count": 8, "per_token": draw.randint(1, 3), "shared": 1, "overlap": "shared",
                                                   "expert": data, "is_sequence": tensor > 1, "expert_tensor": draw.choice((0, 1)) if tensor > 1 else 0}
    tree, mfu = Tree(draw, one_leaf=tensor * data), draw_mfu(draw)
    return job_of_transformer(tree, mfu, ranks.Divided(ranks.Rank(tree, 10**12 * mfu), keys).step, keys, keys["layers"], {"moe": "{overlap: shared}"})


def context(draw):
    """Such a transformer whose sequences are divided: keys and values are gathered, or go around a ring."""
    tensor, n, data = draw.choice(((1, 2, 1), (1, 4, 1), (1, 8, 1), (2, 2, 1), (2, 4, 1), (1, 2, 2), (1, 2, 4), (2, 2, 2)))
    keys = draw_transformer(draw, tensor, data) | {"context": n, "context_kind": draw.choice(("gather", "ring"))}
    tree, mfu = Tree(draw, one_leaf=tensor * n * data), draw_mfu(draw)
    return job_of_transformer(tree, mfu, ranks.Divided(ranks.Rank(tree, 10**12 * mfu), keys).step, keys, keys["layers"],
                              {"context": n, "context_kind": keys["context_kind"]} | draw_overlaps(draw, keys))


def stages(draw):
    """Such a transformer in a pipeline. Stages and parts of stages need not have the same number of blocks. Where the order
    of reductions would matter, there is one (differential.md)."""
    tensor, data, n = draw.choice(((2, 1, 2), (2, 1, 3), (2, 1, 4), (4, 1, 2), (4, 1, 3), (3, 1, 2), (1, 2, 2), (1, 4, 3), (2, 2, 2), (2, 4, 2), (2, 2, 3), (4, 2, 3)))
    keys = draw_transformer(draw, tensor, data)
    keys["sequence"] += -keys["sequence"] % tensor  # ranks send whole tokens
    virtual = draw.choice((1, 1, 2)) if min(tensor, data) == 1 else 1
    keys |= {"pipeline": n, "layers": [draw.randint(1, 2) for _ in range(n * virtual)],
             "accumulation": draw.randint(1, 6) if virtual == 1 else n * draw.randint(1, 2),
             "schedule": "interleaved" if virtual > 1 else draw.choice(("1f1b", "gpipe")), "overlap_p2p": virtual > 1 or draw.random() < 0.5}
    if keys["expert"] * (keys["expert_tensor"] or tensor) < tensor * data and (virtual > 1 or tensor > 1):
        keys |= {"count": 0} if tensor == 1 else {"expert": 1, "expert_tensor": 0}
    if virtual == 1 and not keys["is_sequence"] and draw.random() < 0.5:
        keys |= {"schedule": draw.choice(("zero_bubble", "zero_bubble_h2")), "overlap_p2p": True}
    if keys["count"] == 0:
        keys |= {"per_token": 0, "shared": 0, "expert": 1, "expert_tensor": 0}
    tree, mfu = Tree(draw, one_leaf=tensor * data * n), draw_mfu(draw)
    rank = ranks.Rank(tree, 10**12 * mfu)
    more = {"pipeline": n, "virtual": virtual, "schedule": keys["schedule"], "overlap_p2p": keys["overlap_p2p"],
            "layers": "[" + ", ".join(map(str, keys["layers"])) + "]"} | draw_overlaps(draw, keys)
    return job_of_transformer(tree, mfu, lambda: ranks.stages(rank, keys), keys, sum(keys["layers"]), more)


def shards(draw):
    """Megatron's buckets and distributed optimizer, hybrid FSDP, or ZeRO-3 with overlap."""
    way = draw.choice(("megatron", "hybrid", "zero3"))
    tree, mfu = Tree(draw, one_leaf=draw.choice((4, 6, 8) if way == "hybrid" else (2, 3, 4, 8))), draw_mfu(draw)
    layers = [[tree.n * draw.randint(1, 40) * draw.choice((1000, 10**4, 10**5)) for _ in range(draw.randint(1, 4))]
              for _ in range(draw.randint(1, 5))]
    sequence, half = draw.choice((16, 128, 1024)), draw.choice((True, False))
    keys = {"accumulation": draw.randint(1, 3)}
    if way == "megatron":
        keys |= {"bucket": draw.choice((10**4, 10**6, 10**7)), "distributed_optimizer": draw.random() < 0.8, "overlap_grad_reduce": draw.random() < 0.8}
        keys["overlap_param_gather"] = keys["distributed_optimizer"] and keys["overlap_grad_reduce"] and draw.random() < 0.7
    elif way == "hybrid":
        keys |= {"sharding": draw.choice(("hybrid", "hybrid_grad_op")), "shard": draw.choice([k for k in (2, 3, 4) if tree.n % k == 0 and k < tree.n]),
                 "no_sync": draw.random() < 0.5, "backward_prefetch": "none", "in_flight": 1}
    else:
        keys |= {"stage": 3, "overlap_comm": True, "reduce_bucket": tree.n * draw.choice((10**4, 10**5, 10**6, 10**8)), "persistence_threshold": 0,
                 "recompute": draw.choice(("none", "full")), "max_reuse_distance": draw.choice((0, 1, tree.n * 10**5, tree.n * 10**6, 10**9))}
    play = {"megatron": ranks.megatron, "hybrid": ranks.hybrid, "zero3": ranks.zero3}[way]
    rank = ranks.Rank(tree, 10**12 * mfu)
    shape = "{kind: layers, layers: [" + ", ".join(
        "{tensors: [" + ", ".join(f"{{parameters: {count}}}" for count in tensors) + "]}" for tensors in layers) + "]}"
    job = (f"{{kind: {({'hybrid': 'fsdp', 'zero3': 'zero'}).get(way, way)}, model: own, sequence: {sequence}, gradient: {'bf16' if half else 'fp32'}, "
           f"{written(keys)}, compute: {{kind: mfu, mfu: {mfu}%}}}}")
    return job_of_ranks(tree, lambda: play(rank, layers, sequence, keys | {"gradient_bytes": 2 if half else 4}, tree.n), job, shape)
