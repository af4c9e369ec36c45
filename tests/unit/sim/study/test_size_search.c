/* SPDX-License-Identifier: Apache-2.0 */
/* test_size_search.c - the first of many values that meets a target, held against a search that tries all of them. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/study/size.h"

enum { MOST = 20000, ALL_AT_ONCE = 2 * FAB_SIZE_SEARCH_GRID };

/* What a search is asked of, and what it asked. */
typedef struct {
  guint n;
  FabTrial of[MOST];
  guint tries[MOST]; /* how often each was tried */
  guint n_calls, n_items;
  guint fails_at; /* the call that fails, from 1 on; 0: none does */
} Values;

static Values values;

static gboolean
try_values (gpointer data, const guint *items, guint n, FabTrial *trials, GError **error)
{
  Values *self = data;

  assert_true (n > 0 && n <= ALL_AT_ONCE);
  if (++self->n_calls == self->fails_at)
    return fab_throw (error, FAB_ERROR_INPUT, "call %u", self->n_calls);
  for (guint i = 0; i < n; i++) {
    assert_true (items[i] < self->n && (i == 0 || items[i - 1] < items[i]));
    self->tries[items[i]]++;
    trials[i] = self->of[items[i]];
  }
  if (self->n_calls == 1 && self->n > ALL_AT_ONCE)
    for (guint i = 0; i < n; i++) /* at equal distances, both ends included */
      assert_int_equal (items[i], (guint64) (self->n - 1) * i / (FAB_SIZE_SEARCH_GRID - 1));
  if (self->n_calls == 1)
    assert_int_equal (n, self->n > ALL_AT_ONCE ? FAB_SIZE_SEARCH_GRID : self->n);
  self->n_items += n;
  return TRUE;
}

static FabSizeSearch
search (void)
{
  g_autoptr (GError) error = NULL;
  FabSizeSearch found;

  memset (values.tries, 0, sizeof values.tries);
  values.n_calls = values.n_items = values.fails_at = 0;
  assert_true (fab_size_search_first (values.n, try_values, &values, &found, &error));
  assert_int_equal (found.n_trials, values.n_items);
  assert_true (found.best < values.n && values.tries[found.best] > 0);
  return found;
}

/* Values from `first` on meet the target, and the others miss it by as much as they lie below. */
static void
fill_from (guint n, guint first)
{
  values.n = n;
  for (guint i = 0; i < n; i++)
    values.of[i] = (FabTrial){ i >= first, (double) first - i, (double) first - i, FALSE };
}

/* Whatever the first is, it is found, and no value is tried twice. Each round of four divides what is left by five. */
static void
a_first_value_is_found_among_any_number (G_GNUC_UNUSED void **state)
{
  static const guint counts[] = { 100, 257, 1000, 4097, MOST };

  for (guint k = 1; k <= 60 + G_N_ELEMENTS (counts); k++) {
    guint n = k <= 60 ? k : counts[k - 61], step = n > 300 ? n / 97 : 1;
    double rounds = n <= ALL_AT_ONCE ? 0 : 1 + ceil (log (n / 8.0) / log (5));

    for (guint first = 0; first < n; first += step) {
      fill_from (n, first);
      FabSizeSearch found = search ();

      assert_int_equal (found.first, first);
      assert_int_equal (found.best, first);
      assert_false (found.is_unsteady);
      assert_true (found.n_trials
                   <= (n <= ALL_AT_ONCE ? n : FAB_SIZE_SEARCH_GRID) + FAB_SIZE_SEARCH_AT_ONCE * rounds);
      for (guint i = 0; i < n; i++)
        assert_true (values.tries[i] <= 1 && (n > ALL_AT_ONCE || values.tries[i] == 1));
      assert_true (first == 0 || values.tries[first - 1] == 1);
    }
  }
}

/* Where none does, the closest is found, in two rounds around the best of the grid; and so is a single value that meets
 * the target, to which the others lead. */
static void
the_closest_value_is_found_around_the_best (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 90; n++)
    for (guint at = 0; at < n; at++)
      for (guint is_met = 0; is_met < 2; is_met++) {
        values.n = n;
        for (guint i = 0; i < n; i++)
          values.of[i] = (FabTrial){ is_met && i == at, fabs ((double) i - at) + 1, 0, FALSE };
        FabSizeSearch found = search ();

        assert_int_equal (found.best, at);
        assert_int_equal (found.first, is_met ? at : n);
        assert_true (found.n_trials <= (n <= ALL_AT_ONCE ? n : 3 * FAB_SIZE_SEARCH_GRID)
                                           + (is_met ? 2 * FAB_SIZE_SEARCH_AT_ONCE : 0));
      }
}

/* In steps of a grid of n, two rounds come to within a hundredth of the closest. */
static void
two_rounds_come_near (G_GNUC_UNUSED void **state)
{
  enum { N = 10000 };

  for (guint at = 0; at < N; at += 101) {
    values.n = N;
    for (guint i = 0; i < N; i++)
      values.of[i] = (FabTrial){ FALSE, fabs ((double) i - at) + 1, 0, FALSE };
    FabSizeSearch found = search ();

    assert_int_equal (found.first, N);
    assert_true (fabs ((double) found.best - at) <= N / 100.0);
    assert_true (found.n_trials <= 3 * FAB_SIZE_SEARCH_GRID);
  }
}

