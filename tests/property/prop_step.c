/* SPDX-License-Identifier: Apache-2.0 */
/* prop_step.c - schedules on the step network against their definition: at every event every rate is found anew, in
 * real numbers, without lines, tight links or events. */
#include "tests/support/test.h"

#include "sim/shortcut/time/skips.h"
#include "tests/support/load.h"
#include "tests/support/ref_maxmin.h"
#include "tests/support/seeds.h"

enum { MOST_LANES = 12, MOST_MESSAGES = 4, MOST_FEEDS = 2 * MOST_LANES, MOST_LINKS = 16 };

typedef struct {
  FabFootprint *footprint;
  FabTimePs latency_ps;
  double weight;
  guint n_messages, n_begun, n_left;
  double left_bytes, rate; /* of the one under way */
  double left_ps[MOST_MESSAGES];
} RefStream;

typedef struct {
  guint lane, from, offset;
} RefFeed;

typedef struct {
  Rig *rig;
  FabSchedule *schedule;
  RefStream lanes[MOST_LANES];
  RefFeed feeds[MOST_FEEDS];
  guint n_lanes, n_feeds;
  FabBytes bytes;
} Case;

static void
add_lane (Case *self, Random *random)
{
  FabGroup group = rig_group (self->rig);
  guint n = fab_group_n_ranks (&group), from = random_below (random, n);
  guint to = (from + random_between (random, 1, n - 1)) % n;
  RefStream *lane = &self->lanes[self->n_lanes++];
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->rig->graph);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, from, to, &hop, NULL));
  fab_hop_use (&hop, 1, 1, builder);
  *lane = (RefStream){ .footprint = fab_footprint_builder_finish (builder),
                       .latency_ps = hop.latency_ps,
                       .weight = random_between (random, 1, 8) / 8.0,
                       .n_messages = random_between (random, 1, MOST_MESSAGES) };
  g_assert (lane->footprint->n <= MOST_LINKS);
  fab_schedule_lane (self->schedule, &hop, 1, lane->weight, lane->n_messages);
}

static void
add_feed (Case *self, Random *random)
{
  RefFeed feed = { random_below (random, self->n_lanes), random_below (random, self->n_lanes),
                   random_below (random, 2) };

  if (feed.offset == 0 && feed.from >= feed.lane)
    return;
  if (self->lanes[feed.lane].n_messages > self->lanes[feed.from].n_messages + feed.offset)
    return;
  self->feeds[self->n_feeds++] = feed;
  fab_schedule_depend (self->schedule, feed.lane, feed.from, feed.offset);
}

static Case *
case_new (Random *random)
{
  Case *self = g_new0 (Case, 1);
  guint n_lanes = random_between (random, 1, MOST_LANES);

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
  self->schedule = fab_schedule_new (&self->rig->cluster);
  self->bytes = (FabBytes) random_scale (random, 1e3, 1e6);
  for (guint i = 0; i < n_lanes; i++)
    add_lane (self, random);
  for (guint i = random_below (random, MOST_FEEDS); i > 0; i--)
    add_feed (self, random);
  return self;
}

static void
case_free (Case *self)
{
  fab_schedule_free (self->schedule);
  for (guint i = 0; i < self->n_lanes; i++)
    fab_footprint_free (self->lanes[i].footprint);
  rig_free (self->rig);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Case, case_free)

/* --- the definition --- */

/* When the next message of a lane may begin; G_MAXDOUBLE: not known yet, or there is none. */
static double
may_begin_ps (const Case *self, guint l)
{
  const RefStream *lane = &self->lanes[l];
  guint i = lane->n_begun;
  double at_ps = i > 0 && lane->n_left == i ? lane->left_ps[i - 1] : 0;

  if (i == lane->n_messages || lane->n_left < i)
    return G_MAXDOUBLE;
  for (guint f = 0; f < self->n_feeds; f++) {
    const RefFeed *feed = &self->feeds[f];
    const RefStream *from = &self->lanes[feed->from];

    if (feed->lane != l || i < feed->offset)
      continue;
    if (from->n_left <= i - feed->offset)
      return G_MAXDOUBLE;
    at_ps = MAX (at_ps, from->left_ps[i - feed->offset] + (double) from->latency_ps);
  }
  return at_ps;
}

