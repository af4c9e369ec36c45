/* SPDX-License-Identifier: Apache-2.0 */
/* test_known_episodes.c - what is played of episodes, and what is counted whether they are played or not. */
#include "sim/shortcut/memo/episode_tree.h"
#include "tests/unit/sim/shortcut/memo/episodes_scene.h"

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

/* Two that are apart would be played with the streams 0 and 1, when one that meets both makes them one: an episode that
 * was joined has the stream 0, also where it takes the place of one that had another. Each shape counts its own. */
static void
joined_episodes_draw_from_the_first_stream (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene->nets.ops.is_separable = fake_nets ().ops.is_separable;
  scene->nets.drawn_ps = 10;
  scene_open (scene, TRUE);
  const FabCollectivePlan *left = plan (scene, 100, 0, 1), *right = plan (scene, 100, 2, 1),
                          *other = plan (scene, 50, 4, 1);

  for (guint i = 0; i < 2; i++) {
    begin_at (scene, 1000 * i, "a", left);
    begin_at (scene, 1000 * i, "b", right);
    begin_at (scene, 1000 * i, "c", other);
  }
  begin_at (scene, 2000, "a", left);
  begin_at (scene, 2000, "b", right);
  begin_at (scene, 2010, "x", plan (scene, 100, 0, 3));
  FabEpisodesCount count = play (scene, "c50 a100 b100 c1060 a1120 b1130 a2100 b2100 x2110 ");
  assert_int_equal (count.n_joins, 1);
}

static void
draw_no_more (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  ((Scene *) owner)->nets.drawn_ps = 0;
}

