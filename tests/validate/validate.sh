#!/usr/bin/env bash
# validate.sh PROGRAM SOURCE_DIR CASE - one case of `fabricast validate`.
# FAB_UPDATE_GOLDEN=1 rewrites the pages, docs/validation*.md, instead of comparing with them.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

program=$1 source=$2 name=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect() { # EXIT_CODE ARGUMENT...: what it says lies in $work/out and $work/err
  local expected=$1 code=0
  shift
  "$program" validate "$@" >"$work/out" 2>"$work/err" || code=$?
  if [ "$code" -ne "$expected" ]; then
    echo "validate $*: exit code $code, not $expected"
    cat "$work/err"
    exit 1
  fi
}

has() { # FILE TEXT
  grep -qF -- "$2" "$work/$1" || { echo "'$2' is not in std$1:"; cat "$work/$1"; exit 1; }
}

accepted() {
  expect 0 --summary
  has out 'all judged tables'
}

# An error of 0.1 % is more than anything here reaches: the table and its class are named, others are not judged.
exceeded() {
  echo 'tables: [{table: dgxa100_allreduce_32, middle: 0.1%, large: 10%}]' >"$work/accept.yaml"
  expect 1 dgxa100_allreduce_32 --accept "$work/accept.yaml"
  has err 'dgxa100_allreduce_32: middle: median |error|'
  has err 'exceeds the accepted 0.1 %'
  [ "$(wc -l <"$work/err")" -eq 1 ]
}

page() {
  expect 0 --format markdown --summary
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/out" "$source/docs/reference/validation.md"
  fi
  diff -u "$source/docs/reference/validation.md" "$work/out"
}

mistakes() {
  expect 2 dgxa100_allreduce_23
  has err "nearest is 'dgxa100_allreduce_32'"
  expect 2 --format yaml
  expect 2 --measured "$work"
  has err 'INDEX.yaml'
  expect 2 pairs --measured "$work"
  has err 'INDEX.yaml'
  expect 2 --sumary
  has err '--summary'
}

# The catalogue's bands are those of the judged tables as they are predicted now.
bands() {
  expect 0 bands
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/out" "$source/models/catalog/bands.yaml"
  fi
  diff -u "$source/models/catalog/bands.yaml" "$work/out"
}

# All training runs, within the accepted limits. The catalogue's setups are those of the rows that calibrate, as they
# are priced now, and its pairs those of published rows; and how often bands hold families and sources that are left out,
# the end of docs/reference/coverage.md.
setups() {
  local page=$source/docs/reference/coverage.md
  local mark='<!-- from here on: validate bands, validate setups and validate pairs -->'
  sed "/^$mark\$/q" "$page" >"$work/page"
  expect 0 bands --format markdown
  { echo; cat "$work/out"; } >>"$work/page"
  expect 0 setups --format markdown --entries "$work/entries" --training "$work/training"
  { echo; cat "$work/out"; } >>"$work/page"
  expect 0 pairs --format markdown --entries "$work/pairs"
  cat "$work/out" >>"$work/page"
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/entries" "$source/models/catalog/setups.yaml"
    cp "$work/pairs" "$source/models/catalog/pairs.yaml"
    cp "$work/page" "$page"
    cp "$work/training" "$source/docs/reference/validation-training.md"
  fi
  diff -u "$source/docs/reference/validation-training.md" "$work/training"
  diff -u "$source/models/catalog/setups.yaml" "$work/entries"
  diff -u "$source/models/catalog/pairs.yaml" "$work/pairs"
  diff -u "$page" "$work/page"
}

is_on_page() { # PAGE CASE BEGINNING: each line of $work/out that begins so is on the page; CASE writes it
  local row
  has out "$3"
  while IFS= read -r row; do
    grep -qxF -- "$row" "$source/docs/reference/$1" || {
      echo "docs/reference/$1 lacks '$row'; FAB_UPDATE_GOLDEN=1 ./dev test --whole validate_$2 writes it anew"
      exit 1
    }
  done < <(grep -F -- "$3" "$work/out")
}

# A twentieth of the work of `setups`: each row of these sources is on the page as it is predicted now.
training_kept() {
  local names=(aleph-alpha baskerville deepspeed-azure internevo mlperf-bert one-bit-adam qwen3-fsdp zeropp) name
  expect 0 training "${names[@]}" --format markdown
  for name in "${names[@]}"; do
    is_on_page validation-training.md setups "| $name |"
  done
}

