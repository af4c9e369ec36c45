/* SPDX-License-Identifier: Apache-2.0 */
/* mamba.c - a Mamba-2 block (Dao and Gu 2024, arXiv 2405.21060), as Nemotron-H has it (arXiv 2504.03624).
 *
 * With d = heads x head_dim, G groups and a state of N: h -> 2 d + 2 G N + heads (gate, x, B, C, time steps) in one
 * matrix, a convolution over d + 2 G N channels, the scan, a gated norm of d, and d -> h. Tensor parallelism divides
 * heads and groups. Time steps and decay are heads parameters each, as is the way around the scan.
 *
 * FLOPs of the scan: 7 d N per token, forward, as Megatron-LM counts them (megatron/training/training.py,
 * mamba_layer_flops); its products are small, so its time is traffic rather: x, B and C are read twice, y is
 * written, and the states of the chunks, N d numbers in fp32 each, are written, read, passed on and read again
 * (mamba_ssm/ops/triton: chunk_state, state_passing, chunk_scan). With both the scan of a head of 64 and a state of
 * 128 takes as long as FlashAttention-2 with 2000 tokens on an A100, where the paper's figure 10 has the two cross.
 *
 * Kept for backward: the input of the norm and of the first matrix, its output, y, and the input of the last matrix;
 * states and the convolution are computed again.
 */
#include "models/shape/transformer/transformer.h"

static void
add_scan (const FabMambaParams *m, double channels, FabLayerStack *stack)
{
  double d = (double) (m->heads * m->head_dim), state = (double) m->state;
  FabOperator scan = {
    .name = "scan", .kind = FAB_OPERATOR_MATMUL, .flops = 7.0 * d * state, .n_matrices = 1, .is_split = TRUE
  };

  fab_layer_stack_add_operator (stack, &scan);
  transformer_add_memory ("states", 2 * channels + d + 8.0 * state * d / (double) m->chunk, TRUE, stack);
  for (guint i = 0; i < 3; i++) /* decay, the way around, biases of time steps */
    transformer_add_tensor (stack, FAB_TENSOR_SPLIT, m->heads);
  transformer_keep (stack, FAB_KEPT_ALWAYS, "output of the scan", FAB_SAVED_ATTENTION, 2.0 * d, TRUE);
}

void
transformer_add_mamba (const FabTransformerParams *p, FabLayerStack *stack)
{
  const FabMambaParams *m = &p->mamba;
  gint64 d = m->heads * m->head_dim, channels = d + 2 * m->groups * m->state;
  FabSegment *segment = fab_layer_stack_add_segment (stack, "mamba");
  FabMatrix in = { .name = "in",
                   .n = d + channels + m->heads,
                   .k = p->hidden,
                   .split = FAB_MATRIX_COLUMN,
                   .has_biases = p->has_biases,
                   .input = FAB_SAVED_NORM,
                   .keeps_output = TRUE };
  FabMatrix out = { .name = "out",
                    .n = p->hidden,
                    .k = d,
                    .split = FAB_MATRIX_ROW,
                    .has_biases = p->has_biases,
                    .input = FAB_SAVED_ACTIVATED };

  segment->is_split = TRUE;
  transformer_add_norm (p, p->hidden, stack);
  transformer_add_matrix (&in, stack);
  transformer_add_memory ("convolution", 2.0 * (double) channels, TRUE, stack);
  transformer_add_tensor (stack, FAB_TENSOR_SPLIT, channels * m->convolution);
  transformer_add_tensor (stack, FAB_TENSOR_SPLIT, channels);
  add_scan (m, (double) channels, stack);
  transformer_add_memory ("gated_norm", 3.0 * (double) d, TRUE, stack);
  transformer_add_tensor (stack, FAB_TENSOR_SPLIT, d);
  transformer_add_matrix (&out, stack);
  transformer_add_residual (p, stack);
}
