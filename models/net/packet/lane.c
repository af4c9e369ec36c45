/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - links and lanes before anything crosses them: their rates, their room, and what keeps them from losing
 * packets. */
#include <string.h>

#include "models/net/packet/parts.h"

void
packet_port_set_rate (PacketNet *self, guint32 link, double fraction)
{
  double rate = (double) fab_graph_link (self->base.env.graph, link)->rate_bytes_per_s * fraction;
  Port *port = &self->ports[link];

  if (fraction <= 0) {
    port->free_ps = FAB_TIME_MAX;
    return;
  }
  port->ps_per_byte = (double) FAB_PS_PER_S / rate;
  if (port->free_ps == FAB_TIME_MAX) {
    port->free_ps = self->now_ps;
    packet_port_serve (self, link);
  }
}

/* Returns the default buffer: what is on the wire in one round trip, and 8 packets. */
static FabBytes
room_of (const PacketNet *self, const FabLink *link)
{
  FabTimePs round_ps = link->latency_ps + fab_graph_link (self->base.env.graph, link->reverse)->latency_ps;
  double bytes = fab_ps_to_seconds (round_ps) * (double) link->rate_bytes_per_s
               + 8 * (double) self->params.mtu_bytes;

  if (self->params.buffer_bytes > 0)
    bytes = (double) MAX (self->params.buffer_bytes, 2 * self->params.mtu_bytes);
  return (FabBytes) MIN (bytes, G_MAXINT32);
}

static guint8
control_of (const PacketNet *self, guint32 link)
{
  static const guint8 controls[] = {
    [FAB_FLOW_CREDIT] = CONTROL_CREDIT, [FAB_FLOW_PFC] = CONTROL_PFC, [FAB_FLOW_DROP] = CONTROL_DROP
  };

  if (self->params.control != CONTROL_AUTO)
    return (guint8) self->params.control;
  return controls[fab_graph_link_class (self->base.env.graph, link)->flow_control];
}

Lane
packet_lane_empty (const PacketNet *self, guint32 number, guint8 service, guint8 level)
{
  const FabLink *link = fab_graph_link (self->base.env.graph, number);
  FabBytes room = room_of (self, link), mtu = self->params.mtu_bytes;
  Lane lane = { .link = number,
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
  self->lanes = g_new0 (Lane, self->lane_capacity);
  for (guint32 i = 0; i < n_links; i++) {
    FabTimePs latency_ps = fab_graph_link (self->base.env.graph, i)->latency_ps;

    self->ports[i] = (Port){ .latency_ps = latency_ps, .head = NONE, .tail = NONE, .turn = i };
    self->lanes[i] = packet_lane_empty (self, i, 0, 0);
    packet_port_set_rate (self, i, 1);
  }
}

void
packet_ports_clear (PacketNet *self)
{
  g_free (self->ports);
  g_free (self->lanes);
}
