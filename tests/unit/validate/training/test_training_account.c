/* SPDX-License-Identifier: Apache-2.0 */
/* test_training_account.c - which rows each account of a report is of, over rows of all kinds that are made at random:
 * both sides of every threshold, and every way to divide a model. */
#include "tests/support/random.h"
#include "tests/support/test.h"
#include "validate/training/report_parts.h"

enum { N_RESULTS = 3, N_ROWS = 1500 };

static const char *const strategies[] = { "tp", "dp", "3d" },
                         *const generations[] = { "hopper", NULL, "ampere", "blackwell" },
                         *const precisions[] = { "bf16", NULL, "fp8", "mxfp8", "nvfp4" };
static const guint gpus[] = { 8, 255, 256, 257, 1024 };

typedef struct {
  FabTrainingResult results[N_RESULTS];
  FabTrainingRow measured[N_RESULTS][N_ROWS];
  FabTrainingReport report;
} World;

static guint
factor (Random *random)
{
  static const guint factors[] = { 0, 1, 1, 1, 2, 7, 8, 9 };

  return factors[random_below (random, G_N_ELEMENTS (factors))];
}

static World *
world_new (void)
{
  World *self = g_new0 (World, 1);
  Random random = { 5 };

  self->report.results = g_ptr_array_new ();
  self->report.strategies = g_array_new (FALSE, FALSE, sizeof (FabTrainingAccount));
  self->report.divisions = g_array_new (FALSE, FALSE, sizeof (FabTrainingAccount));
  self->report.cases = g_array_new (FALSE, FALSE, sizeof (FabTrainingAccount));
  self->report.generations = g_array_new (FALSE, FALSE, sizeof (FabTrainingAccount));
  for (guint r = 0; r < N_RESULTS; r++) {
    FabTrainingResult *result = &self->results[r];

    result->rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingComparison));
    result->n_skipped = 1 + r;
    result->directions = (FabDirections){ 10 + r, 20 + r, 30 + r, 40 + r };
    g_ptr_array_add (self->report.results, result);
    for (guint i = 0; i < N_ROWS; i++) {
      FabTrainingRow *measured = &self->measured[r][i];

      *measured = (FabTrainingRow){ .strategy = strategies[random_below (&random, 1 + r)],
                                    .doubtful = random_chance (&random, 20) ? "twice" : NULL,
                                    .gpus = gpus[random_below (&random, G_N_ELEMENTS (gpus))] };
      FabTrainingComparison row = {
        .measured = measured,
        .role = (FabRunRole) random_below (&random, FAB_N_RUN_ROLES),
        .traits = { .tensor = factor (&random),
                    .pipeline = factor (&random),
                    .expert = factor (&random),
                    .context = factor (&random),
                    .micro_batch = random_between (&random, 1, 3),
                    .is_sequence = random_chance (&random, 50),
                    .generation = generations[random_below (&random, 2 + r)],
                    .precision = precisions[random_below (&random, G_N_ELEMENTS (precisions))] },
        .error_fraction = random_unit (&random) - 0.5,
        .is_calibration = random_chance (&random, 50),
        .blind = { .is_predicted = random_chance (&random, 70),
                   .error_fraction = random_unit (&random) - 0.5,
                   .is_inside = random_chance (&random, 50) },
      };
      g_array_append_val (result->rows, row);
    }
  }
  return self;
}

static void
world_free (World *self)
{
  for (guint r = 0; r < N_RESULTS; r++)
    g_array_unref (self->results[r].rows);
  g_ptr_array_unref (self->report.results);
  g_array_unref (self->report.strategies);
  g_array_unref (self->report.divisions);
  g_array_unref (self->report.cases);
  g_array_unref (self->report.generations);
  g_free (self);
}

/* --- the rows of each account --- */

typedef gboolean (*Picks) (const FabTrainingComparison *row, const char *name);

static gboolean
is_any (G_GNUC_UNUSED const FabTrainingComparison *row, G_GNUC_UNUSED const char *name)
{
  return TRUE;
}

static gboolean
is_large (const FabTrainingComparison *row, G_GNUC_UNUSED const char *name)
{
  return row->measured->gpus > 256;
}

