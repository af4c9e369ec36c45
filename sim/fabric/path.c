/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/path.h"

/* What one side knows of a vertex; of this search only when `stamp` says so. */
typedef struct {
  guint32 stamp;
  guint32 level;
  FabBytesPerS width; /* widest bottleneck over the shortest paths to here */
  FabLinkId link;     /* towards the side's root */
} Mark;

typedef struct {
  Mark *marks;
  GArray *frontier; /* FabVertexId */
  GArray *next;
  guint64 n_links; /* that leave the frontier: the work of expanding it */
  guint32 level;
  gboolean is_forward;
} Side;

struct _FabPathFinder {
  const FabGraph *graph;
  Side sides[2];
  guint32 stamp;
  FabVertexId src, dst;  /* of this search */
  gboolean stays_inside; /* both ends are in one node: no detour through its NICs */
};

FabPathFinder *
fab_path_finder_new (const FabGraph *graph)
{
  FabPathFinder *self = g_new0 (FabPathFinder, 1);

  self->graph = graph;
  for (guint i = 0; i < 2; i++) {
    self->sides[i].marks = g_new0 (Mark, fab_graph_n_vertices (graph) + 1);
    self->sides[i].frontier = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
    self->sides[i].next = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
    self->sides[i].is_forward = i == 0;
  }
  return self;
}

void
fab_path_finder_free (FabPathFinder *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < 2; i++) {
    g_free (self->sides[i].marks);
    g_array_unref (self->sides[i].frontier);
    g_array_unref (self->sides[i].next);
  }
  g_free (self);
}

static void
side_count_links (Side *side, const FabGraph *graph)
{
  FabLinkId first;

  side->n_links = 0;
  for (guint i = 0; i < side->frontier->len; i++)
    side->n_links += fab_graph_out_links (graph, g_array_index (side->frontier, FabVertexId, i), &first);
}

static void
side_start (Side *side, const FabGraph *graph, FabVertexId root, guint32 stamp)
{
  side->level = 0;
  side->marks[root] = (Mark){ stamp, 0, G_MAXUINT64, FAB_NO_LINK };
  g_array_set_size (side->frontier, 0);
  g_array_append_val (side->frontier, root);
  side_count_links (side, graph);
}

static void
side_reach (Side *side, FabVertexId vertex, Mark found)
{
  Mark *mark = &side->marks[vertex];

  if (mark->stamp != found.stamp) {
    *mark = found;
    g_array_append_val (side->next, vertex);
  } else if (mark->level == found.level && found.width > mark->width) {
    *mark = found;
  }
}

/* A NIC is the way out of and into its own node, for what begins or ends inside. */
static gboolean
is_way_in (const FabPathFinder *self, const FabVertex *nic, FabVertexId end)
{
  const FabVertex *place = fab_graph_vertex (self->graph, end);

  return place->node == nic->node && place->kind != FAB_VERTEX_NIC;
}

/* Whether a path may go on through this vertex. */
static gboolean
is_passable (const FabPathFinder *self, FabVertexId id)
{
  const FabVertex *vertex = fab_graph_vertex (self->graph, id);

  if (vertex->kind != FAB_VERTEX_NIC)
    return vertex->kind != FAB_VERTEX_ACCELERATOR;
  return !self->stays_inside && (is_way_in (self, vertex, self->src) || is_way_in (self, vertex, self->dst));
}

/* Reaches everything one link further; links count in their own direction on both sides. */
static void
side_expand (const FabPathFinder *self, Side *side)
{
  const FabGraph *graph = self->graph;

  g_array_set_size (side->next, 0);
  for (guint i = 0; i < side->frontier->len; i++) {
    FabVertexId vertex = g_array_index (side->frontier, FabVertexId, i);
    FabLinkId first;
    guint n = fab_graph_out_links (graph, vertex, &first);

    if (side->level > 0 && !is_passable (self, vertex))
      continue;
    for (FabLinkId out = first; out < first + n; out++) {
      const FabLink *link = fab_graph_link (graph, out);
      FabLinkId used = side->is_forward ? out : link->reverse;
      FabBytesPerS width = MIN (side->marks[vertex].width, fab_graph_link (graph, used)->rate_bytes_per_s);

      side_reach (side, link->dst, (Mark){ self->stamp, side->level + 1, width, used });
    }
  }
  GArray *swap = side->frontier;
  side->frontier = side->next;
  side->next = swap;
  side->level++;
  side_count_links (side, graph);
}

