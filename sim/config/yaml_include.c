/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_include.c - merges the files of `include: [a.yaml, b.yaml]` under a document.
 *
 * An included file is read into the including document, so that its marks live as long and its values count towards
 * the same limit. A file may include others, relative to itself; a file that includes itself is refused at that
 * place.
 * Files are merged in order, and the document comes last. O(values x keys beside them).
 */
#include <string.h>

#include "sim/config/yaml_doc.h"

#define KEY "include"
#define MAX_DEPTH 16u
#define MAX_FILES 256u

typedef struct {
  FabYamlDoc *doc;
  FabDiagnostics *diagnostics;
  const char *const *keys; /* of a root; NULL: any */
  GPtrArray *open;         /* char: full paths of the files that are being read */
  guint n_files;
} Includer;

/* Removes a key from a mapping and returns its value; NULL when the key is absent. */
static FabYamlNode *
take (FabYamlNode *mapping, const char *key)
{
  for (guint i = 0; mapping->kind == FAB_YAML_MAPPING && i < mapping->n; i++)
    if (strcmp (mapping->keys[i]->text, key) == 0)
      return fab_yaml_tree_remove (mapping, i);
  return NULL;
}

static const char *
text_of (const FabYamlNode *mapping, const char *key)
{
  const FabYamlNode *node = fab_yaml_get (mapping, key);

  return node != NULL && node->kind == FAB_YAML_SCALAR ? node->text : NULL;
}

/* Mappings of different kinds have different keys, so they do not merge. */
static gboolean
can_merge (const FabYamlNode *under, const FabYamlNode *over)
{
  const char *a = text_of (under, "kind"), *b = text_of (over, "kind");

  return under->kind == FAB_YAML_MAPPING && over->kind == FAB_YAML_MAPPING
      && (a == NULL || b == NULL || strcmp (a, b) == 0);
}

/* Appends the entries of `under` whose name `over` does not have. */
static void
join_lists (const FabYamlNode *under, FabYamlNode *over)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < over->n; i++) {
    const char *name = text_of (over->values[i], "name");

    if (name != NULL)
      g_hash_table_add (names, (gpointer) name);
  }
  for (guint i = 0; i < under->n; i++) {
    const char *name = text_of (under->values[i], "name");

    if (name == NULL || !g_hash_table_contains (names, name))
      fab_yaml_tree_append (over, NULL, under->values[i]);
  }
}

/* Adds to `over` what `under` has and `over` has not. */
static void
lay_under (const FabYamlNode *under, FabYamlNode *over, gboolean is_root)
{
  for (guint i = 0; i < under->n; i++) {
    FabYamlNode *value = under->values[i], *mine = fab_yaml_get (over, under->keys[i]->text);

    if (mine == NULL)
      fab_yaml_tree_append (over, under->keys[i], value);
    else if (can_merge (value, mine))
      lay_under (value, mine, FALSE);
    else if (is_root && value->kind == FAB_YAML_SEQUENCE && mine->kind == FAB_YAML_SEQUENCE)
      join_lists (value, mine);
  }
}

static gboolean read_includes (Includer *self, FabYamlNode *root);

/* Whether this file may be read now; if not, a diagnostic was added. */
static gboolean
check_file (Includer *self, const FabYamlNode *name, const char *full)
{
  for (guint i = 0; i < self->open->len; i++)
    if (strcmp (g_ptr_array_index (self->open, i), full) == 0) {
      fab_diagnostics_add (self->diagnostics, &name->mark,
                           "'%s' includes itself, directly or through another file", name->text);
      return FALSE;
    }
  if (self->open->len > MAX_DEPTH || ++self->n_files > MAX_FILES) {
    fab_diagnostics_add (self->diagnostics, &name->mark,
                         "too many included files: the limit is %u files, nested %u deep", MAX_FILES,
                         MAX_DEPTH);
    return FALSE;
  }
  return TRUE;
}

/* Says that a file cannot be included, and where, but shows nothing of it. */
static FabYamlNode *
refuse_file (Includer *self, const FabYamlNode *name, const char *path, guint line, guint column,
             const char *why)
{
  g_autofree char *at = line > 0 ? g_strdup_printf (", line %u, column %u", line, column) : g_strdup ("");

  fab_diagnostics_add (self->diagnostics, &name->mark,
                       "%s%s: %s; its text is not shown, because the file may be private", path, at, why);
  return NULL;
}

