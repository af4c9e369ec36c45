/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.c - flows between pairs of ranks, all at once: the patterns that packet simulators are asked for.
 *
 *   permutation  every rank sends to another one and receives from one      n flows, drawn by the seed
 *   shift        rank r sends to (r + distance) mod n                        n
 *   incast       so many ranks send to one                                   senders
 *   all_pairs    every rank sends to every other one                         n (n - 1)
 *   random       pairs are drawn independently                               flows
 *   pairs        those that are listed
 *
 * A flow is one connection: its messages follow one another, each is a send_recv of two ranks without a library, at
 * the cost of an RDMA write. Flows know nothing of each other; they meet on links. The step ends with the last one.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/mix.h"
#include "sim/base/param.h"
#include "sim/collective/shape/flow_path.h"
#include "sim/execution/workload.h"

typedef enum {
  TRAFFIC_PERMUTATION,
  TRAFFIC_SHIFT,
  TRAFFIC_INCAST,
  TRAFFIC_ALL_PAIRS,
  TRAFFIC_RANDOM,
  TRAFFIC_PAIRS,
} TrafficPattern;

typedef struct {
  gint64 from, to;
  FabBytes bytes; /* 0: the job's */
} TrafficPairParams;

typedef struct {
  gint pattern;
  FabBytes bytes;
  gint64 count, connections, senders, target, distance, flows;
  FabParamList pairs; /* TrafficPairParams */
} TrafficParams;

typedef struct {
  guint from, to;
  FabBytes bytes;
} TrafficPair;

typedef struct {
  const TrafficParams *params; /* checked */
  guint n_ranks, gpus_per_node;
  guint64 seed;
  GArray *pairs; /* TrafficPair */
} TrafficDraw;

static void
add_pair (TrafficDraw *draw, guint from, guint to)
{
  TrafficPair pair = { from, to, draw->params->bytes };

  if (from != to)
    g_array_append_val (draw->pairs, pair);
}

/* Below n, n > 0; the bias of 2^-32 x n is nobody's concern. */
static guint
draw_below (const TrafficDraw *draw, guint64 key, guint n)
{
  return (guint) (((fab_mix (draw->seed, key) >> 32) * n) >> 32);
}

/* Sattolo's shuffle: one cycle over all ranks, so that nobody sends to itself. */
static void
add_permutation (TrafficDraw *draw)
{
  g_autofree guint *to = g_new (guint, draw->n_ranks);

  for (guint i = 0; i < draw->n_ranks; i++)
    to[i] = i;
  for (guint i = draw->n_ranks - 1; i > 0; i--) {
    guint k = draw_below (draw, i, i), swapped = to[i];

    to[i] = to[k];
    to[k] = swapped;
  }
  for (guint i = 0; i < draw->n_ranks; i++)
    add_pair (draw, i, to[i]);
}

/* One rank of every other node, then the next of each; those of the target's own node last. */
static void
add_incast (TrafficDraw *draw)
{
  guint target = (guint) draw->params->target, n = draw->gpus_per_node, n_nodes = draw->n_ranks / n;
  guint wanted = draw->params->senders > 0 ? (guint) draw->params->senders : draw->n_ranks - 1;

  for (guint i = 0; i < n; i++)
    for (guint k = 1; k < n_nodes && draw->pairs->len < wanted; k++)
      add_pair (draw, (target / n + k) % n_nodes * n + (target + i) % n, target);
  for (guint i = 1; i < n && draw->pairs->len < wanted; i++)
    add_pair (draw, target / n * n + (target + i) % n, target);
}

static void
add_random (TrafficDraw *draw)
{
  guint n = draw->params->flows > 0 ? (guint) draw->params->flows : draw->n_ranks;

  for (guint i = 0; i < n; i++) {
    guint from = draw_below (draw, 2 * (guint64) i, draw->n_ranks);

    add_pair (draw, from,
              (from + 1 + draw_below (draw, 2 * (guint64) i + 1, draw->n_ranks - 1)) % draw->n_ranks);
  }
}

