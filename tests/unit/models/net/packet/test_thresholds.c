/* SPDX-License-Identifier: Apache-2.0 */
/* test_thresholds.c - the lengths of queues at which switches mark, pause and drop, by hand: the table of HPCC and
 * SimAI between its rows (models/net/packet/congestion.c), and a memory that ports share
 * (models/net/packet/buffers.c); and classes of service that a list repeats.
 */
#include "tests/support/test.h"

#include "models/net/packet/parts.h"
#include "tests/support/rig.h"

enum { KB = 1000, MTU = 1000 };

static FabBytesPerS
gbit (double gbit_per_s)
{
  return (FabBytesPerS) (gbit_per_s * 1e9 / 8);
}

static void
assert_thresholds (Thresholds found, double from_kb, double all_kb, double pause_kb, double resume_kb)
{
  assert_int_equal (found.mark_from, (guint) (from_kb * KB));
  assert_int_equal (found.mark_all, (guint) (all_kb * KB));
  assert_int_equal (found.pause, (guint) (pause_kb * KB));
  assert_int_equal (found.resume, (guint) (resume_kb * KB));
}

/* Rows for 25, 40, 100, 200 and 400 Gb/s, in proportion between them and from 0, and none above 400. All marks begin
 * at four times what the first ones do; a pause comes where marks begin, and ends at three quarters of it. */
static void
thresholds_are_in_proportion_between_rates (G_GNUC_UNUSED void **state)
{
  static const struct {
    double gbit_per_s;
    guint from_kb;
  } rows[] = { { 12.5, 50 }, { 25, 100 },  { 32.5, 150 }, { 40, 200 },  { 70, 300 }, { 100, 400 },
               { 150, 500 }, { 200, 600 }, { 300, 700 },  { 400, 800 }, { 800, 800 } };
  const PacketParams params = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    double from_kb = rows[i].from_kb;

    assert_thresholds (packet_thresholds (&params, gbit (rows[i].gbit_per_s), 0), from_kb, 4 * from_kb,
                       from_kb, from_kb * 3 / 4);
  }
}

/* A queue of 800 kB loses what comes before 1600 are there: both marks are halved. One of 1600 changes nothing. */
static void
marks_come_before_losses (G_GNUC_UNUSED void **state)
{
  const PacketParams params = { 0 };

  assert_thresholds (packet_thresholds (&params, gbit (100), 800 * KB), 200, 800, 200, 150);
  assert_thresholds (packet_thresholds (&params, gbit (100), 1600 * KB), 400, 1600, 400, 300);
}

/* At 100 Gb/s. What a scenario writes counts; what it does not write follows: no pause before the first marks, and not
 * before the usual ones either, and never all marks before the first. */
static void
written_thresholds_count (G_GNUC_UNUSED void **state)
{
  const PacketParams early = { .mark_from_bytes = 100 * KB }, late = { .mark_from_bytes = 600 * KB },
                     last = { .mark_from_bytes = 2000 * KB }, all = { .mark_all_bytes = 500 * KB },
                     pause = { .pause_bytes = 80 * KB },
                     resume = { .pause_bytes = 80 * KB, .resume_bytes = 8 * KB };

  assert_thresholds (packet_thresholds (&early, gbit (100), 0), 100, 1600, 400, 300);
  assert_thresholds (packet_thresholds (&late, gbit (100), 0), 600, 1600, 600, 450);
  assert_thresholds (packet_thresholds (&last, gbit (100), 0), 2000, 2000, 2000, 1500);
  assert_thresholds (packet_thresholds (&all, gbit (100), 0), 400, 500, 400, 300);
  assert_thresholds (packet_thresholds (&pause, gbit (100), 0), 400, 1600, 80, 60);
  assert_thresholds (packet_thresholds (&resume, gbit (100), 0), 400, 1600, 80, 8);
}

