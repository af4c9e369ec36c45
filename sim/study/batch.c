/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/batch.h"

#include "sim/base/error.h"
#include "sim/study/machine.h"

FabBatch
fab_batch_of (const FabScenario *scenario)
{
  FabBatch self = { .n_gpus = fab_machine_gpus (scenario) };
  gint64 tensor = fab_scenario_get_whole (scenario, "job.parallel.tensor", 1),
         context = fab_scenario_get_whole (scenario, "job.parallel.context", 1),
         pipeline = fab_scenario_get_whole (scenario, "job.parallel.pipeline", 1);

  self.micro_batch = (guint64) fab_scenario_get_whole (scenario, "job.micro_batch", 0);
  self.accumulation = (guint64) fab_scenario_get_whole (scenario, "job.accumulation", 1);
  self.global_batch = (guint64) fab_scenario_get_whole (scenario, "job.global_batch", 0);
  self.n_model_ranks = (guint64) (tensor * context * pipeline);
  return self;
}

static void
add_whole (FabEdits *edits, const char *key, guint64 value)
{
  fab_edits_set (edits, key, fab_value_count ((gint64) value));
}

/* Keeps what is given per GPU, and scales what is given for the whole job. */
static gboolean
keep_each (const FabBatch *self, guint n, FabEdits *edits, GError **error)
{
  guint64 all = self->global_batch * n;

  if (self->global_batch == 0)
    return TRUE;
  if (all % self->n_gpus != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a global batch of %" G_GUINT64_FORMAT " on %u GPUs is none on %u", self->global_batch,
                      self->n_gpus, n);
  add_whole (edits, "job.global_batch", all / self->n_gpus);
  return TRUE;
}

/* Reduces the number of micro-batches first, then their size: to the largest one that divides the share of a copy of
 * the model. */
static gboolean
keep_all (const FabBatch *self, guint n, FabEdits *edits, GError **error)
{
  guint64 copies = n / self->n_model_ranks, micro = self->micro_batch;
  guint64 all = self->global_batch > 0
                  ? self->global_batch
                  : self->micro_batch * self->accumulation * (self->n_gpus / self->n_model_ranks);

  if (self->micro_batch == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "the job has no batch that could be kept: leave out --strong");
  if (copies == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "the model is divided over %" G_GUINT64_FORMAT " GPUs",
                      self->n_model_ranks);
  if (all % copies != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a batch of %" G_GUINT64_FORMAT " sequences cannot be divided over %" G_GUINT64_FORMAT
                      " copies of the model",
                      all, copies);
  while (all / copies % micro != 0)
    micro--;
  add_whole (edits, "job.micro_batch", micro);
  add_whole (edits, "job.accumulation", all / copies / micro);
  add_whole (edits, "job.global_batch", 0);
  return TRUE;
}

gboolean
fab_batch_set (const FabBatch *self, guint n, gboolean is_strong, FabEdits *edits, GError **error)
{
  return is_strong ? keep_all (self, n, edits, error) : keep_each (self, n, edits, error);
}
