/* SPDX-License-Identifier: Apache-2.0 */
/* memory_bound.h - the kernels that software runs for an operator that is bound by memory. */
#pragma once

#include "sim/execution/software.h"

/* Kernels of one pass, in all. `bytes_factor` is on the bytes that the shape counts for the forward pass. */
typedef struct {
  guint n_kernels;
  double bytes_factor;
  double rate_factor; /* of the rate of a plain elementwise kernel */
} FabKernels;

typedef struct {
  gboolean is_fused;       /* compiled or written by hand */
  gboolean has_fused_norm; /* an RMS norm is one kernel even where nothing else is fused */
  FabLoss loss;
} FabKernelChoice;

FabKernels fab_memory_kernels (const char *operator_name, const FabKernelChoice *choice,
                               gboolean is_backward);

/* Rates of kernels beside that of a plain elementwise one, fitted by validate/kernels/fit.py to the calibrating rows of
 * h100_memory_bound (validate/measured/kernels). */
#define FAB_NORM_RATE_FACTOR 0.66 /* layer and RMS norms */
#define FAB_DROPOUT_RATE_FACTOR 0.61
#define FAB_SOFTMAX_RATE_FACTOR 0.74   /* log-softmax of the loss */
#define FAB_OPTIMIZER_RATE_FACTOR 0.86 /* fused AdamW */
