/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h - a neural network as a list of layers, with what each computes, stores and sends in training.
 *
 * A layer consists of segments, operators and tensors. Layers are in the order of the forward pass, tensors in the
 * order in which a framework registers them. A segment ends where model-parallel ranks have to communicate: with
 * tensor parallelism an all-reduce follows each segment (Megatron-LM: one after attention, one after the MLP), with
 * expert parallelism an all-to-all comes before and after the experts, and with context parallelism ranks exchange
 * keys and values in attention.
 *
 * Numbers of parameters are exact. FLOPs are those of one forward pass for one token; a multiply-add counts as two.
 * Bytes are per token, with activations of 2 bytes per value.
 */
#pragma once

#include "sim/base/param.h"
#include "sim/base/setup.h"
#include "sim/execution/saved.h"
#include "sim/execution/software.h"
#include "sim/machine/cluster.h"

typedef enum {
  FAB_OPERATOR_MATMUL,    /* multiplies each token with a matrix of k x n */
  FAB_OPERATOR_ATTENTION, /* computes scores and values of all heads */
  FAB_OPERATOR_MEMORY, /* norms, activations, lookups: memory traffic takes the time, FLOPs do not matter */
} FabOperatorKind;

typedef struct {
  const char *name; /* static: "qkv", "scores", "norm" */
  FabOperatorKind kind;
  double flops; /* forward, per token */
  double bytes; /* activations that the forward pass reads and writes, per token; without the matrix */
  /* MATMUL: columns and rows of the matrix; of one expert's where there are several. ATTENTION: tokens of a sequence
 * and width of a head. */
  gint64 n, k;
  gint64 n_matrices; /* MATMUL: number of experts among which the tokens are divided, else 1 */
  /* Each of the n ranks of a tensor-parallel group does 1/n of it; else each does all of it. */
  gboolean is_split;
  gboolean is_frozen; /* MATMUL: the matrix is not trained, so backward has no product for its gradient */
} FabOperator;

typedef enum {
  FAB_TENSOR_WHOLE, /* every rank of a tensor-parallel group has all of it */
  FAB_TENSOR_SPLIT, /* every rank of a tensor-parallel group has its part of it */
  /* Of experts: every expert-parallel rank has some of the experts, every tensor-parallel rank its part of these. */
  FAB_TENSOR_EXPERT,
} FabTensorKind;

typedef struct {
  guint64 parameters;
  FabTensorKind kind;
  guint segment;      /* index of the segment of its layer that uses it */
  gboolean is_frozen; /* it is not trained: it has no gradient and no optimizer state */
} FabTensor;

typedef struct {
  const char *name;     /* static: "attention", "mlp", "router", "shared", "experts", "embedding", "head" */
  GArray *operators;    /* FabOperator */
  double forward_flops; /* per token, the sum of the operators */
  gboolean is_split;    /* tensor parallelism ends the segment with an all-reduce of hidden_bytes per token */
  double context_bytes; /* keys and values of a token, which context-parallel ranks exchange; 0: none */
  /* What serving keeps of a token: bytes with elements of 16 bits, 0: nothing; heads that ranks may divide; and arrays
   * of it, two for keys and values, one for a latent. */
  double cache_bytes;
  guint cache_heads, cache_pieces;
  /* Bytes that a token sends to its experts, and receives from them again, in as many copies as it has experts: each
   * of the hidden width, or of a narrower one that the experts work on; 0: none. */
  double expert_bytes;
  guint expert_copies;
  GArray *saved; /* FabSaved: activations for the backward pass, in the order in which they are made */
  /* Their sums with fused kernels, per token. */
  double saved_whole_bytes; /* those that tensor parallelism does not divide among its ranks */
  double saved_split_bytes; /* those that it divides */
  double saved_score_bytes; /* attention scores: divided too, and not kept with selective recomputation */
} FabSegment;

typedef struct {
  char *name;
  GArray *segments; /* FabSegment, at least one */
  GArray *tensors;  /* FabTensor */
  guint64 parameters;
  double forward_flops_per_token;
  double hidden_bytes; /* what a token sends from this layer to the next */
  /* It is one of the repeated layers (transformer blocks): FSDP wraps each of them, a pipeline divides them among its
   * stages, and full recomputation computes each a second time. */
  gboolean is_block;
} FabLayer;

typedef struct {
  GArray *layers; /* FabLayer */
  guint64 parameters;
  /* Those that a token is multiplied with; fewer than all where there are experts. */
  guint64 active_parameters;
  double forward_flops_per_token;
} FabLayerStack;

FabLayerStack *fab_layer_stack_new (void);
void fab_layer_stack_free (FabLayerStack *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLayerStack, fab_layer_stack_free)

/* A segment or tensor is added to the last layer; an operator and what it saves are added to the last segment of the
 * last layer. */
FabLayer *fab_layer_stack_add_layer (FabLayerStack *self, char *name, double hidden_bytes); /* takes `name` */
FabSegment *fab_layer_stack_add_segment (FabLayerStack *self, const char *name);
void fab_layer_stack_add_operator (FabLayerStack *self, const FabOperator *op);
void fab_layer_stack_add_saved (FabLayerStack *self, const FabSaved *saved);
/* `active_parameters`: the part of the parameters that a token is multiplied with. */
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

static inline const FabSaved *
fab_segment_saved (const FabSegment *self, guint index)
{
  return &g_array_index (self->saved, FabSaved, index);
}

