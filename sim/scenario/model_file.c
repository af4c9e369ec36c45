/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.c - converts JSON of other projects to entries of `models`.
 *
 * The nodes of the entry carry the marks of the JSON from which they come. They belong to the document of the
 * scenario, or to a document of their own when only the entry is wanted. Linear in the document and the files.
 */
#include "sim/scenario/model_file.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/config/yaml_doc.h"
#include "sim/scenario/catalog_params.h"

struct _FabModelFile {
  FabYamlDoc *doc;
  FabDiagnostics *diagnostics;
  FabYamlNode *root, *shape;
  GPtrArray *notes; /* char */
  gboolean is_full;
};

static FabYamlNode *
scalar (FabModelFile *self, const char *text, const FabMark *mark)
{
  FabYamlNode *node = fab_yaml_tree_scalar (self->doc, text, mark);

  self->is_full |= node == NULL;
  return node;
}

static FabYamlNode *
container (FabModelFile *self, FabYamlKind kind, const FabMark *mark)
{
  FabYamlNode *node = fab_yaml_tree_node (self->doc, kind, mark);

  self->is_full |= node == NULL;
  return node;
}

static void
put (FabModelFile *self, FabYamlNode *mapping, const char *name, FabYamlNode *value)
{
  FabYamlNode *key = mapping != NULL && value != NULL ? scalar (self, name, &value->mark) : NULL;

  for (guint i = 0; key != NULL && i < mapping->n; i++)
    if (strcmp (mapping->keys[i]->text, name) == 0) {
      mapping->values[i] = value;
      return;
    }
  if (key != NULL)
    fab_yaml_tree_append (mapping, key, value);
}

void
fab_model_file_set (FabModelFile *self, const char *key, const char *text, const FabYamlNode *from)
{
  const char *dot = strchr (key, '.');
  g_autofree char *table = dot != NULL ? g_strndup (key, (gsize) (dot - key)) : NULL;
  FabYamlNode *mapping = self->shape;

  if (table != NULL) {
    mapping = fab_yaml_get (self->shape, table);
    if (mapping == NULL)
      mapping = container (self, FAB_YAML_MAPPING, &from->mark);
    put (self, self->shape, table, mapping);
  }
  put (self, mapping, dot != NULL ? dot + 1 : key, scalar (self, text, &from->mark));
}

void
fab_model_file_set_count (FabModelFile *self, const char *key, gint64 value, const FabYamlNode *from)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  fab_model_file_set (self, key, text, from);
}

void
fab_model_file_note (FabModelFile *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (self->notes, g_strdup_vprintf (format, args));
  va_end (args);
}

void
fab_model_file_fail (FabModelFile *self, const FabYamlNode *at, const char *format, ...)
{
  va_list args;
  g_autofree char *message = NULL;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  fab_diagnostics_add (self->diagnostics, &at->mark, "%s", message);
}

static void
fail_full (FabModelFile *self)
{
  fab_model_file_fail (self, self->root, "one document holds more than %u values", FAB_YAML_MAX_NODES);
}

const char *
fab_model_file_nearest (const FabModelFile *self, const char *word, const char *const *candidates)
{
  return fab_diagnostics_nearest (self->diagnostics, word, candidates);
}

/* Names ---------------------------------------------------------------------------------------------- */

/* Derives the name from the path: Llama-2-7b/config.json is Llama-2-7b, small.json is small, config.json alone is
 * `fallback`. */
static char *
name_of_path (const char *path, const char *fallback)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *directory = g_path_get_dirname (path);
  g_autofree char *parent = g_path_get_basename (directory);

  if (strcmp (base, "config.json") != 0)
    return g_str_has_suffix (base, ".json") ? g_strndup (base, strlen (base) - strlen (".json"))
                                            : g_strdup (base);
  return g_strdup (strcmp (parent, ".") != 0 && strcmp (parent, "..") != 0 && parent[0] != '/' ? parent
                                                                                               : fallback);
}

