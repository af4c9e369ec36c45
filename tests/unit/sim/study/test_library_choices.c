/* SPDX-License-Identifier: Apache-2.0 */
/* test_library_choices.c - what the library chose for two points, as a text of a file and in words. */
#include "tests/support/test.h"

#include "sim/run/run.h"
#include "sim/study/choice_changes.h"
#include "tests/support/play.h"

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
  assert_near (fab_choice_slowdown (&after, &before), 0, 0);
  before.step_s = 0; /* as of a point that was not simulated */
  assert_near (fab_choice_slowdown (&before, &after), 0, 0);
  assert_near (fab_choice_slowdown (&after, &before), 0, 0);
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

/* Another collective takes up what is left of 10 s on both sides, so that 5 % are 0.5 s before and after. A change is
 * told when it reaches that on either side; the same choice, and work that only one side has, are no change. Of one
 * work the choice that takes longest, the first of the list, counts. */
static void
a_change_is_told_from_five_percent_on (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *before, *after;
    guint n;
  } rows[] = {
    { "broadcast data 8 ring simple 4 9.4;all_gather data 1000 ring ll 2 0.6",
      "broadcast data 8 ring simple 4 9.6;all_gather data 1000 tree ll 2 0.4", 1 },
    { "broadcast data 8 ring simple 4 9.6;all_gather data 1000 ring ll 2 0.4",
      "broadcast data 8 ring simple 4 9.4;all_gather data 1000 tree ll 2 0.6", 1 },
    { "broadcast data 8 ring simple 4 9.6;all_gather data 1000 ring ll 2 0.4",
      "broadcast data 8 ring simple 4 9.6;all_gather data 1000 tree ll 2 0.4", 0 },
    { "broadcast data 8 ring simple 4 5;all_gather data 1000 ring ll 2 5",
      "broadcast data 8 ring simple 4 5;all_gather data 1000 ring ll128 2 5", 1 },
    { "broadcast data 8 ring simple 4 5;all_gather data 1000 ring ll 2 5",
      "broadcast data 8 ring simple 4 5;all_gather data 1000 ring ll 3 5", 1 },
    { "broadcast data 8 ring simple 4 5;all_gather data 1000 ring ll 2 5",
      "broadcast data 8 ring simple 4 6;all_gather data 1000 ring ll 2 4", 0 },
    { "all_gather data 1000 ring ll 2 5", "all_gather tensor 1000 tree ll 2 5", 0 },
    { "all_gather data 1000 ring ll 2 5", "all_gather data 2000 tree ll 2 5", 0 },
    { "all_gather data 1000 ring ll 2 5", "reduce_scatter data 1000 tree ll 2 5", 0 },
    { "all_gather data 1000 ring ll 2 5", "all_gather data 1000 ring ll 2 3;all_gather data 1000 tree ll 2 2",
      0 },
    { "all_gather data 1000 ring ll 2 3;all_gather data 1000 tree ll 2 2", "all_gather data 1000 tree ll 2 5",
      1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabPoint before = point (rows[i].before, 1, 1, 0), after = point (rows[i].after, 1, 1, 0);
    g_autoptr (GArray) changes = fab_choice_changes (&before, &after);

    if (changes->len != rows[i].n)
      fail_msg ("%s to %s: %u changes", rows[i].before, rows[i].after, changes->len);
    g_array_unref (before.choices);
    g_array_unref (after.choices);
  }
}

/* More channels are a reason only where compute grows more than what is exposed. A step that is less than a percent
 * longer is not slower. */
static void
the_reason_is_what_grew_most (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *after;
    double step_s, compute_s, exposed_s;
    const char *words, *reason;
    double slowdown;
  } rows[] = {
    { "all_gather data 1000 tree ll 1 5", 2, 1.5, 0.25,
      "all_gather of 1 kB by tree with 1 channel in place of ring with 2",
      "compute takes 500 ms longer beside these collectives", 1 },
    { "all_gather data 1000 ring ll128 3 5", 1.5, 1.25, 0.5,
      "all_gather of 1 kB by ring ll128 with 3 channels in place of ring ll with 2",
      "500 ms more of the communication is exposed", 0.5 },
    { "all_gather data 1000 ring ll128 3 5", 1.5, 1.25, 0.25,
      "all_gather of 1 kB by ring ll128 with 3 channels in place of ring ll with 2",
      "250 ms more of the communication is exposed", 0.5 },
    { "all_gather data 1000 ring ll 3 5", 1.009, 1.5, 0.25,
      "all_gather of 1 kB by ring with 3 channels in place of ring with 2",
      "3 channels occupy multiprocessors in place of 2, and compute takes 500 ms longer", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabPoint before = point ("all_gather data 1000 ring ll 2 5", 1, 1, 0),
             after = point (rows[i].after, rows[i].step_s, rows[i].compute_s, rows[i].exposed_s);
    g_autoptr (GArray) changes = fab_choice_changes (&before, &after);

    assert_int_equal (changes->len, 1);
    const FabChoiceChange *change = &g_array_index (changes, FabChoiceChange, 0);
    g_autofree char *words = fab_choice_words (change), *reason = fab_choice_reason (&before, &after, change);
    assert_string_equal (words, rows[i].words);
    assert_string_equal (reason, rows[i].reason);
    assert_near (fab_choice_slowdown (&before, &after), rows[i].slowdown, 1e-12);
    g_array_unref (before.choices);
    g_array_unref (after.choices);
  }
}

