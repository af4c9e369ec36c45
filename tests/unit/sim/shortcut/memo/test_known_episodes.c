/* SPDX-License-Identifier: Apache-2.0 */
/* test_known_episodes.c - what is played of episodes, and what is told and counted whether they are played or not. A
 * stream of b bytes takes b ps whatever else goes on (fake_net.h), so that its end says nothing of how it was found:
 * how many streams the networks were given does.
 */
#include "tests/support/test.h"

#include "sim/shortcut/memo/episodes.h"
#include "tests/support/fake_net.h"
#include "tests/support/rig.h"

typedef struct {
  Rig *rig;
  FakeNets nets;
  FabEngine *engine, *net_engine;
  FabNet *net;
  FabEpisodes *episodes;
  GPtrArray *plans; /* FabCollectivePlan */
  GPtrArray *footprints;
  GPtrArray *begins;
  GString *ends; /* "a100 b250 " */
} Scene;

typedef struct {
  Scene *scene;
  const FabCollectivePlan *plan;
  const char *name;
  gboolean stops; /* the engine, when it ends */
} Begin;

/* The networks are changed before the episodes are made. */
static Scene *
scene_new (void)
{
  Scene *self = g_new0 (Scene, 1);

  self->rig = rig_new_flat (6);
  self->nets = fake_nets ();
  self->nets.ops.is_separable = NULL;
  self->engine = fab_engine_new ();
  self->net_engine = fab_engine_new ();
  self->plans = g_ptr_array_new_with_free_func (g_free);
  self->footprints = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_footprint_free);
  self->begins = g_ptr_array_new_with_free_func (g_free);
  self->ends = g_string_new (NULL);
  return self;
}

static void
scene_open (Scene *self, gboolean remembers)
{
  self->net = fake_net_new (&self->nets, self->net_engine, self->rig);
  self->episodes = fab_episodes_new (self->engine, self->net, &self->nets, remembers);
}

/* What shares no link is apart. */
static Scene *
scene_apart (void)
{
  Scene *self = scene_new ();

  self->nets.ops.is_separable = fake_nets ().ops.is_separable;
  scene_open (self, TRUE);
  return self;
}

static void
scene_free (Scene *self)
{
  fab_episodes_free (self->episodes);
  fab_net_destroy (self->net);
  fab_engine_free (self->engine);
  fab_engine_free (self->net_engine);
  g_ptr_array_unref (self->plans);
  g_ptr_array_unref (self->footprints);
  g_ptr_array_unref (self->begins);
  g_string_free (self->ends, TRUE);
  rig_free (self->rig);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Scene, scene_free)

/* A plan over n links from `first` on. */
static FabCollectivePlan *
plan (Scene *self, FabBytes bytes, FabLinkId first, guint n)
{
  FabCollectivePlan *added = g_new0 (FabCollectivePlan, 1);
  FabFootprint *footprint = fab_footprint_new (n);

  for (guint i = 0; i < n; i++) {
    footprint->links[i] = first + i;
    footprint->weights[i] = footprint->line_weights[i] = 1;
  }
  footprint->n = n;
  footprint->rate_bytes_per_s = 1e12;
  *added = (FabCollectivePlan){
    .bytes = bytes, .footprint = footprint, .wire_factor = 1, .n_connections = 1
  };
  g_ptr_array_add (self->plans, added);
  g_ptr_array_add (self->footprints, footprint);
  return added;
}

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  const Begin *what = owner;

  g_string_append_printf (what->scene->ends, "%s%" G_GINT64_FORMAT " ", what->name,
                          fab_engine_now (what->scene->engine));
  if (what->stops)
    fab_engine_stop (what->scene->engine);
}

static void
begin (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Begin *what = owner;

  fab_episodes_begin (what->scene->episodes, &(FabEpisodeInput){ .plan = what->plan },
                      (FabDone){ note_end, what, 0 });
}

static Begin *
begin_at (Scene *self, FabTimePs at_ps, const char *name, const FabCollectivePlan *what)
{
  Begin *added = g_new0 (Begin, 1);

  *added = (Begin){ self, what, name, FALSE };
  g_ptr_array_add (self->begins, added);
  fab_engine_at (self->engine, at_ps, begin, added, 0);
  return added;
}

