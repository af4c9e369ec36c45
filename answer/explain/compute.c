/* SPDX-License-Identifier: Apache-2.0 */
/* compute.c - where the compute of a step comes from: FLOPs, what the accelerator can do, what it reaches. */
#include <math.h>
#include <string.h>

#include "answer/explain/parts.h"

/* Less than this of a sum is rounding. */
static const double rounding = 1e-6;

typedef struct {
  double kernels_s, optimizer_s; /* mean over ranks, as planned */
} Planned;

static Planned
planned_seconds (const Explain *self)
{
  const FabDag *dag = fab_simulation_dag (self->simulation);
  Planned planned = { 0, 0 };

  for (guint t = 0; t < dag->n_tasks; t++) {
    const FabTask *task = &dag->tasks[t];
    double seconds = fab_ps_to_seconds (task->duration_ps)
                   * dag->classes[dag->streams[task->stream].rank_class].n_ranks / explain_n_ranks (self);

    if (task->kind != FAB_SPAN_COMPUTE)
      continue;
    if (strcmp (task->name, "optimizer") == 0)
      planned.optimizer_s += seconds;
    else
      planned.kernels_s += seconds;
  }
  return planned;
}

double
explain_peak (const Explain *self)
{
  return fab_device_peak (&fab_simulation_cluster (self->simulation)->device,
                          fab_simulation_totals (self->simulation)->precision);
}

/* The fixed fraction of peak that the job's compute says; 0: its times come from elsewhere. */
static double
fixed_fraction (const Explain *self)
{
  const FabModelChoice *job = &fab_scenario_spec (self->scenario)->job;

  for (const FabParam *row = job->info->params; row != NULL && row->key != NULL; row++) {
    const FabModelChoice *compute = (const FabModelChoice *) (gconstpointer) ((const char *) job->params
                                                                              + row->offset);

    if (row->type != FAB_PARAM_MODEL || row->models != FAB_MODEL_COMPUTE)
      continue;
    for (const FabParam *key = compute->info->params; key != NULL && key->key != NULL; key++)
      if (key->type == FAB_PARAM_FRACTION && strcmp (compute->info->name, "mfu") == 0)
        return *(const double *) (gconstpointer) ((const char *) compute->params + key->offset);
  }
  return 0;
}

static void
name_accelerator (const Explain *self, FabStatement *statement)
{
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);
  const FabNodeSpec *node = fab_catalog_node (catalog, fab_scenario_spec (self->scenario)->cluster.node);
  const FabAcceleratorSpec *accelerator = fab_catalog_accelerator (catalog, node->accelerator);

  fab_statement_note (statement, "peak: %s, dense %s matrices.", accelerator->name,
                      fab_precision_names[fab_simulation_totals (self->simulation)->precision]);
  fab_statement_origin (statement, accelerator->source, accelerator->date);
}

void
explain_flops (const Explain *self, guint depth)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  double n_ranks = explain_n_ranks (self),
         per_token = totals->model_flops_per_rank * n_ranks / totals->tokens;
  double recomputed = totals->executed_flops_per_rank - totals->model_flops_per_rank;
  FabStatement *statement = explain_add (self, depth, "FLOPs that a GPU executes in a step", "flops",
                                         FAB_TERM_FLOPS, totals->executed_flops_per_rank);

  fab_statement_formula (statement, recomputed > 0 ? "tokens * flops_per_token / gpus + recomputed"
                                                   : "tokens * flops_per_token / gpus");
  fab_statement_term (statement, "tokens", FAB_TERM_NUMBER, totals->tokens);
  fab_statement_term (statement, "flops_per_token", FAB_TERM_FLOPS, per_token);
  fab_statement_term (statement, "gpus", FAB_TERM_NUMBER, n_ranks);
  if (recomputed > 0) {
    fab_statement_term (statement, "recomputed", FAB_TERM_FLOPS, recomputed);
    fab_statement_note (statement,
                        "recomputed: forward passes that are done again in backward (job.recompute), to keep "
                        "less in memory. MFU does not count them, HFU does.");
  }
  g_autofree char *rule = fab_term_show (FAB_TERM_FLOPS, 6.0 * (double) totals->parameters);
  fab_statement_note (
      statement,
      "A token costs 2 FLOP per parameter forward and 4 backward: 6 x %.4g parameters would be %s. "
      "Attention scores add to it; an embedding is looked up and not multiplied with, and of experts a "
      "token sees only some.",
      (double) totals->parameters, rule);
}

