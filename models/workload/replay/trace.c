/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - a job that was recorded: a step of a profiler's trace, played on any machine.
 *
 * Kernels take as long as they took, times `compute_scale`; collectives take what the scenario's library and fabric
 * make of their sizes. What waited for what, a profile does not say; docs/models/trace.md has the rules:
 *
 *   stream    an operation waits for the one before it on its stream
 *   events    and, on each other stream, for the operation that ended last before it began, if its own stream
 *             had nothing to do by then
 *   launch    the time from the last of these ends to its start passes again: the host prepared it
 *   step      a step ends with the last operation of all streams, and with the time to the next step's first one
 *
 * With the measured times of all operations these rules give back the measured step.
 */
#include <math.h>
#include <string.h>

#include "models/models.h"
#include "models/workload/replay/replay.h"
#include "sim/base/error.h"
#include "sim/base/param.h"
#include "sim/collective/plan/concurrent_groups.h"
#include "sim/execution/workload.h"

enum { MAX_NAME = 60 };

typedef struct {
  const char *file;
  gint64 step;
  double compute_scale, host_scale;
  const char *recorded_on;
} TraceParams;

static const FabParam trace_params[] = {
  { .key = "file",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (TraceParams, file),
    .refers = FAB_REFERS_FILE,
    .is_in_title = TRUE,
    .help = "Trace of PyTorch's profiler, an archive or a folder of one file for each rank, relative to this "
            "file." },
  { .key = "step",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TraceParams, step),
    .fallback = "0",
    .max = 1e6,
    .help = "Number of the step to simulate, counted from 0 among the steps that all ranks "
            "recorded." },
  { .key = "compute_scale",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (TraceParams, compute_scale),
    .fallback = "1",
    .min = 1e-3,
    .max = 1e3,
    .is_in_title = TRUE,
    .help = "Factor on the recorded time of each kernel." },
  { .key = "recorded_on",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (TraceParams, recorded_on),
    .fallback = "",
    .refers = FAB_REFERS_ACCELERATOR,
    .help =
        "Accelerator entry of the trace's machine. Times of kernels are then scaled by the rates of both accelerators: "
        "between that of matrices and that of memory, which the band reaches. Empty: by `compute_scale` alone." },
  { .key = "host_scale",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (TraceParams, host_scale),
    .fallback = "1",
    .min = 1e-6,
    .max = 1e3,
    .help = "Factor on the recorded time in which a rank waits for its host." },
  { .key = NULL },
};

typedef struct {
  const FabWorkloadEnv *env;
  const TraceParams *params;
  double compute_scale; /* compute_scale of the job, times the ratio of the accelerators */
  const Replay *replay;
  FabDagBuilder *builder;
  guint *collectives; /* of each meeting */
} Job;

/* What is known of one operation while a class is laid out. */
typedef struct {
  FabTaskId task;
  FabTimePs end_ps;
  gint64 before; /* the operation before it on its stream; -1: none */
} Laid;

static FabTimePs
scaled (FabTimePs ps, double factor)
{
  return factor == 1.0 ? ps : (FabTimePs) ((double) ps * factor + 0.5);
}

/* A kernel is bound by matrices or by memory, and a profile does not say by which: the middle of the two ratios counts,
 * and the band reaches from one to the other. A power cap slows matrices alone. */
static void
scale_by_rates (Job *self, FabJobTotals *totals)
{
  const FabDevice *here = &self->env->cluster->device;
  const char *recorded_on = self->params->recorded_on;
  gboolean is_elsewhere = recorded_on != NULL && recorded_on[0] != '\0';
  FabDevice there = is_elsewhere ? self->env->find_device (self->env->catalog, recorded_on) : *here;
  double slowdown = fab_device_slowdown (here);
  double matrices, memory, low, high;

  if (!is_elsewhere && slowdown <= 1)
    return;
  memory = (double) there.memory_bytes_per_s / (double) here->memory_bytes_per_s;
  matrices = slowdown * there.peak_flops_per_s[FAB_PRECISION_FP16]
           / here->peak_flops_per_s[FAB_PRECISION_FP16];
  low = MIN (memory, matrices);
  high = MAX (memory, matrices);
  self->compute_scale *= sqrt (low * high);
  totals->compute_known = (FabSetup){ .name = "ratio of rates",
                                      .time_factor = 1,
                                      .low_factor = sqrt (low / high),
                                      .high_factor = sqrt (high / low),
                                      .evidence = FAB_SETUP_ASSUMED };
  totals->has_compute_known = high > low;
}

/* Times of hostile traces must not add up to more than the clock holds. */
static gboolean
check_times (const Job *self, GError **error)
{
  for (guint c = 0; c < self->replay->classes->len; c++) {
    const ReplayClass *class = &g_array_index (self->replay->classes, ReplayClass, c);
    double sum_ps = (double) class->offset_ps + (double) class->tail_ps;

    for (guint i = 0; i < class->ops->len; i++) {
      const ReplayOp *op = &g_array_index (class->ops, ReplayOp, i);

      sum_ps += (double) (op->end_ps - op->start_ps) * self->compute_scale;
    }
    sum_ps += (double) g_array_index (class->ops, ReplayOp, class->ops->len - 1).start_ps
            * self->params->host_scale;
    if (sum_ps > (double) FAB_TIME_MAX / 16)
      return fab_throw (error, FAB_ERROR_INPUT, "job: %s: the times of the step add up to %.3g s",
                        class->traced->source, sum_ps / 1e12);
  }
  return TRUE;
}

