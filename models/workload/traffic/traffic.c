/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.c - flows between pairs of ranks, all at once or over time: what packet simulators are asked for.
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
 *
 * With `arrivals` flows begin over time. Each takes one of the pattern's pairs, drawn by the seed; of an incast all
 * senders begin together. The mean time from one to the next follows from `load`:
 *
 *   mean time = mean bytes of an arrival / (load x ranks x rate of a rank's share of its NICs)
 */
#include "models/models.h"
#include "models/workload/traffic/arrivals.h"
#include "models/workload/traffic/sizes.h"
#include "sim/base/error.h"
#include "sim/base/mix.h"
#include "sim/base/param.h"
#include "sim/collective/shape/flow_path.h"
#include "sim/execution/workload.h"

enum { MAX_FLOWS = 1000000, MAX_MESSAGES = 1000000 }; /* of one iteration */

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
  FabTimePs at_ps;
} TrafficPairParams;

typedef struct {
  FabBytes bytes;
  double below_fraction;
} TrafficSizeParams;

typedef enum { SIZES_FIXED, SIZES_WEBSEARCH, SIZES_HADOOP, SIZES_STORAGE, SIZES_LISTED } TrafficSizesKind;

typedef struct {
  gint pattern;
  FabBytes bytes;
  gint64 count, connections, senders, target, distance, flows;
  FabParamList pairs;  /* TrafficPairParams */
  gint sizes;          /* TrafficSizesKind */
  FabParamList listed; /* TrafficSizeParams */
  gint arrivals;       /* ArrivalsKind */
  double load_fraction, sigma;
  FabTimePs duration_ps;
} TrafficParams;

typedef struct {
  guint from, to;
  FabBytes bytes;
  FabTimePs at_ps; /* when it begins, from the start of the iteration */
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
  TrafficPair pair = { from, to, draw->params->bytes, 0 };

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
      TrafficPair *last = &g_array_index (draw->pairs, TrafficPair, draw->pairs->len - 1);
      last->at_ps = pair->at_ps;
      if (pair->bytes > 0)
        last->bytes = pair->bytes;
    }
  }
}

/* --- sizes and arrivals --- */

static const char *const sizes_names[] = { "fixed", "websearch", "hadoop", "storage", "listed", NULL };
static const char *const arrivals_names[] = { "at_once", "poisson", "lognormal", NULL };

/* The distribution, with room for listed points in `points` (free with g_free). NULL: all flows have one size. */
static const FlowSizes *
sizes_of (const TrafficParams *p, FlowSizes *listed, FlowSizePoint **points)
{
  *points = NULL;
  if (p->sizes == SIZES_FIXED)
    return NULL;
  if (p->sizes != SIZES_LISTED)
    return flow_sizes_published (sizes_names[p->sizes]);
  *points = g_new0 (FlowSizePoint, p->listed.n + 1);
  for (guint i = 0; i < p->listed.n; i++) {
    const TrafficSizeParams *row = (const TrafficSizeParams *) p->listed.data + i;

    (*points)[i + 1] = (FlowSizePoint){ (double) row->bytes, row->below_fraction };
  }
  *listed = (FlowSizes){ "listed", *points, p->listed.n + 1 };
  return listed;
}

/* Numbers that the seed gives to a flow, each of its own series. */
enum { SIZE_SEED = 0x73697a65, PAIR_SEED = 0x70616972, FROM_SEED = 0x66726f6d, TO_SEED = 0x746f };

static FabBytes
draw_size (const TrafficDraw *draw, const FlowSizes *sizes, guint64 flow)
{
  return sizes == NULL ? draw->params->bytes
                       : flow_sizes_quantile (sizes, arrivals_draw (draw->seed ^ SIZE_SEED, flow));
}

/* Bytes per second that a rank has of the NICs of its node, by the way to the first rank of the next node; of one node,
 * to its neighbour. 0 and *error: there is no way. */
static double
rank_bytes_per_s (const FabCluster *cluster, FabFootprintBuilder *footprints, GError **error)
{
  guint to = cluster->n_nodes > 1 ? cluster->gpus_per_node : 1;
  g_autoptr (FabFlowPath) path = fab_flow_path_new (cluster, 0, to, 0, footprints, error);
  double share = cluster->n_nodes > 1 && cluster->nics_per_node > 0
                   ? MIN ((double) cluster->nics_per_node / cluster->gpus_per_node, 1)
                   : 1;

  if (path == NULL) {
    g_prefix_error (error, "job: ");
    return 0;
  }
  return path->footprint->rate_bytes_per_s * share;
}

