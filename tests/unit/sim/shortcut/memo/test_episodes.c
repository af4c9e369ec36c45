/* SPDX-License-Identifier: Apache-2.0 */
/* test_episodes.c - what of a network's work is remembered, and when it is played after all. Random jobs:
 * tests/property/prop_episodes.c.
 *
 * GPUs move 1 byte per ps and a ring all-reduce over two of them sends half of the bytes twice: b bytes take b ps.
 */
#include "tests/support/test.h"

#include "sim/shortcut/memo/episodes.h"
#include "tests/support/play.h"
#include "tests/support/rig.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

/* Collectives that begin at given times, on a network with a clock of its own. */
typedef struct {
  Rig *rig;
  RigNet net;
  FabEngine *engine;
  FabEpisodes *episodes;
  GPtrArray *plans; /* FabCollectivePlan */
  GString *ends;    /* "100 250 ": when collectives have ended */
  GPtrArray *begins;
  GPtrArray *footprints; /* FabFootprint: of transfers */
} Scene;

typedef struct _Begin Begin;

struct _Begin {
  Scene *scene;
  FabCollectivePlan *plan;
  Begin *then; /* begins `after_ps` after this one has ended; NULL: nothing does */
  FabTimePs after_ps;
};

static Scene *
scene_new_with (guint n_gpus, gboolean remembers, gboolean is_apart)
{
  Scene *self = g_new0 (Scene, 1);

  self->rig = rig_new_flat (n_gpus);
  self->net = rig_net (self->rig, &fab_net_step);
  self->engine = fab_engine_new ();
  self->episodes = fab_episodes_new (self->engine, self->net.net, is_apart ? self->net.params->params : NULL,
                                     remembers);
  self->plans = g_ptr_array_new_with_free_func (g_free);
  self->begins = g_ptr_array_new_with_free_func (g_free);
  self->footprints = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_footprint_free);
  self->ends = g_string_new (NULL);
  return self;
}

static Scene *
scene_new (gboolean remembers)
{
  return scene_new_with (2, remembers, FALSE);
}

static void
scene_free (Scene *self)
{
  fab_episodes_free (self->episodes);
  fab_engine_free (self->engine);
  rig_net_clear (&self->net);
  rig_free (self->rig);
  g_ptr_array_unref (self->plans);
  g_ptr_array_unref (self->begins);
  g_ptr_array_unref (self->footprints);
  g_string_free (self->ends, TRUE);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Scene, scene_free)

/* Streams: what is known of them is the same. */
static FabCollectivePlan *
all_reduce (Scene *self, FabBytes bytes)
{
  FabCollectivePlan plan = rig_plan (self->rig, FAB_OP_ALL_REDUCE, bytes);

  g_ptr_array_add (self->plans, g_memdup2 (&plan, sizeof plan));
  return g_ptr_array_index (self->plans, self->plans->len - 1);
}

static void begin (gpointer owner, guint64 arg);

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  const Begin *what = owner;
  Scene *self = what->scene;

  g_string_append_printf (self->ends, "%" G_GINT64_FORMAT " ", fab_engine_now (self->engine));
  if (what->then != NULL)
    fab_engine_after (self->engine, what->after_ps, begin, what->then, 0);
}

static void
begin (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Begin *what = owner;

  fab_episodes_begin (what->scene->episodes, &(FabEpisodeInput){ .plan = what->plan },
                      (FabDone){ note_end, what, 0 });
}

static Begin *
begin_new (Scene *self, FabCollectivePlan *plan)
{
  Begin *what = g_new0 (Begin, 1);

  *what = (Begin){ self, plan, NULL, 0 };
  g_ptr_array_add (self->begins, what);
  return what;
}

static Begin *
begin_at (Scene *self, FabTimePs at_ps, FabCollectivePlan *plan)
{
  Begin *what = begin_new (self, plan);

  fab_engine_at (self->engine, at_ps, begin, what, 0);
  return what;
}

/* Plays what was to begin; returns what was counted. */
static FabEpisodesCount
scene_play (Scene *self, const char *ends)
{
  fab_engine_run (self->engine);
  assert_string_equal (self->ends->str, ends);
  return fab_episodes_count (self->episodes);
}

