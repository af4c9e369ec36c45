/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/plan.h"

#include <string.h>

#include "answer/study/spread.h"
#include "models/workload/training/choices.h"
#include "sim/base/thread_pool.h"
#include "sim/study/study_bottleneck.h"

static const FabCandidate *
ranked (const FabPlan *plan, guint place)
{
  return g_ptr_array_index (plan->ranking, place);
}

static const FabCandidate *
candidate_at (const FabPlan *plan, guint index)
{
  return g_ptr_array_index (plan->candidates, index);
}

char *
fab_plan_name (const FabCandidate *candidate)
{
  GString *name = g_string_new (candidate->strategy);

  if (strcmp (candidate->division, "-") != 0)
    g_string_append_printf (name, ", %s", candidate->division);
  g_string_append_printf (name, ", micro-batch %s, recompute %s", candidate->batch, candidate->remedy);
  return g_string_free (name, FALSE);
}

/* --- the ranking --- */

static gboolean
is_first_of_strategy (const FabPlan *plan, guint place)
{
  for (guint i = 0; i < place; i++)
    if (ranked (plan, i)->strategy == ranked (plan, place)->strategy)
      return FALSE;
  return TRUE;
}

static void
rank (FabPlanAnswer *self)
{
  for (guint i = 0; i < self->plan->ranking->len; i++) {
    const FabPoint *first = ranked (self->plan, 0)->trial.point, *point = ranked (self->plan, i)->trial.point;
    FabPlanRank one = { .candidate = ranked (self->plan, i),
                        .is_first_of_strategy = is_first_of_strategy (self->plan, i) };

    one.of_best_fraction = first->tokens_per_s > 0 ? point->tokens_per_s / first->tokens_per_s : 0;
    one.is_even = i > 0 && fab_spread_is_within (self->by, first, point);
    self->n_seeds = MAX (self->n_seeds, fab_spread_n_seeds (point));
    g_array_append_val (self->ranks, one);
  }
}

/* --- what drops out --- */

/* Of the families of a strategy that do not fit the one that is nearest to it. */
static FabPlanMisfit
misfit_of (const FabPlan *plan, const char *strategy)
{
  FabPlanMisfit self = { NULL, 0, 0 };

  for (guint i = 0; i < plan->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (plan, i);

    if (candidate->strategy != strategy || (i > 0 && candidate->family == candidate_at (plan, i - 1)->family))
      continue;
    self.n_weighed += candidate->state != FAB_CANDIDATE_IMPOSSIBLE;
    const FabCandidate *smallest = fab_plan_smallest (plan, candidate->family);
    if (smallest == NULL)
      continue;
    self.n_divisions++;
    if (self.nearest == NULL || smallest->trial.point->memory_bytes < self.nearest->trial.point->memory_bytes)
      self.nearest = smallest;
  }
  return self;
}

static void
find_misfits (FabPlanAnswer *self)
{
  const char *last = NULL;

  for (guint i = 0; i < self->plan->candidates->len; i++) {
    const char *strategy = candidate_at (self->plan, i)->strategy;

    if (strategy != last) {
      FabPlanMisfit one = misfit_of (self->plan, strategy);

      if (one.nearest != NULL)
        g_array_append_val (self->misfits, one);
    }
    last = strategy;
  }
}

/* Those that cannot be done for the same reason: "ddp, zero1", each once; NULL: the reason was said before. */
static char *
who_cannot (const FabPlan *plan, guint index)
{
  const char *problem = candidate_at (plan, index)->trial.problem;
  g_autoptr (GString) names = g_string_new (NULL);
  const char *last = NULL;

  for (guint i = 0; i < plan->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (plan, i);

    if (candidate->state != FAB_CANDIDATE_IMPOSSIBLE || strcmp (candidate->trial.problem, problem) != 0)
      continue;
    if (i < index)
      return NULL;
    if (candidate->strategy != last)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", candidate->strategy);
    last = candidate->strategy;
  }
  return g_strdup (names->str);
}

static void
refusal_clear (gpointer data)
{
  g_free (((FabPlanRefusal *) data)->strategies);
}

static void
find_refusals (FabPlanAnswer *self)
{
  for (guint i = 0; i < self->plan->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (self->plan, i);
    FabPlanRefusal one = { NULL, candidate->division, candidate->trial.problem };

    if (candidate->state == FAB_CANDIDATE_IMPOSSIBLE)
      one.strategies = who_cannot (self->plan, i);
    if (one.strategies != NULL)
      g_array_append_val (self->refusals, one);
  }
}

/* --- a closer look at the top --- */

typedef struct {
  const FabStudy *study;
  FabPlanAnswer *answer;
  guint n_limits;
} Closer;

static FabVariantOf
variant_of (const Closer *self, guint place)
{
  const FabCandidate *candidate = ranked (self->answer->plan, place);

  return (FabVariantOf){ self->study, candidate->edits, candidate->trial.point };
}

static void
find_band (Closer *self)
{
  const FabFigure *const figures[] = { fab_figure_find ("step") };

  if (self->answer->ranks->len == 0)
    return;
  const FabVariantOf first = variant_of (self, 0);
  fab_study_band (self->study, first.edits, first.point, &(FabBandFigures){ figures, 1 },
                  &self->answer->first, NULL);
}

static void
compare_second (Closer *self)
{
  if (self->answer->ranks->len < 2)
    return;
  const FabVariantOf first = variant_of (self, 0), second = variant_of (self, 1);
  if (!fab_study_compare (&first, &second, &self->answer->second, NULL))
    self->answer->second = (FabPairedBand){ 0 };
}

