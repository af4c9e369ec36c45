/* SPDX-License-Identifier: Apache-2.0 */
/* fsdp.c - sharded data-parallel training as PyTorch's FullyShardedDataParallel schedules it
 * (torch/distributed/fsdp).
 *
 * Every block is a unit. All other layers (embedding, last norm, head) are the root unit, which stays whole from its
 * first use to the end of the backward pass. Before the forward pass of a unit its parameters are gathered; before
 * its backward pass too, unless it stayed whole. After the backward pass its gradients are reduce-scattered. All
 * these collectives are issued in program order on one communicator, so that each waits for those before it.
 *
 *   forward    The gather of unit k is issued at once, but at most `in_flight` units are whole or on their way: it
 *              waits until unit k - in_flight has computed (limit_all_gathers).
 *   backward   With prefetch `pre` the gathers of the next in_flight - 1 units are issued before the backward pass of
 *              k, and so come before the reduce-scatter of k. With `post` one is issued after the backward pass of k,
 *              before the reduce-scatter of k. With `none` it is issued after that reduce-scatter.
 *
 * Hybrid sharding gathers and reduce-scatters inside groups of `shard` ranks, and then sums the shards over the
 * groups on another communicator.
 */
#include "models/models.h"
#include "models/workload/training/memory.h"
#include "models/workload/training/offload.h"
#include "models/workload/training/pipeline.h"
#include "models/workload/training/streams.h"
#include "models/workload/training/train.h"

typedef enum { SHARDING_FULL, SHARDING_GRAD_OP, SHARDING_HYBRID, SHARDING_HYBRID_GRAD_OP } Sharding;
typedef enum { PREFETCH_PRE, PREFETCH_POST, PREFETCH_NONE } Prefetch;

typedef struct {
  TrainParams train;
  gint sharding; /* Sharding */
  gint64 shard;  /* ranks */
  gint gradient; /* index of gradient_types */
  gint prefetch; /* Prefetch */
  gint64 in_flight;
  gboolean is_limited, has_no_sync, is_offloaded;
} FsdpParams;

/* A unit: parameters that are gathered together. */
typedef struct {
  const char *name;
  guint64 parameters, experts; /* parameters of one rank when the unit is whole: experts, and all others */
  guint64 trained, trained_experts; /* those of them that have gradients */
  gboolean is_whole, is_coming;
  GArray *gathers; /* FabTaskId: gathers that are on their way; NULL: none yet */
} Unit;

typedef struct {
  Stage *stage;
  GArray *units;    /* Unit: the root unit first, then the blocks in forward order */
  GArray *of_layer; /* guint: index of the unit of each layer of the model */
  GArray *computed; /* FabTaskId: the last compute task of each pass of a unit so far, in order */
  GArray *sums;     /* FabTaskId: reductions of gradients in this step */
  FabConcurrentGroups *shards, *expert_shards, *replicas;
  guint n_shards, n_expert_shards; /* ranks of a shard group, and of one of the experts */
  gboolean has_begun;
  FabTaskId begun; /* behind all that the micro-batch before reduced */
} Fsdp;

static const FsdpParams *
fsdp_units_params_of (const Fsdp *self)
{
  return self->stage->train->strategy_params;
}

/* Adds the root unit and a unit for each block, with the parameters that the stage has of each. */
static void
fsdp_add_units (Fsdp *self)
{
  const Train *train = self->stage->train;
  Unit root = { .name = "root" };

  g_array_append_val (self->units, root);
  for (guint l = 0; l < train->stack->layers->len; l++) {
    const FabLayer *layer = fab_layer_stack_layer (train->stack, l);
    guint index = 0;

    if (layer->is_block) {
      Unit unit = { .name = layer->name };

      index = self->units->len;
      g_array_append_val (self->units, unit);
    }
    if (stage_has_layer (self->stage, l)) {
      ParameterCount count = train_layer_count (train, l), frozen = train_layer_frozen (train, l);
      Unit *unit = &g_array_index (self->units, Unit, index);

      unit->parameters += count.dense + frozen.dense;
      unit->experts += count.experts + frozen.experts;
      unit->trained += count.dense;
      unit->trained_experts += count.experts;
    }
    g_array_append_val (self->of_layer, index);
  }
}

