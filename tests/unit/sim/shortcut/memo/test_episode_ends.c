/* SPDX-License-Identifier: Apache-2.0 */
/* test_episode_ends.c - in which order ends of collectives are told, and what is told when some never come; what is
 * known of collectives that were warmed up.
 */
#include "tests/unit/sim/shortcut/memo/episodes_scene.h"

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

/* Two that are apart begin in turn, one of the first has ended when another one makes them one, and the last that began
 * before has never begun an episode. The second time nothing of it is played. The third time it comes 5 ps later:
 * both are played to there, since nothing is known of them after 200, and then the one that they become. */
static void
what_was_joined_is_known_the_second_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_apart ();
  const FabCollectivePlan *a = plan (scene, 100, 0, 1), *b = plan (scene, 520, 1, 1),
                          *c = plan (scene, 510, 0, 1), *d = plan (scene, 300, 0, 2);
  gint n_streams[3];

  for (guint i = 0; i < 3; i++) {
    begin_at (scene, 1000 * i, "a", a);
    begin_at (scene, 1000 * i + 5, "b", b);
    begin_at (scene, 1000 * i + 10, "c", c);
    begin_at (scene, 1000 * i + (i < 2 ? 200 : 205), "d", d);
    fab_engine_run (scene->engine);
    n_streams[i] = scene->nets.n_streams;
  }
  FabEpisodesCount count = play (scene,
                                 "a100 d500 c520 b525 a1100 d1500 c1520 b1525 a2100 d2505 c2520 b2525 ");
  assert_int_equal (n_streams[0], 3 + 4);
  assert_int_equal (n_streams[1], n_streams[0]);
  assert_int_equal (n_streams[2], n_streams[1] + 3 + 4);
  assert_int_equal (count.n_joins, 3);
  assert_int_equal (count.n_episodes, 3);
  assert_int_equal (count.n_remembered, 1);
  assert_near (carried (scene, 0), 3 * (100 + 510 + 300), 1e-12);
}

static void
note_event (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Scene *self = owner;

  g_string_append_printf (self->ends, "x%" G_GINT64_FORMAT " ", fab_engine_now (self->engine));
}

/* An end in the ps of an event of the jobs is told before it, known or not. */
static void
ends_come_before_events_of_the_jobs (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  const FabCollectivePlan *what = plan (scene, 100, 0, 2);

  for (guint i = 0; i < 2; i++) {
    fab_engine_at (scene->engine, 1000 * i + 100, note_event, scene, 0);
    begin_at (scene, 1000 * i, "a", what);
  }
  play (scene, "a100 x100 a1100 x1100 ");
}

/* The engine stops after the first of two ends in a ps. The second is told when it goes on, at the same time, and until
 * then the network is not still, although the third has jammed it. */
