/* SPDX-License-Identifier: Apache-2.0 */
/* test_maxmin.c - small systems solved by hand. Random ones: tests/property/prop_maxmin.c. */
#include "tests/support/test.h"

#include "sim/solve/maxmin.h"

enum { MOST = 4 };

/* Flows as rows of weights, 0 where a link is not used. */
typedef struct {
  guint n_flows, n_links;
  double capacity[MOST];
  double weights[MOST][MOST];
  const double *shares, *limits;
  double rates[MOST];
  guint binding[MOST];
} System;

static void
solve_with (FabMaxmin *solver, System *system)
{
  guint starts[MOST + 1] = { 0 }, links[MOST * MOST], n = 0;
  double weights[MOST * MOST];

  for (guint f = 0; f < system->n_flows; f++) {
    for (guint l = 0; l < system->n_links; l++)
      if (system->weights[f][l] > 0) {
        links[n] = l;
        weights[n++] = system->weights[f][l];
      }
    starts[f + 1] = n;
  }
  fab_maxmin_solve (solver,
                    &(FabMaxminProblem){ system->n_flows, system->n_links, system->capacity, starts, links,
                                         weights, system->shares, system->limits },
                    system->rates, system->binding);
}

static void
solve (System *system)
{
  g_autoptr (FabMaxmin) solver = fab_maxmin_new ();

  solve_with (solver, system);
}

/* Links of 10 and 30. Flow 0 uses both, 1 the first, 2 the second. The first is full at 5 each;
 * flow 0 stays there and leaves 30 - 5 = 25 of the second to flow 2. */
static void
who_is_held_back_leaves_the_rest_to_others (G_GNUC_UNUSED void **state)
{
  System s = { 3, 2, { 10, 30 }, { { 1, 1 }, { 1, 0 }, { 0, 1 } }, NULL, NULL, { 0 }, { 0 } };

  solve (&s);
  assert_near (s.rates[0], 5, 1e-15);
  assert_near (s.rates[1], 5, 1e-15);
  assert_near (s.rates[2], 25, 1e-15);
  assert_int_equal (s.binding[0], 0);
  assert_int_equal (s.binding[1], 0);
  assert_int_equal (s.binding[2], 1);
}

/* Equal rates r, of which flow 1 takes 2 r: 3 r = 30. */
static void
a_weight_is_what_a_rate_costs (G_GNUC_UNUSED void **state)
{
  System s = { 2, 1, { 30 }, { { 1 }, { 2 } }, NULL, NULL, { 0 }, { 0 } };

  solve (&s);
  assert_near (s.rates[0], 10, 1e-15);
  assert_near (s.rates[1], 10, 1e-15);
}

/* Rates level and 3 x level: 4 x level = 40. */
static void
a_share_is_a_multiple_of_the_rate (G_GNUC_UNUSED void **state)
{
  System s = { 2, 1, { 40 }, { { 1 }, { 1 } }, (double[]){ 1, 3 }, NULL, { 0 }, { 0 } };

  solve (&s);
  assert_near (s.rates[0], 10, 1e-15);
  assert_near (s.rates[1], 30, 1e-15);
}

/* Flow 0 stops at 4, flow 1 takes the other 26; flow 2 is on no link and has its limit. */
static void
a_limit_stops_a_flow_before_its_link (G_GNUC_UNUSED void **state)
{
  System s = { 3, 1, { 30 }, { { 1 }, { 1 }, { 0 } }, NULL, (double[]){ 4, 0, 7 }, { 0 }, { 0 } };

  solve (&s);
  assert_near (s.rates[0], 4, 0);
  assert_near (s.rates[1], 26, 1e-15);
  assert_near (s.rates[2], 7, 0);
  assert_int_equal (s.binding[0], FAB_MAXMIN_LIMIT);
  assert_int_equal (s.binding[1], 0);
  assert_int_equal (s.binding[2], FAB_MAXMIN_LIMIT);
}

/* A limit is on the rate, not on the level: share 2, limit 8, so level 4 < 30 / 3; the other has 30 - 8. */
static void
a_limit_is_reached_at_limit_over_share (G_GNUC_UNUSED void **state)
{
  System s = { 2, 1, { 30 }, { { 1 }, { 1 } }, (double[]){ 2, 1 }, (double[]){ 8, 0 }, { 0 }, { 0 } };

  solve (&s);
  assert_near (s.rates[0], 8, 0);
  assert_near (s.rates[1], 22, 1e-15);
}