static Unit *
fsdp_unit (const Fsdp *self, guint index)
{
  return &g_array_index (self->units, Unit, index);
}

/* Adds the collectives of a unit among the ranks that share its shards, after a task (NULL: at once), one for the
 * experts and one for all other parameters. Appends the tasks to `tasks`. */
static void
fsdp_model_parallel (Fsdp *self, FabOp op, guint index, FabBytes bytes_per_parameter, const FabTaskId *after,
                     GArray *tasks)
{
  const Unit *unit = fsdp_unit (self, index);
  gboolean is_gather = op == FAB_OP_ALL_GATHER;
  Comm dense = { STREAM_DATA, FAB_DIMENSION_DATA, self->shards, op,
                 (is_gather ? unit->parameters : unit->trained) * bytes_per_parameter };
  Comm experts = { STREAM_EXPERT_DATA, FAB_DIMENSION_DATA, self->expert_shards, op,
                   (is_gather ? unit->experts : unit->trained_experts) * bytes_per_parameter };
  FabTaskId task;

  if (stage_comm_after (self->stage, &dense, g_strdup (unit->name), after, &task))
    g_array_append_val (tasks, task);
  if (stage_comm_after (self->stage, &experts, g_strdup_printf ("%s.experts", unit->name), after, &task))
    g_array_append_val (tasks, task);
}

/* The compute task for which a gather has to wait, so that no more than in_flight units are whole: the end of the
 * unit that was used in_flight units before. `n_ahead` is the number of units that will be used before this one. No
 * gather of a micro-batch begins before the micro-batch does (_wait_for_computation_stream of _runtime_utils.py).
 * NULL: it need not wait. */
static const FabTaskId *
fsdp_limit (const Fsdp *self, guint n_ahead)
{
  const FsdpParams *p = fsdp_units_params_of (self);
  guint n_used = self->computed->len + n_ahead;

  const FabTaskId *limit = NULL;

  if (p->is_limited && n_used >= (guint) p->in_flight)
    limit = &g_array_index (self->computed, FabTaskId,
                            MIN (n_used - (guint) p->in_flight, self->computed->len - 1));
  return self->has_begun && (limit == NULL || *limit < self->begun) ? &self->begun : limit;
}

static void
fsdp_gather (Fsdp *self, guint index, const FabTaskId *after)
{
  Unit *unit = fsdp_unit (self, index);

  FabBytes weight_bytes = stage_weight_bytes (self->stage);
  Copy copy = { fsdp_units_params_of (self)->is_offloaded ? OFFLOAD_CPU : OFFLOAD_NONE, TRUE, 0 };
  FabTaskId shard;

  if (unit->is_whole || unit->is_coming)
    return;
  copy.bytes = unit->parameters * weight_bytes / self->n_shards
             + unit->experts * weight_bytes / self->n_expert_shards;
  gboolean is_copied = offload_copy (self->stage, &copy, g_strdup (unit->name), after, &shard);
  if (is_copied)
    after = &shard;
  if (unit->gathers == NULL)
    unit->gathers = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  fsdp_model_parallel (self, FAB_OP_ALL_GATHER, index, weight_bytes, after, unit->gathers);
  if (is_copied && unit->gathers->len == 0) /* no other rank has a shard */
    g_array_append_val (unit->gathers, shard);
  unit->is_coming = TRUE;
}

/* FSDP2 (fully_shard, public from PyTorch 2.6). */
static gboolean
fsdp_is_second (const Fsdp *self)
{
  return self->stage->train->software.pytorch >= FAB_PYTORCH (2, 6);
}

