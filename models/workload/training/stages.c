/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/stages.h"

#include <stdlib.h>

#include "models/workload/training/away.h"
#include "models/workload/training/parts.h"
#include "models/workload/training/pipeline.h"
#include "models/workload/training/prices.h"
#include "models/workload/training/recompute.h"
#include "models/workload/training/streams.h"
#include "models/workload/training/transfers.h"
#include "sim/base/error.h"

void
stage_clear (Stage *stage)
{
  if (stage->state != NULL && stage->train->strategy->free_state != NULL)
    stage->train->strategy->free_state (stage->state);
  g_clear_pointer (&stage->waits, g_array_unref);
  for (guint i = 0; i < G_N_ELEMENTS (stage->lanes); i++)
    g_clear_pointer (&stage->lanes[i].waits, g_array_unref);
  g_clear_pointer (&stage->chunks, g_array_unref);
  g_clear_pointer (&stage->actions, g_array_unref);
  g_clear_pointer (&stage->received, g_array_unref);
  g_clear_pointer (&stage->made, g_array_unref);
  away_clear (&stage->away);
}

/* --- groups --- */

static Selection
of_stage (const Stage *stage)
{
  const SlowBin *bin = slow_bin (stage->train->slow, stage->bin);

  return (Selection){
    .first_stage = stage->index, .n_stages = 1, .first_data = bin->first_data, .n_data = bin->n_data
  };
}

static void
add_groups (Stage *stage)
{
  Train *train = stage->train;
  Selection tensor = of_stage (stage), context = tensor, expert = tensor, shared = tensor;

  tensor.varies[AXIS_TENSOR] = TRUE;
  context.varies[AXIS_CONTEXT] = TRUE;
  expert.data = layout_expert_part (&train->layout, &expert.block);
  if (train->layout.is_folded)
    expert.fold = FOLD_EXPERT;
  shared.fold = FOLD_EXPERT_TENSOR;
  if (train->layout.size[AXIS_TENSOR] > 1)
    stage->tensor = train_concurrent_groups (train, &tensor);
  if (train->layout.size[AXIS_CONTEXT] > 1)
    stage->context = train_concurrent_groups (train, &context);
  if (train->layout.n_expert > 1)
    stage->expert = train_concurrent_groups (train, &expert);
  if (train->layout.is_folded && train->layout.n_expert_tensor > 1)
    stage->expert_tensor = train_concurrent_groups (train, &shared);
  if (train->n_stages > 1)
    stage->next = stage_pairs (stage, (stage->index + 1) % train->n_stages);
}

/* "stage 1, slowest". (transfer full) NULL: all ranks of the job are one class. */
static char *
class_name (const Stage *stage)
{
  const char *bin = slow_bin (stage->train->slow, stage->bin)->name;

  if (stage->train->n_stages == 1)
    return g_strdup (bin);
  return bin ? g_strdup_printf ("stage %u, %s", stage->index, bin)
             : g_strdup_printf ("stage %u", stage->index);
}

/* Adds a rank class: all ranks of the stage and bin (`is_whole`), or one of them, whose name ends with ", rank 5". */
static void
add_class (Stage *stage, gboolean is_whole, guint rank, guint n_ranks)
{
  g_autofree char *of_all = class_name (stage);
  g_autofree char *name = is_whole
                            ? g_strdup (of_all ? of_all : "all")
                            : g_strdup_printf ("%s%srank %u", of_all ? of_all : "", of_all ? ", " : "", rank);

  stage->rank_class = fab_dag_builder_class (stage->train->builder, name, rank, n_ranks);
}

static gboolean
is_unfolded (const Train *train)
{
  return fab_graph_is_unfolded (train->layout.cluster->graph);
}

static void
add_first_class (Stage *stage)
{
  const Train *train = stage->train;
  const SlowBin *bin = slow_bin (train->slow, stage->bin);
  guint first = stage->index * train->layout.stride[AXIS_PIPELINE]
              + bin->first_data * train->layout.stride[AXIS_DATA];

  add_class (stage, !is_unfolded (train), first, is_unfolded (train) ? 1 : stage_n_ranks (stage));
}

/* Counts the micro-batches of each part, and finds what goes back last: what comes last, as all that goes forward goes
 * back. */
static void
count_passes (Stage *stage)
{
  for (guint i = 0; i < stage->actions->len; i++) {
    const Action *action = &g_array_index (stage->actions, Action, i);
    Chunk *chunk = &g_array_index (stage->chunks, Chunk, action->chunk);

    chunk->n_micro += action->kind == ACTION_FORWARD ? 1 : 0;
    chunk->last_micro = action->micro;
    stage->last_chunk = action->chunk;
  }
}

static void
add_chunks (Stage *stage)
{
  const Train *train = stage->train;
  guint n_virtual = (guint) train->params->parallel.virtual_stages;

  for (guint c = 0; c < pipeline_n_chunks (train->schedule, n_virtual); c++) {
    Chunk chunk = *train_part (train, pipeline_part (train->schedule, train->n_stages, stage->index, c));

    g_array_append_val (stage->chunks, chunk);
    for (guint l = chunk.first_layer; l < chunk.first_layer + chunk.n_layers; l++) {
      ParameterCount count = train_layer_count (train, l), frozen = train_layer_frozen (train, l);

      stage->count.dense += count.dense;
      stage->count.experts += count.experts;
      stage->parameters += count.dense + count.experts;
      stage->frozen += frozen.dense + frozen.experts;
    }
  }
  count_passes (stage);
}

