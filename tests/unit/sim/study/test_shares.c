/* SPDX-License-Identifier: Apache-2.0 */
/* test_shares.c - what exposed communication consists of: dimensions of parallelism, inside nodes and between them. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/study/target.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static int
load_catalog (G_GNUC_UNUSED void **state)
{
  catalog = play_catalog ();
  return 0;
}

static int
drop_catalog (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (g_steal_pointer (&catalog));
  return 0;
}

static FabPoint *
play (const char *yaml)
{
  g_autofree char *text = g_strconcat ("name: s\niterations: 1\ncontention: false\n", yaml, NULL);
  g_autoptr (Play) play = play_new (catalog, text, NULL);
  g_autoptr (GError) error = NULL;

  while (fab_simulation_step (play->simulation))
    ;
  FabPoint *point = fab_point_of (play->scenario, play->simulation, &fab_models, &error);
  g_assert_no_error (error);
  assert_true (point->exposed_s > 0);
  return point;
}

static double
value_of (const char *figure, const FabPoint *point)
{
  return fab_figure_find (figure)->value (point);
}

static void
within_a_node_nothing_crosses_nodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPoint) point = play (
      "cluster: {node: dgx-h100}\njob: {kind: ddp, model: gpt2, micro_batch: 1}\n");

  assert_true (point->exposed_inter_node_s == 0);
  assert_true (value_of ("exposed.intra_node", point) == value_of ("exposed", point));
}

static void
between_nodes_of_one_gpu_everything_does (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPoint) point = play ("cluster: {node: dgx-h100, nodes: 4, gpus_per_node: 1}\n"
                                     "job: {kind: ddp, model: gpt2, micro_batch: 1}\n");

  assert_true (point->exposed_inter_node_s == point->exposed_s);
}

/* Two trays of a GB200 rack have four GPUs each, and the NVLink switches of the rack join them. */
static void
an_nvlink_domain_is_one_node (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPoint) point = play ("cluster: {node: gb200-tray, nodes: 2}\n"
                                     "job: {kind: ddp, model: gpt2, micro_batch: 1}\n");

  assert_true (point->n_ranks == 8 && point->exposed_inter_node_s == 0);
}

/* Tensor parallelism inside nodes, data parallelism between them. */
static void
dimensions_and_scopes_add_up (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPoint) point = play (
      "cluster: {node: dgx-h100, nodes: 2}\n"
      "job: {kind: megatron, model: gpt2-xl, micro_batch: 1, parallel: {tensor: 8}}\n");
  double sum = 0;

  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    sum += point->exposed_by_s[d];
  assert_true (fabs (sum - point->exposed_s) < 1e-11);
  assert_true (point->exposed_by_s[FAB_DIMENSION_TENSOR] > 0 && point->exposed_by_s[FAB_DIMENSION_DATA] > 0);
  assert_true (point->exposed_inter_node_s >= point->exposed_by_s[FAB_DIMENSION_DATA] - 1e-12);
  assert_true (point->exposed_s - point->exposed_inter_node_s
               >= point->exposed_by_s[FAB_DIMENSION_TENSOR] - 1e-12);
  assert_true (fabs (value_of ("exposed.inter_node", point) + value_of ("exposed.intra_node", point)
                     - value_of ("exposed", point))
               < 1e-12);
}

/* A target on a dimension in which nothing communicates is not met, and the point says that it has no such figure. */
static void
a_dimension_without_communication_has_no_share (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPoint) point = play (
      "cluster: {node: dgx-h100}\njob: {kind: ddp, model: gpt2, micro_batch: 1}\n");
  FabTarget data, expert;

  assert_true (fab_target_parse ("exposed.data<=90%", &data, NULL));
  assert_true (fab_target_parse ("exposed.expert<=90%", &expert, NULL));
  assert_true (fab_target_is_met (&data, point) && !fab_target_is_met (&expert, point));
  assert_false (expert.figure->is_known (point));
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
    g_autofree char *name = g_strconcat ("exposed.", fab_dimension_names[d], NULL);

    assert_non_null (fab_figure_find (name));
  }
}

/* Four nodes with a NIC each: one switch is bought in place of two leaves and their spines. It is said where the fabric
 * blocks, which is then faster for the same price. */
static void
a_price_that_is_not_of_the_fabric_is_said (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *fabric;
    gboolean is_said;
  } cases[] = { { "{kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}", TRUE },
                { "{kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 1}", FALSE },
                { "switch", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "cluster: {node: dgx-h100, nodes: 4, nics_per_node: 1, fabric: %s}\n"
        "job: {kind: ddp, model: gpt2, micro_batch: 1}\n",
        cases[i].fabric);
    g_autoptr (FabPoint) point = play (yaml);
    const FabFinding *finding = fab_verdict_find (point->verdict, FAB_FINDING_ONE_SWITCH);

    assert_int_equal (finding != NULL, cases[i].is_said);
    if (finding != NULL)
      assert_non_null (strstr (finding->text, "oversubscribed by 2:1"));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (within_a_node_nothing_crosses_nodes),
    cmocka_unit_test (between_nodes_of_one_gpu_everything_does),
    cmocka_unit_test (an_nvlink_domain_is_one_node),
    cmocka_unit_test (dimensions_and_scopes_add_up),
    cmocka_unit_test (a_dimension_without_communication_has_no_share),
    cmocka_unit_test (a_price_that_is_not_of_the_fabric_is_said),
  };

  return cmocka_run_group_tests_name ("shares", tests, load_catalog, drop_catalog);
}
