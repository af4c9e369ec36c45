#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keys of models are those of the JSON Schema, and layers of a neural network add up to what is said of all of it.

`described.py PROGRAM [Class]`.
"""
import itertools
import json
import os
import re

import yaml

import answer
from answer import support

KINDS = ("fabric", "route", "fidelity", "congestion", "collectives", "compute", "job", "shape")
NETWORKS = (("gpt2-xl", 1024), ("llama2-7b", 4096), ("mixtral-8x7b", 1024), ("bert-base", 512))
UNITS = {"size": "B", "rate": "B/s", "time": "ps", "length": "m", "power": "W", "FLOP rate": "FLOP/s", "FLOPs": "FLOP"}  # one that the pattern has
REFERENCES = ("text", "link", "node", "accelerator", "algorithm", "model", "file", "design", "set of failures", "technology", "processor", "generation", "product")
NEEDED = ("name", "job")  # of a scenario; the schema holds for files that are included too


class Keys(answer.AnswerTest):
    def setUp(self):
        super().setUp()
        self.schema = json.loads(self.good("describe", "--schema"))

    def rows(self, page):
        """(depth, key, kind, range, default or required, help) of the keys of a page."""
        found = []
        lines = page.split("Parameters:\n")[-1].splitlines()
        for head, words in zip(lines[::2], lines[1::2]):
            indent = len(head) - len(head.lstrip())
            self.assertEqual(len(words) - len(words.lstrip()), indent + 4, words)
            key, rest = re.match(r"\s*(\S+)\s+(.*)$", head).groups()
            parts = re.fullmatch(r"(.*?)(?: \[(.*?)\])?(?:, (required|default .*))?", rest)
            found.append((indent, key, parts[1], parts[2], parts[3], words.strip()))
        return found

    def resolved(self, node):
        """A part of the schema without its references."""
        while "$ref" in node:
            node = self.schema["$defs"][node["$ref"].rpartition("/")[2]]
        return node

    def is_type(self, word, node):
        """Whether a value of this part of the schema is what the page calls it."""
        types = node.get("type", ())
        if word == "file or list of files":
            return types == ["string", "array"] and node["items"]["type"] == "string"
        if " or " in word and word != "yes or no":
            return all(any(self.is_type(one, part) for part in node["anyOf"]) for one in word.split(" or "))
        if word in KINDS:
            return any(one.get("$ref") == f"#/$defs/{word}" for one in node["anyOf"])
        if word == "yes or no":
            return any(one.get("type") == "boolean" for one in node["anyOf"])
        if word in ("count", "number", "fraction"):
            return ("integer" if word == "count" else "number") in types and node["pattern"].endswith("*()$" if word == "count" else "*(|%)$")
        if word in UNITS:
            return types == "string" and re.search(rf"[*|(]{UNITS[word]}[|)$]", node["pattern"]) is not None
        return types == {"list": "array", "mapping": "object"}.get(word) or word in REFERENCES and "string" in types

    def assert_key(self, row, node, is_required):
        _, key, kind, span, more, words = row
        self.assertEqual(words, node.get("description", words), key)
        if [one.get("type") for one in node.get("anyOf", ())] == ["boolean", None] and kind != "yes or no":
            node = node["anyOf"][1] | node  # a choice of which yes and no may be written as true and false
            self.assertTrue({"yes", "no"} < set(node["enum"]), key)
        if "enum" in node:
            self.assertEqual(kind, " | ".join(map(str, node["enum"])), key)
        else:
            self.assertTrue(self.is_type(kind, node), f"{key} is no {kind}: {str(node)[:200]}")
        if kind == "fraction" and span is None:  # from 0 to 1 as all fractions
            self.assertEqual((node["minimum"], node["maximum"]), (0, 1), key)
        elif "minimum" in node and (node["minimum"] != 0 or "maximum" in node):
            self.assertIsNotNone(span, key)
            ends = [float(end) for end in span.replace(" or more", "").split(" to ")]
            self.assertEqual(ends[0], node["minimum"], key)
            self.assertEqual(ends[1] if len(ends) > 1 else None, node.get("maximum"), key)
        if more is not None and more.startswith("default ") and "default" in node:
            default = node["default"]
            shown = more.removeprefix("default ")
            is_number = isinstance(default, (int, float)) and not isinstance(default, bool)
            self.assertEqual(float(shown) if is_number else shown if isinstance(default, str) else yaml.safe_load(shown), default, key)
        self.assertEqual(more == "required", is_required, key)

    def test_keys_of_models_are_those_of_the_schema(self):
        n = 0
        for kind in KINDS:
            for name in re.findall(r"(?m)^([\w-]+) +\S", self.good("describe", kind).split("\n\n")[0]):
                node = self.schema["$defs"][f"{kind}.{name}"]
                page = self.good("describe", kind, name)
                self.assertTrue(page.startswith(f"{name}: {node['description']}\n"), page[:200])
                keys = {key: value for key, value in node["properties"].items() if key != "kind"}
                if "Parameters:" not in page:
                    self.assertEqual(keys, {}, name)
                    continue
                top = [row for row in self.rows(page) if row[0] == 2]
                self.assertEqual([row[1] for row in top], list(keys), f"{kind} {name}")
                n += self.check_rows(self.rows(page), node, 2)
        self.assertGreater(n, 100)

    def check_rows(self, rows, node, depth):
        """Each key of a mapping, and below it those of the mapping, or of the elements of the list, that it has."""
        node = node.get("items", node)
        n = 0
        for i, row in enumerate(rows):
            if row[0] != depth:
                continue
            part = self.resolved(node["properties"][row[1]])
            self.assert_key(row, part, row[1] in node.get("required", NEEDED if depth == 0 else []))
            below = list(itertools.takewhile(lambda one: one[0] > depth, rows[i + 1:]))
            n += 1 + (self.check_rows(below, part, depth + 2) if below else 0)
        return n

    def found(self, path):
        """[(what is said of a key, its models)] of a key that is asked for by its path."""
        lines = self.good("describe", path).splitlines()
        heads = [i for i, line in enumerate(lines) if not line.startswith(" ")]
        for begin, end in zip(heads, [*heads[1:], len(lines)]):
            row = self.rows("\n".join(lines[begin:begin + 2]))[0]
            models = [line.removeprefix("    It is a key of ").rstrip(".") for line in lines[begin + 2:end] if line.startswith("    It is a key of ")]
            self.assertEqual(row[1], path)
            yield row[2:], models[0].split(", ") if models else []

    def test_keys_by_their_path(self):
        """A key of models is answered once for each of its meanings, with all models that have it so."""
        n = 0
        for kind, at in (("fabric", "cluster.fabric"), ("fidelity", "fidelity"), ("collectives", "collectives"), ("job", "job")):
            said = {}
            for name in re.findall(r"(?m)^([\w-]+) +\S", self.good("describe", kind).split("\n\n")[0]):
                page = self.good("describe", kind, name)
                for row in self.rows(page) if "Parameters:" in page else []:
                    if row[0] == 2:
                        said.setdefault(row[1], {}).setdefault(row[2:], []).append(name)
            for key, meanings in sorted(said.items())[::3]:
                found = dict(self.found(f"{at}.{key}"))
                self.assertEqual(set(found), set(meanings), key)
                if "mapping" not in {meaning[0] for meaning in found} and "list" not in {meaning[0] for meaning in found}:
                    self.assertEqual(sum(map(len, found.values())), sum(map(len, meanings.values())), key)
                n += 1
        self.assertGreater(n, 40)

    def test_keys_by_the_end_of_their_path(self):
        whole = self.good("describe", "cluster.nic_rate")
        self.assertEqual(self.good("describe", "nic_rate"), whole)
        self.assertEqual(self.rows(whole)[0][1:], ("cluster.nic_rate", *next(row for row in self.rows(self.good("describe", "cluster")) if row[1] == "nic_rate")[2:]))
        self.assertEqual(self.good("describe", "job.operations[0].size"), self.good("describe", "job.operations.size"))
        self.assertEqual(self.good("describe", "--names", "micro_batch"), "job.micro_batch\n")
        n_repeated = 0
        for word in ("kind", "size", "uplink", "oversubscription", "bucket", "cluster.fabric.oversubscription", "job.bucket"):  # each path once, however many meanings it has
            heads = re.findall(r"(?m)^(\S+) +\S", self.good("describe", word))
            self.assertEqual(self.good("describe", "--names", word).split(), list(dict.fromkeys(heads)), word)
            n_repeated += len(set(heads)) < len(heads)
        self.assertGreater(n_repeated, 2)
        self.assertIn("\n    `fabricast describe route` lists them.\n", self.good("describe", "cluster.route"))
        cluster = [row[1] for row in self.rows(self.good("describe", "cluster")) if row[0] == 2]
        scenario = self.rows("Parameters:\n" + self.good("describe", "scenario"))
        at = next(i for i, row in enumerate(scenario) if row[1] == "cluster")
        self.assertEqual(cluster, [row[1] for row in itertools.takewhile(lambda row: row[0] > 0, scenario[at + 1:]) if row[0] == 2])
        for word, path in (("moe", "job.parallel.moe"), ("nic_rate", "cluster.nic_rate")):  # one key alone has the keys below it
            self.assertEqual(self.good("describe", word), self.good("describe", path), word)
        for missing in ("cluster.nope", "nic_rat", "job.", ".job", "job.micro_batch.more"):
            self.refused("describe", missing, names=f"'{missing}' is neither a section nor a key")

    def test_keys_of_a_scenario_are_those_of_the_schema(self):
        rows = self.rows("Parameters:\n" + self.good("describe", "scenario"))
        top = [row for row in rows if row[0] == 0]
        self.assertEqual({row[1] for row in top} - set(self.schema["properties"]), set())
        for row in top:
            node = self.schema["properties"][row[1]]
            self.assertEqual(row[5], node["description"], row[1])
        self.assertGreater(self.check_rows(rows, self.schema, 0), 100)


class Networks(answer.AnswerTest):
    def page(self, name, sequence, **how):
        """({label: first number and all quantities}, layers) of the comments below an entry."""
        page = self.good("describe", "models", name, "--sequence", str(sequence), **how)
        self.entry = yaml.safe_load(page)
        heads, _, layers = page.partition("# layers ")
        told = {found[1].strip(): found[2] for found in re.finditer(r"(?m)^# {1,3}([\w ]+?) {2,}([\d.].*)$", heads)}
        stack = []
        for line in layers.splitlines()[1:]:
            whole = re.match(r"# (?:(\d+) x )?(\S+)(?: to (\S+))?, (\d+) parameters(?: each)?$", line)
            part = re.match(r"#   (\S+) +(\d+) +(\S+) +(\d+) +(\d+) +(\d+)$", line)
            operator = re.match(r"#     (\S+)(?: +(.*\S))? +(\S+)$", line)
            if whole:
                numbers = [int(re.search(r"\d*$", name)[0] or 0) for name in (whole[2], whole[3] or whole[2])]
                self.assertEqual((bool(whole[1]), numbers[1] - numbers[0] + 1), (int(whole[1] or 1) > 1, int(whole[1] or 1)), line)
                stack.append({"n": int(whole[1] or 1), "name": whole[2], "parameters": int(whole[4]), "parts": []})
            elif part:
                stack[-1]["parts"].append({"name": part[1], "parameters": int(part[2]), "flops": float(part[3]), "kept": sum(map(int, part.groups()[3:])), "operators": []})
            elif operator and re.fullmatch(r"[\d.e+-]+", operator[3]):
                stack[-1]["parts"][-1]["operators"].append((operator[1], (operator[2] or "").strip(), float(operator[3])))
        return told, stack

    def test_parts_add_up(self):
        """Parameters and FLOPs of operators, segments, layers and all of it."""
        for name, sequence in NETWORKS:
            with self.subTest(name):
                told, stack = self.page(name, sequence)
                for layer in stack:
                    self.assertEqual(layer["parameters"], sum(part["parameters"] for part in layer["parts"]), layer["name"])
                    for part in layer["parts"]:
                        self.assertAlmostEqual(part["flops"], sum(flops for *_, flops in part["operators"]), delta=1e-3 * part["flops"] + 1e-12)
                total = sum(layer["n"] * layer["parameters"] for layer in stack)
                self.assertEqual(int(told["parameters"].split()[0]), total)
                self.assertAlmostEqual(float(re.search(r"\(([\d.]+) billion", told["parameters"])[1]), total / 1e9, delta=5e-4 * total / 1e9)
                forward = sum(layer["n"] * part["flops"] for layer in stack for part in layer["parts"])
                self.assertAlmostEqual(float(told["forward"].split()[0]), forward, delta=1e-3 * forward)
                self.assertAlmostEqual(float(told["and backward"].split()[0]), 3 * forward, delta=1e-3 * 3 * forward)
                of_token = int(told.get("of a token", told["parameters"]).split()[0])
                self.assertAlmostEqual(float(told["6 N"].split()[0]), 6 * of_token / 1e9, delta=1e-3 * 6 * of_token / 1e9)
                state, each = answer.quantities(told["state"])[:2]
                self.assertTrue(state.is_near(each.value * total), told["state"])
                for label in {"parameters", "of a token"} & set(told):
                    number = int(told[label].split()[0])
                    self.assertAlmostEqual(float(re.search(r"\(([\d.]+) billion", told[label])[1]), number / 1e9, delta=5e-4 * number / 1e9)
                self.assertEqual("of a token" in told, name.startswith("mixtral"))
                self.check_kept(told, stack, 2 * self.entry["shape"]["hidden"])

    def check_kept(self, told, stack, width_bytes):
        """What is kept is that of all layers; recomputed, each keeps what went into it, of 16 bits."""
        kept, boundary = (one for one in answer.quantities(told["kept"]) if one.unit.endswith("B"))
        self.assertTrue(kept.is_near(sum(layer["n"] * part["kept"] for layer in stack for part in layer["parts"])), told["kept"])
        self.assertTrue(boundary.is_near(width_bytes * sum(layer["n"] for layer in stack)), told["kept"])

    MODELS = """
