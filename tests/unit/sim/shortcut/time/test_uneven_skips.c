/* SPDX-License-Identifier: Apache-2.0 */
/* test_uneven_skips.c - which rounds are skipped of rings whose lanes differ, that end apart or that a network changes
 * under. */
#include "tests/unit/sim/shortcut/time/ring_skips_scene.h"

/* A ring of 64 lanes of which the second takes 1300 ps: a lane far from it is as fast as before until the delay of one
 * lane after another reaches it, and the ring ends when the slow one does. The interval of the slow one has settled
 * after the four windows that are looked at and one more. Where some lanes are still faster, a skip has 16 rounds. */
static void
a_ring_goes_on_at_the_pace_of_its_slowest_lane (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "15 rounds are left",
      .played = { .ops = &paced_net, .rings = { { 30, 0, { 0, 300 }, .n_more = 60 } } } },
    { .name = "16 rounds are left",
      .played = { .ops = &paced_net, .rings = { { 31, 0, { 0, 300 }, .n_more = 60 } } },
      .skips = { { 12000, 16 * 1300 } },
      .n_times = { 8 },
      .n_skipped = { { 16, 16 } } },
    { .name = "long",
      .played = { .ops = &paced_net, .rings = { { 200, 0, { 0, 300 }, .n_more = 60 } } },
      .skips = { { 12000, 184 * 1300 } },
      .n_times = { 92 },
      .n_skipped = { { 184, 184 } } },
    { .name = "two rings of one collective, 12 rounds are left",
      .played = { .ops = &paced_net, .rings = { { 28, 0, { 0, 300 }, HALVES, .n_more = 60 } } } },
    { .name = "two rings of one collective, 18 rounds are left",
      .played = { .ops = &paced_net, .rings = { { 34, 0, { 0, 300 }, HALVES, .n_more = 60 } } },
      .skips = { { 12000, 16 * 1300 } },
      .n_times = { 104.0 / 11 },
      .n_skipped = { { 16, 16 } } },
    { .name = "beside another ring, 12 rounds are left",
      .played = { .ops = &paced_net, .rings = { { 30 }, { 30, 0, { 0, 300 }, .n_more = 60 } } } },
    { .name = "beside another ring, 26 rounds are left",
      .played = { .ops = &paced_net, .rings = { { 60 }, { 60, 0, { 0, 300 }, .n_more = 60 } } },
      .skips = { { 25200, 26 * 1100 } },
      .n_times = { 6.5 },
      .n_skipped = { { 26, 26 }, { 22, 22 } } },
    /* A network that can skip to the ps waits until all lanes are slow, unless there are 500000 messages. */
    { .name = "499968 messages",
      .played = { .ops = &both_net, .rings = { { 7812, 0, { 0, 300 }, .n_more = 60 } } },
      .skips = { { 78600, 7738 * 1300 } },
      .n_skipped = { { 7738, 7738 } } },
    { .name = "500032 messages",
      .played = { .ops = &both_net, .rings = { { 7813, 0, { 0, 300 }, .n_more = 60 } } },
      .skips = { { 23000, 7788 * 1300 } },
      .n_times = { 1947 },
      .n_skipped = { { 7788, 7788 } } },
    { .name = "as many of lanes that are alike",
      .played = { .ops = &both_net, .rings = { { 7813, .n_more = 60 } } },
      .skips = { { 8700, 7801 * 1100 } },
      .n_skipped = { { 7801, 7801 } } },
  };

  ASSERT_ROWS (rows);
}

/* The second lane takes less longer than a hop's latency, so that the others do not wait for its messages to leave but
 * for those to arrive: a delay of 100 ps goes round, four rounds take 3 x 1100 + 1200 ps, and each lane has one long
 * interval in four. No pace of some of them is that of all, so that the ring is played whole. */
static void
a_ring_in_which_a_delay_goes_round_is_played (G_GNUC_UNUSED void **state)
{
  const Row row = { .name = "a delay goes round",
                    .played = { .ops = &paced_net, .rings = { { 100, 0, { 0, 100 } } } } };

  assert_row (&row);
}

