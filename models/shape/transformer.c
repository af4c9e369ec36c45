/* SPDX-License-Identifier: Apache-2.0 */
/* transformer.c - a transformer from its dimensions.
 *
 * Parameters per block, with h hidden, f feed-forward width, and q = k = v heads unless kv_heads is smaller:
 *
 *   attention     h x (h + 2 h kv/heads) + h x h
 *   MLP           2 h f, or 3 h f when gated
 *   two norms     2 h each with biases (LayerNorm), h without (RMSNorm)
 *
 * Outside the blocks: token embedding V h, positions P h, final norm, output V h unless tied. The
 * sections below describe the rest: latent attention, experts, BERT's ends.
 *
 * Forward FLOPs per token: 2 per parameter of every matrix, 4 s h per block for attention scores and values (full,
 * not halved for the causal mask: Narayanan et al. 2021, arXiv 2104.04473, appendix), 2 V h for the output. Other
 * conventions: 6 N per token, forward and backward, leaves out the scores and counts the embedding (Kaplan et al. 2020,
 * arXiv 2001.08361, section 2.1); causal kernels compute half of the scores, 2 s h.
 *
 * Kept for the backward pass: Korthikanti et al. 2022, arXiv 2205.05198, operator by operator. Tensors are in the
 * order in which PyTorch modules register them: embeddings, blocks, final norm, output.
 */
#include "models/models.h"
#include "sim/execution/layers.h"

typedef enum { FAB_ATTENTION_FLASH, FAB_ATTENTION_FULL } FabAttentionKernel;
typedef enum { FAB_NORM_AUTO, FAB_NORM_LAYER, FAB_NORM_RMS, FAB_NORM_NONE } FabNormKind;
typedef enum { FAB_BIASES_AUTO, FAB_BIASES_YES, FAB_BIASES_NO } FabBiases;

typedef struct {
  gint64 q_lora_rank, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim;
} FabLatentParams;

typedef struct {
  gint64 count, per_token, width, shared, dense_layers, every;
  gboolean has_shared_gate, has_router_biases;
} FabExpertsParams;

typedef struct {
  gint64 token_types, classes;
  gboolean has_embedding_norm, has_final_norm, has_pooler, has_head_transform, has_output_biases;
} FabEndsParams;

typedef struct {
  gint64 layers, hidden, heads, kv_heads, head_dim, feed_forward, vocabulary, positions, norms;
  gboolean is_gated, is_tied, has_biases, has_qk_norm, has_dropout;
  gint qkv_biases, projection_biases; /* FabBiases */
  gint norm;                          /* FabNormKind */
  gint attention;                     /* FabAttentionKernel */
  FabLatentParams latent;
  FabExpertsParams experts;
  FabEndsParams ends;
} FabTransformerParams;

/* How a tensor-parallel group divides a matrix. */
typedef enum {
  FAB_MATRIX_WHOLE,  /* every rank has all of it */
  FAB_MATRIX_COLUMN, /* its outputs are divided; every rank has all inputs */
  FAB_MATRIX_ROW,    /* its inputs are divided */
} FabMatrixSplit;

typedef struct {
  const char *name;
  gint64 n, k;
  FabMatrixSplit split;
  gboolean has_biases;
  gboolean has_shared_input; /* another matrix already keeps the input for the backward pass */
  /* Number of such matrices, and how many of them a token uses; 0: one matrix. */
  gint64 experts, per_token;
} FabMatrix;

static void transformer_add_matrix (const FabMatrix *matrix, FabSegment *segment, FabLayerStack *stack);
static void transformer_add_norm (const FabTransformerParams *p, gint64 width, FabSegment *segment,
                                  FabLayerStack *stack);
static void transformer_add_memory (const char *name, double numbers, gboolean is_split,
                                    FabLayerStack *stack);
static void transformer_add_residual (const FabTransformerParams *p, FabSegment *segment,
                                      FabLayerStack *stack);
static void transformer_add_tensor (FabLayerStack *stack, FabTensorKind kind, gint64 parameters);

/* The keys of the transformer, and the widths that follow from them. */

#define ROW(struct_, type_, name_, field_, fallback_, help_)                            \
  .key = name_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_
#define COUNT(struct_, name_, field_, fallback_, min_, help_)                      \
  {                                                                                \
    ROW (struct_, COUNT, name_, field_, fallback_, help_), .min = min_, .max = 1e8 \
  }
