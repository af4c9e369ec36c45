/* SPDX-License-Identifier: Apache-2.0 */
/* schema_unknown.c - what to say of a key that a table does not have: where it belongs, or what is nearest to it.
 *
 * It is looked for in the models that the table names, then in the other models of the same kind, then among the keys
 * of the table. O(models x keys), once for a mistake.
 */
#include "sim/config/schema_reader.h"

/* Looks for an unknown key in the models that the rows of a table name. It finds one when a model of that name, or a
 * model with that key, stands in the list of such a row. */
static char *
find_below (const FabSchemaReader *self, const FabParam *table, const char *key)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    const FabModelInfo *const *infos = row->type == FAB_PARAM_MODEL ? self->registry->lists[row->models]
                                                                    : NULL;

    for (guint i = 0; infos != NULL && infos[i] != NULL; i++) {
      if (g_str_equal (infos[i]->name, key))
        return g_strdup_printf ("it is a key of '%s': write '%s: %s'", row->key, row->key, key);
      if (fab_schema_find_row (infos[i]->params, key) != NULL)
        return g_strdup_printf ("it is a key of '%s': write '%s: {kind: %s, %s: ...}'", row->key, row->key,
                                infos[i]->name, key);
    }
  }
  return NULL;
}

/* Names of the models of a list that have a key, as "'a', 'b'"; NULL when none has it. */
static char *
models_with (const FabModelInfo *const *infos, const char *key)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; infos[i] != NULL; i++)
    if (fab_schema_find_row (infos[i]->params, key) != NULL)
      g_string_append_printf (names, "%s'%s'", names->len > 0 ? ", " : "", infos[i]->name);
  return names->len > 0 ? g_string_free (g_steal_pointer (&names), FALSE) : NULL;
}

/* Looks for an unknown key of a model in the other models of its kind. */
static char *
find_beside (const FabSchemaReader *self, const FabParam *table, const char *key)
{
  for (guint kind = 0; kind < G_N_ELEMENTS (self->registry->lists); kind++) {
    const FabModelInfo *const *infos = self->registry->lists[kind];

    for (guint i = 0; infos != NULL && infos[i] != NULL; i++) {
      g_autofree char *names = infos[i]->params == table ? models_with (infos, key) : NULL;

      if (names != NULL)
        return g_strdup_printf ("'%s' does not have it; these have it: %s", infos[i]->name, names);
    }
  }
  return NULL;
}

void
fab_schema_report_unknown (FabSchemaReader *self, const FabParam *table, const char *extra, const char *key,
                           const FabMark *mark)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  const char *nearest;

  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    g_ptr_array_add (known, (gpointer) row->key);
  if (extra != NULL)
    g_ptr_array_add (known, (gpointer) extra);
  g_ptr_array_add (known, NULL);
  g_autofree char *below = find_below (self, table, key), *beside = find_beside (self, table, key);
  nearest = fab_diagnostics_nearest (self->diagnostics, key, (const char *const *) known->pdata);
  if (below != NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; %s", key, below);
  } else if (beside != NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; %s", key, beside);
  } else if (nearest != NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; nearest is '%s'", key, nearest);
  } else {
    g_autofree char *joined = g_strjoinv (", ", (char **) known->pdata);

    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; known here: %s", key, joined);
  }
}
