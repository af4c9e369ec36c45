/* SPDX-License-Identifier: Apache-2.0 */
/* multipath.c - finds the links of all shortest paths. Going back from the meeting line of a search to the source
 * gives the vertices that lead to the destination; beyond the line, every link that leads one level nearer to the
 * destination counts. O(neighbourhoods of both ends). Between NICs of two nodes neither one path nor all
 * of them need a search (next_links.h). */
#include "sim/fabric/multipath.h"

#include "sim/base/mix.h"
#include "sim/base/order.h"
#include "sim/fabric/next_links.h"
#include "sim/fabric/search.h"

/* State of a vertex, valid in this search only when its stamp says so. */
typedef struct {
  guint32 useful_stamp; /* the vertex lies before the meeting line on a shortest path */
  guint32 flow_stamp;
  double amount; /* share of the transfer that comes through here */
} Spot;

struct _FabMultipath {
  FabSizeSearch search;
  FabWays *ways; /* NULL: it has not been asked for yet, or there is none */
  gboolean has_asked;
  Spot *spots;
  guint32 flow_stamp;
  GArray *here, *there; /* FabVertexId of one level and of the next, which is empty between levels */
  GArray *links;        /* FabWayOn that lead on from one vertex */
};

FabMultipath *
fab_multipath_new (const FabGraph *graph)
{
  FabMultipath *self = g_new0 (FabMultipath, 1);

  fab_search_init (&self->search, graph);
  self->spots = g_new0 (Spot, fab_graph_n_vertices (graph) + 1);
  self->here = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
  self->there = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
  self->links = g_array_new (FALSE, FALSE, sizeof (FabWayOn));
  return self;
}

void
fab_multipath_free (FabMultipath *self)
{
  if (self == NULL)
    return;
  fab_search_clear (&self->search);
  fab_ways_free (self->ways);
  g_free (self->spots);
  g_array_unref (self->here);
  g_array_unref (self->there);
  g_array_unref (self->links);
  g_free (self);
}

/* --- all shortest paths between two vertices --- */

static void
swap_levels (FabMultipath *self)
{
  GArray *swap = self->here;

  self->here = self->there;
  self->there = swap;
  g_array_set_size (self->there, 0);
}

static void
note_useful (FabMultipath *self, GArray *list, FabVertexId vertex)
{
  if (self->spots[vertex].useful_stamp == self->search.stamp)
    return;
  self->spots[vertex].useful_stamp = self->search.stamp;
  g_array_append_val (list, vertex);
}

/* Whether the search from `side` passed the vertex at this level and may continue from it. */
static gboolean
is_at (const FabMultipath *self, guint side, FabVertexId vertex, guint32 level)
{
  const FabSearchMark *mark = &self->search.sides[side].marks[vertex];

  return mark->stamp == self->search.stamp && mark->level == level
      && (level == 0 || fab_search_is_passable (&self->search, vertex));
}

/* Marks the useful vertices, from the meeting line back to the source. */
static void
mark_useful (FabMultipath *self)
{
  const FabSizeSearch *search = &self->search;
  const GArray *line = search->sides[search->last].frontier;

  g_array_set_size (self->here, 0);
  for (guint i = 0; i < line->len; i++)
    if (fab_search_is_meeting (search, g_array_index (line, FabVertexId, i)))
      note_useful (self, self->here, g_array_index (line, FabVertexId, i));
  for (guint32 level = search->sides[0].level; level-- > 0;) {
    for (guint i = 0; i < self->here->len; i++) {
      FabLinkId first;
      guint n = fab_graph_out_links (search->graph, g_array_index (self->here, FabVertexId, i), &first);

      for (FabLinkId link = first; link < first + n; link++) {
        FabVertexId before = fab_graph_link (search->graph, link)->dst;

        if (is_at (self, 0, before, level))
          note_useful (self, self->there, before);
      }
    }
    swap_levels (self);
  }
}

static gboolean
find (FabMultipath *self, FabVertexId src, FabVertexId dst)
{
  if (!fab_search_run (&self->search, src, dst))
    return FALSE;
  /* Flows between the same ends follow one another. */
  if (self->spots[src].useful_stamp != self->search.stamp)
    mark_useful (self);
  return TRUE;
}

static guint
n_steps (const FabMultipath *self)
{
  return self->search.sides[0].level + self->search.sides[1].level;
}

