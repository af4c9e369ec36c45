/* SPDX-License-Identifier: Apache-2.0 */
/* loss.c - sends dropped packets again.
 *
 *   one path      go-back-N, as RoCE adapters do: the receiver accepts packets in order only and reports a missing one
 *                 once, and the sender goes back to it; when nothing follows a loss, a timeout triggers this
 *   many paths    packets need no order: a lost packet is sent again on its own, after the time of the way back, as in
 *                 SRD
 *   dead link     what it holds and what comes is lost, if there is another path; the sender notices after the timeout
 *   trimmed       a switch cuts a packet that finds no room down to its header, which goes on without waiting; the
 *                 receiver asks for that packet alone, whatever the number of paths: M. Handley et al.,
 *                 "Re-architecting Datacenter Networks and Stacks for Low Latency and High Performance", SIGCOMM 2017
 */
#include "models/net/packet/parts.h"

static gboolean
is_in_order (const PacketNet *self, const Flow *flow)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, flow->way);

  return way->n_paths == 1 && !way->is_trimmed;
}

/* Latency from where a packet was trimmed to its receiver; headers do not wait in queues. */
static FabTimePs
rest_ps (const PacketNet *self, const Packet *packet)
{
  const Hop *hop = &g_array_index (self->hops, Hop, packet->hop);
  FabTimePs sum_ps = 0;

  if (g_array_index (self->ways, PathSet, self->flows[packet->flow].way).is_trimmed)
    for (; hop->lane != NONE; hop++)
      sum_ps = fab_ps_add (sum_ps, self->ports[self->lanes[hop->lane].link].latency_ps);
  return sum_ps;
}

static void
tell (PacketNet *self, guint32 number, FabTimePs later_ps)
{
  FabTimePs back_ps = g_array_index (self->ways, PathSet, self->flows[number].way).back_ps;

  self->flows[number].n_entries++;
  agenda_add (&self->agenda, self->now_ps + later_ps + back_ps, KIND_NACK, number);
}

gboolean
packet_loss_accepts (PacketNet *self, const Packet *packet)
{
  Flow *flow = &self->flows[packet->flow];
  guint32 number = packet->number & ~MARK_BIT;

  if (!is_in_order (self, flow))
    return TRUE;
  if (number == flow->expected) {
    flow->expected++;
    return TRUE;
  }
  if (number > flow->expected && flow->nacked != flow->expected) {
    flow->nacked = flow->expected;
    tell (self, packet->flow, 0);
  }
  return FALSE;
}

void
packet_loss_drop (PacketNet *self, guint32 packet_number, gboolean is_cut)
{
  const Packet *packet = &self->packets[packet_number];
  guint32 number = packet->flow;
  Flow *flow = &self->flows[number];
  gboolean is_trimmed = !is_cut && g_array_index (self->ways, PathSet, flow->way).is_trimmed;
  FabTimePs later_ps = is_cut ? self->params.timeout_ps : rest_ps (self, packet);

  if (packet_takes_credit (self, flow->sender))
    packet_credit_ended (self, flow->sender, packet->size);
  packet_path_set_meter_lost (self, packet);
  if (!is_in_order (self, flow)) {
    flow->lost_bytes += packet->size;
    tell (self, number, later_ps);
  }
  packet_finish (self, packet_number, is_trimmed ? PACKET_TRIMMED : PACKET_LOST, later_ps);
  packet_flow_release (self, number);
}

/* Makes the sender continue from the packet that must come next. */
static void
go_back (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];
  FabBytes from = (FabBytes) flow->expected * self->params.mtu_bytes;

  if (packet_takes_credit (self, flow->sender))
    packet_credit_ask (self, flow->sender, flow->bytes - from - flow->left_bytes, FALSE);
  flow->n_sent = flow->expected;
  flow->left_bytes = flow->bytes - from;
  flow->flight_bytes = 0;
  flow->unacked_bytes = 0;
  packet_flow_join (self, number);
}

void
packet_loss_nacked (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  if (!flow->is_over && is_in_order (self, flow)) {
    go_back (self, number);
  } else if (!flow->is_over) {
    FabBytes bytes = MIN (flow->lost_bytes, self->params.mtu_bytes); /* each word is of one packet */

    flow->left_bytes += bytes;
    flow->lost_bytes -= bytes;
    if (packet_takes_credit (self, flow->sender))
      packet_credit_ask (self, flow->sender, bytes, FALSE);
    packet_flow_join (self, number);
  }
  packet_flow_release (self, number);
}

/* Starts the timeout once the last packet has left. */
void
packet_loss_watch (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  if (flow->is_watched || !is_in_order (self, flow))
    return;
  flow->is_watched = TRUE;
  flow->watched = flow->expected;
  flow->n_entries++;
  agenda_add (&self->agenda, self->now_ps + self->params.timeout_ps, KIND_TIMEOUT, number);
}

void
packet_loss_timeout (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  flow->is_watched = FALSE;
  if (!flow->is_over && flow->left_bytes == 0) {
    if (flow->expected == flow->watched)
      go_back (self, number);
    else
      packet_loss_watch (self, number);
  }
  packet_flow_release (self, number);
}
