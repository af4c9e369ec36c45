/* SPDX-License-Identifier: Apache-2.0 */
/* test_testbed.c - machines without a job, of nodes and of designs. */
#include "validate/compare/testbed.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

static FabCatalog *catalog;

static FabTestbed *
testbed_of (FabTestbedRequest request)
{
  g_autoptr (GError) error = NULL;
  FabTestbed *self = fab_testbed_new (&request, catalog, &fab_models, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

static void
assert_machine (const FabTestbed *self, const char *name, guint n_nodes, guint n_gpus)
{
  assert_string_equal (fab_scenario_spec (self->scenario)->name, name);
  assert_int_equal (fab_scenario_spec (self->scenario)->cluster.nodes, n_nodes);
  assert_int_equal (fab_cluster_n_ranks (&self->plant->cluster), n_gpus);
}

/* A node as often as asked for, with all of its GPUs or some, and with what is set over it. */
static void
nodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ "cluster.gpus_per_node=2", NULL });
  g_autoptr (FabTestbed) all = testbed_of ((FabTestbedRequest){ .node = "dgx-h100", .nodes = 3 });
  g_autoptr (FabTestbed) some = testbed_of (
      (FabTestbedRequest){ .node = "dgx-h100", .nodes = 1, .gpus_per_node = 4 });
  g_autoptr (FabTestbed) set = testbed_of (
      (FabTestbedRequest){ .node = "dgx-h100", .nodes = 2, .edits = edits });

  assert_machine (all, "dgx-h100", 3, 24);
  assert_machine (some, "dgx-h100", 1, 4);
  assert_machine (set, "dgx-h100", 2, 4);
}

/* A design of so many units has their nodes, and one of so many nodes has these. */
static void
designs (G_GNUC_UNUSED void **state)
{
  const FabDesignSpec *design = fab_catalog_entry (catalog, FAB_SECTION_DESIGNS, "superpod-h100");
  const FabNodeSpec *node = fab_catalog_node (catalog, design->node);
  guint gpus = 8, n = (guint) design->unit_nodes;

  assert_string_equal (node->name, "dgx-h100");
  g_autoptr (FabTestbed) units = testbed_of ((FabTestbedRequest){ .design = design->name, .units = 2 });
  g_autoptr (FabTestbed) few = testbed_of ((FabTestbedRequest){ .design = design->name, .nodes = 5 });
  g_autoptr (FabTestbed) unit = testbed_of ((FabTestbedRequest){ .design = design->name, .units = 1 });
  g_autoptr (FabTestbed) alone = testbed_of ((FabTestbedRequest){ .design = design->name, .nodes = 1 });
  g_autoptr (FabTestbed) both = testbed_of (
      (FabTestbedRequest){ .design = design->name, .units = 1, .nodes = 9 });
  assert_machine (units, design->name, 2 * n, 2 * n * gpus);
  assert_machine (unit, design->name, n, n * gpus);
  assert_machine (alone, design->name, 1, gpus);
  assert_machine (few, design->name, 5, 5 * gpus);
  assert_machine (both, design->name, 9, 9 * gpus);
}

static void
unknown_names (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) of_node = NULL, of_design = NULL;

  assert_null (fab_testbed_new (&(FabTestbedRequest){ .node = "dgx-h1000", .nodes = 1 }, catalog, &fab_models,
                                &of_node));
  assert_non_null (strstr (of_node->message, "'dgx-h100'"));
  assert_null (
      fab_testbed_new (&(FabTestbedRequest){ .design = "no-such" }, catalog, &fab_models, &of_design));
  assert_non_null (strstr (of_design->message, "'no-such'"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nodes),
    cmocka_unit_test (designs),
    cmocka_unit_test (unknown_names),
  };

  return play_run_tests ("testbed", tests, &catalog);
}