/* Returns the links that lead on from a vertex `step` links from the source, valid until the next call. */
static FabWaysOn
list_next (FabMultipath *self, FabVertexId vertex, guint step)
{
  guint n_before = self->search.sides[0].level;
  FabLinkId first;
  guint n = fab_graph_out_links (self->search.graph, vertex, &first);
  guint64 n_parallel = 0;

  g_array_set_size (self->links, 0);
  for (FabLinkId id = first; id < first + n; id++) {
    const FabLink *link = fab_graph_link (self->search.graph, id);
    FabVertexId next = link->dst;
    gboolean leads_on = step < n_before ? self->spots[next].useful_stamp == self->search.stamp
                                              && self->search.sides[0].marks[next].level == step + 1
                                        : is_at (self, 1, next, n_steps (self) - step - 1);

    FabWayOn on = { id, link->count, next };

    if (!leads_on)
      continue;
    g_array_append_val (self->links, on);
    n_parallel += on.count;
  }
  g_assert (self->links->len > 0);
  return (FabWaysOn){ (const FabWayOn *) (gconstpointer) self->links->data, self->links->len, n_parallel };
}

/* The links from NIC to NIC, found without a search for each pair; NULL: the graph has none such. */
static FabWays *
find_ways (FabMultipath *self)
{
  if (!self->has_asked)
    self->ways = fab_ways_new (self->search.graph);
  self->has_asked = TRUE;
  return self->ways;
}

static double
weight_of (const FabMultipath *self, const FabWayOn *on, FabSplit split)
{
  return split == FAB_SPLIT_RATES ? (double) fab_graph_link (self->search.graph, on->link)->rate_bytes_per_s
                                  : on->count;
}

/* Divides what reaches `vertex` among the links that lead on. */
static void
divide (FabMultipath *self, FabVertexId vertex, const FabWaysOn *links, FabSplit split, GArray *shares)
{
  double sum = 0;

  for (guint i = 0; i < links->n; i++)
    sum += weight_of (self, &links->links[i], split);
  for (guint i = 0; i < links->n; i++) {
    const FabWayOn *on = &links->links[i];
    FabVertexId next = on->next;
    FabShare share = { on->link, self->spots[vertex].amount * weight_of (self, on, split) / sum };

    if (self->spots[next].flow_stamp != self->flow_stamp) {
      self->spots[next].flow_stamp = self->flow_stamp;
      self->spots[next].amount = 0;
      g_array_append_val (self->there, next);
    }
    self->spots[next].amount += share.fraction;
    g_array_append_val (shares, share);
  }
}

static gboolean
spread_between (FabMultipath *self, FabVertexId src, FabVertexId dst, FabSplit split, double fraction,
                GArray *shares)
{
  FabWays *ways;
  guint n;

  if (src == dst)
    return TRUE;
  ways = find_ways (self);
  if (ways != NULL && !fab_ways_have (ways, src, dst))
    ways = NULL;
  n = ways != NULL ? fab_ways_begin (ways, src, dst) : find (self, src, dst) ? n_steps (self) : G_MAXUINT;
  if (n == G_MAXUINT)
    return FALSE;
  self->flow_stamp++;
  g_array_set_size (self->here, 0);
  g_array_append_val (self->here, src);
  self->spots[src].amount = fraction;
  for (guint step = 0; step < n; step++) {
    for (guint i = 0; i < self->here->len; i++) {
      FabVertexId at = g_array_index (self->here, FabVertexId, i);
      FabWaysOn on = ways != NULL ? fab_ways_on (ways, at, n - step) : list_next (self, at, step);

      divide (self, at, &on, split, shares);
    }
    swap_levels (self);
  }
  return TRUE;
}

/* One hop of a number's way: of the cables to the vertex that was chosen, which one was taken. */
typedef struct {
  guint64 cable, n_cables;
} Hop;

/* What chooses among the links that lead on: a hash of a key, or a number that is divided hop by hop. */
typedef struct {
  guint64 key;
  Hop *hops; /* those done, of a number; NULL: the key is hashed */
  guint n_hops, n_done;
} Chooser;

static gboolean
is_bundle (const FabWaysOn *on)
{
  for (guint i = 1; i < on->n; i++)
    if (on->links[i].next != on->links[0].next)
      return FALSE;
  return on->n_parallel > 1;
}

/* The hop that is as far from the source as the next one is from the destination; NULL: the next one is not beyond the
 * middle, or there was no choice of cables. */
static const Hop *
opposite_hop (const Chooser *self)
{
  const Hop *hop = &self->hops[self->n_hops - 1 - self->n_done];

  return self->n_done > self->n_hops - 1 - self->n_done && hop->n_cables > 1 ? hop : NULL;
}