static void
an_end_that_was_not_told_is_told_later (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.jam_bytes = 77;
  scene_open (scene, TRUE);
  const FabCollectivePlan *what = plan (scene, 100, 0, 2);

  begin_at (scene, 0, "a", what)->stops = TRUE;
  begin_at (scene, 0, "b", what);
  begin_at (scene, 0, "c", plan (scene, 77, 0, 2));
  fab_engine_run (scene->engine);
  assert_string_equal (scene->ends->str, "a100 ");
  assert_int_equal (fab_engine_now (scene->engine), 100);
  assert_false (fab_episodes_is_still (scene->episodes));
  FabEpisodesCount count = play (scene, "a100 b100 ");
  assert_true (fab_episodes_is_still (scene->episodes));
  assert_int_equal (count.n_collectives, 2);
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

/* Two that are apart become one, and another collective joins it. One of 64 collectives is remembered, one of more is
 * played each time. Each is played when it begins and once more when the two become one. A large one leaves the tree
 * when they do, or with the next collective, and then all of it is played again. */
static void
what_becomes_large_is_played_each_time (G_GNUC_UNUSED void **state)
{
  const guint n_played[] = { 63 + 63 + 1, 64 + 64 + 65, 65 + 65 + 1 };

  for (guint n = 64; n <= 66; n++) {
    g_autoptr (Scene) scene = scene_apart ();
    const FabCollectivePlan *a = plan (scene, 10000, 0, 1), *b = plan (scene, 10000, 1, 1),
                            *both = plan (scene, 10000, 0, 2);
    gint n_streams[2];

    for (guint i = 0; i < 2; i++) {
      FabTimePs begin_ps = 100000 * (FabTimePs) i;

      for (guint k = 0; k < n - 2; k++)
        begin_at (scene, begin_ps + k, "a", a);
      begin_at (scene, begin_ps + 100, "b", b);
      begin_at (scene, begin_ps + 200, "c", both);
      fab_engine_run (scene->engine);
      n_streams[i] = scene->nets.n_streams;
    }
    assert_int_equal (n_streams[0], n_played[n - 64]);
    assert_int_equal (n_streams[1] > n_streams[0], n > 64);
    assert_int_equal (fab_episodes_count (scene->episodes).n_joins, 2);
    assert_int_equal (fab_episodes_count (scene->episodes).n_remembered, n <= 64);
    g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (scene->rig->graph) + 1);
    fab_meter_take (fab_episodes_meter (scene->episodes), loads);
    assert_near (loads[0].payload_bytes, 2 * 10000.0 * (n - 1), 1e-12);
    assert_near (loads[1].payload_bytes, 2 * 10000.0 * 2, 1e-12);
  }
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
  fab_engine_run_until (scene->engine, 50);
  assert_false (fab_episodes_is_still (scene->episodes)); /* the network has an event */
  fab_engine_run_until (scene->engine, 1050);
  assert_false (fab_episodes_is_still (scene->episodes)); /* the tree knows the end */
  assert_int_equal (fab_episodes_find_jam (scene->episodes), FAB_NO_LINK);
  begin_at (scene, 2000, "b", plan (scene, 77, 3, 1));
  play (scene, "a100 a1100 ");
  assert_true (fab_episodes_is_still (scene->episodes));
  assert_int_equal (fab_episodes_find_jam (scene->episodes), 3);
}

static void
expect_more (Scene *self)
{
  assert_false (fab_episodes_is_still (self->episodes));
}

/* Of three that are apart the second jams. When the third ends, the first was played to its end already, which is still
 * to come: until then not all is still. */
