/* SPDX-License-Identifier: Apache-2.0 */
/* deadlock_free_lanes.c - chooses the virtual lane that a path takes on each of its links, so that buffers never
 * wait for each other in a cycle (deadlock-free lanes).
 *
 * A packet that occupies one lane and needs room in the next makes the first lane wait for the second. Lossless links
 * stop for ever when such waits form a cycle (W. Dally, C. Seitz, IEEE Trans. Computers C-36(5), 1987). A path stays
 * on its level as long as its new waits close no cycle; otherwise it continues one level higher. Levels only rise
 * along a path, so a cycle would have to lie within one level. This is how tori and dragonflies run on InfiniBand (T.
 * Skeie et al., "LASH", IPDPS 2002; J. Domke et al., "Deadlock-free oblivious routing for arbitrary topologies",
 * IPDPS 2011), where a whole path has one level. Memory breaks the chain: it accepts whatever arrives.
 *
 * On paths up a tree and down again, ranks rise from link to link, so there is no cycle and no search. O(lanes) for a
 * new wait that does not rise.
 */
#include "models/net/packet/parts.h"

typedef struct {
  guint32 to, next;
} Edge;

struct _Waits {
  guint32 *ranks; /* per link */
  GArray *edges;  /* Edge */
  GArray *firsts; /* guint32 per lane: its first edge, or NONE */
  GArray *seen;   /* guint32 per lane: number of the last search that visited it */
  GArray *stack;  /* guint32 */
  guint32 n_searches;
  gboolean has_falls; /* some path continues to a lower rank */
};

/* --- ranks --- */

/* Computes the links from the nearest memory to each vertex, and returns the largest number. */
static guint32
find_heights (const FabGraph *graph, guint32 *heights)
{
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
  guint32 most = 0;

  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++) {
    heights[v] = packet_is_memory (graph, v) ? 0 : NONE;
    if (heights[v] == 0)
      g_array_append_val (queue, v);
  }
  for (guint i = 0; i < queue->len; i++) {
    FabVertexId v = g_array_index (queue, FabVertexId, i);
    FabLinkId first;
    guint n = fab_graph_out_links (graph, v, &first);

    most = MAX (most, heights[v]);
    for (FabLinkId link = first; link < first + n; link++) {
      FabVertexId to = fab_graph_link (graph, link)->dst;

      if (heights[to] != NONE)
        continue;
      heights[to] = heights[v] + 1;
      g_array_append_val (queue, to);
    }
  }
  return most;
}

/* Ranks ascend in the order up, level, down. */
static guint32
rank_of (guint32 from, guint32 to, guint32 most)
{
  if (from == to)
    return 2 * from + 1;
  return to > from ? 2 * from + 2 : 4 * most + 4 - 2 * from;
}

void
packet_deadlock_free_init (PacketNet *self)
{
  const FabGraph *graph = self->base.env.graph;
  guint n_links = fab_graph_n_links (graph);
  g_autofree guint32 *heights = g_new (guint32, fab_graph_n_vertices (graph) + 1);
  guint32 most = find_heights (graph, heights), none = NONE, zero = 0;
  struct _Waits *waits = g_new0 (struct _Waits, 1);

  waits->ranks = g_new (guint32, n_links + 1);
  waits->edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  waits->firsts = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n_links + 1);
  waits->seen = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n_links + 1);
  waits->stack = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 i = 0; i < n_links; i++) {
    const FabLink *link = fab_graph_link (graph, i);

    waits->ranks[i] = rank_of (heights[link->src], heights[link->dst], most);
    g_array_append_val (waits->firsts, none);
    g_array_append_val (waits->seen, zero);
  }
  self->waits = waits;
}

void
packet_deadlock_free_clear (PacketNet *self)
{
  g_free (self->waits->ranks);
  g_array_unref (self->waits->edges);
  g_array_unref (self->waits->firsts);
  g_array_unref (self->waits->seen);
  g_array_unref (self->waits->stack);
  g_free (self->waits);
}

/* --- waits --- */

static gboolean
has_edge (const struct _Waits *self, guint32 from, guint32 to)
{
  for (guint32 e = g_array_index (self->firsts, guint32, from); e != NONE;
       e = g_array_index (self->edges, Edge, e).next)
    if (g_array_index (self->edges, Edge, e).to == to)
      return TRUE;
  return FALSE;
}

