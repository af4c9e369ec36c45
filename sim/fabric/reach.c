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
  gboolean has_pcie, has_c2c;
} Passed;

static Passed
count_passed (const FabGraph *graph, const FabPath *path)
{
  Passed passed = { 0 };

  for (guint i = 0; i < path->n; i++) {
    FabVertexKind kind = fab_graph_vertex (graph, fab_graph_link (graph, path->links[i])->dst)->kind;
    const FabLinkClass *link_class = fab_graph_link_class (graph, path->links[i]);

    passed.has_pcie = passed.has_pcie || link_class->is_pcie;
    passed.has_c2c = passed.has_c2c || link_class->is_c2c;
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
  if (passed.n_hosts == 1 && passed.has_c2c)
    return FAB_REACH_PXB;
  if (passed.n_hosts + passed.n_bridges > 0)
    return FAB_REACH_PHB;
  if (!passed.has_pcie)
    return FAB_REACH_NVL;
  return passed.n_switches > 1 ? FAB_REACH_PXB : FAB_REACH_PIX;
}

/* Only Intel sockets are joined by these links. */
static gboolean
is_intel_host (const FabGraph *graph, FabVertexId vertex)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, vertex, &first);

  if (fab_graph_vertex (graph, vertex)->kind != FAB_VERTEX_HOST)
    return FALSE;
  for (FabLinkId link = first; link < first + n; link++) {
    const char *technology = fab_graph_link_class (graph, link)->technology;

    if (strcmp (technology, "UPI") == 0 || strcmp (technology, "QPI") == 0)
      return TRUE;
  }
  return FALSE;
}

gboolean
fab_path_passes_intel_host (const FabGraph *graph, const FabPath *path)
{
  for (guint i = 0; i + 1 < path->n; i++)
    if (is_intel_host (graph, fab_graph_link (graph, path->links[i])->dst))
      return TRUE;
  return FALSE;
}
