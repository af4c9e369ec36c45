/* SPDX-License-Identifier: Apache-2.0 */
/* prop_search.c - what few trials find is what trying every value finds, wherever what is met stays met. */
#include "tests/support/test.h"

#include "sim/study/size.h"
#include "tests/support/seeds.h"

enum { MOST = 5000 };

typedef struct {
  guint n, first, last; /* met from first to last */
  guint8 n_tried[MOST];
} Values;

static gboolean
try_values (gpointer data, const guint *items, guint n, FabTrial *trials, G_GNUC_UNUSED GError **error)
{
  Values *self = data;

  for (guint i = 0; i < n; i++) {
    assert_true (items[i] < self->n && (i == 0 || items[i] > items[i - 1]));
    self->n_tried[items[i]]++;
    trials[i].is_met = items[i] >= self->first && items[i] <= self->last;
    /* A plateau on either side. */
    guint away = items[i] < self->first ? (self->first - items[i]) / 7 : 0;
    trials[i].gap = trials[i].is_met ? -1.0 : 1.0 + (double) away;
  }
  return TRUE;
}

static void
check_steady (Random *random)
{
  g_autofree Values *values = g_new0 (Values, 1);
  FabSizeSearch found;
  guint n_tried = 0, most;

  values->n = random_between (random, 1, random_chance (random, 30) ? 30 : MOST);
  values->first = random_below (random, values->n + 1);
  values->last = values->n;
  assert_true (fab_size_search_first (values->n, try_values, values, &found, NULL));
  assert_int_equal (found.first, values->first);
  assert_false (found.is_unsteady);
  for (guint i = 0; i < values->n; i++)
    n_tried += values->n_tried[i];
  assert_int_equal (found.n_trials, n_tried);
  most = 5 * FAB_SIZE_SEARCH_GRID + FAB_SIZE_SEARCH_AT_ONCE * 6; /* log5 of a ninth of 5000 is 4 */
  assert_true (n_tried <= most);
  assert_true (values->first == values->n || found.best == values->first);
}

static void
the_first_is_found_in_few_trials (G_GNUC_UNUSED void **state)
{
  seeds_run (3000, check_steady);
}

static void
what_is_met_in_between_is_found_and_said (G_GNUC_UNUSED void **state)
{
  g_autofree Values *values = g_new0 (Values, 1);
  FabSizeSearch found;

  values->n = 1000;
  values->first = 300;
  values->last = 800;
  assert_true (fab_size_search_first (values->n, try_values, values, &found, NULL));
  assert_int_equal (found.first, 300);
  assert_true (found.is_unsteady);
}

static void
an_island_near_the_best_point_is_found (G_GNUC_UNUSED void **state)
{
  g_autofree Values *values = g_new0 (Values, 1);
  FabSizeSearch found;

  values->n = 1000;
  values->first = 540; /* between two points of the grid, 499 and 624 */
  values->last = 600;
  assert_true (fab_size_search_first (values->n, try_values, values, &found, NULL));
  assert_int_equal (found.first, 540);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (the_first_is_found_in_few_trials),
    cmocka_unit_test (what_is_met_in_between_is_found_and_said),
    cmocka_unit_test (an_island_near_the_best_point_is_found),
  };

  return cmocka_run_group_tests_name ("search", tests, NULL, NULL);
}