static void
add_stage (Train *train, guint index, guint bin, GArray *actions)
{
  Stage *stage = &train->stages[bin * train->n_stages + index];

  *stage = (Stage){ .train = train,
                    .index = index,
                    .bin = bin,
                    .waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId)),
                    .lanes = { { .waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId)) },
                               { .waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId)) } },
                    .chunks = g_array_new (FALSE, FALSE, sizeof (Chunk)),
                    .received = g_array_new (FALSE, FALSE, sizeof (Received)),
                    .made = g_array_new (FALSE, FALSE, sizeof (guint)),
                    .actions = g_array_ref (actions) };
  for (StreamKind stream = 0; stream < N_STREAM_KINDS; stream++)
    stage->streams[stream] = -1;
  add_chunks (stage);
  add_first_class (stage);
  add_groups (stage);
}

static gint
compare_seconds (gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* A block that is recomputed goes forward once more before it goes back. */
static double
layer_cost (const Train *train, guint layer, PassKind kind)
{
  gboolean is_again = kind == PASS_INPUTS && recompute_is_whole (train, layer);

  return train_pass_seconds (train, layer, kind)
       + (is_again ? train_pass_seconds (train, layer, PASS_FORWARD) : 0);
}

/* Time of a pass through a part of the model in nanoseconds: the median over the stages of their averages, as in
 * get_zero_bubble_forward_backward_func of megatron/core/pipeline_parallel/zerobubble/runtime.py. */
static guint
pass_cost (const Train *train, PassKind kind)
{
  g_autofree double *seconds = g_new0 (double, train->n_stages);
  guint n_chunks = pipeline_n_chunks (train->schedule, 1);

  for (guint stage = 0; stage < train->n_stages; stage++)
    for (guint c = 0; c < n_chunks; c++) {
      const Chunk *part = train_part (train, pipeline_part (train->schedule, train->n_stages, stage, c));

      for (guint l = part->first_layer; l < part->first_layer + part->n_layers; l++)
        seconds[stage] += layer_cost (train, l, kind) / n_chunks;
    }
  qsort (seconds, train->n_stages, sizeof (double), compare_seconds);
  return (guint) CLAMP (seconds[train->n_stages / 2] * 1e9, 1, 1e9);
}

static GPtrArray *
order_actions (const Train *train)
{
  PipelineSize size = { .n_stages = train->n_stages,
                        .n_virtual = (guint) train->params->parallel.virtual_stages,
                        .n_micro = train->n_micro,
                        .round = train->round };

  if (train->schedule->place == PLACE_V) {
    size.forward_cost = pass_cost (train, PASS_FORWARD);
    size.inputs_cost = pass_cost (train, PASS_INPUTS);
    size.weights_cost = pass_cost (train, PASS_WEIGHTS);
  }
  return pipeline_actions (train->schedule, &size);
}

gboolean
train_add_stages (Train *train, GError **error)
{
  guint n_parts = pipeline_n_parts (train->schedule, train->n_stages,
                                    (guint) train->params->parallel.virtual_stages);

  train->parts = parts_divide (train, n_parts, error);
  if (train->parts == NULL)
    return FALSE;
  train->n_bins = slow_n_bins (train->slow);
  train->stages = g_new0 (Stage, (gsize) train->n_stages * train->n_bins);
  train->shared = g_new0 (GArray *, train->n_stages + 1);
  train->n_transfers = 2 * train->n_bins * n_parts * train->n_micro;
  train->transfers = g_new (gint64, train->n_transfers);
  for (guint i = 0; i < train->n_transfers; i++)
    train->transfers[i] = -1;
  for (guint s = 0; s < train->n_stages; s++)
    train->shared[s] = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GPtrArray) actions = order_actions (train);
  for (guint b = 0; b < train->n_bins; b++)
    for (guint s = 0; s < train->n_stages; s++)
      add_stage (train, s, b, g_ptr_array_index (actions, s));
  if (train->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&train->error));
  return FALSE;
}

/* --- ranks that are classes of their own --- */

/* Adds another rank of the same class. It does the same as the first, and joins the same collectives. */
static void
add_alone (Stage *stage, Stage *first, guint rank)
{
  *stage = *first;
  stage->first = first;
  stage->made = NULL;
  stage->away = (Away){ 0 };
  stage->state = NULL;
  stage->has_compute = stage->has_load = FALSE;
  stage->compute_s = 0;
  stage->waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  for (guint i = 0; i < G_N_ELEMENTS (stage->lanes); i++)
    stage->lanes[i].waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  stage->received = g_array_new (FALSE, FALSE, sizeof (Received));
  stage->chunks = g_array_ref (first->chunks);
  stage->actions = g_array_ref (first->actions);
  for (StreamKind stream = 0; stream < N_STREAM_KINDS; stream++)
    stage->streams[stream] = -1;
  add_class (stage, FALSE, rank, 1);
}

void
train_add_alone (Train *train)
{
  guint n_firsts = train->n_stages * train->n_bins, n = 0;

  for (guint s = 0; s < n_firsts && is_unfolded (train); s++)
    n += stage_n_ranks (&train->stages[s]) - 1;
  train->alone = g_new0 (Stage, n + 1);
  for (guint s = 0; s < n_firsts && n > 0; s++) {
    guint n_ranks;
    g_autofree guint *ranks = stage_ranks (&train->stages[s], &n_ranks);

    for (guint i = 1; i < n_ranks; i++)
      add_alone (&train->alone[train->n_alone++], &train->stages[s], ranks[i]);
  }
}
