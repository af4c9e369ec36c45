#!/usr/bin/env bash
# abi.sh - the shared library offers programs what lib/fabricast.abi says: functions, types and layouts.
#
#   .ci/abi.sh            compares build/lib/libfabricast.so with it
#   .ci/abi.sh --write    writes it anew, after a change that is meant
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

baseline=lib/fabricast.abi
library=${FAB_BUILD_DIR:-build}/lib/libfabricast.so.0
[ "$(uname -m)" = x86_64 ] || { echo "the baseline is of x86-64, and this machine is not: nothing is compared"; exit 0; }
[ -e "$library" ] || { echo "$library is not built: run ./dev build"; exit 1; }
# Types that stand in no header of this folder are opaque to programs.
public=$(mktemp -d)
trap 'rm -rf "$public"' EXIT
cp lib/fabricast.h "$public"
offered() { # FILE: writes there what the library offers
  abidw --headers-dir "$public" --drop-private-types --exported-interfaces-only --no-show-locs --no-corpus-path \
    --no-comp-dir-path --no-elf-needed --out-file "$1" "$(readlink -f "$library")"
}
if [ "${1:-}" = --write ]; then
  offered "$baseline"
  exit
fi
offered "$public/now.abi" || exit 1
abidiff "$baseline" "$public/now.abi"
status=$?
[ "$status" = 0 ] && exit 0
if [ $((status & 3)) != 0 ]; then
  echo "abidiff failed"
elif [ $((status & 8)) != 0 ]; then
  echo "Programs that were built with the library before this change break: keep what was there, or raise soversion in lib/meson.build."
else
  echo "The library offers something else than lib/fabricast.abi says. If that is meant, run .ci/abi.sh --write and commit the file."
fi
exit 1
