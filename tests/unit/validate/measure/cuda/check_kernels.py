#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_kernels.py KERNELS.CU NVCC...: what nvcc makes of the kernels has the names and arguments that kernels.c uses."""
import re
import subprocess
import sys

# As in validate/measure/cuda/kernels.c: sizes of the arguments in bits.
EXPECTED = {"fab_copy": [64] * 3, "fab_copy_both": [64] * 5, "fab_hold": [64, 32, 64], "fab_ping": [64] * 7 + [32, 64]}

source, *nvcc = sys.argv[1:]
ptx = subprocess.run([*nvcc, "-ptx", "-o", "/dev/stdout", source], check=True, capture_output=True, text=True).stdout
found = {name: [int(bits) for bits in re.findall(r"\.param \.[ub](\d+)", arguments)]
         for name, arguments in re.findall(r"\.entry (\w+)\s*\(([^)]*)\)", ptx)}
if found != EXPECTED:
    sys.exit(f"kernels.cu has {found}, kernels.c expects {EXPECTED}")