/* The ring that ends first says how long a skip may be, and the first ring's longest pace of how many rounds. */
static void
no_ring_goes_beyond_its_end (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "the first one is shorter",
      .played = { .ops = &paced_net, .rings = { { 40 }, { 50 } } },
      .skips = { { 7600, 29 * 1100 } },
      .n_times = { 14.5 },
      .n_skipped = { { 29, 29 }, { 29, 29 } } },
    { .name = "the first one ends first, and the second one is slower",
      .played = { .ops = &paced_net, .rings = { { 40 }, { 100, 0, { 1100, 1100, 1100, 1100 } } } },
      .skips = { { 12000, 24 * 1100 }, { 50500, 72 * 2200 } },
      .n_times = { 6, 36 },
      .n_skipped = { { 24, 24 }, { 84, 84 } } },
    { .name = "the first one ends first, and is slower",
      .played = { .ops = &paced_net, .rings = { { 40, 0, { 1100, 1100, 1100, 1100 } }, { 100 } } },
      .skips = { { 15300, 29 * 2200 }, { 91200, 12 * 1100 } },
      .n_times = { 14.5, 6 },
      .n_skipped = { { 29, 29 }, { 70, 70 } } },
    { .name = "the slower one is the first one of the collective",
      .played = { .ops = &paced_net, .rings = { { 100, 0, { 1100, 1100 }, PAIRS } } },
      .skips = { { 10900, 43 * 2200 }, { 120900, 40 * 2200 } },
      .n_times = { 21.5, 20 },
      .n_skipped = { { 83, 86 } } },
  };

  ASSERT_ROWS (rows);
}

/* Of the longest skips, down to three quarters, that one is made in which all rings come closest to whole messages; of
 * equal ones the longest. */
static void
rings_come_close_to_whole_messages (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "three rounds are free, which are one and a half of the second",
      .played = { .ops = &paced_net,
                  .rings = { { 50 }, { 50, 0, { 1100, 1100, 1100, 1100 } } },
                  .other_ps = { 12000 + 5 * 1100 } },
      .skips = { { 20800, 26 * 1100 }, { 63700, 16 * 2200 } },
      .n_times = { 6.5, 8 },
      .n_skipped = { { 26, 26 }, { 29, 29 } } },
    { .name = "eleven are free, of which nine and eleven are as far from fours",
      .played = { .ops = &paced_net,
                  .rings = { { 60 }, { 60, 0, { 3300, 3300, 3300, 3300 } } },
                  .other_ps = { 23000 + 13 * 1100 } },
      .skips = { { 23000, 11 * 1100 }, { 42800, 17 * 1100 }, { 83500, 36 * 4400 } },
      .n_times = { 11.0 / 8, 17.0 / 7, 18 },
      .n_skipped = { { 28, 28 }, { 43, 43 } } },
    { .name = "the second one of the collective ends last",
      .played = { .ops = &paced_net, .rings = { { 100, 0, { 0, 0, 270, 270 }, PAIRS } } },
      .skips = { { 5400, 57 * 1370 }, { 88990, 12 * 1370 }, { 113610, 12 * 1370 } },
      .n_times = { 57 * 1370 / 2200.0, 12 * 1370 / 2200.0, 6 },
      .n_skipped = { { 86, 81 } } },
    { .name = "the first one does, and six rounds are worth a skip",
      .played = { .ops = &paced_net, .rings = { { 100, 0, { 700, 700 }, PAIRS } } },
      .skips = { { 8900, 44 * 1800 }, { 95300, 6 * 1800 }, { 116900, 30 * 1800 } },
      .n_times = { 22, 3, 15 },
      .n_skipped = { { 80, 82 } } },
  };

  ASSERT_ROWS (rows);
}

