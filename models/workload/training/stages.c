/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/stages.h"

#include "sim/base/error.h"

/* An input that a stage has started to receive. */
typedef struct {
  Action action;
  FabTaskId task;
} Received;

void
stage_clear (Stage *stage)
{
  if (stage->state != NULL && stage->train->strategy->free_state != NULL)
    stage->train->strategy->free_state (stage->state);
  g_clear_pointer (&stage->waits, g_array_unref);
  g_clear_pointer (&stage->chunks, g_array_unref);
  g_clear_pointer (&stage->actions, g_array_unref);
  g_clear_pointer (&stage->received, g_array_unref);
  g_clear_pointer (&stage->made, g_array_unref);
}

/* --- layers --- */

static guint
count_blocks (const FabLayerStack *stack, guint *first)
{
  guint n = 0;

  for (guint l = 0; l < stack->layers->len; l++)
    if (fab_layer_stack_layer (stack, l)->is_block && n++ == 0)
      *first = l;
  return n;
}

/* The number of blocks in all parts before `part`. If the blocks cannot be divided evenly, parts in the middle have one
 * more, because the first part has the embedding and the last one the head. */
static guint
blocks_before (guint part, guint n_parts, guint n_blocks)
{
  guint extra = n_blocks % n_parts, first = (n_parts - extra) / 2;

  return part * (n_blocks / n_parts) + (part > first ? MIN (part - first, extra) : 0);
}

static Chunk
chunk_of (const Train *train, guint part, guint n_parts)
{
  guint first_block = 0, n_layers = train->stack->layers->len;
  guint n_blocks = count_blocks (train->stack, &first_block);
  guint first = part == 0 ? 0 : first_block + blocks_before (part, n_parts, n_blocks);
  guint end = part + 1 == n_parts ? n_layers : first_block + blocks_before (part + 1, n_parts, n_blocks);

  return (Chunk){ first, end - first };
}

static gboolean
check_parts (const Train *train, guint n_parts, GError **error)
{
  guint first, n_blocks = count_blocks (train->stack, &first);

  if (n_parts <= MAX (n_blocks, 1))
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "%u blocks of model '%s' cannot be divided into %u pipeline parts", n_blocks,
                    train->params->model, n_parts);
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
  Selection tensor = of_stage (stage), context = tensor, expert = tensor;

  tensor.varies[AXIS_TENSOR] = TRUE;
  context.varies[AXIS_CONTEXT] = TRUE;
  expert.data = layout_expert_part (&train->layout, &expert.block);
  if (train->layout.size[AXIS_TENSOR] > 1)
    stage->tensor = train_family (train, &tensor);
  if (train->layout.size[AXIS_CONTEXT] > 1)
    stage->context = train_family (train, &context);
  if (train->layout.n_expert > 1)
    stage->expert = train_family (train, &expert);
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
  guint n_virtual = (guint) train->params->parallel.virtual_stages, n_parts = train->n_stages * n_virtual;

  *stage = (Stage){ .train = train,
                    .index = index,
                    .bin = bin,
                    .waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId)),
                    .chunks = g_array_new (FALSE, FALSE, sizeof (Chunk)),
                    .received = g_array_new (FALSE, FALSE, sizeof (Received)),
                    .made = g_array_new (FALSE, FALSE, sizeof (guint)),
                    .actions = pipeline_actions (pipeline_schedule (train->params->parallel.schedule),
                                                 train->n_stages, index, n_virtual, train->n_micro) };
  for (Lane lane = 0; lane < N_LANES; lane++)
    stage->streams[lane] = -1;
  for (guint c = 0; c < n_virtual; c++) {
    Chunk chunk = chunk_of (train, c * train->n_stages + index, n_parts);

    g_array_append_val (stage->chunks, chunk);
    for (guint l = chunk.first_layer; l < chunk.first_layer + chunk.n_layers; l++) {
      ParameterCount count = train_layer_count (train, l);

      stage->count.dense += count.dense;
      stage->count.experts += count.experts;
      stage->parameters += count.dense + count.experts;
    }
  }
  add_first_class (stage);
  add_groups (stage);
}