# Those of one source alone.
setups_of() {
  expect 0 setups internevo --entries "$work/entries"
  has out 'setups:'
  cmp "$work/out" "$work/entries"
  expect 2 setups internvo
  has err "nearest is 'internevo'"
}

# Peaks of memory within the accepted limits, the page that lists them, and the band that refusals rest on: the limits of
# the header are those of the report, rounded outwards to whole percents.
memory_page() {
  expect 0 memory --format markdown
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/out" "$source/docs/reference/validation-memory.md"
  fi
  diff -u "$source/docs/reference/validation-memory.md" "$work/out"
  expect 0 memory --summary --format json
  python3 - "$work/out" "$source/models/workload/training/memory_band.h" <<'END'
import json, math, re, sys
band = json.load(open(sys.argv[1]))["band"]
header = open(sys.argv[2]).read()
said = [float(re.search(rf"MEMORY_{end}_FACTOR ([\d.]+)", header)[1]) for end in ("LOW", "HIGH")]
right = [math.floor(100 * band["low_factor"]) / 100, math.ceil(100 * band["high_factor"]) / 100]
sys.exit(0 if said == right else f"memory_band.h has {said}, the report {right}")
END
  cp "$work/out" "$work/all.json"
  expect 0 memory h100-pytorch torchtitan simumax-b200 hf-playbook torchtune meta-llama3 --summary --format json
  python3 - "$work/all.json" "$work/out" <<'END'
import json, sys
every, inside = (json.load(open(path))["band"] for path in sys.argv[1:])
sys.exit(0 if every == inside else f"with hf-playbook-tensor, band: false, the band is {every}, without it {inside}")
END
}

# A limit that is too low, and what is wrong with a table, at its place.
memory_mistakes() {
  printf 'all: {median: 0.01%%}\nsources: [{source: torchtune, median: 1%%}]\n' >"$work/accept"
  expect 1 memory torchtune --accept "$work/accept"
  has err 'torchtune: median |error|'
  expect 2 memory torchtun
  has err "nearest is 'torchtune'"
  mkdir -p "$work/tables"
  cp "$source"/validate/measured/memory/* "$work/tables"
  sed -i 's/,allocated,60.0,/,allocated,much,/' "$work/tables/torchtune.csv"
  expect 2 memory --measured "$work/tables"
  has err "peak_gib is 'much', not a number above 0"
}

# Our blind error beside what others projected.
published_page() {
  expect 0 published --format markdown
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/out" "$source/docs/reference/published.md"
  fi
  diff -u "$source/docs/reference/published.md" "$work/out"
}

kernels_exceeded() {
  echo 'tables: [{table: h100_gemm, median: 0.1%}]' >"$work/accept.yaml"
  expect 1 kernels h100_gemm --accept "$work/accept.yaml"
  has err 'h100_gemm: median |error|'
  has err 'exceeds the accepted 0.1 %'
  expect 1 kernels h100_attention --accept "$work/accept.yaml"
  has err 'and no limit is accepted'
}

kernels_mistakes() {
  expect 2 kernels h100_gem
  has err "nearest is 'h100_gemm'"
  cp "$source"/validate/measured/kernels/* "$work"
  sed -i '1s/,k,/,depth,/' "$work/h100_gemm.csv"
  expect 2 kernels --measured "$work"
  has err "h100_gemm.csv:1: the head has no column 'k'"
  sed -i '1s/,depth,/,k,/; 3s/^bf16,[0-9]*/bf16,many/' "$work/h100_gemm.csv"
  expect 2 kernels --measured "$work"
  has err "h100_gemm.csv:3: 'bf16,many"
  sed -i '3s/many/1024/; 3s/^bf16/int4/' "$work/h100_gemm.csv"
  expect 2 kernels --measured "$work"
  has err "h100_gemm.csv:3: no kernel model is called 'int4'"
}

# Rows of one kind calibrate and are judged in turn, the first calibrating; whole tables are left out.
kernels_roles() {
  expect 0 kernels h100_attention aic_h200_gemm --format csv
  grep '^h100_attention,.*,forward_CUDNN' "$work/out" | cut -d, -f5 | head -3 | tr '\n' ' ' >"$work/roles"
  [ "$(cat "$work/roles")" = 'calibrating judged calibrating ' ] || { cat "$work/roles"; exit 1; }
  [ "$(grep '^aic_h200_gemm,' "$work/out" | cut -d, -f5 | sort -u | tr '\n' ' ')" = 'left out with casts ' ]
}

bills_page() {
  expect 0 bills --format markdown
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/out" "$source/docs/reference/validation-bills.md"
  fi
  diff -u "$source/docs/reference/validation-bills.md" "$work/out"
}

