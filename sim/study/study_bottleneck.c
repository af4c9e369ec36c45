/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/study_bottleneck.h"

#include "sim/base/thread_pool.h"
#include "sim/decision/bottleneck_find.h"

/* As many as the point has; 0, as many as the scenario has, where the study leaves that open. */
static guint
count_draws (const FabStudy *study, const FabPoint *point)
{
  if (point->draws != NULL)
    return point->draws->len;
  return study->n_seeds == FAB_SPREAD_AUTO && point->uses_seed ? 0 : 1;
}

/* On the draw with the median step, or on all; on `n_threads`. */
static void
find_one (const FabStudy *study, const FabEdits *edits, FabPoint *point, gboolean is_whole, guint n_threads)
{
  FabDecisionEnv env = fab_study_env (study);
  guint draw = point->draws != NULL && !is_whole ? fab_spread_median (point->draws) : 0;
  g_autoptr (FabScenario) scenario = fab_study_draw (study, edits, draw, NULL);

  env.n_threads = n_threads;
  if (scenario == NULL)
    return;
  g_clear_pointer (&point->bottleneck, fab_bottleneck_free);
  const FabPlayedOnce once = { is_whole ? count_draws (study, point) : 1, point->n_events };
  point->bottleneck = fab_bottleneck_find (&env, scenario, once, NULL);
  if (point->bottleneck != NULL && point->verdict != NULL)
    fab_bottleneck_judge (point->bottleneck, point->verdict);
}

typedef struct {
  const FabStudy *study;
  GPtrArray *tries; /* FabTry */
} Finding;

static void
find_item (gpointer data, guint item)
{
  const Finding *self = data;
  const FabTry *one = g_ptr_array_index (self->tries, item);

  find_one (self->study, one->edits, one->point, FALSE, self->tries->len > 1 ? 1 : self->study->n_threads);
  fab_pulse_beat (self->study->pulse);
}

void
fab_study_find_bottlenecks (const FabStudy *study, FabTry *const *tries, guint n)
{
  g_autoptr (GPtrArray) wanted = g_ptr_array_new ();

  for (guint i = 0; i < n; i++) {
    const FabPoint *point = tries[i]->point;

    if (point != NULL && point->step_s > 0 && point->bottleneck == NULL
        && point->n_events <= FAB_BOTTLENECK_EVENTS)
      g_ptr_array_add (wanted, tries[i]);
  }
  fab_pulse_expect (study->pulse, wanted->len);
  fab_thread_pool_run (study->n_threads, wanted->len, find_item, &(Finding){ study, wanted });
}

void
fab_study_find_bottleneck (const FabStudy *study, const FabEdits *edits, FabPoint *point)
{
  if (point->step_s > 0
      && (point->bottleneck == NULL || point->bottleneck->n_draws != count_draws (study, point)))
    find_one (study, edits, point, TRUE, study->n_threads);
}
