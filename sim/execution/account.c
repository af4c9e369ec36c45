/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/account.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/order.h"
#include "sim/execution/contention.h"
#include "sim/execution/dag.h"
#include "sim/execution/overlap.h"

enum { FAB_SAMPLED_LINKS = 8 };

/* Whether a collective crosses nodes. */
typedef enum { FAB_SCOPE_INTRA_NODE, FAB_SCOPE_INTER_NODE, FAB_N_SCOPES } FabScope;

/* The time during which one collective moves bytes, or waits for its last rank. */
typedef struct {
  FabTimePs start_ps, end_ps; /* half open */
  FabDimension dimension;
  FabOp op;
  FabScope scope;
} FabCommSpan;

typedef struct {
  FabTimePs comm_ps;    /* total time in which at least one of them was active */
  FabTimePs exposed_ps; /* their part of the exposed time */
  FabTimePs exposed_inter_node_ps;
} FabCommTimes;

typedef struct {
  guint link;
  double busy_fraction;
} Busy;

/* A change of the rate over a link. */
typedef struct {
  FabTimePs time_ps; /* first: they are sorted by it */
  double change_bytes_per_s;
  gint change; /* change of the number of collectives that use it */
} Step;

static gint
busiest_first (gconstpointer a, gconstpointer b)
{
  const Busy *x = a, *y = b;

  if (x->busy_fraction != y->busy_fraction)
    return x->busy_fraction > y->busy_fraction ? -1 : 1;
  return x->link < y->link ? -1 : 1;
}

/* Returns the links that bind some collective, the busiest first. */
static GArray *
find_links (const GArray *records, const GArray *loads)
{
  g_autoptr (GHashTable) binding = g_hash_table_new (NULL, NULL);
  GArray *links = g_array_new (FALSE, FALSE, sizeof (Busy));

  for (guint i = 0; i < records->len; i++) {
    guint link = g_array_index (records, FabCollectiveRecord, i).binding_link;

    if (link != FAB_RECORD_NO_LINK)
      g_hash_table_add (binding, GUINT_TO_POINTER (link + 1));
  }
  for (guint i = 0; i < loads->len; i++) {
    const FabLinkLoadRecord *load = &g_array_index (loads, FabLinkLoadRecord, i);
    Busy busy = { load->link, load->busy_fraction };

    if (g_hash_table_contains (binding, GUINT_TO_POINTER (load->link + 1)))
      g_array_append_val (links, busy);
  }
  g_array_sort (links, busiest_first);
  g_array_set_size (links, MIN (links->len, FAB_SAMPLED_LINKS));
  return links;
}

/* Returns the payload bytes over a link per byte of the collective; 0: the collective does not use it. O(log n). */
static double
weight_on (const FabFootprint *footprint, FabLinkId link)
{
  guint index;

  return footprint != NULL && fab_footprint_has (footprint, link, &index) ? footprint->weights[index] : 0;
}

static GArray *
make_steps (const FabDag *dag, const GArray *records, guint link)
{
  GArray *steps = g_array_new (FALSE, FALSE, sizeof (Step));

  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);
    double weight = weight_on (dag->collectives[record->index].plan.footprint, link);
    double seconds = fab_ps_to_seconds (record->end_ps - record->start_ps);

    if (weight <= 0 || seconds <= 0)
      continue;
    Step start = { record->start_ps, weight * (double) record->bytes / seconds, 1 };
    Step end = { record->end_ps, -start.change_bytes_per_s, -1 };
    g_array_append_val (steps, start);
    g_array_append_val (steps, end);
  }
  g_array_sort (steps, fab_order_int64s);
  return steps;
}

