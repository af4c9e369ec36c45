/* SPDX-License-Identifier: Apache-2.0 */
/* port.c - one link: it sends the packets that wait for it one after another, and they arrive in that order.
 *
 *   starts    when the wire is free and the far end has room
 *   is free   start + size x time per byte
 *   goes on   cut-through: latency after the start, but not before the rest can follow in time; store-and-forward:
 *             latency after the wire is free
 *
 * Queues of other links, and flows that begin here, are served in turn, packet by packet. A wire for which nothing
 * waits has no entry on the agenda.
 */
#include <string.h>

#include "models/net/packet/parts.h"

FabTimePs
packet_wire_ps (double ps_per_byte, guint32 bytes)
{
  /* Slightly less, so that rounding in the product cannot add a ps. */
  double ps = ps_per_byte * bytes * (1 - 0x1p-51);
  FabTimePs whole_ps = (FabTimePs) ps;

  return whole_ps + ((double) whole_ps < ps);
}

/* --- rings of waiting queues and flows --- */

static guint32 *
next_of (PacketNet *self, guint32 waiting)
{
  return waiting & FLOW_BIT ? &self->flows[waiting & ~FLOW_BIT].next : &self->queues[waiting].next;
}

/* Adds an entry behind all that wait. A flow goes before the entry that was served last, as adapters take turns: one
 * that is paced would else get one packet in three beside one that is not. */
void
packet_lane_wait (PacketNet *self, VirtualLane *lane, guint32 waiting)
{
  guint32 last = lane->ring;

  if (last == NONE) {
    *next_of (self, waiting) = waiting;
    lane->ring = lane->before_last = waiting;
    lane->last_was_served = FALSE;
    return;
  }
  gboolean goes_before_last = lane->last_was_served && (waiting & FLOW_BIT);
  guint32 before = goes_before_last ? lane->before_last : last, *next = next_of (self, before);

  *next_of (self, waiting) = *next;
  *next = waiting;
  if (goes_before_last) {
    lane->before_last = waiting;
    return;
  }
  lane->before_last = last;
  lane->ring = waiting;
  lane->last_was_served = FALSE;
}

/* Moves the entry that was just served to the end of the ring, or removes it. */
static void
ring_advance (PacketNet *self, VirtualLane *lane, guint32 served, gboolean stays)
{
  lane->last_was_served = stays != FALSE;
  if (stays) {
    lane->before_last = lane->ring;
    lane->ring = served;
    return;
  }
  if (lane->ring == served) {
    lane->ring = NONE;
    return;
  }
  *next_of (self, lane->ring) = *next_of (self, served);
  if (lane->before_last == served)
    lane->before_last = lane->ring;
}

/* --- buffers --- */

static void
count_queued (PacketNet *self, VirtualLane *lane, guint32 queued_bytes)
{
  if (G_UNLIKELY (self->lengths != NULL))
    packet_lengths_change (self, lane->link, (gint32) (queued_bytes - lane->queued_bytes));
  lane->byte_ps += (double) lane->queued_bytes * (double) (self->now_ps - lane->changed_ps);
  lane->changed_ps = self->now_ps;
  lane->queued_bytes = queued_bytes;
  lane->most_bytes = MAX (lane->most_bytes, queued_bytes);
}

/* The buffer at the end of a link gets its room back at `at_ps`; the link's source is told after a certain amount. */
static void
give_credit (PacketNet *self, VirtualLane *lane, guint32 from, guint32 size, FabTimePs at_ps)
{
  lane->owed_bytes += size;
  if (lane->owed_bytes < lane->credit_bytes)
    return;
  lane->owed_bytes -= lane->credit_bytes;
  agenda_add (&self->agenda, at_ps + self->ports[lane->link].latency_ps, KIND_CREDIT, from);
}

