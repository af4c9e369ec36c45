/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c - what the writer writes, and that another reader takes it. */
#include "tests/support/test.h"

#include <math.h>

#include <json-glib/json-glib.h>

#include "sim/base/json.h"

static void
write_values (FabJson *json)
{
  static const char *const names[] = { "a", "b", NULL };

  fab_json_begin_object (json, NULL);
  fab_json_add_real (json, "third", 1.0 / 3);
  fab_json_add_real (json, "one", 1);
  fab_json_add_real (json, "small", 3e-11);
  fab_json_add_real (json, "none", NAN);
  fab_json_add_whole (json, "most", G_MAXINT64);
  fab_json_add_flag (json, "right", TRUE);
  fab_json_add_text (json, "text", "say \"a\\b\"\n\t\x01\x7f");
  fab_json_add_texts (json, "names", names);
  fab_json_begin_array (json, "empty");
  fab_json_end (json);
  fab_json_begin_array (json, "rows");
  fab_json_begin_object (json, NULL);
  fab_json_end (json);
  fab_json_add_null (json, NULL);
  fab_json_end (json);
  fab_json_end (json);
}

/* By hand: two blanks a level, " : " behind a key, 17 digits, ".0" where a real would else look whole. */
static void
a_page_has_a_line_for_each_value (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  write_values (json);
  g_autofree char *text = fab_json_finish (json);
  assert_string_equal (text, "{\n"
                             "  \"third\" : 0.33333333333333331,\n"
                             "  \"one\" : 1.0,\n"
                             "  \"small\" : 3e-11,\n"
                             "  \"none\" : null,\n"
                             "  \"most\" : 9223372036854775807,\n"
                             "  \"right\" : true,\n"
                             "  \"text\" : \"say \\\"a\\\\b\\\"\\n\\t\\u0001\\u007f\",\n"
                             "  \"names\" : [\n    \"a\",\n    \"b\"\n  ],\n"
                             "  \"empty\" : [],\n"
                             "  \"rows\" : [\n    {    },\n    null\n  ]\n"
                             "}\n");
}

static void
compact_has_no_blanks (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);

  write_values (json);
  g_autofree char *text = fab_json_text (json);
  assert_string_equal (text, "{\"third\":0.3333333333,\"one\":1,\"small\":3e-11,\"none\":null,"
                             "\"most\":9223372036854775807,\"right\":true,"
                             "\"text\":\"say \\\"a\\\\b\\\"\\n\\t\\u0001\\u007f\",\"names\":[\"a\",\"b\"],"
                             "\"empty\":[],\"rows\":[{},null]}");
}

static void
add_half (FabJson *json, const char *key)
{
  fab_json_add_real (json, key, 0.5);
}

static void
add_no (FabJson *json, const char *key)
{
  fab_json_add_flag (json, key, FALSE);
}

static void
add_nothing (FabJson *json, const char *key)
{
  fab_json_add_null (json, key);
}

static void
add_json (FabJson *json, const char *key)
{
  fab_json_add_json (json, key, "{\"x\":[1]}");
}

/* Every character below a blank, and
 * the one above the tilde, is escaped; other languages are not. */
static void
texts_are_escaped_where_they_must (G_GNUC_UNUSED void **state)
{
  for (guint style = 0; style < 2; style++)
    for (guint c = 1; c < 128; c++) {
      static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
      const char text[] = { 'a', (char) c, 'z', '\0' }, alone[] = { (char) c, '\0' };
      const char *which = strchr (named, (int) c);
      g_autoptr (FabJson) json = fab_json_new (style == 0 ? FAB_JSON_PAGE : FAB_JSON_COMPACT);
      g_autofree char *expected = which != NULL         ? g_strdup_printf ("\"a\\%cz\"", names[which - named])
                                : c < 0x20 || c == 0x7f ? g_strdup_printf ("\"a\\u%04xz\"", c)
                                                        : g_strdup_printf ("\"%s\"", text);

      fab_json_add_text (json, NULL, text);
      g_autofree char *written = fab_json_text (json);
      assert_string_equal (written, expected);
      g_autoptr (GString) short_text = g_string_new (NULL);
      fab_json_append_text (short_text, alone);
      g_string_insert (short_text, 1, "a");
      g_string_insert (short_text, (gssize) short_text->len - 1, "z");
      assert_string_equal (short_text->str, expected);
    }
  g_autoptr (GString) out = g_string_new (NULL);
  fab_json_append_text (out, "\xc3\xa9\n");
  fab_json_append_text (out, "\xff");
  fab_json_append_text (out, "");
  assert_string_equal (out->str, "\"\xc3\xa9\\n\"\"\xef\xbf\xbd\"\"\"");
}

/* Alone, in an array and in an object; JSON that is there already stands as it is. */
static void
values_of_every_kind_stand_alone (G_GNUC_UNUSED void **state)
{
  static const struct {
    void (*add) (FabJson *json, const char *key);
    const char *compact;
  } rows[] = {
    { add_half, "0.5" }, { add_no, "false" }, { add_nothing, "null" }, { add_json, "{\"x\":[1]}" }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabJson) alone = fab_json_new (FAB_JSON_COMPACT), inside = fab_json_new (FAB_JSON_COMPACT);

    rows[i].add (alone, NULL);
    g_autofree char *text = fab_json_finish (alone);
    g_autofree char *expected = g_strconcat (rows[i].compact, "\n", NULL);
    assert_string_equal (text, expected);
    fab_json_begin_array (inside, NULL);
    rows[i].add (inside, NULL);
    fab_json_begin_object (inside, NULL);
    rows[i].add (inside, "k");
    fab_json_end (inside);
    rows[i].add (inside, NULL);
    fab_json_end (inside);
    g_autofree char *both = fab_json_text (inside);
    g_autofree char *expected_both = g_strdup_printf ("[%s,{\"k\":%s},%s]", rows[i].compact, rows[i].compact,
                                                      rows[i].compact);
    assert_string_equal (both, expected_both);
  }
}

/* json-glib reads what was written and, but for exponents, writes it the same way. */
static void
another_reader_takes_it (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  write_values (json);
  g_autofree char *text = fab_json_text (json);
  g_autoptr (JsonNode) root = json_from_string (text, NULL);
  assert_non_null (root);
  JsonObject *object = json_node_get_object (root);
  assert_true (json_object_get_double_member (object, "third") == 1.0 / 3);
  assert_true (json_object_get_int_member (object, "most") == G_MAXINT64);
  assert_string_equal (json_object_get_string_member (object, "text"), "say \"a\\b\"\n\t\x01\x7f");
  json_object_set_null_member (object, "small");
  g_autofree char *again = json_to_string (root, TRUE);
  char *small = g_strstr_len (text, -1, "3e-11");
  g_autofree char *expected = g_strdup_printf ("%.*snull%s", (int) (small - text), text, strchr (small, ','));
  assert_string_equal (again, expected);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_page_has_a_line_for_each_value),  cmocka_unit_test (compact_has_no_blanks),
    cmocka_unit_test (texts_are_escaped_where_they_must), cmocka_unit_test (values_of_every_kind_stand_alone),
    cmocka_unit_test (another_reader_takes_it),
  };

  return cmocka_run_group_tests_name ("json", tests, NULL, NULL);
}
