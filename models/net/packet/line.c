/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - connections of a collective: every message is a flow, and arrivals are reported in the order of sending.
 *
 * The cost of a byte on each link comes from the connection's footprint. The limit of the ends spaces its packets,
 * also from one message to the next.
 */
#include <math.h>

#include "models/net/packet/parts.h"

typedef struct {
  PacketNet *net;
  FabConnection connection;
  guint32 way;
  guint32 sender;     /* whom congestion control governs: all messages of the line together */
  guint32 head, tail; /* flows of messages whose arrival is not reported yet, linked by `line_next` */
  FabTimePs next_ps;  /* when the ends can send again */
  double bytes;       /* sum over all messages */
} Line;

G_STATIC_ASSERT (sizeof (Line) <= PACKET_LINE_SIZE);

FabNetLine *
packet_open (FabNet *net, const FabConnection *connection)
{
  PacketNet *self = (PacketNet *) net;
  Line *line = fab_pool_take (&self->lines);

  line->net = self;
  line->connection = *connection;
  if (connection->rotation != NULL)
    packet_ports_turn (self, connection->rotation);
  line->way = packet_path_set (self, connection->legs, connection->n_legs,
                               (PacketUse){ connection->footprint, connection->wire_factor, connection->drive,
                                            packet_service_of (self, connection->traffic),
                                            connection->rotation });
  line->sender = packet_sender_new (self, line->way);
  line->head = line->tail = NONE;
  self->n_lines++;
  self->lone.n_lines += !connection->repeats;
  return (FabNetLine *) line;
}

static void
message_left (gpointer owner, guint64 number)
{
  Line *line = owner;

  line->net->lone.n_changes += !line->connection.repeats;
  line->next_ps = line->net->flows[number].next_ps;
  line->connection.left (line->connection.owner, line->connection.arg);
}

/* Reports the message, and later ones that arrived before it. */
static void
message_arrived (gpointer owner, G_GNUC_UNUSED guint64 number)
{
  Line *line = owner;
  PacketNet *self = line->net;
  const FabConnection connection = line->connection;
  FabTimePs now_ps = fab_engine_now (self->base.env.engine); /* later than the network, with a `completion` */

  while (line->head != NONE && self->flows[line->head].is_over) {
    Flow *flow = &self->flows[line->head];
    FabTimePs at_ps = MAX (now_ps, fab_ps_add (flow->next_ps, connection.latency_ps));
    gboolean is_last = flow->line_next == NONE;

    guint32 told = line->head;
    line->head = flow->line_next;
    if (is_last)
      line->tail = NONE;
    packet_flow_release (self, told);
    connection.arrives (connection.owner, connection.arg, at_ps);
    if (is_last) /* the callback may have freed the line */
      return;
  }
}

void
packet_message (FabNet *net, FabNetLine *net_line, double bytes, FabTimePs begin_ps)
{
  PacketNet *self = (PacketNet *) net;
  Line *line = (Line *) net_line;
  double limit = line->connection.limit_bytes_per_s;
  guint32 number;
  Flow *flow;

  packet_net_enter (self);
  line->bytes += bytes;
  number = packet_flow_new (self, line->way, (FabBytes) ceil (bytes - 1e-6));
  flow = &self->flows[number];
  flow->left = (FabDone){ message_left, line, number };
  flow->arrived = (FabDone){ message_arrived, line, number };
  flow->drive = line->connection.drive;
  flow->is_single = !line->connection.repeats;
  self->lone.n_changes += flow->is_single;
  flow->line_next = NONE;
  flow->n_entries++; /* kept until its arrival is reported */
  if (limit > 0)
    flow->pace_ps_per_byte = (double) FAB_PS_PER_S / limit;
  flow->next_ps = MAX (begin_ps, limit > 0 ? line->next_ps : 0);
  flow->sender = line->sender;
  if (line->sender != NONE)
    self->senders[line->sender].n_entries++;
  if (line->head == NONE)
    line->head = number;
  else
    self->flows[line->tail].line_next = number;
  line->tail = number;
  packet_flow_start (self, number);
  packet_net_leave (self);
}

void
packet_close (FabNet *net, FabNetLine *net_line)
{
  PacketNet *self = (PacketNet *) net;
  Line *line = (Line *) net_line;

  if (line->bytes > 0 && !line->connection.is_counted_apart && !packet_path_set_is_spread (self, line->way))
    fab_meter_add_line (net->meter, line->connection.footprint, line->bytes, line->connection.wire_factor);
  packet_sender_release (self, line->sender);
  self->n_lines--;
  self->lone.n_lines -= !line->connection.repeats;
  fab_pool_give (&self->lines, line);
}
