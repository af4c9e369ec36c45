/* SPDX-License-Identifier: Apache-2.0 */
/* price.h - the time of a pass from its operators, which `roofline` and `auto` have in common. */
#pragma once

#include "sim/execution/layers.h"

typedef enum {
  FAB_ATTENTION_FLASH1,
  FAB_ATTENTION_FLASH2,
  FAB_ATTENTION_FLASH3,
  FAB_ATTENTION_CUDNN,
} FabAttentionKernel;

/* What software makes of a device. */
typedef struct {
  double
      achievable_fraction; /* of peak, of a large matrix multiplication; 0: by the accelerator's `matmul` */
  double memory_fraction;  /* of the memory rate, that kernels reach */
  double scale_factor;     /* on the rates of all kernels, which do not exceed the peak by it */
  gint attention;          /* FabAttentionKernel */
  gboolean is_causal;
  gboolean
      is_fused; /* an operator bound by memory is one kernel; else as many as eager software runs for it */
  /* What adding a weight's gradient to that of earlier micro-batches moves, beyond the result of the product. */
  double accumulation_bytes;
  FabTimePs launch_ps, issue_ps; /* gap between two kernels; host time to issue a kernel */
} FabPricing;

double fab_price_pass (const FabPricing *pricing, const FabDevice *device, const FabPass *pass);