static FabEpisodesCount
play (Scene *self, const char *ends)
{
  fab_engine_run (self->engine);
  assert_string_equal (self->ends->str, ends);
  return fab_episodes_count (self->episodes);
}

static double
carried (Scene *self, FabLinkId link)
{
  g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (self->rig->graph) + 1);

  fab_meter_take (fab_episodes_meter (self->episodes), loads);
  return loads[link].payload_bytes;
}

/* --- random numbers --- */

/* An episode takes 10 ps longer for each number of its stream of random numbers. Of those that are remembered four are
 * played, with the streams 0 to 3, and stand for all in turn; without memory each has a stream of its own. */
static void
four_episodes_stand_for_what_is_drawn (G_GNUC_UNUSED void **state)
{
  static const char *const ends[] = { "a100 a1110 a2120 a3130 a4140 a5150 a6160 ",
                                      "a100 a1110 a2120 a3130 a4100 a5110 a6120 " };

  for (guint remembers = 0; remembers < 2; remembers++) {
    g_autoptr (Scene) scene = scene_new ();
    scene->nets.drawn_ps = 10;
    scene_open (scene, remembers);
    const FabCollectivePlan *what = plan (scene, 100, 0, 2);

    assert_false (fab_episodes_has_drawn (scene->episodes));
    for (guint i = 0; i < 7; i++)
      begin_at (scene, 1000 * i, "a", what);
    FabEpisodesCount count = play (scene, ends[remembers]);
    assert_true (fab_episodes_has_drawn (scene->episodes));
    assert_int_equal (scene->nets.n_streams, remembers ? 4 : 7);
    assert_int_equal (scene->nets.n_rests, remembers ? 4 : 7);
    assert_int_equal (count.n_remembered, remembers ? 3 : 0);
    assert_int_equal (count.n_episodes, 7);
    assert_int_equal (count.n_collectives, 7);
    assert_int_equal (count.n_collectives_remembered, remembers ? 3 : 0);
    assert_int_equal (fab_episodes_events (scene->episodes), remembers ? 4 : 7);
  }
}

/* Without draws one episode stands for all that begin so, and nothing is drawn. */
static void
one_episode_stands_for_what_is_sure (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  const FabCollectivePlan *one = plan (scene, 100, 0, 2), *other = plan (scene, 200, 0, 2);

  for (guint i = 0; i < 6; i++)
    begin_at (scene, 1000 * i, "a", i % 3 == 0 ? other : one);
  FabEpisodesCount count = play (scene, "a200 a1100 a2100 a3200 a4100 a5100 ");
  assert_int_equal (scene->nets.n_streams, 2);
  assert_int_equal (count.n_remembered, 4);
  assert_int_equal (count.n_replays, 0);
  assert_false (fab_episodes_has_drawn (scene->episodes));
}

/* --- what is counted --- */

/* What comes late is counted when the next episode begins, remembered or not; of the last one it never is. What comes
 * in the ps of the end belongs to the episode. */
static void
what_comes_late_is_counted_with_the_next_episode (G_GNUC_UNUSED void **state)
{
  for (guint remembers = 0; remembers < 2; remembers++)
    for (guint late_ps = 0; late_ps <= 5; late_ps += 5) {
      g_autoptr (Scene) scene = scene_new ();
      scene->nets.late_bytes = 7;
      scene->nets.late_ps = late_ps;
      scene_open (scene, remembers);
      const FabCollectivePlan *what = plan (scene, 100, 0, 2);

      for (guint i = 0; i < 4; i++)
        begin_at (scene, 1000 * i, "a", what);
      play (scene, "a100 a1100 a2100 a3100 ");
      assert_near (carried (scene, 0), 400 + 7 * (late_ps > 0 ? 3 : 4), 1e-12);
      assert_int_equal (scene->nets.n_streams, remembers ? 1 : 4);
    }
}

