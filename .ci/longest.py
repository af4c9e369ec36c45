#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""longest.py DIR...: which ten tests took longest, from the logs that meson left in these build directories; also of a
run that was stopped."""
import os
import sys

from introspect import results

took = [(test["duration"], os.path.basename(directory), test["name"], test["result"])
        for directory in sys.argv[1:] for test in results(directory)]
print(f"{len(took)} tests took {sum(row[0] for row in took):.0f} s one after another; the longest:")
for seconds, directory, name, result in sorted(took, reverse=True)[:10]:
    print(f"{seconds:7.1f} s  {directory}: {name}" + ("" if result == "OK" else f" ({result})"))
