/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_json.c - the reader of JSON: objects and arrays end as they began, what SQLite takes for JSON is JSON here too,
 * and passing over a value reads as far as reading it.
 */
#include <sqlite3.h>
#include <string.h>

#include "formats/text/json.h"
#include "tests/fuzz/target.h"

enum { MOST_BYTES = 4096, MOST_DEPTH = 256 };

/* Returns whether the whole is one document. */
static gboolean
read_all (const guint8 *data, gsize size, gboolean skips)
{
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_new ("fuzz", data, size);
  g_autoptr (GError) error = NULL;
  FabFileJson json;
  FabFileJsonToken token = FAB_FILE_JSON_ERROR;
  gint depth = 0;

  if (!fab_file_bytes_next (bytes, &error))
    return FALSE;
  fab_file_json_init (&json, bytes);
  if (skips && fab_file_json_skip (&json))
    token = fab_file_json_next (&json);
  while (!skips && (token = fab_file_json_next (&json)) != FAB_FILE_JSON_END
         && token != FAB_FILE_JSON_ERROR) {
    depth += token == FAB_FILE_JSON_OBJECT || token == FAB_FILE_JSON_ARRAY;
    depth -= token == FAB_FILE_JSON_OBJECT_END || token == FAB_FILE_JSON_ARRAY_END;
    if (depth < 0 || (guint) depth != json.depth || json.text_size > FAB_FILE_TEXT_BYTES)
      g_error ("what ended has not begun");
  }
  if (token == FAB_FILE_JSON_ERROR)
    fuzz_check_message (json.error);
  if (token == FAB_FILE_JSON_END && depth != 0)
    g_error ("the end within an object");
  fab_file_json_clear (&json);
  return token == FAB_FILE_JSON_END;
}

static gboolean
is_valid (const char *text, gsize size)
{
  static sqlite3 *db;
  static sqlite3_stmt *ask;
  gboolean answer;

  if (db == NULL
      && (sqlite3_open (":memory:", &db) != SQLITE_OK
          || sqlite3_prepare_v2 (db, "SELECT json_valid (?1)", -1, &ask, NULL) != SQLITE_OK))
    g_error ("no SQLite");
  sqlite3_bind_text (ask, 1, text, (int) size, SQLITE_STATIC);
  answer = sqlite3_step (ask) == SQLITE_ROW && sqlite3_column_int (ask, 0) == 1;
  sqlite3_reset (ask);
  return answer;
}

static guint
deepest (const char *text)
{
  guint depth = 0, most = 0;

  for (; *text != '\0'; text++) {
    if (*text == '{' || *text == '[')
      most = MAX (most, ++depth);
    else if ((*text == '}' || *text == ']') && depth > 0)
      depth--;
  }
  return most;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  gboolean is_packed = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
  gboolean is_read = read_all (data, size, FALSE);

  if (is_read != read_all (data, size, TRUE))
    g_error ("reading and passing over differ");
  if (!is_read && !is_packed && size < MOST_BYTES && strlen (text) == size && g_utf8_validate (text, -1, NULL)
      && deepest (text) < MOST_DEPTH && is_valid (text, size))
    g_error ("good JSON is refused: %s", text);
  return 0;
}
