/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_columns.c - the section "Tables" of docs/reference/results-schema.md is made from columns.h.
 * FAB_UPDATE_GOLDEN=1 writes it anew. */
#include "tests/support/test.h"

#include <string.h>

#include "sim/result/store_private.h"

static const char page_path[] = FAB_SOURCE_DIR "/docs/reference/results-schema.md";
static const char from[] = "\n**`run`**", to[] = "\n## Views\n";

/* "¹²" of a version above the first. (transfer full) */
static char *
mark_of (guint since)
{
  static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
  g_autofree char *number = g_strdup_printf ("%u", since);
  GString *mark = g_string_new (NULL);

  for (const char *digit = number; since > 1 && *digit != '\0'; digit++)
    g_string_append (mark, digits[*digit - '0']);
  return g_string_free (mark, FALSE);
}

static void
append_key (GString *out, const FabRecordTable *table)
{
  static const char primary[] = "PRIMARY KEY (";

  for (guint i = 0; table->keys[i]; i++) {
    if (!g_str_has_prefix (table->keys[i], primary))
      continue;
    g_autofree char *names = g_strdup (table->keys[i] + strlen (primary));
    *strrchr (names, ')') = '\0';
    g_auto (GStrv) words = g_strsplit (names, ", ", -1);
    g_autofree char *quoted = g_strjoinv ("`, `", words);

    g_string_append_printf (out, ", key `%s`", quoted);
  }
}

static void
append_table (GString *out, const FabRecordTable *table)
{
  g_autofree char *since = mark_of (table->since);

  g_string_append_printf (out, "\n**`%s`**%s", table->name, since);
  append_key (out, table);
  g_string_append_printf (out, ": %s.\n\n| column | type | meaning |\n|---|---|---|\n", table->about);
  for (guint i = 0; i < table->n_columns; i++) {
    const FabColumn *column = &table->columns[i];
    g_autofree char *mark = mark_of (column->since);

    g_string_append_printf (out, "| `%s`%s | %s | %s |\n", column->name, mark, fab_column_type (column),
                            column->meaning ? column->meaning : "");
  }
  if (table->note)
    g_string_append_printf (out, "\n%s\n", table->note);
}

static void
the_page_shows_every_column (G_GNUC_UNUSED void **state)
{
  g_autofree char *page = NULL;
  g_autoptr (GString) wanted = g_string_new (NULL);

  assert_true (g_file_get_contents (page_path, &page, NULL, NULL));
  const char *begin = strstr (page, from), *end = strstr (page, to);
  assert_true (begin && end && begin < end);
  g_string_append_len (wanted, page, begin - page);
  for (guint i = 0; i < FAB_N_TABLES; i++)
    append_table (wanted, &fab_record_tables[i]);
  g_string_append (wanted, end);
  if (g_getenv ("FAB_UPDATE_GOLDEN"))
    assert_true (g_file_set_contents (page_path, wanted->str, -1, NULL));
  else if (strcmp (page, wanted->str) != 0)
    fail_msg (
        "docs/reference/results-schema.md is not what sim/result/columns.c says; FAB_UPDATE_GOLDEN=1 writes it anew");
}

/* A unit at the end of a name, where the kind is a quantity. */
static void
times_are_whole_picoseconds (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < FAB_N_TABLES; i++)
    for (guint k = 0; k < fab_record_tables[i].n_columns; k++) {
      const FabColumn *column = &fab_record_tables[i].columns[k];

      if (g_str_has_suffix (column->name, "_ps"))
        assert_int_equal (column->kind, FAB_COLUMN_WHOLE);
      if (g_str_has_suffix (column->name, "_fraction") || g_str_has_suffix (column->name, "_s"))
        assert_true (column->kind == FAB_COLUMN_REAL || g_str_has_suffix (column->name, "bytes_per_s"));
    }
}