static void
add_link (const FabDag *dag, guint iteration, const GArray *records, guint link, GArray *samples)
{
  g_autoptr (GArray) steps = make_steps (dag, records, link);
  double rate = 0;
  gint n_moving = 0;

  for (guint i = 0; i + 1 < steps->len; i++) {
    const Step *step = &g_array_index (steps, Step, i);

    n_moving += step->change;
    rate = n_moving > 0 ? rate + step->change_bytes_per_s : 0; /* drop rounding errors when nothing moves */
    FabLinkSampleRecord sample = { iteration, link, step->time_ps, step[1].time_ps, rate };
    if (n_moving > 0 && sample.start_ps < sample.end_ps)
      g_array_append_val (samples, sample);
  }
}

/* Appends to `samples` (FabLinkSampleRecord) by link, then by time; intervals without traffic have no sample.
 * `records` are the collectives of the iteration, `loads` (FabLinkLoadRecord, ascending links) what its links
 * carried. */
static void
samples_add (const FabDag *dag, guint iteration, const GArray *records, const GArray *loads, GArray *samples)
{
  g_autoptr (GArray) links = find_links (records, loads);

  for (guint i = 0; i < links->len; i++)
    add_link (dag, iteration, records, g_array_index (links, Busy, i).link, samples);
}

/* Fractions of a ps: any share among 1 to 7 dimensions, within it among 1 to 9 operations, and within it between two
 * scopes, is a whole number of them. */
#define DIMENSION_PARTS 420 /* least common multiple of 1 to 7 */
#define OP_PARTS 2520       /* least common multiple of 1 to 9 */
#define SCOPE_PARTS FAB_N_SCOPES

G_STATIC_ASSERT (FAB_N_DIMENSIONS <= 7 && FAB_N_OPS <= 9);

typedef struct {
  FabTimePs time_ps; /* first: they are sorted by it */
  FabDimension dimension;
  FabOp op;
  FabScope scope;
  gint change; /* of the number of active collectives */
} Edge;

/* What is active at an instant, and the sums until then. */
typedef struct {
  guint n_comm_spans[FAB_N_DIMENSIONS][FAB_N_OPS][FAB_N_SCOPES];
  guint n_ops[FAB_N_DIMENSIONS]; /* number of operations with active collectives */
  guint n_dimensions;            /* number of dimensions with active operations */
  FabTimePs comm_ps[FAB_N_DIMENSIONS][FAB_N_OPS];
  __int128 exposed_parts[FAB_N_DIMENSIONS][FAB_N_OPS][FAB_N_SCOPES];
} Sweep;

static GArray *
make_edges (const GArray *comm_spans)
{
  GArray *edges = g_array_new (FALSE, FALSE, sizeof (Edge));

  for (guint i = 0; i < comm_spans->len; i++) {
    const FabCommSpan *comm_span = &g_array_index (comm_spans, FabCommSpan, i);
    Edge start = { comm_span->start_ps, comm_span->dimension, comm_span->op, comm_span->scope, 1 };
    Edge end = { comm_span->end_ps, comm_span->dimension, comm_span->op, comm_span->scope, -1 };

    g_array_append_val (edges, start);
    g_array_append_val (edges, end);
  }
  g_array_sort (edges, fab_order_int64s);
  return edges;
}

static guint
n_scopes (const Sweep *self, guint dimension, guint op)
{
  guint n = 0;

  for (guint scope = 0; scope < FAB_N_SCOPES; scope++)
    n += self->n_comm_spans[dimension][op][scope] > 0;
  return n;
}

static void
pass_edge (Sweep *self, const Edge *edge)
{
  guint *n_ops = &self->n_ops[edge->dimension];
  gboolean had_scope = n_scopes (self, edge->dimension, edge->op) > 0, had_op = *n_ops > 0;

  self->n_comm_spans[edge->dimension][edge->op][edge->scope] += edge->change;
  *n_ops += (n_scopes (self, edge->dimension, edge->op) > 0) - had_scope;
  self->n_dimensions += (*n_ops > 0) - had_op;
}

