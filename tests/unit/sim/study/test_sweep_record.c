/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep_record.c - a point that went into a record, through its bytes and back is the point that it was. */
#include "tests/support/test.h"

#include "sim/result/columns.h"
#include "sim/study/choices.h"
#include "sim/study/sweep_record.h"
#include "tests/support/random.h"

/* A figure that applies, or 0, which says that it does not. */
static double
draw (Random *random, gboolean may_be_unknown)
{
  return may_be_unknown && random_chance (random, 40) ? 0 : random_scale (random, 1e-6, 1e6);
}

/* The figures of which the documentation of the columns says that they can be unknown. */
static void
draw_figures (Random *random, FabPoint *point)
{
  double *const always[] = { &point->step_s,       &point->compute_s,           &point->comm_s,
                             &point->overlapped_s, &point->exposed_s,           &point->idle_s,
                             &point->waiting_s,    &point->exposed_inter_node_s },
                *const at_times[] = { &point->mfu_fraction, &point->tokens_per_s, &point->train_s,
                                      &point->binding_fraction };

  for (guint i = 0; i < G_N_ELEMENTS (always); i++)
    *always[i] = draw (random, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (at_times); i++)
    *at_times[i] = draw (random, TRUE);
}

static FabPoint *
draw_point (Random *random)
{
  FabPoint *self = g_new0 (FabPoint, 1);
  FabSpending *paid = &self->spending;
  double *const spent[] = { &paid->capex_usd,     &paid->network_usd,  &paid->power_watts,
                            &paid->network_watts, &paid->usd_per_hour, &paid->usd_per_step,
                            &paid->train_usd,     &paid->step_joules,  &paid->usd_per_million_tokens,
                            &paid->train_joules };
  FabGoodput *goodput = &self->goodput;

  draw_figures (random, self);
  self->n_ranks = random_between (random, 1, 9);
  self->n_nodes = random_between (random, 10, 19);
  self->global_batch = random_below (random, 3);
  self->memory_bytes = random_below (random, 3);
  self->memory_max_bytes = random_below (random, 3);
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    if (random_chance (random, 50)) {
      self->dimensions |= 1U << d;
      self->exposed_by_s[d] = draw (random, TRUE);
    }
  for (guint i = 0; i < G_N_ELEMENTS (spent); i++)
    *spent[i] = draw (random, TRUE);
  goodput->is_known = random_chance (random, 50);
  if (goodput->is_known) {
    goodput->form.ettr_fraction = draw (random, TRUE);
    goodput->tokens_per_s = draw (random, TRUE);
    goodput->calendar_s = draw (random, TRUE);
    goodput->lost_gpu_hours = draw (random, TRUE);
  }
  if (random_chance (random, 50)) {
    self->binding = g_strdup ("node0/nic0 -> leaf0");
    self->binding_spec = g_strdup ("ib-ndr");
  }
  return self;
}

static FabPoint *
there_and_back (const FabPoint *point)
{
  g_autoptr (FabSweepPointRecord) record = fab_sweep_record_of (point);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  FabTry trial = { 0 };

  fab_sweep_record_write (record, bytes);
  const guint8 *at = bytes->data;
  gsize n_left = bytes->len;
  g_autoptr (FabSweepPointRecord) read = fab_sweep_record_read (&at, &n_left);
  assert_non_null (read);
  assert_int_equal (n_left, 0);
  fab_sweep_record_to_try (read, &trial);
  assert_null (trial.problem);
  assert_true (trial.point->has_only_times);
  return trial.point;
}

static void
assert_same_texts (const char *a, const char *b)
{
  assert_int_equal (g_strcmp0 (a, b), 0);
}

static void
assert_same (const FabPoint *a, const FabPoint *b)
{
  assert_memory_equal (&a->figures, &b->figures, sizeof a->figures);
  assert_memory_equal (&a->spending, &b->spending, sizeof a->spending);
  assert_memory_equal (a->exposed_by_s, b->exposed_by_s, sizeof a->exposed_by_s);
  assert_int_equal (a->dimensions, b->dimensions);
  assert_int_equal (a->n_ranks, b->n_ranks);
  assert_int_equal (a->n_nodes, b->n_nodes);
  assert_int_equal (a->global_batch, b->global_batch);
  assert_int_equal (a->memory_bytes, b->memory_bytes);
  assert_int_equal (a->memory_max_bytes, b->memory_max_bytes);
  assert_int_equal (a->goodput.is_known, b->goodput.is_known);
  assert_true (a->goodput.form.ettr_fraction == b->goodput.form.ettr_fraction);
  assert_true (a->goodput.tokens_per_s == b->goodput.tokens_per_s);
  assert_true (a->goodput.calendar_s == b->goodput.calendar_s);
  assert_true (a->goodput.lost_gpu_hours == b->goodput.lost_gpu_hours);
  assert_same_texts (a->binding, b->binding);
  assert_same_texts (a->binding_spec, b->binding_spec);
  assert_null (b->draws);
}

