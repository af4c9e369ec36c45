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
    cmocka_unit_test (a_page_has_a_line_for_each_value),
    cmocka_unit_test (compact_has_no_blanks),
    cmocka_unit_test (another_reader_takes_it),
  };

  return cmocka_run_group_tests_name ("json", tests, NULL, NULL);
}