/* Of the first unless it takes seconds for each lever, and of the others where that is quick. */
static void
find_bottlenecks (Closer *self)
{
  const guint64 most_events = 500000;
  guint n = MIN (self->answer->ranks->len, self->n_limits);
  g_autofree FabTry **tries = g_new (FabTry *, n + 1);

  for (guint i = 0; i < n; i++)
    tries[i] = &((FabCandidate *) g_ptr_array_index (self->answer->plan->ranking, i))->trial;
  if (n > 0 && tries[0]->point->n_events <= most_events)
    fab_study_find_bottleneck (self->study, tries[0]->edits, tries[0]->point);
  fab_study_find_bottlenecks (self->study, tries, n);
}

/* Each by plays of its own, which run at once. */
static void
look_closer (gpointer data, guint item)
{
  void (*const parts[]) (Closer *) = { find_bottlenecks, find_band, compare_second };

  parts[item](data);
}

enum { N_PARTS = 3 };

/* --- the answer --- */

/* FALSE and *error: the machine cannot be built. */
static gboolean
describe_machine (FabPlanAnswer *self, const FabScenario *scenario, GError **error)
{
  g_autoptr (FabPlant) plant = fab_plant_new (scenario, NULL, error);
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), cluster->node);

  if (plant == NULL)
    return FALSE;
  if (self->most_bytes == 0)
    self->most_bytes = plant->cluster.device.memory_bytes;
  self->machine = g_strdup_printf ("%u x %s on %" G_GINT64_FORMAT " x %s",
                                   fab_cluster_n_ranks (&plant->cluster), node->accelerator, cluster->nodes,
                                   cluster->node);
  return TRUE;
}

FabPlanAnswer *
fab_plan_answer (const FabStudy *study, const FabPlanRequest *request, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  double sequences = 0;
  GPtrArray *candidates = scenario
                            ? fab_strategy_candidates (scenario, request->strategies, &sequences, error)
                            : NULL;
  FabPlan *plan = candidates ? fab_plan_find (study, candidates, request->by, request->most_bytes, error)
                             : NULL;

  if (plan == NULL)
    return NULL;
  g_autoptr (FabPlanAnswer) self = g_new0 (FabPlanAnswer, 1);
  *self = (FabPlanAnswer){ .most_bytes = request->most_bytes,
                           .sequences = sequences,
                           .by = request->by,
                           .plan = plan,
                           .ranks = g_array_new (FALSE, FALSE, sizeof (FabPlanRank)),
                           .misfits = g_array_new (FALSE, FALSE, sizeof (FabPlanMisfit)),
                           .refusals = g_array_new (FALSE, FALSE, sizeof (FabPlanRefusal)),
                           .n_large = plan->n_weighed - plan->n_played - plan->n_slower,
                           .n_seeds = 1 };
  g_array_set_clear_func (self->refusals, refusal_clear);
  if (!describe_machine (self, scenario, error))
    return NULL;
  rank (self);
  find_misfits (self);
  find_refusals (self);
  fab_thread_pool_run (study->n_threads, N_PARTS, look_closer, &(Closer){ study, self, request->n_limits });
  self->has_limits = self->ranks->len > 0 && ranked (plan, 0)->trial.point->bottleneck != NULL;
  return g_steal_pointer (&self);
}

void
fab_plan_answer_free (FabPlanAnswer *self)
{
  if (self == NULL)
    return;
  g_free (self->machine);
  fab_plan_free (self->plan);
  g_array_unref (self->ranks);
  g_array_unref (self->misfits);
  g_array_unref (self->refusals);
  fab_band_free (self->first);
  g_free (self);
}

/* --- rows --- */

static const char *
state_name (FabCandidateState state)
{
  switch (state) {
  case FAB_CANDIDATE_PLAYED: return "fits";
  case FAB_CANDIDATE_SLOWER: return "slower";
  case FAB_CANDIDATE_TOO_LARGE: return "too large";
  case FAB_CANDIDATE_IMPOSSIBLE: return "impossible";
  case FAB_CANDIDATE_PASSED_OVER: /* it has no row */
  default: return NULL;
  }
}

static char *
rank_of (const FabPlan *plan, const FabCandidate *candidate)
{
  guint place;

  if (!g_ptr_array_find (plan->ranking, candidate, &place))
    return NULL;
  return g_strdup_printf ("%u", place + 1);
}

/* Whether there is no more than its memory. */
static gboolean
is_unplayed (const FabCandidate *candidate)
{
  return candidate->state == FAB_CANDIDATE_TOO_LARGE || candidate->state == FAB_CANDIDATE_SLOWER;
}

FabPoints *
fab_plan_points (const FabPlanAnswer *self)
{
  static const char *const columns[] = { "rank",  "strategy",    "division",    "batch", "recompute",
                                         "state", "needs_bytes", "assignments", NULL };
  FabPoints *points = fab_points_new (columns, G_N_ELEMENTS (columns) - 1, 0, "batch");

  for (guint i = 0; i < self->plan->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (self->plan, i);
    const FabPoint *point = candidate->trial.point;
    gboolean has_trial = !is_unplayed (candidate);

    if (candidate->state == FAB_CANDIDATE_PASSED_OVER)
      continue;
    char *const labels[] = { rank_of (self->plan, candidate),
                             g_strdup (candidate->strategy),
                             g_strdup (candidate->division),
                             g_strdup (candidate->batch),
                             g_strdup (candidate->remedy),
                             g_strdup (state_name (candidate->state)),
                             point ? g_strdup_printf ("%" G_GUINT64_FORMAT, point->memory_bytes) : NULL,
                             candidate->edits ? g_strjoinv (" ", (char **) fab_edits_texts (candidate->edits))
                                              : NULL };
    fab_points_add (points, labels, has_trial ? point : NULL, has_trial ? candidate->trial.problem : NULL);
  }
  return points;
}