/* All of up to 18 values are tried. The first that all seeds meet counts, but for those before a value that only some
 * meet and that one follows which all meet. */
static void
any_seeds_of_few_values_are_read_as_defined (G_GNUC_UNUSED void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  guint n_unsteady = 0, n_lucky = 0, n_none = 0;

  for (guint round = 0; round < 20000; round++) {
    guint n = (guint) g_rand_int_range (random, 1, ALL_AT_ONCE + 1), expected = 0, last_met = 0, closest = 0;
    gboolean is_unsteady = FALSE;

    values.n = n;
    for (guint i = 0; i < n; i++) {
      gint one = g_rand_int_range (random, 0, round % 2 == 0 ? 3 : 7);

      values.of[i] = (FabTrial){ one == 0, one == 0 ? -1 : g_rand_int_range (random, 1, 9), 0, one == 1 };
      last_met = one == 0 ? i : last_met;
    }
    guint naive = n, after = 0;
    for (guint i = 0; i < n; i++)
      if (values.of[i].is_luck && i < last_met)
        after = i + 1;
    for (expected = after; expected < n && !values.of[expected].is_met; expected++)
      ;
    for (guint i = n; i-- > 0;)
      naive = values.of[i].is_met ? i : naive;
    for (guint i = 0; i < n; i++) {
      closest = values.of[i].gap < values.of[closest].gap ? i : closest;
      is_unsteady |= i > naive && !values.of[i].is_met;
    }
    FabSizeSearch found = search ();
    assert_int_equal (found.first, expected);
    assert_int_equal (found.best, expected < n ? expected : closest);
    assert_int_equal (found.is_unsteady, is_unsteady);
    assert_int_equal (found.n_trials, n);
    n_unsteady += is_unsteady;
    n_lucky += expected != naive;
    n_none += expected == n;
  }
  assert_true (n_unsteady > 1000 && n_lucky > 1000 && n_none > 1000);
}

/* Distances that differ by less than a millionth are equal, also below zero, and then the seeds in the middle decide,
 * of which the same holds. Where they are equal too, the first one stays. */
static void
distances_are_equal_to_a_millionth (G_GNUC_UNUSED void **state)
{
  static const double scales[] = { 1e-3, 1, 1e9, -1e-3, -1, -1e9 };
  static const struct {
    double gap, middle; /* by how many millionths the second lies below the first */
    guint best;
  } rows[] = { { 0, 0, 0 },    { 0.5, 0, 0 },   { 2, 0, 1 },      { -0.5, 0, 0 }, { -2, 0, 0 },
               { 0, 2, 1 },    { 0, 0.5, 0 },   { 0.5, 2, 1 },    { -0.5, 2, 1 }, { -2, 2, 0 },
               { 0.5, -2, 0 }, { -0.5, -2, 0 }, { -0.5, 0.5, 0 }, { 2, -2, 1 } };

  for (guint s = 0; s < G_N_ELEMENTS (scales); s++)
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
      double scale = scales[s], unit = fabs (scale) / 1e6;

      values.n = 2;
      values.of[0] = (FabTrial){ FALSE, scale, scale, FALSE };
      values.of[1] = (FabTrial){ FALSE, scale - rows[i].gap * unit, scale - rows[i].middle * unit, FALSE };
      assert_int_equal (search ().best, rows[i].best);
    }
}

/* Whichever call fails, the search ends with its error and asks nothing more. */
static void
any_failing_trial_ends_the_search (G_GNUC_UNUSED void **state)
{
  for (guint kind = 0; kind < 4; kind++) {
    guint n = kind == 3 ? 41 : 1000, n_calls;

    if (kind == 0)
      fill_from (n, 437);
    else if (kind == 1)
      fill_from (10, 5);
    else if (kind == 2) {
      values.n = n;
      for (guint i = 0; i < n; i++)
        values.of[i] = (FabTrial){ FALSE, fabs (i - 437.0) + 1, 0, FALSE };
    } else { /* the value at 10 is lucky */
      fill_from (n, 24);
      values.of[10].is_met = TRUE;
      for (guint i = 14; i < 24; i++)
        values.of[i].is_luck = TRUE;
    }
    FabSizeSearch found = search ();
    n_calls = values.n_calls;
    assert_true (n_calls >= 1 && (kind == 1 || n_calls >= 3));
    assert_int_equal (found.first, kind == 0 ? 437 : kind == 1 ? 5 : kind == 2 ? n : 24);
    for (guint fails_at = 1; fails_at <= n_calls; fails_at++) {
      g_autoptr (GError) error = NULL;

      values.n_calls = 0;
      values.fails_at = fails_at;
      assert_false (fab_size_search_first (values.n, try_values, &values, &found, &error));
      g_autofree char *expected = g_strdup_printf ("call %u", fails_at);
      assert_string_equal (error->message, expected);
      assert_int_equal (values.n_calls, fails_at);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_first_value_is_found_among_any_number),
    cmocka_unit_test (the_closest_value_is_found_around_the_best),
    cmocka_unit_test (two_rounds_come_near),
    cmocka_unit_test (any_seeds_of_few_values_are_read_as_defined),
    cmocka_unit_test (distances_are_equal_to_a_millionth),
    cmocka_unit_test (any_failing_trial_ends_the_search),
  };

  return cmocka_run_group_tests_name ("size_search", tests, NULL, NULL);
}
