/* SPDX-License-Identifier: Apache-2.0 */
/* topo_dot.c - a machine for Graphviz: the node with a cluster per socket, and the fabric with a rank per row. Every
 * link is an edge with its name. */
#include <string.h>

#include "cli/hardware/cmd_topo.h"

enum { MOST_SHOWN = 4 };

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
print_edge (const FabTopoPicture *picture, FabLinkId id)
{
  const FabTopology *topology = picture->topology;
  const FabLink *link = fab_graph_link (topology->cluster->graph, id);

  if (!fab_topo_is_drawn (picture->units, link->src) || !fab_topo_is_drawn (picture->units, link->dst))
    return;
  g_autofree char *from = quoted_name (topology, link->src), *to = quoted_name (topology, link->dst);
  g_autofree char *text = fab_topo_link_text (topology->cluster->graph, id);
  g_autofree char *label = escaped (text);

  g_print ("  %s -- %s [label=\"%s\"];\n", to, from, label);
}

static void
print_vertices (const FabTopoPicture *picture)
{
  const FabTopology *topology = picture->topology;
  guint n_roots = 0;

  for (guint i = 0; i < topology->places->len; i++) {
    const FabPlace *place = &g_array_index (topology->places, FabPlace, i);

    if (!fab_topo_is_drawn (picture->units, place->vertex))
      continue;
    g_autofree char *name = quoted_name (topology, place->vertex);

    if (place->depth == 0)
      g_print ("%s  subgraph cluster%u {\n", n_roots > 0 ? "  }\n" : "", n_roots);
    if (place->depth == 0 && n_roots == 0 && picture->units->n > 1)
      g_print ("    label=\"the first of %u identical %s\";\n", picture->units->n,
               topology->n_machines > 1 ? "machines" : "trays");
    n_roots += place->depth == 0;
    g_print ("    %s [shape=%s];\n", name,
             shapes[fab_graph_vertex (topology->cluster->graph, place->vertex)->kind]);
  }
  g_print ("  }\n");
}

static void
print_node (const FabTopoPicture *picture)
{
  const FabTopology *topology = picture->topology;

  print_vertices (picture);
  for (guint i = 0; i < topology->places->len; i++) {
    FabLinkId up = g_array_index (topology->places, FabPlace, i).up;

    if (up != FAB_NO_LINK)
      print_edge (picture, up);
  }
  for (guint i = 0; i < topology->across->len; i++)
    print_edge (picture, g_array_index (topology->across, FabLinkId, i));
}

/* --- the fabric --- */

static void
print_fabric_edges (const FabTopoPicture *picture, guint upper, guint lower, GArray *const *shown)
{
  const FabTopoFabric *fabric = picture->fabric;
  const FabTopoRow *above = &g_array_index (fabric->rows, FabTopoRow, upper);
  const FabTopoRow *below = &g_array_index (fabric->rows, FabTopoRow, lower);

  for (guint i = 0; i < shown[upper]->len; i++)
    for (guint k = upper == lower ? i + 1 : 0; k < shown[lower]->len; k++) {
      guint one = g_array_index (shown[upper], guint, i), other = g_array_index (shown[lower], guint, k);
      FabLinkId id = fab_topo_link_between (fabric, upper, one, lower, other);

      if (id == FAB_NO_LINK)
        continue;
      g_autofree char *text = fab_topo_link_text (fabric->cluster->graph, id);
      g_autofree char *label = escaped (text);
      g_print ("    \"fabric %s%u\" -- \"fabric %s%u\" [label=\"%s\"];\n", above->name, one, below->name,
               other, label);
    }
}

static void
print_row (const FabTopoRow *row, const GArray *shown)
{
  g_autofree char *text = fab_topo_row_text (row), *uplinks = fab_topo_uplinks_text (row);
  g_autofree char *whole = uplinks ? g_strdup_printf ("%s; %s", text, uplinks) : g_strdup (text);
  g_autofree char *label = escaped (whole);

  g_print ("    { rank=same;\n      \"row %s\" [shape=plaintext, label=\"%s\"];\n", row->name, label);
  for (guint i = 0; i < shown->len; i++) {
    guint member = g_array_index (shown, guint, i);

    g_print ("      \"fabric %s%u\" [shape=%s, label=\"%s%u\"];\n", row->name, member,
             row->level > 0 ? "diamond" : "box3d", row->name, member);
  }
  g_print ("    }\n");
}

static void
print_fabric (const FabTopoPicture *picture)
{
  const FabTopoFabric *fabric = picture->fabric;
  guint n = fabric->rows->len;
  g_autofree GArray **shown = g_new0 (GArray *, n);
  g_autofree char *kind = escaped (picture->kind);

  g_print ("  subgraph cluster_fabric {\n    label=\"fabric %s, %.4g : 1\";\n", kind,
           picture->bisection.oversubscription);
  for (guint r = 0; r < n; r++) {
    const FabTopoRow *row = &g_array_index (fabric->rows, FabTopoRow, r);

    shown[r] = fab_topo_shown (row, picture->parts.is_whole ? G_MAXUINT : MOST_SHOWN);
    print_row (row, shown[r]);
  }
  for (guint upper = 0; upper < n; upper++)
    for (guint lower = upper; lower < n; lower++)
      print_fabric_edges (picture, upper, lower, shown);
  for (guint r = 0; r + 1 < n; r++)
    g_print ("    \"row %s\" -- \"row %s\" [style=invis];\n",
             g_array_index (fabric->rows, FabTopoRow, r).name,
             g_array_index (fabric->rows, FabTopoRow, r + 1).name);
  g_print ("  }\n");
  for (guint r = 0; r < n; r++)
    g_array_unref (shown[r]);
}

void
fab_topo_print_dot (const FabTopoPicture *picture)
{
  g_autofree char *name = escaped (picture->node->name);

  g_print (
      "graph \"%s\" {\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=9];\n",
      name);
  if (picture->parts.has_node)
    print_node (picture);
  if (picture->fabric != NULL)
    print_fabric (picture);
  g_print ("}\n");
}