gboolean
train_add_stages (Train *train, GError **error)
{
  guint n_virtual = (guint) train->params->parallel.virtual_stages;

  if (!check_parts (train, train->n_stages * n_virtual, error))
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
  stage->state = NULL;
  stage->has_compute = stage->has_load = FALSE;
  stage->compute_s = 0;
  stage->waits = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  stage->received = g_array_new (FALSE, FALSE, sizeof (Received));
  stage->chunks = g_array_ref (first->chunks);
  stage->actions = g_array_ref (first->actions);
  for (Lane lane = 0; lane < N_LANES; lane++)
    stage->streams[lane] = -1;
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

/* --- between stages --- */

/* A transfer between two consecutive parts of the model. */
typedef struct {
  guint boundary; /* number of the part before the boundary */
  gboolean is_forward;
  guint micro, bin;
} Crossing;

/* Finds the transfer that brings the input of an action, or (`is_result`) that takes its result on. FALSE: there is
 * none, because it is an end of the model. */
static gboolean
find_crossing (const Stage *stage, const Action *action, gboolean is_result, Crossing *crossing)
{
  const Train *train = stage->train;
  guint n_parts = train->n_stages * stage->chunks->len, part = action->chunk * train->n_stages + stage->index;
  gboolean is_forward = action->kind == ACTION_FORWARD, is_after = is_forward == is_result;

  if (action->kind == ACTION_WEIGHTS || n_parts == 1 || (is_after ? part + 1 == n_parts : part == 0))
    return FALSE;
  *crossing = (Crossing){ is_after ? part : part - 1, is_forward, action->micro, stage->bin };
  return TRUE;
}

static guint
find_transfer (Train *train, const Crossing *crossing)
{
  guint n_parts = train->n_stages * (guint) train->params->parallel.virtual_stages;
  guint row = (2 * crossing->bin + (crossing->is_forward ? 0 : 1)) * n_parts + crossing->boundary;
  guint index = row * train->n_micro + crossing->micro;
  guint from = crossing->boundary % train->n_stages;
  const Chunk chunk = chunk_of (train, crossing->boundary, n_parts);
  const FabLayer *layer = fab_layer_stack_layer (train->stack, chunk.first_layer + chunk.n_layers - 1);
  double divisor = train->params->parallel.is_sequence ? train->layout.size[AXIS_TENSOR] : 1;
  FabBytes bytes = (FabBytes) (layer->hidden_bytes * train->tokens / divisor + 0.5);
  FabCollectivePlan plan = { 0 };

  if (train->transfers[index] >= 0)
    return (guint) train->transfers[index];
  /* Ranks ascend from a stage to the next one, except from the last stage to the first. */
  gboolean is_up = crossing->is_forward == (from + 1 < train->n_stages);
  if (train->error == NULL)
    fab_family_plan_send (train->stages[crossing->bin * train->n_stages + from].next, train->env->library,
                          bytes, is_up, &plan, &train->error);
  train->transfers[index] = fab_dag_builder_collective (
      train->builder, &plan, FAB_DIMENSION_PIPELINE,
      g_strdup_printf ("%s%u.%u", crossing->is_forward ? "activation" : "gradient", crossing->boundary,
                       crossing->micro));
  return (guint) train->transfers[index];
}

static FabTaskId
join_transfer (Stage *stage, Lane lane, const Crossing *crossing)
{
  FabDagBuilder *builder = stage->train->builder;
  FabTaskId task = fab_dag_builder_join (builder, stage_stream (stage, lane),
                                         find_transfer (stage->train, crossing));

  if (stage->has_compute)
    fab_dag_builder_after (builder, task, stage->last_compute);
  return task;
}

void
stage_receive (Stage *stage, const Action *action)
{
  Received received = { *action, 0 };
  Crossing crossing;

  if (!find_crossing (stage, action, FALSE, &crossing))
    return;
  received.task = join_transfer (stage, crossing.is_forward ? LANE_RECEIVE_FORWARD : LANE_RECEIVE_BACKWARD,
                                 &crossing);
  g_array_append_val (stage->received, received);
}

void
stage_await (Stage *stage, const Action *action)
{
  for (guint i = 0; i < stage->received->len; i++) {
    const Received *received = &g_array_index (stage->received, Received, i);

    if (received->action.kind != action->kind || received->action.chunk != action->chunk
        || received->action.micro != action->micro)
      continue;
    stage_wait (stage, received->task);
    g_array_remove_index (stage->received, i);
    return;
  }
}

void
stage_send (Stage *stage, const Action *action, gboolean is_blocking)
{
  Crossing crossing;

  if (!find_crossing (stage, action, TRUE, &crossing))
    return;
  FabTaskId task = join_transfer (stage, crossing.is_forward ? LANE_SEND_FORWARD : LANE_SEND_BACKWARD,
                                  &crossing);
  if (is_blocking)
    stage_wait (stage, task);
}
