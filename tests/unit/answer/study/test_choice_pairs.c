/* SPDX-License-Identifier: Apache-2.0 */
/* test_choice_pairs.c - what is said of neighbours between which the library chooses otherwise. */
#include "tests/support/test.h"

#include "answer/study/choices.h"
#include "tests/support/random.h"

static const char nvls[] = "all_reduce data 41000000 nvls_tree simple 16 1.5",
                  ring[] = "all_reduce data 41000000 ring simple 64 1.25",
                  tree[] = "all_reduce data 41000000 tree simple 16 1.4";

static FabPoint
point (const char *text, double step_s, double compute_s)
{
  return (FabPoint){
    .step_s = step_s, .compute_s = compute_s, .exposed_s = 0.05, .choices = fab_choices_read (text)
  };
}

typedef struct {
  FabPoint slow, fast, other;
  GArray *pairs;
} State;

static int
setup (void **state)
{
  State *self = g_new0 (State, 1);

  *self = (State){ point (nvls, 0.30, 0.25), point (ring, 0.33, 0.28), point (tree, 0.29, 0.24),
                   fab_choice_pairs_new () };
  *state = self;
  return 0;
}

static int
teardown (void **state)
{
  State *self = *state;

  g_array_unref (self->pairs);
  g_array_unref (self->slow.choices);
  g_array_unref (self->fast.choices);
  g_array_unref (self->other.choices);
  g_free (self);
  return 0;
}

static const FabChoiceLine *
line_at (const GArray *lines, guint i)
{
  return &g_array_index (lines, FabChoiceLine, i);
}

/* A faster rate with a longer step comes first, and says why; its step is 10 % longer. */
static void
the_worst_slowdown_is_first (void **state)
{
  State *self = *state;

  fab_choice_pairs_add (self->pairs, "cluster.nic_rate", "100Gb/s", &self->slow, "200Gb/s", &self->other);
  fab_choice_pairs_add (self->pairs, "cluster.nic_rate", "200Gb/s", &self->slow, "400Gb/s", &self->fast);
  g_autoptr (GArray) lines = fab_choice_lines (self->pairs), effects = fab_choice_effects (self->pairs);

  assert_int_equal (lines->len, 2);
  assert_true (g_str_has_prefix (line_at (lines, 0)->words, "from 400Gb/s on: all_reduce of 41 MB by ring"));
  assert_non_null (strstr (line_at (lines, 0)->words, "the step is 10.0 % longer"));
  assert_int_equal (effects->len, 2);
  assert_near (g_array_index (effects, FabChoiceEffect, 0).slowdown, 0, 0);
  assert_null (g_array_index (effects, FabChoiceEffect, 0).reason);
  assert_near (g_array_index (effects, FabChoiceEffect, 1).slowdown, 0.1, 1e-9);
}

static void
the_same_is_said_once (void **state)
{
  State *self = *state;

  for (guint i = 0; i < 3; i++)
    fab_choice_pairs_add (self->pairs, "job.bucket", "25MiB", &self->slow, "50MiB", &self->other);
  g_autoptr (GArray) lines = fab_choice_lines (self->pairs);

  assert_int_equal (lines->len, 1);
  assert_int_equal (line_at (lines, 0)->n, 3);
  assert_null (line_at (lines, 0)->beside);
}

/* What a person sets for the library is no news; nor is a neighbour that was not simulated. */
static void
some_pairs_are_not_told (void **state)
{
  State *self = *state;

  fab_choice_pairs_add (self->pairs, "collectives.library", "nccl", &self->slow, "mpi", &self->fast);
  fab_choice_pairs_add (self->pairs, "job.bucket", "25MiB", NULL, "50MiB", &self->fast);
  g_autoptr (GArray) lines = fab_choice_lines (self->pairs), effects = fab_choice_effects (self->pairs);

  assert_int_equal (self->pairs->len, 1);
  assert_int_equal (lines->len, 0);
  assert_int_equal (effects->len, 0);
}

