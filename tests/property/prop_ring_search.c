/* SPDX-License-Identifier: Apache-2.0 */
/* prop_ring_search.c - of small random wirings as many rings and paths are found as there are: against a search that
 * tries all sets of all orders. */
#include "tests/support/test.h"

#include "sim/solve/ring_search.h"
#include "tests/support/mesh.h"
#include "tests/support/seeds.h"

enum { MOST_VERTICES = 5, MOST_PATHS = 3, MOST_ORDERS = 24 };

/* All orders of the vertices from one vertex on. */
typedef struct {
  guint n, n_orders;
  gboolean is_closed; /* the last one is followed by the first */
  guint orders[MOST_ORDERS][MOST_VERTICES];
} Orders;

/* `last` is where they end; G_MAXUINT: anywhere. */
static void
list_orders (Orders *self, guint *order, guint n_placed, guint last)
{
  if (n_placed == self->n && (last == G_MAXUINT || order[n_placed - 1] == last))
    memcpy (self->orders[self->n_orders++], order, sizeof self->orders[0]);
  for (guint v = 0; n_placed < self->n && v < self->n; v++) {
    gboolean is_new = TRUE;

    for (guint i = 0; i < n_placed; i++)
      is_new = is_new && order[i] != v;
    order[n_placed] = v;
    if (is_new)
      list_orders (self, order, n_placed + 1, last);
  }
}

static Orders
orders_between (guint n, guint first, guint last)
{
  Orders self = { n, 0, last == G_MAXUINT, { { 0 } } };
  guint order[MOST_VERTICES] = { first };

  list_orders (&self, order, 1, last);
  return self;
}

/* Takes the links of an order, or gives them back. FALSE: a link of it is not there, and nothing was taken. */
static gboolean
take (const Orders *self, guint which, guint *left, gboolean gives_back)
{
  guint n_steps = self->n - !self->is_closed;

  for (guint i = 0; i < n_steps; i++) {
    guint *link = &left[self->orders[which][i] * self->n + self->orders[which][(i + 1) % self->n]];

    if (!gives_back && *link == 0) {
      while (i-- > 0)
        left[self->orders[which][i] * self->n + self->orders[which][(i + 1) % self->n]]++;
      return FALSE;
    }
    *link += gives_back ? 1 : -1U;
  }
  return TRUE;
}

/* Whether `n_wanted` rings fit, the same one as often as it fits. */
static gboolean
rings_fit (const Orders *self, guint from, guint n_wanted, guint *left)
{
  guint n_out = 0;

  for (guint to = 0; to < self->n; to++)
    n_out += left[to];
  if (n_wanted == 0)
    return TRUE;
  for (guint which = from; n_wanted <= n_out && which < self->n_orders; which++) {
    if (!take (self, which, left, FALSE))
      continue;
    gboolean fits = rings_fit (self, which, n_wanted - 1, left);
    take (self, which, left, TRUE);
    if (fits)
      return TRUE;
  }
  return FALSE;
}

static void
scale (const Wiring *wiring, guint load, guint *left)
{
  for (guint i = 0; i < wiring->n * wiring->n; i++)
    left[i] = wiring->counts[i] * load;
}

static guint
most_rings (const Wiring *wiring, guint load)
{
  Orders orders = orders_between (wiring->n, 0, G_MAXUINT);
  guint left[MOST_VERTICES * MOST_VERTICES], n = 0;

  scale (wiring, load, left);
  while (rings_fit (&orders, 0, n + 1, left))
    n++;
  return n;
}

/* Whether there are `copies` paths between each pair of ends, from path `at` on. */
static gboolean
paths_fit (const Wiring *wiring, const FabPackArc *ends, guint n_paths, guint copies, guint at, guint *left)
{
  if (at == n_paths * copies)
    return TRUE;

  Orders orders = orders_between (wiring->n, ends[at / copies].from, ends[at / copies].to);
  for (guint which = 0; which < orders.n_orders; which++) {
    if (!take (&orders, which, left, FALSE))
      continue;
    gboolean fits = paths_fit (wiring, ends, n_paths, copies, at + 1, left);
    take (&orders, which, left, TRUE);
    if (fits)
      return TRUE;
  }
  return FALSE;
}

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
  guint once = most_rings (&wiring, 1), twice = most_rings (&wiring, 2);
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
  guint left[MOST_VERTICES * MOST_VERTICES], copies = 0, load = 1;
  FabPackArc ends[MOST_PATHS];

  for (guint i = 0; i < n_paths; i++) {
    ends[i].from = random_below (random, n);
    ends[i].to = (ends[i].from + random_between (random, 1, n - 1)) % n;
  }
  scale (&wiring, 1, left);
  while (paths_fit (&wiring, ends, n_paths, copies + 1, 0, left))
    copies++;
  while (copies == 0 && 2 * load <= n_paths) {
    load *= 2;
    scale (&wiring, load, left);
    copies = paths_fit (&wiring, ends, n_paths, 1, 0, left);
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
