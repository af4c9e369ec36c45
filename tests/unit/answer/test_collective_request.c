/* SPDX-License-Identifier: Apache-2.0 */
/* test_collective_request.c - ranks, sizes and edits of a request in the terms of nccl-tests; all mistakes at once. */
#include "answer/collective_request.h"

#include "answer/nccl_env.h"
#include "models/models.h"
#include "tests/support/test.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

static int
setup (void **state)
{
  *state = fab_catalog_load (CATALOG, &fab_models, NULL);
  return *state ? 0 : -1;
}

static int
teardown (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

static FabCollectiveRequest
request (void)
{
  return (FabCollectiveRequest){ .node = "dgx-a100",
                                 .op = FAB_OP_ALL_GATHER,
                                 .type = fab_nccl_type ("float"),
                                 .range = { 1 << 10, 4 << 10, 0, 2 } };
}

/* 1 KiB over 8 ranks is 128 B for each, which is a multiple of 16; so are 2 and 4 KiB. */
static void
test_sizes_by_a_factor (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);

  assert_non_null (run);
  assert_int_equal (run->n_ranks, 8);
  assert_int_equal (run->gpus_per_process, 8);
  assert_int_equal (run->sizes->len, 3);
  assert_int_equal (g_array_index (run->sizes, FabBytes, 2), 4 << 10);
  assert_int_equal (g_array_index (run->counts, guint64, 2), (4 << 10) / 4 / 8);
  assert_int_equal (run->prediction.n_sizes, 3);
}

/* 8 ranks take at least 8 x 16 B: 64 B are too small, 64 + 100 B are 128. */
static void
test_sizes_by_a_step (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

  asked.range = (FabSizeRange){ 64, 164, 100, 0 };
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
  assert_non_null (run);
  assert_int_equal (run->n_too_small, 1);
  assert_int_equal (run->sizes->len, 1);
  assert_int_equal (g_array_index (run->sizes, FabBytes, 0), 128);
}

static void
test_threads_share_a_node (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

  asked.nodes = 2;
  asked.threads = 4;
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
  assert_non_null (run);
  assert_int_equal (run->n_ranks, 16);
  assert_int_equal (run->gpus_per_process, 2);
}

/* What a person asked for, in the order in which the later one may not undo the one before. */
static void
test_edits (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();
  g_autoptr (FabEdits) variables = fab_edits_new ();
  g_autoptr (FabEdits) sets = fab_edits_of ((const char *[]){ "cluster.pxn=true", NULL });

  assert_true (fab_nccl_env_add (variables, "NCCL_MAX_CTAS", "4", NULL));
  assert_true (fab_nccl_env_add (variables, "NCCL_DEBUG", "INFO", NULL));
  asked.nic = "ib-ndr";
  asked.protocol = "simple";
  asked.environment = variables;
  asked.sets = sets;
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
  assert_non_null (run);
  g_autofree char *texts = g_strjoinv (" ", (char **) fab_edits_texts (run->edits));
  assert_string_equal (texts, "cluster.nic=ib-ndr collectives.gpus_per_process=8 collectives.max_channels=4 "
                              "collectives.protocol=simple cluster.pxn=true");
}

static void
test_all_mistakes_at_once (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

  asked.threads = -1;
  asked.range = (FabSizeRange){ 2, 1, 0, 1 };
  assert_null (fab_collective_case_new (&asked, *state, problems));
  assert_int_equal (fab_diagnostics_count (problems), 3);
}

static void
test_variables_that_are_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();

  assert_false (fab_nccl_env_add (edits, "NCCL_MAX_CTAS", "0", NULL));
  assert_false (fab_nccl_env_add (edits, "NCCL_MAX_CTAS", NULL, NULL));
  assert_false (fab_nccl_env_add (edits, "NCCL_NET", "IB", NULL));
  assert_int_equal (fab_edits_count (edits), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_sizes_by_a_factor),    cmocka_unit_test (test_sizes_by_a_step),
    cmocka_unit_test (test_threads_share_a_node), cmocka_unit_test (test_edits),
    cmocka_unit_test (test_all_mistakes_at_once), cmocka_unit_test (test_variables_that_are_refused),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
