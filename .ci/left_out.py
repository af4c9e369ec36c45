#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""left_out.py DIR: the closing lines of `./dev test --quick`: which tests of DIR it left out, by suite."""
import collections
import os
import re
import sys

from csource import files, read
from introspect import introspected, is_of, suites

ALSO = ("quick", "sanitized")  # beside the suite that a test belongs to

tests = introspected(os.path.realpath(sys.argv[1]), "--tests")
out = [test for test in tests if not is_of(test, "quick")]
by_suite = collections.Counter(next(name for name in suites(test) if name not in ALSO) for test in out)
plain = sum(len(re.findall(r"^plain$", read(path), re.M)) for path in files("tests/golden/checks/*.txt"))
print(f"left out: {len(out)} of {len(tests)} tests ({', '.join(f'{name} {n}' for name, n in sorted(by_suite.items()))}), "
      f"{plain} golden cases marked 'plain',")
print("everything under ASan and UBSan, and of ./dev lint what reads C. './dev test' and './dev lint' run them.")
