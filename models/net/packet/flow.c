/* SPDX-License-Identifier: Apache-2.0 */
/* flow.c - senders. A packet and its memory are made only when the wire takes it.
 *
 * A flow waits in the ring of its first lane while it has something to send, has room in its window, and is not
 * paced.
 * The sender learns of arrivals a quarter of a window at a time, after the latency of the way back; no
 * acknowledgement packets are simulated.
 */
#include "models/net/packet/parts.h"

guint32
packet_flow_new (PacketNet *self, guint32 way, FabBytes bytes)
{
  guint32 number = self->free_flow;

  if (number != NONE) {
    self->free_flow = self->flows[number].next;
  } else {
    number = self->n_flows++;
    g_assert (number < 1u << (32 - AGENDA_KIND_BITS));
    if (number == self->flow_capacity) {
      self->flow_capacity = MAX (64, 2 * self->flow_capacity);
      self->flows = g_renew (Flow, self->flows, self->flow_capacity);
    }
  }
  self->flows[number] = (Flow){
    .way = way, .sender = NONE, .bytes = bytes, .left_bytes = bytes, .missing_bytes = bytes, .next = NONE
  };
  return number;
}

void
packet_flow_release (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  if (--flow->n_entries > 0 || !flow->is_over)
    return;
  packet_sender_release (self, flow->sender);
  flow->next = self->free_flow;
  self->free_flow = number;
}

/* Returns the default window: two round trips at the rate of the slowest link, and a few packets. That keeps the link
 * busy while acknowledgements, which come a quarter at a time, are on their way. */
static FabBytes
window_of (const PacketNet *self, const PathSet *way)
{
  double ps = 2.0 * (double) way->back_ps + 8 * way->ps_per_byte * (double) self->params.mtu_bytes;

  if (self->params.window_bytes > 0)
    return MAX (self->params.window_bytes, self->params.mtu_bytes);
  return way->is_endless ? (FabBytes) (2 * ps / way->ps_per_byte) : 0;
}

static gboolean
may_send (const PacketNet *self, const Flow *flow)
{
  return flow->left_bytes > 0 && (flow->sender == NONE || packet_sender_may_send (self, flow->sender))
      && (flow->window_bytes == 0 || flow->flight_bytes + self->params.mtu_bytes <= flow->window_bytes);
}

/* Returns the earliest time of the next packet, as rates are now. */
static FabTimePs
allowed_ps (PacketNet *self, const Flow *flow)
{
  return flow->sender == NONE ? flow->next_ps
                              : MAX (flow->next_ps, packet_sender_gap_ps (self, flow->sender));
}

/* The flow asks again at `at_ps`, or, if that is earlier, when the rate of its sender changes. */
static void
resume_at (PacketNet *self, guint32 number, FabTimePs at_ps)
{
  Flow *flow = &self->flows[number];

  if (flow->sender != NONE && at_ps > flow->next_ps)
    at_ps = MIN (at_ps, packet_sender_changes_ps (self, flow->sender));
  if (flow->is_resumed && flow->resume_ps <= at_ps)
    return;
  flow->n_entries++;
  flow->resume_ps = at_ps;
  agenda_add (&self->agenda, at_ps, KIND_RESUME, number);
  if (!flow->is_resumed && flow->sender != NONE)
    packet_sender_pace (self, number);
  flow->is_resumed = TRUE;
}

void
packet_flow_pace_again (PacketNet *self, guint32 number)
{
  resume_at (self, number, MAX (allowed_ps (self, &self->flows[number]), self->now_ps));
}

void
packet_flow_join (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  if (flow->is_waiting || flow->is_blocked)
    return;
  if (!may_send (self, flow)) {
    if (flow->left_bytes > 0 && flow->sender != NONE && !packet_sender_may_send (self, flow->sender))
      packet_sender_block (self, number);
    return;
  }
  FabTimePs from_ps = allowed_ps (self, flow);
  if (from_ps > self->now_ps) {
    resume_at (self, number, from_ps);
    return;
  }
  flow->is_waiting = TRUE;
  packet_lane_wait (self, &self->lanes[flow->lane], number | FLOW_BIT);
  packet_port_serve (self, self->lanes[flow->lane].link);
}

