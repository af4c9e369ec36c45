/* SPDX-License-Identifier: Apache-2.0 */
/* router.h - the interface of routers, which choose the path of a transfer. The routing policies are in
 * models/route. */
#pragma once

#include "sim/base/param.h"
#include "sim/fabric/multipath.h"

typedef struct _FabRouter FabRouter;

typedef struct {
  FabModelInfo info;
  gboolean is_hashed; /* a hash picks the path of a flow, so that flows may meet by chance */
  /* `seed` is that of the scenario: everything random follows it. */
  FabRouter *(*create) (const FabGraph *graph, gconstpointer params, guint64 seed);
  /* Appends a path from src to dst. A policy that spreads flows uses `flow_hash` to tell them apart; equal hashes
 * take equal paths. FALSE: there is no path, and nothing is appended. */
  gboolean (*append) (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path);
  /* Appends the shares of one transfer that is spread over several paths. FALSE: there is no path, and nothing is
   * appended. NULL: all bytes take the path of `append`. */
  gboolean (*spread) (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, GArray *shares);
  /* Whether another seed can choose other paths. It may say TRUE where all seeds choose the same ones. NULL: never. */
  gboolean (*uses_seed) (const FabRouter *router);
  void (*destroy) (FabRouter *router);
} FabRouterOps;

/* The base struct: the first member of every router. */
struct _FabRouter {
  const FabRouterOps *ops;
};

static inline gboolean
fab_router_append (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path)
{
  return router->ops->append (router, src, dst, flow_hash, path);
}

static inline gboolean
fab_router_uses_seed (const FabRouter *router)
{
  return router->ops->uses_seed != NULL && router->ops->uses_seed (router);
}

/* Appends the shares (FabShare) of a transfer; src = dst appends nothing. */
gboolean fab_router_spread (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash,
                            GArray *shares);

/* As fab_router_spread, for a caller that already has the path of this flow. A router that spreads nothing need not
 * search again. */
gboolean fab_router_spread_path (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash,
                                 const FabPath *path, GArray *shares);

static inline void
fab_router_destroy (FabRouter *router)
{
  if (router)
    router->ops->destroy (router);
}
