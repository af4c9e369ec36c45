#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `fabricast import` says of hosts: wires of files of several makes, and no statement that its file contradicts."""
import glob
import os
import re

from support import SOURCE, CliTest, main, need, read

yaml, = need("yaml")

SAMPLES = sorted(path for path in glob.glob(os.path.join(glob.escape(SOURCE), "tests", "fixtures", "import", "*"))
                 if not path.endswith(".md"))
PACKAGE = {"power9": [("CPUModel", "POWER9, altivec supported")],
           "rome": [("CPUVendor", "AuthenticAMD"), ("CPUFamilyNumber", "23"), ("CPUModelNumber", "49"),
                    ("CPUModel", "AMD EPYC 7742 64-Core Processor")],
           "odd": [("CPUVendor", "HygonGenuine"), ("CPUFamilyNumber", "24"), ("CPUModelNumber", "1"), ("CPUModel", "Hygon C86")]}


def infos(pairs):
    return "".join(f'<info name="{name}" value="{value}"/>\n' for name, value in pairs)


def device(pci_type, inside="", number=1):
    return f'<object type="PCIDev" gp_index="{number}" pci_type="{pci_type}" pci_link_speed="31.507692">\n{inside}</object>\n'


def bridge(inside):
    return f'<object type="Bridge" bridge_type="0-1">\n<object type="Bridge" bridge_type="1-1">\n{inside}</object>\n</object>\n'


def nic(ids, kind="0207"):
    return device(f"{kind} [{ids}] [0000:0000] 00", '<object type="OSDev" name="mlx5_0" osdev_type="3"/>\n')


def rsmi(number, peers):
    names = "".join(f"rsmi{peer} " for peer in peers if peer != number)
    return f'<object type="OSDev" gp_index="{700 + number}" name="rsmi{number}" osdev_type="1">\n' + infos([("XGMIPeers", names)]) + "</object>\n"


def nvml(number):
    return f'<object type="OSDev" gp_index="{700 + number}" name="nvml{number}" subtype="NVML" osdev_type="4"/>\n'


def hwloc(packages, version=2, platform=None, after=""):
    """Packages are pairs: what CPU, and what hangs at it. In version 1 it hangs beside the package, below the NUMA node."""
    text = "<?xml version=\"1.0\"?>\n<topology>\n<object type=\"Machine\">\n" + infos(platform or [])
    for cpu, inside in packages:
        package = '<object type="Package">\n' + infos(PACKAGE[cpu])
        text += (f'<object type="NUMANode">\n{package}</object>\n{inside}</object>\n' if version == 1
                 else f'{package}<object type="NUMANode"/>\n{inside}</object>\n')
    return text + "</object>\n" + after + "</topology>\n"


def matrix(name, values):
    n = len(values)
    return (f'<distances2 type="OSDev" nbobjs="{n}" name="{name}" indexing="gp">\n<indexes>' + " ".join(str(700 + i) for i in range(n))
            + " </indexes>\n" + "".join("<u64values>" + " ".join(map(str, row)) + " </u64values>\n" for row in values) + "</distances2>\n")


def mixed(objects, values):
    """A matrix of objects of several types, in lines of ten values, as hwloc writes them."""
    flat = [str(value) for row in values for value in row]
    lines = "".join("<u64values>" + " ".join(flat[i:i + 10]) + " </u64values>\n" for i in range(0, len(flat), 10))
    return (f'<distances2hetero nbobjs="{len(objects)}" kind="37" name="NVLinkBandwidth">\n<indexes>' + " ".join(objects)
            + f" </indexes>\n{lines}</distances2hetero>\n")


def nccl(gpus, nics="", vendor="AuthenticAMD"):
    """GPUs: (device id, attributes of <gpu>, links)."""
    return f'<system version="1">\n<cpu numaid="0" arch="x86_64" vendor="{vendor}" familyid="143" modelid="49">\n' + "".join(
        f'<pci busid="0000:{i:02x}:00.0" class="0x038000" vendor="0x1002" device="{ids}" link_speed="16 GT/s" link_width="16">\n'
        f'<gpu dev="{i}" {more}>\n{links}</gpu>\n</pci>\n' for i, (ids, more, links) in enumerate(gpus)) + nics + "</cpu>\n</system>\n"


