/* SPDX-License-Identifier: Apache-2.0 */
/* schema_write.c - a filled struct back to YAML text.
 *
 * Every key of the table in the table's order, every number with its unit, every model as
 * {kind, ...parameters}; absent texts and empty lists are left out. Reading the text gives
 * the same struct, and writing that gives the same text. Linear in what is written.
 */
#include "sim/config/schema.h"

#include "sim/config/schema_reader.h"

static void write_table (FabYamlWriter *writer, const FabParam *table, gconstpointer in);

static void
write_number (FabYamlWriter *writer, FabParamType type, gconstpointer field)
{
  FabUnit unit = fab_param_unit (type);
  gboolean is_whole = unit <= FAB_UNIT_RATE || unit == FAB_UNIT_COUNT;
  g_autofree char *text = is_whole ? fab_units_write_whole (unit, *(const gint64 *) field)
                                   : fab_units_write_real (unit, *(const double *) field);

  fab_yaml_writer_scalar (writer, text);
}

static void
write_period (FabYamlWriter *writer, const FabPeriod *period)
{
  if (period->time_ps > 0)
    write_number (writer, FAB_PARAM_TIME, &period->time_ps);
  else
    write_number (writer, FAB_PARAM_COUNT, &period->n_steps);
}

static void
write_power (FabYamlWriter *writer, const FabPower *power)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT "W", power->watts);

  if (power->watts > 0)
    fab_yaml_writer_scalar (writer, text);
  else
    write_number (writer, FAB_PARAM_FRACTION, &power->fraction);
}

static void
write_list (FabYamlWriter *writer, const FabParam *row, const FabParamList *list)
{
  fab_yaml_writer_begin (writer, FAB_YAML_SEQUENCE);
  for (guint i = 0; i < list->n; i++) {
    fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
    write_table (writer, row->table, (const char *) list->data + i * row->table_size);
    fab_yaml_writer_end (writer);
  }
  fab_yaml_writer_end (writer);
}

static void
write_model (FabYamlWriter *writer, const FabModelChoice *choice)
{
  if (choice->params == NULL) {
    fab_yaml_writer_text (writer, choice->info->name);
    return;
  }
  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  fab_yaml_writer_key (writer, "kind");
  fab_yaml_writer_text (writer, choice->info->name);
  write_table (writer, choice->info->params, choice->params);
  fab_yaml_writer_end (writer);
}

static void
write_value (FabYamlWriter *writer, const FabParam *row, gconstpointer field)
{
  if (fab_param_is_number (row->type)) {
    write_number (writer, row->type, field);
  } else if (row->type == FAB_PARAM_PERIOD) {
    write_period (writer, field);
  } else if (row->type == FAB_PARAM_POWER) {
    write_power (writer, field);
  } else if (row->type == FAB_PARAM_BOOL) {
    fab_yaml_writer_scalar (writer, *(const gboolean *) field ? "true" : "false");
  } else if (row->type == FAB_PARAM_CHOICE) {
    fab_yaml_writer_scalar (writer, row->choices[*(const int *) field]);
  } else if (row->type == FAB_PARAM_TEXT) {
    fab_yaml_writer_text (writer, *(const char *const *) field);
  } else if (row->type == FAB_PARAM_LIST) {
    write_list (writer, row, field);
  } else if (row->type == FAB_PARAM_MODEL) {
    write_model (writer, field);
  } else {
    fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
    write_table (writer, row->table, field);
    fab_yaml_writer_end (writer);
  }
}

static gboolean
is_absent (const FabParam *row, gconstpointer field)
{
  if (row->type == FAB_PARAM_TEXT)
    return *(const char *const *) field == NULL;
  if (row->type == FAB_PARAM_LIST)
    return ((const FabParamList *) field)->n == 0;
  return row->type == FAB_PARAM_MODEL && ((const FabModelChoice *) field)->info == NULL;
}

static void
write_table (FabYamlWriter *writer, const FabParam *table, gconstpointer in)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    gconstpointer field = fab_schema_field (in, row);

    if (is_absent (row, field))
      continue;
    fab_yaml_writer_key (writer, row->key);
    write_value (writer, row, field);
  }
}

char *
fab_schema_write (const FabParam *table, gconstpointer in)
{
  FabYamlWriter *writer = fab_yaml_writer_new ();

  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  write_table (writer, table, in);
  fab_yaml_writer_end (writer);
  return fab_yaml_writer_finish (writer);
}
