/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - the forward and backward passes of a stage through its layers, with the communication inside them.
 *
 * Tensor parallelism (Shoeybi et al. 2019, arXiv 1909.08053): the forward pass of a divided segment ends with an
 * all-reduce of hidden bytes x tokens. Its backward pass ends with another one, during which the gradients of the
 * weights of the segment's first matrices are computed (megatron/core/tensor_parallel/layers.py). With sequence
 * parallelism (Korthikanti et al. 2022, arXiv 2205.05198) a reduce-scatter takes the place of each all-reduce, an
 * all-gather comes before the segment, and the backward pass gathers the segment's input once more while it computes.
 *
 * Expert parallelism: an all-to-all sends tokens to the experts and another one sends the results back, in both
 * passes.
 *
 * Context parallelism: keys and values go round the group while attention computes, and in the backward pass their
 * gradients too; or all are gathered before (Llama 3, arXiv 2407.21783, section 3.3.2).
 */
#pragma once

#include "models/workload/training/job.h"
#include "models/workload/training/pipeline.h"

void stage_forward (Stage *stage, guint chunk, guint micro);

/* The whole backward pass, or (`has_weights` FALSE) the part that computes the gradients of the activations. */
void stage_backward (Stage *stage, guint chunk, guint micro, gboolean has_weights);

/* The rest of such a backward pass: the gradients of the weights. */
void stage_weights (Stage *stage, guint chunk, guint micro);

/* A forward pass and a whole backward pass together: layer by layer one computes while the other communicates. */
void stage_pair (Stage *stage, const Action *forward, const Action *backward);
