/* SPDX-License-Identifier: Apache-2.0 */
/* shortest.c - the path with the fewest links, then the widest, then the lowest id (sim/fabric/path.h).
 *
 * All flows between two ends take the same path. O(neighbourhoods of both ends).
 */
#include "models/models.h"
#include "sim/fabric/path_finder.h"
#include "sim/fabric/router.h"

typedef struct {
  FabRouter base;
  FabPathFinder *finder;
} ShortestRouter;

static gboolean
shortest_append (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
                 FabPath *path)
{
  return fab_path_finder_append (((ShortestRouter *) router)->finder, src, dst, path);
}

static FabRouter *
shortest_create (const FabGraph *graph, G_GNUC_UNUSED gconstpointer params, G_GNUC_UNUSED guint64 seed)
{
  ShortestRouter *self = g_new0 (ShortestRouter, 1);

  self->base.ops = &fab_route_shortest;
  self->finder = fab_path_finder_new (graph);
  return &self->base;
}

static void
shortest_destroy (FabRouter *router)
{
  fab_path_finder_free (((ShortestRouter *) router)->finder);
  g_free (router);
}

const FabRouterOps fab_route_shortest = {
  .info = { .name = "shortest",
            .summary = "One path per pair: the fewest links, then the widest bottleneck.",
            .doc = "docs/models/shortest.md" },
  .create = shortest_create,
  .append = shortest_append,
  .destroy = shortest_destroy,
};