/* Where episodes are apart, all that a collective carries is counted with it, as it is told beforehand. */
static void
what_comes_late_is_known_of_collectives_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_apart ();
  const FabCollectivePlan *what = plan (scene, 100, 0, 2), *other = plan (scene, 100, 3, 2);
  scene->nets.late_bytes = 7;
  scene->nets.late_ps = 5;

  for (guint i = 0; i < 4; i++)
    begin_at (scene, 1000 * i, "a", i % 2 ? other : what);
  FabEpisodesCount count = play (scene, "a100 a1100 a2100 a3100 ");
  assert_near (carried (scene, 0), 200, 1e-12);
  assert_int_equal (scene->nets.n_streams, 1);
  assert_int_equal (count.n_remembered, 3);
}

/* Two that overlap: what links carried is counted once, although the second episode is played to where it differs. The
 * meter is read at 1070, before the end of any that began at 1000: it has the first episode alone. */
static void
what_is_played_again_is_counted_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  const FabCollectivePlan *one = plan (scene, 100, 0, 2), *other = plan (scene, 200, 0, 1);

  begin_at (scene, 0, "a", one);
  begin_at (scene, 0, "b", other);
  begin_at (scene, 1000, "a", one);
  begin_at (scene, 1000, "b", other);
  begin_at (scene, 1150, "c", one); /* after the first has ended */
  FabEpisodesCount count = play (scene, "a100 b200 a1100 b1200 c1250 ");
  assert_int_equal (count.n_replays, 1);
  assert_int_equal (scene->nets.n_streams, 5);
  assert_near (carried (scene, 0), 2 * 300 + 100, 1e-12);
}

static void
ask_queues (gpointer owner, guint64 most_bytes)
{
  Scene *self = owner;
  g_autofree FabLinkQueue *queues = fab_episodes_link_queues (self->episodes);

  g_string_append_printf (self->ends, "%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT "/%" G_GUINT64_FORMAT " ",
                          (gint64) queues[0].carried_bytes, (gint64) queues[0].most_bytes,
                          queues[0].n_stalls);
  assert_int_equal (queues[0].most_bytes, most_bytes);
}

/* Queues of all episodes so far, with the one under way, which the network plays up to then. */
static void
queues_are_those_of_all_episodes (G_GNUC_UNUSED void **state)
{
  for (guint is_apart = 0; is_apart < 2; is_apart++) {
    g_autoptr (Scene) scene = is_apart ? scene_apart () : scene_new ();
    if (!is_apart)
      scene_open (scene, TRUE);
    const FabCollectivePlan *one = plan (scene, 100, 0, 2), *other = plan (scene, 300, 0, 2);

    for (guint i = 0; i < 3; i++)
      begin_at (scene, 1000 * i, "a", one);
    begin_at (scene, 3000, "b", other);
    fab_engine_at (scene->engine, 2500, ask_queues, scene, 100);
    fab_engine_at (scene->engine, 3050, ask_queues, scene, 300);
    fab_engine_at (scene->engine, 4000, ask_queues, scene, 300);
    FabEpisodesCount count = play (scene, "a100 a1100 a2100 300/100/3 600/300/4 b3300 600/300/4 ");
    assert_int_equal (count.n_remembered, 2);
    assert_int_equal (count.n_replays, 0);
    assert_int_equal (scene->nets.n_streams, 2);
  }
}

/* A known episode is played as far as it has gone, if somebody asks for its queues. */
static void
a_known_episode_is_played_to_see_its_queues (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  const FabCollectivePlan *one = plan (scene, 100, 0, 2);

  begin_at (scene, 0, "a", one);
  begin_at (scene, 1000, "a", one);
  fab_engine_at (scene->engine, 1050, ask_queues, scene, 100);
  FabEpisodesCount count = play (scene, "a100 200/100/2 a1100 ");
  assert_int_equal (count.n_replays, 1);
  assert_int_equal (count.n_remembered, 0);
  assert_int_equal (scene->nets.n_streams, 2);
}

/* --- the order of ends --- */

/* Of those that end in the same ps the first that began is told first, wherever their episodes are. The second and the
 * third began before, and are one episode that comes after the first in the list, since the fourth joined them. */
