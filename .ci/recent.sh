#!/usr/bin/env bash
# recent.sh PATTERN... - files of the working tree that match, each ended by NUL, for checks that take minutes over all files:
# those that differ from what stood 100 commits before, which is more than a push has. All of them with FAB_WHOLE=1
# (`./dev lint --whole`), and where the history is not there: in a shallow clone, or without git.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

before=$(git -c safe.directory='*' rev-parse --verify --quiet 'HEAD~100^{commit}') || before=
if [ "${FAB_WHOLE:-}" = 1 ] || [ -z "$before" ]; then
  exec .ci/files.sh "$@"
fi
changed=$(git -c safe.directory='*' diff --name-only "$before"; git -c safe.directory='*' ls-files --others --exclude-standard)
.ci/files.sh "$@" | { grep -zxF -f <(printf '%s\n' "$changed") || true; }
