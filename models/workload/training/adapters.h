/* SPDX-License-Identifier: Apache-2.0 */
/* adapters.h - a model whose weights are frozen, with low-rank adapters that are trained (LoRA, Hu et al. 2021, arXiv
 * 2106.09685).
 *
 * Beside each matrix of k x n in a block stand two of k x r and r x n; what they make is added to what the matrix
 * makes. The router, the embedding and the head have none (as in Megatron-Bridge, whose default targets are
 * linear_qkv, linear_proj, linear_fc1 and linear_fc2; MLPerf's Llama 2 70B has the first two). Each expert has
 * adapters of its own. Backward still goes through the frozen matrices, for the adapters of the layers before, but
 * has no product for their gradients; frozen weights have no gradient and no optimizer state.
 */
#pragma once

#include "sim/execution/layers.h"

typedef enum { ADAPTERS_ALL, ADAPTERS_ATTENTION } AdapterTargets;

/* The stack with frozen weights and adapters of this rank. (transfer full) */
FabLayerStack *adapters_add (const FabLayerStack *stack, gint64 rank, AdapterTargets targets);
