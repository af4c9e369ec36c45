/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/streams.h"

#include "models/workload/training/pipeline.h"
#include "sim/base/error.h"

static const char *const stream_names[N_STREAM_KINDS] = {
  [STREAM_LOADER] = "loader",
  [STREAM_COMPUTE] = "compute",
  [STREAM_DATA] = "comm",
  [STREAM_GATHER] = "gather",
  [STREAM_REPLICA] = "replica",
  [STREAM_EXPERT_DATA] = "expert data",
  [STREAM_TENSOR] = "tensor",
  [STREAM_CONTEXT] = "context",
  [STREAM_EXPERT] = "expert",
  [STREAM_SEND_FORWARD] = "send forward",
  [STREAM_RECEIVE_FORWARD] = "receive forward",
  [STREAM_SEND_BACKWARD] = "send backward",
  [STREAM_RECEIVE_BACKWARD] = "receive backward",
  [STREAM_SEND_FORWARD_UP] = "send forward up",
  [STREAM_RECEIVE_FORWARD_UP] = "receive forward up",
  [STREAM_SEND_BACKWARD_UP] = "send backward up",
  [STREAM_RECEIVE_BACKWARD_UP] = "receive backward up",
  [STREAM_NORM] = "gradient norm",
  [STREAM_OUTER] = "outer",
  [STREAM_FROM_GPU] = "copy out",
  [STREAM_TO_GPU] = "copy in",
  [STREAM_CPU] = "cpu",
  [STREAM_CHECKPOINT] = "checkpoint",
};

guint
stage_stream (Stage *stage, StreamKind stream)
{
  if (stage->streams[stream] < 0)
    stage->streams[stream] = fab_dag_builder_stream (stage->train->builder, stage->rank_class,
                                                     stream_names[stream]);
  return (guint) stage->streams[stream];
}

void
stage_wait (Stage *stage, FabTaskId task)
{
  g_array_append_val (stage->waits, task);
}

FabTaskId
stage_compute (Stage *stage, double seconds, char *name)
{
  FabDagBuilder *builder = stage->train->builder;
  FabTaskId task = fab_dag_builder_work (builder, stage_stream (stage, STREAM_COMPUTE), FAB_SPAN_COMPUTE,
                                         fab_seconds_to_ps (seconds), name);

  for (guint i = 0; i < stage->waits->len; i++)
    fab_dag_builder_after (builder, task, g_array_index (stage->waits, FabTaskId, i));
  g_array_set_size (stage->waits, 0);
  stage->last_compute = task;
  stage->compute_s += seconds;
  if (stage->seconds != NULL)
    g_array_append_val (stage->seconds, seconds);
  stage->has_compute = TRUE;
  return task;
}

void
stage_move (Stage *stage, double bytes, char *name)
{
  const double elementwise_share =
      0.85; /* of the memory rate: h100_memory_bound (validate/measured/kernels) */
  const Train *train = stage->train;

  if (train->has_setup && bytes > 0)
    stage_compute (stage, bytes / elementwise_share / (double) train->env->cluster->device.memory_bytes_per_s,
                   name);
  else
    g_free (name);
}

gboolean
stage_follow (Stage *stage, guint *collective)
{
  if (stage->first == NULL)
    return FALSE;
  g_assert (stage->n_followed < stage->first->made->len);
  *collective = g_array_index (stage->first->made, guint, stage->n_followed++);
  return TRUE;
}

void
stage_note (Stage *stage, guint collective)
{
  g_array_append_val (stage->made, collective);
}

/* Of two stages that have the same parts of the model, the one that makes the collectives of both. */
static guint
maker_of (const Stage *stage)
{
  return MIN (stage->index, stage_twin (stage));
}

/* Finds the collective that a task joins. A data-parallel group has ranks of all bins of a stage (slow.h), and of the
 * other stage that has the same parts of the model. The first bin of the first stage makes the collective; the others
 * do the same in the same order, and join it. Takes *name. */
