#!/usr/bin/env bash
# headers.sh - every header compiles alone. Hosts find that of the library as <fabricast.h>.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

read -ra flags < <(pkg-config --cflags glib-2.0 json-glib-1.0 sqlite3 zlib yaml-0.1 cmocka ompi-c libfabric libibverbs)
check() { # HEADER FLAG...: from standard input, so that #pragma once does not stand in a main file
  printf '#include "%s"\n' "$1" | "${CC:-cc}" -std=gnu17 -fsyntax-only -Wall -Wextra -Werror -I. -Ilib "${@:2}" -x c - 2>&1
}
export -f check
.ci/files.sh '*.h' | xargs -0 -P "$(nproc)" -I{} bash -c 'check "$@"' check {} "${flags[@]}"
