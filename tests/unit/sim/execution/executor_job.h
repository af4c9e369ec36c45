/* SPDX-License-Identifier: Apache-2.0 */
/* executor_job.h - small jobs that tests build and play by hand, in picoseconds. */
#pragma once

#include "tests/support/test.h"

#include "sim/execution/account.h"
#include "sim/execution/direct.h"
#include "sim/execution/executor.h"
#include "tests/support/rig.h"

typedef struct {
  Rig *rig;
  RigNet net;
  FabDagBuilder *builder;
  FabDag *dag;
  FabExecutor *executor;
  FabExecutorEnv env; /* what `job_start` does not set */
  const FabNetOps *ops;
  GPtrArray *footprints; /* of `send` */
} Job;

/* Takes the rig. */
static inline Job *
job_with (Rig *rig)
{
  Job *self = g_new0 (Job, 1);

  self->rig = rig;
  self->builder = fab_dag_builder_new ();
  self->ops = &fab_net_fluid;
  self->footprints = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_footprint_free);
  return self;
}

static inline Job *
job_new (void)
{
  return job_with (rig_new_flat (2));
}

static inline void
job_free (Job *self)
{
  fab_executor_free (self->executor);
  rig_net_clear (&self->net);
  g_ptr_array_unref (self->footprints);
  fab_dag_free (self->dag);
  fab_dag_builder_free (self->builder);
  rig_free (self->rig);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Job, job_free)

static inline FabTaskId
work (Job *job, guint stream, FabSpanKind kind, FabTimePs duration_ps, const char *name)
{
  return fab_dag_builder_work (job->builder, stream, kind, duration_ps, g_strdup (name));
}

static inline guint
all_reduce (Job *job, FabBytes bytes)
{
  FabCollectivePlan plan = rig_plan (job->rig, FAB_OP_ALL_REDUCE, bytes);

  return fab_dag_builder_collective (job->builder, &plan, FAB_DIMENSION_OTHER, g_strdup ("r"));
}

/* A collective of one rank, which moves nothing. */
static inline guint
nothing (Job *job)
{
  static const FabCollectivePlan plan = {
    .algorithm = "none", .protocol = "none", .n_ranks = 1, .wire_factor = 1
  };

  return fab_dag_builder_collective (job->builder, &plan, FAB_DIMENSION_OTHER, g_strdup ("n"));
}

/* Bytes from one GPU to another alone. */
static inline guint
send (Job *job, guint from, guint to, FabBytes bytes, FabDimension dimension, FabOp op)
{
  FabCollectivePlan plan = rig_plan (job->rig, op, bytes);
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (job->rig->graph);
  FabPath path = { 0 };

  assert_true (
      fab_router_append (job->rig->router, rig_gpu (job->rig, from), rig_gpu (job->rig, to), 0, &path));
  fab_footprint_builder_add (builder, &path, (FabUse){ 1, FAB_DRIVE_COPY, 1, 1, 1 });
  g_ptr_array_add (job->footprints, fab_footprint_builder_finish (builder));
  plan.footprint = g_ptr_array_index (job->footprints, job->footprints->len - 1);
  plan.startup_ps = plan.latency_ps = plan.steps.steps_ps = plan.steps.fill_ps = 0;
  return fab_dag_builder_collective (job->builder, &plan, dimension, g_strdup ("s"));
}

/* A class of one rank with streams of these names, from `first` on; returns the first of them. */
static inline guint
streams_of (Job *job, guint rank, guint n, const char *const *names)
{
  guint rank_class = fab_dag_builder_class (job->builder, "all", rank, 1), first = 0;

  for (guint i = 0; i < n; i++) {
    guint stream = fab_dag_builder_stream (job->builder, rank_class, names[i]);

    first = i == 0 ? stream : first;
  }
  return first;
}

static inline void
job_start (Job *job, guint n_iterations)
{
  job->dag = fab_dag_builder_freeze (job->builder);
  job->net = rig_net (job->rig, job->ops);
  job->env.engine = job->net.engine;
  job->env.net = job->net.net;
  job->env.dag = job->dag;
  job->env.peak_flops_per_s = 1e12;
  job->env.n_iterations = n_iterations;
  job->executor = fab_executor_new (&job->env);
}

/* "start+duration compute comm overlapped exposed idle" of one class, then its spans "kind name start-end". */
static inline void
assert_iteration (Job *job, guint rank_class, const char *times, const char *spans)
{
  static const char *const kinds[] = { "compute", "comm", "load", "wait" };
  const FabProbe *probe = fab_executor_probe (job->executor);
  const FabIterationRecord *r = &g_array_index (probe->iterations, FabIterationRecord, rank_class);
  g_autofree char *got = g_strdup_printf ("%d+%d %d %d %d %d %d", (int) r->start_ps, (int) r->duration_ps,
                                          (int) r->compute_ps, (int) r->comm_ps, (int) r->overlapped_ps,
                                          (int) r->exposed_ps, (int) r->idle_ps);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < probe->spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (probe->spans, FabSpanRecord, i);

    if (span->rank_class == rank_class)
      g_string_append_printf (text, "%s%s %s %d-%d", text->len > 0 ? ", " : "", kinds[span->kind], span->name,
                              (int) span->start_ps, (int) span->end_ps);
  }
  assert_string_equal (got, times);
  assert_string_equal (text->str, spans);
}
