/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/probe_text.h"

#include "sim/result/columns.h"

static void
add_field (const FabField *field, GString *text)
{
  if (field->kind == FAB_CELL_INTEGER)
    g_string_append_printf (text, " %" G_GINT64_FORMAT, field->integer);
  else if (field->kind == FAB_CELL_REAL)
    g_string_append_printf (text, " %a", field->real);
  else
    g_string_append_printf (text, " %s", field->text != NULL ? field->text : "-");
}

/* A line of each record, with all its columns. */
static void
add_records (FabTableKind kind, gconstpointer records, guint n, GString *text)
{
  const FabRecordTable *table = &fab_record_tables[kind];

  for (guint i = 0; i < n; i++) {
    g_string_append (text, table->name);
    for (guint c = 0; c < table->n_columns; c++) {
      FabField field = fab_column_read (&table->columns[c], (const char *) records + i * table->row_size, i);

      add_field (&field, text);
    }
    g_string_append_c (text, '\n');
  }
}

void
probe_text (const FabProbe *probe, GString *text)
{
  add_records (FAB_TABLE_STEP, &probe->step, 1, text);
  add_records (FAB_TABLE_ITERATION, probe->iterations->data, probe->iterations->len, text);
  add_records (FAB_TABLE_SPAN, probe->spans->data, probe->spans->len, text);
  add_records (FAB_TABLE_COLLECTIVE, probe->collectives->data, probe->collectives->len, text);
  add_records (FAB_TABLE_LINK_LOAD, probe->link_loads->data, probe->link_loads->len, text);
  add_records (FAB_TABLE_EXPOSURE, probe->exposures->data, probe->exposures->len, text);
  add_records (FAB_TABLE_PATH, probe->path->data, probe->path->len, text);
  add_records (FAB_TABLE_LINK_SAMPLE, probe->samples->data, probe->samples->len, text);
}
