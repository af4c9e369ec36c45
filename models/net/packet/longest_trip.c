/* SPDX-License-Identifier: Apache-2.0 */
/* longest_trip.c - the longest round trip of a packet through the empty network, by which some models of congestion
 * control scale all senders alike.
 *
 * It is that between two adapters, and what a way takes between its ends and theirs, which is about the same for all.
 * The adapters are the two ends that lie farthest apart, counted in links: a search finds the end that is farthest
 * from the first one, and another the end that is farthest from that. In trees this is the diameter (Bulterman et al.,
 * "On computing a longest path in a tree", Information Processing Letters 81, 2002); in the symmetric networks of
 * clusters every end has one as far away.
 */
#include "models/net/packet/parts.h"

typedef struct {
  const PacketNet *net;
  FabVertexKind kind; /* of the ends */
  double cost;        /* line bytes per payload byte */
  double *trip_ps;    /* [vertices] round trip to there; -1: not reached */
  GArray *reached;    /* FabVertexId, by the number of links */
} Search;

static double
link_trip_ps (const Search *self, const FabLink *link)
{
  const FabGraph *graph = self->net->base.env.graph;
  double wire_ps = (double) FAB_PS_PER_S / (double) link->rate_bytes_per_s * self->cost
                 * (double) self->net->params.mtu_bytes;

  return (double) link->latency_ps + (double) fab_graph_link (graph, link->reverse)->latency_ps
       + (self->net->params.switching == SWITCHING_STORE_AND_FORWARD ? wire_ps : 0);
}

static gboolean
is_passable (const Search *self, FabVertexId vertex)
{
  FabVertexKind kind = fab_graph_vertex (self->net->base.env.graph, vertex)->kind;

  return kind != FAB_VERTEX_ACCELERATOR && kind != FAB_VERTEX_MEMORY && kind != FAB_VERTEX_STORAGE;
}

static void
expand (Search *self, FabVertexId from)
{
  const FabGraph *graph = self->net->base.env.graph;
  FabLinkId first;
  guint n = fab_graph_out_links (graph, from, &first);

  for (FabLinkId id = first; id < first + n; id++) {
    const FabLink *link = fab_graph_link (graph, id);

    if (self->trip_ps[link->dst] >= 0)
      continue;
    self->trip_ps[link->dst] = self->trip_ps[from] + link_trip_ps (self, link);
    g_array_append_val (self->reached, link->dst);
  }
}

/* Returns the end that is farthest from another one, and the round trip between them. */
static FabVertexId
find_farthest (Search *self, FabVertexId from, double *trip_ps)
{
  const FabGraph *graph = self->net->base.env.graph;
  FabVertexId farthest = from;

  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++)
    self->trip_ps[v] = -1;
  self->trip_ps[from] = 0;
  g_array_set_size (self->reached, 0);
  g_array_append_val (self->reached, from);
  for (guint i = 0; i < self->reached->len; i++) {
    FabVertexId at = g_array_index (self->reached, FabVertexId, i);

    if (at == from || is_passable (self, at))
      expand (self, at);
    if (fab_graph_vertex (graph, at)->kind == self->kind && self->trip_ps[at] > self->trip_ps[farthest])
      farthest = at;
  }
  *trip_ps = self->trip_ps[farthest];
  return farthest;
}

/* Returns the first vertex of a kind; G_MAXUINT32: there is none. */
static FabVertexId
find_first (const FabGraph *graph, FabVertexKind kind)
{
  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++)
    if (fab_graph_vertex (graph, v)->kind == kind)
      return v;
  return G_MAXUINT32;
}

/* Between NICs, or between ends like `end` where there are none. */
static double
search (const PacketNet *self, FabVertexId end, double cost)
{
  const FabGraph *graph = self->base.env.graph;
  FabVertexId nic = find_first (graph, FAB_VERTEX_NIC), last;
  FabVertexKind kind = nic != G_MAXUINT32 ? FAB_VERTEX_NIC : fab_graph_vertex (graph, end)->kind;
  g_autofree double *trips_ps = g_new (double, fab_graph_n_vertices (graph));
  g_autoptr (GArray) reached = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
  Search state = { self, kind, cost, trips_ps, reached };
  double first_ps, second_ps;

  last = find_farthest (&state, find_first (graph, kind), &first_ps);
  find_farthest (&state, last, &second_ps);
  return MAX (first_ps, second_ps);
}

FabTimePs
packet_longest_trip_ps (PacketNet *self, guint32 way_number)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, way_number);
  const Hop *hop = &g_array_index (self->hops, Hop, g_array_index (self->paths, guint32, way->first_path));
  double wire_ps = way->ps_per_byte * (double) self->params.mtu_bytes;

  if (self->longest_trip_ps == 0)
    self->longest_trip_ps = search (self,
                                    fab_graph_link (self->base.env.graph, self->lanes[hop->lane].link)->src,
                                    hop->cost);
  return (FabTimePs) MIN (self->longest_trip_ps + (double) way->inside_ps
                              + (self->params.switching == SWITCHING_STORE_AND_FORWARD ? 0 : wire_ps),
                          (double) FAB_TIME_MAX / 4);
}
