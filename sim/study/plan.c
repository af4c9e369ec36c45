/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/plan.h"

#include "sim/base/thread_pool.h"

FabCandidate *
fab_candidate_new (const char *strategy, guint family, guint size)
{
  FabCandidate *self = g_new0 (FabCandidate, 1);

  self->strategy = strategy;
  self->family = family;
  self->size = size;
  self->remedy = "";
  return self;
}

void
fab_candidate_free (FabCandidate *self)
{
  if (self == NULL)
    return;
  g_free (self->division);
  g_free (self->batch);
  fab_edits_free (self->edits);
  fab_try_clear (&self->trial);
  g_free (self);
}

void
fab_plan_free (FabPlan *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->ranking, g_ptr_array_unref);
  g_ptr_array_unref (self->candidates);
  g_free (self);
}

/* --- playing --- */

typedef struct {
  const FabStudy *study;
  FabPlan *plan;
  FabBytes most_bytes;
  gboolean has_limit; /* the figure says that a longer step is worse */
  GArray *starts;     /* guint: index of each family's first candidate, and the end of the last family */
  GPtrArray **chosen; /* per family: FabCandidate, those that are to be simulated */
} Plays;

static FabCandidate *
candidate_at (const FabPlan *plan, guint index)
{
  return g_ptr_array_index (plan->candidates, index);
}

/* Whether it fits; TRUE where any memory does. */
static gboolean
weigh_candidate (const Plays *self, FabCandidate *candidate)
{
  FabTry *trial = &candidate->trial;

  trial->edits = candidate->edits;
  candidate->state = FAB_CANDIDATE_PASSED_OVER;
  if (self->most_bytes == 0 && trial->problem == NULL)
    return TRUE;
  fab_try_weigh (self->study, trial);
  if (trial->point == NULL)
    candidate->state = FAB_CANDIDATE_IMPOSSIBLE;
  else if (trial->point->memory_bytes > self->most_bytes)
    candidate->state = FAB_CANDIDATE_TOO_LARGE;
  else
    fab_try_clear (trial);
  return candidate->state == FAB_CANDIDATE_PASSED_OVER;
}

/* Finds those of a family that are to be simulated: of each batch the first that fits, in ascending order. Batches
 * after one of which nothing fits have none. */
static void
choose_candidates (gpointer data, guint family)
{
  const Plays *self = data;
  guint i = g_array_index (self->starts, guint, family),
        end = g_array_index (self->starts, guint, family + 1);

  self->chosen[family] = g_ptr_array_new ();
  while (i < end) {
    guint size = candidate_at (self->plan, i)->size;
    gboolean is_settled = FALSE;

    for (; i < end && candidate_at (self->plan, i)->size == size; i++) {
      FabCandidate *candidate = candidate_at (self->plan, i);

      if (is_settled)
        continue;
      if (weigh_candidate (self, candidate))
        g_ptr_array_add (self->chosen[family], candidate);
      is_settled = candidate->state != FAB_CANDIDATE_TOO_LARGE;
    }
    if (!is_settled)
      return;
  }
}

/* Takes *best_s down to its step. */
static void
play_candidate (const Plays *self, FabCandidate *candidate, double *best_s)
{
  FabTry *trial = &candidate->trial;

  fab_try_play_within (self->study, trial, *best_s);
  if (trial->point == NULL) {
    candidate->state = FAB_CANDIDATE_IMPOSSIBLE;
    return;
  }
  double step_s = trial->point->step_s;
  candidate->state = step_s > 0 ? FAB_CANDIDATE_PLAYED : FAB_CANDIDATE_SLOWER;
  if (self->has_limit && step_s > 0)
    *best_s = *best_s > 0 ? MIN (*best_s, step_s) : step_s;
}

/* The largest batch first: it has the fewest micro-batches, takes the least time to simulate, and is often among the
 * best. The families come in reverse too: the last divide the model most, take longest, and should not be what all wait
 * for. */
static void
play_family (gpointer data, guint item)
{
  const Plays *self = data;
  const GPtrArray *chosen = self->chosen[self->starts->len - 2 - item];
  double best_s = 0;

  for (guint i = chosen->len; i-- > 0;)
    play_candidate (self, g_ptr_array_index (chosen, i), &best_s);
}

