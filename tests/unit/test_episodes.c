/* SPDX-License-Identifier: Apache-2.0 */
/* test_episodes.c - what of a network's work is remembered, and when it is played after all. Random jobs:
 * tests/property/prop_episodes.c.
 *
 * GPUs move 1 byte per ps and a ring all-reduce over two of them sends half of the bytes twice: b bytes take b ps.
 */
#include "tests/support/test.h"

#include "sim/execution/episodes.h"
#include "tests/support/play.h"
#include "tests/support/rig.h"

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
} Scene;

typedef struct {
  Scene *scene;
  FabCollectivePlan *plan;
} Begin;

static Scene *
scene_new (gboolean remembers)
{
  Scene *self = g_new0 (Scene, 1);

  self->rig = rig_new_flat (2);
  self->net = rig_net (self->rig, &fab_net_step);
  self->engine = fab_engine_new ();
  self->episodes = fab_episodes_new (self->engine, self->net.net, remembers);
  self->plans = g_ptr_array_new_with_free_func (g_free);
  self->begins = g_ptr_array_new_with_free_func (g_free);
  self->ends = g_string_new (NULL);
  return self;
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

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Scene *self = owner;

  g_string_append_printf (self->ends, "%" G_GINT64_FORMAT " ", fab_engine_now (self->engine));
}

static void
begin (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  const Begin *what = owner;

  fab_episodes_begin (what->scene->episodes, &(FabEpisodeInput){ .plan = what->plan },
                      (FabDone){ note_end, what->scene, 0 });
}

static void
begin_at (Scene *self, FabTimePs at_ps, FabCollectivePlan *plan)
{
  Begin *what = g_new0 (Begin, 1);

  *what = (Begin){ self, plan };
  g_ptr_array_add (self->begins, what);
  fab_engine_at (self->engine, at_ps, begin, what, 0);
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
    cmocka_unit_test (faults_at_times_leave_nothing_to_remember),
    cmocka_unit_test (what_is_drawn_is_played_four_times),
    cmocka_unit_test (a_job_that_jams_says_the_same_remembered),
  };

  return play_run_tests ("episodes", tests, &catalog);
}
