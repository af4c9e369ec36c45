/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/router.h"

gboolean
fab_router_spread_path (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash,
                        const FabPath *path, GArray *shares)
{
  if (router->ops->spread != NULL)
    return router->ops->spread (router, src, dst, flow_hash, shares);
  for (guint i = 0; i < path->n; i++) {
    FabShare share = { path->links[i], 1 };

    g_array_append_val (shares, share);
  }
  return TRUE;
}

gboolean
fab_router_spread (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, GArray *shares)
{
  FabPath path = { 0 };

  return (router->ops->spread != NULL || fab_router_append (router, src, dst, flow_hash, &path))
      && fab_router_spread_path (router, src, dst, flow_hash, &path, shares);
}