static void
explain_kernels (const Explain *self, guint depth, double kernels_s)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  double peak = explain_peak (self), fraction = fixed_fraction (self);
  double exact_s = fraction > 0 ? totals->executed_flops_per_rank / (peak * fraction) : 0;
  gboolean is_repeated = fraction > 0 && fabs (kernels_s - exact_s) > rounding * kernels_s;
  FabStatement *statement;

  if (fraction <= 0) {
    statement = explain_add (self, depth, "what kernels reach of the peak", "reached", FAB_TERM_FRACTION,
                             totals->executed_flops_per_rank / (peak * kernels_s));
    fab_statement_formula (statement, "flops / (peak * kernels)");
    fab_statement_term (statement, "kernels", FAB_TERM_TIME, kernels_s);
    fab_statement_note (statement,
                        "Times of kernels come from the scenario's `compute`, operator by operator.");
  } else {
    statement = explain_add (self, depth, "time of kernels without anything beside them", "kernels",
                             FAB_TERM_TIME, kernels_s);
    fab_statement_formula (statement,
                           is_repeated ? "flops / (peak * mfu) + repeated" : "flops / (peak * mfu)");
    fab_statement_term (statement, "mfu", FAB_TERM_FRACTION, fraction);
    if (is_repeated)
      fab_statement_term (statement, "repeated", FAB_TERM_TIME, kernels_s - exact_s);
    fab_statement_note (statement,
                        "mfu here is what kernels reach while they run (job.compute); the MFU of the step is "
                        "lower, for it counts waiting too.");
    if (is_repeated)
      fab_statement_note (statement, "repeated: what every rank of a tensor-parallel group does for itself.");
  }
  fab_statement_term (statement, "flops", FAB_TERM_FLOPS, totals->executed_flops_per_rank);
  fab_statement_term (statement, "peak", FAB_TERM_FLOPS_RATE, peak);
  name_accelerator (self, statement);
}

void
explain_compute (const Explain *self, guint depth)
{
  Planned planned = planned_seconds (self);
  double slowed_s = self->point->compute_s - planned.kernels_s - planned.optimizer_s;
  gboolean is_slowed = fabs (slowed_s) > rounding * self->point->compute_s;
  FabStatement *statement;

  if (self->point->compute_s <= 0)
    return;
  statement = explain_add (self, depth, "compute", "compute", FAB_TERM_TIME, self->point->compute_s);
  fab_statement_formula (statement, is_slowed ? "kernels + optimizer + slowed" : "kernels + optimizer");
  fab_statement_term (statement, "kernels", FAB_TERM_TIME, planned.kernels_s);
  fab_statement_term (statement, "optimizer", FAB_TERM_TIME, planned.optimizer_s);
  if (is_slowed) {
    fab_statement_term (statement, "slowed", FAB_TERM_TIME, slowed_s);
    fab_statement_note (
        statement, "slowed: collectives hold multiprocessors while they run, and kernels beside them take "
                   "longer; slow ranks count here too.");
  }
  if (planned.optimizer_s > 0)
    fab_statement_note (statement,
                        "optimizer: parameters that a GPU updates x bytes it reads and writes for each "
                        "(job.optimizer_traffic) / rate of its memory.");
  if (fab_simulation_totals (self->simulation)->executed_flops_per_rank <= 0)
    return;
  explain_kernels (self, depth + 1, planned.kernels_s);
  explain_flops (self, depth + 2);
}
