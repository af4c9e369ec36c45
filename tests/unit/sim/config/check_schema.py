#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of test_schema against the draft 2020-12 metaschema, a good scenario and bad ones.

usage: check_schema.py test_schema-program scenario.yaml (needs jsonschema and PyYAML; exit 77: they are not there)
"""
import json
import subprocess
import sys

try:
    import jsonschema
    import yaml
except ImportError:
    sys.exit(77)

LEAST = {"name": "x", "cluster": {"node": "box"}, "job": {"kind": "ddp", "model": "m"}}
GOOD = [
    {"cluster": {"design": "pod", "scalable_units": 4}},
    {"fidelity": "packet"},
    {"fidelity": {"kind": "packet", "mtu": "1KiB"}},
    {"collectives": {"channels": 2}},
    {"collectives": {"channels": "2e0", "algorithm": {"kind": "hierarchical", "inner": "tree"}}},
    {"links": [{"name": "l", "signalling": "25.78125Gb/s", "coding": "98%"}]},
]
BAD = [
    {"fidelity": "packets"},
    {"fidelity": {"kind": "packet", "mtv": "1KiB"}},
    {"fidelity": {"kind": "packet", "mtu": 1024}},
    {"cluster": {"node": "box", "nodes": 0}},
    {"links": [{"signalling": "25Gb/s"}]},
    {"job": "ddp"},
    {"links": [{"name": "l", "signalling": "25Gbps"}]},
    {"linkz": []},
]

text = subprocess.run([sys.argv[1], "--print-schema"], check=True, capture_output=True, text=True).stdout
schema = json.loads(text)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
with open(sys.argv[2], encoding="utf-8") as file:
    validator.validate(yaml.safe_load(file))
for case in GOOD:
    validator.validate({**LEAST, **case})
for case in BAD:
    assert not validator.is_valid({**LEAST, **case}), case
