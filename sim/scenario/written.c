/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/written.h"

#include <string.h>

#include "sim/scenario/schema_reader.h"

char *
fab_yaml_flow_text (const char *text)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+%";
  GString *out;

  if (*text != '\0' && strspn (text, plain) + strspn (text + strspn (text, plain), "-") > 0
      && strspn (text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+%-")
             == strlen (text)
      && *text != '-')
    return g_strdup (text);
  out = g_string_new ("'");
  for (; *text != '\0'; text++)
    g_string_append (out, *text == '\'' ? "''" : (char[]){ *text, '\0' });
  g_string_append_c (out, '\'');
  return g_string_free (out, FALSE);
}

static void
append_node (GString *out, const FabYamlNode *node)
{
  gboolean is_mapping = node->kind == FAB_YAML_MAPPING;

  if (node->kind == FAB_YAML_SCALAR) {
    g_autofree char *text = node->text ? fab_yaml_flow_text (node->text) : g_strdup ("null");

    g_string_append (out, text);
    return;
  }
  g_string_append_c (out, is_mapping ? '{' : '[');
  for (guint i = 0; i < node->n; i++) {
    if (i > 0)
      g_string_append (out, ", ");
    if (is_mapping)
      g_string_append_printf (out, "%s: ", node->keys[i]->text);
    append_node (out, node->values[i]);
  }
  g_string_append_c (out, is_mapping ? '}' : ']');
}

static void
append_written (GString *out, const FabScenario *scenario, const FabParam *row, gconstpointer in,
                const FabYamlNode *mapping)
{
  const FabYamlNode *value = fab_yaml_get (mapping, row->key);
  gconstpointer field = fab_schema_field (in, row);
  const char *comma = out->len > 0 ? ", " : "";

  if (value == NULL || (row->type != FAB_PARAM_TABLE && fab_scenario_mark (scenario, field) == NULL))
    return;
  if (row->type != FAB_PARAM_TABLE) {
    g_string_append_printf (out, "%s%s: ", comma, row->key);
    append_node (out, value);
    return;
  }
  g_autofree char *inside = fab_scenario_written (scenario, row->table, field, NULL);
  if (*inside != '\0')
    g_string_append_printf (out, "%s%s: {%s}", comma, row->key, inside);
}

char *
fab_scenario_written (const FabScenario *self, const FabParam *table, gconstpointer in,
                      const char *const *but)
{
  g_autofree char *yaml = fab_schema_write (table, in);
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("written", yaml, strlen (yaml), diagnostics);
  GString *out = g_string_new (NULL);

  g_assert (doc != NULL); /* the text is our own, so it parses */
  for (const FabParam *row = table; row->key != NULL; row++)
    if (but == NULL || !g_strv_contains (but, row->key))
      append_written (out, self, row, in, fab_yaml_doc_root (doc));
  return g_string_free (out, FALSE);
}