static void
ends_in_a_ps_are_told_in_the_order_of_begins (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_apart ();
  const FabCollectivePlan *a = plan (scene, 100, 0, 1), *b = plan (scene, 80, 2, 1),
                          *c = plan (scene, 90, 1, 1), *d = plan (scene, 60, 0, 2);

  begin_at (scene, 0, "a", a);
  begin_at (scene, 10, "c", c);
  begin_at (scene, 20, "b", b);
  begin_at (scene, 40, "d", d); /* a and c become one */
  FabEpisodesCount count = play (scene, "a100 c100 b100 d100 ");
  assert_int_equal (count.n_joins, 1);
  assert_int_equal (count.n_episodes, 2);
}

/* The engine stops after the first of two ends in a ps. The second is told when it goes on, at the same time, and until
 * then the network is not still. */
static void
an_end_that_was_not_told_is_told_later (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  const FabCollectivePlan *what = plan (scene, 100, 0, 2);

  begin_at (scene, 0, "a", what)->stops = TRUE;
  begin_at (scene, 0, "b", what);
  begin_at (scene, 0, "c", plan (scene, 300, 0, 2));
  fab_engine_run (scene->engine);
  assert_string_equal (scene->ends->str, "a100 ");
  assert_int_equal (fab_engine_now (scene->engine), 100);
  assert_false (fab_episodes_is_still (scene->episodes));
  FabEpisodesCount count = play (scene, "a100 b100 c300 ");
  assert_int_equal (count.n_collectives, 3);
}

/* Three that are apart become one by a fourth: two joins. Then nothing of them is played that a second such episode
 * would have to play. */
static void
three_episodes_may_become_one (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_apart ();
  const FabCollectivePlan *a = plan (scene, 100, 0, 1), *b = plan (scene, 110, 1, 1),
                          *c = plan (scene, 120, 2, 1), *all = plan (scene, 100, 0, 3);

  for (guint i = 0; i < 2; i++) {
    begin_at (scene, 1000 * i, "a", a);
    begin_at (scene, 1000 * i + 5, "b", b);
    begin_at (scene, 1000 * i + 10, "c", c);
    begin_at (scene, 1000 * i + 50, "d", all);
  }
  FabEpisodesCount count = play (scene, "a100 b115 c130 d150 a1100 b1115 c1130 d1150 ");
  assert_int_equal (count.n_joins, 4);
  assert_int_equal (count.n_episodes, 2);
  assert_int_equal (count.n_remembered, 1);
  assert_int_equal (count.n_collectives, 8);
  g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (scene->rig->graph) + 1);
  fab_meter_take (fab_episodes_meter (scene->episodes), loads);
  for (guint link = 0; link < 3; link++)
    assert_near (loads[link].payload_bytes, 2 * (200 + 10 * link), 1e-12);
}

/* --- how much is played --- */

/* Each of the distances is new, but for every third one, which is known: so an episode is never new three times in a
 * row, and what is new is only played from where it differs. */
static void
what_is_known_now_and_then_is_replayed (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  const FabCollectivePlan *what = plan (scene, 500, 0, 2);

  begin_at (scene, 0, "", what);
  begin_at (scene, 5, "", what);
  for (guint i = 1; i <= 12; i++) {
    begin_at (scene, 10000 * i, "", what);
    begin_at (scene, 10000 * i + (i % 3 == 0 ? 5 : 10 * i), "", what);
  }
  fab_engine_run (scene->engine);
  FabEpisodesCount count = fab_episodes_count (scene->episodes);
  assert_int_equal (count.n_replays, 8);
  assert_int_equal (count.n_remembered, 4);
  assert_int_equal (scene->nets.n_streams, 2 * 9);
}

