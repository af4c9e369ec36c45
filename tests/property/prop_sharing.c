/* SPDX-License-Identifier: Apache-2.0 */
/* prop_sharing.c - flows come and go, links change: after each time the rates are those of solving all flows anew. */
#include "tests/support/test.h"

#include "sim/solve/maxmin.h"
#include "sim/solve/sharing.h"
#include "tests/support/seeds.h"

enum { MOST_FLOWS = 60, MOST_LINKS = 40, MOST_WIDE = 100, N_CHANGES = 40 };

typedef struct {
  FabSharer sharer;
  double rate; /* last told; < 0: never */
  gboolean is_in;
  guint links[MOST_WIDE];
  double weights[MOST_WIDE];
} Flow;

typedef struct {
  Random *random;
  FabSharing *sharing;
  FabMaxmin *solver;
  double capacities[MOST_WIDE];
  Flow flows[MOST_FLOWS];
  guint n_links, n_flows, most_links, wide_percent, equal_percent;
} Model;

static double
random_amount (Model *self)
{
  return random_chance (self->random, self->equal_percent) ? 1 : random_scale (self->random, 0.2, 5);
}

static void
note_rate (G_GNUC_UNUSED gpointer owner, FabSharer *sharer, double rate)
{
  ((Flow *) sharer)->rate = rate;
}

/* Some links of all, each once. */
static void
choose_links (Model *self, Flow *flow)
{
  guint n = random_between (self->random, 1, self->most_links),
        first = random_below (self->random, self->n_links);
  guint step = random_between (self->random, 1, 3);

  if (random_chance (self->random, self->wide_percent))
    n = self->n_links;
  flow->sharer.n = 0;
  for (guint l = first; l < first + self->n_links && flow->sharer.n < n; l += n == self->n_links ? 1 : step) {
    flow->links[flow->sharer.n] = l % self->n_links;
    flow->weights[flow->sharer.n++] = random_amount (self);
  }
}

static void
come (Model *self, Flow *flow)
{
  flow->sharer = (FabSharer){ .links = flow->links,
                              .weights = flow->weights,
                              .weight_factor = random_amount (self),
                              .share = random_amount (self),
                              .limit = random_chance (self->random, 20) ? random_amount (self) : 0 };
  choose_links (self, flow);
  flow->rate = -1;
  flow->is_in = TRUE;
  fab_sharing_add (self->sharing, &flow->sharer);
}

static void
change_something (Model *self)
{
  Flow *flow = &self->flows[random_below (self->random, self->n_flows)];
  guint link = random_below (self->random, self->n_links);

  if (random_chance (self->random, 10)) {
    self->capacities[link] = random_chance (self->random, 20) ? 0 : 10 * random_amount (self);
    fab_sharing_change_capacity (self->sharing, link, self->capacities[link]);
  } else if (flow->is_in) {
    flow->is_in = FALSE;
    fab_sharing_remove (self->sharing, &flow->sharer);
  } else {
    come (self, flow);
  }
}

static void
solve_anew (const Model *self, double *rates)
{
  guint starts[MOST_FLOWS + 1] = { 0 }, links[MOST_FLOWS * MOST_WIDE], n = 0;
  double weights[MOST_FLOWS * MOST_WIDE], shares[MOST_FLOWS], limits[MOST_FLOWS];

  for (guint f = 0; f < self->n_flows; f++) {
    const FabSharer *sharer = &self->flows[f].sharer;

    if (!self->flows[f].is_in)
      continue;
    for (guint i = 0; i < sharer->n; i++)
      links[starts[n] + i] = sharer->links[i];
    for (guint i = 0; i < sharer->n; i++)
      weights[starts[n] + i] = sharer->weights[i] * sharer->weight_factor;
    shares[n] = sharer->share;
    limits[n] = sharer->limit;
    starts[n + 1] = starts[n] + sharer->n;
    n++;
  }
  fab_maxmin_solve (self->solver,
                    &(FabMaxminProblem){ n, self->n_links, self->capacities, starts, links, weights, shares,
                                         limits },
                    rates, NULL);
}

static void
check_rates (const Model *self)
{
  double rates[MOST_FLOWS];
  guint n = 0;

  solve_anew (self, rates);
  for (guint f = 0; f < self->n_flows; f++)
    if (self->flows[f].is_in)
      assert_near (self->flows[f].rate, rates[n++], 1e-12);
}

static void
play (Random *random, Model *self)
{
  g_autoptr (FabSharing) sharing = fab_sharing_new (MOST_WIDE, note_rate, NULL);
  g_autoptr (FabMaxmin) solver = fab_maxmin_new ();

  self->random = random;
  self->sharing = sharing;
  self->solver = solver;
  self->equal_percent = random_between (random, 0, 3) * 33;
  for (guint l = 0; l < self->n_links; l++) {
    self->capacities[l] = 10 * random_amount (self);
    fab_sharing_set_capacity (sharing, l, self->capacities[l]);
  }
  for (guint f = 0; f < self->n_flows; f++)
    if (random_chance (random, 70))
      come (self, &self->flows[f]);
  for (guint i = 0; i < N_CHANGES; i++) {
    fab_sharing_solve (sharing);
    check_rates (self);
    for (guint k = random_chance (random, 30) ? random_below (random, 20) : 1; k > 0; k--)
      change_something (self);
  }
}

/* Paths: solved level by level. */
static void
play_paths (Random *random)
{
  Model self = { .n_links = random_between (random, 1, MOST_LINKS),
                 .n_flows = random_between (random, 1, MOST_FLOWS),
                 .most_links = random_between (random, 1, 8) };

  play (random, &self);
}

/* Some use all of the hundred links, so that components are solved, and levels again when they have gone. */
static void
play_wide (Random *random)
{
  Model self = {
    .n_links = MOST_WIDE, .n_flows = random_between (random, 1, 12), .most_links = 4, .wide_percent = 5
  };

  play (random, &self);
}

static void
rates_are_those_of_solving_all_anew (G_GNUC_UNUSED void **state)
{
  seeds_run (600, play_paths);
}

static void
so_they_are_where_flows_of_many_links_come_and_go (G_GNUC_UNUSED void **state)
{
  seeds_run (200, play_wide);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (rates_are_those_of_solving_all_anew),
    seeds_test (so_they_are_where_flows_of_many_links_come_and_go),
  };

  return cmocka_run_group_tests_name ("sharing", tests, NULL, NULL);
}