/* Reads a file that may be anything. The text of one that is a scenario is shown where it is wrong. */
static FabYamlNode *
read_root (Includer *self, const FabYamlNode *name, const char *path, FabYamlSource *source)
{
  g_autoptr (FabDiagnostics) own = fab_diagnostics_new ();
  FabYamlNode *root = fab_yaml_tree_add (self->doc, source, own);
  guint line, column;

  if (root == NULL) {
    line = fab_diagnostics_first (own, &column);
    return refuse_file (self, name, path, line, column, "this YAML cannot be part of a scenario");
  }
  if (root->kind != FAB_YAML_MAPPING)
    return refuse_file (self, name, path, root->mark.line, root->mark.column,
                        "a file holds keys with values, for example 'links: []'");
  for (guint i = 0; self->keys != NULL && i < root->n; i++)
    if (strcmp (root->keys[i]->text, KEY) != 0 && !g_strv_contains (self->keys, root->keys[i]->text))
      return refuse_file (self, name, path, root->keys[i]->mark.line, root->keys[i]->mark.column,
                          "scenarios have no such key");
  fab_diagnostics_add_all (self->diagnostics, own);
  return root;
}

/* Returns the root of a file after merging all that it includes; NULL: a diagnostic was added. */
static FabYamlNode *
read_file (Includer *self, const FabYamlNode *name)
{
  g_autofree char *path = fab_yaml_source_beside (&name->mark, name->text);
  g_autofree char *full = g_canonicalize_filename (path, NULL);
  g_autoptr (GError) problem = NULL;
  FabYamlSource *source = check_file (self, name, full) ? fab_yaml_source_load (path, TRUE, &problem) : NULL;
  FabYamlNode *root;
  gboolean is_good;

  if (problem != NULL)
    fab_diagnostics_add (self->diagnostics, &name->mark, "%s", problem->message);
  if (source == NULL)
    return NULL;
  root = read_root (self, name, path, source);
  g_ptr_array_add (self->open, g_steal_pointer (&full));
  is_good = root != NULL && read_includes (self, root);
  g_ptr_array_set_size (self->open, (gint) self->open->len - 1);
  return is_good ? root : NULL;
}

static gboolean
check_name (Includer *self, const FabYamlNode *name)
{
  if (name->kind == FAB_YAML_SCALAR && name->text != NULL)
    return TRUE;
  fab_diagnostics_add (self->diagnostics, &name->mark, "'" KEY "' names files: one path, or a list of paths");
  return FALSE;
}

/* Goes from the last name to the first: values that are already there win. */
static gboolean
read_includes (Includer *self, FabYamlNode *root)
{
  FabYamlNode *names = take (root, KEY);
  gboolean is_good = TRUE;

  if (names == NULL || (names->kind == FAB_YAML_SCALAR && names->text == NULL))
    return TRUE;
  for (guint i = names->kind == FAB_YAML_SEQUENCE ? names->n : 1; i-- > 0;) {
    FabYamlNode *name = names->kind == FAB_YAML_SEQUENCE ? names->values[i] : names;
    FabYamlNode *file = check_name (self, name) ? read_file (self, name) : NULL;

    is_good = is_good && file != NULL;
    if (file != NULL)
      lay_under (file, root, TRUE);
  }
  return is_good;
}

gboolean
fab_yaml_doc_include (FabYamlDoc *self, const char *const *keys, FabDiagnostics *diagnostics)
{
  g_autoptr (GPtrArray) open = g_ptr_array_new_with_free_func (g_free);
  Includer includer = { .doc = self, .diagnostics = diagnostics, .keys = keys, .open = open };

  if (self->base != NULL && fab_yaml_get (self->root, KEY) != NULL && !fab_yaml_tree_own_all (self)) {
    fab_diagnostics_add (diagnostics, &self->root->mark, "one document holds more than %u values",
                         FAB_YAML_MAX_NODES);
    return FALSE;
  }
  g_ptr_array_add (open, g_canonicalize_filename (self->root->mark.file, NULL));
  return read_includes (&includer, self->root);
}

void
fab_yaml_doc_list_files (const FabYamlDoc *self, GPtrArray *paths)
{
  for (const FabYamlDoc *doc = self; doc != NULL; doc = doc->base)
    for (guint i = 0; i < doc->sources->len; i++) {
      const FabYamlSource *source = g_ptr_array_index (doc->sources, i);

      if (!source->is_inline)
        g_ptr_array_add (paths, g_strdup (source->file));
    }
}
