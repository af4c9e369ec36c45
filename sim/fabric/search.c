/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/search.h"

#include <string.h>

#include "sim/base/mix.h"
#include "sim/fabric/symmetry.h"

static void inner_paths_free (FabInnerPaths *self);

/* A table of all pairs would be too large for more vertices. */
enum { MOST_VERTICES = 1024 };

typedef enum { NODE_UNSEEN, NODE_RANK_SYMMETRY, NODE_OTHER } NodeState;

struct _FabInnerPaths {
  const FabGraph *graph;
  guint n_nodes, n;    /* n: vertices of node 0 */
  FabVertexId *firsts; /* [n_nodes] first vertex of each node; the others of a symmetric node follow it */
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
  for (FabVertexId v = fab_graph_n_vertices (self->graph); v-- > 0;) {
    guint32 node = fab_graph_vertex (self->graph, v)->node;

    self->n += node == 0;
    if (node != FAB_NO_NODE)
      self->firsts[node] = v;
  }
}

/* Returns NULL when no nodes are symmetric, or when the graph forbids the use of symmetry. */
static FabInnerPaths *
inner_paths_new (const FabGraph *graph)
{
  guint n_nodes = count_nodes (graph);
  FabInnerPaths *self;

  if (n_nodes < 2 || fab_graph_is_unfolded (graph))
    return NULL;
  self = g_new0 (FabInnerPaths, 1);
  self->graph = graph;
  self->n_nodes = n_nodes;
  self->firsts = g_new0 (FabVertexId, n_nodes);
  self->states = g_new0 (guint8, n_nodes);
  self->links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  find_firsts (self);
  if (self->n <= MOST_VERTICES)
    self->known = g_new0 (guint, (gsize) self->n * self->n + 1);
  else
    g_clear_pointer (&self, inner_paths_free);
  return self;
}

/* accepts NULL */
static void
inner_paths_free (FabInnerPaths *self)
{
  if (self == NULL)
    return;
  g_free (self->firsts);
  g_free (self->states);
  g_free (self->known);
  g_array_unref (self->links);
  g_free (self);
}

/* Replaces two vertices of a symmetric node by the same vertices of the representative node; FALSE: they are not in
 * such a node. `self` may be NULL. */
static gboolean
inner_paths_model (FabInnerPaths *self, FabVertexId *src, FabVertexId *dst)
{
  guint32 node;

  if (self == NULL)
    return FALSE;
  node = fab_graph_vertex (self->graph, *src)->node;
  if (node == FAB_NO_NODE || node != fab_graph_vertex (self->graph, *dst)->node)
    return FALSE;
  if (self->states[node] == NODE_UNSEEN)
    self->states[node] = fab_symmetry (self->graph, self->firsts[0], self->firsts[node], self->n)
                           ? NODE_RANK_SYMMETRY
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

/* Appends the path between two vertices of such a node when it is known. FALSE: it is unknown or does not fit. */
static gboolean
inner_paths_append (const FabInnerPaths *self, FabVertexId src, FabVertexId dst, FabPath *path)
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
    path->links[path->n++] = fab_symmetry_link (self->graph, links[i], shift);
  return TRUE;
}

/* Remembers a path found between vertices of the representative node, unless the path leaves the node. */
static void
inner_paths_keep (FabInnerPaths *self, FabVertexId src, FabVertexId dst, const FabPath *path)
{
  for (guint i = 0; i < path->n; i++)
    if (fab_graph_vertex (self->graph, fab_graph_link (self->graph, path->links[i])->dst)->node != 0)
      return;
  g_array_append_val (self->links, path->n);
  *entry (self, src, dst) = self->links->len;
  g_array_append_vals (self->links, path->links, path->n);
}

#define NO_PATH G_MAXUINT

