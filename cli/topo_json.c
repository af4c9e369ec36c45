/* SPDX-License-Identifier: Apache-2.0 */
/* topo_json.c - a node as vertices, links and matrix, and the fabric's summary, for programs. */
#include "cli/topo.h"
#include "sim/base/json.h"

static const char *const kind_names[] = { [FAB_VERTEX_ACCELERATOR] = "accelerator",
                                          [FAB_VERTEX_SWITCH] = "switch",
                                          [FAB_VERTEX_NIC] = "nic",
                                          [FAB_VERTEX_HOST] = "host",
                                          [FAB_VERTEX_BRIDGE] = "bridge",
                                          [FAB_VERTEX_MEMORY] = "memory",
                                          [FAB_VERTEX_STORAGE] = "storage" };

static void
add_name (FabJson *json, const char *key, const FabTopology *topology, FabVertexId vertex)
{
  g_autofree char *name = fab_topology_name (topology, vertex);

  fab_json_add_text (json, key, name);
}

static void
add_place (FabJson *json, const FabTopology *topology, const FabPlace *place)
{
  const FabGraph *graph = topology->cluster->graph;
  guint socket = fab_topology_socket_of (topology, place->vertex);

  fab_json_begin_object (json, NULL);
  add_name (json, "name", topology, place->vertex);
  fab_json_add_text (json, "kind", kind_names[fab_graph_vertex (graph, place->vertex)->kind]);
  if (place->up != FAB_NO_LINK)
    add_name (json, "below", topology, fab_graph_link (graph, place->up)->dst);
  if (socket != G_MAXUINT)
    fab_json_add_whole (json, "socket", socket);
  fab_json_end (json);
}

static void
add_link (FabJson *json, const FabTopology *topology, FabLinkId id)
{
  const FabLink *link = fab_graph_link (topology->cluster->graph, id);
  const FabLinkClass *link_class = fab_graph_link_class (topology->cluster->graph, id);

  fab_json_begin_object (json, NULL);
  add_name (json, "from", topology, link->src);
  add_name (json, "to", topology, link->dst);
  fab_json_add_text (json, "link", link_class->name);
  fab_json_add_text (json, "technology", link_class->technology->name);
  fab_json_add_whole (json, "count", link->count);
  fab_json_add_real (json, "rate_GBps", (double) link->rate_bytes_per_s / 1e9);
  fab_json_add_real (json, "latency_ns", (double) link->latency_ps / 1e3);
  fab_json_end (json);
}

static void
add_links (FabJson *json, const FabTopology *topology)
{
  fab_json_begin_array (json, "links");
  for (guint i = 0; i < topology->places->len; i++) {
    FabLinkId up = g_array_index (topology->places, FabPlace, i).up;

    if (up != FAB_NO_LINK)
      add_link (json, topology, up);
  }
  for (guint i = 0; i < topology->across->len; i++)
    add_link (json, topology, g_array_index (topology->across, FabLinkId, i));
  fab_json_end (json);
}

/* GPU rows and columns first, then NICs. */
static void
add_matrix (FabJson *json, const FabTopology *topology)
{
  const FabCluster *cluster = topology->cluster;
  guint n_gpus = cluster->gpus_per_node, n = n_gpus + cluster->nics_per_node;

  fab_json_begin_array (json, "matrix");
  for (guint i = 0; i < n; i++) {
    fab_json_begin_array (json, NULL);
    for (guint j = 0; j < n; j++) {
      g_autofree char *label = fab_topology_label (topology,
                                                   i < n_gpus ? cluster->gpus[i] : cluster->nics[i - n_gpus],
                                                   j < n_gpus ? cluster->gpus[j] : cluster->nics[j - n_gpus]);
      fab_json_add_text (json, NULL, label);
    }
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_fabric (FabJson *json, const FabTopoPicture *picture)
{
  g_autoptr (GArray) tiers = fab_topo_tiers (picture->topology->cluster->graph);

  fab_json_begin_object (json, "fabric");
  fab_json_add_whole (json, "nodes", picture->topology->cluster->n_nodes);
  fab_json_begin_array (json, "tiers");
  for (guint i = 0; i < tiers->len; i++) {
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", g_array_index (tiers, FabTier, i).name);
    fab_json_add_whole (json, "switches", g_array_index (tiers, FabTier, i).n);
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_add_real (json, "injection_GBps", picture->bisection.injection_bytes_per_s / 1e9);
  fab_json_add_real (json, "bisection_GBps", picture->bisection.bisection_bytes_per_s / 1e9);
  fab_json_add_real (json, "halves_GBps", picture->bisection.first_half_bytes_per_s / 1e9);
  fab_json_add_whole (json, "worst_block", picture->bisection.worst_block);
  if (picture->bisection.bisection_bytes_per_s > 0)
    fab_json_add_real (json, "oversubscription", picture->bisection.oversubscription);
  fab_json_end (json);
}

void
fab_topo_print_json (const FabTopoPicture *picture)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  const FabTopology *topology = picture->topology;

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", FAB_VERSION);
  fab_json_add_text (json, "node", picture->node->name);
  fab_json_begin_array (json, "vertices");
  for (guint i = 0; i < topology->places->len; i++)
    add_place (json, topology, &g_array_index (topology->places, FabPlace, i));
  fab_json_end (json);
  add_links (json, topology);
  add_matrix (json, topology);
  if (topology->cluster->n_nodes > 1)
    add_fabric (json, picture);
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  g_print ("%s", text);
}
