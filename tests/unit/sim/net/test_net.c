/* SPDX-License-Identifier: Apache-2.0 */
/* test_net.c - what all networks share (sim/net/net.c): counters of links, sums of queues, dead links, times of
 * streams.
 *
 * Three GPUs on one switch, 100 bytes/s, and 1.25 line bytes for each byte that a kernel sends.
 */
#include "tests/support/test.h"

#include "sim/net/net.h"
#include "tests/support/random.h"
#include "tests/support/rig.h"

enum { N_GPUS = 3, N_LINKS = 2 * N_GPUS };

typedef struct {
  Rig *rig;
  FabMeter *meter;
  FabPath paths[2];
  FabFootprint *footprints[2]; /* from GPU 0 to 1, and from 0 to 2 */
} Meter;

static Meter
meter_new (void)
{
  Meter self = { .rig = rig_new (&(RigSpec){
                     .n_nodes = 1, .gpus_per_node = N_GPUS, .gpu_bytes_per_s = 100, .gpu_cost = 1.25 }) };

  assert_int_equal (fab_graph_n_links (self.rig->graph), N_LINKS);
  self.meter = fab_meter_new (self.rig->graph);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self.rig->graph);

    assert_true (fab_router_append (self.rig->router, rig_gpu (self.rig, 0), rig_gpu (self.rig, i + 1), 0,
                                    &self.paths[i]));
    fab_footprint_builder_add (builder, &self.paths[i], (FabUse){ i + 1, FAB_DRIVE_KERNEL, 1, 1, 1 });
    self.footprints[i] = fab_footprint_builder_finish (builder);
  }
  return self;
}

static void
meter_clear (Meter *self)
{
  fab_meter_free (self->meter);
  for (guint i = 0; i < 2; i++)
    fab_footprint_free (self->footprints[i]);
  rig_free (self->rig);
}

static void
expect_path (FabLinkLoad *loads, const FabPath *path, double payload_bytes, double line_bytes)
{
  for (guint i = 0; i < path->n; i++) {
    loads[path->links[i]].payload_bytes += payload_bytes;
    loads[path->links[i]].line_bytes += line_bytes;
  }
}

/* Adds something at random, here and to `loads`: the footprint of path p has p + 1 bytes for each byte, each 1.25 on
 * its line, times the factor of the protocol. */
static void
add_anything (Meter *self, Random *random, FabLinkLoad *loads)
{
  guint p = random_below (random, 2), bytes = 1 + random_below (random, 1000);
  double weight = p + 1;

  switch (random_below (random, 5)) {
  case 0:
    fab_meter_add_footprint (self->meter, self->footprints[p], bytes, 2);
    expect_path (loads, &self->paths[p], weight * bytes, weight * bytes * 1.25 * 2);
    break;
  case 1:
    fab_meter_add_once (self->meter, self->footprints[p], bytes);
    expect_path (loads, &self->paths[p], weight * bytes, weight * bytes * 1.25);
    break;
  case 2:
    fab_meter_add_line (self->meter, self->footprints[p], bytes + 0.5, 3);
    expect_path (loads, &self->paths[p], weight * (bytes + 0.5), weight * (bytes + 0.5) * 1.25 * 3);
    break;
  case 3:
    fab_meter_add_link (self->meter, N_LINKS - 1, bytes, 7);
    loads[N_LINKS - 1].payload_bytes += bytes;
    loads[N_LINKS - 1].line_bytes += 7;
    break;
  default:
    fab_meter_add_path (self->meter, &self->paths[p], bytes, FAB_DRIVE_KERNEL);
    expect_path (loads, &self->paths[p], bytes, bytes * 1.25);
    break;
  }
}

static void
assert_loads (const FabLinkLoad *found, const FabLinkLoad *expected)
{
  for (guint i = 0; i < N_LINKS; i++) {
    assert_near (found[i].payload_bytes, expected[i].payload_bytes, 1e-12);
    assert_near (found[i].line_bytes, expected[i].line_bytes, 1e-12);
  }
}