/* FSDP2 gathers into one buffer, from which each parameter is copied (foreach_all_gather_copy_out): read and written
 * in 2 bytes, on the stream of the computation. FSDP1 gathers flat parameters, of which weights are views. */
static void
fsdp_copy_out (Fsdp *self, const Unit *unit)
{
  double parameters = (double) (unit->parameters + unit->experts);

  if (fsdp_is_second (self) && self->n_shards > 1)
    stage_move (self->stage, parameters * 2 * (double) stage_weight_bytes (self->stage),
                g_strdup_printf ("%s.copy_out", unit->name));
}

/* Before gradients are reduced they are copied into one buffer, on the stream of the computation: read in the type of
 * the weights, and written in that of the reduction (FSDP2, chunk_cat) or first put together in their own (FSDP1, the
 * backward pass of the views). */
static void
fsdp_copy_in (Fsdp *self, const Unit *unit)
{
  double parameters = (double) (unit->trained + unit->trained_experts);
  double weight = (double) stage_weight_bytes (self->stage);
  double gradient = (double) gradient_bytes[fsdp_units_params_of (self)->gradient];
  double cast = fsdp_is_second (self) || gradient <= weight ? 0 : weight + gradient;

  if (self->n_shards > 1)
    stage_move (self->stage, parameters * (weight + (fsdp_is_second (self) ? gradient : weight) + cast),
                g_strdup_printf ("%s.copy_in", unit->name));
}

/* Makes the next compute task wait until the unit is whole. */
static void
fsdp_await (Fsdp *self, guint index)
{
  Unit *unit = fsdp_unit (self, index);

  if (unit->is_coming) {
    stage_wait_all (self->stage, unit->gathers);
    fsdp_copy_out (self, unit);
  }
  unit->is_coming = FALSE;
  unit->is_whole = TRUE;
}

static const char *const shardings[] = { "full", "grad_op", "hybrid", "hybrid_grad_op", NULL };
static const char *const prefetches[] = { "pre", "post", "none", NULL };

static const FabParam fsdp_params[] = {
  TRAIN_PARAMS (FsdpParams, train),
  { .key = "sharding",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FsdpParams, sharding),
    .fallback = "full",
    .choices = shardings,
    .is_in_title = TRUE,
    .help = "full: parameters are sharded again after forward (FULL_SHARD). grad_op: they stay whole until "
            "backward (SHARD_GRAD_OP, reshard_after_forward false). hybrid, hybrid_grad_op: the same inside "
            "groups of `shard` ranks." },
  { .key = "shard",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (FsdpParams, shard),
    .fallback = "0",
    .max = 1e6,
    .help = "Ranks per shard group with hybrid sharding; 0: the ranks of one node." },
  { .key = "gradient",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FsdpParams, gradient),
    .fallback = "bf16",
    .choices = gradient_types,
    .help = "Number type in which gradients are reduced (reduce_dtype)." },
  { .key = "backward_prefetch",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FsdpParams, prefetch),
    .fallback = "pre",
    .choices = prefetches,
    .help = "When backward gathers the next unit." },
  { .key = "limit_all_gathers",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (FsdpParams, is_limited),
    .fallback = "true",
    .help =
        "Limit the units that are whole or being gathered to in_flight; false: the host issues all gathers "
        "at once." },
  { .key = "in_flight",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (FsdpParams, in_flight),
    .fallback = "2",
    .min = 1,
    .max = 1000,
    .help = "Units that are whole or being gathered at once: 1 gathers nothing ahead, 2 one unit ahead "
            "(PyTorch), 3 two." },
  { .key = "no_sync",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (FsdpParams, has_no_sync),
    .fallback = "false",
    .help = "Reduce in the last micro-batch only, and keep whole gradients until then; false: reduce in "
            "every micro-batch." },
  { .key = "cpu_offload",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (FsdpParams, is_offloaded),
    .fallback = "false",
    .help = "Keep shards of parameters, gradients and optimizer states in host memory and update them there "
            "(CPUOffload, CPUOffloadPolicy)." },
  { .key = NULL },
};

