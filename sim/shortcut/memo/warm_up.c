/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/warm_up.h"

#include "sim/base/thread_pool.h"
#include "sim/execution/direct.h"

enum { MOST_AT_ONCE = 8 }; /* networks that exist at once */

/* One collective on its own network. */
typedef struct {
  FabEngine *engine;
  FabNet *net;
  FabPlay *play;
  FabTimePs end_ps; /* -1: not yet */
  FabWarmUp *result;
} Replica;

FabPlay *
fab_episode_input_play (const FabEpisodeInput *self, FabNet *net, guint folded_for, FabDone done)
{
  FabPlay *messages = self->play != NULL ? self->play (self->owner, net, self, folded_for, done) : NULL;

  if (messages == NULL)
    fab_direct_stream (net, &(FabJobCollective){ self->plan, self->traffic }, done);
  return messages;
}

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Replica *replica = owner;

  replica->end_ps = fab_engine_now (replica->engine);
  fab_engine_stop (replica->engine);
}

static void
replica_init (Replica *self, const FabWarmUpEnv *env, const FabEngine *like)
{
  FabNetEnv own = env->env;

  *self = (Replica){ .engine = own.engine = fab_engine_new (), .end_ps = -1 };
  fab_engine_share_cancel (self->engine, like);
  fab_engine_set_most_events (self->engine, env->most_events);
  self->net = env->ops->create (&own, env->params);
}

static void
replica_clear (Replica *self)
{
  fab_play_free (self->play);
  fab_net_destroy (self->net);
  fab_engine_free (self->engine);
}

static void
replica_play (gpointer data, guint item)
{
  Replica *self = (Replica *) data + item;
  FabWarmUp *result = self->result;

  fab_engine_run (self->engine);
  result->n_events = fab_engine_events (self->engine);
  if (self->end_ps < 0)
    return;
  fab_engine_run_until (self->engine, self->end_ps);
  fab_meter_drain (self->net->meter, result->meter);
  fab_engine_run (self->engine);
  fab_meter_drain (self->net->meter, result->late);
  if (self->net->ops->list_queues != NULL)
    self->net->ops->list_queues (self->net, result->queues);
  if (self->net->ops->n_drawn != NULL)
    result->n_drawn = self->net->ops->n_drawn (self->net);
  result->n_events = fab_engine_events (self->engine);
  result->n_skipped = self->net->n_skipped;
  g_array_append_vals (result->skips, self->net->skips->data, self->net->skips->len);
  if (fab_engine_failure (self->engine) == NULL && !fab_engine_is_cancelled (self->engine))
    result->duration_ps = self->end_ps;
}

static void
warm_up_clear (gpointer data)
{
  FabWarmUp *self = data;

  g_array_unref (self->meter);
  g_array_unref (self->late);
  g_array_unref (self->queues);
  g_array_unref (self->skips);
}

static GArray *
warm_ups_new (guint n)
{
  GArray *results = g_array_sized_new (FALSE, TRUE, sizeof (FabWarmUp), n);

  g_array_set_clear_func (results, warm_up_clear);
  for (guint i = 0; i < n; i++) {
    FabWarmUp result = { .duration_ps = -1,
                         .meter = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry)),
                         .late = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry)),
                         .queues = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue)),
                         .skips = g_array_new (FALSE, FALSE, sizeof (FabSkip)) };

    g_array_append_val (results, result);
  }
  return results;
}

/* Begins all on one network, which is not played: it knows whether their order matters. */
static gboolean
has_order (const FabWarmUpEnv *env, const FabEngine *like, const FabEpisodeInput *inputs, guint n)
{
  g_autoptr (GPtrArray) plays = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_play_free);
  Replica replica;
  gboolean has;

  replica_init (&replica, env, like);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (plays, fab_episode_input_play (&inputs[i], replica.net, FAB_FOLDED_FOR_ALL,
                                                    (FabDone){ note_end, &replica, 0 }));
  has = env->ops->has_order (replica.net);
  replica_clear (&replica);
  return has;
}

GArray *
fab_warm_up (const FabWarmUpEnv *env, const FabEngine *like, const FabEpisodeInput *inputs, guint n,
             gboolean is_any_order)
{
  guint n_threads = fab_thread_pool_size (env->n_threads);
  guint n_at_once = MIN (3 * n_threads, MOST_AT_ONCE); /* so that a long one does not make all wait */
  Replica replicas[MOST_AT_ONCE];
  GArray *results;

  if (!is_any_order && has_order (env, like, inputs, n))
    return NULL;
  results = warm_ups_new (n);
  for (guint first = 0; first < n; first += n_at_once) {
    guint n_now = MIN (n_at_once, n - first);

    for (guint i = 0; i < n_now; i++) {
      replica_init (&replicas[i], env, like);
      replicas[i].result = &g_array_index (results, FabWarmUp, first + i);
      replicas[i].result->folded_for = fab_episode_input_extend (&inputs[first + i], FAB_FOLDED_FOR_NONE);
      replicas[i].play = fab_episode_input_play (&inputs[first + i], replicas[i].net,
                                                 replicas[i].result->folded_for,
                                                 (FabDone){ note_end, &replicas[i], 0 });
    }
    fab_thread_pool_run (n_threads, n_now, replica_play, replicas);
    for (guint i = 0; i < n_now; i++)
      replica_clear (&replicas[i]);
  }
  return results;
}
