#!/usr/bin/env bash
# cppcheck.sh - cppcheck over sources that changed of late (recent.sh), with what it knows of GLib. A place where it is wrong
# carries `/* cppcheck-suppress id */` and the reason.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# System headers are not read, so macros that look like declarations are named here. A file with an
# unknown one would go unchecked: that is an error, not a suppression. Leaks are looked for by the
# sanitizers; cppcheck does not see that a GArray takes over what a struct points to.
# Its own -j uses little more than one processor, so xargs starts several.
.ci/recent.sh 'sim/*.c' 'models/*.c' 'answer/*.c' 'validate/*.c' 'cli/*.c' |
  xargs -0 -r -P "$(nproc)" -n 40 cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --library=gtk \
  --enable=warning,performance,portability --suppress=missingInclude --suppress=memleak \
  -DFAB_VERSION='""' \
  -D'G_DEFINE_QUARK(a,b)=' -D'G_DEFINE_AUTOPTR_CLEANUP_FUNC(a,b)=' -D'G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(a,b)=' \
  -D'G_DEFINE_AUTO_CLEANUP_FREE_FUNC(a,b,c)=' -D'G_STATIC_ASSERT(a)=' -D'G_GNUC_PRINTF(a,b)=' \
  -I . 2>&1