/* PFC: the bytes that came over a link and wait at its end have changed. */
static void
hold (PacketNet *self, VirtualLane *lane, guint32 from, guint32 held_bytes)
{
  lane->held_bytes = held_bytes;
  guint32 limit_bytes = packet_buffers_pause (self, lane->link, lane->has_asked);
  if (lane->has_asked ? held_bytes > limit_bytes : held_bytes <= limit_bytes)
    return;
  lane->has_asked = !lane->has_asked;
  lane->n_pauses += lane->has_asked;
  agenda_add (&self->agenda, self->now_ps + self->ports[lane->link].latency_ps,
              lane->has_asked ? KIND_PAUSE : KIND_UNPAUSE, from);
}

static void
free_room (PacketNet *self, guint32 from, guint32 size, FabTimePs at_ps)
{
  VirtualLane *lane = &self->lanes[from];

  if (lane->control == CONTROL_CREDIT)
    give_credit (self, lane, from, size, at_ps);
}

static gboolean
has_room (const PacketNet *self, const VirtualLane *lane)
{
  return lane->room_bytes >= (gint32) self->params.mtu_bytes && !lane->is_paused;
}

/* --- the wire --- */

/* Returns when a packet that starts now can continue from the far end. */
static FabTimePs
goes_on_ps (const PacketNet *self, const Packet *packet, const Port *port)
{
  const Hop *hop = &g_array_index (self->hops, Hop, packet->hop), *next = hop + 1;
  FabTimePs head_ps = self->now_ps + port->latency_ps, tail_ps = port->free_ps + port->latency_ps;

  if (G_UNLIKELY (hop->own < 1)) {
    double wire_ps = (double) (port->free_ps - self->now_ps);

    tail_ps = head_ps + (FabTimePs) (wire_ps * (double) (hop->late + hop->own));
    head_ps += (FabTimePs) (wire_ps * (double) hop->late);
  }
  if (next->lane == NONE || self->params.switching == SWITCHING_STORE_AND_FORWARD)
    return tail_ps;
  double ps_per_byte = self->ports[self->lanes[next->lane].link].ps_per_byte * next->cost;
  if (G_UNLIKELY (next->own < 1))
    ps_per_byte *= (double) next->own;
  FabTimePs wire_ps = packet_wire_ps (ps_per_byte, packet->size);
  if (G_UNLIKELY (self->header_bytes > 0))
    wire_ps += packet_header_ps (self, packet, &self->ports[self->lanes[next->lane].link]);
  return MAX (head_ps, tail_ps - wire_ps);
}

/* Start-time fair queueing: a lane that comes late does not get the service for which it did not ask before. */
static void
count_served (const PacketNet *self, Port *port, VirtualLane *lane, guint32 bytes)
{
  port->served = MAX (port->served, lane->served);
  lane->served = port->served + bytes / self->weights[lane->service];
  port->turn = (guint32) (lane - self->lanes);
}

static void
put_on_wire (PacketNet *self, VirtualLane *lane, guint32 number)
{
  Packet *packet = &self->packets[number];
  Port *port = &self->ports[lane->link];
  const Hop *hop = &g_array_index (self->hops, Hop, packet->hop);

  port->free_ps = self->now_ps + packet_wire_ps (port->ps_per_byte * hop->cost, packet->size);
  if (G_UNLIKELY (self->header_bytes > 0))
    port->free_ps += packet_header_ps (self, packet, port);
  if (G_UNLIKELY (self->notes != NULL))
    packet_note_leaving (self, number, lane);
  if (packet->from != NONE && !self->lanes[packet->from].ends_in_memory)
    free_room (self, packet->from, packet->size, port->free_ps);
  packet->from = (guint32) (lane - self->lanes);
  if (G_UNLIKELY (self->busy_ps != NULL))
    packet_telemetry (self, number, lane, port->free_ps - self->now_ps);
  if (lane->control == CONTROL_CREDIT)
    lane->room_bytes -= (gint32) packet->size;
  if (lane->carried_bytes == 0)
    g_array_append_val (self->used_lanes, packet->from);
  lane->carried_bytes += packet->size;
  if (packet_path_set_is_spread (self, self->flows[packet->flow].way))
    fab_meter_add_link (self->base.meter, lane->link, packet->size, packet->size * hop->cost);
  /* Where there are classes, those that come to a link later find what the others had. */
  if (self->n_services > 1 || lane->next != (guint32) (lane - self->lanes))
    count_served (self, port, lane, packet->size);
  FabTimePs at_ps = goes_on_ps (self, packet, port);
  packet->next = NONE;
  if (port->head == NONE) {
    port->head = number;
    agenda_add (&self->agenda, at_ps, KIND_ARRIVE, lane->link);
  } else {
    self->packets[port->tail].next = number;
    self->packets[port->tail].next_ps = at_ps;
  }
  port->tail = number;
}

