/* SPDX-License-Identifier: Apache-2.0 */
/* price.h - the time of a pass from its operators, which `roofline` and `auto` have in common. */
#pragma once

#include "models/compute/roofline/attention.h"
#include "models/compute/roofline/grouped.h"
#include "models/compute/roofline/memory_bound.h"
#include "sim/execution/layers.h"

/* What software makes of a device. */
typedef struct {
  double
      achievable_fraction; /* of peak, of a large matrix multiplication; 0: by the accelerator's `matmul` */
  double memory_fraction;  /* of the memory rate, that kernels reach */
  double scale_factor;     /* on the rates of all kernels, which do not exceed the peak by it */
  gint attention;          /* FabAttentionKernel */
  gboolean is_causal;
  FabKernelChoice kernels;
  gboolean has_autocast; /* weights are FP32 and cast in each pass; the residual stream is FP32 */
  /* What adding a weight's gradient to that of earlier micro-batches moves, beyond the result of the product. */
  double accumulation_bytes;
  FabTimePs launch_ps, issue_ps; /* gap between two kernels; host time to issue a kernel */
  FabGrouped grouped;
} FabPricing;

/* What the pass is made of; `fab_price_pass` is the sum. */
FabComputeParts fab_price_parts (const FabPricing *pricing, const FabDevice *device, const FabPass *pass);

double fab_price_pass (const FabPricing *pricing, const FabDevice *device, const FabPass *pass);