/* --- collectives --- */

static gboolean
plan_groups (const Job *self, const ReplayMeeting *meeting, FabBytes bytes, FabCollectivePlan *plan,
             GError **error)
{
  const FabCluster *cluster = self->env->cluster;
  FabGroup all = { cluster, cluster->n_nodes, cluster->gpus_per_node };
  FabConcurrentGroups *groups;

  if (meeting->n_ranks == fab_cluster_n_ranks (cluster))
    return fab_library_plan (self->env->library, &all, meeting->op, bytes, plan, error);
  groups = fab_concurrent_groups_new (cluster, (const guint *) (gconstpointer) meeting->ranks->data,
                                      meeting->ranks->len / meeting->n_ranks, meeting->n_ranks);
  groups = fab_concurrent_groups_keep (self->env->library, groups);
  return fab_concurrent_groups_plan (groups, self->env->library, meeting->op, bytes, plan, error);
}

/* One whose size the trace does not say takes as long as it took. */
static gboolean
add_meeting (Job *self, guint index, GError **error)
{
  const ReplayMeeting *meeting = &g_array_index (self->replay->meetings, ReplayMeeting, index);
  FabCollectivePlan plan;

  if (!plan_groups (self, meeting, MAX (meeting->bytes, 1), &plan, error))
    return FALSE;
  if (meeting->bytes == 0 && plan.footprint != NULL) {
    FabTimePs idle_ps = MAX (fab_collective_plan_idle_ps (&plan), 1);

    fab_collective_plan_scale (&plan, (double) MAX (meeting->measured_ps, 1) / (double) idle_ps);
  }
  self->collectives[index] = fab_dag_builder_collective (
      self->builder, &plan, meeting->dimension,
      g_strdup_printf ("%s%s", meeting->name, meeting->bytes == 0 ? " as measured" : ""));
  return TRUE;
}

/* --- ranks --- */

/* "void at::native::elementwise<...>(...)" is at::native::elementwise. */
static char *
short_name (const char *kernel)
{
  const char *at = g_str_has_prefix (kernel, "void ") ? kernel + strlen ("void ") : kernel;

  return g_strndup (at, MIN (strcspn (at, "<("), MAX_NAME));
}

static FabTaskId
add_op (Job *self, const ReplayOp *op, guint stream)
{
  FabTimePs length_ps = op->end_ps - op->start_ps;

  if (op->meeting >= 0)
    return fab_dag_builder_join (self->builder, stream, self->collectives[op->meeting]);
  if (op->op->kind == FAB_TRACE_COMPUTE)
    return fab_dag_builder_work (self->builder, stream, FAB_SPAN_COMPUTE,
                                 scaled (length_ps, self->compute_scale), short_name (op->op->name));
  return fab_dag_builder_work (self->builder, stream, FAB_SPAN_LOAD,
                               op->op->kind == FAB_TRACE_COPY ? length_ps : 0, short_name (op->op->name));
}

/* A class while its operations are added. */
typedef struct {
  Job *job;
  const ReplayClass *class;
  guint first_stream; /* of the DAG; those of the class follow one another */
  FabTaskId start;    /* of the step */
  Laid *laid;         /* of each operation */
  gint64 *lasts;      /* of each stream: the operation that began last; -1: none */
} Rank;

/* The operation of a stream that ended last at `now_ps`; -1: none did. */
static gint64
ended_last (const Rank *self, guint stream, FabTimePs now_ps)
{
  gint64 at = self->lasts[stream];

  while (at >= 0 && self->laid[at].end_ps > now_ps)
    at = self->laid[at].before;
  return at;
}

/* Waits by the rules above, and adds the time that the host took. */
static void
add_gated (Rank *self, guint index)
{
  const ReplayOp *op = &g_array_index (self->class->ops, ReplayOp, index);
  FabDagBuilder *builder = self->job->builder;
  gint64 before = self->lasts[op->stream];
  FabTimePs idle_ps = before >= 0 ? self->laid[before].end_ps : -1, ready_ps = MAX (idle_ps, 0);
  g_autofree gint64 *gates = g_new (gint64, self->class->streams->len);
  guint stream = self->first_stream + op->stream, n_gates = 0;
  FabTaskId task;

  for (guint s = 0; s < self->class->streams->len; s++) {
    gint64 gate = s == op->stream ? -1 : ended_last (self, s, op->start_ps);

    if (gate < 0 || self->laid[gate].end_ps <= idle_ps)
      continue;
    gates[n_gates++] = gate;
    ready_ps = MAX (ready_ps, self->laid[gate].end_ps);
  }
  FabTimePs host_ps = scaled (MAX (op->start_ps - ready_ps, 0), self->job->params->host_scale);
  task = host_ps > 0 ? fab_dag_builder_work (builder, stream, FAB_SPAN_LOAD, host_ps, g_strdup ("host"))
                     : add_op (self->job, op, stream);
  for (guint i = 0; i < n_gates; i++)
    fab_dag_builder_after (builder, task, self->laid[gates[i]].task);
  if (before < 0 && n_gates == 0)
    fab_dag_builder_after (builder, task, self->start);
  if (host_ps > 0)
    task = add_op (self->job, op, stream);
  self->laid[index] = (Laid){ task, op->end_ps, before };
  self->lasts[op->stream] = index;
}

