/* SPDX-License-Identifier: Apache-2.0 */
/* packet.c - packets of one MTU, hop by hop, over every link.
 *
 *   wire time of a packet on a link = payload x cost of the link / line rate          (port.c)
 *   senders                         send one packet each in turn                      (flow.c)
 *   links without loss              a packet waits until there is room at the far end (port.c)
 *   paths                           the router's, per flow or per packet              (paths.c, balance.c)
 *   collectives as streams          the part of every link separately                 (flow.c)
 *
 * Events are on an agenda of its own (agenda.h); the engine knows only its first entry. A packet needs one entry per
 * hop, and one more when it had to wait. O(log busy links) each.
 */
#include "models/net/packet/packet.h"

#include <string.h>

#include "models/models.h"
#include "models/net/packet/parts.h"

/* The keys of the packet network. Of marking: those of the vendor of the adapters in Y. Li et al., "HPCC: High
 * Precision Congestion Control", SIGCOMM 2019 (simulation/run.py of its simulator, `dcqcn`), by the rate of the port
 * (congestion.c). */

static const char *const switchings[] = { "cut_through", "store_and_forward", NULL };
static const char *const controls[] = { "auto", "credit", "pfc", "drop", "trim", "none", NULL };
static const char *const arbitrations[] = { "weighted", "strict", NULL };
static const char *const mark_ats[] = { "dequeue", "enqueue", NULL };
static const char *const balances[] = { "in_turn", "least_queue", NULL };

/* The dimensions of the job, then other traffic. */
const char *const packet_traffics[] = { "data",    "tensor", "context",    "expert",     "pipeline",
                                        "offload", "other",  "neighbours", "background", NULL };

static const FabParam class_params[] = {
  { .key = "of",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (PacketClassParams, of),
    .choices = packet_traffics,
    .help = "Traffic that gets its own lanes: a dimension of the job, other jobs, or background flows." },
  { .key = "weight",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (PacketClassParams, weight),
    .fallback = "1",
    .min = 1,
    .max = 1e6,
    .help = "Weight of the class: its share of a busy link is its weight over the sum of weights. Traffic in "
            "no class has weight 1." },
  { .key = NULL },
};

#define ROW(key_, type_, field_, fallback_, help_)                                          \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (PacketParams, field_), \
  .fallback = fallback_, .help = help_