static gboolean
is_under_way (const RefStream *lane)
{
  return lane->n_begun > lane->n_left;
}

static void
solve (Case *self)
{
  guint n_links = fab_graph_n_links (self->rig->graph), n = 0, n_entries = 0;
  guint starts[MOST_LANES + 1] = { 0 }, links[MOST_LANES * MOST_LINKS], active[MOST_LANES];
  double weights[MOST_LANES * MOST_LINKS], rates[MOST_LANES], limits[MOST_LANES] = { 0 }, shares[MOST_LANES];
  g_autofree double *capacity = g_new (double, n_links);

  for (guint i = 0; i < n_links; i++)
    capacity[i] = (double) fab_graph_link (self->rig->graph, i)->rate_bytes_per_s;
  for (guint l = 0; l < self->n_lanes; l++) {
    const FabFootprint *footprint = self->lanes[l].footprint;

    if (!is_under_way (&self->lanes[l]))
      continue;
    for (guint i = 0; i < footprint->n; i++, n_entries++) {
      links[n_entries] = footprint->links[i];
      weights[n_entries] = footprint->line_weights[i];
    }
    shares[n] = 1 / footprint->binding_weight;
    active[n] = l;
    starts[++n] = n_entries;
  }
  ref_maxmin_solve (&(FabMaxminProblem){ n, n_links, capacity, starts, links, weights, shares, limits },
                    rates);
  for (guint i = 0; i < n; i++)
    self->lanes[active[i]].rate = rates[i];
}

static double
next_event_ps (const Case *self, double now_ps)
{
  double next_ps = G_MAXDOUBLE;

  for (guint l = 0; l < self->n_lanes; l++) {
    const RefStream *lane = &self->lanes[l];

    next_ps = MIN (next_ps, is_under_way (lane) ? now_ps + lane->left_bytes / lane->rate * 1e12
                                                : may_begin_ps (self, l));
  }
  return next_ps;
}

static void
go_to (Case *self, double from_ps, double to_ps)
{
  const double rounding = 1e-9;

  for (guint l = 0; l < self->n_lanes; l++) {
    RefStream *lane = &self->lanes[l];

    if (!is_under_way (lane))
      continue;
    lane->left_bytes -= lane->rate * (to_ps - from_ps) * 1e-12;
    if (lane->left_bytes <= rounding * (double) self->bytes)
      lane->left_ps[lane->n_left++] = to_ps;
  }
  for (guint l = 0; l < self->n_lanes; l++)
    if (may_begin_ps (self, l) <= to_ps) {
      self->lanes[l].n_begun++;
      self->lanes[l].left_bytes = self->lanes[l].weight * (double) self->bytes;
    }
}

static double
definition_ps (Case *self)
{
  double now_ps = 0, next_ps, end_ps = 0;

  go_to (self, 0, 0);
  for (;;) {
    solve (self);
    next_ps = next_event_ps (self, now_ps);
    if (next_ps >= G_MAXDOUBLE)
      break;
    go_to (self, now_ps, next_ps);
    now_ps = next_ps;
  }
  for (guint l = 0; l < self->n_lanes; l++) {
    const RefStream *lane = &self->lanes[l];

    assert_int_equal (lane->n_left, lane->n_messages);
    end_ps = MAX (end_ps, lane->left_ps[lane->n_left - 1] + (double) lane->latency_ps);
  }
  return end_ps;
}

/* --- the network --- */

static void
stop (gpointer engine, G_GNUC_UNUSED guint64 arg)
{
  fab_engine_stop (engine);
}

