/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/episodes.h"

#include "sim/base/order.h"
#include "sim/execution/direct.h"
#include "sim/shortcut/memo/dry_run.h"
#include "sim/shortcut/memo/episode.h"
#include "sim/shortcut/memo/rehearsal.h"

struct _FabEpisodes {
  FabEngine *engine; /* of the jobs */
  FabNet *net;
  gboolean is_direct;    /* the network is on the jobs' engine: it is played directly */
  FabDirects directly;   /* those that have not ended */
  FabEpisodeBooks books; /* all 0 where it is direct */
  GPtrArray *active;     /* FabEpisode: under way */
  GPtrArray *spare;      /* FabEpisode: empty */
  FabTimePs pending_ps;  /* when what is pending has ended */
  guint64 n_begun;       /* collectives */
};

static FabTimePs advance (gpointer owner, FabTimePs until_ps);
static void tell (gpointer owner);

/* --- begin and end --- */

FabEpisodes *
fab_episodes_new (FabEngine *engine, FabNet *net, gconstpointer params, gboolean remembers)
{
  FabEpisodes *self = g_new0 (FabEpisodes, 1);

  self->engine = engine;
  self->net = net;
  self->is_direct = net->env.engine == engine;
  self->active = g_ptr_array_new_with_free_func (fab_episode_free);
  self->spare = g_ptr_array_new_with_free_func (fab_episode_free);
  if (self->is_direct)
    return self;
  fab_episode_books_init (&self->books, engine, net, params, remembers);
  fab_engine_set_companion (engine, &(FabCompanion){ advance, tell, self });
  return self;
}

void
fab_episodes_free (FabEpisodes *self)
{
  g_ptr_array_unref (self->active);
  g_ptr_array_unref (self->spare);
  if (!self->is_direct)
    fab_episode_books_clear (&self->books);
  fab_directs_clear (&self->directly);
  g_free (self);
}

void
fab_episodes_leave_room (FabEpisodes *self, gsize n_bytes)
{
  self->books.tree.n_bytes = FAB_EPISODE_TREE_BYTES - n_bytes;
}

static FabEpisode *
episode_at (const FabEpisodes *self, guint index)
{
  return g_ptr_array_index (self->active, index);
}

static FabEpisode *
add_episode (FabEpisodes *self)
{
  FabEpisode *episode = self->spare->len > 0 ? g_ptr_array_steal_index (self->spare, self->spare->len - 1)
                                             : fab_episode_new (&self->books);

  g_ptr_array_add (self->active, episode);
  return episode;
}

static void
drop_those_over (FabEpisodes *self)
{
  for (guint i = self->active->len; i-- > 0;)
    if (fab_episode_is_over (episode_at (self, i)))
      g_ptr_array_add (self->spare, g_ptr_array_steal_index (self->active, i));
}

/* --- a network on the jobs' engine --- */

static void
begin_directly (FabEpisodes *self, const FabEpisodeInput *input, FabDone done)
{
  FabDirect *direct = fab_directs_add (&self->directly, done);

  fab_direct_set_play (direct, fab_episode_input_play (input, self->net, FAB_FOLDED_FOR_ALL,
                                                       fab_direct_end (direct)));
}

/* --- in step with the jobs' clock --- */

/* Returns when the next collective ends, up to `until_ps`; FAB_TIME_NEVER: none does. What is known bounds how far the
 * others must be played. */
static FabTimePs
find_next_end (FabEpisodes *self, FabTimePs until_ps)
{
  FabTimePs next_ps = FAB_TIME_NEVER;

  for (guint i = 0; i < self->active->len; i++)
    next_ps = MIN (next_ps, fab_episode_known_ps (episode_at (self, i)));
  for (guint i = 0; i < self->active->len; i++) {
    fab_episode_look (episode_at (self, i), MIN (next_ps, until_ps));
    next_ps = MIN (next_ps, fab_episode_known_ps (episode_at (self, i)));
  }
  return next_ps <= until_ps ? next_ps : FAB_TIME_NEVER;
}

/* Collectives that end in the same ps are told in the order in which they have begun. */
static FabTimePs
advance (gpointer owner, FabTimePs until_ps)
{
  FabEpisodes *self = owner;
  GArray *pending = self->books.pending;

  if (self->books.n_reported == pending->len) {
    FabTimePs next_ps = find_next_end (self, until_ps);

    if (next_ps == FAB_TIME_NEVER)
      return FAB_TIME_NEVER;
    for (guint i = 0; i < self->active->len; i++)
      fab_episode_take (episode_at (self, i), next_ps);
    drop_those_over (self);
    self->pending_ps = next_ps;
    g_array_sort (pending, fab_order_uint64s);
  }
  return MAX (self->pending_ps, fab_engine_now (self->engine));
}

