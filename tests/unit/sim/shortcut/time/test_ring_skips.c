/* SPDX-License-Identifier: Apache-2.0 */
/* test_ring_skips.c - which rounds of rings are skipped, and when: rings that are alike, that are alone and that
 * meet. */
#include "tests/unit/sim/shortcut/time/ring_skips_scene.h"

/* Nine messages of each lane show the period, the last one at 8 x 1100 - 100 ps: four of them before it is noticed
 * that lines were opened. Three messages are left at the end, two rounds before the next event of somebody else, and
 * at least four rounds are worth it. A ring is watched that has 16 rounds more than the last three. */
static void
rounds_that_repeat_to_the_ps_are_skipped (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "too short", .played = { .ops = &exact_net, .rings = { { 18 } } } },
    { .name = "just long enough",
      .played = { .ops = &exact_net, .rings = { { 19 } } },
      .skips = { { 8700, 7 * 1100 } },
      .n_skipped = { { 7, 7 } } },
    { .name = "long",
      .played = { .ops = &exact_net, .rings = { { 1000 } } },
      .skips = { { 8700, 988 * 1100 } },
      .n_skipped = { { 988, 988 } } },
    { .name = "less than six rounds are free",
      .played = { .ops = &exact_net, .rings = { { 50 } }, .other_ps = { 8700 + 6 * 1100 - 1 } },
      .skips = { { 15300, 32 * 1100 } },
      .n_skipped = { { 32, 32 } } },
    { .name = "six rounds are free",
      .played = { .ops = &exact_net, .rings = { { 50 } }, .other_ps = { 8700 + 6 * 1100 } },
      .skips = { { 8700, 4 * 1100 }, { 15300, 32 * 1100 } },
      .n_skipped = { { 36, 36 } } },
    { .name = "two events of others",
      .played = { .ops = &exact_net, .rings = { { 50 } }, .other_ps = { 8700 + 6 * 1100, 30000 } },
      .skips = { { 8700, 4 * 1100 }, { 15300, 11 * 1100 }, { 30700, 18 * 1100 } },
      .n_skipped = { { 33, 33 } } },
    { .name = "a lane takes 1300 ps",
      .played = { .ops = &exact_net, .rings = { { 100, 0, { 0, 300 } } } },
      .skips = { { 11300, 87 * 1300 } },
      .n_skipped = { { 87, 87 } } },
    { .name = "the network cannot",
      .played = { .ops = &exact_net, .rings = { { 100 } }, .net = { .cannot_skip = TRUE } } },
  };

  ASSERT_ROWS (rows);
}

/* A window is two rounds, from the second message on, and the paces of two windows in a row must be equal: six messages
 * show it, the last one at 5 x 1100 - 100 ps. A skip is whole windows, of four rounds at least. */
static void
rings_go_on_at_their_pace (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "too short", .played = { .ops = &paced_net, .rings = { { 12 } } } },
    { .name = "just long enough",
      .played = { .ops = &paced_net, .rings = { { 13 } } },
      .skips = { { 5400, 4400 } },
      .n_times = { 2 },
      .n_skipped = { { 4, 4 } } },
    { .name = "half a window more",
      .played = { .ops = &paced_net, .rings = { { 14 } } },
      .skips = { { 5400, 4400 } },
      .n_times = { 2 },
      .n_skipped = { { 4, 4 } } },
    { .name = "a window more",
      .played = { .ops = &paced_net, .rings = { { 15 } } },
      .skips = { { 5400, 6600 } },
      .n_times = { 3 },
      .n_skipped = { { 6, 6 } } },
    { .name = "long",
      .played = { .ops = &paced_net, .rings = { { 1000 } } },
      .skips = { { 5400, 990 * 1100 } },
      .n_times = { 495 },
      .n_skipped = { { 990, 990 } } },
    { .name = "less than six rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 } }, .other_ps = { 5400 + 6 * 1100 - 1 } },
      .skips = { { 12000, 34 * 1100 } },
      .n_times = { 17 },
      .n_skipped = { { 34, 34 } } },
    { .name = "six rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 } }, .other_ps = { 5400 + 6 * 1100 } },
      .skips = { { 5400, 4 * 1100 }, { 14200, 32 * 1100 } },
      .n_times = { 2, 16 },
      .n_skipped = { { 36, 36 } } },
    { .name = "seven rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 } }, .other_ps = { 5400 + 7 * 1100 } },
      .skips = { { 5400, 4 * 1100 }, { 14200, 32 * 1100 } },
      .n_times = { 2, 16 },
      .n_skipped = { { 36, 36 } } },
    { .name = "a lane takes 1300 ps",
      .played = { .ops = &paced_net, .rings = { { 100, 0, { 0, 300 } } } },
      .skips = { { 8700, 88 * 1300 } },
      .n_times = { 44 },
      .n_skipped = { { 88, 88 } } },
    { .name = "the network cannot mark",
      .played = { .ops = &paced_net, .rings = { { 100 } }, .net = { .cannot_mark = TRUE } } },
    { .name = "nor repeat",
      .played = { .ops = &paced_net, .rings = { { 100 } }, .net = { .cannot_repeat = TRUE } } },
  };

  ASSERT_ROWS (rows);
}

