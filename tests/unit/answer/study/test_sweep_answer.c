/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep_answer.c - points of a sweep that were read back: their order, their rows, the marks, and their bands.
 *
 * The points are written by hand into a store in memory: four micro-batches, each with two buckets. Only bands are
 * played.
 */
#include "tests/support/test.h"

#include "answer/study/choices.h"
#include "answer/study/hold.h"
#include "answer/study/sweep.h"
#include "sim/study/sweep_record.h"
#include "tests/support/play.h"

static const char yaml[] =
    "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n"
    "job: {kind: ddp, model: gpt2-xl, micro_batch: 2, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n";
static const char *const vary[] = { "job.micro_batch=1,2,3,4", "job.bucket=1MiB,25MiB", NULL };
static const char ring[] = "all_reduce data 41000000 ring simple 64 1.25",
                  tree[] = "all_reduce data 41000000 tree simple 16 1.4";

static FabCatalog *catalog;

typedef struct {
  double tokens_per_s, step_s; /* step 0: it cannot be played */
  gboolean is_large;
  const char *choices;
} Written;

typedef struct {
  FabStudy *study;
  FabGrid *grid;
  FabStore *store;
  gint64 sweep;
} Sweep;

static void
sweep_init (Sweep *self)
{
  static const char *const batches[] = { "1", "2", "3", "4", NULL }, *const buckets[] = { "1MiB", "25MiB",
                                                                                          NULL };
  const FabSweepAxisRecord axes[] = { { "job.micro_batch", batches }, { "job.bucket", buckets } };
  const FabSweepRecord record = { "a", NULL, yaml, "1", "f", axes, G_N_ELEMENTS (axes), 8 };
  g_autoptr (GError) error = NULL;

  self->study = play_study (catalog, yaml);
  self->grid = fab_grid_new (vary, NULL, NULL);
  self->store = fab_store_new (NULL);
  if (!fab_store_open_sweep (self->store, &record, &self->sweep, &error))
    fail_msg ("%s", error->message);
}

static void
sweep_clear (Sweep *self)
{
  fab_store_free (self->store);
  fab_grid_free (self->grid);
  fab_study_free (self->study);
}

static void
add_trial (Sweep *self, gint64 number, const FabTry *trial)
{
  g_autoptr (FabSweepPointRecord) record = fab_sweep_record_new (self->grid, number, trial);
  g_autoptr (GError) error = NULL;

  if (!fab_store_add_points (self->store, self->sweep, record, 1, NULL, &error))
    fail_msg ("%s", error->message);
}

static void
add (Sweep *self, gint64 number, const Written *written)
{
  FabPoint point = { .n_ranks = 2,
                     .n_nodes = 1,
                     .tokens_per_s = written->tokens_per_s,
                     .step_s = written->step_s,
                     .compute_s = written->step_s,
                     .memory_bytes = written->is_large ? 20 : 10,
                     .memory_max_bytes = 15,
                     .choices = written->choices != NULL ? fab_choices_read (written->choices) : NULL };
  const FabTry trial = { .point = written->step_s > 0 ? &point : NULL,
                         .problem = written->step_s > 0 ? NULL : (char *) "it cannot be so" };

  add_trial (self, number, &trial);
  g_clear_pointer (&point.choices, g_array_unref);
}

static FabSweepAnswer *
answer_of (const Sweep *self, gboolean has_band)
{
  g_autoptr (GError) error = NULL;
  FabSweepAnswer *answer = fab_sweep_answer (self->study, self->grid, self->store, self->sweep, has_band,
                                             &error);

  if (answer == NULL)
    fail_msg ("%s", error->message);
  return answer;
}

/* With tokens: most of them first, of as many the shorter step. Without: the shortest step. What does not fit is behind
 * what fits, unless that is allowed, and what cannot be played is last, in the order of the points. */
