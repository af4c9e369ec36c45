/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/episode_stages.h"

struct _FabEpisodeStages {
  gconstpointer params;
  GPtrArray *all;  /* FabEpisodeStage; the first one has the caller's network */
  GPtrArray *idle; /* of them, not lent; the last one is lent next */
};

static FabEpisodeStage *
add_stage (FabEpisodeStages *self, FabEngine *engine, FabNet *net)
{
  FabEpisodeStage *stage = g_new (FabEpisodeStage, 1);

  *stage = (FabEpisodeStage){ engine, net };
  g_ptr_array_add (self->all, stage);
  return stage;
}

FabEpisodeStages *
fab_episode_stages_new (FabNet *net, gconstpointer params)
{
  FabEpisodeStages *self = g_new (FabEpisodeStages, 1);

  self->params = params;
  self->all = g_ptr_array_new_with_free_func (g_free);
  self->idle = g_ptr_array_new ();
  g_ptr_array_add (self->idle, add_stage (self, net->env.engine, net));
  return self;
}

void
fab_episode_stages_free (FabEpisodeStages *self)
{
  if (self == NULL)
    return;
  for (guint i = 1; i < self->all->len; i++) {
    FabEpisodeStage *stage = g_ptr_array_index (self->all, i);

    fab_net_destroy (stage->net);
    fab_engine_free (stage->engine);
  }
  g_ptr_array_unref (self->all);
  g_ptr_array_unref (self->idle);
  g_free (self);
}

FabEpisodeStage *
fab_episode_stages_take (FabEpisodeStages *self)
{
  const FabEpisodeStage *first = g_ptr_array_index (self->all, 0);
  FabNetEnv env = first->net->env;

  if (self->idle->len > 0)
    return g_ptr_array_steal_index (self->idle, self->idle->len - 1);
  env.engine = fab_engine_new ();
  fab_engine_share_cancel (env.engine, first->engine);
  return add_stage (self, env.engine, first->net->ops->create (&env, self->params));
}

void
fab_episode_stages_give (FabEpisodeStages *self, FabEpisodeStage *stage)
{
  g_ptr_array_add (self->idle, stage);
}

guint64
fab_episode_stages_events (const FabEpisodeStages *self)
{
  guint64 n = 0;

  for (guint i = 0; i < self->all->len; i++)
    n += fab_engine_events (((FabEpisodeStage *) g_ptr_array_index (self->all, i))->engine);
  return n;
}

guint64
fab_episode_stages_n_skipped (const FabEpisodeStages *self)
{
  guint64 n = 0;

  for (guint i = 0; i < self->all->len; i++)
    n += ((FabEpisodeStage *) g_ptr_array_index (self->all, i))->net->n_skipped;
  return n;
}
