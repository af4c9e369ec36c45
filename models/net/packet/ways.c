/* SPDX-License-Identifier: Apache-2.0 */
/* ways.c - the paths of a flow's packets, made once for what has the same ends and hash, and kept.
 *
 * What the router spreads goes over `n_paths` paths in turn, which are so chosen that every link that leads on from a
 * vertex gets its share of them, as nearly as whole paths can. O(links) per path, once.
 */
#include <string.h>

#include "models/net/packet/parts.h"
#include "sim/base/mix.h"

typedef struct {
  guint32 n, number;
  PacketLeg legs[];
} KnownWay;

static guint
known_hash (gconstpointer key)
{
  const KnownWay *way = key;
  guint64 sum = way->n;

  for (guint i = 0; i < way->n; i++) {
    const PacketLeg *leg = &way->legs[i];

    sum = fab_mix (fab_mix (sum, leg->flow_hash), (guint64) leg->src << 32 | leg->dst) + leg->drive;
  }
  return (guint) sum;
}

static gboolean
known_equal (gconstpointer a, gconstpointer b)
{
  const KnownWay *x = a, *y = b;
  gboolean is_equal = x->n == y->n;

  for (guint i = 0; is_equal && i < x->n; i++) {
    const PacketLeg *p = &x->legs[i], *q = &y->legs[i];

    is_equal = p->flow_hash == q->flow_hash && p->src == q->src && p->dst == q->dst && p->drive == q->drive;
  }
  return is_equal;
}

void
packet_ways_init (PacketNet *self)
{
  guint n_links = fab_graph_n_links (self->base.env.graph);

  self->hops = g_array_new (FALSE, FALSE, sizeof (Hop));
  self->paths = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->ways = g_array_new (FALSE, FALSE, sizeof (Way));
  self->known_ways = g_hash_table_new_full (known_hash, known_equal, g_free, NULL);
  self->link_ways = g_new (guint32, n_links + 1);
  for (guint i = 0; i < n_links; i++)
    self->link_ways[i] = NONE;
  self->known_queues = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
}

void
packet_ways_clear (PacketNet *self)
{
  g_array_unref (self->hops);
  g_array_unref (self->paths);
  g_array_unref (self->ways);
  g_hash_table_unref (self->known_ways);
  g_hash_table_unref (self->known_queues);
  g_free (self->link_ways);
  g_free (self->queues);
}

/* The queue of what comes over one link and waits for another. */
static guint32
queue_of (PacketNet *self, guint32 from, guint32 to)
{
  guint64 key = (guint64) from << 32 | to;
  gpointer known;

  if (g_hash_table_lookup_extended (self->known_queues, &key, NULL, &known))
    return GPOINTER_TO_UINT (known);
  if (self->n_queues == self->queue_capacity) {
    self->queue_capacity = MAX (256, 2 * self->queue_capacity);
    self->queues = g_renew (Queue, self->queues, self->queue_capacity);
  }
  self->queues[self->n_queues] = (Queue){ .head = NONE, .tail = NONE, .next = NONE };
  g_hash_table_insert (self->known_queues, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (self->n_queues));
  return self->n_queues++;
}

static void
add_hop (PacketNet *self, guint32 before, guint32 link, guint32 drive)
{
  Hop hop = { link, drive, before != NONE && link != NONE ? queue_of (self, before, link) : NONE };

  g_array_append_val (self->hops, hop);
}

/* --- one way --- */

static gboolean
leg_path (PacketNet *self, const PacketLeg *leg, FabPath *path)
{
  path->n = 0;
  return fab_router_append (self->base.env.router, leg->src, leg->dst, leg->flow_hash, path);
}

/* Appends the hops of one leg; returns its last link. */
static guint32
add_leg (PacketNet *self, guint32 before, const FabPath *path, guint32 drive)
{
  for (guint i = 0; i < path->n; i++) {
    add_hop (self, before, path->links[i], drive);
    before = path->links[i];
  }
  return before;
}

