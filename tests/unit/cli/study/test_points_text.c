/* SPDX-License-Identifier: Apache-2.0 */
/* test_points_text.c - points of a study as a table for a reader, and as JSON and CSV for programs: points are made
 * here, and what the table says of them is written out by hand. */
#include "tests/support/test.h"

#include <string.h>

#include <json-glib/json-glib.h>

#include "cli/study/points_text.h"

static const char *const columns[] = { "value", "state", "gpus", NULL };

static FabPointsRow *
add (FabPoints *points, const char *value, const char *state, const FabPoint *point, const char *problem)
{
  char *const labels[] = { g_strdup (value), g_strdup (state), g_strdup ("8") };

  return fab_points_add (points, labels, point, problem);
}

/* Where a line has the ends of its columns, in letters from its start. */
static GArray *
ends_of (const char *line)
{
  GArray *ends = g_array_new (FALSE, FALSE, sizeof (guint));
  guint at = 0;

  for (const char *p = line; *p != '\0'; p = g_utf8_next_char (p)) {
    if (*p == '\v')
      g_array_append_val (ends, at);
    else
      at++;
  }
  return ends;
}

/* The table, with a bar between columns and one space for several. Columns of all lines end at the same places, but
 * for lines with `n_columns` or fewer, which end with a sentence. (transfer full) */
static char *
squeezed (const FabPoints *points, guint n_columns)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GString *made = g_string_new (NULL);

  fab_points_append_text (text, points);
  g_auto (GStrv) lines = g_strsplit (text->str, "\n", -1);
  g_autoptr (GArray) head = ends_of (lines[0]);
  for (guint i = 0; lines[i + 1] != NULL; i++) {
    g_autoptr (GArray) ends = ends_of (lines[i]);
    g_auto (GStrv) cells = g_strsplit (lines[i], "\v", -1);

    if (ends->len > n_columns) {
      assert_int_equal (ends->len, head->len);
      assert_memory_equal (ends->data, head->data, head->len * sizeof (guint));
    }
    for (guint c = 0; cells[c] != NULL; c++)
      g_string_append_printf (made, "%s%s", c > 0 ? "|" : "", g_strstrip (cells[c]));
    g_string_append_c (made, '\n');
  }
  assert_string_equal (lines[g_strv_length (lines) - 1], "");
  return g_string_free (made, FALSE);
}

#define assert_table(points, n_columns, wanted)                 \
  do {                                                          \
    g_autofree char *table_ = squeezed ((points), (n_columns)); \
    if (strcmp (table_, (wanted)) != 0)                         \
      fail_msg ("%s\nexpected:\n%s", table_, (wanted));         \
  } while (0)

/* --- text --- */

/* A job that computes nothing has no MFU, and one without tokens none of these. */
static void
a_line_has_labels_and_figures (G_GNUC_UNUSED void **state)
{
  const FabPoint whole = { .step_s = 0.5,
                           .exposed_s = 0.1,
                           .idle_s = 0.05,
                           .waiting_s = 0.025,
                           .mfu_fraction = 0.42,
                           .tokens_per_s = 1234.4,
                           .memory_bytes = 80000000000,
                           .memory_max_bytes = 80000000000,
                           .binding_spec = (char *) "ib-ndr" },
                 bare = { .step_s = 2, .memory_bytes = 219000000000, .memory_max_bytes = 80000000000 },
                 empty = { .step_s = 0, .memory_bytes = 5 };
  g_autoptr (FabPoints) points = fab_points_new (columns, 2, 1, NULL);

  add (points, "25MiB", "fits", &whole, NULL);
  add (points, "gr\303\266\303\237er als alle", "does not", &bare, NULL);
  add (points, "0", "\303\244", &empty, NULL)->mark = "<";
  add (points, "7", "", NULL, "it cannot be divided\nby seven")->mark = "< this one";
  assert_table (
      points, 2,
      "value|state|step|exposed|idle|waiting|MFU|tokens/s|slowest link\n"
      "25MiB|fits|500 ms|20.0 %|10.0 %|5.0 %|42.0 %|1234|ib-ndr\n"
      "gr\303\266\303\237er als alle|does not|2 s|0.0 %|0.0 %|0.0 %|-|-|-  does not fit: 219 of 80 GB\n"
      "0|\303\244|0 s|0.0 %|0.0 %|0.0 %|-|-|-  <\n"
      "7||cannot be simulated: it cannot be divided  < this one\n");
}

