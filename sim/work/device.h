/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - the properties of an accelerator that kernels need. All rates are peaks of one device. */
#pragma once

#include "sim/base/units.h"

/* Number formats in which matrices are multiplied. */
typedef enum {
  FAB_PRECISION_BF16,
  FAB_PRECISION_FP16,
  FAB_PRECISION_FP32,
  FAB_PRECISION_TF32, /* FP32 in memory, multiplied with shorter mantissas (NVIDIA Ampere and later) */
  FAB_PRECISION_FP8,
  FAB_N_PRECISIONS
} FabPrecision;

extern const char *const fab_precision_names[FAB_N_PRECISIONS + 1]; /* "bf16", ...; NULL-ended */
FabBytes fab_precision_bytes (FabPrecision precision);              /* size of one number */

typedef struct {
  const char *architecture;                  /* "ampere", "hopper": the key of constants; NULL: unknown */
  double peak_flops_per_s[FAB_N_PRECISIONS]; /* dense; 0: not supported */
  /* Share of the peak that the best matrix multiplication reaches; 0: unknown. */
  double matmul_fraction;
  guint n_sms; /* streaming multiprocessors or compute units; 0: unknown */
  FabBytes memory_bytes;
  FabBytesPerS memory_bytes_per_s;
} FabDevice;

/* Returns the rate at which the device multiplies numbers of this format, in FLOP/s. A format without a matrix unit
 * has the rate of the format to which it is widened (FP8 to BF16, TF32 to FP32). */
double fab_device_peak (const FabDevice *self, FabPrecision precision);