/* Appends the pairs, the same for the same seed. O(pairs). */
static void
traffic_draw (TrafficDraw *draw)
{
  const TrafficParams *p = draw->params;
  guint n = draw->n_ranks, distance = p->distance > 0 ? (guint) p->distance : draw->gpus_per_node;

  switch ((TrafficPattern) p->pattern) {
  case TRAFFIC_PERMUTATION: add_permutation (draw); break;
  case TRAFFIC_INCAST: add_incast (draw); break;
  case TRAFFIC_RANDOM: add_random (draw); break;
  case TRAFFIC_SHIFT:
    for (guint i = 0; i < n; i++)
      add_pair (draw, i, (i + (distance < n ? distance : 1)) % n);
    break;
  case TRAFFIC_ALL_PAIRS:
    for (guint i = 0; i < n; i++)
      for (guint k = 1; k < n; k++)
        add_pair (draw, i, (i + k) % n);
    break;
  case TRAFFIC_PAIRS:
  default:
    for (guint i = 0; i < p->pairs.n; i++) {
      const TrafficPairParams *pair = (const TrafficPairParams *) p->pairs.data + i;

      add_pair (draw, (guint) pair->from, (guint) pair->to);
      if (pair->bytes > 0)
        g_array_index (draw->pairs, TrafficPair, draw->pairs->len - 1).bytes = pair->bytes;
    }
  }
}

enum { MAX_FLOWS = 1000000, MAX_MESSAGES = 1000000 }; /* of one iteration */

static const char *const pattern_names[] = { "permutation", "shift", "incast", "all_pairs",
                                             "random",      "pairs", NULL };

static const FabParam pair_params[] = {
  { .key = "from",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TrafficPairParams, from),
    .help = "Rank that sends." },
  { .key = "to",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TrafficPairParams, to),
    .help = "Rank that receives." },
  { .key = "size",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (TrafficPairParams, bytes),
    .fallback = "0B",
    .max = 1e18,
    .help = "Bytes of one message of this pair; 0B: `size` of the job." },
  { .key = NULL },
};

static const FabParam traffic_params[] = {
  { .key = "pattern",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (TrafficParams, pattern),
    .choices = pattern_names,
    .is_in_title = TRUE,
    .help = "Which ranks send to which." },
  { .key = "size",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (TrafficParams, bytes),
    .min = 1,
    .max = 1e18,
    .is_in_title = TRUE,
    .help = "Bytes of one message." },
  { .key = "count",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TrafficParams, count),
    .fallback = "1",
    .min = 1,
    .max = MAX_MESSAGES,
    .help = "Messages of each flow, one after another." },
  { .key = "connections",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TrafficParams, connections),
    .fallback = "1",
    .min = 1,
    .max = 1024,
    .help = "Flows of each pair at the same time; a route that hashes flows may send them over different "
            "paths." },
  { .key = "senders",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TrafficParams, senders),
    .fallback = "0",
    .is_in_title = TRUE,
    .help = "incast: number of ranks that send, taking one of every other node first; 0: all others." },
  { .key = "target",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TrafficParams, target),
    .fallback = "0",
    .help = "incast: the rank that receives." },
  { .key = "distance",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TrafficParams, distance),
    .fallback = "0",
    .help = "shift: distance in ranks from sender to receiver; 0: the ranks of one node." },
  { .key = "flows",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TrafficParams, flows),
    .fallback = "0",
    .max = MAX_FLOWS,
    .help = "random: number of pairs; 0: as many as ranks." },
  { .key = "pairs",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (TrafficParams, pairs),
    .table = pair_params,
    .table_size = sizeof (TrafficPairParams),
    .help = "pairs: the list of flows." },
  { .key = NULL },
};

static void
traffic_check (gconstpointer params, FabCheck *check)
{
  const TrafficParams *p = params;

  if ((p->pattern == TRAFFIC_PAIRS) != (p->pairs.n > 0))
    fab_check_fail (check, &p->pairs,
                    p->pattern == TRAFFIC_PAIRS ? "pairs is empty: name at least one, {from: 0, to: 8}"
                                                : "pairs needs pattern: pairs; here it is %s",
                    pattern_names[p->pattern]);
  for (guint i = 0; i < p->pairs.n; i++) {
    const TrafficPairParams *pair = (const TrafficPairParams *) p->pairs.data + i;

    if (pair->from == pair->to)
      fab_check_fail (check, &pair->to, "rank %" G_GINT64_FORMAT " sends to itself", pair->to);
  }
  if (p->pattern != TRAFFIC_INCAST && (p->senders > 0 || p->target > 0))
    fab_check_fail (check, p->senders > 0 ? &p->senders : &p->target,
                    "senders and target need pattern: incast");
  if (p->pattern != TRAFFIC_SHIFT && p->distance > 0)
    fab_check_fail (check, &p->distance, "distance needs pattern: shift");
  if (p->pattern != TRAFFIC_RANDOM && p->flows > 0)
    fab_check_fail (check, &p->flows, "flows needs pattern: random; for more flows per pair see connections");
}

