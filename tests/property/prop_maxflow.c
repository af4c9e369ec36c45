/* SPDX-License-Identifier: Apache-2.0 */
/* prop_maxflow.c - the most that flows is the least that any cut lets through: against all cuts of small networks. */
#include "tests/support/test.h"

#include "sim/fabric/maxflow.h"
#include "tests/support/seeds.h"

enum { MOST = 8 };

/* Sets of points with the source (0) and without the sink (1), as bits. */
static double
least_cut (double capacities[MOST][MOST], guint n)
{
  double least = G_MAXDOUBLE;

  for (guint set = 1; set < 1u << n; set += 2) {
    double cut = 0;

    for (guint a = 0; a < n; a++)
      for (guint b = 0; b < n; b++)
        if (set & 1u << a && !(set & 1u << b))
          cut += capacities[a][b];
    if (!(set & 2u))
      least = MIN (least, cut);
  }
  return least;
}

static void
check (Random *random)
{
  guint n = random_between (random, 2, MOST), percent = random_between (random, 10, 90);
  g_autoptr (FabMaxflow) flow = fab_maxflow_new (n);
  double capacities[MOST][MOST] = { { 0 } };

  for (guint i = 0; i < 3 * n * n; i++) {
    guint a = random_below (random, n), b = random_below (random, n);
    double capacity = random_between (random, 0, 20) * 1e9;

    if (a == b || !random_chance (random, percent))
      continue;
    capacities[a][b] += capacity;
    fab_maxflow_add (flow, a, b, capacity);
  }
  assert_true (fabs (fab_maxflow_solve (flow, 0, 1) - least_cut (capacities, n)) < 1);
}

static void
the_flow_is_the_least_cut (G_GNUC_UNUSED void **state)
{
  seeds_run (500, check);
}

/* Two ways side by side to one point, from which all goes on. What is no more than a part in 10^12 of the largest
 * capacity is rounding, and a little more is not. */
static void
what_is_rounding_does_not_flow (G_GNUC_UNUSED void **state)
{
  static const struct {
    double least, flow;
  } rows[] = { { 0, 5e11 }, { 1, 5e11 }, { 1.5, 5e11 + 1.5 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabMaxflow) flow = fab_maxflow_new (3);

    fab_maxflow_add (flow, 0, 2, rows[i].least);
    fab_maxflow_add (flow, 0, 2, 5e11);
    fab_maxflow_add (flow, 2, 1, 1e12);
    assert_near (fab_maxflow_solve (flow, 0, 1), rows[i].flow, 1e-14);
    assert_near (fab_maxflow_solve (flow, 0, 1), 0, 0); /* all is taken */
  }
  g_autoptr (FabMaxflow) empty = fab_maxflow_new (2);
  fab_maxflow_add (empty, 0, 1, 0);
  assert_near (fab_maxflow_solve (empty, 0, 1), 0, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (the_flow_is_the_least_cut),
                                      cmocka_unit_test (what_is_rounding_does_not_flow) };

  return cmocka_run_group_tests_name ("maxflow", tests, NULL, NULL);
}
