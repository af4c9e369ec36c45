/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/closed_router.h"

#include "tests/support/test.h"

static gboolean
closed_append (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path)
{
  ClosedRouter *self = (ClosedRouter *) router;

  return self->n_asked++ < self->n_found && fab_router_append (self->open, src, dst, flow_hash, path);
}

ClosedRouter
closed_router (FabRouter *open, guint n_found)
{
  static const FabRouterOps ops[] = {
    { .info = { .name = "closed" }, .append = closed_append },
    { .info = { .name = "closed" }, .append = closed_append, .is_hashed = TRUE },
  };

  g_assert (open->ops->spread == NULL);
  return (ClosedRouter){ { &ops[open->ops->is_hashed] }, open, 0, n_found };
}

void
closed_router_try (FabRouter **router, ClosedFn fn, gpointer data)
{
  FabRouter *open = *router;
  ClosedRouter all = closed_router (open, G_MAXUINT);

  *router = &all.base;
  assert_true (fn (data, NULL));
  assert_true (all.n_asked > 0);
  for (guint i = 0; i < all.n_asked; i++) {
    ClosedRouter some = closed_router (open, i);
    g_autoptr (GError) error = NULL;

    *router = &some.base;
    if (fn (data, &error) || error == NULL)
      fail_msg ("%u of %u paths are found: %s", i, all.n_asked, error == NULL ? "no error" : "no failure");
  }
  *router = open;
}
