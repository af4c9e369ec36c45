/* SPDX-License-Identifier: Apache-2.0 */
/* memory_keys.h - the keys of a training job that say what its software keeps in memory. */
#pragma once

#include "sim/base/param.h"

typedef struct {
  gint states;  /* States */
  gint kernels; /* 0: auto; else FabKernelStyle + 1 */
  gint loss;    /* Loss */
  gint64 loss_chunks;
  gint offload; /* OffloadTo: where activations of blocks wait for their backward pass */
  gint64 offload_layers;
} MemoryParams;

/* Where bytes are kept that are not in use. */
typedef enum { OFFLOAD_NONE, OFFLOAD_CPU, OFFLOAD_NVME } OffloadTo;

extern const char *const offload_places[];

/* In which types a parameter, its gradient and the states of its optimizer are kept. */
typedef enum {
  STATES_AUTO,
  STATES_MIXED, /* 16-bit weights, and an optimizer with a master weight in FP32 */
  STATES_FP32,  /* FP32 weights and gradients; products read 16-bit casts */
  STATES_PURE,  /* everything in the type of the products */
} States;

/* What the loss makes of the logits. */
typedef enum {
  LOSS_AUTO,
  LOSS_PLAIN,    /* log-softmax in the type of the logits */
  LOSS_AUTOCAST, /* log-softmax in FP32, gradients of the logits in 16 bits */
  LOSS_FP32,     /* logits are cast to FP32 first */
  LOSS_FUSED,    /* no log-softmax is written: logits and their gradients */
  LOSS_IN_PLACE, /* gradients overwrite the logits */
} Loss;

extern const FabParam memory_params[];
