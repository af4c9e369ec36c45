/* SPDX-License-Identifier: Apache-2.0 */
/* test_bill.c - what machines are made of, counted by hand, and what that costs. Prices are the test's own. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/mix.h"
#include "sim/cost/bill.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* 8 GPUs at $100, a node at $1000, NICs at $10, switches of 8 ports at $50, copper to 2 m at $1, fibre at $2 with two
 * optics at $3 each: a link that is longer than 2 m is $8. Watts: GPU 700 (the catalogue's), node 400, NIC 10, switch
 * 80, optic 5. */
#define PRODUCTS                                                                                     \
  "products:\n"                                                                                      \
  "  - {name: gpu, kind: accelerator, accelerator: h100-sxm5-80gb, price_usd: 100, high_usd: 150}\n" \
  "  - {name: box, kind: node, node: dgx-h100, price_usd: 1000, low_usd: 800, power_watts: 400}\n"   \
  "  - {name: card, kind: nic, link: ib-ndr, price_usd: 10, power_watts: 10}\n"                      \
  "  - {name: small, kind: switch, link: ib-ndr, ports: 8, price_usd: 50, power_watts: 80}\n"        \
  "  - {name: copper, kind: cable, link: ib-ndr, reach: 2m, price_usd: 1}\n"                         \
  "  - {name: glass, kind: cable, link: ib-ndr, reach: 100m, optics: 2, price_usd: 2}\n"             \
  "  - {name: laser, kind: optic, link: ib-ndr, price_usd: 3, power_watts: 5}\n"

#define JOB                              \
  "name: t\ncluster: {node: dgx-h100}\n" \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"

static FabScenario *
scenario_of (const char *cluster, const char *more)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: dgx-h100, %s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
      "%s" PRODUCTS,
      cluster, more);
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                              &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

static guint64
count_of (const FabBill *bill, FabProductKind kind, const char *product)
{
  guint64 n = 0;

  for (guint i = 0; i < bill->rows->len; i++) {
    const FabBillRow *row = &g_array_index (bill->rows, FabBillRow, i);

    if (row->kind == kind && g_strcmp0 (row->product ? row->product->name : NULL, product) == 0)
      n += row->count;
  }
  return n;
}

static FabBill *
bill_of (const FabScenario *scenario)
{
  g_autoptr (GError) error = NULL;
  FabBill *bill = fab_bill_new (scenario, &error);

  if (bill == NULL)
    fail_msg ("%s", error->message);
  return bill;
}

typedef struct {
  const char *cluster;
  guint64 gpus, nodes, nics, switches, copper, glass, optics;
  double usd;
} Expected;

static void
check (const Expected *expected)
{
  g_autoptr (FabScenario) scenario = scenario_of (expected->cluster,
                                                  "cost: {nic_cable: 2m, switch_cable: 30m}\n");
  g_autoptr (FabBill) bill = bill_of (scenario);

  assert_int_equal (count_of (bill, FAB_PRODUCT_ACCELERATOR, "gpu"), expected->gpus);
  assert_int_equal (count_of (bill, FAB_PRODUCT_NODE, "box"), expected->nodes);
  assert_int_equal (count_of (bill, FAB_PRODUCT_NIC, "card"), expected->nics);
  assert_int_equal (count_of (bill, FAB_PRODUCT_SWITCH, "small"), expected->switches);
  assert_int_equal (bill->n_switches, expected->switches);
  assert_int_equal (count_of (bill, FAB_PRODUCT_CABLE, "copper"), expected->copper);
  assert_int_equal (count_of (bill, FAB_PRODUCT_CABLE, "glass"), expected->glass);
  assert_int_equal (count_of (bill, FAB_PRODUCT_OPTIC, "laser"), expected->optics);
  assert_true (bill->is_priced);
  assert_near (bill->total.usd, expected->usd, 1e-12);
  for (guint i = 1; i < bill->rows->len; i++) /* by kind */
    assert_true (g_array_index (bill->rows, FabBillRow, i - 1).kind
                 <= g_array_index (bill->rows, FabBillRow, i).kind);
}

