/* SPDX-License-Identifier: Apache-2.0 */
/* test_study_text.c - what the pages of all studies say of the batch that is held, of seeds, and of prices.
 * The points are made here.
 */
#include "tests/support/test.h"

#include "cli/study/hold_text.h"
#include "cli/study/spread_text.h"
#include "cli/study/upgrade_text.h"

/* --- the batch that is held --- */

static void
assert_said (const char *hold, const FabHoldRange *range, const char *wanted)
{
  g_autoptr (GString) text = g_string_new (NULL);

  fab_hold_append_as (text, hold, ", WHY", range);
  assert_string_equal (text->str, wanted);
}

#define HELD                                                                                                    \
  "  The global batch is held at 64 sequences (strong scaling), WHY; --hold micro_batch lets it grow with the " \
  "ranks.\n"
#define GROWS \
  "  The global batch grows with the ranks, from 32 to 64 sequences (weak scaling); --hold batch holds it.\n"
#define EVERYWHERE "  The global batch is 64 sequences everywhere.\n"
#define EACH "  The global batch is from 32 to 64 sequences: each alternative has its own.\n"

/* With as many ranks everywhere, or without batches, there is nothing to say. */
static void
test_sentences_of_a_batch (G_GNUC_UNUSED void **state)
{
  const FabHoldRange one = { 8, 16, 64, 64, 0 }, several = { 8, 16, 32, 64, 0 }, none = { 8, 16, 0, 0, 0 },
                     same = { 8, 8, 32, 64, 0 }, empty = { 0 };

  assert_said ("batch", &one, HELD);
  assert_said ("micro_batch", &several, GROWS);
  assert_said ("micro_batch", &one, EVERYWHERE);
  assert_said (NULL, &one, EVERYWHERE);
  assert_said ("batch", &several, EACH);
  assert_said (NULL, &several, EACH);
  for (guint i = 0; i < 3; i++) {
    const char *hold = i == 0 ? NULL : i == 1 ? "batch" : "micro_batch";

    assert_said (hold, &none, "");
    assert_said (hold, &same, "");
    assert_said (hold, &empty, "");
  }
}

static void
assert_study_says (const FabStudy *study, const FabHoldRange *range, const char *wanted)
{
  g_autoptr (GString) text = g_string_new (NULL);

  fab_hold_append (text, study, range);
  assert_string_equal (text->str, wanted);
}

/* Of a job whose GPUs have a micro-batch each, which writes no global batch down. */
static void
test_why_a_batch_is_held (G_GNUC_UNUSED void **state)
{
  FabStudy study = { .hold = FAB_HOLD_BATCH, .batch = { .n_gpus = 8, .micro_batch = 1 } };
  FabHoldRange range = { 8, 16, 64, 64, 0 }, one_is_left = { 8, 8, 64, 64, 1 };

#define SAYS(why_)                                                   \
  "  The global batch is held at 64 sequences (strong scaling)" why_ \
  "; --hold micro_batch lets it grow with the ranks.\n"
  assert_study_says (&study, &range, SAYS (""));
  study.hold = FAB_HOLD_WRITTEN;
  assert_study_says (&study, &range, EVERYWHERE);
  study.batch.global_batch = 64;
  assert_study_says (&study, &range, SAYS (", because the job writes it down"));
  assert_study_says (&study, &one_is_left, "");
  assert_study_says (NULL, &range, EVERYWHERE);
  assert_study_says (NULL, &one_is_left, "");

  /* Held for a figure, a batch that cannot be divided leaves variants out, which is said of a single variant too. */
  study.hold = FAB_HOLD_BATCH;
  study.held_for = fab_figure_find ("train");
  assert_study_says (&study, &range, SAYS (", because train is of the whole training"));
  assert_study_says (&study, &one_is_left, SAYS (", because train is of the whole training"));
  assert_study_says (&study, &(FabHoldRange){ 1, 1, 64, 64, 2 },
                     SAYS (", because train is of the whole training"));
  assert_study_says (&study, &(FabHoldRange){ 8, 8, 64, 64, 0 }, "");
  assert_study_says (&study, &(FabHoldRange){ 0, 0, 0, 0, 3 }, "");
}

/* Every row counts, and those that could not be simulated have no batch. */
static void
test_the_batch_of_a_table (G_GNUC_UNUSED void **state)
{
  const char *const columns[] = { "value", NULL };
  const FabPoint all[] = { { .n_ranks = 8, .global_batch = 64 },
                           { .n_ranks = 4, .global_batch = 32 },
                           { .n_ranks = 6, .global_batch = 48 } };

  for (guint n = 0; n <= 3; n++) {
    g_autoptr (FabPoints) points = fab_points_new (columns, 1, 0, NULL);
    g_autoptr (GString) text = g_string_new (NULL);

    for (guint i = 0; i < n; i++) {
      fab_points_add (points, (char *[]){ g_strdup ("a") }, &all[i], NULL);
      fab_points_add (points, (char *[]){ g_strdup ("b") }, NULL, "It is impossible.");
    }
    fab_hold_append_points (text, NULL, points);
    assert_string_equal (text->str, n < 2 ? "" : EACH);
  }
}