/* All of the path's links that are joined at its first one. */
static void
way_count (PacketNet *self, Way *way, guint32 first_hop)
{
  const FabGraph *graph = self->base.env.graph;

  for (const Hop *hop = &g_array_index (self->hops, Hop, first_hop); hop->link != NONE; hop++) {
    const FabLink *link = fab_graph_link (graph, hop->link);

    way->back_ps = fab_ps_add (way->back_ps, fab_graph_link (graph, link->reverse)->latency_ps);
    way->ps_per_byte = MAX (way->ps_per_byte, self->ports[hop->link].ps_per_byte[hop->drive]);
  }
}

static guint32
way_new (PacketNet *self, const PacketLeg *legs, guint n_legs)
{
  Way way = { .first_path = self->paths->len, .n_paths = 1 };
  guint32 first_hop = self->hops->len, before = NONE;

  for (guint i = 0; i < n_legs; i++) {
    FabPath path;
    gboolean has_path = leg_path (self, &legs[i], &path);

    g_assert (has_path);
    before = add_leg (self, before, &path, legs[i].drive);
  }
  add_hop (self, before, NONE, 0);
  g_array_append_val (self->paths, first_hop);
  way_count (self, &way, first_hop);
  g_array_append_val (self->ways, way);
  return self->ways->len - 1;
}

guint32
packet_way (PacketNet *self, const PacketLeg *legs, guint n_legs)
{
  gsize size = sizeof (KnownWay) + n_legs * sizeof (PacketLeg);
  g_autofree KnownWay *key = g_malloc (size);

  key->n = n_legs;
  memcpy (key->legs, legs, n_legs * sizeof (PacketLeg));
  const KnownWay *known = g_hash_table_lookup (self->known_ways, key);
  if (known != NULL)
    return known->number;
  key->number = way_new (self, legs, n_legs);
  known = key;
  g_hash_table_add (self->known_ways, g_steal_pointer (&key));
  return known->number;
}

guint32
packet_way_of_link (PacketNet *self, FabLinkId link)
{
  Way way = { .first_path = self->paths->len, .n_paths = 1 };
  guint32 first_hop = self->hops->len;

  if (self->link_ways[link] != NONE)
    return self->link_ways[link];
  add_hop (self, NONE, link, DRIVE_RAW);
  add_hop (self, link, NONE, 0);
  g_array_append_val (self->paths, first_hop);
  way_count (self, &way, first_hop);
  g_array_append_val (self->ways, way);
  return self->link_ways[link] = self->ways->len - 1;
}

/* --- what was carried --- */

static void
meter_path (PacketNet *self, guint32 first_hop, FabBytes bytes)
{
  FabPath path = { 0 };
  guint32 drive = 0;

  for (const Hop *hop = &g_array_index (self->hops, Hop, first_hop); hop->link != NONE; hop++) {
    if (path.n > 0 && (hop->drive != drive || path.n == FAB_PATH_MAX_LINKS)) {
      fab_meter_add_path (self->base.meter, &path, bytes, (FabDrive) drive);
      path.n = 0;
    }
    drive = hop->drive;
    path.links[path.n++] = hop->link;
  }
  fab_meter_add_path (self->base.meter, &path, bytes, (FabDrive) drive);
}

/* Packets took the paths in turn. */
void
packet_way_meter (PacketNet *self, const Flow *flow)
{
  const Way *way = &g_array_index (self->ways, Way, flow->way);
  FabBytes mtu = self->params.mtu_bytes, n = (flow->bytes + mtu - 1) / mtu, left_out = n * mtu - flow->bytes;

  for (guint32 i = 0; i < MIN (way->n_paths, n); i++) {
    FabBytes bytes = (n - i + way->n_paths - 1) / way->n_paths * mtu;

    if ((n - 1) % way->n_paths == i)
      bytes -= left_out;
    meter_path (self, g_array_index (self->paths, guint32, way->first_path + i), bytes);
  }
}