/* Adds an interval in which nothing begins or ends. */
static void
pass_time (Sweep *self, FabTimePs length_ps, FabTimePs exposed_ps)
{
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    for (guint op = 0; op < FAB_N_OPS && self->n_ops[d] > 0; op++) {
      guint n = n_scopes (self, d, op);

      if (n == 0)
        continue;
      self->comm_ps[d][op] += length_ps;
      for (guint scope = 0; scope < FAB_N_SCOPES; scope++)
        if (self->n_comm_spans[d][op][scope] > 0)
          self->exposed_parts[d][op][scope] += (__int128) exposed_ps * (DIMENSION_PARTS / self->n_dimensions)
                                             * (OP_PARTS / self->n_ops[d]) * (SCOPE_PARTS / n);
    }
}

/* Edges at the same time may come in any order, because no time lies between them. */
static void
sweep_edges (Sweep *self, const GArray *edges, const FabIntervalSet *compute)
{
  FabTimePs since_ps = 0;

  for (guint i = 0; i < edges->len; i++) {
    const Edge *edge = &g_array_index (edges, Edge, i);
    FabTimePs length_ps = edge->time_ps - since_ps;

    if (self->n_dimensions > 0)
      pass_time (self, length_ps, length_ps - fab_interval_set_within_ps (compute, since_ps, edge->time_ps));
    pass_edge (self, edge);
    since_ps = edge->time_ps;
  }
}

/* `comm_spans` (FabCommSpan) are those of one rank class, in any order; exposed is what lies outside of `busy`.
 * O(n log n). */
static void
exposure_split (const GArray *comm_spans, const FabIntervalSet *busy,
                FabCommTimes times[FAB_N_DIMENSIONS][FAB_N_OPS])
{
  g_autoptr (GArray) edges = make_edges (comm_spans);
  __int128 sum = 0, given = 0;
  Sweep sweep;

  memset (&sweep, 0, sizeof sweep);
  sweep_edges (&sweep, edges, busy);
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    for (guint op = 0; op < FAB_N_OPS; op++) {
      FabTimePs by_scope_ps[FAB_N_SCOPES];

      for (guint scope = 0; scope < FAB_N_SCOPES; scope++) {
        sum += sweep.exposed_parts[d][op][scope];
        __int128 until = sum / (DIMENSION_PARTS * OP_PARTS * SCOPE_PARTS);
        by_scope_ps[scope] = (FabTimePs) (until - given);
        given = until;
      }
      times[d][op] = (FabCommTimes){ sweep.comm_ps[d][op],
                                     by_scope_ps[FAB_SCOPE_INTRA_NODE] + by_scope_ps[FAB_SCOPE_INTER_NODE],
                                     by_scope_ps[FAB_SCOPE_INTER_NODE] };
    }
}

/* What a stream is doing; since_ps -1: it is idle. */
typedef struct {
  FabTimePs since_ps;
  FabTaskId task;
  gboolean is_waiting; /* for the last rank of the task's collective */
} StreamState;

/* The collectives of the iteration that a class joins. */
typedef struct {
  guint n_collectives;
  FabBytes bytes;
} Volume;

typedef struct {
  FabIntervalSet compute, comm, waiting; /* waiting: also beside compute and communication */
  GArray *comm_spans, *wait_spans;       /* FabCommSpan */
  Volume volumes[FAB_N_DIMENSIONS][FAB_N_OPS];
} ClassTimes;

struct _FabAccount {
  FabExecutorEnv env;
  StreamState *lanes;  /* per stream */
  ClassTimes *classes; /* per rank class */
  double *
      line_bytes; /* per link, since the start; NULL: there is one iteration, or the network checks nothing */
  guint8 *scopes; /* per collective: FabScope */
  FabTimePs start_ps;  /* of the iteration */
  gboolean is_passing; /* nobody reads the times of this iteration */
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

/* A link between a NIC and what lies outside of its node. Nodes that share NVLink switches are joined without NICs, and
 * what they send each other there does not cross nodes. */
static gboolean
leaves_node (const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);
  const FabVertex *src = fab_graph_vertex (graph, link->src), *dst = fab_graph_vertex (graph, link->dst);

