/* SPDX-License-Identifier: Apache-2.0 */
/* test_nsys.c - reports of Nsight Systems as SQLite: ranks, kernels, copies, launches and steps, and what is refused.
 */
#include <glib/gstdio.h>
#include <sqlite3.h>

#include "tests/unit/formats/trace/told.h"

/* globalTid is globalPid with the thread in its lower 24 bits: process 1 is 16777216, process 2 is 33554432. */
#define TABLES                                                                                                \
  "CREATE TABLE StringIds (id INTEGER, value TEXT);"                                                          \
  "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (3, 'step 7'), " \
  "(4, 'ncclKernel_SendRecv');"                                                                               \
  "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, shortName);"

/* Adds what a report holds to the trace; what is refused is told and not read. */
static gboolean
read_into (FabTrace *trace, const char *sql, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("nsys-XXXXXX", NULL),
                  *path = g_build_filename (folder, "r.sqlite", NULL);
  sqlite3 *db = NULL;

  assert_int_equal (sqlite3_open (path, &db), SQLITE_OK);
  if (sqlite3_exec (db, sql, NULL, NULL, NULL) != SQLITE_OK)
    fail_msg ("%s", sqlite3_errmsg (db));
  sqlite3_close (db);
  g_autoptr (GError) problem = NULL;
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_open (path, NULL);
  assert_true (fab_file_bytes_next (bytes, NULL));
  gboolean is_read = fab_trace_read_bytes (trace, bytes, &problem);
  assert_int_equal (is_read, problem == NULL);
  if (problem != NULL)
    g_propagate_error (error, g_steal_pointer (&problem));
  g_remove (path);
  g_rmdir (folder);
  return is_read;
}

static FabTrace *
read_report (const char *sql, GError **error)
{
  g_autoptr (FabTrace) trace = fab_trace_new ();

  return read_into (trace, sql, error) && fab_trace_finish (trace, error) ? g_steal_pointer (&trace) : NULL;
}

static void
assert_report (const char *sql, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTrace) trace = read_report (sql, &error);

  if (trace == NULL)
    fail_msg ("%s", error->message);
  g_autoptr (GString) told = g_string_new (NULL);
  for (guint i = 0; i < trace->ranks->len; i++) {
    g_autofree char *rank = rank_told (g_ptr_array_index (trace->ranks, i));

    g_string_append (told, rank);
  }
  if (strcmp (told->str, expected) != 0)
    fail_msg ("it is read as\n%s\nand not\n%s", told->str, expected);
}

/* Times are ns in the report and ps in the trace. Communication is what its kernel is called. What a step launched is
 * of it, by the number that call and kernel share; the launch of another process is none of it. Without a launch a
 * kernel is of the step of the one before it on its stream, and on any stream where the stream has none. */
static void
kernels_copies_and_steps (G_GNUC_UNUSED void **state)
{
  assert_report (
      TABLES
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 200, 0, 7, 11, 16777216, 1),"
      "(150, 260, 0, 20, 12, 16777216, 2), (300, 300, 0, 7, 13, 16777216, 9), "
      "(400, 450, 0, 20, 14, 16777216, 4);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (210, 220, 0, 8, 15, 16777216), "
      "(210, 220, 1, 8, 15, 16777216);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, correlationId, globalTid);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50, 11, 16777219), (60, 12, 16777219), "
      "(240, 13, 16777219), (70, 14, 33554440), (80, 0, 16777219);"
      "CREATE TABLE NVTX_EVENTS (start, end, text, textId, globalTid);"
      "INSERT INTO NVTX_EVENTS VALUES (40, 100, NULL, 3, 16777219), (200, 290, 'ProfilerStep#8', NULL, "
      "16777219), (300, 310, 'Step 9', NULL, 33554435), (310, NULL, 'step 10', NULL, 16777219), "
      "(320, 330, 'step x', NULL, 16777219), (340, 350, NULL, NULL, 16777219);",
      "rank 0 of 0\n"
      "step 7: 40000-100000\n"
      "step 8: 200000-290000\n"
      "100000-200000 gemm: compute, stream 7, step 0\n"
      "150000-260000 ncclDevKernel_AllReduce_Sum_f32_RING_LL: comm, stream 20, step 0 | all_reduce 0 B 0 "
      "ranks, other, ''\n"
      "210000-220000 copy of memory: copy, stream 8, step 0\n"
      "300000-300000 kernel: compute, stream 7, step 1\n"
      "400000-450000 ncclKernel_SendRecv: comm, stream 20, step 0 | send_recv 0 B 0 ranks, other, ''\n");
}

#define ONE_KERNEL TABLES "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 60, 0, 7, 1, 16777216, 1);"
#define CALLS "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, correlationId, globalTid);"

/* Memory is set as it is copied. Ranges have one of four names before their number, and launches may be at the first
 * and at the last time that ps can say. */