static gboolean
find_collective (Stage *stage, const Comm *comm, FabLibrary *library, char **name, guint *collective)
{
  Train *train = stage->train;
  GArray *shared = comm->dimension == FAB_DIMENSION_DATA ? train->shared[maker_of (stage)] : NULL;
  FabCollectivePlan plan;

  if (stage_follow (stage, collective))
    return TRUE;
  if (shared != NULL && (stage->bin > 0 || stage->index != maker_of (stage))) {
    g_assert (stage->n_shared < shared->len);
    *collective = g_array_index (shared, guint, stage->n_shared++);
    stage_note (stage, *collective);
    return TRUE;
  }
  if (!fab_concurrent_groups_plan (comm->concurrent_groups, library, comm->op, comm->bytes, &plan,
                                   &train->error))
    return FALSE;
  if (comm->stream == STREAM_OUTER)
    fab_collective_plan_share (&plan, (guint64) train->params->outer.every);
  *collective = fab_dag_builder_collective (train->builder, &plan, comm->dimension, g_steal_pointer (name));
  if (shared != NULL)
    g_array_append_val (shared, *collective);
  stage_note (stage, *collective);
  return TRUE;
}

gboolean
stage_comm (Stage *stage, const Comm *comm, char *name, FabTaskId *task)
{
  return stage_comm_after (stage, comm, name, stage->has_compute ? &stage->last_compute : NULL, task);
}

static gboolean
add_comm (Stage *stage, const Comm *comm, FabLibrary *library, char *name, const FabTaskId *after,
          FabTaskId *task)
{
  Train *train = stage->train;
  g_autofree char *owned = name;
  guint collective;

  if (comm->concurrent_groups == NULL || fab_concurrent_groups_n_ranks (comm->concurrent_groups) < 2
      || comm->bytes == 0 || train->error != NULL
      || !find_collective (stage, comm, library, &owned, &collective))
    return FALSE;
  *task = fab_dag_builder_join (train->builder, stage_stream (stage, comm->stream), collective);
  if (after != NULL)
    fab_dag_builder_after (train->builder, *task, *after);
  return TRUE;
}

gboolean
stage_comm_after (Stage *stage, const Comm *comm, char *name, const FabTaskId *after, FabTaskId *task)
{
  return add_comm (stage, comm, stage->train->env->library, name, after, task);
}

gboolean
stage_comm_of_pass (Stage *stage, const Comm *comm, FabLibrary *library, char *name, FabTaskId *task)
{
  if (!add_comm (stage, comm, library, name, stage->has_compute ? &stage->last_compute : NULL, task))
    return FALSE;
  for (guint i = 0; i < stage->waits->len; i++)
    fab_dag_builder_after (stage->train->builder, *task, g_array_index (stage->waits, FabTaskId, i));
  return TRUE;
}

void
train_fail (Train *train, const char *format, ...)
{
  va_list args;

  if (train->error != NULL)
    return;
  va_start (args, format);
  train->error = g_error_new_valist (FAB_ERROR, FAB_ERROR_INPUT, format, args);
  va_end (args);
}

gboolean
stage_has_layer (const Stage *stage, guint layer)
{
  for (guint c = 0; c < stage->chunks->len; c++) {
    const Chunk *chunk = &g_array_index (stage->chunks, Chunk, c);

    if (layer >= chunk->first_layer && layer < chunk->first_layer + chunk->n_layers)
      return TRUE;
  }
  return FALSE;
}

static FabConcurrentGroups *
keep (Train *train, FabConcurrentGroups *concurrent_groups)
{
  return fab_concurrent_groups_keep (train->env->library, concurrent_groups);
}

static gboolean
is_same (const Selection *a, const Selection *b)
{
  for (Axis axis = 0; axis < N_AXES; axis++)
    if (a->varies[axis] != b->varies[axis])
      return FALSE;
  return a->data == b->data && a->block == b->block && a->first_stage == b->first_stage
      && a->n_stages == b->n_stages && a->first_data == b->first_data && a->n_data == b->n_data
      && a->fold == b->fold && a->has_twin == b->has_twin;
}