static void
fabrics_are_counted_as_by_hand (G_GNUC_UNUSED void **state)
{
  static const Expected cases[] = {
    /* One machine needs no network. */
    { "nodes: 1", 8, 1, 0, 0, 0, 0, 0, 1800 },
    /* 4 x 2 NICs fill one switch of 8 ports. 4 x 1800 + 8 x 10 + 50 + 8 x 1. */
    { "nodes: 4, nics_per_node: 2, fabric: switch", 32, 4, 8, 1, 8, 0, 0, 7338 },
    /* 16 ports of switches of 8: 4 leaves with 4 up, 2 spines, 16 cables between; with two optics each. */
    { "nodes: 8, nics_per_node: 2, fabric: switch", 64, 8, 16, 6, 16, 16, 32, 14400 + 160 + 300 + 16 + 128 },
    /* A fabric whose NICs one switch takes is one switch. */
    { "nodes: 4, nics_per_node: 2, fabric: {kind: rail, nodes_per_leaf: 4}", 32, 4, 8, 1, 8, 0, 0, 7338 },
    /* Two units of two rails: 4 leaves with 4 up are 16 ports, so the layer is 2 spines. */
    { "nodes: 8, nics_per_node: 2, fabric: {kind: rail, nodes_per_leaf: 4}", 64, 8, 16, 6, 16, 16, 32,
      14400 + 160 + 300 + 16 + 128 },
    /* The same as a fat tree of radix 8: it is what the layer stands for. */
    { "nodes: 8, nics_per_node: 2, fabric: {kind: fat_tree, radix: 8}", 64, 8, 16, 6, 16, 16, 32,
      14400 + 160 + 300 + 16 + 128 },
    /* Two networks of it, one per rail: 2 leaves with one link to each of 4 spines of 2 ports: one switch. */
    { "nodes: 8, nics_per_node: 2, fabric: {kind: rail_only, nodes_per_leaf: 4}", 64, 8, 16, 6, 16, 16, 32,
      14400 + 160 + 300 + 16 + 128 },
    /* Half of the uplinks, and one spine. */
    { "nodes: 8, nics_per_node: 2, fabric: {kind: rail, nodes_per_leaf: 4, oversubscription: 2}", 64, 8, 16,
      5, 16, 8, 16, 14400 + 160 + 250 + 16 + 64 },
    /* The second unit has 2 of 4 nodes: 2 of 4 uplinks are enough. 2 x 4 + 2 x 2, to 2 spines. */
    { "nodes: 6, nics_per_node: 2, fabric: {kind: rail, nodes_per_leaf: 4}", 48, 6, 12, 6, 12, 12, 24,
      10800 + 120 + 300 + 12 + 96 },
    /* Two places are empty on purpose: all uplinks are there. */
    { "nodes: 6, places: 8, nics_per_node: 2, fabric: {kind: rail, nodes_per_leaf: 4}", 48, 6, 12, 6, 12, 16,
      32, 10800 + 120 + 300 + 12 + 128 },
    /* Four groups of 2 routers with 2 NICs: 1 link inside, 2 between any two (2 x 3 global ports for 3 others). */
    { "nodes: 8, nics_per_node: 2, fabric: {kind: dragonfly, groups: 4, routers_per_group: 2, nics_per_router: 2, "
      "global_ports: 3}",
      64, 8, 16, 8, 16, 16, 32, 14400 + 160 + 400 + 16 + 128 },
    /* Room for 4, of which one is there: the switch is, the cables are not. */
    { "nodes: 1, places: 4, nics_per_node: 2, fabric: switch", 8, 1, 2, 1, 2, 0, 0, 1800 + 20 + 50 + 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

/* Four nodes of one NIC on two leaves with a spine: one switch would do, and a machine that exists keeps its three. */
static void
switches_that_one_replaces_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *fabric;
    guint64 n_replaced;
    double ratio;
  } cases[] = {
    { "nodes: 4, nics_per_node: 1, fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}", 3,
      2 },
    { "nodes: 4, nics_per_node: 1, fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 1}", 4,
      1 },
    { "nodes: 4, nics_per_node: 1, fabric: switch", 1, 0 },
    { "nodes: 1", 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabScenario) scenario = scenario_of (cases[i].fabric, "");
    g_autoptr (FabBill) bill = bill_of (scenario), built = fab_bill_as_built (scenario, NULL);

    assert_int_equal (bill->n_replaced, cases[i].n_replaced);
    assert_near (bill->replaced_ratio, cases[i].ratio, 1e-9);
    assert_int_equal (built->n_replaced, 0);
    assert_near (built->replaced_ratio, 0, 1e-9);
  }
}

/* Switches of 8 ports by hand: up to 8 ports one; 32 with two tiers, 128 with three. */
static void
a_switch_too_large_to_buy_is_several (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabPortGroup group;
    gboolean can_deal;
    guint64 n_switches, n_cables;
  } cases[] = {
    { { 8, 1, 1 }, FALSE, 1, 0 },       { { 9, 1, 1 }, FALSE, 3 + 2, 12 },
    { { 32, 1, 1 }, FALSE, 8 + 4, 32 }, { { 128, 1, 1 }, FALSE, 32 + 32 + 16, 256 }, /* 5/4 k^2 */
    { { 16, 1, 2 }, FALSE, 1, 0 },                                                   /* ports split in two */
    { { 2, 8, 1 }, TRUE, 2, 0 }, /* a layer: 4 links from each of 2 to each of 2 */
    { { 8, 4, 1 }, TRUE, 4, 0 },        { { 16, 2, 1 }, TRUE, 12, 32 }, /* 2 planes of 16 ports: 4 + 2 each */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabBillSwitchCount count = fab_bill_switch_count (&cases[i].group, 1, cases[i].can_deal, 8);

    assert_int_equal (count.n_switches, cases[i].n_switches);
    assert_int_equal (count.n_cables, cases[i].n_cables);
  }
}