bills_mistakes() {
  expect 2 bills superpod-h10
  has err "unknown design 'superpod-h10'; nearest is 'superpod-h100'"
}

jobs_page() {
  expect 0 jobs --format markdown
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/out" "$source/docs/reference/validation-jobs.md"
  fi
  diff -u "$source/docs/reference/validation-jobs.md" "$work/out"
}

# A row that is wrong is named, and so is one that cannot be read or played.
jobs_mistakes() {
  local row='name: a, file: a.json, settings: s, licence: l, node: dgx-a100, nodes: 1'
  expect 2 jobs gpt-neox-20
  has err "no public configuration 'gpt-neox-20'; nearest is 'gpt-neox-20b'"
  echo "jobs: [{$row, gpus: 8, step_s: 1, tokens_s_gpu: 2, source: s}]" >"$work/INDEX.yaml"
  expect 2 jobs --measured "$work"
  has err 'step_s and tokens_s_gpu say the same; give one'
  echo "jobs: [{$row, gpus: 8, step_s: 1}]" >"$work/INDEX.yaml"
  expect 2 jobs --measured "$work"
  has err 'what is published has a source'
  echo "jobs: [{$row, gpus: 8, model: gpt2}]" >"$work/INDEX.yaml"
  echo 'nodes: []' >"$work/nodes.yaml"
  echo '{"zero_optimization": {"stage": 4}}' >"$work/a.json"
  expect 2 jobs --measured "$work"
  has err 'a: a.json:1: zero_optimization.stage: from 0 to 3'
  echo '{"zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 1}' >"$work/a.json"
  expect 0 jobs --measured "$work" --format csv
  [ "$(wc -l <"$work/out")" -eq 2 ]
}

kernels_page() {
  expect 0 kernels --format markdown
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/out" "$source/docs/reference/validation-kernels.md"
  fi
  diff -u "$source/docs/reference/validation-kernels.md" "$work/out"
}

accuracy() {
  expect 0 accuracy
  has out '| **all** |'
  has out '| within the band of 90 %, families left out |'
}

# Links measured point to point in place of the catalogue's: the table stands in docs/how-to/calibrate.md, line by line.
calibrated_page() {
  expect 0 calibrated --format markdown
  if grep -vxF -f "$source/docs/how-to/calibrate.md" "$work/out"; then
    echo 'these lines are not in docs/how-to/calibrate.md'
    exit 1
  fi
}

calibrated_exceeded() {
  echo 'tables: [{table: alps_gh200_ss11_allreduce_64, small: 0.1%}]' >"$work/accept.yaml"
  expect 1 calibrated --accept "$work/accept.yaml"
  has err 'alps_gh200_ss11_allreduce_64: small: median |error|'
  has err 'dgx1_p100_nvlink1_broadcast_8: large: median |error|'
}

# An entry of the same name wins over the catalogue's; what nothing was measured for stays.
with_links() {
  "$program" calibrate "$source/validate/measured/links/nvlink4_h800_write_kernel.csv" --base nvlink4 --count 8 \
    --name nvlink4 >"$work/nvlink4.yaml"
  echo 'tables: [{table: h100x8_nvswitch_allgather_8, middle: 20%, large: 20%}]' >"$work/accept.yaml"
  expect 0 h100x8_nvswitch_allgather_8 --format csv
  mv "$work/out" "$work/shipped"
  expect 0 h100x8_nvswitch_allgather_8 --format csv --with "$work/nvlink4.yaml" --accept "$work/accept.yaml"
  ! cmp -s "$work/shipped" "$work/out"
}

training_exceeded() {
  expect 0 training internevo --summary
  has out 'all sources'
  echo 'sources: [{source: internevo, median: 0.1%}]' >"$work/accept.yaml"
  expect 1 training internevo --accept "$work/accept.yaml"
  has err 'internevo: median |error|'
  has err 'exceeds the accepted 0.1 %'
  [ "$(wc -l <"$work/err")" -eq 1 ]
}

# An assignment reaches every scenario: EDR in place of the Ethernet that was measured is far too fast.
training_set() {
  expect 0 training one-bit-adam --format json
  python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["sources"][0]["rows"]))' "$work/out" | grep -qx 11
  expect 1 training one-bit-adam --set cluster.nic=ib-edr
  has err 'one-bit-adam: median |error|'
}

training_mistakes() {
  expect 2 training internevos
  has err "nearest is 'internevo'"
  expect 2 training --format yaml
  expect 2 training --measured "$work"
  has err 'INDEX.yaml'
  expect 2 training internevo --set job.kindd=ddp
  has err "nearest is 'kind'"
}

