/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/scaling.h"

#include <math.h>

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/run/band.h"
#include "sim/study/machine.h"
#include "sim/study/study_band.h"

static const double least_bend = 0.02; /* a smaller change of the efficiency per doubling is no bend */

void
fab_scaling_free (FabScaling *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n; i++) {
    fab_try_clear (&self->points[i].trial);
    g_clear_pointer (&self->points[i].edits, fab_edits_free);
  }
  g_free (self->points);
  g_free (self);
}

FabAxis *
fab_scaling_default (const FabScenario *scenario)
{
  guint from = fab_machine_gpus_per_node (scenario), to = fab_machine_gpus (scenario);
  g_autofree char *text = g_strdup_printf ("gpus=%u..%" G_GUINT64_FORMAT ":x2", from, (guint64) 16 * to);

  return fab_axis_parse (text, NULL);
}

/* --- points --- */

static gboolean
read_counts (FabScaling *self, const FabAxis *gpus, GError **error)
{
  for (guint i = 0; i < self->n; i++) {
    const char *text = g_ptr_array_index (gpus->values, i);
    guint64 n;

    if (!g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT32, &n, NULL))
      return fab_throw (error, FAB_ERROR_INPUT, "'%s' is not a number of GPUs", text);
    self->points[i].n_gpus = (guint) n;
    if (i > 0 && self->points[i - 1].n_gpus >= n)
      return fab_throw (error, FAB_ERROR_INPUT, "numbers of GPUs must go from the smallest to the largest");
  }
  return TRUE;
}

/* The study holds the batch. */
static void
init_point (FabScalePoint *point, const FabScenario *scenario)
{
  g_autoptr (GError) problem = NULL;

  point->edits = fab_edits_new ();
  if (!fab_machine_set_gpus (scenario, point->n_gpus, point->edits, &problem))
    point->trial.problem = g_strdup (problem->message);
  point->trial.edits = point->edits;
}

/* --- uncertainty --- */

typedef struct {
  const FabStudy *study;
  FabScaling *scaling;
} Bands;

/* A band that cannot be found is none, for the point itself was played; a broken invariant is trouble of the point, and
 * so is that somebody cancelled the study. */
static void
find_band (gpointer data, guint item)
{
  const Bands *self = data;
  FabScalePoint *point = &self->scaling->points[item];
  const FabFigure *step[] = { fab_figure_find ("step") };
  const FabBandFigures figures = { step, 1 };
  g_autoptr (FabBand) band = NULL;
  GError *problem = NULL;

  if (point->trial.point == NULL)
    return;
  if (fab_study_band (self->study, point->trial.edits, point->trial.point, &figures, &band, &problem)
      && band != NULL) {
    point->low_s = band->low[0];
    point->high_s = band->high[0];
    point->coverage_fraction = band->coverage_fraction;
  }
  if (g_error_matches (problem, FAB_ERROR, FAB_ERROR_BROKEN)
      || g_error_matches (problem, FAB_ERROR, FAB_ERROR_CANCELLED))
    point->trial.trouble = g_steal_pointer (&problem);
  g_clear_error (&problem);
}

static gboolean
find_bands (const FabStudy *study, FabScaling *self, GError **error)
{
  fab_thread_pool_run (study->n_threads, self->n, find_band, &(Bands){ study, self });
  for (guint i = 0; i < self->n; i++)
    if (self->points[i].trial.trouble != NULL) {
      g_propagate_error (error, g_error_copy (self->points[i].trial.trouble));
      return FALSE;
    }
  return TRUE;
}

/* --- results --- */

/* A single GPU that only communicates takes no time and has no rate. */
static gboolean
has_rate (const FabScalePoint *point)
{
  return point->trial.point != NULL && point->trial.point->step_s > 0 && !point->is_left_out;
}

static double
rate_per_gpu (const FabScalePoint *point, gboolean is_strong)
{
  const FabPoint *played = point->trial.point;

  if (played->tokens_per_s > 0)
    return played->tokens_per_s / point->n_gpus;
  return is_strong ? 1 / (played->step_s * point->n_gpus) : 1 / played->step_s;
}