static void
every_figure_comes_back (G_GNUC_UNUSED void **state)
{
  Random random = { 5 };

  for (guint round = 0; round < 300; round++) {
    g_autoptr (FabPoint) point = draw_point (&random), back = there_and_back (point);

    assert_same (point, back);
  }
}

/* A column of a record; NAN: its row says NULL. */
static double
column_of (const FabSweepPointRecord *record, const char *name)
{
  const FabRecordTable *table = &fab_record_tables[FAB_TABLE_SWEEP_POINT];

  for (guint i = 0; i < table->n_columns; i++)
    if (strcmp (table->columns[i].name, name) == 0) {
      FabField field = fab_column_read (&table->columns[i], record, 0);

      return field.kind == FAB_CELL_NULL ? NAN : field.real;
    }
  fail_msg ("there is no column %s", name);
  return NAN;
}

/* Each column has the figure after which it is named; unknown ones are no number, and so are those of dimensions in
 * which the job does not communicate. */
static void
columns_have_the_figures_of_their_names (G_GNUC_UNUSED void **state)
{
  FabPoint point = { .n_ranks = 2,
                     .dimensions = 1U << FAB_DIMENSION_DATA | 1U << FAB_DIMENSION_TENSOR
                                 | 1U << FAB_DIMENSION_CONTEXT | 1U << FAB_DIMENSION_EXPERT
                                 | 1U << FAB_DIMENSION_PIPELINE | 1U << FAB_DIMENSION_OFFLOAD
                                 | 1U << FAB_DIMENSION_OTHER,
                     .exposed_by_s = { [FAB_DIMENSION_DATA] = 1,
                                       [FAB_DIMENSION_TENSOR] = 2,
                                       [FAB_DIMENSION_CONTEXT] = 3,
                                       [FAB_DIMENSION_EXPERT] = 4,
                                       [FAB_DIMENSION_PIPELINE] = 5,
                                       [FAB_DIMENSION_OFFLOAD] = 6,
                                       [FAB_DIMENSION_OTHER] = 7 },
                     .spending = { .capex_usd = 8,
                                   .network_usd = 9,
                                   .power_watts = 10,
                                   .network_watts = 11,
                                   .usd_per_hour = 12,
                                   .usd_per_step = 13,
                                   .usd_per_million_tokens = 14,
                                   .train_usd = 15,
                                   .step_joules = 16,
                                   .train_joules = 17 },
                     .goodput = { .is_known = TRUE,
                                  .form = { .ettr_fraction = 18 },
                                  .tokens_per_s = 19,
                                  .calendar_s = 20,
                                  .lost_gpu_hours = 21 } };
  static const char *const names[] = { "exposed_data_s",
                                       "exposed_tensor_s",
                                       "exposed_context_s",
                                       "exposed_expert_s",
                                       "exposed_pipeline_s",
                                       "exposed_offload_s",
                                       "exposed_other_s",
                                       "capex_usd",
                                       "network_usd",
                                       "power_watts",
                                       "network_watts",
                                       "usd_per_hour",
                                       "usd_per_step",
                                       "usd_per_million_tokens",
                                       "train_usd",
                                       "step_joules",
                                       "train_joules",
                                       "ettr_fraction",
                                       "goodput_tokens_per_s",
                                       "calendar_s",
                                       "lost_gpu_hours" };
  static const char *const unknown[] = { "mfu_fraction",     "tokens_per_s", "train_s",
                                         "binding_fraction", "memory_bytes", "memory_max_bytes",
                                         "global_batch" };
  static const char *const zeros[] = { "step_s",    "compute_s", "comm_s",    "overlapped_s",
                                       "exposed_s", "idle_s",    "waiting_s", "exposed_inter_node_s" };
  g_autoptr (FabSweepPointRecord) record = fab_sweep_record_of (&point);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    assert_true (column_of (record, names[i]) == i + 1);
  for (guint i = 0; i < G_N_ELEMENTS (unknown); i++)
    assert_true (isnan (column_of (record, unknown[i])));
  for (guint i = 0; i < G_N_ELEMENTS (zeros); i++)
    assert_true (column_of (record, zeros[i]) == 0);
  assert_true (column_of (record, "n_ranks") == 2 && column_of (record, "n_seeds") == 1);
  point = (FabPoint){ .n_ranks = 2 };
  g_autoptr (FabSweepPointRecord) none = fab_sweep_record_of (&point);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    assert_true (isnan (column_of (none, names[i])));
}

/* --- plays of several seeds --- */

static const double seed_steps[] = { 0.25, 1.0 / 3, 0.5 }, seed_exposed[] = { 0.125, 0, 1e-6 / 7 };