const FabParam packet_params[] = {
  { ROW ("memo", BOOL, has_memo, "true",
         "Remember a pattern of traffic and reuse its times when it repeats. Figures stay the same; the run "
         "ends sooner.") },
  { ROW ("skip", BOOL, has_skip, "true",
         "With memo: stop simulating the rounds of a ring, and the packets of long messages, "
         "once their pace is steady to within 0.1 %.") },
  { ROW ("fold", BOOL, has_fold, "true",
         "With memo: simulate only one of several symmetric rails or nodes, where no link "
         "marks or drops packets.") },
  { ROW (
      "percentiles", BOOL, has_percentiles, "false",
      "Note how long queues are, for `fabricast query queue-lengths`. All packets are then simulated, as without "
      "memo.") },
  { ROW ("mtu", BYTES, mtu_bytes, "4KiB", "Payload of a packet."), .min = 64, .max = 0x1p22 },
  { ROW ("switching", CHOICE, switching, "cut_through",
         "Whether a switch forwards a packet when its header has arrived, or when all of it has."),
    .choices = switchings },
  { ROW ("flow_control", CHOICE, control, "auto",
         "Flow control of links: credit, pfc, drop or trim (finite queues), none (unlimited queues). auto: "
         "pfc on Ethernet, else credit. Links inside a node stay as with auto under pfc, drop and trim."),
    .choices = controls },
  { ROW (
        "buffer", BYTES, buffer_bytes, "0B",
        "Credit: buffer at the far end of a link; 0B: one round trip of data plus 8 packets for each parallel "
        "link."),
    .max = 0x1p30 },
  { ROW ("lanes", COUNT, n_lanes, "8",
         "Lossless links: the most virtual lanes per link. Lanes keep credits from deadlock."),
    .min = 1, .max = 16 },
  { .key = "classes",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (PacketParams, classes),
    .table = class_params,
    .table_size = sizeof (PacketClassParams),
    .help = "Classes of service, each with its own lanes and buffers. Traffic in no class shares one more." },
  { ROW ("arbitration", CHOICE, arbitration, "weighted",
         "weighted: classes share a link by weight. strict: the waiting class of the largest weight goes "
         "first."),
    .choices = arbitrations },
  { ROW (
        "pause", BYTES, pause_bytes, "0B",
        "PFC: bytes waiting from a link at which it is paused; 0B: the port's usual value, and at least mark_from."),
    .max = 0x1p30 },
  { ROW ("resume", BYTES, resume_bytes, "0B",
         "PFC: bytes waiting at which a paused link may send again; 0B: three quarters of `pause`."),
    .max = 0x1p30 },
  { ROW (
        "switch", CHOICE, chip, "none",
        "Chip or product of the switches, which gives the memory that all ports share; none: `memory` gives it."),
    .choices = packet_chips },
  { ROW ("memory", BYTES, memory_bytes, "0B",
         "Shared memory of a switch, instead of the chip's. 0B without a chip: each port has its own "
         "threshold."),
    .max = 0x1p40 },
  { ROW (
        "alpha", FACTOR, alpha, "0",
        "Dynamic threshold: one port may take this multiple of the free shared memory; 0: the switch's, or 1."),
    .max = 1e3 },
  { ROW ("queue", BYTES, queue_bytes, "1MiB", "Drop and trim: the most bytes that may wait for a link."),
    .min = 64, .max = 0x1p30 },
  { ROW (
      "window", BYTES, window_bytes, "0B",
      "Most bytes of one message under way; 0B: two round trips when queues are unlimited, else no limit.") },
  { ROW ("pace", FRACTION, pace_fraction, "1", "Fraction of the line rate at which a sender sends."),
    .min = 0.001, .max = 1 },
  { ROW ("paths", COUNT, n_paths, "64",
         "Number of paths over which a spreading route sends the packets of a message, in turn."),
    .min = 1, .max = 4096 },
  { ROW ("balance", CHOICE, balance, "in_turn",
         "in_turn: a spreading route uses its paths in turn. least_queue: each switch picks the port with "
         "the shortest queue."),
    .choices = balances },
  { ROW ("mark_from", BYTES, mark_from_bytes, "0B",
         "ECN on Ethernet: queue length at which marking starts; 0B: set by the port rate, 400 kB at 100 "
         "Gb/s."),
    .max = 0x1p30 },
  { ROW ("mark_all", BYTES, mark_all_bytes, "0B",
         "ECN: queue length at which every packet is marked; 0B: set by the port rate, 1600 kB at 100 Gb/s."),
    .max = 0x1p30 },
  { ROW ("mark_fraction", FRACTION, mark_fraction, "0.2",
         "ECN: fraction of packets marked just below "
         "mark_all."),
    .max = 1 },
  { ROW (
        "mark_at", CHOICE, mark_at, "dequeue",
        "ECN: whether a packet is marked by the queue that it leaves behind, or by the queue that it joins."),
    .choices = mark_ats },
  { ROW (
        "ack", BYTES, ack_bytes, "0B",
        "Ethernet: bytes of the acknowledgement of each packet. It waits in the queues on the way back, and ends a "
        "message at its sender; 0B: acknowledgements take no bandwidth, and messages end at their receivers."),
    .max = 1e4 },
  { ROW ("congestion", MODEL, congestion, "dcqcn", "Congestion control of senders on Ethernet."),
    .models = FAB_MODEL_CONGESTION },
  { ROW ("timeout", TIME, timeout_ps, "1ms", "Drop: data not acknowledged for this time is sent again."),
    .min = 1e6, .max = 1e15 },
  { ROW ("doorbell", TIME, doorbell_ps, "0ns", "Time before a NIC sends the first packet of a message."),
    .max = 1e12 },
  { ROW ("message_gap", TIME, message_gap_ps, "0ns",
         "Time between two messages of one sender on its NIC: 1 / message rate."),
    .max = 1e12 },
  { ROW ("completion", TIME, completion_ps, "0ns",
         "Time from the last byte until the completion is seen, "
         "through NICs."),
    .max = 1e12 },
  { .key = NULL },
};

/* Reports what no table can express: duplicate classes, or too many. */
void
packet_params_check (gconstpointer params, FabCheck *check)
{
  const FabParamList *classes = &((const PacketParams *) params)->classes;
  const PacketClassParams *all = (const PacketClassParams *) classes->data;

  for (guint i = 0; i < classes->n; i++)
    for (guint k = 0; k < i; k++)
      if (all[i].of == all[k].of)
        fab_check_fail (check, &all[i].of, "%s has a class already", packet_traffics[all[i].of]);
}

