/* SPDX-License-Identifier: Apache-2.0 */
/* ecmp.c - equal-cost multipath: at every switch a hash of the flow chooses one of the links that lead on.
 *
 * The hash uses source, destination, flow, switch and a number: `seed` with the scenario's seed 1, and one more for
 * each further seed of the scenario. (RFC 2992 calls this hash-based selection. Every switch has a hash function of
 * its own, so there is no polarisation.) A flow keeps its path; two flows may collide while other links stay empty.
 *
 * With several queue pairs per connection (E-ECMP; NCCL's NCCL_IB_QPS_PER_CONNECTION) each queue pair is a flow of its
 * own, with as many of the connection's bytes as the others: share of a link = its queue pairs / all queue pairs.
 */
#include <math.h>

#include "models/models.h"
#include "sim/base/mix.h"
#include "sim/fabric/router.h"

typedef struct {
  gint64 seed;
  gint64 queue_pairs;
} EcmpParams;

static const FabParam ecmp_params[] = {
  { .key = "seed",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (EcmpParams, seed),
    .fallback = "1",
    .help = "Number of the hash when the scenario's seed is 1; each further seed takes the next hash." },
  { .key = "queue_pairs",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (EcmpParams, queue_pairs),
    .fallback = "1",
    .min = 1,
    .max = 128,
    .help = "Queue pairs of each connection. They share its bytes evenly, and each is hashed separately." },
  { .key = NULL },
};

typedef struct {
  FabRouter base;
  FabMultipath *paths;
  guint64 hash; /* its number */
  guint queue_pairs;
} EcmpRouter;

static const FabRouterOps ecmp_split;

/* The path of one queue pair of a flow. */
static gboolean
pick (EcmpRouter *self, FabVertexId src, FabVertexId dst, guint64 flow_hash, guint queue_pair, FabPath *path)
{
  guint64 key = fab_mix (fab_mix (fab_mix (self->hash, src), dst), flow_hash);

  return src == dst
      || fab_multipath_pick (self->paths, src, dst, queue_pair > 0 ? fab_mix (key, queue_pair) : key, path);
}

static gboolean
ecmp_append (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path)
{
  return pick ((EcmpRouter *) router, src, dst, flow_hash, 0, path);
}

/* Fractions are counts over the queue pairs, not sums of rounded parts. */
static gboolean
ecmp_spread (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, GArray *shares)
{
  EcmpRouter *self = (EcmpRouter *) router;
  guint first = shares->len, n = self->queue_pairs;

  for (guint i = 0; i < n; i++) {
    FabPath path = { 0 };

    if (!pick (self, src, dst, flow_hash, i, &path)) {
      g_array_set_size (shares, first);
      return FALSE;
    }
    for (guint k = 0; k < path.n; k++)
      g_array_append_val (shares, ((FabShare){ path.links[k], 1.0 / n }));
  }
  fab_shares_merge (shares, first);
  for (guint i = first; i < shares->len; i++) {
    FabShare *share = &g_array_index (shares, FabShare, i);

    share->fraction = round (share->fraction * n) / n;
  }
  return TRUE;
}

static FabRouter *
ecmp_create (const FabGraph *graph, gconstpointer params, guint64 seed)
{
  EcmpRouter *self = g_new0 (EcmpRouter, 1);
  const EcmpParams *ecmp = params;

  self->queue_pairs = (guint) ecmp->queue_pairs;
  self->base.ops = self->queue_pairs > 1 ? &ecmp_split : &fab_route_ecmp;
  self->paths = fab_multipath_new (graph);
  self->hash = (guint64) ecmp->seed + seed - 1;
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

#define ECMP_INFO                                                                                    \
  {                                                                                                  \
    .name = "ecmp", .summary = "At each switch a hash of the flow picks one of the shortest paths.", \
    .doc = "docs/models/ecmp.md", .params = ecmp_params, .params_size = sizeof (EcmpParams)          \
  }

const FabRouterOps fab_route_ecmp = {
  .info = ECMP_INFO,
  .is_hashed = TRUE,
  .create = ecmp_create,
  .append = ecmp_append,
  .uses_seed = ecmp_uses_seed,
  .destroy = ecmp_destroy,
};

/* The same for connections of several queue pairs. */
static const FabRouterOps ecmp_split = {
  .info = ECMP_INFO,
  .is_hashed = TRUE,
  .create = ecmp_create,
  .append = ecmp_append,
  .spread = ecmp_spread,
  .uses_seed = ecmp_uses_seed,
  .destroy = ecmp_destroy,
};
