/* SPDX-License-Identifier: Apache-2.0 */
/* measure_data.c - a file of measurements for programs: CSV with a row per point, JSON as it is. */
#include "cli/hardware/cmd_measure.h"
#include "sim/base/json.h"

/* The numbers of a point by name; times in ps. */
static const struct {
  const char *name;
  gsize offset;
  gsize size; /* of the member: signed 8 bytes or unsigned 4 */
} point_numbers[] = {
#define NUMBER(member)                                                                            \
  {                                                                                               \
#member, G_STRUCT_OFFSET(FabMeasuredPoint, member), sizeof((FabMeasuredPoint *) NULL)->member \
  }
  NUMBER (size_bytes), NUMBER (time_ps),    NUMBER (low_ps),      NUMBER (high_ps),
  NUMBER (min_ps),     NUMBER (p05_ps),     NUMBER (p95_ps),      NUMBER (max_ps),
  NUMBER (n_samples),  NUMBER (n_outliers), NUMBER (is_complete),
#undef NUMBER
};

static gint64
point_number (const FabMeasuredPoint *point, guint i)
{
  return point_numbers[i].size == sizeof (gint64) ? G_STRUCT_MEMBER (gint64, point, point_numbers[i].offset)
                                                  : G_STRUCT_MEMBER (gint32, point, point_numbers[i].offset);
}

/* --- CSV --- */

static char **
column_names (void)
{
  GPtrArray *names = g_ptr_array_new ();

  g_ptr_array_add (names, g_strdup ("kind"));
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    g_ptr_array_add (names, g_strdup (field->name));
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    g_ptr_array_add (names, g_strdup (field->name));
  for (guint i = 0; i < G_N_ELEMENTS (point_numbers); i++)
    g_ptr_array_add (names, g_strdup (point_numbers[i].name));
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

static void
add_row (FabTable *table, const FabSeries *series, const FabMeasuredPoint *point)
{
  fab_table_add_text (table, fab_measure_kind_names[series->kind]);
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    fab_table_add_text (table, G_STRUCT_MEMBER (char *, series, field->offset));
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    fab_table_add_integer (table, G_STRUCT_MEMBER (guint, series, field->offset));
  for (guint i = 0; i < G_N_ELEMENTS (point_numbers); i++)
    fab_table_add_integer (table, point_number (point, i));
}

char *
measure_csv (const GPtrArray *all)
{
  g_auto (GStrv) names = column_names ();
  g_autoptr (FabTable) table = fab_table_new ((const char *const *) names);

  for (guint i = 0; i < all->len; i++) {
    const FabMeasuredSeries *series = g_ptr_array_index (all, i);

    for (guint j = 0; j < series->points->len; j++)
      add_row (table, &series->series, &g_array_index (series->points, FabMeasuredPoint, j));
  }
  return fab_table_to_csv (table);
}

/* --- JSON --- */

static void
add_point (FabJson *json, const FabMeasuredPoint *point)
{
  fab_json_begin_object (json, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (point_numbers); i++)
    fab_json_add_whole (json, point_numbers[i].name, point_number (point, i));
  fab_json_end (json);
}

static void
add_series (FabJson *json, const FabMeasuredSeries *series)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "kind", fab_measure_kind_names[series->series.kind]);
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    fab_json_add_text (json, field->name, G_STRUCT_MEMBER (char *, &series->series, field->offset));
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    fab_json_add_whole (json, field->name, G_STRUCT_MEMBER (guint, &series->series, field->offset));
  fab_json_begin_array (json, "points");
  for (guint i = 0; i < series->points->len; i++)
    add_point (json, &g_array_index (series->points, FabMeasuredPoint, i));
  fab_json_end (json);
  fab_json_end (json);
}

char *
measure_json (const char *path, char **machine, char **notes, const GPtrArray *all)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "file", path);
  fab_json_begin_object (json, "machine");
  for (char **row = machine; row[0] && row[1]; row += 2)
    fab_json_add_text (json, row[0], row[1]);
  fab_json_end (json);
  fab_json_begin_array (json, "notes");
  for (char **note = notes; *note; note++)
    fab_json_add_text (json, NULL, *note);
  fab_json_end (json);
  fab_json_begin_array (json, "series");
  for (guint i = 0; i < all->len; i++)
    add_series (json, g_ptr_array_index (all, i));
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
