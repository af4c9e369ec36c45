/* SPDX-License-Identifier: Apache-2.0 */
/* topograph.c - files of NVIDIA topograph: its models (YAML) and what its engine `graph` writes (JSON).
 *
 *   switches: {core: {switches: [leaf1, leaf2]}}      instances: [{id: n1, network_layers: [leaf1, core]}]
 *   blocks: [{switch: leaf1, nodes: ["n[1-4]"]}]
 *
 * JSON is read as the YAML that it is. What its engine `slurm` writes is a topology.conf (slurm_topology.c).
 */
#include <string.h>

#include "formats/machine/scheduler_tree.h"
#include "sim/config/diagnostics.h"
#include "sim/config/yaml_doc.h"

typedef struct {
  FabDiagnostics *diagnostics;
  FabSchedulerTree *tree;
} Reader;

/* Returns a member of a mapping; NULL where it is missing or of another kind, which is a mistake if it is there. */
static const FabYamlNode *
member (Reader *self, const FabYamlNode *mapping, const char *key, FabYamlKind kind, const char *right)
{
  const FabYamlNode *node = mapping != NULL && mapping->kind == FAB_YAML_MAPPING ? fab_yaml_get (mapping, key)
                                                                                 : NULL;

  if (node == NULL || (node->kind == FAB_YAML_SCALAR && node->text == NULL))
    return NULL;
  if (node->kind == kind)
    return node;
  fab_diagnostics_add (self->diagnostics, &node->mark, "'%s' must be %s", key, right);
  return NULL;
}

/* Puts the names of a list below a switch. */
static void
put_names (Reader *self, guint parent, const FabYamlNode *list, gboolean are_switches)
{
  for (guint i = 0; list != NULL && i < list->n; i++) {
    const FabYamlNode *node = list->values[i];
    g_autoptr (GPtrArray) names = node->kind == FAB_YAML_SCALAR && node->text
                                    ? fab_scheduler_tree_expand (node->text)
                                    : NULL;

    if (names == NULL)
      fab_diagnostics_add (self->diagnostics, &node->mark, "a name belongs here, or several as n[1-4]");
    for (guint k = 0; names != NULL && k < names->len; k++) {
      g_autofree char *why = NULL;
      const char *name = g_ptr_array_index (names, k);
      gboolean is_put = are_switches
                          ? fab_scheduler_tree_put_switch (self->tree, parent, name, node->mark.line, &why)
                          : fab_scheduler_tree_put_node (self->tree, parent, name, &why);

      if (!is_put) {
        fab_diagnostics_add (self->diagnostics, &node->mark, "%s", why);
        return;
      }
    }
  }
}

static void
read_model (Reader *self, const FabYamlNode *root)
{
  const FabYamlNode *switches = member (self, root, "switches", FAB_YAML_MAPPING, "a mapping of switches");
  const FabYamlNode *blocks = member (self, root, "blocks", FAB_YAML_SEQUENCE, "a list of blocks");

  for (guint i = 0; switches != NULL && i < switches->n; i++) {
    guint parent = fab_scheduler_tree_add (self->tree, switches->keys[i]->text, switches->keys[i]->mark.line);

    put_names (self, parent,
               member (self, switches->values[i], "switches", FAB_YAML_SEQUENCE,
                       "a list of the switches below it"),
               TRUE);
  }
  for (guint i = 0; blocks != NULL && i < blocks->n; i++) {
    const FabYamlNode *block = blocks->values[i];
    const FabYamlNode *leaf = member (self, block, "switch", FAB_YAML_SCALAR, "the name of a switch");
    g_autofree char *name = leaf ? g_strdup (leaf->text) : g_strdup_printf ("block%u", i);

    put_names (self, fab_scheduler_tree_add (self->tree, name, block->mark.line),
               member (self, block, "nodes", FAB_YAML_SEQUENCE, "a list of nodes"), FALSE);
  }
}

/* Reads one instance: its name, and the switches above it from the nearest on. */
static void
read_instance (Reader *self, const FabYamlNode *instance)
{
  const FabYamlNode *id = member (self, instance, "id", FAB_YAML_SCALAR, "the name of the instance");
  const FabYamlNode *layers = member (self, instance, "network_layers", FAB_YAML_SEQUENCE,
                                      "a list of switches, the nearest first");
  g_autofree char *why = NULL;
  gint below = -1;

  if (id == NULL || layers == NULL)
    return;
  for (guint i = 0; i < layers->n; i++) {
    const FabYamlNode *layer = layers->values[i];

    if (layer->kind != FAB_YAML_SCALAR || layer->text == NULL) {
      fab_diagnostics_add (self->diagnostics, &layer->mark, "the name of a switch belongs here");
      return;
    }
    guint index = fab_scheduler_tree_add (self->tree, layer->text, layer->mark.line);
    gboolean is_put = i == 0 ? fab_scheduler_tree_put_node (self->tree, index, id->text, &why)
                             : fab_scheduler_tree_put_switch (self->tree, index, layers->values[i - 1]->text,
                                                              layer->mark.line, &why);
    if (!is_put) {
      fab_diagnostics_add (self->diagnostics, &layer->mark, "%s", why);
      return;
    }
    below = (gint) index;
  }
  if (below < 0)
    fab_diagnostics_add (self->diagnostics, &layers->mark, "at least one switch belongs here");
}

static gboolean
topograph_recognises (const FabFileText *text)
{
  return (fab_file_text_has (text, "\"network_layers\"") && fab_file_text_is_json (text))
      || (fab_file_text_has (text, "\nblocks:") && fab_file_text_has (text, "nodes:"))
      || (fab_file_text_begins (text, "blocks:") && fab_file_text_has (text, "nodes:"));
}

static gboolean
topograph_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  const FabFileText *file = &request->file;
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse (file->name, file->text, file->size, diagnostics);
  g_autoptr (FabSchedulerTree) tree = fab_scheduler_tree_new ();
  Reader self = { .diagnostics = diagnostics, .tree = tree };
  const FabYamlNode *root = doc != NULL ? fab_yaml_doc_root (doc) : NULL;
  const FabYamlNode *instances = member (&self, root, "instances", FAB_YAML_SEQUENCE, "a list of instances");

  for (guint i = 0; instances != NULL && i < instances->n; i++)
    read_instance (&self, instances->values[i]);
  if (instances == NULL)
    read_model (&self, root);
  return fab_diagnostics_check (diagnostics, error)
      && fab_scheduler_tree_fill (tree, machine, request, error);
}

const FabFileFormat fab_file_topograph = {
  .name = "topograph",
  .tool = "NVIDIA topograph",
  .help = "models (YAML) and graphs (JSON) of NVIDIA topograph",
  .kind = FAB_FILE_MACHINE,
  .recognises = topograph_recognises,
  .read.machine = topograph_read,
};
