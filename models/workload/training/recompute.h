/* SPDX-License-Identifier: Apache-2.0 */
/* recompute.h - which activations are computed again in the backward pass, and so not kept. The memory that is saved
 * and the time that it costs follow from the same choice.
 *
 *   selective   the scores of attention (Korthikanti et al. 2022, arXiv 2205.05198, section 5)
 *   full        whole blocks, of which the input is kept. With `recompute_layers` n, uniform: n blocks in a row share
 *               one input, and all n are whole in the backward pass; block: the first n of a part of the model are
 *               recomputed and the others are not (Megatron-LM --recompute-method, --recompute-num-layers)
 *   operators   all but matrix products and attention; of the products every `recompute_every`-th is kept, counted
 *               from the first of the block (torchtitan's selective activation checkpointing: 2)
 *   modules     what `recompute_modules` lists, by Megatron-LM's names (--recompute-modules)
 *
 * A whole block ends with a product whose result no gradient needs. Software that stops early does not compute it
 * again: PyTorch's checkpoints that are not re-entrant, from 2.1 on (pytorch/pytorch#96866; a linear layer keeps its
 * input before it multiplies), which FSDP's checkpoint_wrapper is by default, and XLA, which removes what nothing
 * reads. Megatron-LM's and DeepSpeed's own checkpoints are re-entrant and compute all of it.
 */
#pragma once

#include "models/workload/training/job.h"

/* The choices of `recompute_modules`, and whether a text lists nothing else. */
gboolean recompute_modules_check (const char *text, char **wrong);

/* Whether the block is recomputed as a whole. */
gboolean recompute_is_whole (const Train *train, guint layer);

/* What is computed again of a segment of a block that is recomputed as a whole, where that is less than all of it:
 * (transfer full) FabOperator, a beginning of the segment's own; else NULL. */
GArray *recompute_until (const Train *train, const FabLayer *layer, guint segment);

/* Whether the input of a block that is recomputed as a whole is kept: uniform groups keep that of their first. */
gboolean recompute_keeps_input (const Train *train, guint layer);

/* Whether what a segment saves stays in memory until the backward pass, in a block that is not recomputed as a whole.
 * `n_products` counts the matrix products of the block so far; it is advanced. */
gboolean recompute_keeps (const Train *train, const FabLayer *layer, const FabSegment *segment,
                          const FabSaved *saved, guint *n_products);

/* What of a block that is not recomputed as a whole is computed again, as a segment for each of its segments: (transfer
 * full) FabOperator. */
GArray *recompute_operators (const Train *train, const FabLayer *layer, guint segment);

/* Where in its part of the model a block is, counted in blocks. */
guint train_block_index (const Train *train, guint layer);

/* FLOPs per token that are executed again, in all layers of the model. */
double recompute_flops (const Train *train);

/* The kernels of the job's software. */
FabKernelStyle train_kernels (const Train *train);