#define FLAG(struct_, name_, field_, fallback_, help_)   \
  {                                                      \
    ROW (struct_, BOOL, name_, field_, fallback_, help_) \
  }

static const char *const bias_choices[] = { "auto", "yes", "no", NULL };
static const char *const norm_choices[] = { "auto", "layer", "rms", "none", NULL };
static const char *const attention_choices[] = { "flash", "full", NULL };

static const FabParam latent_params[] = {
  COUNT (FabLatentParams, "q_lora_rank", q_lora_rank, "0", 0,
         "Width that queries go through; 0: none, straight from h."),
  COUNT (FabLatentParams, "kv_lora_rank", kv_lora_rank, "0", 0,
         "Width that keys and values go through; 0: no latent attention."),
  COUNT (FabLatentParams, "qk_nope_head_dim", qk_nope_head_dim, "0", 0,
         "Of a query and key head, without position."),
  COUNT (FabLatentParams, "qk_rope_head_dim", qk_rope_head_dim, "0", 0,
         "Of a query and key head, rotated by position; keys share one."),
  COUNT (FabLatentParams, "v_head_dim", v_head_dim, "0", 0, "Of a value head."),
  { .key = NULL },
};

static const FabParam experts_params[] = {
  COUNT (FabExpertsParams, "count", count, "0", 0,
         "Experts that the router chooses from; 0: an MLP in every block."),
  COUNT (FabExpertsParams, "per_token", per_token, "1", 1, "Experts that a token goes to."),
  COUNT (FabExpertsParams, "width", width, "0", 0, "Feed-forward width of one expert; 0: feed_forward."),
  COUNT (FabExpertsParams, "shared", shared, "0", 0, "Experts that every token goes to, each of that width."),
  COUNT (FabExpertsParams, "dense_layers", dense_layers, "0", 0, "The first so many blocks have an MLP."),
  COUNT (FabExpertsParams, "every", every, "1", 1,
         "Every n-th block has experts, block n-1 first; the others have an MLP."),
  FLAG (FabExpertsParams, "shared_gate", has_shared_gate, "false",
        "The shared experts are weighted by a gate, h parameters."),
  FLAG (FabExpertsParams, "router_biases", has_router_biases, "false",
        "The router has a bias for each expert."),
  { .key = NULL },
};

static const FabParam ends_params[] = {
  COUNT (FabEndsParams, "token_types", token_types, "0", 0, "Token type embeddings (BERT: 2)."),
  FLAG (FabEndsParams, "embedding_norm", has_embedding_norm, "false",
        "A norm after the embeddings (BERT, BLOOM)."),
  FLAG (FabEndsParams, "final_norm", has_final_norm, "true", "A norm after the last block."),
  FLAG (FabEndsParams, "pooler", has_pooler, "false", "h x h on the first token of a sequence (BERT)."),
  COUNT (FabEndsParams, "classes", classes, "0", 0,
         "Classes that the pooler's output is sorted into; 0: no classifier."),
  FLAG (FabEndsParams, "head_transform", has_head_transform, "false",
        "h x h, activation and norm before the output (BERT)."),
  FLAG (FabEndsParams, "output_biases", has_output_biases, "false", "The output has a bias for each token."),
  { .key = NULL },
};