  return (src->kind == FAB_VERTEX_NIC || dst->kind == FAB_VERTEX_NIC) && src->node != dst->node;
}

/* Links of the fabric have the highest numbers. */
static FabScope
scope_of (const FabGraph *graph, const FabFootprint *footprint)
{
  for (guint i = footprint != NULL ? footprint->n : 0; i-- > 0;)
    if (leaves_node (graph, footprint->links[i]))
      return FAB_SCOPE_INTER_NODE;
  return FAB_SCOPE_INTRA_NODE;
}

/* Collectives of the same group share their footprint, which is looked at once. (transfer full) */
static guint8 *
find_scopes (const FabExecutorEnv *env)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  guint8 *scopes = g_new (guint8, env->dag->n_collectives + 1);

  for (guint c = 0; c < env->dag->n_collectives; c++) {
    const FabFootprint *footprint = env->dag->collectives[c].plan.footprint;
    gpointer found;

    if (!g_hash_table_lookup_extended (known, footprint, NULL, &found)) {
      found = GUINT_TO_POINTER (scope_of (env->net->env.graph, footprint));
      g_hash_table_insert (known, (gpointer) footprint, found);
    }
    scopes[c] = (guint8) GPOINTER_TO_UINT (found);
  }
  return scopes;
}

FabAccount *
fab_account_new (const FabExecutorEnv *env)
{
  const FabDag *dag = env->dag;
  guint n_links = fab_graph_n_links (env->net->env.graph) + 1;
  FabAccount *self = g_new0 (FabAccount, 1);

  self->env = *env;
  self->lanes = g_new (StreamState, dag->n_streams);
  self->classes = g_new0 (ClassTimes, dag->n_classes);
  if (env->n_iterations > 1 && env->net->ops->shares_links)
    self->line_bytes = g_new0 (double, n_links);
  self->scopes = find_scopes (env);
  for (guint s = 0; s < dag->n_streams; s++)
    self->lanes[s].since_ps = -1;
  for (guint c = 0; c < dag->n_classes; c++) {
    fab_interval_set_init (&self->classes[c].compute);
    fab_interval_set_init (&self->classes[c].comm);
    fab_interval_set_init (&self->classes[c].waiting);
    self->classes[c].comm_spans = g_array_new (FALSE, FALSE, sizeof (FabCommSpan));
    self->classes[c].wait_spans = g_array_new (FALSE, FALSE, sizeof (FabCommSpan));
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
    fab_interval_set_clear (&self->classes[c].waiting);
    g_array_unref (self->classes[c].comm_spans);
    g_array_unref (self->classes[c].wait_spans);
  }
  g_free (self->lanes);
  g_free (self->classes);
  g_free (self->line_bytes);
  g_free (self->scopes);
  g_free (self);
}

void
fab_account_set_brief (FabAccount *self)
{
  self->env.has_no_loads = TRUE;
  self->is_passing = self->env.n_iterations > 1;
}

static FabCommSpan
span_of (const FabAccount *self, const FabTask *task, FabTimePs start_ps, FabTimePs end_ps)
{
  FabCommSpan span = { start_ps, end_ps, FAB_DIMENSION_OTHER, FAB_OP_SEND_RECV, FAB_SCOPE_INTRA_NODE };

  if (task->collective >= 0) {
    span.dimension = self->env.dag->collectives[task->collective].dimension;
    span.op = self->env.dag->collectives[task->collective].plan.op;
    span.scope = self->scopes[task->collective];
  }
  return span;
}

