#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py [IMAGE]: C on standard output, a function that returns the bytes of IMAGE; NULL without one.
embed.py --text NAME FILE: C on standard output, the text of FILE as the array NAME with a byte 0 at its end."""
import sys

if sys.argv[1:2] == ["--text"]:
    _, _, name, path = sys.argv
    with open(path, "rb") as file:
        text = file.read() + b"\0"
    print(f"extern const char {name}[];\nconst char {name}[] = {{")
    for start in range(0, len(text), 24):
        print(",".join(str(byte) for byte in text[start:start + 24]) + ",")
    print("};")
    sys.exit()

print('#include "validate/measure/cuda/gpus.h"\n')
if len(sys.argv) > 1:
    with open(sys.argv[1], "rb") as file:
        image = file.read()
    print("static const _Alignas (16) unsigned char image[] = {")
    for start in range(0, len(image), 24):
        print(",".join(str(byte) for byte in image[start:start + 24]) + ",")
    print("};\n")
print("const void *\nfab_cuda_kernels (void)\n{")
print(f"  return {'image' if len(sys.argv) > 1 else 'NULL'};\n}}")
