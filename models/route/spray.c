/* SPDX-License-Identifier: Apache-2.0 */
/* spray.c - sends packet by packet over all shortest paths: at every hop each link that leads on gets the same share.
 *
 * With `hashed` and packets, senders number their packets and a hash at every switch chooses the link, as with the
 * entropies of Ultra Ethernet: some links get more than others.
 *
 * (A. Dixit et al., "On the impact of packet spraying in data center networks", INFOCOM 2013.) `append` returns the
 * best of these paths, for the latency.
 */
#include "models/models.h"
#include "sim/base/mix.h"
#include "sim/fabric/router.h"

typedef struct {
  gboolean is_hashed;
} SprayParams;

static const FabParam spray_params[] = {
  { .key = "hashed",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (SprayParams, is_hashed),
    .fallback = "false",
    .help = "Fidelity packet: senders number packets, and switches hash the number to a path, so "
            "some paths get more; false: all paths get the same share." },
  { .key = NULL },
};

typedef struct {
  FabRouter base;
  FabMultipath *paths;
  SprayParams params;
  guint64 seed;
} SprayRouter;

static const FabRouterOps spray_by_entropy;

static gboolean
spray_append (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
              FabPath *path)
{
  return fab_multipath_best (((SprayRouter *) router)->paths, src, dst, path);
}

static gboolean
spray_spread (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
              GArray *shares)
{
  return src == dst
      || fab_multipath_spread (((SprayRouter *) router)->paths, src, dst, FAB_NO_VERTEX, FAB_SPLIT_LINKS, 1,
                               shares);
}

static gboolean
spray_hashed (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, guint64 entropy,
              FabPath *path)
{
  SprayRouter *self = (SprayRouter *) router;

  return fab_multipath_pick_entropy (self->paths, src, dst, fab_mix (self->seed, flow_hash), entropy, path);
}

static FabBalance
spray_balance (const FabRouter *router)
{
  return (FabBalance){ .kind = FAB_BALANCE_SHARES,
                       .has_entropies = ((const SprayRouter *) router)->params.is_hashed };
}

static gboolean
spray_uses_seed (const FabRouter *router)
{
  return fab_multipath_has_choice (((const SprayRouter *) router)->paths);
}

static FabRouter *
spray_create (const FabGraph *graph, gconstpointer params, guint64 seed)
{
  SprayRouter *self = g_new0 (SprayRouter, 1);

  self->params = *(const SprayParams *) params;
  self->base.ops = self->params.is_hashed ? &spray_by_entropy : &fab_route_spray;
  self->paths = fab_multipath_new (graph);
  self->seed = seed;
  return &self->base;
}

static void
spray_destroy (FabRouter *router)
{
  fab_multipath_free (((SprayRouter *) router)->paths);
  g_free (router);
}

#define SPRAY_INFO                                                                             \
  {                                                                                            \
    .name = "spray", .summary = "Spreads packets evenly over all shortest paths.",             \
    .doc = "docs/models/spray.md", .params = spray_params, .params_size = sizeof (SprayParams) \
  }

const FabRouterOps fab_route_spray = {
  .info = SPRAY_INFO,
  .create = spray_create,
  .append = spray_append,
  .spread = spray_spread,
  .destroy = spray_destroy,
};

/* The same with hashes of switches. */
static const FabRouterOps spray_by_entropy = {
  .info = SPRAY_INFO,
  .create = spray_create,
  .append = spray_append,
  .spread = spray_spread,
  .balance = spray_balance,
  .hashed = spray_hashed,
  .uses_seed = spray_uses_seed,
  .destroy = spray_destroy,
};