/* Everything on which a search between two NICs depends. */
typedef struct {
  FabBytesPerS out_rate, in_rate; /* rates of the two ports */
  FabVertexId from, to;           /* the vertices to which the ports lead */
  FabVertexId src, dst;           /* the same NICs in the representative node */
  FabLinkId first, last;          /* not part of the key */
} Ends;

/* The only port of a NIC, and the NIC that represents it. */
typedef struct {
  FabVertexId model_1; /* 1 + representative NIC; 0: not examined yet */
  FabLinkId port; /* FAB_NO_LINK: the NIC has no port or several, or its node is not symmetric to any other */
} Port;

struct _FabOuterPaths {
  const FabGraph *graph;
  FabInnerPaths *inner;
  Port *ports; /* [n_vertices] */
  /* from Ends to 1 + index in `links` of the path between the ports, which starts with its length; or to NO_PATH */
  GHashTable *places;
  GArray *links; /* FabLinkId */
};

static guint
ends_hash (gconstpointer key)
{
  const Ends *ends = key;
  guint64 mixed = fab_mix (fab_mix (ends->from, ends->to), (guint64) ends->src << 32 | ends->dst);

  return (guint) (mixed ^ ends->out_rate ^ ends->in_rate);
}

static gboolean
ends_equal (gconstpointer a, gconstpointer b)
{
  const Ends *x = a, *y = b;

  return x->from == y->from && x->to == y->to && x->src == y->src && x->dst == y->dst
      && x->out_rate == y->out_rate && x->in_rate == y->in_rate;
}

/* `inner` must outlive the result. When it is NULL, the result is NULL. */
static FabOuterPaths *
outer_paths_new (const FabGraph *graph, FabInnerPaths *inner)
{
  FabOuterPaths *self;

  if (inner == NULL)
    return NULL;
  self = g_new0 (FabOuterPaths, 1);
  self->graph = graph;
  self->inner = inner;
  self->ports = g_new0 (Port, fab_graph_n_vertices (graph) + 1);
  self->places = g_hash_table_new_full (ends_hash, ends_equal, g_free, NULL);
  self->links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  return self;
}

/* accepts NULL */
static void
outer_paths_free (FabOuterPaths *self)
{
  if (self == NULL)
    return;
  g_free (self->ports);
  g_hash_table_unref (self->places);
  g_array_unref (self->links);
  g_free (self);
}

static Port
look_at (const FabOuterPaths *self, FabVertexId nic)
{
  FabVertexId model = nic, same = nic;
  FabLinkId first, port = FAB_NO_LINK;
  guint n = fab_graph_out_links (self->graph, nic, &first), n_ports = 0;

  if (fab_graph_vertex (self->graph, nic)->kind != FAB_VERTEX_NIC
      || !inner_paths_model (self->inner, &model, &same))
    return (Port){ nic + 1, FAB_NO_LINK };
  for (FabLinkId link = first; link < first + n; link++) {
    guint32 there = fab_graph_vertex (self->graph, fab_graph_link (self->graph, link)->dst)->node;

    if (there == FAB_NO_NODE)
      port = link;
    n_ports += there != fab_graph_vertex (self->graph, nic)->node;
  }
  return (Port){ model + 1, n_ports == 1 ? port : FAB_NO_LINK };
}

static gboolean
find_port (const FabOuterPaths *self, FabVertexId nic, FabLinkId *port, FabVertexId *model)
{
  Port *known = &self->ports[nic];

  if (known->model_1 == 0)
    *known = look_at (self, nic);
  *port = known->port;
  *model = known->model_1 - 1;
  return known->port != FAB_NO_LINK;
}

