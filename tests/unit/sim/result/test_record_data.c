/* SPDX-License-Identifier: Apache-2.0 */
/* test_record_data.c - figures of records as JSON and CSV (sim/result/record_data.c): their keys, times in seconds, and
 * what is not known; and the probe that collects them, when it is emptied.
 */
#include "tests/support/test.h"

#include "sim/result/probe.h"
#include "sim/result/record.h"
#include "sim/result/record_data.h"

typedef struct {
  double real;
  gint64 whole;
  guint64 large;
  guint count;
  gint32 index;
  const char *text;
} Row;

#define COLUMN(name_, kind_, field_)                                                   \
  {                                                                                    \
    .name = name_, .kind = FAB_COLUMN_##kind_, .offset = G_STRUCT_OFFSET (Row, field_) \
  }

static const FabColumn columns[] = {
  COLUMN ("waiting_ps", WHOLE, whole),    COLUMN ("n_waits", WHOLE, whole),
  COLUMN ("share", REAL, real),           COLUMN ("n_ps", UNSIGNED, large),
  COLUMN ("size_bytes", UNSIGNED, large), COLUMN ("n_links", COUNT, count),
  COLUMN ("class_index", INDEX, index),   COLUMN ("name", TEXT, text),
  COLUMN ("an_n_", COUNT, count),
};

/* What each column of a record is called, and its value. */
static void
assert_json (const Row *row, const char *const *members)
{
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++) {
    g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);
    g_autofree char *text = NULL, *expected = g_strdup_printf ("{%s}", members[i]);

    fab_json_begin_object (json, NULL);
    fab_column_add_json (json, &columns[i], row);
    fab_json_end (json);
    text = fab_json_text (json);
    assert_string_equal (text, expected);
  }
}

/* Only whole picoseconds are given in seconds; counts lose the n_ that they begin with. */
static void
figures_have_keys_and_values (G_GNUC_UNUSED void **state)
{
  const Row known = { 0.25, 1500000000000, 7, 3, 2, "x" };
  const Row unknown = { NAN, FAB_RECORD_UNKNOWN, 0, FAB_RECORD_NO_LINK, -1, NULL };
  static const char *const of_known[] = { "\"waiting_s\":1.5", "\"waits\":1500000000000", "\"share\":0.25",
                                          "\"ps\":7",          "\"size_bytes\":7",        "\"links\":3",
                                          "\"class_index\":2", "\"name\":\"x\"",          "\"an_n_\":3" };
  static const char *const of_unknown[] = {
    "\"waiting_s\":null", "\"waits\":null",       "\"share\":null", "\"ps\":0",      "\"size_bytes\":0",
    "\"links\":null",     "\"class_index\":null", "\"name\":null",  "\"an_n_\":null"
  };

  assert_json (&known, of_known);
  assert_json (&unknown, of_unknown);
}

static void
units_are_at_the_end_of_names (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *unit; /* NULL: none */
  } rows[] = {
    { "rate_bytes_per_s", "B/s" }, { "stops_per_s", "1/s" }, { "size_bytes", "B" }, { "start_ps", "ps" },
    { "calendar_s", "s" },         { "n_steps", NULL },      { "share", NULL },     { "bytes", NULL }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabColumn column = { .name = rows[i].name, .kind = FAB_COLUMN_WHOLE };
    const char *unit = fab_column_unit (&column);

    if (g_strcmp0 (unit, rows[i].unit) != 0)
      fail_msg ("%s: %s", rows[i].name, unit);
    assert_int_equal (fab_column_is_time (&column), g_strcmp0 (unit, "ps") == 0);
  }
}

