#!/usr/bin/env bash
# lint.sh - what a reviewer should not have to look at. Every check runs; one line each, then what is wrong.
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

export PYTHONDONTWRITEBYTECODE=1
failed=0
check() { # NAME COMMAND...
  local output name=$1
  shift
  if output=$("$@" 2>&1 </dev/null); then
    printf '%-12s ok\n' "$name"
  else
    printf '%-12s FAILED\n' "$name"
    [ -z "$output" ] || printf '%s\n' "$output" | sed 's/^/  /'
    failed=$((failed + 1))
  fi
}

check layout .ci/format.sh
check layers python3 .ci/layers.py
check words python3 .ci/words.py
check shape python3 .ci/shape.py
check text python3 .ci/text.py
check docs python3 .ci/docs.py
check headers .ci/headers.sh
check scripts .ci/scripts.sh
check meson .ci/meson.sh
check cppcheck .ci/cppcheck.sh
check commits .ci/commits.sh

[ "$failed" -eq 0 ] || printf '%d checks failed\n' "$failed"
exit $((failed > 0))