FabConcurrentGroups *
train_concurrent_groups (Train *train, const Selection *selection)
{
  KnownFamily made = { *selection, NULL };

  for (guint i = 0; i < train->concurrent_groups->len; i++)
    if (is_same (&g_array_index (train->concurrent_groups, KnownFamily, i).selection, selection))
      return g_array_index (train->concurrent_groups, KnownFamily, i).concurrent_groups;
  if (train->error != NULL)
    return NULL;
  made.concurrent_groups = keep (train, layout_concurrent_groups (&train->layout, selection));
  g_array_append_val (train->concurrent_groups, made);
  return made.concurrent_groups;
}

FabConcurrentGroups *
stage_pairs (Stage *stage, guint to)
{
  Train *train = stage->train;
  const SlowBin *bin = slow_bin (train->slow, stage->bin);

  return train->error
           ? NULL
           : keep (train, layout_pairs (&train->layout, stage->index, to, bin->first_data, bin->n_data));
}

static FabConcurrentGroups *
data_concurrent_groups (Stage *stage, DataPart part, guint block, gboolean has_context)
{
  Train *train = stage->train;
  guint n_data = train->layout.size[AXIS_DATA];
  Selection selection = { .data = part,
                          .block = block,
                          .first_stage = maker_of (stage),
                          .n_stages = 1,
                          .n_data = n_data,
                          .has_twin = stage_twin (stage) != stage->index };

  if (block > 0 && n_data % block != 0) {
    train_fail (train, "%u data-parallel ranks cannot be divided into groups of %u", n_data, block);
    return NULL;
  }
  selection.varies[AXIS_CONTEXT] = has_context;
  return train_concurrent_groups (train, &selection);
}

FabConcurrentGroups *
stage_data_concurrent_groups (Stage *stage, DataPart part, guint block)
{
  guint n_site = train_site_data (stage->train);

  if (n_site == stage->train->layout.size[AXIS_DATA])
    return data_concurrent_groups (stage, part, block, part != DATA_RUNS);
  if (part == DATA_ALL)
    return data_concurrent_groups (stage, DATA_RUNS, n_site, TRUE);
  if (part == DATA_EVERY || n_site % MAX (block, 1) != 0) {
    train_fail (stage->train,
                "outer.sites cannot be combined with groups of ranks from several sites; shard over all "
                "ranks of a site, or over runs of neighbours");
    return NULL;
  }
  return data_concurrent_groups (stage, part, block, part != DATA_RUNS);
}

FabConcurrentGroups *
stage_site_concurrent_groups (Stage *stage, DataPart part, guint block)
{
  return data_concurrent_groups (stage, part, block, FALSE);
}

guint
train_site_data (const Train *train)
{
  return train->layout.size[AXIS_DATA] / (guint) train->params->outer.sites;
}

FabConcurrentGroups *
stage_expert_data_concurrent_groups (Stage *stage)
{
  guint block;
  const Layout *layout = &stage->train->layout;
  Selection folded = { .first_stage = maker_of (stage),
                       .n_stages = 1,
                       .n_data = layout->size[AXIS_DATA],
                       .fold = FOLD_EXPERT_DATA,
                       .has_twin = stage_twin (stage) != stage->index };
  DataPart part = layout_expert_data_part (layout, &block);

  if (layout->is_folded)
    return train_concurrent_groups (stage->train, &folded);
  return data_concurrent_groups (stage, part, block, TRUE);
}

void
stage_gather (Stage *stage, const ParameterCount *count, guint index, GArray *tasks)
{
  FabBytes each = stage_weight_bytes (stage);
  Comm dense = { STREAM_DATA, FAB_DIMENSION_DATA, stage_data_concurrent_groups (stage, DATA_ALL, 0),
                 FAB_OP_ALL_GATHER, count->dense * each };
  Comm experts = { STREAM_EXPERT_DATA, FAB_DIMENSION_DATA,
                   count->experts > 0 ? stage_expert_data_concurrent_groups (stage) : NULL, FAB_OP_ALL_GATHER,
                   count->experts * each };
  FabTaskId task;

  if (stage_comm (stage, &dense, g_strdup_printf ("parameters%u", index), &task))
    g_array_append_val (tasks, task);
  if (stage_comm (stage, &experts, g_strdup_printf ("experts%u", index), &task))
    g_array_append_val (tasks, task);
}

