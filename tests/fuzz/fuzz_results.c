/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_results.c - results files that anybody may have written: each named query answers or says why not, and so does
 * who opens the file to add to it. An input is the file itself, or SQL that changes a small good one (database.h).
 */
#include "sim/result/store.h"
#include "tests/fuzz/database.h"
#include "tests/fuzz/target.h"

enum { MOST_ROWS = 200, MOST_S = 1 };

static const FabRunRecord run = { .name = "fuzz",
                                  .scenario_yaml = "name: fuzz\n",
                                  .version = "0",
                                  .fidelity = "fluid",
                                  .n_ranks = 2,
                                  .n_nodes = 1 };

static gboolean
add_run (FabStore *store, GError **error)
{
  const FabRankClassRecord classes[] = { { .name = "all", .n_ranks = 2 } };
  const FabIterationRecord times = {
    .duration_ps = 1000, .compute_ps = 600, .comm_ps = 400, .exposed_ps = 400
  };
  const FabStepRecord step = { .times = times };

  return fab_store_begin_run (store, &run, NULL, error) && fab_store_add_classes (store, classes, 1, error)
      && fab_store_add_steps (store, &step, 1, error) && fab_store_add_iterations (store, &times, 1, error)
      && fab_store_commit_run (store, error);
}

static GBytes *
make_good (const char *path)
{
  g_autoptr (GError) error = NULL;
  FabStore *store = NULL;

  fuzz_database_remove (path);
  store = fab_store_open (path, FAB_STORE_WRITE, &error);
  if (store == NULL || !add_run (store, &error) || !fab_store_close (&store, &error))
    g_error ("no good results: %s", error->message);
  return fuzz_database_take (path);
}

static void
check_answer (FabTable *table)
{
  g_autofree char *text = fab_table_to_text (table), *csv = fab_table_to_csv (table),
                  *json = fab_table_to_json (table);

  fuzz_check_text (text);
  fuzz_check_text (csv);
  fuzz_check_text (json);
}

static void
check_queries (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, &error);

  if (store == NULL) {
    fuzz_check_message (error);
    return;
  }
  fab_store_limit_queries (store, MOST_ROWS, MOST_S);
  for (const FabQuery *query = fab_queries; query->name != NULL; query++) {
    g_autoptr (GError) problem = NULL;
    g_autofree char *sql = fab_query_sql (query);
    g_autoptr (FabTable) table = fab_store_query (store, sql, 0, &problem);

    if (table == NULL)
      fuzz_check_message (problem);
    else
      check_answer (table);
  }
}

static void
check_writing (const char *path)
{
  g_autoptr (GError) error = NULL;
  FabStore *store = fab_store_open (path, FAB_STORE_WRITE, &error);

  if (store == NULL || !add_run (store, &error) || !fab_store_close (&store, &error))
    fuzz_check_message (error);
  fab_store_free (store);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static char *path;
  static GBytes *good;

  if (good == NULL) {
    path = fuzz_database_path ("results");
    good = make_good (path);
  }
  if (!fuzz_database_write (path, good, data, size))
    return 0;
  check_queries (path);
  check_writing (path);
  fuzz_database_remove (path);
  return 0;
}
