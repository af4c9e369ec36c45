/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/train.h"
#include "models/workload/training/kept.h"
#include "models/workload/training/prices.h"

#include "models/models.h"

#include <math.h>

#include "models/workload/training/adapters.h"
#include "models/workload/training/experts.h"
#include "models/workload/training/memory.h"
#include "models/workload/training/memory_band.h"
#include "models/workload/training/outer_step.h"
#include "models/workload/training/passes.h"
#include "models/workload/training/pipeline.h"
#include "models/workload/training/recompute.h"
#include "models/workload/training/stages.h"
#include "models/workload/training/streams.h"
#include "models/workload/training/transfers.h"
#include "sim/base/error.h"

enum { MAX_MICRO_BATCHES = 100000 };

/* How many experts the model's layers have; 0: none. */
static gint64
count_experts (const FabLayerStack *stack)
{
  gint64 n = 0;

  for (guint l = 0; l < stack->layers->len; l++)
    for (guint s = 0; s < fab_layer_stack_layer (stack, l)->segments->len; s++) {
      const GArray *operators = fab_layer_segment (fab_layer_stack_layer (stack, l), s)->operators;

      for (guint i = 0; i < operators->len; i++)
        if (g_array_index (operators, FabOperator, i).n_matrices > 1)
          n = MAX (n, g_array_index (operators, FabOperator, i).n_matrices);
    }
  return n;
}

static gboolean
check_experts (const Train *train, GError **error)
{
  gint64 n = count_experts (train->stack), expert = train->params->parallel.expert;

  if (expert == 1 || (n > 0 && n % expert == 0))
    return TRUE;
  if (n == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "model '%s' has no experts for expert: %" G_GINT64_FORMAT " ranks to share",
                      train->params->model, expert);
  return fab_throw (error, FAB_ERROR_INPUT,
                    "%" G_GINT64_FORMAT " experts of model '%s' cannot be divided among expert: "
                    "%" G_GINT64_FORMAT " ranks",
                    n, train->params->model, expert);
}

/* A round smaller than the stages would leave a stage waiting for what it has to do itself. */
static gboolean
fits_rounds (guint n_micro, guint n_stages, guint round)
{
  return round >= n_stages && (n_micro % round == 0 || n_micro % round >= n_stages);
}

static gboolean
check_rounds (Train *train, GError **error)
{
  guint right = train->n_stages;

  train->round = train->params->parallel.round > 0 ? (guint) train->params->parallel.round : train->n_stages;
  if (fits_rounds (train->n_micro, train->n_stages, train->round))
    return TRUE;
  if (train->n_micro < train->n_stages)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "schedule interleaved needs at least as many micro-batches as stages; accumulation gives %u, and "
        "there are %u stages",
        train->n_micro, train->n_stages);
  while (!fits_rounds (train->n_micro, train->n_stages, right))
    right++;
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "%u micro-batches cannot pass %u stages in rounds of %u, because every round, the last too, needs as "
      "many micro-batches as stages; write parallel.round: %u",
      train->n_micro, train->n_stages, train->round, right);
}

static gboolean
count_micro_batches (Train *train, GError **error)
{
  const TrainParams *p = train->params;
  gint64 per_micro = p->micro_batch * train->layout.size[AXIS_DATA];

  train->n_micro = (guint) p->accumulation;
  if (p->global_batch > 0) {
    if (p->global_batch % per_micro != 0)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "global_batch %" G_GINT64_FORMAT
                        " is not a multiple of micro_batch x data-parallel ranks = "
                        "%" G_GINT64_FORMAT " x %u",
                        p->global_batch, p->micro_batch, train->layout.size[AXIS_DATA]);
    train->n_micro = (guint) MIN (p->global_batch / per_micro, G_MAXUINT);
  }
  if (train->n_micro > MAX_MICRO_BATCHES)
    return fab_throw (error, FAB_ERROR_INPUT, "global_batch makes %u micro-batches; the limit is %d",
                      train->n_micro, MAX_MICRO_BATCHES);
  g_autofree char *problem = pipeline_problem (train->schedule, train->n_stages, train->n_micro);
  if (problem != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s", problem);
  return !train->schedule->has_parts || check_rounds (train, error);
}

