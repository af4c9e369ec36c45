# SPDX-License-Identifier: Apache-2.0
"""What Holistic Trace Analysis computes from a Kineto file, with the standard library; and two-class results files.

HTA: merged intervals of the kernels that communicate and of those that compute, overlap = time in both / time in
communication (hta/analyzers/communication_analysis.py); kernel time = from the first begin to the last end, idle =
what no kernel covers of it (breakdown_analysis.py); kernels of the last step are left out when there are several
(trace.py), a kernel being of the step in which it was launched. Whole ns here, where HTA has doubles.
"""
import json
import re
import sqlite3


def ns(microseconds):
    return round(microseconds * 1000)


def merge(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def both(a, b):
    return length(a) + length(b) - length(merge([*map(tuple, a), *map(tuple, b)]))


def kind(name):
    """hta/utils/utils.py: get_kernel_type"""
    if name.startswith("nccl"):
        return "comm"
    return "memory" if re.match("Memcpy|Memset", name) else "compute"


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def kernels(trace, last_step=False):
    """(kind, start, end) of what HTA counts."""
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    steps = [ns(event["ts"]) for event in events if event["cat"] == "user_annotation"
             and event["name"].startswith("ProfilerStep#")]
    launched = {event["args"]["correlation"]: ns(event["ts"]) for event in events if event["cat"] == "cuda_runtime"}
    limit = float("inf") if last_step or len(steps) == 1 else max(steps)
    return [(kind(event["name"]), ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])) for event in events
            if event.get("args", {}).get("stream", -1) > 0 and launched[event["args"]["correlation"]] < limit]


def breakdown(found):
    """The percentages of get_comm_comp_overlap and get_temporal_breakdown, not rounded."""
    comm = merge((start, end) for what, start, end in found if what == "comm")
    compute = merge((start, end) for what, start, end in found if what == "compute")
    every = merge((start, end) for _, start, end in found)
    kernel_ns = every[-1][1] - every[0][0]
    idle_ns = kernel_ns - length(every)
    return {
        "comp_comm_overlap_pctg": 100 * both(comm, compute) / length(comm) if comm else None,
        "idle_time_pctg": 100 * idle_ns / kernel_ns,
        "compute_time_pctg": 100 * length(compute) / kernel_ns,
        "non_compute_time_pctg": 100 * (kernel_ns - idle_ns - length(compute)) / kernel_ns,
    }


# Two classes, two iterations of 100 ms each, times in ms. Of the accounts each number is counted by hand:
#   class 0 (ranks 0-3): computes 0-40 and 50-90, sends 30-60 (waits from 25), idle from 90
#     compute 80, comm 30, overlapped 20 (30-40, 50-60), exposed 10, idle 10
#   class 1 (ranks 4-7): idle until 20, computes 20-70, sends 30-60, all-reduces 60-95, and in iteration 0 a gather
#     from 95 that ends at 103, 3 ms into iteration 1
#     iteration 0: compute 50, comm 70 (30-100), overlapped 40 (30-70), exposed 30, idle 20
#     iteration 1: compute 50, comm 68 (0-3, 30-95), overlapped 40, exposed 28, idle 22
MS = 10**9
ACCOUNTS = {(0, 0): (80, 30, 20, 10, 10), (1, 0): (80, 30, 20, 10, 10),
            (0, 1): (50, 70, 40, 30, 20), (1, 1): (50, 68, 40, 28, 22)}
SPANS = [(0, "compute", "compute", "forward a", 0, 40, None), (0, "wait", "comm", "send_recv p", 25, 30, 0),
         (0, "comm", "comm", "send_recv p", 30, 60, 0), (0, "compute", "compute", "backward a", 50, 90, None),
         (1, "compute", "compute", "forward b", 20, 70, None), (1, "comm", "comm", "send_recv p", 30, 60, 0),
         (1, "load", "loader", "load", 5, 15, None), (1, "comm", "comm", "all_reduce g", 60, 95, 1)]


