/* SPDX-License-Identifier: Apache-2.0 */
/* topo_text.c - a node as an indented tree, links across as groups, and the fabric's summary. */
#include <math.h>
#include <string.h>

#include "cli/topo.h"

enum { MAX_PAIRS = 16 };

char *
fab_topo_link_text (const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);
  const char *name = fab_graph_link_class (graph, id)->name;
  double GBps = (double) link->rate_bytes_per_s / 1e9;

  return link->count > 1 ? g_strdup_printf ("%u x %s, %.4g GB/s", link->count, name, GBps)
                         : g_strdup_printf ("%s, %.4g GB/s", name, GBps);
}

static void
print_place (const FabTopology *topology, const FabPlace *place)
{
  const FabGraph *graph = topology->cluster->graph;
  g_autofree char *name = fab_topology_name (topology, place->vertex);

  if (place->up == FAB_NO_LINK) {
    g_print ("%s\n", name);
    return;
  }
  g_autofree char *text = fab_topo_link_text (graph, place->up);
  g_print ("%*s%-*s  %s\n", (int) (2 * place->depth), "", (int) (22 - MIN (2 * place->depth, 16)), name,
           text);
}

/* "gpu" of "gpu3" and of "node0/gpu3". */
static char *
part_of (const char *path)
{
  const char *slash = strchr (path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  gsize length = strlen (name);

  while (length > 1 && g_ascii_isdigit (name[length - 1]))
    length--;
  return g_strndup (name, length);
}

/* Links of the same form between the same two parts. */
typedef struct {
  char *head;
  GString *pairs;
  guint n;
} Group;

static void
clear_group (gpointer data)
{
  Group *group = data;

  g_free (group->head);
  g_string_free (group->pairs, TRUE);
}

static void
add_to_group (GArray *groups, const char *head, const char *from, const char *to)
{
  Group *group = NULL;

  for (guint i = 0; i < groups->len && group == NULL; i++)
    if (strcmp (g_array_index (groups, Group, i).head, head) == 0)
      group = &g_array_index (groups, Group, i);
  if (group == NULL) {
    Group fresh = { g_strdup (head), g_string_new (NULL), 0 };

    g_array_append_val (groups, fresh);
    group = &g_array_index (groups, Group, groups->len - 1);
  }
  if (++group->n <= MAX_PAIRS)
    g_string_append_printf (group->pairs, " %s-%s", from, to);
}

static void
print_across (const FabTopology *topology)
{
  const FabGraph *graph = topology->cluster->graph;
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (Group));

  g_array_set_clear_func (groups, clear_group);
  for (guint i = 0; i < topology->across->len; i++) {
    FabLinkId id = g_array_index (topology->across, FabLinkId, i);
    const FabLink *link = fab_graph_link (graph, id);
    g_autofree char *from = fab_topology_name (topology, link->src);
    g_autofree char *to = fab_topology_name (topology, link->dst);
    g_autofree char *from_part = part_of (from), *to_part = part_of (to);
    g_autofree char *text = fab_topo_link_text (graph, id);
    g_autofree char *head = g_strdup_printf ("%s - %s: %s", from_part, to_part, text);

    add_to_group (groups, head, from, to);
  }
  if (groups->len > 0)
    g_print ("\nacross, each:\n");
  for (guint i = 0; i < groups->len; i++) {
    const Group *group = &g_array_index (groups, Group, i);

    g_print ("  %s\n   %s%s\n", group->head, group->pairs->str, group->n > MAX_PAIRS ? " ..." : "");
    if (group->n > MAX_PAIRS)
      g_print ("    %u in all\n", group->n);
  }
}

static void
clear_tier (gpointer data)
{
  g_free (((FabTier *) data)->name);
}

GArray *
fab_topo_tiers (const FabGraph *graph)
{
  GArray *tiers = g_array_new (FALSE, FALSE, sizeof (FabTier));
  guint32 part = G_MAXUINT32;

  g_array_set_clear_func (tiers, clear_tier);
  for (FabVertexId id = 0; id < fab_graph_n_vertices (graph); id++) {
    const FabVertex *vertex = fab_graph_vertex (graph, id);

    if (vertex->node != FAB_NO_NODE || fab_topology_is_shared (graph, id))
      continue;
    if (tiers->len == 0 || vertex->part != part) {
      g_autofree char *name = fab_graph_vertex_name (graph, id);
      FabTier tier = { part_of (name), 0 };

      g_array_append_val (tiers, tier);
      part = vertex->part;
    }
    g_array_index (tiers, FabTier, tiers->len - 1).n++;
  }
  return tiers;
}

static void
print_fabric (const FabTopoPicture *picture)
{
  const FabCluster *cluster = picture->topology->cluster;
  const FabBisection *bisection = &picture->bisection;
  g_autoptr (GArray) tiers = fab_topo_tiers (cluster->graph);

  g_print ("\nfabric of %u nodes, %u NICs each:", cluster->n_nodes, cluster->nics_per_node);
  for (guint i = 0; i < tiers->len; i++) {
    const FabTier *tier = &g_array_index (tiers, FabTier, i);

    g_print ("%s %u %s", i > 0 ? "," : "", tier->n, tier->name);
  }
  g_print ("\n  injection       %.6g GB/s, all NICs of half the nodes, one direction\n"
           "  bisection       %.6g GB/s, blocks of %u nodes\n"
           "  halves          %.6g GB/s, first half to second\n",
           bisection->injection_bytes_per_s / 1e9, bisection->bisection_bytes_per_s / 1e9,
           bisection->worst_block, bisection->first_half_bytes_per_s / 1e9);
  if (isfinite (bisection->oversubscription))
    g_print ("  oversubscribed  %.4g : 1\n", bisection->oversubscription);
  else
    g_print ("  oversubscribed  without limit: nothing crosses\n");
}

void
fab_topo_print_text (const FabTopoPicture *picture)
{
  const FabTopology *topology = picture->topology;
  const FabCluster *cluster = topology->cluster;

  g_print ("%s: %s\n%u x %s, %u NICs; rates are line rates, one direction\n\n", picture->node->name,
           picture->node->summary ? picture->node->summary : "a node of its own", cluster->gpus_per_node,
           picture->node->accelerator, cluster->nics_per_node);
  for (guint i = 0; i < topology->places->len; i++)
    print_place (topology, &g_array_index (topology->places, FabPlace, i));
  print_across (topology);
  if (cluster->n_nodes > 1)
    print_fabric (picture);
}