static guint32
queue_take (PacketNet *self, VirtualLane *lane, Queue *queue)
{
  guint32 number = queue->head;

  queue->head = self->packets[number].next;
  const Packet *packet = &self->packets[number];
  VirtualLane *from = &self->lanes[packet->from];

  count_queued (self, lane, lane->queued_bytes - packet->size);
  if (self->memories != NULL)
    packet_buffers_count (self, lane->link, -(double) packet->size);
  if (from->control == CONTROL_PFC && !from->ends_in_memory)
    hold (self, from, packet->from, from->held_bytes - packet->size);
  return number;
}

/* Marks a packet by what waits for its link, unless the choice is made elsewhere (`mark_at`). */
static void
mark (PacketNet *self, VirtualLane *lane, guint32 number, gint at)
{
  if (self->params.mark_at != at || (lane->control != CONTROL_PFC && !packet_lane_loses (lane))
      || !packet_marks (self, lane->link, lane->queued_bytes))
    return;
  self->packets[number].number |= MARK_BIT;
  lane->n_marks++;
}

static void
send_next (PacketNet *self, VirtualLane *lane)
{
  guint32 served = *next_of (self, lane->ring);

  if (served & FLOW_BIT) {
    guint32 flow = served & ~FLOW_BIT;

    put_on_wire (self, lane, packet_flow_take (self, flow));
    ring_advance (self, lane, served, packet_flow_goes_on (self, flow, self->ports[lane->link].free_ps));
  } else {
    Queue *queue = &self->queues[served];
    guint32 number = queue_take (self, lane, queue);

    mark (self, lane, number, MARK_AT_DEQUEUE);
    put_on_wire (self, lane, number);
    ring_advance (self, lane, served, queue->head != NONE);
  }
}

static void
wake_later (PacketNet *self, guint32 link)
{
  Port *port = &self->ports[link];

  if (port->is_woken || port->free_ps == FAB_TIME_MAX)
    return;
  port->is_woken = TRUE;
  agenda_add (&self->agenda, port->free_ps, KIND_WAKE, link);
}

/* Whether `lane` is served before the present choice. */
static gboolean
goes_before (const PacketNet *self, const VirtualLane *lane, const VirtualLane *other)
{
  if (self->params.arbitration == ARBITRATION_STRICT
      && self->weights[lane->service] != self->weights[other->service])
    return self->weights[lane->service] > self->weights[other->service];
  return lane->served < other->served;
}

/* Returns the waiting lane that has had the least service for its weight, the next in turn of equals; NULL: none may
 * send. */
static VirtualLane *
lane_to_serve (PacketNet *self, Port *port)
{
  guint32 number = port->turn;
  VirtualLane *best = NULL;

  do {
    VirtualLane *lane = &self->lanes[number = self->lanes[number].next];

    if (lane->ring == NONE)
      continue;
    if (!has_room (self, lane))
      lane->n_stalls++;
    else if (best == NULL || goes_before (self, lane, best))
      best = lane;
  } while (number != port->turn);
  return best;
}

