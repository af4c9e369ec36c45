/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/mix_params.h"

#include <string.h>

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

#define MOST_PS 8.64e18 /* 100 days */

const FabParam fab_mix_job_params[] = {
  { ROW ("name", TEXT, FabMixJobSpec, name, NULL, "Name of this kind of job; a log may name it.") },
  { ROW (
        "nodes", COUNT, FabMixJobSpec, nodes, NULL,
        "Number of nodes of each such job. A job of a log has its own number, and the kind with the nearest."),
    .min = 1, .max = 200000 },
  { ROW ("count", COUNT, FabMixJobSpec, count, "0",
         "Number of such jobs that arrive; 0: they come from the log."),
    .max = 1e6 },
  { ROW ("every", TIME, FabMixJobSpec, every_ps, "1h",
         "Mean time from one arrival of this kind to the next; the times are drawn from an exponential "
         "distribution."),
    .max = MOST_PS },
  { ROW ("work", TIME, FabMixJobSpec, work_ps, "1h",
         "Mean time that such a job takes when nothing slows it."),
    .min = 1e9, .max = MOST_PS },
  { ROW (
        "spread", FACTOR, FabMixJobSpec, spread, "0",
        "Standard deviation of the logarithm of that time, which is drawn from a log-normal distribution; 0: "
        "each job takes the mean."),
    .max = 5 },
  { ROW ("priority", COUNT, FabMixJobSpec, priority, "0",
         "Priority, for order: priority; higher is earlier."),
    .max = 1e6 },
  { ROW ("job", MODEL, FabMixJobSpec, job, NULL, "Work of its GPUs, which is simulated for its traffic."),
    .models = FAB_MODEL_WORKLOAD },
  { .key = NULL },
};

const FabParam fab_mix_params[] = {
  { ROW (
        "placement", CHOICE, FabMixSpec, placement, "packed",
        "Nodes that a job is given. packed: under the fewest leaf switches; spread: under as many as possible; "
        "first: the first free ones; random: any free ones."),
    .choices = fab_mix_placement_names },
  { ROW (
        "order", CHOICE, FabMixSpec, order, "fifo",
        "Order of the queue. fifo: as they arrive; priority: the highest first; shortest: the least work first."),
    .choices = fab_mix_order_names },
  { ROW (
      "backfill", BOOL, FabMixSpec, has_backfill, "true",
      "Whether a job may start before others that wait longer, where that does not delay the first of them.") },
  { ROW (
      "preempt", BOOL, FabMixSpec, has_preemption, "false",
      "Whether a job that waits may stop jobs of lower priority. They wait again and go on from their last "
      "checkpoint.") },
  { ROW (
        "log", TEXT, FabMixSpec, log, "",
        "Log of jobs: CSV with a header (submit, duration, nodes or gpus), output of sacct -P, or the Standard "
        "Workload Format; relative to this file."),
    .refers = FAB_REFERS_FILE },
  { ROW ("jobs", LIST, FabMixSpec, jobs, NULL, "Kinds of jobs."), .table = fab_mix_job_params,
    .table_size = sizeof (FabMixJobSpec) },
  { .key = NULL },
};

static void
check_job (FabSchemaReader *reader, const FabMixSpec *self, guint index, gint64 n_nodes)
{
  const FabMixJobSpec *jobs = self->jobs.data, *one = &jobs[index];

  if (one->nodes > n_nodes)
    fab_schema_report (reader, &one->nodes,
                       "a job of %" G_GINT64_FORMAT " nodes never fits on a machine of %" G_GINT64_FORMAT,
                       one->nodes, n_nodes);
  if (one->count > 0 && one->every_ps == 0)
    fab_schema_report (reader, &one->every_ps, "jobs arrive one after another: give a time above 0");
  for (guint i = 0; i < index; i++)
    if (one->name != NULL && g_strcmp0 (jobs[i].name, one->name) == 0)
      fab_schema_report (reader, &one->name, "two kinds of jobs are called '%s'", one->name);
}

void
fab_mix_check (FabSchemaReader *reader, const FabMixSpec *self, gint64 n_nodes)
{
  const FabMixJobSpec *jobs = self->jobs.data;
  gint64 n_all = 0;

  for (guint i = 0; i < self->jobs.n; i++) {
    check_job (reader, self, i, n_nodes);
    n_all += jobs[i].count;
  }
  if (self->jobs.n > 0 && n_all == 0 && self->log == NULL)
    fab_schema_report (reader, &jobs[0].count, "no job ever arrives: give `count` of a kind, or a `log`");
  if (self->has_preemption && self->order != FAB_MIX_PRIORITY)
    fab_schema_report (reader, &self->has_preemption,
                       "jobs are stopped for those of higher priority: set `order: priority` too");
  if (self->jobs.n == 0 && self->log != NULL)
    fab_schema_report (reader, &self->log,
                       "a log says when jobs arrive, and `jobs` what they do: give one kind");
  if (n_all > 1000000)
    fab_schema_report (reader, &jobs[0].count, "%" G_GINT64_FORMAT " jobs are more than 1000000", n_all);
}
