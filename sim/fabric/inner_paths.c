/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/inner_paths.h"

#include "sim/fabric/twins.h"

/* A table of all pairs would be too large for more vertices. */
enum { MOST_VERTICES = 1024 };

typedef enum { NODE_UNSEEN, NODE_ALIKE, NODE_OTHER } NodeState;

struct _FabInnerPaths {
  const FabGraph *graph;
  guint n_nodes, n;    /* n: vertices per node */
  FabVertexId *firsts; /* [n_nodes] first vertex of each node; the others follow it */
  guint8 *states;      /* [n_nodes] NodeState */
  guint *known;        /* [n * n] 1 + index in `links` of a path, which starts with its length; 0: unknown */
  GArray *links;       /* FabLinkId of node 0 */
};

static guint
count_nodes (const FabGraph *graph)
{
  guint n = 0;

  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++)
    if (fab_graph_vertex (graph, v)->node != FAB_NO_NODE)
      n = MAX (n, fab_graph_vertex (graph, v)->node + 1);
  return n;
}

static void
find_firsts (FabInnerPaths *self)
{
  guint n_vertices = fab_graph_n_vertices (self->graph);

  for (guint node = 0; node < self->n_nodes; node++)
    self->firsts[node] = n_vertices;
  for (FabVertexId v = n_vertices; v-- > 0;)
    if (fab_graph_vertex (self->graph, v)->node != FAB_NO_NODE)
      self->firsts[fab_graph_vertex (self->graph, v)->node] = v;
  while (self->firsts[0] + self->n < n_vertices
         && fab_graph_vertex (self->graph, self->firsts[0] + self->n)->node == 0)
    self->n++;
}

FabInnerPaths *
fab_inner_paths_new (const FabGraph *graph)
{
  guint n_nodes = count_nodes (graph);
  FabInnerPaths *self;

  if (n_nodes < 2 || fab_graph_is_unfolded (graph))
    return NULL;
  self = g_new0 (FabInnerPaths, 1);
  self->graph = graph;
  self->n_nodes = n_nodes;
  self->firsts = g_new (FabVertexId, n_nodes);
  self->states = g_new0 (guint8, n_nodes);
  self->links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  find_firsts (self);
  if (self->n <= MOST_VERTICES)
    self->known = g_new0 (guint, (gsize) self->n * self->n + 1);
  else
    g_clear_pointer (&self, fab_inner_paths_free);
  return self;
}

void
fab_inner_paths_free (FabInnerPaths *self)
{
  if (self == NULL)
    return;
  g_free (self->firsts);
  g_free (self->states);
  g_free (self->known);
  g_array_unref (self->links);
  g_free (self);
}

gboolean
fab_inner_paths_model (FabInnerPaths *self, FabVertexId *src, FabVertexId *dst)
{
  guint32 node;

  if (self == NULL)
    return FALSE;
  node = fab_graph_vertex (self->graph, *src)->node;
  if (node == FAB_NO_NODE || node != fab_graph_vertex (self->graph, *dst)->node)
    return FALSE;
  if (self->states[node] == NODE_UNSEEN)
    self->states[node] = fab_twins (self->graph, self->firsts[0], self->firsts[node], self->n) ? NODE_ALIKE
                                                                                               : NODE_OTHER;
  if (self->states[node] == NODE_OTHER)
    return FALSE;
  *src -= self->firsts[node] - self->firsts[0];
  *dst -= self->firsts[node] - self->firsts[0];
  return TRUE;
}

static guint *
entry (const FabInnerPaths *self, FabVertexId src, FabVertexId dst)
{
  return &self->known[(gsize) (src - self->firsts[0]) * self->n + (dst - self->firsts[0])];
}

gboolean
fab_inner_paths_append (const FabInnerPaths *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  FabVertexId shift = self->firsts[fab_graph_vertex (self->graph, src)->node] - self->firsts[0];
  guint at = *entry (self, src - shift, dst - shift);
  const FabLinkId *links;

  if (at == 0)
    return FALSE;
  links = &g_array_index (self->links, FabLinkId, at);
  if (path->n + links[-1] > FAB_PATH_MAX_LINKS)
    return FALSE;
  for (guint i = 0; i < links[-1]; i++)
    path->links[path->n++] = fab_twins_link (self->graph, links[i], shift);
  return TRUE;
}

void
fab_inner_paths_keep (FabInnerPaths *self, FabVertexId src, FabVertexId dst, const FabPath *path)
{
  for (guint i = 0; i < path->n; i++)
    if (fab_graph_vertex (self->graph, fab_graph_link (self->graph, path->links[i])->dst)->node != 0)
      return;
  g_array_append_val (self->links, path->n);
  *entry (self, src, dst) = self->links->len;
  g_array_append_vals (self->links, path->links, path->n);
}
