/* SPDX-License-Identifier: Apache-2.0 */
/* prop_fluid.c - the fluid network against its definition: everything solved anew at every event (ref_fluid.h). */
#include "tests/support/test.h"

#include "tests/support/load.h"
#include "tests/support/ref_fluid.h"
#include "tests/support/seeds.h"

enum { MOST_ITEMS = 30, MOST_SHAPES = 5 };

/* A rig, footprints on it, and what is sent when. */
typedef struct {
  Rig *rig;
  FabFootprint *footprints[MOST_SHAPES];
  guint n_footprints, n_items;
  LoadItem items[MOST_ITEMS];
  FabLinkLoad *loads; /* of the last play */
} Case;

static Case *
case_new (Random *random)
{
  Case *self = g_new0 (Case, 1);

  self->rig = rig_new (&(RigSpec){
      .n_nodes = random_between (random, 1, 3),
      .gpus_per_node = random_between (random, 2, 4),
      .nics_per_node = random_between (random, 1, 2),
      .gpu_bytes_per_s = random_between (random, 1, 4) * G_GUINT64_CONSTANT (50000000000),
      .nic_bytes_per_s = random_between (random, 1, 4) * G_GUINT64_CONSTANT (12500000000),
      .gpu_latency_ps = random_below (random, 1000000),
      .nic_latency_ps = random_below (random, 3000000),
      .gpu_cost = 1 + random_below (random, 8) / 16.0,
      .nic_cost = 1 + random_below (random, 8) / 16.0,
  });
  self->n_footprints = random_between (random, 1, MOST_SHAPES);
  self->n_items = random_between (random, 1, MOST_ITEMS);
  for (guint i = 0; i < self->n_footprints; i++)
    self->footprints[i] = load_random_footprint (random, self->rig);
  load_random (random, self->rig, self->footprints, self->n_footprints, self->items, self->n_items);
  self->loads = g_new0 (FabLinkLoad, fab_graph_n_links (self->rig->graph));
  return self;
}

static void
case_free (Case *self)
{
  for (guint i = 0; i < self->n_footprints; i++)
    fab_footprint_free (self->footprints[i]);
  rig_free (self->rig);
  g_free (self->loads);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Case, case_free)

static void
play (Case *self, const FabNetOps *ops)
{
  load_play (self->rig, ops, self->items, self->n_items, self->loads);
  for (guint i = 0; i < self->n_items; i++)
    assert_int_equal (self->items[i].n_ends, 1);
}

/* Every end is rounded up to a ps, and what follows inherits it: a ps per item of grace. */
static void
check_against_reference (Random *random)
{
  g_autoptr (Case) self = case_new (random);
  double expected_ps[MOST_ITEMS];

  play (self, &fab_net_fluid);
  ref_fluid_play (self->rig, self->items, self->n_items, NULL, expected_ps);
  for (guint i = 0; i < self->n_items; i++)
    if (fabs ((double) self->items[i].end_ps - expected_ps[i]) > 1e-9 * expected_ps[i] + 4 * self->n_items)
      fail_msg ("item %u ends at %" G_GINT64_FORMAT ", by the definition at %.17g", i, self->items[i].end_ps,
                expected_ps[i]);
}

static void
rates_are_those_of_solving_everything_anew (G_GNUC_UNUSED void **state)
{
  seeds_run (600, check_against_reference);
}

/* Weights are eighths, costs sixteenths and wire factors 1, 17/16 or 2, so that all sums of bytes are exact. */
static void
expect_bytes (const Case *self, FabLinkLoad *expected)
{
  for (guint i = 0; i < self->n_items; i++) {
    const FabStream *stream = &self->items[i].stream;
    const FabTransfer *transfer = &self->items[i].transfer;
    FabPath path = { 0 };

    for (guint k = 0; stream->footprint && k < stream->footprint->n; k++) {
      FabLinkLoad *load = &expected[stream->footprint->links[k]];

      load->payload_bytes += (double) stream->bytes * stream->footprint->weights[k];
      load->line_bytes += (double) stream->bytes * stream->wire_factor * stream->footprint->line_weights[k];
    }
    if (stream->footprint)
      continue;
    fab_router_append (self->rig->router, transfer->src, transfer->dst, 0, &path);
    for (guint k = 0; k < path.n; k++) {
      double cost = fab_graph_link_class (self->rig->graph, path.links[k])->cost[transfer->drive];

      expected[path.links[k]].payload_bytes += (double) transfer->bytes;
      expected[path.links[k]].line_bytes += (double) transfer->bytes * cost;
    }
  }
}

static void
check_bytes (Random *random)
{
  static const FabNetOps *const nets[] = { &fab_net_fluid, &fab_net_analytic };
  g_autoptr (Case) self = case_new (random);
  guint n_links = fab_graph_n_links (self->rig->graph);
  g_autofree FabLinkLoad *expected = g_new0 (FabLinkLoad, n_links);

  expect_bytes (self, expected);
  for (guint n = 0; n < G_N_ELEMENTS (nets); n++) {
    play (self, nets[n]);
    for (guint l = 0; l < n_links; l++) {
      assert_near (self->loads[l].payload_bytes, expected[l].payload_bytes, 0);
      assert_near (self->loads[l].line_bytes, expected[l].line_bytes, 0);
    }
  }
}

static void
every_link_carries_exactly_its_bytes (G_GNUC_UNUSED void **state)
{
  seeds_run (600, check_bytes);
}