/* One network of P ports: the fewest tiers that are enough. */
static FabBillSwitchCount
expect_clos (guint64 n_ports, guint64 k)
{
  guint64 half = k / 2, edge = (n_ports + half - 1) / half, most = k, tiers = 1;

  if (n_ports <= k)
    return (FabBillSwitchCount){ 1, 0 };
  for (; most < n_ports; most *= half)
    tiers++;
  return (FabBillSwitchCount){ (tiers - 1) * edge + (edge + 1) / 2, (tiers - 1) * edge * half };
}

/* Any neighbours: the number of planes, at most the links that each can deal, with the fewest switches. A port
 * of a plane that is split into slower links takes as many of them as fit, also of several neighbours. */
static void
any_switch_is_the_fewest_that_stand_for_it (G_GNUC_UNUSED void **state)
{
  guint64 seed = 1;

  for (guint round = 0; round < 3000; round++) {
    FabPortGroup groups[3];
    guint numbers[10], n_groups, most_planes = G_MAXUINT, k;

    for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
      numbers[i] = (guint) (fab_mix (seed++, 7) % 32);
    n_groups = 1 + numbers[0] % 3;
    k = 4 + 2 * (numbers[1] % 15);
    for (guint g = 0; g < n_groups; g++) {
      groups[g] = (FabPortGroup){ 1 + numbers[2 + g], 1 + numbers[5 + g] % 12, 1 + numbers[8] % 4 };
      most_planes = MIN (most_planes, groups[g].n_links);
    }
    for (guint can_deal = 0; can_deal < 2; can_deal++) {
      FabBillSwitchCount best = { G_MAXUINT64, 0 };

      for (guint planes = 1; planes <= (can_deal ? most_planes : 1); planes++) {
        guint64 n_ports = 0;

        for (guint g = 0; g < n_groups; g++) {
          guint n_links = groups[g].n * ((groups[g].n_links + planes - 1) / planes);
          n_ports += (n_links + groups[g].links_per_port - 1) / groups[g].links_per_port;
        }
        FabBillSwitchCount one = expect_clos (n_ports, k);
        if (one.n_switches * planes < best.n_switches)
          best = (FabBillSwitchCount){ one.n_switches * planes, one.n_cables * planes };
      }
      FabBillSwitchCount found = fab_bill_switch_count (groups, n_groups, can_deal == 1, k);
      assert_int_equal (found.n_switches, best.n_switches);
      assert_int_equal (found.n_cables, best.n_cables);
    }
  }
  assert_int_equal (fab_bill_switch_count (NULL, 0, TRUE, 8).n_switches, 1);
}

/* Four leaves with four NICs each, and two more switches above them. */
#define LEAVES(links)                                                                                             \
  "nodes: 8, nics_per_node: 2, fabric: {kind: custom, switches: [{name: leaf, count: 4}, {name: a}, {name: b}], " \
  "attach: [{to: leaf}], links: [" links "]}"

/* Two switches with the same links to the same neighbours may be one product, of 8 ports here. With other neighbours,
 * more links to them or links of another kind each is one. */
