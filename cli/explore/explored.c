/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explore/explored.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/shell.h"
#include "sim/net/net.h"

/* Two iterations: one needs the iteration before it, and further ones repeat it or differ by chance. */
enum { MOST_ITERATIONS = 2 };

/* --- loading --- */

static gboolean
has_key (const FabParam *table, const char *key)
{
  for (const FabParam *row = table; row->key != NULL; row++)
    if (strcmp (row->key, key) == 0)
      return TRUE;
  return FALSE;
}

/* Returns the type of gradients when the job does not say; it depends on the job's kind. */
static const char *
gradient_of (const FabValue *written, const FabParam *table)
{
  const FabValue *said = fab_value_at (written, "gradient");

  if (said != NULL)
    return said->text;
  while (table->key != NULL && strcmp (table->key, "gradient") != 0)
    table++;
  return table->fallback;
}

/* Takes the keys away that a job of another kind does not know. */
static FabEdits *
cut_of (const FabParam *own, const FabParam *table)
{
  FabEdits *edits = fab_edits_new ();

  for (const FabParam *row = own; row->key != NULL; row++) {
    g_autofree char *key = g_strconcat ("job.", row->key, NULL);

    if (!has_key (table, row->key))
      fab_edits_set (edits, key, NULL);
  }
  return edits;
}

static void
free_base (gpointer scenario)
{
  fab_scenario_free (scenario);
}

static void
make_bases (FabExplored *self)
{
  const FabScenario *scenario = self->board->scenario;
  const FabModelChoice *job = &fab_scenario_spec (scenario)->job;
  g_autoptr (FabValue) written = fab_scenario_written (scenario, job->info->params, job->params, NULL);
  guint n = self->board->strategies->len;

  self->bases = g_ptr_array_new_with_free_func (free_base);
  self->is_cut = g_new0 (gboolean, n);
  for (guint id = 0; id < n; id++) {
    const FabModelInfo *info = fab_registry_find (&fab_models, FAB_MODEL_WORKLOAD,
                                                  fab_knob_board_strategy (self->board, id)->kind);
    g_autoptr (FabEdits) cut = cut_of (job->info->params, info->params);
    FabScenario *base = fab_scenario_copy (scenario);

    g_ptr_array_add (self->bases, base);
    self->board->gradient_bytes[id] = fab_gradient_bytes (gradient_of (written, info->params));
    if (id == self->board->start.values[FAB_KNOB_STRATEGY])
      continue;
    for (guint i = 0; i < written->keys->len; i++)
      self->is_cut[id] |= !has_key (info->params, g_ptr_array_index (written->keys, i));
    fab_scenario_edit (base, cut);
  }
}

/* Refuses scenarios that would take longer than people wait for a knob. */
static gboolean
check_cost (const FabScenarioSpec *spec, GError **error)
{
  if (((const FabNetOps *) spec->fidelity.info)->message != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "fidelity %s takes longer than a hand waits; try --set fidelity=fluid",
                      spec->fidelity.info->name);
  if (!spec->is_folded)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "fold: false takes longer than a hand waits; try --set fold=true");
  return TRUE;
}

FabExplored *
fab_explored_load (const char *path, char **sets, const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabExplored) self = g_new0 (FabExplored, 1);
  g_autoptr (FabScenario) scenario = fab_scenario_load (path, (const char *const *) sets, &fab_models,
                                                        catalog, error);

  self->path = g_strdup (path);
  self->sets = g_strdupv (sets);
  self->catalog = catalog;
  if (scenario == NULL || !check_cost (fab_scenario_spec (scenario), error))
    return NULL;
  self->board = fab_knob_board_new (g_steal_pointer (&scenario), error);
  if (self->board == NULL)
    return NULL;
  make_bases (self);
  return g_steal_pointer (&self);
}

void
fab_explored_free (FabExplored *self)
{
  if (self == NULL)
    return;
  g_free (self->path);
  g_strfreev (self->sets);
  fab_knob_board_free (self->board);
  g_clear_pointer (&self->bases, g_ptr_array_unref);
  g_free (self->is_cut);
  g_free (self);
}

/* --- a setting --- */

/* Returns the assignments of a setting, for the command line or for the scenario, which also loses its summary: it
 * described the original. (transfer full) */
static FabEdits *
edits_of (const FabExplored *self, const FabKnobSetting *setting, gboolean is_command)
{
  FabEdits *edits = fab_knob_board_edits (self->board, setting);
  gboolean is_turned = fab_edits_count (edits) > 0;

  if (fab_scenario_spec (self->board->scenario)->iterations > MOST_ITERATIONS)
    fab_edits_set (edits, "iterations", fab_value_count (MOST_ITERATIONS));
  if (!is_command && is_turned)
    fab_edits_set (edits, "summary", NULL);
  return edits;
}

/* Not checked. (transfer full) */
static FabScenario *
turned (const FabExplored *self, const FabKnobSetting *setting)
{
  const FabScenario *base = g_ptr_array_index (self->bases, (guint) setting->values[FAB_KNOB_STRATEGY]);
  FabScenario *scenario = fab_scenario_copy (base);
  g_autoptr (FabEdits) edits = edits_of (self, setting, FALSE);

  fab_scenario_edit (scenario, edits);
  return scenario;
}

FabScenario *
fab_explored_scenario (const FabExplored *self, const FabKnobSetting *setting, GError **error)
{
  g_autoptr (FabScenario) scenario = turned (self, setting);

  return fab_scenario_check (scenario, error) ? g_steal_pointer (&scenario) : NULL;
}

char *
fab_explored_yaml (const FabExplored *self, const FabKnobSetting *setting)
{
  g_autoptr (FabScenario) scenario = turned (self, setting);

  return fab_scenario_text (scenario);
}

static void
append_word (GString *command, const char *word)
{
  g_autofree char *quoted = fab_shell_word (word);

  g_string_append_printf (command, " %s", quoted);
}

static void
append_sets (GString *command, const char *const *sets)
{
  for (; sets != NULL && *sets != NULL; sets++) {
    g_string_append (command, " --set");
    append_word (command, *sets);
  }
}

char *
fab_explored_command (const FabExplored *self, const FabKnobSetting *setting)
{
  g_autoptr (FabEdits) edits = edits_of (self, setting, TRUE);
  GString *command = g_string_new ("fabricast run");

  if (self->is_cut[setting->values[FAB_KNOB_STRATEGY]]) {
    g_string_append (command, " explored.yaml");
    return g_string_free (command, FALSE);
  }
  append_word (command, self->path);
  append_sets (command, (const char *const *) self->sets);
  append_sets (command, fab_edits_texts (edits));
  return g_string_free (command, FALSE);
}