/* --- one stage after the other --- */

static void
run_action (Stage *stage, const Action *action)
{
  switch (action->kind) {
  case ACTION_FORWARD: stage_forward (stage, action->chunk, action->micro); break;
  case ACTION_BACKWARD: stage_backward (stage, action->chunk, action->micro, TRUE); break;
  case ACTION_INPUTS: stage_backward (stage, action->chunk, action->micro, FALSE); break;
  case ACTION_WEIGHTS: stage_weights (stage, action->chunk, action->micro); break;
  }
}

/* Actions that are done at once: one, or a forward and a backward pass together. */
static guint
count_together (const GArray *actions, guint first)
{
  return g_array_index (actions, Action, first).is_pair ? 2 : 1;
}

/* Starts to receive the inputs of the actions that are done at once with action `first`. */
static void
receive_next (Stage *stage, guint first)
{
  for (guint i = 0; first < stage->actions->len && i < count_together (stage->actions, first); i++)
    stage_receive (stage, &g_array_index (stage->actions, Action, first + i));
}

/* Begins to list the seconds of compute tasks. */
static void
begin_listing (Stage *stage)
{
  if (stage->seconds == NULL)
    stage->seconds = g_array_new (FALSE, FALSE, sizeof (double));
  g_array_set_size (stage->seconds, 0);
}

/* The sum of the seconds, rounded as often as if each micro-batch had been made. */
static void
add_again (Stage *stage, guint n)
{
  for (guint m = 0; m < n; m++)
    for (guint i = 0; i < stage->seconds->len; i++)
      stage->compute_s += g_array_index (stage->seconds, double, i);
}

/* Micro-batches that only compute are alike but for the last one, in which gradients are reduced: the third is made
 * and stands for all others. The first may begin beside what is left of the step before, and the second shows what is
 * alike. Fewer than LEAST_ALIKE are made one by one, as they take no time that anybody would notice. A task that takes
 * no time says in timelines how many stand there. */
static void
run_alike (Stage *stage)
{
  enum { N_BEFORE = 2, LEAST_ALIKE = 32 };
  Train *train = stage->train;
  guint n_alike = train->n_micro - N_BEFORE - 1;
  FabDagMark marks[N_BEFORE + 1];

  for (guint m = 0; m < train->n_micro; m++) {
    if (m < N_BEFORE + 1)
      marks[m] = fab_dag_builder_mark (train->builder);
    begin_listing (stage);
    stage_forward (stage, 0, m);
    stage_backward (stage, 0, m, TRUE);
    if (m == N_BEFORE && n_alike >= LEAST_ALIKE && stage->waits->len == 0
        && fab_dag_builder_repeat (train->builder, &marks[1], &marks[N_BEFORE], n_alike)) {
      add_again (stage, n_alike - 1);
      stage_compute (stage, 0, g_strdup_printf ("end of %u micro-batches that are alike", n_alike));
      m = train->n_micro - 2;
    }
  }
  g_clear_pointer (&stage->seconds, g_array_unref);
}

/* Whether all that the stage does is a forward and a backward pass of each micro-batch, one after the other. Micro-
 * batches come in their order where there is one stage. */
static gboolean
is_in_sequence (const Stage *stage)
{
  if (stage->train->n_stages > 1)
    return FALSE;
  for (guint i = 0; i < stage->actions->len; i++)
    if (g_array_index (stage->actions, Action, i).kind != (i % 2 == 0 ? ACTION_FORWARD : ACTION_BACKWARD))
      return FALSE;
  return TRUE;
}

/* With `fold: false` all micro-batches are made. */
static gboolean
may_be_alike (const Stage *stage)
{
  const Train *train = stage->train;

  return train->strategy->is_alike && train->params->outer.sites <= 1 && is_in_sequence (stage)
      && !fab_graph_is_unfolded (train->layout.cluster->graph);
}

