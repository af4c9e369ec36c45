# SPDX-License-Identifier: Apache-2.0
"""introspect.py - what meson knows of a build directory."""
import glob
import json
import os
import subprocess


def introspected(directory, what):
    done = subprocess.run(["meson", "introspect", what, directory], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return json.loads(done.stdout)


def suites(test):
    return [name.split(":")[-1] for name in test["suite"]]


def is_of(test, suite):
    return suite in suites(test)


def results(directory):
    """What the tests of a build directory gave, the last time that they ran."""
    for path in glob.glob(os.path.join(glob.escape(directory), "meson-logs", "testlog*.json")):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):  # the last one is cut where a run was killed
                    yield json.loads(line)