/* All at once, or some links at a time; afterwards all counters are zero. */
static void
loads_add_up_and_are_taken_once (G_GNUC_UNUSED void **state)
{
  static const FabLinkLoad none[N_LINKS];
  Meter meter = meter_new ();

  for (guint round = 0; round < 40; round++) {
    FabLinkLoad expected[N_LINKS] = { 0 }, found[N_LINKS];
    Random random = { round };

    for (guint i = random_below (&random, 12); i > 0; i--)
      add_anything (&meter, &random, expected);
    for (guint first = 0, n; round % 2 == 1 && first < N_LINKS; first += n) {
      n = 1 + random_below (&random, N_LINKS - first);
      fab_meter_read (meter.meter, first, n, found + first);
    }
    if (round % 2 == 0)
      fab_meter_take (meter.meter, found);
    assert_loads (found, expected);
    fab_meter_take (meter.meter, found);
    assert_loads (found, none);
  }
  meter_clear (&meter);
}

/* What was drained is once in the list, of links that carried something alone; it can be added again. */
static void
drained_loads_come_back (G_GNUC_UNUSED void **state)
{
  static const FabLinkLoad none[N_LINKS];
  Meter meter = meter_new ();

  for (guint round = 0; round < 40; round++) {
    g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry));
    FabLinkLoad expected[N_LINKS] = { 0 }, found[N_LINKS];
    gboolean is_listed[N_LINKS] = { FALSE };
    Random random = { round };

    for (guint i = random_below (&random, 6); i > 0; i--)
      add_anything (&meter, &random, expected);
    assert_ptr_equal (fab_meter_drain (meter.meter, entries), entries);
    for (guint i = 0; i < entries->len; i++) {
      guint64 link = g_array_index (entries, FabMeterEntry, i).link;

      assert_true (link < N_LINKS && !is_listed[link] && expected[link].payload_bytes > 0);
      is_listed[link] = TRUE;
    }
    fab_meter_take (meter.meter, found);
    assert_loads (found, none);
    fab_meter_add_entries (meter.meter, (const FabMeterEntry *) (gpointer) entries->data, entries->len);
    fab_meter_take (meter.meter, found);
    assert_loads (found, expected);
  }
  meter_clear (&meter);
}

/* Parts of a byte count, of the payload as of the line; nothing at all does not, however often it is added. */
static void
small_loads_are_drained (G_GNUC_UNUSED void **state)
{
  Meter meter = meter_new ();
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry));

  fab_meter_add_link (meter.meter, 3, 0.25, 0);
  for (guint i = 0; i < 2; i++)
    fab_meter_add_link (meter.meter, 2, 0, 0);
  fab_meter_add_link (meter.meter, 1, 0, 0.5);
  fab_meter_drain (meter.meter, entries);
  assert_int_equal (entries->len, 2);
  for (guint i = 0; i < entries->len; i++) {
    const FabMeterEntry *entry = &g_array_index (entries, FabMeterEntry, i);

    assert_int_equal (entry->link, i == 0 ? 3 : 1);
    assert_near (entry->load.payload_bytes, i == 0 ? 0.25 : 0, 0);
    assert_near (entry->load.line_bytes, i == 0 ? 0 : 0.5, 0);
  }
  meter_clear (&meter);
}

/* Lanes 0 and 2 are of link 1, lane 3 of link 0. What a lane counts in two parts adds up, and its longest queue is the
 * longer one; of the lanes of a link the longest queues add up. A mean is over the whole time. */
