/* SPDX-License-Identifier: Apache-2.0 */
/* spray.c - sends packet by packet over all shortest paths: at every hop each link that leads on gets the same share.
 *
 * (A. Dixit et al., "On the impact of packet spraying in data center networks", INFOCOM 2013.) `append` returns the
 * best of these paths, for the latency.
 */
#include "models/models.h"
#include "sim/fabric/router.h"

typedef struct {
  FabRouter base;
  FabMultipath *paths;
} SprayRouter;

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

static FabRouter *
spray_create (const FabGraph *graph, G_GNUC_UNUSED gconstpointer params, G_GNUC_UNUSED guint64 seed)
{
  SprayRouter *self = g_new0 (SprayRouter, 1);

  self->base.ops = &fab_route_spray;
  self->paths = fab_multipath_new (graph);
  return &self->base;
}

static void
spray_destroy (FabRouter *router)
{
  fab_multipath_free (((SprayRouter *) router)->paths);
  g_free (router);
}

const FabRouterOps fab_route_spray = {
  .info = { .name = "spray",
            .summary = "Packets go over all the shortest paths, the same on every link that leads on.",
            .doc = "docs/models/spray.md" },
  .create = spray_create,
  .append = spray_append,
  .spread = spray_spread,
  .destroy = spray_destroy,
};
