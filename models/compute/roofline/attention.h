/* SPDX-License-Identifier: Apache-2.0 */
/* attention.h - how long a fused attention kernel takes. */
#pragma once

#include "sim/execution/software.h"
#include "sim/machine/cluster.h"

/* Constants of a pass; how they enter the time is said in attention.c. */
typedef struct {
  double share;           /* of the peak in 16 bits */
  double diagonal_tokens; /* by which a causal kernel computes more than half of the square */
  double tail;            /* of the longest block, which runs alone */
  double narrow;          /* factor on the share where a head has fewer than 128 numbers */
  const char *fitted_to;  /* a table of validate/measured/kernels; NULL: inferred from another row */
} FabAttentionRates;

typedef struct {
  FabAttentionKernel kernel;
  const char *architecture; /* NULL: of all others */
  FabAttentionRates forward, backward;
} FabAttentionConstants;

/* All of them; `n` is their number. */
const FabAttentionConstants *fab_attention_constants (guint *n);

typedef struct {
  double forward_flops; /* that a forward pass executes: half of all scores where it is causal */
  double tokens;        /* of a sequence; 0: unknown */
  double head_width;    /* 0: unknown */
  gboolean is_causal, is_backward;
} FabAttention;

/* Seconds of the kernel on its arithmetic; its memory traffic is the caller's. `peak_flops_per_s` is the rate of the
 * device in 16 bits at its present clock, `scale_factor` a factor on it; no kernel exceeds the peak. */
double fab_attention_seconds (const FabDevice *device, FabAttentionKernel kernel,
                              const FabAttention *attention, double peak_flops_per_s, double scale_factor);
