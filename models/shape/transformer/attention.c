/* SPDX-License-Identifier: Apache-2.0 */
/* The attention segment: grouped queries, or multi-head latent attention.
 *
 * Grouped queries (Ainslie et al. 2023, arXiv 2305.13245): h -> q + k + v in one matrix, attended -> h. Latent
 * (DeepSeek-V2, arXiv 2405.04434, section 2.1): h -> q_lora -> heads (nope + rope) for queries, or directly from h; h
 * -> kv_lora + rope, kv_lora -> heads (nope + v) for keys and values. Every tensor-parallel rank has the whole
 * down-projections; the up-projections are divided by heads.
 *
 * FLOPs of scores and values per token: 2 s (q + attended), without discount for the causal mask; 4 s h for plain
 * heads. Kept for the backward pass (Korthikanti et al. 2022, arXiv 2205.05198, section 4.1): inputs of matrices and
 * norms, queries, keys and values; with full attention 2 a s for the softmax, and with dropout 3 a s more (its mask
 * and its output). A flash kernel keeps only one fp32 number per head instead (Dao et al. 2022, arXiv 2205.14135).
 */

#include "models/shape/transformer/transformer.h"

static gboolean
has_biases (const FabTransformerParams *p, gint choice)
{
  return choice == FAB_BIASES_AUTO ? p->has_biases : choice == FAB_BIASES_YES;
}

static void
add_grouped (const FabTransformerParams *p, FabLayerStack *stack)
{
  gint64 q = transformer_query_width (p), k = transformer_key_width (p);
  gint64 head_dim = q / p->heads;
  FabMatrix qkv = { .name = "qkv",
                    .n = q + 2 * k,
                    .k = p->hidden,
                    .split = FAB_MATRIX_COLUMN,
                    .has_biases = has_biases (p, p->qkv_biases),
                    .input = FAB_SAVED_NORM };

  if (p->positions == 0) {
    qkv.n_readers = 3;
    qkv.parts[0] = q;
    qkv.parts[1] = qkv.parts[2] = k;
  }
  transformer_add_matrix (&qkv, stack);
  if (!p->has_qk_norm)
    return;
  transformer_add_memory ("qk_norm", 2.0 * (double) (q + k), TRUE, stack);
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, head_dim);
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, head_dim);
  transformer_keep (stack, FAB_KEPT_ALWAYS, "qk norm input", FAB_SAVED_ROTATED, 2.0 * (double) (q + k), TRUE);
}

static void
add_queries (const FabTransformerParams *p, FabLayerStack *stack)
{
  gint64 rank = p->latent.q_lora_rank;
  FabMatrix direct = { .name = "q",
                       .n = transformer_query_width (p),
                       .k = p->hidden,
                       .split = FAB_MATRIX_COLUMN,
                       .has_biases = has_biases (p, p->qkv_biases),
                       .input = FAB_SAVED_NORM,
                       .n_readers = 2 };
  FabMatrix down = { .name = "q_down",
                     .n = rank,
                     .k = p->hidden,
                     .split = FAB_MATRIX_WHOLE,
                     .has_biases = has_biases (p, p->qkv_biases),
                     .input = FAB_SAVED_NORM,
                     .n_readers = 2 };
  FabMatrix up = { .name = "q_up",
                   .n = transformer_query_width (p),
                   .k = rank,
                   .split = FAB_MATRIX_COLUMN,
                   .input = FAB_SAVED_NORM };

  if (rank == 0) {
    transformer_add_matrix (&direct, stack);
    return;
  }
  transformer_add_matrix (&down, stack);
  transformer_add_norm (p, rank, stack);
  transformer_add_matrix (&up, stack);
}

static void
add_latent (const FabTransformerParams *p, FabLayerStack *stack)
{
  const FabLatentParams *latent = &p->latent;
  FabMatrix down = { .name = "kv_down",
                     .n = latent->kv_lora_rank + latent->qk_rope_head_dim,
                     .k = p->hidden,
                     .split = FAB_MATRIX_WHOLE,
                     .has_biases = has_biases (p, p->qkv_biases),
                     .has_shared_input = TRUE };
  FabMatrix up = { .name = "kv_up",
                   .n = p->heads * (latent->qk_nope_head_dim + latent->v_head_dim),
                   .k = latent->kv_lora_rank,
                   .split = FAB_MATRIX_COLUMN,
                   .input = FAB_SAVED_NORM };

  add_queries (p, stack);
  transformer_add_matrix (&down, stack);
  transformer_add_norm (p, latent->kv_lora_rank, stack);
  transformer_add_matrix (&up, stack);
}