/* --- what a change costs --- */

/* A step of 0.33 s in place of 0.30 s is 10 % longer. It is a slowdown where the rate, the number of NICs or the
 * latency became better, and nothing of another key, of a machine that became worse or that stayed, nor of values that
 * are no numbers. A shorter step is none. */
static void
a_longer_step_of_a_better_machine_is_a_slowdown (void **state)
{
  static const struct {
    const char *key, *before, *after;
    gboolean is_shorter;
    double slowdown;
  } cases[] = {
    { "cluster.nic_rate", "200Gb/s", "400Gb/s", FALSE, 0.1 },
    { "cluster.nic_rate", "200Gb/s", "400Gb/s", TRUE, 0 },
    { "cluster.nic_rate", "400Gb/s", "200Gb/s", FALSE, 0 },
    { "cluster.nic_rate", "400Gb/s", "400Gb/s", FALSE, 0 },
    { "cluster.nics_per_node", "4", "8", FALSE, 0.1 },
    { "cluster.nics_per_node", "4", "4.5", FALSE, 0.1 },
    { "links.0.rate", "4", "8", FALSE, 0.1 },
    { "rate", "4", "8", FALSE, 0.1 },
    { "links.0.latency", "2us", "1us", FALSE, 0.1 },
    { "latency", "2us", "1.5us", FALSE, 0.1 },
    { "links.0.latency", "1us", "2us", FALSE, 0 },
    { "job.bucket", "25MiB", "50MiB", FALSE, 0 },
    { "job.bucket", "50MiB", "25MiB", FALSE, 0 },
    { "cluster.nic_rate", "slow", "400Gb/s", FALSE, 0 },
    { "cluster.nic_rate", "200Gb/s", "fast", FALSE, 0 },
  };
  State *self = *state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    fab_choice_pairs_add (self->pairs, cases[i].key, cases[i].before,
                          cases[i].is_shorter ? &self->fast : &self->slow, cases[i].after,
                          cases[i].is_shorter ? &self->slow : &self->fast);
  g_autoptr (GArray) effects = fab_choice_effects (self->pairs);
  assert_int_equal (effects->len, G_N_ELEMENTS (cases));
  for (guint i = 0; i < effects->len; i++) {
    const FabChoiceEffect *effect = &g_array_index (effects, FabChoiceEffect, i);

    assert_ptr_equal (effect->pair, &g_array_index (self->pairs, FabChoicePair, i));
    if (!is_near (effect->slowdown, cases[i].slowdown, 1e-9))
      fail_msg ("case %u: %g", i, effect->slowdown);
    assert_int_equal (effect->reason != NULL, cases[i].slowdown > 0);
  }
  assert_string_equal (g_array_index (effects, FabChoiceEffect, 0).reason,
                       "64 channels occupy multiprocessors in place of 16, and compute takes 30 ms longer");
}

/* --- what is said --- */

/* A number that follows its neighbour's begins at that value; where values between were not tried it lies between; and
 * what is no number stands in place of the other. The largest change is told, and how many more there are. */
