/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/reach.h"

#include <string.h>

const char *const fab_reach_names[FAB_N_REACHES + 1] = {
  [FAB_REACH_NONE] = "none", [FAB_REACH_NVL] = "nvl",   [FAB_REACH_PIX] = "pix", [FAB_REACH_PXB] = "pxb",
  [FAB_REACH_PHB] = "phb",   [FAB_REACH_NODE] = "node", [FAB_REACH_SYS] = "sys",
};

gboolean
fab_reach_parse (const char *name, FabReach *reach)
{
  for (guint i = 0; i < FAB_N_REACHES; i++)
    if (strcmp (fab_reach_names[i], name) == 0) {
      *reach = (FabReach) i;
      return TRUE;
    }
  return FALSE;
}

/* What a path passes between its two ends. */
typedef struct {
  guint n_switches, n_bridges, n_hosts;
  gboolean has_bus, is_coherent;
} Passed;

static Passed
count_passed (const FabGraph *graph, const FabPath *path)
{
  Passed passed = { 0 };

  for (guint i = 0; i < path->n; i++) {
    FabVertexKind kind = fab_graph_vertex (graph, fab_graph_link (graph, path->links[i])->dst)->kind;
    int joins = fab_graph_link_class (graph, path->links[i])->technology->joins;

    passed.has_bus = passed.has_bus || joins == FAB_JOINS_DEVICES;
    passed.is_coherent = passed.is_coherent || joins == FAB_JOINS_COHERENTLY;
    if (i + 1 == path->n)
      break;
    passed.n_switches += kind == FAB_VERTEX_SWITCH;
    passed.n_bridges += kind == FAB_VERTEX_BRIDGE;
    passed.n_hosts += kind == FAB_VERTEX_HOST;
  }
  return passed;
}

FabReach
fab_reach_of_path (const FabGraph *graph, const FabPath *path)
{
  Passed passed = count_passed (graph, path);

  if (path->n == 0)
    return FAB_REACH_NONE;
  if (passed.n_hosts > 1)
    return FAB_REACH_SYS;
  if (passed.n_bridges > 1)
    return FAB_REACH_NODE;
  if (passed.n_hosts == 1 && passed.is_coherent)
    return FAB_REACH_PXB;
  if (passed.n_hosts + passed.n_bridges > 0)
    return FAB_REACH_PHB;
  if (!passed.has_bus)
    return FAB_REACH_NVL;
  return passed.n_switches > 1 ? FAB_REACH_PXB : FAB_REACH_PIX;
}

/* Returns what the technologies of a socket's links make of bytes that pass the socket. */
static double
host_stretch (const FabGraph *graph, FabVertexId vertex)
{
  double stretch = 1;
  FabLinkId first;
  guint n = fab_graph_out_links (graph, vertex, &first);

  if (fab_graph_vertex (graph, vertex)->kind != FAB_VERTEX_HOST)
    return 1;
  for (FabLinkId link = first; link < first + n; link++)
    stretch = MAX (stretch, fab_graph_link_class (graph, link)->technology->host_stretch);
  return stretch;
}

double
fab_path_host_stretch (const FabGraph *graph, const FabPath *path)
{
  double stretch = 1;

  for (guint i = 0; i + 1 < path->n; i++)
    stretch = MAX (stretch, host_stretch (graph, fab_graph_link (graph, path->links[i])->dst));
  return stretch;
}

gboolean
fab_path_has_p2p (const FabGraph *graph, const FabPath *path)
{
  for (guint i = 0; i < path->n; i++)
    if (!fab_graph_link_class (graph, path->links[i])->technology->has_p2p)
      return FALSE;
  return TRUE;
}