/* Twice the number of tokens that a token sees on the average: of the whole sequence without a window. With a window
 * of w tokens the first w see w / 2 on the average and all others w, which makes w (2 - w / s). */
static double
seen_tokens (const FabTransformerParams *p, gint64 block, guint sequence)
{
  double w = (double) p->window.width;
  gboolean is_full = p->window.width == 0 || p->window.width >= sequence
                  || (p->window.full_every > 0 && (block + 1) % p->window.full_every == 0);

  return is_full ? sequence : w * (2 - w / sequence);
}

/* Log-sums of the softmax in FP32. Plain code that rotates pairs of numbers hands contiguous queries to attention,
 * heads before tokens. A kernel that writes its output in their order makes the tokens' order a copy, which the
 * projection keeps beside the output. */
static void
keep_flash (const FabTransformerParams *p, double out, FabLayerStack *stack)
{
  fab_layer_stack_add_saved (stack, &(FabSaved){ .name = "log-sums",
                                                 .kind = FAB_SAVED_ATTENTION,
                                                 .bytes = 4.0 * (double) p->heads,
                                                 .kernels = FAB_KEPT_ALWAYS,
                                                 .is_split = TRUE,
                                                 .is_exact = TRUE });
  if (p->positions == 0)
    transformer_keep (stack, FAB_KEPT_EAGER, "attended, by heads", FAB_SAVED_ATTENTION, 2.0 * out, TRUE);
}

static void
add_scores (const FabTransformerParams *p, double seen, FabSegment *segment, FabLayerStack *stack)
{
  double q = (double) transformer_query_width (p), k = (double) transformer_key_width (p);
  double v = (double) transformer_value_width (p), out = (double) transformer_attended_width (p);
  double scores = (double) p->heads * seen;
  FabOperator op = { .name = "scores",
                     .kind = FAB_OPERATOR_ATTENTION,
                     .n = (gint64) seen,
                     .k = transformer_query_width (p) / p->heads,
                     .flops = 2.0 * seen * (q + out),
                     .bytes = 2.0 * (q + k + v + out),
                     .is_split = TRUE };

  if (p->positions == 0)
    transformer_add_memory ("rotary", 2.0 * (q + k), TRUE, stack);
  segment->context_bytes = 2.0 * (k + v);
  if (p->latent.kv_lora_rank > 0) {
    segment->cache_bytes = 2.0 * (double) (p->latent.kv_lora_rank + p->latent.qk_rope_head_dim);
    segment->cache_heads = segment->cache_pieces = 1;
  } else {
    segment->cache_bytes = segment->context_bytes;
    segment->cache_heads = (guint) (p->kv_heads > 0 ? p->kv_heads : p->heads);
    segment->cache_pieces = 2;
  }
  transformer_keep (stack, FAB_KEPT_ALWAYS, "queries, keys and values", FAB_SAVED_ROTATED, 2.0 * (q + k + v),
                    TRUE);
  if (p->attention == FAB_ATTENTION_FLASH) {
    keep_flash (p, out, stack);
  } else {
    transformer_keep (stack, FAB_KEPT_ALWAYS, "scores", FAB_SAVED_SCORES,
                      (p->has_dropout ? 5.0 : 2.0) * scores, TRUE);
    /* write scores, read and write softmax, read values; dropout reads, writes and stores its mask */
    op.bytes += (p->has_dropout ? 13.0 : 8.0) * scores;
  }
  fab_layer_stack_add_operator (stack, &op);
  if (p->has_sinks)
    transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->heads);
}

/* The segments of a block, and the layers around the blocks. */
void
transformer_add_attention (const FabTransformerParams *p, gint64 block, guint sequence, FabLayerStack *stack)
{
  FabSegment *segment = fab_layer_stack_add_segment (stack, "attention");
  FabMatrix projection = { .name = "projection",
                           .n = p->hidden,
                           .k = transformer_attended_width (p),
                           .split = FAB_MATRIX_ROW,
                           .has_biases = has_biases (p, p->projection_biases),
                           .input = FAB_SAVED_ATTENTION };

  segment->is_split = TRUE;
  transformer_add_norm (p, p->hidden, stack);
  if (p->latent.kv_lora_rank > 0)
    add_latent (p, stack);
  else
    add_grouped (p, stack);
  add_scores (p, seen_tokens (p, block, sequence), segment, stack);
  transformer_add_matrix (&projection, stack);
  if (p->norms == 4)
    transformer_add_norm (p, p->hidden, stack);
  transformer_add_residual (p, stack);
}
