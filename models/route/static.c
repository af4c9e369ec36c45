/* SPDX-License-Identifier: Apache-2.0 */
/* static.c - destination-based routing: the destination alone says which of the shortest paths is taken.
 *
 * The forwarding table of an InfiniBand switch has one port for each destination. Subnet managers give the ports that
 * lead on to the destinations in turn: NICs are numbered switch by switch, and of n ports a switch takes
 *
 *   number mod n,      and the next switch on the way number / n mod the ports that it has
 *
 * Where several cables come down from one switch to the next, the destination has that by which it goes up.
 * (D-mod-K: E. Zahavi, "Fat-tree routing and node ordering providing contention free traffic for MPI global
 * collectives", J. Parallel and Distributed Computing 72(11), 2012; OpenSM's ftree, and its minhop on two tiers.) All
 * flows to a destination share its path. Nothing is random.
 */
#include "models/models.h"
#include "sim/fabric/router.h"

typedef struct {
  FabRouter base;
  FabMultipath *paths;
  const FabGraph *graph;
  guint *numbers; /* of each vertex that is a NIC with a link from the fabric; else 0 */
} StaticRouter;

static gboolean
is_nic_of (const FabGraph *graph, FabVertexId nic, FabVertexId from)
{
  return fab_graph_vertex (graph, nic)->node != FAB_NO_NODE
      && fab_graph_vertex (graph, from)->node == FAB_NO_NODE;
}

/* Switch by switch; a NIC of several switches has the number of the first. */
static guint *
number_nics (const FabGraph *graph)
{
  guint n_vertices = fab_graph_n_vertices (graph), n = 0;
  guint *numbers = g_new0 (guint, n_vertices);
  g_autofree gboolean *is_numbered = g_new0 (gboolean, n_vertices);

  for (FabVertexId v = 0; v < n_vertices; v++) {
    FabLinkId first;
    guint n_links = fab_graph_out_links (graph, v, &first);

    for (FabLinkId link = first; link < first + n_links; link++) {
      FabVertexId to = fab_graph_link (graph, link)->dst;

      if (!is_nic_of (graph, to, v) || is_numbered[to])
        continue;
      is_numbered[to] = TRUE;
      numbers[to] = n++;
    }
  }
  return numbers;
}

/* The NIC by which the best path enters the destination's node; FAB_NO_VERTEX: it stays in a node. */
static FabVertexId
entry_of (const StaticRouter *self, const FabPath *path, guint first)
{
  for (guint i = path->n; i > first; i--) {
    const FabLink *link = fab_graph_link (self->graph, path->links[i - 1]);

    if (is_nic_of (self->graph, link->dst, link->src))
      return link->dst;
  }
  return FAB_NO_VERTEX;
}

static gboolean
static_append (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
               FabPath *path)
{
  StaticRouter *self = (StaticRouter *) router;
  FabPath best = { 0 };
  FabVertexId nic;

  if (src == dst)
    return TRUE;
  if (!fab_multipath_best (self->paths, src, dst, &best))
    return FALSE;
  nic = entry_of (self, &best, 0);
  return fab_multipath_pick_number (self->paths, src, dst, nic != FAB_NO_VERTEX ? self->numbers[nic] : 0,
                                    path);
}

static FabRouter *
static_create (const FabGraph *graph, G_GNUC_UNUSED gconstpointer params, G_GNUC_UNUSED guint64 seed)
{
  StaticRouter *self = g_new0 (StaticRouter, 1);

  self->base.ops = &fab_route_static;
  self->graph = graph;
  self->paths = fab_multipath_new (graph);
  self->numbers = number_nics (graph);
  return &self->base;
}

static void
static_destroy (FabRouter *router)
{
  StaticRouter *self = (StaticRouter *) router;

  fab_multipath_free (self->paths);
  g_free (self->numbers);
  g_free (self);
}

const FabRouterOps fab_route_static = {
  .info = { .name = "static",
            .summary =
                "The destination picks one of the shortest paths, by turns, as InfiniBand's tables do.",
            .doc = "docs/models/static.md" },
  .is_for_nics = TRUE,
  .create = static_create,
  .append = static_append,
  .destroy = static_destroy,
};
