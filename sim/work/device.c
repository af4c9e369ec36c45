/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/device.h"

const char *const fab_precision_names[FAB_N_PRECISIONS + 1] = {
  [FAB_PRECISION_BF16] = "bf16", [FAB_PRECISION_FP16] = "fp16", [FAB_PRECISION_FP32] = "fp32",
  [FAB_PRECISION_TF32] = "tf32", [FAB_PRECISION_FP8] = "fp8",
};

FabBytes
fab_precision_bytes (FabPrecision precision)
{
  switch (precision) {
  case FAB_PRECISION_BF16:
  case FAB_PRECISION_FP16: return 2;
  case FAB_PRECISION_FP32:
  case FAB_PRECISION_TF32: return 4;
  case FAB_PRECISION_FP8: return 1;
  case FAB_N_PRECISIONS:
  default: g_assert_not_reached ();
  }
}

double
fab_device_peak (const FabDevice *self, FabPrecision precision)
{
  if (self->peak_flops_per_s[precision] > 0)
    return self->peak_flops_per_s[precision];
  if (precision == FAB_PRECISION_FP8)
    return self->peak_flops_per_s[FAB_PRECISION_BF16];
  return self->peak_flops_per_s[FAB_PRECISION_FP32];
}
