/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/database.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

enum { STEPS_PER_LOOK = 1000, MOST_LOOKS = 50, MAX_VALUE_BYTES = 1 << 16 };
enum { WRITE_VERSION_AT = 18, READ_VERSION_AT = 19, HEADER_BYTES = 100 };

void
fuzz_database_remove (const char *path)
{
  static const char *const ends[] = { "", "-wal", "-shm", "-journal" };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_autofree char *file = g_strconcat (path, ends[i], NULL);

    g_unlink (file);
  }
}

char *
fuzz_database_path (const char *name)
{
  const char *folder = g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR) ? "/dev/shm" : g_get_tmp_dir ();

  return g_strdup_printf ("%s/fabricast-fuzz-%s-%d.db", folder, name, (int) getpid ());
}

GBytes *
fuzz_database_take (const char *path)
{
  g_autoptr (GError) error = NULL;
  char *image = NULL;
  gsize size = 0;

  if (!g_file_get_contents (path, &image, &size, &error) || size < HEADER_BYTES)
    g_error ("no good database: %s", error ? error->message : path);
  fuzz_database_remove (path);
  /* a database with a write-ahead log cannot live in memory */
  image[WRITE_VERSION_AT] = image[READ_VERSION_AT] = 1;
  return g_bytes_new_take (image, size);
}

/* The script may do what it likes to its own database, and nothing to any other file. */
static int
authorize (G_GNUC_UNUSED gpointer data, int action, G_GNUC_UNUSED const char *first, const char *second,
           G_GNUC_UNUSED const char *schema, G_GNUC_UNUSED const char *trigger)
{
  if (action == SQLITE_ATTACH || (action == SQLITE_FUNCTION && g_strcmp0 (second, "load_extension") == 0))
    return SQLITE_DENY;
  return SQLITE_OK;
}

static int
look (gpointer data)
{
  return ++*(guint *) data > MOST_LOOKS;
}

static void
play (sqlite3 *db, const char *script)
{
  guint n_looks = 0;

  sqlite3_limit (db, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
  sqlite3_exec (db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
  sqlite3_set_authorizer (db, authorize, NULL);
  sqlite3_progress_handler (db, STEPS_PER_LOOK, look, &n_looks);
  while (*script != '\0') {
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2 (db, script, -1, &statement, &script) != SQLITE_OK)
      break;
    while (sqlite3_step (statement) == SQLITE_ROW) {}
    sqlite3_finalize (statement);
  }
  sqlite3_progress_handler (db, 0, NULL, NULL);
  sqlite3_exec (db, "COMMIT", NULL, NULL, NULL);
}

gboolean
fuzz_database_write (const char *path, GBytes *good, const guint8 *data, gsize size)
{
  gsize good_size = 0;
  const void *image = g_bytes_get_data (good, &good_size);
  unsigned char *copy, *made;
  sqlite3_int64 made_size = 0;
  sqlite3 *db = NULL;
  gboolean is_made;

  fuzz_database_remove (path);
  if (size >= 15 && memcmp (data, "SQLite format 3", 15) == 0)
    return g_file_set_contents_full (path, (const char *) data, (gssize) size, G_FILE_SET_CONTENTS_NONE, 0600,
                                     NULL);
  g_autofree char *script = g_strndup ((const char *) data, size);

  copy = sqlite3_malloc64 (good_size);
  memcpy (copy, image, good_size);
  if (sqlite3_open (":memory:", &db) != SQLITE_OK
      || sqlite3_deserialize (db, "main", copy, (sqlite3_int64) good_size, (sqlite3_int64) good_size,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
             != SQLITE_OK)
    g_error ("the good database cannot be opened");
  play (db, script);
  made = sqlite3_serialize (db, "main", &made_size, 0);
  is_made = made != NULL && made_size > 0
         && g_file_set_contents_full (path, (const char *) made, (gssize) made_size, G_FILE_SET_CONTENTS_NONE,
                                      0600, NULL);
  sqlite3_free (made);
  sqlite3_close (db);
  return is_made;
}
