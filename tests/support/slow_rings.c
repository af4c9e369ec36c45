/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/slow_rings.h"

#include <string.h>

enum { MOST_VERTICES = SLOW_RINGS_MOST, MOST_ORDERS = 120 };

/* All orders of the vertices from one vertex on. */
typedef struct {
  guint n, n_orders;
  gboolean is_closed; /* the last one is followed by the first */
  guint orders[MOST_ORDERS][MOST_VERTICES];
} Orders;

/* `last` is where they end; G_MAXUINT: anywhere. */
static void
list_orders (Orders *self, guint *order, guint n_placed, guint last)
{
  if (n_placed == self->n && (last == G_MAXUINT || order[n_placed - 1] == last))
    memcpy (self->orders[self->n_orders++], order, sizeof self->orders[0]);
  for (guint v = 0; n_placed < self->n && v < self->n; v++) {
    gboolean is_new = TRUE;

    for (guint i = 0; i < n_placed; i++)
      is_new = is_new && order[i] != v;
    order[n_placed] = v;
    if (is_new)
      list_orders (self, order, n_placed + 1, last);
  }
}

static Orders
orders_between (guint n, guint first, guint last)
{
  Orders self = { n, 0, last == G_MAXUINT, { { 0 } } };
  guint order[MOST_VERTICES] = { first };

  list_orders (&self, order, 1, last);
  return self;
}

/* Takes the links of an order, or gives them back. FALSE: a link of it is not there, and nothing was taken. */
static gboolean
take (const Orders *self, guint which, guint *left, gboolean gives_back)
{
  guint n_steps = self->n - !self->is_closed;

  for (guint i = 0; i < n_steps; i++) {
    guint *link = &left[self->orders[which][i] * self->n + self->orders[which][(i + 1) % self->n]];

    if (!gives_back && *link == 0) {
      while (i-- > 0)
        left[self->orders[which][i] * self->n + self->orders[which][(i + 1) % self->n]]++;
      return FALSE;
    }
    *link += gives_back ? 1 : -1U;
  }
  return TRUE;
}

/* Whether `n_wanted` rings fit, the same one as often as it fits. */
static gboolean
rings_fit (const Orders *self, guint from, guint n_wanted, guint *left)
{
  guint n_out = 0;

  for (guint to = 0; to < self->n; to++)
    n_out += left[to];
  if (n_wanted == 0)
    return TRUE;
  for (guint which = from; n_wanted <= n_out && which < self->n_orders; which++) {
    if (!take (self, which, left, FALSE))
      continue;
    gboolean fits = rings_fit (self, which, n_wanted - 1, left);
    take (self, which, left, TRUE);
    if (fits)
      return TRUE;
  }
  return FALSE;
}

static void
scale (const Wiring *wiring, guint load, guint *left)
{
  for (guint i = 0; i < wiring->n * wiring->n; i++)
    left[i] = wiring->counts[i] * load;
}

guint
slow_rings_most (const Wiring *wiring, guint load)
{
  Orders orders = orders_between (wiring->n, 0, G_MAXUINT);
  guint left[MOST_VERTICES * MOST_VERTICES], n = 0;

  scale (wiring, load, left);
  while (rings_fit (&orders, 0, n + 1, left))
    n++;
  return n;
}

/* Whether there are `copies` paths between each pair of ends, from path `at` on. */
static gboolean
paths_fit (const Wiring *wiring, const FabPackArc *ends, guint n_paths, guint copies, guint at, guint *left)
{
  if (at == n_paths * copies)
    return TRUE;

  Orders orders = orders_between (wiring->n, ends[at / copies].from, ends[at / copies].to);
  for (guint which = 0; which < orders.n_orders; which++) {
    if (!take (&orders, which, left, FALSE))
      continue;
    gboolean fits = paths_fit (wiring, ends, n_paths, copies, at + 1, left);
    take (&orders, which, left, TRUE);
    if (fits)
      return TRUE;
  }
  return FALSE;
}

gboolean
slow_rings_has_paths (const Wiring *wiring, guint load, const FabPackArc *ends, guint n_paths, guint copies)
{
  guint left[MOST_VERTICES * MOST_VERTICES];

  scale (wiring, load, left);
  return paths_fit (wiring, ends, n_paths, copies, 0, left);
}