/* Where it was asked of one point what limits it, the last column says that of each. */
static void
the_last_column_says_what_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBottleneck) nothing = fab_bottleneck_new (), wire = fab_bottleneck_new ();
  FabLever lever = { .kind = FAB_LEVER_LINK, .name = g_strdup ("ib-hdr at 100 Gb/s") };
  FabPoint asked = { .step_s = 0.5, .binding_spec = (char *) "ib-ndr", .bottleneck = wire },
           alone = { .step_s = 0.5, .binding_spec = (char *) "ib-ndr", .bottleneck = nothing },
           other = { .step_s = 0.5, .binding_spec = (char *) "ib-ndr" }, idle = { .step_s = 0 };
  g_autoptr (FabPoints) points = fab_points_new (columns, 1, 1, NULL);

  g_array_append_val (wire->levers, lever);
  wire->first = 0;
  nothing->first = -1;
  add (points, "1", "", &other, NULL);
  assert_table (points, 2,
                "value|step|exposed|idle|waiting|MFU|tokens/s|slowest link\n"
                "1|500 ms|0.0 %|0.0 %|0.0 %|-|-|ib-ndr\n");
  add (points, "2", "", &asked, NULL);
  add (points, "3", "", &alone, NULL);
  add (points, "4", "", &idle, NULL);
  assert_table (points, 2,
                "value|step|exposed|idle|waiting|MFU|tokens/s|limited by\n"
                "1|500 ms|0.0 %|0.0 %|0.0 %|-|-|not asked\n"
                "2|500 ms|0.0 %|0.0 %|0.0 %|-|-|ib-hdr at 100 Gb/s\n"
                "3|500 ms|0.0 %|0.0 %|0.0 %|-|-|nothing alone\n"
                "4|0 s|0.0 %|0.0 %|0.0 %|-|-|-\n");
}

/* Seeds have a range beside the step and beside its exposed share; a band stands behind the step. */
static void
ranges_and_bands_stand_beside_their_figures (G_GNUC_UNUSED void **state)
{
  FabPoint draws[] = { { .step_s = 0.4, .exposed_s = 0.04 }, { .step_s = 0.6, .exposed_s = 0.3 } };
  g_autoptr (GPtrArray) seeds = g_ptr_array_new ();
  FabPoint several = { .step_s = 0.4, .exposed_s = 0.04, .draws = seeds },
           one = { .step_s = 0.5, .exposed_s = 0.1 };
  double low[] = { 0.3 }, high[] = { 0.7 };
  const FabBand band = { .low = low, .high = high, .coverage_fraction = 0.9 };
  g_autoptr (FabPoints) points = fab_points_new (columns, 1, 1, NULL);

  g_ptr_array_add (seeds, &draws[0]);
  add (points, "1", "", &several, NULL);
  add (points, "2", "", &one, NULL);
  assert_table (points, 2,
                "value|step|exposed|idle|waiting|MFU|tokens/s|slowest link\n"
                "1|400 ms|10.0 %|0.0 %|0.0 %|-|-|-\n"
                "2|500 ms|20.0 %|0.0 %|0.0 %|-|-|-\n");
  g_ptr_array_add (seeds, &draws[1]);
  assert_table (points, 2,
                "value|step|low to high|exposed|low to high|idle|waiting|MFU|tokens/s|slowest link\n"
                "1|400 ms|400 ms to 600 ms|10.0 %|10.0 to 50.0 %|0.0 %|0.0 %|-|-|-\n"
                "2|500 ms|-|20.0 %|-|0.0 %|0.0 %|-|-|-\n");
  fab_points_row (points, 1)->band = &band;
  assert_table (
      points, 2,
      "value|step|90 % band|low to high|exposed|low to high|idle|waiting|MFU|tokens/s|slowest link\n"
      "1|400 ms|-|400 ms to 600 ms|10.0 %|10.0 to 50.0 %|0.0 %|0.0 %|-|-|-\n"
      "2|500 ms|300 ms to 700 ms|-|20.0 %|-|0.0 %|0.0 %|-|-|-\n");
}

/* Columns are as wide as they are asked to be. */
static void
rates_have_the_width_that_is_asked_for (G_GNUC_UNUSED void **state)
{
  const FabPoint whole = { .step_s = 0.5, .mfu_fraction = 0.42, .tokens_per_s = 1234.4 },
                 bare = { .step_s = 0.5 };
  g_autoptr (GString) text = g_string_new (NULL);

  fab_points_append_rates (text, &whole, 9, 6);
  assert_string_equal (text->str, "\v    42.0 %\v   1234");
  g_string_truncate (text, 0);
  fab_points_append_rates (text, &bare, 9, 6);
  assert_string_equal (text->str, "\v         -\v      -");
}

