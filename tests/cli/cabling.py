#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`topo --check` is silent about fabrics as they are built, and finds the faults of a scenario and of a network."""
import json
import os
import re

from support import SOURCE, CliTest, main

SIZES = (17, 64, 130)  # some leaves are not full
FAULTY = {"balance-slow-spine": "slow", "fault-nic-half-rate": "slow"}
EXAMPLE = os.path.join(SOURCE, "docs", "examples", "ibnetdiscover.txt")


class Cabling(CliTest):
    def findings(self, *arguments):
        """Of `topo --check`, which ends with 1 where it has any; None: it refused the arguments."""
        done = self.fabricast("topo", *arguments, "--check", "--format", "json")
        if done.returncode == 2:
            return None
        found = json.loads(done.stdout)["findings"]
        self.assertEqual(done.returncode, 1 if found else 0, arguments)
        return found

    def kinds(self, *arguments):
        return sorted(finding["kind"] for finding in self.findings(*arguments))

    def test_fabrics_as_they_are_built(self):
        kinds = re.findall(r"^([a-z_]+) ", self.good("describe", "fabric"), re.M)
        looked = 0
        for kind in kinds:
            for nodes in SIZES:
                found = self.findings("--node", "dgx-h100", "--nodes", str(nodes), "--set", f"cluster.fabric.kind={kind}")
                looked += found is not None  # some need more keys, or other numbers of nodes
                self.assertIn(found, ([], None), (kind, nodes))
        self.assertGreater(looked, 20)

    def test_faults_of_scenarios(self):
        for name, kind in FAULTY.items():
            self.assertEqual(set(self.kinds(os.path.join(SOURCE, "scenarios", name + ".yaml"))), {kind}, name)

    def test_scenario_and_text(self):
        """The scenario of a network lacks the host with fewer ports, and the slow cable beside a faster one."""
        self.assertEqual(self.kinds(EXAMPLE), ["crossed", "crossed", "few_uplinks", "missing", "missing_nic", "slow", "slow"])
        path = self.write("fabric.yaml", self.good("import", EXAMPLE))
        self.assertEqual(self.kinds(path), ["crossed", "crossed", "missing", "missing", "slow"])

    def test_names_are_in_the_sentence(self):
        for finding in self.findings(EXAMPLE):
            for name in ("part", "port", "peer", "peer_port"):
                self.assertIn(finding[name] or "", finding["text"])


if __name__ == "__main__":
    main()
