/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/stages.h"

#include "models/workload/training/away.h"
#include "models/workload/training/parts.h"
#include "models/workload/training/pipeline.h"
#include "models/workload/training/streams.h"
#include "models/workload/training/transfers.h"
#include "sim/base/error.h"

void
stage_clear (Stage *stage)
{
  if (stage->state != NULL && stage->train->strategy->free_state != NULL)
    stage->train->strategy->free_state (stage->state);
  g_clear_pointer (&stage->waits, g_array_unref);
  for (guint i = 0; i < G_N_ELEMENTS (stage->halves); i++)
    g_clear_pointer (&stage->halves[i].waits, g_array_unref);
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

static void
add_stage (Train *train, guint index, guint bin)
{
  Stage *stage = &train->stages[bin * train->n_stages + index];
  guint n_virtual = (guint) train->params->parallel.virtual_stages;

  PipelineSize size = { train->n_stages, n_virtual, train->n_micro, train->round };

  *stage = (Stage){ .train = train,
                    .index = index,
                    .bin = bin,
                    .waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId)),
                    .share = 1,
                    .halves = { { .waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId)) },
                                { .waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId)) } },
                    .chunks = g_array_new (FALSE, FALSE, sizeof (Chunk)),
                    .received = g_array_new (FALSE, FALSE, sizeof (Received)),
                    .made = g_array_new (FALSE, FALSE, sizeof (guint)),
                    .actions = pipeline_actions (pipeline_schedule (train->params->parallel.schedule), &size,
                                                 index) };
  for (StreamKind stream = 0; stream < N_STREAM_KINDS; stream++)
    stage->streams[stream] = -1;
  for (guint c = 0; c < n_virtual; c++) {
    Chunk chunk = *train_part (train, c * train->n_stages + index);

    g_array_append_val (stage->chunks, chunk);
    for (guint l = chunk.first_layer; l < chunk.first_layer + chunk.n_layers; l++) {
      ParameterCount count = train_layer_count (train, l), frozen = train_layer_frozen (train, l);

      stage->count.dense += count.dense;
      stage->count.experts += count.experts;
      stage->parameters += count.dense + count.experts;
      stage->frozen += frozen.dense + frozen.experts;
    }
  }
  add_first_class (stage);
  add_groups (stage);
}

gboolean
train_add_stages (Train *train, GError **error)
{
  guint n_virtual = (guint) train->params->parallel.virtual_stages;

  train->parts = parts_divide (train, train->n_stages * n_virtual, error);
  if (train->parts == NULL)
    return FALSE;
  train->n_bins = slow_n_bins (train->slow);
  train->stages = g_new0 (Stage, (gsize) train->n_stages * train->n_bins);
  train->shared = g_new0 (GArray *, train->n_stages + 1);
  train->n_transfers = 2 * train->n_bins * train->n_stages * n_virtual * train->n_micro;
  train->transfers = g_new (gint64, train->n_transfers);
  for (guint i = 0; i < train->n_transfers; i++)
    train->transfers[i] = -1;
  for (guint s = 0; s < train->n_stages; s++)
    train->shared[s] = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint b = 0; b < train->n_bins; b++)
    for (guint s = 0; s < train->n_stages; s++)
      add_stage (train, s, b);
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
  for (guint i = 0; i < G_N_ELEMENTS (stage->halves); i++)
    stage->halves[i].waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
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
