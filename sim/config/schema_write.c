/* SPDX-License-Identifier: Apache-2.0 */
/* schema_write.c - a filled struct back to YAML text.
 *
 * Every key of the table in the table's order, every number with its unit, every model as
 * {kind, ...parameters}; absent texts and empty lists are left out. Reading the text gives
 * the same struct, and writing that gives the same text. Linear in what is written.
 */
#include "sim/config/schema.h"

#include <string.h>

#include "sim/config/schema_reader.h"

/* A text under way. */
typedef struct {
  FabYamlWriter *yaml;
  gboolean explains; /* comments say what a 0 stands for */
} Writing;

static void write_table (const Writing *writing, const FabParam *table, gconstpointer in);

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
write_list (const Writing *writing, const FabParam *row, const FabParamList *list)
{
  fab_yaml_writer_begin (writing->yaml, FAB_YAML_SEQUENCE);
  for (guint i = 0; i < list->n; i++) {
    fab_yaml_writer_begin (writing->yaml, FAB_YAML_MAPPING);
    write_table (writing, row->table, (const char *) list->data + i * row->table_size);
    fab_yaml_writer_end (writing->yaml);
  }
  fab_yaml_writer_end (writing->yaml);
}

static void
write_model (const Writing *writing, const FabModelChoice *choice)
{
  if (choice->params == NULL) {
    fab_yaml_writer_text (writing->yaml, choice->info->name);
    return;
  }
  fab_yaml_writer_begin (writing->yaml, FAB_YAML_MAPPING);
  fab_yaml_writer_key (writing->yaml, "kind");
  fab_yaml_writer_text (writing->yaml, choice->info->name);
  write_table (writing, choice->info->params, choice->params);
  fab_yaml_writer_end (writing->yaml);
}

static void
write_value (const Writing *writing, const FabParam *row, gconstpointer field)
{
  if (fab_param_is_number (row->type)) {
    write_number (writing->yaml, row->type, field);
  } else if (row->type == FAB_PARAM_PERIOD) {
    write_period (writing->yaml, field);
  } else if (row->type == FAB_PARAM_POWER) {
    write_power (writing->yaml, field);
  } else if (row->type == FAB_PARAM_BOOL) {
    fab_yaml_writer_scalar (writing->yaml, *(const gboolean *) field ? "true" : "false");
  } else if (row->type == FAB_PARAM_CHOICE) {
    fab_yaml_writer_scalar (writing->yaml, row->choices[*(const int *) field]);
  } else if (row->type == FAB_PARAM_TEXT) {
    fab_yaml_writer_text (writing->yaml, *(const char *const *) field);
  } else if (row->type == FAB_PARAM_LIST) {
    write_list (writing, row, field);
  } else if (row->type == FAB_PARAM_MODEL) {
    write_model (writing, field);
  } else {
    fab_yaml_writer_begin (writing->yaml, FAB_YAML_MAPPING);
    write_table (writing, row->table, field);
    fab_yaml_writer_end (writing->yaml);
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

static gboolean
is_zero (const FabParam *row, gconstpointer field)
{
  FabUnit unit;

  if (!fab_param_is_number (row->type))
    return FALSE;
  unit = fab_param_unit (row->type);
  return unit <= FAB_UNIT_RATE || unit == FAB_UNIT_COUNT
           ? *(const gint64 *) field == 0
           : !(*(const double *) field > 0 || *(const double *) field < 0);
}

/* Adds what the help of a row says of 0: "GPUs used of each node; 0: all of them." */
static void
write_meaning (FabYamlWriter *yaml, const FabParam *row)
{
  static const char mark[] = " 0: ";
  const char *meaning = strstr (row->help, mark);
  g_autofree char *text = NULL;

  if (meaning == NULL)
    return;
  meaning += strlen (mark);
  text = g_strndup (meaning, strcspn (meaning, ".;"));
  fab_yaml_writer_comment (yaml, text);
}

static void
write_table (const Writing *writing, const FabParam *table, gconstpointer in)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    gconstpointer field = fab_schema_field (in, row);

    if (is_absent (row, field))
      continue;
    fab_yaml_writer_key (writing->yaml, row->key);
    write_value (writing, row, field);
    if (writing->explains && is_zero (row, field))
      write_meaning (writing->yaml, row);
  }
}

static char *
write_root (const FabParam *table, gconstpointer in, gboolean explains)
{
  const Writing writing = { .yaml = fab_yaml_writer_new (), .explains = explains };

  fab_yaml_writer_begin (writing.yaml, FAB_YAML_MAPPING);
  write_table (&writing, table, in);
  fab_yaml_writer_end (writing.yaml);
  return fab_yaml_writer_finish (writing.yaml);
}

char *
fab_schema_write (const FabParam *table, gconstpointer in)
{
  return write_root (table, in, FALSE);
}

char *
fab_schema_explain (const FabParam *table, gconstpointer in)
{
  return write_root (table, in, TRUE);
}