static void
run_actions (Stage *stage)
{
  gboolean is_early = stage->train->params->parallel.overlaps_p2p || stage->train->schedule->always_overlaps;
  const GArray *actions = stage->actions;

  if (may_be_alike (stage)) {
    run_alike (stage);
    return;
  }
  g_autoptr (GArray) sent = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  receive_next (stage, 0);
  for (guint i = 0, n; i < actions->len; i += n) {
    const Action *action = &g_array_index (actions, Action, i);

    n = count_together (actions, i);
    if (is_early)
      receive_next (stage, i + n);
    for (guint k = 0; k < n; k++)
      stage_await (stage, action + k);
    if (n == 2)
      stage_pair (stage, action, action + 1);
    else
      run_action (stage, action);
    for (guint k = 0; k < n; k++)
      stage_send (stage, action + k, sent);
    if (is_early) {
      g_array_set_size (sent, 0);
    } else {
      receive_next (stage, i + n);
      stage_wait_all (stage, sent);
    }
  }
}

/* Micro-batches that enter the model on the stage. */
static guint
count_entries (const Stage *stage)
{
  guint n = 0;

  for (guint c = 0; c < stage->chunks->len; c++)
    if (g_array_index (stage->chunks, Chunk, c).part == 0)
      n += g_array_index (stage->chunks, Chunk, c).n_micro;
  return n;
}

/* Loads the samples of the step; a rank loads those of its data-parallel replica. */
static void
load_batch (Stage *stage)
{
  Train *train = stage->train;
  const TrainParams *p = train->params;
  double seconds = 0, n_samples = (double) p->micro_batch * count_entries (stage);
  FabTaskId load;

  if (n_samples <= 0 || train->error != NULL
      || !fab_loader_seconds (&p->data_loader, train->env->cluster, n_samples, &seconds, &train->error)
      || seconds <= 0)
    return;
  load = fab_dag_builder_work (train->builder, stage_stream (stage, STREAM_LOADER), FAB_SPAN_LOAD,
                               p->data_loader.time_ps > 0 ? p->data_loader.time_ps
                                                          : fab_seconds_to_ps (seconds),
                               g_strdup ("load"));
  stage->load = load;
  stage->has_load = TRUE;
  stage_wait (stage, load);
}

/* Of all weights and optimizer states of the job. */
static double
checkpoint_bytes (const Stage *stage)
{
  const Train *train = stage->train;

  return (double) train->stack->parameters
       * (double) (stage_weight_bytes (stage) + train->params->state_bytes_per_parameter);
}

/* Adds what the average step pays for checkpoints of all weights and optimizer states. The length of a step is taken
 * to be its compute time. */
static void
write_checkpoint (Stage *stage)
{
  Train *train = stage->train;
  const FabCheckpointParams *p = &train->params->checkpoint;
  double state_bytes = checkpoint_bytes (stage);
  FabCheckpointTime time;

  if (!fab_checkpoint_is_written (p) || train->error != NULL
      || !fab_checkpoint_time (p, train->env->cluster, state_bytes, &time, &train->error))
    return;
  double seconds = fab_checkpoint_step_seconds (p, &time, stage->compute_s);
  FabTaskId task = fab_dag_builder_work (train->builder, stage_stream (stage, STREAM_CHECKPOINT),
                                         FAB_SPAN_LOAD, fab_seconds_to_ps (seconds), g_strdup ("checkpoint"));
  train->checkpoint_s = MAX (train->checkpoint_s, seconds);
  fab_dag_builder_after (train->builder, task, stage->last_compute);
  stage_wait (stage, task);
  stage_compute (stage, 0, g_strdup ("written"));
}