/* Down a bundle a number takes the cable that it took up: those that came up by different cables of a switch would
 * otherwise meet, since the switches above see nearly the same quotient for all NICs of a leaf. */
static guint64
next_number (Chooser *self, const FabWaysOn *on, FabVertexId vertex)
{
  guint64 number = self->key, n = on->n_parallel;
  const Hop *opposite;

  if (self->hops == NULL)
    return fab_mix (self->key, vertex) % n;
  opposite = opposite_hop (self);
  if (opposite != NULL && is_bundle (on))
    return opposite->cable % n;
  self->key /= n;
  return number % n;
}

static void
note_hop (Chooser *self, const FabWaysOn *on, guint64 drawn, FabVertexId next)
{
  Hop *hop = &self->hops[self->n_done++];
  guint64 n_before = 0;

  *hop = (Hop){ 0, 0 };
  for (guint i = 0; i < on->n; n_before += on->links[i++].count) {
    if (on->links[i].next != next)
      continue;
    if (drawn >= n_before)
      hop->cable += MIN (drawn - n_before, on->links[i].count);
    hop->n_cables += on->links[i].count;
  }
}

/* Returns the link that is chosen; of a hash each is chosen in proportion to its count. */
static const FabWayOn *
choose (const FabWaysOn *on, FabVertexId vertex, Chooser *chooser)
{
  guint64 drawn, left;
  guint i = 0;

  g_assert (on->n_parallel > 0);
  drawn = left = next_number (chooser, on, vertex);
  if (on->n == on->n_parallel)
    i = (guint) drawn;
  else
    for (; left >= on->links[i].count; i++)
      left -= on->links[i].count;
  if (chooser->hops != NULL)
    note_hop (chooser, on, drawn, on->links[i].next);
  return &on->links[i];
}

/* --- the section of a transfer's path that lies in the fabric --- */

static gboolean
is_outside (const FabGraph *graph, FabLinkId link)
{
  return fab_graph_vertex (graph, fab_graph_link (graph, link)->src)->node == FAB_NO_NODE
      || fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node == FAB_NO_NODE;
}

/* Sets [*first, *end) to the links of the path outside nodes; *first = *end when there are none. */
static void
find_section (const FabGraph *graph, const FabPath *path, guint *first, guint *end)
{
  for (*end = path->n; *end > 0 && !is_outside (graph, path->links[*end - 1]);)
    --*end;
  for (*first = 0; *first < *end && !is_outside (graph, path->links[*first]);)
    ++*first;
}

gboolean
fab_multipath_has_choice (const FabMultipath *self)
{
  const FabGraph *graph = self->search.graph;

  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++) {
    FabLinkId first;
    guint n = fab_graph_out_links (graph, v, &first), n_fabric = 0;

    for (FabLinkId link = first; link < first + n; link++)
      n_fabric += fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node == FAB_NO_NODE;
    if (n_fabric > 1)
      return TRUE;
  }
  return FALSE;
}

gboolean
fab_multipath_best (FabMultipath *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  return fab_search_best (&self->search, src, dst, path);
}

/* Between NICs of two nodes, whose path lies outside nodes as a whole. */
static gboolean
pick_over (FabWays *ways, FabVertexId src, FabVertexId dst, Chooser *chooser, FabPath *path)
{
  guint n_left = fab_ways_begin (ways, src, dst);
  FabVertexId at = src;

  if (n_left > FAB_PATH_MAX_LINKS - path->n)
    return FALSE;
  chooser->n_hops = n_left;
  for (; n_left > 0; n_left--) {
    FabWaysOn on = fab_ways_on (ways, at, n_left);
    const FabWayOn *chosen = choose (&on, at, chooser);

    path->links[path->n++] = chosen->link;
    at = chosen->next;
  }
  g_assert (at == dst);
  return TRUE;
}

/* With a search for this pair. */
static gboolean
pick_by_search (FabMultipath *self, FabVertexId src, FabVertexId dst, Chooser *chooser, FabPath *path)
{
  const FabGraph *graph = self->search.graph;
  FabPath best = { 0 };
  guint first, end;

  if (!fab_multipath_best (self, src, dst, &best) || path->n + best.n > FAB_PATH_MAX_LINKS)
    return FALSE;
  find_section (graph, &best, &first, &end);
  if (first < end) {
    FabVertexId at = fab_graph_link (graph, best.links[first])->src;
    gboolean is_found = find (self, at, fab_graph_link (graph, best.links[end - 1])->dst);

    g_assert (is_found && n_steps (self) == end - first);
    chooser->n_hops = end - first;
    for (guint i = first; i < end; i++) {
      FabWaysOn on = list_next (self, at, i - first);
      const FabWayOn *chosen = choose (&on, at, chooser);

      best.links[i] = chosen->link;
      at = chosen->next;
    }
  }
  for (guint i = 0; i < best.n; i++)
    path->links[path->n++] = best.links[i];
  return TRUE;
}

