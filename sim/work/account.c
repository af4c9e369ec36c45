/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/account.h"

#include "sim/work/exposure.h"
#include "sim/work/samples.h"

/* What a stream is doing; since_ps -1: it is idle. */
typedef struct {
  FabTimePs since_ps;
  FabTaskId task;
} Lane;

/* The collectives of the iteration that a class joins. */
typedef struct {
  guint n_collectives;
  FabBytes bytes;
} Volume;

typedef struct {
  FabIntervalSet compute, comm;
  GArray *talks; /* FabTalk */
  Volume volumes[FAB_N_DIMENSIONS][FAB_N_OPS];
} ClassTimes;

struct _FabAccount {
  FabExecutorEnv env;
  Lane *lanes;         /* per stream */
  ClassTimes *classes; /* per rank class */
  FabLinkLoad *loads;  /* per link, of the iteration */
  double *line_bytes;  /* per link, since the start */
  FabTimePs start_ps;  /* of the iteration */
};

static void
add_volumes (FabAccount *self)
{
  const FabDag *dag = self->env.dag;

  for (guint c = 0; c < dag->n_collectives; c++)
    for (guint i = dag->join_starts[c]; i < dag->join_starts[c + 1]; i++) {
      const FabDagCollective *collective = &dag->collectives[c];
      ClassTimes *times = &self->classes[dag->join_classes[i]];
      Volume *volume = &times->volumes[collective->dimension][collective->plan.op];

      volume->n_collectives++;
      volume->bytes += collective->plan.bytes;
    }
}

FabAccount *
fab_account_new (const FabExecutorEnv *env)
{
  const FabDag *dag = env->dag;
  guint n_links = fab_graph_n_links (env->net->env.graph) + 1;
  FabAccount *self = g_new0 (FabAccount, 1);

  self->env = *env;
  self->lanes = g_new (Lane, dag->n_streams);
  self->classes = g_new0 (ClassTimes, dag->n_classes);
  self->loads = g_new0 (FabLinkLoad, n_links);
  self->line_bytes = g_new0 (double, n_links);
  for (guint s = 0; s < dag->n_streams; s++)
    self->lanes[s].since_ps = -1;
  for (guint c = 0; c < dag->n_classes; c++) {
    fab_interval_set_init (&self->classes[c].compute);
    fab_interval_set_init (&self->classes[c].comm);
    self->classes[c].talks = g_array_new (FALSE, FALSE, sizeof (FabTalk));
  }
  add_volumes (self);
  return self;
}

void
fab_account_free (FabAccount *self)
{
  if (self == NULL)
    return;
  for (guint c = 0; c < self->env.dag->n_classes; c++) {
    fab_interval_set_clear (&self->classes[c].compute);
    fab_interval_set_clear (&self->classes[c].comm);
    g_array_unref (self->classes[c].talks);
  }
  g_free (self->lanes);
  g_free (self->classes);
  g_free (self->loads);
  g_free (self->line_bytes);
  g_free (self);
}

void
fab_account_begin (FabAccount *self, FabTaskId task, FabTimePs now_ps)
{
  Lane *lane = &self->lanes[self->env.dag->tasks[task].stream];

  g_assert (lane->since_ps < 0);
  *lane = (Lane){ now_ps, task };
}

static void
book (FabAccount *self, guint stream, FabTimePs now_ps)
{
  const Lane *lane = &self->lanes[stream];
  const FabTask *task = &self->env.dag->tasks[lane->task];
  ClassTimes *times = &self->classes[self->env.dag->streams[stream].rank_class];

  if (task->kind == FAB_SPAN_COMPUTE)
    fab_interval_set_add (&times->compute, lane->since_ps, now_ps);
  if (task->kind != FAB_SPAN_COMM)
    return;
  fab_interval_set_add (&times->comm, lane->since_ps, now_ps);
  FabTalk talk = { lane->since_ps, now_ps, FAB_DIMENSION_OTHER, FAB_OP_SEND_RECV };
  if (task->collective >= 0) {
    talk.dimension = self->env.dag->collectives[task->collective].dimension;
    talk.op = self->env.dag->collectives[task->collective].plan.op;
  }
  g_array_append_val (times->talks, talk);
}