/* Where each rank has a part of the gradients, an all-reduce of all ranks gives the norm of all gradients. */
static void
agree_on_norm (Stage *stage)
{
  Train *train = stage->train;
  const guint *size = train->layout.size;
  gboolean is_shared = size[AXIS_TENSOR] > 1 || train->n_stages > 1
                    || (train->strategy->is_sharded != NULL && train->strategy->is_sharded (stage)
                        && stage_n_replicas (stage) > 1);
  Selection all = { .varies = { TRUE, TRUE, FALSE, TRUE },
                    .data = DATA_RUNS,
                    .block = train_site_data (train),
                    .n_stages = train->n_stages,
                    .n_data = size[AXIS_DATA] };
  FabCollectivePlan plan;

  if (!train->params->clips || !is_shared || train->error != NULL)
    return;
  if (train->norm < 0) {
    FabConcurrentGroups *concurrent_groups = train_concurrent_groups (train, &all);

    if (concurrent_groups == NULL
        || !fab_concurrent_groups_plan (concurrent_groups, train->env->library, FAB_OP_ALL_REDUCE, 4, &plan,
                                        &train->error))
      return;
    train->norm = fab_dag_builder_collective (train->builder, &plan, FAB_DIMENSION_OTHER,
                                              g_strdup ("gradient norm"));
  }
  stage_compute (stage, 0, g_strdup ("gradient norm"));
  FabTaskId task = fab_dag_builder_join (train->builder, stage_stream (stage, STREAM_NORM),
                                         (guint) train->norm);
  fab_dag_builder_after (train->builder, task, stage->last_compute);
  stage_wait (stage, task);
}

/* A gradient in FP32 is read for the norm, and read and written when it is scaled (clip_grad_norm_). */
static const double clip_bytes = 12;

/* Rates of one H100 with 402e6 parameters in FP32, which move 28 B each (h100_memory_bound, validate/measured/kernels):
 * a fused kernel moves 2.44 TB/s of 3.35; foreach needs 2.79 times as long. */
static const double fused_adam_rate = 0.73, foreach_adam_factor = 2.79;

/* What Adam moves: gradient and two moments are read, and moments and weights written; mixed precision has a master
 * weight beside a 16-bit one (the help of optimizer_traffic). Where kernels are as fast as they were measured:
 * such a time is one of whole steps. */
static double
optimizer_traffic (const Train *train)
{
  const double adam_bytes = train->params->memory.states == STATES_PURE ? 14
                          : train->params->memory.states == STATES_FP32 ? 28
                                                                        : 30;
  FabBytes said = train->params->optimizer_bytes_per_parameter;

  double bytes = said > 0 ? (double) said : train->has_setup ? adam_bytes : 0;

  if (!train->has_setup)
    return bytes;
  return bytes / fused_adam_rate * (train->software.adam == FAB_ADAM_FOREACH ? foreach_adam_factor : 1);
}

static void
optimize (Stage *stage)
{
  Train *train = stage->train;
  const Strategy *strategy = train->strategy;
  double parameters = strategy->optimizer_parameters ? strategy->optimizer_parameters (stage)
                                                     : (double) stage->parameters;
  double bytes = parameters * optimizer_traffic (train);

  if (strategy->before_optimizer)
    strategy->before_optimizer (stage);
  agree_on_norm (stage);
  if (train->params->clips)
    stage_move (stage, parameters * clip_bytes, g_strdup ("clip"));
  if (strategy->optimizes && strategy->optimizes (stage))
    bytes = 0;
  stage_compute (stage, bytes / (double) train->env->cluster->device.memory_bytes_per_s,
                 g_strdup ("optimizer"));
  if (!train->params->data_loader.is_prefetching && stage->has_load)
    fab_dag_builder_after_previous (train->builder, stage->load, stage->last_compute);
  if (strategy->after_optimizer)
    strategy->after_optimizer (stage);
  outer_end (stage);
  write_checkpoint (stage);
}

static void
run_stage (Stage *stage)
{
  const Strategy *strategy = stage->train->strategy;

  stage_stream (stage, STREAM_LOADER);
  stage_stream (stage, STREAM_COMPUTE);
  stage_stream (stage, STREAM_DATA);
  if (strategy->begin)
    strategy->begin (stage);
  if (stage->train->env->is_weighed)
    return;
  load_batch (stage);
  outer_begin (stage);
  run_actions (stage);
  optimize (stage);
}

/* --- totals --- */

