/* SPDX-License-Identifier: Apache-2.0 */
/* prop_maxmin.c - 10 000 random problems: equal to progressive filling done naively, feasible, and max-min fair. */
#include "tests/support/test.h"

#include "tests/support/ref_maxmin.h"
#include "tests/support/seeds.h"

enum { MOST_FLOWS = 12, MOST_LINKS = 12 };

typedef struct {
  FabMaxminProblem problem;
  double capacity[MOST_LINKS];
  guint starts[MOST_FLOWS + 1];
  guint links[MOST_FLOWS * MOST_LINKS];
  double weights[MOST_FLOWS * MOST_LINKS];
  double shares[MOST_FLOWS], limits[MOST_FLOWS];
} System;

/* Often equal numbers, so that links fill and flows stop together. */
static double
random_amount (Random *random, double spread)
{
  return random_chance (random, 50) ? random_between (random, 1, 4)
                                    : random_scale (random, 1 / spread, spread);
}

static void
make (Random *random, double spread, System *system)
{
  guint n_flows = random_between (random, 1, MOST_FLOWS), n_links = random_between (random, 1, MOST_LINKS);
  guint density = random_between (random, 5, 95), n = 0;

  for (guint l = 0; l < n_links; l++)
    system->capacity[l] = random_amount (random, spread) * 10;
  system->starts[0] = 0;
  for (guint f = 0; f < n_flows; f++) {
    for (guint l = 0; l < n_links; l++)
      if (random_chance (random, density)) {
        system->links[n] = l;
        system->weights[n++] = random_amount (random, spread);
      }
    system->starts[f + 1] = n;
    system->shares[f] = random_amount (random, spread);
    system->limits[f] = n == system->starts[f] || random_chance (random, 30) ? random_amount (random, spread)
                                                                             : 0;
  }
  system->problem = (FabMaxminProblem){ n_flows,       n_links,         system->capacity, system->starts,
                                        system->links, system->weights, system->shares,   system->limits };
}

static double
load_of (const FabMaxminProblem *p, const double *rates, guint link)
{
  double load = 0;

  for (guint f = 0; f < p->n_flows; f++)
    for (guint e = p->starts[f]; e < p->starts[f + 1]; e++)
      if (p->links[e] == link)
        load += p->weights[e] * rates[f];
  return load;
}

static void
assert_feasible (const FabMaxminProblem *p, const double *rates)
{
  for (guint l = 0; l < p->n_links; l++)
    assert_true (load_of (p, rates, l) <= p->capacity[l] * (1 + 1e-9));
  for (guint f = 0; f < p->n_flows; f++) {
    assert_true (rates[f] > 0);
    assert_true (p->limits[f] <= 0 || rates[f] <= p->limits[f]);
  }
}

/* What holds a flow back is its limit, or a full link of its own on which nobody has a higher level. */
static void
assert_held_back (const FabMaxminProblem *p, const double *rates, guint flow, guint binding)
{
  gboolean is_own = FALSE;

  if (binding == FAB_MAXMIN_LIMIT) {
    assert_near (rates[flow], p->limits[flow], 1e-9);
    return;
  }
  assert_near (load_of (p, rates, binding), p->capacity[binding], 1e-9);
  for (guint f = 0; f < p->n_flows; f++)
    for (guint e = p->starts[f]; e < p->starts[f + 1]; e++) {
      if (p->links[e] != binding)
        continue;
      is_own |= f == flow;
      assert_true (rates[f] / p->shares[f] <= rates[flow] / p->shares[flow] * (1 + 1e-9));
    }
  assert_true (is_own);
}

static void
check_with_spread (Random *random, double spread, double tolerance)
{
  g_autoptr (FabMaxmin) solver = fab_maxmin_new ();
  double rates[MOST_FLOWS], expected[MOST_FLOWS];
  guint binding[MOST_FLOWS];

  for (guint i = 0; i < 20; i++) {
    System system;

    make (random, spread, &system);
    fab_maxmin_solve (solver, &system.problem, rates, binding);
    ref_maxmin_solve (&system.problem, expected);
    for (guint f = 0; f < system.problem.n_flows; f++)
      assert_near (rates[f], expected[f], tolerance);
    assert_feasible (&system.problem, rates);
    for (guint f = 0; f < system.problem.n_flows; f++)
      assert_held_back (&system.problem, rates, f, binding[f]);
  }
}

static void
check_usual (Random *random)
{
  check_with_spread (random, 10, 1e-9);
}

/* Weights over eight orders of magnitude: what cancellation does to running sums must not reach the answer. (The
 * naive reference loses digits as well when one flow takes almost all of a link.) */
static void
check_extreme (Random *random)
{
  check_with_spread (random, 1e4, 1e-7);
}

static void
rates_are_those_of_naive_filling (G_GNUC_UNUSED void **state)
{
  seeds_run (500, check_usual);
}

static void
they_are_so_for_extreme_weights (G_GNUC_UNUSED void **state)
{
  seeds_run (500, check_extreme);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (rates_are_those_of_naive_filling),
    seeds_test (they_are_so_for_extreme_weights),
  };

  return cmocka_run_group_tests_name ("maxmin", tests, NULL, NULL);
}