/* Flows of the pattern that begin together: all of an incast, one of the others. */
static guint
flows_at_once (const TrafficDraw *draw)
{
  return draw->params->pattern == TRAFFIC_INCAST ? draw->pairs->len : 1;
}

static double
mean_bytes (const TrafficDraw *draw, const FlowSizes *sizes)
{
  double bytes = sizes == NULL ? (double) draw->params->bytes : flow_sizes_mean (sizes);

  return bytes * flows_at_once (draw) * (double) (draw->params->connections * draw->params->count);
}

/* Appends to `flows` what begins at `at_ps`. `n` is the number of arrivals before. */
static void
add_arrival (const TrafficDraw *draw, const FlowSizes *sizes, guint64 n, FabTimePs at_ps, GArray *flows)
{
  guint n_pairs = draw->pairs->len, first = 0, n_flows = flows_at_once (draw);

  if (n_flows == 1)
    first = (guint) (arrivals_draw (draw->seed ^ PAIR_SEED, n) * n_pairs);
  for (guint i = 0; i < n_flows; i++) {
    TrafficPair flow = g_array_index (draw->pairs, TrafficPair, first + i);

    if (draw->params->pattern == TRAFFIC_RANDOM) {
      flow.from = (guint) (arrivals_draw (draw->seed ^ FROM_SEED, n) * draw->n_ranks);
      flow.to = (flow.from + 1 + (guint) (arrivals_draw (draw->seed ^ TO_SEED, n) * (draw->n_ranks - 1)))
              % draw->n_ranks;
    }
    flow.bytes = draw_size (draw, sizes, flows->len);
    flow.at_ps = at_ps;
    g_array_append_val (flows, flow);
  }
}

/* Replaces the pairs by flows that arrive over time: `flows` of them, or those of `duration`. Stops above MAX_FLOWS. */
static void
draw_arrivals (TrafficDraw *draw, const FlowSizes *sizes, double bytes_per_s)
{
  const TrafficParams *p = draw->params;
  GArray *flows = g_array_new (FALSE, FALSE, sizeof (TrafficPair));
  Arrivals arrivals = { (ArrivalsKind) p->arrivals,
                        1e12 * mean_bytes (draw, sizes) / (p->load_fraction * draw->n_ranks * bytes_per_s),
                        p->sigma, draw->seed };
  FabTimePs at_ps = 0;

  for (guint64 n = 0; flows->len <= MAX_FLOWS; n++) {
    at_ps += arrivals_gap_ps (&arrivals, n);
    if (p->flows > 0 ? flows->len >= p->flows : at_ps > p->duration_ps)
      break;
    add_arrival (draw, sizes, n, at_ps, flows);
  }
  g_array_set_size (draw->pairs, 0);
  g_array_append_vals (draw->pairs, flows->data, flows->len);
  g_array_unref (flows);
}

/* Says what was drawn: in a short time, and where sizes and gaps vary much, that may be far from `load`. */
static void
total_offered (const TrafficDraw *draw, double bytes_per_s, FabJobTotals *totals)
{
  const TrafficParams *p = draw->params;
  double bytes = 0;

  if (draw->pairs->len == 0)
    return;
  totals->offered_ps = p->flows > 0 ? g_array_index (draw->pairs, TrafficPair, draw->pairs->len - 1).at_ps
                                    : (FabTimePs) p->duration_ps;
  for (guint i = 0; i < draw->pairs->len; i++)
    bytes += (double) g_array_index (draw->pairs, TrafficPair, i).bytes
           * (double) (p->connections * p->count);
  if (totals->offered_ps > 0)
    totals->offered_fraction = bytes
                             / (fab_ps_to_seconds (totals->offered_ps) * bytes_per_s
                                * (double) draw->n_ranks);
}

/* Gives every flow its size and its time. FALSE and *error: no way between ranks, from which `load` counts. */
static gboolean
draw_workload (TrafficDraw *draw, const FabCluster *cluster, FabFootprintBuilder *footprints,
               FabJobTotals *totals, GError **error)
{
  const TrafficParams *p = draw->params;
  g_autofree FlowSizePoint *points = NULL;
  FlowSizes listed;
  const FlowSizes *sizes = sizes_of (p, &listed, &points);
  double bytes_per_s = 0;

  if (p->arrivals != ARRIVALS_AT_ONCE) {
    bytes_per_s = rank_bytes_per_s (cluster, footprints, error);
    if (bytes_per_s <= 0)
      return FALSE;
    draw_arrivals (draw, sizes, bytes_per_s);
    total_offered (draw, bytes_per_s, totals);
    return TRUE;
  }
  for (guint i = 0; sizes != NULL && i < draw->pairs->len; i++)
    g_array_index (draw->pairs, TrafficPair, i).bytes = draw_size (draw, sizes, i);
  return TRUE;
}

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
  { .key = "at",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (TrafficPairParams, at_ps),
    .fallback = "0s",
    .help = "Time at which the flow begins, from the start of the iteration." },
  { .key = NULL },
};