static gboolean
find_ends (const FabOuterPaths *self, FabVertexId src, FabVertexId dst, Ends *ends)
{
  FabLinkId out_port, in_port;

  memset (ends, 0, sizeof *ends);
  if (fab_graph_vertex (self->graph, src)->node == fab_graph_vertex (self->graph, dst)->node
      || !find_port (self, src, &out_port, &ends->src) || !find_port (self, dst, &in_port, &ends->dst))
    return FALSE;
  const FabLink *out = fab_graph_link (self->graph, out_port), *in = fab_graph_link (self->graph, in_port);
  ends->from = out->dst;
  ends->to = in->dst;
  ends->first = out_port;
  ends->last = in->reverse;
  ends->out_rate = out->rate_bytes_per_s;
  ends->in_rate = fab_graph_link (self->graph, in->reverse)->rate_bytes_per_s;
  return TRUE;
}

/* Appends the path between two such NICs of different nodes when it is known. FALSE: it is unknown, it does not fit, or
 * there is none; *has_none says whether there is none. `self` may be NULL. */
static gboolean
outer_paths_append (FabOuterPaths *self, FabVertexId src, FabVertexId dst, FabPath *path, gboolean *has_none)
{
  Ends ends;

  *has_none = FALSE;
  if (self == NULL || !find_ends (self, src, dst, &ends))
    return FALSE;
  guint at = GPOINTER_TO_UINT (g_hash_table_lookup (self->places, &ends));
  *has_none = at == NO_PATH;
  if (at == 0 || *has_none)
    return FALSE;
  const FabLinkId *links = &g_array_index (self->links, FabLinkId, at);
  if (path->n + links[-1] + 2 > FAB_PATH_MAX_LINKS)
    return FALSE;
  path->links[path->n++] = ends.first;
  memcpy (path->links + path->n, links, links[-1] * sizeof (FabLinkId));
  path->n += links[-1];
  path->links[path->n++] = ends.last;
  return TRUE;
}

/* Offers a path that a search found between any two vertices; it is kept when it can be reused. `self` may be
 * NULL. */
static void
outer_paths_keep (FabOuterPaths *self, FabVertexId src, FabVertexId dst, const FabPath *path)
{
  Ends ends;

  if (self == NULL || !find_ends (self, src, dst, &ends))
    return;
  g_assert (path->links[0] == ends.first && path->links[path->n - 1] == ends.last);
  guint n = path->n - 2;
  g_array_append_val (self->links, n);
  g_hash_table_insert (self->places, g_memdup2 (&ends, sizeof ends), GUINT_TO_POINTER (self->links->len));
  g_array_append_vals (self->links, path->links + 1, n);
}

/* Remembers that a search found no path between these vertices. `self` may be NULL. */
static void
outer_paths_keep_none (FabOuterPaths *self, FabVertexId src, FabVertexId dst)
{
  Ends ends;

  if (self != NULL && find_ends (self, src, dst, &ends))
    g_hash_table_insert (self->places, g_memdup2 (&ends, sizeof ends), GUINT_TO_POINTER (NO_PATH));
}

void
fab_search_init (FabSizeSearch *self, const FabGraph *graph)
{
  *self = (FabSizeSearch){ .graph = graph, .inner = inner_paths_new (graph) };
  self->outer = outer_paths_new (graph, self->inner);
  for (guint i = 0; i < 2; i++) {
    self->sides[i].marks = g_new0 (FabSearchMark, fab_graph_n_vertices (graph) + 1);
    self->sides[i].frontier = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
    self->sides[i].next = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
    self->sides[i].is_forward = i == 0;
  }
}