/* Where two rings are under way a window has two messages of every lane, and begins anew when the second ring begins;
 * so a skip comes two rounds later, is whole messages of the ring that ends last, and may be of two rounds. */
static void
rings_that_meet_go_on_together (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "alike",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 100 } } },
      .skips = { { 7600, 89 * 1100 } },
      .n_times = { 44.5 },
      .n_skipped = { { 89, 89 }, { 89, 89 } } },
    { .name = "one is shorter",
      .played = { .ops = &paced_net, .rings = { { 50 }, { 40 } } },
      .skips = { { 7600, 29 * 1100 } },
      .n_times = { 14.5 },
      .n_skipped = { { 29, 29 }, { 29, 29 } } },
    { .name = "less than four rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 }, { 50 } }, .other_ps = { 7600 + 4 * 1100 - 1 } },
      .skips = { { 12000, 35 * 1100 } },
      .n_times = { 17.5 },
      .n_skipped = { { 35, 35 }, { 35, 35 } } },
    { .name = "four rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 }, { 50 } }, .other_ps = { 7600 + 4 * 1100 } },
      .skips = { { 7600, 2 * 1100 }, { 12000, 35 * 1100 } },
      .n_times = { 1, 17.5 },
      .n_skipped = { { 37, 37 }, { 37, 37 } } },
    { .name = "a round of the second takes two of the first",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 50, 0, { 1100, 1100, 1100, 1100 } } } },
      .skips = { { 12000, 82 * 1100 } },
      .n_times = { 20.5 },
      .n_skipped = { { 82, 82 }, { 41, 41 } } },
    { .name = "two take three",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 70, 0, { 550, 550, 550, 550 } } } },
      .skips = { { 9800, 87 * 1100 } },
      .n_times = { 43.5 },
      .n_skipped = { { 87, 87 }, { 58, 58 } } },
    /* 71.5 rounds of 1110 ps are 72 of 1100: what is not whole is off by half a message at most. */
    { .name = "it is about as fast",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 100, 0, { 10, 10, 10, 10 } } } },
      .skips = { { 7600, 89 * 1100 } },
      .n_times = { 44.5 },
      .n_skipped = { { 89, 89 }, { 88, 88 } },
      .off_ps = 220 },
  };

  ASSERT_ROWS (rows);
}

/* A window of two rings that differ may be half a round of one of them: what the network repeats is what it did since
 * the skip before, and not that skip. */
static void
the_time_of_a_skip_is_in_no_window (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "skips soon after one another",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 100, 0, { 700, 700, 700, 700 } } } },
      .skips = { { 9800, 72 * 1100 }, { 93400, 10 * 1100 }, { 117100, 30 * 1800 } },
      .n_times = { 18, 2.5, 15 },
      .n_skipped = { { 82, 82 }, { 80, 80 } },
      .off_ps = 200 },
  };

  ASSERT_ROWS (rows);
}

/* A network that can do both plays a ring that is alone to the ps. Only rings of 67 rounds and more, which can leave
 * out 64, have a pace there, and windows of a 32nd of these rounds, from two to four. */
static void
networks_that_can_do_both_skip_to_the_ps_where_one_ring_is_alone (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "alone",
      .played = { .ops = &both_net, .rings = { { 100 } } },
      .skips = { { 9800, 87 * 1100 } },
      .n_skipped = { { 87, 87 } } },
    { .name = "two that are too short", .played = { .ops = &both_net, .rings = { { 66 }, { 66 } } } },
    { .name = "windows of two",
      .played = { .ops = &both_net, .rings = { { 67 }, { 67 } } },
      .skips = { { 7600, 56 * 1100 } },
      .n_times = { 28 },
      .n_skipped = { { 56, 56 }, { 56, 56 } } },
    { .name = "windows of two, still",
      .played = { .ops = &both_net, .rings = { { 98 }, { 98 } } },
      .skips = { { 7600, 87 * 1100 } },
      .n_times = { 43.5 },
      .n_skipped = { { 87, 87 }, { 87, 87 } } },
    { .name = "windows of three",
      .played = { .ops = &both_net, .rings = { { 99 }, { 99 } } },
      .skips = { { 10900, 85 * 1100 } },
      .n_times = { 85.0 / 3 },
      .n_skipped = { { 85, 85 }, { 85, 85 } } },
    { .name = "windows of four",
      .played = { .ops = &both_net, .rings = { { 131 }, { 131 } } },
      .skips = { { 14200, 114 * 1100 } },
      .n_times = { 28.5 },
      .n_skipped = { { 114, 114 }, { 114, 114 } } },
    { .name = "no longer ones",
      .played = { .ops = &both_net, .rings = { { 1000 }, { 1000 } } },
      .skips = { { 14200, 983 * 1100 } },
      .n_times = { 983.0 / 4 },
      .n_skipped = { { 983, 983 }, { 983, 983 } } },
  };

  ASSERT_ROWS (rows);
}

/* A ring of nine rounds is not watched, and what does not repeat goes on beside the other as long as the network
 * says. */
