/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/facts.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/order.h"

static gboolean
is_training (const FabModelInfo *info)
{
  return info == &fab_workload_ddp.info || info == &fab_workload_zero.info || info == &fab_workload_fsdp.info
      || info == &fab_workload_megatron.info;
}

/* A number of the model's shape by its key; 0: the shape has no such key. */
static gint64
shape_count (const FabModelChoice *shape, const char *key)
{
  for (const FabParam *row = shape->info->params; row != NULL && row->key != NULL; row++)
    if (row->type == FAB_PARAM_COUNT && strcmp (row->key, key) == 0)
      return *(const gint64 *) (gconstpointer) ((const char *) shape->params + row->offset);
  return 0;
}

static void
count_model (JobFacts *self)
{
  const FabModelSpec *model = fab_catalog_model (fab_scenario_catalog (self->scenario), self->params->model);
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

  ((const FabShapeOps *) model->shape.info)
      ->expand (model->shape.params, (guint) self->params->sequence, stack);
  self->n_heads = shape_count (&model->shape, "heads");
  for (guint l = 0, is_behind = FALSE; l < stack->layers->len; l++) {
    const FabLayer *layer = fab_layer_stack_layer (stack, l);

    self->n_blocks += layer->is_block && !is_behind;
    is_behind = is_behind || (self->n_blocks > 0 && !layer->is_block); /* the blocks stand side by side */
    self->has_activations |= layer->hidden_bytes > 0;
    for (guint s = 0; s < layer->segments->len; s++) {
      const GArray *operators = fab_layer_segment (layer, s)->operators;

      for (guint i = 0; i < operators->len; i++)
        if (g_array_index (operators, FabOperator, i).n_matrices > 1)
          self->n_experts = MAX (self->n_experts, g_array_index (operators, FabOperator, i).n_matrices);
    }
  }
}

static void
count_ranks (JobFacts *self)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (self->scenario), cluster->node);

  self->n_nodes = cluster->nodes;
  self->per_node = cluster->gpus_per_node;
  for (guint i = 0; self->per_node == 0 && i < node->parts.n; i++) {
    const FabPartSpec *part = (const FabPartSpec *) node->parts.data + i;

    if (part->kind == FAB_PART_ACCELERATOR)
      self->per_node = part->count;
  }
  self->n_ranks = self->n_nodes * self->per_node;
  self->domain = self->per_node * MIN ((gint64) fab_node_spec_sharers (node), self->n_nodes);
}

gint64
job_facts_data_ranks (const JobFacts *self)
{
  const ParallelParams *p = &self->params->parallel;
  gint64 model = p->tensor * p->context * p->pipeline;

  return self->n_ranks % model == 0 ? self->n_ranks / model : 0;
}

gboolean
job_facts_init (JobFacts *self, const FabScenario *scenario, GError **error)
{
  const FabModelChoice *job = &fab_scenario_spec (scenario)->job;

  *self = (JobFacts){ .scenario = scenario, .info = job->info, .params = job->params };
  if (!is_training (job->info))
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "this needs a job that trains a model (ddp, zero, fsdp or megatron), and the job is '%s'",
        job->info->name);
  count_ranks (self);
  count_model (self);
  self->global_batch = self->params->global_batch;
  if (self->global_batch == 0)
    self->global_batch = self->params->micro_batch * self->params->accumulation * job_facts_data_ranks (self);
  if (self->global_batch > 0)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "%" G_GINT64_FORMAT " ranks cannot be divided by the job's parallel sizes, so the "
                    "sequences of a step are unknown; write global_batch",
                    self->n_ranks);
}

GArray *
job_facts_micro_batches (const JobFacts *self, gint64 per_rank, gint64 most, gint64 round)
{
  GArray *sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 written = self->params->micro_batch;

  for (gint64 size = 1; size <= MIN (per_rank, most); size *= 2)
    if (per_rank % (size * round) == 0)
      g_array_append_val (sizes, size);
  if (per_rank % (written * round) == 0 && ((written & (written - 1)) != 0 || written > most))
    g_array_append_val (sizes, written);
  g_array_sort (sizes, fab_order_int64s);
  return sizes;
}

/* The beginning of every training job's struct. */
typedef struct {
  TrainParams train;
} SharedParams;

static const FabParam shared_params[] = { TRAIN_PARAMS (SharedParams, train), { .key = NULL } };

/* Puts the type of gradients into the job, a key that every kind of job has in a table of its own. */
static void
put_gradient (const JobFacts *self, FabValue *job)
{
  for (const FabParam *row = self->info->params; row->key != NULL; row++) {
    const char *field = (const char *) self->params + row->offset;

    if (strcmp (row->key, "gradient") == 0 && fab_scenario_mark (self->scenario, field) != NULL)
      fab_value_put (job, row->key, fab_value_text (gradient_types[*(const gint *) (gconstpointer) field]));
  }
}

void
job_facts_put_shared (const JobFacts *self, const char *kind, const char *const *but, FabValue *job)
{
  gboolean is_same = strcmp (self->info->name, kind) == 0;
  const FabParam *table = is_same ? self->info->params : shared_params;
  g_autoptr (FabValue) written = fab_scenario_written (self->scenario, table, self->params, but);

  for (guint i = 0; i < written->keys->len; i++)
    fab_value_put (job, g_ptr_array_index (written->keys, i),
                   fab_value_ref (g_ptr_array_index (written->values, i)));
  if (!is_same)
    put_gradient (self, job);
}