/* FLOPs per token that backward does not execute, because matrices are frozen. */
static double
frozen_flops (const FabLayerStack *stack)
{
  double flops = 0;

  for (guint l = 0; l < stack->layers->len; l++)
    for (guint s = 0; s < fab_layer_stack_layer (stack, l)->segments->len; s++) {
      const GArray *operators = fab_layer_segment (fab_layer_stack_layer (stack, l), s)->operators;

      for (guint i = 0; i < operators->len; i++) {
        const FabOperator *op = &g_array_index (operators, FabOperator, i);

        flops += op->is_frozen && op->kind == FAB_OPERATOR_MATMUL ? op->flops : 0;
      }
    }
  return flops;
}

static void
count_totals (const Train *train, FabJobTotals *totals)
{
  const TrainParams *p = train->params;
  double tokens = (double) p->micro_batch * (double) p->sequence * train->n_micro
                * train->layout.size[AXIS_DATA];
  double per_rank = tokens / train->layout.n_ranks;

  totals->precision = (FabPrecision) p->precision;
  totals->model_flops_per_rank = (3 * train->stack->forward_flops_per_token - frozen_flops (train->stack))
                               * per_rank;
  totals->executed_flops_per_rank = totals->model_flops_per_rank + recompute_flops (train) * per_rank;
  totals->tokens = tokens;
  totals->parameters = train->stack->parameters;
  for (guint l = 0; l < train->stack->layers->len; l++)
    for (guint t = 0; t < fab_layer_stack_layer (train->stack, l)->tensors->len; t++) {
      const FabTensor *tensor = fab_layer_tensor (fab_layer_stack_layer (train->stack, l), t);

      totals->trained_parameters += tensor->is_frozen ? 0 : tensor->parameters;
    }
  totals->train_tokens = p->train_tokens;
}

/* --- the job --- */

