/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_tree.c - the nodes of a YAML document, and the document itself.
 *
 * Aliases are copied, not shared, so that --set below one of them changes that place only. The node limit bounds the
 * cost of copies, and texts are shared. A node owns its two arrays; the document owns nodes and texts. This file does
 * not use libyaml: parsing is in yaml_doc.c.
 */
#include "sim/scenario/yaml_tree.h"

static const gsize text_block_bytes = 4096;

static void
node_free (gpointer data)
{
  FabYamlNode *node = data;

  g_free (node->keys);
  g_free (node->values);
  fab_value_unref (node->value);
  g_free (node);
}

static void
source_free (gpointer data)
{
  fab_yaml_source_free (data);
}

FabYamlDoc *
fab_yaml_tree_new (void)
{
  FabYamlDoc *self = g_new0 (FabYamlDoc, 1);

  g_atomic_ref_count_init (&self->n_users);
  self->nodes = g_ptr_array_new_with_free_func (node_free);
  self->texts = g_string_chunk_new (text_block_bytes);
  self->sources = g_ptr_array_new_with_free_func (source_free);
  return self;
}

FabYamlDoc *
fab_yaml_doc_copy (const FabYamlDoc *self)
{
  FabYamlDoc *copy = fab_yaml_tree_new ();

  copy->base = (FabYamlDoc *) self;
  g_atomic_ref_count_inc (&copy->base->n_users);
  copy->n_inherited = self->n_inherited + self->nodes->len;
  copy->root = self->root;
  return copy;
}

gboolean
fab_yaml_doc_is_copied (const FabYamlDoc *self)
{
  return !g_atomic_ref_count_compare ((gatomicrefcount *) &self->n_users, 1);
}

void
fab_yaml_doc_free (FabYamlDoc *self)
{
  FabYamlDoc *base;

  if (self == NULL || !g_atomic_ref_count_dec (&self->n_users))
    return;
  base = self->base;
  g_ptr_array_unref (self->nodes);
  g_string_chunk_free (self->texts);
  g_ptr_array_unref (self->sources);
  g_free (self);
  fab_yaml_doc_free (base);
}

FabYamlNode *
fab_yaml_doc_root (const FabYamlDoc *self)
{
  return self->root;
}

FabYamlNode *
fab_yaml_tree_node (FabYamlDoc *doc, FabYamlKind kind, const FabMark *mark)
{
  FabYamlNode *node;

  if (doc->n_inherited + doc->nodes->len >= FAB_YAML_MAX_NODES)
    return NULL;
  node = g_new0 (FabYamlNode, 1);
  node->owner = doc;
  node->kind = kind;
  node->mark = *mark;
  g_ptr_array_add (doc->nodes, node);
  return node;
}

FabYamlNode *
fab_yaml_tree_scalar (FabYamlDoc *doc, const char *text, const FabMark *mark)
{
  FabYamlNode *node = fab_yaml_tree_node (doc, FAB_YAML_SCALAR, mark);

  if (node == NULL || text == NULL)
    return node;
  node->text = g_string_chunk_insert (doc->texts, text);
  return node;
}

/* Arrays grow by doubling; their capacity is the next power of two. */
static FabYamlNode **
grown (FabYamlNode **array, guint n)
{
  if ((n & (n - 1)) != 0)
    return array;
  return g_renew (FabYamlNode *, array, n == 0 ? 1 : 2 * (gsize) n);
}

void
fab_yaml_tree_append (FabYamlNode *parent, FabYamlNode *key, FabYamlNode *value)
{
  parent->values = grown (parent->values, parent->n);
  parent->values[parent->n] = value;
  if (key != NULL) {
    parent->keys = grown (parent->keys, parent->n);
    parent->keys[parent->n] = key;
  }
  parent->n++;
}

FabYamlNode *
fab_yaml_tree_copy (FabYamlDoc *doc, const FabYamlNode *node, guint depth)
{
  FabYamlNode *copy = depth > 0 ? fab_yaml_tree_node (doc, node->kind, &node->mark) : NULL;

  if (copy == NULL)
    return NULL;
  copy->text = node->text;
  copy->is_quoted = node->is_quoted;
  copy->value = fab_value_ref (node->value);
  for (guint i = 0; i < node->n; i++) {
    FabYamlNode *key = node->keys != NULL ? fab_yaml_tree_copy (doc, node->keys[i], depth - 1) : NULL;
    FabYamlNode *value = fab_yaml_tree_copy (doc, node->values[i], depth - 1);

    if (value == NULL || (node->keys != NULL && key == NULL))
      return NULL;
    fab_yaml_tree_append (copy, key, value);
  }
  return copy;
}

FabYamlNode *
fab_yaml_tree_own (FabYamlDoc *doc, FabYamlNode **slot)
{
  const FabYamlNode *node = *slot;
  FabYamlNode *copy;

  if (node->owner == doc)
    return *slot;
  copy = fab_yaml_tree_node (doc, node->kind, &node->mark);
  if (copy == NULL)
    return NULL;
  copy->text = node->text;
  copy->is_quoted = node->is_quoted;
  copy->value = fab_value_ref (node->value);
  for (guint i = 0; i < node->n; i++)
    fab_yaml_tree_append (copy, node->keys != NULL ? node->keys[i] : NULL, node->values[i]);
  *slot = copy;
  return copy;
}

gboolean
fab_yaml_tree_own_all (FabYamlDoc *doc)
{
  FabYamlNode *root;

  doc->n_inherited = 0; /* none of them is part of this tree any more */
  root = fab_yaml_tree_copy (doc, doc->root, G_MAXUINT);
  if (root != NULL)
    doc->root = root;
  return root != NULL;
}

FabYamlNode *
fab_yaml_get (const FabYamlNode *mapping, const char *key)
{
  if (mapping == NULL || mapping->kind != FAB_YAML_MAPPING)
    return NULL;
  for (guint i = 0; i < mapping->n; i++)
    if (g_str_equal (mapping->keys[i]->text, key))
      return mapping->values[i];
  return NULL;
}

FabYamlNode *
fab_yaml_named_item (const FabYamlNode *list, const char *name)
{
  for (guint i = 0; list->kind == FAB_YAML_SEQUENCE && i < list->n; i++) {
    const FabYamlNode *its = fab_yaml_get (list->values[i], "name");

    if (its != NULL && its->kind == FAB_YAML_SCALAR && g_strcmp0 (its->text, name) == 0)
      return list->values[i];
  }
  return NULL;
}