static void
switches_that_are_alike_may_be_one (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    guint64 n_switches, n_fabric_cables;
  } cases[] = {
    { LEAVES ("{from: leaf, to: a}, {from: leaf, to: b}"), 4 + 1, 8 },
    { LEAVES ("{from: leaf, to: b}, {from: leaf, to: a}"), 4 + 1, 8 },
    { LEAVES ("{from: leaf, to: a}, {from: leaf, to: b, count: 2}"), 4 + 2, 12 },
    { LEAVES ("{from: leaf, to: a, count: 2}, {from: leaf, to: b}"), 4 + 2, 12 },
    { LEAVES (
          "{from: leaf, to: a}, {from: leaf0, to: b, count: 2}, {from: leaf1, to: b}, {from: leaf2, to: b}, "
          "{from: leaf3, to: b}"),
      4 + 2, 9 },
    { LEAVES ("{from: leaf, to: a}, {from: leaf, to: b, link: roce-400}"), 4 + 2,
      4 }, /* the others are not of glass */
    { LEAVES ("{from: leaf, to: a}, {from: leaf, to: b, link: ib-ndr200}"), 4 + 2, 4 },
    { LEAVES ("{from: leaf, to: a}, {from: leaf0, to: b}, {from: leaf1, to: b}, {from: leaf2, to: b}"), 4 + 2,
      7 },
    { LEAVES ("{from: leaf, to: a}, {from: leaf0, to: b}"), 4 + 2, 5 },
    /* The two links of a NIC cannot be dealt to two switches, as those of a switch could: 16 ports, and not 8 twice. */
    { "nodes: 8, nics_per_node: 1, nic_ports: 2, fabric: switch", 4 + 2, 16 },
    /* Two leaves of a rack have ports of the same NICs, and stay two. */
    { "nodes: 8, nics_per_node: 1, nic_ports: 2, fabric: {kind: leaf_spine, nodes_per_leaf: 4, tors: 2}",
      4 + 2, 16 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabScenario) scenario = scenario_of (cases[i].cluster,
                                                    "cost: {nic_cable: 2m, switch_cable: 30m}\n");
    g_autoptr (FabBill) bill = bill_of (scenario);

    if (bill->n_switches != cases[i].n_switches
        || count_of (bill, FAB_PRODUCT_CABLE, "glass") != cases[i].n_fabric_cables)
      fail_msg ("case %u: %" G_GUINT64_FORMAT " switches, %" G_GUINT64_FORMAT " cables", i,
                (guint64) bill->n_switches, count_of (bill, FAB_PRODUCT_CABLE, "glass"));
  }
}

/* 40 leaves of one NIC, all of which have a link to c. Whichever two of them a and b join, they are two switches, also
 * where a number that is formed of their neighbours happens to be the same for both, as in the first case. */
static void
other_neighbours_are_another_switch (G_GNUC_UNUSED void **state)
{
  guint64 first = 0;

  for (guint i = 0; i < 20; i++) {
    g_autofree char *cluster = g_strdup_printf (
        "nodes: 40, nics_per_node: 1, fabric: {kind: custom, switches: [{name: leaf, count: 40}, {name: a}, {name: b}, "
        "{name: c}], attach: [{to: leaf}], links: [{from: leaf, to: c}, {from: leaf0, to: a}, {from: leaf35, to: a}, "
        "{from: leaf%u, to: b}, {from: leaf4, to: b}]}",
        i == 0 ? 1 : 10 + i);
    g_autoptr (FabScenario) scenario = scenario_of (cluster, "");
    g_autoptr (FabBill) bill = bill_of (scenario);

    if (i == 0)
      first = bill->n_switches;
    assert_int_equal (bill->n_switches, first);
  }
}

static void
what_is_broken_was_bought (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) whole = scenario_of ("nodes: 4", "");
  g_autoptr (FabScenario) broken = scenario_of ("nodes: 4",
                                                "faults: [{what: nic, name: node2/nic1, dead: true}]\n");
  g_autoptr (FabBill) a = bill_of (whole);
  g_autoptr (FabBill) b = bill_of (broken);

  assert_true (a->total.usd > 0);
  assert_near (a->total.usd, b->total.usd, 0);
}

static void
what_has_no_price_is_said (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of ("nodes: 4, nic: efa-v2", "");
  g_autoptr (FabBill) bill = bill_of (scenario);
  FabSpending spending = fab_spending_of (bill, &fab_scenario_spec (scenario)->cost,
                                          &(FabWork){ 32, 1, 0.5, 1000, 3600 });

  assert_false (bill->is_priced);
  assert_true (bill->total.usd > 0);
  assert_near (spending.capex_usd, 0, 0);
  assert_near (spending.usd_per_hour, 0, 0);
}