static const char *
stream_name (guint32 number)
{
  g_autofree char *name = g_strdup_printf ("stream %u", number);

  return g_intern_string (name);
}

static guint
add_class (Job *self, const ReplayClass *class)
{
  g_autofree char *name = NULL;

  if (class->n_inferred == 0)
    name = g_strdup_printf ("%srank %" G_GINT64_FORMAT, class->n_ranks > 1 ? "as " : "", class->traced->rank);
  else
    name = g_strdup_printf ("as rank %" G_GINT64_FORMAT ", %u without a trace", class->traced->rank,
                            class->n_inferred);
  return fab_dag_builder_class (self->builder, name, class->first_rank, class->n_ranks);
}

/* Returns the task with which the step of the class ends; *start is the one with which it begins. */
static FabTaskId
add_rank (Job *self, const ReplayClass *class, FabTaskId *start)
{
  Rank rank = { .job = self, .class = class };
  guint index = add_class (self, class), step = fab_dag_builder_stream (self->builder, index, "step");
  g_autofree Laid *laid = g_new0 (Laid, class->ops->len);
  g_autofree gint64 *lasts = g_new (gint64, class->streams->len);
  FabTaskId end;

  rank.laid = laid;
  rank.lasts = lasts;
  rank.start = *start = fab_dag_builder_work (self->builder, step, FAB_SPAN_LOAD,
                                              scaled (class->offset_ps, self->params->host_scale),
                                              g_strdup ("start"));
  for (guint s = 0; s < class->streams->len; s++) {
    guint stream = fab_dag_builder_stream (self->builder, index,
                                           stream_name (g_array_index (class->streams, guint32, s)));

    rank.first_stream = s == 0 ? stream : rank.first_stream;
    lasts[s] = -1;
  }
  for (guint i = 0; i < class->ops->len; i++)
    add_gated (&rank, i);
  end = fab_dag_builder_work (self->builder, step, FAB_SPAN_LOAD,
                              scaled (class->tail_ps, self->params->host_scale), g_strdup ("end"));
  for (guint s = 0; s < class->streams->len; s++)
    fab_dag_builder_after (self->builder, end, laid[lasts[s]].task);
  return end;
}

/* Where nothing is known of a next step, all ranks end before any begins it. */
static void
add_ranks (Job *self)
{
  guint n = self->replay->classes->len;
  g_autofree FabTaskId *starts = g_new (FabTaskId, n), *ends = g_new (FabTaskId, n);
  FabTaskId all;

  for (guint c = 0; c < n; c++)
    ends[c] = add_rank (self, &g_array_index (self->replay->classes, ReplayClass, c), &starts[c]);
  if (!self->replay->is_lone || n == 1)
    return;
  all = fab_dag_builder_work (self->builder, fab_dag_builder_stream (self->builder, 0, "all"), FAB_SPAN_LOAD,
                              0, g_strdup ("all ended"));
  for (guint c = 0; c < n; c++) {
    fab_dag_builder_after (self->builder, all, ends[c]);
    fab_dag_builder_after_previous (self->builder, starts[c], all);
  }
}

static gboolean
trace_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
             GError **error)
{
  const TraceParams *p = params;
  char *paths[] = { (char *) p->file, NULL };
  g_autoptr (FabTrace) trace = fab_trace_read (paths, NULL, NULL, error);
  g_autoptr (Replay) replay = NULL;
  g_autofree guint *collectives = NULL;
  Job self = { .env = env, .params = p, .compute_scale = p->compute_scale, .builder = builder };

  if (trace == NULL)
    return FALSE;
  if (trace->has_only_lengths)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: has lengths of collectives without their times; it cannot be played", p->file);
  self.replay = replay = replay_new (trace, (guint) p->step, fab_cluster_n_ranks (env->cluster),
                                     fab_graph_is_unfolded (env->cluster->graph), error);
  scale_by_rates (&self, totals);
  if (replay == NULL || !check_times (&self, error))
    return FALSE;
  self.collectives = collectives = g_new0 (guint, replay->meetings->len + 1);
  for (guint m = 0; m < replay->meetings->len; m++)
    if (!add_meeting (&self, m, error))
      return FALSE;
  add_ranks (&self);
  return TRUE;
}

const FabWorkloadOps fab_workload_trace = {
  .info = { .name = "trace",
            .summary = "Plays a step that a profiler recorded, on this or on another machine.",
            .doc = "docs/models/trace.md",
            .params = trace_params,
            .params_size = sizeof (TraceParams) },
  .build = trace_build,
};
