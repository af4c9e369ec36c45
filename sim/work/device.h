/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - an accelerator as kernels see it. All rates are peaks of one device. */
#pragma once

#include "sim/base/units.h"

/* Types in which matrices are multiplied. */
typedef enum {
  FAB_PRECISION_BF16,
  FAB_PRECISION_FP16,
  FAB_PRECISION_FP32,
  FAB_PRECISION_FP8,
  FAB_N_PRECISIONS
} FabPrecision;

extern const char *const fab_precision_names[FAB_N_PRECISIONS + 1]; /* "bf16", ...; NULL-ended */
FabBytes fab_precision_bytes (FabPrecision precision);              /* of one number */

typedef struct {
  double peak_flops_per_s[FAB_N_PRECISIONS]; /* dense; 0: it has none */
  double matmul_fraction; /* of peak that the best matrix multiplication reaches, 0: not known */
  guint n_sms;            /* streaming multiprocessors or compute units, 0: not known */
  FabBytes memory_bytes;
  FabBytesPerS memory_bytes_per_s;
} FabDevice;
