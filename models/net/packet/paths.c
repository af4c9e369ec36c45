/* SPDX-License-Identifier: Apache-2.0 */
/* paths.c - the paths of a flow's packets, made once for equal ends and hash, and kept.
 *
 * Traffic that the router spreads uses `n_paths` paths in turn. They are chosen so that every link that leads on from
 * a vertex gets its share, as nearly as whole paths allow. O(links) per path, once.
 */
#include <string.h>

#include "models/net/packet/parts.h"
#include "sim/base/mix.h"

typedef struct {
  guint64 use; /* hash of the PacketUse */
  guint32 n, number;
  FabLeg legs[];
} KnownWay;

static guint
known_hash (gconstpointer key)
{
  const KnownWay *way = key;
  guint64 sum = way->use;

  for (guint i = 0; i < way->n; i++) {
    const FabLeg *leg = &way->legs[i];

    sum = fab_mix (fab_mix (sum, leg->flow_hash), (guint64) leg->src << 32 | leg->dst);
  }
  return (guint) sum;
}

static gboolean
known_equal (gconstpointer a, gconstpointer b)
{
  const KnownWay *x = a, *y = b;
  gboolean is_equal = x->n == y->n && x->use == y->use;

  for (guint i = 0; is_equal && i < x->n; i++) {
    const FabLeg *p = &x->legs[i], *q = &y->legs[i];

    is_equal = p->flow_hash == q->flow_hash && p->src == q->src && p->dst == q->dst;
  }
  return is_equal;
}

/* Two lanes, and by how much their links are turned against each other (FabRotation). */
typedef struct {
  guint32 from, to, turn;
} QueueKey;

static guint
queue_hash (gconstpointer data)
{
  const QueueKey *key = data;

  return (guint) fab_mix ((guint64) key->from << 32 | key->to, key->turn);
}

static gboolean
queue_equal (gconstpointer a, gconstpointer b)
{
  const QueueKey *x = a, *y = b;

  return x->from == y->from && x->to == y->to && x->turn == y->turn;
}

void
packet_path_sets_init (PacketNet *self)
{
  guint n_links = fab_graph_n_links (self->base.env.graph);

  self->hops = g_array_new (FALSE, FALSE, sizeof (Hop));
  self->paths = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->ways = g_array_new (FALSE, FALSE, sizeof (PathSet));
  self->known_ways = g_hash_table_new_full (known_hash, known_equal, g_free, NULL);
  self->link_ways = g_new (guint32, n_links * self->n_services + 1);
  for (guint i = 0; i < n_links * self->n_services; i++)
    self->link_ways[i] = NONE;
  self->known_queues = g_hash_table_new_full (queue_hash, queue_equal, g_free, NULL);
  packet_balance_init (self);
}

void
packet_path_sets_clear (PacketNet *self)
{
  g_array_unref (self->hops);
  g_array_unref (self->paths);
  g_array_unref (self->ways);
  g_hash_table_unref (self->known_ways);
  g_hash_table_unref (self->known_queues);
  packet_balance_clear (self);
  g_free (self->link_ways);
  g_free (self->queues);
}

