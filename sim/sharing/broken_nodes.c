/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sharing/broken_nodes.h"

#include <math.h>

typedef struct {
  double back_s;
  guint group; /* that misses it; G_MAXUINT: a spare stands in */
} Broken;

struct _FabBrokenNodes {
  guint n_spares, n_missing;
  GArray *broken; /* Broken, in the order in which they broke */
};

FabBrokenNodes *
fab_broken_nodes_new (guint n_spares)
{
  FabBrokenNodes *self = g_new0 (FabBrokenNodes, 1);

  self->n_spares = n_spares;
  self->broken = g_array_new (FALSE, FALSE, sizeof (Broken));
  return self;
}

void
fab_broken_nodes_free (FabBrokenNodes *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->broken);
  g_free (self);
}

static Broken *
broken_at (const FabBrokenNodes *self, guint index)
{
  return &g_array_index (self->broken, Broken, index);
}

gboolean
fab_broken_nodes_add (FabBrokenNodes *self, guint group, double back_s)
{
  gboolean has_spare = self->broken->len - self->n_missing < self->n_spares;
  Broken one = { back_s, has_spare ? G_MAXUINT : group };

  g_array_append_val (self->broken, one);
  self->n_missing += !has_spare;
  return has_spare;
}

static guint
find_next (const FabBrokenNodes *self)
{
  guint next = 0;

  for (guint i = 1; i < self->broken->len; i++)
    if (broken_at (self, i)->back_s < broken_at (self, next)->back_s)
      next = i;
  return next;
}

double
fab_broken_nodes_next (const FabBrokenNodes *self)
{
  return self->broken->len > 0 ? broken_at (self, find_next (self))->back_s : INFINITY;
}

guint
fab_broken_nodes_return (FabBrokenNodes *self)
{
  guint next = find_next (self), group = broken_at (self, next)->group;

  g_array_remove_index (self->broken, next);
  for (guint i = 0; group == G_MAXUINT && i < self->broken->len; i++)
    if (broken_at (self, i)->group != G_MAXUINT) {
      group = broken_at (self, i)->group;
      broken_at (self, i)->group = G_MAXUINT;
    }
  self->n_missing -= group != G_MAXUINT;
  return group;
}

guint
fab_broken_nodes_missing (const FabBrokenNodes *self)
{
  return self->n_missing;
}