/* Accelerators or NICs that come with a node have no price of their own, and the sum is known without it. */
static void
what_comes_with_a_node_has_no_price_of_its_own (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    double gpu_usd, card_usd;
  } rows[] = { { "", 100, 10 },
               { ", has_accelerators: true", 0, 10 },
               { ", has_nics: true", 100, 0 },
               { ", has_accelerators: true, has_nics: true", 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: 2, nics_per_node: 1, fabric: switch}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n" PRODUCTS
        "  - {name: rack, kind: node, node: dgx-h100, price_usd: 500, power_watts: 400%s}\n",
        rows[i].keys);
    g_autoptr (GString) text = g_string_new (yaml);
    g_autoptr (GError) error = NULL;

    /* without the other product of the node */
    g_string_replace (text, "kind: node, node: dgx-h100, price_usd: 1000",
                      "kind: node, node: p5, price_usd: 1000", 1);
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", text->str, text->len, NULL, &fab_models,
                                                           catalog, &error);
    if (scenario == NULL)
      fail_msg ("%s", error->message);
    g_autoptr (FabBill) bill = bill_of (scenario);
    assert_int_equal (count_of (bill, FAB_PRODUCT_ACCELERATOR, "gpu"), 16);
    assert_int_equal (count_of (bill, FAB_PRODUCT_NIC, "card"), 2);
    assert_true (bill->is_priced);
    assert_near (bill->total.usd - bill->network.usd, 16 * rows[i].gpu_usd + 2 * 500, 1e-12);
    for (guint k = 0; k < bill->rows->len; k++) {
      const FabBillRow *row = &g_array_index (bill->rows, FabBillRow, k);
      double usd = row->kind == FAB_PRODUCT_ACCELERATOR ? rows[i].gpu_usd : rows[i].card_usd;

      if (row->kind != FAB_PRODUCT_ACCELERATOR && row->kind != FAB_PRODUCT_NIC)
        continue;
      assert_int_equal (row->is_included, usd <= 0);
      assert_near (row->usd_each, usd, 0);
      assert_near (row->low_usd_each, usd, 0);
      assert_near (row->high_usd_each, row->kind == FAB_PRODUCT_ACCELERATOR ? 1.5 * usd : usd, 0);
    }
  }
}

/* Cables and optics of a technology that the catalogue has none of: `ours` with optics of a price, `theirs` with optics
 * of none, and `bare` without any. */
#define OPTICS                                                                        \
  "links:\n"                                                                          \
  "  - {name: ours, technology: Omni-Path, signalling: 100Gb/s, endpoint: 1us}\n"     \
  "  - {name: theirs, technology: Slingshot, signalling: 200Gb/s, endpoint: 1us}\n"   \
  "  - {name: bare, technology: EFA, signalling: 100Gb/s, endpoint: 1us}\n"           \
  "products:\n"                                                                       \
  "  - {name: copper, kind: cable, link: ours, reach: 2m, price_usd: 1}\n"            \
  "  - {name: active, kind: cable, link: ours, reach: 20m, price_usd: 7}\n"           \
  "  - {name: glass, kind: cable, link: ours, reach: 30m, optics: 2, price_usd: 2}\n" \
  "  - {name: fine, kind: cable, link: ours, reach: 90m, optics: 1, price_usd: 4}\n"  \
  "  - {name: gift, kind: cable, link: ours, reach: 99m, optics: 2}\n"                \
  "  - {name: laser, kind: optic, link: ours, price_usd: 3}\n"                        \
  "  - {name: dim, kind: cable, link: theirs, reach: 30m, optics: 2, price_usd: 2}\n" \
  "  - {name: lamp, kind: optic, link: theirs}\n"                                     \
  "  - {name: dark, kind: cable, link: bare, reach: 30m, optics: 2, price_usd: 2}\n"

/* A cable counts with its optics: 2 + 2 x 3 and 4 + 3, beside 1 and 7 for those that have theirs inside. A price that
 * is unknown makes the sum unknown. Of those that are long enough the cheapest is taken, and the dearer one stays where
 * only that reaches. */
static void
cables_count_with_their_optics (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    double usd;
  } prices[] = { { "copper", 1 }, { "active", 7 }, { "glass", 8 }, { "fine", 7 },
                 { "gift", 0 },   { "dim", 0 },    { "dark", 0 } };
  static const struct {
    gint64 length_mm;
    const char *name;
  } lengths[] = { { 1, "copper" },     { 2000, "copper" }, { 2001, "active" },
                  { 20000, "active" }, { 20001, "fine" },  { 30001, "fine" },
                  { 90000, "fine" },   { 90001, "gift" },  { 99001, NULL } };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", JOB OPTICS, strlen (JOB OPTICS), NULL,
                                                         &fab_models, catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  const FabCatalog *own = fab_scenario_catalog (scenario);
  for (guint i = 0; i < G_N_ELEMENTS (prices); i++)
    assert_near (fab_product_cable_usd (own, fab_catalog_product (own, prices[i].name)), prices[i].usd, 0);
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    const FabNeed need = { FAB_PRODUCT_CABLE,    "ours",
                           "Omni-Path",          fab_link_spec_line_rate (fab_catalog_link (own, "ours")),
                           lengths[i].length_mm, 0 };
    const FabProductSpec *product = fab_product_find (own, &need);

    if (g_strcmp0 (product ? product->name : NULL, lengths[i].name) != 0)
      fail_msg ("%" G_GINT64_FORMAT " mm: %s", lengths[i].length_mm, product ? product->name : "none");
  }
}