static void
what_was_played_ahead_is_not_still (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_apart ();
  scene->nets.jam_bytes = 77;

  begin_at (scene, 0, "a", plan (scene, 1000, 0, 1));
  begin_at (scene, 0, "b", plan (scene, 77, 3, 1));
  begin_at (scene, 0, "c", plan (scene, 100, 5, 1))->then = expect_more;
  play (scene, "c100 a1000 ");
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

/* Where packets are skipped, an end may come a little sooner or later the second time. The time that was told holds,
 * and what follows moves with it; what is new takes its own time. */
static void
where_packets_are_skipped_ends_may_move (G_GNUC_UNUSED void **state)
{
  static const FabTimePs slow_ps[] = { -10, 10 };

  for (guint i = 0; i < G_N_ELEMENTS (slow_ps); i++) {
    g_autoptr (Scene) scene = scene_new ();
    g_autofree char *ends = g_strdup_printf ("a100 b200 a1100 b1200 c%d ", (int) (1250 + slow_ps[i]));
    scene->nets.slow_from = 3;
    scene->nets.slow_ps = slow_ps[i];
    scene->nets.n_skipped = 1;
    scene_open (scene, TRUE);
    const FabCollectivePlan *one = plan (scene, 100, 0, 2), *other = plan (scene, 200, 0, 2);

    for (guint k = 0; k < 2; k++) {
      begin_at (scene, 1000 * k, "a", one);
      begin_at (scene, 1000 * k, "b", other);
    }
    begin_at (scene, 1150, "c", one);
    FabEpisodesCount count = play (scene, ends);
    assert_null (fab_engine_failure (scene->engine));
    assert_int_equal (count.n_replays, 1);
    assert_near (carried (scene, 0), 700, 1e-12);
  }
}

/* Two end in one ps, and then another one begins: it does so at the time at which it began, and so the last one ends
 * when it did. */
static void
where_packets_are_skipped_two_may_end_in_one_ps (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.n_skipped = 1;
  scene_open (scene, TRUE);
  const FabCollectivePlan *one = plan (scene, 100, 0, 2), *other = plan (scene, 300, 0, 2);

  for (guint k = 0; k < 2; k++) {
    begin_at (scene, 1000 * k, "a", one);
    begin_at (scene, 1000 * k, "b", one);
    begin_at (scene, 1000 * k, "c", other);
  }
  begin_at (scene, 1150, "d", one);
  FabEpisodesCount count = play (scene, "a100 b100 c300 a1100 b1100 d1250 c1300 ");
  assert_int_equal (count.n_replays, 1);
  assert_near (carried (scene, 0), 2 * 500 + 100, 1e-12);
}

/* The first ends at 100 and the second at 130. The second time, after the end of the first was told, the first takes
 * 150: so the end of the second, after 130, stands for that at 100, and what ends 20 ps later is the second for the
 * jobs. */
static void
where_packets_are_skipped_ends_may_change_places (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.slow_from = 3;
  scene->nets.n_slow = 1;
  scene->nets.slow_ps = 50;
  scene->nets.n_skipped = 1;
  scene_open (scene, TRUE);
  const FabCollectivePlan *one = plan (scene, 100, 0, 2), *other = plan (scene, 130, 0, 2);

  for (guint k = 0; k < 2; k++) {
    begin_at (scene, 1000 * k, "a", one);
    begin_at (scene, 1000 * k, "b", other);
  }
  begin_at (scene, 1110, "c", one);
  FabEpisodesCount count = play (scene, "a100 b130 a1100 b1120 c1210 ");
  assert_int_equal (count.n_collectives, 5);
  assert_int_equal (count.n_episodes, 2);
  assert_near (carried (scene, 0), 2 * 230 + 100, 1e-12);
}

/* The skips that were made are due when the episode is played again, at the times at which they were: those of the
 * first two streams, at 0 and at 40. Nothing is due for what is new. */
static void
skips_that_were_made_are_due_again (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  g_autoptr (GString) due = g_string_new (NULL);
  scene->nets.skip_ps = 5;
  scene->nets.due = due;
  scene_open (scene, TRUE);
  const FabCollectivePlan *one = plan (scene, 100, 0, 2), *other = plan (scene, 200, 0, 2);

  for (guint k = 0; k < 2; k++) {
    begin_at (scene, 1000 * k, "a", one);
    begin_at (scene, 1000 * k + 40, "b", other);
  }
  fab_engine_run_until (scene->engine, 1100);
  assert_string_equal (due->str, "");
  begin_at (scene, 1150, "c", one);
  play (scene, "a100 b240 a1100 b1240 c1250 ");
  assert_string_equal (due->str, "0+5 40+5 -40+5 0+5 ");
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

static gboolean
trace_nothing (G_GNUC_UNUSED FabNet *net, G_GNUC_UNUSED const FabLeg *legs, G_GNUC_UNUSED guint n_legs,
               G_GNUC_UNUSED const FabFootprint *footprint, G_GNUC_UNUSED GArray *links)
{
  return TRUE;
}

/* On a network that traces lines, those that share no link are apart once all collectives are known: so their distance
 * does not matter, and each second one is remembered. */
static void
episodes_are_apart_once_all_are_known (G_GNUC_UNUSED void **state)
{
  for (guint is_all = 0; is_all < 2; is_all++) {
    g_autoptr (Scene) scene = scene_new ();
    scene->nets.ops.is_separable = fake_nets ().ops.is_separable;
    scene->nets.ops.trace = trace_nothing;
    scene_open (scene, TRUE);
    const FabEpisodeInput inputs[] = { { .plan = plan (scene, 100, 0, 1) },
                                       { .plan = plan (scene, 200, 3, 1) } };

    fab_episodes_warm_up (scene->episodes,
                          &(FabWarmUpEnv){ &scene->nets.ops, &scene->nets, scene->net->env, 1, is_all, 0 },
                          inputs, 2);
    for (guint i = 0; i < 2; i++) {
      begin_at (scene, 1000 * i, "a", inputs[0].plan);
      begin_at (scene, 1000 * i + 10 + i, "b", inputs[1].plan);
    }
    FabEpisodesCount count = play (scene, "a100 b210 a1100 b1211 ");
    assert_int_equal (count.n_episodes, is_all ? 4 : 2);
    assert_int_equal (count.n_remembered, is_all ? 2 : 0);
    assert_int_equal (count.n_warm_ups_used, is_all ? 2 : 0);
  }
}

/* A job of the first two collectives that were planned, of which the second begins 40 ps after the first. */
static FabDag *
dag_of_two (const Scene *self)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint rank_class = fab_dag_builder_class (builder, "all", 0, 2);

  for (guint i = 0; i < 2; i++) {
    guint stream = fab_dag_builder_stream (builder, rank_class, "comm");

    if (i > 0)
      fab_dag_builder_work (builder, stream, FAB_SPAN_COMPUTE, 40, g_strdup ("work"));
    fab_dag_builder_join (builder, stream,
                          fab_dag_builder_collective (builder, g_ptr_array_index (self->plans, i),
                                                      FAB_DIMENSION_OTHER, g_strdup ("c")));
  }
  return fab_dag_builder_freeze (builder);
}

static FabEpisodeInput
input_of (gpointer n_asked, const FabJobCollective *collective)
{
  ++*(guint *) n_asked;
  return (FabEpisodeInput){ .plan = collective->plan };
}

/* The job's episode of two collectives is rehearsed where the network traces lines, episodes are apart, collectives
 * were warmed up, and there are no others. Elsewhere nobody looks at the job, which is run twice for that. */
static void
episodes_are_rehearsed_where_it_helps (G_GNUC_UNUSED void **state)
{
  static const struct {
    gboolean traces, is_separable;
    guint n_plans;
    gboolean is_all;
    guint n_rehearsals;
  } rows[] = {
    { TRUE, TRUE, 2, TRUE, 1 }, { FALSE, TRUE, 2, TRUE, 0 }, { TRUE, FALSE, 2, TRUE, 0 },
    { TRUE, TRUE, 1, TRUE, 0 }, { TRUE, TRUE, 2, FALSE, 0 },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    g_autoptr (Scene) scene = scene_new ();
    guint n_asked = 0;
    if (rows[r].traces)
      scene->nets.ops.trace = trace_nothing;
    if (rows[r].is_separable)
      scene->nets.ops.is_separable = fake_nets ().ops.is_separable;
    scene_open (scene, TRUE);
    warm_up (scene, rows[r].n_plans, 100, TRUE);
    plan (scene, 101, 0, 2);
    g_autoptr (FabDag) dag = dag_of_two (scene);
    const FabWarmUpEnv env = { &scene->nets.ops, &scene->nets, scene->net->env, 1, rows[r].is_all, 0 };
    const FabExecutorEnv job = {
      .engine = scene->engine, .net = scene->net, .dag = dag, .peak_flops_per_s = 1e12, .n_iterations = 1
    };

    fab_episodes_rehearse (scene->episodes, &env, &job, input_of, &n_asked);
    assert_int_equal (fab_episodes_count (scene->episodes).n_rehearsals, rows[r].n_rehearsals);
    assert_int_equal (n_asked, 4 * rows[r].n_rehearsals);
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
    cmocka_unit_test (ends_in_a_ps_are_told_in_the_order_of_begins),
    cmocka_unit_test (what_was_joined_is_known_the_second_time),
    cmocka_unit_test (ends_come_before_events_of_the_jobs),
    cmocka_unit_test (an_end_that_was_not_told_is_told_later),
    cmocka_unit_test (three_episodes_may_become_one),
    cmocka_unit_test (what_becomes_large_is_played_each_time),
    cmocka_unit_test (a_network_that_jams_is_still),
    cmocka_unit_test (what_was_played_ahead_is_not_still),
    cmocka_unit_test (a_network_without_buffers_has_no_jam),
    cmocka_unit_test (what_fails_on_the_network_fails_for_the_jobs),
    cmocka_unit_test (what_ends_otherwise_the_second_time_fails),
    cmocka_unit_test (where_packets_are_skipped_ends_may_move),
    cmocka_unit_test (where_packets_are_skipped_two_may_end_in_one_ps),
    cmocka_unit_test (where_packets_are_skipped_ends_may_change_places),
    cmocka_unit_test (skips_that_were_made_are_due_again),
    cmocka_unit_test (a_network_on_the_clock_of_the_jobs_is_played),
    cmocka_unit_test (the_first_use_of_a_warm_up_counts_as_played),
    cmocka_unit_test (a_warm_up_that_goes_on_otherwise_is_played),
    cmocka_unit_test (a_warm_up_has_drawn_once_it_is_used),
    cmocka_unit_test (very_many_are_not_warmed_up),
    cmocka_unit_test (alike_collectives_are_warmed_up_once),
    cmocka_unit_test (episodes_are_apart_once_all_are_known),
    cmocka_unit_test (episodes_are_rehearsed_where_it_helps),
    cmocka_unit_test (what_remembers_nothing_is_not_warmed_up),
  };

  return cmocka_run_group_tests_name ("episode_ends", tests, NULL, NULL);
}