/* What the network has drawn for other episodes before is of no matter: one that draws nothing is played once. */
static void
draws_are_those_of_an_episode (G_GNUC_UNUSED void **state)
{
  for (guint counts = 0; counts < 2; counts++) {
    g_autoptr (Scene) scene = scene_new ();
    scene->nets.drawn_ps = 10;
    if (!counts)
      scene->nets.ops.n_drawn = NULL;
    scene_open (scene, TRUE);
    const FabCollectivePlan *sure = plan (scene, 200, 0, 2);

    begin_at (scene, 0, "a", plan (scene, 100, 0, 2));
    fab_engine_at (scene->engine, 500, draw_no_more, scene, 0);
    for (guint i = 1; i <= 3; i++)
      begin_at (scene, 1000 * i, "b", sure);
    FabEpisodesCount count = play (scene, "a100 b1200 b2200 b3200 ");
    assert_int_equal (count.n_remembered, 2);
    assert_int_equal (scene->nets.n_streams, 2);
  }
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

/* Two that overlap, and a third that begins after the end of the first, at another time each round: all are played to
 * there once more, and what links carried is counted once. */
static void
what_is_played_again_is_counted_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_new ();
  scene_open (scene, TRUE);
  const FabCollectivePlan *one = plan (scene, 100, 0, 2), *other = plan (scene, 200, 0, 1);

  for (guint i = 0; i < 4; i++) {
    begin_at (scene, 1000 * i, "a", one);
    begin_at (scene, 1000 * i, "b", other);
    if (i > 0)
      begin_at (scene, 1000 * i + 140 + 10 * i, "c", one);
  }
  FabEpisodesCount count = play (scene, "a100 b200 a1100 b1200 c1250 a2100 b2200 c2260 a3100 b3200 c3270 ");
  assert_int_equal (count.n_replays, 3);
  assert_int_equal (scene->nets.n_streams, 2 + 3 * 3);
  assert_near (carried (scene, 0), 4 * 300 + 3 * 100, 1e-12);
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

static gboolean
queue_lengths (G_GNUC_UNUSED const FabNet *net, FabLinkId link, FabQueueLengths *lengths)
{
  lengths->time_ps[0] += 7; /* of its own clock, which says nothing */
  lengths->time_ps[1] += 20;
  lengths->time_ps[2] += link == 0 ? 10 : 500;
  return TRUE;
}

/* What is not noted of a queue is time in which it was empty: 70 of 100 ps. There is none where more is noted. */
static void
queues_are_empty_for_the_rest_of_the_time (G_GNUC_UNUSED void **state)
{
  for (guint is_direct = 0; is_direct < 2; is_direct++) {
    g_autoptr (Scene) scene = scene_new ();
    FabQueueLengths first = { .time_ps = { 1, 2 } }, other = { 0 };
    scene->nets.ops.queue_lengths = queue_lengths;
    scene->net = fake_net_new (&scene->nets, is_direct ? scene->engine : scene->net_engine, scene->rig);
    scene->episodes = fab_episodes_new (scene->engine, scene->net, &scene->nets, FALSE);

    begin_at (scene, 0, "a", plan (scene, 100, 0, 2));
    play (scene, "a100 ");
    assert_true (fab_episodes_queue_lengths (scene->episodes, 0, &first));
    assert_true (fab_episodes_queue_lengths (scene->episodes, 1, &other));
    assert_int_equal (first.time_ps[0], 1 + 70);
    assert_int_equal (first.time_ps[1], 2 + 20);
    assert_int_equal (first.time_ps[2], 10);
    assert_int_equal (other.time_ps[0], 0);
    assert_int_equal (other.time_ps[2], 500);
    scene->nets.ops.queue_lengths = NULL;
    assert_false (fab_episodes_queue_lengths (scene->episodes, 0, &first));
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

/* Two groups that are apart have n collectives together, and one that meets both makes them one. With it they are
 * remembered, unless they are more than 64. */
static void
an_episode_of_64_may_come_of_two (G_GNUC_UNUSED void **state)
{
  for (guint n = 62; n <= 66; n++) {
    g_autoptr (Scene) scene = scene_apart ();
    const FabCollectivePlan *left = plan (scene, 1000, 0, 1), *right = plan (scene, 1000, 1, 1),
                            *both = plan (scene, 1000, 0, 2);

    for (guint i = 0; i < 2; i++) {
      for (guint k = 0; k < n; k++)
        begin_at (scene, 10000 * i + k, "", k % 2 ? left : right);
      begin_at (scene, 10000 * i + 500, "", both);
    }
    fab_engine_run (scene->engine);
    FabEpisodesCount count = fab_episodes_count (scene->episodes);
    assert_int_equal (count.n_joins, 2);
    assert_int_equal (count.n_episodes, 2);
    assert_int_equal (count.n_collectives, 2 * n + 2);
    assert_int_equal (count.n_remembered, n + 1 <= 64);
    assert_near (carried (scene, 0), 1000 * (n / 2 + 1) * 2, 1e-12);
  }
}

static void
ask_now (Scene *self)
{
  ask_queues (self, 400);
}

/* What was played further than the jobs are is played again, up to where they are, to see its queues. The first was
 * played to its end, since nothing else says when the second ends. */
static void
what_was_played_ahead_is_played_again_to_see_its_queues (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_apart ();

  begin_at (scene, 0, "a", plan (scene, 400, 0, 1));
  begin_at (scene, 0, "b", plan (scene, 100, 3, 1))->then = ask_now;
  FabEpisodesCount count = play (scene, "b100 400/400/1 a400 ");
  assert_int_equal (count.n_episodes, 2);
  assert_int_equal (scene->nets.n_streams, 3);
}

static void
begin_beside_a (Scene *self)
{
  begin_at (self, fab_engine_now (self->engine), "x", plan (self, 50, 0, 2));
}

/* The first was played to its end, since nothing else says when the second ends, and what begins then makes that void:
 * the two go on as one. What the first has alone is known nevertheless, with what waited for its link: 400 bytes, again
 * 400, and 50 of what began beside it. */
static void
what_was_found_ahead_is_known_with_its_queues (G_GNUC_UNUSED void **state)
{
  g_autoptr (Scene) scene = scene_apart ();
  const FabCollectivePlan *first = plan (scene, 400, 0, 1);

  begin_at (scene, 0, "a", first);
  begin_at (scene, 0, "b", plan (scene, 100, 3, 1))->then = begin_beside_a;
  begin_at (scene, 1000, "a", first);
  fab_engine_at (scene->engine, 2000, ask_queues, scene, 400);
  FabEpisodesCount count = play (scene, "b100 x150 a400 a1400 850/400/3 ");
  assert_int_equal (count.n_episodes, 3);
  assert_int_equal (count.n_remembered, 1);
  assert_near (carried (scene, 0), 850, 1e-12);
}

static gboolean
reset_at_once (G_GNUC_UNUSED FabNet *net)
{
  return TRUE;
}

static gboolean
reset_never (G_GNUC_UNUSED FabNet *net)
{
  return FALSE;
}

/* The two on link 0 were played to the end of the shorter one, when one begins that makes that void. Then the
 * longer one runs out, as an event more, unless the network can be reset: those of three are the end at 100, that
 * at 300 before and after, and those at 150 and 400. */
static void
what_is_on_its_way_runs_out_or_is_dropped (G_GNUC_UNUSED void **state)
{
  gboolean (*const resets[]) (FabNet *) = { NULL, reset_never, reset_at_once };

  for (guint i = 0; i < G_N_ELEMENTS (resets); i++) {
    g_autoptr (Scene) scene = scene_new ();
    scene->nets.ops.is_separable = fake_nets ().ops.is_separable;
    scene->nets.ops.reset = resets[i];
    scene_open (scene, TRUE);

    begin_at (scene, 0, "a", plan (scene, 400, 0, 1));
    begin_at (scene, 0, "d", plan (scene, 300, 0, 1));
    begin_at (scene, 0, "b", plan (scene, 100, 3, 1))->then = begin_beside_a;
    play (scene, "b100 x150 d300 a400 ");
    assert_int_equal (fab_episodes_events (scene->episodes), resets[i] == reset_at_once ? 5 : 6);
  }
}

/* The second collective shares the first link of the first one, or its second link: two episodes, of which each is
 * known by itself. */
static void
an_episode_is_known_by_the_links_that_are_shared (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabLinkId shared[2]; /* of the second collective in each episode */
    guint n_remembered;
  } rows[] = { { { 0, 0 }, 1 }, { { 0, 1 }, 0 }, { { 1, 0 }, 0 } };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    g_autoptr (Scene) scene = scene_apart ();

    for (guint i = 0; i < 2; i++) {
      begin_at (scene, 1000 * i, "a", plan (scene, 100, 0, 2));
      begin_at (scene, 1000 * i + 40, "b", plan (scene, 50, rows[r].shared[i], 1));
    }
    FabEpisodesCount count = play (scene, "b90 a100 b1090 a1100 ");
    assert_int_equal (count.n_episodes, 2);
    assert_int_equal (count.n_remembered, rows[r].n_remembered);
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

/* --- room --- */

/* The fourth time is as the second one, and the third as the first. Another collective is apart from them, unless one
 * that meets both makes them one. */
static void
begin_four_times (Scene *self)
{
  const FabCollectivePlan *a = plan (self, 100, 0, 2), *b = plan (self, 200, 0, 2),
                          *other = plan (self, 300, 3, 1), *both = plan (self, 90, 1, 3);

  for (guint i = 0; i < 4; i++) {
    begin_at (self, 1000 * i, "a", a);
    begin_at (self, 1000 * i + 10, "o", other);
    begin_at (self, 1000 * i + 40, "b", b);
    if (i % 2 == 1)
      begin_at (self, 1000 * i + 150, "x", both);
  }
  fab_engine_at (self->engine, 3200, ask_queues, self, 200);
  fab_engine_at (self->engine, 5000, ask_queues, self, 200);
}

/* Whatever there is room for in the tree, all ends come at their times, and links count the same. The less room
 * there is the more is played. */
static void
room_changes_no_figure (G_GNUC_UNUSED void **state)
{
  for (guint is_apart = 0; is_apart < 2; is_apart++) {
    double all = 0;
    guint n_streams = G_MAXUINT;

    for (guint room = 0; room <= 6000; room += 40) {
      g_autoptr (Scene) scene = is_apart ? scene_apart () : scene_new ();
      scene->nets.late_bytes = 7;
      scene->nets.late_ps = 5;
      scene->nets.skip_ps = 3;
      if (!is_apart)
        scene_open (scene, TRUE);
      fab_episodes_leave_room (scene->episodes, room < 6000 ? room : FAB_EPISODE_TREE_BYTES);
      begin_four_times (scene);
      FabEpisodesCount count = play (scene, "a100 b240 o310 a1100 b1240 x1240 o1310 a2100 b2240 o2310 a3100 "
                                            "1200/200/8 b3240 x3240 o3310 1200/200/8 ");
      double found = carried (scene, 0) + carried (scene, 3);
      if (room == 0)
        all = found;
      assert_near (found, all, 1e-12);
      assert_int_equal (count.n_collectives, 14);
      assert_true ((guint) scene->nets.n_streams <= n_streams);
      n_streams = (guint) scene->nets.n_streams;
      assert_true (room > 0 || count.n_remembered == 0);
      assert_true (room < 6000 || count.n_remembered > 0);
    }
  }
}

/* --- folded schedules --- */

/* Versions: the first collective is played in version 1, and each other one makes another of it, if `owner` is set. */
static guint
extend (gpointer owner, guint folded_for, G_GNUC_UNUSED const FabCollectivePlan *what)
{
  const Begin *begun = owner;

  return folded_for == FAB_FOLDED_FOR_NONE ? 1 : folded_for + begun->stops;
}

/* Each other one makes another version. */
static guint
extend_always (G_GNUC_UNUSED gpointer owner, guint folded_for, G_GNUC_UNUSED const FabCollectivePlan *what)
{
  return folded_for + 1 + (folded_for == FAB_FOLDED_FOR_NONE);
}

static FabPlay *
note_version (gpointer owner, G_GNUC_UNUSED FabNet *net, G_GNUC_UNUSED const FabEpisodeInput *input,
              guint folded_for, G_GNUC_UNUSED FabDone done)
{
  const Begin *begun = owner;

  g_string_append_printf (begun->scene->ends, "%s:%u ", begun->name, folded_for);
  return NULL;
}

/* One that makes another version is played with those under way from their begin in that version; one that is in the
 * version goes on with them. Where nothing is apart, all are folded as all of the job are. */
static void
those_under_way_are_played_again_in_another_version (G_GNUC_UNUSED void **state)
{
  for (guint kind = 0; kind < 3; kind++) {
    static const char *const ends[] = { "a:1 a:2 b:2 a100 b140 ", "a:1 b:1 a100 b140 ",
                                        "a:0 b:0 a100 b140 " };
    g_autoptr (Scene) scene = kind < 2 ? scene_apart () : scene_new ();
    if (kind == 2)
      scene_open (scene, TRUE);

    for (guint i = 0; i < 2; i++) {
      Begin *what = begin_at (scene, 40 * i, i == 0 ? "a" : "b", plan (scene, 100, i, 2));

      what->input = (FabEpisodeInput){
        .plan = what->input.plan, .play = note_version, .extend = extend, .owner = what
      };
      what->stops = kind == 0 && i == 1;
    }
    fab_engine_run (scene->engine);
    fab_engine_run (scene->engine);
    FabEpisodesCount count = play (scene, ends[kind]);
    assert_int_equal (count.n_replays, 0);
    assert_int_equal (scene->nets.n_streams, kind == 0 ? 3 : 2);
  }
}

/* What has become one is folded for all of its collectives: from the first that began on. */
static void
what_is_joined_is_played_again_for_all (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "a", "b", "c" };
  g_autoptr (Scene) scene = scene_apart ();

  for (guint i = 0; i < 3; i++) {
    Begin *what = begin_at (scene, 25 * i, names[i], plan (scene, 100 + 10 * i, i % 2, 1 + i / 2));

    what->input = (FabEpisodeInput){
      .plan = what->input.plan, .play = note_version, .extend = extend_always, .owner = what
    };
  }
  play (scene, "a:1 b:1 a:3 b:3 c:3 a100 b135 c170 ");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (four_episodes_stand_for_what_is_drawn),
    cmocka_unit_test (one_episode_stands_for_what_is_sure),
    cmocka_unit_test (draws_are_those_of_an_episode),
    cmocka_unit_test (joined_episodes_draw_from_the_first_stream),
    cmocka_unit_test (what_comes_late_is_counted_with_the_next_episode),
    cmocka_unit_test (what_comes_late_is_known_of_collectives_apart),
    cmocka_unit_test (what_is_played_again_is_counted_once),
    cmocka_unit_test (queues_are_those_of_all_episodes),
    cmocka_unit_test (queues_are_empty_for_the_rest_of_the_time),
    cmocka_unit_test (a_known_episode_is_played_to_see_its_queues),
    cmocka_unit_test (what_is_known_now_and_then_is_replayed),
    cmocka_unit_test (an_episode_of_64_is_remembered),
    cmocka_unit_test (an_episode_of_64_may_come_of_two),
    cmocka_unit_test (what_was_played_ahead_is_played_again_to_see_its_queues),
    cmocka_unit_test (what_was_found_ahead_is_known_with_its_queues),
    cmocka_unit_test (what_is_on_its_way_runs_out_or_is_dropped),
    cmocka_unit_test (an_episode_is_known_by_the_links_that_are_shared),
    cmocka_unit_test (other_events_of_jobs_let_nothing_be_played),
    cmocka_unit_test (a_longer_quiet_is_found_out),
    cmocka_unit_test (room_changes_no_figure),
    cmocka_unit_test (those_under_way_are_played_again_in_another_version),
    cmocka_unit_test (what_is_joined_is_played_again_for_all),
  };

  return cmocka_run_group_tests_name ("known_episodes", tests, NULL, NULL);
}