static void
tell (gpointer owner)
{
  FabEpisodes *self = owner;
  FabEpisodeBooks *books = &self->books;

  while (books->n_reported < books->pending->len && !fab_engine_is_stopped (self->engine)) {
    FabDone done = g_array_index (books->pending, FabEpisodeEnd, books->n_reported++).done;

    done.fn (done.owner, done.arg);
  }
  if (books->n_reported < books->pending->len)
    return;
  g_array_set_size (books->pending, 0);
  books->n_reported = 0;
}

/* --- inputs --- */

static gboolean
is_met (FabEpisodes *self, const FabEpisode *episode, guint32 plan)
{
  for (guint i = 0; i < episode->active->len; i++) {
    guint32 place = g_array_index (episode->active, guint32, i);

    if (fab_episode_books_meet (&self->books, g_array_index (episode->members, FabEpisodeMember, place).plan,
                                plan))
      return TRUE;
  }
  return FALSE;
}

/* Returns the episodes under way that the collective meets. (transfer container) */
static GPtrArray *
list_met (FabEpisodes *self, guint32 plan)
{
  GPtrArray *met = g_ptr_array_new ();

  for (guint i = 0; i < self->active->len; i++)
    if (is_met (self, episode_at (self, i), plan))
      g_ptr_array_add (met, episode_at (self, i));
  return met;
}

/* Makes one episode of several. */
static void
join (FabEpisodes *self, GPtrArray *parts)
{
  FabEpisode *joined = self->spare->len > 0 ? g_ptr_array_steal_index (self->spare, self->spare->len - 1)
                                            : fab_episode_new (&self->books);

  fab_episode_join (joined, (FabEpisode *const *) parts->pdata, parts->len);
  drop_those_over (self);
  g_ptr_array_add (self->active, joined);
}

/* Returns the episode that the collective is put into, which is ready for it. */
static FabEpisode *
find_episode (FabEpisodes *self, guint32 plan, FabTimePs now_ps)
{
  FabEpisode *fresh;

  while (TRUE) {
    g_autoptr (GPtrArray) met = list_met (self, plan);

    if (met->len == 0)
      break;
    if (met->len > 1) {
      join (self, met);
      continue;
    }
    FabEpisode *episode = g_ptr_array_index (met, 0);
    fab_episode_prepare (episode, plan, now_ps);
    if (is_met (self, episode, plan))
      return episode;
    drop_those_over (self);
  }
  fab_episode_books_carried (&self->books, self->books.late);
  g_array_set_size (self->books.late, 0);
  fresh = add_episode (self);
  fab_episode_begin (fresh, plan, now_ps);
  return fresh;
}

void
fab_episodes_begin (FabEpisodes *self, const FabEpisodeInput *input, FabDone done)
{
  FabTimePs now_ps = fab_engine_now (self->engine);

  if (self->is_direct) {
    begin_directly (self, input, done);
    return;
  }
  guint32 plan = fab_episode_books_plan (&self->books, input);
  FabEpisode *episode = find_episode (self, plan, now_ps);
  fab_episode_put (episode, plan, (FabEpisodeEnd){ self->n_begun++, done }, now_ps);
  self->pending_ps = now_ps;
}

/* Returns one collective of each shape, FabEpisodeInput. (transfer full) */
static GArray *
list_shapes (FabEpisodes *self, const FabEpisodeInput *inputs, guint n)
{
  GArray *first = g_array_new (FALSE, FALSE, sizeof (FabEpisodeInput));

  for (guint i = 0; i < n; i++) {
    guint32 plan = fab_episode_books_plan (&self->books, &inputs[i]);

    if (fab_episode_plan_at (&self->books, plan)->shape.shape == first->len)
      g_array_append_val (first, inputs[i]);
  }
  return first;
}

void
fab_episodes_warm_up (FabEpisodes *self, const FabWarmUpEnv *env, const FabEpisodeInput *inputs, guint n)
{
  enum { MOST_PLANS = 64 };
  g_autoptr (GArray) results = NULL;

  if (!self->books.remembers)
    return;
  if (env->is_all)
    fab_episode_books_try_apart (&self->books, inputs, n);
  g_autoptr (GArray) alike = list_shapes (self, inputs, n);
  if (n < 2 || (env->ops->tolerance != NULL ? alike->len : n) > MOST_PLANS)
    return;
  const FabEpisodeInput *first = (const FabEpisodeInput *) (gpointer) alike->data;
  gboolean is_any_order = self->books.apart_by != NULL || env->ops->has_order == NULL;
  results = fab_warm_up (env, self->engine, first, alike->len, is_any_order);
  self->books.count.n_warm_ups += results != NULL ? alike->len : 0;
  for (guint i = 0; results != NULL && i < alike->len; i++)
    fab_episode_books_learn (&self->books, fab_episode_books_plan (&self->books, &first[i]),
                             &g_array_index (results, FabWarmUp, i));
}

