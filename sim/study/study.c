/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/study.h"

#include "sim/base/crew.h"

void
fab_try_clear (FabTry *self)
{
  g_clear_pointer (&self->point, fab_point_free);
  g_clear_pointer (&self->problem, g_free);
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

void
fab_try_play (const FabStudy *study, FabTry *self)
{
  g_autoptr (GError) problem = NULL;

  if (self->point != NULL || self->problem != NULL)
    return;
  g_autoptr (FabScenario) scenario = fab_study_load (study, self->sets, &problem);
  if (scenario != NULL)
    self->point = fab_point_play (scenario, study->registry, &problem);
  if (self->point == NULL)
    self->problem = g_strdup (problem->message);
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

void
fab_study_play (const FabStudy *study, FabTry *const *tries, guint n)
{
  fab_crew_run (n, play_one, &(Plays){ study, tries });
}
