# SPDX-License-Identifier: Apache-2.0
"""charts.py D3.MIN.JS: prints D3 as the page of `fabricast report` needs it.

Debian has each of D3's modules beside the whole: then only those are taken that the page draws with, which is less than
half. Elsewhere it is the whole file. The first line is that of the whole: name, version, copyright.
"""
import os
import re
import sys

# In the order in which they need each other. d3-scale would use d3-collection and d3-time for scales of names and of dates.
MODULES = ("array", "color", "interpolate", "dispatch", "timer", "ease", "selection", "drag", "transition", "zoom",
           "brush", "format", "scale")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    whole = read(sys.argv[1])
    version = re.match(r"// https://d3js\.org v([0-9.]+) Copyright", whole)
    beside = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1]))))
    paths = {name: os.path.join(beside, f"d3-{name}", "dist", f"d3-{name}.min.js") for name in MODULES}
    if version is None or not all(map(os.path.exists, paths.values())):
        print(whole.rstrip())
        return
    print(whole.partition("\n")[0])
    print(f'globalThis.d3 = {{ version: "{version[1]}" }};')
    for path in paths.values():
        print("\n".join(line for line in read(path).strip().split("\n") if not line.startswith("//")))


if __name__ == "__main__":
    main()
