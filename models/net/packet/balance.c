/* SPDX-License-Identifier: Apache-2.0 */
/* balance.c - which of its paths a packet takes, as the router says (FabBalance, sim/fabric/router.h).
 *
 *   shares    in turn, or at every switch the link with the least to do (`balance: least_queue`)
 *   flowlet   the path of the packet before, unless that was sent more than a gap ago: then any path, or the one whose
 *             longest queue is the shortest (E. Vanini et al., "Let It Flow", NSDI 2017; M. Alizadeh et al., "CONGA",
 *             SIGCOMM 2014)
 *   recycle   the path of a packet that arrived without a mark, each once; any path where none is known. After a loss
 *             only known paths, again and again, for some time: T. Bonato et al., "REPS: Recycled Entropy Packet
 *             Spraying for Adaptive Load Balancing and Failure Mitigation", arXiv 2407.21625. The rules are those of
 *             UecMpReps and CircularBufferREPS in the Ultra Ethernet Consortium's simulator
 *             (github.com/ultraethernet/uet-htsim, uec_mp.cpp and buffer_reps.cpp, read on 2026-11-23)
 *   queue     at every switch: where the path of the flow's hash leads, unless more than a threshold waits there; then
 *             the link with the least to do
 *
 * What is known of paths belongs to a way, that is, to all flows with the same ends and hash. It is forgotten when the
 * network rests.
 */
#include <string.h>

#include "models/net/packet/parts.h"

enum { EXPLORED_AFTER_FREEZE = 16 }; /* packets; uec_mp.cpp */

void
packet_balance_init (PacketNet *self)
{
  self->balance = fab_router_balance (self->base.env.router);
  self->balance.n_kept = MIN (self->balance.n_kept, MOST_KEPT);
  if (self->balance.kind != FAB_BALANCE_FLOWLET && self->balance.kind != FAB_BALANCE_RECYCLE)
    return;
  self->choices = g_array_new (FALSE, TRUE, sizeof (PathChoice));
  self->used_choices = g_array_new (FALSE, FALSE, sizeof (guint32));
}

void
packet_balance_clear (PacketNet *self)
{
  g_clear_pointer (&self->choices, g_array_unref);
  g_clear_pointer (&self->used_choices, g_array_unref);
}

void
packet_balance_add (PacketNet *self)
{
  if (self->choices != NULL)
    g_array_set_size (self->choices, self->ways->len);
}

void
packet_balance_rest (PacketNet *self)
{
  if (self->choices == NULL)
    return;
  for (guint i = 0; i < self->used_choices->len; i++)
    g_array_index (self->choices, PathChoice,
                   g_array_index (self->used_choices, guint32, i)) = (PathChoice){ 0 };
  g_array_set_size (self->used_choices, 0);
}

/* Returns what is known of a way's paths; it is used from now on. */
static PathChoice *
choice_of (PacketNet *self, guint32 way)
{
  PathChoice *choice = &g_array_index (self->choices, PathChoice, way);

  if (!choice->is_used)
    g_array_append_val (self->used_choices, way);
  choice->is_used = TRUE;
  return choice;
}

/* --- queues --- */

/* Returns the time until the port of a lane has sent what waits in it. */
static double
busy_ps (const PacketNet *self, guint32 lane)
{
  const Port *port = &self->ports[self->lanes[lane].link];

  return MAX ((double) (port->free_ps - self->now_ps), 0)
       + self->lanes[lane].queued_bytes * port->ps_per_byte;
}

static const Hop *
hop_at (const PacketNet *self, guint32 index)
{
  return &g_array_index (self->hops, Hop, index);
}

static guint32
first_hop (const PacketNet *self, const PathSet *way, guint32 path)
{
  return g_array_index (self->paths, guint32, way->first_path + path);
}

static guint32
any_path (PacketNet *self, const PathSet *way)
{
  return (guint32) (packet_random (self) % way->n_paths);
}

/* --- flowlets --- */

static double
longest_queue_ps (const PacketNet *self, const PathSet *way, guint32 path)
{
  double longest_ps = 0;

  for (const Hop *hop = hop_at (self, first_hop (self, way, path)); hop->lane != NONE; hop++)
    longest_ps = MAX (longest_ps, busy_ps (self, hop->lane));
  return longest_ps;
}

/* Of equals, one by chance. */
static guint32
emptiest_path (PacketNet *self, const PathSet *way)
{
  guint32 from = any_path (self, way), best = from;
  double least_ps = G_MAXDOUBLE;

  for (guint32 i = 0; i < way->n_paths; i++) {
    guint32 path = (from + i) % way->n_paths;
    double longest_ps = longest_queue_ps (self, way, path);

    if (longest_ps < least_ps) {
      least_ps = longest_ps;
      best = path;
    }
  }
  return best;
}

static guint32
path_of_flowlet (PacketNet *self, guint32 number, const PathSet *way)
{
  gboolean is_new = !g_array_index (self->choices, PathChoice, number).is_used;
  PathChoice *choice = choice_of (self, number);

  if (is_new || self->now_ps - choice->at_ps > self->balance.gap_ps)
    choice->path = self->balance.takes_emptiest ? emptiest_path (self, way) : any_path (self, way);
  choice->at_ps = self->now_ps;
  return choice->path;
}