void
stage_wait_all (Stage *stage, GArray *tasks)
{
  for (guint i = 0; i < tasks->len; i++)
    stage_wait (stage, g_array_index (tasks, FabTaskId, i));
  g_array_set_size (tasks, 0);
}

guint
stage_n_ranks (const Stage *stage)
{
  const Layout *layout = &stage->train->layout;

  return slow_bin (stage->train->slow, stage->bin)->n_data * layout->size[AXIS_TENSOR]
       * layout->size[AXIS_CONTEXT];
}

guint *
stage_ranks (const Stage *stage, guint *n)
{
  const SlowBin *bin = slow_bin (stage->train->slow, stage->bin);

  *n = stage_n_ranks (stage);
  return layout_ranks (&stage->train->layout, stage->index, bin->first_data, bin->n_data);
}

guint
stage_n_replicas (const Stage *stage)
{
  const Layout *layout = &stage->train->layout;

  return train_site_data (stage->train) * layout->size[AXIS_CONTEXT] * stage_n_copies (stage);
}

guint
stage_twin (const Stage *stage)
{
  return pipeline_twin (stage->train->schedule, stage->train->n_stages, stage->index);
}

guint
stage_n_copies (const Stage *stage)
{
  return stage_twin (stage) != stage->index ? 2 : 1;
}

guint
stage_data_per_node (const Stage *stage)
{
  const Layout *layout = &stage->train->layout;
  guint n = layout->cluster->gpus_per_node / layout->stride[AXIS_DATA];

  return CLAMP (n, 1, layout->size[AXIS_DATA]);
}

FabBytes
stage_weight_bytes (const Stage *stage)
{
  return MAX (fab_precision_bytes ((FabPrecision) stage->train->params->precision), 2);
}

/* The first layer of the part that goes back last: the passes of the other parts come before. */
gboolean
stage_ends_backward (const Stage *stage, const PassAt *at)
{
  return at->layer == g_array_index (stage->chunks, Chunk, stage->last_chunk).first_layer;
}

gboolean
stage_ends_chunk (const Stage *stage, const PassAt *at)
{
  for (guint c = 0; c < stage->chunks->len; c++)
    if (at->layer == g_array_index (stage->chunks, Chunk, c).first_layer)
      return TRUE;
  return FALSE;
}

guint64
train_tensor_parameters (const Train *train, const FabTensor *tensor)
{
  guint n_tensor = train->layout.size[AXIS_TENSOR];
  guint n_expert = train->layout.n_expert * train->layout.n_expert_tensor;

  switch (tensor->kind) {
  case FAB_TENSOR_WHOLE: return tensor->parameters;
  case FAB_TENSOR_SPLIT: return (tensor->parameters + n_tensor - 1) / n_tensor;
  case FAB_TENSOR_EXPERT: return (tensor->parameters + n_expert - 1) / n_expert;
  }
  g_assert_not_reached ();
}

static ParameterCount
count_layer (const Train *train, guint index, gboolean is_frozen)
{
  const FabLayer *layer = fab_layer_stack_layer (train->stack, index);
  ParameterCount count = { 0, 0 };

  for (guint t = 0; t < layer->tensors->len; t++) {
    const FabTensor *tensor = fab_layer_tensor (layer, t);
    gboolean is_expert = tensor->kind == FAB_TENSOR_EXPERT && layout_has_expert_groups (&train->layout);

    if (tensor->is_frozen != is_frozen)
      continue;
    *(is_expert ? &count.experts : &count.dense) += train_tensor_parameters (train, tensor);
  }
  return count;
}

ParameterCount
train_layer_count (const Train *train, guint index)
{
  return count_layer (train, index, FALSE);
}

ParameterCount
train_layer_frozen (const Train *train, guint index)
{
  return count_layer (train, index, TRUE);
}

double
stage_shard_parameters (const Stage *stage)
{
  return (double) stage->count.dense / stage_n_replicas (stage)
       + (double) stage->count.experts
             / (layout_n_expert_replicas (&stage->train->layout) * stage_n_copies (stage));
}
