/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h - a neural network as training traffic sees it: layers of segments, operators and tensors.
 *
 * Layers are in forward order, tensors in registration order. A segment is what lies between two places where ranks
 * of a model-parallel group talk: tensor parallelism puts an all-reduce after each (Megatron: one after attention,
 * one after the MLP), expert parallelism an all-to-all before and after its experts, context parallelism moves keys
 * and values through its attention. Parameter counts are exact; FLOPs are of one forward pass for one token
 * (a multiply-add is two); bytes are per token with activations of 2 bytes.
 */
#pragma once

#include "sim/base/param.h"
#include "sim/work/device.h"

typedef enum {
  FAB_OPERATOR_MATMUL,    /* every token times a matrix of k x n */
  FAB_OPERATOR_ATTENTION, /* scores and values of all heads */
  FAB_OPERATOR_MEMORY,    /* norms, activations, lookups: bound by memory, FLOPs do not count */
} FabOperatorKind;

typedef struct {
  const char *name; /* static: "qkv", "scores", "norm" */
  FabOperatorKind kind;
  double flops;      /* forward, per token */
  double bytes;      /* activations read and written forward, per token; not the matrix */
  gint64 n, k;       /* MATMUL: columns, rows; of one expert where there are several */
  gint64 n_matrices; /* MATMUL: experts that the tokens are spread over, else 1 */
  gboolean is_split; /* ranks of a tensor-parallel group have 1/n of it each; else all of them do it */
} FabOperator;

typedef enum {
  FAB_TENSOR_WHOLE, /* every rank of a tensor-parallel group has it */
  FAB_TENSOR_SPLIT, /* each has its part */
  FAB_TENSOR_EXPERT, /* of experts: expert-parallel ranks have some of them each, tensor-parallel ranks their part */
} FabTensorKind;

typedef struct {
  guint64 parameters;
  FabTensorKind kind;
  guint segment; /* of its layer */
} FabTensor;

typedef struct {
  const char *name;     /* static: "attention", "mlp", "router", "shared", "experts", "embedding", "head" */
  GArray *operators;    /* FabOperator */
  double forward_flops; /* per token, sum of the operators */
  gboolean is_split;    /* tensor parallelism ends it with an all-reduce of hidden_bytes per token */
  double context_bytes; /* keys and values of a token, which context parallelism sends around; 0: none */
  double
      expert_bytes; /* of a token, to its experts (and as many back): experts per token x hidden; 0: none */
  double saved_whole_bytes; /* kept for backward, per token: what tensor parallelism does not divide, */
  double saved_split_bytes; /* what it does, */
  double saved_score_bytes; /* and what selective recomputation saves (attention scores; divided too) */
} FabSegment;

typedef struct {
  char *name;
  GArray *segments; /* FabSegment, at least one */
  GArray *tensors;  /* FabTensor */
  guint64 parameters;
  double forward_flops_per_token;
  double hidden_bytes; /* of a token between this layer and the next */
  gboolean
      is_block; /* one of the repeated ones: what FSDP wraps, pipelines divide and recomputation repeats */
} FabLayer;

typedef struct {
  GArray *layers; /* FabLayer */
  guint64 parameters;
  guint64 active_parameters; /* that a token is multiplied with: fewer with experts */
  double forward_flops_per_token;
} FabLayerStack;

FabLayerStack *fab_layer_stack_new (void);
void fab_layer_stack_free (FabLayerStack *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLayerStack, fab_layer_stack_free)

/* Each goes to the last layer, or to the last segment of the last layer. */
FabLayer *fab_layer_stack_add_layer (FabLayerStack *self, char *name, double hidden_bytes); /* takes `name` */
FabSegment *fab_layer_stack_add_segment (FabLayerStack *self, const char *name);
void fab_layer_stack_add_operator (FabLayerStack *self, const FabOperator *op);
/* `active_parameters`: of it, that a token is multiplied with. */
void fab_layer_stack_add_tensor (FabLayerStack *self, FabTensorKind kind, guint64 parameters,
                                 guint64 active_parameters);

static inline const FabLayer *
fab_layer_stack_layer (const FabLayerStack *self, guint index)
{
  return &g_array_index (self->layers, FabLayer, index);
}

static inline const FabSegment *
fab_layer_segment (const FabLayer *self, guint index)
{
  return &g_array_index (self->segments, FabSegment, index);
}

static inline const FabTensor *
fab_layer_tensor (const FabLayer *self, guint index)
{
  return &g_array_index (self->tensors, FabTensor, index);
}

typedef struct {
  FabModelInfo info;
  /* Appends the layers for sequences of `sequence` tokens. */
  void (*expand) (gconstpointer params, guint sequence, FabLayerStack *stack);
} FabShapeOps;

/* One pass of one rank through one segment. */
typedef struct {
  const FabLayer *layer;
  const FabSegment *segment;
  gboolean is_backward; /* else forward, or its recomputation */
  double tokens;        /* that the rank works on */
  guint n_split;        /* ranks of the tensor-parallel group */
  guint n_expert;       /* ranks of the expert-parallel group */
  FabPrecision precision;
} FabPass;

/* FLOPs of it that the rank executes: backward is twice forward. */
double fab_pass_flops (const FabPass *self);

typedef struct {
  FabModelInfo info;
  /* Of one pass of a layer that `check_layers` has let through; > 0 where the pass does anything. */
  double (*seconds) (gconstpointer params, const FabDevice *device, const FabPass *pass);
  /* Whether it has a time for every layer of the stack; the error names all that it has none for. To be called before
   * the first `seconds`. NULL: it has one for every layer. */
  gboolean (*check_layers) (gconstpointer params, const FabLayerStack *stack, GError **error);
} FabComputeOps;

/* `check_layers` of the chosen model. */
gboolean fab_compute_check_layers (const FabModelChoice *compute, const FabLayerStack *stack, GError **error);
