/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/compare/fidelities.h"

#include <string.h>

#include "answer/memory_advice.h"
#include "sim/base/error.h"
#include "sim/base/thread_pool.h"

/* What costs no more than two runs: analytic, where nothing contends, and what the scenario says itself. (transfer
 * full) */
static char **
usual_names (const FabScenario *scenario, const FabRegistry *registry, const char *against)
{
  g_autofree const char **known = fab_registry_names (registry, FAB_MODEL_NET);
  const char *own = fab_scenario_spec (scenario)->fidelity.info->name;
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; known[i]; i++) {
    const FabNetOps *ops = (const FabNetOps *) fab_registry_find (registry, FAB_MODEL_NET, known[i]);

    if (!ops->shares_links && strcmp (known[i], own) != 0)
      g_ptr_array_add (names, g_strdup (known[i]));
  }
  g_ptr_array_add (names, g_strdup (own));
  if (against && !g_ptr_array_find_with_equal_func (names, against, g_str_equal, NULL))
    g_ptr_array_add (names, g_strdup (against));
  if (names->len == 1) /* analytic itself */
    g_ptr_array_add (names, g_strdup (known[0]));
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

/* The scenario at a fidelity, with what it says of that fidelity itself. */
static FabScenario *
scenario_at (const FabScenario *as_written, const char *name, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_copy (as_written);
  g_autoptr (FabEdits) edits = fab_edits_new ();

  if (strcmp (fab_scenario_spec (as_written)->fidelity.info->name, name) != 0)
    fab_edits_set (edits, "fidelity", fab_value_text (name));
  fab_scenario_edit (scenario, edits);
  return fab_scenario_check (scenario, error) ? g_steal_pointer (&scenario) : NULL;
}

/* Each fidelity by itself, at once. */
typedef struct {
  const FabScenario *as_written;
  const FabRegistry *registry;
  const char *const *names;
  FabVariant **variants; /* per name: this or a problem */
  GError **problems;
  FabPulse *pulse;
} Plays;

static void
play_one (gpointer data, guint item)
{
  Plays *self = data;
  g_autoptr (FabScenario) scenario = scenario_at (self->as_written, self->names[item], &self->problems[item]);

  if (scenario != NULL)
    self->variants[item] = fab_variant_play (scenario, self->registry, &self->problems[item]);
  fab_pulse_beat (self->pulse);
}

/* Where nobody named it, a fidelity that cannot play the scenario is left out, and said so. */
static gboolean
take_problem (const Plays *plays, gboolean is_named, guint item, GPtrArray *left_out, GError **error)
{
  g_autoptr (GError) problem = g_steal_pointer (&plays->problems[item]);
  const char *name = plays->names[item];

  if (!is_named && problem->code != FAB_ERROR_HUNG && problem->code != FAB_ERROR_BROKEN
      && g_strcmp0 (name, fab_scenario_spec (plays->as_written)->fidelity.info->name) != 0) {
    g_auto (GStrv) lines = g_strsplit (problem->message, "\n", 2);

    g_ptr_array_add (left_out, g_strdup_printf ("%s cannot simulate it: %s", name, lines[0]));
    return TRUE;
  }
  if (strchr (problem->message, '\n') == NULL)
    g_prefix_error (&problem, "at fidelity %s: ", name);
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* Takes what was played. FALSE and *error: one that must be played cannot be. */
static gboolean
take_all (const Plays *plays, gboolean is_named, GPtrArray *variants, GPtrArray *left_out, GError **error)
{
  gboolean is_played = TRUE;

  for (guint i = 0; plays->names[i] != NULL; i++) {
    if (plays->variants[i] != NULL)
      g_ptr_array_add (variants, plays->variants[i]);
    else if (is_played)
      is_played = take_problem (plays, is_named, i, left_out, error);
    else
      g_error_free (plays->problems[i]);
  }
  return is_played;
}

static guint
find_base (const GPtrArray *variants, const char *against)
{
  for (guint i = 0; against && i < variants->len; i++)
    if (strcmp (((const FabVariant *) g_ptr_array_index (variants, i))->name, against) == 0)
      return i;
  return 0;
}

FabFidelitiesAnswer *
fab_fidelities_answer (const FabScenario *scenario, const FabFidelitiesRequest *request, GError **error)
{
  g_auto (GStrv) names = request->names != NULL ? g_strdupv ((char **) request->names)
                                                : usual_names (scenario, request->registry, request->against);
  guint n = g_strv_length (names);
  g_autofree FabVariant **played = g_new0 (FabVariant *, n + 1);
  g_autofree GError **problems = g_new0 (GError *, n + 1);
  Plays plays = {
    scenario, request->registry, (const char *const *) names, played, problems, request->pulse
  };
  g_autoptr (GPtrArray) variants = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free);
  g_autoptr (GPtrArray) left_out = g_ptr_array_new_with_free_func (g_free);

  fab_pulse_expect (request->pulse, n);
  fab_thread_pool_run (request->n_threads, n, play_one, &plays);
  if (!take_all (&plays, request->names != NULL, variants, left_out, error))
    return NULL;
  guint base = find_base (variants, request->against);
  fab_advise_memory_of (scenario, &(FabMemoryTrying){ request->registry, request->n_threads, NULL },
                        ((FabVariant *) g_ptr_array_index (variants, base))->verdict);
  FabFidelitiesAnswer *self = g_new0 (FabFidelitiesAnswer, 1);
  self->contrast = fab_contrast_new (g_steal_pointer (&variants), base);
  g_ptr_array_add (left_out, NULL);
  self->left_out = (char **) g_ptr_array_free (g_steal_pointer (&left_out), FALSE);
  return self;
}

void
fab_fidelities_answer_free (FabFidelitiesAnswer *self)
{
  if (self == NULL)
    return;
  fab_contrast_free (self->contrast);
  g_strfreev (self->left_out);
  g_free (self);
}