void
fab_account_end (FabAccount *self, guint stream, FabTimePs now_ps)
{
  g_assert (self->lanes[stream].since_ps >= 0);
  book (self, stream, now_ps);
  self->lanes[stream].since_ps = -1;
}

static FabIterationRecord
class_record (const FabAccount *self, guint rank_class, guint iteration, FabTimePs now_ps)
{
  const ClassTimes *times = &self->classes[rank_class];
  FabIterationRecord record = {
    .iteration = iteration,
    .rank_class = rank_class,
    .start_ps = self->start_ps,
    .duration_ps = now_ps - self->start_ps,
    .compute_ps = fab_interval_set_length_ps (&times->compute),
    .comm_ps = fab_interval_set_length_ps (&times->comm),
    .overlapped_ps = fab_interval_set_overlap_ps (&times->compute, &times->comm),
  };

  record.exposed_ps = record.comm_ps - record.overlapped_ps;
  record.idle_ps = record.duration_ps - record.compute_ps - record.exposed_ps;
  if (record.exposed_ps < 0 || record.idle_ps < 0)
    fab_engine_fail (self->env.engine,
                     "iteration %u, class %u: exposed %" G_GINT64_FORMAT " ps and idle %" G_GINT64_FORMAT
                     " ps, which cannot be negative",
                     iteration, rank_class, record.exposed_ps, record.idle_ps);
  return record;
}

/* Returns the mean over ranks, rounded down to a ps; 128 bits hold the sum of any number of ranks. */
static FabIterationRecord
mean_over_ranks (const FabAccount *self, const GArray *records)
{
  FabIterationRecord mean = g_array_index (records, FabIterationRecord, 0);
  __int128 compute = 0, comm = 0, overlapped = 0;
  gint64 n_ranks = 0;

  for (guint c = 0; c < records->len; c++) {
    const FabIterationRecord *record = &g_array_index (records, FabIterationRecord, c);
    gint64 n = self->env.dag->classes[c].n_ranks;

    n_ranks += n;
    compute += (__int128) record->compute_ps * n;
    comm += (__int128) record->comm_ps * n;
    overlapped += (__int128) record->overlapped_ps * n;
  }
  mean.rank_class = 0;
  mean.compute_ps = (FabTimePs) (compute / n_ranks);
  mean.comm_ps = (FabTimePs) (comm / n_ranks);
  mean.overlapped_ps = (FabTimePs) (overlapped / n_ranks);
  mean.exposed_ps = mean.comm_ps - mean.overlapped_ps;
  mean.idle_ps = mean.duration_ps - mean.compute_ps - mean.exposed_ps;
  return mean;
}

static FabStepRecord
step_record (const FabAccount *self, const GArray *records)
{
  const FabJobTotals *totals = &self->env.totals;
  FabStepRecord step = { .times = mean_over_ranks (self, records) };
  double seconds = fab_ps_to_seconds (step.times.duration_ps);
  double possible = self->env.peak_flops_per_s * seconds;

  if (possible > 0) {
    step.mfu_fraction = totals->model_flops_per_rank / possible;
    step.hfu_fraction = totals->executed_flops_per_rank / possible;
  }
  if (seconds > 0)
    step.tokens_per_s = totals->tokens / seconds;
  return step;
}

static void
add_exposures (const FabAccount *self, const FabIterationRecord *record, GArray *records)
{
  const ClassTimes *class = &self->classes[record->rank_class];
  FabTalkTimes times[FAB_N_DIMENSIONS][FAB_N_OPS];
  FabTimePs exposed_ps = 0;

  fab_exposure_split (class->talks, &class->compute, times);
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    for (guint op = 0; op < FAB_N_OPS; op++) {
      FabExposureRecord added = {
        .iteration = record->iteration,
        .rank_class = record->rank_class,
        .dimension = fab_dimension_names[d],
        .op = fab_op_names[op],
        .n_collectives = class->volumes[d][op].n_collectives,
        .bytes = class->volumes[d][op].bytes,
        .comm_ps = times[d][op].comm_ps,
        .exposed_ps = times[d][op].exposed_ps,
      };

      exposed_ps += added.exposed_ps;
      if (added.n_collectives > 0 || added.comm_ps > 0)
        g_array_append_val (records, added);
    }
  if (exposed_ps != record->exposed_ps)
    fab_engine_fail (self->env.engine,
                     "iteration %u, class %u: its dimensions are exposed for %" G_GINT64_FORMAT
                     " ps, the class for %" G_GINT64_FORMAT " ps",
                     record->iteration, record->rank_class, exposed_ps, record->exposed_ps);
}

