/* SPDX-License-Identifier: Apache-2.0 */
/* congestion.c - marks of switches, and the senders that a model of congestion control (sim/net/congestion.h) governs.
 *
 *   switch    marks with a probability that rises from 0 at mark_from to mark_fraction at mark_all, and is 1 above
 *   sender    one per connection, or per message that is in none; its messages share one rate and one window
 *   reports   that packets arrived, and that they were marked, come after the latency of the way back; they take no
 *             bandwidth
 *
 * Senders exist only on paths that cross links with PFC or losses, so other networks pay nothing.
 */
#include <string.h>

#include "models/net/packet/parts.h"

/* ECN thresholds by line rate, and between these rates in proportion; beyond the last one they stay, as buffers do:
 * KMIN_MAP and KMAX_MAP of the ns-3 configuration of ASTRA-sim and of SimAI (github.com/astra-sim/astra-sim,
 * github.com/aliyun/SimAI; read on 2026-11-22). Up to 100 Gb/s they are the rule of Y. Li et al., "HPCC: High Precision
 * Congestion Control", SIGCOMM 2019 (simulation/run.py of its simulator): 100 and 400 kB per 25 Gb/s. */
typedef struct {
  double gbit_per_s;
  double mark_from_kb, mark_all_kb;
} Preset;

static const Preset presets[] = {
  { 0, 0, 0 }, { 25, 100, 400 }, { 40, 200, 800 }, { 100, 400, 1600 }, { 200, 600, 2400 }, { 400, 800, 3200 },
};

static double
between (double at, double from, double to)
{
  return from + at * (to - from);
}

/* PFC comes after ECN, else it keeps senders from being told (SIGCOMM 2015, section 4): a port that is fed by one link
 * marks before that link is paused. */
Thresholds
packet_thresholds (const PacketParams *params, FabBytesPerS rate_bytes_per_s, FabBytes queue_bytes)
{
  const double bytes_per_gbit = 1e9 / 8, most = G_MAXINT32;
  double gbit_per_s = MIN ((double) rate_bytes_per_s / bytes_per_gbit,
                           presets[G_N_ELEMENTS (presets) - 1].gbit_per_s);
  guint above = 1;

  while (presets[above].gbit_per_s < gbit_per_s)
    above++;
  const Preset *low = &presets[above - 1], *high = &presets[above];
  double at = (gbit_per_s - low->gbit_per_s) / (high->gbit_per_s - low->gbit_per_s);
  double from = between (at, low->mark_from_kb, high->mark_from_kb) * 1000,
         all = between (at, low->mark_all_kb, high->mark_all_kb) * 1000;

  if (queue_bytes > 0 && all > (double) queue_bytes) {
    from *= (double) queue_bytes / all;
    all = (double) queue_bytes;
  }
  const double usual = from;
  from = params->mark_from_bytes > 0 ? (double) params->mark_from_bytes : usual;
  double pause = params->pause_bytes > 0 ? (double) params->pause_bytes : MAX (from, usual);
  return (Thresholds){
    .mark_from = (guint32) from,
    .mark_all = (guint32) (params->mark_all_bytes > 0 ? (double) params->mark_all_bytes : MAX (all, from)),
    .pause = (guint32) MIN (pause, most),
    .resume = params->resume_bytes > 0 ? (guint32) params->resume_bytes : (guint32) MIN (pause * 0.75, most),
  };
}

/* --- marks --- */

gboolean
packet_marks (PacketNet *self, guint32 link, guint32 queued_bytes)
{
  const PacketParams *p = &self->params;
  const Thresholds *thresholds = &self->thresholds[link];
  double above = (double) queued_bytes - thresholds->mark_from;
  double range = (double) thresholds->mark_all - thresholds->mark_from;

  if (above <= 0)
    return FALSE;
  if (queued_bytes >= thresholds->mark_all)
    return TRUE;
  return (double) (packet_random (self) >> 11) * 0x1p-53 < p->mark_fraction * above / range;
}

/* --- senders --- */

FabCongestion *
packet_sender_state (const PacketNet *self, guint32 number)
{
  return (FabCongestion *) (self->states + (gsize) number * self->congestion->state_size);
}

FabTimePs
packet_sender_forth_ps (const PacketNet *self, guint32 way_number)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, way_number);
  guint32 first = g_array_index (self->paths, guint32, way->first_path);
  gboolean is_stored = self->params.switching == SWITCHING_STORE_AND_FORWARD;
  double wire_ps = is_stored ? 0 : way->ps_per_byte * (double) self->params.mtu_bytes;
  FabTimePs sum_ps = 0;

  for (const Hop *hop = &g_array_index (self->hops, Hop, first); hop->lane != NONE; hop++) {
    const Port *port = &self->ports[self->lanes[hop->lane].link];

    sum_ps = fab_ps_add (sum_ps, port->latency_ps);
    if (is_stored)
      wire_ps += port->ps_per_byte * hop->cost * (double) self->params.mtu_bytes;
  }
  return fab_ps_add (sum_ps, (FabTimePs) MIN (wire_ps, (double) FAB_TIME_MAX / 4));
}

