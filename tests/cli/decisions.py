# SPDX-License-Identifier: Apache-2.0
"""One scenario, one answer: every command is asked the same of the same scenario, and all say the same.

Which figures may differ, and why:

  run      its step is that of the scenario's own seed, and so is its band. Where another seed can give another step, the
           studies show the median of eight, which `run` has as bottleneck.step_s.
  explain  explains one play too; what limits the step rests on all seeds, as everywhere.
"""
import csv
import io
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor

import yaml
from support import IS_WHOLE, LEARN, SCENARIOS, CliTest, main

NEAR = 1e-9

# What takes more than a few seconds for each command is asked by one of its kind only. `./dev test --whole` asks more.
TOO_LONG = 1024 if IS_WHOLE else 64  # GPUs
DRAWN, SEEDS, EVERY = (20, 8, 1) if IS_WHOLE else (5, 2, 3)
OTHER_LEVELS = ("step", "packet")  # play messages; the commands call the same code, and their limits are found at fluid


def drawn(seed):
    """A scenario of everything that a job of data parallelism may have."""
    draw = random.Random(seed)
    node = draw.choice(["dgx-a100", "dgx-h100", "hgx-b200"])
    nodes = draw.choice([1, 2, 4, 8])
    cluster = {"node": node, "nodes": nodes}
    if nodes > 1:
        cluster["nic"] = draw.choice(["ib-hdr", "ib-ndr", "roce-200", "roce-400"])
        cluster["nics_per_node"] = draw.choice([1, 2, 4])
        cluster["fabric"] = draw.choice(["rail", {"kind": "leaf_spine", "nodes_per_leaf": 2,
                                                  "oversubscription": draw.choice([1, 2])}])
        cluster["route"] = draw.choice(["ecmp", "spray", "shortest"])
    job = {"kind": draw.choice(["ddp", "fsdp", "zero"]), "model": draw.choice(["gpt2-xl", "llama2-7b"]),
           "micro_batch": draw.choice([1, 2, 4]), "sequence": 1024}
    if job["kind"] == "zero":
        job["stage"] = draw.choice([1, 2, 3])
    if draw.random() < 0.3:
        job["jitter"] = {"cv": "5%"}
    return {"name": f"drawn-{seed}", "iterations": 2, "seed": seed, "cluster": cluster, "job": job}


def found(value):
    """Every object inside a JSON value."""
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from found(one)