static const FsdpParams *
params_of (const Stage *stage)
{
  return stage->train->strategy_params;
}

static gboolean
is_hybrid (const FsdpParams *p)
{
  return p->sharding == SHARDING_HYBRID || p->sharding == SHARDING_HYBRID_GRAD_OP;
}

static gboolean
keeps_whole (const FsdpParams *p)
{
  return p->sharding == SHARDING_GRAD_OP || p->sharding == SHARDING_HYBRID_GRAD_OP;
}

static guint
count_shards (const Stage *stage)
{
  const FsdpParams *p = params_of (stage);

  if (!is_hybrid (p))
    return stage_n_replicas (stage);
  return p->shard > 0 ? (guint) p->shard : stage_data_per_node (stage);
}

static void
unit_clear (gpointer data)
{
  g_clear_pointer (&((Unit *) data)->gathers, g_array_unref);
}

static void
begin (Stage *stage)
{
  Fsdp *self = g_new0 (Fsdp, 1);
  guint shards = count_shards (stage);

  stage->state = self;
  self->stage = stage;
  self->units = g_array_new (FALSE, FALSE, sizeof (Unit));
  g_array_set_clear_func (self->units, unit_clear);
  self->of_layer = g_array_new (FALSE, FALSE, sizeof (guint));
  self->computed = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  self->sums = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  fsdp_add_units (self);
  self->n_shards = shards;
  self->n_expert_shards = layout_n_expert_replicas (&stage->train->layout) * stage_n_copies (stage);
  self->shards = is_hybrid (params_of (stage)) ? stage_data_concurrent_groups (stage, DATA_RUNS, shards)
                                               : stage_data_concurrent_groups (stage, DATA_ALL, 0);
  if (is_hybrid (params_of (stage)) && stage_n_replicas (stage) > shards)
    self->replicas = stage_data_concurrent_groups (stage, DATA_EVERY, shards);
  if (layout_has_expert_groups (&stage->train->layout))
    self->expert_shards = stage_expert_data_concurrent_groups (stage);
}

static void
free_state (gpointer data)
{
  Fsdp *self = data;

  g_array_unref (self->units);
  g_array_unref (self->of_layer);
  g_array_unref (self->computed);
  g_array_unref (self->sums);
  g_free (self);
}

static guint
unit_of (const Fsdp *self, const PassAt *at)
{
  return g_array_index (self->of_layer, guint, at->layer);
}

static void
note_computed (Fsdp *self)
{
  g_array_append_val (self->computed, self->stage->last_compute);
}

static void
before_forward (Stage *stage, const PassAt *at)
{
  Fsdp *self = stage->state;
  guint index = unit_of (self, at);

  fsdp_gather (self, 0, fsdp_limit (self, 0));
  fsdp_gather (self, index, fsdp_limit (self, 0));
  fsdp_await (self, index);
}

static void
after_forward (Stage *stage, const PassAt *at)
{
  Fsdp *self = stage->state;
  guint index = unit_of (self, at);

  if (index == 0)
    return;
  if (!keeps_whole (params_of (stage)))
    fsdp_unit (self, index)->is_whole = FALSE;
  note_computed (self);
}

/* The unit whose backward pass comes after that of unit `index`; 0: there is none. */
static guint
next_backward (const Fsdp *self, guint index)
{
  return index > 1 && fsdp_unit (self, index - 1)->parameters > 0 ? index - 1 : 0;
}