void
fab_search_clear (FabSizeSearch *self)
{
  outer_paths_free (self->outer);
  inner_paths_free (self->inner);
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
is_way_in (const FabSizeSearch *self, const FabVertex *nic, FabVertexId end)
{
  const FabVertex *place = fab_graph_vertex (self->graph, end);

  return place->node == nic->node && place->kind != FAB_VERTEX_NIC;
}

gboolean
fab_search_is_passable (const FabSizeSearch *self, FabVertexId id)
{
  const FabVertex *vertex = fab_graph_vertex (self->graph, id);

  if (vertex->kind != FAB_VERTEX_NIC)
    return vertex->kind != FAB_VERTEX_ACCELERATOR && vertex->kind != FAB_VERTEX_MEMORY
        && vertex->kind != FAB_VERTEX_STORAGE;
  return !self->stays_inside && (is_way_in (self, vertex, self->src) || is_way_in (self, vertex, self->dst));
}

/* Expands the frontier by one link. Both sides count links in the link's own direction. */
static void
side_expand (const FabSizeSearch *self, FabSearchSide *side)
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
fab_search_is_meeting (const FabSizeSearch *self, FabVertexId vertex)
{
  const FabSearchMark *there = &self->sides[!self->last].marks[vertex];

  return there->stamp == self->stamp && (there->level == 0 || fab_search_is_passable (self, vertex));
}

/* Finds the widest vertex at which the two sides have just met, the lowest id of equals. FALSE: there is none. */
static gboolean
find_meeting (FabSizeSearch *self)
{
  const FabSearchSide *expanded = &self->sides[self->last], *other = &self->sides[!self->last];
  FabBytesPerS best_width = 0; /* 0: none is found; every link has a rate */

  for (guint i = 0; i < expanded->frontier->len; i++) {
    FabVertexId vertex = g_array_index (expanded->frontier, FabVertexId, i);

    if (!fab_search_is_meeting (self, vertex))
      continue;
    FabBytesPerS width = MIN (expanded->marks[vertex].width, other->marks[vertex].width);
    if (width > best_width) {
      best_width = width;
      self->meeting = vertex;
    } else if (width == best_width) {
      self->meeting = MIN (self->meeting, vertex);
    }
  }
  return best_width > 0;
}

static gboolean
search (FabSizeSearch *self, FabVertexId src, FabVertexId dst)
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
fab_search_run (FabSizeSearch *self, FabVertexId src, FabVertexId dst)
{
  guint32 node = fab_graph_vertex (self->graph, src)->node;

  g_assert (src != dst);
  if (src == self->src && dst == self->dst)
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
fab_search_emit (const FabSizeSearch *self, FabPath *path)
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
run_and_emit (FabSizeSearch *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  return fab_search_run (self, src, dst) && fab_search_emit (self, path);
}

/* Finds a path over the fabric. */
static gboolean
find_outside (FabSizeSearch *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  gboolean has_none;
  FabPath found;

  if (outer_paths_append (self->outer, src, dst, path, &has_none))
    return TRUE;
  if (has_none)
    return FALSE;
  if (!fab_search_run (self, src, dst)) {
    outer_paths_keep_none (self->outer, src, dst);
    return FALSE;
  }
  found.n = 0;
  if (!fab_search_emit (self, &found) || path->n + found.n > FAB_PATH_MAX_LINKS)
    return FALSE;
  outer_paths_keep (self->outer, src, dst, &found);
  for (guint i = 0; i < found.n; i++)
    path->links[path->n++] = found.links[i];
  return TRUE;
}

/* Two NICs of one node may have their best path outside, where symmetric nodes differ. */
static gboolean
are_nics (const FabGraph *graph, FabVertexId a, FabVertexId b)
{
  return fab_graph_vertex (graph, a)->kind == FAB_VERTEX_NIC
      && fab_graph_vertex (graph, b)->kind == FAB_VERTEX_NIC;
}

gboolean
fab_search_best (FabSizeSearch *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  FabVertexId model_src = src, model_dst = dst;
  FabPath found;

  if (src == dst)
    return TRUE;
  if (are_nics (self->graph, src, dst) || !inner_paths_model (self->inner, &model_src, &model_dst))
    return find_outside (self, src, dst, path);
  if (inner_paths_append (self->inner, src, dst, path))
    return TRUE;
  found.n = 0;
  if (run_and_emit (self, model_src, model_dst, &found))
    inner_paths_keep (self->inner, model_src, model_dst, &found);
  return inner_paths_append (self->inner, src, dst, path) || run_and_emit (self, src, dst, path);
}
