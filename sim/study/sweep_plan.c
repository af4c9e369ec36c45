/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/sweep_plan.h"

#include <string.h>

#include "sim/base/error.h"

/* Number of points that are read to check that a sweep is possible. */
enum { MOST_SAMPLES = 32 };

void
fab_sweep_plan_free (FabSweepPlan *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_free (self->summary);
  g_free (self->scenario_yaml);
  g_free (self->fingerprint);
  g_free (self);
}

static FabScenario *
load_point (const FabStudy *study, const FabGrid *grid, gint64 point, GError **error)
{
  g_autoptr (FabEdits) edits = fab_grid_edits (grid, point);

  return fab_study_scenario (study, edits, error);
}

/* Loads the first point, or when it cannot be read, the first readable one of several all over the grid. */
static FabScenario *
load_any_point (const FabStudy *study, const FabGrid *grid, GError **error)
{
  gint64 n = MIN (grid->n_points, MOST_SAMPLES);
  FabScenario *scenario = load_point (study, grid, 0, error);

  for (gint64 i = 1; i < n && scenario == NULL; i++) {
    scenario = load_point (study, grid, i * (grid->n_points - 1) / (n - 1), NULL);
    if (scenario != NULL)
      g_clear_error (error);
  }
  return scenario;
}

/* Loads the scenario without the keys that vary; when it is incomplete without them, one of its points. */
static FabScenario *
load_head (const FabStudy *study, const FabGrid *grid)
{
  FabScenario *scenario = fab_study_scenario (study, NULL, NULL);

  return scenario != NULL ? scenario : load_any_point (study, grid, NULL);
}

/* --- fingerprint --- */

/* Adds the terminating NUL too, so that the next text cannot be confused with this one. */
static void
add_text (GChecksum *sum, const char *text)
{
  g_checksum_update (sum, (const guchar *) text, (gssize) strlen (text) + 1);
}

/* A value that is not a number may name a file, so this adds what it stands for. */
static void
add_meaning (GChecksum *sum, const FabStudy *study, const char *key, const char *value)
{
  g_autofree char *set = g_strconcat (key, "=", value, NULL);
  g_autoptr (FabEdits) edits = fab_edits_new ();
  const char *unit;
  double number;

  if (fab_axis_split_number (value, &number, &unit))
    return;
  fab_edits_assign (edits, set);
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, edits, NULL);
  g_autofree char *text = scenario != NULL ? fab_scenario_resolved (scenario) : g_strdup ("");
  add_text (sum, text);
}

static void
add_axis (GChecksum *sum, const FabStudy *study, const FabAxis *axis)
{
  add_text (sum, axis->key);
  for (guint i = 0; i < axis->values->len; i++) {
    add_text (sum, g_ptr_array_index (axis->values, i));
    add_meaning (sum, study, axis->key, g_ptr_array_index (axis->values, i));
  }
}

static char *
fingerprint_of (const FabSweepPlan *self, const FabStudy *study, const FabGrid *grid, const char *version)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *catalog = fab_catalog_write (study->catalog);
  char *fingerprint;

  add_text (sum, version);
  add_text (sum, catalog);
  add_text (sum, self->scenario_yaml);
  for (guint a = 0; a < grid->axes->len; a++) {
    const FabGridAxis *axis = g_ptr_array_index (grid->axes, a);

    for (guint k = 0; k < axis->keys->len; k++)
      add_axis (sum, study, g_ptr_array_index (axis->keys, k));
    add_text (sum, "");
  }
  fingerprint = g_strdup (g_checksum_get_string (sum));
  g_checksum_free (sum);
  return fingerprint;
}

/* --- plan --- */

FabSweepPlan *
fab_sweep_plan_new (const FabStudy *study, const FabGrid *grid, const char *version, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (FabScenario) alone = fab_study_scenario (study, NULL, &problem);
  g_autoptr (FabScenario) point = load_any_point (study, grid, error);

  if (point == NULL) { /* the problem is in a file, not in the keys that vary */
    if (alone == NULL && error != NULL) {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&problem));
    }
    return NULL;
  }
  FabSweepPlan *self = g_new0 (FabSweepPlan, 1);
  const FabScenario *head = alone != NULL ? alone : point;
  self->name = g_strdup (fab_scenario_spec (head)->name);
  self->summary = g_strdup (fab_scenario_spec (head)->summary);
  self->scenario_yaml = fab_scenario_resolved (head);
  self->fingerprint = fingerprint_of (self, study, grid, version);
  return self;
}

gboolean
fab_sweep_plan_holds (const FabSweepPlan *self, const FabStudy *study, const FabGrid *grid)
{
  g_autoptr (FabStudy) now = fab_study_again (study, NULL);
  g_autoptr (FabScenario) head = now != NULL ? load_head (now, grid) : NULL;
  g_autofree char *text = head != NULL ? fab_scenario_resolved (head) : NULL;

  return g_strcmp0 (text, self->scenario_yaml) == 0;
}