static const FabParam fab_transformer_params[] = {
  { ROW (FabTransformerParams, COUNT, "layers", layers, NULL, "Transformer blocks."), .min = 1, .max = 1e5 },
  COUNT (FabTransformerParams, "hidden", hidden, NULL, 1, "Model width h."),
  COUNT (FabTransformerParams, "heads", heads, NULL, 1, "Attention heads."),
  COUNT (FabTransformerParams, "kv_heads", kv_heads, "0", 0,
         "Key and value heads (grouped-query attention); 0: as many as heads."),
  COUNT (FabTransformerParams, "head_dim", head_dim, "0", 0, "Width of a head; 0: h / heads."),
  COUNT (FabTransformerParams, "feed_forward", feed_forward, "0", 0, "Width of the MLP; 0: 4 h."),
  FLAG (FabTransformerParams, "gated", is_gated, "false", "The MLP has a gate (SwiGLU): three matrices."),
  COUNT (FabTransformerParams, "vocabulary", vocabulary, NULL, 1, "Tokens in the vocabulary."),
  COUNT (FabTransformerParams, "positions", positions, "0", 0, "Learned position embeddings; 0: none."),
  FLAG (FabTransformerParams, "tied", is_tied, "true", "The output shares the token embedding."),
  FLAG (FabTransformerParams, "biases", has_biases, "true", "Linear layers and norms have biases."),
  { ROW (FabTransformerParams, CHOICE, "qkv_biases", qkv_biases, "auto",
         "Of queries, keys and values; auto: as biases."),
    .choices = bias_choices },
  { ROW (FabTransformerParams, CHOICE, "projection_biases", projection_biases, "auto",
         "Of the attention's output; auto: as biases."),
    .choices = bias_choices },
  { ROW (FabTransformerParams, CHOICE, "norm", norm, "auto",
         "layer: weight and bias; rms: weight alone; none: neither; auto: layer with biases, else rms."),
    .choices = norm_choices },
  { ROW (
        FabTransformerParams, COUNT, "norms", norms, "2",
        "Norms of a block: 2; 1 where attention and MLP share it (Falcon 7B); 4 where each ends with one (Gemma 2)."),
    .min = 1, .max = 4 },
  FLAG (FabTransformerParams, "qk_norm", has_qk_norm, "false",
        "Queries and keys are normalised head by head (Qwen3)."),
  { ROW (FabTransformerParams, CHOICE, "attention", attention, "flash",
         "flash: the scores are never kept; full: they are, and selective recomputation saves them."),
    .choices = attention_choices },
  FLAG (FabTransformerParams, "dropout", has_dropout, "false", "Dropout, whose masks are kept for backward."),
  { ROW (FabTransformerParams, TABLE, "latent", latent, NULL, "Multi-head latent attention (DeepSeek)."),
    .table = latent_params, .table_size = sizeof (FabLatentParams) },
  { ROW (FabTransformerParams, TABLE, "experts", experts, NULL, "Mixture of experts."),
    .table = experts_params, .table_size = sizeof (FabExpertsParams) },
  { ROW (FabTransformerParams, TABLE, "ends", ends, NULL, "What stands before and after the blocks."),
    .table = ends_params, .table_size = sizeof (FabEndsParams) },
  { .key = NULL },
};

static gint64
head_dim (const FabTransformerParams *p)
{
  return p->head_dim > 0 ? p->head_dim : p->hidden / p->heads;
}

/* Widths that follow from the parameters, summed over all heads. */
static gint64
transformer_query_width (const FabTransformerParams *p)
{
  if (p->latent.kv_lora_rank > 0)
    return p->heads * (p->latent.qk_nope_head_dim + p->latent.qk_rope_head_dim);
  return p->heads * head_dim (p);
}

static gint64
transformer_key_width (const FabTransformerParams *p)
{
  if (p->latent.kv_lora_rank > 0)
    return transformer_query_width (p);
  return (p->kv_heads > 0 ? p->kv_heads : p->heads) * head_dim (p);
}

static gint64
transformer_value_width (const FabTransformerParams *p)
{
  return p->latent.kv_lora_rank > 0 ? p->heads * p->latent.v_head_dim : transformer_key_width (p);
}

/* width of the output of attention */
static gint64
transformer_attended_width (const FabTransformerParams *p)
{
  return p->heads * (p->latent.kv_lora_rank > 0 ? p->latent.v_head_dim : head_dim (p));
}

static gint64
transformer_feed_forward_width (const FabTransformerParams *p)
{
  return p->feed_forward > 0 ? p->feed_forward : 4 * p->hidden;
}

static gint64
transformer_expert_width (const FabTransformerParams *p)
{
  return p->experts.width > 0 ? p->experts.width : transformer_feed_forward_width (p);
}

static gboolean
transformer_has_experts (const FabTransformerParams *p, gint64 layer)
{
  return p->experts.count > 0 && layer >= p->experts.dense_layers && (layer + 1) % p->experts.every == 0;
}

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

static gboolean
has_biases (const FabTransformerParams *p, gint choice)
{
  return choice == FAB_BIASES_AUTO ? p->has_biases : choice == FAB_BIASES_YES;
}

static void
add_grouped (const FabTransformerParams *p, FabSegment *segment, FabLayerStack *stack)
{
  gint64 q = transformer_query_width (p), k = transformer_key_width (p);
  gint64 head_dim = q / p->heads;
  FabMatrix qkv = { .name = "qkv",
                    .n = q + 2 * k,
                    .k = p->hidden,
                    .split = FAB_MATRIX_COLUMN,
                    .has_biases = has_biases (p, p->qkv_biases) };

  transformer_add_matrix (&qkv, segment, stack);
  if (!p->has_qk_norm)
    return;
  transformer_add_memory ("qk_norm", 2.0 * (double) (q + k), TRUE, stack);
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, head_dim);
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, head_dim);
  segment->saved_split_bytes += 2.0 * (double) (q + k);
}

