/* SPDX-License-Identifier: Apache-2.0 */
/* test_acks.c - how late an acknowledgement of 100 bytes is that goes back over links and waits there, by hand
 * (models/net/packet/acks.c).
 *
 * Two nodes of a GPU and a NIC. The way leads over three links, of which each has a lane of its own; a byte takes 2, 3
 * and 5 ps on the links back.
 */
#include "tests/support/test.h"

#include "models/net/packet/parts.h"
#include "tests/support/rig.h"

enum { ACK = 100, N_HOPS = 3, NOW = 10000 };

static const double ps_per_byte[N_HOPS] = { 2, 3, 5 };

typedef struct {
  Rig *rig;
  PacketNet net;
  FabLinkId back[N_HOPS];
} Net;

static void
net_make (Net *to, Control control)
{
  *to = (Net){ .rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                           .gpus_per_node = 1,
                                           .nics_per_node = 1,
                                           .gpu_bytes_per_s = FAB_PS_PER_S,
                                           .nic_bytes_per_s = FAB_PS_PER_S,
                                           .nic_latency_ps = 50 }) };
  const FabGraph *graph = to->rig->graph;
  PacketNet *net = &to->net;

  net->params.ack_bytes = ACK;
  net->base.env.graph = graph;
  net->now_ps = NOW;
  net->n_links = fab_graph_n_links (graph);
  net->ports = g_new0 (Port, net->n_links);
  net->lanes = g_new0 (VirtualLane, net->n_links + 1);
  net->busy_ps = g_new0 (FabTimePs, net->n_links);
  net->hops = g_array_new (FALSE, FALSE, sizeof (Hop));
  for (FabLinkId i = 0; i < net->n_links; i++) {
    net->ports[i].turn = i;
    net->lanes[i] = (VirtualLane){ .link = i, .next = i, .control = (guint8) control };
  }
  Hop end = { .lane = NONE };
  g_array_append_val (net->hops, end); /* of another way */
  for (guint h = 0; h < N_HOPS; h++) {
    Hop hop = { .lane = 2 * h, .cost = 1 + h };

    to->back[h] = fab_graph_link (graph, 2 * h)->reverse;
    assert_int_not_equal (to->back[h], 2 * h);
    net->ports[to->back[h]].ps_per_byte = ps_per_byte[h];
    g_array_append_val (net->hops, hop);
  }
  g_array_append_val (net->hops, end);
}

static void
net_clear (Net *self)
{
  g_free (self->net.ports);
  g_free (self->net.lanes);
  g_free (self->net.busy_ps);
  g_array_unref (self->net.hops);
  rig_free (self->rig);
}

/* Of a packet that has crossed so many links of the way. */
static FabTimePs
late_ps (Net *self, guint n_crossed)
{
  const Packet packet = { .hop = 1 + n_crossed };

  return packet_ack (&self->net, &packet);
}

/* It takes its wire time of every link that the packet has crossed, and keeps the next one waiting. */
static void
acknowledgements_take_the_wire (G_GNUC_UNUSED void **state)
{
  static const Control controls[] = { CONTROL_PFC, CONTROL_DROP, CONTROL_TRIM };

  for (guint c = 0; c < G_N_ELEMENTS (controls); c++)
    for (guint n = 0; n <= N_HOPS; n++) {
      FabTimePs wire_ps = 0;
      Net net;

      net_make (&net, controls[c]);
      for (guint h = 0; h < n; h++)
        wire_ps += (FabTimePs) (ACK * ps_per_byte[h]);
      assert_int_equal (late_ps (&net, n), wire_ps);
      for (guint h = 0; h < N_HOPS; h++) {
        FabTimePs own_ps = h < n ? (FabTimePs) (ACK * ps_per_byte[h]) : 0;

        assert_int_equal (net.net.busy_ps[net.back[h]], own_ps);
        assert_int_equal (net.net.ports[net.back[h]].free_ps, own_ps > 0 ? NOW + own_ps : 0);
      }
      assert_int_equal (late_ps (&net, n), 2 * wire_ps);
      net.net.now_ps += 100000;
      assert_int_equal (late_ps (&net, n), wire_ps);
      net_clear (&net);
    }
}

/* Links whose senders nothing governs carry none. */
static void
links_with_credit_carry_none (G_GNUC_UNUSED void **state)
{
  static const Control controls[] = { CONTROL_CREDIT, CONTROL_NONE };

  for (guint c = 0; c < G_N_ELEMENTS (controls); c++) {
    Net net;

    net_make (&net, controls[c]);
    assert_int_equal (late_ps (&net, N_HOPS), 0);
    net.net.lanes[2].control = CONTROL_PFC;
    assert_int_equal (late_ps (&net, N_HOPS), ACK * 3);
    net_clear (&net);
  }
}

/* It waits for what is on the wire, and for the bytes in all lanes of the link with what comes on top of them. */
static void
acknowledgements_wait (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, CONTROL_PFC);
  guint32 link = net.back[1], more = net.net.n_links;

  net.net.ports[link].free_ps = NOW + 700;
  net.net.lanes[link].next = more;
  net.net.lanes[more] = (VirtualLane){ .link = link, .next = link, .queued_bytes = 30 };
  net.net.lanes[link].queued_bytes = 20;
  assert_int_equal (late_ps (&net, 2), ACK * 2 + 700 + 50 * 3 * 2 + ACK * 3);
  assert_int_equal (net.net.ports[link].free_ps, NOW + 700 + ACK * 3);
  net.net.ports[link].free_ps = NOW - 700; /* long since */
  assert_int_equal (late_ps (&net, 2) - 2 * ACK * 2, 50 * 3 * 2 + ACK * 3);
  net_clear (&net);
}

/* Nothing is told over a dead link, and it stays dead. A network may count no times that links are busy. */
static void
dead_links_stay_dead (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, CONTROL_PFC);
  net.net.ports[net.back[1]].free_ps = FAB_TIME_MAX;
  assert_int_equal (late_ps (&net, N_HOPS), ACK * (2 + 5));
  assert_int_equal (net.net.ports[net.back[1]].free_ps, FAB_TIME_MAX);
  assert_int_equal (net.net.busy_ps[net.back[1]], 0);
  g_free (g_steal_pointer (&net.net.busy_ps));
  net.net.now_ps *= 2;
  assert_int_equal (late_ps (&net, N_HOPS), ACK * (2 + 5));
  net_clear (&net);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (acknowledgements_take_the_wire),
    cmocka_unit_test (links_with_credit_carry_none),
    cmocka_unit_test (acknowledgements_wait),
    cmocka_unit_test (dead_links_stay_dead),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
