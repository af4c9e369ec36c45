/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help/data.h"

#include <gio/gio.h>

FabYamlDoc *
fab_help_data (const char *name)
{
  g_autofree char *path = g_strconcat ("/fabricast/help/", name, NULL);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

  g_assert (bytes != NULL);
  FabYamlDoc *doc = fab_yaml_doc_parse (name, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                                        problems);
  g_assert (fab_diagnostics_count (problems) == 0);
  return doc;
}

const char *
fab_help_text (const FabYamlNode *item, const char *key)
{
  const FabYamlNode *node = fab_yaml_get (item, key);

  return node != NULL ? node->text : NULL;
}