/* The second episode is the first: the network does nothing. */
static void
an_episode_is_played_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new (TRUE);
  FabCollectivePlan *plan = all_reduce (scene, 100);

  begin_at (scene, 0, plan);
  begin_at (scene, 1000, plan);
  FabEpisodesCount count = scene_play (scene, "100 1100 ");
  assert_int_equal (count.n_episodes, 2);
  assert_int_equal (count.n_remembered, 1);
  assert_int_equal (count.n_collectives_remembered, 1);
  assert_int_equal (count.n_replays, 0);
}

/* Two share a link from 40 on, each at half of its rate: the first has 60 left, which take until 160; then the second
 * has 40 left. The same distance is known, another one is not. */
static void
overlaps_are_known_by_their_distance (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new (TRUE);
  FabCollectivePlan *plan = all_reduce (scene, 100);

  for (guint i = 0; i < 3; i++) {
    begin_at (scene, 1000 * i, plan);
    begin_at (scene, 1000 * i + (i < 2 ? 40 : 60), plan);
  }
  FabEpisodesCount count = scene_play (scene, "160 200 1160 1200 2140 2200 ");
  assert_int_equal (count.n_episodes, 3);
  assert_int_equal (count.n_remembered, 1);
  assert_int_equal (count.n_replays, 1);
}

/* Three share the link until the first has moved its 100 at 300, the second its last 100 of 200 until 500; the third
 * has 200 left, and is alone until another begins at 550: each of the two moves 100 until 750, and the third has 50
 * left. An episode that goes on otherwise after two ends is played up to the second one. */
static void
an_episode_may_go_on_otherwise_after_several_ends (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new (TRUE);

  for (guint i = 0; i < 2; i++) {
    begin_at (scene, 1000 * i, all_reduce (scene, 100));
    begin_at (scene, 1000 * i, all_reduce (scene, 200));
    begin_at (scene, 1000 * i, all_reduce (scene, 400));
  }
  begin_at (scene, 1550, g_ptr_array_index (scene->plans, 0));
  FabEpisodesCount count = scene_play (scene, "300 500 700 1300 1500 1750 1800 ");
  assert_int_equal (count.n_replays, 1);
}

/* What another collective left behind is nothing: the episode is the same after another one. */
static void
nothing_stays_after_an_episode (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new (TRUE);
  FabCollectivePlan *small = all_reduce (scene, 100), *large = all_reduce (scene, 300);

  begin_at (scene, 0, small);
  begin_at (scene, 100, large); /* when the small one has ended */
  begin_at (scene, 400, small);
  begin_at (scene, 500, large);
  FabEpisodesCount count = scene_play (scene, "100 400 500 800 ");
  assert_int_equal (count.n_episodes, 4);
  assert_int_equal (count.n_remembered, 2);
}

static void
without_memory_everything_is_played (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new (FALSE);
  FabCollectivePlan *plan = all_reduce (scene, 100);

  for (guint i = 0; i < 3; i++)
    begin_at (scene, 1000 * i, plan);
  FabEpisodesCount count = scene_play (scene, "100 1100 2100 ");
  assert_int_equal (count.n_episodes, 3);
  assert_int_equal (count.n_collectives_remembered, 0);
}

/* Links count what they carried, remembered or not: both GPUs' links 100 bytes per episode. */
static void
links_count_what_is_remembered (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new (TRUE);
  FabCollectivePlan *plan = all_reduce (scene, 100);
  g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (scene->rig->graph) + 1);

  for (guint i = 0; i < 3; i++)
    begin_at (scene, 1000 * i, plan);
  scene_play (scene, "100 1100 2100 ");
  fab_meter_take (fab_episodes_meter (scene->episodes), loads);
  for (guint link = 0; link < fab_graph_n_links (scene->rig->graph); link++)
    assert_near (loads[link].payload_bytes, 300, 1e-12);
}

/* Every distance is a new one: after three replays in a row it is played at once. */
static void
what_never_repeats_is_not_played_twice (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new (TRUE);
  FabCollectivePlan *plan = all_reduce (scene, 100);

  for (guint i = 0; i < 20; i++) {
    begin_at (scene, 1000 * i, plan);
    begin_at (scene, 1000 * i + 10 + i, plan);
  }
  fab_engine_run (scene->engine);
  FabEpisodesCount count = fab_episodes_count (scene->episodes);
  assert_int_equal (count.n_collectives, 40);
  assert_int_equal (count.n_replays, 3);
}

