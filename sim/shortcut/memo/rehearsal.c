/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/rehearsal.h"

#include "sim/base/thread_pool.h"
#include "sim/shortcut/memo/dry_run.h"

/* An input or an output, as it came. */
typedef struct {
  guint32 place;
  gboolean is_output;
  FabTimePs at_ps;
  guint n_skips; /* of the network so far */
} Event;

typedef struct {
  FabPlay *play;    /* NULL: it has not begun, or is a stream */
  FabTimePs end_ps; /* -1: not yet */
  gboolean is_begun;
} Member;

typedef struct {
  const GArray *inputs; /* FabExpectedInput */
  guint folded_for;
  FabEngine *engine;
  FabNet *net;
  Member *members;
  GArray *events; /* Event */
  guint n_left;   /* members that have not ended */
  GArray *queues; /* FabLaneQueue */
  GArray *skips;  /* FabSkip */
  guint64 n_events, n_skipped;
} Rehearsal;

typedef struct {
  const FabEpisodeBooks *books;
  const FabWarmUpEnv *env;
  Rehearsal *all;
  GMutex lock; /* of routers and schedules, which are made when a collective begins */
} Stage;

static const FabExpectedInput *
input_at (const Rehearsal *self, guint place)
{
  return &g_array_index (self->inputs, FabExpectedInput, place);
}

static void
log_event (Rehearsal *self, guint32 place, gboolean is_output)
{
  Event event = { place, is_output, fab_engine_now (self->engine), self->net->skips->len };

  g_array_append_val (self->events, event);
}

static void
hear (gpointer owner, guint64 place)
{
  Rehearsal *self = owner;

  self->members[place].end_ps = fab_engine_now (self->engine);
  self->n_left--;
  log_event (self, (guint32) place, TRUE);
  fab_engine_stop (self->engine);
}

/* Returns when a collective is to begin; FAB_TIME_NEVER: that is not known yet. */
static FabTimePs
due_ps (const Rehearsal *self, guint place)
{
  const FabExpectedInput *input = input_at (self, place);

  if (input->after == FAB_AFTER_BEGIN)
    return input->delay_ps;
  FabTimePs end_ps = self->members[input->after].end_ps;
  return end_ps >= 0 ? end_ps + input->delay_ps : FAB_TIME_NEVER;
}

/* Returns when the next collective begins; FAB_TIME_NEVER: none does yet. */
static FabTimePs
next_begin_ps (const Rehearsal *self)
{
  FabTimePs next_ps = FAB_TIME_NEVER;

  for (guint i = 0; i < self->inputs->len; i++)
    if (!self->members[i].is_begun)
      next_ps = MIN (next_ps, due_ps (self, i));
  return next_ps;
}

/* Plays up to this time, or up to the first ps before in which a collective ends, and all of that ps. */
static void
play_until (Rehearsal *self, FabTimePs until_ps)
{
  guint n_left = self->n_left;

  fab_engine_run_until (self->engine, until_ps);
  while (self->n_left < n_left) {
    n_left = self->n_left;
    fab_engine_run_until (self->engine, fab_engine_now (self->engine));
  }
}

/* Begins all that are due now. */
static void
begin_due (Rehearsal *self, Stage *stage)
{
  FabTimePs now_ps = fab_engine_now (self->engine);

  for (guint i = 0; i < self->inputs->len; i++) {
    Member *member = &self->members[i];
    if (member->is_begun || due_ps (self, i) != now_ps)
      continue;
    FabEpisodeInput input = fab_episode_plan_at (stage->books, input_at (self, i)->plan)->input;

    member->is_begun = TRUE;
    log_event (self, i, FALSE);
    g_mutex_lock (&stage->lock);
    member->play = fab_episode_input_play (&input, self->net, self->folded_for, (FabDone){ hear, self, i });
    g_mutex_unlock (&stage->lock);
  }
}

