#!/usr/bin/env bash
# files.sh PATTERN... - the checkout's files, tracked or new but not ignored, each ended by NUL.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# safe.directory: in CI and containers the checkout may belong to another user.
git -c safe.directory='*' ls-files -z --cached --others --exclude-standard --deduplicate -- "$@" |
  while IFS= read -r -d '' file; do
    [ ! -f "$file" ] || [ -L "$file" ] || printf '%s\0' "$file"
  done