/* The best vertex that both sides have just reached; FALSE when there is none. */
static gboolean
find_meeting (const FabPathFinder *self, const Side *expanded, const Side *other, FabVertexId *best)
{
  gboolean is_found = FALSE;
  FabBytesPerS best_width = 0;

  for (guint i = 0; i < expanded->frontier->len; i++) {
    FabVertexId vertex = g_array_index (expanded->frontier, FabVertexId, i);
    const Mark *there = &other->marks[vertex];

    if (there->stamp != self->stamp)
      continue;
    if (there->level > 0 && !is_passable (self, vertex))
      continue;
    FabBytesPerS width = MIN (expanded->marks[vertex].width, there->width);
    if (!is_found || width > best_width || (width == best_width && vertex < *best)) {
      is_found = TRUE;
      best_width = width;
      *best = vertex;
    }
  }
  return is_found;
}

static gboolean
emit (const FabPathFinder *self, FabVertexId meeting, FabPath *path)
{
  const Side *forward = &self->sides[0], *backward = &self->sides[1];
  guint n_before = forward->marks[meeting].level;
  guint n = n_before + backward->marks[meeting].level;
  FabVertexId vertex = meeting;

  if (path->n + n > FAB_PATH_MAX_LINKS)
    return FALSE;
  for (guint i = n_before; i-- > 0;) {
    path->links[path->n + i] = forward->marks[vertex].link;
    vertex = fab_graph_link (self->graph, forward->marks[vertex].link)->src;
  }
  vertex = meeting;
  for (guint i = n_before; i < n; i++) {
    path->links[path->n + i] = backward->marks[vertex].link;
    vertex = fab_graph_link (self->graph, backward->marks[vertex].link)->dst;
  }
  path->n += n;
  return TRUE;
}

static gboolean
search (FabPathFinder *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  FabVertexId meeting = 0;

  self->stamp++;
  self->src = src;
  self->dst = dst;
  side_start (&self->sides[0], self->graph, src, self->stamp);
  side_start (&self->sides[1], self->graph, dst, self->stamp);
  for (;;) {
    Side *side = &self->sides[self->sides[1].n_links < self->sides[0].n_links];

    if (side->frontier->len == 0)
      return FALSE;
    side_expand (self, side);
    if (find_meeting (self, side, &self->sides[side->is_forward], &meeting))
      return emit (self, meeting, path);
  }
}

gboolean
fab_path_finder_append (FabPathFinder *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  guint32 node = fab_graph_vertex (self->graph, src)->node;

  if (src == dst)
    return TRUE;
  self->stays_inside = node != FAB_NO_NODE && node == fab_graph_vertex (self->graph, dst)->node;
  if (search (self, src, dst, path))
    return TRUE;
  if (!self->stays_inside)
    return FALSE;
  self->stays_inside = FALSE; /* a node whose parts meet outside only */
  return search (self, src, dst, path);
}

FabTimePs
fab_path_latency_ps (const FabGraph *graph, const FabPath *path)
{
  FabTimePs total_ps = 0;

  for (guint i = 0; i < path->n; i++)
    total_ps = fab_ps_add (total_ps, fab_graph_link (graph, path->links[i])->latency_ps);
  return total_ps;
}

double
fab_path_rate_bytes_per_s (const FabGraph *graph, const FabPath *path, FabDrive drive)
{
  double rate = G_MAXDOUBLE;

  for (guint i = 0; i < path->n; i++) {
    double line = (double) fab_graph_link (graph, path->links[i])->rate_bytes_per_s;

    rate = MIN (rate, line / fab_graph_link_class (graph, path->links[i])->cost[drive]);
  }
  return rate;
}
