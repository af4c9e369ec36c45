#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every print of a real machine becomes a scenario that is checked and run, and says what the print said."""
import glob
import os
import re

from support import SOURCE, CliTest, environment, main, need, read
import subprocess
import support

SAMPLES = sorted(path for path in glob.glob(os.path.join(glob.escape(SOURCE), "tests", "fixtures", "import", "*"))
                 if not path.endswith(".md"))
yaml, = need("yaml")
# How the names of the samples begin, the longer ones first, and the format that it says.
BY_NAME = {"nvidia-nvlink": "nvidia-nvlink", "nvidia-smi": "nvidia-smi", "rocm-smi": "rocm-smi", "hwloc": "hwloc",
           "nccl-tree": "nccl-tree", "rccl-tree": "nccl-tree", "nccl": "nccl-xml", "rccl": "nccl-xml",
           "ibnetdiscover-p": "ibnetdiscover-p", "ibnet": "ibnetdiscover", "iblinkinfo": "iblinkinfo",
           "slurm-topology": "slurm-topology", "topograph": "topograph", "lldp": "lldp"}


def sample(name):
    return os.path.join(SOURCE, "tests", "fixtures", "import", name)


def nvlinks(node, gpu):
    """Links of one GPU beside PCIe."""
    return sum(wire.get("count", 1) for wire in node["wires"]
               if gpu in (wire["from"], wire["to"]) and wire["link"].startswith("nvlink"))


