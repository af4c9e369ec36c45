/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_sql.c - statements for `fabricast query --sql`: each is answered within its limits or refused with a message, and
 * none changes the file.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/result/store.h"
#include "tests/fuzz/database.h"
#include "tests/fuzz/target.h"

enum { MOST_ROWS = 100, MOST_S = 1 };

static char *path;

static void
add_run (FabStore *store)
{
  g_autoptr (GError) error = NULL;
  const FabRunRecord run = { .name = "fuzz",
                             .scenario_yaml = "name: fuzz\n",
                             .version = "0",
                             .fidelity = "fluid",
                             .n_ranks = 2,
                             .n_nodes = 1 };
  const FabRankClassRecord classes[] = { { .name = "all", .n_ranks = 2 } };
  const FabIterationRecord times = {
    .duration_ps = 1000, .compute_ps = 600, .comm_ps = 400, .exposed_ps = 400
  };
  const FabStepRecord step = { .times = times };

  if (!fab_store_begin_run (store, &run, NULL, &error) || !fab_store_add_classes (store, classes, 1, &error)
      || !fab_store_add_steps (store, &step, 1, &error)
      || !fab_store_add_iterations (store, &times, 1, &error) || !fab_store_commit_run (store, &error))
    g_error ("no run: %s", error->message);
}

static void
remove_file (void)
{
  fuzz_database_remove (path);
}

/* A results file with one run, open for reading. */
static FabStore *
open_good (void)
{
  g_autoptr (GError) error = NULL;
  FabStore *store = NULL;

  path = fuzz_database_path ("sql");
  fuzz_database_remove (path);
  store = fab_store_open (path, FAB_STORE_WRITE, &error);
  if (store != NULL)
    add_run (store);
  if (store == NULL || !fab_store_close (&store, &error)
      || (store = fab_store_open (path, FAB_STORE_READ, &error)) == NULL)
    g_error ("no results file: %s", error->message);
  fab_store_limit_queries (store, MOST_ROWS, MOST_S);
  atexit (remove_file);
  return store;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static FabStore *store;
  static char *before;
  static gsize before_size;
  g_autofree char *sql = g_strndup ((const char *) data, size), *now = NULL, *json = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTable) table = NULL;
  gsize now_size = 0;

  if (store == NULL) {
    store = open_good ();
    g_file_get_contents (path, &before, &before_size, NULL);
  }
  table = fab_store_query (store, sql, 0, &error);
  if (table == NULL)
    fuzz_check_message (error);
  else
    fuzz_check_text (json = fab_table_to_json (table));
  if (!g_file_get_contents (path, &now, &now_size, NULL) || now_size != before_size
      || memcmp (now, before, now_size) != 0)
    g_error ("a query has changed the file: %s", sql);
  return 0;
}
