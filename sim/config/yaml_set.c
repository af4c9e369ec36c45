/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_set.c - applies one assignment `--set a.b.c=value` to a document; the value is text or typed.
 *
 * The path is followed from the root. Missing mappings are created, and a scalar on the path is read as the short
 * form of a model, {kind: scalar}; `list.+` is a new item at the end of a list, `list.3` and `list.wire` are the items
 * with that number and that `name`. New nodes carry marks into the assignment, so that later messages point at the
 * command line. A node that belongs to the document of which this one is a copy is copied before it changes. O(keys on
 * the path).
 */
#include <string.h>

#include "sim/config/yaml_doc.h"

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
    g_clear_pointer (&node->value, fab_value_unref);
    fab_yaml_tree_append (node, key, value);
  }
  node->kind = FAB_YAML_MAPPING;
  node->text = NULL;
  node->mark = *mark;
  return TRUE;
}

/* Which of the node's values this key or item is, an item by its number or its `name`; G_MAXUINT: none. */
static guint
index_of (const FabYamlNode *node, const char *name)
{
  const FabYamlNode *named = fab_yaml_named_item (node, name);
  guint64 index;

  if (node->kind == FAB_YAML_SEQUENCE && g_ascii_string_to_unsigned (name, 10, 0, G_MAXUINT32, &index, NULL)
      && index < node->n)
    return (guint) index;
  for (guint i = 0; i < node->n; i++)
    if (node->kind == FAB_YAML_MAPPING ? strcmp (node->keys[i]->text, name) == 0 : node->values[i] == named)
      return i;
  return G_MAXUINT;
}

/* Returns the place of a key's value, created when it is missing; NULL: a diagnostic was added. */
static FabYamlNode **
slot_in_mapping (const Setter *self, FabYamlNode *mapping, const char *name, const FabMark *mark)
{
  guint index = index_of (mapping, name);
  FabYamlNode *key, *value;

  if (index < G_MAXUINT)
    return &mapping->values[index];
  key = fab_yaml_tree_scalar (self->doc, name, mark);
  value = fab_yaml_tree_scalar (self->doc, NULL, mark);
  if (key == NULL || value == NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "one document holds more than %u values",
                         FAB_YAML_MAX_NODES);
    return NULL;
  }
  fab_yaml_tree_append (mapping, key, value);
  return &mapping->values[mapping->n - 1];
}

static FabYamlNode **
slot_in_sequence (const Setter *self, FabYamlNode *sequence, const char *name, const FabMark *mark)
{
  guint index = index_of (sequence, name);

  if (index < G_MAXUINT)
    return &sequence->values[index];
  if (sequence->n == 0)
    fab_diagnostics_add (self->diagnostics, mark, "'%s' does not exist: the list is empty", name);
  else
    fab_diagnostics_add (self->diagnostics, mark, "'%s' is not an item of this list; its items are 0 to %u",
                         name, sequence->n - 1);
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
    fab_diagnostics_add (self->diagnostics, mark, "'+' adds to a list, and this is not a list");
    return NULL;
  }
  FabYamlNode *value = fab_yaml_tree_scalar (self->doc, NULL, mark);
  if (value == NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "one document holds more than %u values",
                         FAB_YAML_MAX_NODES);
    return NULL;
  }
  fab_yaml_tree_append (list, NULL, value);
  return &list->values[list->n - 1];
}

