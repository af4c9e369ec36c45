/* SPDX-License-Identifier: Apache-2.0 */
/* flowlet.c - a flow keeps its path as long as it sends; after a pause longer than `gap` it gets another one.
 *
 *   packet         after a pause any shortest path (`random`: LetFlow), or the one whose longest queue is the shortest
 *                  (`emptiest`: CONGA, whose leaves hear of the load of whole paths)
 *   fluid, step    these levels know no pauses: a flow keeps the path that a hash picks, as with ecmp
 *
 * (E. Vanini et al., "Let It Flow: Resilient Asymmetric Load Balancing with Flowlet Switching", NSDI 2017, gap 500 us;
 * M. Alizadeh et al., "CONGA: Distributed Congestion-Aware Load Balancing for Datacenters", SIGCOMM 2014.)
 */
#include "models/models.h"
#include "sim/base/mix.h"
#include "sim/fabric/router.h"

enum { CHOICE_RANDOM, CHOICE_EMPTIEST };

typedef struct {
  FabTimePs gap_ps;
  int choice;
} FlowletParams;

static const char *const choices[] = { "random", "emptiest", NULL };

static const FabParam flowlet_params[] = {
  { .key = "gap",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (FlowletParams, gap_ps),
    .fallback = "500us",
    .max = 1e15,
    .help = "Fidelity packet: a flow takes another path when it has sent nothing for longer than "
            "this." },
  { .key = "choice",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FlowletParams, choice),
    .fallback = "random",
    .choices = choices,
    .help = "Fidelity packet: how a flow chooses its next path. emptiest: the path whose longest "
            "queue is the shortest." },
  { .key = NULL },
};

typedef struct {
  FabRouter base;
  FabMultipath *paths;
  guint64 seed;
  FlowletParams params;
} FlowletRouter;

static gboolean
flowlet_append (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path)
{
  FlowletRouter *self = (FlowletRouter *) router;
  guint64 key = fab_mix (fab_mix (fab_mix (self->seed, src), dst), flow_hash);

  return src == dst || fab_multipath_pick (self->paths, src, dst, key, path);
}

static gboolean
flowlet_choices (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
                 G_GNUC_UNUSED gboolean is_detour, GArray *shares)
{
  return src == dst
      || fab_multipath_spread (((FlowletRouter *) router)->paths, src, dst, FAB_NO_VERTEX, FAB_SPLIT_LINKS, 1,
                               shares);
}

static FabBalance
flowlet_balance (const FabRouter *router)
{
  const FlowletParams *params = &((const FlowletRouter *) router)->params;

  return (FabBalance){ .kind = FAB_BALANCE_FLOWLET,
                       .gap_ps = params->gap_ps,
                       .takes_emptiest = params->choice == CHOICE_EMPTIEST };
}

static FabRouter *
flowlet_create (const FabGraph *graph, gconstpointer params, guint64 seed)
{
  FlowletRouter *self = g_new0 (FlowletRouter, 1);

  self->base.ops = &fab_route_flowlet;
  self->paths = fab_multipath_new (graph);
  self->seed = seed;
  self->params = *(const FlowletParams *) params;
  return &self->base;
}

static gboolean
flowlet_uses_seed (const FabRouter *router)
{
  return fab_multipath_has_choice (((const FlowletRouter *) router)->paths);
}

static void
flowlet_destroy (FabRouter *router)
{
  fab_multipath_free (((FlowletRouter *) router)->paths);
  g_free (router);
}

const FabRouterOps fab_route_flowlet = {
  .info = { .name = "flowlet",
            .summary = "A flow keeps its path, and gets another of the shortest ones after a pause.",
            .doc = "docs/models/flowlet.md",
            .params = flowlet_params,
            .params_size = sizeof (FlowletParams) },
  .is_hashed = TRUE,
  .create = flowlet_create,
  .append = flowlet_append,
  .balance = flowlet_balance,
  .choices = flowlet_choices,
  .uses_seed = flowlet_uses_seed,
  .destroy = flowlet_destroy,
};
