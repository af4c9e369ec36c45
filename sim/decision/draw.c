/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/decision/draw.h"

#include "sim/base/error.h"
#include "sim/base/stats.h"
#include "sim/run/run.h"

FabScenario *
fab_draw_of (const FabScenario *scenario, guint index, GError **error)
{
  gint64 seed = fab_scenario_spec (scenario)->seed;
  g_autoptr (FabScenario) draw = fab_scenario_copy (scenario);

  if (index == 0)
    return fab_scenario_check (draw, error) ? g_steal_pointer (&draw) : NULL;
  if (seed > G_MAXINT64 - (gint64) index) {
    fab_throw (error, FAB_ERROR_INPUT, "%u seeds are too many from seed %" G_GINT64_FORMAT " on", index + 1,
               seed);
    return NULL;
  }
  return fab_scenario_set (draw, "seed", fab_value_count (seed + (gint64) index), error)
              && fab_scenario_check (draw, error)
           ? g_steal_pointer (&draw)
           : NULL;
}

guint
fab_draw_count (gboolean uses_seed, guint64 n_events)
{
  return uses_seed && n_events <= FAB_DRAW_EVENTS ? FAB_DRAWS : 1;
}

guint
fab_draw_median (const double *steps_s, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint n_before = 0; /* shorter, or as long and of an earlier seed */

    for (guint k = 0; k < n; k++)
      n_before += steps_s[k] < steps_s[i] || (k < i && steps_s[k] <= steps_s[i]);
    if (n_before == fab_nearest_rank (n, 0.5))
      return i;
  }
  g_assert_not_reached ();
}

static const FabNetOps *
find_fast (const FabRegistry *registry)
{
  const FabModelInfo *const *infos = registry->lists[FAB_MODEL_NET];

  for (guint i = 0; infos != NULL && infos[i] != NULL; i++) {
    const FabNetOps *net = (const FabNetOps *) infos[i];

    if (net->shares_links && net->message == NULL && net->sampled_on == NULL)
      return net;
  }
  return NULL;
}

FabScenario *
fab_draw_fast (const FabScenario *scenario, const FabRegistry *registry)
{
  const FabNetOps *fast = find_fast (registry);
  g_autoptr (FabScenario) copy = NULL;

  const FabNetOps *own = (const FabNetOps *) fab_scenario_spec (scenario)->fidelity.info;

  if (fast == NULL || (own->message == NULL && own->sampled_on == NULL))
    return NULL;
  copy = fab_scenario_copy (scenario);
  if (!fab_scenario_set (copy, "fidelity", fab_value_text (fast->info.name), NULL)
      || !fab_scenario_check (copy, NULL))
    return NULL;
  return g_steal_pointer (&copy);
}

static FabSimulation *
build (const FabDecisionEnv *env, const FabScenario *scenario, const FabWhatIf *what_if, GError **error)
{
  static const FabWhatIf nothing; /* only times are asked for */

  return env->plants != NULL
           ? fab_simulation_build_on (env->plants, scenario, env->registry,
                                      what_if != NULL ? what_if : &nothing, env->cancel, error)
           : fab_simulation_build (scenario, env->registry, what_if, env->cancel, error);
}

static double
work_of (const FabDag *dag)
{
  double sum_s = 0;

  for (guint i = 0; i < dag->n_tasks; i++)
    if (dag->tasks[i].collective < 0 && dag->tasks[i].kind == FAB_SPAN_COMPUTE)
      sum_s += fab_ps_to_seconds (fab_task_ps (&dag->tasks[i]));
  return sum_s;
}

gboolean
fab_draw_play (const FabDecisionEnv *env, const FabScenario *scenario, const FabWhatIf *what_if,
               FabDrawTimes *times, GError **error)
{
  const FabRunOptions options = { .cancel = env->cancel };
  g_autoptr (FabSimulation) simulation = build (env, scenario, what_if, error);
  gboolean is_played = simulation != NULL && fab_simulation_run (simulation, &options, error);

  fab_pulse_beat (env->pulse);
  if (!is_played)
    return FALSE;
  const FabIterationRecord *last = &fab_simulation_probe (simulation)->step.times;
  *times = (FabDrawTimes){ fab_ps_to_seconds (last->duration_ps), fab_ps_to_seconds (last->exposed_ps),
                           work_of (fab_simulation_dag (simulation)) };
  return TRUE;
}
