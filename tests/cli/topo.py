#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`topo` and `p2p`: every format is what it says it is, and all of them show the same machine."""
import csv
import io
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from support import HELLO, SOURCE, CliTest, main

NODE = ["--node", "dgx-a100"]
SVG = "{http://www.w3.org/2000/svg}"


class Pipes(CliTest):
    """A scenario that a shell gives as <(COMMAND) can be read once, and these commands look into it more than once."""

    def test_scenarios_and_networks_come_from_pipes(self):
        scenario, network = (os.path.join(SOURCE, *path) for path in (("scenarios", "four-nodes.yaml"),
                                                                      ("tests", "fixtures", "import", "ibnetdiscover-edr.txt")))
        for path, args in ((scenario, ("topo", "--only", "fabric")), (scenario, ("topo", "--check")), (network, ("topo", "--check")),
                           (scenario, ("run", "--no-db", "--no-memo", "--no-bottleneck")),
                           (scenario, ("sweep", "--vary", "job.micro_batch=1,2", "--format", "csv")),
                           (scenario, ("import", "job", os.path.join(SOURCE, "docs", "examples", "ds_config.json"), "--model", "gpt2", "--on"))):
            with self.subTest(args):
                on_file, (out, into) = self.fabricast(*args, path), os.pipe()
                with open(path, "rb") as file:
                    os.write(into, file.read())
                os.close(into)
                piped = self.fabricast(*args, f"/dev/fd/{out}", pass_fds=(out,))
                os.close(out)
                self.assertIn(on_file.returncode, (0, 1), on_file.stderr)
                self.assertEqual(piped.returncode, on_file.returncode, piped.stderr)
                self.assertEqual(piped.stdout.replace(f"/dev/fd/{out}", path), on_file.stdout)


