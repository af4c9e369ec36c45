/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/ref_fluid.h"

#include "tests/support/ref_maxmin.h"

typedef struct {
  double begin_ps, left_bytes;
  guint n;
  FabLinkId links[256];
  double weights[256];
  double share, limit;
  gboolean has_ended;
} RefFlow;

static RefFlow
flow_of_stream (const LoadItem *item)
{
  const FabStream *stream = &item->stream;
  RefFlow flow = { .begin_ps = (double) (item->start_ps + stream->startup_ps),
                   .left_bytes = (double) stream->bytes,
                   .n = stream->footprint->n,
                   .share = stream->share / (stream->footprint->binding_weight * stream->wire_factor),
                   .limit = stream->limit_bytes_per_s };

  g_assert (flow.n <= G_N_ELEMENTS (flow.links));
  for (guint i = 0; i < flow.n; i++) {
    flow.links[i] = stream->footprint->links[i];
    flow.weights[i] = stream->footprint->line_weights[i] * stream->wire_factor;
  }
  return flow;
}

static RefFlow
flow_of_send (const Rig *rig, const LoadItem *item)
{
  const FabTransfer *transfer = &item->transfer;
  RefFlow flow = { .left_bytes = (double) transfer->bytes, .share = 1 };
  FabPath path = { 0 };

  fab_router_append (rig->router, transfer->src, transfer->dst, transfer->flow_hash, &path);
  flow.begin_ps = (double) (item->start_ps + fab_path_latency_ps (rig->graph, &path));
  flow.n = path.n;
  for (guint i = 0; i < path.n; i++) {
    flow.links[i] = path.links[i];
    flow.weights[i] = fab_graph_link_class (rig->graph, path.links[i])->cost[transfer->drive];
  }
  if (path.n == 0)
    flow.left_bytes = 0;
  return flow;
}

static gboolean
is_active (const RefFlow *flow, double now_ps)
{
  return !flow->has_ended && flow->begin_ps <= now_ps;
}

static double
capacity_at (const Rig *rig, FabLinkId link, const GArray *spells, double now_ps)
{
  double capacity = (double) fab_graph_link (rig->graph, link)->rate_bytes_per_s;

  for (guint i = 0; spells != NULL && i < spells->len; i++) {
    const FabSpell *spell = &g_array_index (spells, FabSpell, i);

    if (spell->link == link && (double) spell->at_ps <= now_ps && now_ps < (double) spell->until_ps)
      capacity *= spell->fraction;
  }
  return capacity;
}

/* Rates of the active flows; 0 for the others. */
static void
solve_all (const Rig *rig, const RefFlow *flows, guint n, const GArray *spells, double now_ps, double *rates)
{
  guint n_links = fab_graph_n_links (rig->graph), n_active = 0, n_entries = 0;
  g_autofree double *capacity = g_new (double, n_links);
  g_autofree guint *starts = g_new0 (guint, n + 1), *links = g_new (guint, n * 256);
  g_autofree double *weights = g_new (double, n * 256), *shares = g_new (double, n),
                    *limits = g_new (double, n);
  g_autofree double *solved = g_new (double, n);

  for (guint l = 0; l < n_links; l++)
    capacity[l] = capacity_at (rig, l, spells, now_ps);
  for (guint f = 0; f < n; f++) {
    if (!is_active (&flows[f], now_ps))
      continue;
    for (guint i = 0; i < flows[f].n; i++, n_entries++) {
      links[n_entries] = flows[f].links[i];
      weights[n_entries] = flows[f].weights[i];
    }
    shares[n_active] = flows[f].share;
    limits[n_active] = flows[f].limit;
    starts[++n_active] = n_entries;
  }
  ref_maxmin_solve (
      &(FabMaxminProblem){ n_active, n_links, capacity, starts, links, weights, shares, limits }, solved);
  for (guint f = 0, a = 0; f < n; f++)
    rates[f] = is_active (&flows[f], now_ps) ? solved[a++] : 0;
}

static double
ends_at_ps (const RefFlow *flow, double now_ps, double rate)
{
  return rate > 0 ? now_ps + flow->left_bytes / rate * 1e12 : G_MAXDOUBLE;
}

static double
next_spell_ps (const GArray *spells, double now_ps)
{
  double next_ps = G_MAXDOUBLE;

  for (guint i = 0; spells != NULL && i < spells->len; i++) {
    const FabSpell *spell = &g_array_index (spells, FabSpell, i);

    if ((double) spell->at_ps > now_ps)
      next_ps = MIN (next_ps, (double) spell->at_ps);
    if ((double) spell->until_ps > now_ps)
      next_ps = MIN (next_ps, (double) spell->until_ps);
  }
  return next_ps;
}

/* The next start, end or change of a link after now; G_MAXDOUBLE: nothing is left. */
static double
next_change_ps (const RefFlow *flows, guint n, const GArray *spells, double now_ps, const double *rates)
{
  double next_ps = next_spell_ps (spells, now_ps);

  for (guint f = 0; f < n; f++) {
    if (is_active (&flows[f], now_ps))
      next_ps = MIN (next_ps, ends_at_ps (&flows[f], now_ps, rates[f]));
    else if (!flows[f].has_ended)
      next_ps = MIN (next_ps, flows[f].begin_ps);
  }
  return next_ps;
}

void
ref_fluid_play (const Rig *rig, const LoadItem *items, guint n, const GArray *spells, double *ends_ps)
{
  g_autofree RefFlow *flows = g_new (RefFlow, n);
  g_autofree double *rates = g_new (double, n);
  double now_ps = 0;

  for (guint f = 0; f < n; f++) {
    flows[f] = items[f].stream.footprint ? flow_of_stream (&items[f]) : flow_of_send (rig, &items[f]);
    ends_ps[f] = flows[f].begin_ps;
    flows[f].has_ended = flows[f].left_bytes <= 0;
  }
  for (;;) {
    solve_all (rig, flows, n, spells, now_ps, rates);
    double next_ps = next_change_ps (flows, n, spells, now_ps, rates);

    if (next_ps >= G_MAXDOUBLE)
      return;
    for (guint f = 0; f < n; f++) {
      if (!is_active (&flows[f], now_ps))
        continue;
      gboolean ends = ends_at_ps (&flows[f], now_ps, rates[f]) <= next_ps;

      flows[f].left_bytes -= rates[f] * (next_ps - now_ps) * 1e-12;
      flows[f].has_ended = ends;
      ends_ps[f] = next_ps;
    }
    now_ps = next_ps;
  }
}