def add_two_classes(path):
    """A run with two classes, whose accounts are known, behind those of the results file `path`. Returns its id."""
    with sqlite3.connect(path) as db:
        run = db.execute("SELECT max (run_id) + 1 FROM run").fetchone()[0]
        insert(db, "run", run_id=run, name="two", scenario_yaml="", version="0", fidelity="fluid", seed=1, n_ranks=8,
               n_nodes=1, peak_flops_per_s=0.0)
        insert(db, "link", run_id=run, link=0, from_vertex="a", to_vertex="b", spec="wire", n_parallel=1,
               line_rate_bytes_per_s=10**11, latency_ps=0)
        for number in (0, 1):
            insert(db, "rank_class", run_id=run, rank_class=number, first_rank=4 * number, n_ranks=4)
        for number in (0, 1):
            add_iteration(db, run, number)
    db.close()
    return run


def insert(db, table, **row):
    """Columns that are not named and have no default are empty or zero."""
    columns = db.execute(f"SELECT name, type, \"notnull\", dflt_value FROM pragma_table_info ('{table}')").fetchall()
    assert set(row) <= {name for name, *_ in columns}, table
    rest = {name: "" if type_ == "TEXT" else 0 for name, type_, needed, default in columns
            if needed and default is None and name not in row}
    row = {**rest, **row}
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))


def add_samples(path, run, samples):
    """(iteration, start ms, end ms, bytes/s) of link 0."""
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE IF NOT EXISTS link_sample (run_id INTEGER NOT NULL, iteration INTEGER NOT NULL,"
                   " link INTEGER NOT NULL, start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL, bytes_per_s REAL NOT NULL)")
        for iteration, start, end, rate in samples:
            insert(db, "link_sample", run_id=run, iteration=iteration, link=0, start_ps=start * MS, end_ps=end * MS,
                   bytes_per_s=rate)
    db.close()


def add_iteration(db, run, iteration):
    base = 100 * iteration
    names = ("compute_ps", "comm_ps", "overlapped_ps", "exposed_ps", "idle_ps")
    place = {"run_id": run, "iteration": iteration, "start_ps": base * MS, "step_ps": 100 * MS}
    insert(db, "iteration", **place, **dict.fromkeys(names, 0), mfu_fraction=0.0, hfu_fraction=0.0, tokens_per_s=0.0)
    for number in (0, 1):
        times = [value * MS for value in ACCOUNTS[iteration, number]]
        insert(db, "iteration_class", **place, rank_class=number, **dict(zip(names, times)))
    rows = [("p", "sendrecv", 25, 30, 60), ("g", "all_reduce", 60, 60, 95), ("w", "all_gather", 95, 95, 103)]
    for index, (name, op, ready, start, end) in enumerate(rows if iteration == 0 else rows[:2]):
        insert(db, "collective", run_id=run, iteration=iteration, collective=index, name=name, op=op, algorithm="ring",
               protocol="simple", n_channels=1, n_ranks=8, bytes=10**9, ready_ps=(base + ready) * MS,
               start_ps=(base + start) * MS, end_ps=(base + end) * MS, exposed_ps=0, algbw_bytes_per_s=1e9,
               busbw_bytes_per_s=1e9, binding_link=0)
    insert(db, "link_load", run_id=run, iteration=iteration, link=0, bytes=2 * 10**9, busy_fraction=0.5)
    spans = SPANS + ([(1, "comm", "comm", "all_gather w", 95, 103, 2)] if iteration == 0 else [])
    for number, (rank_class, what, stream, name, start, end, collective) in enumerate(spans):
        insert(db, "span", run_id=run, span=100 * iteration + number, iteration=iteration, rank_class=rank_class,
               kind=what, stream=stream, name=name, start_ps=(base + start) * MS, end_ps=(base + end) * MS,
               collective=collective)