/* It follows the warm-ups: on a network that skips rounds by what comes next on its clock, with any number of threads
 * (sim/run/simulation.c). */
void
fab_episodes_rehearse (FabEpisodes *self, const FabWarmUpEnv *env, const FabExecutorEnv *job,
                       FabEpisodeInput (*input) (gpointer owner, const FabJobCollective *collective),
                       gpointer owner)
{
  enum { MOST_EPISODES = 64 };
  g_autoptr (GPtrArray) expected = NULL;

  if (!env->is_all || self->books.apart_by == NULL || self->books.count.n_warm_ups == 0
      || self->net->ops->trace == NULL)
    return;
  expected = fab_dry_run (&self->books, job, input, owner, MOST_EPISODES);
  fab_rehearse (&self->books, env, expected);
}

/* --- what was counted --- */

FabMeter *
fab_episodes_meter (const FabEpisodes *self)
{
  return self->is_direct ? self->net->meter : self->books.meter;
}

gboolean
fab_episodes_is_still (const FabEpisodes *self)
{
  const FabNetOps *ops = self->net->ops;

  if (ops->is_still == NULL || self->is_direct)
    return fab_direct_is_still (self->net);
  for (guint i = 0; i < self->active->len; i++) {
    const FabEpisode *episode = episode_at (self, i);

    if (fab_episode_known_ps (episode) != FAB_TIME_NEVER || episode->replica == NULL
        || !ops->is_still (episode->replica->net))
      return FALSE;
  }
  return self->active->len > 0 && self->books.n_reported == self->books.pending->len;
}

FabLinkId
fab_episodes_find_jam (const FabEpisodes *self)
{
  const FabNetOps *ops = self->net->ops;
  FabLinkId found = FAB_NO_LINK;

  if (ops->find_jam == NULL || self->is_direct)
    return fab_direct_find_jam (self->net);
  for (guint i = 0; i < self->active->len && found == FAB_NO_LINK; i++)
    if (episode_at (self, i)->replica != NULL)
      found = ops->find_jam (episode_at (self, i)->replica->net);
  return found;
}

/* A network that notes them remembers nothing, so that it has no replicas. */
gboolean
fab_episodes_queue_lengths (const FabEpisodes *self, FabLinkId link, FabQueueLengths *lengths)
{
  const FabNetOps *ops = self->net->ops;
  FabQueueLengths own = { 0 };
  FabTimePs waited_ps = 0;
  gboolean is_noted = ops->queue_lengths != NULL && ops->queue_lengths (self->net, link, &own);

  for (guint i = 1; i < FAB_QUEUE_LENGTH_BINS; i++)
    waited_ps += own.time_ps[i];
  own.time_ps[0] = MAX (fab_engine_now (self->engine) - waited_ps, 0);
  fab_queue_lengths_merge (lengths, &own);
  return is_noted;
}

FabLinkQueue *
fab_episodes_link_queues (FabEpisodes *self)
{
  FabTimePs now_ps = fab_engine_now (self->engine);
  guint n_links = fab_graph_n_links (self->net->env.graph);

  if (self->net->ops->link_queue == NULL)
    return NULL;
  if (self->is_direct)
    return fab_net_link_queues (self->net);
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue));
  g_autoptr (GArray) lanes = g_array_new (FALSE, TRUE, sizeof (FabLaneQueue));
  for (guint i = 0; i < self->active->len; i++)
    fab_episode_list_queues (episode_at (self, i), now_ps, open);
  fab_lane_queues_add (lanes, (const FabLaneQueue *) (gpointer) self->books.lanes->data,
                       self->books.lanes->len);
  fab_lane_queues_add (lanes, (const FabLaneQueue *) (gpointer) open->data, open->len);
  return fab_lane_queues_sum (lanes, n_links, now_ps);
}

gboolean
fab_episodes_has_drawn (const FabEpisodes *self)
{
  return self->books.has_drawn
      || (self->net->ops->n_drawn != NULL && self->net->ops->n_drawn (self->net) > 0);
}

guint64
fab_episodes_events (const FabEpisodes *self)
{
  return self->is_direct ? 0 : self->books.n_events + fab_net_replicas_events (self->books.replicas);
}

FabEpisodesCount
fab_episodes_count (const FabEpisodes *self)
{
  FabEpisodesCount count = self->books.count;

  count.n_collectives += self->directly.n_ended;
  count.n_skipped = self->is_direct ? self->net->n_skipped
                                    : fab_net_replicas_n_skipped (self->books.replicas);
  return count;
}