static void
before_backward (Stage *stage, const PassAt *at)
{
  Fsdp *self = stage->state;
  const FsdpParams *p = params_of (stage);
  guint index = unit_of (self, at);

  fsdp_gather (self, index, p->prefetch == PREFETCH_PRE ? fsdp_limit (self, 0) : &stage->last_compute);
  fsdp_await (self, index);
  if (p->prefetch != PREFETCH_PRE)
    return;
  for (guint ahead = 1, next = next_backward (self, index); next > 0 && ahead < (guint) p->in_flight;
       next = next_backward (self, next), ahead++)
    fsdp_gather (self, next, fsdp_limit (self, ahead));
}

/* --- reducing --- */

/* Copies a rank's shard of reduced gradients to its host, where they are kept there. */
static void
copy_gradients (Fsdp *self, FabBytes bytes, char *name, const FabTaskId *sum)
{
  Copy copy = { params_of (self->stage)->is_offloaded ? OFFLOAD_CPU : OFFLOAD_NONE, FALSE, bytes };
  FabTaskId task;

  if (offload_copy (self->stage, &copy, name, sum, &task))
    g_array_append_val (self->sums, task);
}

static void
reduce (Fsdp *self, guint index)
{
  const Unit *unit = fsdp_unit (self, index);
  FabBytes each = gradient_bytes[params_of (self->stage)->gradient];
  FabBytes bytes = unit->trained * each / self->n_shards;
  Comm replicas = { STREAM_REPLICA, FAB_DIMENSION_DATA, self->replicas, FAB_OP_ALL_REDUCE, bytes };
  FabTaskId sum, whole;
  guint n_before = self->sums->len;

  fsdp_copy_in (self, unit);
  sum = self->stage->last_compute;

  fsdp_model_parallel (self, FAB_OP_REDUCE_SCATTER, index, each, &self->stage->last_compute, self->sums);
  FabTaskId last = self->sums->len > n_before ? g_array_index (self->sums, FabTaskId, self->sums->len - 1)
                                              : sum;
  if (self->sums->len > n_before)
    sum = g_array_index (self->sums, FabTaskId, n_before); /* the reduction of all but the experts */
  if (stage_comm_after (self->stage, &replicas, g_strdup (unit->name), &sum, &whole)) {
    g_array_append_val (self->sums, whole);
    sum = whole;
  }
  copy_gradients (self, bytes, g_strdup (unit->name), &sum);
  copy_gradients (self, unit->trained_experts * each / self->n_expert_shards,
                  g_strdup_printf ("%s.experts", unit->name), &last);
}

static void
after_backward (Stage *stage, const PassAt *at)
{
  Fsdp *self = stage->state;
  const FsdpParams *p = params_of (stage);
  guint index = unit_of (self, at);
  gboolean is_reduced = at->is_last || !p->has_no_sync;

  if (index > 0) {
    fsdp_unit (self, index)->is_whole = keeps_whole (p) && p->has_no_sync && !at->is_last;
    note_computed (self);
    if (p->prefetch == PREFETCH_POST) /* the root unit is whole */
      fsdp_gather (self, next_backward (self, index), &stage->last_compute);
    if (is_reduced)
      reduce (self, index);
  }
  if (!stage_ends_backward (stage, at))
    return;
  fsdp_unit (self, 0)->is_whole = keeps_whole (p) && p->has_no_sync && !at->is_last;
  if (is_reduced)
    reduce (self, 0);
  /* Without a pipeline a backward pass ends when all is reduced (_post_backward_final_callback). Pipelines of PyTorch
   * wait in the last one alone (stage.py, set_is_last_backward). */
  if (at->is_last || stage->train->n_stages > 1)
    return;
  stage_wait_all (stage, self->sums);
  if (!is_reduced || (self->replicas == NULL && self->expert_shards == NULL))
    return; /* gathers are behind reductions of the same communicator */
  self->begun = stage_compute (stage, 0, g_strdup ("reduced"));
  self->has_begun = TRUE;
}

static void
before_optimizer (Stage *stage)
{
  Fsdp *self = stage->state;

  stage_wait_all (stage, self->sums);
}