/* Among more than 64 rings there are always some that are far from a whole message, so the longest skip is made. */
static void
many_rings_need_not_come_to_whole_messages (G_GNUC_UNUSED void **state)
{
  const guint slower[] = { 700, 700, 700, 700 };
  Row rows[] = {
    { .name = "64 rings",
      .played = { .ops = &paced_net,
                  .rings = { { 100, .waits = PAIRS, .n_more = 60 }, { 100, .waits = PAIRS, .n_more = 60 } } },
      .skips = { { 9800, 72 * 1100 }, { 93400, 10 * 1100 }, { 117100, 30 * 1800 } },
      .n_times = { 18, 2.5, 15 },
      .n_skipped = { { 82, 82 }, { 80, 80 } },
      .off_ps = 200 },
    { .name = "33 and 32 rings",
      .played = { .ops = &paced_net,
                  .rings = { { 100, .waits = PAIRS, .n_more = 62 }, { 100, .waits = PAIRS, .n_more = 60 } } },
      .skips = { { 9800, 87 * 1100 }, { 117200, 30 * 1800 } },
      .n_times = { 21.75, 15 },
      .n_skipped = { { 87, 87 }, { 83, 83 } },
      .off_ps = 300 },
    { .name = "32 and 33 rings",
      .played = { .ops = &paced_net,
                  .rings = { { 100, .waits = PAIRS, .n_more = 60 }, { 100, .waits = PAIRS, .n_more = 62 } } },
      .skips = { { 9800, 87 * 1100 }, { 117200, 30 * 1800 } },
      .n_times = { 21.75, 15 },
      .n_skipped = { { 87, 87 }, { 83, 83 } },
      .off_ps = 300 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    memcpy (rows[i].played.rings[1].slower, slower, sizeof slower);
  ASSERT_ROWS (rows);
}

/* Where a lane has sent its last message, the pace of the others settles anew, and nothing is skipped before all of the
 * ring that is over has been passed on, or for good where lanes of one ring end apart. */
static void
a_ring_that_is_over_is_waited_for (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "the first one ends",
      .played = { .ops = &paced_net, .rings = { { 100, .waits = PAIRS, .fewer = { 50, 50 } } } },
      .skips = { { 5400, 40 * 1100 }, { 58200, 42 * 1100 } },
      .n_times = { 20, 21 },
      .n_skipped = { { 40, 82 } } },
    { .name = "the second one ends",
      .played = { .ops = &paced_net, .rings = { { 100, .waits = PAIRS, .fewer = { 0, 0, 50, 50 } } } },
      .skips = { { 5400, 40 * 1100 }, { 58200, 42 * 1100 } },
      .n_times = { 20, 21 },
      .n_skipped = { { 82, 40 } } },
    /* Its 13th message begins after 12 x 21400 ps and is passed on 21400 ps later, when the 254th of the others
     * begins. */
    { .name = "its last message takes long",
      .played = { .ops = &paced_net,
                  .rings = { { 400, 0, { 0, 0, 20300, 20300 }, PAIRS, .fewer = { 0, 0, 387, 387 } } } },
      .skips = { { 42800, 136 * 1100 }, { 278200, 142 * 1100 } },
      .n_times = { 68.0 / 9, 71 },
      .n_skipped = { { 278, 7 } } },
    { .name = "lanes of a row end before the first one",
      .played = { .ops = &paced_net, .rings = { { 100, .waits = A_ROW, .fewer = { 0, 50, 50, 50 } } } },
      .skips = { { 9000, 38 * 1000 } },
      .n_times = { 19 },
      .n_skipped = { { 38, 38 } } },
  };

  ASSERT_ROWS (rows);
}

/* What was noted before somebody changed the network, or before the network could mark, shows no pace. */
static void
a_changed_network_is_watched_anew (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "to the ps",
      .played = { .ops = &exact_net, .rings = { { 100 } }, .other_ps = { 60000 }, .others_change = TRUE },
      .skips = { { 8700, 44 * 1100 }, { 63700, 38 * 1100 } },
      .n_skipped = { { 82, 82 } } },
    { .name = "about",
      .played = { .ops = &paced_net, .rings = { { 100 } }, .other_ps = { 5000 }, .others_change = TRUE },
      .skips = { { 9800, 86 * 1100 } },
      .n_times = { 43 },
      .n_skipped = { { 86, 86 } } },
    { .name = "two rings",
      .played = { .ops = &both_net,
                  .rings = { { 100 }, { 100 } },
                  .other_ps = { 60000 },
                  .others_change = TRUE },
      .skips = { { 10900, 42 * 1100 }, { 67000, 35 * 1100 } },
      .n_times = { 14, 35.0 / 3 },
      .n_skipped = { { 77, 77 }, { 77, 77 } } },
    { .name = "no mark at the second message",
      .played = { .ops = &paced_net, .rings = { { 100 } }, .net = { .n_refused_marks = 1 } },
      .skips = { { 5400, 90 * 1100 } },
      .n_times = { 45 },
      .n_skipped = { { 90, 90 } } },
    { .name = "nor at the fourth",
      .played = { .ops = &paced_net, .rings = { { 100 } }, .net = { .n_refused_marks = 2 } },
      .skips = { { 7600, 88 * 1100 } },
      .n_times = { 44 },
      .n_skipped = { { 88, 88 } } },
  };

  ASSERT_ROWS (rows);
}

/* Rounds repeat to the ps when they have for longer than a message is on its way and is passed on, and the pause of a
 * lane after it. */