/* The plain library has no protocols, and what is sent twice is one choice with both times. Sizes have two
 * digits, and what takes longest comes first. */
static void
choices_of_a_simulation (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) play = play_new (
      catalog,
      "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: send_recv, size: 1234567B},"
      " {op: all_reduce, size: 1GB}, {op: send_recv, size: 1234567B}]}\n",
      NULL);

  assert_true (fab_simulation_run (play->simulation, &(FabRunOptions){ 0 }, NULL));
  g_autoptr (GArray) choices = fab_choices_of (play->simulation);
  const GArray *records = fab_simulation_probe (play->simulation)->collectives;
  double seconds[2] = { 0, 0 };
  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *one = &g_array_index (records, FabCollectiveRecord, i);

    seconds[strcmp (one->op, "send_recv") == 0] += fab_ps_to_seconds (one->end_ps - one->start_ps);
  }
  assert_int_equal (records->len, 3);
  assert_int_equal (choices->len, 2);
  const FabChoice *reduced = &g_array_index (choices, FabChoice, 0),
                  *sent = &g_array_index (choices, FabChoice, 1);
  assert_string_equal (reduced->op, "all_reduce");
  assert_true (reduced->bytes == 1000000000);
  assert_near (reduced->seconds, seconds[0], 1e-12);
  assert_string_equal (sent->op, "send_recv");
  assert_string_equal (sent->protocol, "none");
  assert_string_equal (reduced->protocol, "none");
  assert_true (sent->bytes == 1200000);
  assert_near (sent->seconds, seconds[1], 1e-12);
}

/* Eighteen sizes of two digits, each longer than the one before: the sixteen that take longest are kept, those first.
 * What the offload of an optimizer moves has no channels, for no library chose how. */
static void
the_longest_of_what_a_library_chose_are_kept (G_GNUC_UNUSED void **state)
{
  enum { N_SIZES = 18, MOST = 16 };
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (GString) yaml = g_string_new (
      "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2}\ncollectives: plain\n"
      "job: {kind: collective, operations: [");

  for (guint i = 0; i < N_SIZES; i++)
    g_string_append_printf (yaml, "%s{op: send_recv, size: %uMB}", i > 0 ? ", " : "", 10 + i);
  g_string_append (yaml, "]}\n");
  g_autoptr (Play) many = play_new (catalog, yaml->str, NULL),
                   offload = play_new (
                       catalog,
                       "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2}\n"
                       "job: {kind: zero, stage: 2, offload: {optimizer: cpu}, model: gpt2-xl,\n"
                       "  micro_batch: 1, sequence: 1024}\n",
                       NULL);
  assert_true (fab_simulation_run (many->simulation, &(FabRunOptions){ 0 }, NULL));
  assert_true (fab_simulation_run (offload->simulation, &(FabRunOptions){ 0 }, NULL));
  g_autoptr (GArray) kept = fab_choices_of (many->simulation), moved = fab_choices_of (offload->simulation);
  const GArray *records = fab_simulation_probe (offload->simulation)->collectives;
  gboolean has_copies = FALSE;

  assert_int_equal (kept->len, MOST);
  for (guint i = 0; i < kept->len; i++)
    assert_int_equal (g_array_index (kept, FabChoice, i).bytes, (10 + N_SIZES - 1 - i) * 1000000);
  for (guint i = 0; i < records->len; i++)
    has_copies |= strcmp (g_array_index (records, FabCollectiveRecord, i).algorithm, "copy") == 0;
  assert_true (has_copies && moved->len > 0);
  for (guint i = 0; i < moved->len; i++) {
    assert_string_not_equal (g_array_index (moved, FabChoice, i).algorithm, "copy");
    assert_true (g_array_index (moved, FabChoice, i).n_channels > 0);
  }
}

/* A size has two digits, rounded to the nearest: 994 is 990 and 995 is 1000. */
static void
sizes_are_rounded_to_two_digits (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *size;
    FabBytes bytes;
  } rows[] = { { "99B", 99 },     { "100B", 100 },   { "994B", 990 },     { "995B", 1000 },
               { "1049B", 1000 }, { "1050B", 1100 }, { "99499B", 99000 }, { "99500B", 100000 } };
  g_autoptr (FabCatalog) catalog = play_catalog ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1}\ncollectives: plain\n"
        "job: {kind: collective, operations: [{op: send_recv, size: %s}]}\n",
        rows[i].size);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    assert_true (fab_simulation_run (play->simulation, &(FabRunOptions){ 0 }, NULL));
    g_autoptr (GArray) choices = fab_choices_of (play->simulation);
    assert_int_equal (choices->len, 1);
    assert_int_equal (g_array_index (choices, FabChoice, 0).bytes, rows[i].bytes);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_list_is_read_as_it_was_written),
    cmocka_unit_test (the_largest_changes_are_told),
    cmocka_unit_test (nothing_is_said_where_a_list_is_not_known),
    cmocka_unit_test (a_change_is_told_from_five_percent_on),
    cmocka_unit_test (the_reason_is_what_grew_most),
    cmocka_unit_test (choices_of_a_simulation),
    cmocka_unit_test (the_longest_of_what_a_library_chose_are_kept),
    cmocka_unit_test (sizes_are_rounded_to_two_digits),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
