/* SPDX-License-Identifier: Apache-2.0 */
/* prop_lane_fold.c - schedules of which every class of lanes is played once, and of which rounds that repeat are
 * skipped, against all messages one by one: the same times and the same bytes, also when two of them overlap, when a
 * link becomes slow, and when they were folded with a third one first.
 */
#include "tests/support/test.h"

#include "sim/shortcut/space/fold.h"
#include "sim/shortcut/time/skips.h"
#include "tests/support/rig.h"
#include "tests/support/seeds.h"

enum { N_PLAYS = 2, N_WITH_ANOTHER };

static const FabAlgorithmOps *const algorithms[] = {
  &fab_algorithm_ring,   &fab_algorithm_tree,   &fab_algorithm_hierarchical,
  &fab_algorithm_themis, &fab_algorithm_direct, &fab_algorithm_halving_doubling
};
static const FabAlgorithmEnv env = { .net_stretch = 1 };

/* Two collectives on one machine. */
typedef struct {
  Rig *rig, *unfolded; /* the same, but everything is played on the second */
  /* The last one is not played. */
  const FabAlgorithmOps *algorithms[N_WITH_ANOTHER];
  FabOp ops[N_WITH_ANOTHER];
  guint n_chunks[N_WITH_ANOTHER];
  FabPlaySpec specs[N_PLAYS];
  FabTimePs begins_ps[N_PLAYS];
  gboolean is_folded_twice; /* first with the one that is not played, and then without it */
  FabLinkId slow;           /* a link that falls to half of its rate; FAB_NO_LINK: none */
  FabTimePs slow_ps;
} Case;

static void
case_init (Case *self, Random *random)
{
  guint n_algorithms = G_N_ELEMENTS (algorithms);

  RigSpec spec = {
    .n_nodes = random_between (random, 1, 6),
    .gpus_per_node = random_between (random, 2, 4),
    .nics_per_node = random_between (random, 1, 2),
    .gpu_bytes_per_s = random_between (random, 1, 4) * G_GUINT64_CONSTANT (50000000000),
    .nic_bytes_per_s = random_between (random, 1, 4) * G_GUINT64_CONSTANT (12500000000),
    .gpu_latency_ps = random_below (random, 1000000),
    .nic_latency_ps = random_below (random, 3000000),
  };

  self->rig = rig_new (&spec);
  self->unfolded = rig_new (&spec);
  fab_graph_unfold (self->unfolded->graph);
  FabGroup group = rig_group (self->rig);
  self->is_folded_twice = random_chance (random, 50);
  for (guint i = 0; i < N_WITH_ANOTHER; i++) {
    do {
      self->algorithms[i] = algorithms[random_below (random, n_algorithms)];
      self->ops[i] = random_below (random, FAB_N_OPS);
    } while (!self->algorithms[i]->supports (&group, self->ops[i]));
    self->n_chunks[i] = random_between (random, 1, 60);
  }
  for (guint i = 0; i < N_PLAYS; i++) {
    self->specs[i] = (FabPlaySpec){
      .bytes = (FabBytes) random_scale (random, 1e4, 1e7),
      .wire_factor = 1,
      .share = random_between (random, 1, 2),
      .limit_bytes_per_s = random_chance (random, 50) ? random_scale (random, 1e9, 1e11) : 0,
      .free_bytes_per_s = 1e12,
      .steps_ps = random_chance (random, 50) ? (FabTimePs) random_scale (random, 1e6, 1e9) : 0,
      .intra_cost = 1,
      .inter_cost = random_between (random, 1, 3),
      .is_pipeline = TRUE
    };
    self->begins_ps[i] = (FabTimePs) i * (FabTimePs) random_scale (random, 1, 1e8);
  }
  self->slow = random_chance (random, 30) ? random_below (random, fab_graph_n_links (self->rig->graph))
                                          : FAB_NO_LINK;
  self->slow_ps = random_chance (random, 50) ? 0 : (FabTimePs) random_scale (random, 1e6, 1e9);
}

/* One of the two collectives while it is played. */
typedef struct {
  const Case *of;
  RigNet *net;
  FabSchedule *schedule;
  FabPlay *play;
  guint which;
  FabTimePs end_ps;
} Playing;

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Playing *self = owner;

  self->end_ps = fab_engine_now (self->net->engine);
}

