/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/tune.h"

#include <string.h>

#include "sim/base/error.h"

enum { MOST_ROUNDS = 20, MOST_KNOBS = 16 };

/* --- knobs --- */

static void
value_clear (gpointer data)
{
  FabKnobValue *self = data;

  g_free (self->label);
  fab_edits_free (self->edits);
}

FabKnob *
fab_knob_new (const char *name, const char *key, const char *source)
{
  FabKnob *self = g_new0 (FabKnob, 1);

  *self = (FabKnob){ name, key, source, g_array_new (FALSE, FALSE, sizeof (FabKnobValue)), 0 };
  g_array_set_clear_func (self->values, value_clear);
  return self;
}

void
fab_knob_add (FabKnob *self, char *label, FabEdits *edits)
{
  FabKnobValue value = { label, edits };

  g_array_append_val (self->values, value);
}

void
fab_knob_free (FabKnob *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->values);
  g_free (self);
}

static guint
n_values (const FabTune *self, guint knob)
{
  return ((const FabKnob *) g_ptr_array_index (self->knobs, knob))->values->len;
}

/* --- points --- */

static void
point_free (gpointer data)
{
  FabTunePoint *self = data;

  g_free (self->values);
  fab_edits_free (self->edits);
  fab_try_clear (&self->trial);
  g_free (self);
}

void
fab_tune_free (FabTune *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->points);
  g_free (self);
}

static FabTunePoint *
find_point (const FabTune *self, const guint *values)
{
  for (guint i = 0; i < self->points->len; i++) {
    FabTunePoint *point = g_ptr_array_index (self->points, i);

    if (memcmp (point->values, values, self->knobs->len * sizeof (guint)) == 0)
      return point;
  }
  return NULL;
}

/* Applies the assignments of every knob. Knobs at their written value set nothing, so that the first point is the
 * scenario itself. */
static FabTunePoint *
point_at (FabTune *self, const guint *values)
{
  FabTunePoint *point = find_point (self, values);

  if (point != NULL)
    return point;
  point = g_new0 (FabTunePoint, 1);
  point->edits = fab_edits_new ();
  for (guint k = 0; k < self->knobs->len; k++) {
    const FabKnob *knob = g_ptr_array_index (self->knobs, k);

    if (values[k] != knob->written)
      fab_edits_append (point->edits, fab_knob_value (knob, values[k])->edits);
  }
  point->values = g_memdup2 (values, self->knobs->len * sizeof (guint));
  point->trial.edits = point->edits;
  g_ptr_array_add (self->points, point);
  return point;
}

gboolean
fab_tune_is_good (const FabTune *self, const FabTunePoint *point)
{
  const FabPoint *played = point->trial.point;

  return fab_figure_is_known (self->by, played)
      && (self->most_bytes == 0 || played->memory_bytes <= self->most_bytes);
}

/* Of equally good points, the one that changes fewer knobs is better, and of these the one that was requested first. */
static gboolean
is_better (const FabTune *self, const FabTunePoint *point, const FabTunePoint *than)
{
  int order;

  if (!fab_tune_is_good (self, point))
    return FALSE;
  if (than == NULL || !fab_tune_is_good (self, than))
    return TRUE;
  order = fab_figure_compare_rounded (self->by, point->trial.point, than->trial.point);
  return order < 0 || (order == 0 && fab_edits_count (point->edits) < fab_edits_count (than->edits));
}