static void
queues_of_lanes_add_up (G_GNUC_UNUSED void **state)
{
  static const FabLaneQueue
      first[] = { { .lane = 0,
                    .link = 1,
                    .carried_bytes = 10,
                    .most_bytes = 5,
                    .byte_ps = 100,
                    .n_stalls = 1,
                    .n_marks = 2,
                    .n_pauses = 3,
                    .n_drops = 4 },
                  { .lane = 3, .link = 0, .carried_bytes = 7, .most_bytes = 1, .byte_ps = 50 } },
      second[] = { { .lane = 0,
                     .link = 1,
                     .carried_bytes = 20,
                     .most_bytes = 3,
                     .byte_ps = 300,
                     .n_stalls = 10,
                     .n_marks = 20,
                     .n_pauses = 30,
                     .n_drops = 40 },
                   { .lane = 2, .link = 1, .carried_bytes = 1, .most_bytes = 6, .byte_ps = 200 } };
  g_autoptr (GArray) lanes = g_array_new (FALSE, TRUE, sizeof (FabLaneQueue));

  fab_lane_queues_add (lanes, first, 2);
  fab_lane_queues_add (lanes, second, 2);
  assert_int_equal (lanes->len, 4);
  assert_int_equal (g_array_index (lanes, FabLaneQueue, 0).most_bytes, 5);
  g_autofree FabLinkQueue *queues = fab_lane_queues_sum (lanes, 2, 1000);
  assert_int_equal (queues[1].carried_bytes, 31);
  assert_int_equal (queues[1].most_bytes, 11);
  assert_near (queues[1].mean_bytes, 0.6, 1e-12);
  assert_int_equal (queues[1].n_stalls, 11);
  assert_int_equal (queues[1].n_marks, 22);
  assert_int_equal (queues[1].n_pauses, 33);
  assert_int_equal (queues[1].n_drops, 44);
  assert_int_equal (queues[0].carried_bytes, 7);
  assert_near (queues[0].mean_bytes, 0.05, 1e-12);
  g_autofree FabLinkQueue *at_once = fab_lane_queues_sum (lanes, 2, 0);
  assert_near (at_once[1].mean_bytes, 0, 0);
}

/* A link is dead from when it has no rate until it has some again; a footprint meets the one that died first. */
static void
dead_links_are_found_on_footprints (G_GNUC_UNUSED void **state)
{
  Meter meter = meter_new ();
  RigNet net = rig_net (meter.rig, &fab_net_fluid);
  FabLinkId shared = meter.paths[0].links[0], own = meter.paths[0].links[1];

  assert_null (fab_net_find_dead (net.net, meter.footprints[0]));
  fab_net_set_capacity (net.net, own, 0);
  fab_net_set_capacity (net.net, shared, 0.5);
  assert_int_equal (fab_net_find_dead (net.net, meter.footprints[0])->link, own);
  assert_null (fab_net_find_dead (net.net, meter.footprints[1]));
  fab_net_set_capacity (net.net, shared, 0);
  fab_net_set_capacity (net.net, shared, 0);
  assert_int_equal (net.net->dead->len, 2);
  g_autoptr (FabFootprint) empty = fab_footprint_new (1); /* which has no link yet */
  assert_null (fab_net_find_dead (net.net, empty));
  assert_int_equal (fab_net_find_dead (net.net, meter.footprints[0])->link, own);
  assert_int_equal (fab_net_find_dead (net.net, meter.footprints[1])->link, shared);
  fab_net_set_capacity (net.net, shared, 1);
  fab_net_set_capacity (net.net, own, 0.1);
  assert_null (fab_net_find_dead (net.net, meter.footprints[0]));
  assert_int_equal (net.net->n_rate_changes, 6);
  rig_net_clear (&net);
  meter_clear (&meter);
}

static guint n_forgotten;

static void
count_forget (G_GNUC_UNUSED FabNet *net)
{
  n_forgotten++;
}

/* A network that has nothing to forget has no operation for it. */
static void
networks_forget_what_they_can (G_GNUC_UNUSED void **state)
{
  const FabNetOps with = { .forget = count_forget }, without = { .forget = NULL };

  for (guint i = 0; i < 2; i++)
    fab_net_forget (&(FabNet){ .ops = i == 0 ? &with : &without });
  assert_int_equal (n_forgotten, 1);
}

/* Times are rounded up to a ps, but not for the last digit of a double. */
static void
flows_take_whole_picoseconds (G_GNUC_UNUSED void **state)
{
  assert_int_equal (fab_flow_ps (0, 1), 0);
  assert_int_equal (fab_flow_ps (1, 1e12), 1);
  assert_int_equal (fab_flow_ps (1, 4e12), 1);
  assert_int_equal (fab_flow_ps (5, 4e12), 2);
  assert_int_equal (fab_flow_ps (3, 3e12 * (1 - 0x1p-52)), 1);
  assert_int_equal (fab_flow_ps (1e9, 1e9), FAB_PS_PER_S);
  assert_int_equal (fab_flow_ps (1e30, 1), FAB_TIME_MAX);
  assert_int_equal (fab_flow_ps (0x1p63, 1e12), FAB_TIME_MAX); /* 2^63 ps, one more than it */
}

