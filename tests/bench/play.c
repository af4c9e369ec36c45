/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/play.h"

#include "models/models.h"

static const FabNetOps *
find (const char *net)
{
  /* The model's info is the first member of its ops. */
  return (const FabNetOps *) fab_registry_find (&fab_models, FAB_MODEL_NET, net);
}

gboolean
play_exists (const char *net)
{
  return find (net) != NULL;
}

Play
play_new (const Tree *tree, const char *net, const char *params)
{
  return play_new_with_seed (tree, net, params, 1);
}

Play
play_new_with_seed (const Tree *tree, const char *net, const char *params, guint64 seed)
{
  const FabNetOps *ops = find (net);
  Play self = { .engine = fab_engine_new (), .params = params_new (&ops->info, params) };
  FabNetEnv env = { self.engine, tree->graph, tree->router, seed };

  self.net = ops->create (&env, self.params->params);
  return self;
}

void
play_clear (Play *self)
{
  fab_net_destroy (self->net);
  fab_engine_free (self->engine);
  params_free (self->params);
}

void
play_send (Play *self, guint src, guint dst, FabBytes bytes, FabEventFn done, gpointer owner, guint64 arg)
{
  FabTransfer transfer = { .src = src,
                           .dst = dst,
                           .bytes = bytes,
                           .drive = FAB_DRIVE_COPY,
                           .flow_hash = arg,
                           .done = { done, owner, arg } };

  fab_net_send (self->net, &transfer);
}

double
play_run_s (Play *self)
{
  fab_engine_run (self->engine);
  return (double) fab_engine_now (self->engine) / FAB_PS_PER_S;
}
