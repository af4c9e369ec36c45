/* SPDX-License-Identifier: Apache-2.0 */
/* reliability_params.c - the keys of `failures` and `reliability`.
 *
 * Defaults of `reliability`, each with its source:
 *
 * detection       "less than 10 minutes" on average to find and diagnose a failure (Jiang et al., MegaScale, NSDI 2024,
 *                 section 6.3); 10 minutes is also how long PyTorch waits for a collective of NCCL
 *                 (torch.distributed.init_process_group, `timeout`)
 * restart         5 min of overhead for a restart are taken in the projections of Kokolis et al., HPCA 2025
 * slow_detection  taken: nobody publishes how long slow parts go unnoticed
 */
#include "sim/scenario/reliability_params.h"

#include "sim/reliability/goodput.h"

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

#define MOST_PS 5.184e18 /* 60 days */

const char *const fab_failure_part_names[] = { [FAB_FAILURE_PER_GPU] = "gpu",
                                               [FAB_FAILURE_PER_NODE] = "node",
                                               [FAB_FAILURE_PER_NIC] = "nic",
                                               [FAB_FAILURE_PER_LINK] = "link",
                                               [FAB_FAILURE_PER_SWITCH] = "switch",
                                               [FAB_FAILURE_PER_JOB] = "job",
                                               NULL };

static const FabParam class_params[] = {
  { ROW ("name", TEXT, FabFailureClassSpec, name, NULL, "What failed: gpu, hbm, software.") },
  { ROW ("per", CHOICE, FabFailureClassSpec, per, NULL,
         "Kind of part; each part of this kind fails at the rate."),
    .choices = fab_failure_part_names },
  { ROW ("per_year", FACTOR, FabFailureClassSpec, per_year, NULL, "Failures of one such part in a year."),
    .max = 1e6 },
  { ROW ("does", CHOICE, FabFailureClassSpec, effect, "stops",
         "stops: the job stops at once. slows: a NIC is slow until it is found. planned: "
         "somebody stops the job."),
    .choices = fab_failure_effect_names },
  { ROW ("repair", BOOL, FabFailureClassSpec, takes_node, "false",
         "The node is taken out until it is repaired; false: it is used again at once.") },
  { ROW ("rate", FRACTION, FabFailureClassSpec, rate_fraction, "50%",
         "slows: share of the line rate that is left to the NIC."),
    .min = 0.001, .max = 1 },
  { ROW ("note", TEXT, FabFailureClassSpec, note, "",
         "Origin of the rate, where `source` of the set does not give it.") },
  { .key = NULL },
};

const FabParam fab_failure_set_params[] = {
  { ROW ("name", TEXT, FabFailureSetSpec, name, NULL, "The name of the set.") },
  { ROW ("summary", TEXT, FabFailureSetSpec, summary, "", "Description in one line.") },
  { ROW ("classes", LIST, FabFailureSetSpec, classes, NULL, "Kinds of failure and how often each happens."),
    .table = class_params, .table_size = sizeof (FabFailureClassSpec) },
  { ROW ("source", TEXT, FabFailureSetSpec, source, "", "Where the numbers come from.") },
  { ROW ("date", TEXT, FabFailureSetSpec, date, "", "When the source was read.") },
  { .key = NULL },
};

const FabParam fab_reliability_params[] = {
  { ROW (
        "failures", TEXT, FabReliabilitySpec, failures, "",
        "How often parts fail: an entry of `failures`; none: nothing fails, and days are those of computing."),
    .refers = FAB_REFERS_FAILURES },
  { ROW ("rates", FACTOR, FabReliabilitySpec, rates_factor, "1", "Factor on every rate."), .max = 1e6 },
  { ROW ("detection", TIME, FabReliabilitySpec, detection_ps, "10min",
         "Time from a failure until somebody or something finds it and restarts the job."),
    .max = MOST_PS },
  { ROW ("restart", TIME, FabReliabilitySpec, restart_ps, "5min",
         "Time from the restart until the job computes again, without the time to read the "
         "checkpoint."),
    .max = MOST_PS },
  { ROW ("slow_detection", TIME, FabReliabilitySpec, slow_detection_ps, "1h",
         "Time from the moment a part becomes slow until it is found."),
    .max = MOST_PS },
  { ROW ("repair", TIME, FabReliabilitySpec, repair_ps, "0s",
         "Time that a node is away for repair; 0: another node is always there."),
    .max = MOST_PS },
  { ROW ("spares", COUNT, FabReliabilitySpec, spares, "0",
         "Spare nodes that replace broken ones, where `repair` is given."),
    .max = 200000 },
  { .key = NULL },
};

void
fab_failure_set_check (FabSchemaReader *reader, const FabFailureSetSpec *set)
{
  const FabFailureClassSpec *classes = set->classes.data;

  if (set->name != NULL && set->classes.n == 0)
    fab_schema_report (reader, &set->name, "'%s' has no classes of failures", set->name);
  for (guint i = 0; i < set->classes.n; i++)
    if (classes[i].effect == FAB_FAILURE_SLOWS && classes[i].per != FAB_FAILURE_PER_NIC)
      fab_schema_report (reader, &classes[i].per, "only NICs are known to be slow: per: nic");
}

/* What a person asks for though nothing fails. A resolved scenario has all keys at their defaults. */
static void
check_without_rates (FabSchemaReader *reader, const FabReliabilitySpec *self)
{
  const FabTimePs minute_ps = 60 * FAB_PS_PER_S;
  const struct {
    gconstpointer field;
    gboolean is_default;
  } keys[] = { { &self->rates_factor, self->rates_factor <= 1 && self->rates_factor >= 1 },
               { &self->detection_ps, self->detection_ps == 10 * minute_ps },
               { &self->restart_ps, self->restart_ps == 5 * minute_ps },
               { &self->slow_detection_ps, self->slow_detection_ps == 60 * minute_ps },
               { &self->repair_ps, self->repair_ps == 0 },
               { &self->spares, self->spares == 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (!keys[i].is_default)
      fab_schema_report (
          reader, keys[i].field,
          "nothing fails without rates: give `failures`; 'fabricast describe failures' lists the "
          "sets that are known");
}

void
fab_reliability_check (FabSchemaReader *reader, const FabReliabilitySpec *self)
{
  if (self->failures == NULL)
    check_without_rates (reader, self);
  else if (self->spares > 0 && self->repair_ps == 0)
    fab_schema_report (reader, &self->spares, "spares count when nodes are away: give `repair`");
}