/* Returns the queue for packets that come over one lane and wait for another. */
static guint32
queue_of (PacketNet *self, QueueKey key)
{
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

/* The end of a path that grows. */
typedef struct {
  guint32 lane; /* NONE: it has no link yet */
  FabLinkId link;
} PathEnd;

/* Packets of all that share a link come together, and the last one waits for the others. From then on they follow one
 * another, so that they do not wait on a second link that as many share. */
static void
hop_share (Hop *hop, guint n, guint n_before)
{
  hop->cost *= n;
  hop->own = 1 / (float) n;
  hop->late = n > n_before ? (float) (n - n_before) / (float) n : 0;
}

/* Switches of Ethernet keep what waits for a port in their memory, in the order in which it came, whatever port it came
 * by. Where links have credits, each port of entry has a buffer of its own. */
static gboolean
is_one_queue (const PacketNet *self, guint32 lane)
{
  guint8 control = self->lanes[lane].control;

  return control == CONTROL_DROP || control == CONTROL_TRIM || control == CONTROL_PFC;
}

static void
add_hop (PacketNet *self, PathEnd *end, FabLinkId link, double cost, PacketUse use)
{
  const FabRotation *rotation = use.rotation;
  FabLinkId played = rotation != NULL ? rotation->stands_for[link] : link;
  guint32 before = end->lane, turn = 0;
  Hop hop = { .queue = NONE, .cost = cost, .own = 1 };

  if (before == NONE) {
    hop.lane = packet_lane_first (self, played, use.service);
  } else {
    hop.lane = packet_lane_after (self, before, played);
    turn = rotation != NULL ? fab_rotation_between (rotation, end->link, link) : 0;
    hop.queue = queue_of (self, is_one_queue (self, hop.lane) ? (QueueKey){ NONE, hop.lane, 0 }
                                                              : (QueueKey){ before, hop.lane, turn });
  }
  if (rotation != NULL && fab_rotation_sharers (rotation, link) > 1)
    hop_share (&hop, fab_rotation_sharers (rotation, link),
               end->link != FAB_NO_LINK ? fab_rotation_sharers (rotation, end->link) : 1);
  g_array_append_val (self->hops, hop);
  *end = (PathEnd){ hop.lane, link };
}

static void
add_end (PacketNet *self)
{
  Hop hop = { NONE, NONE, 1, 1, 0 };

  g_array_append_val (self->hops, hop);
}

/* --- one way --- */

/* What of it the footprint does not name, as the router spreads less than it chooses from, costs as much more than its
 * class says as the link `like` does. */
static double
cost_of (const PacketNet *self, FabLinkId link, FabLinkId like, PacketUse use)
{
  const FabGraph *graph = self->base.env.graph;
  double usual = fab_graph_link_class (graph, link)->cost[use.drive];
  guint at;

  if (use.footprint == NULL)
    return usual;
  if (fab_footprint_has (use.footprint, link, &at))
    return use.footprint->line_weights[at] / use.footprint->weights[at] * use.wire_factor;
  g_assert (link != like);
  return cost_of (self, like, like, use) * usual / fab_graph_link_class (graph, like)->cost[use.drive];
}

static guint64
use_hash (PacketUse use)
{
  guint64 sum = (guint64) use.service << 8 | use.drive;

  if (use.rotation != NULL)
    sum = fab_mix (sum, (guint64) (gsize) use.rotation);
  for (guint i = 0; use.footprint != NULL && i < use.footprint->n; i++) {
    double factor = use.footprint->line_weights[i] / use.footprint->weights[i] * use.wire_factor;
    guint64 bits;

    memcpy (&bits, &factor, sizeof bits);
    sum = fab_mix (fab_mix (sum, use.footprint->links[i]), bits);
  }
  return sum;
}

static void
add_leg (PacketNet *self, PathEnd *end, const FabPath *path, PacketUse use)
{
  for (guint i = 0; i < path->n; i++)
    add_hop (self, end, path->links[i], cost_of (self, path->links[i], path->links[0], use), use);
}

static void
way_note (const PacketNet *self, PathSet *way, guint32 lane)
{
  guint8 control = self->lanes[lane].control;
  FabVertexId src = fab_graph_link (self->base.env.graph, self->lanes[lane].link)->src;

  way->has_nic |= fab_graph_vertex (self->base.env.graph, src)->kind == FAB_VERTEX_NIC;
  way->is_lossy |= control == CONTROL_DROP || control == CONTROL_TRIM;
  way->is_trimmed |= control == CONTROL_TRIM;
  way->is_endless |= control == CONTROL_NONE;
  way->is_marked |= control == CONTROL_DROP || control == CONTROL_TRIM || control == CONTROL_PFC;
}

/* Returns the time per byte of the slowest link of a path. */
static double
slowest_of (const PacketNet *self, guint32 first_hop)
{
  double slowest = 0;

  for (const Hop *hop = &g_array_index (self->hops, Hop, first_hop); hop->lane != NONE; hop++) {
    const FabLink *link = fab_graph_link (self->base.env.graph, self->lanes[hop->lane].link);

    slowest = MAX (slowest,
                   (double) FAB_PS_PER_S / (double) link->rate_bytes_per_s * hop->cost * (double) hop->own);
  }
  return slowest;
}

/* Returns what links before the first adapter and behind the last one take there and back; 0: there are not both. */
static FabTimePs
inside_ps (const PacketNet *self, const Hop *hop)
{
  const FabGraph *graph = self->base.env.graph;
  FabTimePs before_ps = 0, behind_ps = 0;
  gboolean has_left = FALSE, has_come = FALSE;

  for (; hop->lane != NONE; hop++) {
    const FabLink *link = fab_graph_link (graph, self->lanes[hop->lane].link);
    FabTimePs trip_ps = fab_ps_add (link->latency_ps, fab_graph_link (graph, link->reverse)->latency_ps);

    has_left |= fab_graph_vertex (graph, link->src)->kind == FAB_VERTEX_NIC;
    if (!has_left)
      before_ps = fab_ps_add (before_ps, trip_ps);
    behind_ps = fab_ps_add (behind_ps, trip_ps);
    if (has_left && fab_graph_vertex (graph, link->dst)->kind == FAB_VERTEX_NIC) {
      has_come = TRUE;
      behind_ps = 0;
    }
  }
  return has_come ? fab_ps_add (before_ps, behind_ps) : 0;
}

/* Computes the latency of the way back, and the rate when nothing else moves: that of the fastest path. */
static void
way_count (PacketNet *self, PathSet *way)
{
  const FabGraph *graph = self->base.env.graph;
  guint32 first_hop = g_array_index (self->paths, guint32, way->first_path);

  for (const Hop *hop = &g_array_index (self->hops, Hop, first_hop); hop->lane != NONE; hop++) {
    const FabLink *link = fab_graph_link (graph, self->lanes[hop->lane].link);

    way->back_ps = fab_ps_add (way->back_ps, fab_graph_link (graph, link->reverse)->latency_ps);
    way_note (self, way, hop->lane);
  }
  way->inside_ps = inside_ps (self, &g_array_index (self->hops, Hop, first_hop));
  way->ps_per_byte = G_MAXDOUBLE;
  for (guint32 p = 0; p < way->n_direct; p++)
    way->ps_per_byte = MIN (way->ps_per_byte,
                            slowest_of (self, g_array_index (self->paths, guint32, way->first_path + p)));
}

static guint32
add_way (PacketNet *self, PathSet *way)
{
  way_count (self, way);
  g_array_append_val (self->ways, *way);
  packet_balance_add (self);
  return self->ways->len - 1;
}

static guint
n_links_of (const GArray *paths, guint n_legs, guint n_paths, guint path)
{
  guint n = 0;

  for (guint i = 0; i < n_legs; i++)
    n += g_array_index (paths, FabPath, i * n_paths + path).n;
  return n;
}

/* `paths` holds n_paths for each leg, leg by leg. Every path is followed by ends until it is as long as the longest. */
static guint32
way_join (PacketNet *self, const GArray *paths, guint n_legs, guint n_paths, guint n_detours, PacketUse use)
{
  PathSet way = { .first_path = self->paths->len, .n_paths = n_paths, .n_direct = n_paths - n_detours };

  for (guint p = 0; p < n_paths; p++) {
    guint n = n_links_of (paths, n_legs, n_paths, p) + 1;

    way.is_mixed |= p > 0 && way.stride != n;
    way.stride = MAX (way.stride, n);
  }
  for (guint p = 0; p < n_paths; p++) {
    guint32 first_hop = self->hops->len;
    PathEnd end = { NONE, FAB_NO_LINK };

    for (guint i = 0; i < n_legs; i++)
      add_leg (self, &end, &g_array_index (paths, FabPath, i * n_paths + p), use);
    g_assert (end.lane != NONE);
    while (self->hops->len < first_hop + way.stride)
      add_end (self);
    g_array_append_val (self->paths, first_hop);
  }
  return add_way (self, &way);
}

/* Appends the paths of all entropies between the ends of a leg. */
static void
hash_paths (PacketNet *self, const FabLeg *leg, guint n, GArray *paths)
{
  FabRouter *router = self->base.env.router;

  for (guint i = 0; i < n; i++) {
    FabPath path = { 0 };
    gboolean has_path = router->ops->hashed (router, leg->src, leg->dst, leg->flow_hash, i, &path);

    g_assert (has_path);
    g_array_append_val (paths, path);
  }
}

static guint32
way_new (PacketNet *self, const FabLeg *legs, guint n_legs, PacketUse use)
{
  const FabRouterOps *ops = self->base.env.router->ops;
  /* What is turned has one path, even where the router would spread it. */
  gboolean is_one = use.rotation != NULL,
           is_spread = !is_one && (ops->spread != NULL || ops->choices != NULL);
  guint n_paths = is_spread ? (guint) self->params.n_paths : 1,
        n_detours = (guint) (self->balance.detour_fraction * n_paths);
  g_autoptr (GArray) paths = g_array_new (FALSE, FALSE, sizeof (FabPath));

  for (guint i = 0; i < n_legs; i++) {
    FabPath path = { 0 };

    if (self->balance.has_entropies && !is_one) {
      hash_paths (self, &legs[i], n_paths, paths);
      continue;
    }
    if (is_spread) {
      packet_spread (self, &legs[i], FALSE, n_paths - n_detours, paths);
      if (n_detours > 0)
        packet_spread (self, &legs[i], TRUE, n_detours, paths);
      continue;
    }
    gboolean has_path = fab_router_append (self->base.env.router, legs[i].src, legs[i].dst, legs[i].flow_hash,
                                           &path);
    g_assert (has_path);
    g_array_append_val (paths, path);
  }
  return way_join (self, paths, n_legs, n_paths, n_detours, use);
}

guint32
packet_path_set (PacketNet *self, const FabLeg *legs, guint n_legs, PacketUse use)
{
  g_autofree KnownWay *key = g_malloc (sizeof (KnownWay) + n_legs * sizeof (FabLeg));
  const KnownWay *known;

  key->n = n_legs;
  key->use = use_hash (use);
  memcpy (key->legs, legs, n_legs * sizeof (FabLeg));
  known = g_hash_table_lookup (self->known_ways, key);
  if (known != NULL)
    return known->number;
  key->number = way_new (self, legs, n_legs, use);
  g_array_index (self->ways, PathSet, key->number).turn = known_hash (key);
  known = key;
  g_hash_table_add (self->known_ways, g_steal_pointer (&key));
  return known->number;
}

guint32
packet_path_set_of_link (PacketNet *self, FabLinkId link, guint8 service)
{
  guint32 *known = &self->link_ways[link * self->n_services + service];
  PathSet way = { .first_path = self->paths->len, .n_paths = 1, .stride = 2, .n_direct = 1 };
  guint32 first_hop = self->hops->len;
  PathEnd end = { NONE, FAB_NO_LINK };

  if (*known != NONE)
    return *known;
  add_hop (self, &end, link, 1, (PacketUse){ .service = service });
  add_end (self);
  g_array_append_val (self->paths, first_hop);
  return *known = add_way (self, &way);
}

/* --- metering --- */

static void
meter_path (PacketNet *self, guint32 first_hop, FabBytes bytes, FabDrive drive)
{
  FabPath path = { 0 };

  for (const Hop *hop = &g_array_index (self->hops, Hop, first_hop); hop->lane != NONE; hop++)
    path.links[path.n++] = self->lanes[hop->lane].link;
  fab_meter_add_path (self->base.meter, &path, bytes, drive);
}

gboolean
packet_path_set_is_spread (const PacketNet *self, guint32 way)
{
  return g_array_index (self->ways, PathSet, way).n_paths > 1;
}

/* The packets took the paths in turn. */
void
packet_path_set_meter (PacketNet *self, const Flow *flow)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, flow->way);
  FabBytes mtu = self->params.mtu_bytes, n = (flow->bytes + mtu - 1) / mtu, left_out = n * mtu - flow->bytes;

  if (packet_path_set_is_spread (self, flow->way))
    return;
  for (guint32 i = 0; i < MIN (way->n_paths, n); i++) {
    FabBytes bytes = (n - i + way->n_paths - 1) / way->n_paths * mtu;
    guint32 path = way->first_path + (way->turn + i) % way->n_paths;

    if ((n - 1) % way->n_paths == i)
      bytes -= left_out;
    meter_path (self, g_array_index (self->paths, guint32, path), bytes, flow->drive);
  }
}

/* At what a byte costs on this way, which is what it took of the links. */
void
packet_path_set_meter_lost (PacketNet *self, const Packet *packet)
{
  guint32 first = packet->hop;

  if (packet_path_set_is_spread (self, self->flows[packet->flow].way))
    return;
  while (first > 0 && g_array_index (self->hops, Hop, first - 1).lane != NONE)
    first--;
  for (guint32 at = first; at < packet->hop; at++) {
    const Hop *hop = &g_array_index (self->hops, Hop, at);

    fab_meter_add_link (self->base.meter, self->lanes[hop->lane].link, packet->size,
                        packet->size * hop->cost);
  }
}
