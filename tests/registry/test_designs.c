/* SPDX-License-Identifier: Apache-2.0 */
/* test_designs.c - every design of the catalogue builds its fabric, counts as its document does, and needs no switch
 * with more ports than the product has.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/assembly/assemble.h"
#include "sim/cost/bill.h"
#include "sim/cost/tiers.h"
#include "tests/support/play.h"
#include "validate/bills/bills.h"

static FabCatalog *catalog;

static const FabDesignSpec *
design_of (const char *name)
{
  return fab_catalog_entry (catalog, FAB_SECTION_DESIGNS, name);
}

static GPtrArray *
all_designs (void)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_DESIGNS);
  GPtrArray *designs = g_ptr_array_new ();

  for (guint i = 0; names[i] != NULL; i++)
    g_ptr_array_add (designs, (gpointer) design_of (names[i]));
  assert_true (designs->len > 20);
  return designs;
}

static FabScenario *
scenario_of (const char *cluster)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {%s}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      cluster);
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                              &error);

  if (scenario == NULL)
    fail_msg ("%s: %s", cluster, error->message);
  return scenario;
}

static void
every_count_is_that_of_the_document (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) designs = all_designs ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) cells = fab_bills_compare (designs, catalog, &fab_models, &error);

  if (cells == NULL)
    fail_msg ("%s", error->message);
  assert_true (cells->len > 170);
  g_auto (GStrv) exceeded = fab_bills_exceeded (cells);
  if (exceeded[0] != NULL)
    fail_msg ("%s", exceeded[0]);
}

static void
every_design_builds_its_first_unit (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) designs = all_designs ();

  for (guint i = 0; i < designs->len; i++) {
    const FabDesignSpec *design = g_ptr_array_index (designs, i);
    g_autofree char *cluster = g_strdup_printf ("design: %s, scalable_units: %d", design->name,
                                                design->unit_nodes == 1 ? 2 : 1);
    g_autoptr (FabScenario) scenario = scenario_of (cluster);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabPlant) plant = fab_plant_new (scenario, NULL, &error);

    if (plant == NULL)
      fail_msg ("%s: %s", design->name, error->message);
    assert_string_equal (fab_scenario_spec (scenario)->cluster.node, design->node);
    assert_true (fab_tiers_of (plant->graph, 1, 1).n_switches[0] > 0);
  }
}

static void
assert_sentences (const FabDesignSpec *design, const char *assumed)
{
  if (assumed != NULL && *assumed != '\0' && !g_str_has_suffix (assumed, "."))
    fail_msg ("%s: `assumed` is printed as sentences, and '%s' ends without a full stop", design->name,
              assumed);
}

/* The verdict prints them behind a sentence of its own. A design without counts of a document assumes something. */
static void
assumptions_are_sentences (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) designs = all_designs ();

  for (guint i = 0; i < designs->len; i++) {
    const FabDesignSpec *design = g_ptr_array_index (designs, i);

    assert_sentences (design, design->assumed);
    for (guint k = 0; k < design->sizes.n; k++)
      assert_sentences (design, ((const FabDesignSize *) design->sizes.data)[k].assumed);
    if (design->counts.n == 0 && design->assumed == NULL)
      fail_msg ("%s has no counts of a document, so `assumed` must say what it rests on", design->name);
  }
}

static guint
most_ports (const FabGraph *graph)
{
  guint most = 0;

  for (FabVertexId id = 0; id < fab_graph_n_vertices (graph); id++) {
    FabLinkId first;
    guint n = fab_tiers_is_switch (graph, id) ? fab_graph_out_links (graph, id, &first) : 0, ports = 0;

    for (guint k = 0; k < n; k++)
      ports += fab_graph_link (graph, first + k)->count;
    most = MAX (most, ports);
  }
  return most;
}

/* The spines of these sizes are from their tables, so that their ports must do. */
static void
no_switch_has_more_ports_than_its_product (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint n_ports;
  } known[] = { { "superpod-h100", 64 }, { "superpod-b200", 64 },   { "superpod-b300-xdr", 144 },
                { "superpod-b300", 64 }, { "superpod-gb300", 144 }, { "hgx-spectrum-x", 128 },
                { "el-capitan", 64 } };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    const FabDesignSpec *design = design_of (known[i].name);
    const FabDesignSize *sizes = design->sizes.data;

    for (guint k = 0; k < design->sizes.n; k++) {
      g_autofree char *cluster = g_strdup_printf ("design: %s, scalable_units: %" G_GINT64_FORMAT,
                                                  design->name, sizes[k].units);
      g_autoptr (FabScenario) scenario = scenario_of (cluster);
      g_autoptr (FabPlant) plant = fab_plant_new (scenario, NULL, NULL);

      assert_non_null (plant);
      if (most_ports (plant->graph) > known[i].n_ports)
        fail_msg ("%s: a switch has %u ports", cluster, most_ports (plant->graph));
    }
  }
}

