/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace_store.c - the rows of a measured run are what the account of its traces says, and a row that the store
 * refuses ends the storing. */
#include "sim/base/version.h"
#include "sim/result/store.h"
#include "sim/result/table.h"
#include "tests/support/test.h"
#include "validate/traces/account.h"

static void
add_op (FabTracedRank *rank, FabTraceKind kind, const char *name, gint32 step, FabTimePs start_ps,
        FabTimePs end_ps, gint32 comm)
{
  FabTraceOp op = { .name = name,
                    .start_ps = start_ps,
                    .end_ps = end_ps,
                    .launch = -1,
                    .stream = 7 + kind,
                    .kind = kind,
                    .comm = comm,
                    .step = step,
                    .external = -1 };

  g_array_append_val (rank->ops, op);
}

/* Two of 12 ranks, 8 on a node: the second waits 20 ps for the first, and one operation lies outside of the step. */
static FabTrace *
make_trace (void)
{
  FabTrace *trace = fab_trace_new ();

  for (guint r = 0; r < 2; r++) {
    FabTracedRank *rank = fab_trace_add_rank (trace, r == 0 ? "a\nb.json" : "c.json");
    FabTraceStep step = { 5, 0, 1000 };
    FabTraceComm comm = { "all_reduce", "data", "0 [3, 9]", 4000, 2 };

    rank->rank = 3 + 6 * r;
    rank->n_world = 12;
    rank->n_devices = 8;
    rank->device = r == 0 ? g_strdup ("H100") : NULL;
    g_array_append_val (rank->steps, step);
    g_array_append_val (rank->comms, comm);
    add_op (rank, FAB_TRACE_COMPUTE, "gemm", 0, 100, 200, -1);
    add_op (rank, FAB_TRACE_COPY, "copy", 0, 150, 230, -1);
    add_op (rank, FAB_TRACE_COMM, "sum", 0, r == 0 ? 260 : 240, 300, 0);
    if (r == 0)
      add_op (rank, FAB_TRACE_COMPUTE, "late", -1, 400, 500, -1);
  }
  return trace;
}

static char *
asked (FabStore *store, const char *sql)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTable) table = fab_store_query (store, sql, 0, &error);

  if (table == NULL)
    fail_msg ("%s", error->message);
  return fab_table_to_csv (table);
}

static void
assert_rows (FabStore *store, const char *sql, const char *rows)
{
  g_autofree char *found = asked (store, sql);

  assert_string_equal (strchr (found, '\n') + 1, rows);
}

static void
rows_are_those_of_the_account (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrace) trace = make_trace ();
  g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, FALSE, NULL);
  g_autoptr (FabStore) store = fab_store_new (NULL);
  gint64 run_id = 0;

  assert_true (fab_trace_store (trace, account, "mine", store, &run_id, NULL));
  assert_int_equal (run_id, 1);
  assert_rows (store, "SELECT name, fidelity, n_ranks, n_nodes, version = '" FAB_VERSION "' FROM run",
               "mine,measured,12,2,1\n");
  g_autofree char *text = asked (store, "SELECT scenario_yaml FROM run");
  assert_non_null (strstr (text,
                           "# A measured run, imported by fabricast " FAB_VERSION ". It has no scenario.\n"
                           "# name: mine\n# rank 3: a\\x0ab.json, H100\n# rank 9: c.json\n"
                           "# 1 operation lies outside of all steps and is left out.\n"));
  assert_rows (store, "SELECT rank_class, first_rank, n_ranks, name FROM rank_class",
               "0,3,1,rank 3\n1,9,1,rank 9\n");
  assert_rows (store, "SELECT iteration, start_ps, step_ps, compute_ps, comm_ps, waiting_ps FROM iteration",
               "0,0,200,100,40,10\n");
  assert_rows (store,
               "SELECT rank_class, start_ps, step_ps, comm_ps, idle_ps, waiting_ps FROM iteration_class",
               "0,0,200,40,60,0\n1,0,200,40,60,20\n");
  assert_rows (
      store,
      "SELECT collective, name, op, dimension, n_ranks, bytes, ready_ps, start_ps, end_ps FROM collective",
      "0,sum,all_reduce,data,2,4000,140,160,200\n");
  assert_rows (store,
               "SELECT rank_class, kind, stream, name, start_ps, end_ps, collective FROM span ORDER BY span",
               "0,compute,stream 7,gemm,0,100,\n"
               "0,load,stream 9,copy,50,130,\n"
               "0,comm,stream 8,sum,160,200,0\n"
               "1,compute,stream 7,gemm,0,100,\n"
               "1,load,stream 9,copy,50,130,\n"
               "1,wait,stream 8,sum,140,160,0\n"
               "1,comm,stream 8,sum,160,200,0\n");
  assert_rows (
      store,
      "SELECT rank_class, dimension, op, n_collectives, bytes, comm_ps, exposed_ps, waiting_ps FROM exposure",
      "0,data,all_reduce,1,4000,40,40,0\n1,data,all_reduce,1,4000,40,40,20\n");
}

