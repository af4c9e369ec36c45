#!/usr/bin/env bash
# clang.sh - clang, the second compiler, has nothing to say of the sources that gcc builds, of those that changed
# of late (recent.sh).
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
CC=clang meson setup "$dir" -Dtests=disabled -Dwerror=true >"$dir/log" 2>&1 </dev/null || { cat "$dir/log"; exit 1; }
ninja -C "$dir" lib/catalogue.h >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
# One line per source: the compiler's command, without what it writes. Sources that the build makes are not there.
.ci/recent.sh '*.c' '*.cc' >"$dir/recent"
python3 - "$dir" <<'PYTHON' >"$dir/commands"
import json, os, re, sys
with open(sys.argv[1] + "/recent", encoding="utf-8") as file:
    recent = {os.path.realpath(name) for name in file.read().split("\0") if name}
with open(sys.argv[1] + "/compile_commands.json", encoding="utf-8") as file:
    for row in json.load(file):
        if os.path.realpath(os.path.join(row["directory"], row["file"])) in recent:
            print(re.sub(r" -MD -MQ \S+ -MF \S+ -o \S+ -c ", " -fsyntax-only ", row["command"]))
PYTHON
cd "$dir"
tr '\n' '\0' <commands | xargs -0 -r -P "$(nproc)" -I{} bash -c '{}' 2>&1
