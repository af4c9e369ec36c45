/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/recompute.h"

#include <string.h>

#include "models/models.h"

/* --- modules by Megatron-LM's names --- */

typedef enum {
  MODULE_CORE_ATTENTION = 1 << 0,
  MODULE_LAYERNORM = 1 << 1,
  MODULE_MLP = 1 << 2,
  MODULE_ACTIVATION = 1 << 3,
  MODULE_LATENT = 1 << 4,
  MODULE_MOE = 1 << 5,
  MODULE_SHARED = 1 << 6,
} Modules;

static const struct {
  const char *name;
  Modules module;
} modules[] = {
  { "core_attn", MODULE_CORE_ATTENTION }, { "layernorm", MODULE_LAYERNORM }, { "mlp", MODULE_MLP },
  { "moe_act", MODULE_ACTIVATION },       { "mla_up_proj", MODULE_LATENT },  { "moe", MODULE_MOE },
  { "shared_experts", MODULE_SHARED },
};

static guint
find_module (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (modules); i++)
    if (strcmp (modules[i].name, name) == 0)
      return modules[i].module;
  return 0;
}

static guint
modules_of (const char *text, char **wrong)
{
  g_auto (GStrv) words = g_strsplit_set (text, ", ", -1);
  guint all = 0;

  for (guint i = 0; words[i] != NULL; i++) {
    guint module = find_module (words[i]);

    if (module == 0 && *words[i] != '\0' && wrong != NULL && *wrong == NULL)
      *wrong = g_strdup (words[i]);
    all |= module;
  }
  return all;
}

gboolean
recompute_modules_check (const char *text, char **wrong)
{
  *wrong = NULL;
  modules_of (text, wrong);
  return *wrong == NULL;
}

static guint
job_modules (const Train *train)
{
  const TrainParams *p = train->params;

  if (p->recompute == RECOMPUTE_SELECTIVE)
    return MODULE_CORE_ATTENTION;
  return p->recompute == RECOMPUTE_MODULES && p->recompute_modules != NULL
           ? modules_of (p->recompute_modules, NULL)
           : 0;
}

/* The modules that make all of a segment. */
static guint
segment_modules (const FabSegment *segment)
{
  if (strcmp (segment->name, "mlp") == 0)
    return MODULE_MLP;
  if (strcmp (segment->name, "shared") == 0)
    return MODULE_SHARED | MODULE_MOE;
  if (strcmp (segment->name, "experts") == 0 || strcmp (segment->name, "router") == 0
      || strcmp (segment->name, "latent") == 0)
    return MODULE_MOE;
  return 0;
}

static gboolean
is_latent_up (const char *name)
{
  return strcmp (name, "q_up") == 0 || strcmp (name, "kv_up") == 0;
}

static gboolean
has_latent (const FabSegment *segment)
{
  for (guint i = 0; i < segment->operators->len; i++)
    if (is_latent_up (g_array_index (segment->operators, FabOperator, i).name))
      return TRUE;
  return FALSE;
}

/* A module that is recomputed keeps what it begins with: the output of the norm before it, or what was sent to it. */
static gboolean
is_begin (const FabSaved *saved)
{
  return saved->kind == FAB_SAVED_STREAM || (saved->is_input && saved->kind == FAB_SAVED_NORM)
      || saved->kind == FAB_SAVED_STATISTIC;
}

static gboolean
modules_keep (guint all, const FabSegment *segment, const FabSaved *saved)
{
  if ((all & segment_modules (segment)) != 0)
    return is_begin (saved);
  if (saved->kind == FAB_SAVED_SCORES)
    return (all & MODULE_CORE_ATTENTION) == 0;
  if (saved->kind == FAB_SAVED_ATTENTION)
    return (all & MODULE_CORE_ATTENTION) == 0 || saved->is_input;
  if (saved->kind == FAB_SAVED_NORM)
    return (all & MODULE_LAYERNORM) == 0;
  if (saved->kind == FAB_SAVED_ROTATED)
    return (all & MODULE_LATENT) == 0 || !has_latent (segment);
  if (saved->kind == FAB_SAVED_ACTIVATED)
    return (all & MODULE_ACTIVATION) == 0 || strcmp (segment->name, "experts") != 0;
  return TRUE;
}

