#!/usr/bin/env bash
# format.sh - is every C file laid out as .clang-format says? `./dev format` mends it.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=$(.ci/clang-format.sh)
status=0
while IFS= read -r -d '' file; do
  lines=$("$program" --style=file "$file" | diff "$file" - | grep -c '^<' || true)
  [ "$lines" -eq 0 ] && continue
  echo "$file: $lines lines; ./dev format mends them"
  status=1
done < <(.ci/files.sh '*.c' '*.h')
exit "$status"