/* The NIC is told of a message, and begins one message after another. */
static void
begin_message (PacketNet *self, Flow *flow)
{
  FabTimePs begin_ps = fab_ps_add (MAX (flow->next_ps, self->now_ps), self->params.doorbell_ps);

  if (self->params.message_gap_ps > 0) {
    FabTimePs *free_ps = &self->message_ps[self->lanes[flow->lane].link];

    begin_ps = MAX (begin_ps, *free_ps);
    *free_ps = begin_ps + self->params.message_gap_ps;
  }
  flow->next_ps = begin_ps;
}

void
packet_flow_start (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];
  const PathSet *way = &g_array_index (self->ways, PathSet, flow->way);
  const Hop *hop = &g_array_index (self->hops, Hop, g_array_index (self->paths, guint32, way->first_path));
  double paced = self->ports[self->lanes[hop->lane].link].ps_per_byte * hop->cost
               / self->params.pace_fraction;

  self->n_flow_changes++;
  flow->lane = hop->lane;
  flow->window_bytes = window_of (self, way);
  flow->ack_bytes = (guint32) MIN (MAX (flow->window_bytes / 4, self->params.mtu_bytes), G_MAXUINT32 / 2);
  if (self->params.pace_fraction < 1)
    flow->pace_ps_per_byte = MAX (flow->pace_ps_per_byte, paced);
  flow->nacked = NONE;
  if (way->has_nic)
    begin_message (self, flow);
  if (flow->sender == NONE)
    flow->sender = packet_sender_new (self, flow->way);
  if (packet_takes_credit (self, flow->sender))
    packet_credit_ask (self, flow->sender, flow->bytes, TRUE);
  packet_flow_join (self, number);
}

static guint32
packet_new (PacketNet *self)
{
  guint32 number = self->free_packet;

  if (number != NONE) {
    self->free_packet = self->packets[number].next;
    return number;
  }
  if (self->n_packets == self->packet_capacity) {
    self->packet_capacity = MAX (1024, 2 * self->packet_capacity);
    self->packets = g_renew (Packet, self->packets, self->packet_capacity);
    packet_notes_grow (self);
  }
  return self->n_packets++;
}

guint32
packet_flow_take (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];
  const PathSet *way = &g_array_index (self->ways, PathSet, flow->way);
  guint32 packet = packet_new (self);
  guint32 size = (guint32) MIN (flow->left_bytes, self->params.mtu_bytes);

  self->packets[packet] = (Packet){
    .next = NONE,
    .flow = number,
    .hop = g_array_index (self->paths, guint32, way->first_path + packet_balance_first (self, flow)),
    .size = size,
    .number = flow->n_sent++,
    .from = NONE,
  };
  flow->left_bytes -= size;
  flow->flight_bytes += size;
  flow->n_entries +=
      way->is_lossy; /* it stays until its packets are gone: some may be sent again after its end */
  if (flow->sender != NONE)
    packet_sender_sent (self, flow->sender, packet, size);
  if (flow->pace_ps_per_byte > 0)
    flow->next_ps = MAX (flow->next_ps, self->now_ps) + packet_wire_ps (flow->pace_ps_per_byte, size);
  return packet;
}

/* The last packet is on the wire. */
static void
end_sending (PacketNet *self, guint32 number, FabTimePs free_ps)
{
  Flow *flow = &self->flows[number];

  flow->is_waiting = FALSE;
  flow->next_ps = MAX (flow->next_ps, free_ps);
  if (g_array_index (self->ways, PathSet, flow->way).is_lossy)
    packet_loss_watch (self, number);
  if (flow->left.fn == NULL || flow->has_left)
    return;
  flow->n_entries++;
  agenda_add (&self->agenda, flow->next_ps, KIND_LEFT, number);
}

