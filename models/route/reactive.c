/* SPDX-License-Identifier: Apache-2.0 */
/* reactive.c - adaptive switches: at every switch a packet leaves the path of its flow where too much waits.
 *
 *   packet         where the flow's hash leads, as long as less than `threshold` waits there; otherwise over the link
 *                  with the least to do. With `detours` also by way of another switch, where the queue counts `factor`
 *                  times: UGAL with the queues of this switch (A. Singh, "Load-balanced routing in interconnection
 *                  networks", PhD thesis, Stanford 2005; J. Kim et al., ISCA 2008)
 *   fluid, step    the shortest paths, at every hop in proportion to the rates of the links that lead on; no detours
 */
#include "models/models.h"
#include "sim/fabric/router.h"

typedef struct {
  FabBytes threshold_bytes;
  double detour_fraction, factor;
  gint64 vias;
} ReactiveParams;

#define ROW(key_, type_, field_, fallback_, help_)                                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (ReactiveParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam reactive_params[] = {
  { ROW ("threshold", BYTES, threshold_bytes, "0B",
         "Fidelity packet: a packet stays on the path of its flow while fewer bytes than this "
         "wait there; 0B: it always takes the shortest queue."),
    .max = 0x1p30 },
  { ROW ("detours", FRACTION, detour_fraction, "0",
         "Fidelity packet: share of detours (through another switch) among the paths to choose"
         " from."),
    .max = 0.9 },
  { ROW ("factor", FACTOR, factor, "2",
         "Fidelity packet: factor on the length of a queue that begins a detour."),
    .min = 1, .max = 1e3 },
  { ROW ("vias", COUNT, vias, "16", "Fidelity packet: number of detour switches for each pair of NICs."),
    .min = 1, .max = 1e4 },
  { .key = NULL },
};

typedef struct {
  FabRouter base;
  FabMultipath *paths;
  ReactiveParams params;
  guint64 seed;  /* of the scenario */
  GArray *edges; /* FabVertexId: vertices of the fabric that have NICs */
} ReactiveRouter;

static gboolean
reactive_append (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
                 FabPath *path)
{
  return fab_multipath_best (((ReactiveRouter *) router)->paths, src, dst, path);
}

static gboolean
reactive_spread (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
                 GArray *shares)
{
  return src == dst
      || fab_multipath_spread (((ReactiveRouter *) router)->paths, src, dst, FAB_NO_VERTEX, FAB_SPLIT_RATES,
                               1, shares);
}

static gboolean
reactive_choices (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
                  gboolean is_detour, GArray *shares)
{
  ReactiveRouter *self = (ReactiveRouter *) router;

  if (src == dst)
    return TRUE;
  if (is_detour && self->edges->len > 0)
    return fab_multipath_spread_vias (self->paths, src, dst, self->edges, (guint64) self->params.vias,
                                      self->seed, FAB_SPLIT_LINKS, 1, shares);
  return fab_multipath_spread (self->paths, src, dst, FAB_NO_VERTEX, FAB_SPLIT_LINKS, 1, shares);
}

static FabBalance
reactive_balance (const FabRouter *router)
{
  const ReactiveParams *params = &((const ReactiveRouter *) router)->params;

  return (FabBalance){ .kind = FAB_BALANCE_QUEUE,
                       .threshold_bytes = params->threshold_bytes,
                       .detour_fraction = params->detour_fraction,
                       .detour_factor = params->factor };
}

static FabRouter *
reactive_create (const FabGraph *graph, gconstpointer params, guint64 seed)
{
  ReactiveRouter *self = g_new0 (ReactiveRouter, 1);

  self->base.ops = &fab_route_reactive;
  self->paths = fab_multipath_new (graph);
  self->params = *(const ReactiveParams *) params;
  self->seed = seed;
  self->edges = fab_multipath_vias (graph);
  return &self->base;
}

/* The seed chooses the other switches, unless all of them are used. */
static gboolean
reactive_uses_seed (const FabRouter *router)
{
  const ReactiveRouter *self = (const ReactiveRouter *) router;

  return self->params.detour_fraction > 0 && self->params.vias < (gint64) self->edges->len;
}

static void
reactive_destroy (FabRouter *router)
{
  ReactiveRouter *self = (ReactiveRouter *) router;

  fab_multipath_free (self->paths);
  g_array_unref (self->edges);
  g_free (self);
}

const FabRouterOps fab_route_reactive = {
  .info = { .name = "reactive",
            .summary = "At every switch packets leave their flow's path for the shortest queue.",
            .doc = "docs/models/reactive.md",
            .params = reactive_params,
            .params_size = sizeof (ReactiveParams) },
  .create = reactive_create,
  .append = reactive_append,
  .spread = reactive_spread,
  .balance = reactive_balance,
  .choices = reactive_choices,
  .uses_seed = reactive_uses_seed,
  .destroy = reactive_destroy,
};
