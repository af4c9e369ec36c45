/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/router.h"

gboolean
fab_router_spread_path (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash,
                        const FabPath *path, GArray *shares)
{
  guint before = shares->len;

  if (router->ops->spread != NULL)
    return router->ops->spread (router, src, dst, flow_hash, shares);
  g_array_set_size (shares, before + path->n);
  for (guint i = 0; i < path->n; i++)
    g_array_index (shares, FabShare, before + i) = (FabShare){ path->links[i], 1 };
  return TRUE;
}

gboolean
fab_router_spread (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, GArray *shares)
{
  FabPath path = { 0 };

  return (router->ops->spread != NULL || fab_router_append (router, src, dst, flow_hash, &path))
      && fab_router_spread_path (router, src, dst, flow_hash, &path, shares);
}