static guint64
count_of (const FabBill *bill, FabProductKind kind)
{
  guint64 n = 0;

  for (guint i = 0; i < bill->rows->len; i++)
    n += g_array_index (bill->rows, FabBillRow, i).kind == kind
           ? g_array_index (bill->rows, FabBillRow, i).count
           : 0;
  return n;
}

/* RA-11333-001 V11: tables 4, 7 and 8. Of three units 12 spines would do, and the table has 16. */
static void
a_bill_has_the_switches_that_the_design_draws (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    guint64 n_switches, n_cables;
  } cases[] = { { "design: superpod-h100, scalable_units: 1, nodes: 31", 12, 248 + 256 },
                { "design: superpod-h100, scalable_units: 3, nodes: 95", 40, 760 + 768 },
                { "design: superpod-h100, scalable_units: 4, nodes: 127", 48, 2040 },
                { "design: superpod-h100, scalable_units: 16", 320, 3 * 4096 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabScenario) scenario = scenario_of (cases[i].cluster);
    g_autoptr (FabBill) bill = fab_bill_new (scenario, NULL);

    assert_int_equal (count_of (bill, FAB_PRODUCT_SWITCH), cases[i].n_switches);
    assert_int_equal (count_of (bill, FAB_PRODUCT_CABLE), cases[i].n_cables);
  }
}

/* The key of the design is written into the scenario, so that its stored text loads without the catalogue's sizes. */
static void
what_was_filled_in_reads_back (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of (
      "design: superpod-h100, nodes: 40, fabric: {oversubscription: 2}");
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  g_autofree char *text = fab_scenario_resolved (scenario);
  g_autoptr (FabScenario) again = fab_scenario_parse ("r.yaml", text, strlen (text), NULL, &fab_models,
                                                      catalog, NULL);
  g_autoptr (FabValue) ratio = NULL, spines = NULL;

  assert_int_equal (cluster->scalable_units, 2);
  assert_int_equal (cluster->nodes, 40);
  assert_int_equal (cluster->places, 64);
  assert_true (fab_scenario_get (scenario, "cluster.fabric.oversubscription", &ratio, NULL));
  assert_float_equal (ratio->real, 2, 0);
  assert_true (fab_scenario_get (scenario, "cluster.fabric.spines", &spines, NULL));
  assert_int_equal (spines->whole, 8);
  assert_non_null (again);
  g_autofree char *same = fab_scenario_resolved (again);
  assert_string_equal (same, text);
}

static void
assert_refused (const char *yaml, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);

  assert_null (scenario);
  if (strstr (error->message, expected) == NULL)
    fail_msg ("%s", error->message);
}

#define JOB "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"

static void
mistakes_are_told_at_their_place (G_GNUC_UNUSED void **state)
{
  assert_refused ("name: t\ncluster: {design: superpod-h10}\n" JOB,
                  "t.yaml:2:19: unknown design 'superpod-h10'; nearest is 'superpod-h100'");
  assert_refused ("name: t\ncluster: {design: superpod-h100, scalable_units: 65}\n" JOB,
                  "t.yaml:2:50: design 'superpod-h100' goes up to 64 scalable units of 32 nodes, not 65");
  assert_refused (
      "name: t\ncluster: {design: superpod-h100, scalable_units: 1, nodes: 33}\n" JOB,
      "t.yaml:2:60: 33 nodes are more than the scalable units of design 'superpod-h100' hold, which is 32");
  assert_refused ("name: t\ncluster: {node: dgx-h100, scalable_units: 2}\n" JOB,
                  "t.yaml:2:43: `scalable_units` are those of a design");
  assert_refused ("name: t\ncluster: {nodes: 2}\n" JOB, "t.yaml:2:10: 'cluster' lacks the key 'node'");
  assert_refused ("name: t\ncluster: {design: own}\n" JOB
                  "designs: [{name: own, node: dgx-h100, unit_nodes: 4}]\n",
                  "t.yaml:4:18: design 'own' has no `sizes`");
}

/* A design of the scenario itself comes before those of the catalogue. */
static void
a_scenario_may_have_designs_of_its_own (G_GNUC_UNUSED void **state)
{
  const char *yaml =
      "name: t\ncluster: {design: superpod-h100, scalable_units: 3}\n" JOB
      "designs: [{name: superpod-h100, node: dgx-a100, unit_nodes: 4, sizes: [{units: 3, fabric: {kind: "
      "rail, spines: 2}}]}]\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);

  assert_null (error);
  assert_string_equal (fab_scenario_spec (scenario)->cluster.node, "dgx-a100");
  assert_int_equal (fab_scenario_spec (scenario)->cluster.nodes, 12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_count_is_that_of_the_document),
    cmocka_unit_test (assumptions_are_sentences),
    cmocka_unit_test (every_design_builds_its_first_unit),
    cmocka_unit_test (no_switch_has_more_ports_than_its_product),
    cmocka_unit_test (a_bill_has_the_switches_that_the_design_draws),
    cmocka_unit_test (what_was_filled_in_reads_back),
    cmocka_unit_test (mistakes_are_told_at_their_place),
    cmocka_unit_test (a_scenario_may_have_designs_of_its_own),
  };

  return play_run_tests ("designs", tests, &catalog);
}