/* --- what is kept --- */

FabKernelStyle
train_kernels (const Train *train)
{
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;
  const char *stack = ops->stack != NULL ? ops->stack (train->params->compute.params) : "auto";

  if (train->params->memory.kernels > 0)
    return (FabKernelStyle) (train->params->memory.kernels - 1);
  if (g_str_equal (stack, "auto"))
    stack = train->strategy->stack;
  if (g_str_equal (stack, "eager") || g_str_equal (stack, "nanotron"))
    return FAB_KERNELS_EAGER;
  return g_str_equal (stack, "compiled") ? FAB_KERNELS_COMPILED : FAB_KERNELS_FUSED;
}

guint
train_block_index (const Train *train, guint layer)
{
  guint n = 0;

  for (guint p = 0; train->parts != NULL && p < train->parts->len; p++) {
    const Chunk *part = &g_array_index (train->parts, Chunk, p);

    if (layer < part->first_layer || layer >= part->first_layer + part->n_layers)
      continue;
    for (guint l = part->first_layer; l < layer; l++)
      n += fab_layer_stack_layer (train->stack, l)->is_block;
    return n;
  }
  return 0;
}

gboolean
recompute_is_whole (const Train *train, guint layer)
{
  const TrainParams *p = train->params;

  if (p->recompute != RECOMPUTE_FULL || !fab_layer_stack_layer (train->stack, layer)->is_block)
    return FALSE;
  return p->recompute_method == RECOMPUTE_UNIFORM || p->recompute_layers == 0
      || train_block_index (train, layer) < (guint64) p->recompute_layers;
}

gboolean
recompute_keeps_input (const Train *train, guint layer)
{
  const TrainParams *p = train->params;

  return p->recompute_method != RECOMPUTE_UNIFORM || p->recompute_layers <= 1
      || train_block_index (train, layer) % (guint64) p->recompute_layers == 0;
}

/* The input of the block and what products and attention made. */
static gboolean
operators_keep (const Train *train, const FabLayer *layer, const FabSegment *segment, const FabSaved *saved,
                guint *n_products)
{
  gboolean is_first = segment == fab_layer_segment (layer, 0) && saved == fab_segment_saved (segment, 0);

  if (saved->kind == FAB_SAVED_MATRIX)
    return (*n_products)++ % (guint64) train->params->recompute_every == 0;
  if (saved->kind == FAB_SAVED_ATTENTION)
    return (saved->is_input || saved->is_exact);
  return is_first || saved->kind == FAB_SAVED_EXCHANGE;
}

gboolean
recompute_keeps (const Train *train, const FabLayer *layer, const FabSegment *segment, const FabSaved *saved,
                 guint *n_products)
{
  if (train->params->recompute == RECOMPUTE_OPERATORS && layer->is_block)
    return operators_keep (train, layer, segment, saved, n_products);
  if ((saved->kernels & (1U << train_kernels (train))) == 0)
    return FALSE;
  return modules_keep (layer->is_block ? job_modules (train) : 0, segment, saved);
}

/* --- what is computed again --- */

static gboolean
modules_run (guint all, const FabSegment *segment, const FabOperator *op)
{
  if ((all & segment_modules (segment)) != 0)
    return TRUE;
  if (op->kind == FAB_OPERATOR_ATTENTION)
    return (all & MODULE_CORE_ATTENTION) != 0;
  if (op->kind == FAB_OPERATOR_MATMUL)
    return (all & MODULE_LATENT) != 0 && is_latent_up (op->name);
  if (strstr (op->name, "norm") != NULL)
    return (all & MODULE_LAYERNORM) != 0;
  return (all & MODULE_ACTIVATION) != 0 && strcmp (segment->name, "experts") == 0
      && strstr (op->name, "activation") != NULL;
}

/* Products of the block that come before this segment. */
static guint
count_before (const FabLayer *layer, guint segment)
{
  guint n = 0;

  for (guint s = 0; s < segment; s++)
    for (guint i = 0; i < fab_layer_segment (layer, s)->saved->len; i++)
      n += fab_segment_saved (fab_layer_segment (layer, s), i)->kind == FAB_SAVED_MATRIX;
  return n;
}