static gboolean
is_broken (const Rehearsal *self)
{
  return fab_engine_failure (self->engine) != NULL || fab_engine_is_cancelled (self->engine);
}

static void
make_net (Rehearsal *self, Stage *stage)
{
  FabNetEnv own = stage->env->env;

  self->engine = own.engine = fab_engine_new ();
  fab_engine_share_cancel (self->engine, stage->books->engine);
  g_mutex_lock (&stage->lock);
  self->net = stage->env->ops->create (&own, stage->env->params);
  g_mutex_unlock (&stage->lock);
}

static void
drop_net (Rehearsal *self)
{
  for (guint i = 0; i < self->inputs->len; i++)
    fab_play_free (self->members[i].play);
  fab_net_destroy (self->net);
  fab_engine_free (self->engine);
}

/* Where an episode ends before all of its collectives have begun, or its buffers wait for each other, `n_left` stays
 * above 0. */
static void
play_one (gpointer data, guint item)
{
  Stage *stage = data;
  Rehearsal *self = &stage->all[item];
  FabTimePs next_ps;
  guint n_before;

  make_net (self, stage);
  do {
    n_before = self->events->len;
    next_ps = next_begin_ps (self);
    play_until (self, next_ps);
    if (fab_engine_now (self->engine) == next_ps)
      begin_due (self, stage);
  } while (self->n_left > 0 && self->events->len > n_before && !is_broken (self));
  fab_engine_run (self->engine);
  if (is_broken (self))
    self->n_left = MAX (self->n_left, 1);
  if (self->net->ops->list_queues != NULL)
    self->net->ops->list_queues (self->net, self->queues);
  g_array_append_vals (self->skips, self->net->skips->data, self->net->skips->len);
  self->n_events = fab_engine_events (self->engine);
  self->n_skipped = self->net->n_skipped;
  drop_net (self);
}

/* --- into the tree --- */

/* Returns the node of an event that follows another one; NULL: the tree knows another event there, or is full. */
static FabEpisodeNode *
follow (FabEpisodeBooks *books, FabEpisodeNode *before, gboolean is_output, guint32 what, FabTimePs after_ps)
{
  FabEpisodeTree *tree = &books->tree;
  FabEpisodeNode *node = is_output ? before->output : fab_episode_node_find (before, what, after_ps, 0);

  if (node != NULL)
    return node->what == what && node->after_ps == after_ps ? node : NULL;
  if (!fab_episode_tree_has_room (tree))
    return NULL;
  node = fab_episode_tree_add (tree, before, is_output, what, after_ps);
  if (is_output) {
    before->output = node;
  } else {
    node->sibling = before->inputs;
    before->inputs = node;
  }
  return node;
}

static void
note_skips (FabEpisodeBooks *books, const Rehearsal *self, FabEpisodeNode *node, guint from, guint to)
{
  g_autoptr (GArray) made = g_array_sized_new (FALSE, FALSE, sizeof (FabSkip), to);

  g_array_append_vals (made, self->skips->data, to);
  fab_episode_books_note_skips (books, node, made, from, 0, self->folded_for);
}

/* What waited for links is known of the last node. */
static void
keep_end (FabEpisodeBooks *books, const Rehearsal *self, FabEpisodeNode *node, const GArray *plans)
{
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry));

  if (node->queues != NULL)
    return;
  node->queues = fab_episode_books_keep_queues (books, plans, self->queues);
  node->late = fab_episode_tree_keep (&books->tree, none);
}

/* The tree counts collectives in the order in which they begin. Those that wait for the end of another one may begin in
 * another order than they did without a network. */
