/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_set.c - applies one assignment `--set a.b.c=value` to a document.
 *
 * The path is followed from the root. Missing mappings are created, and a scalar on the path is read as the short form
 * of a model, {kind: scalar}; `list.+` is a new item at the end of a list. New nodes carry marks into the assignment,
 * so that later messages point at the command line. O(keys on the path).
 */
#include <string.h>

#include "sim/scenario/yaml_tree.h"

typedef struct {
  FabYamlDoc *doc;
  FabYamlSource *source;
  FabDiagnostics *diagnostics;
} Setter;

static FabMark
mark_of (const Setter *self, const char *at, gsize length)
{
  FabMark mark = fab_yaml_source_mark_at (self->source, (gsize) (at - self->source->data));

  mark.length = (guint) MAX (1, g_utf8_strlen (at, (gssize) length));
  return mark;
}

static gboolean
fail (const Setter *self, const char *at, gsize length, const char *message)
{
  FabMark mark = mark_of (self, at, length);

  fab_diagnostics_add (self->diagnostics, &mark, "%s", message);
  return FALSE;
}

/* A scalar becomes {kind: scalar}, nothing becomes {}. FALSE: the document is full. */
static gboolean
make_mapping (const Setter *self, FabYamlNode *node, const FabMark *mark)
{
  FabYamlNode *key, *value;

  if (node->text != NULL) {
    key = fab_yaml_tree_scalar (self->doc, "kind", &node->mark);
    value = fab_yaml_tree_scalar (self->doc, node->text, &node->mark);
    if (key == NULL || value == NULL)
      return FALSE;
    fab_yaml_tree_append (node, key, value);
  }
  node->kind = FAB_YAML_MAPPING;
  node->text = NULL;
  node->mark = *mark;
  return TRUE;
}

/* Returns the place of a key's value, created when it is missing; NULL: a diagnostic was added. */
static FabYamlNode **
slot_in_mapping (const Setter *self, FabYamlNode *mapping, const char *name, const FabMark *mark)
{
  FabYamlNode *key, *value;

  for (guint i = 0; i < mapping->n; i++)
    if (g_str_equal (mapping->keys[i]->text, name))
      return &mapping->values[i];
  key = fab_yaml_tree_scalar (self->doc, name, mark);
  value = fab_yaml_tree_scalar (self->doc, NULL, mark);
  if (key == NULL || value == NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "more than %u values in one document", FAB_YAML_MAX_NODES);
    return NULL;
  }
  fab_yaml_tree_append (mapping, key, value);
  return &mapping->values[mapping->n - 1];
}

static FabYamlNode **
slot_in_sequence (const Setter *self, FabYamlNode *sequence, const char *name, const FabMark *mark)
{
  guint64 index;

  if (g_ascii_string_to_unsigned (name, 10, 0, G_MAXUINT32, &index, NULL) && index < sequence->n)
    return &sequence->values[index];
  if (sequence->n == 0)
    fab_diagnostics_add (self->diagnostics, mark, "'%s' names nothing: the list is empty", name);
  else
    fab_diagnostics_add (self->diagnostics, mark, "'%s' is no item of this list; its items are 0 to %u", name,
                         sequence->n - 1);
  return NULL;
}

/* Adds a new last item. A missing value becomes a list. */
static FabYamlNode **
slot_at_end (const Setter *self, FabYamlNode *list, const FabMark *mark)
{
  if (list->kind == FAB_YAML_SCALAR && list->text == NULL) {
    list->kind = FAB_YAML_SEQUENCE;
    list->mark = *mark;
  }
  if (list->kind != FAB_YAML_SEQUENCE) {
    fab_diagnostics_add (self->diagnostics, mark, "'+' adds to a list, and this is none");
    return NULL;
  }
  FabYamlNode *value = fab_yaml_tree_scalar (self->doc, NULL, mark);
  if (value == NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "more than %u values in one document", FAB_YAML_MAX_NODES);
    return NULL;
  }
  fab_yaml_tree_append (list, NULL, value);
  return &list->values[list->n - 1];
}

/* Takes one step along the path: `at` is `length` bytes of the assignment. */
static FabYamlNode **
step (const Setter *self, FabYamlNode *node, const char *at, gsize length)
{
  FabMark mark = mark_of (self, at, length);
  g_autofree char *name = g_strndup (at, length);

  if (length == 0) {
    fail (self, at, 1, "a key is missing here");
    return NULL;
  }
  if (strcmp (name, "+") == 0)
    return slot_at_end (self, node, &mark);
  if (node->kind == FAB_YAML_SEQUENCE)
    return slot_in_sequence (self, node, name, &mark);
  if (node->kind == FAB_YAML_SCALAR && !make_mapping (self, node, &mark)) {
    fail (self, at, length, "the document is full");
    return NULL;
  }
  return slot_in_mapping (self, node, name, &mark);
}

static gboolean
assign (const Setter *self, const char *equals)
{
  const char *at = self->source->data;
  FabYamlNode **slot = &self->doc->root, *value;

  for (guint depth = 1; at <= equals; depth++) {
    gsize length = strcspn (at, ".=");

    if (depth > FAB_YAML_MAX_DEPTH)
      return fail (self, at, length, "nested more than 64 levels deep");
    slot = step (self, *slot, at, length);
    if (slot == NULL)
      return FALSE;
    at += length + 1;
  }
  value = fab_yaml_tree_read (self->doc, self->source, (gsize) (equals + 1 - self->source->data),
                              self->diagnostics);
  if (value == NULL)
    return FALSE;
  *slot = value;
  return TRUE;
}

gboolean
fab_yaml_doc_set (FabYamlDoc *self, const char *assignment, FabDiagnostics *diagnostics)
{
  Setter setter = { .doc = self, .diagnostics = diagnostics };
  const char *equals;

  setter.source = fab_yaml_source_new ("--set", assignment, strlen (assignment));
  setter.source->is_inline = TRUE;
  g_ptr_array_add (self->sources, setter.source);
  if (!fab_yaml_source_check (setter.source, diagnostics))
    return FALSE;
  if (setter.source->lines->len > 1)
    return fail (&setter, setter.source->data, 1, "an assignment is one line");
  equals = strchr (setter.source->data, '=');
  if (equals == NULL)
    return fail (&setter, setter.source->data, setter.source->size,
                 "an assignment is key=value, for example cluster.nodes=8");
  return assign (&setter, equals);
}
