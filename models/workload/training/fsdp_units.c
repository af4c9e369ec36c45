/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/fsdp.h"

static const FsdpParams *
params_of (const Fsdp *self)
{
  return self->stage->train->strategy_params;
}

void
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
      ParameterCount count = train_layer_count (train, l);
      Unit *unit = &g_array_index (self->units, Unit, index);

      unit->parameters += count.dense;
      unit->experts += count.experts;
    }
    g_array_append_val (self->of_layer, index);
  }
}

Unit *
fsdp_unit (const Fsdp *self, guint index)
{
  return &g_array_index (self->units, Unit, index);
}

void
fsdp_talk (Fsdp *self, FabOp op, guint index, FabBytes bytes_per_parameter, const FabTaskId *after,
           GArray *tasks)
{
  const Unit *unit = fsdp_unit (self, index);
  Comm dense = { LANE_DATA, FAB_DIMENSION_DATA, self->shards, op, unit->parameters * bytes_per_parameter };
  Comm experts = { LANE_EXPERT_DATA, FAB_DIMENSION_DATA, self->expert_shards, op,
                   unit->experts * bytes_per_parameter };
  FabTaskId task;

  if (stage_comm_after (self->stage, &dense, g_strdup (unit->name), after, &task))
    g_array_append_val (tasks, task);
  if (stage_comm_after (self->stage, &experts, g_strdup_printf ("%s.experts", unit->name), after, &task))
    g_array_append_val (tasks, task);
}

const FabTaskId *
fsdp_limit (const Fsdp *self, guint n_ahead)
{
  const FsdpParams *p = params_of (self);
  guint n_used = self->computed->len + n_ahead;

  if (!p->is_limited || n_used < (guint) p->in_flight)
    return NULL;
  return &g_array_index (self->computed, FabTaskId,
                         MIN (n_used - (guint) p->in_flight, self->computed->len - 1));
}

void
fsdp_gather (Fsdp *self, guint index, const FabTaskId *after)
{
  Unit *unit = fsdp_unit (self, index);

  Copy copy = { params_of (self)->is_offloaded ? OFFLOAD_CPU : OFFLOAD_NONE, TRUE, 0 };
  FabTaskId shard;

  if (unit->is_whole || unit->is_coming)
    return;
  copy.bytes = (unit->parameters + unit->experts) * stage_weight_bytes (self->stage) / self->n_shards;
  if (offload_copy (self->stage, &copy, g_strdup (unit->name), after, &shard))
    after = &shard;
  if (unit->gathers == NULL)
    unit->gathers = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  fsdp_talk (self, FAB_OP_ALL_GATHER, index, stage_weight_bytes (self->stage), after, unit->gathers);
  unit->is_coming = TRUE;
}

void
fsdp_await (Fsdp *self, guint index)
{
  Unit *unit = fsdp_unit (self, index);

  if (unit->is_coming)
    stage_wait_all (self->stage, unit->gathers);
  unit->is_coming = FALSE;
  unit->is_whole = TRUE;
}