def ring(n):
    return [f'<xgmi target="0000:{(i + step) % n:02x}:00.0" count="1" tclass="0x038000"/>\n' for i in range(n) for step in (1, n - 1)]


V100, MI250X, MI100 = "0302 [10de:1db1] [10de:1212] a1", "0380 [1002:7408] [1002:0b0c] 00", "0380 [1002:738c] [1002:0c34] 00"
# What a comment claims that a text lacks, and what would make the claim false.
CLAIMS = (
    (r"the text names no CPU", r'CPUModel|CPUVendor|vendor="(GenuineIntel|AuthenticAMD)"|POWER\d'),
    (r"shows? no (xgmi|xGMI)\S*", r"(?i)xgmi"),
    (r"shows? no nvlink\S*|the text shows PCIe only", r"(?i)<nvlink|NV\d+\b|NVLinkBandwidth"),
    (r"the file gives no PCI id", r'\[1[0-9a-f]{3}:[0-9a-f]{4}\]|class="0x0[3]\d+" vendor="0x[0-9a-f]+" device="0x0*[1-9a-f]'),
    (r"does not count links", r"<xgmi [^>]*count="),
    (r"where the file has no known pci_link_speed", r'pci_type="(03|12)\d\d [^>]*pci_link_speed="([1-9]|0\.[1-9])'),
    (r"where the file has no link_speed and link_width", r'class="0x03\d+"[^>]* link_speed="[1-9]'),
    (r"the text does not show them", r"(?i)nvlink"),
    (r"not which links join them", r"<xgmi"),
    (r"which the text does not say", r'pci_type="02(00|07)'),
    (r"shows no NIC|the text shows none", r"<net |mlx5_|OpenFabrics"),
    (r"there is no NVLink", r"\bNV\d+\b"),
    (r"does not say which GPUs the links join", r"\bNV\d+\b|<nvlink"),
    (r"it has no line NET/IB : Using", r"NET/IB : Using"),
    (r"no generations", r"link_speed=|GT/s"),
    (r"the network does not see further", r"GPU0|<gpu"),
)
SAYS_NO = re.compile(r"\b(no|not|none)\b")
# Sentences with such a word that say nothing of what the file holds.
OTHERS = re.compile(r"is not in the (table|catalogue)|catalogue (knows no|lacks)|not in the table|are not in the table|does not count|cannot be|"
                    r"none an older|where NVLink joins two GPUs|has no such link|without packets|rails|nodes: 1|PCIe generation \d|"
                    r"slower than the others or (has|have) no network|in Slurm a block is|not how many cables there are|does not show what joins them")