static gboolean
check_ranks (const TrafficParams *p, guint n_ranks, GError **error)
{
  gint64 most = MAX (p->target, MAX (p->distance, p->senders));

  for (guint i = 0; i < p->pairs.n; i++) {
    const TrafficPairParams *pair = (const TrafficPairParams *) p->pairs.data + i;

    most = MAX (most, MAX (pair->from, pair->to));
  }
  if (n_ranks < 2)
    return fab_throw (error, FAB_ERROR_INPUT, "job: traffic needs two ranks, and there is one");
  if (most >= n_ranks)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "job: rank %" G_GINT64_FORMAT " does not exist; there are %u, "
                      "from 0",
                      most, n_ranks);
  return TRUE;
}

/* --- flows --- */

typedef struct {
  const FabWorkloadEnv *env;
  const TrafficParams *params;
  FabDagBuilder *builder;
  FabFootprintBuilder *footprints;
  guint rank_class, n_flows;
  FabTaskId start, end; /* of the iteration, no work */
} Traffic;

/* All flows start together, and no flow of the next iteration before all of this one have ended. */
static void
add_bounds (Traffic *self)
{
  self->start = fab_dag_builder_work (self->builder,
                                      fab_dag_builder_stream (self->builder, self->rank_class, "start"),
                                      FAB_SPAN_LOAD, 0, g_strdup ("start"));
  self->end = fab_dag_builder_work (self->builder,
                                    fab_dag_builder_stream (self->builder, self->rank_class, "end"),
                                    FAB_SPAN_LOAD, 0, g_strdup ("end"));
  fab_dag_builder_after_previous (self->builder, self->start, self->end);
}

/* Its own stream; a message waits for the one before. */
static gboolean
add_flow (Traffic *self, const TrafficPair *pair, GError **error)
{
  guint flow = self->n_flows++;
  FabFlowPath *path = fab_flow_path_new (self->env->cluster, pair->from, pair->to, flow, self->footprints,
                                         error);

  if (path == NULL) {
    g_prefix_error (error, "job: ");
    return FALSE;
  }
  FabCollectivePlan plan = fab_flow_path_plan (path, pair->bytes);
  guint stream = fab_dag_builder_stream (self->builder, self->rank_class, "flow");
  fab_dag_builder_own (self->builder, path, (GDestroyNotify) fab_flow_path_free);
  for (gint64 k = 0; k < self->params->count; k++) {
    guint message = fab_dag_builder_collective (self->builder, &plan, FAB_DIMENSION_OTHER,
                                                g_strdup_printf ("flow%u.%" G_GINT64_FORMAT " %u->%u", flow,
                                                                 k, pair->from, pair->to));
    FabTaskId task = fab_dag_builder_join (self->builder, stream, message);

    if (k == 0)
      fab_dag_builder_after (self->builder, task, self->start);
  }
  fab_dag_builder_after (self->builder, self->end, fab_dag_builder_last (self->builder, stream));
  return TRUE;
}

static gboolean
check_amount (const TrafficDraw *draw, GError **error)
{
  const TrafficParams *p = draw->params;
  double n_flows = draw->pairs->len * (double) p->connections, n_messages = n_flows * (double) p->count;

  if (n_flows <= MAX_FLOWS && n_messages <= MAX_MESSAGES)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "job: these are %.0f flows of %" G_GINT64_FORMAT " messages; the limit is %d messages",
                    n_flows, p->count, MAX_MESSAGES);
}

static gboolean
traffic_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
               GError **error)
{
  const TrafficParams *p = params;
  guint n_ranks = fab_cluster_n_ranks (env->cluster);
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (TrafficPair));
  g_autoptr (FabFootprintBuilder) footprints = fab_footprint_builder_new (env->cluster->graph);
  TrafficDraw draw = { p, n_ranks, env->cluster->gpus_per_node, env->seed, pairs };
  Traffic self = { .env = env, .params = p, .builder = builder, .footprints = footprints };

  if (!check_ranks (p, n_ranks, error))
    return FALSE;
  totals->uses_seed = p->pattern == TRAFFIC_RANDOM || p->pattern == TRAFFIC_PERMUTATION;
  traffic_draw (&draw);
  if (!check_amount (&draw, error))
    return FALSE;
  self.rank_class = fab_dag_builder_class (builder, "all", 0, n_ranks);
  add_bounds (&self);
  for (guint i = 0; i < pairs->len; i++)
    for (gint64 k = 0; k < p->connections; k++)
      if (!add_flow (&self, &g_array_index (pairs, TrafficPair, i), error))
        return FALSE;
  return TRUE;
}

const FabWorkloadOps fab_workload_traffic = {
  .info = { .name = "traffic",
            .summary = "Pairs of ranks send at once: permutation, incast, random and others.",
            .doc = "docs/models/traffic.md",
            .params = traffic_params,
            .params_size = sizeof (TrafficParams),
            .check = traffic_check },
  .build = traffic_build,
};