/* Each cable brings as many transceivers as it needs: none, one or two. Four NICs are joined to one switch. */
static void
cables_bring_their_optics (G_GNUC_UNUSED void **state)
{
  for (guint n_optics = 0; n_optics < 3; n_optics++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: 4, gpus_per_node: 1, nics_per_node: 1, nic: ours, fabric: switch}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
        "links:\n  - {name: ours, technology: Omni-Path, signalling: 100Gb/s, endpoint: 1us}\n"
        "products:\n  - {name: fine, kind: cable, link: ours, reach: 90m, optics: %u, price_usd: 4}\n"
        "  - {name: laser, kind: optic, link: ours, price_usd: 3}\n"
        "  - {name: hub, kind: switch, link: ours, ports: 4, price_usd: 50}\n",
        n_optics);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                           catalog, &error);

    if (scenario == NULL)
      fail_msg ("%s", error->message);
    g_autoptr (FabBill) bill = bill_of (scenario);
    const FabCatalog *own = fab_scenario_catalog (scenario);
    assert_int_equal (count_of (bill, FAB_PRODUCT_CABLE, "fine"), 4);
    assert_int_equal (count_of (bill, FAB_PRODUCT_OPTIC, "laser"), 4 * n_optics);
    assert_near (fab_product_cable_usd (own, fab_catalog_product (own, "fine")), 4 + 3.0 * n_optics, 1e-12);
  }
}

/* A port at a rate that none has: the slowest product of InfiniBand that is as fast. */
static void
the_nearest_product_is_at_least_as_fast (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint64 gb;
    const char *product;
  } cases[] = {
    { "ib-ndr", 400, "connectx-7-ndr" },
    { "ib-hdr", 200, "connectx-6-hdr" },
    { "ib-hdr", 300, "connectx-7-ndr" },
    { "ib-ndr", 50, "connectx-6-hdr" },
    { "ib-ndr200", 200, "connectx-7-ndr200" },
    { "ib-ndr", 500, "connectx-8-xdr" },
    { "ib-ndr", 3000, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabNeed need = { FAB_PRODUCT_NIC, cases[i].name, "InfiniBand", cases[i].gb * 125000000, 0, 1 };
    const FabProductSpec *product = fab_product_find (catalog, &need);

    if (g_strcmp0 (product ? product->name : NULL, cases[i].product) != 0)
      fail_msg ("%s at %" G_GUINT64_FORMAT ": %s", cases[i].name, cases[i].gb,
                product ? product->name : "none");
  }
}

/* Two nodes, one switch: 16 GPUs of 700 W, busy half of the step: 16 x 700 x (0.5 x 1 + 0.5 x 0.5) = 8400 W; nodes
 * 800, 16 NICs 160, switches 80 x n, optics. */
static void
watts_and_dollars_follow_from_the_step (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of (
      "nodes: 2, nics_per_node: 4, fabric: switch",
      "cost: {nic_cable: 1m, pue: 2, usd_per_kwh: 0.5, years: 1, gpu_busy: 100%, gpu_waiting: 50%}\n");
  g_autoptr (FabBill) bill = bill_of (scenario);
  const FabCostSpec *cost = &fab_scenario_spec (scenario)->cost;
  FabWork work = { 16, 2, 1, 5000, 7200 };
  FabSpending all = fab_spending_of (bill, cost, &work);
  double watts = 2 * (8400 + 800 + 8 * 10 + 80), capex = 16 * 100 + 2 * 1000 + 8 * 10 + 50 + 8;

  assert_near (all.power_watts, watts, 1e-12);
  assert_near (all.network_watts, 2 * (80 + 80), 1e-12);
  assert_near (all.step_joules, 2 * watts, 1e-12);
  assert_near (all.train_joules, 7200 * watts, 1e-12);
  assert_near (all.capex_usd, capex, 1e-12);
  assert_near (all.network_usd, 8 * 10 + 50 + 8, 1e-12);
  assert_near (all.usd_per_hour, capex / 8766 + watts / 1000 * 0.5, 1e-12);
  assert_near (all.usd_per_step, all.usd_per_hour * 2 / 3600, 1e-12);
  assert_near (all.usd_per_million_tokens, all.usd_per_hour / (5000 * 3600) * 1e6, 1e-12);
  assert_near (all.train_usd, all.usd_per_hour * 2, 1e-12);
  assert_near (bill->total.low_usd, capex - 2 * 200, 1e-12);
  assert_near (bill->total.high_usd, capex + 16 * 50, 1e-12);
  fab_bill_free (NULL);

  work.n_accelerators = 4; /* a quarter of the machine, a quarter of everything */
  FabSpending quarter = fab_spending_of (bill, cost, &work);
  assert_near (quarter.power_watts * 4, all.power_watts, 1e-12);
  assert_near (quarter.usd_per_hour * 4, all.usd_per_hour, 1e-12);
}

