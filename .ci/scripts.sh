#!/usr/bin/env bash
# scripts.sh - shellcheck over every shell script, known by its name or its first line. Inputs of the fuzzers, of which
# some were scripts of jobs, are nobody's to mend.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts=()
while IFS= read -r -d '' file; do
  [[ $file != tests/fuzz/corpus/* ]] || continue
  if [[ $file == *.sh || $file == *.bash ]] || head -n 1 "$file" | grep -qE '^#!.*\b(ba|da)?sh\b'; then
    scripts+=("$file")
  fi
done < <(.ci/files.sh)
shellcheck "${scripts[@]}"