static void
rounds_repeat_for_longer_than_messages_are_under_way (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "lanes that wait for none, 100 ps of latency",
      .played = { .ops = &exact_net, .rings = { { 100, .waits = NOTHING } } },
      .skips = { { 7000, 89 * 1000 } },
      .n_skipped = { { 89, 89 } } },
    { .name = "10000 ps of latency",
      .played = { .ops = &exact_net, .rings = { { 100, .waits = NOTHING } }, .latency_ps = 10000 },
      .skips = { { 27000, 69 * 1000 } },
      .n_skipped = { { 69, 69 } } },
    { .name = "a round of 11000 ps is longer",
      .played = { .ops = &exact_net, .rings = { { 100 } }, .latency_ps = 10000 },
      .skips = { { 78000, 88 * 11000 } },
      .n_skipped = { { 88, 88 } } },
    { .name = "steps of 500 ps and pauses of 500 ps in rounds of 1500 ps",
      .played = { .ops = &exact_net, .rings = { { 100, .steps_ps = 50000 } } },
      .skips = { { 11500, 88 * 1500 } },
      .n_skipped = { { 88, 88 } } },
    { .name = "steps of 2000 ps and pauses of 2000 ps in rounds of 3000 ps",
      .played = { .ops = &exact_net, .rings = { { 100, .steps_ps = 200000 } } },
      .skips = { { 25000, 87 * 3000 } },
      .n_skipped = { { 87, 87 } } },
  };

  ASSERT_ROWS (rows);
}

/* Whether a pace has settled is asked once where several lanes begin, when a window of the first ring ends. Once
 * its first lane is over that is so in every round in which the slow ring beside has not begun two messages, which
 * are eight rounds; and in the end that ring is the first one. */
static void
one_question_is_asked_at_a_time (G_GNUC_UNUSED void **state)
{
  static const struct {
    Ring rings[MOST_RINGS];
    guint n_questions;
  } rows[] = { { { { .n_rounds = 100 } }, 50 },
               { { { .n_rounds = 100 }, { .n_rounds = 100 } }, 50 },
               { { { .n_rounds = 60, .waits = PAIRS, .fewer = { 30, 30 } },
                   { .n_rounds = 30, .slower = { 3300, 3300, 3300, 3300 } } },
                 15 + 25 + 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Case some = { .ops = &paced_net, .net = { .cannot_mark = TRUE } },
         all = { .ops = &paced_net, .is_unwatched = TRUE };

    memcpy (some.rings, rows[i].rings, sizeof some.rings);
    memcpy (all.rings, rows[i].rings, sizeof all.rings);
    play (&some);
    play (&all);
    assert_int_equal (some.n_events - all.n_events, rows[i].n_questions);
    g_array_unref (some.skips);
    g_array_unref (all.skips);
  }
}

/* A network is told of the lines of rings that have a pace. */
static void
lines_repeat_where_a_pace_is_looked_for (G_GNUC_UNUSED void **state)
{
  static const struct {
    const FabNetOps *ops;
    Ring ring;
    gboolean repeats;
  } rows[] = {
    { &paced_net, { .n_rounds = 12 }, FALSE },  { &paced_net, { .n_rounds = 13 }, TRUE },
    { &both_net, { .n_rounds = 66 }, FALSE },   { &both_net, { .n_rounds = 67 }, TRUE },
    { &exact_net, { .n_rounds = 100 }, FALSE }, { &paced_net, { .n_rounds = 100, .waits = NOTHING }, FALSE }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Case one = { .ops = rows[i].ops, .rings = { rows[i].ring } };

    play (&one);
    assert_int_equal (one.repeats[0], rows[i].repeats);
    g_array_unref (one.skips);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_ring_goes_on_at_the_pace_of_its_slowest_lane),
    cmocka_unit_test (a_ring_in_which_a_delay_goes_round_is_played),
    cmocka_unit_test (no_ring_goes_beyond_its_end),
    cmocka_unit_test (many_rings_need_not_come_to_whole_messages),
    cmocka_unit_test (a_ring_that_is_over_is_waited_for),
    cmocka_unit_test (a_changed_network_is_watched_anew),
    cmocka_unit_test (rounds_repeat_for_longer_than_messages_are_under_way),
    cmocka_unit_test (one_question_is_asked_at_a_time),
    cmocka_unit_test (rings_come_close_to_whole_messages),
    cmocka_unit_test (lines_repeat_where_a_pace_is_looked_for),
  };

  return cmocka_run_group_tests_name ("uneven_skips", tests, NULL, NULL);
}
