/* SPDX-License-Identifier: Apache-2.0 */
/* router.h - which path a transfer takes: the interface; the policies are in models/route. */
#pragma once

#include "sim/base/param.h"
#include "sim/fabric/multipath.h"

typedef struct _FabRouter FabRouter;

typedef struct {
  FabModelInfo info;
  FabRouter *(*create) (const FabGraph *graph, gconstpointer params);
  /* Appends a path from src to dst. `flow_hash` tells flows apart where a policy spreads
   * them; equal hashes take equal paths. FALSE: no path, nothing appended. */
  gboolean (*append) (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path);
  /* Appends where the bytes of one transfer go when it is spread over several paths; FALSE: no path, nothing
   * appended. NULL: all of them take the path of `append`. */
  gboolean (*spread) (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, GArray *shares);
  void (*destroy) (FabRouter *router);
} FabRouterOps;

/* Base struct: first member of every router. */
struct _FabRouter {
  const FabRouterOps *ops;
};

static inline gboolean
fab_router_append (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path)
{
  return router->ops->append (router, src, dst, flow_hash, path);
}

/* Shares (FabShare) of a transfer, appended; src = dst appends nothing. */
gboolean fab_router_spread (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash,
                            GArray *shares);

/* The same for who has asked for the path of this flow already: one that spreads nothing is not asked again. */
gboolean fab_router_spread_path (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash,
                                 const FabPath *path, GArray *shares);

static inline void
fab_router_destroy (FabRouter *router)
{
  if (router)
    router->ops->destroy (router);
}
