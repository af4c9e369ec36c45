/* SPDX-License-Identifier: Apache-2.0 */
/* compute.c - the compute of a step: kernels and what they are made of, the optimizer, copies, and their rates. */
#include <math.h>
#include <string.h>

#include "answer/explain/parts.h"
#include "sim/base/units.h"
#include "sim/run/run.h"

/* Less than this of a sum is rounding. */
static const double rounding = 1e-6;

typedef struct {
  double kernels_s, optimizer_s;
  double clip_s;   /* the norm of the gradients, and their scaling */
  double copies_s; /* of parameters out of what was gathered, of gradients into what is reduced */
} Planned;

static double *
part_of (Planned *self, const char *task)
{
  if (strcmp (task, "optimizer") == 0)
    return &self->optimizer_s;
  if (strcmp (task, "clip") == 0)
    return &self->clip_s;
  return g_str_has_suffix (task, ".copy_out") || g_str_has_suffix (task, ".copy_in") ? &self->copies_s
                                                                                     : &self->kernels_s;
}

/* Seconds of planned compute tasks, on the mean over all ranks. */
static Planned
planned_seconds (const Explain *self)
{
  const FabDag *dag = fab_simulation_dag (self->simulation);
  Planned planned = { 0 };

  for (guint t = 0; t < dag->n_tasks; t++) {
    const FabTask *task = &dag->tasks[t];
    double seconds = fab_ps_to_seconds (fab_task_ps (task))
                   * dag->classes[dag->streams[task->stream].rank_class].n_ranks / explain_n_ranks (self);

    if (task->kind == FAB_SPAN_COMPUTE)
      *part_of (&planned, task->name) += seconds;
  }
  return planned;
}

/* FLOP/s of one accelerator */
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

    if (row->models != FAB_MODEL_COMPUTE) /* only rows of models have a kind of them */
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

/* FLOPs of a rank and step. */
static void
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
                        "recomputed: forward passes repeated in backward (job.recompute) to save memory. HFU "
                        "counts them, MFU does not.");
  }
  g_autofree char *rule = fab_term_show (FAB_TERM_FLOPS, 6.0 * (double) totals->parameters);
  fab_statement_note (
      statement,
      "A token costs 2 FLOP per parameter forward and 4 backward: 6 x %.4g parameters would be %s. "
      "Attention scores add to it; an embedding is looked up and not multiplied with, and of experts a "
      "token sees only some.",
      (double) totals->parameters, rule);
}

/* What published runs take beyond what is priced by name. */
static void
note_setup (const Explain *self, FabStatement *statement)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  const FabSetup *values = &totals->setup;

  if (!totals->has_setup)
    return;
  if (totals->compute_known.name != NULL && g_str_equal (totals->compute_known.name, FAB_SETUP_ANCHORED)) {
    fab_statement_note (
        statement, "A measured run fixed how fast kernels are (job.compute.scale), so that nothing is added "
                   "for what published runs take beyond them.");
    return;
  }
  if (explain_n_ranks (self) == 1) {
    fab_statement_note (statement,
                        "No kernel time rests on runs of models. A single rank waits for no other, so that "
                        "nothing is added for what published runs take beyond it.");
    return;
  }
  fab_statement_note (
      statement,
      "No kernel time rests on runs of models. Published runs of several ranks take %.3g times the "
      "priced computation on the median, for waiting and other causes that they do not name; of them "
      "90 %% took %.3g to %.3g of the time with this factor (software %s: %" G_GINT64_FORMAT
      " %s of %" G_GINT64_FORMAT " %s).",
      values->time_factor, values->low_factor, values->high_factor, totals->stack, values->n_rows,
      fab_plural ((guint64) values->n_rows, "run", "runs"), values->n_sources,
      fab_plural ((guint64) values->n_sources, "source", "sources"));
}