/* Forgets the error, which begins with these words. */
static void
assert_refused (gboolean is_taken, GError **error, const char *words)
{
  assert_false (is_taken);
  assert_non_null (*error);
  assert_true (g_str_has_prefix ((*error)->message, words));
  g_clear_error (error);
}

static void
test_the_option_hold (G_GNUC_UNUSED void **state)
{
  FabStudy study = { .batch = { .n_gpus = 8, .micro_batch = 1 } };
  const FabFigure *const train[] = { fab_figure_find ("step"), fab_figure_find ("train") };
  GError *error = NULL;

  assert_true (fab_hold_take (&study, "batch", train, 2, &error));
  assert_int_equal (study.hold, FAB_HOLD_BATCH);
  assert_null (study.held_for); /* a person asked for it */
  assert_true (fab_hold_take (&study, "micro_batch", NULL, 0, &error));
  assert_int_equal (study.hold, FAB_HOLD_MICRO_BATCH);
  assert_true (fab_hold_take (&study, NULL, train, 2, &error));
  assert_int_equal (study.hold, FAB_HOLD_BATCH);
  assert_ptr_equal (study.held_for, train[1]);
  assert_true (fab_hold_take (&study, NULL, train, 1, &error));
  assert_int_equal (study.hold, FAB_HOLD_WRITTEN);
  assert_null (study.held_for);

  assert_refused (fab_hold_take (&study, "all", NULL, 0, &error), &error, "--hold: 'all' cannot be held; ");
  study.batch.micro_batch = 0;
  assert_refused (fab_hold_take (&study, "batch", NULL, 0, &error), &error,
                  "--hold batch: the job has no batch");
  assert_true (fab_hold_take (&study, "micro_batch", NULL, 0, &error));
}

/* --- seeds --- */

static void
test_the_option_seeds (G_GNUC_UNUSED void **state)
{
  static const char *const refused[][2] = { { "0", "--seeds 0: give a number from 1 to 10000" },
                                            { "10001", "--seeds 10001: give a number from 1 to 10000" },
                                            { "-1", "--seeds -1: " },
                                            { "many", "--seeds many: 'many' is not a whole number" } };
  static const guint taken[] = { 1, 2, 9999, 10000 };
  GError *error = NULL;
  guint n = 77;

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    assert_refused (fab_spread_parse (refused[i][0], 3, &n, &error), &error, refused[i][1]);
    assert_int_equal (n, 77);
  }
  for (guint i = 0; i < G_N_ELEMENTS (taken); i++) {
    g_autofree char *text = g_strdup_printf ("%u", taken[i]);

    assert_true (fab_spread_parse (text, 3, &n, &error));
    assert_int_equal (n, taken[i]);
  }
  assert_true (fab_spread_parse (NULL, 3, &n, &error));
  assert_int_equal (n, 3);
  assert_true (fab_spread_parse (NULL, FAB_SPREAD_AUTO, &n, &error));
  assert_int_equal (n, 0);
}

/* A point of `n` seeds, whose median is itself the one with `median_s`. */
static FabPoint
point_of (FabPoint *draws, guint n, double median_s)
{
  FabPoint point = { .step_s = median_s };

  point.draws = g_ptr_array_new ();
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (point.draws, &draws[i]);
  return point;
}

static void
assert_shown (const char *figure, const FabPoint *point, const char *wanted)
{
  g_autofree char *shown = fab_spread_show (fab_figure_find (figure), point);

  assert_string_equal (shown, wanted);
}

static void
test_ranges_over_seeds (G_GNUC_UNUSED void **state)
{
  FabPoint draws[] = { { .step_s = 2, .exposed_s = 0.5, .compute_s = 1 },
                       { .step_s = 1, .exposed_s = 0.125, .compute_s = 1 },
                       { .step_s = 4, .exposed_s = 2.5, .compute_s = 1 } };
  FabPoint alone = { .step_s = 2 }, point = point_of (draws, 3, 2), one = point_of (draws, 1, 2);

  assert_shown ("step", &point, "1 s to 4 s");
  assert_shown ("exposed", &point, "12.5 to 62.5 %");
  assert_shown ("idle", &point, "the same");
  assert_shown ("tokens", &point, "-"); /* which the job has not */
  assert_shown ("step", &alone, "-");
  assert_shown ("step", &one, "-");
  assert_shown ("step", NULL, "-");
  g_ptr_array_unref (point.draws);
  g_ptr_array_unref (one.draws);
}

static void
test_the_note_on_seeds (G_GNUC_UNUSED void **state)
{
  for (guint n = 0; n < 4; n++) {
    g_autoptr (GString) text = g_string_new (NULL);
    g_autofree char *wanted = n < 2
                                ? g_strdup ("")
                                : g_strdup_printf (
                                    "\n  medians and ranges of %u seeds; changes are those of the same seed, "
                                    "and their median\n",
                                    n);

    fab_spread_append_note (text, n);
    assert_string_equal (text->str, wanted);
  }
}

