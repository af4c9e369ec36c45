/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c - an explicit list of layers, each with its parameter tensors.
 *
 * A layer's forward pass takes 2 FLOP per parameter and token unless given: this is right for matrices that multiply
 * every token. An embedding is looked up (lookup: true) and takes no FLOPs. The data that a layer keeps for the
 * backward pass, and its output, are given in bytes per token. For an image network a token is one image: FLOPs and
 * bytes are those of one image, and the job's sequence is 1.
 */
#include "sim/execution/layers.h"
#include "models/models.h"

#define MAX_PARAMETERS 1e15
#define MAX_TENSORS 1e6

typedef struct {
  const char *name;
  gint64 count;
  gint64 parameters;
} TensorParams;

typedef struct {
  const char *name;
  gint64 count;
  FabParamList tensors; /* TensorParams */
  double forward_flops_per_token;
  FabBytes saved_bytes, output_bytes; /* per token */
  gboolean is_lookup;
} LayerParams;

typedef struct {
  FabParamList layers; /* LayerParams */
} LayersParams;

static const FabParam tensor_params[] = {
  { .key = "name",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (TensorParams, name),
    .fallback = "weight",
    .help = "Name of the tensor, for the reader only." },
  { .key = "count",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TensorParams, count),
    .fallback = "1",
    .min = 1,
    .max = 1e6,
    .help = "Number of tensors of this kind, one after another." },
  { .key = "parameters",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TensorParams, parameters),
    .min = 1,
    .max = 1e13,
    .help = "Parameters of one tensor." },
  { .key = NULL },
};

static const FabParam layer_params[] = {
  { .key = "name",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (LayerParams, name),
    .fallback = "layer",
    .help = "Name of the layer; copies get a number." },
  { .key = "count",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (LayerParams, count),
    .fallback = "1",
    .min = 1,
    .max = 1e5,
    .help = "Number of equal layers, one after another." },
  { .key = "tensors",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (LayerParams, tensors),
    .table = tensor_params,
    .table_size = sizeof (TensorParams),
    .help = "Parameter tensors in registration order." },
  { .key = "forward",
    .type = FAB_PARAM_FLOPS,
    .offset = G_STRUCT_OFFSET (LayerParams, forward_flops_per_token),
    .fallback = "0FLOP",
    .help = "FLOPs of the forward pass per token; 0: 2 per parameter." },
  { .key = "saved",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (LayerParams, saved_bytes),
    .fallback = "0B",
    .max = 1e15,
    .help = "Activations kept for the backward pass, per token." },
  { .key = "output",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (LayerParams, output_bytes),
    .fallback = "0B",
    .max = 1e15,
    .help = "Bytes handed to the next layer, per token." },
  { .key = "lookup",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (LayerParams, is_lookup),
    .fallback = "false",
    .help = "The layer is an embedding: it is looked up, and has no FLOPs." },
  { .key = NULL },
};

static const FabParam layers_params[] = {
  { .key = "layers",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (LayersParams, layers),
    .table = layer_params,
    .table_size = sizeof (LayerParams),
    .help = "Layers in forward order." },
  { .key = NULL },
};

static guint64
count_parameters (const LayerParams *layer)
{
  guint64 total = 0;

  for (guint i = 0; i < layer->tensors.n; i++) {
    const TensorParams *tensor = (const TensorParams *) layer->tensors.data + i;
    total += (guint64) tensor->count * (guint64) tensor->parameters;
  }
  return total;
}

static double
forward_flops (const LayerParams *layer)
{
  if (layer->is_lookup)
    return 0;
  return layer->forward_flops_per_token > 0 ? layer->forward_flops_per_token
                                            : 2.0 * (double) count_parameters (layer);
}

static void
add_layer (const LayerParams *layer, gint64 copy, FabLayerStack *stack)
{
  char *name = layer->count > 1 ? g_strdup_printf ("%s%" G_GINT64_FORMAT, layer->name, copy)
                                : g_strdup (layer->name);

  FabOperator work = {
    .name = "work", .kind = FAB_OPERATOR_MATMUL, .flops = forward_flops (layer), .n_matrices = 1
  };

  fab_layer_stack_add_layer (stack, name, (double) layer->output_bytes)->is_block = TRUE;
  fab_layer_stack_add_segment (stack, "layer");
  fab_layer_stack_add_saved (stack, &(FabSaved){ .name = "saved",
                                                 .kind = FAB_SAVED_ACTIVATED,
                                                 .bytes = (double) layer->saved_bytes,
                                                 .kernels = FAB_KEPT_ALWAYS });
  fab_layer_stack_add_operator (stack, &work);
  for (guint i = 0; i < layer->tensors.n; i++) {
    const TensorParams *tensor = (const TensorParams *) layer->tensors.data + i;

    for (gint64 k = 0; k < tensor->count; k++)
      fab_layer_stack_add_tensor (stack, FAB_TENSOR_WHOLE, (guint64) tensor->parameters,
                                  (guint64) tensor->parameters);
  }
}

static void
layers_expand (gconstpointer params, G_GNUC_UNUSED guint sequence, FabLayerStack *stack)
{
  const LayersParams *p = params;

  for (guint i = 0; i < p->layers.n; i++) {
    const LayerParams *layer = (const LayerParams *) p->layers.data + i;

    for (gint64 copy = 0; copy < layer->count; copy++)
      add_layer (layer, copy, stack);
  }
}

static void
layers_check (gconstpointer params, FabCheck *check)
{
  const LayersParams *p = params;
  double n_tensors = 0, n_parameters = 0;

  if (p->layers.n == 0)
    fab_check_fail (check, &p->layers, "layers is empty: name at least one, {tensors: [{parameters: 1e6}]}");
  for (guint i = 0; i < p->layers.n; i++) {
    const LayerParams *layer = (const LayerParams *) p->layers.data + i;

    for (guint t = 0; t < layer->tensors.n; t++) {
      const TensorParams *tensor = (const TensorParams *) layer->tensors.data + t;

      n_tensors += (double) layer->count * (double) tensor->count;
      n_parameters += (double) layer->count * (double) tensor->count * (double) tensor->parameters;
    }
  }
  if (n_tensors > MAX_TENSORS)
    fab_check_fail (check, &p->layers, "these are %.2g tensors; the limit is %.0e", n_tensors, MAX_TENSORS);
  if (n_parameters > MAX_PARAMETERS)
    fab_check_fail (check, &p->layers, "these are %.2g parameters; the limit is %.0e", n_parameters,
                    MAX_PARAMETERS);
}

const FabShapeOps fab_shape_layers = {
  .info = { .name = "layers",
            .summary = "An explicit list of layers and their parameter tensors.",
            .doc = "docs/models/layers.md",
            .params = layers_params,
            .params_size = sizeof (LayersParams),
            .check = layers_check },
  .expand = layers_expand,
};