class Imports(CliTest):
    def imported(self, path, *options):
        return yaml.safe_load(self.good("import", path, *options))

    def node(self, name, *options):
        return self.imported(sample(name), *options)["nodes"][0]

    def test_every_sample_runs(self):
        self.assertGreater(len(SAMPLES), 10)
        for path in SAMPLES:
            with self.subTest(os.path.basename(path)):
                self.assertEqual(self.good("import", path, "-o", "made.yaml"), "")
                self.assertEqual(read(self.path("made.yaml")), self.good("import", path))
                self.good("check", "made.yaml", "--quiet")
                last = self.json("run", "made.yaml", "--no-db")["iterations"][-1]
                self.assertGreater(last["comm_s"], 0)

    def test_the_format_is_found_out(self):
        for path in SAMPLES:
            kind = re.match("|".join(BY_NAME), os.path.basename(path))[0]
            name = BY_NAME[kind]
            self.assertEqual(self.good("import", path), self.good("import", path, "--from", name))

    def test_a_log_without_collectives_is_no_trace(self):
        done = self.fabricast("import", "trace", sample("nccl-tree-h800.txt"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("`fabricast import` reads the tree of the machine in it", done.stderr)

    def test_help_and_page_name_every_format(self):
        done = self.fabricast("import", sample("nvidia-smi-dgx1-v100.txt"), "--from", "none")
        known = re.search(r"the formats are (.*);", done.stderr)
        usage = self.good("import", "--help")
        page = read(os.path.join(SOURCE, "docs", "how-to", "import.md"))
        for name in known[1].split(", "):
            self.assertRegex(usage, rf"\b{re.escape(name)}\b")
            self.assertRegex(page, rf"`(--from )?{re.escape(name)}`")

    def test_standard_input(self):
        path = sample("nvidia-smi-dgx1-v100.txt")
        with open(path, encoding="utf-8") as file:
            done = subprocess.run([support.PROGRAM, "import", "-"], stdin=file, capture_output=True, text=True, check=True,
                                  env=environment())
        self.assertEqual(done.stdout.replace("standard input", path), self.good("import", path))

    def test_colours_and_blanks_do_not_matter(self):
        text = read(sample("nvidia-smi-dgx1-v100.txt"))
        head, rest = text.split("\n", 1)
        variants = ["\x1b[4m" + head.replace("\t", "\x1b[0m\t\x1b[4m") + "\x1b[0m\n" + rest, text.expandtabs(12),
                    text.replace("\n", "\r\n"), "$ nvidia-smi topo -m\n" + text]
        for variant in variants:
            self.assertEqual(self.imported(self.write("variant.txt", variant)), yaml.safe_load(
                self.good("import", sample("nvidia-smi-dgx1-v100.txt"))))

    def test_the_mark_of_utf8_is_no_part_of_a_text(self):
        for path in SAMPLES:
            with self.subTest(os.path.basename(path)):
                marked = self.write(os.path.basename(path), "\ufeff" + read(path))
                self.assertEqual(yaml.safe_load(self.good("import", marked)), yaml.safe_load(self.good("import", path)))

    def test_switched_a100_is_the_shipped_one(self):
        self.good("import", sample("nvidia-smi-a100-nv12.txt"), "-o", "made.yaml")
        made, shipped = (self.json("run", "made.yaml", "--no-db", *sets)["iterations"][-1]["comm_s"]
                         for sets in ((), ("--set", "cluster.node=dgx-a100")))
        self.assertAlmostEqual(made, shipped, delta=1e-9)

    def test_dgx1(self):
        node = self.node("nvidia-smi-dgx1-v100.txt")
        self.assertEqual({part["name"]: part["count"] for part in node["parts"]},
                         {"gpu": 8, "nic": 4, "pcie_switch": 4, "cpu": 2})
        self.assertEqual({nvlinks(node, f"gpu{i}") for i in range(8)}, {6})

    def test_node_distance_makes_host_bridges(self):
        parts = {part["name"]: part["count"] for part in self.node("nvidia-smi-h100-nics.txt")["parts"]}
        self.assertEqual((parts["host_bridge"], parts["pcie_switch"], parts["nic"]), (8, 8, 8))

    def test_accelerator_decides_the_generation(self):
        self.assertIn({"from": "gpu", "to": "nvswitch", "link": "nvlink5", "count": 18},
                      self.node("nvidia-smi-h100-nv18.txt", "--accelerator", "b200-sxm")["wires"])

    def test_xgmi_mesh(self):
        node = self.node("rccl-mi300x.xml")
        self.assertEqual((node["accelerator"], node["nic"]), ("mi300x", "ib-ndr"))
        self.assertIn({"from": "gpu", "to": "gpu", "link": "xgmi-mi300x", "map": "all"}, node["wires"])
        self.assertIn({"from": "gpu", "to": "pcie_switch_c", "link": "pcie5-x16"}, node["wires"])

    def test_bridges_of_pairs(self):
        wires = self.node("nccl-ncv4.xml")["wires"]
        self.assertEqual([(wire["from"], wire["to"], wire["count"]) for wire in wires if "nvlink" in wire["link"]],
                         [("gpu0", "gpu1", 12), ("gpu2", "gpu3", 12)])

    def test_network(self):
        made = self.imported(sample("ibnetdiscover-edr.txt"))
        fabric = made["cluster"]["fabric"]
        self.assertEqual((made["cluster"]["nodes"], made["nodes"][0]["nic"]), (48, "ib-edr"))
        self.assertEqual([rule["nodes"] for rule in fabric["attach"]], ["0-23", "24-47"])
        # One of the cables between the second leaf and its spine had come up as 4xDDR.
        self.assertEqual(sorted(link["count"] for link in fabric["links"] if "leaf0" in (link["from"], link["to"])), [5, 6])

    def test_speeds_before_the_catalogue(self):
        links = self.imported(sample("ibnetdiscover-sdr.txt"))["links"]
        self.assertEqual([(link["name"], link["lanes"], link["signalling"]) for link in links],
                         [("ib-sdr-4x", 4, "2.5Gb/s")])

    def test_nodes_and_nic(self):
        made = self.imported(sample("nccl-p4d.xml"), "--accelerator", "a100-sxm4-40gb", "--nic", "efa-v1", "--nodes", "4",
                             "--name", "p4d-x4")
        self.assertEqual((made["name"], made["cluster"]["nodes"], made["nodes"][0]["nic"]), ("p4d-x4", 4, "efa-v1"))
        self.assertIn("pcie3-x16", {wire["link"] for wire in made["nodes"][0]["wires"]})
        self.refused("import", sample("nccl-p4d.xml"), "--nodes", "0", names="--nodes must be at least 1")


if __name__ == "__main__":
    main()
