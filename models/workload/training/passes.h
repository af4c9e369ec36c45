/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - a stage's way through its layers, with the communication inside them.
 *
 * Tensor parallelism (Shoeybi et al. 2019, arXiv 1909.08053): a divided segment ends its forward pass with an
 * all-reduce of hidden bytes x tokens, and its backward pass with another one, which runs while the weights'
 * gradients of the segment's first matrices are computed (megatron/core/tensor_parallel/layers.py). With sequence
 * parallelism (Korthikanti et al. 2022, arXiv 2205.05198) each is a reduce-scatter, an all-gather precedes the
 * segment, and backward gathers its input once more, beside the compute.
 * Expert parallelism: an all-to-all to the experts and one back, both ways.
 * Context parallelism: keys and values go around the group while attention computes, and their gradients too in
 * backward; or all are gathered before (Llama 3, arXiv 2407.21783, section 3.3.2).
 */
#pragma once

#include "models/workload/training/train.h"

typedef enum { CONTEXT_RING, CONTEXT_GATHER } ContextKind;
extern const char *const context_kinds[];

void stage_forward (Stage *stage, guint chunk, guint micro);
/* All of it, or without the weights' gradients. */
void stage_backward (Stage *stage, guint chunk, guint micro, gboolean has_weights);
/* The weights' gradients that were left out. */
void stage_weights (Stage *stage, guint chunk, guint micro);

/* Seconds of one rank for one micro-batch through a layer, without communication. */
double train_layer_seconds (const Train *train, const FabLayer *layer, gboolean is_backward);
