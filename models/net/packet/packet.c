/* SPDX-License-Identifier: Apache-2.0 */
/* packet.c - packets of one MTU, hop by hop, over every link.
 *
 *   wire time of a packet on a link = payload x cost of the link / line rate          (port.c)
 *   senders                         send one packet each in turn                      (flow.c)
 *   links without loss              a packet waits until there is room at the far end (port.c)
 *   paths                           the router's, per flow or per packet              (ways.c)
 *   collectives as streams          the part of every link separately                 (stream.c)
 *
 * Events are on an agenda of its own (agenda.h); the engine knows only its first entry. A packet needs one entry per
 * hop, and one more when it had to wait. O(log busy links) each.
 */
#include "models/models.h"
#include "models/net/packet/parts.h"

/* One of the first entries is the next one; by then its packet has been prefetched. */
static inline void
look_ahead (const PacketNet *self)
{
  for (guint i = 1; i < MIN (self->agenda.n, 5); i++) {
    guint32 what = self->agenda.entries[i].what;

    if ((what & (AGENDA_KINDS - 1)) == KIND_ARRIVE)
      __builtin_prefetch (&self->packets[self->ports[what >> AGENDA_KIND_BITS].head]);
  }
}

static void
handle_first (PacketNet *self)
{
  AgendaEntry first = self->agenda.entries[0];
  guint32 number = first.what >> AGENDA_KIND_BITS, kind = first.what & (AGENDA_KINDS - 1);

  self->now_ps = first.at_ps;
  look_ahead (self);
  if (kind == KIND_ARRIVE) {
    packet_port_arrive (self, number);
    return;
  }
  agenda_drop_first (&self->agenda);
  switch (kind) {
  case KIND_WAKE: packet_port_woken (self, number); break;
  case KIND_CREDIT: packet_port_credited (self, number); break;
  case KIND_ACK: packet_flow_acked (self, number); break;
  case KIND_RESUME: packet_flow_resume (self, number); break;
  case KIND_LEFT: packet_flow_left (self, number); break;
  case KIND_PAUSE: packet_port_paused (self, number, TRUE); break;
  case KIND_UNPAUSE: packet_port_paused (self, number, FALSE); break;
  case KIND_CNP: packet_dcqcn_told (self, number); break;
  case KIND_INCREASE: packet_dcqcn_rise (self, number); break;
  case KIND_NACK: packet_loss_nacked (self, number); break;
  case KIND_TIMEOUT: packet_loss_timeout (self, number); break;
  default: g_assert_not_reached ();
  }
}

static void run (gpointer owner, guint64 arg);

static void
arm (PacketNet *self)
{
  FabEngine *engine = self->base.env.engine;
  FabTimePs first_ps = self->agenda.n > 0 ? self->agenda.entries[0].at_ps : FAB_TIME_MAX;

  if (self->timer && self->timer_ps == first_ps)
    return;
  if (self->timer)
    fab_engine_cancel (engine, self->timer);
  self->timer = self->agenda.n > 0 ? fab_engine_at (engine, first_ps, run, self, 0) : 0;
  self->timer_ps = first_ps;
}

/* Runs until the engine has another event that is due first. */
static void
run (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  PacketNet *self = owner;

  self->timer = 0;
  self->is_running = TRUE;
  do
    handle_first (self);
  while (self->agenda.n > 0 && fab_engine_advance (self->base.env.engine, self->agenda.entries[0].at_ps));
  self->is_running = FALSE;
  arm (self);
}

void
packet_net_enter (PacketNet *self)
{
  self->now_ps = fab_engine_now (self->base.env.engine);
}

void
packet_net_leave (PacketNet *self)
{
  if (!self->is_running)
    arm (self);
}

