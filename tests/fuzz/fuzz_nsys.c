/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_nsys.c - databases in place of a report of Nsight Systems: nothing crashes or lasts, and what is refused has a
 * message. An input is the file itself, or SQL that changes a small good one (database.h).
 */
#include <sqlite3.h>

#include "tests/fuzz/database.h"
#include "tests/fuzz/target.h"
#include "validate/traces/account.h"
#include "validate/traces/kernels.h"

static const char schema[] =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce_Sum'), (3, 'ProfilerStep#4');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
    " correlationId INTEGER, globalPid INTEGER, shortName INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 7, 1, 16777216, 1),"
    " (2000, 2500, 0, 13, 2, 16777216, 2), (1000, 2100, 1, 7, 1, 33554432, 1), (2100, 2600, 1, 13, 2, 33554432, 2);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
    " correlationId INTEGER, globalPid INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2500, 2600, 0, 7, 3, 16777216);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, correlationId INTEGER, globalTid INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 1, 16777217), (950, 2, 16777217);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES (800, 3000, 'step 3', NULL, 16777217), (3000, 4000, NULL, 3, 16777217);";

static GBytes *
make_good (const char *path)
{
  sqlite3 *db = NULL;

  fuzz_database_remove (path);
  if (sqlite3_open (path, &db) != SQLITE_OK || sqlite3_exec (db, schema, NULL, NULL, NULL) != SQLITE_OK)
    g_error ("no good report: %s", sqlite3_errmsg (db));
  sqlite3_close (db);
  return fuzz_database_take (path);
}

/* Times of a rank add up, and each kernel has a class. */
static void
check_trace (const FabTrace *trace)
{
  g_autoptr (GError) error = NULL, second = NULL;
  g_autoptr (FabTraceKernels) kernels = fab_trace_kernels_new (trace, 0, &error);
  g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, FALSE, &second);

  if (kernels == NULL)
    fuzz_check_message (error);
  if (account == NULL)
    fuzz_check_message (second);
  for (guint i = 0; account != NULL && i < account->times->len; i++) {
    const FabIterationRecord *t = &g_array_index (account->times, FabTraceTimes, i).times;

    if (t->exposed_ps != t->comm_ps - t->overlapped_ps || t->idle_ps < 0)
      g_error ("times that do not add up");
  }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static char *path;
  static GBytes *good;
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTrace) trace = fab_trace_new ();
  g_autoptr (FabFileBytes) bytes = NULL;
  gboolean is_good = TRUE;

  if (good == NULL) {
    path = fuzz_database_path ("nsys");
    good = make_good (path);
  }
  if (!fuzz_database_write (path, good, data, size))
    return 0;
  bytes = fab_file_bytes_open (path, &error);
  while (bytes != NULL && is_good && fab_file_bytes_next (bytes, &error))
    is_good = fab_trace_read_bytes (trace, bytes, &error);
  is_good = is_good && error == NULL && trace->ranks->len > 0 && fab_trace_finish (trace, &error);
  if (error != NULL)
    fuzz_check_message (error);
  if (is_good)
    check_trace (trace);
  fuzz_database_remove (path);
  return 0;
}
