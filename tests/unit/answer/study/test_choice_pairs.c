/* SPDX-License-Identifier: Apache-2.0 */
/* test_choice_pairs.c - what is said of neighbours between which the library chooses otherwise. */
#include "tests/support/test.h"

#include "answer/study/choices.h"

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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (the_worst_slowdown_is_first, setup, teardown),
    cmocka_unit_test_setup_teardown (the_same_is_said_once, setup, teardown),
    cmocka_unit_test_setup_teardown (some_pairs_are_not_told, setup, teardown),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
