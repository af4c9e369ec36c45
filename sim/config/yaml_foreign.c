/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_foreign.c - YAML of other programs, whose readers take a key that is written twice as it is written last. */
#include "sim/config/yaml_doc.h"

FabYamlDoc *
fab_yaml_doc_parse_foreign (const char *name, const char *data, gsize size, FabDiagnostics *diagnostics)
{
  g_autoptr (FabYamlDoc) doc = fab_yaml_tree_new ();

  doc->keeps_all = TRUE;
  doc->root = fab_yaml_tree_add (doc, fab_yaml_source_new (name, data, size), diagnostics);
  if (doc->root != NULL && doc->root->kind == FAB_YAML_MAPPING)
    return g_steal_pointer (&doc);
  if (doc->root != NULL)
    fab_diagnostics_add (diagnostics, &doc->root->mark, "the file holds no keys with values");
  return NULL;
}
