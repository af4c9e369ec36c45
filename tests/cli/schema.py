#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`describe --schema`: a JSON Schema of draft 2020-12 that accepts and refuses what the program does; and the
resolved scenario, which is a scenario that runs to the same numbers."""
import functools
import json
import os

from support import IS_WHOLE, SCENARIOS, SOURCE, CliTest, main, need, read, smaller

yaml, jsonschema = need("yaml", "jsonschema")
BAD = ["misspelt", "no-unit", "many", "types", "negative", "unknown-names", "unknown-shape"]
# Names of the catalogue and signs are beyond a schema that does not read the catalogue.
ONLY_THE_PROGRAM = {"unknown-shape"}
PLAY = ["run", "--no-db", "--no-band", "--no-bottleneck", "--allow-oversized", "--format", "csv"]


@functools.cache
def resolved(path):
    """What `check` makes of a scenario, made smaller where it is large."""
    case = CliTest()
    case.setUp()
    text = case.good("check", path, *smaller(path))
    case.doCleanups()
    return text


class Schema(CliTest):
    def setUp(self):
        super().setUp()
        self.text = self.good("describe", "--schema")
        self.validator = jsonschema.Draft202012Validator(json.loads(self.text))

    def mistakes(self, text):
        return [error.message for error in self.validator.iter_errors(yaml.safe_load(text))]

    def test_is_a_schema(self):
        schema = json.loads(self.text)
        self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        jsonschema.Draft202012Validator.check_schema(schema)

    def test_accepts_the_scenarios(self):
        for path in SCENARIOS:
            with self.subTest(path):
                self.assertEqual(self.mistakes(read(path)), [])
                self.assertEqual(self.mistakes(resolved(path)), [])

    def test_refuses_what_the_program_refuses(self):
        for name in BAD:
            with self.subTest(name):
                path = os.path.join(SOURCE, "tests", "golden", "inputs", name + ".yaml")
                self.assertEqual(self.fabricast("check", path).returncode, 2)
                if name not in ONLY_THE_PROGRAM:
                    self.assertTrue(self.mistakes(read(path)))

    def test_refuses_every_key_misspelt(self):
        """One letter more in any key of the scenarios, at any depth outside lists. A key is misspelt once for each set of
        keys beside it."""
        tried = set()
        for path in SCENARIOS:
            document = yaml.safe_load(read(path))
            for where, misspelt in misspellings(document):
                if where in tried:
                    continue
                tried.add(where)
                if IS_WHOLE or len(tried) % 3 == 0:
                    self.assertFalse(self.validator.is_valid(misspelt), json.dumps(misspelt))
        self.assertGreater(len(tried), 300)


def misspellings(mapping, above=()):
    """(where, the mapping with a misspelt key) in turn. Where: the keys above it, those beside it, what kind it is."""
    for key in mapping:
        where = (above, key, tuple(mapping) if above else (), str(mapping.get("kind")))
        yield where, {(other + "x" if other == key else other): value for other, value in mapping.items()}
        if isinstance(mapping[key], dict):
            for place, inner in misspellings(mapping[key], (*above, key)):
                yield place, {**mapping, key: inner}


class Played(CliTest):
    """Once, and not under sanitizers too: golden cases play scenarios there."""

    def test_resolved_runs_to_the_same_numbers(self):
        for path in SCENARIOS if IS_WHOLE else SCENARIOS[::3]:
            sets = smaller(path)
            with self.subTest(path):
                again = self.write("resolved.yaml", resolved(path))
                self.assertEqual(self.good(*PLAY, path, *sets), self.good(*PLAY, again))


class Resolved(CliTest):
    def test_is_resolved_to_itself(self):
        for path in SCENARIOS:
            with self.subTest(path):
                again = self.write("resolved.yaml", resolved(path))
                self.assertEqual(self.good("check", again), resolved(path))

    def test_holds_what_was_set(self):
        sets = ["--set", "cluster.nodes=2", "--set", "job.bucket=100MiB", "--set", "fidelity=analytic", "--set", "seed=9"]
        path = SCENARIOS[-1] if "ddp" in SCENARIOS[-1] else next(path for path in SCENARIOS if "4nodes" in path)
        again = self.write("resolved.yaml", self.good("check", path, *sets))
        self.assertEqual(self.good("run", path, "--no-db", "--format", "csv", *sets),
                         self.good("run", again, "--no-db", "--format", "csv"))

    def test_is_in_the_database(self):
        self.good("run", SCENARIOS[0], "--db", "x.db")
        stored, = self.json("query", "scenario", "--db", "x.db")
        stored = self.write("stored.yaml", stored["scenario_yaml"])
        self.assertEqual(self.good("check", stored), self.good("check", SCENARIOS[0]))


if __name__ == "__main__":
    main()