static gboolean
has_name (const FabYamlNode *models, const char *name)
{
  for (guint i = 0; models != NULL && models->kind == FAB_YAML_SEQUENCE && i < models->n; i++) {
    const FabYamlNode *node = fab_yaml_get (models->values[i], "name");

    if (node != NULL && node->kind == FAB_YAML_SCALAR && g_strcmp0 (node->text, name) == 0)
      return TRUE;
  }
  return FALSE;
}

static char *
new_name (const FabYamlNode *models, const char *wanted)
{
  char *name = g_strdup (wanted);

  for (guint i = 2; has_name (models, name); i++) {
    g_free (name);
    name = g_strdup_printf ("%s-%u", wanted, i);
  }
  return name;
}

/* Entries -------------------------------------------------------------------------------------------- */

/* Returns the entry of a file, without its name; NULL: a diagnostic was added. */
static FabYamlNode *
make_entry (FabModelFile *self, const char *file, const FabModelFileFormat *format)
{
  g_autofree char *shown = fab_printable (file), *source = g_strdup_printf ("%s: %s", shown, format->name);
  guint n_before = fab_diagnostics_count (self->diagnostics);
  FabYamlNode *entry;

  if (self->root->kind != FAB_YAML_MAPPING || self->root->n == 0) {
    fab_model_file_fail (self, self->root, "this is not a %s", format->name);
    return NULL;
  }
  entry = container (self, FAB_YAML_MAPPING, &self->root->mark);
  self->shape = container (self, FAB_YAML_MAPPING, &self->root->mark);
  format->read (self->root, self);
  if (entry != NULL) {
    put (self, entry, "shape", self->shape);
    put (self, entry, "source", scalar (self, source, &self->root->mark));
  }
  if (self->is_full)
    fail_full (self);
  return fab_diagnostics_count (self->diagnostics) == n_before ? entry : NULL;
}

/* Returns the list `models` of the document, created when it is missing. NULL: the key holds something else, or the
 * document is full. */
static FabYamlNode *
models_of (FabModelFile *self)
{
  FabYamlNode *models = fab_yaml_get (self->doc->root, "models");

  if (models == NULL || (models->kind == FAB_YAML_SCALAR && models->text == NULL)) {
    models = container (self, FAB_YAML_SEQUENCE, &self->root->mark);
    put (self, self->doc->root, "models", models);
  }
  return models != NULL && models->kind == FAB_YAML_SEQUENCE ? models : NULL;
}

/* Replaces the path in `value` by the name of a new entry. */
static void
read_model (FabYamlDoc *doc, FabYamlNode *value, const FabModelFileFormat *format,
            FabDiagnostics *diagnostics)
{
  g_autofree char *path = fab_yaml_source_beside (&value->mark, value->text), *name = NULL, *wanted = NULL;
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) problem = NULL;
  FabModelFile self = { .doc = doc, .diagnostics = diagnostics, .notes = notes };
  FabYamlSource *source = fab_yaml_source_load (path, TRUE, &problem);
  g_autoptr (FabDiagnostics) own = fab_diagnostics_new ();
  FabYamlNode *entry, *models, *node;

  if (source == NULL) {
    fab_diagnostics_add (diagnostics, &value->mark, "%s", problem->message);
    return;
  }
  self.root = fab_yaml_tree_add (doc, source, own);
  if (self.root == NULL || fab_yaml_get (self.root, format->key) == NULL) {
    fab_diagnostics_add (
        diagnostics, &value->mark,
        "%s is not a %s, which needs a key '%s'; its text is not shown, because the file may be private",
        path, format->name, format->key);
    return;
  }
  fab_diagnostics_add_all (diagnostics, own);
  entry = make_entry (&self, path, format);
  models = entry != NULL ? models_of (&self) : NULL;
  if (models != NULL) {
    wanted = name_of_path (path, "config");
    name = new_name (models, wanted);
    node = scalar (&self, name, &value->mark);
    put (&self, entry, "name", node);
    fab_yaml_tree_append (models, NULL, entry);
    if (node != NULL)
      value->text = node->text;
  }
  if (entry != NULL && self.is_full)
    fail_full (&self);
}

