/* SPDX-License-Identifier: Apache-2.0 */
/* kept.h - the activations of one micro-batch in the memory of a rank, layer by layer.
 *
 * A tensor that a segment saves counts if the job's kernels need it (sim/execution/saved.h) and recomputation leaves it
 * (recompute.h). Tensor parallelism divides it, or with sequence parallelism all of it.
 *
 * With sequence parallelism a matrix reads tokens that were gathered. Megatron-LM keeps its own part and gathers again
 * in the backward pass (megatron/core/tensor_parallel/layers.py); PyTorch's DTensor and nanotron keep what was
 * gathered.
 *
 * Types. A number takes 2 bytes, or 4 with FP32. Under autocast the residual stream is FP32, because embeddings and
 * norms are, and each matrix that reads a norm keeps a 16-bit cast of its own: autocast caches casts of weights alone
 * (torch/csrc/autograd, aten/src/ATen/autocast_mode.cpp: cached_cast). Transformer Engine keeps the input of an FP8
 * product in FP8 (transformer_engine/pytorch/module/linear.py); torchao and plain code keep it in 16 bits.
 */
#pragma once

#include "models/workload/training/recompute.h"

typedef struct {
  double kept;      /* from the forward to the backward pass */
  double whole;     /* while its backward pass runs: what was recomputed too */
  double temporary; /* gradients of activations while its backward pass runs, at most */
  double inputs;    /* of what is kept, what a later pass for the weights needs, and gradients for it */
  double logits_kept, logits_most; /* copies of the logits: until the backward pass, and when it begins */
  double logit_numbers;            /* numbers of the logits that the loss has at once */
  double casts;                    /* 16-bit copies of FP32 weights, from the forward to the backward pass */
  gboolean is_away; /* what is kept is not on the accelerator (away.h); kept_layer () leaves it FALSE */
} KeptLayer;

/* Bytes of a micro-batch in layer `index` of the model. `casts_weights`: a rank has FP32 weights itself, of which
 * products read casts. */
KeptLayer kept_layer (const Train *train, guint index, gboolean casts_weights);

/* What the loss makes of the logits, where the keys leave it to the software. */
Loss kept_loss (const Train *train, gboolean is_autocast);

/* Whether products run under autocast: weights are FP32, and no strategy hands them over in 16 bits. */
gboolean kept_is_autocast (const Train *train, gboolean casts_weights);
