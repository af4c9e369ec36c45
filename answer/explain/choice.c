/* SPDX-License-Identifier: Apache-2.0 */
/* choice.c - what other algorithms and protocols would take for a collective, on an idle network.
 *
 * The scenario is built anew with the library held to one of them, and the same collective looked at; what the whole
 * job cannot be held to is not known. A library may choose by its own belief, which can be wrong: then the sentence
 * says so.
 */
#include <string.h>

#include "answer/explain/parts.h"
#include "sim/base/thread_pool.h"

enum { MOST_RANKS = 4096 }; /* building larger ones a dozen times takes too long for a sentence */

typedef struct {
  FabEdits *edits;
  double seconds;                   /* 0: the job cannot do it */
  const char *algorithm, *protocol; /* what it then does; static */
} Other;

typedef struct {
  const Explain *explain;
  Other *others;
  guint collective;
} Others;

static void
time_other (gpointer data, guint item)
{
  const Others *self = data;
  Other *other = &self->others[item];
  const FabDag *was = fab_simulation_dag (self->explain->simulation), *dag;
  g_autoptr (FabScenario) scenario = fab_study_scenario (self->explain->study, other->edits, NULL);
  g_autoptr (FabSimulation) simulation = scenario
                                           ? fab_simulation_new (scenario, self->explain->study->registry,
                                                                 NULL, NULL)
                                           : NULL;

  if (simulation == NULL)
    return;
  dag = fab_simulation_dag (simulation);
  if (dag->n_collectives != was->n_collectives)
    return;
  const FabCollectivePlan *plan = &dag->collectives[self->collective].plan;
  const FabCollectivePlan *did = &was->collectives[self->collective].plan;
  if (plan->footprint == NULL || plan->op != did->op
      || (g_strcmp0 (plan->algorithm, did->algorithm) == 0 && g_strcmp0 (plan->protocol, did->protocol) == 0))
    return;
  other->seconds = fab_ps_to_seconds (fab_collective_plan_idle_ps (plan));
  other->algorithm = plan->algorithm;
  other->protocol = plan->protocol;
}

static gboolean
has_key (const FabModelInfo *library, const char *key, const char *const **choices)
{
  for (const FabParam *row = library->params; row != NULL && row->key != NULL; row++)
    if (strcmp (row->key, key) == 0) {
      *choices = row->choices;
      return TRUE;
    }
  return FALSE;
}

static void
add_other (GArray *others, const char *key, const char *value)
{
  Other other = { .edits = fab_edits_new () };
  g_autofree char *path = g_strconcat ("collectives.", key, NULL);

  fab_edits_set (other.edits, path, fab_value_text (value));
  g_array_append_val (others, other);
}

/* An algorithm that nobody can ask the library for by name is no alternative. Where it runs, the library chooses its
 * protocol too. */
static gboolean
can_be_chosen (const FabModelInfo *library, const FabModelInfo *algorithm)
{
  const FabLibraryOps *ops = (const FabLibraryOps *) library;

  return ops->can_be_chosen == NULL || algorithm == NULL || ops->can_be_chosen (algorithm);
}

/* Every other algorithm, and the same one with every other protocol. */
static GArray *
list_others (const Explain *self, const FabCollectivePlan *plan)
{
  const FabModelInfo *library = fab_scenario_spec (self->scenario)->collectives.info;
  const FabRegistry *registry = self->study->registry;
  g_autofree const FabAlgorithmOps **algorithms = fab_algorithms_by_preference (
      registry->lists[FAB_MODEL_ALGORITHM]);
  const char *const *choices = NULL;
  GArray *others = g_array_new (FALSE, TRUE, sizeof (Other));

  if (!has_key (library, "algorithm", &choices))
    return others;
  for (guint i = 0; algorithms[i] != NULL; i++)
    if (strcmp (algorithms[i]->info.name, plan->algorithm) != 0
        && can_be_chosen (library, &algorithms[i]->info))
      add_other (others, "algorithm", algorithms[i]->info.name);
  if (plan->protocol == NULL
      || !can_be_chosen (library, fab_registry_find (registry, FAB_MODEL_ALGORITHM, plan->algorithm))
      || !has_key (library, "protocol", &choices) || choices == NULL)
    return others;
  for (guint i = 0; choices[i] != NULL; i++)
    if (strcmp (choices[i], plan->protocol) != 0 && strcmp (choices[i], "auto") != 0)
      add_other (others, "protocol", choices[i]);
  return others;
}

static void
note_choice (FabStatement *statement, const FabCollectivePlan *plan, const Other *best, double idle_s)
{
  g_autofree char *with = plan->protocol ? g_strdup_printf ("%s with %s", plan->algorithm, plan->protocol)
                                         : g_strdup (plan->algorithm);

  if (best == NULL) {
    fab_statement_note (statement, "It runs as %s.", with);
    return;
  }
  g_autofree char *time = fab_term_show (FAB_TERM_TIME, best->seconds);
  g_autofree char *other = best->protocol ? g_strdup_printf ("%s with %s", best->algorithm, best->protocol)
                                          : g_strdup (best->algorithm);
  double more = best->seconds / idle_s - 1;
  if (more >= 0)
    fab_statement_note (statement, "It runs as %s. The next best, %s, would take %s alone: %.1f %% longer.",
                        with, other, time, 100 * more);
  else
    fab_statement_note (statement,
                        "It runs as %s, by the library's own estimate; %s would take %s alone, %.1f %% less "
                        "(collectives.algorithm, collectives.protocol).",
                        with, other, time, -100 * more);
}

void
explain_choice (const Explain *self, FabStatement *statement, guint collective)
{
  const FabCollectivePlan *plan = &fab_simulation_dag (self->simulation)->collectives[collective].plan;
  const Other *best = NULL;

  if (plan->algorithm == NULL)
    return;
  g_autoptr (GArray) others = list_others (self, plan);
  Others work = { self, (Other *) (gpointer) others->data, collective };
  if (fab_cluster_n_ranks (fab_simulation_cluster (self->simulation)) <= MOST_RANKS)
    fab_thread_pool_run (self->study->n_threads, others->len, time_other, &work);
  for (guint i = 0; i < others->len; i++)
    if (work.others[i].seconds > 0 && (best == NULL || work.others[i].seconds < best->seconds))
      best = &work.others[i];
  note_choice (statement, plan, best, fab_ps_to_seconds (fab_collective_plan_idle_ps (plan)));
  for (guint i = 0; i < others->len; i++)
    fab_edits_free (work.others[i].edits);
}
