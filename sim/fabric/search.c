/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/search.h"

void
fab_search_init (FabSearch *self, const FabGraph *graph)
{
  *self = (FabSearch){ .graph = graph, .inner = fab_inner_paths_new (graph) };
  self->outer = fab_outer_paths_new (graph, self->inner);
  for (guint i = 0; i < 2; i++) {
    self->sides[i].marks = g_new0 (FabSearchMark, fab_graph_n_vertices (graph) + 1);
    self->sides[i].frontier = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
    self->sides[i].next = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
    self->sides[i].is_forward = i == 0;
  }
}

void
fab_search_clear (FabSearch *self)
{
  fab_outer_paths_free (self->outer);
  fab_inner_paths_free (self->inner);
  for (guint i = 0; i < 2; i++) {
    g_free (self->sides[i].marks);
    g_array_unref (self->sides[i].frontier);
    g_array_unref (self->sides[i].next);
  }
}

static void
side_count_links (FabSearchSide *side, const FabGraph *graph)
{
  FabLinkId first;

  side->n_links = 0;
  for (guint i = 0; i < side->frontier->len; i++)
    side->n_links += fab_graph_out_links (graph, g_array_index (side->frontier, FabVertexId, i), &first);
}

static void
side_start (FabSearchSide *side, const FabGraph *graph, FabVertexId root, guint32 stamp)
{
  side->level = 0;
  side->marks[root] = (FabSearchMark){ stamp, 0, G_MAXUINT64, FAB_NO_LINK };
  g_array_set_size (side->frontier, 0);
  g_array_append_val (side->frontier, root);
  side_count_links (side, graph);
}

static void
side_reach (FabSearchSide *side, FabVertexId vertex, FabSearchMark found)
{
  FabSearchMark *mark = &side->marks[vertex];

  if (mark->stamp != found.stamp) {
    *mark = found;
    g_array_append_val (side->next, vertex);
  } else if (mark->level == found.level && found.width > mark->width) {
    *mark = found;
  }
}

/* Whether a path from or to `end` may use this NIC to leave or enter the node of `end`. */
static gboolean
is_way_in (const FabSearch *self, const FabVertex *nic, FabVertexId end)
{
  const FabVertex *place = fab_graph_vertex (self->graph, end);

  return place->node == nic->node && place->kind != FAB_VERTEX_NIC;
}

gboolean
fab_search_is_passable (const FabSearch *self, FabVertexId id)
{
  const FabVertex *vertex = fab_graph_vertex (self->graph, id);

  if (vertex->kind != FAB_VERTEX_NIC)
    return vertex->kind != FAB_VERTEX_ACCELERATOR && vertex->kind != FAB_VERTEX_MEMORY
        && vertex->kind != FAB_VERTEX_STORAGE;
  return !self->stays_inside && (is_way_in (self, vertex, self->src) || is_way_in (self, vertex, self->dst));
}

/* Expands the frontier by one link. Both sides count links in the link's own direction. */
static void
side_expand (const FabSearch *self, FabSearchSide *side)
{
  const FabGraph *graph = self->graph;

  g_array_set_size (side->next, 0);
  for (guint i = 0; i < side->frontier->len; i++) {
    FabVertexId vertex = g_array_index (side->frontier, FabVertexId, i);
    FabLinkId first;
    guint n = fab_graph_out_links (graph, vertex, &first);

    if (side->level > 0 && !fab_search_is_passable (self, vertex))
      continue;
    for (FabLinkId out = first; out < first + n; out++) {
      const FabLink *link = fab_graph_link (graph, out);
      FabLinkId used = side->is_forward ? out : link->reverse;
      FabBytesPerS width = MIN (side->marks[vertex].width, fab_graph_link (graph, used)->rate_bytes_per_s);

      side_reach (side, link->dst, (FabSearchMark){ self->stamp, side->level + 1, width, used });
    }
  }
  GArray *swap = side->frontier;
  side->frontier = side->next;
  side->next = swap;
  side->level++;
  side_count_links (side, graph);
}

gboolean
fab_search_is_meeting (const FabSearch *self, FabVertexId vertex)
{
  const FabSearchMark *there = &self->sides[!self->last].marks[vertex];

  return there->stamp == self->stamp && (there->level == 0 || fab_search_is_passable (self, vertex));
}