static void
rented_machines_cost_their_rent (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of ("nodes: 2, nic: efa-v2", "cost: {usd_per_gpu_hour: 2.5}\n");
  g_autoptr (FabBill) bill = bill_of (scenario);
  FabSpending spending = fab_spending_of (bill, &fab_scenario_spec (scenario)->cost,
                                          &(FabWork){ 16, 1, 1, 0, 0 });

  assert_near (spending.usd_per_hour, 40, 1e-12);
  assert_near (spending.usd_per_step, 40.0 / 3600, 1e-12);
  assert_near (spending.usd_per_million_tokens, 0, 0);
}

/* $3738 for the machine, 4000 to 6000 cheap and dear: an hour of 1 year at half use costs 3738 / 4383 h; 10 % of it a
 * year as maintenance; $876.6 of staff over as many hours are $0.2. Twelve months of 12.16 kW at $10 are $1459. */
static void
what_an_hour_consists_of (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of (
      "nodes: 2, nics_per_node: 4, fabric: switch",
      "cost: {nic_cable: 1m, pue: 1, usd_per_kwh: 0, years: 1, maintenance: 10%, staff_usd_per_year: 876.6, "
      "site_usd_per_kw_month: 10, utilisation: 50%, low: {usd_per_kwh: 0, pue: 0, years: 2}, "
      "high: {usd_per_kwh: 0, pue: 0, years: 0}}\n");
  g_autoptr (FabBill) bill = bill_of (scenario);
  FabWork work = { 16, 2, 2, 5000, 7200 };
  FabSpending all = fab_spending_of (bill, &fab_scenario_spec (scenario)->cost, &work);
  double capex = 16 * 100 + 2 * 1000 + 8 * 10 + 50 + 8, hours = 8766.0 / 2;
  double kw = (16 * 700 + 2 * 400 + 8 * 10 + 80) / 1000.0;

  assert_near (all.bought_usd_per_hour, capex / hours, 1e-12);
  assert_near (all.maintenance_usd_per_hour, capex * 0.1 / hours, 1e-12);
  assert_near (all.staff_usd_per_hour, 0.2, 1e-12);
  assert_near (all.site_usd_per_hour, kw * 120 / hours, 1e-12);
  assert_near (all.usd_per_hour,
               all.bought_usd_per_hour + all.maintenance_usd_per_hour + all.staff_usd_per_hour
                   + all.site_usd_per_hour,
               1e-12);

  /* A site need not provide what a power cap takes from the GPUs. */
  bill->cap_fraction = 0.5;
  FabSpending capped = fab_spending_of (bill, &fab_scenario_spec (scenario)->cost, &work);
  assert_near (capped.site_usd_per_hour, (kw - 16 * 350 / 1000.0) * 120 / hours, 1e-12);
  bill->cap_fraction = 1;

  /* Two years instead of one halve the purchase, and $400 less for the nodes save 1.1 x 400; $800 more for the GPUs. */
  double longer = capex / hours / 2, cheaper = 1.1 * 400 / hours, dearer = 1.1 * 800 / hours;
  assert_near (all.low_usd_per_hour, all.usd_per_hour - sqrt (longer * longer + cheaper * cheaper), 1e-12);
  assert_near (all.high_usd_per_hour, all.usd_per_hour + dearer, 1e-12);

  /* A step between half and twice as long: 3 and 4 in quadrature are 5. */
  FabSpending round_one = { .usd_per_hour = 10, .low_usd_per_hour = 7, .high_usd_per_hour = 13 };
  FabMoney range = fab_spending_range (&round_one, 10, 1, 0.6, 1.4);
  assert_near (range.low_usd, 5, 1e-12);
  assert_near (range.high_usd, 15, 1e-12);
}