static void
book (FabAccount *self, guint stream, FabTimePs now_ps)
{
  const StreamState *lane = &self->lanes[stream];
  const FabTask *task = &self->env.dag->tasks[lane->task];
  ClassTimes *times = &self->classes[self->env.dag->streams[stream].rank_class];

  if (self->is_passing)
    return;
  if (lane->is_waiting) {
    FabCommSpan span = span_of (self, task, lane->since_ps, now_ps);

    fab_interval_set_add (&times->waiting, lane->since_ps, now_ps);
    g_array_append_val (times->wait_spans, span);
  } else if (task->kind == FAB_SPAN_COMPUTE) {
    fab_interval_set_add (&times->compute, lane->since_ps, now_ps);
  } else if (task->kind == FAB_SPAN_COMM) {
    FabCommSpan span = span_of (self, task, lane->since_ps, now_ps);

    fab_interval_set_add (&times->comm, lane->since_ps, now_ps);
    g_array_append_val (times->comm_spans, span);
  }
}

void
fab_account_arrive (FabAccount *self, FabTaskId task, FabTimePs now_ps)
{
  StreamState *lane = &self->lanes[self->env.dag->tasks[task].stream];

  g_assert (lane->since_ps < 0);
  *lane = (StreamState){ now_ps, task, TRUE };
}

void
fab_account_begin (FabAccount *self, FabTaskId task, FabTimePs now_ps)
{
  guint stream = self->env.dag->tasks[task].stream;
  StreamState *lane = &self->lanes[stream];

  g_assert (lane->since_ps < 0 || (lane->is_waiting && lane->task == task));
  if (lane->since_ps >= 0)
    book (self, stream, now_ps);
  *lane = (StreamState){ now_ps, task, FALSE };
}

void
fab_account_end (FabAccount *self, guint stream, FabTimePs now_ps)
{
  g_assert (self->lanes[stream].since_ps >= 0);
  book (self, stream, now_ps);
  self->lanes[stream].since_ps = -1;
}

/* Compute and communication together; both are sorted. */
static void
join_sets (const FabIntervalSet *a, const FabIntervalSet *b, FabIntervalSet *both)
{
  guint i = 0, k = 0;

  fab_interval_set_init (both);
  while (i < a->intervals->len || k < b->intervals->len) {
    const FabInterval *x = i < a->intervals->len ? &g_array_index (a->intervals, FabInterval, i) : NULL;
    const FabInterval *y = k < b->intervals->len ? &g_array_index (b->intervals, FabInterval, k) : NULL;
    gboolean is_first = y == NULL || (x != NULL && x->start_ps <= y->start_ps);
    const FabInterval *next = is_first ? x : y;

    fab_interval_set_add (both, next->start_ps, next->end_ps);
    *(is_first ? &i : &k) += 1;
  }
}

static FabIterationRecord
class_record (const FabAccount *self, guint rank_class, guint iteration, const FabIntervalSet *busy,
              FabTimePs now_ps)
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
    .waiting_ps = fab_interval_set_length_ps (&times->waiting)
                - fab_interval_set_overlap_ps (&times->waiting, busy),
  };

  record.exposed_ps = record.comm_ps - record.overlapped_ps;
  record.idle_ps = record.duration_ps - record.compute_ps - record.exposed_ps;
  if (record.exposed_ps < 0 || record.idle_ps < 0)
    fab_engine_fail (self->env.engine,
                     "iteration %u, class %u: exposed %" G_GINT64_FORMAT " ps and idle %" G_GINT64_FORMAT
                     " ps, which cannot be negative",
                     iteration, rank_class, record.exposed_ps, record.idle_ps);
  if (record.waiting_ps < 0 || record.waiting_ps > record.idle_ps)
    fab_engine_fail (self->env.engine,
                     "iteration %u, class %u: waiting %" G_GINT64_FORMAT " ps of %" G_GINT64_FORMAT
                     " ps idle",
                     iteration, rank_class, record.waiting_ps, record.idle_ps);
  return record;
}