static void
packet_send (FabNet *net, const FabTransfer *transfer)
{
  PacketNet *self = (PacketNet *) net;
  FabLeg leg = { transfer->src, transfer->dst, transfer->flow_hash };

  packet_net_enter (self);
  if (transfer->bytes == 0 || transfer->src == transfer->dst) {
    FabPath path = { 0 };
    gboolean has_path = fab_router_append (net->env.router, leg.src, leg.dst, leg.flow_hash, &path);

    g_assert (has_path);
    fab_engine_after (net->env.engine, fab_path_latency_ps (net->env.graph, &path), transfer->done.fn,
                      transfer->done.owner, transfer->done.arg);
    return;
  }
  guint32 way = packet_way (self, &leg, 1,
                            (PacketUse){ .drive = transfer->drive,
                                         .service = packet_service_of (self, transfer->traffic) });
  guint32 flow = packet_flow_new (self, way, transfer->bytes);
  self->flows[flow].arrived = transfer->done;
  self->flows[flow].is_metered = TRUE;
  self->flows[flow].drive = transfer->drive;
  packet_flow_start (self, flow);
  packet_net_leave (self);
}

static void
packet_set_capacity (FabNet *net, FabLinkId link, double fraction)
{
  PacketNet *self = (PacketNet *) net;

  packet_net_enter (self);
  packet_port_set_rate (self, link, fraction);
  packet_net_leave (self);
}

/* Sums over all lanes of the link. */
static FabLinkQueue
packet_link_queue (const FabNet *net, FabLinkId link)
{
  const PacketNet *self = (const PacketNet *) net;
  FabTimePs now_ps = fab_engine_now (net->env.engine);
  FabLinkQueue sum = { 0 };
  guint32 number = link;

  do {
    const Lane *lane = &self->lanes[number];
    double byte_ps = lane->byte_ps + (double) lane->queued_bytes * (double) (now_ps - lane->changed_ps);

    sum.carried_bytes += (FabBytes) lane->carried_bytes;
    sum.most_bytes += lane->most_bytes;
    sum.mean_bytes += now_ps > 0 ? byte_ps / (double) now_ps : 0;
    sum.n_stalls += lane->n_stalls;
    sum.n_marks += lane->n_marks;
    sum.n_pauses += lane->n_pauses;
    sum.n_drops += lane->n_drops;
    number = lane->next;
  } while (number != link);
  return sum;
}

static FabLinkId
packet_find_jam (const FabNet *net)
{
  const PacketNet *self = (const PacketNet *) net;

  for (guint32 i = 0; self->agenda.n == 0 && i < self->n_lanes; i++)
    if (self->lanes[i].ring != NONE && !(self->lanes[i].ring & FLOW_BIT)
        && self->ports[self->lanes[i].link].free_ps != FAB_TIME_MAX)
      return self->lanes[i].link;
  return FAB_NO_LINK;
}

static FabNet *
packet_create (const FabNetEnv *env, gconstpointer params)
{
  PacketNet *self = g_new0 (PacketNet, 1);

  fab_net_init (&self->base, &fab_net_packet, env);
  self->params = *(const PacketParams *) params;
  self->free_packet = self->free_flow = NONE;
  fab_pool_init (&self->streams, PACKET_STREAM_SIZE);
  fab_pool_init (&self->lines, PACKET_LINE_SIZE);
  self->message_ps = g_new0 (FabTimePs, fab_graph_n_links (env->graph) + 1);
  packet_ports_init (self);
  packet_circles_init (self);
  packet_ways_init (self);
  return &self->base;
}

static void
packet_destroy (FabNet *net)
{
  PacketNet *self = (PacketNet *) net;

  packet_ways_clear (self);
  packet_circles_clear (self);
  packet_ports_clear (self);
  fab_pool_clear (&self->streams);
  fab_pool_clear (&self->lines);
  g_free (self->agenda.entries);
  g_free (self->packets);
  g_free (self->flows);
  g_free (self->rates);
  g_free (self->message_ps);
  fab_net_clear (net);
  g_free (self);
}

const FabNetOps fab_net_packet = {
  .info = { .name = "packet",
            .summary = "Packets, queues and flow control, hop by hop; the judge of the other levels.",
            .doc = "docs/models/packet.md",
            .params = packet_params,
            .params_size = sizeof (PacketParams),
            .check = packet_params_check },
  .shares_links = TRUE,
  .create = packet_create,
  .send = packet_send,
  .stream = packet_stream,
  .destroy = packet_destroy,
  .open = packet_open,
  .message = packet_message,
  .close = packet_close,
  .set_capacity = packet_set_capacity,
  .link_queue = packet_link_queue,
  .find_jam = packet_find_jam,
};