/* Rates are doubles: a ps of grace. */
static void
check_floor (Random *random)
{
  g_autoptr (Case) self = case_new (random);
  FabTimePs alone_ps[MOST_ITEMS];

  play (self, &fab_net_analytic);
  for (guint i = 0; i < self->n_items; i++)
    alone_ps[i] = self->items[i].end_ps;
  play (self, &fab_net_fluid);
  for (guint i = 0; i < self->n_items; i++) {
    FabTimePs bound_ps = self->items[i].start_ps + load_bound_ps (self->rig, &self->items[i]);

    assert_true (self->items[i].end_ps >= alone_ps[i] - 1);
    assert_true (alone_ps[i] >= bound_ps - 1);
  }
}

static void
nothing_beats_analytic_nor_physics (G_GNUC_UNUSED void **state)
{
  seeds_run (600, check_floor);
}

/* What an idle network does is a closed form: latency, and bytes over the slowest link. */
static void
check_alone (Random *random)
{
  g_autoptr (Case) self = case_new (random);
  const LoadItem *item = &self->items[0];
  FabPath path = { 0 };
  double expected_ps;

  self->n_items = 1;
  play (self, &fab_net_fluid);
  if (item->stream.footprint) {
    double rate = item->stream.footprint->rate_bytes_per_s / item->stream.wire_factor;

    if (item->stream.limit_bytes_per_s > 0)
      rate = MIN (rate, item->stream.limit_bytes_per_s);
    expected_ps = (double) item->stream.startup_ps + (double) item->stream.bytes / rate * 1e12;
  } else {
    fab_router_append (self->rig->router, item->transfer.src, item->transfer.dst, 0, &path);
    expected_ps = (double) fab_path_latency_ps (self->rig->graph, &path);
    if (path.n > 0)
      expected_ps += (double) item->transfer.bytes
                   / fab_path_rate_bytes_per_s (self->rig->graph, &path, item->transfer.drive) * 1e12;
  }
  double duration_ps = (double) (item->end_ps - item->start_ps);
  assert_true (duration_ps >= expected_ps * (1 - 1e-12) && duration_ps <= expected_ps * (1 + 1e-9) + 1);
}

static void
a_lone_flow_meets_the_closed_form (G_GNUC_UNUSED void **state)
{
  seeds_run (600, check_alone);
}

/* n messages of 1 MB into one GPU at 1 byte per ps share its link: all end at n x 1e6 ps. */
static void
n_to_one_gives_each_an_nth (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 64; n++) {
    g_autoptr (Rig) rig = rig_new_flat (n + 1);
    g_autofree LoadItem *items = g_new0 (LoadItem, n);

    for (guint i = 0; i < n; i++)
      items[i].transfer = (FabTransfer){ .src = rig_gpu (rig, i), .dst = rig_gpu (rig, n), .bytes = 1000000 };
    load_play (rig, &fab_net_fluid, items, n, NULL);
    for (guint i = 0; i < n; i++)
      assert_in_range (items[i].end_ps, n * 1000000, n * 1000000 + 1);
  }
}

/* A stream that counts as three connections beside a message: 3/4 and 1/4 of the link, so of 3 MB and 1 MB both
 * end at 4e6 ps. */
static void
a_link_is_shared_per_connection (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new_flat (2);
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);
  LoadItem items[2] = { 0 };
  FabPath path = { 0 };

  fab_router_append (rig->router, rig_gpu (rig, 0), rig_gpu (rig, 1), 0, &path);
  fab_footprint_builder_add (builder, &path, (FabUse){ 1, FAB_DRIVE_COPY, 1, 1, 1 });
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
  items[0].stream = (FabStream){ .footprint = footprint, .bytes = 3000000, .wire_factor = 1, .share = 3 };
  items[1].transfer = (FabTransfer){ .src = rig_gpu (rig, 0), .dst = rig_gpu (rig, 1), .bytes = 1000000 };
  load_play (rig, &fab_net_fluid, items, 2, NULL);
  assert_in_range (items[0].end_ps, 4000000, 4000001);
  assert_in_range (items[1].end_ps, 4000000, 4000001);
}

static void
stop (gpointer engine, G_GNUC_UNUSED guint64 arg)
{
  fab_engine_stop (engine);
}

static void
check_freeing (Random *random)
{
  g_autoptr (Case) self = case_new (random);
  RigNet net = rig_net (self->rig, &fab_net_fluid);
  FabDone done = { stop, net.engine, 0 };

  for (guint i = 0; i < self->n_items; i++) {
    self->items[i].stream.done = self->items[i].transfer.done = done;
    if (self->items[i].stream.footprint)
      fab_net_stream (net.net, &self->items[i].stream);
    else
      fab_net_send (net.net, &self->items[i].transfer);
  }
  fab_engine_run (net.engine); /* to the first end */
  rig_net_clear (&net);
}

static void
a_network_can_be_freed_with_flows_on_their_way (G_GNUC_UNUSED void **state)
{
  seeds_run (50, check_freeing);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (rates_are_those_of_solving_everything_anew),
    seeds_test (every_link_carries_exactly_its_bytes),
    seeds_test (nothing_beats_analytic_nor_physics),
    seeds_test (a_lone_flow_meets_the_closed_form),
    cmocka_unit_test (n_to_one_gives_each_an_nth),
    cmocka_unit_test (a_link_is_shared_per_connection),
    seeds_test (a_network_can_be_freed_with_flows_on_their_way),
  };

  return cmocka_run_group_tests_name ("fluid", tests, NULL, NULL);
}