static void
words_follow_the_values (void **state)
{
  static const char change[] = "all_reduce of 41 MB by ring with 64 channels in place of nvls_tree with 16";
  static const struct {
    const char *before, *after;
    gboolean is_apart;
    const char *beginning;
  } cases[] = {
    { "25MiB", "50MiB", FALSE, "from 50MiB on: " },
    { "25MiB", "50MiB", TRUE, "between 25MiB and 50MiB: " },
    { "none", "50MiB", FALSE, "50MiB in place of none: " },
    { "25MiB", "all", TRUE, "all in place of 25MiB: " },
  };
  State *self = *state;
  FabPoint before = point (
               "all_reduce data 41000000 nvls_tree simple 16 1.5;all_gather data 1000000 ring ll 8 1.2", 0.30,
               0.25),
           after = point (
               "all_reduce data 41000000 ring simple 64 1.25;all_gather data 1000000 ring ll128 8 1.2", 0.30,
               0.25);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GArray) pairs = fab_choice_pairs_new ();
    g_autofree char *wanted = g_strconcat (cases[i].beginning, change, NULL);
    g_autofree char *several = g_strconcat (wanted, ", and 1 more", NULL);

    fab_choice_pairs_add (pairs, "job.bucket", cases[i].before, &self->slow, cases[i].after, &self->fast);
    fab_choice_pairs_add (pairs, "job.bucket", cases[i].before, &before, cases[i].after, &after);
    for (guint k = 0; k < 2; k++)
      g_array_index (pairs, FabChoicePair, k).is_apart = cases[i].is_apart;
    g_autoptr (GArray) lines = fab_choice_lines (pairs), effects = fab_choice_effects (pairs);
    assert_int_equal (lines->len, 2);
    assert_string_equal (line_at (lines, 0)->words, wanted);
    assert_string_equal (line_at (lines, 1)->words, several);
    assert_int_equal (line_at (lines, 0)->n, 1);
    assert_int_equal (effects->len, 3);
  }
  g_array_unref (before.choices);
  g_array_unref (after.choices);
}

/* Slowdowns come by their size, those that are none in the order of the pairs. What is said of one pair alone has its
 * other assignments. */
static void
lines_come_by_their_slowdown (void **state)
{
  State *self = *state;
  FabPoint slower = point (ring, 0.36, 0.31); /* 20 % longer */
  const char *const wanted[] = { "from 800Gb/s on", "from 600Gb/s on", "from 20MiB on", "from 10MiB on" };

  fab_choice_pairs_add (self->pairs, "job.bucket", "5MiB", &self->slow, "20MiB", &self->fast);
  fab_choice_pairs_add (self->pairs, "cluster.nic_rate", "200Gb/s", &self->slow, "600Gb/s", &self->fast);
  fab_choice_pairs_add (self->pairs, "job.bucket", "5MiB", &self->slow, "10MiB", &self->other);
  fab_choice_pairs_add (self->pairs, "cluster.nic_rate", "200Gb/s", &self->slow, "800Gb/s", &slower);
  for (guint i = 0; i < 4; i++)
    g_array_index (self->pairs, FabChoicePair, i).beside = g_strdup_printf ("number=%u", i);
  g_autoptr (GArray) lines = fab_choice_lines (self->pairs);
  assert_int_equal (lines->len, 4);
  for (guint i = 0; i < 4; i++) {
    static const char *const besides[] = { "number=3", "number=1", "number=0", "number=2" };

    assert_true (g_str_has_prefix (line_at (lines, i)->words, wanted[i]));
    assert_string_equal (line_at (lines, i)->beside, besides[i]);
  }
  assert_true (
      g_str_has_suffix (line_at (lines, 0)->words,
                        ";\n    the step is 20.0 % longer, because 64 channels occupy multiprocessors in "
                        "place of 16, and compute takes 60 ms longer"));
  assert_null (strstr (line_at (lines, 2)->words, "the step is"));
  g_array_unref (slower.choices);
}

/* --- of a grid --- */