/* A row of a table: what is a place is no figure. */
static void
records_are_members_and_cells (G_GNUC_UNUSED void **state)
{
  const FabPaceRecord pace = { .binding_link = 4,
                               .binding_fraction = 1.0 / 3,
                               .binding_busy_fraction = 0.5,
                               .startup_fraction = 0,
                               .ends_fraction = 0.125 };
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);
  g_autoptr (GString) keys = g_string_new ("link"), values = g_string_new ("a"), none = g_string_new ("b");

  fab_json_begin_object (json, NULL);
  fab_record_add_json (json, FAB_TABLE_PACE, &pace);
  fab_json_end (json);
  g_autofree char *text = fab_json_text (json);
  assert_string_equal (text, "{\"binding_busy_fraction\":0.5,\"startup_fraction\":0,\"ends_fraction\":0.125,"
                             "\"binding_fraction\":0.3333333333}");
  fab_record_append_keys (keys, FAB_TABLE_PACE);
  fab_record_append_values (values, FAB_TABLE_PACE, &pace);
  fab_record_append_values (none, FAB_TABLE_PACE, NULL);
  assert_string_equal (keys->str,
                       "link,binding_busy_fraction,startup_fraction,ends_fraction,binding_fraction");
  assert_string_equal (values->str, "a,0.5,0,0.125,0.333333333");
  assert_string_equal (none->str, "b,,,,");
}

/* Whole numbers have all digits, and times twelve; each table has as many keys as cells. */
static void
cells_have_their_digits (G_GNUC_UNUSED void **state)
{
  const FabLinkQueueRecord queue = {
    .carried_bytes = 12345678901234, .mean_bytes = 12345678.9, .n_stalls = 1, .n_drops = 2
  };
  g_autoptr (GString) values = g_string_new (NULL);

  fab_record_append_values (values, FAB_TABLE_LINK_QUEUE, &queue);
  assert_true (g_str_has_prefix (values->str, ",12345678901234,0,12345678.9,1,"));
  for (guint kind = 0; kind < FAB_N_RUN_TABLES; kind++) {
    g_autoptr (GString) keys = g_string_new (NULL), cells = g_string_new (NULL);
    g_autofree char *record = g_malloc0 (fab_record_tables[kind].row_size);
    g_auto (GStrv) all_keys = NULL, all_cells = NULL;

    fab_record_append_keys (keys, kind);
    fab_record_append_values (cells, kind, record);
    all_keys = g_strsplit (keys->str, ",", -1);
    all_cells = g_strsplit (cells->str, ",", -1);
    assert_int_equal (g_strv_length (all_keys), g_strv_length (all_cells));
  }
}

/* A probe that is emptied holds nothing of what was told, in any of its lists. */
static void
a_probe_is_emptied (G_GNUC_UNUSED void **state)
{
  FabProbe probe;

  fab_probe_init (&probe);
  GArray *const lists[] = { probe.iterations, probe.spans, probe.collectives, probe.link_loads,
                            probe.exposures,  probe.path,  probe.samples };
  static const gsize sizes[] = { sizeof (FabIterationRecord),  sizeof (FabSpanRecord),
                                 sizeof (FabCollectiveRecord), sizeof (FabLinkLoadRecord),
                                 sizeof (FabExposureRecord),   sizeof (FabPathRecord),
                                 sizeof (FabLinkSampleRecord) };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    assert_int_equal (g_array_get_element_size (lists[i]), sizes[i]);
    assert_int_equal (lists[i]->len, 0);
    g_array_set_size (lists[i], 3);
  }
  probe.step = (FabStepRecord){ .times.idle_ps = 7, .tokens_per_s = 8 };
  fab_probe_empty (&probe);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    assert_int_equal (lists[i]->len, 0);
  assert_int_equal (probe.step.times.idle_ps, 0);
  assert_near (probe.step.tokens_per_s, 0, 0);
  fab_probe_clear (&probe);
  assert_null (probe.iterations);
  assert_null (probe.samples);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (figures_have_keys_and_values),
    cmocka_unit_test (units_are_at_the_end_of_names),
    cmocka_unit_test (records_are_members_and_cells),
    cmocka_unit_test (cells_have_their_digits),
    cmocka_unit_test (a_probe_is_emptied),
  };

  return cmocka_run_group_tests_name ("record_data", tests, NULL, NULL);
}