gboolean
packet_flow_goes_on (PacketNet *self, guint32 number, FabTimePs free_ps)
{
  Flow *flow = &self->flows[number];

  if (flow->left_bytes == 0) {
    end_sending (self, number, free_ps);
    return FALSE;
  }
  if (may_send (self, flow) && allowed_ps (self, flow) <= free_ps)
    return TRUE;
  flow->is_waiting = FALSE;
  packet_flow_join (self, number);
  return flow->is_waiting;
}

void
packet_flow_resume (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  if (!flow->is_resumed || flow->resume_ps != self->now_ps) {
    packet_flow_release (self, number);
    return;
  }
  flow->n_entries--;
  flow->is_resumed = FALSE;
  if (flow->sender != NONE)
    packet_sender_unpace (self, number);
  packet_flow_join (self, number);
}

/* Calls `left`, once. */
static void
tell_left (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];
  FabDone left = flow->left;

  if (flow->has_left || left.fn == NULL)
    return;
  flow->has_left = TRUE;
  left.fn (left.owner, left.arg);
}

void
packet_flow_left (PacketNet *self, guint32 number)
{
  tell_left (self, number);
  packet_flow_release (self, number);
}

void
packet_flow_acked (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  flow->flight_bytes -= MIN (flow->flight_bytes, flow->ack_bytes); /* fewer after going back */
  if (!flow->is_over)
    packet_flow_join (self, number);
  packet_flow_release (self, number);
}

static void
acknowledge (PacketNet *self, guint32 number, guint32 size)
{
  Flow *flow = &self->flows[number];

  flow->unacked_bytes += size;
  if (flow->window_bytes == 0 || flow->left_bytes == 0 || flow->unacked_bytes < flow->ack_bytes)
    return;
  flow->unacked_bytes -= flow->ack_bytes;
  flow->n_entries++;
  agenda_add (&self->agenda,
              self->now_ps + self->ack_late_ps + g_array_index (self->ways, PathSet, flow->way).back_ps,
              KIND_ACK, number);
}

void
packet_drop (PacketNet *self, guint32 packet)
{
  self->packets[packet].next = self->free_packet;
  self->free_packet = packet;
}

/* Returns how much later than the last byte arrives the message ends. */
static FabTimePs
end_late_ps (const PacketNet *self, const PathSet *way)
{
  FabTimePs late_ps = way->has_nic ? self->params.completion_ps : 0;

  return self->params.ack_bytes > 0 && way->is_marked ? late_ps + way->back_ps + self->ack_late_ps : late_ps;
}

static void
tell_arrived (PacketNet *self, FabDone arrived, FabTimePs late_ps)
{
  if (arrived.fn && late_ps > 0)
    fab_engine_after (self->base.env.engine, late_ps, arrived.fn, arrived.owner, arrived.arg);
  else if (arrived.fn)
    arrived.fn (arrived.owner, arrived.arg);
}

/* The last byte has arrived. */
static void
end (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];
  FabTimePs late_ps = end_late_ps (self, &g_array_index (self->ways, PathSet, flow->way));
  FabDone arrived = flow->arrived;

  self->n_flow_changes++;
  if (flow->is_metered) {
    self->n_others--;
    packet_path_set_meter (self, flow);
  }
  if (flow->left_bytes > 0 && packet_takes_credit (self, flow->sender))
    packet_credit_cancel (self, flow->sender, flow->left_bytes);
  flow->is_over = TRUE;
  flow->n_entries++; /* kept until all callbacks have run */
  tell_left (self, number);
  tell_arrived (self, arrived, late_ps);
  packet_flow_release (self, number);
}