/* --- recycled paths --- */

static void
keep (const PacketNet *self, PathChoice *choice, guint32 path)
{
  choice->kept[choice->head] = (guint16) path;
  choice->head = (guint8) ((choice->head + 1) % self->balance.n_kept);
  choice->n_kept = (guint8) MIN (choice->n_kept + 1u, self->balance.n_kept);
  choice->n_fresh = (guint8) MIN (choice->n_fresh + 1u, self->balance.n_kept);
}

static guint32
path_again (PacketNet *self, guint32 number, const PathSet *way)
{
  PathChoice *choice = choice_of (self, number);
  guint n = self->balance.n_kept;

  if (choice->n_explore > 0) {
    choice->n_explore--;
    return any_path (self, way);
  }
  if (choice->is_frozen && choice->n_kept > 0) {
    guint32 path = choice->kept[choice->frozen_at % choice->n_kept];

    choice->frozen_at = (guint8) ((choice->frozen_at + 1) % choice->n_kept);
    return path;
  }
  if (choice->is_frozen || choice->n_fresh == 0)
    return any_path (self, way);
  return choice->kept[(choice->head + n - choice->n_fresh--) % n];
}

void
packet_balance_heard (PacketNet *self, guint32 number, guint32 path, guint8 end, gboolean is_marked)
{
  PathChoice *choice = choice_of (self, number);

  if (end == PACKET_LOST && !choice->is_frozen && choice->n_explore == 0 && self->balance.frozen_ps > 0) {
    choice->is_frozen = TRUE;
    choice->at_ps = self->now_ps + self->balance.frozen_ps;
  }
  if (choice->is_frozen && self->now_ps > choice->at_ps)
    *choice = (PathChoice){ .is_used = TRUE, .n_explore = EXPLORED_AFTER_FREEZE };
  if (end == PACKET_ARRIVED && !is_marked)
    keep (self, choice, path);
}

gboolean
packet_balance_listens (const PacketNet *self, guint32 way)
{
  return self->balance.kind == FAB_BALANCE_RECYCLE && g_array_index (self->ways, PathSet, way).n_paths > 1;
}

/* --- any of them --- */

guint32
packet_balance_first (PacketNet *self, const Flow *flow)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, flow->way);

  if (way->n_paths == 1)
    return 0;
  switch (self->balance.kind) {
  case FAB_BALANCE_FLOWLET: return path_of_flowlet (self, flow->way, way);
  case FAB_BALANCE_RECYCLE: return path_again (self, flow->way, way);
  case FAB_BALANCE_QUEUE: return way->turn % way->n_direct;
  case FAB_BALANCE_SHARES:
  default: return (way->turn + flow->n_sent) % way->n_paths;
  }
}

guint32
packet_balance_path_of (const PacketNet *self, const Packet *packet)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, self->flows[packet->flow].way);

  return (packet->hop - first_hop (self, way, 0)) / way->stride;
}

/* Returns the path that is looked at first, so that of equal queues not all packets choose the same one. */
static guint32
tie_of (const PathSet *way, const Packet *packet)
{
  return (way->turn + (packet->number & ~MARK_BIT)) % way->n_paths;
}

/* The packet came over a lane, and may go on along every path that has it at this place. */
const Hop *
packet_balance_next (PacketNet *self, Packet *packet)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, self->flows[packet->flow].way);
  guint32 first = first_hop (self, way, 0), best = packet->hop, own = hop_at (self, best)->lane;
  gboolean is_reactive = self->balance.kind == FAB_BALANCE_QUEUE;
  double least = G_MAXDOUBLE;

  if (way->n_paths == 1 || (way->is_mixed && !is_reactive)
      || (is_reactive && self->lanes[own].queued_bytes < self->balance.threshold_bytes))
    return hop_at (self, best);
  double own_ps = packet->size * self->ports[self->lanes[own].link].ps_per_byte;
  guint32 place = (best - first) % way->stride, start = is_reactive ? tie_of (way, packet) : 0;
  for (guint32 i = 0; i < way->n_paths; i++) {
    guint32 p = (start + i) % way->n_paths, at = first + p * way->stride + place;
    guint32 lane = hop_at (self, at)->lane;

    if (lane == NONE || hop_at (self, at - 1)->lane != packet->from)
      continue;
    double busy = busy_ps (self, lane);
    if (p
        >= way->n_direct) /* the packet itself counts, so that a detour is longer where nothing waits, too */
      busy = (busy + own_ps) * self->balance.detour_factor - own_ps;
    if (busy < least) {
      least = busy;
      best = at;
    }
  }
  packet->hop = best;
  return hop_at (self, best);
}

static gboolean
is_open (const PacketNet *self, const PathSet *way, guint32 path)
{
  for (const Hop *hop = hop_at (self, first_hop (self, way, path)); hop->lane != NONE; hop++)
    if (self->ports[self->lanes[hop->lane].link].free_ps == FAB_TIME_MAX)
      return FALSE;
  return TRUE;
}

gboolean
packet_balance_escapes (const PacketNet *self, const Packet *packet)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, self->flows[packet->flow].way);

  for (guint32 path = 0; way->n_paths > 1 && path < way->n_paths; path++)
    if (is_open (self, way, path))
      return TRUE;
  return FALSE;
}