class Decisions(CliTest):
    def ask(self, *arguments):
        done = self.fabricast(*arguments, "--allow-oversized", "--format", "json")
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return json.loads(done.stdout)

    def rows(self, *arguments):
        done = self.fabricast(*arguments, "--allow-oversized", "--format", "csv")
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def near(self, a, b, what):
        self.assertLessEqual(abs(float(a) - float(b)), NEAR * abs(float(b)) + 1e-9, f"{what}: {a} and {b}")

    def told(self, path):
        """What `run` says: the step of all draws, what limits it, its band where one seed is all there is."""
        run = self.ask("run", path, "--no-db")
        last, limits = run["iterations"][-1], run["bottleneck"]
        if limits["seeds"] == 1 and limits["fidelity"] is None:
            self.near(last["step_s"], limits["step_s"], f"{path}: run and its bottleneck")
        return {"step_s": limits["step_s"], "limited_by": limits["limited_by"],
                "band": (last.get("step_low_s"), last.get("step_high_s")) if limits["seeds"] == 1 else None}

    def check(self, path):
        told = self.told(path)
        vary = f"cluster.nodes={self.own_nodes(path)}"
        compare = self.ask("compare", path, path)
        self.near(compare["figures"][0]["step_s"], told["step_s"], f"{path}: compare")
        self.assertEqual(compare["figures"][0]["limited_by"], told["limited_by"], f"{path}: compare")
        self.same_band(told, (compare.get("bands") or [{}])[0], "step_low_s", "step_high_s", f"{path}: compare")
        self.no_change(compare, path)
        size = self.ask("size", path, "--vary", vary, "--target", "step<=100d")
        self.near(size["points"][0]["step_s"], told["step_s"], f"{path}: size")
        self.assertEqual(size["points"][0]["limited_by"], told["limited_by"], f"{path}: size")
        sweep = self.rows("sweep", path, "--vary", vary, "--db", self.path(os.path.basename(path) + ".db"))
        self.near(sweep[0]["step_s"], told["step_s"], f"{path}: sweep")
        cost = self.ask("cost", path)
        self.near(cost["figures"]["step_s"], told["step_s"], f"{path}: cost")
        self.same_band(told, cost.get("figures_band", {}), "step_s_low", "step_s_high", f"{path}: cost")
        self.upgraded(path, told)

    def own_nodes(self, path):
        return yaml.safe_load(self.fabricast("check", path).stdout)["cluster"]["nodes"]

    def same_band(self, told, found, low, high, what):
        if not found or told["band"] is None or told["band"][0] is None:
            return
        self.near(found[low], told["band"][0], f"{what}: lower end")
        self.near(found[high], told["band"][1], f"{what}: upper end")

    def no_change(self, compare, path):
        """A scenario beside itself differs by nothing, whatever is uncertain about it."""
        for one in compare.get("bands", [])[1:]:
            if "step_change_low_fraction" in one and one.get("step_change_most") != "the seeds":
                self.assertLess(abs(one["step_change_low_fraction"]) + abs(one["step_change_high_fraction"]), 1e-6, path)

    def upgraded(self, path, told):
        """upgrade, and the first port that it offers asked of whatif."""
        upgrade = self.ask("upgrade", path, "--only", "nic")
        self.near(upgrade["step_s"], told["step_s"], f"{path}: upgrade")
        self.assertEqual(upgrade["limited_by"], told["limited_by"], f"{path}: upgrade")
        self.same_band(told, upgrade, "step_low_s", "step_high_s", f"{path}: upgrade")
        for change in upgrade["changes"]:
            if not change["change"].startswith("NIC ports ") or "saved_low_fraction" not in change \
                    or change["saved_low_fraction"] is None:
                continue
            whatif = self.ask("whatif", path, "--nic", change["change"][len("NIC ports "):])
            bands = [one for one in whatif.get("bands", []) if one["name"].startswith("nic ")]
            if not bands:
                return
            band = bands[0]
            self.near(whatif["points"][0]["step_s"], told["step_s"], f"{path}: whatif")
            self.assertEqual(whatif["points"][0]["limited_by"], told["limited_by"], f"{path}: whatif")
            self.near(-band["step_change_high_fraction"], change["saved_low_fraction"], f"{path}: {change['change']}, low")
            self.near(-band["step_change_low_fraction"], change["saved_high_fraction"], f"{path}: {change['change']}, high")
            return

    def is_asked(self, path):
        with open(path, encoding="utf-8") as file:
            text = yaml.safe_load(file)
        resolved = self.fabricast("run", path, "--no-db", "--no-band", "--no-bottleneck", "--allow-oversized", "--set",
                                    "iterations=1", "--fidelity", "fluid", "--format", "json")
        fidelity = text.get("fidelity", "fluid")
        fidelity = fidelity["kind"] if isinstance(fidelity, dict) else fidelity
        return resolved.returncode == 0 and json.loads(resolved.stdout)["ranks"] <= TOO_LONG \
            and fidelity not in OTHER_LEVELS and not text.get("mix") and not text.get("neighbours")

    def complaint(self, path):
        try:
            self.check(path)
        except (AssertionError, KeyError, IndexError, TypeError) as problem:
            return f"{os.path.basename(path)}: {problem!r}"
        return None

    def each(self, paths):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            told = [one for one in pool.map(self.complaint, paths) if one]
        self.assertEqual(told, [], "\n".join(told))

    def test_shipped_scenarios(self):
        paths = [path for path in (SCENARIOS + LEARN)[::EVERY] if self.is_asked(path)]
        self.assertGreater(len(paths), 20 // EVERY)
        self.each(paths)

    def test_drawn_scenarios(self):
        paths = []
        for seed in range(DRAWN):
            paths.append(self.write(f"drawn-{seed}.yaml", yaml.safe_dump(drawn(seed))))
        self.each(paths)

    def finding(self, answer, code="assumed_design"):
        """The text of a finding anywhere in an answer, the same each time."""
        texts = {one["text"] for one in found(answer) if one.get("code") == code}
        self.assertEqual(len(texts), 1, f"{code}: {sorted(texts)}")
        return texts.pop()

    def test_a_design_that_is_not_wholly_published(self):
        """Every command gives one step of a design, and each says what the design assumes."""
        path = self.write("design.yaml", "name: design\niterations: 2\ncluster: {design: superpod-gb200, nodes: 2}\n"
                          "job: {kind: zero, stage: 1, model: llama2-7b, sequence: 4096, micro_batch: 1}\n")
        other = self.write("other.yaml", "name: other\niterations: 2\ncluster: {node: gb200-nvl72, nodes: 2}\n"
                           "job: {kind: zero, stage: 1, model: llama2-7b, sequence: 4096, micro_batch: 1}\n")
        self.check(path)
        self.run_into("run.db", path)
        texts = {self.finding(self.ask(*asked)) for asked in (
            ("run", path, "--no-db"), ("compare", path, other), ("cost", path), ("explain", path),
            ("size", path, "--vary", "cluster.nodes=1,2", "--target", "step<=100d"))}
        self.assertEqual(len(texts), 1, texts)
        text = texts.pop()
        self.assertIn("superpod-gb200", text)
        self.assertIn("assumed_design", self.rows("sweep", path, "--vary", "cluster.nodes=1,2", "--db", self.path("s.db"))[0]["verdict"])
        report = self.fabricast("report", "--db", self.path("run.db"), "-o", "-")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("Not all of the design superpod-gb200 was published.", report.stdout)
        checked = self.fabricast("check", path)
        self.assertIn(text, checked.stderr)

    def run_into(self, name, path):
        done = self.fabricast("run", path, "--db", self.path(name))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_purchase_does_not_change_with_a_seed(self):
        path = self.write("hdr.yaml", "name: hdr\niterations: 2\n"
                          "cluster: {node: dgx-a100, nodes: 16, nics_per_node: 4, route: ecmp,\n"
                          "  fabric: {kind: leaf_spine, oversubscription: 2}}\n"
                          "job: {kind: zero, stage: 3, model: llama2-13b, micro_batch: 1, sequence: 4096, train_tokens: 5e11}\n")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            told = list(pool.map(lambda seed: self.ask("upgrade", path, "--set", f"seed={seed}"), range(1, 1 + SEEDS)))
        self.assertEqual(len({(one["set_first"], one["buy_first"], one["most"]) for one in told}), 1,
                         [(one["set_first"], one["buy_first"], one["most"]) for one in told])


if __name__ == "__main__":
    main()