/* Takes one step along the path: `at` is `length` bytes of the assignment. */
static FabYamlNode **
step (const Setter *self, FabYamlNode **slot, const char *at, gsize length)
{
  FabMark mark = mark_of (self, at, length);
  g_autofree char *name = g_strndup (at, length);
  FabYamlNode *node;

  if (length == 0) {
    fail (self, at, 1, "a key is missing here");
    return NULL;
  }
  node = fab_yaml_tree_own (self->doc, slot);
  if (node == NULL) {
    fail (self, at, length, "the document is full");
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

/* Where the value of the assignment goes; NULL: a diagnostic was added. */
static FabYamlNode **
find_slot (const Setter *self, const char *equals)
{
  const char *at = self->source->data;
  FabYamlNode **slot = &self->doc->root;

  for (guint depth = 1; at <= equals && slot != NULL; depth++) {
    gsize length = strcspn (at, ".=");

    if (depth > FAB_YAML_MAX_DEPTH) {
      fail (self, at, length, "values are nested more than 64 levels deep");
      return NULL;
    }
    slot = step (self, slot, at, length);
    at += length + 1;
  }
  return slot;
}

/* --- what an assignment undoes --- */

/* Returns the source of the assignment that wrote this node; NULL when it comes from a file. */
static const FabYamlSource *
assignment_of (const FabYamlDoc *doc, const FabYamlNode *node)
{
  for (const FabYamlDoc *at = doc; at != NULL; at = at->base)
    for (guint i = 0; i < at->sources->len; i++) {
      const FabYamlSource *source = g_ptr_array_index (at->sources, i);

      if (source->file == node->mark.file)
        return source->is_inline ? source : NULL;
    }
  return NULL;
}

/* Returns the first assignment that wrote a scalar or an empty value of the tree; with `is_protected`, the first
 * protected one. */
static const FabYamlSource *
find_assignment (const FabYamlDoc *doc, const FabYamlNode *node, gboolean is_protected)
{
  if (node->n == 0) {
    const FabYamlSource *source = assignment_of (doc, node);

    return source != NULL && (source->is_protected || !is_protected) ? source : NULL;
  }
  for (guint i = 0; i < node->n; i++) {
    const FabYamlSource *source = find_assignment (doc, node->values[i], is_protected);

    if (source != NULL)
      return source;
  }
  return NULL;
}

static gboolean
has_protected (const FabYamlDoc *doc)
{
  for (guint i = 0; i < doc->sources->len; i++)
    if (((const FabYamlSource *) g_ptr_array_index (doc->sources, i))->is_protected)
      return TRUE;
  return FALSE;
}

/* Puts the value into the slot, unless that undoes a protected assignment. */
static gboolean
replace (const Setter *self, FabYamlNode **slot, FabYamlNode *value)
{
  const FabYamlSource *undone = has_protected (self->doc) ? find_assignment (self->doc, *slot, TRUE) : NULL;

  if (undone != NULL) {
    g_autofree char *before = fab_yaml_node_text (*slot), *after = fab_yaml_node_text (value);

    if (strcmp (before, after) != 0) {
      FabMark mark = mark_of (self, self->source->data, self->source->size);
      gboolean is_part = strcspn (undone->data, "=") > strcspn (self->source->data, "=");

      fab_diagnostics_add (self->diagnostics, &mark, "this undoes '%s', which was given too; %s",
                           undone->data, is_part ? "give it first" : "give only one of the two");
      return FALSE;
    }
  }
  *slot = value;
  return TRUE;
}

/* Returns where the name of a model goes that is there already, with keys of its own; otherwise `slot`. */
static FabYamlNode **
slot_of_kind (FabYamlNode **slot, const FabYamlNode *value)
{
  FabYamlNode *old = *slot;

  if (old->kind != FAB_YAML_MAPPING || value->kind != FAB_YAML_SCALAR || value->text == NULL)
    return slot;
  for (guint i = 0; i < old->n; i++)
    if (strcmp (old->keys[i]->text, "kind") == 0 && g_strcmp0 (old->values[i]->text, value->text) == 0)
      return &old->values[i];
  return slot;
}

static gboolean
put (const Setter *self, FabYamlNode **slot, FabYamlNode *value)
{
  if (slot_of_kind (slot, value) != slot) {
    if (fab_yaml_tree_own (self->doc, slot) == NULL)
      return fail (self, self->source->data, 1, "the document is full");
    slot = slot_of_kind (slot, value);
  }
  return replace (self, slot, value);
}

static gboolean
assign (const Setter *self, const char *equals)
{
  FabYamlNode **slot = find_slot (self, equals), *value;

  if (slot == NULL)
    return FALSE;
  value = fab_yaml_tree_read (self->doc, self->source, (gsize) (equals + 1 - self->source->data),
                              self->diagnostics);
  if (value == NULL)
    return FALSE;
  return put (self, slot, value);
}

void
fab_yaml_doc_protect_last (FabYamlDoc *self)
{
  if (self->sources->len > 0)
    ((FabYamlSource *) g_ptr_array_index (self->sources, self->sources->len - 1))->is_protected = TRUE;
}

void
fab_yaml_doc_unprotect (FabYamlDoc *self)
{
  for (guint i = 0; i < self->sources->len; i++)
    ((FabYamlSource *) g_ptr_array_index (self->sources, i))->is_protected = FALSE;
}

/* The document owns the source from now on. */
static Setter
setter_of (FabYamlDoc *doc, const char *origin, const char *assignment, FabDiagnostics *diagnostics)
{
  Setter self = { .doc = doc, .diagnostics = diagnostics };

  self.source = fab_yaml_source_new (origin, assignment, strlen (assignment));
  self.source->is_inline = TRUE;
  g_ptr_array_add (doc->sources, self.source);
  return self;
}

gboolean
fab_yaml_doc_set (FabYamlDoc *self, const char *origin, const char *assignment, FabDiagnostics *diagnostics)
{
  Setter setter = setter_of (self, origin, assignment, diagnostics);
  const char *equals;

  if (!fab_yaml_source_check (setter.source, diagnostics))
    return FALSE;
  if (setter.source->lines->len > 1)
    return fail (&setter, setter.source->data, 1, "an assignment must be one line");
  equals = strchr (setter.source->data, '=');
  if (equals == NULL)
    return fail (&setter, setter.source->data, setter.source->size,
                 "an assignment has the form key=value, for example cluster.nodes=8");
  return assign (&setter, equals);
}

/* --- typed values --- */

/* The node of a value that stands behind `*at`, which is moved behind it; NULL when the document is full. */
static FabYamlNode *
build (const Setter *self, const FabValue *value, const char **at)
{
  g_autofree char *text = fab_value_write (value);
  gboolean is_scalar = value == NULL || value->values == NULL;
  FabMark mark = mark_of (self, *at, is_scalar ? strlen (text) : 1);
  FabYamlNode *node;

  if (is_scalar) {
    node = fab_yaml_tree_scalar (self->doc,
                                 value != NULL && value->text != NULL ? value->text
                                 : value != NULL                      ? text
                                                                      : NULL,
                                 &mark);
    *at += strlen (text);
    if (node != NULL) {
      gboolean is_written = value != NULL && value->kind == FAB_VALUE_WRITTEN;

      node->value = is_written ? NULL : fab_value_ref (value);
      node->is_quoted = value != NULL && value->kind == FAB_VALUE_TEXT;
    }
    return node;
  }
  node = fab_yaml_tree_node (self->doc, value->keys != NULL ? FAB_YAML_MAPPING : FAB_YAML_SEQUENCE, &mark);
  for (guint i = 0; node != NULL && i < value->values->len; i++) {
    const char *name = value->keys != NULL ? g_ptr_array_index (value->keys, i) : NULL;
    FabYamlNode *key = NULL, *item;

    *at += i == 0 ? strlen ("{") : strlen (", ");
    if (name != NULL) {
      mark = mark_of (self, *at, strlen (name));
      key = fab_yaml_tree_scalar (self->doc, name, &mark);
      *at += strlen (name) + strlen (": ");
    }
    item = build (self, g_ptr_array_index (value->values, i), at);
    if (item == NULL || (name != NULL && key == NULL))
      return NULL;
    fab_yaml_tree_append (node, key, item);
  }
  *at += value->values->len > 0 ? strlen ("}") : strlen ("{}");
  return node;
}

FabYamlNode *
fab_yaml_tree_remove (FabYamlNode *parent, guint index)
{
  FabYamlNode *value = parent->values[index];
  gsize n_behind = --parent->n - index;

  memmove (&parent->values[index], &parent->values[index + 1], n_behind * sizeof value);
  if (parent->keys != NULL)
    memmove (&parent->keys[index], &parent->keys[index + 1], n_behind * sizeof value);
  return value;
}

/* What is not there need not be taken away. */
static gboolean
take_away (const Setter *self, const char *key)
{
  g_auto (GStrv) parts = g_strsplit (key, ".", -1);
  FabYamlNode **slot = &self->doc->root;

  for (guint i = 0; parts[i] != NULL; i++) {
    guint index = index_of (*slot, parts[i]);
    FabYamlNode *node;

    if (index == G_MAXUINT)
      return TRUE;
    node = fab_yaml_tree_own (self->doc, slot);
    if (node == NULL)
      return fail (self, self->source->data, 1, "the document is full");
    if (parts[i + 1] == NULL)
      fab_yaml_tree_remove (node, index);
    else
      slot = &node->values[index];
  }
  return TRUE;
}

gboolean
fab_yaml_doc_put (FabYamlDoc *self, const char *origin, const char *key, const FabValue *value,
                  FabDiagnostics *diagnostics)
{
  g_autofree char *written = fab_value_write (value), *assignment = g_strconcat (key, "=", written, NULL);
  Setter setter = setter_of (self, origin, assignment, diagnostics);
  const char *equals = setter.source->data + strlen (key), *at = equals + 1;
  FabYamlNode **slot, *node;

  if (value == NULL)
    return take_away (&setter, key);
  slot = find_slot (&setter, equals);
  if (slot == NULL)
    return FALSE;
  node = build (&setter, value, &at);
  if (node == NULL)
    return fail (&setter, equals, 1, "the document is full");
  return put (&setter, slot, node);
}

const char *
fab_yaml_doc_assigned (const FabYamlDoc *self, const char *key)
{
  g_auto (GStrv) parts = g_strsplit (key, ".", -1);
  const FabYamlNode *node = self->root;

  for (guint i = 0; parts[i] != NULL; i++) {
    guint index = index_of (node, parts[i]);

    if (index == G_MAXUINT)
      return NULL;
    node = node->values[index];
  }
  const FabYamlSource *source = find_assignment (self, node, FALSE);
  return source != NULL ? source->data : NULL;
}