/* All are weighed before the first is simulated, which takes little time: then it is known how many there are. */
static void
play_families (Plays *self)
{
  guint n = self->starts->len - 1;

  self->chosen = g_new0 (GPtrArray *, n);
  fab_thread_pool_run (self->study->n_threads, n, choose_candidates, self);
  for (guint i = 0; i < n; i++)
    fab_pulse_expect (self->study->pulse, self->chosen[i]->len);
  fab_thread_pool_run (self->study->n_threads, n, play_family, self);
  for (guint i = 0; i < n; i++)
    g_ptr_array_unref (self->chosen[i]);
  g_free (self->chosen);
}

static GArray *
find_starts (const FabPlan *plan)
{
  GArray *starts = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < plan->candidates->len; i++)
    if (i == 0 || candidate_at (plan, i)->family != candidate_at (plan, i - 1)->family)
      g_array_append_val (starts, i);
  g_array_append_val (starts, plan->candidates->len);
  return starts;
}

/* Whether all could be told. */
static gboolean
check_candidates (const FabPlan *plan, GError **error)
{
  for (guint i = 0; i < plan->candidates->len; i++) {
    const GError *trouble = candidate_at (plan, i)->trial.trouble;

    if (trouble != NULL) {
      g_propagate_error (error, g_error_copy (trouble));
      return FALSE;
    }
  }
  return TRUE;
}

/* --- ranking --- */

static gint
better_first (gconstpointer a, gconstpointer b, gpointer by)
{
  const FabCandidate *x = *(FabCandidate *const *) a, *y = *(FabCandidate *const *) b;

  return fab_figure_compare (by, x->trial.point, y->trial.point);
}

static void
rank (FabPlan *self, const GArray *starts, const FabFigure *by)
{
  for (guint f = 0; f + 1 < starts->len; f++) {
    FabCandidate *best = NULL;

    for (guint i = g_array_index (starts, guint, f); i < g_array_index (starts, guint, f + 1); i++) {
      FabCandidate *candidate = candidate_at (self, i);

      self->n_played += candidate->state == FAB_CANDIDATE_PLAYED;
      self->n_slower += candidate->state == FAB_CANDIDATE_SLOWER;
      self->n_weighed += candidate->trial.point != NULL;
      if (candidate->state == FAB_CANDIDATE_PLAYED && fab_figure_is_known (by, candidate->trial.point)
          && (best == NULL || fab_figure_compare (by, candidate->trial.point, best->trial.point) < 0))
        best = candidate;
    }
    if (best != NULL)
      g_ptr_array_add (self->ranking, best);
  }
  g_ptr_array_sort_with_data (self->ranking, better_first,
                              (gpointer) by); /* stable: of equals the first family */
}

/* Sets *bytes to the memory of a rank's device; 0: unknown. */
static gboolean
device_bytes (const FabStudy *study, FabBytes *bytes, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  g_autoptr (FabPlant) plant = scenario ? fab_plant_new (scenario, NULL, error) : NULL;

  if (plant != NULL)
    *bytes = plant->cluster.device.memory_bytes;
  return plant != NULL;
}

FabPlan *
fab_plan_find (const FabStudy *study, GPtrArray *candidates, const FabFigure *by, FabBytes most_bytes,
               GError **error)
{
  g_autoptr (FabPlan) self = g_new0 (FabPlan, 1);

  self->candidates = candidates;
  self->ranking = g_ptr_array_new ();
  if (most_bytes == 0 && !study->allows_oversized && !device_bytes (study, &most_bytes, error))
    return NULL;
  g_autoptr (GArray) starts = find_starts (self);
  play_families (&(Plays){ study, self, most_bytes, by->is_by_step && study->n_seeds <= 1, starts, NULL });
  if (!check_candidates (self, error))
    return NULL;
  rank (self, starts, by);
  return g_steal_pointer (&self);
}

const FabCandidate *
fab_plan_smallest (const FabPlan *self, guint family)
{
  const FabCandidate *smallest = NULL;

  for (guint i = 0; i < self->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (self, i);

    if (candidate->family != family)
      continue;
    if (candidate->state == FAB_CANDIDATE_PLAYED)
      return NULL;
    if (candidate->state == FAB_CANDIDATE_TOO_LARGE
        && (smallest == NULL || candidate->trial.point->memory_bytes < smallest->trial.point->memory_bytes))
      smallest = candidate;
  }
  return smallest;
}