static void
each_seed_keeps_its_times (G_GNUC_UNUSED void **state)
{
  FabPoint point = { .n_ranks = 4, .step_s = 1.0 / 3, .compute_s = 0.25 };
  g_autoptr (GPtrArray) draws = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_point_free);

  for (guint i = 0; i < G_N_ELEMENTS (seed_steps); i++) {
    FabPoint *draw = fab_point_copy (&point);

    draw->step_s = seed_steps[i];
    draw->exposed_s = seed_exposed[i];
    g_ptr_array_add (draws, draw);
  }
  point.draws = draws;
  g_autoptr (FabPoint) back = there_and_back (&point);
  assert_int_equal (back->draws->len, G_N_ELEMENTS (seed_steps));
  for (guint i = 0; i < back->draws->len; i++) {
    const FabPoint *draw = g_ptr_array_index (back->draws, i);

    assert_near (draw->step_s, seed_steps[i], 1e-14); /* 15 digits are written */
    assert_true (fabs (draw->exposed_s - seed_exposed[i]) <= 1e-14 * seed_exposed[i]);
    assert_true (draw->compute_s == 0.25 && draw->n_ranks == 4 && draw->draws == NULL);
  }
}

/* Somebody may have changed the file: two lists of times go together only where they are as long, and one time is that
 * of the point itself. */
static void
lists_that_do_not_fit_are_one_seed (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *steps, *exposed;
    guint n;
  } cases[] = { { NULL, NULL, 0 }, { "1", "2", 0 },    { "1 2", NULL, 0 },    { "1 2", "3", 0 },
                { "1", "2 3", 0 }, { NULL, "1 2", 0 }, { "1 2 3", "4 5", 0 }, { "1 2", "3 4", 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const FabSweepPointRecord record = { .n_ranks = 1,
                                         .seed_steps = cases[i].steps,
                                         .seed_exposed = cases[i].exposed };
    FabTry trial = { 0 };

    fab_sweep_record_to_try (&record, &trial);
    assert_int_equal (trial.point->draws == NULL ? 0 : trial.point->draws->len, cases[i].n);
    fab_point_free (trial.point);
  }
}

static void
what_the_library_chose_comes_back (G_GNUC_UNUSED void **state)
{
  FabPoint point = { .n_ranks = 2,
                     .choices = fab_choices_read ("all_reduce data 41000000 ring simple 64 0.31;"
                                                  "all_gather tensor 1000 tree ll 2 0.5") };

  assert_int_equal (point.choices->len, 2);
  g_autoptr (FabPoint) back = there_and_back (&point);
  assert_int_equal (back->choices->len, 2);
  for (guint i = 0; i < 2; i++) {
    const FabChoice *a = &g_array_index (point.choices, FabChoice, i),
                    *b = &g_array_index (back->choices, FabChoice, i);

    assert_true (fab_choice_is_same_work (a, b) && fab_choice_is_same (a, b) && a->seconds == b->seconds);
  }
  g_array_unref (point.choices);
}

static void
a_point_that_cannot_be_keeps_its_reason (G_GNUC_UNUSED void **state)
{
  static const char *const two[] = { "cluster.nodes=1,2", "seed=3,4", NULL };
  g_autoptr (FabGrid) grid = fab_grid_new (two, NULL, NULL);
  g_autoptr (FabSweepPointRecord) record = fab_sweep_record_new (
      grid, 2, &(FabTry){ .problem = (char *) "it cannot be so" });
  FabTry trial = { 0 };

  assert_int_equal (record->point, 2);
  assert_string_equal (record->settings, "cluster.nodes=2 seed=3");
  fab_sweep_record_to_try (record, &trial);
  assert_string_equal (trial.problem, "it cannot be so");
  assert_null (trial.point);
  g_free (trial.problem);
}

/* Findings are kept as their codes, and come back with the sentences of these. */
static void
codes_of_the_verdict_come_back (G_GNUC_UNUSED void **state)
{
  FabPoint point = { .step_s = 1, .n_ranks = 1, .verdict = fab_verdict_new () };
  FabTry trial = { .point = NULL };

  fab_verdict_add (point.verdict, FAB_FINDING_WAITS_FOR_HOST, g_strdup ("It waits."), NULL);
  fab_verdict_add (point.verdict, FAB_FINDING_CHOICE, g_strdup ("It could be better."), NULL);
  g_autoptr (FabSweepPointRecord) record = fab_sweep_record_of (&point);
  assert_string_equal (record->verdict, "choice;waits_for_host");
  fab_sweep_record_to_try (record, &trial);
  assert_int_equal (fab_verdict_n (trial.point->verdict), 2);
  assert_string_equal (fab_verdict_waits_for (trial.point->verdict)->text,
                       fab_finding_kinds[FAB_FINDING_WAITS_FOR_HOST].summary);
  fab_try_clear (&trial);
  fab_verdict_free (point.verdict);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_figure_comes_back),
    cmocka_unit_test (columns_have_the_figures_of_their_names),
    cmocka_unit_test (each_seed_keeps_its_times),
    cmocka_unit_test (lists_that_do_not_fit_are_one_seed),
    cmocka_unit_test (what_the_library_chose_comes_back),
    cmocka_unit_test (a_point_that_cannot_be_keeps_its_reason),
    cmocka_unit_test (codes_of_the_verdict_come_back),
  };

  return cmocka_run_group_tests_name ("sweep_record", tests, NULL, NULL);
}
