/* SPDX-License-Identifier: Apache-2.0 */
/* report_sweeps.c - a sweep as the data of a page: axes with their values, and a column of numbers per figure. */
#include "cli/report_parts.h"
#include "sim/base/error.h"

typedef struct {
  GString *json;
  gint64 axis; /* that is open; -1: none */
  gboolean is_found;
} Sweep;

static gboolean
take_head (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Sweep *self = data;

  self->is_found = TRUE;
  fab_report_open (self->json, NULL, '{');
  fab_report_whole (self->json, "sweep", fields[0].integer);
  fab_report_text (self->json, "name", fields[1].text);
  fab_report_text (self->json, "summary", fields[2].text);
  fab_report_text (self->json, "version", fields[3].text);
  fab_report_text (self->json, "scenario", fields[4].text);
  return TRUE;
}

static gboolean
take_value (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Sweep *self = data;

  if (fields[0].integer != self->axis) {
    if (self->axis >= 0)
      g_string_append (self->json, "]}");
    fab_report_open (self->json, NULL, '{');
    fab_report_text (self->json, "key", fields[1].text);
    fab_report_open (self->json, "values", '[');
    self->axis = fields[0].integer;
  }
  fab_report_text (self->json, NULL, fields[2].text);
  return TRUE;
}

/* A row per point: its place, nine figures, what binds, and why it could not be played. */
static gboolean
take_point (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Sweep *self = data;

  fab_report_open (self->json, NULL, '[');
  fab_report_whole (self->json, NULL, fields[0].integer);
  for (guint i = 1; i <= 10; i++)
    if (fields[i].kind == FAB_CELL_NULL)
      fab_report_text (self->json, NULL, NULL);
    else
      fab_report_real (self->json, NULL, fields[i].real);
  for (guint i = 11; i <= 13; i++)
    fab_report_text (self->json, NULL, fields[i].text);
  fab_report_close (self->json, ']');
  return TRUE;
}

static gboolean
each (FabStore *store, const char *sql, gint64 sweep_id, FabStoreRowFunc on_row, Sweep *self, GError **error)
{
  g_autofree char *id = g_strdup_printf ("%" G_GINT64_FORMAT, sweep_id);
  g_auto (GStrv) parts = g_strsplit (sql, ":sweep", -1);
  g_autofree char *filled = g_strjoinv (id, parts);

  return fab_store_each (store, filled, 0, on_row, self, error);
}

gboolean
fab_report_add_sweep (FabStore *store, gint64 sweep_id, GString *json, GError **error)
{
  Sweep self = { .json = json, .axis = -1 };

  if (!fab_report_has (store, "sweep"))
    return fab_throw (error, FAB_ERROR_INPUT, "there is no sweep in this file; `fabricast sweep` writes one");
  if (!each (store,
             "SELECT sweep_id, name, summary, version, scenario_yaml FROM sweep WHERE sweep_id = :sweep",
             sweep_id, take_head, &self, error))
    return FALSE;
  if (!self.is_found)
    return fab_throw (error, FAB_ERROR_INPUT, "there is no sweep %" G_GINT64_FORMAT " in this file",
                      sweep_id);
  fab_report_open (json, "axes", '[');
  if (!each (store,
             "SELECT a.axis, a.key, v.value FROM sweep_axis AS a JOIN sweep_value AS v USING (sweep_id, axis)"
             " WHERE sweep_id = :sweep ORDER BY a.axis, v.item",
             sweep_id, take_value, &self, error))
    return FALSE;
  g_string_append (json, self.axis >= 0 ? "]}" : "");
  fab_report_close (json, ']');
  fab_report_open (json, "points", '[');
  if (!each (
          store,
          "SELECT point, step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s, mfu_fraction, tokens_per_s,"
          " train_s, memory_bytes, binding, binding_spec, problem FROM sweep_point WHERE sweep_id = :sweep"
          " ORDER BY point",
          sweep_id, take_point, &self, error))
    return FALSE;
  fab_report_close (json, ']');
  fab_report_close (json, '}');
  return TRUE;
}