/* Payload bytes per second of the slowest link, where every packet is a whole one. */
static double
line_rate (const PacketNet *self, const PathSet *way)
{
  guint32 first = g_array_index (self->paths, guint32, way->first_path);
  double ps_per_byte = way->ps_per_byte;

  if (self->header_bytes > 0)
    for (const Hop *hop = &g_array_index (self->hops, Hop, first); hop->lane != NONE; hop++)
      ps_per_byte = MAX (ps_per_byte,
                         self->ports[self->lanes[hop->lane].link].ps_per_byte
                             * (hop->cost + self->header_bytes / (double) self->params.mtu_bytes));
  return (double) FAB_PS_PER_S / ps_per_byte;
}

/* Bytes per second of the slowest link, with headers. */
static double
wire_rate (const PacketNet *self, const PathSet *way)
{
  guint32 first = g_array_index (self->paths, guint32, way->first_path);
  double ps_per_byte = 0;

  for (const Hop *hop = &g_array_index (self->hops, Hop, first); hop->lane != NONE; hop++)
    ps_per_byte = MAX (ps_per_byte, self->ports[self->lanes[hop->lane].link].ps_per_byte);
  return (double) FAB_PS_PER_S / ps_per_byte;
}

static guint
count_hops (const PacketNet *self, const PathSet *way)
{
  guint32 first = g_array_index (self->paths, guint32, way->first_path);
  guint n = 0;

  while (g_array_index (self->hops, Hop, first + n).lane != NONE)
    n++;
  return n;
}

static guint32
sender_take (PacketNet *self)
{
  guint32 number = self->free_sender;

  if (number != NONE) {
    self->free_sender = self->senders[number].next;
    return number;
  }
  if (self->n_senders == self->sender_capacity) {
    self->sender_capacity = MAX (64, 2 * self->sender_capacity);
    self->senders = g_renew (Sender, self->senders, self->sender_capacity);
    self->states = g_realloc_n (self->states, self->sender_capacity, self->congestion->state_size);
  }
  return self->n_senders++;
}

guint32
packet_sender_new (PacketNet *self, guint32 way_number)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, way_number);
  guint32 number;
  FabCongestion *state;

  if (self->congestion == NULL || !way->is_marked)
    return NONE;
  number = sender_take (self);
  self->senders[number] = (Sender){ .way = way_number, .blocked = NONE, .paced = NONE, .n_entries = 1 };
  state = packet_sender_state (self, number);
  memset (state, 0, self->congestion->state_size);
  FabTimePs trip_ps = fab_ps_add (packet_sender_forth_ps (self, way_number), way->back_ps);
  *state = (FabCongestion){
    .params = self->params.congestion.params,
    .line_bytes_per_s = line_rate (self, way),
    .wire_bytes_per_s = wire_rate (self, way),
    .round_trip_ps = trip_ps,
    .longest_trip_ps = MAX (trip_ps, packet_longest_trip_ps (self, way_number)),
    .n_hops = count_hops (self, way),
    .mtu_bytes = (guint32) self->params.mtu_bytes,
  };
  self->congestion->start (state);
  if (self->congestion->takes_credit)
    packet_credit_begin (self, number);
  return number;
}

void
packet_sender_release (PacketNet *self, guint32 number)
{
  if (number == NONE || --self->senders[number].n_entries > 0)
    return;
  self->senders[number].next = self->free_sender;
  self->free_sender = number;
}

gboolean
packet_sender_may_send (const PacketNet *self, guint32 number)
{
  const FabCongestion *state = packet_sender_state (self, number);
  double window = state->window_bytes;
  FabBytes flight = self->senders[number].flight_bytes;

  if (self->congestion->takes_credit && state->credit_bytes <= 0)
    return FALSE;
  return window <= 0 || flight == 0 || (double) (flight + self->params.mtu_bytes) <= window;
}

/* --- the rate --- */

static double
ps_per_byte_of (const FabCongestion *state)
{
  return state->rate_bytes_per_s > 0 ? (double) FAB_PS_PER_S / state->rate_bytes_per_s : 0;
}

/* A gap that has begun becomes as short as the present rate allows, so that a sender whose rate rises does not wait for
 * what it was. */
