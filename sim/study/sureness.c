/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/sureness.h"

#include "sim/scenario/run.h"

typedef struct {
  const FabScenario *scenario;
  const FabRegistry *registry;
  const FabSizeSpec *spec;
} Owner;

static void
take_values (const FabSizeSpec *spec, const FabPoint *point, double *values)
{
  for (guint i = 0; i < spec->n_targets; i++)
    values[i] = spec->targets[i].figure->value (point);
}

static gboolean
play (gpointer data, const FabWhatIf *what_if, double *values, GError **error)
{
  const Owner *self = data;
  g_autoptr (FabSimulation) simulation = fab_scenario_run (self->scenario, self->registry, what_if, NULL,
                                                           error);
  g_autoptr (FabPoint) point = simulation != NULL ? fab_point_of (self->scenario, simulation, error) : NULL;

  if (point == NULL)
    return FALSE;
  take_values (self->spec, point, values);
  return TRUE;
}

/* Whether the targets hold when every figure is off by the same fraction as at the answer. */
static gboolean
is_met_off (const FabSizeSpec *spec, const FabPoint *point, const FabPoint *at, const FabBand *band,
            gboolean is_bad)
{
  for (guint i = 0; i < spec->n_targets; i++) {
    const FabTarget *target = &spec->targets[i];
    double value = target->figure->value (at), now = target->figure->value (point);
    double end = target->is_most == is_bad ? band->high[i] : band->low[i];
    double off = value > 0 ? now * end / value : now;

    if (target->figure->is_known != NULL && !target->figure->is_known (point))
      return FALSE;
    if (target->is_most ? off > target->bound : off < target->bound)
      return FALSE;
  }
  return TRUE;
}

static gint64
first_met (const FabSizeSpec *spec, const FabSize *size, const FabPoint *at, const FabBand *band,
           gboolean is_bad)
{
  for (guint i = 0; i < size->n; i++)
    if (size->points[i].trial.point != NULL
        && is_met_off (spec, size->points[i].trial.point, at, band, is_bad))
      return i;
  return -1;
}

gboolean
fab_size_sureness (const FabStudy *study, const FabSizeSpec *spec, const FabSize *size, FabSureness *sureness,
                   GError **error)
{
  const FabSizePoint *at = &size->points[size->best];
  g_autofree double *values = g_new0 (double, spec->n_targets + 1);

  *sureness = (FabSureness){ NULL, -1, -1 };
  if (at->trial.point == NULL)
    return TRUE;
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, at->edits, error);
  g_autoptr (FabPlant) plant = scenario ? fab_plant_new (scenario, NULL, error) : NULL;
  if (plant == NULL)
    return FALSE;
  take_values (spec, at->trial.point, values);
  if (!fab_band_find (scenario, plant->graph, values, spec->n_targets, play,
                      &(Owner){ scenario, study->registry, spec }, &sureness->band, error))
    return FALSE;
  if (sureness->band != NULL) {
    sureness->answer_low = first_met (spec, size, at->trial.point, sureness->band, FALSE);
    sureness->answer_high = first_met (spec, size, at->trial.point, sureness->band, TRUE);
  }
  return TRUE;
}

void
fab_sureness_clear (FabSureness *self)
{
  g_clear_pointer (&self->band, fab_band_free);
}
