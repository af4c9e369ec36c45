# SPDX-License-Identifier: Apache-2.0
"""movement.py - does a collective that the program exports as messages bring everybody's data where they belong?

The file says which messages a rank has received before it sends another one. So it is known whose data a message can
have in it at all: those of its sender, and of what the sender waited for. A byte of the result that depends on the data
of a rank must have come in a message that can have them.
"""
import re
from collections import namedtuple
from fractions import Fraction

Node = namedtuple("Node", "rank kind size peer tag after")
LINE = re.compile(r"(\w+): (send|recv|calc) (\d+)b?(?: (?:to|from) (\d+) tag (\d+))?")


def read(text):
    """The nodes of a GOAL file by (rank, label), and the number of ranks."""
    nodes, rank = {}, None
    for line in text.splitlines():
        head = re.match(r"rank (\d+) \{", line)
        made = LINE.match(line)
        needs = re.match(r"(\w+) requires (\w+)", line)
        if head:
            rank = int(head[1])
        elif made:
            label, kind, size, peer, tag = made.groups()
            nodes[rank, label] = Node(rank, kind, int(size), int(peer or 0), int(tag or 0), [])
        elif needs:
            nodes[rank, needs[1]].after.append((rank, needs[2]))
    return nodes, int(re.search(r"num_ranks (\d+)", text)[1])


def join(nodes):
    """Each receive waits for its send: the k-th of a pair of ranks and a tag."""
    sends = {}
    for key, node in nodes.items():
        if node.kind == "send":
            sends.setdefault((node.rank, node.peer, node.tag), []).append(key)
    for node in nodes.values():
        if node.kind == "recv":
            node.after.append(sends[node.peer, node.rank, node.tag].pop(0))
    assert not any(sends.values()), "a message that nobody receives"


def known(nodes):
    """Whose data can be at each node, once what it waits for has ended."""
    data, waits = {}, {key: len(node.after) for key, node in nodes.items()}
    followers = {}
    for key, node in nodes.items():
        for other in node.after:
            followers.setdefault(other, []).append(key)
    ready = [key for key, n in waits.items() if n == 0]
    while ready:
        key = ready.pop()
        data[key] = frozenset([nodes[key].rank]).union(*(data[other] for other in nodes[key].after))
        for follower in followers.get(key, []):
            waits[follower] -= 1
            if waits[follower] == 0:
                ready.append(follower)
    assert len(data) == len(nodes), "messages that wait for each other"
    return data


def needed(op, n, rank, other):
    """Share of the size: how much of what `rank` ends with depends on the data of `other`."""
    if op == "all_reduce":
        return Fraction(1)
    if op in ("all_gather", "reduce_scatter", "all_to_all"):
        return Fraction(1, n)
    return Fraction(int((op == "broadcast" and other == 0) or (op == "reduce" and rank == 0)))


def check(text, op, size):
    nodes, n = read(text)
    join(nodes)
    data = known(nodes)
    came = [[0] * n for _ in range(n)]
    for key, node in nodes.items():
        for other in data[key] if node.kind == "recv" else ():
            came[node.rank][other] += node.size
    for rank in range(n):
        for other in range(n):
            # whole bytes: each message may be rounded
            least = needed(op, n, rank, other) * size * Fraction(999, 1000) - len(nodes)
            assert rank == other or came[rank][other] >= least, \
                f"{op} of {size} bytes: only {came[rank][other]} that can depend on the data of rank {other} reach rank {rank}"
    return sorted((node.rank, node.peer, node.size) for node in nodes.values() if node.kind == "send")
