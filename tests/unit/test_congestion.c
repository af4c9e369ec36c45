/* SPDX-License-Identifier: Apache-2.0 */
/* test_congestion.c - models of congestion control: their rules by hand, and what they make of one bottleneck.
 *
 * A star at 100 Gb/s, links of 1 us, packets of 4 KiB: a round trip is 4 us and a packet, 52 kB of the line. All flows
 * end at one port.
 */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/rig.h"

enum { MOST = 16, US = 1000000 };

static const double line_bytes_per_s = 12.5e9;

/* --- the rules of one sender --- */

typedef struct {
  const FabCongestionOps *ops;
  Params *params;
  FabCongestion *state;
} Alone;

static Alone
alone_new (const FabCongestionOps *ops, const char *yaml)
{
  Alone self = { .ops = ops, .params = params_new (&ops->info, yaml), .state = g_malloc0 (ops->state_size) };

  *self.state = (FabCongestion){ .params = self.params->params,
                                 .line_bytes_per_s = line_bytes_per_s,
                                 .round_trip_ps = 10 * US,
                                 .n_hops = 2,
                                 .mtu_bytes = 1000,
                                 .timer_ps = FAB_TIME_MAX };
  ops->start (self.state);
  return self;
}

static void
alone_clear (Alone *self)
{
  params_free (self->params);
  g_free (self->state);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Alone, alone_clear)

/* alpha is 1 at first: the first word halves the rate. 64 decays of 1/256 later alpha is (255/256)^64 = 0.7784, so the
 * second one takes 38.9 % of it. The first rise goes half of the way to the line rate, as the target has stayed there;
 * the next one adds 20 Mb/s to the target, which the line bounds. */
static void
dcqcn_falls_by_words_and_rises_by_time (G_GNUC_UNUSED void **state)
{
  g_auto (Alone) alone = alone_new (&fab_congestion_dcqcn, "{}");
  const FabCongestionOps *ops = alone.ops;
  double rate = line_bytes_per_s / 2;

  assert_true (ops->marked (alone.state, 1 * US));
  assert_false (ops->marked (alone.state, 50 * US));
  assert_true (ops->marked (alone.state, 51 * US));
  assert_near (alone.state->rate_bytes_per_s, 0, 0); /* as fast as the line */
  ops->told (alone.state, 10 * US);
  assert_near (alone.state->rate_bytes_per_s, rate, 1e-12);
  ops->told (alone.state, 74 * US);
  rate *= 1 - pow (255.0 / 256, 64) / 2;
  assert_near (alone.state->rate_bytes_per_s, rate, 1e-12);
  assert_int_equal (alone.state->timer_ps, 374 * US);
  ops->timer (alone.state, 374 * US);
  rate = (rate + line_bytes_per_s) / 2;
  assert_near (alone.state->rate_bytes_per_s, rate, 1e-12);
  ops->sent (alone.state, 380 * US, 10000000);
  rate = (rate + line_bytes_per_s) / 2;
  assert_near (alone.state->rate_bytes_per_s, rate, 1e-12);
}

/* --- flows that share a port --- */

typedef struct {
  RigNet rig;
  const Rig *cluster;
  guint n, n_ended;
  FabTimePs end_ps[MOST];
} Flows;

static Rig *
star (guint n_senders)
{
  return rig_new (&(RigSpec){ .n_nodes = 1,
                              .gpus_per_node = n_senders + 1,
                              .gpu_bytes_per_s = (FabBytesPerS) line_bytes_per_s,
                              .gpu_latency_ps = US });
}

static FabLinkId
link_of (const Flows *self, guint gpu, gboolean is_back)
{
  FabLinkId first;

  fab_graph_out_links (self->cluster->graph, rig_gpu (self->cluster, gpu), &first);
  return is_back ? fab_graph_link (self->cluster->graph, first)->reverse : first;
}

static void
note_end (gpointer owner, guint64 index)
{
  Flows *self = owner;

  self->end_ps[index] = fab_engine_now (self->rig.engine);
  self->n_ended++;
}

static Flows
flows_new (const Rig *cluster, guint n, const char *yaml)
{
  return (Flows){ .rig = rig_net_with (cluster, &fab_net_packet, yaml), .cluster = cluster, .n = n };
}

static void
begin (Flows *self, guint from, FabBytes bytes)
{
  FabTransfer transfer = { .src = rig_gpu (self->cluster, from),
                           .dst = rig_gpu (self->cluster, self->n),
                           .bytes = bytes,
                           .flow_hash = from,
                           .done = { note_end, self, from } };

  fab_net_send (self->rig.net, &transfer);
}

static FabLinkQueue
queue_of (const Flows *self, guint gpu, gboolean is_back)
{
  return fab_net_packet.link_queue (self->rig.net, link_of (self, gpu, is_back));
}

typedef struct {
  double jain;        /* of what the flows sent */
  double utilisation; /* of the port that they share */
} Share;

/* What the first `n` flows do from `from_ps` to `to_ps`. */
static Share
watch (Flows *self, guint n, FabTimePs from_ps, FabTimePs to_ps)
{
  double before[MOST], sum = 0, squares = 0, carried;

  fab_engine_run_until (self->rig.engine, from_ps);
  for (guint i = 0; i < n; i++)
    before[i] = (double) queue_of (self, i, FALSE).carried_bytes;
  carried = (double) queue_of (self, self->n, TRUE).carried_bytes;
  fab_engine_run_until (self->rig.engine, to_ps);
  for (guint i = 0; i < n; i++) {
    double sent = (double) queue_of (self, i, FALSE).carried_bytes - before[i];

    sum += sent;
    squares += sent * sent;
  }
  carried = (double) queue_of (self, self->n, TRUE).carried_bytes - carried;
  return (Share){ sum * sum / (n * squares),
                  carried / (line_bytes_per_s * fab_ps_to_seconds (to_ps - from_ps)) };
}