static gboolean
is_path (const FabYamlNode *key, const FabYamlNode *value)
{
  return strcmp (key->text, "model") == 0 && value->kind == FAB_YAML_SCALAR && value->text != NULL
      && g_str_has_suffix (value->text, ".json");
}

static void
collect (FabYamlNode *node, GPtrArray *values)
{
  for (guint i = 0; i < node->n; i++) {
    if (node->kind == FAB_YAML_MAPPING && is_path (node->keys[i], node->values[i]))
      g_ptr_array_add (values, node->values[i]);
    else
      collect (node->values[i], values);
  }
}

void
fab_model_files_read (FabYamlDoc *doc, const FabRegistry *registry, FabDiagnostics *diagnostics)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();

  if (registry->model_file == NULL)
    return;
  collect (doc->root, values);
  if (values->len > 0 && doc->base != NULL) {
    g_ptr_array_set_size (values, 0);
    if (fab_yaml_tree_own_all (doc))
      collect (doc->root, values);
    else
      fab_diagnostics_add (diagnostics, &doc->root->mark, "one document holds more than %u values",
                           FAB_YAML_MAX_NODES);
  }
  for (guint i = 0; i < values->len; i++) {
    const FabYamlNode *value = g_ptr_array_index (values, i);

    if (!has_name (fab_yaml_get (doc->root, "models"), value->text))
      read_model (doc, g_ptr_array_index (values, i), registry->model_file, diagnostics);
  }
}

/* Fragments ------------------------------------------------------------------------------------------ */

static char *
fragment_text (const FabModelFile *self, const FabYamlNode *section, const char *file)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *yaml = fab_yaml_node_text (section), *label = g_strescape (file, NULL);

  g_string_append_printf (
      text, "# A model from %s. Include this file in a scenario, and name the model in its job.\n", label);
  for (guint i = 0; i < self->notes->len; i++)
    g_string_append_printf (text, "# %s\n", (const char *) g_ptr_array_index (self->notes, i));
  g_string_append (text, yaml);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

char *
fab_model_file_fragment (const char *file, const char *name, const char *text, gsize size,
                         const FabRegistry *registry, GError **error)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_tree_new ();
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (FabSchemaReader) reader = fab_schema_reader_new (registry, diagnostics);
  g_autofree char *path_name = name_of_path (file, "imported");
  FabModelFile self = { .doc = doc, .diagnostics = diagnostics, .notes = notes };
  FabCatalogSections sections;
  FabYamlNode *entry = NULL, *named, *models;

  self.root = fab_yaml_tree_add (doc, fab_yaml_source_new (file, text, size), diagnostics);
  if (self.root != NULL)
    entry = make_entry (&self, file, registry->model_file);
  if (!fab_diagnostics_check (diagnostics, error))
    return NULL;
  named = container (&self, FAB_YAML_MAPPING, &self.root->mark);
  put (&self, named, "name", scalar (&self, name != NULL ? name : path_name, &self.root->mark));
  put (&self, named, "shape", fab_yaml_get (entry, "shape"));
  put (&self, named, "source", fab_yaml_get (entry, "source"));
  models = container (&self, FAB_YAML_SEQUENCE, &self.root->mark);
  doc->root = container (&self, FAB_YAML_MAPPING, &self.root->mark);
  put (&self, doc->root, "models", models);
  if (self.is_full) {
    fail_full (&self);
  } else {
    fab_yaml_tree_append (models, NULL, named);
    fab_schema_read (reader, doc->root, fab_catalog_params, &sections);
  }
  return fab_diagnostics_check (diagnostics, error) ? fragment_text (&self, doc->root, file) : NULL;
}
