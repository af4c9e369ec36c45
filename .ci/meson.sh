#!/usr/bin/env bash
# meson.sh - the build files set up without a warning, so they use nothing newer than the meson that
# meson.build asks for (that of Ubuntu 22.04).
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
meson setup "$dir" -Dtests=enabled >"$dir/log" 2>&1 </dev/null || { cat "$dir/log"; exit 1; }
! grep -E '^(meson\.build|.*/meson\.build).*WARNING|^WARNING|features? introduced|deprecated' "$dir/log"