/* Transports, and what the paper of each says of a port that its flows share: how evenly they do (Jain's index), how
 * much of the port they use, and how long its queue becomes once they have settled. */
typedef struct {
  const char *name, *yaml;
  double jain, utilisation;
  FabTimePs settles_ps;
} Transport;

static const Transport transports[] = {
  { "dcqcn", "{flow_control: pfc, congestion: dcqcn}", 0.9, 0.95, 20000 * (FabTimePs) US },
};

/* Two flows, two more later: in the end all four have their quarter. */
static void
flows_that_join_get_their_share (G_GNUC_UNUSED void **state)
{
  for (guint t = 0; t < G_N_ELEMENTS (transports); t++) {
    const Transport *transport = &transports[t];
    g_autoptr (Rig) rig = star (4);
    Flows flows = flows_new (rig, 4, transport->yaml);
    FabTimePs settles_ps = transport->settles_ps;

    begin (&flows, 0, (FabBytes) 1 << 30);
    begin (&flows, 1, (FabBytes) 1 << 30);
    Share two = watch (&flows, 2, settles_ps, settles_ps * 3 / 2);
    begin (&flows, 2, (FabBytes) 1 << 30);
    begin (&flows, 3, (FabBytes) 1 << 30);
    Share four = watch (&flows, 4, settles_ps * 5 / 2, settles_ps * 3);
    if (two.jain < transport->jain || two.utilisation < transport->utilisation || four.jain < transport->jain
        || four.utilisation < transport->utilisation)
      fail_msg ("%s: two flows share %.3f of the port with an index of %.4f, four %.3f with %.4f",
                transport->name, two.utilisation, two.jain, four.utilisation, four.jain);
    print_message ("%s: two flows share %.3f of the port with an index of %.4f, four %.3f with %.4f\n",
                   transport->name, two.utilisation, two.jain, four.utilisation, four.jain);
    rig_net_clear (&flows.rig);
  }
}

/* --- connections --- */

typedef struct {
  Flows *flows;
  FabNetLine *line;
  guint n_sent, n_arrived;
} Connection;

enum { N_MESSAGES = 8, MESSAGE_BYTES = 4 << 20 };

static void
message_left (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Connection *self = owner;

  if (self->n_sent++ < N_MESSAGES - 1)
    fab_net_message (self->flows->rig.net, self->line, MESSAGE_BYTES,
                     fab_engine_now (self->flows->rig.engine));
}

static void
message_arrives (gpointer owner, G_GNUC_UNUSED guint64 arg, G_GNUC_UNUSED FabTimePs at_ps)
{
  ((Connection *) owner)->n_arrived++;
}

/* Eight messages of 4 MiB each from four senders, one after another, mark as many packets as one message of 32 MiB
 * each, within a half: a connection keeps its rate. When every message began at line rate they marked several times
 * as many. */
static guint64
count_marks (gboolean is_split)
{
  g_autoptr (Rig) rig = star (4);
  Flows flows = flows_new (rig, 4, "{flow_control: pfc}");
  Connection connections[4] = { 0 };
  FabFootprint *footprints[4];
  FabGroup group = rig_group (rig);
  FabHop hops[4];
  guint64 n_marks;

  for (guint i = 0; i < 4; i++) {
    g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);

    assert_true (fab_hop_ranks (&group, i, 4, &hops[i], NULL));
    fab_hop_use (&hops[i], 1, 1, builder);
    footprints[i] = fab_footprint_builder_finish (builder);
    connections[i].flows = &flows;
    connections[i].n_sent = is_split ? 0 : N_MESSAGES - 1;
    connections[i].line = fab_net_open (flows.rig.net, &(FabConnection){ .footprint = footprints[i],
                                                                         .legs = hops[i].legs,
                                                                         .n_legs = hops[i].n_legs,
                                                                         .drive = hops[i].drive,
                                                                         .share = 1,
                                                                         .wire_factor = 1,
                                                                         .owner = &connections[i],
                                                                         .left = message_left,
                                                                         .arrives = message_arrives });
    fab_net_message (flows.rig.net, connections[i].line,
                     is_split ? MESSAGE_BYTES : N_MESSAGES * MESSAGE_BYTES, 0);
  }
  fab_engine_run (flows.rig.engine);
  n_marks = queue_of (&flows, 4, TRUE).n_marks;
  for (guint i = 0; i < 4; i++) {
    assert_int_equal (connections[i].n_arrived, is_split ? N_MESSAGES : 1);
    fab_net_close (flows.rig.net, connections[i].line);
    fab_footprint_free (footprints[i]);
    fab_hop_clear (&hops[i]);
  }
  rig_net_clear (&flows.rig);
  return n_marks;
}

static void
a_connection_keeps_its_rate (G_GNUC_UNUSED void **state)
{
  guint64 whole = count_marks (FALSE), split = count_marks (TRUE);

  print_message ("%" G_GUINT64_FORMAT " marks of whole messages, %" G_GUINT64_FORMAT " of split ones\n",
                 whole, split);
  assert_true (whole > 0);
  assert_true (split * 2 <= whole * 3);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (dcqcn_falls_by_words_and_rises_by_time),
    cmocka_unit_test (flows_that_join_get_their_share),
    cmocka_unit_test (a_connection_keeps_its_rate),
  };

  return cmocka_run_group_tests_name ("congestion", tests, NULL, NULL);
}