/* So many collectives of an episode are remembered, and one more is not. */
static void
an_episode_of_64_is_remembered (G_GNUC_UNUSED void **state)
{
  for (guint n = 64; n <= 65; n++) {
    g_autoptr (Scene) scene = scene_new ();
    scene_open (scene, TRUE);

    for (guint i = 0; i < 2; i++)
      for (guint k = 0; k < n; k++) {
        if (i == 0)
          plan (scene, 1000 + k, 0, 2);
        begin_at (scene, 10000 * i + k / 2, "", g_ptr_array_index (scene->plans, k));
      }
    fab_engine_run (scene->engine);
    FabEpisodesCount count = fab_episodes_count (scene->episodes);
    assert_int_equal (count.n_episodes, 2);
    assert_int_equal (count.n_collectives, 2 * n);
    assert_int_equal (count.n_remembered, n == 64);
    assert_int_equal (count.n_collectives_remembered, n == 64 ? 64 : 0);
  }
}

static void
do_nothing (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint64 arg)
{
}

/* Events of the jobs that are no begins make nothing known less: it was quiet then. */
static void
other_events_of_jobs_let_nothing_be_played (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  const FabCollectivePlan *what = plan (scene, 100, 0, 2);

  for (guint i = 0; i < 2; i++) {
    begin_at (scene, 1000 * i, "a", what);
    begin_at (scene, 1000 * i + 60, "b", what);
    for (guint k = i; k < 3; k++)
      fab_engine_at (scene->engine, 1000 * i + 20 * (k + 1), do_nothing, NULL, 0);
  }
  FabEpisodesCount count = play (scene, "a100 b160 a1100 b1160 ");
  assert_int_equal (count.n_remembered, 1);
  assert_int_equal (count.n_replays, 0);
  assert_int_equal (scene->nets.n_streams, 2);
}

/* Something begins when the network was found quiet for a shorter time: it is played on from there. */
static void
a_longer_quiet_is_found_out (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  const FabCollectivePlan *what = plan (scene, 100, 0, 2);

  begin_at (scene, 0, "a", what);
  begin_at (scene, 40, "b", what);
  begin_at (scene, 1000, "a", what);
  fab_engine_at (scene->engine, 1040, do_nothing, NULL, 0);
  fab_engine_at (scene->engine, 1041, do_nothing, NULL, 0);
  FabEpisodesCount count = play (scene, "a100 b140 a1100 ");
  assert_int_equal (count.n_replays, 1);
  assert_int_equal (scene->nets.n_streams, 3);
}

/* --- what does not end --- */

/* Buffers wait for each other: the network is still, and says where. Another one that is known goes on until then. */
static void
a_network_that_jams_is_still (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.jam_bytes = 77;
  scene_open (scene, TRUE);
  const FabCollectivePlan *what = plan (scene, 100, 0, 2);

  assert_false (fab_episodes_is_still (scene->episodes)); /* nothing has begun */
  begin_at (scene, 0, "a", what);
  begin_at (scene, 1000, "a", what);
  fab_engine_run_until (scene->engine, 1050);
  assert_false (fab_episodes_is_still (scene->episodes)); /* the tree knows the end */
  assert_int_equal (fab_episodes_find_jam (scene->episodes), FAB_NO_LINK);
  begin_at (scene, 2000, "b", plan (scene, 77, 3, 1));
  play (scene, "a100 a1100 ");
  assert_true (fab_episodes_is_still (scene->episodes));
  assert_int_equal (fab_episodes_find_jam (scene->episodes), 3);
}

/* A network without a say in it is not still, and has no jam. */
static void
a_network_without_buffers_has_no_jam (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.jam_bytes = 77;
  scene->nets.ops.is_still = NULL;
  scene->nets.ops.find_jam = NULL;
  scene->nets.ops.link_queue = NULL;
  scene_open (scene, TRUE);

  begin_at (scene, 0, "a", plan (scene, 77, 3, 1));
  play (scene, "");
  assert_false (fab_episodes_is_still (scene->episodes));
  assert_int_equal (fab_episodes_find_jam (scene->episodes), FAB_NO_LINK);
  assert_null (fab_episodes_link_queues (scene->episodes));
}

/* The jobs' engine fails with the words of the network's. */
static void
what_fails_on_the_network_fails_for_the_jobs (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.fail_bytes = 55;
  scene_open (scene, TRUE);
  const FabCollectivePlan *what = plan (scene, 100, 0, 2);

  begin_at (scene, 0, "a", what);
  begin_at (scene, 1000, "a", what);
  begin_at (scene, 1010, "b", plan (scene, 55, 0, 2));
  play (scene, "a100 ");
  assert_string_equal (fab_engine_failure (scene->engine), "55 bytes are too many");
}