static void
add_queries (const FabTransformerParams *p, FabSegment *segment, FabLayerStack *stack)
{
  gint64 rank = p->latent.q_lora_rank;
  FabMatrix direct = { .name = "q",
                       .n = transformer_query_width (p),
                       .k = p->hidden,
                       .split = FAB_MATRIX_COLUMN,
                       .has_biases = has_biases (p, p->qkv_biases) };
  FabMatrix down = { .name = "q_down",
                     .n = rank,
                     .k = p->hidden,
                     .split = FAB_MATRIX_WHOLE,
                     .has_biases = has_biases (p, p->qkv_biases) };
  FabMatrix up = { .name = "q_up", .n = transformer_query_width (p), .k = rank, .split = FAB_MATRIX_COLUMN };

  if (rank == 0) {
    transformer_add_matrix (&direct, segment, stack);
    return;
  }
  transformer_add_matrix (&down, segment, stack);
  transformer_add_norm (p, rank, segment, stack);
  transformer_add_matrix (&up, segment, stack);
}

static void
add_latent (const FabTransformerParams *p, FabSegment *segment, FabLayerStack *stack)
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
                   .split = FAB_MATRIX_COLUMN };

  add_queries (p, segment, stack);
  transformer_add_matrix (&down, segment, stack);
  transformer_add_norm (p, latent->kv_lora_rank, segment, stack);
  transformer_add_matrix (&up, segment, stack);
}

static void
add_scores (const FabTransformerParams *p, guint sequence, FabSegment *segment, FabLayerStack *stack)
{
  double q = (double) transformer_query_width (p), k = (double) transformer_key_width (p);
  double v = (double) transformer_value_width (p), out = (double) transformer_attended_width (p);
  double scores = (double) p->heads * sequence;
  FabOperator op = { .name = "scores",
                     .kind = FAB_OPERATOR_ATTENTION,
                     .flops = 2.0 * sequence * (q + out),
                     .bytes = 2.0 * (q + k + v + out),
                     .is_split = TRUE };

  segment->context_bytes = 2.0 * (k + v);
  segment->saved_split_bytes += 2.0 * (q + k + v);
  if (p->attention == FAB_ATTENTION_FLASH) {
    segment->saved_split_bytes += 4.0 * (double) p->heads;
  } else {
    segment->saved_score_bytes += (p->has_dropout ? 5.0 : 2.0) * scores;
    /* write scores, read and write softmax, read values; dropout reads, writes and stores its mask */
    op.bytes += (p->has_dropout ? 13.0 : 8.0) * scores;
  }
  fab_layer_stack_add_operator (stack, &op);
}

/* The segments of a block, and the layers around the blocks. */
static void
transformer_add_attention (const FabTransformerParams *p, guint sequence, FabLayerStack *stack)
{
  FabSegment *segment = fab_layer_stack_add_segment (stack, "attention");
  FabMatrix projection = { .name = "projection",
                           .n = p->hidden,
                           .k = transformer_attended_width (p),
                           .split = FAB_MATRIX_ROW,
                           .has_biases = has_biases (p, p->projection_biases) };

  segment->is_split = TRUE;
  transformer_add_norm (p, p->hidden, segment, stack);
  if (p->latent.kv_lora_rank > 0)
    add_latent (p, segment, stack);
  else
    add_grouped (p, segment, stack);
  add_scores (p, sequence, segment, stack);
  transformer_add_matrix (&projection, segment, stack);
  if (p->norms == 4)
    transformer_add_norm (p, p->hidden, segment, stack);
  transformer_add_residual (p, segment, stack);
}

/* The second half of a block: an MLP, or a router with experts.
 *
 * MLP: h -> f, activation, f -> h; gated (SwiGLU: Shazeer 2020, arXiv 2002.05202) with two matrices of h -> f.
 * Experts (Mixtral: arXiv 2401.04088; DeepSeekMoE: arXiv 2401.06066): a router of h -> count chooses per_token of them
 * for each token; shared experts see every token and form one wide MLP. The segments are
 *
 *   router    norm and router, on every rank
 *   shared    the shared experts; tensor parallelism divides them as an MLP
 *   experts   everything between the two all-to-alls, each of per_token x h numbers per token
 *
 * The matrices of all experts are one tensor each, as grouped matrix multiplications store them.
 *
 * Kept for the backward pass (arXiv 2205.05198): the inputs of matrices and of the activation; for a gate both of its
 * inputs, because the product is the input of the last matrix (fused SwiGLU; eager PyTorch keeps one more f). Experts
 * keep the tokens sent to them and, for the gradient of the router's weights, their outputs.
 */

