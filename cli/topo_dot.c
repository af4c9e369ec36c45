/* SPDX-License-Identifier: Apache-2.0 */
/* topo_dot.c - a node for Graphviz: a cluster per socket, every link an edge with its name. */
#include "cli/topo.h"

static const char *const shapes[] = {
  [FAB_VERTEX_ACCELERATOR] = "box", [FAB_VERTEX_SWITCH] = "diamond", [FAB_VERTEX_NIC] = "house",
  [FAB_VERTEX_HOST] = "octagon",    [FAB_VERTEX_BRIDGE] = "ellipse", [FAB_VERTEX_MEMORY] = "note",
  [FAB_VERTEX_STORAGE] = "cylinder"
};

static char *
escaped (const char *text)
{
  GString *out = g_string_new (text);

  g_string_replace (out, "\\", "\\\\", 0);
  g_string_replace (out, "\"", "\\\"", 0);
  return g_string_free (out, FALSE);
}

static char *
quoted_name (const FabTopology *topology, FabVertexId vertex)
{
  g_autofree char *name = fab_topology_name (topology, vertex);
  g_autofree char *text = escaped (name);

  return g_strdup_printf ("\"%s\"", text);
}

static void
print_edge (const FabTopology *topology, FabLinkId id)
{
  const FabLink *link = fab_graph_link (topology->cluster->graph, id);
  g_autofree char *from = quoted_name (topology, link->src), *to = quoted_name (topology, link->dst);
  g_autofree char *text = fab_topo_link_text (topology->cluster->graph, id);
  g_autofree char *label = escaped (text);

  g_print ("  %s -- %s [label=\"%s\"];\n", to, from, label);
}

static void
print_vertices (const FabTopology *topology)
{
  guint n_roots = 0;

  for (guint i = 0; i < topology->places->len; i++) {
    const FabPlace *place = &g_array_index (topology->places, FabPlace, i);
    g_autofree char *name = quoted_name (topology, place->vertex);

    if (place->depth == 0)
      g_print ("%s  subgraph cluster%u {\n", n_roots > 0 ? "  }\n" : "", n_roots);
    n_roots += place->depth == 0;
    g_print ("    %s [shape=%s];\n", name,
             shapes[fab_graph_vertex (topology->cluster->graph, place->vertex)->kind]);
  }
  g_print ("  }\n");
}

void
fab_topo_print_dot (const FabTopoPicture *picture)
{
  const FabTopology *topology = picture->topology;
  g_autofree char *name = escaped (picture->node->name);

  g_print (
      "graph \"%s\" {\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=9];\n",
      name);
  print_vertices (topology);
  for (guint i = 0; i < topology->places->len; i++) {
    FabLinkId up = g_array_index (topology->places, FabPlace, i).up;

    if (up != FAB_NO_LINK)
      print_edge (topology, up);
  }
  for (guint i = 0; i < topology->across->len; i++)
    print_edge (topology, g_array_index (topology->across, FabLinkId, i));
  g_print ("}\n");
}
