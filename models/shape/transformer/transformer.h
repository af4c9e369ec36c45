/* SPDX-License-Identifier: Apache-2.0 */
/* transformer.h - the keys of a transformer, and the functions that add its segments and operators to a stack. */
#pragma once

#include "models/models.h"
#include "sim/execution/layers.h"

typedef enum { FAB_ATTENTION_FLASH, FAB_ATTENTION_FULL } FabAttentionShape;
typedef enum { FAB_NORM_AUTO, FAB_NORM_LAYER, FAB_NORM_RMS, FAB_NORM_NONE } FabNormKind;
typedef enum { FAB_BIASES_AUTO, FAB_BIASES_YES, FAB_BIASES_NO } FabBiases;

typedef struct {
  gint64 q_lora_rank, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim;
} FabLatentParams;

typedef struct {
  gint64 count, per_token, width, latent, shared, dense_layers, every;
  gboolean has_shared_gate, has_router_biases;
} FabExpertsParams;

typedef struct {
  gint64 width, full_every;
} FabWindowParams;

typedef struct {
  gint64 heads, head_dim, groups, state, convolution, chunk;
} FabMambaParams;

typedef struct {
  gint64 token_types, classes;
  gboolean has_embedding_norm, has_final_norm, has_pooler, has_head_transform, has_output_biases;
} FabEndsParams;

typedef struct {
  gint64 layers, hidden, heads, kv_heads, head_dim, feed_forward, vocabulary, positions, norms, predictions;
  const char
      *pattern; /* what each block is, a letter each; NULL: attention and MLP, or experts, in every block */
  gboolean is_gated, is_tied, has_biases, has_qk_norm, has_sinks, has_dropout;
  gint qkv_biases, projection_biases; /* FabBiases */
  gint norm;                          /* FabNormKind */
  gint attention;                     /* FabAttentionShape */
  FabLatentParams latent;
  FabWindowParams window;
  FabMambaParams mamba;
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
  FabSavedKind input;        /* what made its input */
  gint64 n_readers;          /* matrices that read this input; 0: it alone */
  gboolean keeps_output;     /* what comes after it needs its output in the backward pass */
  gint64 parts[3]; /* columns of the matrices that plain code has in its place; zeroes: it is one there too */
  /* Number of such matrices, and how many of them a token uses; 0: one matrix. */
  gint64 experts, per_token;
} FabMatrix;

/* Widths that follow from the parameters, summed over all heads. */
gint64 transformer_query_width (const FabTransformerParams *p);
gint64 transformer_key_width (const FabTransformerParams *p);
gint64 transformer_value_width (const FabTransformerParams *p);
gint64 transformer_attended_width (const FabTransformerParams *p); /* of the output of attention */
gint64 transformer_feed_forward_width (const FabTransformerParams *p);
gint64 transformer_expert_width (const FabTransformerParams *p);
gboolean transformer_has_experts (const FabTransformerParams *p, gint64 block);

/* Segments of a block. */
void transformer_add_attention (const FabTransformerParams *p, gint64 block, guint sequence,
                                FabLayerStack *stack);
void transformer_add_mamba (const FabTransformerParams *p, FabLayerStack *stack);
void transformer_add_mlp (const FabTransformerParams *p, FabLayerStack *stack);
void transformer_add_experts (const FabTransformerParams *p, FabLayerStack *stack);

/* The layers around the blocks. */
void transformer_add_embedding (const FabTransformerParams *p, FabLayerStack *stack);
void transformer_add_head (const FabTransformerParams *p, guint sequence, FabLayerStack *stack);

/* Adds the layer of one more token that is predicted. */
void transformer_add_prediction (const FabTransformerParams *p, gint64 index, guint sequence,
                                 FabLayerStack *stack);

/* Operators of the last segment, with their tensors. */
void transformer_add_matrix (const FabMatrix *matrix, FabLayerStack *stack);

/* What the last segment keeps in the software of `kernels` (FAB_KEPT_...). */
void transformer_keep (FabLayerStack *stack, guint kernels, const char *name, FabSavedKind kind, double bytes,
                       gboolean is_split);

/* `width` is the width of the normalised vector, all of which every rank normalises. */
void transformer_add_norm (const FabTransformerParams *p, gint64 width, FabLayerStack *stack);

/* An operator that is bound by memory and moves this many numbers of 2 bytes per token. */
void transformer_add_memory (const char *name, double numbers, gboolean is_split, FabLayerStack *stack);

/* Adds the input of the block to the output of a segment, after dropout. */
void transformer_add_residual (const FabTransformerParams *p, FabLayerStack *stack);
void transformer_add_tensor (FabLayerStack *stack, FabTensorKind kind, gint64 parameters);