/* A network is broken that gives another result when it plays an episode again, sooner or later: up to where the
 * episode is new, or on from where somebody asked for its queues. */
static void
what_ends_otherwise_the_second_time_fails (G_GNUC_UNUSED void **state)
{
  static const FabTimePs slow_ps[] = { -10, 0, 10 };

  for (guint i = 0; i < G_N_ELEMENTS (slow_ps); i++)
    for (guint is_asked = 0; is_asked < 2; is_asked++) {
      g_autoptr (Scene) scene = scene_new ();
      scene->nets.slow_from = 3;
      scene->nets.slow_ps = slow_ps[i];
      scene_open (scene, TRUE);
      const FabCollectivePlan *one = plan (scene, 100, 0, 2), *other = plan (scene, 200, 0, 2);

      for (guint k = 0; k < 2; k++) {
        begin_at (scene, 1000 * k, "a", one);
        begin_at (scene, 1000 * k, "b", other);
      }
      if (is_asked)
        fab_engine_at (scene->engine, 1050, ask_queues, scene, 200);
      else
        begin_at (scene, 1150, "c", one);
      fab_engine_run (scene->engine);
      assert_int_equal (fab_episodes_count (scene->episodes).n_replays, 1);
      if (slow_ps[i] == 0)
        assert_null (fab_engine_failure (scene->engine));
      else
        assert_string_equal (fab_engine_failure (scene->engine),
                             "fake: an episode gave another result when it was simulated a second time");
    }
}

/* --- on the jobs' engine --- */

/* Nothing is remembered, and all that is asked for is the network's own. */
static void
a_network_on_the_clock_of_the_jobs_is_played (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.n_skipped = 4;
  scene->nets.jam_bytes = 77;
  scene->net = fake_net_new (&scene->nets, scene->engine, scene->rig);
  scene->episodes = fab_episodes_new (scene->engine, scene->net, &scene->nets, TRUE);
  const FabCollectivePlan *what = plan (scene, 100, 0, 2);
  const FabWarmUpEnv env = { &scene->nets.ops, &scene->nets, scene->net->env, 1, TRUE, 0 };
  const FabEpisodeInput inputs[] = { { .plan = what }, { .plan = plan (scene, 200, 0, 2) } };

  fab_episodes_warm_up (scene->episodes, &env, inputs, 2);
  assert_int_equal (scene->nets.n_nets, 1);
  for (guint i = 0; i < 3; i++)
    begin_at (scene, 1000 * i, "a", what);
  begin_at (scene, 3000, "b", plan (scene, 77, 3, 1));
  FabEpisodesCount count = play (scene, "a100 a1100 a2100 ");
  assert_int_equal (scene->nets.n_streams, 4);
  assert_int_equal (count.n_collectives, 3);
  assert_int_equal (count.n_episodes, 0);
  assert_int_equal (count.n_warm_ups, 0);
  assert_int_equal (count.n_skipped, 16);
  assert_int_equal (fab_episodes_events (scene->episodes), 0);
  assert_ptr_equal (fab_episodes_meter (scene->episodes), scene->net->meter);
  assert_near (carried (scene, 0), 300, 1e-12);
  assert_true (fab_episodes_is_still (scene->episodes));
  assert_int_equal (fab_episodes_find_jam (scene->episodes), 3);
  g_autofree FabLinkQueue *queues = fab_episodes_link_queues (scene->episodes);
  assert_non_null (queues);
  assert_int_equal (queues[0].most_bytes, 0); /* what the network says of a link */
}

/* --- warm-ups --- */