/* --- episodes apart --- */

/* From one GPU to another, as a stream: b bytes take b ps on idle links. */
static FabCollectivePlan *
transfer (Scene *self, guint from, guint to, FabBytes bytes)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->rig->graph);
  FabCollectivePlan *plan = all_reduce (self, bytes);
  FabPath path = { 0 };

  assert_true (
      fab_router_append (self->rig->router, rig_gpu (self->rig, from), rig_gpu (self->rig, to), 0, &path));
  fab_footprint_builder_add (builder, &path, (FabUse){ 1, FAB_DRIVE_KERNEL, 1, 1, 1 });
  plan->footprint = fab_footprint_builder_finish (builder);
  g_ptr_array_add (self->footprints, (gpointer) plan->footprint);
  return plan;
}

/* Two that share no link do not care how long after each other they begin, and are alike but for their links: three of
 * four need not be played. */
static void
those_that_share_no_link_are_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new_with (4, TRUE, TRUE);
  FabCollectivePlan *left = transfer (scene, 0, 1, 100), *right = transfer (scene, 2, 3, 100);

  begin_at (scene, 0, left);
  begin_at (scene, 30, right);
  begin_at (scene, 1000, left);
  begin_at (scene, 1050, right);
  FabEpisodesCount count = scene_play (scene, "100 130 1100 1150 ");
  assert_int_equal (count.n_episodes, 4);
  assert_int_equal (count.n_remembered, 3);
  assert_int_equal (count.n_replays + count.n_joins, 0);
}

/* At 50 both have 50 left, and a third one takes half of a link of each until 150; then it has 50 left. The second time
 * it is all known, also in the other order and with what has begun first on the other side. */
static void
one_that_meets_two_makes_them_one (G_GNUC_UNUSED void **state)
{
  for (guint is_apart = 0; is_apart < 2; is_apart++) {
    g_autoptr (Scene) scene = scene_new_with (4, TRUE, is_apart);
    FabCollectivePlan *left = transfer (scene, 0, 1, 100), *right = transfer (scene, 2, 3, 100),
                      *across = transfer (scene, 0, 3, 100);

    for (guint i = 0; i < 3; i++) {
      begin_at (scene, 1000 * i, i < 2 ? left : right);
      begin_at (scene, 1000 * i, i < 2 ? right : left);
      begin_at (scene, 1000 * i + 50, across);
    }
    FabEpisodesCount count = scene_play (scene, "150 150 200 1150 1150 1200 2150 2150 2200 ");
    assert_int_equal (count.n_joins, is_apart ? 3 : 0);
    assert_int_equal (count.n_episodes, 3);
    assert_true (count.n_remembered >= 1);
    assert_true (count.n_replays <= 2);
  }
}

/* Nothing but the network says when the second one ends, so the first is played to its end at 400. Then what follows
 * the second begins at 120 on a link of the first: it has half of it until 320, and the first has 180 left then. */
static void
what_was_played_too_far_is_played_again (G_GNUC_UNUSED void **state)
{
  for (guint is_apart = 0; is_apart < 2; is_apart++) {
    g_autoptr (Scene) scene = scene_new_with (4, TRUE, is_apart);
    FabCollectivePlan *large = transfer (scene, 0, 1, 400), *small = transfer (scene, 2, 3, 100),
                      *next = transfer (scene, 0, 3, 100);

    for (guint i = 0; i < 2; i++) {
      begin_at (scene, 1000 * i, large);
      Begin *second = begin_at (scene, 1000 * i, small);
      second->then = begin_new (scene, next);
      second->after_ps = 20;
    }
    FabEpisodesCount count = scene_play (scene, "100 320 500 1100 1320 1500 ");
    assert_int_equal (count.n_episodes, is_apart ? 4 : 2);
    assert_true (count.n_remembered >= count.n_episodes / 2);
  }
}

/* So many between 8 GPUs that each pair of them shares links with others, two in each ps. */
static void
crowd (Scene *self, FabTimePs from_ps)
{
  enum { N = 200, GPUS = 8 };

  for (guint i = 0; i < N; i++)
    begin_at (self, from_ps + i / 2,
              transfer (self, i % GPUS, (i % GPUS + 1 + i / GPUS % (GPUS - 1)) % GPUS, 1000 + i));
}