static const FabParam size_params[] = {
  { .key = "size",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (TrafficSizeParams, bytes),
    .min = 1,
    .max = 1e18,
    .help = "Bytes of a flow." },
  { .key = "below",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (TrafficSizeParams, below_fraction),
    .max = 1,
    .help = "Share of the flows that are at most so long." },
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
    .fallback = "0B",
    .max = 1e18,
    .is_in_title = TRUE,
    .help = "Bytes of one message; required unless `sizes` gives them." },
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
    .help =
        "random: number of pairs; 0: as many as ranks. With `arrivals`: number of flows that arrive, of any "
        "pattern; 0: those of `duration`." },
  { .key = "sizes",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (TrafficParams, sizes),
    .fallback = "fixed",
    .choices = sizes_names,
    .is_in_title = TRUE,
    .help =
        "Sizes of flows: fixed (`size`), drawn from a published distribution (websearch, hadoop, storage), or "
        "from that of `listed`." },
  { .key = "listed",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (TrafficParams, listed),
    .table = size_params,
    .table_size = sizeof (TrafficSizeParams),
    .help = "sizes: listed: a distribution, sizes in ascending order up to `below: 1`." },
  { .key = "arrivals",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (TrafficParams, arrivals),
    .fallback = "at_once",
    .choices = arrivals_names,
    .is_in_title = TRUE,
    .help =
        "When flows begin: at_once, or over time with exponential (poisson) or log-normal gaps. Each takes one "
        "of the pattern's pairs at random; of an incast all senders begin together." },
  { .key = "load",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (TrafficParams, load_fraction),
    .fallback = "0",
    .max = 1,
    .is_in_title = TRUE,
    .help = "With `arrivals`: bytes that all ranks send, as a share of what their NICs carry." },
  { .key = "burstiness",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (TrafficParams, sigma),
    .fallback = "2",
    .max = 5,
    .help = "arrivals: lognormal: standard deviation of the logarithm of the time between flows." },
  { .key = "duration",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (TrafficParams, duration_ps),
    .fallback = "0s",
    .help = "With `arrivals`: time over which flows arrive; those that began are all played to their end." },
  { .key = "pairs",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (TrafficParams, pairs),
    .table = pair_params,
    .table_size = sizeof (TrafficPairParams),
    .help = "pairs: the list of flows." },
  { .key = NULL },
};

static void
check_listed (const TrafficParams *p, FabCheck *check)
{
  const TrafficSizeParams *rows = (const TrafficSizeParams *) p->listed.data;

  for (guint i = 1; i < p->listed.n; i++)
    if (rows[i].bytes <= rows[i - 1].bytes || rows[i].below_fraction < rows[i - 1].below_fraction)
      fab_check_fail (check, &rows[i].bytes,
                      "sizes and shares of a distribution must ascend; this row is below the "
                      "one before");
  if (p->listed.n > 0 && rows[p->listed.n - 1].below_fraction < 1)
    fab_check_fail (check, &rows[p->listed.n - 1].below_fraction,
                    "the last row must be {size: ..., below: 1}: no flow is longer");
}

/* Whether every flow of a list says its own size. */
static gboolean
has_own_sizes (const TrafficParams *p)
{
  const TrafficPairParams *pairs = (const TrafficPairParams *) p->pairs.data;

  for (guint i = 0; i < p->pairs.n; i++)
    if (pairs[i].bytes == 0)
      return FALSE;
  return p->pattern == TRAFFIC_PAIRS && p->pairs.n > 0;
}

static void
check_sizes (const TrafficParams *p, FabCheck *check)
{
  if (p->sizes == SIZES_FIXED && p->bytes == 0 && !has_own_sizes (p))
    fab_check_fail (check, &p->bytes,
                    "missing key 'size' (bytes of one message); or name a distribution: sizes: websearch");
  if (p->sizes != SIZES_FIXED && p->bytes > 0)
    fab_check_fail (check, &p->bytes,
                    "sizes: %s draws the size of each flow; leave out size, or write sizes: fixed",
                    sizes_names[p->sizes]);
  if ((p->sizes == SIZES_LISTED) != (p->listed.n > 0))
    fab_check_fail (check, &p->listed,
                    p->sizes == SIZES_LISTED
                        ? "listed is empty: give rows, [{size: 10kB, below: 0.5}, {size: 1MB, below: 1}]"
                        : "listed needs sizes: listed");
  check_listed (p, check);
}

