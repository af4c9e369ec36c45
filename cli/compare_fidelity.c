/* SPDX-License-Identifier: Apache-2.0 */
/* compare_fidelity.c - one scenario at several fidelities, and where they differ. */
#include <string.h>

#include "cli/cli.h"
#include "cli/compare.h"
#include "models/models.h"
#include "sim/base/crew.h"
#include "sim/base/error.h"

/* --- what is asked for --- */

/* What costs no more than two runs: the floor under all others, and what the scenario says itself. (transfer full) */
static char **
usual_names (const FabScenario *scenario, const char *against)
{
  g_autofree const char **known = fab_registry_names (&fab_models, FAB_MODEL_NET);
  const char *own = fab_scenario_spec (scenario)->fidelity.info->name;
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; known[i]; i++) {
    const FabNetOps *ops = (const FabNetOps *) fab_registry_find (&fab_models, FAB_MODEL_NET, known[i]);

    if (!ops->shares_links && strcmp (known[i], own) != 0)
      g_ptr_array_add (names, g_strdup (known[i]));
  }
  g_ptr_array_add (names, g_strdup (own));
  if (against && !g_ptr_array_find_with_equal_func (names, against, g_str_equal, NULL))
    g_ptr_array_add (names, g_strdup (against));
  if (names->len == 1) /* the floor itself */
    g_ptr_array_add (names, g_strdup (known[0]));
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

/* The names of --fidelity; NULL without it. (transfer full) */
static char **
wanted_names (const FabCompareOptions *o, GString *mistakes)
{
  g_autofree const char **known = fab_registry_names (&fab_models, FAB_MODEL_NET);
  g_auto (GStrv) names = o->fidelity ? fab_compare_fidelities ("compare", o->fidelity, mistakes) : NULL;

  if (o->against && !g_strv_contains ((const char *const *) known, o->against))
    fab_compare_note_unknown ("compare", "--against", o->against, mistakes);
  else if (o->against && names && !g_strv_contains ((const char *const *) names, o->against))
    g_string_append_printf (mistakes,
                            "fabricast compare: --against %s: it is not among those of --fidelity\n",
                            o->against);
  return g_steal_pointer (&names);
}

/* --- playing --- */

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

typedef struct {
  GPtrArray *variants; /* FabVariant */
  GPtrArray *left_out; /* char *, NULL-ended at the end */
} Played;

/* Each fidelity by itself, at once. */
typedef struct {
  const FabScenario *as_written;
  char **names;
  FabVariant **variants; /* per name: this or a problem */
  GError **problems;
} Plays;

static void
play_one (gpointer data, guint item)
{
  Plays *self = data;
  g_autoptr (FabScenario) scenario = scenario_at (self->as_written, self->names[item], &self->problems[item]);

  if (scenario != NULL)
    self->variants[item] = fab_variant_play (scenario, &fab_models, &self->problems[item]);
}

/* Where nobody named it, a fidelity that cannot play the scenario is left out, and said so. */
static gboolean
take_problem (const FabCompareOptions *o, const FabScenario *as_written, const char *name, GError *cause,
              Played *played, GError **error)
{
  g_autoptr (GError) problem = cause;

  if (o->fidelity == NULL && problem->code != FAB_ERROR_HUNG && problem->code != FAB_ERROR_BROKEN
      && g_strcmp0 (name, fab_scenario_spec (as_written)->fidelity.info->name) != 0) {
    g_auto (GStrv) lines = g_strsplit (problem->message, "\n", 2);

    g_ptr_array_add (played->left_out, g_strdup_printf ("%s cannot play it: %s", name, lines[0]));
    return TRUE;
  }
  if (strchr (problem->message, '\n') == NULL)
    g_prefix_error (&problem, "at fidelity %s: ", name);
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

static gboolean
play_all (const FabCompareOptions *o, const FabScenario *as_written, char **names, Played *played,
          GError **error)
{
  guint n = g_strv_length (names);
  g_autofree FabVariant **variants = g_new0 (FabVariant *, n + 1);
  g_autofree GError **problems = g_new0 (GError *, n + 1);
  gboolean is_played = TRUE;

  fab_crew_run (fab_cli_threads (), n, play_one, &(Plays){ as_written, names, variants, problems });
  for (guint i = 0; i < n; i++) {
    if (variants[i] != NULL)
      g_ptr_array_add (played->variants, variants[i]);
    else if (is_played)
      is_played = take_problem (o, as_written, names[i], problems[i], played, error);
    else
      g_error_free (problems[i]);
  }
  g_ptr_array_add (played->left_out, NULL);
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

typedef char *(*ToTextFn) (const FabCompareView *view);

static gboolean
print_contrast (const FabCompareOptions *o, const FabScenario *scenario, Played *played, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_compare_text,
                                       [FAB_FORMAT_JSON] = fab_compare_json,
                                       [FAB_FORMAT_CSV] = fab_compare_csv };
  guint base = find_base (played->variants, o->against);

  if (o->against
      && strcmp (((const FabVariant *) g_ptr_array_index (played->variants, base))->name, o->against) != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--against %s: %s", o->against,
                      (const char *) g_ptr_array_index (played->left_out, 0));
  g_autoptr (FabContrast) contrast = fab_contrast_new (g_steal_pointer (&played->variants), base);
  g_autofree char *title = fab_cli_title (scenario);
  g_autofree char *text = printers[o->format](
      &(FabCompareView){ contrast, title, (char **) played->left_out->pdata });
  g_print ("%s", text);
  return TRUE;
}

/* The mistakes of the options and of the scenario, all at once. NULL and *error when there are any. */
static FabScenario *
load_checked (const FabCompareOptions *o, const char *path, const FabCatalog *catalog, GString *mistakes,
              GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (FabScenario) scenario = fab_cli_scenario (path, o->sets, catalog, &problem);

  if (scenario != NULL && mistakes->len == 0)
    return g_steal_pointer (&scenario);
  if (mistakes->len == 0) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  if (problem != NULL && strchr (problem->message, '\n') == NULL)
    g_string_append_printf (mistakes, "fabricast compare: %s\n", problem->message);
  else if (problem != NULL)
    g_string_append (mistakes, problem->message);
  fab_throw (error, FAB_ERROR_INPUT, "%s", mistakes->str);
  return NULL;
}

gboolean
fab_compare_at_fidelities (const FabCompareOptions *o, const char *path, GError **error)
{
  g_autoptr (GString) mistakes = g_string_new (NULL);
  g_auto (GStrv) names = wanted_names (o, mistakes);
  g_autoptr (GPtrArray) left_out = g_ptr_array_new_with_free_func (g_free);
  Played played = { g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free), left_out };

  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog ? load_checked (o, path, catalog, mistakes, error) : NULL;
  if (scenario != NULL && names == NULL)
    names = usual_names (scenario, o->against);
  gboolean is_done = scenario != NULL && play_all (o, scenario, names, &played, error)
                  && print_contrast (o, scenario, &played, error);
  g_clear_pointer (&played.variants, g_ptr_array_unref);
  return is_done;
}