static void
begin (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Playing *self = owner;
  FabPlaySpec spec = self->of->specs[self->which];

  spec.watch = &fab_skips_watch;
  spec.done = (FabDone){ note_end, self, 0 };
  self->play = fab_play_new (self->schedule, self->net->net, &spec);
}

typedef struct {
  FabTimePs ends_ps[N_PLAYS];
  FabLinkLoad *loads, *told; /* what links carried; what the plays told of it before */
  guint n_lanes;
} Played;

static void
played_clear (Played *self)
{
  g_free (self->loads);
  g_free (self->told);
}

static void
become_slow (gpointer net, guint64 link)
{
  fab_net_set_capacity (net, (FabLinkId) link, 0.5);
}

static FabSchedule *
make_schedule (const Case *self, Rig *rig, guint which)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  FabGroup group = rig_group (rig);

  assert_true (self->algorithms[which]->schedule (&group, self->ops[which], &env, self->n_chunks[which],
                                                  schedule, NULL));
  return schedule;
}

static void
fold (const Case *self, FabSchedule **schedules, guint n)
{
  FabFoldUse uses[N_WITH_ANOTHER];

  for (guint i = 0; i < n; i++)
    uses[i] = i < N_PLAYS ? (FabFoldUse){ schedules[i], TRUE, self->specs[i].limit_bytes_per_s,
                                          self->specs[i].steps_ps }
                          : (FabFoldUse){ schedules[i], TRUE, 0, 0 };
  fab_schedules_fold (self->rig->graph, &(FabFoldSpec){ .uses = uses,
                                                        .n_uses = n,
                                                        .apart = &self->slow,
                                                        .n_apart = self->slow != FAB_NO_LINK });
}

/* Folds the schedules with another one, and copies of them without it. */
static void
fold_twice (const Case *self, FabSchedule **schedules)
{
  FabSchedule *all[N_WITH_ANOTHER];

  for (guint i = 0; i < N_PLAYS; i++)
    all[i] = schedules[i];
  all[N_PLAYS] = make_schedule (self, self->rig, N_PLAYS);
  fold (self, all, N_WITH_ANOTHER);
  for (guint i = 0; i < N_PLAYS; i++) {
    guint n_before = fab_schedule_n_lanes (all[i]);

    schedules[i] = fab_schedule_copy (all[i]);
    assert_int_equal (fab_schedule_n_lanes (schedules[i]), n_before);
  }
  for (guint i = 0; i < N_WITH_ANOTHER; i++)
    fab_schedule_free (all[i]);
  fold (self, schedules, N_PLAYS);
}

static Played
play (const Case *self, gboolean is_folded)
{
  Rig *rig = is_folded ? self->rig : self->unfolded;
  Played played = { .loads = g_new (FabLinkLoad, fab_graph_n_links (rig->graph)),
                    .told = g_new (FabLinkLoad, fab_graph_n_links (rig->graph)) };
  FabMeter *told = fab_meter_new (rig->graph);
  FabSchedule *schedules[N_PLAYS];
  Playing playing[N_PLAYS];
  RigNet net = rig_net (self->rig, &fab_net_step);

  if (self->slow != FAB_NO_LINK)
    fab_engine_at (net.engine, self->slow_ps, become_slow, net.net, self->slow);
  for (guint i = 0; i < N_PLAYS; i++)
    schedules[i] = make_schedule (self, rig, i);
  if (is_folded && self->is_folded_twice)
    fold_twice (self, schedules);
  else if (is_folded)
    fold (self, schedules, N_PLAYS);
  for (guint i = 0; i < N_PLAYS; i++) {
    playing[i] = (Playing){ self, &net, schedules[i], NULL, i, 0 };
    fab_play_describe (schedules[i], net.net, &self->specs[i], &(FabPlayTraits){ NULL, NULL, told, TRUE });
    played.n_lanes += fab_schedule_n_lanes (schedules[i]);
    fab_engine_at (net.engine, self->begins_ps[i], begin, &playing[i], 0);
  }
  fab_engine_run (net.engine);
  fab_meter_take (net.net->meter, played.loads);
  fab_meter_take (told, played.told);
  fab_meter_free (told);
  for (guint i = 0; i < N_PLAYS; i++) {
    played.ends_ps[i] = playing[i].end_ps;
    fab_play_free (playing[i].play);
    fab_schedule_free (schedules[i]);
  }
  rig_net_clear (&net);
  return played;
}

