/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_db.h - opens a database as if anybody may have written it.
 *
 * A file decides its schema. In place of a table it may have a view that never ends, or a trigger; its views and
 * generated columns may call functions; a value may be as long as SQLite allows.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

typedef enum {
  FAB_VIEWS_NONE, /* reading a view is an error of SQLite */
  FAB_VIEWS_OWN,  /* views are read, which the caller has compared with its own */
} FabForeignViews;

/* Nothing of the schema calls functions with effects, no trigger runs, nobody writes the schema by SQL, and a value has
 * at most 256 MiB. */
void fab_foreign_db_guard (sqlite3 *db, FabForeignViews views);

/* Returns what one of these names (NULL-ended) is in place of a table, "a view" for example; *name is then which.
 * NULL: all are tables, as far as they are there. A database that cannot be read has none. */
const char *fab_foreign_db_not_a_table (sqlite3 *db, const char *const *names, const char **name);

/* Returns the name of a view that has the name of one of `views` ("CREATE VIEW name AS ...", one after another) and
 * another text; NULL: there is none. (transfer full) */
char *fab_foreign_db_other_view (sqlite3 *db, const char *views);