/* Pairs of an axis, by the coordinates of its points. */
static guint
assert_pairs_of_axis (const GArray *pairs, guint at, guint axis, const FabPoint *const *points)
{
  static const char *const values[3][4] = { { "100Gb/s", "200Gb/s" },
                                            { "1", "2", "3", "4" },
                                            { "5MiB", "6MiB", "7MiB" } };
  static const char *const keys[] = { "cluster.nic_rate", "job.micro_batch", "job.bucket" };
  static const guint n[] = { 2, 4, 3 };

  for (guint p = 0; p < 24; p++) {
    const guint items[] = { p / 12, p / 3 % 4, p % 3 };
    guint next = p + (axis == 0 ? 12 : axis == 1 ? 3 : 1);
    g_autofree char *beside = NULL;

    if (items[axis] + 1 == n[axis] || points[p] == NULL || points[next] == NULL
        || points[p]->choices == points[next]->choices)
      continue;
    if (axis == 0)
      beside = g_strdup_printf ("job.micro_batch=%s, job.bucket & job.sequence=%s & %u", values[1][items[1]],
                                values[2][items[2]], 256 << items[2]);
    else if (axis == 1)
      beside = g_strdup_printf ("cluster.nic_rate=%s, job.bucket & job.sequence=%s & %u", values[0][items[0]],
                                values[2][items[2]], 256 << items[2]);
    else
      beside = g_strdup_printf ("cluster.nic_rate=%s, job.micro_batch=%s", values[0][items[0]],
                                values[1][items[1]]);
    assert_true (at < pairs->len);
    const FabChoicePair *pair = &g_array_index (pairs, FabChoicePair, at++);
    assert_string_equal (pair->key, keys[axis]);
    assert_string_equal (pair->before_value, values[axis][items[axis]]);
    assert_string_equal (pair->after_value, values[axis][items[axis] + 1]);
    assert_string_equal (pair->beside, beside);
    assert_ptr_equal (pair->before, points[p]);
    assert_ptr_equal (pair->after, points[next]);
    assert_false (pair->is_apart);
  }
  return at;
}

/* Of 2 x 4 x 3 points, of which the last axis changes fastest, those are pairs that differ by one item of one axis
 * and in what the library chose. Points that could not be played are in none. */
static void
neighbours_of_a_grid (void **state)
{
  static const char *const vary[] = { "cluster.nic_rate=100Gb/s,200Gb/s", "job.micro_batch=1..4", NULL },
                           *const zip[] = { "job.bucket=5MiB,6MiB,7MiB job.sequence=256,512,1024", NULL };
  const State *self = *state;
  g_autoptr (FabGrid) grid = fab_grid_new (vary, zip, NULL);
  const FabPoint *const all[] = { &self->slow, &self->fast, &self->other, NULL };

  assert_int_equal (grid->n_points, 24);
  for (guint64 seed = 1; seed <= 50; seed++) {
    Random random = { seed };
    g_autoptr (GArray) pairs = fab_choice_pairs_new ();
    const FabPoint *points[24];
    guint n = 0;

    for (guint p = 0; p < 24; p++)
      points[p] = all[random_below (&random, G_N_ELEMENTS (all))];
    fab_choice_pairs_add_grid (pairs, grid, points);
    for (guint axis = 0; axis < 3; axis++)
      n = assert_pairs_of_axis (pairs, n, axis, points);
    assert_int_equal (pairs->len, n);
  }
}

/* Where one key varies, nothing stands beside it. */
static void
a_single_axis_has_nothing_beside (void **state)
{
  static const char *const vary[] = { "job.bucket=5MiB,6MiB", NULL };
  const State *self = *state;
  g_autoptr (FabGrid) grid = fab_grid_new (vary, NULL, NULL);
  g_autoptr (GArray) pairs = fab_choice_pairs_new ();

  fab_choice_pairs_add_grid (pairs, grid, (const FabPoint *const[]){ &self->slow, &self->fast });
  assert_int_equal (pairs->len, 1);
  assert_null (g_array_index (pairs, FabChoicePair, 0).beside);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (a_longer_step_of_a_better_machine_is_a_slowdown, setup, teardown),
    cmocka_unit_test_setup_teardown (words_follow_the_values, setup, teardown),
    cmocka_unit_test_setup_teardown (lines_come_by_their_slowdown, setup, teardown),
    cmocka_unit_test_setup_teardown (neighbours_of_a_grid, setup, teardown),
    cmocka_unit_test_setup_teardown (a_single_axis_has_nothing_beside, setup, teardown),
    cmocka_unit_test_setup_teardown (the_worst_slowdown_is_first, setup, teardown),
    cmocka_unit_test_setup_teardown (the_same_is_said_once, setup, teardown),
    cmocka_unit_test_setup_teardown (some_pairs_are_not_told, setup, teardown),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