static gboolean
is_waited_for (const PacketNet *self, const Port *port)
{
  guint32 number = port->turn;

  do {
    if (self->lanes[number].ring != NONE)
      return TRUE;
    number = self->lanes[number].next;
  } while (number != port->turn);
  return FALSE;
}

void
packet_port_serve (PacketNet *self, guint32 link)
{
  Port *port = &self->ports[link];

  if (port->free_ps > self->now_ps) {
    if (!port->is_woken && is_waited_for (self, port))
      wake_later (self, link);
    return;
  }
  VirtualLane *lane = lane_to_serve (self, port);
  if (lane == NULL)
    return;
  send_next (self, lane);
  if (is_waited_for (self, port))
    wake_later (self, link);
}

void
packet_port_woken (PacketNet *self, guint32 link)
{
  self->ports[link].is_woken = FALSE;
  packet_port_serve (self, link);
}

void
packet_port_credited (PacketNet *self, guint32 lane)
{
  self->lanes[lane].room_bytes += (gint32) self->lanes[lane].credit_bytes;
  packet_port_serve (self, self->lanes[lane].link);
}

void
packet_port_paused (PacketNet *self, guint32 lane, gboolean is_paused)
{
  self->lanes[lane].is_paused = is_paused != FALSE;
  if (!is_paused)
    packet_port_serve (self, self->lanes[lane].link);
}

/* --- the far end --- */

static void
enqueue (PacketNet *self, VirtualLane *lane, const Hop *hop, guint32 number)
{
  Queue *queue = &self->queues[hop->queue];

  self->packets[number].next = NONE;
  if (queue->head == NONE) {
    queue->head = queue->tail = number;
    packet_lane_wait (self, lane, hop->queue);
    packet_port_serve (self, lane->link);
    return;
  }
  self->packets[queue->tail].next = number;
  queue->tail = number;
}

static void
join_queue (PacketNet *self, VirtualLane *lane, const Hop *hop, guint32 number, gboolean may_be_marked)
{
  Packet *packet = &self->packets[number];
  VirtualLane *from = &self->lanes[packet->from];

  count_queued (self, lane, lane->queued_bytes + packet->size);
  if (self->memories != NULL)
    packet_buffers_count (self, lane->link, packet->size);
  if (may_be_marked)
    mark (self, lane, number, MARK_AT_ENQUEUE);
  if (from->control == CONTROL_PFC && !from->ends_in_memory)
    hold (self, from, packet->from, from->held_bytes + packet->size);
  enqueue (self, lane, hop, number);
}

static void
lose (PacketNet *self, VirtualLane *lane, guint32 number, gboolean is_cut)
{
  guint32 lane_number = (guint32) (lane - self->lanes);

  if (lane->carried_bytes == 0 && lane->n_drops == 0)
    g_array_append_val (self->used_lanes, lane_number);
  lane->n_drops++;
  packet_loss_drop (self, number, is_cut);
}

/* What waits for a link that dies is lost if it had another path, and waits on otherwise. */
static void
cut_queues (PacketNet *self, VirtualLane *lane)
{
  g_autoptr (GArray) waiting = g_array_new (FALSE, FALSE, sizeof (guint32));

  while (lane->ring != NONE && !(*next_of (self, lane->ring) & FLOW_BIT)) {
    guint32 served = *next_of (self, lane->ring);
    Queue *queue = &self->queues[served];

    while (queue->head != NONE) {
      guint32 number = queue_take (self, lane, queue);

      g_array_append_val (waiting, number);
    }
    ring_advance (self, lane, served, FALSE);
  }
  for (guint i = 0; i < waiting->len; i++) {
    guint32 number = g_array_index (waiting, guint32, i);
    const Packet *packet = &self->packets[number];

    if (packet_balance_escapes (self, packet))
      lose (self, lane, number, TRUE);
    else
      join_queue (self, lane, &g_array_index (self->hops, Hop, packet->hop), number, FALSE);
  }
}

