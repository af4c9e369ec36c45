/* SPDX-License-Identifier: Apache-2.0 */
/* acks.c - acknowledgements as bytes on the links back, where `ack` says that they have some.
 *
 * They wait in the queues of switches as packets do, and take their wire time of every link. Both are counted at the
 * moment when the packet arrives, by the queues of that moment, so that they need no entry of the agenda. Adapters send
 * them before packets. What a sender hears (marks, reports, that its message is complete) comes with them. Only links
 * whose senders congestion control may govern carry them. O(links of the path) per packet.
 */
#include "models/net/packet/parts.h"

/* Bytes that wait for the link, in all of its lanes. */
static guint64
waiting_bytes (const PacketNet *self, const Port *port)
{
  guint32 number = port->turn;
  guint64 sum = 0;

  do {
    sum += self->lanes[number].queued_bytes;
    number = self->lanes[number].next;
  } while (number != port->turn);
  return sum;
}

/* Returns how much longer than its latency an acknowledgement takes to cross the link. */
static FabTimePs
cross (PacketNet *self, guint32 link, double cost)
{
  Port *port = &self->ports[link];
  FabTimePs wire_ps = packet_wire_ps (port->ps_per_byte, (guint32) self->params.ack_bytes),
            busy_ps = MAX (port->free_ps - self->now_ps, 0);

  if (port->free_ps == FAB_TIME_MAX) /* it is dead */
    return 0;
  port->free_ps = MAX (port->free_ps, self->now_ps) + wire_ps;
  if (self->busy_ps != NULL)
    self->busy_ps[link] += wire_ps;
  return busy_ps + (FabTimePs) ((double) waiting_bytes (self, port) * port->ps_per_byte * cost) + wire_ps;
}

FabTimePs
packet_ack (PacketNet *self, const Packet *packet)
{
  const FabGraph *graph = self->base.env.graph;
  const Hop *hops = (const Hop *) (gpointer) self->hops->data;
  FabTimePs late_ps = 0;

  for (guint32 i = packet->hop; i > 0 && hops[i - 1].lane != NONE; i--) {
    const VirtualLane *lane = &self->lanes[hops[i - 1].lane];

    if (lane->control == CONTROL_PFC || packet_lane_loses (lane))
      late_ps += cross (self, fab_graph_link (graph, lane->link)->reverse, hops[i - 1].cost);
  }
  return late_ps;
}