static gboolean
is_of_strategy (const FabTrainingComparison *row, const char *name)
{
  return strcmp (row->measured->strategy, name) == 0;
}

static gboolean
is_of_generation (const FabTrainingComparison *row, const char *name)
{
  return row->traits.generation != NULL && strcmp (row->traits.generation, name) == 0;
}

static gboolean
is_of_division (const FabTrainingComparison *row, const char *name)
{
  static const char *const names[] = { "TP", "PP", "EP", "CP" };
  const guint factors[] = { row->traits.tensor, row->traits.pipeline, row->traits.expert,
                            row->traits.context };
  guint n_divided = 0;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    n_divided += factors[i] >= 2;
    if (strcmp (name, names[i]) == 0)
      return factors[i] >= 2;
  }
  return n_divided == 0;
}

static gboolean
is_of_case (const FabTrainingComparison *row, const char *name)
{
  const FabTrainingTraits *traits = &row->traits;
  const char *precision = traits->precision != NULL ? traits->precision : "";
  gboolean is_few = traits->micro_batch == 1 || traits->micro_batch == 2;
  const struct {
    const char *name;
    gboolean is_so;
  } cases[] = {
    { "TP 8 and more", traits->tensor >= 8 },
    { "TP 8 and more, 1-2 seqs", traits->tensor >= 8 && is_few },
    { "TP whole seqs, 1-2 seqs", traits->tensor >= 2 && !traits->is_sequence && is_few },
    { "FP8", strcmp (precision, "fp8") == 0 || strcmp (precision, "mxfp8") == 0 },
    { "FP4", strcmp (precision, "nvfp4") == 0 },
    { "experts divided", traits->expert >= 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (strcmp (cases[i].name, name) == 0)
      return cases[i].is_so;
  fail_msg ("%s", name);
  return FALSE;
}

/* --- checks --- */

/* Rows of these results, and what they are to be summed up to. */
typedef struct {
  const World *world;
  guint first, end;
  Picks picks;
  const char *name;
} Rows;

static void
assert_errors (const FabErrors *found, GArray *errors, GArray *places)
{
  FabErrors right = fab_errors_of ((const double *) (gpointer) errors->data,
                                   (const FabBytes *) (gpointer) places->data, errors->len);

  assert_int_equal (found->n, errors->len);
  assert_near (found->median_fraction, right.median_fraction, 0);
  assert_near (found->bias_fraction, right.bias_fraction, 0);
  assert_near (found->max_fraction, right.max_fraction, 0);
  assert_int_equal (found->max_size_bytes, right.max_size_bytes);
  g_array_unref (errors);
  g_array_unref (places);
}

static void
assert_of_role (const FabErrors *found, const Rows *rows, FabRunRole role)
{
  GArray *errors = g_array_new (FALSE, FALSE, sizeof (double)),
         *places = g_array_new (FALSE, FALSE, sizeof (FabBytes));

  for (guint r = rows->first; r < rows->end; r++)
    for (guint i = 0; i < N_ROWS; i++) {
      const FabTrainingComparison *row = fab_training_row_of (&rows->world->results[r], i);
      FabBytes place = row->measured->gpus;

      if (row->role != role || !rows->picks (row, rows->name))
        continue;
      g_array_append_val (errors, row->error_fraction);
      g_array_append_val (places, place);
    }
  assert_errors (found, errors, places);
}

static void
assert_blind (const FabBlindErrors *found, const Rows *rows, gboolean is_calibration)
{
  GArray *errors = g_array_new (FALSE, FALSE, sizeof (double)),
         *places = g_array_new (FALSE, FALSE, sizeof (FabBytes));
  guint n_inside = 0;

  for (guint r = rows->first; r < rows->end; r++)
    for (guint i = 0; i < N_ROWS; i++) {
      const FabTrainingComparison *row = fab_training_row_of (&rows->world->results[r], i);
      FabBytes place = row->measured->gpus;

      if (row->role == FAB_RUN_SKIPPED || row->measured->doubtful != NULL || !row->blind.is_predicted
          || row->is_calibration != is_calibration || !rows->picks (row, rows->name))
        continue;
      n_inside += row->blind.is_inside ? 1 : 0;
      g_array_append_val (errors, row->blind.error_fraction);
      g_array_append_val (places, place);
    }
  assert_int_equal (found->n_inside, n_inside);
  assert_errors (&found->errors, errors, places);
}

static void
assert_accounts (const World *world, const GArray *accounts, const char *const *names, Picks picks)
{
  assert_int_equal (accounts->len, g_strv_length ((char **) names));
  for (guint i = 0; i < accounts->len; i++) {
    const FabTrainingAccount *account = &g_array_index (accounts, FabTrainingAccount, i);
    const Rows rows = { world, 0, N_RESULTS, picks, names[i] };

    assert_string_equal (account->name, names[i]);
    assert_of_role (&account->errors, &rows, FAB_RUN_JUDGED);
    assert_blind (&account->blind_calibration, &rows, TRUE);
    assert_blind (&account->blind_judged, &rows, FALSE);
    assert_true (account->errors.n > 3);
  }
}

static void
accounts_are_of_their_rows (G_GNUC_UNUSED void **state)
{
  /* Strategies stand in the order of their first rows, generations in that of the alphabet. */
  static const char *const of_strategies[] = { "tp", "dp", "3d", NULL },
                           *const of_generations[] = { "ampere", "blackwell", "hopper", NULL },
                           *const of_divisions[] = { "DP", "TP", "PP", "EP", "CP", NULL },
                           *const of_cases[] = { "TP 8 and more",
                                                 "TP 8 and more, 1-2 seqs",
                                                 "TP whole seqs, 1-2 seqs",
                                                 "FP8",
                                                 "FP4",
                                                 "experts divided",
                                                 NULL };
  World *world = world_new ();

  fab_training_summarise (&world->report);
  assert_accounts (world, world->report.strategies, of_strategies, is_of_strategy);
  assert_accounts (world, world->report.generations, of_generations, is_of_generation);
  assert_accounts (world, world->report.divisions, of_divisions, is_of_division);
  assert_accounts (world, world->report.cases, of_cases, is_of_case);
  world_free (world);
}

static void
sums_are_of_all_rows (G_GNUC_UNUSED void **state)
{
  World *world = world_new ();
  const FabTrainingReport *report = &world->report;
  const Rows all = { world, 0, N_RESULTS, is_any, NULL }, large = { world, 0, N_RESULTS, is_large, NULL };
  guint n_unanchored = 0;

  fab_training_summarise (&world->report);
  assert_of_role (&report->errors, &all, FAB_RUN_JUDGED);
  assert_of_role (&report->large_errors, &large, FAB_RUN_JUDGED);
  assert_of_role (&report->across_errors, &all, FAB_RUN_LAYOUT_ANCHOR);
  assert_blind (&report->blind_calibration, &all, TRUE);
  assert_blind (&report->blind_judged, &all, FALSE);
  for (guint r = 0; r < N_RESULTS; r++) {
    const FabTrainingResult *result = &world->results[r];
    const Rows own = { world, r, r + 1, is_any, NULL };

    assert_of_role (&result->errors, &own, FAB_RUN_JUDGED);
    assert_of_role (&result->one_node_errors, &own, FAB_RUN_ONE_NODE);
    assert_of_role (&result->across_errors, &own, FAB_RUN_LAYOUT_ANCHOR);
    assert_blind (&result->blind_calibration, &own, TRUE);
    assert_blind (&result->blind_judged, &own, FALSE);
    for (guint i = 0; i < N_ROWS; i++)
      n_unanchored += fab_training_row_of (result, i)->role == FAB_RUN_UNANCHORED ? 1 : 0;
  }
  assert_int_equal (report->n_unanchored, n_unanchored);
  assert_int_equal (report->n_skipped, 1 + 2 + 3);
  assert_int_equal (report->directions.n_right, 10 + 11 + 12);
  assert_int_equal (report->directions.n_wrong, 20 + 21 + 22);
  assert_int_equal (report->directions.n_small, 30 + 31 + 32);
  assert_int_equal (report->directions.n_odd, 40 + 41 + 42);
  world_free (world);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (accounts_are_of_their_rows),
    cmocka_unit_test (sums_are_of_all_rows),
  };

  return cmocka_run_group_tests_name ("training_account", tests, NULL, NULL);
}