static void
add_edge (struct _Waits *self, guint32 from, guint32 to)
{
  guint32 *first = &g_array_index (self->firsts, guint32, from);
  Edge edge = { to, *first };

  *first = self->edges->len;
  g_array_append_val (self->edges, edge);
}

static gboolean
push_new (struct _Waits *self, guint32 lane)
{
  guint32 *seen = &g_array_index (self->seen, guint32, lane);
  gboolean is_new = *seen != self->n_searches;

  *seen = self->n_searches;
  if (is_new)
    g_array_append_val (self->stack, lane);
  return is_new;
}

/* Whether `from` waits for `to`, directly or through others. */
static gboolean
waits_for (struct _Waits *self, guint32 from, guint32 to)
{
  self->n_searches++;
  g_array_set_size (self->stack, 0);
  push_new (self, from);
  while (self->stack->len > 0) {
    guint32 lane = g_array_index (self->stack, guint32, self->stack->len - 1);

    if (lane == to)
      return TRUE;
    g_array_set_size (self->stack, self->stack->len - 1);
    for (guint32 e = g_array_index (self->firsts, guint32, lane); e != NONE;
         e = g_array_index (self->edges, Edge, e).next)
      push_new (self, g_array_index (self->edges, Edge, e).to);
  }
  return FALSE;
}

/* --- lanes --- */

static guint32
lane_new (PacketNet *self, guint32 link, guint8 service, guint8 level)
{
  guint32 number = self->n_lanes++, none = NONE, zero = 0;

  if (number == self->lane_capacity) {
    self->lane_capacity *= 2;
    self->lanes = g_renew (VirtualLane, self->lanes, self->lane_capacity);
  }
  self->lanes[number] = packet_lane_empty (self, link, service, level);
  self->lanes[number].next = self->lanes[link].next;
  self->lanes[link].next = number;
  self->has_levels = self->has_levels || level > 0;
  g_array_append_val (self->waits->firsts, none);
  g_array_append_val (self->waits->seen, zero);
  return number;
}

static guint32
lane_at (PacketNet *self, guint32 link, guint8 service, guint8 level)
{
  guint32 number = link;

  while (self->lanes[number].level != level || self->lanes[number].service != service) {
    number = self->lanes[number].next;
    if (number == link)
      return lane_new (self, link, service, level);
  }
  return number;
}

static gboolean
may_follow (PacketNet *self, guint32 before, guint32 lane)
{
  struct _Waits *waits = self->waits;
  guint32 rank = waits->ranks[self->lanes[lane].link], rank_before = waits->ranks[self->lanes[before].link];

  if (has_edge (waits, before, lane))
    return TRUE;
  waits->has_falls |= rank < rank_before;
  if ((rank <= rank_before || waits->has_falls) && waits_for (waits, lane, before))
    return FALSE;
  add_edge (waits, before, lane);
  return TRUE;
}

gboolean
packet_path_rises (const PacketNet *self, const FabLinkId *links, guint n)
{
  for (guint i = 1; i < n; i++) {
    const VirtualLane *before = &self->lanes[links[i - 1]];

    if (before->ends_in_memory || self->lanes[links[i]].control == CONTROL_NONE)
      continue;
    if (self->waits->ranks[links[i]] <= self->waits->ranks[links[i - 1]]
        || fab_graph_link (self->base.env.graph, links[i - 1])->joins_groups)
      return FALSE;
  }
  return TRUE;
}

guint32
packet_lane_first (PacketNet *self, guint32 link, guint8 service)
{
  return lane_at (self, link, service, 0);
}

guint32
packet_lane_after (PacketNet *self, guint32 before, guint32 link)
{
  guint8 last = (guint8) (self->params.n_lanes - 1), service = self->lanes[before].service;

  if (self->lanes[before].ends_in_memory || packet_lane_loses (&self->lanes[link])
      || self->lanes[link].control == CONTROL_NONE)
    return lane_at (self, link, service, 0);
  gboolean rises = fab_graph_link (self->base.env.graph, self->lanes[before].link)->joins_groups;
  for (guint8 level = (guint8) (self->lanes[before].level + (rises ? 1 : 0)); level < last; level++) {
    guint32 lane = lane_at (self, link, service, level);

    if (may_follow (self, before, lane))
      return lane;
  }
  return lane_at (self, link, service, last);
}