static void
check_arrivals (const TrafficParams *p, FabCheck *check)
{
  if (p->arrivals == ARRIVALS_AT_ONCE) {
    if (p->load_fraction > 0 || p->duration_ps > 0)
      fab_check_fail (check, p->load_fraction > 0 ? (gconstpointer) &p->load_fraction : &p->duration_ps,
                      "load and duration need flows over time: arrivals: poisson");
    return;
  }
  if (p->load_fraction <= 0)
    fab_check_fail (check, &p->load_fraction, "arrivals: %s needs a load, such as load: 0.5",
                    arrivals_names[p->arrivals]);
  if ((p->flows > 0) == (p->duration_ps > 0))
    fab_check_fail (
        check, &p->duration_ps,
        "give one of duration, such as 10ms, and flows, such as 10000: flows arrive that long, or until "
        "there are so many");
  if (p->pattern == TRAFFIC_PAIRS)
    for (guint i = 0; i < p->pairs.n; i++) {
      const TrafficPairParams *pair = (const TrafficPairParams *) p->pairs.data + i;

      if (pair->at_ps > 0 || pair->bytes > 0)
        fab_check_fail (check, pair->at_ps > 0 ? (gconstpointer) &pair->at_ps : &pair->bytes,
                        "with arrivals the time and the size of each flow are drawn; leave out at and size");
    }
}

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
  if (p->pattern != TRAFFIC_RANDOM && p->arrivals == ARRIVALS_AT_ONCE && p->flows > 0)
    fab_check_fail (check, &p->flows,
                    "flows needs pattern: random, or arrivals; for more flows per pair see connections");
  check_sizes (p, check);
  check_arrivals (p, check);
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
  guint arrivals;       /* stream of the times between flows; 0 before the first of them */
  FabTimePs at_ps;      /* time of its last task */
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

/* Returns the task with whose end a flow begins. Flows must come in the order of their times. */
static FabTaskId
begin_of (Traffic *self, FabTimePs at_ps)
{
  if (at_ps == 0)
    return self->start;
  if (self->at_ps == 0)
    self->arrivals = fab_dag_builder_stream (self->builder, self->rank_class, "arrivals");
  if (at_ps > self->at_ps) {
    gboolean is_first = self->at_ps == 0;
    FabTaskId task = fab_dag_builder_work (self->builder, self->arrivals, FAB_SPAN_ARRIVAL,
                                           at_ps - self->at_ps, g_strdup ("arrival"));

    if (is_first)
      fab_dag_builder_after (self->builder, task, self->start);
    self->at_ps = at_ps;
  }
  return fab_dag_builder_last (self->builder, self->arrivals);
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
  FabTaskId begin = begin_of (self, pair->at_ps);
  fab_dag_builder_own (self->builder, path, (GDestroyNotify) fab_flow_path_free);
  for (gint64 k = 0; k < self->params->count; k++) {
    guint message = fab_dag_builder_collective (self->builder, &plan, FAB_DIMENSION_OTHER,
                                                g_strdup_printf ("flow%u.%" G_GINT64_FORMAT " %u->%u", flow,
                                                                 k, pair->from, pair->to));
    FabTaskId task = fab_dag_builder_join (self->builder, stream, message);

    if (k == 0)
      fab_dag_builder_after (self->builder, task, begin);
  }
  fab_dag_builder_after (self->builder, self->end, fab_dag_builder_last (self->builder, stream));
  return TRUE;
}

/* Sorts by time, and keeps the order of flows that begin together: g_array_sort does. */
static int
order_by_time (gconstpointer a, gconstpointer b)
{
  const TrafficPair *first = a, *second = b;

  return (first->at_ps > second->at_ps) - (first->at_ps < second->at_ps);
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
  totals->uses_seed = p->pattern == TRAFFIC_RANDOM || p->pattern == TRAFFIC_PERMUTATION
                   || p->sizes != SIZES_FIXED || p->arrivals != ARRIVALS_AT_ONCE;
  traffic_draw (&draw);
  if (!draw_workload (&draw, env->cluster, footprints, totals, error) || !check_amount (&draw, error))
    return FALSE;
  totals->flows = pairs->len * (guint64) p->connections;
  g_array_sort (pairs, order_by_time);
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
            .summary = "Flows between ranks, at once or over time: permutation, incast, random and others.",
            .doc = "docs/models/traffic.md",
            .params = traffic_params,
            .params_size = sizeof (TrafficParams),
            .check = traffic_check },
  .build = traffic_build,
};
