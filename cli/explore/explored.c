/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explore/explored.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/net/net.h"

/* An iteration needs the one before it; more are the same again, or chance. */
#define ITERATIONS "iterations=2"

/* --- loading --- */

/* Takes out what the table does not know. */
static gboolean
keep_known (FabYamlNode *mapping, const FabParam *table)
{
  guint n = 0, n_before = mapping->n;

  for (guint i = 0; i < n_before; i++) {
    gboolean is_known = strcmp (mapping->keys[i]->text, "kind") == 0;

    for (const FabParam *row = table; !is_known && row->key != NULL; row++)
      is_known = strcmp (row->key, mapping->keys[i]->text) == 0;
    if (!is_known)
      continue;
    mapping->keys[n] = mapping->keys[i];
    mapping->values[n++] = mapping->values[i];
  }
  mapping->n = n;
  return n < n_before;
}

/* What gradients are when the job says nothing depends on its kind. */
static const char *
gradient_of (const FabYamlNode *job, const FabParam *table)
{
  const FabYamlNode *said = fab_yaml_get (job, "gradient");

  if (said != NULL && said->kind == FAB_YAML_SCALAR && said->text != NULL)
    return said->text;
  while (table->key != NULL && strcmp (table->key, "gradient") != 0)
    table++;
  return table->fallback;
}

static FabYamlDoc *
read_file (const FabExplored *self, GError **error)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_load (self->path, diagnostics, error);

  if (doc != NULL) {
    fab_yaml_doc_include (doc, diagnostics);
    for (char **set = self->sets; set != NULL && *set != NULL; set++)
      fab_yaml_doc_set (doc, *set, diagnostics);
    fab_yaml_doc_include (doc, diagnostics);
  }
  if (doc == NULL || !fab_diagnostics_check (diagnostics, error))
    return NULL;
  return g_steal_pointer (&doc);
}

static gboolean
make_texts (FabExplored *self, GError **error)
{
  guint n = self->board->strategies->len;

  self->texts = g_new0 (char *, n + 1);
  self->is_cut = g_new0 (gboolean, n);
  for (guint id = 0; id < n; id++) {
    const FabModelInfo *info = fab_registry_find (&fab_models, FAB_MODEL_WORKLOAD,
                                                  fab_knob_board_strategy (self->board, id)->kind);
    g_autoptr (FabYamlDoc) doc = read_file (self, error);

    if (doc == NULL)
      return FALSE;
    FabYamlNode *job = fab_yaml_get (fab_yaml_doc_root (doc), "job");
    self->board->gradient_bytes[id] = fab_gradient_bytes (gradient_of (job, info->params));
    if (id != self->board->start.values[FAB_KNOB_STRATEGY])
      self->is_cut[id] = keep_known (job, info->params);
    self->texts[id] = fab_yaml_node_text (fab_yaml_doc_root (doc));
  }
  return TRUE;
}

/* What would take longer than a hand waits. */
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
  return self->board != NULL && make_texts (self, error) ? g_steal_pointer (&self) : NULL;
}

void
fab_explored_free (FabExplored *self)
{
  if (self == NULL)
    return;
  g_free (self->path);
  g_strfreev (self->sets);
  fab_knob_board_free (self->board);
  g_strfreev (self->texts);
  g_free (self->is_cut);
  g_free (self);
}

/* --- a setting --- */

/* Of the command line; the scenario also loses its summary, which is of what was. (transfer full) */
static char **
all_sets (const FabExplored *self, const FabKnobSetting *setting, gboolean is_command)
{
  g_auto (GStrv) sets = fab_knob_board_sets (self->board, setting);
  guint n = g_strv_length (sets);
  char **all = g_new0 (char *, n + 3);
  gboolean is_turned = n > 0;

  for (guint i = 0; i < n; i++)
    all[i] = g_steal_pointer (&sets[i]);
  if (fab_scenario_spec (self->board->scenario)->iterations > 2)
    all[n++] = g_strdup (ITERATIONS);
  if (!is_command && is_turned)
    all[n++] = g_strdup ("summary=");
  return all;
}

static const char *
text_of (const FabExplored *self, const FabKnobSetting *setting)
{
  return self->texts[setting->values[FAB_KNOB_STRATEGY]];
}

FabScenario *
fab_explored_scenario (const FabExplored *self, const FabKnobSetting *setting, GError **error)
{
  g_auto (GStrv) sets = all_sets (self, setting, FALSE);
  const char *text = text_of (self, setting);

  return fab_scenario_parse (self->path, text, strlen (text), (const char *const *) sets, &fab_models,
                             self->catalog, error);
}

char *
fab_explored_yaml (const FabExplored *self, const FabKnobSetting *setting)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_auto (GStrv) sets = all_sets (self, setting, FALSE);
  const char *text = text_of (self, setting);
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse (self->path, text, strlen (text), diagnostics);

  g_assert (doc != NULL); /* it was read before */
  for (char **set = sets; *set != NULL; set++)
    fab_yaml_doc_set (doc, *set, diagnostics);
  return fab_yaml_node_text (fab_yaml_doc_root (doc));
}

static void
append_word (GString *command, const char *word)
{
  static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "./_=+-:,%@";
  g_autofree char *quoted = strspn (word, plain) == strlen (word) ? g_strdup (word) : g_shell_quote (word);

  g_string_append_printf (command, " %s", quoted);
}

char *
fab_explored_command (const FabExplored *self, const FabKnobSetting *setting)
{
  g_auto (GStrv) sets = all_sets (self, setting, TRUE);
  GString *command = g_string_new ("fabricast run");

  if (self->is_cut[setting->values[FAB_KNOB_STRATEGY]]) {
    g_string_append (command, " explored.yaml");
    return g_string_free (command, FALSE);
  }
  append_word (command, self->path);
  for (char **lists[] = { self->sets, sets, NULL }, ***list = lists; list < lists + 2; list++)
    for (char **set = *list; set != NULL && *set != NULL; set++) {
      g_string_append (command, " --set");
      append_word (command, *set);
    }
  return g_string_free (command, FALSE);
}
