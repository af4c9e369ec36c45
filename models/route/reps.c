/* SPDX-License-Identifier: Apache-2.0 */
/* reps.c - recycled entropies: a sender uses a path again when a packet arrived over it without a mark.
 *
 *   packet         any path, until paths are known; then each path of an unmarked arrival once, in that order. After a
 *                  loss that no switch told of, the paths that are known, for `freeze` (models/net/packet/balance.c)
 *   fluid, step    over all the shortest paths, at every hop in proportion to the rates of the links that lead on
 *
 * (T. Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure Mitigation", arXiv
 * 2407.21625. Eight paths and the length of the freeze: github.com/ultraethernet/uet-htsim, buffer_reps.cpp, read on
 * 2026-11-23.)
 */
#include "models/models.h"
#include "sim/base/mix.h"
#include "sim/fabric/router.h"

typedef struct {
  gboolean is_hashed;
  gint64 n_kept;
  FabTimePs freeze_ps;
} RepsParams;

static const FabParam reps_params[] = {
  { .key = "hashed",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (RepsParams, is_hashed),
    .fallback = "true",
    .help = "Fidelity packet: switches hash a number in the packet (its entropy) to a path, so "
            "some links get more paths; false: paths are spread evenly over links." },
  { .key = "kept",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (RepsParams, n_kept),
    .fallback = "8",
    .min = 1,
    .max = 64,
    .help = "Number of paths that a connection keeps for reuse: those of its last packets that "
            "arrived without a mark." },
  { .key = "freeze",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (RepsParams, freeze_ps),
    .fallback = "10ms",
    .max = 1e15,
    .help = "Time after a loss in which a connection uses only the paths that it keeps; 0ns: "
            "none." },
  { .key = NULL },
};

typedef struct {
  FabRouter base;
  FabMultipath *paths;
  RepsParams params;
  guint64 seed;
} RepsRouter;

static gboolean
reps_append (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
             FabPath *path)
{
  return fab_multipath_best (((RepsRouter *) router)->paths, src, dst, path);
}

static gboolean
reps_spread (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
             GArray *shares)
{
  return src == dst
      || fab_multipath_spread (((RepsRouter *) router)->paths, src, dst, FAB_NO_VERTEX, FAB_SPLIT_RATES, 1,
                               shares);
}

static gboolean
reps_hashed (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, guint64 entropy,
             FabPath *path)
{
  RepsRouter *self = (RepsRouter *) router;

  return fab_multipath_pick_entropy (self->paths, src, dst, fab_mix (self->seed, flow_hash), entropy, path);
}

static gboolean
reps_choices (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
              G_GNUC_UNUSED gboolean is_detour, GArray *shares)
{
  return src == dst
      || fab_multipath_spread (((RepsRouter *) router)->paths, src, dst, FAB_NO_VERTEX, FAB_SPLIT_LINKS, 1,
                               shares);
}

static FabBalance
reps_balance (const FabRouter *router)
{
  const RepsParams *params = &((const RepsRouter *) router)->params;

  return (FabBalance){ .kind = FAB_BALANCE_RECYCLE,
                       .has_entropies = params->is_hashed,
                       .n_kept = (guint) params->n_kept,
                       .frozen_ps = params->freeze_ps };
}

static FabRouter *
reps_create (const FabGraph *graph, gconstpointer params, guint64 seed)
{
  RepsRouter *self = g_new0 (RepsRouter, 1);

  self->base.ops = &fab_route_reps;
  self->paths = fab_multipath_new (graph);
  self->params = *(const RepsParams *) params;
  self->seed = seed;
  return &self->base;
}

static void
reps_destroy (FabRouter *router)
{
  fab_multipath_free (((RepsRouter *) router)->paths);
  g_free (router);
}

const FabRouterOps fab_route_reps = {
  .info = { .name = "reps",
            .summary = "Packets reuse paths over which packets arrived without a congestion mark.",
            .doc = "docs/models/reps.md",
            .params = reps_params,
            .params_size = sizeof (RepsParams) },
  .create = reps_create,
  .append = reps_append,
  .spread = reps_spread,
  .balance = reps_balance,
  .choices = reps_choices,
  .hashed = reps_hashed,
  .destroy = reps_destroy,
};