/* The rate of matrices under a power cap, and the clock that it follows from. */
static void
explain_capped_rate (const Explain *self, guint depth)
{
  const FabDevice *device = &fab_simulation_cluster (self->simulation)->device;
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);
  const FabNodeSpec *node = fab_catalog_node (catalog, fab_scenario_spec (self->scenario)->cluster.node);
  const FabAcceleratorSpec *accelerator = fab_catalog_accelerator (catalog, node->accelerator);
  const FabClockCurve *curve = &accelerator->clock;
  double busy = fab_scenario_spec (self->scenario)->cost.busy_fraction;
  double draw = busy < 1 ? busy : curve->draw_fraction;
  FabStatement *statement;

  if (device->cap_fraction >= 1)
    return;
  statement = explain_add (self, depth, "matrix rate under the power cap", "rate", FAB_TERM_FLOPS_RATE,
                           explain_peak (self) / device->capped.slowdown);
  fab_statement_formula (statement, "peak * clock / full_clock");
  fab_statement_term (statement, "peak", FAB_TERM_FLOPS_RATE, explain_peak (self));
  fab_statement_term (statement, "clock", FAB_TERM_FRACTION, device->capped.fraction);
  fab_statement_term (statement, "full_clock", FAB_TERM_FRACTION, device->capped.full_fraction);
  fab_statement_note (
      statement,
      "A GPU may draw %.1f %% of its power (cluster.power_cap). clock: the highest at which its "
      "kernels are within that, as a share of the highest clock; full_clock: without the cap. "
      "Memory, host and network do not slow down.",
      100 * device->cap_fraction);
  fab_statement_note (
      statement,
      "Power at a clock f is %.1f %% + %.4g %% x f V^2, with a voltage V that is constant below %.0f %% "
      "of the highest clock and rises to %.3g times as much (docs/models/power.md). Slow-downs under such "
      "caps were %.2f to %.2f times the predicted ones.",
      100 * curve->static_fraction,
      100 * (draw - curve->static_fraction) / (curve->voltage_factor * curve->voltage_factor),
      100 * curve->knee_fraction, curve->voltage_factor, device->cap_band.low_factor,
      device->cap_band.high_factor);
  fab_statement_origin (statement,
                        curve->source != NULL ? curve->source : "assumed to be as of the A100 SXM4",
                        accelerator->date);
}

/* What kernels of a micro-batch are made of. */
static void
explain_parts (const Explain *self, guint depth)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  const FabComputeParts *priced = &totals->parts;
  gboolean has_experts = priced->copies_s + priced->readback_s > 0;
  double sum_s = fab_compute_parts_sum (priced);
  g_autofree char *release = NULL;
  FabStatement *statement;

  if (sum_s <= 0)
    return;
  release = g_strdup_printf ("%u.%u", totals->software.pytorch / 100, totals->software.pytorch % 100);
  statement = explain_add (self, depth, "kernels of one micro-batch in the first stage, forward and backward",
                           "priced", FAB_TERM_TIME, sum_s);
  fab_statement_formula (statement,
                         has_experts
                             ? "products + attention + memory_bound + copies + launches + readback + host"
                             : "products + attention + memory_bound + launches + host");
  fab_statement_term (statement, "products", FAB_TERM_TIME, priced->products_s);
  fab_statement_term (statement, "attention", FAB_TERM_TIME, priced->attention_s);
  fab_statement_term (statement, "memory_bound", FAB_TERM_TIME, priced->memory_bound_s);
  if (has_experts)
    fab_statement_term (statement, "copies", FAB_TERM_TIME, priced->copies_s);
  fab_statement_term (statement, "launches", FAB_TERM_TIME, priced->launches_s);
  if (has_experts)
    fab_statement_term (statement, "readback", FAB_TERM_TIME, priced->readback_s);
  fab_statement_term (statement, "host", FAB_TERM_TIME, priced->host_s);
  fab_statement_note (
      statement,
      "Software: %s, PyTorch %s%s, attention kernel %s. memory_bound: norms, activations, rotations, the "
      "loss and casts. launches: gaps between kernels. host: the GPU waits for the host, which issues "
      "kernels more slowly than they run. Recomputation is not in it.",
      totals->stack, release, totals->software.is_pytorch_said ? "" : " (the newest that runs on such a GPU)",
      totals->attention != NULL ? totals->attention : "unknown");
  if (has_experts)
    fab_statement_note (
        statement,
        "copies: tokens are put into the order of a rank's experts and padded. readback: the GPU waits "
        "until the host has read how many tokens each expert has. host: a product of each expert is "
        "issued by itself.");
}