static void
several_operations_outside_of_steps (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrace) trace = make_trace ();
  g_autoptr (FabStore) store = fab_store_new (NULL);

  add_op (g_ptr_array_index (trace->ranks, 1), FAB_TRACE_COMPUTE, "late", -1, 400, 500, -1);
  g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, FALSE, NULL);
  assert_true (fab_trace_store (trace, account, "mine", store, NULL, NULL));
  g_autofree char *text = asked (store, "SELECT scenario_yaml FROM run");
  assert_non_null (strstr (text, "# 2 operations lie outside of all steps and are left out.\n"));
  account->n_left_out = 0;
  assert_true (fab_trace_store (trace, account, "mine", store, NULL, NULL));
  g_autofree char *without = asked (store, "SELECT scenario_yaml FROM run WHERE run_id = 2");
  assert_null (strstr (without, "outside"));
}

/* As many nodes as the devices of the first rank's need; one device where none is said. */
static void
nodes_hold_the_devices_of_one (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_devices, n_nodes;
  } cases[] = { { 0, 12 }, { 1, 12 }, { 4, 3 }, { 5, 3 }, { 6, 2 }, { 12, 1 }, { 16, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabTrace) trace = make_trace ();
    g_autofree char *nodes = g_strdup_printf ("%u\n", cases[i].n_nodes);

    ((FabTracedRank *) g_ptr_array_index (trace->ranks, 0))->n_devices = cases[i].n_devices;
    g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, FALSE, NULL);
    g_autoptr (FabStore) store = fab_store_new (NULL);
    assert_true (fab_trace_store (trace, account, "mine", store, NULL, NULL));
    assert_rows (store, "SELECT n_nodes FROM run", nodes);
  }
}

/* A row of each table in turn that cannot be: nothing is stored, and the reason is told. */
static void
a_row_that_is_refused_ends_it (G_GNUC_UNUSED void **state)
{
  for (guint i = 1; i <= 5; i++) {
    g_autoptr (FabTrace) trace = make_trace ();
    g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, FALSE, NULL);
    g_autoptr (FabStore) store = fab_store_new (NULL);
    g_autoptr (GError) error = NULL;
    FabTracePlace *waits = &g_array_index (account->places[1], FabTracePlace, 2);

    if (i == 1)
      g_array_index (account->steps, FabStepRecord, 0).times.duration_ps = -1;
    else if (i == 2)
      g_array_index (account->times, FabTraceTimes, 1).times.duration_ps = -1;
    else if (i == 3)
      g_array_index (account->collectives, FabCollectiveRecord, 0).end_ps = 0;
    else if (i == 4)
      waits->end_ps = waits->wait_end_ps - 1;
    else
      g_array_index (account->exposures, FabExposureRecord, 1).rank_class = 0;
    assert_false (fab_trace_store (trace, account, "mine", store, NULL, &error));
    assert_non_null (error);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rows_are_those_of_the_account),
    cmocka_unit_test (several_operations_outside_of_steps),
    cmocka_unit_test (nodes_hold_the_devices_of_one),
    cmocka_unit_test (a_row_that_is_refused_ends_it),
  };

  return cmocka_run_group_tests_name ("trace_store", tests, NULL, NULL);
}