/* A link adds up its lines in another order, so that the end of a message may be rounded to the next ps. */
static void
check_case (Random *random)
{
  const FabTimePs few_ps = 20;
  Case self;

  case_init (&self, random);
  Played one_by_one = play (&self, FALSE), folded = play (&self, TRUE);
  assert_true (folded.n_lanes <= one_by_one.n_lanes);
  for (guint i = 0; i < N_PLAYS; i++)
    if (ABS (folded.ends_ps[i] - one_by_one.ends_ps[i]) > few_ps)
      fail_msg ("%s and %s, %u lanes of %u: %" G_GINT64_FORMAT " ps, one by one %" G_GINT64_FORMAT,
                self.algorithms[0]->info.name, self.algorithms[1]->info.name, folded.n_lanes,
                one_by_one.n_lanes, folded.ends_ps[i], one_by_one.ends_ps[i]);
  for (FabLinkId link = 0; link < fab_graph_n_links (self.rig->graph); link++) {
    assert_near (folded.loads[link].payload_bytes, one_by_one.loads[link].payload_bytes, 1e-9);
    assert_near (folded.loads[link].line_bytes, one_by_one.loads[link].line_bytes, 1e-9);
    assert_near (folded.told[link].payload_bytes, folded.loads[link].payload_bytes, 1e-12);
    assert_near (one_by_one.told[link].line_bytes, one_by_one.loads[link].line_bytes, 1e-12);
  }
  played_clear (&one_by_one);
  played_clear (&folded);
  rig_free (self.rig);
  rig_free (self.unfolded);
}

static void
folded_lanes_take_the_time_of_all (G_GNUC_UNUSED void **state)
{
  seeds_run (300, check_case);
}

/* --- how many lanes remain --- */

static guint
count_folded (const Rig *rig, FabOp op, FabLinkId apart)
{
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  FabGroup group = rig_group (rig);

  assert_true (fab_algorithm_ring.schedule (&group, op, &env, 4, schedule, NULL));
  FabFoldUse use = { schedule, TRUE, 0, 0 };
  fab_schedules_fold (rig->graph,
                      &(FabFoldSpec){
                          .uses = &use, .n_uses = 1, .apart = &apart, .n_apart = apart != FAB_NO_LINK });
  return fab_schedule_n_lanes (schedule);
}

/* Eight ranks on one switch do the same; so do the eight nodes of a ring, each with three lanes inside and one out.
 * A chain has a first lane, which depends on none, and each lane is one further from it. */
static void
lanes_that_nothing_tells_apart_are_one (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) flat = rig_new_flat (8);
  g_autoptr (Rig) nodes = rig_new (&(RigSpec){
      .n_nodes = 8, .gpus_per_node = 4, .nics_per_node = 1, .gpu_bytes_per_s = 200, .nic_bytes_per_s = 50 });

  assert_int_equal (count_folded (flat, FAB_OP_ALL_REDUCE, FAB_NO_LINK), 1);
  assert_int_equal (count_folded (nodes, FAB_OP_ALL_REDUCE, FAB_NO_LINK), 4);
  assert_int_equal (count_folded (flat, FAB_OP_BROADCAST, FAB_NO_LINK), 7);
}

/* Behind a link that is apart, each lane has its own distance from it. */
static void
a_link_that_is_apart_tells_lanes_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) flat = rig_new_flat (8);

  assert_int_equal (count_folded (flat, FAB_OP_ALL_REDUCE, 0), 8);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (folded_lanes_take_the_time_of_all),
    cmocka_unit_test (lanes_that_nothing_tells_apart_are_one),
    cmocka_unit_test (a_link_that_is_apart_tells_lanes_apart),
  };

  return cmocka_run_group_tests_name ("lane_fold", tests, NULL, NULL);
}