/* Remembering them would cost the square of their number, so the second crowd is played like the first. */
static void
many_that_meet_are_not_remembered (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new_with (8, TRUE, TRUE), plain = scene_new_with (8, FALSE, FALSE);

  for (guint i = 0; i < 2; i++) {
    crowd (scene, 1000000 * i);
    crowd (plain, 1000000 * i);
  }
  fab_engine_run (plain->engine);
  FabEpisodesCount count = scene_play (scene, plain->ends->str);
  assert_int_equal (count.n_collectives, 400);
  assert_int_equal (count.n_episodes, 2);
  assert_int_equal (count.n_collectives_remembered, 0);
}

/* Random transfers between four GPUs, some again and again: apart or not, they end at the same times, and links count
 * the same. */
static void
assert_same_scenes (Random *random)
{
  g_autoptr (Scene) one = scene_new_with (4, TRUE, FALSE), apart = scene_new_with (4, TRUE, TRUE);
  Scene *scenes[] = { one, apart };
  guint n = random_between (random, 2, 12), from[12], to[12], n_rounds = random_between (random, 1, 4);
  FabBytes bytes[12];
  FabTimePs begin_ps[12];

  for (guint i = 0; i < n; i++) {
    from[i] = random_below (random, 4);
    to[i] = (from[i] + random_between (random, 1, 3)) % 4;
    bytes[i] = 40 * random_between (random, 1, 5);
    begin_ps[i] = 20 * random_below (random, 30);
  }
  for (guint s = 0; s < 2; s++)
    for (guint round = 0; round < n_rounds; round++)
      for (guint i = 0; i < n; i++)
        begin_at (scenes[s], 10000 * round + begin_ps[i], transfer (scenes[s], from[i], to[i], bytes[i]));
  fab_engine_run (one->engine);
  FabEpisodesCount count = scene_play (apart, one->ends->str);
  assert_int_equal (count.n_collectives, n * n_rounds);
  for (FabLinkId link = 0; link < fab_graph_n_links (one->rig->graph); link++) {
    FabLinkLoad loads[2];

    for (guint s = 0; s < 2; s++)
      fab_meter_read (fab_episodes_meter (scenes[s]->episodes), link, 1, &loads[s]);
    assert_near (loads[0].payload_bytes, loads[1].payload_bytes, 1e-12);
  }
}

static void
apart_or_not_all_end_at_the_same_times (G_GNUC_UNUSED void **state)
{
  seeds_run (300, assert_same_scenes);
}

/* --- whole jobs --- */

static FabEpisodesCount
count_of (const char *fidelity, const char *more)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 3\nfidelity: %s\n"
      "cluster: {node: dgx-h100, nodes: 4, gpus_per_node: 1, nics_per_node: 1, nic: roce-400, fabric: switch}\n"
      "job: {kind: traffic, pattern: incast, target: 3, senders: 3, size: 512KiB}\n%s",
      fidelity, more);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  while (fab_simulation_step (play->simulation))
    ;
  assert_true (fab_simulation_check (play->simulation, NULL) || strstr (more, "faults") != NULL);
  return fab_simulation_episodes (play->simulation);
}

/* A fault that comes or goes is nothing that an episode knows of. */
static void
faults_at_times_leave_nothing_to_remember (G_GNUC_UNUSED void **state)
{
  assert_int_equal (count_of ("step", "").n_episodes, 3);
  assert_int_equal (
      count_of ("step", "faults: [{what: nic, name: node1/nic0, rate: 30%, at: 1us}]\n").n_episodes, 0);
}

/* Which packets are marked is drawn: four plays stand for all; without draws one does. */
static void
what_is_drawn_is_played_four_times (G_GNUC_UNUSED void **state)
{
  static const char drawn[] = "{kind: packet, mark_from: 5kB, mark_all: 1MB}",
                    sure[] = "{kind: packet, mark_from: 1GiB, mark_all: 1GiB}";
  FabEpisodesCount with = count_of (drawn, ""), without = count_of (sure, "");

  assert_int_equal (with.n_remembered, 0);
  assert_true (without.n_remembered > 0);
}

static FabEpisodesCount
count_of_two (const char *memo)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 2\ncollectives: plain\nfidelity: {kind: packet, memo: %s}\n"
      "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, fabric: switch}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 200kB}, {op: all_reduce, size: 400kB}]}\n",
      memo);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  while (fab_simulation_step (play->simulation))
    ;
  return fab_simulation_episodes (play->simulation);
}

