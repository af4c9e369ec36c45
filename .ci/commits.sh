#!/usr/bin/env bash
# commits.sh - subjects look like `area: imperative`, at most 72 characters, no full stop.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

git() { command git -c safe.directory='*' "$@"; }

git rev-parse --verify --quiet HEAD >/dev/null || exit 0 # no history yet
git log --no-merges --format='%h %s' | awk '
  {
    subject = substr($0, length($1) + 2)
    why = ""
    if (length(subject) > 72) why = "longer than 72"
    else if (subject !~ /^[a-z0-9][a-z0-9_.\/, *{}-]*: [^ ]/) why = "not `area: imperative`"
    else if (subject ~ /\.$/) why = "ends with a full stop"
    else if (subject ~ /: (added|adds|adding|fixed|fixes|fixing|changed|changes|removed|removes|updated|updates) /) why = "not imperative"
    if (why != "") { print $1 ": " why ": " subject; bad = 1 }
  }
  END { exit bad }'
