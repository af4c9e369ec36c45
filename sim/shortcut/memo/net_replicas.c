/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/net_replicas.h"

struct _FabNetReplicas {
  gconstpointer params;
  GPtrArray *all;  /* FabNetReplica; the first one has the caller's network */
  GPtrArray *idle; /* of them, not lent; the last one is lent next */
};

static FabNetReplica *
add_replica (FabNetReplicas *self, FabEngine *engine, FabNet *net)
{
  FabNetReplica *replica = g_new (FabNetReplica, 1);

  *replica = (FabNetReplica){ engine, net };
  g_ptr_array_add (self->all, replica);
  return replica;
}

FabNetReplicas *
fab_net_replicas_new (FabNet *net, gconstpointer params)
{
  FabNetReplicas *self = g_new (FabNetReplicas, 1);

  self->params = params;
  self->all = g_ptr_array_new_with_free_func (g_free);
  self->idle = g_ptr_array_new ();
  g_ptr_array_add (self->idle, add_replica (self, net->env.engine, net));
  return self;
}

void
fab_net_replicas_free (FabNetReplicas *self)
{
  for (guint i = 1; i < self->all->len; i++) {
    FabNetReplica *replica = g_ptr_array_index (self->all, i);

    fab_net_destroy (replica->net);
    fab_engine_free (replica->engine);
  }
  g_ptr_array_unref (self->all);
  g_ptr_array_unref (self->idle);
  g_free (self);
}

FabNetReplica *
fab_net_replicas_take (FabNetReplicas *self)
{
  const FabNetReplica *first = g_ptr_array_index (self->all, 0);
  FabNetEnv env = first->net->env;

  if (self->idle->len > 0)
    return g_ptr_array_steal_index (self->idle, self->idle->len - 1);
  env.engine = fab_engine_new ();
  fab_engine_share_cancel (env.engine, first->engine);
  return add_replica (self, env.engine, first->net->ops->create (&env, self->params));
}

void
fab_net_replicas_give (FabNetReplicas *self, FabNetReplica *replica)
{
  g_ptr_array_add (self->idle, replica);
}

guint64
fab_net_replicas_events (const FabNetReplicas *self)
{
  guint64 n = 0;

  for (guint i = 0; i < self->all->len; i++)
    n += fab_engine_events (((FabNetReplica *) g_ptr_array_index (self->all, i))->engine);
  return n;
}

guint64
fab_net_replicas_n_skipped (const FabNetReplicas *self)
{
  guint64 n = 0;

  for (guint i = 0; i < self->all->len; i++)
    n += ((FabNetReplica *) g_ptr_array_index (self->all, i))->net->n_skipped;
  return n;
}