static void
train_clear (Train *train)
{
  for (guint s = 0; train->stages != NULL && s < train->n_stages * train->n_bins; s++)
    stage_clear (&train->stages[s]);
  for (guint s = 0; s < train->n_alone; s++)
    stage_clear (&train->alone[s]);
  for (guint s = 0; train->shared != NULL && s < train->n_stages; s++)
    g_array_unref (train->shared[s]);
  g_free (train->stages);
  g_free (train->alone);
  g_free (train->shared);
  slow_free (train->slow);
  experts_free (train->experts);
  g_free (train->transfers);
  g_clear_pointer (&train->parts, g_array_unref);
  g_clear_pointer (&train->concurrent_groups, g_array_unref);
  g_clear_pointer (&train->prices, g_hash_table_unref);
  fab_layer_stack_free (train->stack);
  g_clear_error (&train->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Train, train_clear)

/* Which rank class is which stage and bin. It lives as long as the job. */
typedef struct {
  Slow *slow;
  guint n_stages, n_classes;
  guint *of_class; /* [n_classes] index into the stages */
} SlowClasses;

static void
slow_classes_free (gpointer data)
{
  SlowClasses *self = data;

  slow_free (self->slow);
  g_free (self->of_class);
  g_free (self);
}

static double
slowness (gpointer owner, guint rank_class, guint iteration)
{
  SlowClasses *self = owner;
  guint index = self->of_class[rank_class];

  return slow_factor (self->slow, index % self->n_stages, index / self->n_stages, iteration);
}

static void
slow_down (Train *train, FabJobTotals *totals)
{
  guint n = train->n_stages * train->n_bins, n_classes = n + train->n_alone;

  if (!slow_is_needed (train->slow))
    return;
  SlowClasses *self = g_new0 (SlowClasses, 1);
  *self = (SlowClasses){ g_steal_pointer (&train->slow), train->n_stages, n_classes,
                         g_new (guint, n_classes) };
  for (guint i = 0; i < n; i++)
    self->of_class[train->stages[i].rank_class] = i;
  for (guint i = 0; i < train->n_alone; i++)
    self->of_class[train->alone[i].rank_class] = (guint) (train->alone[i].first - train->stages);
  totals->slowness = slowness;
  totals->most_slowness = slow_most (self->slow);
  totals->slowness_owner = self;
  totals->slowness_free = slow_classes_free;
}

static FabLoss
loss_kernels (Loss loss)
{
  switch (loss) {
  case LOSS_FP32:
  case LOSS_AUTOCAST: return FAB_LOSS_FP32;
  case LOSS_FUSED:
  case LOSS_IN_PLACE: return FAB_LOSS_FUSED;
  case LOSS_AUTO:
  case LOSS_PLAIN: break;
  }
  return FAB_LOSS_LOGITS;
}

/* The software that runs the job: what the compute model says, or the usual one of the kind of job. */
static void
find_software (Train *train)
{
  const SoftwareParams *said = &train->params->software;
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;
  const char *stack = ops->stack != NULL ? ops->stack (train->params->compute.params) : "auto";

  train->software = (FabSoftware){
    .stack = g_str_equal (stack, "auto") ? train->strategy->stack : stack,
    .pytorch = software_has_release (said) ? fab_pytorch_release (said->pytorch)
                                           : fab_pytorch_usual (train->env->cluster->device.architecture),
    .is_pytorch_said = software_has_release (said),
    .adam = (FabAdam) said->optimizer
  };
  train->software.has_autocast = train->params->memory.states == STATES_FP32
                              && !train->strategy->hands_over_weights && kept_is_autocast (train, TRUE)
                              && train_kernels (train) != FAB_KERNELS_FUSED;
  train->software.loss = loss_kernels (kept_loss (train, train->software.has_autocast));
}

static gboolean
knows_kernels (const Train *train)
{
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;

  return ops->knows == NULL || ops->knows (&train->env->cluster->device);
}

static FabComputeBasis
compute_basis (const Train *train)
{
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;

  return ops->basis != NULL ? ops->basis (train->params->compute.params) : FAB_COMPUTE_ANCHORED;
}

/* What such runs take beyond what is priced. A single rank waits for no other, and a measured run that the compute was
 * scaled to has it already. */
static void
find_setup (Train *train)
{
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;
  FabSetupKey key = { .stack = train->software.stack, .has_experts = train->layout.n_expert > 1 };

  train->setup = (FabSetup){ .time_factor = 1, .low_factor = 1, .high_factor = 1 };
  train->has_setup = ops->stack != NULL && train->env->find_setup != NULL;
  if (!train->has_setup)
    return;
  train->setup = train->env->find_setup (train->env->catalog, &key);
  if (train->layout.n_ranks == 1 || compute_basis (train) == FAB_COMPUTE_ANCHORED)
    train->setup.time_factor = 1;
}

static void
add_memory (const Stage *stage, FabJobTotals *totals)
{
  stage->train->strategy->memory (stage, totals);
  outer_memory (stage, totals);
}

static FabLayerStack *
expand (const FabWorkloadEnv *env, const TrainParams *params)
{
  g_autoptr (FabLayerStack) stack = env->expand_model (env->catalog, params->model, (guint) params->sequence);

  return params->trains == TRAINS_LORA
           ? adapters_add (stack, params->adapter_rank, (AdapterTargets) params->adapter_targets)
           : g_steal_pointer (&stack);
}

/* A capped clock is uncertain too: both errors together, in quadrature of their logarithms. */
static void
add_power_cap (const FabDevice *device, FabSetup *known)
{
  const FabClockBand *band = &device->cap_band;

  if (device->cap_fraction <= 0 || device->cap_fraction >= 1 || known->low_factor <= 0)
    return;
  known->low_factor = exp (-hypot (log (known->low_factor), log (band->low_factor)));
  known->high_factor = exp (hypot (log (known->high_factor), log (band->high_factor)));
}

/* How far off the times of compute may be. A time that rests on operators alone lacks what published runs take beyond
 * them; one that a person fixed is as far off as anchored ones. */
static void
find_compute_known (const Train *train, FabJobTotals *totals)
{
  const TrainParams *params = train->params;
  FabComputeBasis basis = compute_basis (train);
  FabSetupKey key = { .stack = train->software.stack,
                      .is_anchored = basis == FAB_COMPUTE_ANCHORED,
                      .has_experts = train->layout.n_expert > 1 };
  FabSetup *known = &totals->compute_known;

  if (train->env->find_setup == NULL)
    return;
  *known = train->env->find_setup (train->env->catalog, &key);
  known->generation = train->env->cluster->device.architecture;
  known->precision = fab_precision_names[params->precision];
  if (basis == FAB_COMPUTE_OPERATORS && train->layout.n_ranks > 1) {
    known->low_factor = MIN (known->low_factor * known->time_factor, 1);
    known->high_factor = MAX (known->high_factor * known->time_factor, 1);
  }
  add_power_cap (&train->env->cluster->device, known);
  totals->has_compute_known = known->high_factor > known->low_factor;
}

/* What a checkpoint takes, for those who count with failures. */
static gboolean
count_checkpoint (const Train *train, FabJobTotals *totals, GError **error)
{
  totals->checkpoint.step_s = train->checkpoint_s;
  return !train->env->wants_checkpoint
      || fab_checkpoint_totals (&train->params->checkpoint, train->env->cluster,
                                checkpoint_bytes (&train->stages[0]), &totals->checkpoint, error);
}

gboolean
train_build (const FabWorkloadEnv *env, const TrainParams *params, const Strategy *strategy,
             gconstpointer strategy_params, FabDagBuilder *builder, FabJobTotals *totals, GError **error)
{
  g_auto (Train) train = { .env = env,
                           .params = params,
                           .strategy = strategy,
                           .strategy_params = strategy_params,
                           .builder = builder,
                           .norm = -1,
                           .n_stages = (guint) params->parallel.pipeline };

  train.schedule = pipeline_schedule_of (params->parallel.schedule, train.n_stages);

  if (!layout_init (&train.layout, env->cluster, &params->parallel, error)
      || !outer_check_layout (&params->outer, train.layout.size[AXIS_DATA], train.layout.n_expert, error)
      || !count_micro_batches (&train, error))
    return FALSE;
  train.slow = slow_new (&train.layout, &params->stragglers, &params->jitter, env->seed, error);
  if (train.slow == NULL)
    return FALSE;
  train.waiting = slow_waiting (&params->jitter, train.layout.n_ranks,
                                ((const FabComputeOps *) params->compute.info)->is_of_average_gpu);
  train.stack = expand (env, params);
  train.tokens = (double) params->micro_batch * (double) params->sequence / train.layout.size[AXIS_CONTEXT];
  find_software (&train);
  find_setup (&train);
  find_compute_known (&train, totals);
  train.concurrent_groups = g_array_new (FALSE, FALSE, sizeof (KnownFamily));
  train.prices = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  train.experts = experts_new (&train);
  if (!check_experts (&train, error) || !fab_compute_check_layers (&params->compute, train.stack, error)
      || !train_add_stages (&train, error))
    return FALSE;
  for (guint s = 0; s < train.n_stages * train.n_bins && train.error == NULL; s++)
    run_stage (&train.stages[s]);
  if (train.error == NULL)
    train_add_alone (&train);
  for (guint s = 0; s < train.n_alone && train.error == NULL; s++)
    run_stage (&train.alone[s]);
  if (train.error != NULL) {
    g_propagate_error (error, g_steal_pointer (&train.error));
    return FALSE;
  }
  count_totals (&train, totals);
  totals->memory_low_factor = MEMORY_LOW_FACTOR;
  totals->memory_high_factor = MEMORY_HIGH_FACTOR;
  for (guint s = 0; s < train.n_stages * train.n_bins && strategy->memory; s++)
    add_memory (&train.stages[s], totals);
  for (guint s = 0; s < train.n_alone && strategy->memory; s++)
    add_memory (&train.alone[s], totals);
  totals->uses_seed = params->jitter.cv > 0 || params->parallel.moe.imbalance_cv > 0;
  totals->setup = train.setup;
  train_add_parts (&train, totals);
  totals->stack = train.software.stack;
  totals->has_measured_kernels = knows_kernels (&train);
  totals->software = train.software;
  totals->has_setup = train.has_setup;
  totals->waiting = train.waiting;
  slow_down (&train, totals);
  return count_checkpoint (&train, totals, error);
}