typedef struct {
  gint64 width;
  gint64 experts, per_token; /* 0: a plain MLP */
  gboolean has_shared_input;
} Mlp;

static void
add_matrices (const FabTransformerParams *p, const Mlp *mlp, FabSegment *segment, FabLayerStack *stack)
{
  double n_used = mlp->experts > 0 ? (double) mlp->per_token : 1;
  double inner = n_used * (double) mlp->width * (p->is_gated ? 2 : 1);
  FabMatrix up = { .name = p->is_gated ? "gate" : "up",
                   .n = mlp->width,
                   .k = p->hidden,
                   .split = FAB_MATRIX_COLUMN,
                   .has_biases = p->has_biases,
                   .has_shared_input = mlp->has_shared_input,
                   .experts = mlp->experts,
                   .per_token = mlp->per_token };
  FabMatrix down = up;

  transformer_add_matrix (&up, segment, stack);
  up.name = "up";
  up.has_shared_input = TRUE;
  if (p->is_gated)
    transformer_add_matrix (&up, segment, stack);
  transformer_add_memory ("activation", inner + n_used * (double) mlp->width, TRUE, stack);
  segment->saved_split_bytes += 2.0 * inner;
  down.name = "down";
  down.n = p->hidden;
  down.k = mlp->width;
  down.split = FAB_MATRIX_ROW;
  down.has_shared_input = FALSE;
  transformer_add_matrix (&down, segment, stack);
}

static void
transformer_add_mlp (const FabTransformerParams *p, FabLayerStack *stack)
{
  FabSegment *segment = fab_layer_stack_add_segment (stack, "mlp");
  Mlp mlp = { .width = transformer_feed_forward_width (p) };

  segment->is_split = TRUE;
  if (p->norms > 1)
    transformer_add_norm (p, p->hidden, segment, stack);
  add_matrices (p, &mlp, segment, stack);
  if (p->norms == 4)
    transformer_add_norm (p, p->hidden, segment, stack);
  transformer_add_residual (p, segment, stack);
}

static void
add_router (const FabTransformerParams *p, FabLayerStack *stack)
{
  FabSegment *segment = fab_layer_stack_add_segment (stack, "router");
  FabMatrix router = { .name = "router",
                       .n = p->experts.count,
                       .k = p->hidden,
                       .split = FAB_MATRIX_WHOLE,
                       .has_biases = p->experts.has_router_biases };

  if (p->norms > 1)
    transformer_add_norm (p, p->hidden, segment, stack);
  transformer_add_matrix (&router, segment, stack);
  segment->saved_whole_bytes += 4.0 * (double) p->experts.count; /* probabilities, fp32 */
}

static void
add_shared (const FabTransformerParams *p, FabLayerStack *stack)
{
  FabSegment *segment = fab_layer_stack_add_segment (stack, "shared");
  Mlp mlp = { .width = p->experts.shared * transformer_expert_width (p), .has_shared_input = TRUE };
  FabMatrix gate = {
    .name = "shared_gate", .n = 1, .k = p->hidden, .split = FAB_MATRIX_WHOLE, .has_shared_input = TRUE
  };

  segment->is_split = TRUE;
  add_matrices (p, &mlp, segment, stack);
  if (p->experts.has_shared_gate)
    transformer_add_matrix (&gate, segment, stack);
}

static void
transformer_add_experts (const FabTransformerParams *p, FabLayerStack *stack)
{
  double sent = (double) p->experts.per_token * (double) p->hidden;
  Mlp mlp = { .width = transformer_expert_width (p),
              .experts = p->experts.count,
              .per_token = p->experts.per_token,
              .has_shared_input = TRUE };
  FabSegment *segment;

  add_router (p, stack);
  if (p->experts.shared > 0)
    add_shared (p, stack);
  segment = fab_layer_stack_add_segment (stack, "experts");
  segment->is_split = TRUE;
  segment->expert_bytes = 2.0 * sent;
  segment->saved_whole_bytes = 2.0 * 2.0 * sent;
  transformer_add_memory ("dispatch", sent + (double) p->hidden, FALSE, stack);
  add_matrices (p, &mlp, segment, stack);
  transformer_add_memory ("combine", sent + (double) p->hidden, FALSE, stack);
  if (p->norms == 4)
    transformer_add_norm (p, p->hidden, segment, stack);
  transformer_add_residual (p, segment, stack);
}

