/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/batch.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/study/machine.h"

/* Returns a whole number of the job; `fallback` when the job has no such key. */
static guint64
whole_of (const FabYamlNode *mapping, const char *key, guint64 fallback)
{
  const FabYamlNode *node = fab_yaml_get (mapping, key);
  guint64 value;

  return node != NULL && node->text != NULL
              && g_ascii_string_to_unsigned (node->text, 10, 0, G_MAXINT64, &value, NULL)
           ? value
           : fallback;
}

FabBatch
fab_batch_of (const FabScenario *scenario)
{
  g_autofree char *yaml = fab_scenario_resolved (scenario);
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("resolved", yaml, strlen (yaml), diagnostics);
  FabBatch self = { fab_machine_gpus (scenario), 0, 1, 0, 1 };

  if (doc == NULL)
    return self;
  const FabYamlNode *job = fab_yaml_get (fab_yaml_doc_root (doc), "job");
  const FabYamlNode *parallel = job ? fab_yaml_get (job, "parallel") : NULL;
  self.micro_batch = job ? whole_of (job, "micro_batch", 0) : 0;
  self.accumulation = job ? whole_of (job, "accumulation", 1) : 1;
  self.global_batch = job ? whole_of (job, "global_batch", 0) : 0;
  if (parallel != NULL)
    self.n_model_ranks = whole_of (parallel, "tensor", 1) * whole_of (parallel, "context", 1)
                       * whole_of (parallel, "pipeline", 1);
  return self;
}

static void
add_whole (GPtrArray *sets, const char *key, guint64 value)
{
  g_ptr_array_add (sets, g_strdup_printf ("job.%s=%" G_GUINT64_FORMAT, key, value));
}

/* Keeps what is given per GPU, and scales what is given for the whole job. */
static gboolean
keep_each (const FabBatch *self, guint n, GPtrArray *sets, GError **error)
{
  guint64 all = self->global_batch * n;

  if (self->global_batch == 0)
    return TRUE;
  if (all % self->n_gpus != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a global batch of %" G_GUINT64_FORMAT " on %u GPUs is none on %u", self->global_batch,
                      self->n_gpus, n);
  add_whole (sets, "global_batch", all / self->n_gpus);
  return TRUE;
}

/* Reduces the number of micro-batches first, then their size: to the largest one that divides the share of a copy of
 * the model. */
static gboolean
keep_all (const FabBatch *self, guint n, GPtrArray *sets, GError **error)
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
  add_whole (sets, "micro_batch", micro);
  add_whole (sets, "accumulation", all / copies / micro);
  add_whole (sets, "global_batch", 0);
  return TRUE;
}

gboolean
fab_batch_set (const FabBatch *self, guint n, gboolean is_strong, GPtrArray *sets, GError **error)
{
  return is_strong ? keep_all (self, n, sets, error) : keep_each (self, n, sets, error);
}
