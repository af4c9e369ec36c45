/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_kind.c - which measured collectives a planned one is like, by the links that carry it. */
#include "sim/run/plan_kind.h"

#include "sim/collective/collective.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

static FabCatalog *catalog;

static Play *
play_of (const char *cluster, const char *op, const char *more)
{
  g_autofree char *yaml = g_strdup_printf ("name: t\niterations: 1\ncluster: {%s}\n"
                                           "job: {kind: collective, operations: [{op: %s, size: 1MB}]}\n%s",
                                           cluster, op, more);

  return play_new (catalog, yaml, NULL);
}

/* The kind of the first collective of a job. */
static FabPlanKind
kind_of (const char *cluster, const char *op, const char *more)
{
  g_autoptr (Play) play = play_of (cluster, op, more);

  return fab_plan_kind (play->scenario, fab_simulation_cluster (play->simulation),
                        &fab_simulation_dag (play->simulation)->collectives[0].plan);
}

/* Inside a node the accelerators' links, the architecture, and how these are joined; between nodes the port. */
static void
a_family_is_what_its_links_are (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *family;
    FabPlanPlace place;
    FabEvidence evidence;
  } rows[] = {
    { "node: dgx-h100", "nvlink-hopper-reducing-switch", FAB_PLAN_INSIDE, FAB_EVIDENCE_TABLES },
    { "node: hgx-b200", "nvlink-blackwell-reducing-switch", FAB_PLAN_INSIDE, FAB_EVIDENCE_TABLES },
    { "node: dgx-a100", "nvlink-ampere-switch", FAB_PLAN_INSIDE, FAB_EVIDENCE_TABLES },
    { "node: gb200-nvl72", "nvlink-blackwell-rack", FAB_PLAN_INSIDE, FAB_EVIDENCE_TABLES },
    { "node: superpod-h100-256", "nvlink-hopper-rack", FAB_PLAN_INSIDE, FAB_EVIDENCE_TABLES },
    { "node: dgx1-v100", "nvlink-volta-direct", FAB_PLAN_INSIDE, FAB_EVIDENCE_TABLES },
    { "node: mi300x", "xgmi-cdna3-direct", FAB_PLAN_INSIDE, FAB_EVIDENCE_TABLES },
    { "node: trn1", "neuronlink-trainium-direct", FAB_PLAN_INSIDE, FAB_EVIDENCE_ASSUMED },
    { "node: l40s-pcie", "pcie-ada-host", FAB_PLAN_INSIDE, FAB_EVIDENCE_TABLES },
    { "node: l40s-pcie-amd", "pcie-ada-host", FAB_PLAN_INSIDE, FAB_EVIDENCE_TABLES },
    { "node: dgx-h100, nodes: 2", "infiniband-400", FAB_PLAN_BETWEEN, FAB_EVIDENCE_TABLES },
    { "node: dgx-a100, nodes: 2", "infiniband-200", FAB_PLAN_BETWEEN, FAB_EVIDENCE_TABLES },
    { "node: gb200-nvl72, nodes: 2", "infiniband-400", FAB_PLAN_BETWEEN, FAB_EVIDENCE_TABLES },
    { "node: dgx-h100, nodes: 2, nic: roce-400", "ethernet-400", FAB_PLAN_BETWEEN, FAB_EVIDENCE_TABLES },
    { "node: dgx-h100, nodes: 2, nic: roce-100", "ethernet-100", FAB_PLAN_BETWEEN, FAB_EVIDENCE_ONE_TABLE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabPlanKind kind = kind_of (rows[i].cluster, "all_reduce", "");

    assert_string_equal (kind.family, rows[i].family);
    assert_int_equal (kind.place, rows[i].place);
    assert_int_equal (kind.operations, FAB_PLAN_RINGS);
    assert_string_equal (kind.library, "nccl");
    assert_int_equal (kind.evidence, rows[i].evidence);
    assert_false (kind.is_calibrated);
  }
}

/* One link of all that it uses says how sure it is: the port, or that inside of the node. */
static void
a_link_that_says_how_sure_it_is_calibrates (G_GNUC_UNUSED void **state)
{
  static const char own[] =
      "links: [{name: own, signalling: 100Gb/s, latency: 1us, source: s, date: \"2026-11-21\", uncertainty: "
      "{rate: 5%}}]\n";

  assert_true (kind_of ("node: dgx-h100, nodes: 2, nic: own", "all_reduce", own).is_calibrated);
  assert_false (kind_of ("node: dgx-h100, nodes: 2", "all_reduce", own).is_calibrated);
}

/* A number that the link does not have cannot be unsure. */
static void
only_numbers_that_a_link_has_are_unsure (G_GNUC_UNUSED void **state)
{
  static const FabLinkSpec rows[] = {
    { .uncertainty = { .rate_fraction = 0.1 } },
    { .uncertainty = { .latency_fraction = 0.1 }, .latency_ps = 1 },
    { .uncertainty = { .endpoint_fraction = 0.1 }, .endpoint_ps = 1 },
    { .uncertainty = { .messages_fraction = 0.1 }, .messages = { .n = 1 } },
    { .uncertainty = { .latency_fraction = 0.1 }, .endpoint_ps = 1, .messages = { .n = 1 } },
    { .uncertainty = { .endpoint_fraction = 0.1 }, .latency_ps = 1, .messages = { .n = 1 } },
    { .uncertainty = { .messages_fraction = 0.1 }, .latency_ps = 1, .endpoint_ps = 1 },
    { .latency_ps = 1, .endpoint_ps = 1, .messages = { .n = 1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_int_equal (fab_link_is_unsure (&rows[i]), i < 4);
}

/* Pairs of ranks work each by itself in two operations. A table of kinds has one for each footprint, and tells the
 * operation that is asked for. */
static void
operations_are_rings_or_pairs (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of ("node: dgx-h100", "all_reduce", "");
  g_autoptr (GHashTable) kinds = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  FabCollectivePlan plan = fab_simulation_dag (play->simulation)->collectives[0].plan;

  assert_int_equal (kind_of ("node: dgx-h100", "all_to_all", "").operations, FAB_PLAN_PAIRS);
  for (guint op = 0; op < FAB_N_OPS; op++) {
    FabPlanOperations expected = op == FAB_OP_ALL_TO_ALL || op == FAB_OP_SEND_RECV ? FAB_PLAN_PAIRS
                                                                                   : FAB_PLAN_RINGS;

    plan.op = (FabOp) op;
    assert_int_equal (fab_plan_operations (plan.op), expected);
    const FabPlanKind *kept = fab_plan_kind_kept (kinds, play->scenario,
                                                  fab_simulation_cluster (play->simulation), &plan);
    assert_int_equal (kept->operations, expected);
    assert_string_equal (kept->family, "nvlink-hopper-reducing-switch");
    assert_int_equal (g_hash_table_size (kinds), 1);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_family_is_what_its_links_are),
    cmocka_unit_test (a_link_that_says_how_sure_it_is_calibrates),
    cmocka_unit_test (only_numbers_that_a_link_has_are_unsure),
    cmocka_unit_test (operations_are_rings_or_pairs),
  };

  return play_run_tests ("plan_kind", tests, &catalog);
}