/* One collective after the other: each begins on an idle network, and takes its times from its warm-up once. */
static void
warm_ups_are_counted (G_GNUC_UNUSED void **state)
{
  FabEpisodesCount with = count_of_two ("true"), without = count_of_two ("false");

  assert_int_equal (with.n_warm_ups, 2);
  assert_int_equal (with.n_warm_ups_used, 2);
  assert_int_equal (with.n_collectives, 4);
  assert_int_equal (with.n_collectives_remembered, 2);
  assert_int_equal (without.n_warm_ups, 0);
  assert_int_equal (without.n_warm_ups_used, 0);
}

/* What is equal is warmed up once, and one collective alone is not: nothing is won by it. */
static void
equal_collectives_need_no_warm_up (G_GNUC_UNUSED void **state)
{
  static const char *const fidelities[] = { "{kind: packet}", "step" };

  for (guint i = 0; i < G_N_ELEMENTS (fidelities); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncollectives: plain\nfidelity: %s\n"
        "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, fabric: switch}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 20kB}, {op: all_reduce, size: 20kB}]}\n",
        fidelities[i]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    fab_simulation_set_threads (play->simulation, 2);
    assert_true (fab_simulation_step (play->simulation));
    assert_int_equal (fab_simulation_episodes (play->simulation).n_warm_ups, 0);
    assert_int_equal (fab_simulation_episodes (play->simulation).n_collectives, 2);
    assert_int_equal (fab_simulation_episodes (play->simulation).n_remembered, 1);
  }
}

/* Messages between all pairs of a ring of 12 x 2 wait for each other in a circle where a link has one lane. The
 * all-reduces before end: the second one is known, and nothing is kept of what jams. */
static void
a_job_that_jams_says_the_same_remembered (G_GNUC_UNUSED void **state)
{
  g_autofree char *said = NULL;

  for (guint has_memo = 0; has_memo < 2; has_memo++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncollectives: plain\n"
        "cluster: {node: dgx-h100, gpus_per_node: 1, nics_per_node: 1, nodes: 24, fabric: {kind: torus, "
        "dimensions: 2, x: 12, y: 2}}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 200kB}, {op: all_reduce, size: 200kB}, "
        "{op: all_to_all, size: 4MB}]}\n"
        "fidelity: {kind: packet, buffer: 8KiB, lanes: 1, memo: %s}\n",
        has_memo ? "true" : "false");
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    g_autoptr (GError) error = NULL;

    assert_false (fab_simulation_step (play->simulation));
    assert_false (fab_simulation_check (play->simulation, &error));
    assert_non_null (strstr (error->message, "in a circle"));
    assert_int_equal (fab_simulation_episodes (play->simulation).n_episodes, 2);
    assert_int_equal (fab_simulation_episodes (play->simulation).n_remembered, has_memo);
    if (said != NULL)
      assert_string_equal (error->message, said);
    g_free (said);
    said = g_strdup (error->message);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (an_episode_is_played_once),
    cmocka_unit_test (overlaps_are_known_by_their_distance),
    cmocka_unit_test (an_episode_may_go_on_otherwise_after_several_ends),
    cmocka_unit_test (nothing_stays_after_an_episode),
    cmocka_unit_test (without_memory_everything_is_played),
    cmocka_unit_test (links_count_what_is_remembered),
    cmocka_unit_test (what_never_repeats_is_not_played_twice),
    cmocka_unit_test (those_that_share_no_link_are_apart),
    cmocka_unit_test (one_that_meets_two_makes_them_one),
    cmocka_unit_test (what_was_played_too_far_is_played_again),
    cmocka_unit_test (many_that_meet_are_not_remembered),
    cmocka_unit_test (apart_or_not_all_end_at_the_same_times),
    cmocka_unit_test (faults_at_times_leave_nothing_to_remember),
    cmocka_unit_test (what_is_drawn_is_played_four_times),
    cmocka_unit_test (warm_ups_are_counted),
    cmocka_unit_test (equal_collectives_need_no_warm_up),
    cmocka_unit_test (a_job_that_jams_says_the_same_remembered),
  };

  return play_run_tests ("episodes", tests, &catalog);
}