models:
  - name: full
    source: a test
    date: 2026-01-01
    shape: {kind: transformer, layers: 3, hidden: 256, heads: 4, vocabulary: 1000, attention: full, dropout: false}
  - name: listed
    source: a test
    date: 2026-01-01
    shape: {kind: layers, layers: [{name: table, lookup: true, output: 6400B, tensors: [{parameters: 5000}]},
      {name: block, count: 2, saved: 9600B, output: 6400B, tensors: [{parameters: 1000, count: 3}]}, {name: end, forward: 9000FLOP, output: 6400B, tensors: [{parameters: 70}]}]}
"""

    def test_models_of_a_user(self):
        """Scores that are kept, s of each head in 16 bits for a token; and layers that say themselves what they take."""
        os.mkdir(self.path("own"))
        self.write(os.path.join("own", "models.yaml"), self.MODELS)
        env = {"env": {**support.environment(), "FABRICAST_CATALOG": self.path("own")}}
        told, stack = self.page("full", 512, **env)
        self.check_kept(told, stack, 2 * 256)
        page = self.good("describe", "models", "full", "--sequence", "512", **env)
        scores = {cells[1]: int(cells[-1]) for cells in (line.split() for line in page.splitlines()) if len(cells) == 7 and cells[2].isdigit()}
        self.assertEqual(scores.pop("attention"), 2 * 4 * 512, "what comes out of the softmax")
        self.assertEqual(set(scores.values()), {0})
        told, stack = self.page("listed", 512, **env)
        self.assertEqual([(layer["n"], layer["name"], layer["parameters"]) for layer in stack], [(1, "table", 5000), (2, "block0", 3000), (1, "end", 70)])
        self.assertEqual([part["operators"] for layer in stack for part in layer["parts"]], [[], [("work", "", 6e-6)], [("work", "", 9e-6)]])
        self.assertEqual((told["parameters"].split()[0], told["forward"].split()[0], "causal" in told), ("11070", "2.1e-05", False))
        self.check_kept(told, stack, 6400)

    def test_a_product_takes_two_flops_for_each_weight(self):
        """A matrix of n x k costs a token 2 n k; of m of them, as many times that."""
        for name, sequence in NETWORKS:
            _, stack = self.page(name, sequence)
            n = 0
            for layer in (layer for layer in stack if layer["n"] > 1):  # heads may have products of a sequence, not of a token
                for part in layer["parts"]:
                    for operator, size, flops in part["operators"]:
                        found = re.fullmatch(r"(?:(\d+) of )?(\d+) x (\d+)", size)
                        if found:
                            n += 1
                            count = 2 if name.startswith("mixtral") and found[1] else int(found[1] or 1)  # two experts of eight see a token
                            self.assertAlmostEqual(flops / (2 * int(found[2]) * int(found[3]) * count / 1e9), 1, 3, f"{name} {operator}")
            self.assertGreater(n, 3)

    def test_shapes_of_gpt2(self):
        """Queries, keys and values are three matrices; the network behind attention is four times as wide."""
        told, stack = self.page("gpt2-xl", 1024)
        block = next(layer for layer in stack if layer["n"] == 48)
        sizes = {operator: size for part in block["parts"] for operator, size, _ in part["operators"]}
        self.assertEqual(sizes["qkv"], "4800 x 1600")
        self.assertEqual(sizes["projection"], "1600 x 1600")
        self.assertEqual((sizes["up"], sizes["down"]), ("6400 x 1600", "1600 x 6400"))
        scores = next(flops for part in block["parts"] for operator, _, flops in part["operators"] if operator == "scores")
        self.assertAlmostEqual(scores * 1e9, 4 * 1024 * 1600, delta=1e3)  # each token with all 1024, twice 2 x hidden
        self.assertAlmostEqual(float(told["causal"].split()[0]), float(told["and backward"].split()[0]) - 48 * 3 * scores / 2, delta=0.01)


if __name__ == "__main__":
    support.main()