/* --- for programs --- */

static JsonArray *
rows_of (FabJson *json, JsonNode **root)
{
  g_autofree char *text = NULL;

  fab_json_end (json);
  text = fab_json_text (json);
  *root = json_from_string (text, NULL);
  assert_non_null (*root);
  return json_object_get_array_member (json_node_get_object (*root), "rows");
}

static void
programs_get_numbers_texts_and_lists (G_GNUC_UNUSED void **state)
{
  FabPoint draws[] = { { .step_s = 0.4 }, { .step_s = 0.6 } };
  g_autoptr (GPtrArray) seeds = g_ptr_array_new ();
  g_autoptr (FabVerdict) verdict = fab_verdict_new ();
  FabPoint several = { .step_s = 0.4, .draws = seeds, .verdict = verdict }, one = { .step_s = 0.5 };
  g_autoptr (FabPoints) points = fab_points_new (columns, 1, 1, NULL);
  g_autoptr (JsonNode) of_points = NULL, of_table = NULL;

  g_ptr_array_add (seeds, &draws[0]);
  g_ptr_array_add (seeds, &draws[1]);
  fab_verdict_add (verdict, FAB_FINDING_DOES_NOT_FIT, g_strdup ("Too much."), NULL);
  add (points, "1", "fits", &several, NULL);
  add (points, "2", "no", &one, NULL);
  add (points, "3", "no", NULL, "why");
  g_autoptr (FabTable) table = fab_points_table (points, FALSE), whole = fab_points_table (points, TRUE);
  g_autofree char *csv = fab_points_csv (points), *same = fab_table_to_csv (whole);
  assert_string_equal (csv, same);

  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  fab_json_begin_object (json, NULL);
  fab_points_add_json (json, "rows", points);
  JsonArray *rows = rows_of (json, &of_points);
  g_autoptr (FabJson) other = fab_json_new (FAB_JSON_PAGE);
  fab_json_begin_object (other, NULL);
  fab_cli_add_json_rows (other, "rows", table);
  JsonArray *others = rows_of (other, &of_table);
  assert_int_equal (json_array_get_length (rows), 3);
  assert_int_equal (json_array_get_length (others), 3);
  for (guint i = 0; i < 3; i++) {
    static const char *const values[] = { "1", "2", "3" }, *const states[] = { "fits", "no", "no" };

    for (guint k = 0; k < 2; k++) {
      JsonObject *row = json_array_get_object_element (k == 0 ? rows : others, i);
      JsonArray *findings = json_object_get_array_member (row, "verdict");

      assert_string_equal (json_object_get_string_member (row, "value"), values[i]);
      assert_string_equal (json_object_get_string_member (row, "state"), states[i]);
      assert_int_equal (json_object_get_int_member (row, "gpus"), 8);
      assert_int_equal (json_node_get_value_type (json_object_get_member (row, "gpus")), G_TYPE_INT64);
      assert_int_equal (json_array_get_length (findings), i == 0 && k == 0);
      assert_int_equal (json_object_has_member (row, "spread"), i == 0 && k == 0);
      assert_int_equal (json_object_get_null_member (row, "step_s"), i == 2);
      if (i < 2)
        assert_near (json_object_get_double_member (row, "step_s"), i == 0 ? 0.4 : 0.5, 1e-12);
      if (i == 2)
        assert_string_equal (json_object_get_string_member (row, "problem"), "why");
    }
  }
  JsonObject *first = json_array_get_object_element (rows, 0);
  JsonObject *finding = json_array_get_object_element (json_object_get_array_member (first, "verdict"), 0);
  JsonObject *spread = json_object_get_object_member (first, "spread");
  assert_string_equal (json_object_get_string_member (finding, "code"), "does_not_fit");
  assert_int_equal (json_object_get_int_member (spread, "seeds"), 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_line_has_labels_and_figures),
    cmocka_unit_test (the_last_column_says_what_limits),
    cmocka_unit_test (ranges_and_bands_stand_beside_their_figures),
    cmocka_unit_test (rates_have_the_width_that_is_asked_for),
    cmocka_unit_test (programs_get_numbers_texts_and_lists),
  };

  return cmocka_run_group_tests_name ("points text", tests, NULL, NULL);
}