static void
the_best_points_are_first (G_GNUC_UNUSED void **state)
{
  static const struct {
    Written written[8];
    guint order[8], order_where_oversized[8];
    guint n_accepted;
  } cases[] = {
    { { { 100, 1, FALSE, NULL },
        { 0 },
        { 300, 1, TRUE, NULL },
        { 200, 2, FALSE, NULL },
        { 200, 1.5, FALSE, NULL },
        { 400, 1, TRUE, NULL },
        { 0 },
        { 100, 1, FALSE, NULL } },
      { 4, 3, 0, 7, 5, 2, 1, 6 },
      { 5, 2, 4, 3, 0, 7, 1, 6 },
      4 },
    { { { 0, 4, FALSE, NULL },
        { 0, 2, FALSE, NULL },
        { 0, 1, TRUE, NULL },
        { 0 },
        { 0, 3, FALSE, NULL },
        { 0, 2, FALSE, NULL },
        { 0, 2.5, TRUE, NULL },
        { 0, 9, FALSE, NULL } },
      { 1, 5, 4, 0, 7, 2, 6, 3 },
      { 2, 1, 5, 6, 4, 0, 7, 3 },
      5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint oversized = 0; oversized < 2; oversized++) {
      Sweep sweep;
      guint n_played = 0;

      sweep_init (&sweep);
      for (guint k = 0; k < 8; k++) {
        add (&sweep, 7 - k, &cases[i].written[7 - k]);
        n_played += cases[i].written[k].step_s > 0;
      }
      sweep.study->allows_oversized = oversized;
      FabSweepAnswer *answer = answer_of (&sweep, FALSE);
      assert_int_equal (answer->tries->len, 8);
      assert_int_equal (answer->n_played, n_played);
      assert_int_equal (answer->n_accepted, oversized ? n_played : cases[i].n_accepted);
      assert_null (answer->bands);
      for (guint k = 0; k < 8; k++) {
        assert_int_equal (answer->order[k],
                          oversized ? cases[i].order_where_oversized[k] : cases[i].order[k]);
        assert_int_equal (g_array_index (answer->numbers, gint64, k), k);
        assert_int_equal (fab_sweep_try (answer, k)->point != NULL, cases[i].written[k].step_s > 0);
      }
      fab_sweep_answer_free (answer);
      sweep_clear (&sweep);
    }
}

/* Points 1, 2 and 6 of the grid are there, and one that the grid does not have. Labels are those of the grid. */
static void
points_as_rows (G_GNUC_UNUSED void **state)
{
  const Written written[] = {
    { 100, 1, FALSE, NULL }, { 0 }, { 200, 1, FALSE, NULL }, { 900, 1, FALSE, NULL }
  };
  static const gint64 numbers[] = { 1, 2, 6, 8 };
  static const char *const labels[3][2] = { { "1", "25MiB" }, { "2", "1MiB" }, { "4", "1MiB" } };
  static const guint best[] = { 2, 0, 1 };
  Sweep sweep;

  sweep_init (&sweep);
  for (guint i = 0; i < 4; i++)
    add (&sweep, numbers[i], &written[i]);
  FabSweepAnswer *answer = answer_of (&sweep, FALSE);
  assert_int_equal (answer->tries->len, 3);
  assert_int_equal (answer->n_played, 2);
  g_autoptr (FabPoints) all = fab_sweep_points (answer), some = fab_sweep_best_points (answer, 2),
                        many = fab_sweep_best_points (answer, 9);
  assert_int_equal (all->rows->len, 3);
  assert_int_equal (some->rows->len, 2);
  assert_int_equal (many->rows->len, 3);
  assert_int_equal (all->n_shown, 2);
  assert_int_equal (all->n_numbers, 0);
  assert_ptr_equal (all->hold, fab_hold_of (sweep.study));
  assert_string_equal (all->columns[0], "job.micro_batch");
  assert_string_equal (all->columns[1], "job.bucket");
  assert_null (all->columns[2]);
  for (guint i = 0; i < 3; i++)
    for (guint a = 0; a < 2; a++) {
      const FabTry *trial = fab_sweep_try (answer, i);

      assert_string_equal (fab_points_row (all, i)->labels[a], labels[i][a]);
      assert_ptr_equal (fab_points_row (all, i)->point, trial->point);
      assert_ptr_equal (fab_points_row (all, i)->problem, trial->problem);
      assert_null (fab_points_row (all, i)->band);
      assert_null (fab_points_row (all, i)->mark);
      assert_string_equal (fab_points_row (many, i)->labels[a], labels[best[i]][a]);
    }
  assert_string_equal (fab_points_row (some, 0)->labels[0], "4");
  assert_string_equal (fab_points_row (all, 1)->problem, "it cannot be so");
  fab_sweep_answer_free (answer);
  sweep_clear (&sweep);
}

/* The library takes a tree at point 5 alone: it differs from points 3, 4 and 7, its neighbours. */
static void
neighbours_with_other_choices_are_pairs (G_GNUC_UNUSED void **state)
{
  static const guint others[] = { 3, 4, 7 };
  Sweep sweep;

  sweep_init (&sweep);
  for (guint i = 1; i < 8; i++)
    add (&sweep, i, &(Written){ 100, 1, FALSE, i == 5 ? tree : ring });
  FabSweepAnswer *answer = answer_of (&sweep, FALSE);
  assert_int_equal (answer->pairs->len, 3);
  for (guint i = 0; i < 3; i++) {
    const FabChoicePair *pair = &g_array_index (answer->pairs, FabChoicePair, i);
    const FabPoint *five = fab_sweep_try (answer, 4)->point; /* the first that is there is point 1 */
    gboolean is_one = FALSE;

    assert_true ((pair->before == five) != (pair->after == five));
    for (guint k = 0; k < 3; k++)
      is_one |= (pair->before == five ? pair->after : pair->before)
             == fab_sweep_try (answer, others[k] - 1)->point;
    assert_true (is_one);
  }
  fab_sweep_answer_free (answer);
  sweep_clear (&sweep);
}

/* Where bands are asked for, each point that was played has one around its step, that of its own settings. */
static void
points_have_bands (G_GNUC_UNUSED void **state)
{
  Sweep sweep;

  sweep_init (&sweep);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (FabEdits) edits = fab_grid_edits (sweep.grid, i * 6);
    FabTry trial = { .edits = edits };

    fab_try_play (sweep.study, &trial);
    add_trial (&sweep, i * 6, &trial);
    fab_try_clear (&trial);
  }
  add (&sweep, 7, &(Written){ 0 });
  FabSweepAnswer *answer = answer_of (&sweep, TRUE);
  g_autoptr (FabPoints) points = fab_sweep_points (answer);
  for (guint i = 0; i < 2; i++) {
    double step_s = fab_sweep_try (answer, i)->point->step_s;

    assert_int_equal (answer->bands[i]->n, 1);
    assert_true (answer->bands[i]->low[0] < step_s && answer->bands[i]->high[0] > step_s);
    assert_ptr_equal (fab_points_row (points, i)->band, answer->bands[i]);
  }
  assert_null (answer->bands[2]);
  /* Four sequences take longer than one even where all goes well. */
  assert_true (answer->bands[1]->low[0] > answer->bands[0]->high[0]);
  fab_sweep_answer_free (answer);
  sweep_clear (&sweep);
}

