/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/study.h"

#include "sim/base/crew.h"
#include "sim/base/error.h"

void
fab_try_clear (FabTry *self)
{
  g_clear_pointer (&self->point, fab_point_free);
  g_clear_pointer (&self->problem, g_free);
  g_clear_error (&self->trouble);
}

static void
append_sets (GPtrArray *all, const char *const *sets)
{
  for (guint i = 0; sets != NULL && sets[i] != NULL; i++)
    g_ptr_array_add (all, (gpointer) sets[i]);
}

FabScenario *
fab_study_load (const FabStudy *study, const char *const *sets, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  append_sets (all, study->sets);
  append_sets (all, sets);
  g_ptr_array_add (all, NULL);
  return fab_scenario_load (study->path, (const char *const *) all->pdata, study->registry, study->catalog,
                            error);
}

static gboolean
is_trouble (const GError *problem)
{
  return g_error_matches (problem, FAB_ERROR, FAB_ERROR_BROKEN)
      || g_error_matches (problem, FAB_ERROR, FAB_ERROR_CANCELLED);
}

void
fab_try_play_within (const FabStudy *study, FabTry *self, FabBytes most_bytes)
{
  const FabPointLimits limits = { most_bytes, study->cancel };
  g_autoptr (GError) problem = NULL;

  if (self->point != NULL || self->problem != NULL || self->trouble != NULL)
    return;
  g_autoptr (FabScenario) scenario = fab_study_load (study, self->sets, &problem);
  if (scenario != NULL)
    self->point = fab_point_play_within (scenario, study->registry, &limits, &problem);
  if (is_trouble (problem))
    self->trouble = g_steal_pointer (&problem);
  else if (self->point == NULL)
    self->problem = g_strdup (problem->message);
}

void
fab_try_play (const FabStudy *study, FabTry *self)
{
  fab_try_play_within (study, self, 0);
}

typedef struct {
  const FabStudy *study;
  FabTry *const *tries;
} Plays;

static void
play_one (gpointer data, guint item)
{
  const Plays *self = data;

  fab_try_play (self->study, self->tries[item]);
}

gboolean
fab_study_play (const FabStudy *study, FabTry *const *tries, guint n, GError **error)
{
  fab_crew_run (study->n_threads, n, play_one, &(Plays){ study, tries });
  for (guint i = 0; i < n; i++)
    if (tries[i]->trouble != NULL) {
      g_propagate_error (error, g_error_copy (tries[i]->trouble));
      return FALSE;
    }
  return TRUE;
}