/* Prefetches what the next entries will read. */
static inline void
look_ahead (const PacketNet *self)
{
  const AgendaEntry *soon = agenda_ahead (&self->agenda, 2), *later = agenda_ahead (&self->agenda, 6);

  if (later != NULL && (later->what & (AGENDA_KINDS - 1)) == KIND_ARRIVE)
    __builtin_prefetch (&self->ports[later->what >> AGENDA_KIND_BITS]);
  if (soon != NULL && (soon->what & (AGENDA_KINDS - 1)) == KIND_ARRIVE)
    __builtin_prefetch (&self->packets[self->ports[soon->what >> AGENDA_KIND_BITS].head]);
}

static void
handle_first (PacketNet *self)
{
  AgendaEntry first = agenda_take (&self->agenda);
  guint32 number = first.what >> AGENDA_KIND_BITS, kind = first.what & (AGENDA_KINDS - 1);

  self->now_ps = first.at_ps;
  look_ahead (self);
  if (kind == KIND_ARRIVE) {
    packet_port_arrive (self, number);
    return;
  }
  switch (kind) {
  case KIND_WAKE: packet_port_woken (self, number); break;
  case KIND_CREDIT: packet_port_credited (self, number); break;
  case KIND_ACK: packet_flow_acked (self, number); break;
  case KIND_RESUME: packet_flow_resume (self, number); break;
  case KIND_LEFT: packet_flow_left (self, number); break;
  case KIND_PAUSE: packet_port_paused (self, number, TRUE); break;
  case KIND_UNPAUSE: packet_port_paused (self, number, FALSE); break;
  case KIND_TOLD: packet_sender_notified (self, number); break;
  case KIND_NACK: packet_loss_nacked (self, number); break;
  case KIND_REPORT: packet_reported (self, number); break;
  case KIND_CREDITS: packet_credits (self, number); break;
  case KIND_GIVE: packet_credit_give (self, number); break;
  case KIND_TIMEOUT: packet_loss_timeout (self, number); break;
  default: g_assert_not_reached ();
  }
}

static void run (gpointer owner, guint64 arg);

static void
arm (PacketNet *self)
{
  FabEngine *engine = self->base.env.engine;
  FabTimePs first_ps = agenda_first_ps (&self->agenda);

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
  do {
    handle_first (self);
    if (--self->cruise.countdown == 0)
      packet_cruise_look (self);
  } while (self->agenda.n > 0 && fab_engine_advance (self->base.env.engine, agenda_first_ps (&self->agenda)));
  self->is_running = FALSE;
  arm (self);
}

void
packet_net_enter (PacketNet *self)
{
  self->now_ps = fab_engine_now (self->base.env.engine);
  if (packet_cruise_cut (self))
    arm (self);
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
  guint32 way = packet_path_set (self, &leg, 1,
                                 (PacketUse){ .drive = transfer->drive,
                                              .service = packet_service_of (self, transfer->traffic) });
  guint32 flow = packet_flow_new (self, way, transfer->bytes);
  self->flows[flow].arrived = transfer->done;
  self->flows[flow].is_metered = TRUE;
  self->n_others++;
  self->flows[flow].drive = transfer->drive;
  packet_flow_start (self, flow);
  packet_net_leave (self);
}

