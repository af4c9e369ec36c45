/* SPDX-License-Identifier: Apache-2.0 */
/* database.h - an input of a fuzzer becomes a file of SQLite that anybody may have written.
 *
 * An input that begins as such a file does is taken as it is. Any other input is a script of SQL that changes a good
 * database, so that views, triggers and strange values are met behind a header that is right.
 */
#pragma once

#include <glib.h>

/* Returns the image of the good database: the file at `path`, in the mode in which it can be read from memory. The file
 * is removed. (transfer full) */
GBytes *fuzz_database_take (const char *path);

/* Returns a path for a file of this process alone. (transfer full) */
char *fuzz_database_path (const char *name);

/* Writes the file at `path` anew. FALSE: the script leaves no database. */
gboolean fuzz_database_write (const char *path, GBytes *good, const guint8 *data, gsize size);

/* Removes the file at `path` with what SQLite puts beside it. */
void fuzz_database_remove (const char *path);