/* The layers before and after the blocks.
 *
 * Embedding: V h parameters, positions P h, token types h each (BERT), and a norm where the model has one there.
 * It is looked up, so it takes no FLOPs. Head: the last norm, BERT's transform (h x h and a norm), output V h unless
 * tied, and a pooler h x h with a classifier for the first token of a sequence. Kept for the backward pass (arXiv
 * 2205.05198, section 4.3): inputs of norm and output, logits in fp32, a dropout mask.
 *
 * The loss goes over the logits: it reads them twice (maximum, sum of exponentials; 4 V bytes) and writes them in fp32
 * (4 V bytes); backward reads those, writes their gradients in fp32, and casts these to 16 bits (14 V bytes, counted
 * as 16). A library that does it in separate kernels moves about twice as much: 18 to 46 V forward (log_softmax of
 * PyTorch; megatron/core/tensor_parallel/cross_entropy.py), and one that fuses loss and output moves less.
 */

static void
transformer_add_embedding (const FabTransformerParams *p, FabLayerStack *stack)
{
  FabSegment *segment;

  fab_layer_stack_add_layer (stack, g_strdup ("embedding"), 2 * (double) p->hidden);
  segment = fab_layer_stack_add_segment (stack, "embedding");
  segment->is_split = TRUE;
  transformer_add_memory ("lookup", 2.0 * (double) p->hidden, FALSE, stack);
  transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->vocabulary * p->hidden);
  if (p->positions > 0)
    transformer_add_tensor (stack, FAB_TENSOR_WHOLE, p->positions * p->hidden);
  if (p->ends.token_types > 0)
    transformer_add_tensor (stack, FAB_TENSOR_WHOLE, p->ends.token_types * p->hidden);
  if (p->ends.has_embedding_norm)
    transformer_add_norm (p, p->hidden, segment, stack);
  if (p->has_dropout)
    segment->saved_whole_bytes += (double) p->hidden;
}

/* The head of a masked language model: a matrix, an activation and a norm. */
static void
add_transform (const FabTransformerParams *p, FabSegment *segment, FabLayerStack *stack)
{
  FabMatrix transform = { .name = "transform",
                          .n = p->hidden,
                          .k = p->hidden,
                          .split = FAB_MATRIX_WHOLE,
                          .has_biases = p->has_biases };

  transformer_add_matrix (&transform, segment, stack);
  transformer_add_memory ("activation", 2.0 * (double) p->hidden, FALSE, stack);
  segment->saved_whole_bytes += 2.0 * (double) p->hidden;
  transformer_add_norm (p, p->hidden, segment, stack);
}

static void
add_output (const FabTransformerParams *p, FabSegment *segment, FabLayerStack *stack)
{
  double h = (double) p->hidden, v = (double) p->vocabulary;
  FabOperator output = { .name = "output",
                         .kind = FAB_OPERATOR_MATMUL,
                         .flops = 2.0 * v * h,
                         .bytes = 2.0 * (h + v),
                         .n = p->vocabulary,
                         .k = p->hidden,
                         .n_matrices = 1,
                         .is_split = TRUE };

  fab_layer_stack_add_operator (stack, &output);
  transformer_add_memory ("loss", 4.0 * v, TRUE, stack);
  segment->saved_whole_bytes += 2.0 * h;
  segment->saved_split_bytes += 4.0 * v;
  if (!p->is_tied)
    transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->vocabulary * p->hidden);
  if (p->ends.has_output_biases)
    transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->vocabulary);
}

/* One token of each `sequence` passes through it. */
static void
add_pooler (const FabTransformerParams *p, guint sequence, FabLayerStack *stack)
{
  gint64 h = p->hidden, classes = p->ends.classes;
  FabOperator pooler = { .name = "pooler",
                         .kind = FAB_OPERATOR_MATMUL,
                         .flops = 2.0 * (double) (h + classes) * (double) h / sequence,
                         .bytes = 4.0 * (double) h / sequence,
                         .n = h,
                         .k = h,
                         .n_matrices = 1 };

  fab_layer_stack_add_operator (stack, &pooler);
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, h * h);
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, h);
  if (classes == 0)
    return;
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, classes * h);
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, classes);
}

