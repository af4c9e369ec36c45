/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hardware/fit_options.h"

#include <string.h>

#include "cli/files.h"
#include "formats/import.h"
#include "formats/measurement/measurements.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/output.h"
#include "validate/measure/samples.h"

static const double default_hold_out = 1.0 / 3;

/* Parses "20%", "1/3" or "0.25"; it must be below a half. */
static gboolean
read_part (const char *text, double *part, GError **error)
{
  g_auto (GStrv) halves = g_strsplit (text, "/", 2); /* an empty text has no part */
  double above, below = 1;

  if (halves[0] == NULL
      || !fab_units_parse_real (FAB_UNIT_FACTOR, g_str_has_suffix (text, "%") ? "0" : halves[0], &above, NULL)
      || (halves[1] && !fab_units_parse_real (FAB_UNIT_FACTOR, halves[1], &below, NULL))
      || (g_str_has_suffix (text, "%") && !fab_units_parse_real (FAB_UNIT_FRACTION, text, &above, NULL))
      || !(below > 0 && above >= 0 && above / below < 0.5))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--holdout '%s' is not a share below one half; write for example 20%%, 1/3 or 0", text);
  *part = above / below;
  return TRUE;
}

gboolean
fab_fit_options_read (const FabFitOptions *self, FabFitChoice *choice, GError **error)
{
  *choice = (FabFitChoice){ .filter = { .system = self->system,
                                        .from = self->from,
                                        .to = self->to,
                                        .method = self->method,
                                        .memory = self->memory,
                                        .series = self->series },
                            .sizes = { .hold_out = default_hold_out },
                            .count = (guint) self->count,
                            .hops = (guint) self->hops };
  if (self->count < 1 || self->count > 4096 || self->hops < 1 || self->hops > 64)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--count must be from 1 to 4096 links, and --hops from 1 to 64");
  return (self->min_size == NULL
          || fab_cli_size ("--min-size", self->min_size, &choice->sizes.min_bytes, error))
      && (self->max_size == NULL
          || fab_cli_size ("--max-size", self->max_size, &choice->sizes.max_bytes, error))
      && (self->hold_out == NULL || read_part (self->hold_out, &choice->sizes.hold_out, error));
}

void
fab_fit_options_clear (FabFitOptions *self)
{
  char *texts[] = { self->system, self->from,     self->to,       self->method,  self->memory,
                    self->series, self->min_size, self->max_size, self->hold_out };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
}

static GPtrArray *
load_samples (const char *path, GError **error)
{
  g_autoptr (FabSamples) samples = fab_samples_open (path, FAB_SAMPLES_READ, error);

  return samples ? fab_samples_load (samples, error) : NULL;
}

static GPtrArray *
load_text (const char *path, GError **error)
{
  FabMeasurementRequest request = { .file.name = strcmp (path, "-") == 0 ? "standard input" : path };
  g_autofree char *text = NULL;
  g_autoptr (FabMeasurements) measurements = NULL;

  if (!fab_cli_read_file (path, FAB_IMPORT_MAX_BYTES, &text, &request.file.size, error))
    return NULL;
  request.file.text = text;
  measurements = fab_measurements_read (&request, error);
  return measurements ? g_ptr_array_ref (measurements->series) : NULL;
}

GPtrArray *
fab_cli_series (char **files, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);

  for (guint i = 0; files[i]; i++) {
    g_autoptr (GPtrArray) some = fab_is_database (files[i]) ? load_samples (files[i], error)
                                                            : load_text (files[i], error);

    if (some == NULL)
      return NULL;
    for (guint k = 0; k < some->len; k++) {
      const FabMeasuredSeries *from = g_ptr_array_index (some, k);
      FabMeasuredSeries *to = fab_measured_series_new (&from->series);

      g_array_append_vals (to->points, from->points->data, from->points->len);
      g_ptr_array_add (all, to);
    }
  }
  return g_steal_pointer (&all);
}

/* Makes a scenario with some node and some job, because only scenarios hold sections of a catalogue. */
FabScenario *
fab_cli_overlay (char **files, const FabCatalog *catalog, GError **error)
{
  g_autofree const char **nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);
  g_autoptr (FabScenario) scenario = fab_scenario_new ("--with", &fab_models, catalog);
  g_autoptr (FabEdits) edits = fab_edits_new ();
  FabValue *with = fab_cli_with (files, error), *job, *operations, *operation;

  if (with == NULL)
    return NULL;
  job = fab_value_mapping ();
  operations = fab_value_list ();
  operation = fab_value_mapping ();
  fab_value_put (operation, "op", fab_value_text ("all_reduce"));
  fab_value_put (operation, "size", fab_value_whole (FAB_UNIT_BYTES, 1000000));
  fab_value_append (operations, operation);
  fab_value_put (job, "kind", fab_value_text ("collective"));
  fab_value_put (job, "operations", operations);
  fab_edits_set (edits, "name", fab_value_text ("overlay"));
  fab_edits_set (edits, "cluster.node", fab_value_text (nodes[0]));
  fab_edits_set (edits, "job", job);
  fab_edits_set (edits, "include", with);
  fab_scenario_edit (scenario, edits);
  return fab_scenario_check (scenario, error) ? g_steal_pointer (&scenario) : NULL;
}
