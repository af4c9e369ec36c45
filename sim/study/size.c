/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/size.h"

#include "sim/base/crew.h"
#include "sim/base/error.h"

void
fab_size_free (FabSize *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n; i++) {
    fab_point_free (self->points[i].point);
    g_free (self->points[i].problem);
  }
  g_free (self->points);
  g_free (self);
}

typedef struct {
  const FabSizeSpec *spec;
  FabSize *size;
  const guint *items; /* of the trials that go on */
} Trials;

static FabPoint *
play_value (const FabSizeSpec *spec, const char *value, GError **error)
{
  g_autofree char *set = g_strconcat (spec->axis->key, "=", value, NULL);
  g_autoptr (GPtrArray) sets = g_ptr_array_new ();

  for (guint i = 0; spec->sets != NULL && spec->sets[i] != NULL; i++)
    g_ptr_array_add (sets, (gpointer) spec->sets[i]);
  g_ptr_array_add (sets, set);
  g_ptr_array_add (sets, NULL);
  g_autoptr (FabScenario) scenario = fab_scenario_load (spec->path, (const char *const *) sets->pdata,
                                                        spec->registry, spec->catalog, error);
  return scenario != NULL ? fab_point_play (scenario, spec->registry, error) : NULL;
}

static void
play_item (gpointer data, guint i)
{
  Trials *self = data;
  FabSizePoint *tried = &self->size->points[self->items[i]];
  g_autoptr (GError) problem = NULL;

  if (tried->point != NULL || tried->problem != NULL)
    return;
  tried->point = play_value (self->spec, tried->value, &problem);
  if (tried->point == NULL)
    tried->problem = g_strdup (problem->message);
}

static gboolean
try_values (gpointer data, const guint *items, guint n, FabTrial *trials, G_GNUC_UNUSED GError **error)
{
  Trials *self = data;

  self->items = items;
  fab_crew_run (n, play_item, self);
  for (guint i = 0; i < n; i++) {
    const FabPoint *point = self->size->points[items[i]].point;

    trials[i] = (FabTrial){ FALSE, G_MAXDOUBLE };
    if (point == NULL)
      continue;
    trials[i].is_met = fab_target_is_met (&self->spec->target, point);
    trials[i].gap = fab_target_gap (&self->spec->target, point);
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
    self->n_tried += self->points[i].point != NULL || self->points[i].problem != NULL;
    if (self->answer >= 0 && i < (guint) self->answer && self->points[i].point != NULL)
      self->before = i;
  }
}

/* One value at least can be played, and has the figure. */
static gboolean
check_played (const FabSize *self, const FabTarget *target, GError **error)
{
  const FabFigure *figure = target->figure;
  const char *problem = NULL;

  for (guint i = 0; i < self->n; i++) {
    const FabPoint *point = self->points[i].point;

    if (point != NULL && (figure->is_known == NULL || figure->is_known (point)))
      return TRUE;
    if (point != NULL && problem == NULL)
      return fab_throw (error, FAB_ERROR_INPUT, "there is no '%s' here: %s", figure->name, figure->unknown);
    if (problem == NULL)
      problem = self->points[i].problem;
  }
  return fab_throw (error, FAB_ERROR_INPUT, "%s", problem);
}

FabSize *
fab_size_find (const FabSizeSpec *spec, GError **error)
{
  g_autoptr (FabSize) self = g_new0 (FabSize, 1);
  FabSearch search;

  self->n = spec->axis->values->len;
  self->points = g_new0 (FabSizePoint, self->n);
  for (guint i = 0; i < self->n; i++)
    self->points[i].value = g_ptr_array_index (spec->axis->values, i);
  if (!fab_search_first (self->n, try_values, &(Trials){ spec, self, NULL }, &search, error))
    return NULL;
  take_search (self, &search);
  return check_played (self, &spec->target, error) ? g_steal_pointer (&self) : NULL;
}