static void
transformer_add_head (const FabTransformerParams *p, guint sequence, FabLayerStack *stack)
{
  FabSegment *segment;

  fab_layer_stack_add_layer (stack, g_strdup ("head"), 2 * (double) p->hidden);
  segment = fab_layer_stack_add_segment (stack, "head");
  if (p->ends.has_final_norm)
    transformer_add_norm (p, p->hidden, segment, stack);
  if (p->ends.has_pooler)
    add_pooler (p, sequence, stack);
  if (p->ends.has_head_transform)
    add_transform (p, segment, stack);
  add_output (p, segment, stack);
}

#define MAX_PARAMETERS 1e15

static void
transformer_add_tensor (FabLayerStack *stack, FabTensorKind kind, gint64 parameters)
{
  fab_layer_stack_add_tensor (stack, kind, (guint64) parameters, (guint64) parameters);
}

static void
add_matrix_tensors (const FabMatrix *matrix, FabLayerStack *stack)
{
  guint64 weights = (guint64) matrix->n * (guint64) matrix->k, n = (guint64) matrix->n;
  guint64 experts = (guint64) matrix->experts, used = (guint64) matrix->per_token;
  FabTensorKind kind = matrix->split == FAB_MATRIX_WHOLE ? FAB_TENSOR_WHOLE : FAB_TENSOR_SPLIT;

  if (experts > 0) {
    fab_layer_stack_add_tensor (stack, FAB_TENSOR_EXPERT, experts * weights, used * weights);
    if (matrix->has_biases)
      fab_layer_stack_add_tensor (stack, FAB_TENSOR_EXPERT, experts * n, used * n);
    return;
  }
  transformer_add_tensor (stack, kind, matrix->n * matrix->k);
  if (matrix->has_biases) /* the biases of a matrix divided by rows are added once, after the sum */
    transformer_add_tensor (stack, matrix->split == FAB_MATRIX_COLUMN ? FAB_TENSOR_SPLIT : FAB_TENSOR_WHOLE,
                            matrix->n);
}

static void
transformer_add_matrix (const FabMatrix *matrix, FabSegment *segment, FabLayerStack *stack)
{
  double n = (double) matrix->n, k = (double) matrix->k;
  double used = matrix->experts > 0 ? (double) matrix->per_token : 1;
  FabOperator op = { .name = matrix->name,
                     .kind = FAB_OPERATOR_MATMUL,
                     .flops = 2.0 * used * n * k,
                     .bytes = 2.0 * used * (n + k),
                     .n = matrix->n,
                     .k = matrix->k,
                     .n_matrices = MAX (1, matrix->experts),
                     .is_split = matrix->split != FAB_MATRIX_WHOLE };

  fab_layer_stack_add_operator (stack, &op);
  add_matrix_tensors (matrix, stack);
  if (matrix->has_shared_input)
    return;
  if (matrix->split == FAB_MATRIX_ROW)
    segment->saved_split_bytes += 2.0 * used * k;
  else
    segment->saved_whole_bytes += 2.0 * used * k;
}

/* Adds an operator that is bound by memory and moves this many numbers of 2 bytes per token. */
static void
transformer_add_memory (const char *name, double numbers, gboolean is_split, FabLayerStack *stack)
{
  FabOperator op = {
    .name = name, .kind = FAB_OPERATOR_MEMORY, .bytes = 2.0 * numbers, .is_split = is_split
  };

  fab_layer_stack_add_operator (stack, &op);
}

/* `width` is the width of the normalised vector; with `is_split` FALSE every rank normalises all of it. */
static void
transformer_add_norm (const FabTransformerParams *p, gint64 width, FabSegment *segment, FabLayerStack *stack)
{
  gboolean is_layer = p->norm == FAB_NORM_LAYER || (p->norm == FAB_NORM_AUTO && p->has_biases);

  transformer_add_memory ("norm", 2.0 * (double) width, FALSE, stack);
  segment->saved_whole_bytes += 2.0 * (double) width;
  if (p->norm == FAB_NORM_NONE)
    return;
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, width);
  if (is_layer)
    transformer_add_tensor (stack, FAB_TENSOR_WHOLE, width);
}

