#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of machines and what joins them: the graph for Graphviz, the matrix and the document of `topo` say the same.

`joined.py PROGRAM [Class]`.
"""
import re
import subprocess

import answer
from answer import support

NODES = ("dgx-a100", "mi300x", "dgx1-v100", "gb200-nvl72", "dgx2", "aurora-pvc", "gh200-x4")
FABRICS = (("--node", "dgx-h100", "--nodes", "4"), ("--node", "dgx-h100", "--nodes", "64"), ("fabric-torus-all-reduce",), ("fabric-dragonfly-plus",), ("fabric-dual-tor",),
           ("fabric-hyperx",), ("fabric-slim-fly",), ("fabric-rail-only",), ("fabric-ddp-ecmp",))
SHAPES = {"accelerator": "box", "switch": "diamond", "nic": "house", "host": "octagon", "bridge": "ellipse", "memory": "note", "storage": "cylinder"}
MOST_SHOWN = 4
ODD = """name: odd
cluster: {node: 'a "b" \\ c', nodes: NODES}
job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}
links: [{name: 'x "y"', technology: PCIe, signalling: 80Gb/s}]
nodes:
  - name: 'a "b" \\ c'
    accelerator: a100-sxm4-80gb
    parts: [{name: gpu, kind: accelerator, count: 2}]
    wires: [{from: gpu0, to: gpu1, link: 'x "y"', count: 4}]
