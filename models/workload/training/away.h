/* SPDX-License-Identifier: Apache-2.0 */
/* away.h - activations of blocks that wait for their backward pass in host memory or on drives.
 *
 * What a block keeps (kept.h) leaves on a stream of its own when the forward pass of the block has ended, while the
 * next block computes. The block after that one waits until it has left, so that the accelerator has the activations of
 * two blocks at most: those that are being made, and those that are leaving. They come back while the backward pass of
 * the block behind runs, and the backward pass of the block waits for them. The block that left last is still there and
 * does not come back.
 *
 * Transformer Engine keeps two buffers and synchronizes at the ends of layers (AsyncDoubleBufferGroupOffloadHandler of
 * transformer_engine/pytorch/cpu_offload.py); Megatron-LM hands it its first --cpu-offloading-num-layers layers.
 * torchtune keeps at most five tensors that are leaving, and uses those in the backward pass that have not left
 * (torchtune/training/_activation_offloading.py, OffloadActivations); it leaves the output layer alone.
 */
#pragma once

#include "models/workload/training/job.h"

/* Whether the activations of a layer leave. */
gboolean away_is_used (const Train *train, guint layer);

/* Called before and after the forward pass of a layer. */
void away_before_forward (Stage *stage, const PassAt *at);
void away_after_forward (Stage *stage, const PassAt *at);

/* Called before the backward pass of a layer, and what it computes again, of a part of the model. */
void away_before_backward (Stage *stage, const Chunk *chunk, const PassAt *at);

void away_clear (Away *self);
