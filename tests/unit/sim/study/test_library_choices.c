/* SPDX-License-Identifier: Apache-2.0 */
/* test_library_choices.c - what the library chose for two points, as a text of a file and in words. */
#include "tests/support/test.h"

#include "sim/study/choice_changes.h"

static const char
    before_text[] = "all_reduce data 41000000 nvls_tree simple 16 1.5;all_gather data 1000 ring ll 2 0.001",
    after_text[] = "all_reduce data 41000000 ring simple 64 1.25;all_gather data 1000 tree ll 2 0.001";

static FabPoint
point (const char *text, double step_s, double compute_s, double exposed_s)
{
  return (FabPoint){
    .step_s = step_s, .compute_s = compute_s, .exposed_s = exposed_s, .choices = fab_choices_read (text)
  };
}

static void
a_list_is_read_as_it_was_written (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) choices = fab_choices_read (before_text);
  g_autofree char *text = fab_choices_write (choices);

  assert_int_equal (choices->len, 2);
  assert_string_equal (text, before_text);
  assert_null (fab_choices_read (NULL));
  assert_null (fab_choices_read ("all_reduce data"));
}

/* The all-gather takes less than 5 % of the time, so that nothing is said of it. */
static void
the_largest_changes_are_told (G_GNUC_UNUSED void **state)
{
  FabPoint before = point (before_text, 0.3126, 0.26, 0.05), after = point (after_text, 0.3427, 0.291, 0.049);
  g_autoptr (GArray) changes = fab_choice_changes (&before, &after);

  assert_int_equal (changes->len, 1);
  const FabChoiceChange *change = &g_array_index (changes, FabChoiceChange, 0);
  g_autofree char *words = fab_choice_words (change), *reason = fab_choice_reason (&before, &after, change);
  assert_string_equal (words, "all_reduce of 41 MB by ring with 64 channels in place of nvls_tree with 16");
  assert_string_equal (reason,
                       "64 channels occupy multiprocessors in place of 16, and compute takes 31 ms longer");
  assert_near (fab_choice_slowdown (&before, &after), 0.3427 / 0.3126 - 1, 1e-12);
  assert_true (fab_choice_slowdown (&after, &before) <= 0);
  g_array_unref (before.choices);
  g_array_unref (after.choices);
}

/* As of a point that was read back from an older file. */
static void
nothing_is_said_where_a_list_is_not_known (G_GNUC_UNUSED void **state)
{
  FabPoint before = point (before_text, 1, 1, 0), unknown = point (NULL, 2, 2, 0);
  g_autoptr (GArray) changes = fab_choice_changes (&unknown, &before);

  assert_int_equal (changes->len, 0);
  g_array_unref (before.choices);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_list_is_read_as_it_was_written),
    cmocka_unit_test (the_largest_changes_are_told),
    cmocka_unit_test (nothing_is_said_where_a_list_is_not_known),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