static void
names_of_ranges_and_sets (G_GNUC_UNUSED void **state)
{
  assert_report (
      ONE_KERNEL
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, streamId, correlationId, globalPid);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (10, 20, 0, 8, 15, 16777216);"
      "CREATE TABLE NVTX_EVENTS (start, end, text, textId, globalTid);"
      "INSERT INTO NVTX_EVENTS VALUES (0, 10, 'ITERATION 1', NULL, 16777219), "
      "(10, 20, 'iter 2', NULL, 16777219), (20, 30, 'Step 3', NULL, 16777219), "
      "(30, 40, 'profilerstep#4', NULL, 16777219), (40, 50, 'epoch 5', NULL, 16777219);",
      "rank 0 of 0\nstep 1: 0-10000\nstep 2: 10000-20000\nstep 3: 20000-30000\nstep 4: 30000-40000\n"
      "10000-20000 copy of memory: copy, stream 8, step 1\n50000-60000 gemm: compute, stream 7, step -1\n");
  assert_report (ONE_KERNEL CALLS "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1999, 1, 16777219);"
                                  "CREATE TABLE NVTX_EVENTS (start, end, text, textId, globalTid);"
                                  "INSERT INTO NVTX_EVENTS VALUES (1000, 2000, 'iter 6', NULL, 16777219);",
                 "rank 0 of 0\nstep 6: 1000000-2000000\n50000-60000 gemm: compute, stream 7, step 0\n");
  static const struct {
    const char *start;
    gboolean is_good;
  } starts[] = {
    { "0", TRUE }, { "2305843009213693", TRUE }, { "-1", FALSE }, { "2305843009213694", FALSE }
  };

  for (guint i = 0; i < G_N_ELEMENTS (starts); i++) {
    g_autofree char *sql = g_strdup_printf (
        ONE_KERNEL CALLS "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (%s, 1, 16777219);",
        starts[i].start);
    g_autoptr (FabTrace) trace = read_report (sql, NULL);

    assert_int_equal (trace != NULL, starts[i].is_good);
  }
}

static guint
n_notes (const FabTrace *trace, const char *words)
{
  guint n = 0;

  assert_non_null (trace);
  for (guint i = 0; i < trace->notes->len; i++)
    n += strstr (fab_file_note (trace->notes, i)->text, words) != NULL;
  return n;
}

/* A process on a device is a rank: by device, and then by process. */
static void
processes_on_devices_are_ranks (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  static const char sql[] = TABLES
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 1, 7, 1, 16777216, 1), (3, 4, 0, 7, 1, 33554432, 1), "
      "(5, 6, 0, 7, 2, 16777216, 1);";
  g_autoptr (FabTrace) trace = read_report (sql, &error);

  if (trace == NULL)
    fail_msg ("%s", error->message);
  assert_int_equal (trace->ranks->len, 3);
  for (guint i = 0; i < 3; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);

    assert_int_equal (rank->rank, i);
    assert_int_equal (rank->ops->len, 1);
    assert_int_equal (g_array_index (rank->ops, FabTraceOp, 0).end_ps
                          - g_array_index (rank->ops, FabTraceOp, 0).start_ps,
                      1000);
  }
  assert_int_equal (n_notes (trace, "its 3 processes and devices count as ranks in the order of devices"), 1);
  g_autoptr (FabTrace) twice = fab_trace_new ();
  assert_true (read_into (twice, sql, NULL) && read_into (twice, sql, NULL));
  assert_int_equal (n_notes (twice, "its 3 processes and devices count as ranks in the order of devices"), 2);
  g_autoptr (FabTrace) two = read_report (
      TABLES
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 2, 1, 7, 1, 16777216, 1), (3, 4, 0, 7, 1, 16777216, 1);",
      NULL);
  assert_int_equal (n_notes (two, "its 2 processes and devices count as ranks in the order of devices"), 1);
  /* The latest time that ps can say. */
  g_autoptr (FabTrace) late = read_report (
      TABLES "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 2305843009213693, 1, 7, 1, 16777216, 1);",
      NULL);
  assert_non_null (late);
  g_autoptr (FabTrace) one = read_report (
      TABLES "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 2, 0, 7, 1, 16777216, 1);", NULL);
  assert_int_equal (n_notes (one, "processes and devices count"), 0);
}

static void
other_databases_are_refused (G_GNUC_UNUSED void **state)
{
  static const char *const cases[][2] = {
    { "CREATE TABLE t (a);", "is a database without kernels of a GPU" },
    { TABLES, "has no kernel of a GPU" },
    { "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (a);",
      "cannot be read as a report of Nsight Systems: no such" },
    { "CREATE TABLE t (a); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM t;",
      "in place of the table CUPTI_ACTIVITY_KIND_KERNEL; Nsight Systems did not write it" },
    { TABLES
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 2, 16777216, 1), (2, 1, 0, 7, 1, 16777216, 1);",
      "an event has impossible times: from 2 to 1 ns" },
    { TABLES
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 2, 16777216, 1), (-1, 1, 0, 7, 1, 16777216, 1);",
      "an event has impossible times: from -1 to 1 ns" },
    { TABLES "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 2, 16777216, 1), "
             "(1, 2305843009213694, 0, 7, 1, 16777216, 1);",
      "an event has impossible times: from 1 to 2305843009213694 ns" },
    { TABLES "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 1, 16777216, 1);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, correlationId, globalTid);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-50, 1, 16777219);",
      "a call has an impossible start" },
    { TABLES "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 1, 16777216, 1);"
             "CREATE TABLE NVTX_EVENTS (start, end, text, textId, globalTid);"
             "INSERT INTO NVTX_EVENTS VALUES (9, 8, 'iter 3', NULL, 16777219);",
      "an event has impossible times: from 9 to 8 ns" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabTrace) trace = read_report (cases[i][0], &error);

    assert_null (trace);
    if (strstr (error->message, cases[i][1]) == NULL)
      fail_msg ("case %u: %s", i, error->message);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (kernels_copies_and_steps),
    cmocka_unit_test (names_of_ranges_and_sets),
    cmocka_unit_test (processes_on_devices_are_ranks),
    cmocka_unit_test (other_databases_are_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