static void
what_does_not_repeat_goes_on_beside (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "nobody knows for how long",
      .played = { .ops = &paced_net, .rings = { { 1000 }, { 9, 100000, { 700, 700, 700, 700 } } } },
      .skips = { { 5400, 84 * 1100 }, { 119800, 886 * 1100 } },
      .n_times = { 42, 443 },
      .n_skipped = { { 970, 970 } } },
    { .name = "for five rounds",
      .played = { .ops = &paced_net,
                  .rings = { { 1000 }, { 9, 100000, { 700, 700, 700, 700 } } },
                  .net = { .lasts_ps = 5 * 1100 } },
      .skips = { { 5400, 84 * 1100 }, { 104400, 5 * 1100 }, { 124200, 882 * 1100 } },
      .n_times = { 42, 2.5, 441 },
      .n_skipped = { { 971, 971 } },
      .off_ps = 5500 },
  };

  ASSERT_ROWS (rows);
}

/* Two rings of one collective, which wait for nothing of each other, have a pace of their own each. */
static void
rings_of_one_collective_go_on_at_their_own_paces (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "equal paces",
      .played = { .ops = &paced_net, .rings = { { 100, .waits = PAIRS } } },
      .skips = { { 5400, 90 * 1100 } },
      .n_times = { 45 },
      .n_skipped = { { 90, 90 } } },
    { .name = "a round takes two",
      .played = { .ops = &paced_net, .rings = { { 100, 0, { 0, 0, 1100, 1100 }, PAIRS } } },
      .skips = { { 5400, 90 * 1100 }, { 116500, 42 * 2200 } },
      .n_times = { 45, 21 },
      .n_skipped = { { 90, 87 } } },
  };

  ASSERT_ROWS (rows);
}

/* What was played before is played again with the skips of then, where paces have settled, and nothing is still passed
 * on of a ring that is over. */
static void
skips_of_before_are_made_again (G_GNUC_UNUSED void **state)
{
  const Ring ending = { 400, 0, { 0, 0, 20300, 20300 }, PAIRS, .fewer = { 0, 0, 387, 387 } };
  const FabSkip both[] = { { 5400, 6600 }, { 16400, 4400 } },
                early[] = { { 264900, 6600 } }, /* of a last message that is under way until 278200 */
      late[] = { { 278200, 6600 } };
  static const struct {
    FabSkip due;
    guint n_skipped;
  } cases[] = { { { 5400, 6600 }, 6 }, { { 7600, 5500 }, 5 }, { { 5401, 6600 }, 0 }, { { 3200, 6600 }, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GArray) due = g_array_new (FALSE, FALSE, sizeof (FabSkip));
    Row row = { .name = "due",
                .played = { .ops = &paced_net, .rings = { { 100 } }, .skips_due = due },
                .n_skipped = { { cases[i].n_skipped, cases[i].n_skipped } } };

    g_array_append_val (due, cases[i].due);
    if (cases[i].n_skipped > 0) {
      row.skips[0] = cases[i].due;
      row.n_times[0] = 3; /* 2.5 is no whole number of windows */
    }
    assert_row (&row);
  }
  const struct {
    const FabSkip *due;
    guint n_due;
    Row row;
  } more[] = {
    { both,
      2,
      { .name = "two",
        .played = { .rings = { { 100 } } },
        .skips = { both[0], both[1] },
        .n_times = { 3, 2 },
        .n_skipped = { { 10, 10 } } } },
    { early, 1, { .name = "a last message is under way", .played = { .rings = { ending } } } },
    { late,
      1,
      { .name = "it has been passed on",
        .played = { .rings = { ending } },
        .skips = { late[0] },
        .n_times = { 3 },
        .n_skipped = { { 6, 0 } } } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (more); i++) {
    g_autoptr (GArray) due = g_array_new (FALSE, FALSE, sizeof (FabSkip));
    Row row = more[i].row;

    row.played.ops = &paced_net;
    row.played.skips_due = g_array_append_vals (due, more[i].due, more[i].n_due);
    assert_row (&row);
  }
}

static void
machines_that_are_not_folded_are_played_whole (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "to the ps", .played = { .ops = &exact_net, .rings = { { 100 } }, .is_unfolded = TRUE } },
    { .name = "about", .played = { .ops = &paced_net, .rings = { { 100 } }, .is_unfolded = TRUE } },
  };

  ASSERT_ROWS (rows);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rounds_that_repeat_to_the_ps_are_skipped),
    cmocka_unit_test (rings_go_on_at_their_pace),
    cmocka_unit_test (rings_that_meet_go_on_together),
    cmocka_unit_test (the_time_of_a_skip_is_in_no_window),
    cmocka_unit_test (networks_that_can_do_both_skip_to_the_ps_where_one_ring_is_alone),
    cmocka_unit_test (what_does_not_repeat_goes_on_beside),
    cmocka_unit_test (rings_of_one_collective_go_on_at_their_own_paces),
    cmocka_unit_test (skips_of_before_are_made_again),
    cmocka_unit_test (machines_that_are_not_folded_are_played_whole),
  };

  return cmocka_run_group_tests_name ("ring_skips", tests, NULL, NULL);
}