/* Returns the mean over ranks, rounded down to a ps; 128 bits hold the sum of any number of ranks. */
static FabIterationRecord
mean_over_ranks (const FabAccount *self, const GArray *records)
{
  FabIterationRecord mean = g_array_index (records, FabIterationRecord, 0);
  __int128 compute = 0, comm = 0, overlapped = 0, waiting = 0, exposed = 0, inter_node = 0;
  gint64 n_ranks = 0;

  for (guint c = 0; c < records->len; c++) {
    const FabIterationRecord *record = &g_array_index (records, FabIterationRecord, c);
    gint64 n = self->env.dag->classes[c].n_ranks;

    n_ranks += n;
    compute += (__int128) record->compute_ps * n;
    comm += (__int128) record->comm_ps * n;
    overlapped += (__int128) record->overlapped_ps * n;
    waiting += (__int128) record->waiting_ps * n;
    exposed += (__int128) record->exposed_ps * n;
    inter_node += (__int128) record->exposed_inter_node_ps * n;
  }
  mean.compute_ps = (FabTimePs) (compute / n_ranks);
  mean.comm_ps = (FabTimePs) (comm / n_ranks);
  mean.overlapped_ps = (FabTimePs) (overlapped / n_ranks);
  mean.exposed_ps = mean.comm_ps - mean.overlapped_ps;
  mean.idle_ps = mean.duration_ps - mean.compute_ps - mean.exposed_ps;
  mean.waiting_ps = (FabTimePs) (waiting / n_ranks);
  mean.exposed_inter_node_ps = inter_node == exposed ? mean.exposed_ps : (FabTimePs) (inter_node / n_ranks);
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

/* Appends what the class communicated and waited for, and completes its record. */
static void
add_exposures (const FabAccount *self, const FabIntervalSet *busy, FabIterationRecord *record,
               GArray *records)
{
  const ClassTimes *class = &self->classes[record->rank_class];
  FabCommTimes times[FAB_N_DIMENSIONS][FAB_N_OPS], waits[FAB_N_DIMENSIONS][FAB_N_OPS];
  FabTimePs exposed_ps = 0, waiting_ps = 0;

  exposure_split (class->comm_spans, &class->compute, times);
  exposure_split (class->wait_spans, busy, waits);
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
        .exposed_inter_node_ps = times[d][op].exposed_inter_node_ps,
        .waiting_ps = waits[d][op].exposed_ps,
      };

      exposed_ps += added.exposed_ps;
      waiting_ps += added.waiting_ps;
      record->exposed_inter_node_ps += added.exposed_inter_node_ps;
      if (added.n_collectives > 0 || added.comm_ps > 0)
        g_array_append_val (records, added);
    }
  if (exposed_ps != record->exposed_ps || waiting_ps != record->waiting_ps)
    fab_engine_fail (self->env.engine,
                     "iteration %u, class %u: its dimensions are exposed for %" G_GINT64_FORMAT
                     " ps and wait for %" G_GINT64_FORMAT " ps, the class %" G_GINT64_FORMAT
                     " ps and %" G_GINT64_FORMAT " ps",
                     record->iteration, record->rank_class, exposed_ps, waiting_ps, record->exposed_ps,
                     record->waiting_ps);
}

