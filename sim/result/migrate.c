/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.c - brings a results file of an older schema to the present one.
 *
 * Every table is made anew as columns.c has it, and the rows of the old one are copied into it column by column, so
 * that the file has the same tables as one that was written today. A column that had another name there keeps its
 * values. One that the old table lacks is NULL where that is allowed, else its `before`, else 0 or an empty text.
 * All of it is one transaction: a process that is killed leaves the file as it was.
 */
#include <sqlite3.h>
#include <string.h>

#include "sim/result/store_private.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

static const char doing[] = "bring it to the schema of this version";

/* Returns the names of the columns that the table has in the file; none: the table is not there. NULL: they cannot be
 * read, and SQLite has the reason. (transfer full) */
static GHashTable *
columns_in_file (FabStore *self, const char *table)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (sqlite3_stmt) stmt = NULL;
  int code = sqlite3_prepare_v2 (self->db, "SELECT name FROM pragma_table_info (?)", -1, &stmt, NULL);

  if (code == SQLITE_OK)
    code = sqlite3_bind_text (stmt, 1, table, -1, SQLITE_STATIC);
  while (code == SQLITE_OK || code == SQLITE_ROW)
    if ((code = sqlite3_step (stmt)) == SQLITE_ROW)
      g_hash_table_add (names, g_strdup ((const char *) sqlite3_column_text (stmt, 0)));
  return code == SQLITE_DONE ? g_steal_pointer (&names) : NULL;
}

/* Returns what stands in a column of rows that were written before it existed. */
static const char *
value_before (const FabColumn *column)
{
  if (column->before != NULL)
    return column->before;
  if (column->may_be_null)
    return "NULL";
  return strcmp (fab_column_type (column), "TEXT") == 0 ? "''" : "0";
}

/* The owner is the first word of its definition. */
static void
append_copy (GString *sql, const FabRecordTable *table, GHashTable *known)
{
  g_string_append_printf (sql, "INSERT INTO %s SELECT %.*s", table->name, (gint) strcspn (table->owner, " "),
                          table->owner);
  for (guint i = 0; i < table->n_columns; i++) {
    const FabColumn *column = &table->columns[i];

    g_string_append_printf (sql, ", %s",
                            g_hash_table_contains (known, column->name) ? column->name
                            : column->former != NULL && g_hash_table_contains (known, column->former)
                                ? column->former
                                : value_before (column));
  }
  g_string_append_printf (sql, " FROM old_%s;\nDROP TABLE old_%s;\n", table->name, table->name);
}

static gboolean
renew_table (FabStore *self, const FabRecordTable *table, GError **error)
{
  g_autoptr (GHashTable) known = columns_in_file (self, table->name);
  g_autofree char *create = fab_record_table_sql (table);
  g_autoptr (GString) sql = g_string_new (NULL);

  if (known == NULL) /* what was taken for missing would be lost */
    return fab_store_fail (self, doing, error);
  gboolean is_there = g_hash_table_size (known) != 0;
  if (is_there)
    g_string_append_printf (sql, "ALTER TABLE %s RENAME TO old_%s;\n", table->name, table->name);
  g_string_append (sql, create);
  if (is_there)
    append_copy (sql, table, known);
  return fab_store_exec (self, sql->str, doing, error);
}

/* Those of other names are somebody's own, and stay. */
static gboolean
drop_views (FabStore *self, const char *views, GError **error)
{
  static const char create[] = "CREATE VIEW ";
  g_autoptr (GString) sql = g_string_new (NULL);

  for (const char *at = strstr (views, create); at != NULL; at = strstr (at, create)) {
    at += strlen (create);
    g_string_append_printf (sql, "DROP VIEW IF EXISTS %.*s;\n", (gint) strcspn (at, " "), at);
  }
  return fab_store_exec (self, sql->str, doing, error);
}

static gboolean
renew_all (FabStore *self, GError **error)
{
  g_autofree char *version = g_strdup_printf ("PRAGMA user_version = %u", fab_store_schema_version ());
  g_autofree char *views = fab_store_views ();

  if (!drop_views (self, views, error))
    return FALSE;
  for (guint i = 0; i < FAB_N_TABLES; i++)
    if (!renew_table (self, &fab_record_tables[i], error))
      return FALSE;
  return fab_store_exec (self, views, doing, error) && fab_store_exec (self, version, doing, error);
}

/* References between tables are by name and must stay as they are while tables change theirs. */
gboolean
fab_store_migrate (FabStore *self, GError **error)
{
  gint64 version = 0;
  gboolean is_done;

  if (!fab_store_exec (self, "PRAGMA foreign_keys = 0; PRAGMA legacy_alter_table = 1; BEGIN IMMEDIATE", doing,
                       error))
    return FALSE;
  if (!fab_store_read_integer (self, "PRAGMA user_version", &version))
    is_done = fab_store_fail (self, doing, error);
  else /* another process may have done it meanwhile */
    is_done = version == fab_store_schema_version () || renew_all (self, error);
  is_done = is_done && fab_store_exec (self, "COMMIT", doing, error);
  if (!is_done)
    sqlite3_exec (self->db, "ROLLBACK", NULL, NULL, NULL);
  sqlite3_exec (self->db, "PRAGMA legacy_alter_table = 0", NULL, NULL, NULL);
  return is_done;
}