static double
optimizer_parameters (const Stage *stage)
{
  const Fsdp *self = stage->state;

  return (double) stage->count.dense / self->n_shards + (double) stage->count.experts / self->n_expert_shards;
}

static gboolean
is_sharded (G_GNUC_UNUSED const Stage *stage)
{
  return TRUE;
}

static gboolean
optimizes (Stage *stage)
{
  if (params_of (stage)->is_offloaded)
    offload_optimize (stage, OFFLOAD_CPU, optimizer_parameters (stage), FALSE);
  return params_of (stage)->is_offloaded;
}

static void
memory (const Stage *stage, FabJobTotals *totals)
{
  const FsdpParams *p = params_of (stage);
  const Fsdp *self = stage->state;
  double share = optimizer_parameters (stage) / MAX ((double) stage->parameters, 1), largest = 0, whole;

  for (guint i = 1; i < self->units->len; i++)
    largest = MAX (largest, (double) (fsdp_unit (self, i)->parameters + fsdp_unit (self, i)->experts));
  whole = keeps_whole (p)
            ? (double) (stage->parameters + stage->frozen)
            : MIN ((double) fsdp_unit (self, 0)->parameters + (double) (p->in_flight + 1) * largest,
                   (double) (stage->parameters + stage->frozen));
  memory_add_state (stage, totals,
                    &(MemoryShares){ .parameters = p->is_offloaded ? 0 : share,
                                     .gradient_bytes = (double) gradient_bytes[p->gradient],
                                     .gradients = p->has_no_sync  ? 1
                                                : p->is_offloaded ? 0
                                                                  : share,
                                     .optimizer = p->is_offloaded ? 0 : share,
                                     .is_sharded = TRUE,
                                     .is_fp32 = TRUE,
                                     .grows = TRUE,
                                     .has_streams = TRUE,
                                     .gathered = whole * (double) stage_weight_bytes (stage),
                                     .buckets = 2 * largest * (double) gradient_bytes[p->gradient] });
}

static const Strategy fsdp_strategy = {
  .stack = "eager",
  .hands_over_weights = TRUE,
  .has_plain_checkpoints = TRUE,
  .begin = begin,
  .before_forward = before_forward,
  .after_forward = after_forward,
  .before_backward = before_backward,
  .after_backward = after_backward,
  .before_optimizer = before_optimizer,
  .optimizer_parameters = optimizer_parameters,
  .optimizes = optimizes,
  .memory = memory,
  .free_state = free_state,
  .is_sharded = is_sharded,
};

static gboolean
fsdp_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
            GError **error)
{
  const FsdpParams *p = params;

  if (!train_build (env, &p->train, &fsdp_strategy, p, builder, totals, error))
    return FALSE;
  totals->gradient_bytes = totals->trained_parameters * gradient_bytes[p->gradient];
  return TRUE;
}

static void
fsdp_check (gconstpointer params, FabCheck *check)
{
  const FsdpParams *p = params;
  const PipelineSchedule *schedule = pipeline_schedule (p->train.parallel.schedule);

  train_check (&p->train, check);
  if (schedule->splits_backward && p->train.parallel.pipeline > 1)
    fab_check_fail (check, &p->train.parallel.schedule,
                    "%s delays weight gradients, so units would have to stay whole; fsdp does not support it",
                    schedule->name);
  if (p->shard > 0 && !is_hybrid (p))
    fab_check_fail (check, &p->shard, "shard needs sharding: hybrid or hybrid_grad_op");
}

const FabWorkloadOps fab_workload_fsdp = {
  .info = { .name = "fsdp",
            .summary = "Sharded data-parallel training, scheduled as PyTorch's FSDP does it, also hybrid.",
            .doc = "docs/models/fsdp.md",
            .params = fsdp_params,
            .params_size = sizeof (FsdpParams),
            .check = fsdp_check },
  .build = fsdp_build,
};
