/* SPDX-License-Identifier: Apache-2.0 */
/* prop_bill.c - a larger machine is never cheaper, and every way to count money agrees. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/cost/bill.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

static FabBill *
bill_of (const char *node, guint nodes, guint nics, const char *fabric)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: %s, nodes: %u, nics_per_node: %u, fabric: %s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      node, nodes, nics, fabric);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);
  FabBill *bill = scenario ? fab_bill_new (scenario, &error) : NULL;

  if (bill == NULL)
    fail_msg ("%s", error->message);
  for (guint i = 0; i < bill->rows->len; i++) /* they point into the scenario */
    g_array_index (bill->rows, FabBillRow, i).what = NULL;
  return bill;
}

static double
sum_of_rows (const FabBill *bill)
{
  double sum = 0;

  for (guint i = 0; i < bill->rows->len; i++) {
    const FabBillRow *row = &g_array_index (bill->rows, FabBillRow, i);

    sum += row->usd_each * (double) row->count;
  }
  return sum;
}

static void
check_larger (Random *random)
{
  static const char *const fabrics[] = { "switch", "{kind: rail, nodes_per_leaf: 16}",
                                         "{kind: fat_tree, radix: 64}", "{kind: rail_only}",
                                         "{kind: leaf_spine, nodes_per_leaf: 4}" };
  const char *fabric = fabrics[random_below (random, G_N_ELEMENTS (fabrics))];
  const char *node = random_chance (random, 50) ? "dgx-h100" : "hgx-h200";
  guint nodes = random_between (random, 2, 40), nics = random_chance (random, 50) ? 8 : 2;
  g_autoptr (FabBill) small = bill_of (node, nodes, nics, fabric);
  g_autoptr (FabBill) large = bill_of (node, nodes + random_between (random, 1, 40), nics, fabric);

  assert_true (small->is_priced && small->is_powered);
  assert_true (large->total.usd > small->total.usd);
  assert_true (large->network.usd >= small->network.usd);
  assert_true (large->network_watts >= small->network_watts);
  assert_true (small->total.low_usd <= small->total.usd && small->total.usd <= small->total.high_usd);
  assert_near (small->total.usd, sum_of_rows (small), 1e-9);
}

static void
a_larger_machine_is_never_cheaper (G_GNUC_UNUSED void **state)
{
  seeds_run (40, check_larger);
}

/* Of `n` ports with switches of k: enough ports at the edge, no more than a tree one tier taller would have. */
static void
check_switches (Random *random)
{
  guint k = random_between (random, 4, 80), n = random_between (random, 1, 20000);
  FabPortGroup group = { n, 1, 1 }, more = { n + random_between (random, 1, 500), 1, 1 };
  FabBillSwitchCount a = fab_bill_switch_count (&group, 1, FALSE, k),
                     b = fab_bill_switch_count (&more, 1, FALSE, k);
  guint64 outside = a.n_switches * k - 2 * a.n_cables;

  assert_true (b.n_switches >= a.n_switches && b.n_cables >= a.n_cables);
  assert_true (a.n_switches * k >= 2 * a.n_cables
               && outside >= n); /* ports that no cable between switches takes */
  group.n_links = random_between (random, 1, 8);
  FabPortGroup apart = { n * group.n_links, 1, 1 };
  assert_true (fab_bill_switch_count (&group, 1, TRUE, k).n_switches
               <= fab_bill_switch_count (&apart, 1, FALSE, k).n_switches);
}

static void
switches_have_the_ports_that_are_wanted (G_GNUC_UNUSED void **state)
{
  seeds_run (2000, check_switches);
}

static double
between (Random *random, double from, double to)
{
  return from + (to - from) * (double) random_below (random, 1000000) / 1e6;
}

static void
check_agreement (Random *random)
{
  FabBill bill = { .cap_fraction = 1,
                   .total = { .usd = between (random, 1e3, 1e9) },
                   .accelerator_watts = between (random, 1e3, 1e7),
                   .node_watts = between (random, 0, 1e6),
                   .network_watts = between (random, 0, 1e6),
                   .n_accelerators = random_between (random, 1, 100000),
                   .is_priced = TRUE,
                   .is_powered = TRUE };
  FabCostSpec cost = { .usd_per_kwh = between (random, 0, 1),
                       .pue_factor = between (random, 1, 2),
                       .years = between (random, 1, 10),
                       .busy_fraction = between (random, 0.5, 1),
                       .waiting_fraction = between (random, 0, 0.5) };
  double step_s = between (random, 1e-3, 100), tokens = between (random, 1, 1e9);
  FabWork work = { random_between (random, 1, (guint) bill.n_accelerators), step_s,
                   between (random, 0, step_s), tokens / step_s, between (random, 1, 1e7) };
  FabSpending spending = fab_spending_of (&bill, &cost, &work);
  double tokens_per_hour = work.tokens_per_s * 3600, steps = work.train_s / step_s;

  assert_near (spending.usd_per_million_tokens, spending.usd_per_hour / tokens_per_hour * 1e6, 1e-9);
  assert_near (spending.usd_per_step, spending.usd_per_million_tokens * tokens / 1e6, 1e-9);
  assert_near (spending.train_usd, spending.usd_per_step * steps, 1e-9);
  assert_near (spending.train_joules, spending.step_joules * steps, 1e-9);
  assert_true (spending.network_watts <= spending.power_watts);
  assert_near (spending.usd_per_hour, spending.bought_usd_per_hour + spending.energy_usd_per_hour, 1e-12);

  work.compute_s = step_s; /* what computes all the time draws most */
  assert_true (fab_spending_of (&bill, &cost, &work).power_watts >= spending.power_watts * (1 - 1e-12));
}

static void
all_ways_to_count_agree (G_GNUC_UNUSED void **state)
{
  seeds_run (2000, check_agreement);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_larger_machine_is_never_cheaper),
    cmocka_unit_test (switches_have_the_ports_that_are_wanted),
    cmocka_unit_test (all_ways_to_count_agree),
  };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("bill", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
