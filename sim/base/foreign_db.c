/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/foreign_db.h"

#include <string.h>

void
fab_foreign_db_guard (sqlite3 *db, FabForeignViews views)
{
  const int most_bytes = 256 * 1024 * 1024;

  sqlite3_db_config (db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_VIEW, views == FAB_VIEWS_OWN, NULL);
  sqlite3_limit (db, SQLITE_LIMIT_LENGTH, most_bytes);
}

static const char *
kind_of (sqlite3_stmt *row)
{
  const char *type = (const char *) sqlite3_column_text (row, 0),
             *sql = (const char *) sqlite3_column_text (row, 1);

  if (type == NULL || strcmp (type, "table") != 0)
    return type != NULL && strcmp (type, "view") == 0 ? "a view" : "no table";
  return sql != NULL && g_ascii_strncasecmp (sql, "CREATE VIRTUAL", strlen ("CREATE VIRTUAL")) == 0
           ? "a virtual table"
           : NULL;
}

const char *
fab_foreign_db_not_a_table (sqlite3 *db, const char *const *names, const char **name)
{
  const char *found = NULL;
  sqlite3_stmt *row = NULL;

  if (sqlite3_prepare_v2 (db, "SELECT type, sql FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE", -1, &row,
                          NULL)
      != SQLITE_OK)
    return NULL;
  for (guint i = 0; names[i] != NULL && found == NULL; i++) {
    sqlite3_reset (row);
    sqlite3_bind_text (row, 1, names[i], -1, SQLITE_STATIC);
    if (sqlite3_step (row) == SQLITE_ROW)
      found = kind_of (row);
    *name = names[i];
  }
  sqlite3_finalize (row);
  return found;
}

char *
fab_foreign_db_other_view (sqlite3 *db, const char *views)
{
  sqlite3_stmt *row = NULL;
  char *found = NULL;

  if (sqlite3_prepare_v2 (db, "SELECT name, sql FROM sqlite_schema WHERE type = 'view'", -1, &row, NULL)
      != SQLITE_OK)
    return NULL;
  while (found == NULL && sqlite3_step (row) == SQLITE_ROW) {
    const char *name = (const char *) sqlite3_column_text (row, 0),
               *sql = (const char *) sqlite3_column_text (row, 1);
    g_autofree char *begin = g_strdup_printf ("CREATE VIEW %s AS", name != NULL ? name : "");

    if (name != NULL && strstr (views, begin) != NULL && (sql == NULL || strstr (views, sql) == NULL))
      found = g_strdup (name);
  }
  sqlite3_finalize (row);
  return found;
}