/* Warms up n collectives of `bytes` + 0, 1, ... over links 0 and 1. */
static void
warm_up (Scene *self, guint n, guint bytes, gboolean is_all)
{
  const FabWarmUpEnv env = { &self->nets.ops, &self->nets, self->net->env, 2, is_all, 0 };
  g_autofree FabEpisodeInput *inputs = g_new0 (FabEpisodeInput, n + 1);

  for (guint i = 0; i < n; i++)
    inputs[i].plan = plan (self, bytes + i, 0, 2);
  fab_episodes_warm_up (self->episodes, &env, inputs, n);
}

/* The first use of a warm-up counts as played, with its events, and the second as remembered. */
static void
the_first_use_of_a_warm_up_counts_as_played (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.n_skipped = 3;
  scene_open (scene, TRUE);

  warm_up (scene, 2, 100, FALSE);
  assert_int_equal (scene->nets.n_nets, 4); /* one is asked about the order */
  assert_int_equal (scene->nets.n_streams, 4);
  for (guint i = 0; i < 3; i++)
    begin_at (scene, 1000 * i, "a", g_ptr_array_index (scene->plans, 0));
  FabEpisodesCount count = play (scene, "a100 a1100 a2100 ");
  assert_int_equal (scene->nets.n_streams, 4);
  assert_int_equal (count.n_warm_ups, 2);
  assert_int_equal (count.n_warm_ups_used, 1);
  assert_int_equal (count.n_episodes, 3);
  assert_int_equal (count.n_remembered, 2);
  assert_int_equal (count.n_collectives_remembered, 2);
  assert_int_equal (count.n_replays, 0);
  assert_int_equal (count.n_skipped, 6); /* of both warm-ups */
  assert_int_equal (fab_episodes_events (scene->episodes), 1);
  assert_near (carried (scene, 0), 300, 1e-12);
}

/* Another one begins before the end of the first use: the episode is played, as if nobody had warmed it up, and that is
 * no replay. */
static void
a_warm_up_that_goes_on_otherwise_is_played (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  warm_up (scene, 2, 100, FALSE);
  const FabCollectivePlan *what = g_ptr_array_index (scene->plans, 0);

  begin_at (scene, 0, "a", what);
  begin_at (scene, 40, "b", what);
  begin_at (scene, 1000, "a", what);
  begin_at (scene, 2000, "a", what);
  FabEpisodesCount count = play (scene, "a100 b140 a1100 a2100 ");
  assert_int_equal (count.n_warm_ups_used, 0);
  assert_int_equal (count.n_replays, 1); /* of the second, of which nobody knows the end any more */
  assert_int_equal (count.n_remembered, 1);
  assert_int_equal (scene->nets.n_streams, 4 + 2 + 1);
  assert_near (carried (scene, 0), 400, 1e-12);
}

/* What a warm-up has drawn counts once it has been used: the second use is another sample. */
static void
a_warm_up_has_drawn_once_it_is_used (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.drawn_ps = 10;
  scene_open (scene, TRUE);
  warm_up (scene, 2, 100, FALSE);
  const FabCollectivePlan *what = g_ptr_array_index (scene->plans, 0);

  assert_false (fab_episodes_has_drawn (scene->episodes));
  begin_at (scene, 0, "a", what);
  fab_engine_run (scene->engine);
  assert_true (fab_episodes_has_drawn (scene->episodes));
  for (guint i = 1; i < 6; i++)
    begin_at (scene, 1000 * i, "a", what);
  FabEpisodesCount count = play (scene, "a100 a1110 a2120 a3130 a4100 a5110 ");
  assert_int_equal (count.n_remembered, 2);
  assert_int_equal (scene->nets.n_streams, 4 + 3);
}

/* One collective needs no warm-up, and so many are too much. Where times are tolerated, those of a shape count once. */
static void
very_many_are_not_warmed_up (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n;
    gboolean has_tolerance, has_order, is_apart;
    guint n_warm_ups;
  } rows[] = {
    { 0, FALSE, FALSE, FALSE, 0 },   { 1, FALSE, FALSE, FALSE, 0 },  { 2, FALSE, FALSE, FALSE, 2 },
    { 64, FALSE, FALSE, FALSE, 64 }, { 65, FALSE, FALSE, FALSE, 0 }, { 64, TRUE, FALSE, FALSE, 64 },
    { 65, TRUE, FALSE, FALSE, 0 },   { 2, FALSE, TRUE, FALSE, 0 },   { 2, FALSE, TRUE, TRUE, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Scene) scene = scene_new ();
    scene->nets.has_order = rows[i].has_order;
    if (!rows[i].has_tolerance)
      scene->nets.ops.tolerance = NULL;
    if (rows[i].is_apart)
      scene->nets.ops.is_separable = fake_nets ().ops.is_separable;
    scene_open (scene, TRUE);
    warm_up (scene, rows[i].n, 1000, FALSE);
    assert_int_equal (fab_episodes_count (scene->episodes).n_warm_ups, rows[i].n_warm_ups);
  }
}

