/* SPDX-License-Identifier: Apache-2.0 */
/* test_predict.c - one collective on a catalogued machine: closed forms, units and refused requests. */
#include "answer/predict.h"

#include "models/models.h"
#include "sim/base/error.h"
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

static const FabBytes sizes[] = { 1 << 10, 1 << 20, 1 << 30 };

static FabPredictionRequest
request (const char *node, gint64 nodes, const FabEdits *edits)
{
  return (FabPredictionRequest){ .node = node,
                                 .nodes = nodes,
                                 .op = FAB_OP_ALL_REDUCE,
                                 .sizes_bytes = sizes,
                                 .n_sizes = G_N_ELEMENTS (sizes),
                                 .edits = edits };
}

static GArray *
predict (const FabPredictionRequest *r, const FabCatalog *catalog)
{
  g_autoptr (GError) error = NULL;
  GArray *rows = fab_predict_collective (r, catalog, &fab_models, &error);

  if (rows == NULL)
    fail_msg ("%s", error->message);
  return rows;
}

static const FabPrediction *
row_at (const GArray *rows, guint index)
{
  return &g_array_index (rows, FabPrediction, index);
}

/* The textbook's ring over 8 GPUs, whose links are 12 NVLinks of 25 GB/s that 128-byte packets with 32 bytes around
 * them and 98.025 % leave 235.26 GB/s of: 14 steps over two links of 100 ns, and 7/4 of the size. */
static void
test_closed_form (void **state)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ "collectives=plain", NULL });
  FabPredictionRequest r = request ("dgx-a100", 1, edits);
  g_autoptr (GArray) rows = predict (&r, *state);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const FabPrediction *row = row_at (rows, i);

    assert_int_equal (row->size_bytes, sizes[i]);
    assert_near (row->startup_us, 14 * 0.2, 1e-12);
    assert_near (row->time_us, 14 * 0.2 + (double) sizes[i] * 1.75 / 235.26e3, 1e-6);
  }
}

/* algbw = size / time in 1e9; busbw = 1.75 x algbw; a ring puts busbw on the wire, and LL twice that. */
static void
test_rates (void **state)
{
  FabPredictionRequest r = request ("dgx-a100", 1, NULL);
  g_autoptr (GArray) rows = predict (&r, *state);

  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = row_at (rows, i);
    gboolean is_ll = strcmp (row->protocol, "ll") == 0, is_ll128 = strcmp (row->protocol, "ll128") == 0;

    assert_near (row->algbw_GBps, (double) row->size_bytes / row->time_us / 1e3, 1e-9);
    assert_near (row->busbw_GBps, row->algbw_GBps * 1.75, 1e-9);
    assert_near (row->wire_GBps, row->busbw_GBps * (is_ll ? 2 : is_ll128 ? 128.0 / 120 : 1), 1e-9);
    assert_int_equal (row->n_ranks, 8);
    assert_string_equal (row->algorithm, "ring");
  }
}

/* Small sizes wait for software, large ones for a link: NVLink in one node, a port between two. */
static void
test_binding (void **state)
{
  FabPredictionRequest one = request ("dgx-a100", 1, NULL), two = request ("dgx-a100", 2, NULL);
  g_autoptr (GArray) one_rows = predict (&one, *state);
  g_autoptr (GArray) two_rows = predict (&two, *state);

  assert_int_equal (row_at (one_rows, 0)->bound, FAB_BOUND_STARTUP);
  assert_int_equal (row_at (one_rows, 2)->bound, FAB_BOUND_LINK);
  assert_string_equal (row_at (one_rows, 2)->binding, "nvlink3 node0/gpu0 -> node0/nvswitch");
  assert_true (g_str_has_prefix (row_at (two_rows, 2)->binding, "ib-hdr node0/nic"));
}

/* LL128 at 1 GiB runs into what thread blocks move, 24 x 7.32 = 175.7 GB/s of busbw on Ampere. */
static void
test_protocol_bound (void **state)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ "collectives.protocol=ll128", NULL });
  FabPredictionRequest r = request ("dgx-a100", 1, edits);
  g_autoptr (GArray) rows = predict (&r, *state);

  assert_int_equal (row_at (rows, 2)->bound, FAB_BOUND_PROTOCOL);
  assert_true (row_at (rows, 2)->busbw_GBps <= 175.7);
}