static void
add_class (const FabAccount *self, guint rank_class, guint iteration, FabTimePs now_ps, FabProbe *probe)
{
  const ClassTimes *times = &self->classes[rank_class];
  FabIntervalSet busy;

  join_sets (&times->compute, &times->comm, &busy);
  FabIterationRecord record = class_record (self, rank_class, iteration, &busy, now_ps);
  add_exposures (self, &busy, &record, probe->exposures);
  g_array_append_val (probe->iterations, record);
  fab_interval_set_clear (&busy);
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

/* `line_bytes` are those of the iteration. */
static void
check_rate (FabAccount *self, FabLinkId id, double line_bytes, FabTimePs now_ps)
{
  const FabGraph *graph = self->env.net->env.graph;

  if (!self->env.net->ops->shares_links)
    return;
  if (self->line_bytes != NULL)
    line_bytes = self->line_bytes[id] += line_bytes;
  double most = (double) fab_graph_link (graph, id)->rate_bytes_per_s * fab_ps_to_seconds (now_ps);

  if (line_bytes > most * (1 + 1e-9))
    fab_engine_fail (self->env.engine,
                     "%s: link %u carried %.17g bytes by %" G_GINT64_FORMAT " ps, its rate allows %.17g",
                     self->env.net->ops->info.name, id, line_bytes, now_ps, most);
}

/* A few links at a time: large machines have millions. */
static void
record_loads (FabAccount *self, guint iteration, FabTimePs now_ps, GArray *records)
{
  enum { AT_ONCE = 256 };
  const FabGraph *graph = self->env.net->env.graph;
  double seconds = fab_ps_to_seconds (now_ps - self->start_ps);
  guint n_links = fab_graph_n_links (graph);
  FabLinkLoad loads[AT_ONCE];
  FabMeter *meter = self->env.watch->ops->meter (self->env.watch);

  for (FabLinkId id = 0; id < n_links; id++) {
    const FabLinkLoad *load = &loads[id % AT_ONCE];
    FabLinkLoadRecord record = { .iteration = iteration, .link = id };

    if (id % AT_ONCE == 0)
      fab_meter_read (meter, id, MIN (AT_ONCE, n_links - id), loads);
    if (load->line_bytes <= 0)
      continue;
    check_rate (self, id, load->line_bytes, now_ps);
    record.bytes = (FabBytes) (load->payload_bytes + 0.5);
    record.busy_fraction = load->line_bytes
                         / ((double) fab_graph_link (graph, id)->rate_bytes_per_s * seconds);
    if (!self->env.has_no_loads)
      g_array_append_val (records, record);
  }
}

void
fab_account_open (FabAccount *self, FabTimePs now_ps)
{
  self->start_ps = now_ps;
}

FabTimePs
fab_account_start_ps (const FabAccount *self)
{
  return self->start_ps;
}

/* Splits what is under way at the end of the iteration. */
static void
split_lanes (FabAccount *self, FabTimePs now_ps)
{
  for (guint s = 0; s < self->env.dag->n_streams; s++)
    if (self->lanes[s].since_ps >= 0) {
      book (self, s, now_ps);
      self->lanes[s].since_ps = now_ps;
    }
}

void
fab_account_pass (FabAccount *self, guint iteration, FabProbe *probe)
{
  FabTimePs now_ps = fab_engine_now (self->env.engine);

  split_lanes (self, now_ps);
  if (self->env.ended.fn == NULL)
    record_loads (self, iteration, now_ps, probe->link_loads);
  self->start_ps = now_ps;
  self->is_passing = iteration + 2 < self->env.n_iterations;
}

void
fab_account_close (FabAccount *self, guint iteration, FabProbe *probe)
{
  const FabDag *dag = self->env.dag;
  FabTimePs now_ps = fab_engine_now (self->env.engine);

  split_lanes (self, now_ps);
  for (guint c = 0; c < dag->n_classes; c++)
    add_class (self, c, iteration, now_ps, probe);
  probe->step = step_record (self, probe->iterations);
  for (guint i = 0; i < probe->collectives->len; i++) {
    FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, i);
    record->exposed_ps = exposed_of (self, record);
  }
  if (!self->env.has_no_loads)
    fab_contention_attribute (dag, self->env.net->env.graph, self->env.net->ops->shares_links,
                              probe->collectives);
  if (self->env.ended.fn == NULL)
    record_loads (self, iteration, now_ps, probe->link_loads);
  samples_add (dag, iteration, probe->collectives, probe->link_loads,
               probe->samples); /* none without loads */
  for (guint c = 0; c < dag->n_classes; c++) {
    fab_interval_set_empty (&self->classes[c].compute);
    fab_interval_set_empty (&self->classes[c].comm);
    fab_interval_set_empty (&self->classes[c].waiting);
    g_array_set_size (self->classes[c].comm_spans, 0);
    g_array_set_size (self->classes[c].wait_spans, 0);
  }
  self->start_ps = now_ps;
}
