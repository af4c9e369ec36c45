/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/study_band.h"

#include "sim/run/run.h"

/* --- one variant --- */

typedef struct {
  const FabScenario *scenario;
  const FabRegistry *registry;
  const FabBandFigures *figures;
  const FabSimulation *first;
  const gint *cancel; /* as of a study */
} Owner;

static void
take_values (const FabBandFigures *figures, const FabPoint *point, double *values)
{
  for (guint i = 0; i < figures->n; i++)
    values[i] = MAX (figures->figures[i]->value (point), 0);
}

static gboolean
play (gpointer data, const FabWhatIf *what_if, double *values, GError **error)
{
  const Owner *self = data;
  const FabRunOptions options = { .beside = self->first, .is_brief = TRUE, .cancel = self->cancel };
  g_autoptr (FabSimulation) simulation = fab_scenario_run (self->scenario, self->registry, what_if, &options,
                                                           error);
  g_autoptr (FabPoint) point = simulation != NULL
                                 ? fab_point_of (self->scenario, simulation, self->registry, error)
                                 : NULL;

  if (point == NULL)
    return FALSE;
  take_values (self->figures, point, values);
  return TRUE;
}

/* Adds the range of the figures over the seeds. */
static void
add_seeds (const FabBandFigures *figures, const FabPoint *point, const double *values, FabBand **band)
{
  g_autofree double *low = g_new (double, figures->n + 1), *high = g_new (double, figures->n + 1);

  for (guint i = 0; i < figures->n; i++) {
    FabSpread spread = fab_spread_of (figures->figures[i], point);

    low[i] = MAX (spread.low, 0);
    high[i] = MAX (spread.high, 0);
  }
  fab_band_add_draws (band, values, low, high, figures->n, point->draws->len);
}

gboolean
fab_study_band (const FabStudy *study, const FabEdits *edits, const FabPoint *point,
                const FabBandFigures *figures, FabBand **band, GError **error)
{
  g_autofree double *values = g_new0 (double, figures->n + 1);
  guint draw = point->draws != NULL ? fab_spread_median (point->draws) : 0;

  *band = NULL;
  if (point->step_s <= 0)
    return TRUE;
  g_autoptr (FabScenario) scenario = fab_study_draw (study, edits, draw, error);
  g_autoptr (FabSimulation) first = scenario ? fab_simulation_new (scenario, study->registry, NULL, error)
                                             : NULL;
  if (first == NULL)
    return FALSE;
  take_values (figures, point, values);
  if (!fab_band_find (scenario, fab_simulation_cluster (first)->graph, values, figures->n, play,
                      &(Owner){ scenario, study->registry, figures, first, study->cancel }, band, error))
    return FALSE;
  if (point->draws != NULL)
    add_seeds (figures, point, values, band);
  return TRUE;
}

/* --- two variants --- */

gboolean
fab_study_side_init (FabStudySide *self, const FabStudy *study, const FabEdits *edits, const FabPoint *point,
                     GError **error)
{
  guint n = point->draws != NULL ? point->draws->len : 1;

  *self = (FabStudySide){ .scenario = fab_study_scenario (study, edits, error) };
  if (self->scenario == NULL)
    return FALSE;
  self->steps_s = g_new (double, n);
  for (guint i = 0; i < n; i++)
    self->steps_s[i] = point->draws != NULL ? ((const FabPoint *) g_ptr_array_index (point->draws, i))->step_s
                                            : point->step_s;
  self->side = (FabPairedSide){ self->scenario, self->steps_s, n };
  return TRUE;
}

void
fab_study_side_clear (FabStudySide *self)
{
  fab_scenario_free (self->scenario);
  g_free (self->steps_s);
}

gboolean
fab_study_compare (const FabVariantOf *base, const FabVariantOf *other, FabPairedBand *band, GError **error)
{
  const FabDecisionEnv env = fab_study_env (base->study);
  g_auto (FabStudySide) first = { 0 }, second = { 0 };

  if (!fab_study_side_init (&first, base->study, base->edits, base->point, error)
      || !fab_study_side_init (&second, other->study, other->edits, other->point, error))
    return FALSE;
  g_autoptr (FabPaired) paired = fab_paired_new (&env, &first.side, error);
  return paired != NULL && fab_paired_compare (paired, &second.side, band, error);
}