/* Nothing else moves, so sharing links costs nothing. */
static void
test_fidelities_agree (void **state)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ "fidelity=analytic", NULL });
  FabPredictionRequest fluid = request ("dgx-h100", 4, NULL), analytic = request ("dgx-h100", 4, edits);
  g_autoptr (GArray) fluid_rows = predict (&fluid, *state);
  g_autoptr (GArray) analytic_rows = predict (&analytic, *state);

  for (guint i = 0; i < fluid_rows->len; i++)
    assert_near (row_at (fluid_rows, i)->time_us, row_at (analytic_rows, i)->time_us, 1e-6);
}

/* A row does not depend on what was asked before it. */
static void
test_sizes_are_independent (void **state)
{
  FabPredictionRequest r = request ("dgx-a100", 2, NULL);
  g_autoptr (GArray) rows = predict (&r, *state);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    FabPredictionRequest alone = r;
    alone.sizes_bytes = &sizes[i];
    alone.n_sizes = 1;
    g_autoptr (GArray) row = predict (&alone, *state);

    assert_near (row_at (row, 0)->time_us, row_at (rows, i)->time_us, 1e-9);
  }
}

static void
test_one_rank (void **state)
{
  FabPredictionRequest r = request ("dgx-a100", 1, NULL);
  r.gpus_per_node = 1;
  g_autoptr (GArray) rows = predict (&r, *state);

  assert_true (row_at (rows, 2)->time_us == 0 && row_at (rows, 2)->busbw_GBps == 0);
  assert_null (row_at (rows, 2)->binding);
}

static void
assert_refused (const FabPredictionRequest *r, const FabCatalog *catalog, const char *part)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_predict_collective (r, catalog, &fab_models, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  if (strstr (error->message, part) == NULL)
    fail_msg ("'%s' is not in:\n%s", part, error->message);
}

static void
test_refused (void **state)
{
  g_autoptr (FabEdits) job = fab_edits_of ((const char *[]){ "job.operations.0.size=2KiB", NULL });
  g_autoptr (FabEdits) swich = fab_edits_of ((const char *[]){ "cluster.fabric=swich", NULL });
  g_autoptr (FabEdits) op = fab_edits_of ((const char *[]){ "job.operations.1.op=all_gather", NULL });
  g_autoptr (FabEdits) more = fab_edits_of (
      (const char *[]){ "job.operations.+={op: all_reduce, size: 1KiB}", NULL });
  g_autoptr (FabEdits) last = fab_edits_of ((const char *[]){ "job.operations.2.size=2GiB", NULL });
  FabPredictionRequest of_op = request ("dgx-a100", 1, op), of_more = request ("dgx-a100", 1, more),
                       of_last = request ("dgx-a100", 1, last);
  FabPredictionRequest unknown = request ("dgx-a10", 1, NULL), none = request ("dgx-a100", 0, NULL);
  FabPredictionRequest other = request ("dgx-a100", 1, job), fabric = request ("dgx-a100", 2, swich);
  FabBytes zero = 0;
  FabPredictionRequest empty = request ("dgx-a100", 1, NULL);

  empty.sizes_bytes = &zero;
  empty.n_sizes = 1;
  assert_refused (&unknown, *state, "unknown node 'dgx-a10'; nearest is 'dgx-a100'");
  assert_refused (&none, *state, "'nodes' is 0");
  assert_refused (&other, *state, "--set: the job is the collective itself");
  assert_refused (&of_op, *state, "--set: the job is the collective itself");
  assert_refused (&of_more, *state, "--set: the job is the collective itself");
  assert_refused (&of_last, *state, "--set: the job is the collective itself");
  assert_refused (&fabric, *state, "unknown fabric 'swich'; nearest is 'switch'");
  assert_refused (&empty, *state, "size");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_closed_form),      cmocka_unit_test (test_rates),
    cmocka_unit_test (test_binding),          cmocka_unit_test (test_protocol_bound),
    cmocka_unit_test (test_fidelities_agree), cmocka_unit_test (test_sizes_are_independent),
    cmocka_unit_test (test_one_rank),         cmocka_unit_test (test_refused),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
