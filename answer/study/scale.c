/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/scale.h"

#include "answer/study/choices.h"
#include "answer/study/hold.h"
#include "answer/study/spread.h"
#include "sim/base/units.h"
#include "sim/study/study_bottleneck.h"

/* Of the last point, and of the first one that the network dominates, in any case; of the others where that is
 * quick. */
static void
find_bottlenecks (const FabStudy *study, FabScaling *scaling)
{
  g_autofree FabTry **tries = g_new (FabTry *, scaling->n + 1);
  const gint asked[] = { scaling->last, scaling->dominated };

  for (guint i = 0; i < scaling->n; i++)
    tries[i] = &scaling->points[i].trial;
  for (guint i = 0; i < G_N_ELEMENTS (asked); i++)
    if (asked[i] >= 0)
      fab_study_find_bottleneck (study, tries[asked[i]]->edits, tries[asked[i]]->point);
  fab_study_find_bottlenecks (study, tries, scaling->n);
}

/* What all points say together. */
static void
sum_up (FabScaleAnswer *self)
{
  const FabScaling *scaling = self->scaling;
  FabHoldRange range = { 0 };

  for (guint i = 0; i < scaling->n; i++) {
    const FabScalePoint *one = &scaling->points[i];
    double coverage = one->coverage_fraction;

    fab_hold_range_add (&range, one->trial.point);
    self->n_seeds = MAX (self->n_seeds, fab_spread_n_seeds (one->trial.point));
    if (coverage > 0 && (self->coverage_fraction <= 0 || coverage < self->coverage_fraction))
      self->coverage_fraction = coverage;
    if ((gint) i < scaling->first && one->is_left_out)
      self->too_few = (gint) i;
  }
  self->least_sequences = range.least_sequences;
  self->most_sequences = range.most_sequences;
}

static void
add_pairs (FabScaleAnswer *self)
{
  for (guint i = 1; i < self->scaling->n; i++) {
    const FabScalePoint *before = &self->scaling->points[i - 1], *after = before + 1;
    g_autofree char *then = g_strdup_printf ("%u %s", before->n_gpus,
                                             fab_plural (before->n_gpus, "GPU", "GPUs")),
                    *now = g_strdup_printf ("%u %s", after->n_gpus,
                                            fab_plural (after->n_gpus, "GPU", "GPUs"));

    fab_choice_pairs_add (self->pairs, "gpus", then, before->trial.point, now, after->trial.point);
  }
}

FabScaleAnswer *
fab_scale_answer (const FabStudy *study, const FabScalingSpec *spec, GError **error)
{
  FabScaling *scaling = fab_scaling_play (study, spec, error);

  if (scaling == NULL)
    return NULL;
  FabScaleAnswer *self = g_new0 (FabScaleAnswer, 1);
  *self = (FabScaleAnswer){ .spec = *spec,
                            .scaling = scaling,
                            .n_seeds = 1,
                            .too_few = -1,
                            .pairs = fab_choice_pairs_new (),
                            .hold = fab_hold_of (study) };
  find_bottlenecks (study, scaling);
  sum_up (self);
  add_pairs (self);
  return self;
}

void
fab_scale_answer_free (FabScaleAnswer *self)
{
  if (self == NULL)
    return;
  fab_scaling_free (self->scaling);
  g_array_unref (self->pairs);
  g_free (self);
}

/* A number as text; 0 is nothing. */
static char *
real (double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  return value > 0 ? g_strdup (g_ascii_formatd (digits, sizeof digits, "%.12g", value)) : NULL;
}

FabPoints *
fab_scale_points (const FabScaleAnswer *self)
{
  static const char *const columns[] = { "gpus", "efficiency", "low_s", "high_s", NULL };
  FabPoints *points = fab_points_new (columns, 4, 4, self->hold);

  for (guint i = 0; i < self->scaling->n; i++) {
    const FabScalePoint *point = &self->scaling->points[i];
    char *const labels[] = { g_strdup_printf ("%u", point->n_gpus), real (point->efficiency),
                             real (point->low_s), real (point->high_s) };

    fab_points_add (points, labels, point->trial.point, point->trial.problem);
  }
  return points;
}