/* The members that `add` writes into an object. (transfer full) */
static char *
spread_json (const FabPoint *base, const FabPoint *point)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);

  fab_json_begin_object (json, NULL);
  if (base == NULL)
    fab_spread_add (json, point);
  else
    fab_spread_add_change (json, base, point);
  fab_json_end (json);
  return fab_json_text (json);
}

static void
assert_json (const FabPoint *base, const FabPoint *point, const char *wanted)
{
  g_autofree char *text = spread_json (base, point), *quoted = g_strdelimit (g_strdup (wanted), "'", '"');

  assert_string_equal (text, quoted);
}

/* A sweep that was read back has the times of every seed, and of other figures the median alone. */
static void
test_spreads_for_programs (G_GNUC_UNUSED void **state)
{
  FabPoint draws[] = { { .step_s = 2, .exposed_s = 0.5 },
                       { .step_s = 1, .exposed_s = 0.125 },
                       { .step_s = 4, .exposed_s = 2.5 } };
  FabPoint alone = { .step_s = 2 }, point = point_of (draws, 3, 2);

  assert_json (NULL, &alone, "{}");
  g_autofree char *all = spread_json (NULL, &point);
  assert_true (
      g_str_has_prefix (all, "{\"spread\":{\"seeds\":3,\"step_s\":{\"low\":1,\"median\":2,\"high\":4},"));
  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++) {
    g_autofree char *key = g_strdup_printf ("\"%s\":{", figure->column);
    gboolean is_known = figure->is_known == NULL || figure->is_known (&point);

    assert_int_equal (strstr (all, key) != NULL, is_known);
  }
  point.has_only_times = TRUE;
  assert_json (NULL, &point,
               "{'spread':{'seeds':3,'step_s':{'low':1,'median':2,'high':4},"
               "'exposed_fraction':{'low':0.125,'median':0.25,'high':0.625},"
               "'exposed_s':{'low':0.125,'median':0.5,'high':2.5}}}");
  g_ptr_array_unref (point.draws);
}

static void
test_changes_for_programs (G_GNUC_UNUSED void **state)
{
  FabPoint before[] = { { .step_s = 2 }, { .step_s = 4 }, { .step_s = 1 }, { .step_s = 1 } };
  FabPoint after[] = { { .step_s = 1 }, { .step_s = 4 }, { .step_s = 0.25 }, { .step_s = 0.5 } };
  FabPoint later[] = { { .step_s = 1 }, { .step_s = 5 }, { .step_s = 1.5 }, { .step_s = 0.5 } };
  FabPoint base = point_of (before, 4, 2), point = point_of (after, 4, 1), mixed = point_of (later, 4, 1),
           alone = { .step_s = 2 };

  assert_json (&alone, &alone, "{}");
  assert_json (&base, &point,
               "{'difference':{'seeds':4,'low_fraction':-0.75,'median_fraction':-0.5,'high_fraction':0,"
               "'faster':3,'equal':1,'slower':0,'counts':true}}");
  assert_json (&base, &mixed,
               "{'difference':{'seeds':4,'low_fraction':-0.5,'median_fraction':-0.125,'high_fraction':0.5,"
               "'faster':2,'equal':0,'slower':2,'counts':false}}");
  g_ptr_array_unref (base.draws);
  g_ptr_array_unref (point.draws);
  g_ptr_array_unref (mixed.draws);
}

/* --- prices and bands of changes --- */

static void
test_prices_of_changes (G_GNUC_UNUSED void **state)
{
  static const struct {
    double usd;
    const char *shown;
  } rows[] = {
    { -1, "no price" }, { -0.001, "no price" }, { 0, "nothing" }, { 1, "$1" }, { 12800, "$12.8k" }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *shown = fab_upgrade_show_price (rows[i].usd);

    assert_string_equal (shown, rows[i].shown);
  }
}

static void
test_bands_of_changes (G_GNUC_UNUSED void **state)
{
  FabUpgrade upgrade = { .low_fraction = 0.1484,
                         .high_fraction = 0.365,
                         .paired = { .coverage_fraction = 0.9, .change.n = 8 } };
  g_autofree char *known = fab_upgrade_show_band (&upgrade);

  assert_string_equal (known, "14.8 to 36.5 %");
  upgrade.paired.change.n = 0;
  g_autofree char *unknown = fab_upgrade_show_band (&upgrade);
  assert_string_equal (unknown, "-");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_sentences_of_a_batch), cmocka_unit_test (test_why_a_batch_is_held),
    cmocka_unit_test (test_the_option_hold),      cmocka_unit_test (test_the_option_seeds),
    cmocka_unit_test (test_ranges_over_seeds),    cmocka_unit_test (test_the_note_on_seeds),
    cmocka_unit_test (test_spreads_for_programs), cmocka_unit_test (test_changes_for_programs),
    cmocka_unit_test (test_prices_of_changes),    cmocka_unit_test (test_bands_of_changes),
    cmocka_unit_test (test_the_batch_of_a_table),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
