#!/usr/bin/env bash
# lint.sh [--text] - what a reviewer should not have to look at. Every check runs; one line each, then what is wrong.
# --text: those that read text alone, for a few seconds, and need no compiler and no linter.
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

export PYTHONDONTWRITEBYTECODE=1
answers=$(mktemp -d)
trap 'rm -rf "$answers"' EXIT
names=()
check() { # NAME COMMAND...: at once with the others
  names+=("$1")
  { "${@:2}" >"$answers/$1" 2>&1 </dev/null; echo $? >"$answers/$1.status"; } &
}

check layers python3 .ci/layers.py
check circles python3 .ci/circles.py
check words python3 .ci/words.py
check shape python3 .ci/shape.py
check text python3 .ci/text.py
check english python3 .ci/english.py
check sentences python3 .ci/sentences.py
check scenarios python3 .ci/scenario_text.py
check docs python3 .ci/docs.py
check lists python3 .ci/lists.py
check terms python3 .ci/terms.py
check commits .ci/commits.sh
if [ "${1:-}" != --text ]; then
  check layout .ci/format.sh
  check headers .ci/headers.sh
  check abi .ci/abi.sh
  check scripts .ci/scripts.sh
  check meson .ci/meson.sh
  check cppcheck .ci/cppcheck.sh
  check clang .ci/clang.sh
fi

wait

failed=0
for name in "${names[@]}"; do
  if [ "$(cat "$answers/$name.status")" = 0 ]; then
    printf '%-12s ok\n' "$name"
    continue
  fi
  printf '%-12s FAILED\n' "$name"
  sed 's/^/  /' "$answers/$name"
  failed=$((failed + 1))
done
[ "$failed" -eq 0 ] || printf '%d checks failed\n' "$failed"
exit $((failed > 0))