static gboolean
play (FabTune *self, const FabStudy *study, FabTunePoint *const *points, guint n, GError **error)
{
  g_autofree FabTry **tries = g_new (FabTry *, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    tries[i] = &points[i]->trial;
  if (!fab_study_play (study, tries, n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (is_better (self, points[i], self->best))
      self->best = points[i];
  return TRUE;
}

/* --- the whole grid --- */

static gboolean
play_grid (FabTune *self, const FabStudy *study, GError **error)
{
  guint values[MOST_KNOBS] = { 0 }, k;
  g_autoptr (GPtrArray) points = g_ptr_array_new ();

  do {
    g_ptr_array_add (points, point_at (self, values));
    for (k = 0; k < self->knobs->len && ++values[k] == n_values (self, k); k++)
      values[k] = 0;
  } while (k < self->knobs->len);
  self->is_whole = TRUE;
  return play (self, study, (FabTunePoint *const *) points->pdata, points->len, error);
}

/* --- coordinate search --- */

/* All values of one knob; the best one stays. *is_moving becomes TRUE where it is another one than before. */
static gboolean
turn_knob (FabTune *self, const FabStudy *study, guint *values, guint knob, gboolean *is_moving,
           GError **error)
{
  guint n = n_values (self, knob), before = values[knob], best = before;
  g_autofree FabTunePoint **points = g_new (FabTunePoint *, n);

  for (guint v = 0; v < n; v++) {
    values[knob] = v;
    points[v] = point_at (self, values);
  }
  if (!play (self, study, points, n, error))
    return FALSE;
  for (guint v = 0; v < n; v++)
    if (is_better (self, points[v], points[best]))
      best = v;
  values[knob] = best;
  *is_moving |= best != before;
  return TRUE;
}

static gboolean
search_from (FabTune *self, const FabStudy *study, guint *values, GError **error)
{
  gboolean is_moving = TRUE;

  for (guint round = 0; is_moving && round < MOST_ROUNDS; round++) {
    is_moving = FALSE;
    for (guint k = 0; k < self->knobs->len; k++)
      if (!turn_knob (self, study, values, k, &is_moving, error))
        return FALSE;
  }
  return TRUE;
}

/* From the scenario as written, from all smallest and from all largest values. */
static gboolean
search (FabTune *self, const FabStudy *study, GError **error)
{
  for (guint start = 0; start < 3; start++) {
    guint values[MOST_KNOBS];

    for (guint k = 0; k < self->knobs->len; k++) {
      guint written = ((const FabKnob *) g_ptr_array_index (self->knobs, k))->written;

      values[k] = start == 0 ? written : start == 1 ? 0 : n_values (self, k) - 1;
    }
    if (!search_from (self, study, values, error))
      return FALSE;
  }
  /* One start may have met the best point and left it by a tie, so its curves are simulated in any case. */
  guint values[MOST_KNOBS];
  memcpy (values, self->best ? self->best->values : self->written->values, self->knobs->len * sizeof (guint));
  return search_from (self, study, values, error);
}

/* --- all --- */

static gboolean
begin (FabTune *self, const FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  guint values[MOST_KNOBS];

  if (scenario == NULL)
    return FALSE;
  g_assert (self->knobs->len <= MOST_KNOBS);
  for (guint k = 0; k < self->knobs->len; k++) {
    values[k] = ((const FabKnob *) g_ptr_array_index (self->knobs, k))->written;
    self->n_all *= n_values (self, k);
  }
  FabTunePoint *written = point_at (self, values);
  written->trial.point = fab_study_point (study, error);
  if (written->trial.point == NULL)
    return FALSE;
  if (self->most_bytes == 0 && !study->allows_oversized)
    self->most_bytes = written->trial.point->memory_max_bytes;
  self->written = written;
  if (!fab_figure_is_known (self->by, written->trial.point))
    return fab_throw (error, FAB_ERROR_INPUT, "there is no '%s' here: %s", self->by->name, self->by->unknown);
  return play (self, study, &written, 1, error);
}

FabTune *
fab_tune_find (const FabStudy *study, const GPtrArray *knobs, const FabFigure *by, FabBytes most_bytes,
               GError **error)
{
  g_autoptr (FabTune) self = g_new0 (FabTune, 1);

  self->knobs = knobs;
  self->by = by;
  self->points = g_ptr_array_new_with_free_func (point_free);
  self->most_bytes = most_bytes;
  self->n_all = 1;
  if (!begin (self, study, error))
    return NULL;
  if (self->n_all <= FAB_TUNE_GRID ? !play_grid (self, study, error) : !search (self, study, error))
    return NULL;
  return g_steal_pointer (&self);
}

const FabTunePoint *
fab_tune_curve (const FabTune *self, guint knob, guint value)
{
  guint values[MOST_KNOBS];

  if (self->best == NULL)
    return NULL;
  memcpy (values, self->best->values, self->knobs->len * sizeof (guint));
  values[knob] = value;
  return find_point (self, values);
}
