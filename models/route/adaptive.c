/* SPDX-License-Identifier: Apache-2.0 */
/* adaptive.c - divides traffic as adaptive switches divide steady traffic on an otherwise idle fabric: in proportion
 * to line rates.
 *
 *   minimal      1 - nonminimal of the bytes: over all shortest paths, at every hop in proportion to the rates of the
 *                links that lead on
 *   nonminimal   the rest: evenly over `vias` switches that have NICs, by the shortest paths to each and on from
 * there
 *                (L. Valiant, SIAM J. Computing 11(2), 1982; UGAL decides by queues, here `nonminimal` does)
 *
 * The shares are fixed when a transfer starts: they do not react to other traffic.
 */
#include "models/models.h"
#include "sim/fabric/router.h"

typedef struct {
  double nonminimal_fraction;
  gint64 vias;
} AdaptiveParams;

static const FabParam adaptive_params[] = {
  { .key = "nonminimal",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (AdaptiveParams, nonminimal_fraction),
    .fallback = "0",
    .max = 1,
    .help = "Fraction of the bytes that takes a detour through another switch (non-minimal paths)." },
  { .key = "vias",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (AdaptiveParams, vias),
    .fallback = "16",
    .min = 1,
    .max = 1e4,
    .help = "Number of detour switches for each pair of NICs." },
  { .key = NULL },
};

typedef struct {
  FabRouter base;
  FabMultipath *paths;
  AdaptiveParams params;
  guint64 seed;  /* of the scenario */
  GArray *edges; /* FabVertexId: vertices of the fabric that have NICs */
} AdaptiveRouter;

static gboolean
adaptive_append (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
                 FabPath *path)
{
  return fab_multipath_best (((AdaptiveRouter *) router)->paths, src, dst, path);
}

static gboolean
adaptive_spread (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
                 GArray *shares)
{
  AdaptiveRouter *self = (AdaptiveRouter *) router;
  double nonminimal = self->edges->len > 0 ? self->params.nonminimal_fraction : 0;
  guint first = shares->len;

  if (src == dst)
    return TRUE;
  if ((nonminimal < 1
       && !fab_multipath_spread (self->paths, src, dst, FAB_NO_VERTEX, FAB_SPLIT_RATES, 1 - nonminimal,
                                 shares))
      || (nonminimal > 0
          && !fab_multipath_spread_vias (self->paths, src, dst, self->edges, (guint64) self->params.vias,
                                         self->seed, FAB_SPLIT_RATES, nonminimal, shares))) {
    g_array_set_size (shares, first);
    return FALSE;
  }
  fab_shares_merge (shares, first);
  return TRUE;
}

static FabRouter *
adaptive_create (const FabGraph *graph, gconstpointer params, guint64 seed)
{
  AdaptiveRouter *self = g_new0 (AdaptiveRouter, 1);

  self->base.ops = &fab_route_adaptive;
  self->paths = fab_multipath_new (graph);
  self->params = *(const AdaptiveParams *) params;
  self->seed = seed;
  self->edges = fab_multipath_vias (graph);
  return &self->base;
}

/* The seed chooses the other switches, unless all of them are used. */
static gboolean
adaptive_uses_seed (const FabRouter *router)
{
  const AdaptiveRouter *self = (const AdaptiveRouter *) router;

  return self->params.nonminimal_fraction > 0 && self->params.vias < (gint64) self->edges->len;
}

static void
adaptive_destroy (FabRouter *router)
{
  AdaptiveRouter *self = (AdaptiveRouter *) router;

  fab_multipath_free (self->paths);
  g_array_unref (self->edges);
  g_free (self);
}

const FabRouterOps fab_route_adaptive = {
  .info = { .name = "adaptive",
            .summary = "Spreads over all shortest paths by rate, and sends a fraction on detours.",
            .doc = "docs/models/adaptive.md",
            .params = adaptive_params,
            .params_size = sizeof (AdaptiveParams) },
  .create = adaptive_create,
  .append = adaptive_append,
  .spread = adaptive_spread,
  .uses_seed = adaptive_uses_seed,
  .destroy = adaptive_destroy,
};