FabTimePs
packet_sender_gap_ps (PacketNet *self, guint32 number)
{
  const Sender *sender = &self->senders[number];
  FabCongestion *state = packet_sender_state (self, number);

  if (self->congestion->elapsed != NULL && state->changes_ps <= self->now_ps)
    self->congestion->elapsed (state, self->now_ps);
  double ps_per_byte = ps_per_byte_of (state);
  if (!self->congestion->lengthens_gap)
    ps_per_byte = MIN (ps_per_byte, sender->gap_ps_per_byte);
  return fab_ps_add (sender->gap_from_ps, packet_wire_ps (ps_per_byte, sender->gap_bytes));
}

FabTimePs
packet_sender_changes_ps (const PacketNet *self, guint32 number)
{
  return self->congestion->elapsed != NULL ? packet_sender_state (self, number)->changes_ps : FAB_TIME_MAX;
}

void
packet_sender_pace (PacketNet *self, guint32 flow_number)
{
  Flow *flow = &self->flows[flow_number];
  Sender *sender = &self->senders[flow->sender];

  flow->paced_next = sender->paced;
  sender->paced = flow_number;
}

void
packet_sender_unpace (PacketNet *self, guint32 flow_number)
{
  const Flow *flow = &self->flows[flow_number];
  guint32 *at = &self->senders[flow->sender].paced;

  while (*at != flow_number)
    at = &self->flows[*at].paced_next;
  *at = flow->paced_next;
}

/* Its model was told something. */
static void
pace_again (PacketNet *self, guint32 number)
{
  for (guint32 flow = self->senders[number].paced; flow != NONE; flow = self->flows[flow].paced_next)
    packet_flow_pace_again (self, flow);
}

/* Notes that a flow waits for its sender's window. */
void
packet_sender_block (PacketNet *self, guint32 flow_number)
{
  Flow *flow = &self->flows[flow_number];
  Sender *sender = &self->senders[flow->sender];

  if (flow->is_blocked)
    return;
  flow->is_blocked = TRUE;
  flow->n_entries++;
  flow->blocked_next = sender->blocked;
  sender->blocked = flow_number;
}

void
packet_sender_unblock (PacketNet *self, guint32 number)
{
  guint32 flow_number = self->senders[number].blocked;

  self->senders[number].blocked = NONE;
  while (flow_number != NONE) {
    Flow *flow = &self->flows[flow_number];
    guint32 next = flow->blocked_next;

    flow->is_blocked = FALSE;
    if (!flow->is_over)
      packet_flow_join (self, flow_number);
    packet_flow_release (self, flow_number);
    flow_number = next;
  }
}

void
packet_sender_sent (PacketNet *self, guint32 number, guint32 packet, guint32 bytes)
{
  Sender *sender = &self->senders[number];

  sender->gap_from_ps = MAX (packet_sender_gap_ps (self, number), self->now_ps);
  if (self->congestion->reported != NULL) {
    sender->flight_bytes += bytes;
    self->notes[packet] = (PacketNote){ .sent_ps = self->now_ps, .left_ps = self->now_ps };
  }
  packet_sender_state (self, number)->credit_bytes -= bytes;
  if (self->congestion->sent)
    self->congestion->sent (packet_sender_state (self, number), self->now_ps, bytes);
  sender->gap_bytes = bytes;
  sender->gap_ps_per_byte = ps_per_byte_of (packet_sender_state (self, number));
}

/* The receiver got a marked packet. */
void
packet_sender_marked (PacketNet *self, guint32 number)
{
  if (number == NONE || self->congestion->marked == NULL
      || !self->congestion->marked (packet_sender_state (self, number), self->now_ps))
    return;
  self->senders[number].n_entries++;
  agenda_add (&self->agenda,
              self->now_ps + self->ack_late_ps
                  + g_array_index (self->ways, PathSet, self->senders[number].way).back_ps,
              KIND_TOLD, number);
}

void
packet_sender_notified (PacketNet *self, guint32 number)
{
  if (self->senders[number].n_entries > 1) {
    self->congestion->notified (packet_sender_state (self, number), self->now_ps);
    pace_again (self, number);
  }
  packet_sender_release (self, number);
}

/* --- reports --- */

void
packet_notes_grow (PacketNet *self)
{
  gsize n = self->packet_capacity;

  if (self->congestion == NULL || self->congestion->reported == NULL)
    return;
  self->notes = g_renew (PacketNote, self->notes, n);
  if (self->congestion->has_telemetry)
    self->telemetry = g_renew (FabTelemetry, self->telemetry, n * MOST_TELEMETRY);
}

FabTimePs
packet_header_ps (const PacketNet *self, const Packet *packet, const Port *port)
{
  return self->flows[packet->flow].sender != NONE ? packet_wire_ps (port->ps_per_byte, self->header_bytes)
                                                  : 0;
}