static FabTimePs
play (const Case *self, FabLinkLoad *loads)
{
  RigNet net = rig_net (self->rig, &fab_net_step);
  g_autoptr (FabPlay) play = fab_play_new (self->schedule, net.net,
                                           &(FabPlaySpec){ .bytes = self->bytes,
                                                           .wire_factor = 1,
                                                           .share = 1,
                                                           .watch = &fab_skips_watch,
                                                           .done = { stop, net.engine, 0 } });
  FabTimePs end_ps;

  fab_engine_run (net.engine);
  end_ps = fab_engine_now (net.engine);
  fab_meter_take (net.net->meter, loads);
  rig_net_clear (&net);
  return end_ps;
}

static void
check_bytes (const Case *self, const FabLinkLoad *loads)
{
  guint n_links = fab_graph_n_links (self->rig->graph);
  g_autofree double *expected = g_new0 (double, n_links);

  for (guint l = 0; l < self->n_lanes; l++)
    for (guint i = 0; i < self->lanes[l].footprint->n; i++)
      expected[self->lanes[l].footprint->links[i]] += self->lanes[l].footprint->weights[i]
                                                    * self->lanes[l].weight * self->lanes[l].n_messages
                                                    * (double) self->bytes;
  for (FabLinkId link = 0; link < n_links; link++)
    assert_near (loads[link].payload_bytes, expected[link], 1e-12);
}

/* Every end is rounded up to a ps, and what follows inherits it. */
static void
check_definition (Random *random)
{
  g_autoptr (Case) self = case_new (random);
  g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (self->rig->graph));
  double end_ps = (double) play (self, loads), expected_ps = definition_ps (self);
  double grace_ps = 1e-9 * expected_ps + 4 * MOST_LANES * MOST_MESSAGES;

  check_bytes (self, loads);
  if (fabs (end_ps - expected_ps) > grace_ps)
    fail_msg ("%u lanes end at %.0f ps, by the definition at %.17g", self->n_lanes, end_ps, expected_ps);
}

static void
a_schedule_is_played_as_it_is_defined (G_GNUC_UNUSED void **state)
{
  seeds_run (500, check_definition);
}

/* Twice at once on one network, and again afterwards: as each alone on links of half the rate, and as before. */
typedef struct {
  FabEngine *engine;
  guint n_left;
} Both;

static void
count_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Both *self = owner;

  if (--self->n_left == 0)
    fab_engine_stop (self->engine);
}

static FabTimePs
play_together (const Case *self, guint n_plays, RigNet *net)
{
  FabTimePs start_ps = fab_engine_now (net->engine);
  Both both = { net->engine, n_plays };
  FabPlaySpec spec = { .bytes = self->bytes,
                       .wire_factor = 1,
                       .share = 1,
                       .watch = &fab_skips_watch,
                       .done = { count_end, &both, 0 } };
  FabPlay *plays[2];

  for (guint i = 0; i < n_plays; i++)
    plays[i] = fab_play_new (self->schedule, net->net, &spec);
  fab_engine_run (net->engine);
  for (guint i = 0; i < n_plays; i++)
    fab_play_free (plays[i]);
  return fab_engine_now (net->engine) - start_ps;
}

static void
check_together (Random *random)
{
  g_autoptr (Case) self = case_new (random);
  RigNet net = rig_net (self->rig, &fab_net_step);
  FabTimePs alone_ps = play_together (self, 1, &net), both_ps = play_together (self, 2, &net);
  FabTimePs again_ps = play_together (self, 1, &net);

  rig_net_clear (&net);
  assert_in_range (again_ps, alone_ps - MOST_LANES * MOST_MESSAGES, alone_ps + MOST_LANES * MOST_MESSAGES);
  assert_true (both_ps >= alone_ps - MOST_LANES * MOST_MESSAGES);
  assert_true (both_ps <= 2 * alone_ps + 4 * MOST_LANES * MOST_MESSAGES);
}

static void
a_schedule_can_be_under_way_twice (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_together);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (a_schedule_is_played_as_it_is_defined),
    seeds_test (a_schedule_can_be_under_way_twice),
  };

  return cmocka_run_group_tests_name ("step", tests, NULL, NULL);
}