/* 70 collectives of one shape, on other links each, are one warm-up where times are tolerated; elsewhere they are too
 * many. */
static void
alike_collectives_are_warmed_up_once (G_GNUC_UNUSED void **state)
{
  for (guint has_tolerance = 0; has_tolerance < 2; has_tolerance++) {
    g_autoptr (Scene) scene = scene_new ();
    FabEpisodeInput inputs[70] = { { NULL } };
    scene->nets.ops.is_separable = fake_nets ().ops.is_separable;
    if (!has_tolerance)
      scene->nets.ops.tolerance = NULL;
    scene_open (scene, TRUE);
    for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
      inputs[i].plan = plan (scene, 100, i % 6, 1);
    fab_episodes_warm_up (scene->episodes,
                          &(FabWarmUpEnv){ &scene->nets.ops, &scene->nets, scene->net->env, 1, TRUE, 0 },
                          inputs, G_N_ELEMENTS (inputs));
    assert_int_equal (fab_episodes_count (scene->episodes).n_warm_ups, has_tolerance);
    assert_int_equal (scene->nets.n_streams, has_tolerance);
  }
}

/* Without memory nothing is warmed up. */
static void
what_remembers_nothing_is_not_warmed_up (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, FALSE);
  warm_up (scene, 3, 100, TRUE);
  assert_int_equal (scene->nets.n_streams, 0);
  assert_int_equal (fab_episodes_count (scene->episodes).n_warm_ups, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (four_episodes_stand_for_what_is_drawn),
    cmocka_unit_test (one_episode_stands_for_what_is_sure),
    cmocka_unit_test (what_comes_late_is_counted_with_the_next_episode),
    cmocka_unit_test (what_comes_late_is_known_of_collectives_apart),
    cmocka_unit_test (what_is_played_again_is_counted_once),
    cmocka_unit_test (queues_are_those_of_all_episodes),
    cmocka_unit_test (a_known_episode_is_played_to_see_its_queues),
    cmocka_unit_test (ends_in_a_ps_are_told_in_the_order_of_begins),
    cmocka_unit_test (an_end_that_was_not_told_is_told_later),
    cmocka_unit_test (three_episodes_may_become_one),
    cmocka_unit_test (what_is_known_now_and_then_is_replayed),
    cmocka_unit_test (an_episode_of_64_is_remembered),
    cmocka_unit_test (other_events_of_jobs_let_nothing_be_played),
    cmocka_unit_test (a_longer_quiet_is_found_out),
    cmocka_unit_test (a_network_that_jams_is_still),
    cmocka_unit_test (a_network_without_buffers_has_no_jam),
    cmocka_unit_test (what_fails_on_the_network_fails_for_the_jobs),
    cmocka_unit_test (what_ends_otherwise_the_second_time_fails),
    cmocka_unit_test (a_network_on_the_clock_of_the_jobs_is_played),
    cmocka_unit_test (the_first_use_of_a_warm_up_counts_as_played),
    cmocka_unit_test (a_warm_up_that_goes_on_otherwise_is_played),
    cmocka_unit_test (a_warm_up_has_drawn_once_it_is_used),
    cmocka_unit_test (very_many_are_not_warmed_up),
    cmocka_unit_test (alike_collectives_are_warmed_up_once),
    cmocka_unit_test (what_remembers_nothing_is_not_warmed_up),
  };

  return cmocka_run_group_tests_name ("known_episodes", tests, NULL, NULL);
}
