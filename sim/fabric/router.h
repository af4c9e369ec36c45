/* SPDX-License-Identifier: Apache-2.0 */
/* router.h - the interface of routers, which choose the path of a transfer. The routing policies are in
 * models/route. */
#pragma once

#include "sim/base/param.h"
#include "sim/fabric/multipath.h"

typedef struct _FabRouter FabRouter;

/* Who chooses among the paths of a transfer, packet by packet. */
typedef enum {
  FAB_BALANCE_SHARES,  /* nobody: they are used in turn, by their shares */
  FAB_BALANCE_FLOWLET, /* a flow keeps its path, and gets another one after a pause */
  FAB_BALANCE_RECYCLE, /* the sender uses paths again whose packets arrived without a mark */
  FAB_BALANCE_QUEUE,   /* every switch, by its queues */
} FabBalanceKind;

typedef struct {
  FabBalanceKind kind;
  gboolean has_entropies;   /* paths are those of `hashed` */
  FabTimePs gap_ps;         /* flowlet: a longer pause ends one */
  gboolean takes_emptiest;  /* flowlet: the path with the shortest queue, else any */
  guint n_kept;             /* recycle: paths that a sender knows */
  FabTimePs frozen_ps;      /* recycle: how long it only uses these after a loss */
  FabBytes threshold_bytes; /* queue: a longer one is left */
  double detour_fraction;   /* queue: of the paths, those by way of other switches */
  double detour_factor;     /* queue: how many times as long the queue counts there */
} FabBalance;

typedef struct {
  FabModelInfo info;
  gboolean is_hashed; /* a hash picks the path of a flow, so that flows may meet by chance */
  gboolean
      is_for_nics; /* it knows the destinations by their NICs, so that a path to a switch says nothing of them */
  /* `seed` is that of the scenario: everything random follows it. */
  FabRouter *(*create) (const FabGraph *graph, gconstpointer params, guint64 seed);
  /* Appends a path from src to dst. A policy that spreads flows uses `flow_hash` to tell them apart; equal hashes
 * take equal paths. FALSE: there is no path, and nothing is appended. */
  gboolean (*append) (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path);
  /* Appends the shares of one transfer that is spread over several paths. FALSE: there is no path, and nothing is
   * appended. NULL: all bytes take the path of `append`. */
  gboolean (*spread) (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, GArray *shares);
  /* How a network that moves packets divides them among paths. Other networks see `append` and `spread` only, and a
   * transfer may be done sooner than its shares allow. NULL: by the shares. */
  FabBalance (*balance) (const FabRouter *router);
  /* As spread: the paths among which to choose, where these are others than those of spread; the detours by way of
   * other switches, or those without. NULL: the paths of spread, without detours. */
  gboolean (*choices) (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash,
                       gboolean is_detour, GArray *shares);
  /* Appends the path that the hashes of switches give to packets of a flow with this entropy, from which a network of
   * packets makes the paths of a transfer. NULL: it deals out paths by the shares of choices. */
  gboolean (*hashed) (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, guint64 entropy,
                      FabPath *path);
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

static inline FabBalance
fab_router_balance (const FabRouter *router)
{
  return router->ops->balance != NULL ? router->ops->balance (router)
                                      : (FabBalance){ .kind = FAB_BALANCE_SHARES };
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
