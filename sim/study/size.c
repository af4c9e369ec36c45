/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/size.h"

#include "sim/base/error.h"

void
fab_size_free (FabSize *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n; i++) {
    fab_try_clear (&self->points[i].trial);
    fab_edits_free (self->points[i].edits);
  }
  g_free (self->points);
  g_free (self);
}

typedef struct {
  const FabStudy *study;
  const FabSizeSpec *spec;
  FabSize *size;
} Trials;

static gboolean
try_values (gpointer data, const guint *items, guint n, FabTrial *trials, GError **error)
{
  const Trials *self = data;
  g_autofree FabTry **tries = g_new (FabTry *, n);

  for (guint i = 0; i < n; i++)
    tries[i] = &self->size->points[items[i]].trial;
  if (!fab_study_play (self->study, tries, n, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const FabPoint *point = tries[i]->point;

    trials[i] = (FabTrial){ FALSE, G_MAXDOUBLE };
    if (point == NULL)
      continue;
    trials[i].is_met = fab_targets_are_met (self->spec->targets, self->spec->n_targets, point);
    trials[i].gap = fab_targets_gap (self->spec->targets, self->spec->n_targets, point);
  }
  return TRUE;
}

static void
take_search (FabSize *self, const FabSearch *search)
{
  self->answer = search->first < self->n ? (gint64) search->first : -1;
  self->best = search->best;
  self->is_unsteady = search->is_unsteady;
  self->before = -1;
  for (guint i = 0; i < self->n; i++) {
    self->n_tried += self->points[i].trial.point != NULL || self->points[i].trial.problem != NULL;
    if (self->answer >= 0 && i < (guint) self->answer && self->points[i].trial.point != NULL)
      self->before = i;
  }
}

/* At least one value must be simulated and have the figure of the target. */
static gboolean
check_played (const FabSize *self, const FabTarget *target, GError **error)
{
  const FabFigure *figure = target->figure;
  const char *problem = NULL;

  for (guint i = 0; i < self->n; i++) {
    const FabPoint *point = self->points[i].trial.point;

    if (point != NULL && (figure->is_known == NULL || figure->is_known (point)))
      return TRUE;
    if (point != NULL && problem == NULL)
      return fab_throw (error, FAB_ERROR_INPUT, "there is no '%s' here: %s", figure->name, figure->unknown);
    if (problem == NULL)
      problem = self->points[i].trial.problem;
  }
  return fab_throw (error, FAB_ERROR_INPUT, "%s", problem);
}

static void
init_point (FabSizePoint *point, const char *key, const char *value)
{
  g_autofree char *assignment = g_strconcat (key, "=", value, NULL);

  point->value = value;
  point->edits = fab_edits_new ();
  fab_edits_assign (point->edits, assignment);
  point->trial.edits = point->edits;
}

FabSize *
fab_size_find (const FabStudy *study, const FabSizeSpec *spec, GError **error)
{
  g_autoptr (FabSize) self = g_new0 (FabSize, 1);
  FabSearch search;

  self->n = spec->axis->values->len;
  self->points = g_new0 (FabSizePoint, self->n);
  for (guint i = 0; i < self->n; i++)
    init_point (&self->points[i], spec->axis->key, g_ptr_array_index (spec->axis->values, i));
  if (!fab_search_first (self->n, try_values, &(Trials){ study, spec, self }, &search, error))
    return NULL;
  take_search (self, &search);
  for (guint i = 0; i < spec->n_targets; i++)
    if (!check_played (self, &spec->targets[i], error))
      return NULL;
  return g_steal_pointer (&self);
}
