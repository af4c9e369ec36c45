#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""validate/refit.py: a fit changes what rests on calibration tables, and it never makes their errors larger.

usage: refit.py PROGRAM
"""
import importlib.util
import os
import subprocess
import sys
import unittest

import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCRIPT = os.path.join(ROOT, "validate", "refit.py")
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "build/fabricast"
TABLE = "dgx1_p100_nvlink1_allreduce_8"


def load_script():
    spec = importlib.util.spec_from_file_location("refit", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


class Refit(unittest.TestCase):
    def test_only_numbers_that_rest_on_tables_are_fitted(self):
        refit = load_script()
        entries = refit.load_catalog()
        constants = refit.find_constants(entries, refit.load_tables(), {"pascal"})
        self.assertEqual(constants, [("generations", "pascal", ("issue",))])

    def test_a_fit_does_not_make_its_tables_worse(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT, PROGRAM, "--only", "pascal", "--rounds", "1"],
                              capture_output=True, text=True, check=True)
        fitted = yaml.safe_load(done.stdout[done.stdout.index("generations:"):])["generations"][0]
        self.assertEqual(fitted["name"], "pascal")
        refit = load_script()
        instrument = refit.Instrument(PROGRAM)
        before = instrument.errors({}, [TABLE])[TABLE]
        after = instrument.errors({("generations", "pascal"): fitted}, [TABLE])[TABLE]
        self.assertLessEqual(after, before)
        self.assertGreater(before, 0)

    def test_unknown_names_are_refused(self):
        for option, name in (("--without", "no such family"), ("--only", "pascall"), ("--start", "hoper")):
            done = subprocess.run([sys.executable, "-B", SCRIPT, PROGRAM, option, name],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(name, done.stderr)


if __name__ == "__main__":
    unittest.main()
