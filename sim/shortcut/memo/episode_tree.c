/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/episode_tree.h"

#include "sim/shortcut/memo/plan_ids.h"

static guint
kept_hash (gconstpointer bytes)
{
  gsize size;
  const guint64 *words = g_bytes_get_data ((GBytes *) bytes, &size);

  return fab_words_hash (words, size / sizeof *words);
}

void
fab_episode_tree_init (FabEpisodeTree *self)
{
  *self = (FabEpisodeTree){
    .known = g_hash_table_new_full (kept_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL),
  };
}

void
fab_episode_tree_clear (FabEpisodeTree *self)
{
  g_hash_table_unref (self->known);
}

FabEpisodeNode *
fab_episode_tree_add (FabEpisodeTree *self, FabEpisodeNode *parent, gboolean is_output, guint32 what,
                      FabTimePs after_ps)
{
  FabEpisodeNode *node = g_new0 (FabEpisodeNode, 1);

  *node = (FabEpisodeNode){
    .parent = parent, .is_output = is_output, .what = what, .after_ps = after_ps, .quiet_ps = -1
  };
  self->n_bytes += sizeof *node;
  return node;
}

/* The nodes still to free are linked by `sibling`. */
void
fab_episode_tree_cut (FabEpisodeTree *self, FabEpisodeNode *node)
{
  while (node != NULL) {
    FabEpisodeNode *next = node->sibling, **last = &node->inputs;

    while (*last != NULL)
      last = &(*last)->sibling;
    *last = next;
    next = node->inputs;
    if (node->output != NULL) {
      node->output->sibling = next;
      next = node->output;
    }
    g_free (node);
    self->n_bytes -= sizeof *node;
    node = next;
  }
}

GBytes *
fab_episode_tree_keep (FabEpisodeTree *self, const GArray *array)
{
  const gsize overhead = 64; /* of the table and of the object, about */
  gsize size = (gsize) array->len * g_array_get_element_size ((GArray *) array);
  GBytes *bytes = g_bytes_new (array->data, size);
  gpointer known;

  if (g_hash_table_lookup_extended (self->known, bytes, &known, NULL)) {
    g_bytes_unref (bytes);
    return known;
  }
  self->n_bytes += size + overhead;
  g_hash_table_add (self->known, bytes);
  return bytes;
}

FabEpisodeNode *
fab_episode_node_find (const FabEpisodeNode *self, guint32 what, FabTimePs after_ps, FabTimePs slack_ps)
{
  FabEpisodeNode *nearest = NULL;
  FabTimePs least_ps = slack_ps;

  for (FabEpisodeNode *child = self != NULL ? self->inputs : NULL; child != NULL; child = child->sibling) {
    FabTimePs off_ps = ABS (child->after_ps - after_ps);

    if (child->what != what || off_ps > least_ps || (nearest != NULL && off_ps == least_ps))
      continue;
    nearest = child;
    least_ps = off_ps;
  }
  return nearest;
}