class Hosts(CliTest):
    def node(self, text, *options):
        self.write("host.txt", text)
        made = self.good("import", "host.txt", *options)
        self.write("host.yaml", made)
        self.good("check", "host.yaml", "--quiet")
        self.claims("host.txt", made)
        return yaml.safe_load(made)["nodes"][0], made

    def claims(self, path, made):
        """No comment claims that a text lacks what is in it, and each such claim is one that is checked here."""
        text = read(self.path(path))
        inferred = made.split("so inferred; change it")[1].split("\nname:")[0]
        for comment in re.sub(r"\n#   +", " ", inferred).splitlines():
            for claim, contradiction in CLAIMS:
                if re.search(claim, comment):
                    self.assertNotRegex(text, contradiction, comment)
            if SAYS_NO.search(comment) and not OTHERS.search(comment):
                self.assertTrue(any(re.search(claim, comment) for claim, _ in CLAIMS), f"{path}: a claim that no test checks: {comment}")

    @staticmethod
    def wires(node, prefix):
        return [(wire["from"], wire["to"], wire["link"], wire.get("count", 1)) for wire in node["wires"]
                if wire["link"].startswith(prefix)]

    def test_no_sample_is_contradicted(self):
        for path in SAMPLES:
            with self.subTest(os.path.basename(path)):
                self.claims(path, self.good("import", path))

    def test_power9(self):
        """Versions 1 and 2 of hwloc show the same machine; version 1 has bridges beside the package."""
        packages = [("power9", bridge(device(V100)) + bridge(device(V100)) + bridge(nic("15b3:1019"))) for _ in range(2)]
        for version in (1, 2):
            node, made = self.node(hwloc(packages, version))
            self.assertEqual({part["name"]: part["count"] for part in node["parts"]},
                             {"gpu": 4, "nic": 2, "host_bridge": 6, "cpu": 2})
            self.assertEqual(self.wires(node, "nvlink"), [("gpu0", "gpu1", "nvlink2", 3), ("gpu2", "gpu3", "nvlink2", 3),
                                                          ("gpu", "cpu", "nvlink2-power9", 3)])
            self.assertEqual(self.wires(node, "xbus"), [("cpu", "cpu", "xbus-power9", 1)])
            self.assertEqual(node["nic"], "ib-edr")
            self.assertIn("CPU POWER9, altivec supported, so xbus-power9", made)

    def test_devices_without_bridges_and_packages(self):
        """lstopo --no-bridges; packages below a group; a virtual machine without packages."""
        node, _ = self.node(hwloc([("rome", device(V100)), ("rome", device(V100))]))
        self.assertEqual(self.wires(node, "pcie"), [("gpu", "cpu", "pcie4-x16", 1)])
        node, _ = self.node('<topology><object type="Machine">' + bridge(device(V100)) + "</object></topology>")
        self.assertEqual(self.wires(node, "pcie"), [("gpu", "cpu", "pcie4-x16", 1)])

    def test_a_cpu_that_is_not_in_the_table(self):
        _, made = self.node(hwloc([("odd", bridge(device(V100))), ("odd", bridge(device(V100)))]))
        self.assertIn("the links of the CPU 'Hygon C86' are not in the table", re.sub(r"\n#  ", "", made))

    def test_hives(self):
        """Two hives of four MI100 with three links each; MI250X whose eight dies are all peers; hops that exclude pairs."""
        gpus = "".join(bridge(device(MI100, rsmi(i, range(i // 4 * 4, i // 4 * 4 + 4)))) for i in range(8))
        node, _ = self.node(hwloc([("rome", gpus)]))
        self.assertEqual(self.wires(node, "xgmi-mi100"), [(f"gpu{i}", f"gpu{j}", "xgmi-mi100", 1) for i in range(8)
                                                          for j in range(i + 1, i // 4 * 4 + 4)])
        order = (4, 5, 2, 3, 6, 7, 0, 1)  # of the file, as on Frontier
        dies = "".join(bridge(device(MI250X, rsmi(i, range(8)))) for i in order)
        node, made = self.node(hwloc([("rome", dies)]))
        self.assertEqual(sum(wire[3] for wire in self.wires(node, "xgmi-mi250x")), 4 * 4 + 2 * 2 + 6)
        self.assertIn(("gpu0", "gpu1", "xgmi-mi250x", 4), self.wires(node, "xgmi-mi250x"))
        self.assertIn("wired as in the catalogue's node mi250x", re.sub(r"\n#  ", "", made))
        hops = [[0 if i == j else 1 if (i - j) % 4 in (1, 3) else 2 for j in range(4)] for i in range(4)]
        four = "".join(bridge(device(MI100, rsmi(i, range(4)))) for i in range(4))
        node, _ = self.node(hwloc([("rome", four)], after=matrix("XGMIHops", hops)))
        self.assertEqual(len(self.wires(node, "xgmi")), 4)

    def test_nvlink_bandwidth(self):
        """Links of a pair from their rate in MB/s: a square of V100, ports of switches, and P100 beside POWER8, whose links have 20 GB/s."""
        cube = [[1000000 if i == j else 50000 if (i ^ j) == 1 else 25000 if (i ^ j) == 2 else 0 for j in range(4)] for i in range(4)]
        four = "".join(bridge(device(V100, nvml(i))) for i in range(4))
        node, made = self.node(hwloc([("rome", four)], after=matrix("NVLinkBandwidth", cube)))
        self.assertEqual(self.wires(node, "nvlink"), [("gpu0", "gpu1", "nvlink2", 2), ("gpu0", "gpu2", "nvlink2", 1), ("gpu1", "gpu3", "nvlink2", 1),
                                                      ("gpu2", "gpu3", "nvlink2", 2)])
        self.assertIn("NVLinks of each pair of GPUs (NVLinkBandwidth)", re.sub(r"\n#  ", "", made))
        ports = [[1000000 if i == j else 25000 if (i < 4) != (j < 4) else 0 for j in range(10)] for i in range(10)]
        node, _ = self.node(hwloc([("rome", four)], after=mixed([f"OSDev:{700 + i}" for i in range(4)] + [f"PCIDev:{50 + i}" for i in range(6)], ports)))
        self.assertEqual([(wire[2], wire[3]) for wire in self.wires(node, "nvlink")], [("nvlink2", 6)])
        p100 = "0302 [10de:15f9] [10de:116b] a1"
        pairs = [[1000000 if i == j else 40000 if i // 2 == j // 2 else 0 for j in range(4)] for i in range(4)]
        cards = "".join(bridge(device(p100, nvml(i))) for i in range(4))
        node, _ = self.node(hwloc([("odd", cards)], after=matrix("NVLinkBandwidth", pairs)))
        self.assertEqual(self.wires(node, "nvlink"), [("gpu0", "gpu1", "nvlink1", 2), ("gpu2", "gpu3", "nvlink1", 2)])

    def test_more_peers_than_links(self):
        """A hive of four MI50 with two links each is a ring."""
        gpus = "".join(bridge(device("0300 [1002:66a1] [1002:0834] 00", rsmi(i, range(4)))) for i in range(4))
        node, _ = self.node(hwloc([("rome", gpus)]))
        self.assertEqual(self.wires(node, "xgmi-mi100"), [("gpu0", "gpu1", "xgmi-mi100", 1), ("gpu0", "gpu3", "xgmi-mi100", 1),
                                                          ("gpu1", "gpu2", "xgmi-mi100", 1), ("gpu2", "gpu3", "xgmi-mi100", 1)])

    def test_graphics_cards(self):
        """AMD's display class counts where the card is known or the only one; an integrated one beside others does not."""
        known, other = "0300 [1002:66a1] [0000:0000] 00", "0300 [1002:1636] [0000:0000] 00"
        for cards, n in (((known,), 1), ((other,), 1), ((known, other), 1), ((V100, other), 1)):
            node, _ = self.node(hwloc([("rome", "".join(bridge(device(card)) for card in cards))]))
            self.assertEqual([part["count"] for part in node["parts"] if part["kind"] == "accelerator"], [n], cards)

    def test_adapters_by_their_id(self):
        for ids, kind, entry in (("15b3:101b", "0207", "ib-hdr"), ("15b3:1021", "0207", "ib-ndr"), ("15b3:1021", "0200", "roce-400"),
                                 ("17db:0501", "0200", "slingshot-11"), ("1d0f:efa2", "0200", "efa-v1")):
            node, made = self.node(hwloc([("rome", bridge(device(V100)) + bridge(nic(ids, kind)))]))
            self.assertEqual(node["nic"], entry, ids)
            self.assertIn(f"the PCI id {ids}", re.sub(r"\n#  ", "", made))

    def test_every_card_of_amd(self):
        """Each id of the table, and each card that has xGMI, by NCCL's file and by rocm-smi: the same link."""
        for ids, name in (("0x66a1", "mi50"), ("0x738c", "mi100"), ("0x7408", "mi250x-gcd"), ("0x740c", "mi250x-gcd"), ("0x740f", "mi210"),
                          ("0x74a0", "mi300a"), ("0x74a1", "mi300x"), ("0x74a2", "mi308x"), ("0x74a5", "mi325x"), ("0x75a0", "mi350x"), ("0x75a3", "mi355x")):
            links = ring(2)
            text = nccl([(ids, 'gcn="gfx000"', links[0]), (ids, 'gcn="gfx000"', links[2])])
            node, _ = self.node(text)
            self.assertEqual(node["accelerator"], name, ids)
            types = "Link Type between two GPUs\n       GPU0   GPU1\nGPU0   0      XGMI\nGPU1   XGMI   0\n"
            other, _ = self.node(types, "--accelerator", name)
            self.assertEqual([wire[2] for wire in self.wires(node, "xgmi-m")], [wire[2] for wire in self.wires(other, "xgmi-m")], name)
            self.assertEqual(len(self.wires(node, "xgmi-m")), 1, name)
        node, made = self.node(nccl([("0x66a0", 'gcn="gfx906"', "")]))
        self.assertIn("mi50 stands in for MI60 (PCI id 1002:66a0)", re.sub(r"\n#  ", "", made))
        for gcn, name in (("908", "mi100"), ("gfx90a", "mi250x-gcd"), ("gfx950", "mi355x")):
            node, made = self.node(nccl([("0x9999", f'gcn="{gcn}"', "")]))
            self.assertEqual(node["accelerator"], name)
            self.assertIn("its PCI id 1002:9999 is not in the table", re.sub(r"\n#  ", "", made))

    def test_amd_smi(self):
        """`amd-smi topology` names GPUs by their PCI address; it is the machine that rocm-smi shows."""
        names = [f"0000:{bus}:00.0" for bus in ("c1", "c6", "c9")]
        tables = {"ACCESS": lambda i, j: "ENABLED", "HOPS": lambda i, j: "0" if i == j else "2" if i + j == 2 else "1",
                  "LINK TYPE": lambda i, j: "SELF" if i == j else "XGMI"}
        text = "\n".join(f"{title} TABLE:\n             " + " ".join(names) + "\n" + "".join(
            f"{name} " + " ".join(cell(i, j) for j in range(3)) + "\n" for i, name in enumerate(names)) for title, cell in tables.items())
        node, made = self.node(text, "--accelerator", "mi100")
        self.assertEqual(self.wires(node, "xgmi"), [("gpu0", "gpu1", "xgmi-mi100", 1), ("gpu1", "gpu2", "xgmi-mi100", 1)])
        self.assertIn("from what `amd-smi topology` prints", made)
        self.assertEqual(made, self.good("import", "host.txt", "--accelerator", "mi100", "--from", "amd-smi"))

    def test_speeds_that_no_port_has(self):
        ports = ('<pci busid="0000:90:00.0" class="0x020700" vendor="0x15b3" device="0x101b" link_speed="16 GT/s" link_width="16">\n'
                 '<nic><net name="mlx5_0" speed="200000000" port="1"/></nic></pci>\n')
        _, made = self.node(nccl([("0x738c", 'gcn="908"', "")], ports))
        self.assertIn("a speed of 200000000 Mb/s, that is 200000 Gb/s, is more than any port has", re.sub(r"\n#  ", "", made))

    def test_bridges_between_cards(self):
        """NV12 between pairs only is a PCIe card with bridges; among all four GPUs it is not."""
        def topo(joined):
            head = "\t" + "\t".join(f"GPU{i}" for i in range(4)) + "\tCPU Affinity\tNUMA Affinity\n"
            return head + "".join(f"GPU{i}\t" + "\t".join("X" if i == j else joined if i // 2 == j // 2 else "SYS" for j in range(4))
                                  + f"\t0-31\t{i // 2}\n" for i in range(4))
        node, _ = self.node(topo("NV12"))
        self.assertEqual((node["accelerator"], self.wires(node, "nvlink")),
                         ("a100-pcie-80gb", [("gpu0", "gpu1", "nvlink3-bridge", 12), ("gpu2", "gpu3", "nvlink3-bridge", 12)]))
        self.assertEqual(self.node(topo("NV18"))[0]["accelerator"], "h100-nvl-94gb")


if __name__ == "__main__":
    main()
