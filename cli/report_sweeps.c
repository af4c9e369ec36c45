/* SPDX-License-Identifier: Apache-2.0 */
/* report_sweeps.c - a sweep as the data of a page: axes with their values, a row of figures per point, its tables. */
#include <string.h>

#include "cli/report_parts.h"
#include "sim/base/error.h"

typedef struct {
  FabJson *json;
  gint64 axis; /* that is open; -1: none */
} Sweep;

enum { N_REALS = 11, N_TEXTS = 3 };

/* As point_sql asks for them, after the point's number. */
static const char *const columns[N_REALS + N_TEXTS] = {
  "step_s",       "compute_s", "comm_s",       "overlapped_s", "exposed_s", "idle_s",       "mfu_fraction",
  "tokens_per_s", "train_s",   "memory_bytes", "ranks",        "binding",   "binding_spec", "problem",
};

static const char head_sql[] =
    "SELECT sweep_id, name, summary, version, scenario_yaml, n_points FROM sweep WHERE sweep_id = :sweep";

static const char value_sql[] =
    "SELECT a.axis, a.key, v.value FROM sweep_axis AS a JOIN sweep_value AS v USING (sweep_id, axis)"
    " WHERE sweep_id = :sweep ORDER BY a.axis, v.item";

static const char point_sql[] =
    "SELECT point, step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s, mfu_fraction, tokens_per_s,"
    " train_s, memory_bytes, n_ranks, binding, binding_spec, problem FROM sweep_point WHERE sweep_id = :sweep"
    " ORDER BY point";

static gboolean
take_head (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  static const char *const texts[] = { "name", "summary", "version", "scenario" };
  Sweep *self = data;

  fab_json_add_whole (self->json, "sweep", fields[0].integer);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    fab_json_add_text (self->json, texts[i], fields[1 + i].text);
  fab_json_add_whole (self->json, "whole", fields[5].integer);
  return TRUE;
}

static void
end_axis (Sweep *self)
{
  if (self->axis < 0)
    return;
  fab_json_end (self->json);
  fab_json_end (self->json);
}

static gboolean
take_value (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Sweep *self = data;

  if (fields[0].integer != self->axis) {
    end_axis (self);
    fab_json_begin_object (self->json, NULL);
    fab_json_add_text (self->json, "key", fields[1].text);
    fab_json_begin_array (self->json, "values");
    self->axis = fields[0].integer;
  }
  fab_json_add_text (self->json, NULL, fields[2].text);
  return TRUE;
}

static gboolean
take_point (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Sweep *self = data;

  fab_json_begin_array (self->json, NULL);
  fab_json_add_whole (self->json, NULL, fields[0].integer);
  for (guint i = 1; i <= N_REALS; i++)
    if (fields[i].kind == FAB_CELL_NULL)
      fab_json_add_text (self->json, NULL, NULL);
    else
      fab_json_add_real (self->json, NULL, fields[i].real);
  for (guint i = N_REALS + 1; i <= N_REALS + N_TEXTS; i++)
    fab_json_add_text (self->json, NULL, fields[i].text);
  fab_json_end (self->json);
  return TRUE;
}

static gboolean
add_points (const FabReportRequest *request, Sweep *self, GError **error)
{
  fab_json_begin_array (self->json, "axes");
  if (!fab_store_each (request->store, value_sql, 0, take_value, self, error))
    return FALSE;
  end_axis (self);
  fab_json_end (self->json);
  fab_json_begin_array (self->json, "columns");
  fab_json_add_text (self->json, NULL, "point");
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    fab_json_add_text (self->json, NULL, columns[i]);
  fab_json_end (self->json);
  fab_json_begin_array (self->json, "points");
  if (!fab_store_each (request->store, point_sql, 0, take_point, self, error))
    return FALSE;
  fab_json_end (self->json);
  return TRUE;
}

gboolean
fab_report_add_sweep (const FabReportRequest *request, gint64 sweep_id, FabJson *json, GError **error)
{
  Sweep self = { .json = json, .axis = -1 };
  gboolean is_added;

  if (!fab_report_has (request->store, "sweep"))
    return fab_throw (error, FAB_ERROR_INPUT, "there is no sweep in this file; `fabricast sweep` writes one");
  fab_store_choose_sweep (request->store, sweep_id);
  fab_json_begin_object (json, NULL);
  is_added = fab_store_each (request->store, head_sql, 0, take_head, &self, error)
          && add_points (request, &self, error)
          && (!request->has_tables || fab_report_add_tables (request, TRUE, 0, json, error));
  fab_json_end (json);
  fab_store_choose_sweep (request->store, 0);
  return is_added;
}
