/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/two_trees.h"

/* Which node stands at a place of the tree. */
static guint
node_at (guint n, guint which, FabTreeRoots roots, guint place)
{
  if (which == 0)
    return place;
  if (roots == FAB_TREE_ROOTS_APART)
    return n % 2 == 0 ? n - 1 - place : (place + 1) % n;
  if (place == 0)
    return 0;
  return n % 2 == 1 ? n - place : 1 + place % (n - 1);
}

/* Places of level `bit` hang under the next place of a higher level; past the end under the one before. */
static guint
parent_place (guint n, guint place, guint bit)
{
  guint above = (place ^ bit) | (bit << 1);

  return above < n ? above : place ^ bit;
}

FabTree *
fab_tree_new (guint n, guint which, FabTreeRoots roots)
{
  FabTree *self = g_new0 (FabTree, 1);
  guint n_ordered = 0;

  g_assert (n > 0 && n <= G_MAXINT32);
  self->n = n;
  self->parents = g_new (guint, n);
  self->order = g_new (guint, n);
  self->n_children = g_new0 (guint, n);
  self->order[n_ordered++] = node_at (n, which, roots, 0);
  self->parents[self->order[0]] = G_MAXUINT;
  for (guint bit = 1u << 30; bit > 0; bit >>= 1)
    for (guint place = bit; place < n; place += 2 * bit) {
      guint node = node_at (n, which, roots, place);

      self->order[n_ordered++] = node;
      self->parents[node] = node_at (n, which, roots, parent_place (n, place, bit));
      self->n_children[self->parents[node]]++;
    }
  return self;
}

void
fab_tree_free (FabTree *self)
{
  if (self == NULL)
    return;
  g_free (self->parents);
  g_free (self->order);
  g_free (self->n_children);
  g_free (self);
}