/* Of a thousand packets none is marked up to the first threshold, all from the second on, and half of 0.8 half-way. */
static void
marks_rise_between_the_thresholds (G_GNUC_UNUSED void **state)
{
  enum { N = 4000 };
  Thresholds thresholds = { .mark_from = 1000, .mark_all = 3000 };
  PacketNet net = { .params = { .mark_fraction = 0.8 }, .thresholds = &thresholds };
  static const struct {
    guint32 queued_bytes;
    double share;
  } rows[] = { { 0, 0 }, { 1000, 0 }, { 1500, 0.2 }, { 2000, 0.4 }, { 2999, 0.8 }, { 3000, 1 }, { 9000, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint n_marked = 0;

    for (guint k = 0; k < N; k++)
      n_marked += packet_marks (&net, 0, rows[i].queued_bytes);
    if (rows[i].share <= 0 || rows[i].share >= 1)
      assert_int_equal (n_marked, rows[i].share * N);
    assert_true (fabs (n_marked / (double) N - rows[i].share) < 0.03); /* four deviations */
  }
}

/* --- shared memories --- */

typedef struct {
  Rig *rig;
  PacketNet net;
  FabVertexId fabric;           /* the switch that joins the nodes */
  FabLinkId in, out, elsewhere; /* a link that ends at it, its reverse, and one inside a node */
} Net;

/* Two nodes of one GPU and one NIC; a wire has 1 byte per ps, and 50 ps there and back. */
static void
net_make (Net *to, const PacketParams *params, Control control)
{
  *to = (Net){ .rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                           .gpus_per_node = 1,
                                           .nics_per_node = 1,
                                           .gpu_bytes_per_s = FAB_PS_PER_S,
                                           .nic_bytes_per_s = FAB_PS_PER_S,
                                           .nic_latency_ps = 50 }) };
  const FabGraph *graph = to->rig->graph;

  to->net.params = *params;
  to->net.params.mtu_bytes = MTU;
  to->net.base.env.graph = graph;
  to->net.n_links = fab_graph_n_links (graph);
  to->net.ports = g_new0 (Port, to->net.n_links);
  to->net.lanes = g_new0 (VirtualLane, to->net.n_links);
  to->net.thresholds = g_new0 (Thresholds, to->net.n_links);
  for (FabLinkId i = 0; i < to->net.n_links; i++) {
    const FabLink *link = fab_graph_link (graph, i);

    to->net.ports[i].ps_per_byte = 1;
    to->net.lanes[i].control = control;
    to->net.thresholds[i] = (Thresholds){ .pause = 700, .resume = 300 };
    if (fab_graph_vertex (graph, link->dst)->node == FAB_NO_NODE) {
      to->in = i;
      to->out = link->reverse;
      to->fabric = link->dst;
    } else if (fab_graph_vertex (graph, link->src)->node != FAB_NO_NODE) {
      to->elsewhere = i;
    }
  }
  packet_buffers_init (&to->net);
}

static void
net_clear (Net *self)
{
  packet_buffers_clear (&self->net);
  g_free (self->net.ports);
  g_free (self->net.lanes);
  g_free (self->net.thresholds);
  rig_free (self->rig);
}

/* Both links that end at the switch keep 100 B of a round trip and two packets: 2100 of 100 kB each. Of the rest,
 * 95.8 kB, half may wait. 10 kB that wait leave half of 85.8. Other switches are inside nodes and share nothing. */
static void
half_of_what_is_free_may_wait (G_GNUC_UNUSED void **state)
{
  const PacketParams params = { .memory_bytes = 100 * KB, .alpha = 0.5, .queue_bytes = 5 * KB };
  Net net;

  net_make (&net, &params, CONTROL_PFC);
  assert_int_equal (packet_buffers_queue (&net.net, net.out), 47900);
  assert_int_equal (packet_buffers_pause (&net.net, net.in, FALSE), 47900);
  assert_int_equal (packet_buffers_pause (&net.net, net.in, TRUE), 47900 - 2 * MTU);
  packet_buffers_count (&net.net, net.out, 10 * KB);
  packet_buffers_count (&net.net, net.elsewhere, 10 * KB);
  assert_int_equal (packet_buffers_queue (&net.net, net.out), 42900);
  assert_int_equal (packet_buffers_queue (&net.net, net.elsewhere), 5 * KB);
  assert_int_equal (packet_buffers_pause (&net.net, net.elsewhere, FALSE), 700);
  assert_int_equal (packet_buffers_pause (&net.net, net.elsewhere, TRUE), 300);
  packet_buffers_count (&net.net, net.out, 83 * KB);
  assert_int_equal (packet_buffers_pause (&net.net, net.in, FALSE), 1400);
  assert_int_equal (packet_buffers_pause (&net.net, net.in, TRUE), 0);
  packet_buffers_count (&net.net, net.out, 10 * KB);
  assert_int_equal (packet_buffers_queue (&net.net, net.out), 0);
  net_clear (&net);
}

