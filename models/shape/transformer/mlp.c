/* SPDX-License-Identifier: Apache-2.0 */
/* The second half of a block: an MLP, or a router with experts.
 *
 * MLP: h -> f, activation, f -> h; gated (SwiGLU: Shazeer 2020, arXiv 2002.05202) with two matrices of h -> f.
 * Experts (Mixtral: arXiv 2401.04088; DeepSeekMoE: arXiv 2401.06066): a router of h -> count chooses per_token of them
 * for each token; shared experts see every token and form one wide MLP. The segments are
 *
 *   router    norm and router, on every rank
 *   shared    the shared experts; tensor parallelism divides them as an MLP
 *   latent    with experts.latent: the way up from the width in which tokens go to experts; router has the way down
 *   experts   everything between the two all-to-alls, each of per_token x h numbers per token
 *
 * The matrices of all experts are one tensor each, as grouped matrix multiplications store them.
 *
 * Kept for the backward pass (arXiv 2205.05198): the inputs of matrices and of the activation; for a gate both of its
 * inputs, because the product is the input of the last matrix (fused SwiGLU; eager PyTorch keeps one more f). Experts
 * keep the tokens sent to them and, for the gradient of the router's weights, their outputs.
 */

#include "models/shape/transformer/transformer.h"

typedef struct {
  gint64 width;
  gint64 outer;              /* width of what goes in and comes out; 0: h */
  gint64 experts, per_token; /* 0: a plain MLP */
  gboolean has_shared_input;
} Mlp;

static void
add_matrices (const FabTransformerParams *p, const Mlp *mlp, FabLayerStack *stack)
{
  double n_used = mlp->experts > 0 ? (double) mlp->per_token : 1;
  double inner = n_used * (double) mlp->width * (p->is_gated ? 2 : 1);
  FabMatrix up = { .name = p->is_gated ? "gate" : "up",
                   .n = mlp->width,
                   .k = mlp->outer > 0 ? mlp->outer : p->hidden,
                   .split = FAB_MATRIX_COLUMN,
                   .has_biases = p->has_biases,
                   .has_shared_input = mlp->has_shared_input,
                   .input = FAB_SAVED_NORM,
                   .n_readers = p->is_gated ? 2 : 1,
                   .keeps_output = TRUE,
                   .experts = mlp->experts,
                   .per_token = mlp->per_token };
  FabMatrix down = up;

  transformer_add_matrix (&up, stack);
  up.name = "up";
  up.has_shared_input = TRUE;
  if (p->is_gated)
    transformer_add_matrix (&up, stack);
  transformer_add_memory (p->is_gated ? "gated_activation" : "activation",
                          inner + n_used * (double) mlp->width, TRUE, stack);
  if (p->is_gated)
    transformer_keep (stack, FAB_KEPT_EAGER, "activated gate", FAB_SAVED_ACTIVATED,
                      2.0 * n_used * (double) mlp->width, TRUE);
  down.name = "down";
  down.n = up.k;
  down.k = mlp->width;
  down.split = FAB_MATRIX_ROW;
  down.has_shared_input = down.keeps_output = FALSE;
  down.input = FAB_SAVED_ACTIVATED;
  down.n_readers = 1;
  transformer_add_matrix (&down, stack);
}

void
transformer_add_mlp (const FabTransformerParams *p, FabLayerStack *stack)
{
  FabSegment *segment = fab_layer_stack_add_segment (stack, "mlp");
  Mlp mlp = { .width = transformer_feed_forward_width (p) };

  segment->is_split = TRUE;
  if (p->norms > 1)
    transformer_add_norm (p, p->hidden, stack);
  add_matrices (p, &mlp, stack);
  if (p->norms == 4)
    transformer_add_norm (p, p->hidden, stack);
  transformer_add_residual (p, stack);
}

/* Of a token and expert: the logit is read and the probability written in FP32, and whether the token goes there in a
 * byte; the auxiliary loss and the counts of tokens per expert read the last two. */
static const double routing_bytes = 4 + 4 + 1 + 4 + 1;

static void
add_router (const FabTransformerParams *p, FabLayerStack *stack)
{
  FabMatrix router = { .name = "router",
                       .n = p->experts.count,
                       .k = p->hidden,
                       .split = FAB_MATRIX_WHOLE,
                       .has_biases = p->experts.has_router_biases,
                       .input = FAB_SAVED_NORM };
  FabMatrix latent = { .name = "latent_down",
                       .n = p->experts.latent,
                       .k = p->hidden,
                       .split = FAB_MATRIX_WHOLE,
                       .has_shared_input = TRUE };

  fab_layer_stack_add_segment (stack, "router");
  if (p->norms > 1)
    transformer_add_norm (p, p->hidden, stack);
  transformer_add_matrix (&router, stack);
  transformer_add_memory ("routing", routing_bytes * (double) p->experts.count / 2, FALSE, stack);
  if (p->experts.latent > 0)
    transformer_add_matrix (&latent, stack);
  transformer_keep (stack, FAB_KEPT_ALWAYS, "probabilities in fp32", FAB_SAVED_STATISTIC,
                    4.0 * (double) p->experts.count, FALSE);
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
  add_matrices (p, &mlp, stack);
  if (p->experts.has_shared_gate)
    transformer_add_matrix (&gate, stack);
}

void
transformer_add_experts (const FabTransformerParams *p, FabLayerStack *stack)
{
  gint64 outer = p->experts.latent > 0 ? p->experts.latent : p->hidden;
  double sent = (double) p->experts.per_token * (double) outer;
  FabMatrix latent = {
    .name = "latent_up",
    .n = p->hidden,
    .k = p->experts.latent,
    .split = FAB_MATRIX_WHOLE,
    .input = FAB_SAVED_EXCHANGE,
  };
  Mlp mlp = { .width = transformer_expert_width (p),
              .outer = outer,
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
  segment->expert_copies = (guint) p->experts.per_token;
  fab_layer_stack_add_saved (stack, &(FabSaved){ .name = "tokens of experts",
                                                 .kind = FAB_SAVED_EXCHANGE,
                                                 .bytes = 2.0 * sent,
                                                 .kernels = FAB_KEPT_ALWAYS,
                                                 .is_input = TRUE });
  transformer_keep (stack, FAB_KEPT_ALWAYS, "outputs of experts", FAB_SAVED_EXCHANGE, 2.0 * sent, FALSE);
  transformer_add_memory ("dispatch", sent + (double) outer, FALSE, stack);
  add_matrices (p, &mlp, stack);
  if (p->has_biases) /* of the last matrix, times the probability: a product, a sum and a concatenation */
    transformer_add_memory ("expert_bias", 6 * sent, FALSE, stack);
  transformer_add_memory ("combine", sent + (double) outer, FALSE, stack);
  if (p->experts.latent > 0) {
    fab_layer_stack_add_segment (stack, "latent");
    transformer_add_matrix (&latent, stack);
  }
  if (p->norms == 4)
    transformer_add_norm (p, p->hidden, stack);
  transformer_add_residual (p, stack);
}
