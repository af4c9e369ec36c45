/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/study.h"

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"

void
fab_try_clear (FabTry *self)
{
  g_clear_pointer (&self->point, fab_point_free);
  g_clear_pointer (&self->problem, g_free);
  g_clear_error (&self->trouble);
}

/* For as many threads as may play at once, and for several machines in turn. */
static FabPlantCache *
new_plants (void)
{
  enum { LEAST = 4 };

  return fab_plant_cache_new (MAX (g_get_num_processors (), LEAST));
}

/* Takes the edits. */
static FabStudy *
open_study (const char *path, FabEdits *edits, const FabCatalog *catalog, const FabRegistry *registry,
            GError **error)
{
  g_autoptr (FabStudy) self = g_new0 (FabStudy, 1);

  *self = (FabStudy){ .path = g_strdup (path),
                      .edits = edits,
                      .base = fab_scenario_open (path, registry, catalog, error),
                      .catalog = catalog,
                      .registry = registry,
                      .plants = new_plants () };
  if (self->base == NULL)
    return NULL;
  fab_scenario_edit (self->base, edits);
  fab_scenario_check (self->base, NULL); /* what is wrong is told by the variants that do not mend it */
  return g_steal_pointer (&self);
}

FabStudy *
fab_study_new (const char *path, const char *const *sets, const FabCatalog *catalog,
               const FabRegistry *registry, GError **error)
{
  return open_study (path, fab_edits_of (sets), catalog, registry, error);
}

static FabEdits *
joined (const FabEdits *first, const FabEdits *second)
{
  FabEdits *edits = fab_edits_new ();

  fab_edits_append (edits, first);
  fab_edits_append (edits, second);
  return edits;
}

FabStudy *
fab_study_again (const FabStudy *study, GError **error)
{
  FabStudy *self = open_study (study->path, joined (study->edits, NULL), study->catalog, study->registry,
                               error);

  if (self != NULL) {
    self->n_threads = study->n_threads;
    self->cancel = study->cancel;
  }
  return self;
}

FabStudy *
fab_study_edited (const FabStudy *study, const FabEdits *edits)
{
  FabStudy *self = g_new0 (FabStudy, 1);

  *self = (FabStudy){ g_strdup (study->path),
                      joined (study->edits, edits),
                      fab_scenario_copy (study->base),
                      study->catalog,
                      study->registry,
                      new_plants (),
                      study->n_threads,
                      study->cancel };
  fab_scenario_edit (self->base, edits);
  fab_scenario_check (self->base, NULL);
  return self;
}

void
fab_study_free (FabStudy *self)
{
  if (self == NULL)
    return;
  fab_plant_cache_free (self->plants);
  fab_scenario_free (self->base);
  fab_edits_free (self->edits);
  g_free (self->path);
  g_free (self);
}

FabScenario *
fab_study_scenario (const FabStudy *study, const FabEdits *edits, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_copy (study->base);

  fab_scenario_edit (scenario, edits);
  return fab_scenario_check (scenario, error) ? g_steal_pointer (&scenario) : NULL;
}

gboolean
fab_study_check_vary (const FabStudy *study, const char *key, GError **error)
{
  const char *set = fab_scenario_assigned (study->base, key);

  return set == NULL
      || fab_throw (error, FAB_ERROR_INPUT,
                    "--vary %s undoes --set %s in every variant; leave one of the two out", key, set);
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
  const FabPointLimits limits = { most_bytes, study->plants, study->cancel };
  g_autoptr (GError) problem = NULL;

  if (self->point != NULL || self->problem != NULL || self->trouble != NULL)
    return;
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, self->edits, &problem);
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
  fab_thread_pool_run (study->n_threads, n, play_one, &(Plays){ study, tries });
  for (guint i = 0; i < n; i++)
    if (tries[i]->trouble != NULL) {
      g_propagate_error (error, g_error_copy (tries[i]->trouble));
      return FALSE;
    }
  return TRUE;
}