void
packet_flow_deliver (PacketNet *self, guint32 packet_number)
{
  const Packet *packet = &self->packets[packet_number];
  guint32 number = packet->flow, size = packet->size;
  Flow *flow = &self->flows[number];
  gboolean is_lossy = g_array_index (self->ways, PathSet, flow->way).is_lossy;
  gboolean is_new = !is_lossy || packet_loss_accepts (self, packet);

  if (!is_new)
    packet_path_set_meter_lost (self, packet);
  if (packet_takes_credit (self, flow->sender))
    packet_credit_ended (self, flow->sender, size);
  packet_finish (self, packet_number, PACKET_ARRIVED, self->ack_late_ps);
  flow->last_ps = self->now_ps;
  if (is_new && (flow->missing_bytes -= size) > 0)
    acknowledge (self, number, size);
  else if (is_new)
    end (self, number);
  if (is_lossy)
    packet_flow_release (self, number);
}

/* A collective in steady state: its footprint says what every link carries, but not in which order.
 *
 * Every link sends its part as packets of its own, beside everything else that crosses it. The stream ends when the
 * last link is done. When the part of one link is slowed by other traffic, the other links do not wait for it. Only
 * collectives without a known schedule of messages use this.
 */

typedef struct {
  PacketNet *net;
  const FabFootprint *footprint;
  FabBytes bytes;
  double wire_factor, limit_bytes_per_s;
  guint n_left;
  guint8 service;
  FabDone done;
} Stream;

G_STATIC_ASSERT (sizeof (Stream) <= PACKET_STREAM_SIZE);

static void
part_left (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Stream *stream = owner;
  FabDone done = stream->done;

  if (--stream->n_left > 0)
    return;
  stream->net->n_others--;
  fab_meter_add_footprint (stream->net->base.meter, stream->footprint, stream->bytes, stream->wire_factor);
  fab_pool_give (&stream->net->streams, stream);
  done.fn (done.owner, done.arg);
}

static void
start (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Stream *stream = owner;
  PacketNet *self = stream->net;

  packet_net_enter (self);
  for (guint i = 0; i < stream->footprint->n; i++) {
    double factor = stream->footprint->line_weights[i] * stream->wire_factor;
    guint32 way = packet_path_set_of_link (self, stream->footprint->links[i], stream->service);
    guint32 flow = packet_flow_new (self, way, (FabBytes) ((double) stream->bytes * factor) + 1);

    self->flows[flow].left = (FabDone){ part_left, stream, 0 };
    if (stream->limit_bytes_per_s > 0)
      self->flows[flow].pace_ps_per_byte = (double) FAB_PS_PER_S / (stream->limit_bytes_per_s * factor);
    packet_flow_start (self, flow);
  }
  packet_net_leave (self);
}

void
packet_stream (FabNet *net, const FabStream *stream)
{
  PacketNet *self = (PacketNet *) net;
  Stream *started;

  if (stream->bytes == 0) {
    fab_engine_after (net->env.engine, stream->startup_ps, stream->done.fn, stream->done.owner,
                      stream->done.arg);
    return;
  }
  started = fab_pool_take (&self->streams);
  self->n_others++;
  *started = (Stream){ self,
                       stream->footprint,
                       stream->bytes,
                       stream->wire_factor,
                       stream->limit_bytes_per_s,
                       stream->footprint->n,
                       packet_service_of (self, stream->traffic),
                       stream->done };
  fab_engine_after (net->env.engine, stream->startup_ps, start, started, 0);
}

/* Makes whole paths from the shares that a router gives to links.
 *
 * Each path starts at the source and takes at every vertex the link that is furthest behind its share of the paths so
 * far. So after n paths a link is on its share of them, to within one or two paths. Where shares form a cycle, as
 * those through other switches can, the cycle is cut out.
 */

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
packet_spread (PacketNet *self, const FabLeg *leg, gboolean is_detour, guint n, GArray *paths)
{
  FabRouter *router = self->base.env.router;
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  gboolean has_path = router->ops->choices != NULL
                        ? router->ops->choices (router, leg->src, leg->dst, leg->flow_hash, is_detour, shares)
                        : fab_router_spread (router, leg->src, leg->dst, leg->flow_hash, shares);

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