/* The version of a file is at least that of everything in it, or older files would not be migrated. */
static void
nothing_is_newer_than_the_version (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < FAB_N_TABLES; i++) {
    const FabRecordTable *table = &fab_record_tables[i];

    assert_true (table->since <= fab_store_schema_version ());
    for (guint k = 0; k < table->n_columns; k++)
      assert_true (table->columns[k].since <= fab_store_schema_version ());
  }
}

/* A table as SQL: its owner, its columns with what holds of them and what they mean, and its keys. Only one that has
 * keys is in the order of these. */
static void
tables_are_written_as_sql (G_GNUC_UNUSED void **state)
{
  static const FabColumn columns[] = {
    { .name = "a", .kind = FAB_COLUMN_COUNT, .is_unique = TRUE, .meaning = "Number." },
    { .name = "b", .kind = FAB_COLUMN_TEXT, .may_be_null = TRUE, .check = "b > 0" },
    { .name = "c", .kind = FAB_COLUMN_REAL, .meaning = "Last." },
  };
  FabRecordTable table = { .name = "t", .owner = "id INTEGER", .columns = columns, .n_columns = 3 };
  static const char *const keys[] = { "PRIMARY KEY (id, a)", "UNIQUE (b)" };
  static const char *const ends[] = {
    " -- Last.\n) STRICT;\n", ", -- Last.\n  PRIMARY KEY (id, a)\n) STRICT, WITHOUT ROWID;\n",
    ", -- Last.\n  PRIMARY KEY (id, a),\n  UNIQUE (b)\n) STRICT, WITHOUT ROWID;\n"
  };

  for (guint n = 0; n <= G_N_ELEMENTS (keys); n++) {
    if (n > 0)
      table.keys[n - 1] = keys[n - 1];
    g_autofree char *sql = fab_record_table_sql (&table);
    g_autofree char *expected = g_strconcat (
        "CREATE TABLE t (\n  id INTEGER,\n  a INTEGER NOT NULL UNIQUE, -- Number.\n  b TEXT CHECK (b > 0),\n"
        "  c REAL NOT NULL",
        ends[n], NULL);

    assert_string_equal (sql, expected);
  }
}

/* A whole number, 0 too, is known as a real as well; kinds of spans have names. */
static void
fields_have_their_kinds (G_GNUC_UNUSED void **state)
{
  typedef struct {
    gint64 whole;
    guint count;
    gint32 index;
    FabSpanKind span;
  } Row;
  static const FabColumn columns[] = {
    { .kind = FAB_COLUMN_WHOLE, .offset = G_STRUCT_OFFSET (Row, whole) },
    { .kind = FAB_COLUMN_COUNT, .offset = G_STRUCT_OFFSET (Row, count) },
    { .kind = FAB_COLUMN_INDEX, .offset = G_STRUCT_OFFSET (Row, index) },
    { .kind = FAB_COLUMN_SERIAL },
  };
  const Row zeros = { 0 }, ones = { 1, 1, 1, FAB_SPAN_LOAD };
  const FabColumn span = { .kind = FAB_COLUMN_SPAN, .offset = G_STRUCT_OFFSET (Row, span) };

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    for (gint one = 0; one < 2; one++) {
      FabField field = fab_column_read (&columns[i], one ? &ones : &zeros, one);

      assert_int_equal (field.kind, FAB_CELL_INTEGER);
      assert_int_equal (field.integer, one);
      assert_near (field.real, one, 0);
    }
  assert_string_equal (fab_column_read (&span, &zeros, 0).text, "compute");
  assert_string_equal (fab_column_read (&span, &ones, 0).text, "load");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_page_shows_every_column),       cmocka_unit_test (times_are_whole_picoseconds),
    cmocka_unit_test (tables_are_written_as_sql),         cmocka_unit_test (fields_have_their_kinds),
    cmocka_unit_test (nothing_is_newer_than_the_version),
  };

  return cmocka_run_group_tests_name ("store_columns", tests, NULL, NULL);
}