class Topo(CliTest):
    def topo(self, *args):
        return self.good("topo", *NODE, *args)

    def test_svg_shows_every_vertex_once_inside_the_page(self):
        root = ElementTree.fromstring(self.topo("--format", "svg"))
        names = [vertex["name"] for vertex in self.json("topo", *NODE)["vertices"]]
        texts = [text.text for text in root.iter(SVG + "text")]
        for name in names:
            self.assertEqual(texts.count(name), 1, name)
        boxes = [box for box in root.iter(SVG + "rect") if box.get("width") != "100%"]
        self.assertEqual(len(boxes), len(names))
        for box in boxes:
            self.assertTrue(0 <= float(box.get("x")) <= float(root.get("width")) - float(box.get("width")))
            self.assertTrue(0 <= float(box.get("y")) <= float(root.get("height")) - float(box.get("height")))

    def test_svg_of_a_node_fits_a_page(self):
        """Whatever the node has: no wider than a column of text, with letters of 11 pixels, and no box on another."""
        for node in ("dgx-a100", "dgx-h100", "p5", "dgx2", "gh200-x4", "mi300x", "mi250x", "dgx1-v100", "gaudi3", "gb200-nvl72",
                     "tpu7x-8", "aurora-pvc", "polaris", "l40s-pcie", "a4x-max", "host"):
            with self.subTest(node):
                root = ElementTree.fromstring(self.good("topo", "--node", node, "--only", "node", "--format", "svg"))
                self.assertLessEqual(float(root.get("width")), 736)
                sizes = [float(text.get("font-size", root.get("font-size"))) for text in root.iter(SVG + "text")]
                self.assertGreaterEqual(min(sizes), 11)
                boxes = [[float(box.get(name)) for name in ("x", "y", "width", "height")]
                         for box in root.iter(SVG + "rect") if box.get("width") != "100%"]
                for i, (x, y, width, height) in enumerate(boxes):
                    self.assertTrue(0 <= x <= float(root.get("width")) - width)
                    for other in boxes[:i]:
                        self.assertTrue(x >= other[0] + other[2] or other[0] >= x + width or y >= other[1] + other[3]
                                        or other[1] >= y + height, (boxes[i], other))

    def test_svg_of_a_fabric_stays_inside_the_page(self):
        for fabric in ("{kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}", "{kind: torus, dimensions: 2}",
                       "{kind: dragonfly, routers_per_group: 2, nics_per_router: 8, global_ports: 8}"):
            for also in ([], ["--only", "fabric"], ["--all"]):
                root = ElementTree.fromstring(self.topo("--nodes", "16", "--set", "cluster.fabric=" + fabric, "--format",
                                                        "svg", *also))
                width, height = float(root.get("width")), float(root.get("height"))
                boxes = [box for box in root.iter(SVG + "rect") if box.get("width") != "100%"]
                self.assertGreater(len(boxes), 8)
                for box in boxes:
                    self.assertTrue(0 <= float(box.get("x")) <= width - float(box.get("width")))
                    self.assertTrue(0 <= float(box.get("y")) <= height - float(box.get("height")))
                names = [text.text for text in root.iter(SVG + "text")]
                self.assertIn("node15", names)
                self.assertEqual("gpu0" in names, "--only" not in also)

    def test_what_is_alike_is_drawn_once(self):
        for format_name, name in (("svg", "gpu71"), ("dot", '"gpu71"'), ("text", "gpu71")):
            folded = self.good("topo", "--node", "gb200-nvl72", "--format", format_name)
            whole = self.good("topo", "--node", "gb200-nvl72", "--format", format_name, "--all")
            self.assertNotIn(name, folded)
            self.assertIn(name, whole)
            self.assertIn("18 identical trays", folded)

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not here")
    def test_graphviz_takes_it(self):
        for args in (["--nodes", "16"], ["--nodes", "16", "--all"], ["--nodes", "16", "--only", "fabric"], []):
            done = subprocess.run(["dot", "-Tcanon"], input=self.topo("--format", "dot", *args), capture_output=True,
                                  text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_svg_escapes_what_the_user_wrote(self):
        text = self.good("topo", self.own("a < b & c"), "--format", "svg")
        self.assertIn("a < b & c", "".join(ElementTree.fromstring(text).itertext()))

    def own(self, summary):
        return self.write("own.yaml", "name: own\ncluster: {node: own}\n"
                          "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
                          f"nodes:\n  - name: own\n    summary: '{summary}'\n    accelerator: a100-sxm4-80gb\n"
                          "    parts: [{name: gpu, kind: accelerator, count: 2}]\n"
                          "    wires: [{from: gpu0, to: gpu1, link: nvlink3, count: 4}]\n")

    def test_a_node_without_a_host(self):
        path = self.own("two")
        self.assertIn("4 x nvlink3", self.good("topo", path))
        self.assertEqual(self.json("topo", path)["matrix"], [["X", "NV4"], ["NV4", "X"]])
        for form in ("svg", "dot", "matrix"):
            self.good("topo", path, "--format", form)

    def test_dot_is_a_graph_of_all_links(self):
        text, machine = self.topo("--format", "dot"), self.json("topo", *NODE)
        lines = [line.strip() for line in text.splitlines()]
        edges = [re.fullmatch(r'"([^"]+)" -- "([^"]+)" \[label="[^"]*"\];', line) for line in lines if " -- " in line]
        vertices = [re.fullmatch(r'"([^"]+)" \[shape=\w+\];', line) for line in lines if "[shape=" in line]
        self.assertEqual(text.count("{"), text.count("}"))
        self.assertEqual({match[1] for match in vertices}, {vertex["name"] for vertex in machine["vertices"]})
        self.assertEqual(len(edges), len(machine["links"]))
        self.assertEqual({frozenset(match.groups()) for match in edges},
                         {frozenset((link["from"], link["to"])) for link in machine["links"]})

    def test_matrix_is_that_of_the_json(self):
        rows = self.topo("--format", "matrix").split("\n\n")[0].splitlines()
        matrix = self.json("topo", *NODE)["matrix"]
        heads = rows[0].split("\t")[1:]
        self.assertEqual(heads[-3:], ["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])
        self.assertEqual(len(matrix), len(heads) - 3)
        for head, row, labels in zip(heads, rows[1:], matrix):
            cells = row.split("\t")
            self.assertEqual((cells[0], [cell.strip() for cell in cells[1:len(matrix) + 1]]), (head, labels))
        self.assertEqual([list(column) for column in zip(*matrix)], matrix)

    def test_fabric(self):
        fabric = self.json("topo", *NODE, "--nodes", "4")["fabric"]
        self.assertEqual(fabric["tiers"], [{"name": "spine", "switches": 1}, {"name": "leaf", "switches": 8}])
        self.assertAlmostEqual(fabric["injection_GBps"], 2 * 8 * 25, delta=1e-3)
        self.assertEqual(fabric["oversubscription"], 1)
        self.assertNotIn("fabric", self.json("topo", *NODE))

    def test_scenario_or_node(self):
        self.assertIn("a100", self.good("topo", HELLO))
        self.refused("topo", names="--node")
        self.refused("topo", HELLO, *NODE, names="--node")
        self.refused("topo", HELLO, "--nodes", "2", names="cluster.nodes")
        self.refused("topo", *NODE, "--format", "png", names="svg")


class P2p(CliTest):
    def test_csv_is_the_json(self):
        args = ["p2p", *NODE, "-g", "3"]
        tables = self.json(*args)
        rows = list(csv.DictReader(io.StringIO(self.good(*args, "--format", "csv"))))
        self.assertEqual(len(rows), 7 * 9)
        for row in rows:
            if row["matrix"] != "peer":
                value = tables[row["matrix"]][int(row["from"])][int(row["to"])]
                self.assertAlmostEqual(float(row["value"]), value, delta=1e-5)

    def test_nothing_is_faster_staged_or_beyond_twice_one_way(self):
        tables = self.json("p2p", *NODE, "--nodes", "2", "-g", "2")
        for i in range(4):
            for j in range(4):
                if i != j:
                    fast, slow = tables["one_way_enabled_GBps"][i][j], tables["one_way_disabled_GBps"][i][j]
                    both = tables["both_ways_enabled_GBps"][i][j]
                    self.assertLessEqual(slow, fast * 1.000001)
                    self.assertLessEqual(both, 2 * fast * 1.000001)
                    self.assertEqual(both, tables["both_ways_enabled_GBps"][j][i])

    def test_drives_bounce_without_gds(self):
        path = self.write("box.yaml", "name: box\ncluster: {node: box}\n"
                          "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
                          "links: [{name: wire, technology: PCIe, signalling: 80Gb/s},\n"
                          "        {name: slow, technology: Memory, signalling: 40Gb/s}]\n"
                          "nodes:\n  - name: box\n    accelerator: a100-sxm4-80gb\n"
                          "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: cpu, kind: host},\n"
                          "            {name: ram, kind: memory}, {name: nvme, kind: storage}]\n"
                          "    wires: [{from: gpu, to: cpu, link: wire}, {from: nvme, to: cpu, link: wire, count: 2},\n"
                          "            {from: ram, to: cpu, link: slow}]\n")
        direct = self.json("p2p", path, "--storage", "--set", "cluster.gds=true")["storage_GBps"]
        bounced = self.json("p2p", path, "--storage")["storage_GBps"]
        self.assertEqual([[round(rate, 3) for rate in row] for row in direct + bounced], [[10, 10], [5, 5]])
        self.assertIn("Storage to GPU", self.good("p2p", path, "--storage"))
        self.refused("p2p", path, "-g", "1", names="--node")

    def test_mistakes(self):
        self.refused("p2p", names="--node")
        self.refused("p2p", "--node", "dgx-h100", "--storage", names="no drives")
        self.refused("p2p", *NODE, "--nodes", "40", names="256")


if __name__ == "__main__":
    main()
