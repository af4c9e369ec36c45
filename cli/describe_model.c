/* SPDX-License-Identifier: Apache-2.0 */
/* describe_model.c - what a model's shape makes: parameters, FLOPs and kept activations, by layer and operator.
 *
 * State: 16 B per parameter, mixed precision with Adam (Rajbhandari et al. 2020, arXiv 1910.02054, section 3.1: 2
 * weight, 2 gradient, 4 + 4 + 4 master weight and moments). 6 N: Kaplan et al. 2020, arXiv 2001.08361. Equal layers
 * that follow one another are shown once.
 */
#include "cli/describe_model.h"

#include <string.h>

#include "sim/work/layers.h"

#define STATE_BYTES 16.0

static void
print_count (const char *label, guint64 count)
{
  g_print ("# %-13s %" G_GUINT64_FORMAT " (%.4g billion)\n", label, count, (double) count / 1e9);
}

/* Operators of a token are a fraction of a GFLOP, and one column should have one unit. */
static char *
gflop (double flops)
{
  return g_strdup_printf ("%.4g", flops / 1e9);
}

static void
print_flops (const char *label, double flops, const char *note)
{
  g_autofree char *text = gflop (flops);

  g_print ("# %-13s %s GFLOP%s\n", label, text, note);
}

static double
scores_flops (const FabLayerStack *stack)
{
  double flops = 0;

  for (guint l = 0; l < stack->layers->len; l++)
    for (guint s = 0; s < fab_layer_stack_layer (stack, l)->segments->len; s++) {
      const FabSegment *segment = fab_layer_segment (fab_layer_stack_layer (stack, l), s);

      for (guint i = 0; i < segment->operators->len; i++)
        if (g_array_index (segment->operators, FabOperator, i).kind == FAB_OPERATOR_ATTENTION)
          flops += g_array_index (segment->operators, FabOperator, i).flops;
    }
  return flops;
}

static double
kept_bytes (const FabLayer *layer)
{
  double bytes = 0;

  for (guint i = 0; i < layer->segments->len; i++) {
    const FabSegment *segment = fab_layer_segment (layer, i);
    bytes += segment->saved_whole_bytes + segment->saved_split_bytes + segment->saved_score_bytes;
  }
  return bytes;
}

static void
print_totals (const FabLayerStack *stack, guint sequence)
{
  g_autofree char *state = fab_units_show (FAB_UNIT_BYTES, STATE_BYTES * (double) stack->parameters);
  g_autofree char *kept = NULL, *bounds = NULL;
  double kept_all = 0, bounds_all = 0, scores = scores_flops (stack);

  for (guint i = 0; i < stack->layers->len; i++) {
    kept_all += kept_bytes (fab_layer_stack_layer (stack, i));
    bounds_all += fab_layer_stack_layer (stack, i)->hidden_bytes;
  }
  kept = fab_units_show (FAB_UNIT_BYTES, kept_all);
  bounds = fab_units_show (FAB_UNIT_BYTES, bounds_all);
  g_print ("#\n# per token, sequences of %u tokens (--sequence)\n", sequence);
  print_count ("parameters", stack->parameters);
  if (stack->active_parameters != stack->parameters)
    print_count ("of a token", stack->active_parameters);
  print_flops ("forward", stack->forward_flops_per_token, "");
  print_flops ("and backward", 3 * stack->forward_flops_per_token, "");
  if (scores > 0)
    print_flops ("  causal", 3 * (stack->forward_flops_per_token - scores / 2),
                 ", half of the scores not done");
  print_flops ("  6 N", 6 * (double) stack->active_parameters, ", N the parameters of a token");
  g_print ("# %-13s %s, %g B for each parameter: mixed precision with Adam\n", "state", state, STATE_BYTES);
  g_print ("# %-13s %s of 16-bit activations for the backward pass; %s with every layer recomputed\n", "kept",
           kept, bounds);
}

static void
print_operator (const FabOperator *op)
{
  g_autofree char *size = NULL, *flops = gflop (op->flops);

  if (op->flops <= 0) {
    g_print ("#     %s\n", op->name);
    return;
  }
  if (op->kind == FAB_OPERATOR_MATMUL && op->n_matrices > 1)
    size = g_strdup_printf ("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT,
                            op->n_matrices, op->n, op->k);
  else if (op->kind == FAB_OPERATOR_MATMUL && op->n > 0)
    size = g_strdup_printf ("%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, op->n, op->k);
  g_print ("#     %-12s %-22s %12s\n", op->name, size ? size : "", flops);
}

static guint64
segment_parameters (const FabLayer *layer, guint index)
{
  guint64 n = 0;

  for (guint i = 0; i < layer->tensors->len; i++)
    if (fab_layer_tensor (layer, i)->segment == index)
      n += fab_layer_tensor (layer, i)->parameters;
  return n;
}

static void
print_segment (const FabLayer *layer, guint index)
{
  const FabSegment *segment = fab_layer_segment (layer, index);
  g_autofree char *flops = gflop (segment->forward_flops);

  g_print ("#   %-12s %24" G_GUINT64_FORMAT " %12s %10.0f %10.0f %10.0f\n", segment->name,
           segment_parameters (layer, index), flops, segment->saved_whole_bytes, segment->saved_split_bytes,
           segment->saved_score_bytes);
  for (guint i = 0; i < segment->operators->len; i++)
    print_operator (&g_array_index (segment->operators, FabOperator, i));
}

static gsize
stem_length (const char *name)
{
  gsize length = strlen (name);

  while (length > 0 && g_ascii_isdigit (name[length - 1]))
    length--;
  return length;
}

/* Called the same but for a number at the end, and made the same. */
static gboolean
is_equal (const FabLayer *a, const FabLayer *b)
{
  gsize length = stem_length (a->name);

  return length == stem_length (b->name) && strncmp (a->name, b->name, length) == 0
      && a->parameters == b->parameters && a->segments->len == b->segments->len
      && a->forward_flops_per_token == b->forward_flops_per_token && kept_bytes (a) == kept_bytes (b);
}

static guint
print_layers (const FabLayerStack *stack, guint first)
{
  const FabLayer *layer = fab_layer_stack_layer (stack, first);
  guint n = 1;

  while (first + n < stack->layers->len && is_equal (layer, fab_layer_stack_layer (stack, first + n)))
    n++;
  if (n > 1)
    g_print ("# %u x %s to %s, %" G_GUINT64_FORMAT " parameters each\n", n, layer->name,
             fab_layer_stack_layer (stack, first + n - 1)->name, layer->parameters);
  else
    g_print ("# %s, %" G_GUINT64_FORMAT " parameters\n", layer->name, layer->parameters);
  for (guint i = 0; i < layer->segments->len; i++)
    print_segment (layer, i);
  return n;
}

void
fab_describe_model (const FabModelSpec *model, guint sequence)
{
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

  ((const FabShapeOps *) model->shape.info)->expand (model->shape.params, sequence, stack);
  print_totals (stack, sequence);
  g_print ("#\n# %-14s %24s %12s   kept in B: %s\n", "", "", "forward", "divided by");
  g_print ("# %-14s %24s %12s %10s %10s %10s\n", "layers", "parameters", "GFLOP", "whole", "tensor p.",
           "scores");
  for (guint i = 0; i < stack->layers->len;)
    i += print_layers (stack, i);
}