/* 80 bytes/s with the kernels' headers, 100 of payload. A protocol that sends twice the bytes has half of it, and no
 * stream is faster than its ends. The bound knows no headers; a protocol that sends less than its size shortens it. */
static void
streams_have_a_rate_and_a_bound (G_GNUC_UNUSED void **state)
{
  Meter meter = meter_new ();
  FabStream stream = { .footprint = meter.footprints[0], .bytes = 400, .wire_factor = 1, .latency_ps = 7 };
  const double s = (double) FAB_PS_PER_S;

  assert_near (fab_stream_rate_alone (&stream), 80, 1e-12);
  assert_near ((double) fab_stream_bound_ps (&stream), 4 * s + 7, 1e-12);
  stream.wire_factor = 2;
  assert_near (fab_stream_rate_alone (&stream), 40, 1e-12);
  assert_near ((double) fab_stream_bound_ps (&stream), 4 * s + 7, 1e-12);
  stream.wire_factor = 0.5;
  assert_near ((double) fab_stream_bound_ps (&stream), 2 * s + 7, 1e-12);
  stream.limit_bytes_per_s = 30;
  assert_near (fab_stream_rate_alone (&stream), 30, 1e-12);
  stream.limit_bytes_per_s = 300;
  assert_near (fab_stream_rate_alone (&stream), 160, 1e-12);
  /* At 100 bytes/s 8 x 10^18 bytes take longer than any time that there is. */
  stream.wire_factor = 1;
  stream.bytes = G_GUINT64_CONSTANT (8000000000000000000);
  assert_int_equal (fab_stream_bound_ps (&stream), FAB_TIME_MAX);
  meter_clear (&meter);
}

/* --- spreading --- */

/* Four nodes of one GPU and one NIC, two on a leaf: 1 byte per ps and 30 ps inside, 2 ps per byte and 50 ps outside. A
 * message to the other leaf passes four links of each and goes at the rate of the slowest one, whether its router
 * spreads messages over all shortest paths or takes one of them. */
static void
spreading_keeps_the_rate_of_the_ports (G_GNUC_UNUSED void **state)
{
  const FabNetOps *const nets[] = { &fab_net_fluid, &fab_net_step };
  const FabBytes bytes = 1000 * 1000;

  for (guint spreads = 0; spreads < 2; spreads++)
    for (guint i = 0; i < G_N_ELEMENTS (nets); i++) {
      g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 4,
                                                 .gpus_per_node = 1,
                                                 .nics_per_node = 1,
                                                 .gpu_bytes_per_s = FAB_PS_PER_S,
                                                 .nic_bytes_per_s = FAB_PS_PER_S / 2,
                                                 .gpu_latency_ps = 30,
                                                 .nic_latency_ps = 50,
                                                 .nodes_per_leaf = 2 });
      g_autoptr (Params) params = params_new (&fab_route_spray.info, "");

      if (spreads) {
        fab_router_destroy (rig->router);
        rig->router = fab_route_spray.create (rig->graph, params->params, 1);
      }
      FabTransfer transfer = { .src = rig_gpu (rig, 0), .dst = rig_gpu (rig, 3), .bytes = bytes };
      assert_int_equal (rig_time_send (rig, nets[i], transfer), 4 * 30 + 4 * 50 + 2 * (FabTimePs) bytes);
      transfer.bytes = 0;
      assert_int_equal (rig_time_send (rig, nets[i], transfer), 4 * 30 + 4 * 50);
      transfer.dst = transfer.src;
      assert_int_equal (rig_time_send (rig, nets[i], transfer), 0);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (loads_add_up_and_are_taken_once),
    cmocka_unit_test (drained_loads_come_back),
    cmocka_unit_test (small_loads_are_drained),
    cmocka_unit_test (queues_of_lanes_add_up),
    cmocka_unit_test (dead_links_are_found_on_footprints),
    cmocka_unit_test (networks_forget_what_they_can),
    cmocka_unit_test (flows_take_whole_picoseconds),
    cmocka_unit_test (streams_have_a_rate_and_a_bound),
    cmocka_unit_test (spreading_keeps_the_rate_of_the_ports),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