static void
explain_kernels (const Explain *self, guint depth, double kernels_s)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  double peak = explain_peak (self), fraction = fixed_fraction (self);
  gboolean is_capped = fab_device_slowdown (&fab_simulation_cluster (self->simulation)->device) > 1;
  const char *name = is_capped && fraction > 0 ? "rate" : "peak"; /* by which the time is divided */
  double rate = is_capped && fraction > 0
                  ? peak / fab_device_slowdown (&fab_simulation_cluster (self->simulation)->device)
                  : peak;
  double exact_s = fraction > 0 ? totals->executed_flops_per_rank / (rate * fraction) : 0;
  gboolean is_repeated = fraction > 0 && fabs (kernels_s - exact_s) > rounding * kernels_s;
  FabStatement *statement;

  if (fraction <= 0) {
    statement = explain_add (self, depth, "fraction of peak that kernels reach", "reached", FAB_TERM_FRACTION,
                             totals->executed_flops_per_rank / (peak * kernels_s));
    fab_statement_formula (statement, "flops / (peak * kernels)");
    fab_statement_term (statement, "kernels", FAB_TERM_TIME, kernels_s);
    fab_statement_note (statement,
                        "Times of kernels come from the scenario's `compute`, operator by operator.");
    note_setup (self, statement);
    if (totals->waiting > 1)
      fab_statement_note (
          statement,
          "They are %.4g times those of an average GPU, because every step waits for the slowest "
          "of %u GPUs (job.jitter.gpus).",
          totals->waiting, explain_n_ranks (self));
  } else {
    statement = explain_add (self, depth, "time of kernels that run alone", "kernels", FAB_TERM_TIME,
                             kernels_s);
    g_autofree char *formula = g_strdup_printf ("flops / (%s * mfu)%s", name,
                                                is_repeated ? " + repeated" : "");
    fab_statement_formula (statement, formula);
    fab_statement_term (statement, "mfu", FAB_TERM_FRACTION, fraction);
    if (is_repeated)
      fab_statement_term (statement, "repeated", FAB_TERM_TIME, kernels_s - exact_s);
    fab_statement_note (statement,
                        "mfu here is what kernels reach while they run (job.compute). The MFU of the step is "
                        "lower, because it counts waiting too.");
    if (is_repeated)
      fab_statement_note (statement,
                          "repeated: work that every rank of a tensor-parallel group does itself.");
  }
  fab_statement_term (statement, "flops", FAB_TERM_FLOPS, totals->executed_flops_per_rank);
  fab_statement_term (statement, name, FAB_TERM_FLOPS_RATE, rate);
  name_accelerator (self, statement);
  explain_capped_rate (self, depth + 1);
  explain_parts (self, depth + 1);
}

static void
add_named (FabStatement *statement, const char *name, double seconds, const char *note)
{
  if (seconds <= 0)
    return;
  fab_statement_term (statement, name, FAB_TERM_TIME, seconds);
  fab_statement_note (statement, "%s", note);
}

/* The compute of a step. */
void
explain_compute (const Explain *self, guint depth)
{
  Planned planned = planned_seconds (self);
  double slowed_s = self->point->compute_s - planned.kernels_s - planned.optimizer_s - planned.clip_s
                  - planned.copies_s;
  gboolean is_slowed = fabs (slowed_s) > rounding * self->point->compute_s;
  FabStatement *statement;

  if (self->point->compute_s <= 0)
    return;
  statement = explain_add (self, depth, "compute", "compute", FAB_TERM_TIME, self->point->compute_s);
  g_autofree char *formula = g_strdup_printf ("kernels + optimizer%s%s%s",
                                              planned.clip_s > 0 ? " + clip" : "",
                                              planned.copies_s > 0 ? " + copies" : "",
                                              is_slowed ? " + slowed" : "");
  fab_statement_formula (statement, formula);
  fab_statement_term (statement, "kernels", FAB_TERM_TIME, planned.kernels_s);
  fab_statement_term (statement, "optimizer", FAB_TERM_TIME, planned.optimizer_s);
  add_named (statement, "clip", planned.clip_s,
             "clip: gradients are read for their norm, and read and written when they are scaled.");
  add_named (
      statement, "copies", planned.copies_s,
      "copies: sharding copies parameters out of the buffer that was gathered, and gradients into the one that "
      "is reduced.");
  if (is_slowed) {
    fab_statement_term (statement, "slowed", FAB_TERM_TIME, slowed_s);
    fab_statement_note (
        statement, "slowed: kernels take longer while collectives occupy multiprocessors beside them; slow "
                   "ranks count here too.");
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
