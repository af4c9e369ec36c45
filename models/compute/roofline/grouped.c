/* SPDX-License-Identifier: Apache-2.0 */
/* grouped.c - copies of tokens, and work of the host for each expert.
 *
 * Copies. Each reads and writes every copy of a token (expert_bytes of the segment). The operators "dispatch" and
 * "combine" of the shape copy tokens out of and into the order of the micro-batch. Megatron-LM's all-to-all delivers
 * tokens by rank, so that a rank with several experts copies them into the order of its experts, and back again
 * (sort_chunks_by_idxs in token_dispatcher.py). Products in 8 or 4 bits take a multiple of 16 or 32 tokens, to which
 * Fp8Padding and Fp8Unpadding pad in another copy (experts.py). HybridEP does both inside its kernels
 * (skip_routed_expert_padding in moe_utils.py). Backward, each copy goes the other way. The tokens that pad are under
 * 1 % and not counted.
 *
 * Host. TransformerEngine multiplies by a loop over experts (multi_stream_cublas_gemm in cublaslt_gemm.cu), which
 * launches a product for each. Gate and up are one product. Backward there are two for each: by the input and by the
 * weight. Megatron-LM adds the bias of the last matrix expert by expert, in two kernels (_apply_bias in experts.py).
 * The loops need the numbers of tokens on the host, which waits for them once in a forward pass and meanwhile issues
 * nothing.
 */
#include "models/compute/roofline/grouped.h"

#include <string.h>

#include "sim/base/units.h"

static gboolean
is_grouped (const FabPass *pass)
{
  return pass->segment->expert_bytes > 0;
}

double
fab_grouped_experts (const FabPass *pass)
{
  const GArray *operators = pass->segment->operators;
  gint64 n = 1;

  for (guint i = 0; i < operators->len; i++)
    n = MAX (n, g_array_index (operators, FabOperator, i).n_matrices);
  return MAX ((double) n / (n > 1 ? pass->n_expert : 1), 1);
}

double
fab_grouped_copied_bytes (const FabGrouped *self, const FabPass *pass, const FabOperator *op)
{
  gboolean is_copy = strcmp (op->name, "dispatch") == 0 || strcmp (op->name, "combine") == 0;
  double copies = 0;

  if (!is_grouped (pass) || !is_copy)
    return 0;
  if (pass->routing.is_sorted && fab_grouped_experts (pass) > 1)
    copies++;
  if (self->has_padding && pass->routing.is_padded && fab_precision_is_low (pass->precision))
    copies++;
  return 2 * copies * pass->segment->expert_bytes * fab_pass_tokens (pass, op);
}

static gboolean
is_product (const GArray *operators, guint index)
{
  const FabOperator *op = &g_array_index (operators, FabOperator, index);
  gboolean has_gate = index > 0
                   && strcmp (g_array_index (operators, FabOperator, index - 1).name, "gate") == 0;

  return op->kind == FAB_OPERATOR_MATMUL && op->n_matrices > 1 && !has_gate;
}

static guint
count_products (const FabPass *pass, const FabOperator *op)
{
  if (!pass->is_backward)
    return 1;
  return (fab_pass_has_input_product (pass) ? 1 : 0) + (fab_pass_has_weight_product (pass, op) ? 1 : 0);
}

double
fab_grouped_host_seconds (const FabGrouped *self, const FabPass *pass)
{
  enum { KERNELS_OF_A_BIAS = 2 };
  const GArray *operators = pass->segment->operators;
  double per_expert_s = 0;

  if (!is_grouped (pass))
    return 0;
  for (guint i = 0; i < operators->len; i++) {
    const FabOperator *op = &g_array_index (operators, FabOperator, i);

    if (is_product (operators, i))
      per_expert_s += count_products (pass, op) * fab_ps_to_seconds (self->product_ps);
    else if (strcmp (op->name, "expert_bias") == 0)
      per_expert_s += KERNELS_OF_A_BIAS * fab_ps_to_seconds (self->bias_ps);
  }
  return per_expert_s * fab_grouped_experts (pass);
}

double
fab_grouped_readback_seconds (const FabGrouped *self, const FabPass *pass)
{
  return is_grouped (pass) && pass->routing.is_counted && !pass->is_backward
           ? fab_ps_to_seconds (self->readback_ps)
           : 0;
}