/* Bertsekas and Gallager's staircase: flow 0 crosses links of 1, 2 and 4, each shared with one more flow.
 * Link 0 is full at 1/2 each; of the others remain 3/2 and 7/2. */
static void
one_long_flow_among_short_ones (G_GNUC_UNUSED void **state)
{
  System s = { 4,    3,    { 1, 2, 4 }, { { 1, 1, 1 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
               NULL, NULL, { 0 },       { 0 } };

  solve (&s);
  assert_near (s.rates[0], 0.5, 1e-15);
  assert_near (s.rates[1], 0.5, 1e-15);
  assert_near (s.rates[2], 1.5, 1e-15);
  assert_near (s.rates[3], 3.5, 1e-15);
}

/* Link 0 stops flow 0 at 1, which takes 1e8 of link 1: flow 1 gets (1e9 - 1e8) / 0.001. In the running sum of weights
 * 1e8 + 0.001 - 1e8 keeps seven digits of 0.001; the answer must keep all. */
static void
small_weights_survive_beside_large_ones (G_GNUC_UNUSED void **state)
{
  System s = { 2, 2, { 1, 1e9 }, { { 1, 1e8 }, { 0, 1e-3 } }, NULL, NULL, { 0 }, { 0 } };

  solve (&s);
  assert_near (s.rates[0], 1, 1e-15);
  assert_near (s.rates[1], (1e9 - 1e8) / 1e-3, 1e-15);
}

/* Three links are full at 5 at once, and the limit is reached there too: the first of them is named, and a link
 * before a limit, in whatever order the flow lists them. */
static void
of_links_that_are_full_at_once_the_first_is_named (G_GNUC_UNUSED void **state)
{
  static const guint orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
  g_autoptr (FabMaxmin) solver = fab_maxmin_new ();

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    for (double limit = 4; limit <= 6; limit++) {
      double rate;
      guint binding;

      fab_maxmin_solve (solver,
                        &(FabMaxminProblem){ 1, 3, (double[]){ 5, 5, 5 }, (guint[]){ 0, 3 }, orders[i],
                                             (double[]){ 1, 1, 1 }, NULL, &limit },
                        &rate, &binding);
      assert_near (rate, MIN (limit, 5), 0);
      assert_int_equal (binding, limit < 5 ? FAB_MAXMIN_LIMIT : 0);
    }
}

/* Flow 0 stands still on a link that carries nothing, and neither its limit nor its other link, which flow 1 fills,
 * moves it. */
static void
a_link_without_capacity_holds_its_flows (G_GNUC_UNUSED void **state)
{
  System s = { 2, 2, { 0, 10 }, { { 1, 1 }, { 0, 1 } }, NULL, (double[]){ 5, 0 }, { 0 }, { 0 } };

  solve (&s);
  assert_near (s.rates[0], 0, 0);
  assert_near (s.rates[1], 10, 1e-15);
  assert_int_equal (s.binding[0], 0);
  assert_int_equal (s.binding[1], 1);
}

static void
memory_is_used_again_for_another_size (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMaxmin) solver = fab_maxmin_new ();
  System large = { 4,    4,    { 8, 8, 8, 8 }, { { 1, 1 }, { 0, 1, 1 }, { 0, 0, 1, 1 }, { 1, 0, 0, 1 } },
                   NULL, NULL, { 0 },          { 0 } };
  System small = { 1, 1, { 3 }, { { 1 } }, NULL, NULL, { 0 }, { 0 } };

  solve_with (solver, &small);
  solve_with (solver, &large);
  solve_with (solver, &small);
  for (guint f = 0; f < 4; f++)
    assert_near (large.rates[f], 4, 1e-15);
  assert_near (small.rates[0], 3, 1e-15);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (who_is_held_back_leaves_the_rest_to_others),
    cmocka_unit_test (a_weight_is_what_a_rate_costs),
    cmocka_unit_test (a_share_is_a_multiple_of_the_rate),
    cmocka_unit_test (a_limit_stops_a_flow_before_its_link),
    cmocka_unit_test (a_limit_is_reached_at_limit_over_share),
    cmocka_unit_test (one_long_flow_among_short_ones),
    cmocka_unit_test (small_weights_survive_beside_large_ones),
    cmocka_unit_test (of_links_that_are_full_at_once_the_first_is_named),
    cmocka_unit_test (a_link_without_capacity_holds_its_flows),
    cmocka_unit_test (memory_is_used_again_for_another_size),
  };

  return cmocka_run_group_tests_name ("maxmin", tests, NULL, NULL);
}