/* It leaves the first link of its path and, where that leads to an adapter, the one out of it. */
void
packet_note_leaving (PacketNet *self, guint32 packet, const VirtualLane *lane)
{
  const FabGraph *graph = self->base.env.graph;
  PacketNote *note = &self->notes[packet];
  gboolean is_first = self->packets[packet].from == NONE;

  if (note->has_left || self->flows[self->packets[packet].flow].sender == NONE)
    return;
  note->has_left = fab_graph_vertex (graph, fab_graph_link (graph, lane->link)->src)->kind == FAB_VERTEX_NIC;
  if (is_first || note->has_left)
    note->left_ps = self->now_ps;
}

void
packet_telemetry (PacketNet *self, guint32 packet, const VirtualLane *lane, FabTimePs wire_ps)
{
  const FabGraph *graph = self->base.env.graph;
  PacketNote *note = &self->notes[packet];

  self->busy_ps[lane->link] += wire_ps;
  if (self->flows[self->packets[packet].flow].sender == NONE || note->n_hops == MOST_TELEMETRY
      || fab_graph_vertex (graph, fab_graph_link (graph, lane->link)->src)->kind != FAB_VERTEX_SWITCH)
    return;
  self->telemetry[(gsize) packet * MOST_TELEMETRY + note->n_hops++] = (FabTelemetry){
    .port = lane->link,
    .at_ps = self->now_ps,
    .busy_ps = self->busy_ps[lane->link],
    .queue_ps = (double) lane->queued_bytes / self->packets[packet].size * (double) wire_ps,
  };
}

void
packet_finish (PacketNet *self, guint32 number, guint8 end, FabTimePs later_ps)
{
  Packet *packet = &self->packets[number];
  guint32 sender = self->flows[packet->flow].sender, way = self->flows[packet->flow].way;
  gboolean is_governed = sender != NONE && self->congestion->reported != NULL;

  if (!is_governed && !packet_balance_listens (self, way)) {
    packet_drop (self, number);
    return;
  }
  /* Its hop, its flow and the lane it came over are not needed any more. */
  packet->from = packet_balance_path_of (self, packet);
  packet->hop = is_governed ? sender : NONE;
  packet->flow = way;
  packet->next_ps = end;
  if (is_governed) {
    self->notes[number].is_lost = end != PACKET_ARRIVED;
    self->senders[sender].n_entries++;
  }
  agenda_add (&self->agenda, self->now_ps + later_ps + g_array_index (self->ways, PathSet, way).back_ps,
              KIND_REPORT, number);
}

static void
report (PacketNet *self, guint32 number)
{
  const Packet *packet = &self->packets[number];
  const PacketNote *note = &self->notes[number];
  guint32 sender = packet->hop;
  FabPacketReport report = {
    .now_ps = self->now_ps,
    .sent_ps = note->sent_ps,
    .left_ps = note->left_ps,
    .bytes = packet->size,
    .is_marked = (packet->number & MARK_BIT) != 0,
    .is_lost = note->is_lost,
    .hops = self->telemetry ? &self->telemetry[(gsize) number * MOST_TELEMETRY] : NULL,
    .n_hops = note->n_hops,
  };

  self->senders[sender].flight_bytes -= packet->size;
  self->congestion->reported (packet_sender_state (self, sender), &report);
  packet_drop (self, number);
  pace_again (self, sender);
  packet_sender_unblock (self, sender);
  packet_sender_release (self, sender);
}

void
packet_reported (PacketNet *self, guint32 number)
{
  const Packet *packet = &self->packets[number];

  if (packet_balance_listens (self, packet->flow))
    packet_balance_heard (self, packet->flow, packet->from, (guint8) packet->next_ps,
                          (packet->number & MARK_BIT) != 0);
  if (packet->hop != NONE)
    report (self, number);
  else
    packet_drop (self, number);
}

void
packet_senders_init (PacketNet *self)
{
  const FabCongestionOps *ops = (const FabCongestionOps *) self->params.congestion.info;

  self->free_sender = NONE;
  self->congestion = ops != NULL && ops->start != NULL ? ops : NULL;
  if (self->congestion != NULL && self->congestion->takes_credit) {
    self->givers = g_new (Giver, self->n_links + 1);
    packet_credits_rest (self);
  }
  if (self->congestion != NULL && self->congestion->has_telemetry)
    self->busy_ps = g_new0 (FabTimePs, self->n_links + 1);
  if (self->congestion != NULL && self->congestion->header_bytes != NULL)
    self->header_bytes = self->congestion->header_bytes (self->params.congestion.params);
}

void
packet_senders_clear (PacketNet *self)
{
  g_free (self->senders);
  g_free (self->states);
  g_free (self->givers);
  g_free (self->notes);
  g_free (self->telemetry);
  g_free (self->busy_ps);
}
