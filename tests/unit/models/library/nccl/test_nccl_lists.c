/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_lists.c - lists of algorithms and protocols as NCCL_ALGO and NCCL_PROTO have them: the examples of
 * parseList in NCCL's src/graph/tuning.cc, and lists that leave nothing. */
#include <string.h>

#include "models/library/nccl/parts.h"
#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

enum { LL = 1, LL128 = 2, SIMPLE = 4, ALL = LL | LL128 | SIMPLE };

static void
assert_protocols (const char *text, guint all_reduce, guint all_gather)
{
  guint masks[FAB_N_OPS] = { 0 };
  g_autofree char *message = NULL;

  assert_true (nccl_list_parse (FALSE, text, masks, &message));
  assert_int_equal (masks[FAB_OP_ALL_REDUCE] & ALL, all_reduce);
  assert_int_equal (masks[FAB_OP_ALL_GATHER] & ALL, all_gather);
}

static void
protocols_are_listed_as_in_nccl (G_GNUC_UNUSED void **state)
{
  assert_protocols ("Simple", SIMPLE, SIMPLE);
  assert_protocols ("LL,Simple", LL | SIMPLE, LL | SIMPLE);
  assert_protocols ("^LL", LL128 | SIMPLE, LL128 | SIMPLE);
  assert_protocols ("LL,Simple;allreduce:^LL", LL128 | SIMPLE, LL | SIMPLE);
  assert_protocols ("^LL128;AllReduce:LL128", LL128, LL | SIMPLE);
  assert_protocols ("all_gather:ll", 0, LL);
}

static gboolean
has (const guint masks[FAB_N_OPS], FabOp op, const char *model)
{
  return (masks[op] & nccl_algorithm_bit (nccl_algorithm (model))) != 0;
}

/* "ring,collnetdirect;allreduce:tree,collnetdirect;broadcast:ring" */
static void
algorithms_are_listed_by_operation (G_GNUC_UNUSED void **state)
{
  guint masks[FAB_N_OPS] = { 0 };
  g_autofree char *message = NULL;

  assert_true (nccl_list_parse (TRUE, "ring,collnetdirect;allreduce:tree,collnetdirect;broadcast:ring", masks,
                                &message));
  assert_true (has (masks, FAB_OP_ALL_GATHER, "ring") && has (masks, FAB_OP_ALL_GATHER, "collnet_direct"));
  assert_true (has (masks, FAB_OP_ALL_REDUCE, "tree") && !has (masks, FAB_OP_ALL_REDUCE, "ring"));
  assert_true (has (masks, FAB_OP_BROADCAST, "ring") && !has (masks, FAB_OP_BROADCAST, "collnet_direct"));
}

static void
assert_wrong (gboolean is_algorithm, const char *text, const char *part)
{
  guint masks[FAB_N_OPS] = { 0 };
  g_autofree char *message = NULL;

  assert_false (nccl_list_parse (is_algorithm, text, masks, &message));
  assert_non_null (strstr (message, part));
}

static void
wrong_lists_are_named (G_GNUC_UNUSED void **state)
{
  assert_wrong (TRUE, "ring,tre", "unknown algorithm 'tre'");
  assert_wrong (FALSE, "ll256", "unknown protocol 'll256'");
  assert_wrong (TRUE, "ring;tree", "'tree' names no operation");
  assert_wrong (TRUE, "ring;sum:tree", "unknown operation 'sum'");
}

static char *
contradiction (const char *algorithm, const char *protocol)
{
  NcclParams params = { .algorithm = algorithm, .protocol = protocol };
  g_autofree char *message = NULL;
  NcclAsked asked;

  assert_true (nccl_asked_parse (&params, &asked, &message));
  return nccl_asked_contradiction (&params, &asked);
}

static void
lists_that_leave_nothing_are_named (G_GNUC_UNUSED void **state)
{
  g_autofree char *nvls = contradiction ("nvls", "ll"), *direct = contradiction ("direct", "ll128"),
                  *later = contradiction ("ring;allreduce:nvls", "LL"),
                  *fits = contradiction ("nvls,ring", "ll"), *sends = contradiction (NULL, "ll128");

  assert_non_null (strstr (nvls, "protocol 'll' cannot be used with algorithm 'nvls'"));
  assert_non_null (strstr (direct, "'ll128' cannot be used with algorithm 'direct'"));
  assert_non_null (strstr (later, "for all_reduce"));
  assert_null (fits);
  assert_null (sends);
}

static void
a_scenario_may_write_a_list (G_GNUC_UNUSED void **state)
{
  g_autoptr (Params) list = params_new (&fab_library_nccl.info,
                                        "{algorithm: [ring, tree], protocol: [ll, simple]}");
  g_autoptr (Params) text = params_new (&fab_library_nccl.info, "{algorithm: ^tree, protocol: auto}");
  const NcclParams *of_list = list->params, *of_text = text->params;

  assert_string_equal (of_list->algorithm, "ring,tree");
  assert_string_equal (of_list->protocol, "ll,simple");
  assert_string_equal (of_text->algorithm, "^tree");
}

/* Each mistake of a list stands at its key. */
static void
a_scenario_with_a_wrong_list_is_refused (G_GNUC_UNUSED void **state)
{
  const struct {
    const char *keys, *says;
  } cases[] = { { "algorithm: rang", "'rang'" },
                { "protocol: lll", "'lll'" },
                { "algorithm: nvls, protocol: ll", "cannot be used with" } };
  g_autoptr (FabCatalog) catalog = play_catalog ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: 2}\ncollectives: {kind: nccl, %s}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
        cases[i].keys);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                           catalog, &error);

    assert_null (scenario);
    assert_non_null (strstr (error->message, "t.yaml:3:"));
    assert_non_null (strstr (error->message, cases[i].says));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (protocols_are_listed_as_in_nccl),
    cmocka_unit_test (algorithms_are_listed_by_operation),
    cmocka_unit_test (wrong_lists_are_named),
    cmocka_unit_test (lists_that_leave_nothing_are_named),
    cmocka_unit_test (a_scenario_may_write_a_list),
    cmocka_unit_test (a_scenario_with_a_wrong_list_is_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