/* Finds the widest vertex at which the two sides have just met, the lowest id of equals. FALSE: there is none. */
static gboolean
find_meeting (FabSearch *self)
{
  const FabSearchSide *expanded = &self->sides[self->last], *other = &self->sides[!self->last];
  gboolean is_found = FALSE;
  FabBytesPerS best_width = 0;

  for (guint i = 0; i < expanded->frontier->len; i++) {
    FabVertexId vertex = g_array_index (expanded->frontier, FabVertexId, i);

    if (!fab_search_is_meeting (self, vertex))
      continue;
    FabBytesPerS width = MIN (expanded->marks[vertex].width, other->marks[vertex].width);
    if (!is_found || width > best_width || (width == best_width && vertex < self->meeting)) {
      is_found = TRUE;
      best_width = width;
      self->meeting = vertex;
    }
  }
  return is_found;
}

static gboolean
search (FabSearch *self, FabVertexId src, FabVertexId dst)
{
  self->stamp++;
  self->src = src;
  self->dst = dst;
  side_start (&self->sides[0], self->graph, src, self->stamp);
  side_start (&self->sides[1], self->graph, dst, self->stamp);
  for (;;) {
    self->last = self->sides[1].n_links < self->sides[0].n_links;
    FabSearchSide *side = &self->sides[self->last];

    if (side->frontier->len == 0)
      return FALSE;
    side_expand (self, side);
    if (find_meeting (self))
      return TRUE;
  }
}

gboolean
fab_search_run (FabSearch *self, FabVertexId src, FabVertexId dst)
{
  guint32 node = fab_graph_vertex (self->graph, src)->node;

  g_assert (src != dst);
  if (self->stamp > 0 && src == self->src && dst == self->dst)
    return self->is_found;
  self->stays_inside = node != FAB_NO_NODE && node == fab_graph_vertex (self->graph, dst)->node;
  self->is_found = search (self, src, dst);
  if (!self->is_found && self->stays_inside) {
    self->stays_inside = FALSE; /* the parts of this node are connected outside only */
    self->is_found = search (self, src, dst);
  }
  return self->is_found;
}

gboolean
fab_search_emit (const FabSearch *self, FabPath *path)
{
  const FabSearchSide *forward = &self->sides[0], *backward = &self->sides[1];
  guint n_before = forward->marks[self->meeting].level;
  guint n = n_before + backward->marks[self->meeting].level;
  FabVertexId vertex = self->meeting;

  if (path->n + n > FAB_PATH_MAX_LINKS)
    return FALSE;
  for (guint i = n_before; i-- > 0;) {
    path->links[path->n + i] = forward->marks[vertex].link;
    vertex = fab_graph_link (self->graph, forward->marks[vertex].link)->src;
  }
  vertex = self->meeting;
  for (guint i = n_before; i < n; i++) {
    path->links[path->n + i] = backward->marks[vertex].link;
    vertex = fab_graph_link (self->graph, backward->marks[vertex].link)->dst;
  }
  path->n += n;
  return TRUE;
}

static gboolean
run_and_emit (FabSearch *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  return fab_search_run (self, src, dst) && fab_search_emit (self, path);
}

/* Finds a path over the fabric. */
static gboolean
find_outside (FabSearch *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  FabPath found;

  if (fab_outer_paths_append (self->outer, src, dst, path))
    return TRUE;
  found.n = 0;
  if (!run_and_emit (self, src, dst, &found) || path->n + found.n > FAB_PATH_MAX_LINKS)
    return FALSE;
  fab_outer_paths_keep (self->outer, src, dst, &found);
  for (guint i = 0; i < found.n; i++)
    path->links[path->n++] = found.links[i];
  return TRUE;
}

gboolean
fab_search_best (FabSearch *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  FabVertexId model_src = src, model_dst = dst;
  FabPath found;

  if (src == dst)
    return TRUE;
  if (!fab_inner_paths_model (self->inner, &model_src, &model_dst))
    return find_outside (self, src, dst, path);
  if (fab_inner_paths_append (self->inner, src, dst, path))
    return TRUE;
  found.n = 0;
  if (run_and_emit (self, model_src, model_dst, &found))
    fab_inner_paths_keep (self->inner, model_src, model_dst, &found);
  return fab_inner_paths_append (self->inner, src, dst, path) || run_and_emit (self, src, dst, path);
}
