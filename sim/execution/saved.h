/* SPDX-License-Identifier: Apache-2.0 */
/* saved.h - what a segment of a layer leaves behind for the backward pass, tensor by tensor.
 *
 * Which tensors those are depends on the kernels of the software, and which of them stay in memory depends on what is
 * recomputed. So every tensor says what made it and in which software it is kept; who adds the memory up decides.
 */
#pragma once

#include <glib.h>

/* Kernels of a job's software. */
typedef enum {
  FAB_KERNELS_FUSED,    /* Megatron-LM, Transformer Engine: activations and rotations are one kernel each */
  FAB_KERNELS_EAGER,    /* plain PyTorch: autograd keeps what each operator needs */
  FAB_KERNELS_COMPILED, /* torch.compile: what is cheap is computed again in the backward graph */
  FAB_N_KERNELS,
} FabKernelStyle;

/* Sets of kernels, for FabSaved.kernels. */
enum {
  FAB_KEPT_NEVER = 0, /* by no software of its own accord; recomputation by operators keeps it */
  FAB_KEPT_FUSED = 1 << FAB_KERNELS_FUSED,
  FAB_KEPT_EAGER = 1 << FAB_KERNELS_EAGER,
  FAB_KEPT_COMPILED = 1 << FAB_KERNELS_COMPILED,
  FAB_KEPT_ALWAYS = FAB_KEPT_FUSED | FAB_KEPT_EAGER | FAB_KEPT_COMPILED,
};

/* What made a tensor. */
typedef enum {
  FAB_SAVED_STREAM,    /* the residual stream, before a norm; its first tensor is the input of the layer */
  FAB_SAVED_NORM,      /* a norm, before matrices */
  FAB_SAVED_MATRIX,    /* a matrix product */
  FAB_SAVED_ATTENTION, /* the attention kernel: its output, the log-sums of its softmax */
  FAB_SAVED_SCORES,    /* scores of attention that are written to memory */
  FAB_SAVED_ROTATED,   /* queries, keys and values as attention reads them */
  FAB_SAVED_ACTIVATED, /* an activation function, or its product with a gate */
  FAB_SAVED_STATISTIC, /* mean and deviation of a norm, masks of dropout */
  FAB_SAVED_EXCHANGE,  /* tokens on their way to experts and back */
  FAB_SAVED_LOGITS,    /* what the loss keeps of the logits */
} FabSavedKind;

typedef struct {
  const char *name; /* static: "queries" */
  FabSavedKind kind;
  double bytes;      /* per token, numbers of 2 bytes unless `is_exact` */
  guint kernels;     /* FAB_KEPT_...: in which software the backward pass needs it */
  gboolean is_split; /* tensor parallelism divides it */
  gboolean is_exact; /* its bytes do not depend on the precision: statistics in FP32, masks */
  gboolean is_input; /* a matrix multiplies it, so that the gradient of the matrix needs it */
  gint64 n_readers;  /* matrices that read it: under autocast each keeps a cast of its own; 0: one */
  gint64 n, k;       /* MATRIX: columns and rows of the matrix that made it, of one expert's */
  gint64 n_matrices; /* MATRIX: experts among which the tokens are divided, else 1 */
  double flops;      /* MATRIX: of making it, forward, per token */
} FabSaved;
