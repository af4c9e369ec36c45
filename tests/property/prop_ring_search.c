/* SPDX-License-Identifier: Apache-2.0 */
/* prop_ring_search.c - of small random wirings as many rings and paths are found as there are: against a search that
 * tries all sets of all orders. */
#include "tests/support/test.h"

#include "sim/solve/ring_search.h"
#include "tests/support/mesh.h"
#include "tests/support/seeds.h"
#include "tests/support/slow_rings.h"

enum { MOST_VERTICES = 5, MOST_PATHS = 3 };

/* Both directions alike as a wire has them, or each by itself. */
static Wiring
random_wiring (Random *random, guint n)
{
  Wiring self = { .n = n };
  guint percent = random_between (random, 40, 100);
  gboolean is_twice = random_chance (random, 30), is_even = random_chance (random, 50);

  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < n; b++) {
      guint *count = &self.counts[a * n + b];

      if (a != b && random_chance (random, percent))
        *count = is_twice ? random_between (random, 1, 2) : 1;
      if (is_even && b < a)
        *count = self.counts[b * n + a];
    }
  return self;
}

/* Each link is used once, or twice where more is moved so. */
static void
check_rings (Random *random)
{
  Wiring wiring = random_wiring (random, random_between (random, 2, MOST_VERTICES));
  guint once = slow_rings_most (&wiring, 1), twice = slow_rings_most (&wiring, 2);
  FabRingSet set = fab_ring_search_cycles (wiring.counts, wiring.n);

  mesh_assert_orders (&wiring, &set, TRUE);
  assert_int_equal (set.load, twice > 2 * once ? 2 : 1);
  assert_int_equal (set.n_orders, twice > 2 * once ? twice : once);
  fab_ring_set_clear (&set);
}

/* The most of them over each link once; where there are not enough for one each, the fewest over each link. */
static void
check_paths (Random *random)
{
  guint n = random_between (random, 2, MOST_VERTICES), n_paths = random_between (random, 1, MOST_PATHS);
  Wiring wiring = random_wiring (random, n);
  guint copies = 0, load = 1;
  FabPackArc ends[MOST_PATHS];

  for (guint i = 0; i < n_paths; i++) {
    ends[i].from = random_below (random, n);
    ends[i].to = (ends[i].from + random_between (random, 1, n - 1)) % n;
  }
  while (slow_rings_has_paths (&wiring, 1, ends, n_paths, copies + 1))
    copies++;
  while (copies == 0 && 2 * load <= n_paths) {
    load *= 2;
    copies = slow_rings_has_paths (&wiring, load, ends, n_paths, 1);
  }

  FabRingSet set = fab_ring_search_paths (wiring.counts, n, ends, n_paths);
  mesh_assert_orders (&wiring, &set, FALSE);
  assert_int_equal (set.n_orders, copies * n_paths);
  assert_int_equal (set.load, copies > 0 ? load : 1);
  for (guint i = 0; i < set.n_orders; i++) {
    assert_int_equal (set.orders[i * n], ends[i / copies].from);
    assert_int_equal (set.orders[i * n + n - 1], ends[i / copies].to);
  }
  fab_ring_set_clear (&set);
}

static void
as_many_rings_are_found_as_there_are (G_GNUC_UNUSED void **state)
{
  seeds_run (150, check_rings);
}

static void
as_many_paths_are_found_as_there_are (G_GNUC_UNUSED void **state)
{
  seeds_run (150, check_paths);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (as_many_rings_are_found_as_there_are),
    seeds_test (as_many_paths_are_found_as_there_are),
  };

  return cmocka_run_group_tests_name ("ring_search", tests, NULL, NULL);
}
