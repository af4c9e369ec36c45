/* SPDX-License-Identifier: Apache-2.0 */
/* grouped.h - what software adds to the experts of a layer: copies of tokens, and work of the host for each expert. */
#pragma once

#include "sim/execution/layers.h"

/* How software multiplies with the matrices of many experts. */
typedef struct {
  FabTimePs product_ps;  /* host time to issue the product of one expert; 0: one kernel multiplies for all */
  FabTimePs bias_ps;     /* host time to issue a kernel that adds the bias of one expert; 0: of all */
  FabTimePs readback_ps; /* the host waits for the numbers of tokens of each expert; 0: it needs none */
  gboolean has_padding;  /* tokens are padded for products of a low precision in a copy of their own */
} FabGrouped;

/* Experts of the segment that the rank has; 1: it has none, or one. */
double fab_grouped_experts (const FabPass *pass);

/* Bytes that tokens are copied in the pass by the operator "dispatch" or "combine" of the segment, beyond its own. */
double fab_grouped_copied_bytes (const FabGrouped *self, const FabPass *pass, const FabOperator *op);

/* Host time for the experts of the pass, beyond what all kernels take, in seconds. */
double fab_grouped_host_seconds (const FabGrouped *self, const FabPass *pass);

/* Time that the accelerator waits for the host to read numbers of tokens, in seconds. */
double fab_grouped_readback_seconds (const FabGrouped *self, const FabPass *pass);