static inline const FabTensor *
fab_layer_tensor (const FabLayer *self, guint index)
{
  return &g_array_index (self->tensors, FabTensor, index);
}

/* FLOPs of the scores of attention and of what is multiplied with them, in a forward pass of one sequence. */
double fab_layer_stack_score_flops (const FabLayerStack *self);

typedef struct {
  FabModelInfo info;
  /* Appends the network's layers to the stack, for sequences of `sequence` tokens. */
  void (*expand) (gconstpointer params, guint sequence, FabLayerStack *stack);
} FabShapeOps;

/* Which gradients a backward pass computes. */
typedef enum {
  FAB_GRADIENTS_ALL,
  FAB_GRADIENTS_INPUTS,  /* of the activations, which the layers before wait for */
  FAB_GRADIENTS_WEIGHTS, /* of the matrices: the rest of such a pass */
} FabGradients;

/* How tokens come to the experts of a rank. */
typedef struct {
  gboolean is_sorted;  /* by rank, so that a rank with several experts puts them into the order of these */
  gboolean is_padded;  /* as many as there are; products of a low precision need them padded, in a copy */
  gboolean is_counted; /* no expert drops any, so that the host has to learn how many each has */
} FabRoutedTokens;

/* One pass (forward or backward) of one rank through one segment. */
typedef struct {
  const FabLayer *layer;
  const FabSegment *segment;
  gboolean is_backward; /* else it is a forward pass, or the recomputation of one */
  double tokens;        /* on which the rank works */
  guint n_split;        /* ranks of the tensor-parallel group */
  guint n_expert;       /* ranks of the expert-parallel group */
  FabPrecision precision;
  gboolean is_accumulating;    /* gradients are added to those of other micro-batches */
  const FabSoftware *software; /* of the job; NULL: not known */
  /* Tokens on which operators work that the ranks of the tensor-parallel group do not divide: with sequence
   * parallelism each of them has its part of the tokens there. 0: all tokens. */
  double shared_tokens;
  FabGradients gradients;  /* of a backward pass */
  FabRoutedTokens routing; /* of a segment of experts */
} FabPass;

/* Whether a backward pass multiplies with a matrix, for the gradient of its input, and whether for that of the
 * matrix. */
gboolean fab_pass_has_input_product (const FabPass *self);
gboolean fab_pass_has_weight_product (const FabPass *self, const FabOperator *op);

/* Tokens on which the rank works in an operator, as if each rank did all of it; `is_split` divides what it does. */
double fab_pass_tokens (const FabPass *self, const FabOperator *op);

/* FLOPs that the rank executes in the pass. A backward pass has twice those of a forward pass: one matrix product for
 * the gradients of the activations, one for those of the weights. */
double fab_pass_flops (const FabPass *self);

/* What the price of a pass is made of, in seconds. */
typedef struct {
  double products_s, attention_s;
  double memory_bound_s; /* kernels that only move bytes: norms, activations, casts, sums of gradients */
  double copies_s;       /* tokens put into the order of experts, and padded */
  double launches_s;     /* gaps between kernels */
  double readback_s;     /* the host reads how many tokens each expert has */
  double host_s; /* that the accelerator waits for the host, which issues kernels more slowly than they run */
} FabComputeParts;

double fab_compute_parts_sum (const FabComputeParts *self);

/* What the times of compute rest on, which says how far off they may be. */
typedef enum {
  FAB_COMPUTE_ANCHORED,  /* a measured run, or what a person says */
  FAB_COMPUTE_PUBLISHED, /* kernels, and what published runs take beyond them */
  FAB_COMPUTE_OPERATORS, /* what operators do, and nothing that was measured of whole models */
} FabComputeBasis;

typedef struct {
  FabModelInfo info;
  /* Time of one pass through a layer that `check_layers` accepts; > 0 where the pass computes anything. */
  double (*seconds) (gconstpointer params, const FabDevice *device, const FabPass *pass);
  /* Whether the model has a time for every layer of the stack; the error names all layers that it has none for.
 * Must be called before the first `seconds`. NULL: it has a time for every layer. */
  gboolean (*check_layers) (gconstpointer params, const FabLayerStack *stack, GError **error);
  /* Returns the software stack that a job runs; "auto": the usual one of the kind of job.
 * NULL: it needs none. */
  const char *(*stack) (gconstpointer params);
  /* Times are those of an average GPU that waits for no other. A job whose ranks compute in step then takes the time
 * of its slowest GPU (docs/models/parallel.md, "Slow ranks"). FALSE: the times are those of a whole job. */
  gboolean is_of_average_gpu;
  /* Adds the parts of what `seconds` returns to *sum. NULL: it has none. */
  void (*parts) (gconstpointer params, const FabDevice *device, const FabPass *pass, FabComputeParts *sum);
  /* The attention kernel that it takes for the pass, static. NULL: it takes none. */
  const char *(*attention) (gconstpointer params, const FabDevice *device, const FabPass *pass);
  /* Whether kernels of such accelerators were measured. NULL: it does not matter. */
  gboolean (*knows) (const FabDevice *device);
  /* Returns what its times rest on. NULL: a person fixed them. */
  FabComputeBasis (*basis) (gconstpointer params);
} FabComputeOps;

/* Calls `check_layers` of the chosen model. */
gboolean fab_compute_check_layers (const FabModelChoice *compute, const FabLayerStack *stack, GError **error);
