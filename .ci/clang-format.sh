#!/usr/bin/env bash
# clang-format.sh - prints the clang-format to use. Versions differ in what they write; ours is 14
# (Debian 12, Ubuntu 22.04). Fails when there is another one only.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

for program in clang-format-14 clang-format; do
  if [[ $("$program" --version 2>/dev/null) == *'version 14.'* ]]; then
    echo "$program"
    exit 0
  fi
done
echo "clang-format 14 is needed; other versions lay the code out differently" >&2
exit 1