static gboolean
pick (FabMultipath *self, FabVertexId src, FabVertexId dst, Chooser *chooser, FabPath *path)
{
  FabWays *ways = find_ways (self);

  return ways != NULL && fab_ways_have (ways, src, dst) ? pick_over (ways, src, dst, chooser, path)
                                                        : pick_by_search (self, src, dst, chooser, path);
}

gboolean
fab_multipath_pick (FabMultipath *self, FabVertexId src, FabVertexId dst, guint64 key, FabPath *path)
{
  Chooser chooser = { .key = key };

  return pick (self, src, dst, &chooser, path);
}

gboolean
fab_multipath_pick_number (FabMultipath *self, FabVertexId src, FabVertexId dst, guint64 number,
                           FabPath *path)
{
  Hop hops[FAB_PATH_MAX_LINKS];
  Chooser chooser = { .key = number, .hops = hops };

  return pick (self, src, dst, &chooser, path);
}

gboolean
fab_multipath_pick_entropy (FabMultipath *self, FabVertexId src, FabVertexId dst, guint64 key,
                            guint64 entropy, FabPath *path)
{
  guint64 mixed = fab_mix (fab_mix (fab_mix (key, src), dst), entropy);

  return src == dst || fab_multipath_pick (self, src, dst, mixed, path);
}

static void
append_links (const FabPath *path, guint first, guint end, double fraction, GArray *shares)
{
  for (guint i = first; i < end; i++) {
    FabShare share = { path->links[i], fraction };

    g_array_append_val (shares, share);
  }
}

gboolean
fab_multipath_spread (FabMultipath *self, FabVertexId src, FabVertexId dst, FabVertexId via, FabSplit split,
                      double fraction, GArray *shares)
{
  const FabGraph *graph = self->search.graph;
  guint first, end, before = shares->len;
  gboolean is_found = TRUE;
  FabPath best = { 0 };

  if (!fab_multipath_best (self, src, dst, &best))
    return FALSE;
  find_section (graph, &best, &first, &end);
  append_links (&best, 0, first, fraction, shares);
  if (first < end) {
    FabVertexId out = fab_graph_link (graph, best.links[first])->src,
                in = fab_graph_link (graph, best.links[end - 1])->dst;

    is_found = via == FAB_NO_VERTEX ? spread_between (self, out, in, split, fraction, shares)
                                    : spread_between (self, out, via, split, fraction, shares)
                                          && spread_between (self, via, in, split, fraction, shares);
  }
  append_links (&best, end, best.n, fraction, shares);
  if (!is_found)
    g_array_set_size (shares, before);
  return is_found;
}

GArray *
fab_multipath_vias (const FabGraph *graph)
{
  GArray *vias = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++)
    if (fab_graph_vertex (graph, v)->node == FAB_NO_NODE && fab_graph_has_nic (graph, v))
      g_array_append_val (vias, v);
  return vias;
}

gboolean
fab_multipath_spread_vias (FabMultipath *self, FabVertexId src, FabVertexId dst, const GArray *vias,
                           guint64 n_vias, guint64 seed, FabSplit split, double fraction, GArray *shares)
{
  guint64 n = vias->len, start = fab_mix (src + ((seed - 1) << 32), dst);
  double part = fraction / (double) MIN (n, n_vias);

  n_vias = MIN (n, n_vias);
  for (guint64 i = 0; i < n_vias; i++) {
    FabVertexId via = g_array_index (vias, FabVertexId, (start + i * n / n_vias) % n);

    if (!fab_multipath_spread (self, src, dst, via, split, part, shares)
        && !fab_multipath_spread (self, src, dst, FAB_NO_VERTEX, split, part, shares))
      return FALSE;
  }
  return TRUE;
}

void
fab_shares_merge (GArray *shares, guint first)
{
  FabShare *all = (FabShare *) (gpointer) shares->data;
  guint n = first;

  if (shares->len > first)
    qsort (all + first, shares->len - first, sizeof (FabShare),
           fab_order_guints); /* by `link`, which comes first */
  for (guint i = first; i < shares->len; i++) {
    if (n > first && all[n - 1].link == all[i].link)
      all[n - 1].fraction += all[i].fraction;
    else
      all[n++] = all[i];
  }
  g_array_set_size (shares, n);
}