/* A packet that comes first through an idle port does not wait. */
static void
forward (PacketNet *self, guint32 number, const Hop *hop)
{
  Packet *packet = &self->packets[number];
  VirtualLane *lane = &self->lanes[hop->lane];
  const Port *port = &self->ports[lane->link];

  if (port->free_ps <= self->now_ps && !port->is_woken && lane->ring == NONE && has_room (self, lane)) {
    put_on_wire (self, lane, number);
    return;
  }
  if (packet_lane_loses (lane)) {
    gboolean is_cut = port->free_ps == FAB_TIME_MAX && packet_balance_escapes (self, packet);

    if (is_cut || lane->queued_bytes + packet->size > packet_buffers_queue (self, lane->link)) {
      lose (self, lane, number, is_cut);
      return;
    }
  }
  join_queue (self, lane, hop, number, TRUE);
}

/* Prefetches the data for the next steps, which lie far apart in memory, while the agenda is sorted. On level 0,
 * lanes are links. */
static inline void
look_ahead (const PacketNet *self, const Hop *hop)
{
  __builtin_prefetch (&self->lanes[hop->lane]);
  __builtin_prefetch (&self->queues[hop->queue]);
  if (hop->lane < self->n_links)
    __builtin_prefetch (&self->ports[hop->lane]);
}

/* Its entry of the agenda was taken. */
void
packet_port_arrive (PacketNet *self, guint32 link)
{
  Port *port = &self->ports[link];
  guint32 number = port->head;
  Packet *packet = &self->packets[number];

  const Hop *hop = &g_array_index (self->hops, Hop, ++packet->hop);
  if (hop->lane != NONE)
    look_ahead (self, hop);
  port->head = packet->next;
  if (port->head != NONE) {
    __builtin_prefetch (&self->packets[port->head]);
    agenda_add (&self->agenda, packet->next_ps, KIND_ARRIVE, link);
  }
  if (self->lanes[packet->from].ends_in_memory)
    free_room (self, packet->from, packet->size, self->now_ps);
  if (hop->lane != NONE) {
    if (packet_balance_is_by_switch (self))
      hop = packet_balance_next (self, packet);
    forward (self, number, hop);
    return;
  }
  if (!self->lanes[packet->from].ends_in_memory)
    free_room (self, packet->from, packet->size, self->now_ps);
  if (G_UNLIKELY (self->params.ack_bytes > 0))
    self->ack_late_ps = packet_ack (self, packet);
  if (packet->number & MARK_BIT)
    packet_sender_marked (self, self->flows[packet->flow].sender);
  packet_flow_deliver (self, number);
}

/* Links and lanes before anything crosses them: their rates, their room, and what keeps them from losing
 * packets. */

void
packet_port_set_rate (PacketNet *self, guint32 link, double fraction)
{
  double rate = (double) fab_graph_link (self->base.env.graph, link)->rate_bytes_per_s * fraction;
  Port *port = &self->ports[link];

  if (fraction <= 0) {
    guint32 number = link;

    port->free_ps = FAB_TIME_MAX;
    do {
      VirtualLane *lane = &self->lanes[number];

      if (packet_lane_loses (lane))
        cut_queues (self, lane);
      number = self->lanes[number].next;
    } while (number != link);
    return;
  }
  port->ps_per_byte = (double) FAB_PS_PER_S / rate;
  if (port->free_ps == FAB_TIME_MAX) {
    port->free_ps = self->now_ps;
    packet_port_serve (self, link);
  }
}

/* Returns the default buffer: what is on the wire in one round trip, and 8 packets for each of the parallel links. A
 * link that is shared has so much for its part of the rate. */
