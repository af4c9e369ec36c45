/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/machine/topology.h"

#include <string.h>

/* The tree while it grows. */
typedef struct {
  const FabGraph *graph;
  guint n;       /* vertices of the graph */
  FabLinkId *up; /* [n] */
  gboolean *is_inside, *is_reached;
} Growth;

static FabVertexKind
kind_of (const FabGraph *graph, FabVertexId vertex)
{
  return fab_graph_vertex (graph, vertex)->kind;
}

/* Sockets hang below nothing; below an accelerator only NICs of its own. */
static gboolean
hangs_below (const FabGraph *graph, FabVertexId upper, FabVertexId lower)
{
  FabVertexKind kind = kind_of (graph, lower);

  switch (kind_of (graph, upper)) {
  case FAB_VERTEX_HOST:
  case FAB_VERTEX_BRIDGE:
  case FAB_VERTEX_SWITCH: return kind != FAB_VERTEX_HOST;
  case FAB_VERTEX_ACCELERATOR: return kind == FAB_VERTEX_NIC;
  case FAB_VERTEX_NIC:
  case FAB_VERTEX_MEMORY:
  case FAB_VERTEX_STORAGE:
  default: return FALSE;
  }
}

gboolean
fab_topology_is_shared (const FabGraph *graph, FabVertexId vertex)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, vertex, &first);

  if (fab_graph_vertex (graph, vertex)->node != FAB_NO_NODE)
    return FALSE;
  for (FabLinkId link = first; link < first + n; link++)
    if (kind_of (graph, fab_graph_link (graph, link)->dst) == FAB_VERTEX_ACCELERATOR)
      return TRUE;
  return FALSE;
}

/* Whether a link leads to what is inside already. */
static gboolean
is_beside_inside (const Growth *growth, FabVertexId vertex)
{
  FabLinkId first;
  guint n = fab_graph_out_links (growth->graph, vertex, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (growth->is_inside[fab_graph_link (growth->graph, link)->dst])
      return TRUE;
  return FALSE;
}

static void
find_inside (Growth *growth, guint n_machines)
{
  for (FabVertexId id = 0; id < growth->n; id++)
    growth->is_inside[id] = fab_graph_vertex (growth->graph, id)->node < n_machines;
  for (FabVertexId id = 0; id < growth->n; id++)
    if (fab_topology_is_shared (growth->graph, id))
      growth->is_inside[id] = is_beside_inside (growth, id);
}

static void
grow_below (Growth *growth, FabVertexId vertex, GArray *queue)
{
  FabLinkId first;
  guint n = fab_graph_out_links (growth->graph, vertex, &first);

  for (FabLinkId link = first; link < first + n; link++) {
    FabVertexId next = fab_graph_link (growth->graph, link)->dst;

    if (!growth->is_inside[next] || growth->is_reached[next] || !hangs_below (growth->graph, vertex, next))
      continue;
    growth->is_reached[next] = TRUE;
    growth->up[next] = fab_graph_link (growth->graph, link)->reverse;
    g_array_append_val (queue, next);
  }
}

/* From all vertices of a kind at once; what an earlier kind has reached stays there. */
static void
grow_from (Growth *growth, FabVertexKind kind)
{
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  for (FabVertexId id = 0; id < growth->n; id++)
    if (growth->is_inside[id] && kind_of (growth->graph, id) == kind) {
      growth->is_reached[id] = TRUE;
      g_array_append_val (queue, id);
    }
  for (guint i = 0; i < queue->len; i++)
    grow_below (growth, g_array_index (queue, FabVertexId, i), queue);
}

static void
list_below (FabTopology *self, const Growth *growth, FabVertexId vertex, guint depth)
{
  FabPlace place = { vertex, growth->up[vertex], depth };
  FabLinkId first;
  guint n = fab_graph_out_links (growth->graph, vertex, &first);

  g_array_append_val (self->places, place);
  for (FabLinkId link = first; link < first + n; link++) {
    FabVertexId next = fab_graph_link (growth->graph, link)->dst;

    if (growth->up[next] == fab_graph_link (growth->graph, link)->reverse)
      list_below (self, growth, next, depth + 1);
  }
}

/* Sockets, or what hangs nowhere. */
static void
list_roots (FabTopology *self, const Growth *growth, gboolean are_hosts)
{
  for (FabVertexId id = 0; id < growth->n; id++)
    if (growth->is_inside[id] && growth->up[id] == FAB_NO_LINK
        && (kind_of (growth->graph, id) == FAB_VERTEX_HOST) == are_hosts)
      list_below (self, growth, id, 0);
}

static void
list_across (FabTopology *self, const Growth *growth)
{
  for (FabLinkId id = 0; id < fab_graph_n_links (growth->graph); id++) {
    const FabLink *link = fab_graph_link (growth->graph, id);

    if (!growth->is_inside[link->src] || !growth->is_inside[link->dst] || link->src > link->dst)
      continue;
    if (growth->up[link->src] != id && growth->up[link->dst] != link->reverse)
      g_array_append_val (self->across, id);
  }
}

FabTopology *
fab_topology_new (const FabCluster *cluster)
{
  FabTopology *self = g_new0 (FabTopology, 1);
  guint n = fab_graph_n_vertices (cluster->graph);
  g_autofree FabLinkId *up = g_new (FabLinkId, n);
  g_autofree gboolean *is_inside = g_new0 (gboolean, n), *is_reached = g_new0 (gboolean, n);
  Growth growth = { cluster->graph, n, up, is_inside, is_reached };

  self->cluster = cluster;
  self->places = g_array_new (FALSE, FALSE, sizeof (FabPlace));
  self->across = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  for (guint i = 0; i < n; i++)
    up[i] = FAB_NO_LINK;
  self->n_machines = 1 + fab_graph_vertex (cluster->graph, cluster->gpus[cluster->gpus_per_node - 1])->node;
  find_inside (&growth, self->n_machines);
  grow_from (&growth, FAB_VERTEX_HOST);
  grow_from (&growth, FAB_VERTEX_ACCELERATOR);
  list_roots (self, &growth, TRUE);
  list_roots (self, &growth, FALSE);
  list_across (self, &growth);
  return self;
}

void
fab_topology_free (FabTopology *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->places);
  g_array_unref (self->across);
  g_free (self);
}

