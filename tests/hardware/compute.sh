#!/usr/bin/env bash
# compute.sh [FOLDER] - what a machine with an NVIDIA GPU can tell within ten minutes; results go to FOLDER (hardware).
#
# 1. `fabricast measure cuda`: links of the GPU, kernels in both directions among them (docs/how-to/measure-cuda.md)
# 2. `fabricast measure compute`: launches, memory-bound kernels, copies, products; and what `calibrate` makes of them
# 3. kernels.py: with PyTorch, grouped products of experts; with CuPy as well, a product beside a kernel that copies
#
# A part whose library is missing is skipped with a sentence. BUDGET_S (560) is the time for all, BUILD (build) the folder of
# the program, BASE the accelerator entry that kernels are fitted to (found from the name of the GPU).
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
out=${1:-hardware}
budget_s=${BUDGET_S:-560}
program=${BUILD:-build}/fabricast
status=0
mkdir -p "$out" || exit 1

left() { echo $((budget_s - SECONDS)); }
part() { # part NAME LEAST_S COMMAND...: runs it with the time that is left, into NAME.log
  local name=$1 least_s=$2 code
  shift 2
  if [ "$(left)" -lt "$least_s" ]; then
    echo "$name: skipped, because $(left) s are left and it needs $least_s"
    return 0
  fi
  local began=$SECONDS
  timeout --kill-after=10 "$(left)" "$@" >"$out/$name.log" 2>&1
  code=$?
  echo "$name: exit $code after $((SECONDS - began)) s; $out/$name.log"
  [ "$code" -eq 0 ] || { status=1 && tail -3 "$out/$name.log"; }
  return "$code"
}

if ! [ -x "$program" ]; then
  echo "There is no $program: build it first, or name the build folder with BUILD."
  exit 1
fi
command -v nvidia-smi >/dev/null && nvidia-smi -q >"$out/nvidia-smi.txt" 2>&1
if [ -z "${FABRICAST_CUBLASLT:-}" ] && command -v python3 >/dev/null; then # the cuBLASLt that came with PyTorch
  found=$(python3 - <<'PYTHON'
import glob, os, site, sys
roots = site.getsitepackages() + [site.getusersitepackages()] + sys.path
files = [f for root in roots for f in sorted(glob.glob(os.path.join(root, "nvidia", "**", "libcublasLt.so.*"), recursive=True))]
print(files[0] if files else "")
PYTHON
  )
  [ -z "$found" ] || export FABRICAST_CUBLASLT=$found
fi

part cuda 30 "$program" measure cuda --sizes 8..512M --time 1 -o "$out/cuda.meas"
part compute 60 "$program" measure compute --time 1 --max-samples 40 -o "$out/compute.meas"
if [ -z "${BASE:-}" ]; then
  gpu=$("$program" measure show "$out/compute.meas" 2>/dev/null | sed -n 's/^ *gpu0  *//p' | head -1)
  case "$gpu" in
  *H200*) BASE=h200-sxm5 ;;
  *"H100 80GB HBM3"*) BASE=h100-sxm5-80gb ;;
  *"H100 PCIe"*) BASE=h100-pcie-80gb ;;
  *"A100-SXM4-80GB"*) BASE=a100-sxm4-80gb ;;
  *"A100-SXM4-40GB"*) BASE=a100-sxm4-40gb ;;
  *B200*) BASE=b200-sxm ;;
  *L40S*) BASE=l40s ;;
  *) echo "calibrate: no accelerator of the catalogue is known for '$gpu'; name one with BASE" ;;
  esac
fi
[ -z "${BASE:-}" ] || part calibrate 5 "$program" calibrate "$out/compute.meas" --base "$BASE" -o "$out/accelerator.yaml"
part kernels 60 python3 tests/hardware/kernels.py "$out" "$(left)"
echo "$SECONDS s in all"
exit "$status"