/* A point of two seeds with these steps. */
static FabTry *
drawn (double first_s, double second_s)
{
  FabTry *trial = g_new0 (FabTry, 1);
  GPtrArray *draws = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_point_free);

  for (guint i = 0; i < 2; i++) {
    FabPoint *point = g_new0 (FabPoint, 1);

    point->step_s = i == 0 ? first_s : second_s;
    g_ptr_array_add (draws, point);
  }
  trial->point = fab_spread_join (draws);
  return trial;
}

static void
free_try (gpointer data)
{
  fab_try_clear (data);
  g_free (data);
}

/* Against steps of 1.0 and 1.1: one with both seeds slower, one with one slower and one faster, one with the same
 * steps, and one that was not played. */
static void
what_does_not_differ_from_the_best_is_marked (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, yaml);
  g_autoptr (FabGrid) grid = fab_grid_new (vary, NULL, NULL);
  static const char *const marks[] = { NULL, "=", "<", "=", NULL };

  for (guint n_even = 0; n_even < 2; n_even++) {
    g_autoptr (GPtrArray) tries = g_ptr_array_new_with_free_func (free_try);
    g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gint64));
    guint order[] = { 2, 1, 3, 0, 4 };
    const FabSweepAnswer answer = {
      .grid = grid, .study = study, .tries = tries, .numbers = numbers, .order = order
    };

    g_ptr_array_add (tries, drawn (1.2, 1.3));
    g_ptr_array_add (tries, n_even > 0 ? drawn (0.9, 1.2) : drawn (1.3, 1.3));
    g_ptr_array_add (tries, drawn (1.0, 1.1));
    g_ptr_array_add (tries, n_even > 0 ? drawn (1.0, 1.1) : drawn (1.4, 1.3));
    g_ptr_array_add (tries, g_new0 (FabTry, 1));
    for (gint64 i = 0; i < 5; i++)
      g_array_append_val (numbers, i);
    g_autoptr (FabPoints) points = fab_sweep_points (&answer);
    assert_int_equal (fab_sweep_mark_best (&answer, points), n_even > 0);
    for (guint i = 0; i < 5; i++)
      assert_true (g_strcmp0 (fab_points_row (points, i)->mark, n_even > 0 || i == 2 ? marks[i] : NULL) == 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_best_points_are_first),
    cmocka_unit_test (points_as_rows),
    cmocka_unit_test (neighbours_with_other_choices_are_pairs),
    cmocka_unit_test (points_have_bands),
    cmocka_unit_test (what_does_not_differ_from_the_best_is_marked),
  };

  return play_run_tests ("sweep_answer", tests, &catalog);
}