static void
packet_set_capacity (FabNet *net, FabLinkId link, double fraction)
{
  PacketNet *self = (PacketNet *) net;

  packet_net_enter (self);
  self->n_flow_changes++;
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
    const VirtualLane *lane = &self->lanes[number];
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

/* Which packets are marked is drawn. */
static guint64
packet_n_drawn (const FabNet *net)
{
  const PacketNet *self = (const PacketNet *) net;

  return self->n_drawn_before + self->n_random - self->first_random;
}

/* Senders and shared memories remember more than what is on its way. */
static gboolean
packet_reset (FabNet *net)
{
  PacketNet *self = (PacketNet *) net;

  if (self->n_senders > 0 || self->memories != NULL)
    return FALSE;
  agenda_clear (&self->agenda);
  agenda_init (&self->agenda);
  self->timer = 0;
  packet_ports_reset (self);
  for (guint32 i = 0; i < self->n_queues; i++)
    self->queues[i] = (Queue){ .head = NONE, .tail = NONE, .next = NONE };
  self->n_packets = self->n_flows = 0;
  self->free_packet = self->free_flow = NONE;
  fab_pool_clear (&self->lines);
  fab_pool_clear (&self->streams);
  fab_pool_init (&self->streams, PACKET_STREAM_SIZE);
  fab_pool_init (&self->lines, PACKET_LINE_SIZE);
  self->n_lines = self->n_others = self->lone.n_lines = 0;
  g_ptr_array_set_size (net->plays, 0);
  net->n_plays_beside = 0;
  return TRUE;
}

static gboolean
packet_remembers (gconstpointer params)
{
  const PacketParams *packet = params;

  return packet->has_memo && !packet->has_percentiles && packet->ack_bytes == 0;
}

static double
packet_tolerance (gconstpointer params)
{
  const double tolerance = 1e-3; /* as the pace of rings that are skipped: sim/shortcut/time/steady_pace.c */
  const PacketParams *packet = params;

  return packet_remembers (params) && packet->has_skip ? tolerance : 0;
}

static void
packet_rest (FabNet *net, guint64 stream)
{
  PacketNet *self = (PacketNet *) net;

  g_assert (self->agenda.n == 0);
  packet_ports_rest (self);
  packet_lengths_rest (self);
  packet_credits_rest (self);
  packet_balance_rest (self);
  g_array_set_size (self->lane_marks, 0);
  packet_ports_turn (self, NULL);
  packet_cruise_rest (self);
  packet_lone_messages_rest (self);
  if (self->params.message_gap_ps > 0)
    memset (self->message_ps, 0, sizeof (FabTimePs) * self->n_links);
  self->n_drawn_before += self->n_random - self->first_random;
  self->n_random = self->first_random = stream << 32;
}

/* On which level a path is follows from the paths before it. Where all are on the first one, none closes a circle. */
static gboolean
packet_has_order (const FabNet *net)
{
  return ((const PacketNet *) net)->has_levels;
}

/* The lanes of the links for which a lane was played have the same queues. */
static void
list_turned (PacketNet *self, FabLaneQueue queue, GArray *queues)
{
  FabLinkId first = queue.link;
  guint8 service = self->lanes[queue.lane].service;

  for (FabLinkId link = self->rotation->next[first]; link != first; link = self->rotation->next[link]) {
    queue.link = link;
    queue.lane = packet_lane_first (self, link, service);
    g_array_append_val (queues, queue);
  }
}

static void
packet_list_queues (const FabNet *net, GArray *queues)
{
  PacketNet *self = (PacketNet *) net;
  FabTimePs now_ps = fab_engine_now (net->env.engine);

  for (guint i = 0; i < self->used_lanes->len; i++) {
    guint32 number = g_array_index (self->used_lanes, guint32, i);
    const VirtualLane *lane = &self->lanes[number];
    guint n = packet_port_sharers (self, lane->link);
    FabLaneQueue queue = {
      .lane = number,
      .link = lane->link,
      .carried_bytes = n * (lane->carried_bytes - packet_cruise_ahead (self, i, now_ps)),
      .most_bytes = n * lane->most_bytes,
      .byte_ps = n * (lane->byte_ps + (double) lane->queued_bytes * (double) (now_ps - lane->changed_ps)),
      .n_stalls = n * lane->n_stalls,
      .n_marks = lane->n_marks,
      .n_pauses = lane->n_pauses,
      .n_drops = lane->n_drops,
    };

    g_array_append_val (queues, queue);
    if (self->rotation != NULL)
      list_turned (self, queue, queues);
  }
}

/* Marks and losses are drawn, or depend on what ports of a switch share. */
static gboolean
packet_plays_alike (const FabNet *net, FabLinkId link, guint n_sharers)
{
  const PacketNet *self = (const PacketNet *) net;

  if (!self->params.has_memo || !self->params.has_fold || self->memories != NULL)
    return FALSE;
  return link == FAB_NO_LINK || self->lanes[link].control == CONTROL_NONE
      || (self->lanes[link].control == CONTROL_CREDIT && packet_port_has_room_for (self, n_sharers));
}

/* Classes of service have lanes whose numbers depend on what was opened before. Where a message takes several paths,
 * its packets are counted one by one. */
static gboolean
packet_is_separable (const FabNet *net, FabLinkId link)
{
  const PacketNet *self = (const PacketNet *) net;
  const FabRouterOps *route = net->env.router->ops;

  if (self->memories != NULL || self->n_services > 1 || route->spread != NULL || route->balance != NULL)
    return FALSE;
  return link == FAB_NO_LINK || self->lanes[link].control == CONTROL_CREDIT
      || self->lanes[link].control == CONTROL_NONE;
}

static gboolean
packet_trace (FabNet *net, const FabLeg *legs, guint n_legs, const FabFootprint *footprint, GArray *links)
{
  const PacketNet *self = (const PacketNet *) net;
  guint first = links->len;

  for (guint i = 0; i < n_legs; i++) {
    FabPath path = { 0 };

    if (!fab_router_append (net->env.router, legs[i].src, legs[i].dst, legs[i].flow_hash, &path))
      return FALSE;
    g_array_append_vals (links, path.links, path.n);
  }
  const FabLinkId *own = &g_array_index (links, FabLinkId, first);
  guint n = links->len - first, at;
  for (guint i = 0; i < n; i++)
    if (!packet_is_separable (net, own[i]) || !fab_footprint_has (footprint, own[i], &at))
      return FALSE;
  return n > 0 && fab_footprint_is_path (footprint, n) && packet_path_rises (self, own, n);
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

static gboolean
packet_is_still (const FabNet *net)
{
  return ((const PacketNet *) net)->agenda.n == 0;
}

static FabNet *
packet_create (const FabNetEnv *env, gconstpointer params)
{
  PacketNet *self = g_new0 (PacketNet, 1);

  fab_net_init (&self->base, &fab_net_packet, env);
  self->params = *(const PacketParams *) params;
  self->params.has_memo = packet_remembers (params);
  self->free_packet = self->free_flow = NONE;
  agenda_init (&self->agenda);
  fab_pool_init (&self->streams, PACKET_STREAM_SIZE);
  fab_pool_init (&self->lines, PACKET_LINE_SIZE);
  self->message_ps = g_new0 (FabTimePs, fab_graph_n_links (env->graph) + 1);
  packet_ports_init (self);
  packet_lengths_init (self);
  packet_senders_init (self);
  packet_buffers_init (self);
  packet_deadlock_free_init (self);
  packet_path_sets_init (self);
  packet_repeats_init (self);
  packet_cruise_init (self);
  packet_lone_messages_init (self);
  return &self->base;
}

static void
packet_destroy (FabNet *net)
{
  PacketNet *self = (PacketNet *) net;

  packet_repeats_clear (self);
  packet_cruise_clear (self);
  packet_lone_messages_clear (self);
  packet_path_sets_clear (self);
  packet_deadlock_free_clear (self);
  packet_ports_clear (self);
  packet_lengths_clear (self);
  packet_senders_clear (self);
  packet_buffers_clear (self);
  fab_pool_clear (&self->streams);
  fab_pool_clear (&self->lines);
  agenda_clear (&self->agenda);
  g_free (self->packets);
  g_free (self->flows);
  g_free (self->message_ps);
  fab_net_clear (net);
  g_free (self);
}

/* Packets times links crossed, which take at most about 0.1 us each: docs/reference/bench.md, part `packets`. */
static double
packet_cost_s (gconstpointer params, const FabFootprint *footprint, FabBytes bytes)
{
  const double hop_s = 1e-7;
  const PacketParams *packet = params;
  double weight = 0;

  for (guint i = 0; i < footprint->n; i++)
    weight += footprint->weights[i];
  return weight * (double) bytes / (double) packet->mtu_bytes * hop_s;
}

const FabNetOps fab_net_packet = {
  .info = { .name = "packet",
            .summary = "Packets, queues and flow control on every hop; the reference for other levels.",
            .doc = "docs/models/packet.md",
            .params = packet_params,
            .params_size = sizeof (PacketParams),
            .check = packet_params_check },
  .shares_links = TRUE,
  .plays_alike = packet_plays_alike,
  .is_separable = packet_is_separable,
  .trace = packet_trace,
  .create = packet_create,
  .send = packet_send,
  .stream = packet_stream,
  .destroy = packet_destroy,
  .open = packet_open,
  .message = packet_message,
  .close = packet_close,
  .mark = packet_mark,
  .lasts = packet_lasts,
  .repeat = packet_repeat,
  .set_capacity = packet_set_capacity,
  .link_queue = packet_link_queue,
  .queue_lengths = packet_lengths_count,
  .drop_lengths = packet_lengths_drop,
  .find_jam = packet_find_jam,
  .n_drawn = packet_n_drawn,
  .remembers = packet_remembers,
  .tolerance = packet_tolerance,
  .rest = packet_rest,
  .reset = packet_reset,
  .has_order = packet_has_order,
  .list_queues = packet_list_queues,
  .is_still = packet_is_still,
  .cost_s = packet_cost_s,
};
