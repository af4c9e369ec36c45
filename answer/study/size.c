/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/size.h"

#include <string.h>

#include "answer/memory_advice.h"
#include "answer/study/choices.h"
#include "answer/study/hold.h"

/* Of a rate of NIC ports that is enough, what can be bought. */
static gboolean
find_ports (const FabStudy *study, const FabSizeSpec *spec, const FabSize *size, GPtrArray **ports,
            GError **error)
{
  *ports = NULL;
  if (size->answer < 0 || strcmp (spec->axis->key, "cluster.nic_rate") != 0)
    return TRUE;
  *ports = fab_ports_near (study, size->points[size->answer].value, spec->targets, spec->n_targets, error);
  return *ports != NULL;
}

/* Says in the verdict what would make the job fit, where it does not. */
static void
advise (const FabStudy *study, const FabSizeAnswer *self)
{
  const FabEdits *edits = self->size->points[self->size->best].trial.edits;
  g_autoptr (FabScenario) best = fab_study_scenario (study, edits, NULL);

  if (best != NULL)
    fab_advise_memory_of (best, &(FabMemoryTrying){ study->registry, study->n_threads, NULL }, self->verdict);
}

static void
add_pairs (FabSizeAnswer *self)
{
  const FabSizePoint *last = NULL;

  for (guint i = 0; i < self->size->n; i++) {
    const FabSizePoint *one = &self->size->points[i];

    if (one->trial.point == NULL)
      continue;
    if (last != NULL) {
      fab_choice_pairs_add (self->pairs, self->spec.axis->key, last->value, last->trial.point, one->value,
                            one->trial.point);
      g_array_index (self->pairs, FabChoicePair, self->pairs->len - 1).is_apart = one - last > 1;
    }
    last = one;
  }
}

FabSizeAnswer *
fab_size_answer (const FabStudy *study, const FabSizeSpec *spec, GError **error)
{
  FabSize *size = fab_size_find (study, spec, error);

  if (size == NULL)
    return NULL;
  g_autoptr (FabSizeAnswer) self = g_new0 (FabSizeAnswer, 1);
  *self = (FabSizeAnswer){ .spec = *spec,
                           .size = size,
                           .uncertainty = { NULL, -1, -1 },
                           .pairs = fab_choice_pairs_new (),
                           .hold = fab_hold_of (study) };
  if (!fab_size_uncertainty (study, spec, size, &self->uncertainty, error)
      || !find_ports (study, spec, size, &self->ports, error))
    return NULL;
  self->verdict = fab_size_verdict (size);
  advise (study, self);
  add_pairs (self);
  return g_steal_pointer (&self);
}

void
fab_size_answer_free (FabSizeAnswer *self)
{
  if (self == NULL)
    return;
  fab_size_free (self->size);
  fab_uncertainty_clear (&self->uncertainty);
  g_clear_pointer (&self->ports, g_ptr_array_unref);
  fab_verdict_free (self->verdict);
  g_array_unref (self->pairs);
  g_free (self);
}

/* --- rows --- */

/* Whether a table of text has the figure anyway. */
static gboolean
has_column (const FabFigure *figure)
{
  static const char *const shown[] = { "step", "exposed", "idle", "waiting", "mfu", "tokens", NULL };

  return g_strv_contains (shown, figure->name);
}

/* "-" where it is not known. (transfer full) */
static char *
show (const FabFigure *figure, const FabPoint *point)
{
  return fab_point_has (point, figure) ? fab_figure_show (figure->kind, figure->value (point))
                                       : g_strdup ("-");
}

/* The values of what `is_text` says beside the tried value, and their names where `names` is not NULL. */
static void
add_cells (const FabSizeAnswer *self, const FabPoint *point, gboolean is_text, GPtrArray *names,
           GPtrArray *cells)
{
  for (guint t = 0; is_text && t < self->spec.n_targets; t++) {
    const FabFigure *figure = self->spec.targets[t].figure;

    if (has_column (figure))
      continue;
    if (names != NULL)
      g_ptr_array_add (names, (gpointer) figure->name);
    else
      g_ptr_array_add (cells, show (figure, point));
  }
  if (is_text)
    return;
  gboolean is_met = point != NULL && fab_targets_are_met (self->spec.targets, self->spec.n_targets, point);
  if (names != NULL)
    g_ptr_array_add (names, (gpointer) "is_met");
  else
    g_ptr_array_add (cells, g_strdup (is_met ? "yes" : "no"));
}

FabPoints *
fab_size_points (const FabSizeAnswer *self, gboolean is_text)
{
  g_autoptr (GPtrArray) columns = g_ptr_array_new ();
  const FabSize *size = self->size;

  g_ptr_array_add (columns, (gpointer) "value");
  add_cells (self, NULL, is_text, columns, NULL);
  g_ptr_array_add (columns, NULL);
  FabPoints *points = fab_points_new ((const char *const *) columns->pdata, columns->len - 1, 0, self->hold);
  for (guint i = 0; i < size->n; i++) {
    const FabTry *trial = &size->points[i].trial;
    g_autoptr (GPtrArray) cells = g_ptr_array_new ();

    if (trial->point == NULL && trial->problem == NULL)
      continue;
    g_ptr_array_add (cells, g_strdup (size->points[i].value));
    add_cells (self, trial->point, is_text, NULL, cells);
    FabPointsRow *row = fab_points_add (points, (char *const *) cells->pdata, trial->point, trial->problem);
    row->mark = (gint64) i == size->answer ? "<" : NULL;
  }
  return points;
}