static void
learn (FabEpisodeBooks *books, const Rehearsal *self)
{
  g_autofree guint32 *rank = g_new (guint32, self->inputs->len); /* of each place, once it has begun */
  g_autoptr (GArray) plans = g_array_new (FALSE, FALSE, sizeof (guint32));
  FabEpisodeShape *shape = fab_episode_shape_at (
      books, fab_episode_plan_at (books, input_at (self, 0)->plan)->shape.shape);
  FabEpisodeNode *node = shape->samples[0];
  guint n_skips = 0;

  for (guint i = 0; i < self->events->len && node != NULL; i++) {
    const Event *event = &g_array_index (self->events, Event, i);
    guint32 plan = input_at (self, event->place)->plan;

    if (i > 0) {
      FabTimePs after_ps = event->at_ps - event[-1].at_ps;
      FabEpisodeNode *before = node;
      guint32 what = event->is_output ? rank[event->place] : fab_episode_books_key (books, plan, plans);

      node = follow (books, before, event->is_output, what, after_ps);
      before->quiet_ps = MAX (before->quiet_ps, after_ps - event->is_output);
      note_skips (books, self, node, n_skips, event->n_skips);
      n_skips = event->n_skips;
    }
    if (event->is_output)
      continue;
    rank[event->place] = plans->len;
    g_array_append_val (plans, plan);
  }
  if (node != NULL)
    keep_end (books, self, node, plans);
}

/* --- all --- */

static void
rehearsal_init (Rehearsal *self, const FabEpisodeBooks *books, const GArray *inputs)
{
  *self = (Rehearsal){ .inputs = inputs,
                       .folded_for = FAB_FOLDED_FOR_NONE,
                       .members = g_new0 (Member, inputs->len),
                       .events = g_array_new (FALSE, FALSE, sizeof (Event)),
                       .n_left = inputs->len,
                       .queues = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue)),
                       .skips = g_array_new (FALSE, FALSE, sizeof (FabSkip)) };
  for (guint i = 0; i < inputs->len; i++) {
    self->members[i].end_ps = -1;
    self->folded_for = fab_episode_input_extend (
        &fab_episode_plan_at (books, input_at (self, i)->plan)->input, self->folded_for);
  }
}

static void
rehearsal_clear (Rehearsal *self)
{
  g_free (self->members);
  g_array_unref (self->events);
  g_array_unref (self->queues);
  g_array_unref (self->skips);
}

/* Returns the events of its collectives alone. */
static guint64
work_of (const FabEpisodeBooks *books, const GArray *inputs)
{
  guint64 n_events = 0;

  for (guint i = 0; i < inputs->len; i++) {
    guint32 plan = g_array_index (inputs, FabExpectedInput, i).plan;

    n_events += fab_episode_shape_at (books, fab_episode_plan_at (books, plan)->shape.shape)->n_events;
  }
  return n_events;
}

static int
by_work (gconstpointer a, gconstpointer b, gpointer books)
{
  guint64 x = work_of (books, *(GArray *const *) a), y = work_of (books, *(GArray *const *) b);

  return (x < y) - (x > y);
}

/* The longest are played first, so that threads end at about the same time. */
void
fab_rehearse (FabEpisodeBooks *books, const FabWarmUpEnv *env, GPtrArray *expected)
{
  guint n = expected->len;
  g_autofree Rehearsal *all = g_new (Rehearsal, n + 1);
  Stage stage = { books, env, all, { 0 } };

  g_assert (books->apart_by != NULL);
  g_mutex_init (&stage.lock);
  g_ptr_array_sort_with_data (expected, by_work, books);
  for (guint i = 0; i < n; i++)
    rehearsal_init (&all[i], books, g_ptr_array_index (expected, i));
  fab_thread_pool_run (env->n_threads, n, play_one, &stage);
  g_mutex_clear (&stage.lock);
  for (guint i = 0; i < n; i++) {
    books->n_events += all[i].n_events;
    books->net->n_skipped += all[i].n_skipped;
    books->count.n_rehearsals++;
    if (all[i].n_left == 0)
      learn (books, &all[i]);
    rehearsal_clear (&all[i]);
  }
}