"""


class Joined(answer.AnswerTest):
    def dot(self, *machine):
        return self.good("topo", *machine, "--format", "dot")

    def words(self, link):
        """How a graph names a link, without its rate."""
        return f"{link['count']} x {link['link']}" if link["count"] > 1 else link["link"]


class Graph(Joined):
    def test_a_node(self):
        """A box for each root with all that hangs on it, in the order of the document, by their kinds; and each link with its rate."""
        for name in NODES:
            for more in ((), ("--all",)):
                with self.subTest((name, more)):
                    told, graph = self.json("topo", "--node", name, *more), self.dot("--node", name, *more)
                    below = {vertex["name"]: vertex.get("below") for vertex in told["vertices"]}
                    shape = {vertex["name"]: SHAPES[vertex["kind"]] for vertex in told["vertices"]}
                    head, *boxes = re.split(r"(?m)^  subgraph cluster(?=\d)", graph)
                    self.assertEqual(head, f'graph "{name}" {{\n  node [fontname="sans-serif"];\n  edge [fontname="sans-serif", fontsize=9];\n')
                    last, _, edges = boxes[-1].partition("\n  }\n")
                    shown, labels = [], []
                    for i, box in enumerate([*boxes[:-1], last + "\n  }\n"]):
                        lines = box.splitlines()
                        self.assertEqual((lines[0], lines[-1]), (f"{i} {{", "  }"))
                        labels += [line for line in lines if "label=" in line]
                        members = [re.fullmatch(r'    "(.*)" \[shape=(\w+)\];', line).groups() for line in lines[1:-1] if "label=" not in line]
                        self.assertTrue(all((below[part] is None) == (k == 0) for k, (part, _) in enumerate(members)), members)
                        self.assertTrue(all(kind == shape[part] for part, kind in members), members)
                        shown += [part for part, _ in members]
                    self.assertEqual(shown, [part for part in below if part in set(shown)], "in the order of the document")
                    identical = re.search(r"(\d+) identical (trays|machines)", self.good("topo", "--node", name, *more))
                    self.assertEqual(labels, [f'    label="the first of {identical[1]} identical {identical[2]}";'] if identical else [])
                    self.assertEqual(len(shown) < len(below), bool(identical))
                    self.assertEqual(more == ("--all",) and bool(identical), False)
                    self.assertTrue(edges.endswith("\n}\n"))
                    drawn = [re.fullmatch(r'  "(.*)" -- "(.*)" \[label="(.*), (.*?)"\];', line).groups() for line in edges.splitlines()[:-1]]
                    wanted = [link for link in told["links"] if {link["from"], link["to"]} <= set(shown)]
                    self.assertEqual([line[:3] for line in drawn], [(link["to"], link["from"], self.words(link)) for link in wanted])
                    self.assertTrue(all(answer.quantity(line[3]).is_near(link["rate_GBps"] * 1e9) for line, link in zip(drawn, wanted)))

    def edges(self, graph):
        return re.findall(r'(?m)^    "fabric (\S+)" -- "fabric (\S+)" \[label="(.*), .*?"\];$', graph)

    def test_a_fabric(self):
        """A line for each row, with the first members and the last one or all of them, and the links between those."""
        for machine in FABRICS:
            with self.subTest(machine):
                fabric = self.json("topo", *machine)["fabric"]
                page = self.good("topo", *machine, "--only", "fabric")
                every = {one[:2]: one[2] for one in self.edges(self.dot(*machine, "--only", "fabric", "--all"))}
                for more in ((), ("--all",)):
                    graph = self.dot(*machine, "--only", "fabric", *more)
                    self.assertEqual((graph.count("{"), graph[-6:]), (graph.count("}"), "  }\n}\n"))
                    self.assertNotIn("cluster0", graph)
                    kind, ratio = re.search(r'(?m)^  subgraph cluster_fabric \{\n    label="fabric (\w+), (\S+) : 1";$', graph).groups()
                    self.assertEqual(kind, fabric["kind"])
                    self.assertTrue(answer.quantity(ratio).is_near(fabric["oversubscription"]), ratio)
                    rows = re.findall(r'(?m)^    \{ rank=same;\n      "row (\w+)" \[shape=plaintext, label="(.*)"\];\n((?:      "fabric .*\n)+)    \}$', graph)
                    self.assertEqual([row[0] for row in rows], [row["name"] for row in fabric["rows"]])
                    names = set()
                    for (name, label, members), row in zip(rows, fabric["rows"]):
                        n = row["members"]
                        numbers = range(n) if more or n <= MOST_SHOWN else [*range(MOST_SHOWN - 1), n - 1]
                        shape = "box3d" if name == "node" else "diamond"
                        self.assertEqual(members, "".join(f'      "fabric {name}{i}" [shape={shape}, label="{name}{i}"];\n' for i in numbers))
                        first, _, second = label.partition("; ")
                        self.assertIn(f"\n  {first}\n  {second}\n" if second else f"\n  {first}\n", page)
                        names |= {f"{name}{i}" for i in numbers}
                    drawn = {one[:2]: one[2] for one in self.edges(graph)}
                    self.assertEqual(drawn, {pair: words for pair, words in every.items() if set(pair) <= names})
                    hidden = re.findall(r'(?m)^    "row (\w+)" -- "row (\w+)" \[style=invis\];$', graph)
                    order = [row["name"] for row in fabric["rows"]]
                    self.assertEqual(hidden, list(zip(order, order[1:])))

    def test_both_parts(self):
        machine = FABRICS[0]
        whole, node, fabric = (self.dot(*machine, *more) for more in ((), ("--only", "node"), ("--only", "fabric")))
        head = fabric.partition("  subgraph")[0]
        self.assertEqual(whole, node.removesuffix("}\n") + fabric.removeprefix(head))

    def test_names_with_quotes(self):
        graph = self.dot(self.write("odd.yaml", ODD.replace("NODES", "1")))
        self.assertTrue(graph.startswith('graph "a \\"b\\" \\\\ c" {\n'), graph)
        self.assertIn('  "gpu1" -- "gpu0" [label="4 x x \\"y\\", 40 GB/s"];\n', graph)


class Document(Joined):
    def test_sockets_and_rows_of_the_matrix(self):
        """A socket is a host; what hangs on it has its number, and so has the row of a GPU in the matrix."""
        for name in NODES:
            with self.subTest(name):
                told = self.json("topo", "--node", name)
                vertices = {vertex["name"]: vertex for vertex in told["vertices"]}
                hosts = [vertex for vertex in told["vertices"] if vertex["kind"] == "host"]
                self.assertEqual([host.get("socket") for host in hosts], list(range(len(hosts))))
                for vertex in told["vertices"]:
                    if "below" in vertex:
                        self.assertEqual(vertex.get("socket"), vertices[vertex["below"]].get("socket"), vertex)
                    elif vertex["kind"] != "host":
                        self.assertNotIn("socket", vertex)
                self.assertTrue(all(link["latency_ns"] > 0 and link["count"] > 0 for link in told["links"]))
                self.check_matrix(told, self.good("topo", "--node", name, "--format", "matrix"), vertices)
        told = self.json("topo", self.write("odd.yaml", ODD.replace("NODES", "1")))
        self.assertEqual([vertex.get("socket") for vertex in told["vertices"]], [None, None])
        self.check_matrix(told, self.good("topo", "odd.yaml", "--format", "matrix"), {vertex["name"]: vertex for vertex in told["vertices"]})

    def check_matrix(self, told, page, vertices):
        gpus = [name for name, vertex in vertices.items() if vertex["kind"] == "accelerator"]
        nics = [name for name, vertex in vertices.items() if vertex["kind"] == "nic"]
        number = lambda name: int(re.search(r"\d*$", name)[0] or 0)
        parts = [*sorted(gpus, key=number), *sorted(nics, key=number)]
        heads = [f"GPU{i}" for i in range(len(gpus))] + [f"NIC{i}" for i in range(len(nics))]
        lines = page.splitlines()
        self.assertEqual(lines[0].split("\t"), ["", *heads, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])
        labels = set()
        for part, head, line, row in zip(parts, heads, lines[1:], told["matrix"], strict=False):
            cells = line.split("\t")
            wanted = [head, *(f" {label} " if label == "X" else label for label in row)]
            if head.startswith("GPU"):
                socket = vertices[part].get("socket")
                wanted += ["N/A", "N/A" if socket is None else str(socket), "", "N/A"]
            self.assertEqual(cells, wanted)
            labels |= set(row)
        self.assertEqual(lines[1 + len(parts):4 + len(parts)], ["", "Legend:", ""])
        known = re.findall(r"(?m)^  (\S+) += Connection traversing (?!links of that kind)", page)
        others = re.findall(r"(?m)^  (\S.*?) += Connection traversing links of that kind between accelerators only$", page)
        self.assertEqual(known, ["SYS", "NODE", "PHB", "PXB", "PIX", "NV#"])
        self.assertEqual(others, sorted(label for label in labels - {"X", "N/A", *known} if not re.match(r"NV\d", label)))
        legend = re.findall(r"(?m)^  NIC(\d+): (.*)$", page.partition("\nNIC Legend:\n\n")[2])
        self.assertEqual(("\nNIC Legend:\n" in page, legend), (bool(nics), [(str(i), name) for i, name in enumerate(sorted(nics, key=number))]))

    def test_ports_of_rows(self):
        """Ports are the cables of a member to the rows below and above: the fewest, the most, and how many have the most upward."""
        n_uneven = 0
        for machine in FABRICS:
            with self.subTest(machine):
                told = self.json("topo", *machine)["fabric"]
                level = {row["name"]: i for i, row in enumerate(told["rows"])}
                graph = self.good("topo", *machine, "--only", "fabric", "--format", "dot", "--all")
                page = self.good("topo", *machine, "--only", "fabric")
                parallel = {(lower, upper[:3]): int(n or 1) for lower, upper, n in re.findall(r"(?m)\|  each (\w+) to .*?(\w+): (?:(\d+) links of )?", page)}
                down, up = {}, {}
                for one, other, words in re.findall(r'(?m)^    "fabric (\S+)" -- "fabric (\S+)" \[label="(.*), .*?"\];$', graph):
                    n = int((re.match(r"(\d+) x ", words) or ["", 1])[1])
                    rows = [level[re.sub(r"\d+$", "", name)] for name in (one, other)]
                    if rows[0] != rows[1]:
                        n *= parallel[re.sub(r"\d+$", "", other), one[:3]]
                        down[one] = down.get(one, 0) + n
                        up[other] = up.get(other, 0) + n
                for row in told["rows"]:
                    members = [f"{row['name']}{i}" for i in range(row["members"])]
                    ports = [[of.get(name, 0) for name in members] for of in (down, up)]
                    if row["name"] == "node":
                        self.assertEqual(set(row), {"name", "members"})
                        continue
                    self.assertEqual({key: row[key] for key in row if key not in ("name", "members")},
                                     {"ports_down_least": min(ports[0]), "ports_down": max(ports[0]), "ports_up_least": min(ports[1]), "ports_up": max(ports[1]),
                                      "with_all_ports_up": sum(n == max(ports[1]) for n in ports[1])})
                    n_uneven += min(ports[0]) < max(ports[0])
                tiers = {row["name"]: row["members"] for row in told["rows"] if row["name"] != "node"}
                self.assertEqual(sorted((tier["name"], tier["switches"]) for tier in told["tiers"]), sorted(tiers.items()))
                self.assertEqual(told["nodes"], next(row["members"] for row in told["rows"] if row["name"] == "node"))
                self.assertRegex(page, rf"(?m)^  bisection .*, blocks of {told['worst_block']} nodes?$")
        self.assertGreater(n_uneven, 0)


class Refused(Joined):
    def test_parts(self):
        one, several = ("topo", "--node", "dgx-a100"), ("topo", "--node", "dgx-a100", "--nodes", "2")
        self.refused(*one, "--only", "fabric", names="--only fabric: one node has no fabric; give --nodes or a scenario of several nodes")
        for machine in (one, several):
            self.refused(*machine, "--only", "all", names="--only all: the choices are node and fabric")
            self.assertNotIn("\nfabric ", self.good(*machine, "--only", "node"))
        self.assertEqual(self.good(*one, "--only", "node"), self.good(*one))
        self.assertEqual(["fabric" in self.json(*machine) for machine in (one, several)], [False, True])
        self.assertEqual(["verdict" in self.json(*several, *more) for more in ((), ("--only", "node"), ("--only", "fabric"))], [True, False, True])
        self.refused(*one, "--format", "png", names="--format png: the formats are text, matrix, dot, svg and json")
        for machine, units in ((one, "1"), (("topo", "--design", "superpod-h100"), "-1"), (("topo", "hello"), "2")):
            self.refused(*machine, f"--units={units}", names="--units needs --design NAME, and is 1 or more")

    def test_checks(self):
        path = self.write("net.txt", support.read(support.SOURCE, "docs", "examples", "ibnetdiscover.txt"))
        self.refused("topo", path, names=f"{path} is what a tool printed and no scenario; `fabricast topo {path} --check` looks at its cables")
        for option, value in (("--set", "cluster.nodes=2"), ("--nodes", "2")):
            self.refused("topo", path, "--check", option, value, names=f"{option} does not go with the text of a network, because it is no scenario")
        for form in ("matrix", "dot", "svg"):
            self.refused("topo", "fabric-ddp-ecmp", "--check", "--format", form, names=f"--format {form}: with --check the formats are text and json")
        self.refused("topo", "fabric-ddp-ecmp", "--check", "--only", "fabric", names="--only does not go with --check, which looks at the fabric")
        usual = self.fabricast("topo", path, "--check")
        self.assertEqual(self.fabricast("topo", path, "--check", "--format", "text").stdout, usual.stdout)
        self.assertEqual(usual.returncode, 1)
        with open(path, encoding="utf-8") as file:
            piped = subprocess.run([support.PROGRAM, "topo", "-", "--check"], stdin=file, capture_output=True, text=True, check=False, env=support.environment())
        self.assertEqual((piped.returncode, piped.stdout), (1, usual.stdout.replace(path, "standard input")))
        for args, source in ((("--node", "dgx-h100", "--nodes", "2"), "dgx-h100"), (("--design", "superpod-h100"), "superpod-h100"), (("fabric-ddp-ecmp",), "fabric-ddp-ecmp")):
            told = self.json("topo", *args, "--check")
            self.assertEqual((told["source"], told["findings"]), (source, []))
        self.refused("topo", path, "--node", "dgx-h100", "--check", names="--node")


if __name__ == "__main__":
    support.main()