/* Returns the time of the collective during which a rank did not compute, mean over the ranks that join it. */
static FabTimePs
exposed_of (const FabAccount *self, const FabCollectiveRecord *record)
{
  const FabDag *dag = self->env.dag;
  __int128 exposed = 0;
  gint64 n_ranks = 0;

  for (guint i = dag->join_starts[record->index]; i < dag->join_starts[record->index + 1]; i++) {
    guint c = dag->join_classes[i];
    gint64 n = dag->classes[c].n_ranks;
    FabTimePs hidden_ps;

    hidden_ps = fab_interval_set_within_ps (&self->classes[c].compute, record->start_ps, record->end_ps);
    n_ranks += n;
    exposed += (__int128) (record->end_ps - record->start_ps - hidden_ps) * n;
  }
  return (FabTimePs) (exposed / n_ranks);
}

static void
check_rate (const FabAccount *self, FabLinkId id, FabTimePs now_ps)
{
  const FabGraph *graph = self->env.net->env.graph;
  double most = (double) fab_graph_link (graph, id)->rate_bytes_per_s * fab_ps_to_seconds (now_ps);

  if (self->env.net->ops->shares_links && self->line_bytes[id] > most * (1 + 1e-9))
    fab_engine_fail (self->env.engine,
                     "%s: link %u carried %.17g bytes by %" G_GINT64_FORMAT " ps, its rate allows %.17g",
                     self->env.net->ops->info.name, id, self->line_bytes[id], now_ps, most);
}

static void
record_loads (FabAccount *self, guint iteration, FabTimePs now_ps, GArray *records)
{
  const FabGraph *graph = self->env.net->env.graph;
  double seconds = fab_ps_to_seconds (now_ps - self->start_ps);

  fab_meter_take (self->env.net->meter, self->loads);
  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLinkLoad *load = &self->loads[id];
    FabLinkLoadRecord record = { .iteration = iteration, .link = id };

    if (load->line_bytes <= 0)
      continue;
    self->line_bytes[id] += load->line_bytes;
    check_rate (self, id, now_ps);
    record.bytes = (FabBytes) (load->payload_bytes + 0.5);
    record.busy_fraction = load->line_bytes
                         / ((double) fab_graph_link (graph, id)->rate_bytes_per_s * seconds);
    g_array_append_val (records, record);
  }
}

FabTimePs
fab_account_start_ps (const FabAccount *self)
{
  return self->start_ps;
}

void
fab_account_close (FabAccount *self, guint iteration, FabProbe *probe)
{
  const FabDag *dag = self->env.dag;
  FabTimePs now_ps = fab_engine_now (self->env.engine);

  for (guint s = 0; s < dag->n_streams; s++)
    if (self->lanes[s].since_ps >= 0) {
      book (self, s, now_ps);
      self->lanes[s].since_ps = now_ps;
    }
  for (guint c = 0; c < dag->n_classes; c++) {
    FabIterationRecord record = class_record (self, c, iteration, now_ps);
    g_array_append_val (probe->iterations, record);
    add_exposures (self, &record, probe->exposures);
  }
  probe->step = step_record (self, probe->iterations);
  for (guint i = 0; i < probe->collectives->len; i++) {
    FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, i);
    record->exposed_ps = exposed_of (self, record);
  }
  if (self->env.ended.fn == NULL)
    record_loads (self, iteration, now_ps, probe->link_loads);
  if (probe->collectives->len > 0 && self->env.ended.fn == NULL)
    fab_samples_add (dag, probe->collectives, probe->link_loads, probe->samples);
  for (guint c = 0; c < dag->n_classes; c++) {
    fab_interval_set_empty (&self->classes[c].compute);
    fab_interval_set_empty (&self->classes[c].comm);
    g_array_set_size (self->classes[c].talks, 0);
  }
  self->start_ps = now_ps;
}