static FabBytes
room_of (const PacketNet *self, FabLinkId number)
{
  const FabLink *link = fab_graph_link (self->base.env.graph, number);
  FabTimePs round_ps = link->latency_ps + fab_graph_link (self->base.env.graph, link->reverse)->latency_ps;
  guint n_sharers = packet_port_sharers (self, number);
  double n_parallel = MAX ((double) link->count / n_sharers, 1);
  double bytes = fab_ps_to_seconds (round_ps) * (double) link->rate_bytes_per_s / n_sharers
               + 8 * n_parallel * (double) self->params.mtu_bytes;

  if (self->params.buffer_bytes > 0)
    bytes = (double) MAX (self->params.buffer_bytes / packet_port_sharers (self, number),
                          2 * self->params.mtu_bytes);
  return (FabBytes) MIN (bytes, G_MAXINT32);
}

gboolean
packet_port_has_room_for (const PacketNet *self, guint n_sharers)
{
  const FabBytes least_packets = 8;

  return n_sharers == 1 || self->params.buffer_bytes == 0
      || self->params.buffer_bytes >= n_sharers * least_packets * self->params.mtu_bytes;
}

static gboolean
is_of_networks (gint64 control)
{
  return control == CONTROL_PFC || control == CONTROL_DROP || control == CONTROL_TRIM;
}

/* Links inside a node (PCIe, NVLink, xGMI) know neither pauses nor losses of the network, whatever that has. */
static gboolean
is_inside (const FabGraph *graph, guint32 link)
{
  guint32 from = fab_graph_vertex (graph, fab_graph_link (graph, link)->src)->node,
          to = fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node;

  return from == to && from != FAB_NO_NODE;
}

static guint8
control_of (const PacketNet *self, guint32 link)
{
  static const guint8 controls[] = {
    [FAB_FLOW_CREDIT] = CONTROL_CREDIT, [FAB_FLOW_PFC] = CONTROL_PFC, [FAB_FLOW_DROP] = CONTROL_DROP
  };

  if (self->params.control != CONTROL_AUTO
      && !(is_of_networks (self->params.control) && is_inside (self->base.env.graph, link)))
    return (guint8) self->params.control;
  return controls[fab_graph_link_class (self->base.env.graph, link)->flow_control];
}

VirtualLane
packet_lane_empty (const PacketNet *self, guint32 number, guint8 service, guint8 level)
{
  const FabLink *link = fab_graph_link (self->base.env.graph, number);
  FabBytes room = room_of (self, number), mtu = self->params.mtu_bytes;
  VirtualLane lane = { .link = number,
                       .next = number,
                       .ring = NONE,
                       .room_bytes = G_MAXINT32,
                       .control = control_of (self, number),
                       .service = service,
                       .level = level,
                       .ends_in_memory = packet_is_memory (self->base.env.graph, link->dst) };

  if (lane.control == CONTROL_CREDIT) {
    lane.room_bytes = (gint32) room;
    lane.credit_bytes = (guint32) CLAMP (room / 8, mtu, room - mtu);
  }
  return lane;
}

static void
services_init (PacketNet *self)
{
  const FabParamList *classes = &self->params.classes;

  self->n_services = (guint8) (classes->n + 1);
  self->weights[0] = 1;
  for (guint i = 0; i < classes->n; i++)
    self->weights[i + 1] = (double) ((const PacketClassParams *) classes->data)[i].weight;
}

guint8
packet_service_of (const PacketNet *self, const char *traffic)
{
  const FabParamList *classes = &self->params.classes;

  for (guint8 i = 0; traffic != NULL && i < classes->n; i++)
    if (strcmp (packet_traffics[((const PacketClassParams *) classes->data)[i].of], traffic) == 0)
      return i + 1;
  return 0;
}

