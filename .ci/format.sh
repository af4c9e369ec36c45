#!/usr/bin/env bash
# format.sh - is every C file laid out as .clang-format says? `./dev format` mends it.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=$(.ci/clang-format.sh)
status=0
# A process of clang-format takes longer to start than to read a file, so each reads many.
said=$(.ci/files.sh '*.c' '*.h' |
  xargs -0 -r -P "$(nproc)" -n 100 "$program" --style=file --dry-run --Werror --ferror-limit=0 2>&1) || status=$?
[ "$status" -eq 0 ] && exit
places=$(grep -oE '^[^ :]+:[0-9]+:[0-9]+: error: ' <<<"$said" | cut -d: -f1 | sort | uniq -c || true)
[ -n "$places" ] || { echo "$said"; exit 1; }
awk '{ print $2 ": " $1 " places; ./dev format mends them" }' <<<"$places"
exit 1