# A step that never ends has no time: its row is skipped and told with what it waits for, and that is not accepted.
training_hang() {
  expect 1 training internevo --set 'faults=[{what: rail, rail: 0, dead: true, at: 1ms}]' --format json
  has out 'iteration 0 never ends: '
  has err 'rows are skipped, 0 are accepted'
}

# The neighbour takes half of the uplink, which analytic does not see: -50 %.
# The page is what the scenes give now.
congestion_page() {
  expect 0 congestion --format markdown
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/out" "$source/docs/reference/validation-congestion.md"
  fi
  diff -u "$source/docs/reference/validation-congestion.md" "$work/out"
}

# Scenes that take a second together, under each control.
congestion_kept() {
  local name
  expect 0 congestion incast-2-25g incast-4-100g incast-16-100g --format markdown
  for name in dcqcn hpcc timely; do
    is_on_page validation-congestion.md congestion_page "| $name |"
  done
}

# Nothing is within a hundred-thousandth: the scene, the control and the quantile are named.
congestion_exceeded() {
  printf '%s\n' 'median: 0.001%' 'p99: 0.001%' 'scenes:' \
    '  - {scene: incast-8-100g, machine: one-switch-100g, title: Eight to one}' >"$work/accept.yaml"
  expect 1 congestion --accept "$work/accept.yaml"
  has err 'incast-8-100g, dcqcn, all: the median is'
  has err 'incast-8-100g, hpcc, all: the p99 is'
}

congestion_mistakes() {
  expect 2 congestion incast-8-100
  has err "nearest is 'incast-8-100g'"
  mkdir -p "$work/cases/machines" "$work/cases/scenes"
  cp "$source/validate/congestion/machines/one-switch-25g.yaml" "$work/cases/machines"
  echo 'from,to' >"$work/cases/scenes/incast-2-25g.csv"
  expect 2 congestion incast-2-25g --cases "$work/cases"
  has err 'incast-2-25g.csv:1:1: the first line is not'
  head -1 "$source/validate/congestion/scenes/incast-2-25g.csv" >"$work/cases/scenes/incast-2-25g.csv"
  echo '1,0,x' >>"$work/cases/scenes/incast-2-25g.csv"
  expect 2 congestion incast-2-25g --cases "$work/cases"
  has err 'incast-2-25g.csv:2:1: a flow is eleven whole numbers'
}

fidelity_exceeded() {
  cat >"$work/accept.yaml" <<'EOF'
fidelities: analytic fluid
groups: [{group: all, title: All, limits: [{fidelity: analytic, against: fluid, limit: 10%}]}]
cases: [{case: two-jobs-uplink, group: all}, {case: ring-nodes, group: all}]
EOF
  expect 1 fidelity --accept "$work/accept.yaml"
  has err 'two-jobs-uplink: analytic is -49.91 % from fluid, and 10 % are accepted'
  has out EXCEEDED
  [ "$(wc -l <"$work/err")" -eq 1 ]
  expect 0 fidelity --accept "$work/accept.yaml" --fidelity fluid # nothing to hold it against
}

# Within the accepted limits, of which every scenario of the suite is a case.
fidelity_page() {
  expect 0 fidelity --format markdown
  for path in "$source"/validate/variants/cases/*.yaml; do
    has out "$(basename "$path" .yaml)"
  done
  if [ "${FAB_UPDATE_GOLDEN:-0}" = 1 ]; then
    cp "$work/out" "$source/docs/reference/validation-fidelity.md"
  fi
  diff -u "$source/docs/reference/validation-fidelity.md" "$work/out"
}

fidelity_mistakes() {
  expect 2 fidelity incast-9
  has err "nearest is 'incast-8'"
  expect 2 fidelity --fidelity fluit,analitic
  has err "nearest is 'fluid'"
  has err "nearest is 'analytic'"
  expect 2 fidelity --format yaml
  expect 2 fidelity --cases "$work"
  has err 'ring-nvlink.yaml'
  cat >"$work/accept.yaml" <<'EOF'
fidelities: analytic fluid
groups: [{group: all, title: All, limits: [{fidelity: packet, against: fluid, limit: 10%}]}]
cases: [{case: ring-nodes, group: al}, {case: ring-nodes, group: all}]
EOF
  expect 2 fidelity --accept "$work/accept.yaml"
  has err "'packet' is none of the fidelities of this file"
  has err "there is no group 'al'"
  has err "'ring-nodes' is given twice"
}

"$name"