char *
fab_topology_name (const FabTopology *self, FabVertexId vertex)
{
  g_autofree char *name = fab_graph_vertex_name (self->cluster->graph, vertex);
  const char *slash = self->n_machines == 1 ? strchr (name, '/') : NULL;

  return g_strdup (slash != NULL ? slash + 1 : name);
}

static const FabTechnology *
technology_of (const FabGraph *graph, FabLinkId link)
{
  return fab_graph_link_class (graph, link)->technology;
}

/* Links of the technology that leave `from`: to `to`, or to any switch. */
static guint
count_links (const FabGraph *graph, FabVertexId from, FabVertexId to, const FabTechnology *technology)
{
  guint n_direct = 0, n_switched = 0;
  FabLinkId first;
  guint n = fab_graph_out_links (graph, from, &first);

  for (FabLinkId id = first; id < first + n; id++) {
    const FabLink *link = fab_graph_link (graph, id);

    if (technology_of (graph, id) != technology)
      continue;
    n_direct += link->dst == to ? link->count : 0;
    n_switched += kind_of (graph, link->dst) == FAB_VERTEX_SWITCH ? link->count : 0;
  }
  return n_direct > 0 ? n_direct : n_switched;
}

static char *
accelerator_label (const FabGraph *graph, const FabPath *path, FabVertexId a, FabVertexId b)
{
  const FabTechnology *technology = technology_of (graph, path->links[0]);

  if (technology->matrix_label == NULL)
    return g_ascii_strup (technology->name, -1);
  return g_strdup_printf ("%s%u", technology->matrix_label,
                          MIN (count_links (graph, a, b, technology), count_links (graph, b, a, technology)));
}

static gboolean
has_coherent_link (const FabGraph *graph, const FabPath *path)
{
  for (guint i = 0; i < path->n; i++)
    if (technology_of (graph, path->links[i])->joins == FAB_JOINS_COHERENTLY)
      return TRUE;
  return FALSE;
}

static const FabPlace *
place_of (const FabTopology *self, FabVertexId vertex)
{
  for (guint i = 0; i < self->places->len; i++)
    if (g_array_index (self->places, FabPlace, i).vertex == vertex)
      return &g_array_index (self->places, FabPlace, i);
  g_assert_not_reached (); /* every vertex of the node has its place */
}

static void
climb (const FabTopology *self, const FabPlace **place, FabPath *path)
{
  FabLinkId up = (*place)->up;

  path->links[path->n++] = up;
  *place = place_of (self, fab_graph_link (self->cluster->graph, up)->dst);
}

/* Along the tree: NVIDIA's tool looks at PCIe only, and two NICs are near each other over the fabric as well. */
static FabReach
reach_in_tree (const FabTopology *self, FabVertexId a, FabVertexId b, FabPath *path)
{
  const FabGraph *graph = self->cluster->graph;
  const FabPlace *from = place_of (self, a), *to = place_of (self, b);
  FabPath back = { 0 };

  while (from->vertex != to->vertex) {
    gboolean is_from_deeper = from->depth >= to->depth;

    if ((is_from_deeper ? from : to)->up == FAB_NO_LINK)
      return FAB_REACH_SYS;
    if (is_from_deeper)
      climb (self, &from, path);
    else
      climb (self, &to, &back);
  }
  while (back.n > 0)
    path->links[path->n++] = fab_graph_link (graph, back.links[--back.n])->reverse;
  return fab_reach_of_path (graph, path);
}

static gboolean
are_accelerators (const FabGraph *graph, FabVertexId a, FabVertexId b)
{
  return kind_of (graph, a) == FAB_VERTEX_ACCELERATOR && kind_of (graph, b) == FAB_VERTEX_ACCELERATOR;
}

char *
fab_topology_label (const FabTopology *self, FabVertexId a, FabVertexId b)
{
  const FabGraph *graph = self->cluster->graph;
  FabPath path = { 0 };
  FabReach reach;

  if (a == b)
    return g_strdup ("X");
  if (are_accelerators (graph, a, b) && fab_router_append (self->cluster->router, a, b, 0, &path)
      && fab_reach_of_path (graph, &path) == FAB_REACH_NVL)
    return accelerator_label (graph, &path, a, b);
  path.n = 0;
  reach = reach_in_tree (self, a, b, &path);
  if (reach == FAB_REACH_NVL)
    reach = FAB_REACH_PIX; /* a NIC of the accelerator itself */
  if (has_coherent_link (graph, &path))
    reach = FAB_REACH_SYS;
  return g_ascii_strup (fab_reach_names[reach], -1);
}

guint
fab_topology_socket_of (const FabTopology *self, FabVertexId vertex)
{
  const FabGraph *graph = self->cluster->graph;
  guint socket = G_MAXUINT, n_sockets = 0;

  for (guint i = 0; i < self->places->len; i++) {
    const FabPlace *place = &g_array_index (self->places, FabPlace, i);

    if (place->depth == 0)
      socket = kind_of (graph, place->vertex) == FAB_VERTEX_HOST ? n_sockets++ : G_MAXUINT;
    if (place->vertex == vertex)
      return socket;
  }
  return G_MAXUINT;
}