static void
set_efficiencies (FabScaling *self, gboolean is_strong)
{
  double first = 0;

  self->first = self->last = -1;
  for (guint i = 0; i < self->n; i++) {
    FabScalePoint *point = &self->points[i];

    if (!has_rate (point))
      continue;
    if (self->first < 0) {
      self->first = (gint) i;
      first = rate_per_gpu (point, is_strong);
    }
    self->last = (gint) i;
    point->efficiency = rate_per_gpu (point, is_strong) / first;
  }
}

/* Returns the change of the efficiency per doubling from one point to the next. */
static double
slope (const FabScalePoint *from, const FabScalePoint *to)
{
  return (to->efficiency - from->efficiency) / log2 ((double) to->n_gpus / from->n_gpus);
}

/* Finds the middle of the three consecutive points where the slope falls most. */
static void
find_bend (FabScaling *self)
{
  double most = least_bend;
  gint before = -1, at = -1;

  self->bend = -1;
  for (gint i = self->first; i >= 0 && i <= self->last; i++) {
    if (!has_rate (&self->points[i]))
      continue;
    if (before >= 0) {
      double then = slope (&self->points[before], &self->points[at]);
      double now = slope (&self->points[at], &self->points[i]);

      if (then - now > most) {
        most = then - now;
        self->bend = at;
        self->slope_before = then;
        self->slope_after = now;
      }
    }
    before = at;
    at = i;
  }
}

void
fab_scaling_judge (FabScaling *self, const FabScalingSpec *spec)
{
  gboolean is_good = TRUE;

  set_efficiencies (self, spec->is_strong);
  find_bend (self);
  self->efficient = self->dominated = -1;
  for (guint i = 0; i < self->n; i++) {
    const FabScalePoint *point = &self->points[i];

    if (!has_rate (point))
      continue;
    is_good &= point->efficiency >= spec->bound;
    if (is_good)
      self->efficient = (gint) i;
    if (point->trial.point->exposed_s <= point->trial.point->compute_s)
      self->dominated = -1;
    else if (self->dominated < 0)
      self->dominated = (gint) i;
  }
}

/* Of a point that does not fit. One that is too large by less than what a prediction may be wrong has a warning. */
static const char *
why_left_out (const FabScalePoint *point)
{
  const FabVerdict *verdict = point->trial.point->verdict;
  const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_DOES_NOT_FIT);

  return (finding != NULL ? finding : fab_verdict_find (verdict, FAB_FINDING_MAY_NOT_FIT))->text;
}

/* Says why no point has an efficiency. Returns NULL. */
static FabScaling *
none_to_judge (const FabScaling *self, GError **error)
{
  for (guint i = self->n; i-- > 0;)
    if (self->points[i].is_left_out) {
      fab_throw (error, FAB_ERROR_OVERSIZED, "the job fits on none of these numbers of GPUs. On %u: %s",
                 self->points[i].n_gpus, why_left_out (&self->points[i]));
      return NULL;
    }
  fab_throw (error, FAB_ERROR_INPUT, "%s",
             self->points[0].trial.problem ? self->points[0].trial.problem
                                           : "the job takes no time on any of these numbers of GPUs");
  return NULL;
}

FabScaling *
fab_scaling_play (const FabStudy *study, const FabScalingSpec *spec, GError **error)
{
  g_autoptr (FabScaling) self = g_new0 (FabScaling, 1);
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);

  if (scenario == NULL)
    return NULL;
  self->n = spec->gpus->values->len;
  self->points = g_new0 (FabScalePoint, self->n);
  g_autofree FabTry **tries = g_new (FabTry *, self->n);
  if (!read_counts (self, spec->gpus, error))
    return NULL;
  for (guint i = 0; i < self->n; i++) {
    init_point (&self->points[i], scenario);
    tries[i] = &self->points[i].trial;
  }
  if (!fab_study_play (study, tries, self->n, error))
    return NULL;
  for (guint i = 0; i < self->n; i++)
    self->points[i].is_left_out = self->points[i].trial.point != NULL
                               && !fab_study_accepts (study, self->points[i].trial.point);
  fab_scaling_judge (self, spec);
  if (self->first < 0)
    return none_to_judge (self, error);
  if (spec->has_band && !find_bands (study, self, error))
    return NULL;
  return g_steal_pointer (&self);
}
