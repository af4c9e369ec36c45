/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/rotation.h"

FabRotation *
fab_rotation_new (guint n_links, guint order, guint second_order)
{
  FabRotation *self = g_atomic_rc_box_new0 (FabRotation);

  self->orders[0] = order;
  self->orders[1] = second_order;
  self->n_links = n_links;
  self->stands_for = g_new (FabLinkId, n_links + 1);
  self->turn = g_new0 (guint32, n_links + 1);
  self->next = g_new (FabLinkId, n_links + 1);
  self->stays = g_new0 (guint8, n_links + 1);
  for (FabLinkId link = 0; link < n_links; link++)
    self->stands_for[link] = self->next[link] = link;
  return self;
}

FabRotation *
fab_rotation_ref (FabRotation *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
rotation_clear (gpointer data)
{
  FabRotation *self = data;

  g_free (self->stands_for);
  g_free (self->turn);
  g_free (self->next);
  g_free (self->stays);
  g_free (self->shared);
}

void
fab_rotation_unref (FabRotation *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, rotation_clear);
}

guint32
fab_rotation_between (const FabRotation *self, FabLinkId from, FabLinkId to)
{
  guint32 n = self->orders[0], m = self->orders[1];
  guint8 stays = self->stays[from] | self->stays[to];
  guint32 first = (self->turn[to] / m + n - self->turn[from] / m) % n;
  guint32 second = (self->turn[to] % m + m - self->turn[from] % m) % m;

  return (stays & FAB_ROTATION_STAYS_IN_FIRST ? 0 : first * m)
       + (stays & FAB_ROTATION_STAYS_IN_SECOND ? 0 : second);
}

guint
fab_rotation_sharers (const FabRotation *self, FabLinkId link)
{
  return (self->stays[link] & FAB_ROTATION_STAYS_IN_FIRST ? self->orders[0] : 1)
       * (self->stays[link] & FAB_ROTATION_STAYS_IN_SECOND ? self->orders[1] : 1);
}
