/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c - makes whole paths from the shares that a router gives to links.
 *
 * Each path starts at the source and takes at every vertex the link that is furthest behind its share of the paths so
 * far. So after n paths a link is on its share of them, to within one or two paths. Where shares form a cycle, as
 * those through other switches can, the cycle is cut out.
 */
#include "models/net/packet/parts.h"

/* Returns the index of the first share of a link that leaves `vertex`; shares are in the order of links. */
static guint
first_share (const FabGraph *graph, const GArray *shares, FabVertexId vertex)
{
  guint low = 0, high = shares->len;
  FabLinkId first;

  fab_graph_out_links (graph, vertex, &first);
  while (low < high) {
    guint middle = (low + high) / 2;

    if (g_array_index (shares, FabShare, middle).link < first)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns the share to follow out of a vertex. */
static guint
furthest_behind (const FabGraph *graph, const GArray *shares, const guint *n_used, FabVertexId vertex,
                 guint n_paths)
{
  guint best = G_MAXUINT;
  double most = 0;

  for (guint i = first_share (graph, shares, vertex); i < shares->len; i++) {
    const FabShare *share = &g_array_index (shares, FabShare, i);
    double behind = share->fraction * n_paths - n_used[i];

    if (fab_graph_link (graph, share->link)->src != vertex)
      break;
    if (best == G_MAXUINT || behind > most) {
      best = i;
      most = behind;
    }
  }
  g_assert (best != G_MAXUINT);
  return best;
}

/* Goes back to the place where the path visited `vertex` before. */
static void
cut_circle (const FabGraph *graph, FabPath *path, FabVertexId src, FabVertexId vertex)
{
  guint n = 0;

  if (vertex != src) {
    while (n < path->n && fab_graph_link (graph, path->links[n])->dst != vertex)
      n++;
    if (n == path->n)
      return;
    n++;
  }
  path->n = n;
}

static gboolean
walk (const FabGraph *graph, const GArray *shares, guint *n_used, const FabLeg *leg, guint n_paths,
      FabPath *path)
{
  FabVertexId at = leg->src;

  for (guint step = 0; step < 4 * FAB_PATH_MAX_LINKS; step++) {
    if (at == leg->dst)
      return TRUE;
    guint i = furthest_behind (graph, shares, n_used, at, n_paths);
    FabLinkId link = g_array_index (shares, FabShare, i).link;

    n_used[i]++;
    at = fab_graph_link (graph, link)->dst;
    cut_circle (graph, path, leg->src, at);
    if (at == leg->src || (path->n > 0 && fab_graph_link (graph, path->links[path->n - 1])->dst == at))
      continue;
    if (path->n == FAB_PATH_MAX_LINKS)
      return FALSE;
    path->links[path->n++] = link;
  }
  return at == leg->dst;
}

void
packet_spread (PacketNet *self, const FabLeg *leg, guint n, GArray *paths)
{
  FabRouter *router = self->base.env.router;
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  gboolean has_path = fab_router_spread (router, leg->src, leg->dst, leg->flow_hash, shares);

  g_assert (has_path);
  fab_shares_merge (shares, 0);
  g_autofree guint *n_used = g_new0 (guint, shares->len + 1);
  for (guint i = 0; i < n; i++) {
    FabPath path = { 0 };

    if (!walk (self->base.env.graph, shares, n_used, leg, i + 1, &path)) {
      path.n = 0;
      fab_router_append (router, leg->src, leg->dst, leg->flow_hash, &path);
    }
    g_array_append_val (paths, path);
  }
}

const Hop *
packet_spread_choose (PacketNet *self, Packet *packet)
{
  const Way *way = &g_array_index (self->ways, Way, self->flows[packet->flow].way);
  guint32 first = g_array_index (self->paths, guint32, way->first_path), best = packet->hop;
  double least = G_MAXDOUBLE;

  if (way->n_paths == 1 || way->stride == 0)
    return &g_array_index (self->hops, Hop, packet->hop);
  for (guint32 p = 0, at = first + (packet->hop - first) % way->stride; p < way->n_paths;
       p++, at += way->stride) {
    guint32 lane = g_array_index (self->hops, Hop, at).lane;

    if (lane == NONE || g_array_index (self->hops, Hop, at - 1).lane != packet->from)
      continue;
    const Port *port = &self->ports[self->lanes[lane].link];
    double busy = MAX ((double) (port->free_ps - self->now_ps), 0)
                + self->lanes[lane].queued_bytes * port->ps_per_byte;
    if (busy < least) {
      least = busy;
      best = at;
    }
  }
  packet->hop = best;
  return &g_array_index (self->hops, Hop, best);
}