static void
add_products (const Train *train, const FabLayer *layer, guint index, GArray *operators)
{
  const FabSegment *segment = fab_layer_segment (layer, index);
  guint n_products = count_before (layer, index);

  for (guint i = 0; i < segment->saved->len; i++) {
    const FabSaved *saved = fab_segment_saved (segment, i);
    FabOperator op = { .name = saved->name,
                       .kind = FAB_OPERATOR_MATMUL,
                       .flops = saved->flops,
                       .bytes = saved->flops / (double) MAX (saved->n, 1)
                              + saved->flops / (double) MAX (saved->k, 1),
                       .n = saved->n,
                       .k = saved->k,
                       .n_matrices = saved->n_matrices,
                       .is_split = segment->is_split };

    if (saved->kind == FAB_SAVED_MATRIX && !operators_keep (train, layer, segment, saved, &n_products))
      g_array_append_val (operators, op);
  }
}

GArray *
recompute_operators (const Train *train, const FabLayer *layer, guint index)
{
  const FabSegment *segment = fab_layer_segment (layer, index);
  GArray *operators = g_array_new (FALSE, FALSE, sizeof (FabOperator));
  gboolean is_by_operator = train->params->recompute == RECOMPUTE_OPERATORS;
  guint all = job_modules (train);

  if (!layer->is_block)
    return operators;
  for (guint i = 0; i < segment->operators->len; i++) {
    FabOperator op = g_array_index (segment->operators, FabOperator, i);

    if (is_by_operator ? op.kind == FAB_OPERATOR_MEMORY : modules_run (all, segment, &op))
      g_array_append_val (operators, op);
  }
  if (is_by_operator)
    add_products (train, layer, index, operators);
  return operators;
}

static gboolean
stops_early (const Train *train)
{
  const char *stack = train->software.stack;
  gboolean is_plain = g_str_equal (stack, "eager") || g_str_equal (stack, "compiled");

  return g_str_equal (stack, "xla")
      || (is_plain && train->strategy->has_plain_checkpoints
          && train->software.pytorch >= FAB_PYTORCH (2, 1));
}

/* The operators of the segment up to the last that keeps something: dropout and norms keep what comes before them. */
static guint
count_needed (const FabSegment *segment)
{
  for (guint i = segment->operators->len; i-- > 0;) {
    const FabOperator *op = &g_array_index (segment->operators, FabOperator, i);

    if (op->kind == FAB_OPERATOR_MATMUL)
      return i;
    if (strcmp (op->name, "residual") != 0)
      break;
  }
  return segment->operators->len;
}

GArray *
recompute_until (const Train *train, const FabLayer *layer, guint index)
{
  const FabSegment *segment = fab_layer_segment (layer, index);
  gboolean is_end = index + 1 == layer->segments->len && strcmp (segment->name, "mlp") == 0;
  guint n = is_end && stops_early (train) ? count_needed (segment) : segment->operators->len;

  if (n == segment->operators->len)
    return NULL;
  GArray *operators = g_array_new (FALSE, FALSE, sizeof (FabOperator));
  g_array_append_vals (operators, segment->operators->data, n);
  return operators;
}

/* FLOPs of a block that is recomputed as a whole. */
static double
whole_flops (const Train *train, const FabLayer *layer)
{
  double flops = layer->forward_flops_per_token;

  for (guint s = 0; s < layer->segments->len; s++) {
    const FabSegment *segment = fab_layer_segment (layer, s);
    g_autoptr (GArray) operators = recompute_until (train, layer, s);

    for (guint i = operators != NULL ? operators->len : segment->operators->len; i < segment->operators->len;
         i++)
      flops -= g_array_index (segment->operators, FabOperator, i).flops;
  }
  return flops;
}

double
recompute_flops (const Train *train)
{
  double flops = 0;

  for (guint l = 0; l < train->stack->layers->len; l++) {
    const FabLayer *layer = fab_layer_stack_layer (train->stack, l);

    if (recompute_is_whole (train, l))
      flops += whole_flops (train, layer);
    for (guint s = 0; s < layer->segments->len; s++) {
      g_autoptr (GArray) operators = recompute_operators (train, layer, s);

      for (guint i = 0; i < operators->len; i++)
        flops += g_array_index (operators, FabOperator, i).flops;
    }
  }
  return flops;
}
