/* SPDX-License-Identifier: Apache-2.0 */
/* software.h - what is known of the software of a training job beside the mathematics of its model. */
#pragma once

#include <glib.h>

typedef enum {
  FAB_LOSS_LOGITS, /* on logits as they are */
  FAB_LOSS_FP32,   /* on logits in 4 bytes */
  FAB_LOSS_FUSED,  /* one kernel forward and one backward */
} FabLoss;

/* Kernels of attention. */
typedef enum {
  FAB_ATTENTION_FLASH1,
  FAB_ATTENTION_FLASH2,
  FAB_ATTENTION_FLASH3,
  FAB_ATTENTION_CUDNN,
  FAB_ATTENTION_UNFUSED, /* the scores go through memory: no kernel of this file */
} FabAttentionKernel;

typedef enum { FAB_ADAM_FUSED, FAB_ADAM_FOREACH } FabAdam;

typedef struct {
  const char *stack;        /* "eager", "megatron": what runs the job */
  guint pytorch;            /* release: major x 100 + minor */
  gboolean is_pytorch_said; /* by the scenario; else it is the usual one of the accelerator */
  gboolean has_autocast;    /* weights are in FP32, and each pass casts them */
  FabLoss loss;
  FabAdam adam;
} FabSoftware;
