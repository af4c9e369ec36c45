#!/usr/bin/env bash
# build.sh - builds the targets of tests/fuzz as OSS-Fuzz wants them: programs, dictionaries and corpora in $OUT.
#
# OSS-Fuzz sets CC, CFLAGS, LIB_FUZZING_ENGINE, SRC and OUT. The machine that runs the programs has none of the shared
# libraries, so they are put beside them.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$SRC/fabricast"

meson setup "$SRC/build" -Dfuzz=true -Dtests=enabled -Dmeasure=disabled -Db_lundef=false -Dbuildtype=plain \
  -Dfuzz_engine="$LIB_FUZZING_ENGINE" -Dc_args="${CFLAGS:-}" -Dc_link_args="${CFLAGS:-}"
ninja -C "$SRC/build" fuzzers

mkdir -p "$OUT/lib"
for program in "$SRC"/build/tests/fuzz/libfuzz_*; do
  if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
  name=$(basename "$program")
  target=${name#libfuzz_}
  cp "$program" "$OUT/$target"
  # Libraries of the system's own loader stay those of the machine.
  ldd "$program" | awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so/ { print $3 }' |
    xargs -r cp -n -t "$OUT/lib"
  patchelf --force-rpath --set-rpath "\$ORIGIN/lib" "$OUT/$target"
  [ ! -f "tests/fuzz/dictionaries/$target.dict" ] || cp "tests/fuzz/dictionaries/$target.dict" "$OUT/"
  [ ! -d "tests/fuzz/corpus/$target" ] || (cd "tests/fuzz/corpus/$target" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
done
