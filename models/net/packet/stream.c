/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - a collective in steady state: its footprint says what every link carries, but not in which order.
 *
 * Every link sends its part as packets of its own, beside everything else that crosses it. The stream ends when the
 * last link is done. When the part of one link is slowed by other traffic, the other links do not wait for it. Only
 * collectives without a known schedule of messages use this.
 */
#include "models/net/packet/parts.h"

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
    guint32 way = packet_way_of_link (self, stream->footprint->links[i], stream->service);
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
