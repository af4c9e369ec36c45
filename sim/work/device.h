/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - an accelerator as kernels see it. All rates are peaks of one device. */
#pragma once

#include "sim/base/units.h"

/* Types in which matrices are multiplied. */
typedef enum {
  FAB_PRECISION_BF16,
  FAB_PRECISION_FP16,
  FAB_PRECISION_FP32,
  FAB_PRECISION_TF32, /* FP32 in memory, multiplied with shorter mantissas (NVIDIA, Ampere and later) */
  FAB_PRECISION_FP8,
  FAB_N_PRECISIONS
} FabPrecision;

extern const char *const fab_precision_names[FAB_N_PRECISIONS + 1]; /* "bf16", ...; NULL-ended */
FabBytes fab_precision_bytes (FabPrecision precision);              /* of one number */

typedef struct {
  const char *architecture; /* "ampere", "hopper": what constants are keyed by; NULL: not known */
  double peak_flops_per_s[FAB_N_PRECISIONS]; /* dense; 0: it has none */
  double matmul_fraction; /* of peak that the best matrix multiplication reaches, 0: not known */
  guint n_sms;            /* streaming multiprocessors or compute units, 0: not known */
  FabBytes memory_bytes;
  FabBytesPerS memory_bytes_per_s;
} FabDevice;

/* The rate at which it multiplies numbers of this type, FLOP/s: where it has no such matrix unit, that of the type they
 * are widened to (FP8 to BF16, TF32 to FP32). */
double fab_device_peak (const FabDevice *self, FabPrecision precision);
