/* SPDX-License-Identifier: Apache-2.0 */
/* ecmp.c - equal-cost multipath: at every switch a hash of the flow chooses one of the links that lead on.
 *
 * The hash uses source, destination, flow, switch and a number: `seed` with the scenario's seed 1, and one more for
 * each further seed of the scenario. (RFC 2992 calls this hash-based selection. Every switch has a hash function of
 * its own, so there is no polarisation.) A flow keeps its path; two flows may collide while other links stay empty.
 */
#include "models/models.h"
#include "sim/base/mix.h"
#include "sim/fabric/router.h"

typedef struct {
  gint64 seed;
} EcmpParams;

static const FabParam ecmp_params[] = {
  { .key = "seed",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (EcmpParams, seed),
    .fallback = "1",
    .help = "Number of the hash with the scenario's seed 1; each further seed takes the next one." },
  { .key = NULL },
};

typedef struct {
  FabRouter base;
  FabMultipath *paths;
  guint64 hash; /* its number */
} EcmpRouter;

static gboolean
ecmp_append (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path)
{
  EcmpRouter *self = (EcmpRouter *) router;
  guint64 key = fab_mix (fab_mix (fab_mix (self->hash, src), dst), flow_hash);

  return src == dst || fab_multipath_pick (self->paths, src, dst, key, path);
}

static FabRouter *
ecmp_create (const FabGraph *graph, gconstpointer params, guint64 seed)
{
  EcmpRouter *self = g_new0 (EcmpRouter, 1);

  self->base.ops = &fab_route_ecmp;
  self->paths = fab_multipath_new (graph);
  self->hash = (guint64) ((const EcmpParams *) params)->seed + seed - 1;
  return &self->base;
}

static gboolean
ecmp_uses_seed (const FabRouter *router)
{
  return fab_multipath_has_choice (((const EcmpRouter *) router)->paths);
}

static void
ecmp_destroy (FabRouter *router)
{
  fab_multipath_free (((EcmpRouter *) router)->paths);
  g_free (router);
}

const FabRouterOps fab_route_ecmp = {
  .info = { .name = "ecmp",
            .summary = "A hash of the flow picks one of the shortest paths, switch by switch.",
            .doc = "docs/models/ecmp.md",
            .params = ecmp_params,
            .params_size = sizeof (EcmpParams) },
  .is_hashed = TRUE,
  .create = ecmp_create,
  .append = ecmp_append,
  .uses_seed = ecmp_uses_seed,
  .destroy = ecmp_destroy,
};
