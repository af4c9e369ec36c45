/* SPDX-License-Identifier: Apache-2.0 */
/* store_private.h - shared by the files of the store, for sim/result and its tests only.
 *
 * SQLite's types are declared here by name, so that <sqlite3.h> is included by .c files of this folder only.
 */
#pragma once

#include "sim/base/error.h"
#include "sim/result/columns.h"
#include "sim/result/store.h"

#define FAB_STORE_APPLICATION_ID 0x46414243 /* "FABC", at byte 68 of the file */
#define FAB_STORE_PATIENCE_MS 300000        /* how long to wait while another process writes */

struct sqlite3_stmt;

/* The version of the schema: user_version, at byte 60. No table and no column is newer. */
guint fab_store_schema_version (void);

struct _FabStore {
  char *path; /* as the user wrote it */
  char *file; /* never a URI; ":memory:" means no file */
  struct sqlite3 *db;
  FabStoreMode mode;
  guint patience_ms;
  gboolean has_schema; /* FALSE: an empty file, opened for reading */
  gboolean is_old;     /* its schema is an older one */
  gint64 data_version; /* of the file when it was last read */
  gint64 chosen_sweep; /* the sweep that :sweep means; 0: the last */
  guint64 max_rows;    /* of a query; 0: no limit */
  guint max_s;         /* of a query; 0: no limit */
  gint64 end_us;       /* when the query that runs must be over, as of g_get_monotonic_time */
  gboolean in_run;
  gint64 run_id;                                                           /* of the open run */
  gint64 n_rows[FAB_N_RUN_TABLES];                                         /* in the open run */
  struct sqlite3_stmt *single[FAB_N_RUN_TABLES], *batch[FAB_N_RUN_TABLES]; /* prepared when first used */
};

/* Sets *error to what SQLite just reported, as a message with the file, the problem and the remedy. `doing` completes
 * "cannot ...". Returns FALSE. */
gboolean fab_store_fail (FabStore *self, const char *doing, GError **error);

gboolean fab_store_exec (FabStore *self, const char *sql, const char *doing, GError **error);

/* Reads the first column of the first row, which must exist. FALSE without an error: SQLite has the reason. */
gboolean fab_store_read_integer (FabStore *self, const char *sql, gint64 *value);

/* Sets *found to the sweep that :sweep means. */
gboolean fab_store_find_sweep (FabStore *self, gint64 *found, GError **error);

/* Brings a file of an older schema to the present one, in one transaction. It may be present already. */
gboolean fab_store_migrate (FabStore *self, GError **error);

void fab_store_set_patience (FabStore *self, guint patience_ms);

/* "INSERT INTO t VALUES (?, ...), ..." for so many rows. (transfer full) */
char *fab_store_insert_sql (const FabRecordTable *table, guint n_rows);

/* Binds one row from the parameter `place` on: its owner (0: NULL, SQLite counts), then its columns. `serial` is
 * what a column that counts gets. Texts are bound without a copy. Returns the parameter behind the row. */
gint fab_store_bind (struct sqlite3_stmt *stmt, gint place, const FabRecordTable *table, gint64 owner,
                     gint64 serial, gconstpointer row);

/* The views, as SQL. (transfer full) */
char *fab_store_views (void);

/* The numbers that a view shows beside the columns that schema.c names: ", x_s, y". (transfer full) */
char *fab_store_view_rest (const char *view);