/* Links that lose packets need no headroom. A pause that is written stays. */
static void
headroom_is_for_links_that_pause (G_GNUC_UNUSED void **state)
{
  const PacketParams params = { .memory_bytes = 100 * KB, .alpha = 2, .pause_bytes = 1 };
  Net net;

  net_make (&net, &params, CONTROL_DROP);
  assert_int_equal (packet_buffers_queue (&net.net, net.out), 200 * KB);
  assert_int_equal (packet_buffers_pause (&net.net, net.in, FALSE), 700);
  assert_int_equal (packet_buffers_pause (&net.net, net.in, TRUE), 300);
  net_clear (&net);
}

static int
chip_named (const char *name)
{
  for (int i = 0; packet_chips[i] != NULL; i++)
    if (strcmp (packet_chips[i], name) == 0)
      return i;
  fail_msg ("there is no chip %s", name);
  return 0;
}

/* A chip has the bytes and the alpha of its profile, 1 where none is known. What is written counts before it. */
static void
a_chip_has_its_memory_and_alpha (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *chip;
    FabBytes memory_bytes;
    double alpha;
    guint32 threshold;
  } rows[] = { { "trident_3", 0, 0, 32756480 },       { "7260cx3", 0, 0, 42000000 / 8 },
               { "7260cx3", 0, 0.5, 42000000 / 2 },   { "7260cx3", 8 * KB, 0, KB },
               { "ixr7220_d4", 0, 0, 73964892 / 16 }, { "7050cx3", 1, 0, 8 },
               { "none", 8 * KB, 0, 8 * KB },         { "none", 0, 0, 5 * KB },
               { "7050cx3", 0, 0, 8 * 32712448 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const PacketParams params = { .chip = chip_named (rows[i].chip),
                                  .memory_bytes = rows[i].memory_bytes,
                                  .alpha = rows[i].alpha,
                                  .queue_bytes = 5 * KB };
    Net net;

    net_make (&net, &params, CONTROL_DROP);
    assert_int_equal (packet_buffers_queue (&net.net, net.out), rows[i].threshold);
    net_clear (&net);
  }
}

/* --- keys --- */

static guint n_reported;

static void
report (G_GNUC_UNUSED FabCheck *check, G_GNUC_UNUSED gconstpointer field, const char *message)
{
  assert_string_equal (message, "tensor has a class already");
  n_reported++;
}

/* Every traffic has one class at most. */
static void
traffic_has_one_class (G_GNUC_UNUSED void **state)
{
  static const gint lists[][3] = { { 0, 1, 2 }, { 1, 0, 1 }, { 1, 1, 0 }, { 0, 1, 1 }, { 1, 1, 1 } };
  static const guint n_mistakes[] = { 0, 1, 1, 1, 3 };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    PacketClassParams classes[] = { { lists[i][0], 1 }, { lists[i][1], 1 }, { lists[i][2], 1 } };
    PacketParams params = { .classes = { .n = 3, .data = classes } };
    FabCheck check = { report };

    n_reported = 0;
    packet_params_check (&params, &check);
    assert_int_equal (n_reported, n_mistakes[i]);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (thresholds_are_in_proportion_between_rates),
    cmocka_unit_test (marks_come_before_losses),
    cmocka_unit_test (written_thresholds_count),
    cmocka_unit_test (marks_rise_between_the_thresholds),
    cmocka_unit_test (half_of_what_is_free_may_wait),
    cmocka_unit_test (headroom_is_for_links_that_pause),
    cmocka_unit_test (a_chip_has_its_memory_and_alpha),
    cmocka_unit_test (traffic_has_one_class),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
