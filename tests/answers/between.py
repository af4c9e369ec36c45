#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`p2p` for people and in CSV is what its JSON has, byte for byte, in the form of p2pBandwidthLatencyTest of the CUDA samples.

`between.py PROGRAM`.
"""
import answer
from answer import support

MATRICES = (("one_way_disabled_GBps", "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "D\\D"),
            ("one_way_enabled_GBps", "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", "D\\D"),
            ("both_ways_disabled_GBps", "Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "D\\D"),
            ("both_ways_enabled_GBps", "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", "D\\D"),
            ("latency_disabled_us", "P2P=Disabled Latency Matrix (us)", "GPU"), ("latency_enabled_us", "P2P=Enabled Latency (P2P Writes) Matrix (us)", "GPU"),
            ("storage_GBps", "Storage to GPU Bandwidth Matrix (GB/s), by drive", "drv"))
RIG = ("mpi-rig-100m",)


class Between(answer.AnswerTest):
    def text_of(self, told):
        n = len(told["is_peer"])
        more = f"; GPU {told['gpus_per_node']} is the first of node 1" if told["nodes"] > 1 else ""
        text = f"# predicted: {told['nodes']} x {told['node']}{more}\nP2P Connectivity Matrix\n     D\\D" + "".join(f"{i:6}" for i in range(n)) + "\n"
        for i, row in enumerate(told["is_peer"]):
            text += f"{i:6}\t" + "".join(f"{one:6d}" for one in row) + "\n"
        for key, title, corner in MATRICES:
            if key not in told:
                continue
            text += "" if "GBps" in key and key != "storage_GBps" else "\n"
            text += f"{title}\n   {corner}" + "".join(f"{i:6} " for i in range(n)) + "\n"
            text += "".join(f"{i:6} " + "".join(f"{value:6.2f} " for value in row) + "\n" for i, row in enumerate(told[key]))
        return text

    def csv_of(self, told):
        has_bands = any(key.endswith("_low") for key in told)
        text = "matrix,from,to,value" + (",low,high" if has_bands else "") + "\n"
        for name, key in (("peer", "is_peer"), ("outside_measured", "is_outside_measured")):
            for i, row in enumerate(told.get(key, ())):
                text += "".join(f"{name},{i},{j},{one:d}{',,' if has_bands else ''}\n" for j, one in enumerate(row))
        for key, *_ in MATRICES:
            for i, row in enumerate(told.get(key, ())):
                for j, value in enumerate(row):
                    ends = f",{told[key + '_low'][i][j]:.6f},{told[key + '_high'][i][j]:.6f}" if key + "_low" in told else ""
                    text += f"{key},{i},{j},{value:.6f}{ends}\n"
        return text

    def check_notes(self, notes, told):
        """The widest band of each matrix, and how many pairs lie outside what was measured."""
        for key, *_ in MATRICES[:-1]:
            if key + "_low" not in told:
                continue
            cells = [(low, high, value) for lows, highs, values in zip(told[key + "_low"], told[key + "_high"], told[key]) for low, high, value in zip(lows, highs, values)]
            widest = max((high / low for low, high, _ in cells if low > 0), default=1)
            lines = [line for line in notes if line.startswith(f"# {key}: ")]
            self.assertEqual(bool(lines), widest > 1)
            for line in lines:
                notes.remove(line)
                self.assertIn(" most by ", line)
                found = answer.quantities(line.partition(" band: ")[2].partition(", most by ")[0])
                self.assertTrue(any(all(one.is_near(wanted) for one, wanted in zip(found, cell)) and cell[1] / cell[0] > widest * (1 - 1e-9) for cell in cells if cell[0] > 0), line)
        outside = [one for row in told.get("is_outside_measured", ()) for one in row]
        self.assertEqual(notes, [f"# {sum(outside)} of {len(outside)} pairs: the size of the copy or write lies outside the measured sizes"] if any(outside) else [])

    def check(self, *command):
        command = ("p2p", *command)
        told = self.json(*command)
        page, csv = self.good(*command), self.good(*command, "--format", "csv")
        wanted = self.text_of(told)
        self.assertTrue(page.startswith(wanted), f"{page}\n{wanted}")
        self.check_notes(page[len(wanted):].splitlines(), told)
        self.assertEqual(csv, self.csv_of(told))
        return told

    def test_forms(self):
        for command in (("--node", "dgx-a100", "-g", "2"), ("--node", "dgx-h100", "--nodes", "2", "-g", "2"), ("--node", "dgx-a100", "-g", "3", "--storage")):
            with self.subTest(command):
                told = self.check(*command)
                self.assertEqual((told["gpus_per_node"], told["nodes"], "storage_GBps" in told), (int(command[command.index("-g") + 1]), 2 if "--nodes" in command else 1, "--storage" in command))

    def test_bands(self):
        """Of links that were measured; without them where they are not asked for."""
        told = self.check(*RIG)
        self.assertIn("one_way_enabled_GBps_low", told)
        self.assertNotIn("one_way_enabled_GBps_low", self.check(*RIG, "--no-band"))

    def test_what_is_refused(self):
        self.refused("p2p", "--node", "host", "--storage", names="--storage: node 'host' has no drives")


if __name__ == "__main__":
    support.main()
