/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/tune.h"

#include "answer/study/spread.h"
#include "sim/study/study_bottleneck.h"

const double fab_tune_flat_fraction = 0.01;

static const FabKnob *
knob_of (const FabTune *self, guint knob)
{
  return g_ptr_array_index (self->knobs, knob);
}

char *
fab_tune_point_name (const FabTune *tune, const FabTunePoint *point)
{
  GString *name = g_string_new (NULL);

  for (guint k = 0; k < tune->knobs->len; k++)
    g_string_append_printf (name, "%s%s %s", k > 0 ? ", " : "", knob_of (tune, k)->name,
                            fab_knob_value (knob_of (tune, k), point->values[k])->label);
  return g_string_free (name, FALSE);
}

double
fab_tune_loss (const FabTune *tune, const FabTunePoint *point)
{
  double best = tune->by->value (tune->best->trial.point), value = tune->by->value (point->trial.point);

  if (best == 0)
    return 0;
  return MAX (0, tune->by->is_gain ? 1 - value / best : value / best - 1); /* what is rounded may lie below */
}

/* --- the answer --- */

static gboolean
is_flat (const FabTune *self, guint k, guint v)
{
  const FabTunePoint *point = fab_tune_curve (self, k, v);

  return fab_tune_is_good (self, point) && fab_tune_loss (self, point) <= fab_tune_flat_fraction;
}

static FabTuneFlat
flat_of (const FabTune *self, guint k)
{
  guint best = self->best->values[k], n = knob_of (self, k)->values->len;
  FabTuneFlat flat = { best, best };

  while (flat.first > 0 && is_flat (self, k, flat.first - 1))
    flat.first--;
  while (flat.last + 1 < n && is_flat (self, k, flat.last + 1))
    flat.last++;
  return flat;
}

static FabTuneGain
gain_of (const FabTune *self)
{
  if (self->best == NULL)
    return FAB_TUNE_NO_BEST;
  if (self->best == self->written)
    return FAB_TUNE_IS_WRITTEN;
  if (!fab_tune_is_good (self, self->written))
    return FAB_TUNE_NOW_FITS;
  if (fab_spread_is_within (self->by, self->written->trial.point, self->best->trial.point))
    return FAB_TUNE_WITHIN_SPREAD;
  return fab_tune_loss (self, self->written) < fab_tune_flat_fraction ? FAB_TUNE_HARDLY_MATTERS
                                                                      : FAB_TUNE_GAINS;
}

/* How sure the gain is, and what limits the step as written and at its best. */
static void
look_closer (const FabStudy *study, const FabTune *found, FabPairedBand *gain)
{
  const FabTunePoint *written = found->written, *best = found->best;

  if (written->trial.point != NULL)
    fab_study_find_bottleneck (study, written->edits, written->trial.point);
  if (best == NULL || best == written)
    return;
  fab_study_find_bottleneck (study, best->edits, best->trial.point);
  if (!fab_tune_is_good (found, written))
    return;
  const FabVariantOf then = { study, written->edits, written->trial.point },
                     now = { study, best->edits, best->trial.point };
  if (!fab_study_compare (&then, &now, gain, NULL))
    *gain = (FabPairedBand){ 0 };
}

FabTuneAnswer *
fab_tune_answer (const FabStudy *study, const GPtrArray *knobs, const FabFigure *by, FabBytes most_bytes,
                 GError **error)
{
  FabTune *tune = fab_tune_find (study, knobs, by, most_bytes, error);

  if (tune == NULL)
    return NULL;
  FabTuneAnswer *self = g_new0 (FabTuneAnswer, 1);
  self->tune = tune;
  self->gain = gain_of (tune);
  self->flats = g_array_new (FALSE, FALSE, sizeof (FabTuneFlat));
  for (guint k = 0; tune->best != NULL && k < knobs->len; k++) {
    FabTuneFlat flat = flat_of (tune, k);

    g_array_append_val (self->flats, flat);
  }
  look_closer (study, tune, &self->gain_band);
  return self;
}

void
fab_tune_answer_free (FabTuneAnswer *self)
{
  if (self == NULL)
    return;
  fab_tune_free (self->tune);
  g_array_unref (self->flats);
  g_free (self);
}

/* --- rows --- */

static const char *
state_of (const FabTune *self, const FabTunePoint *point)
{
  if (point == self->best)
    return "best";
  if (point->trial.point == NULL)
    return "impossible";
  return fab_tune_is_good (self, point) ? "fits" : "too large";
}

FabPoints *
fab_tune_points (const FabTuneAnswer *self)
{
  const FabTune *tune = self->tune;
  guint n_knobs = tune->knobs->len;
  g_autofree const char **columns = g_new0 (const char *, n_knobs + 2);
  g_autofree char **labels = g_new0 (char *, n_knobs + 1);

  for (guint k = 0; k < n_knobs; k++)
    columns[k] = knob_of (tune, k)->name;
  columns[n_knobs] = "state";
  FabPoints *points = fab_points_new (columns, n_knobs + 1, 0, NULL);
  for (guint i = 0; i < tune->points->len; i++) {
    const FabTunePoint *point = g_ptr_array_index (tune->points, i);

    for (guint k = 0; k < n_knobs; k++)
      labels[k] = g_strdup (fab_knob_value (knob_of (tune, k), point->values[k])->label);
    labels[n_knobs] = g_strdup (state_of (tune, point));
    fab_points_add (points, labels, point->trial.point, point->trial.problem);
  }
  return points;
}
