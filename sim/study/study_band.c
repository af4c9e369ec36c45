/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/study_band.h"

#include "sim/run/run.h"

typedef struct {
  const FabScenario *scenario;
  const FabRegistry *registry;
  const FabBandFigures *figures;
  const FabSimulation *first;
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
  const FabRunOptions options = { .beside = self->first, .is_brief = TRUE };
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

gboolean
fab_study_band (const FabStudy *study, const FabEdits *edits, const FabPoint *point,
                const FabBandFigures *figures, FabBand **band, GError **error)
{
  g_autofree double *values = g_new0 (double, figures->n + 1);

  *band = NULL;
  if (point->draws != NULL || point->step_s <= 0)
    return TRUE;
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, edits, error);
  g_autoptr (FabSimulation) first = scenario ? fab_simulation_new (scenario, study->registry, NULL, error)
                                             : NULL;
  if (first == NULL)
    return FALSE;
  take_values (figures, point, values);
  return fab_band_find (scenario, fab_simulation_cluster (first)->graph, values, figures->n, play,
                        &(Owner){ scenario, study->registry, figures, first }, band, error);
}

/* Whether every measured link that makes `a` uncertain makes `b` uncertain too. */
static gboolean
has_links_of (const FabBand *a, const FabBand *b)
{
  guint n_a = a->unsure != NULL ? a->unsure->len : 0, n_b = b->unsure != NULL ? b->unsure->len : 0;

  for (guint i = 0; i < n_a; i++) {
    const FabUnsure *one = &g_array_index (a->unsure, FabUnsure, i);
    gboolean is_found = one->link == NULL;

    for (guint k = 0; k < n_b && !is_found; k++)
      is_found = g_strcmp0 (one->link, g_array_index (b->unsure, FabUnsure, k).link) == 0;
    if (!is_found)
      return FALSE;
  }
  return TRUE;
}

/* Whether collectives like the same measured ones, or no collectives, make both uncertain, and likewise compute and the
 * links that were measured. */
static gboolean
have_one_reason (const FabBand *a, const FabBand *b)
{
  return a != NULL && b != NULL && g_strcmp0 (a->collectives.entry, b->collectives.entry) == 0
      && g_strcmp0 (a->compute.entry, b->compute.entry) == 0 && has_links_of (a, b) && has_links_of (b, a);
}

gboolean
fab_band_change (const FabBand *base, double was, const FabBand *band, double now, guint i,
                 FabBandChange *change)
{
  double was_low = base != NULL ? base->low[i] : was, was_high = base != NULL ? base->high[i] : was;
  double low = band != NULL ? band->low[i] : now, high = band != NULL ? band->high[i] : now;

  if ((base == NULL && band == NULL) || was_low <= 0)
    return FALSE;
  change->is_together = have_one_reason (base, band);
  double at_low = low / (change->is_together ? was_low : was_high) - 1;
  double at_high = high / (change->is_together ? was_high : was_low) - 1;
  change->low_fraction = MIN (MIN (at_low, at_high), now / was - 1);
  change->high_fraction = MAX (MAX (at_low, at_high), now / was - 1);
  change->coverage_fraction = MIN (base != NULL ? base->coverage_fraction : 1,
                                   band != NULL ? band->coverage_fraction : 1);
  return TRUE;
}

gboolean
fab_band_change_may_be_none (const FabBandChange *change)
{
  const double no_change = 5e-4;

  return change->low_fraction < no_change && change->high_fraction > -no_change;
}