static void
a_rent_of_the_catalogue (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    double usd, low, high;
  } cases[] = { { "gpu-hour", 48, 48, 64 }, { "node-hour", 40, 30, 40 }, { "other-hour", 0, 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: 2}\ncost: {rent: %s}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
        "products:\n"
        "  - {name: gpu-hour, kind: rent, accelerator: h100-sxm5-80gb, price_usd: 3, high_usd: 4}\n"
        "  - {name: node-hour, kind: rent, node: dgx-h100, price_usd: 20, low_usd: 15, region: moon}\n"
        "  - {name: other-hour, kind: rent, node: p5, price_usd: 20}\n",
        cases[i].name);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", text, strlen (text), NULL, &fab_models,
                                                           catalog, &error);

    if (cases[i].usd <= 0) {
      assert_null (scenario);
      assert_non_null (strstr (error->message, "is the rent of p5, and the cluster has dgx-h100"));
      continue;
    }
    g_autoptr (FabBill) bill = bill_of (scenario);
    FabSpending all = fab_spending_of (bill, &fab_scenario_spec (scenario)->cost,
                                       &(FabWork){ 16, 1, 1, 0, 0 });
    assert_near (all.usd_per_hour, cases[i].usd, 1e-12);
    assert_near (all.low_usd_per_hour, cases[i].low, 1e-12);
    assert_near (all.high_usd_per_hour, cases[i].high, 1e-12);
    assert_near (all.bought_usd_per_hour, 0, 0);
  }
}

static void
products_that_contradict_themselves_are_refused (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *product, *message;
  } cases[] = {
    { "{name: x, kind: switch, link: ib-ndr}", "switch 'x' needs at least 4 `ports`" },
    { "{name: x, kind: nic, node: dgx-h100}",
      "product 'x' is of kind nic, so it must name a `link` and nothing else" },
    { "{name: x, kind: node, node: dgx-h100, link: ib-ndr}", "it must name a `node` and nothing else" },
    { "{name: x, kind: accelerator, link: ib-ndr}", "it must name an `accelerator`" },
    { "{name: x, kind: nic, link: ib-ndr, price_usd: 5, low_usd: 6}", "is not from low_usd to high_usd" },
    { "{name: x, kind: nic, link: ib-ndrr}", "ib-ndr" },
    { "{name: x, kind: rent}", "so it must name a `node` or accelerator and nothing else" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n%s"
        "products: [%s]\n",
        strstr (cases[i].product, "kind: rent") != NULL ? "cost: {rent: x}\n" : "", cases[i].product);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                           catalog, &error);

    assert_null (scenario);
    if (strstr (error->message, cases[i].message) == NULL)
      fail_msg ("%s: %s", cases[i].product, error->message);
    assert_null (strstr (error->message, "\nt.yaml:")); /* a second mistake */
  }
}

/* Ports of 100 Gb/s that are split into two links: eight links of several nodes fill four ports, of which one switch
 * has enough. Nine need a fifth: three leaves of 2 ports down and up, and 2 spines. Slower links are not split
 * further. */
static void
split_ports_are_shared_by_nodes (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint nodes, gbps;
    guint64 n_switches;
  } rows[] = { { 8, 50, 1 }, { 9, 50, 5 }, { 4, 100, 1 }, { 5, 100, 5 }, { 8, 25, 1 }, { 9, 25, 5 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: %u, gpus_per_node: 1, nics_per_node: 1, nic: ours, "
        "nic_rate: %uGb/s, fabric: switch}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
        "links:\n  - {name: ours, technology: Omni-Path, signalling: 100Gb/s, endpoint: 1us}\n"
        "products:\n  - {name: twin, kind: switch, link: ours, ports: 4, links_per_port: 2, price_usd: 50}\n",
        rows[i].nodes, rows[i].gbps);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                           catalog, &error);

    if (scenario == NULL)
      fail_msg ("%s", error->message);
    g_autoptr (FabBill) bill = bill_of (scenario), built = fab_bill_as_built (scenario, NULL);
    assert_int_equal (bill->n_switches, rows[i].n_switches);
    assert_int_equal (built->n_switches, rows[i].n_switches);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (fabrics_are_counted_as_by_hand),
    cmocka_unit_test (switches_that_one_replaces_are_told),
    cmocka_unit_test (a_switch_too_large_to_buy_is_several),
    cmocka_unit_test (any_switch_is_the_fewest_that_stand_for_it),
    cmocka_unit_test (switches_that_are_alike_may_be_one),
    cmocka_unit_test (other_neighbours_are_another_switch),
    cmocka_unit_test (what_is_broken_was_bought),
    cmocka_unit_test (what_has_no_price_is_said),
    cmocka_unit_test (what_comes_with_a_node_has_no_price_of_its_own),
    cmocka_unit_test (cables_count_with_their_optics),
    cmocka_unit_test (cables_bring_their_optics),
    cmocka_unit_test (the_nearest_product_is_at_least_as_fast),
    cmocka_unit_test (watts_and_dollars_follow_from_the_step),
    cmocka_unit_test (rented_machines_cost_their_rent),
    cmocka_unit_test (what_an_hour_consists_of),
    cmocka_unit_test (a_rent_of_the_catalogue),
    cmocka_unit_test (products_that_contradict_themselves_are_refused),
    cmocka_unit_test (split_ports_are_shared_by_nodes),
  };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("bill", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