void
packet_ports_init (PacketNet *self)
{
  guint n_links = fab_graph_n_links (self->base.env.graph);

  services_init (self);
  self->n_links = self->n_lanes = n_links;
  self->lane_capacity = n_links + 1;
  self->ports = g_new0 (Port, n_links + 1);
  self->lanes = g_new0 (VirtualLane, self->lane_capacity);
  self->thresholds = g_new (Thresholds, n_links + 1);
  self->used_lanes = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 i = 0; i < n_links; i++) {
    const FabLink *link = fab_graph_link (self->base.env.graph, i);
    FabTimePs latency_ps = link->latency_ps;

    self->ports[i] = (Port){ .latency_ps = latency_ps, .head = NONE, .tail = NONE, .turn = i };
    self->lanes[i] = packet_lane_empty (self, i, 0, 0);
    packet_port_set_rate (self, i, 1);
    self->thresholds[i] = packet_thresholds (&self->params, link->rate_bytes_per_s,
                                             packet_lane_loses (&self->lanes[i]) ? self->params.queue_bytes
                                                                                 : 0);
  }
}

/* Nothing is on its way, so that all room which was used is free or owed. */
static void
lane_rest (PacketNet *self, VirtualLane *lane)
{
  Port *port = &self->ports[lane->link];

  g_assert (lane->ring == NONE && lane->queued_bytes == 0 && !lane->is_paused && port->head == NONE);
  if (lane->control == CONTROL_CREDIT)
    lane->room_bytes += (gint32) lane->owed_bytes;
  lane->owed_bytes = 0;
  lane->served = port->served = 0;
  lane->byte_ps = 0;
  lane->carried_bytes = 0;
  lane->most_bytes = lane->n_stalls = lane->n_pauses = lane->n_marks = lane->n_drops = 0;
  port->turn = lane->link;
}

void
packet_ports_rest (PacketNet *self)
{
  for (guint i = 0; i < self->used_lanes->len; i++)
    lane_rest (self, &self->lanes[g_array_index (self->used_lanes, guint32, i)]);
  g_array_set_size (self->used_lanes, 0);
}

static void
share_link (PacketNet *self, FabLinkId link)
{
  guint32 number = link;

  do {
    VirtualLane *lane = &self->lanes[number],
                empty = packet_lane_empty (self, link, lane->service, lane->level);

    g_assert (lane->ring == NONE && lane->queued_bytes == 0 && lane->owed_bytes == 0);
    lane->room_bytes = empty.room_bytes;
    lane->credit_bytes = empty.credit_bytes;
    number = lane->next;
  } while (number != link);
}

void
packet_ports_turn (PacketNet *self, const FabRotation *rotation)
{
  const FabRotation *before = self->rotation;

  if (before == rotation)
    return;
  self->rotation = rotation;
  for (guint i = 0; before != NULL && i < before->n_shared; i++)
    share_link (self, before->shared[i]);
  for (guint i = 0; rotation != NULL && i < rotation->n_shared; i++)
    share_link (self, rotation->shared[i]);
}

static gboolean
is_lane_touched (const VirtualLane *lane)
{
  return lane->ring != NONE || lane->carried_bytes > 0 || lane->queued_bytes > 0 || lane->owed_bytes > 0
      || lane->held_bytes > 0 || lane->is_paused || lane->has_asked || lane->most_bytes > 0
      || lane->n_stalls > 0 || lane->n_pauses > 0 || lane->n_marks > 0 || lane->n_drops > 0
      || lane->served > 0;
}

void
packet_ports_reset (PacketNet *self)
{
  for (guint32 i = 0; i < self->n_lanes; i++) {
    VirtualLane *lane = &self->lanes[i];
    Port *port = &self->ports[lane->link];
    guint32 next = lane->next;

    if (!is_lane_touched (lane))
      continue;
    *lane = packet_lane_empty (self, lane->link, lane->service, lane->level);
    lane->next = next;
    port->head = port->tail = NONE;
    port->free_ps = port->free_ps == FAB_TIME_MAX ? FAB_TIME_MAX : 0;
    port->is_woken = FALSE;
    port->turn = lane->link;
    port->served = 0;
  }
  g_array_set_size (self->used_lanes, 0);
}

void
packet_ports_clear (PacketNet *self)
{
  g_array_unref (self->used_lanes);
  g_free (self->ports);
  g_free (self->lanes);
  g_free (self->thresholds);
}
