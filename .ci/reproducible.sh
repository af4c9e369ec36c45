#!/usr/bin/env bash
# reproducible.sh - do two builds, in folders of different names, give the same bytes?
#
# Both are made from copies of this tree, without a compiler cache, with the commit handed to them. What would be
# installed is compared file by file, and no file may name one of the folders. Ten minutes on two processors.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CCACHE_DISABLE=1
commit=$(git -c safe.directory='*' describe --always --dirty --abbrev=10 --exclude='*' 2>/dev/null || true)
for tree in one a-longer/name; do
  mkdir -p "$dir/$tree/tree"
  .ci/files.sh | xargs -0 cp --parents -t "$dir/$tree/tree"
  (
    cd "$dir/$tree/tree"
    meson setup build -Dtests=disabled -Dcommit="$commit" >"$dir/log" 2>&1 </dev/null || { cat "$dir/log"; exit 1; }
    ninja -C build >"$dir/log" 2>&1 </dev/null || { tail -n 30 "$dir/log"; exit 1; }
    DESTDIR=$dir/$tree/installed meson install -C build --no-rebuild >"$dir/log" 2>&1 </dev/null || { cat "$dir/log"; exit 1; }
  )
done
status=0
diff -r "$dir/one/installed" "$dir/a-longer/name/installed" || status=1
if grep -rlF "$dir" "$dir/one/installed" "$dir/a-longer/name/installed"; then
  echo "reproducible: these files name the folder of the build"
  status=1
fi
find "$dir/one/installed" -type f | wc -l | sed 's/$/ files were compared/'
exit "$status"
