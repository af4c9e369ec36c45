#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count.py DIR...: the closing lines of `./dev test` from meson's own logs: what failed, what was skipped and why, and
"N passed, N failed".

A test says why it skips, or skips a part of itself, in lines that begin with "skipped: ". Of a test that speaks the Test
Anything Protocol every case counts. Exit code 1 when a test failed or none ran.
"""
import os
import re
import sys

from introspect import results

PASSED = ("OK", "EXPECTEDFAIL")
SKIPPED = ("SKIP", "IGNORED")


def reasons(test):
    said = [line for line in test.get("stdout", "").splitlines() if line.startswith("skipped: ")]
    return said or ["skipped without a reason"] * (test["result"] in SKIPPED)


def cases(test):
    """[(name, is good)] of the Test Anything Protocol."""
    found = re.findall(r"^(not )?ok \d+(?: - (.*))?$", test.get("stdout", ""), re.M)
    return [(name, not bad) for bad, name in found]


passed = skipped = 0
failed = []
for directory in sys.argv[1:]:
    for test in results(directory):
        said = f"{os.path.basename(directory)}: {test['name']}: "
        for reason in reasons(test):
            print(said + reason)
        good = [name for name, is_good in cases(test) if is_good]
        bad = [name for name, is_good in cases(test) if not is_good]
        if test["result"] in PASSED:
            passed += len(good) or 1
        elif test["result"] in SKIPPED:
            skipped += 1
        else:
            passed += len(good)
            failed += [said + name for name in bad] or [said + test["result"]]

print()
for line in failed:
    print(line)
print(f"{passed} passed, {len(failed)} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(bool(failed) or passed == 0)
