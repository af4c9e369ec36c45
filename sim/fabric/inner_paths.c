/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/inner_paths.h"

/* Beyond it the table of all pairs is too large. */
enum { MOST_VERTICES = 1024 };

typedef enum { NODE_UNSEEN, NODE_ALIKE, NODE_OTHER } NodeState;

struct _FabInnerPaths {
  const FabGraph *graph;
  guint n_nodes, n;    /* n: vertices of a node */
  FabVertexId *firsts; /* [n_nodes] of each node's vertices, which follow one another */
  guint8 *states;      /* [n_nodes] NodeState */
  guint *known;        /* [n * n] 1 + place in `links` of a path, of which the length comes first; 0: none */
  GArray *links;       /* FabLinkId, of node 0 */
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

/* Whether the links that stay inside are those of node 0, in the same places, and only a NIC has others. */
static gboolean
has_same_links (const FabInnerPaths *self, FabVertexId model, FabVertexId vertex)
{
  const FabGraph *graph = self->graph;
  const FabVertex *place = fab_graph_vertex (graph, vertex);
  FabLinkId model_first, first;
  guint n_model = fab_graph_out_links (graph, model, &model_first),
        n = fab_graph_out_links (graph, vertex, &first);

  for (guint i = 0; i < MAX (n, n_model); i++) {
    const FabLink *a = i < n_model ? fab_graph_link (graph, model_first + i) : NULL;
    const FabLink *b = i < n ? fab_graph_link (graph, first + i) : NULL;
    gboolean is_inner = b != NULL && fab_graph_vertex (graph, b->dst)->node == place->node;

    if (is_inner != (a != NULL && fab_graph_vertex (graph, a->dst)->node == 0))
      return FALSE;
    if (!is_inner && place->kind != FAB_VERTEX_NIC)
      return FALSE;
    if (is_inner
        && (a->dst - model != b->dst - vertex || a->rate_bytes_per_s != b->rate_bytes_per_s
            || a->class_index != b->class_index))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_alike (const FabInnerPaths *self, guint node)
{
  FabVertexId first = self->firsts[node], end = first + self->n;
  guint n_vertices = fab_graph_n_vertices (self->graph);

  if (end > n_vertices || (end < n_vertices && fab_graph_vertex (self->graph, end)->node == node))
    return FALSE;
  for (guint i = 0; i < self->n; i++) {
    const FabVertex *a = fab_graph_vertex (self->graph, self->firsts[0] + i),
                    *b = fab_graph_vertex (self->graph, first + i);

    if (b->node != node || a->kind != b->kind || !has_same_links (self, self->firsts[0] + i, first + i))
      return FALSE;
  }
  return TRUE;
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
    self->states[node] = is_alike (self, node) ? NODE_ALIKE : NODE_OTHER;
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
  for (guint i = 0; i < links[-1]; i++) {
    FabVertexId vertex = fab_graph_link (self->graph, links[i])->src;
    FabLinkId first, model_first;

    fab_graph_out_links (self->graph, vertex, &model_first);
    fab_graph_out_links (self->graph, vertex + shift, &first);
    path->links[path->n++] = first + (links[i] - model_first);
  }
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
