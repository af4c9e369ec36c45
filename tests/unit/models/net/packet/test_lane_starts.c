/* SPDX-License-Identifier: Apache-2.0 */
/* test_lane_starts.c - the flow control of each link, and the room that a sender begins with (port.c), by hand.
 *
 * Two nodes of two GPUs: a GPU's link has 1 byte per ps and 50 ps, that of a NIC to the switch of all nodes half of
 * it and 700 ps. A packet has 1000 B.
 */
#include "tests/support/test.h"

#include "models/net/packet/parts.h"
#include "tests/support/mesh.h"
#include "tests/support/rig.h"

enum { MTU = 1000, GPU_PS = 50, NIC_PS = 700 };

static Rig *
star (void)
{
  return rig_new (&(RigSpec){ .n_nodes = 2,
                              .gpus_per_node = 2,
                              .nics_per_node = 1,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 2,
                              .gpu_latency_ps = GPU_PS,
                              .nic_latency_ps = NIC_PS });
}

static gboolean
is_inside (const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);
  guint from = fab_graph_vertex (graph, link->src)->node, to = fab_graph_vertex (graph, link->dst)->node;

  return from == to && from != FAB_NO_NODE;
}

/* What the class of a link has anyway. */
static Control
own_control (const FabGraph *graph, FabLinkId id)
{
  switch (fab_graph_link_class (graph, id)->flow_control) {
  case FAB_FLOW_CREDIT: return CONTROL_CREDIT;
  case FAB_FLOW_PFC: return CONTROL_PFC;
  case FAB_FLOW_DROP: return CONTROL_DROP;
  }
  return CONTROL_AUTO;
}

/* Credit and unlimited queues are for every link. What a network does to its links does not reach into nodes. */
static void
links_have_their_flow_control (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *word;
    Control network, inside; /* CONTROL_AUTO: as the class of the link */
  } rows[] = { { "auto", CONTROL_AUTO, CONTROL_AUTO }, { "credit", CONTROL_CREDIT, CONTROL_CREDIT },
               { "none", CONTROL_NONE, CONTROL_NONE }, { "pfc", CONTROL_PFC, CONTROL_AUTO },
               { "drop", CONTROL_DROP, CONTROL_AUTO }, { "trim", CONTROL_TRIM, CONTROL_AUTO } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Rig) rig = star ();
    g_autofree char *yaml = g_strdup_printf ("{mtu: %dB, flow_control: %s}", MTU, rows[i].word);
    RigNet net = rig_net_with (rig, &fab_net_packet, yaml);
    const PacketNet *packets = (const PacketNet *) net.net;
    guint n_inside = 0;

    for (FabLinkId id = 0; id < fab_graph_n_links (rig->graph); id++) {
      const VirtualLane *lane = &packets->lanes[id];
      Control expected = is_inside (rig->graph, id) ? rows[i].inside : rows[i].network;

      n_inside += is_inside (rig->graph, id);
      assert_int_equal (lane->link, id);
      assert_int_equal (lane->control, expected != CONTROL_AUTO ? expected : own_control (rig->graph, id));
      assert_true (lane->queued_bytes == 0 && lane->held_bytes == 0 && lane->ring == NONE);
      if (lane->control != CONTROL_CREDIT)
        assert_int_equal (lane->room_bytes, G_MAXINT32);
    }
    assert_true (n_inside > 0 && n_inside < fab_graph_n_links (rig->graph));
    rig_net_clear (&net);
  }
}

/* All lanes of a network with credit; 0: the buffer is not given. An eighth of the room comes back at a time, but at
 * least a packet, and never the last packet of it. */
static void
assert_room (const Rig *rig, guint buffer)
{
  g_autofree char *yaml = g_strdup_printf ("{mtu: %dB, flow_control: credit, buffer: %uB}", MTU, buffer);
  RigNet net = rig_net_with (rig, &fab_net_packet, yaml);
  const PacketNet *packets = (const PacketNet *) net.net;

  for (FabLinkId id = 0; id < fab_graph_n_links (rig->graph); id++) {
    const FabLink *link = fab_graph_link (rig->graph, id);
    double there_and_back_s = fab_ps_to_seconds (2 * link->latency_ps),
           on_the_way = there_and_back_s * (double) link->rate_bytes_per_s;
    gint32 room = buffer > 0 ? (gint32) MAX (buffer, 2 * MTU)
                             : (gint32) (on_the_way + 8.0 * link->count * MTU);

    assert_int_equal (packets->lanes[id].room_bytes, room);
    assert_int_equal (packets->lanes[id].credit_bytes, MIN (MAX (room / 8, MTU), room - MTU));
  }
  rig_net_clear (&net);
}

/* What is on the wires there and back, and eight packets for each of the links of a bundle. A buffer that is given
 * has at least two packets. */
static void
senders_begin_with_room (G_GNUC_UNUSED void **state)
{
  static const guint buffers[] = { 0, 1, 1999, 2000, 2001, 8000, 16000, 1000000 };

  for (guint i = 0; i < G_N_ELEMENTS (buffers); i++) {
    g_autoptr (Rig) rig = star ();

    assert_room (rig, buffers[i]);
    for (guint count = 1; count <= 3; count++) {
      const Wiring wiring = wiring_full (3, count);
      g_autoptr (Rig) mesh = mesh_new (&wiring, 1, FALSE);

      assert_room (mesh, buffers[i]);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (links_have_their_flow_control),
    cmocka_unit_test (senders_begin_with_room),
  };

  return cmocka_run_group_tests_name ("lane_starts", tests, NULL, NULL);
}
