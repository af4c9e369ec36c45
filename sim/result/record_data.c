/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/result/record_data.h"

#include <string.h>

char *
fab_column_key (const FabColumn *column)
{
  const char *name = g_str_has_prefix (column->name, "n_") ? column->name + strlen ("n_") : column->name;

  return fab_column_is_time (column) ? g_strdup_printf ("%.*ss", (gint) (strlen (name) - strlen ("ps")), name)
                                     : g_strdup (name);
}

FabField
fab_column_value (const FabColumn *column, gconstpointer record)
{
  FabField field = fab_column_read (column, record, 0);

  if (fab_column_is_time (column) && field.kind != FAB_CELL_NULL)
    field = (FabField){ .kind = FAB_CELL_REAL, .real = fab_ps_to_seconds (field.integer) };
  return field;
}

void
fab_column_add_json (FabJson *json, const FabColumn *column, gconstpointer record)
{
  g_autofree char *key = fab_column_key (column);
  FabField field = fab_column_value (column, record);

  if (field.kind == FAB_CELL_REAL)
    fab_json_add_real (json, key, field.real);
  else if (field.kind == FAB_CELL_INTEGER)
    fab_json_add_whole (json, key, field.integer);
  else
    fab_json_add_text (json, key, field.text);
}

void
fab_record_add_json (FabJson *json, FabTableKind kind, gconstpointer record)
{
  const FabRecordTable *table = &fab_record_tables[kind];

  for (const FabColumn *column = table->columns; column < table->columns + table->n_columns; column++)
    if (!column->is_place)
      fab_column_add_json (json, column, record);
}

void
fab_record_append_keys (GString *csv, FabTableKind kind)
{
  const FabRecordTable *table = &fab_record_tables[kind];

  for (const FabColumn *column = table->columns; column < table->columns + table->n_columns; column++) {
    g_autofree char *key = fab_column_key (column);

    if (!column->is_place)
      g_string_append_printf (csv, ",%s", key);
  }
}

/* Times have all digits of their picoseconds, as far as twelve show them; other figures have nine. */
static void
append_value (GString *csv, const FabColumn *column, gconstpointer record)
{
  FabField field = fab_column_value (column, record);

  if (field.kind == FAB_CELL_REAL)
    g_string_append_printf (csv, fab_column_is_time (column) ? "%.12g" : "%.9g", field.real);
  else if (field.kind == FAB_CELL_INTEGER)
    g_string_append_printf (csv, "%" G_GINT64_FORMAT, field.integer);
}

void
fab_record_append_values (GString *csv, FabTableKind kind, gconstpointer record)
{
  const FabRecordTable *table = &fab_record_tables[kind];

  for (const FabColumn *column = table->columns; column < table->columns + table->n_columns; column++) {
    if (column->is_place)
      continue;
    g_string_append_c (csv, ',');
    if (record != NULL)
      append_value (csv, column, record);
  }
}