/* Adds the input of the block to the output of a segment, after dropout. */
static void
transformer_add_residual (const FabTransformerParams *p, FabSegment *segment, FabLayerStack *stack)
{
  transformer_add_memory ("residual", (p->has_dropout ? 3.5 : 3.0) * (double) p->hidden, FALSE, stack);
  if (p->has_dropout)
    segment->saved_whole_bytes += (double) p->hidden; /* the mask takes one byte per number */
}

static void
transformer_expand (gconstpointer params, guint sequence, FabLayerStack *stack)
{
  const FabTransformerParams *p = params;

  transformer_add_embedding (p, stack);
  for (gint64 i = 0; i < p->layers; i++) {
    char *name = g_strdup_printf ("block%" G_GINT64_FORMAT, i);

    fab_layer_stack_add_layer (stack, name, 2 * (double) p->hidden)->is_block = TRUE;
    transformer_add_attention (p, sequence, stack);
    if (transformer_has_experts (p, i))
      transformer_add_experts (p, stack);
    else
      transformer_add_mlp (p, stack);
  }
  transformer_add_head (p, sequence, stack);
}

/* Returns an upper bound of the parameters as a double, so that too large a model is refused before anything
 * overflows. */
static double
most_parameters (const FabTransformerParams *p)
{
  double h = (double) p->hidden, f = (double) transformer_feed_forward_width (p);
  double q = (double) transformer_query_width (p), k = (double) transformer_key_width (p);
  double v = (double) transformer_value_width (p), out = (double) transformer_attended_width (p);
  double ranks = (double) (p->latent.q_lora_rank + p->latent.kv_lora_rank + p->latent.qk_rope_head_dim);
  double experts = (double) (p->experts.count + p->experts.shared);
  double attention = (h + ranks) * (q + k + v + ranks) + h * out;
  double experts_parameters = experts * (h + 3 * (h + 1) * (double) transformer_expert_width (p));
  double ends = (double) (2 * p->vocabulary + p->positions + p->ends.token_types + p->ends.classes);

  return (double) p->layers * (attention + 3 * h * f + experts_parameters) + (h + 1) * ends + 2 * h * h;
}

static void
check_latent (const FabTransformerParams *p, FabCheck *check)
{
  if (p->latent.kv_lora_rank == 0)
    return;
  if (p->latent.qk_nope_head_dim + p->latent.qk_rope_head_dim == 0)
    fab_check_fail (check, &p->latent.qk_nope_head_dim,
                    "latent attention needs qk_nope_head_dim or qk_rope_head_dim");
  if (p->latent.v_head_dim == 0)
    fab_check_fail (check, &p->latent.v_head_dim, "latent attention needs v_head_dim");
}

static void
check_heads (const FabTransformerParams *p, FabCheck *check)
{
  gboolean is_derived = p->head_dim == 0 && p->latent.kv_lora_rank == 0;

  if (is_derived && p->hidden % p->heads != 0)
    fab_check_fail (check, &p->hidden,
                    "hidden %" G_GINT64_FORMAT " is not a multiple of heads %" G_GINT64_FORMAT, p->hidden,
                    p->heads);
  if (p->kv_heads > 0 && p->heads % p->kv_heads != 0)
    fab_check_fail (check, &p->kv_heads,
                    "heads %" G_GINT64_FORMAT " is not a multiple of kv_heads %" G_GINT64_FORMAT, p->heads,
                    p->kv_heads);
}

static void
transformer_check (gconstpointer params, FabCheck *check)
{
  const FabTransformerParams *p = params;
  double most = most_parameters (p);

  if (most > MAX_PARAMETERS)
    fab_check_fail (check, &p->hidden, "that makes %.2g parameters; %.0e are possible", most, MAX_PARAMETERS);
  check_heads (p, check);
  check_latent (p, check);
  if (p->norms == 3)
    fab_check_fail (check, &p->norms, "a block has 1, 2 or 4 norms, not 3");
  if (p->experts.count > 0 && p->experts.per_token > p->experts.count)
    fab_check_fail (check, &p->experts.per_token,
                    "a token cannot go to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " experts",
                    p->experts.per_token, p->experts.count);
  if (p->experts.count == 0 && p->experts.shared > 0)
    fab_check_fail (check, &p->experts.shared, "shared experts without experts: give experts.count");
}

const FabShapeOps fab_shape_transformer = {
  .info = { .name = "transformer",
            .summary = "A transformer from its dimensions: dense or with experts.",
            .doc = "docs/models/transformer.md",
            .params = fab_transformer_params,
            .params_size = sizeof (FabTransformerParams),
            .check = transformer_check },
  .expand = transformer_expand,
};
