#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quick.py: `./dev test --quick` runs what it promises and says what it leaves out."""
import os
import re
import subprocess
import sys
import unittest

CI = os.path.join(os.environ["FAB_SOURCE_DIR"], ".ci")
BUILD = os.environ["FAB_BUILD_DIR"]
sys.path.insert(0, CI)
from introspect import introspected, is_of  # noqa: E402

# Other languages and other programs around the library.
SLOW_UNITS = {"python", "library_outside"}


def output(script, *args):
    return subprocess.run([sys.executable, os.path.join(CI, script), BUILD, *args], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True).stdout


class Quick(unittest.TestCase):
    def setUp(self):
        self.tests = introspected(BUILD, "--tests")
        self.quick = [test for test in self.tests if is_of(test, "quick")]

    def test_every_unit_registry_and_golden_test_is_quick(self):
        for suite in ("unit", "registry", "golden"):
            names = {test["name"] for test in self.tests if is_of(test, suite) and not is_of(test, "quick")}
            self.assertLessEqual(names, SLOW_UNITS if suite == "unit" else set(), suite)
            self.assertTrue(any(is_of(test, suite) for test in self.quick), suite)

    def test_every_other_kind_is_left_out_or_chosen_from(self):
        for suite in ("property", "cli"):
            self.assertTrue(any(is_of(test, suite) for test in self.quick), suite)
        for suite in ("validate", "fuzz"):
            self.assertFalse(any(is_of(test, suite) for test in self.quick), suite)

    def test_what_is_left_out_is_counted(self):
        said = output("left_out.py")
        found = re.match(r"left out: (\d+) of (\d+) tests \((.*?)\), (\d+) golden cases", said)
        self.assertTrue(found, said)
        self.assertEqual(int(found[1]), len(self.tests) - len(self.quick))
        self.assertEqual(int(found[2]), len(self.tests))
        self.assertEqual(sum(int(part.split()[1]) for part in found[3].split(", ")), int(found[1]))
        self.assertGreater(int(found[4]), 0)

    def test_only_what_quick_tests_depend_on_is_built(self):
        names = output("targets.py", "--only", "quick").split()
        self.assertIn("fabricast", names)
        self.assertIn("tests/unit/unit_stats", names)
        self.assertNotIn("tests/property/prop_episodes", names)
        self.assertNotIn("tests/bench/bench", names)


if __name__ == "__main__":
    unittest.main()
