/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/episode.h"

enum { MOST_MISSES = 3 }; /* replays in a row after which episodes of a collective are played at once */

typedef FabEpisodeNode Node;
typedef FabEpisodeMember Member;
typedef FabEpisodeEvent Event;

/* --- begin and end --- */

static void
member_clear (gpointer data)
{
  Member *self = data;

  fab_play_free (self->play);
  g_clear_pointer (&self->carried, g_array_unref);
}

FabEpisode *
fab_episode_new (FabEpisodeBooks *books)
{
  FabEpisode *self = g_new0 (FabEpisode, 1);

  self->books = books;
  self->members = g_array_new (FALSE, FALSE, sizeof (Member));
  g_array_set_clear_func (self->members, member_clear);
  self->plans = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->active = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->events = g_array_new (FALSE, FALSE, sizeof (Event));
  self->heard = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->owed = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry));
  return self;
}

void
fab_episode_free (gpointer data)
{
  FabEpisode *self = data;

  g_array_unref (self->members);
  g_array_unref (self->plans);
  g_array_unref (self->active);
  g_array_unref (self->events);
  g_array_unref (self->heard);
  g_array_unref (self->owed);
  fab_meter_free (self->counted);
  g_free (self);
}

static Member *
member_at (const FabEpisode *self, guint32 place)
{
  return &g_array_index (self->members, Member, place);
}

static FabEpisodeShape *
shape_of (const FabEpisode *self)
{
  return fab_episode_shape_at (self->books, self->first);
}

static FabEngine *
engine_of (const FabEpisode *self)
{
  return self->replica->engine;
}

static FabNet *
net_of (const FabEpisode *self)
{
  return self->replica->net;
}

/* --- the clock of the network --- */

static FabTimePs
own_time (const FabEpisode *self, FabTimePs time_ps)
{
  return time_ps == FAB_TIME_NEVER ? FAB_TIME_NEVER : time_ps - self->start_ps + self->own_start_ps;
}

/* Returns where the network is, on the jobs' clock. */
static FabTimePs
net_now (const FabEpisode *self)
{
  FabTimePs own_ps = self->has_run_out ? self->ended_ps : fab_engine_now (engine_of (self));

  return own_ps - self->own_start_ps + self->start_ps;
}

static void
run_until (FabEpisode *self, FabTimePs own_until_ps)
{
  fab_engine_run_until (engine_of (self), own_until_ps);
  const char *failure = fab_engine_failure (engine_of (self));
  if (failure != NULL)
    fab_engine_fail (self->books->engine, "%s", failure);
}

/* Plays up to the first ps in which a collective ends, and all of that ps. */
static void
play_until (FabEpisode *self, FabTimePs own_until_ps)
{
  g_array_set_size (self->heard, 0);
  run_until (self, own_until_ps);
  for (guint n = 0; n < self->heard->len;) {
    n = self->heard->len;
    run_until (self, fab_engine_now (engine_of (self)));
  }
}

static gboolean
is_broken (const FabEpisode *self)
{
  return fab_engine_failure (engine_of (self)) != NULL || fab_engine_is_cancelled (engine_of (self));
}

/* Fewer collectives may fold further than all that the job has. */
static gboolean
has_versions (const FabEpisode *self)
{
  return self->books->apart_by != NULL || self->books->net->ops->plays_alike != NULL;
}

/* The times of what is played again may differ by a little, since other rounds may be skipped, and since schedules that
 * are folded for fewer collectives add up the same numbers in another order. */
static gboolean
may_differ (const FabEpisode *self)
{
  return has_versions (self) || fab_net_replicas_n_skipped (self->books->replicas) > 0;
}

/* --- collectives on the network --- */

static GArray *
drain (FabEpisode *self)
{
  return fab_meter_drain (net_of (self)->meter, g_array_new (FALSE, FALSE, sizeof (FabMeterEntry)));
}

static void
hear (gpointer owner, guint64 number)
{
  FabEpisode *self = owner;
  guint32 place = (guint32) number;
  Member *member = member_at (self, place);

  if (self->is_dropped)
    return;
  member->is_over = TRUE;
  self->n_over++;
  if (!member->is_reported)
    member->carried = drain (self);
  g_array_append_val (self->heard, place);
  fab_engine_stop (engine_of (self));
}

static void
put_on_net (FabEpisode *self, guint32 place)
{
  Member *member = member_at (self, place);
  FabEpisodeInput input = fab_episode_plan_at (self->books, member->plan)->input;

  self->is_played = TRUE;
  if (self->is_jammed)
    return;
  member->is_over = FALSE;
  g_clear_pointer (&member->carried, g_array_unref);
  member->play = fab_episode_input_play (&input, net_of (self), self->folded_for,
                                         (FabDone){ hear, self, place });
}

/* What is on its way on the replica is forgotten, or runs out unheard. Where buffers wait for each other it never runs
 * out: then nothing more comes out of the network, which says why when it is asked (FabNetOps.find_jam). */
static void
drop_play (FabEpisode *self)
{
  FabNet *net = net_of (self);

  self->is_dropped = TRUE;
  if (net->ops->reset != NULL && net->ops->reset (net))
    fab_engine_clear (engine_of (self));
  else
    run_until (self, FAB_TIME_NEVER);
  g_array_unref (drain (self));
  if (net->ops->drop_lengths != NULL)
    net->ops->drop_lengths (net);
  self->is_dropped = FALSE;
  self->is_jammed = net->ops->find_jam != NULL && net->ops->find_jam (net) != FAB_NO_LINK;
  for (guint i = 0; i < self->members->len; i++)
    g_clear_pointer (&member_at (self, i)->play, fab_play_free);
}

/* Takes a replica on which nothing is on its way. */
static void
net_rest (FabEpisode *self)
{
  if (self->replica == NULL)
    self->replica = fab_net_replicas_take (self->books->replicas);
  FabNet *net = net_of (self);
  if (net->ops->rest != NULL)
    net->ops->rest (net, self->stream);
  if (net->ops->n_drawn != NULL)
    self->n_drawn_before = net->ops->n_drawn (net);
  g_array_set_size (net->skips, 0);
  self->n_skips_noted = 0;
  self->n_over = 0;
  self->has_run_out = FALSE;
  self->own_start_ps = fab_engine_now (engine_of (self));
}

static void
forget (FabEpisode *self)
{
  if (self->replica != NULL)
    fab_net_replicas_give (self->books->replicas, g_steal_pointer (&self->replica));
  g_array_set_size (self->members, 0);
  g_array_set_size (self->plans, 0);
  g_array_set_size (self->active, 0);
  g_array_set_size (self->events, 0);
  g_array_set_size (self->heard, 0);
  fab_episode_forget_counted (self);
  self->is_large = FALSE;
}

void
fab_episode_clear (FabEpisode *self)
{
  if (self->replica != NULL)
    drop_play (self);
  forget (self);
}

/* --- the tree --- */

static Node *
node_new (FabEpisode *self, Node *parent, gboolean is_output, guint32 what, FabTimePs after_ps)
{
  self->is_new = TRUE;
  return fab_episode_tree_add (&self->books->tree, parent, is_output, what, after_ps);
}

static gboolean
may_grow (const FabEpisode *self)
{
  return self->at != NULL && fab_episode_tree_has_room (&self->books->tree);
}

static GBytes *
keep (FabEpisode *self, const GArray *array)
{
  return fab_episode_tree_keep (&self->books->tree, array);
}

/* Notes at the last node what waited for links in the episode. */
static void
keep_queues (FabEpisode *self, Node *node, const GArray *queues)
{
  node->queues = fab_episode_books_keep_queues (self->books, self->plans, queues);
}

/* Nothing comes out up to this time. */
static void
note_quiet (FabEpisode *self, FabTimePs until_ps)
{
  if (self->at != NULL)
    self->at->quiet_ps = MAX (self->at->quiet_ps, until_ps - self->at_ps);
}

static void
log_event (FabEpisode *self, gboolean is_output, guint32 place, FabTimePs at_ps)
{
  Event event = { self->books->n_logged++, at_ps, self->at, place, is_output };

  g_array_append_val (self->events, event);
}

void
fab_episode_step_to_input (FabEpisode *self, guint32 key, FabTimePs at_ps, FabTimePs slack_ps)
{
  Node *known = fab_episode_node_find (self->at, key, at_ps - self->at_ps, slack_ps);

  if (known == NULL && may_grow (self)) {
    known = node_new (self, self->at, FALSE, key, at_ps - self->at_ps);
    known->sibling = self->at->inputs;
    self->at->inputs = known;
    if (self->replica != NULL)
      fab_episode_note_skips (self, known);
  }
  self->is_new |= known == NULL;
  self->at = known;
  self->at_ps = at_ps;
}

/* --- outputs --- */

static void
episode_end (FabEpisode *self)
{
  self->books->count.n_episodes++;
  self->books->count.n_remembered += !self->is_played && !self->is_warmed_up;
  if (!self->is_new)
    shape_of (self)->n_misses = 0;
  forget (self);
}

/* A collective has ended. */
static void
take_output (FabEpisode *self, guint32 place)
{
  FabEpisodeBooks *books = self->books;
  Member *member = member_at (self, place);
  guint i = 0;

  while (g_array_index (self->active, guint32, i) != place)
    i++;
  g_array_remove_index (self->active, i);
  member->is_reported = TRUE;
  if (books->apart_by != NULL)
    fab_episode_books_count (books, member->plan);
  log_event (self, TRUE, place, self->at_ps);
  g_array_append_val (books->pending, member->end);
  books->count.n_collectives++;
  books->count.n_collectives_remembered += self->replica == NULL && !self->is_warmed_up;
}

/* The warm-up counts as played from now on. */
static void
use_warm_up (FabEpisode *self)
{
  FabEpisodeBooks *books = self->books;
  FabEpisodeShape *shape = shape_of (self);

  books->n_events += self->n_warm_up_events;
  books->count.n_warm_ups_used++;
  shape->has_drawn |= shape->will_have_drawn;
  books->has_drawn |= shape->will_have_drawn;
}

/* The next output of the tree has come. */
static void
take_known (FabEpisode *self)
{
  FabEpisodeBooks *books = self->books;
  Node *node = self->at->output;
  gsize size;

  self->at = node;
  self->at_ps += node->after_ps;
  if (node->meter != NULL) {
    const FabMeterEntry *entries = g_bytes_get_data (node->meter, &size);

    fab_episode_books_carried_bytes (books, node->meter);
    fab_episode_note_counted (self, entries, size / sizeof *entries);
  }
  take_output (self, node->what);
  if (self->active->len > 0)
    return;
  if (self->is_warmed_up)
    use_warm_up (self);
  if (node->queues != NULL) {
    fab_episode_books_add_queues (books, self->plans, node->queues);
    gconstpointer late = g_bytes_get_data (node->late, &size);
    g_array_append_vals (books->late, late, (guint) (size / sizeof (FabMeterEntry)));
  }
  episode_end (self);
}

/* After the last collective, what is on its way runs out. Returns what waited for links: of FabLaneQueue. (transfer
 * full) */
static GArray *
run_out (FabEpisode *self)
{
  GArray *queues = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue));
  FabNet *net = net_of (self);

  if (!self->has_run_out)
    self->ended_ps = fab_engine_now (engine_of (self));
  self->has_run_out = TRUE;
  run_until (self, FAB_TIME_NEVER);
  if (net->ops->list_queues != NULL)
    net->ops->list_queues (net, queues);
  return queues;
}

/* What is on its way runs out; then the network rests. */
static void
finish_live (FabEpisode *self)
{
  FabEpisodeBooks *books = self->books;
  g_autoptr (GArray) queues = run_out (self);
  FabNet *net = net_of (self);

  fab_lane_queues_add (books->lanes, (const FabLaneQueue *) (gpointer) queues->data, queues->len);
  if (net->ops->n_drawn != NULL && net->ops->n_drawn (net) > self->n_drawn_before)
    shape_of (self)->has_drawn = TRUE;
  g_autoptr (GArray) late = drain (self);
  if (books->apart_by != NULL)
    g_array_set_size (late, 0); /* it was counted with the collectives */
  g_array_append_vals (books->late, late->data, late->len);
  if (self->at != NULL) {
    keep_queues (self, self->at, queues);
    self->at->late = keep (self, late);
  }
  episode_end (self);
}

static void
fail_otherwise (FabEpisode *self)
{
  fab_engine_fail (self->books->engine,
                   "%s: an episode gave another result when it was simulated a second time",
                   self->books->net->ops->info.name);
}

/* Returns the member that ends for the jobs when this one ends on the network. Where other rounds are skipped when an
 * episode is played again, two may end in the other order: the tree has told the one, so the other is meant. */
static guint32
find_untold (const FabEpisode *self, guint32 place)
{
  if (!member_at (self, place)->is_reported)
    return place;
  for (guint i = 0; i < self->active->len; i++)
    if (member_at (self, g_array_index (self->active, guint32, i))->is_over)
      return g_array_index (self->active, guint32, i);
  g_assert_not_reached ();
}

/* Writes down that a collective has ended at this time, and what the links carried since the one before. */
static void
record_output (FabEpisode *self, guint32 ended, FabTimePs at_ps)
{
  guint32 place = find_untold (self, ended);
  g_autoptr (GArray) carried = fab_episode_carried_until (self, place);

  if (carried != NULL)
    fab_episode_books_carried (self->books, carried);
  if (self->at != NULL && self->at->output == NULL) {
    Node *node = may_grow (self) ? node_new (self, self->at, TRUE, place, at_ps - self->at_ps) : NULL;

    self->at->output = node;
    self->is_new = TRUE;
    if (node != NULL && carried != NULL)
      node->meter = keep (self, carried);
    fab_episode_note_skips (self, node);
    self->at = node;
  } else if (self->at != NULL) {
    Node *known = self->at->output;

    if (!may_differ (self) && (known->what != place || known->after_ps != at_ps - self->at_ps))
      fail_otherwise (self);
    self->at = known->what == place ? known : NULL;
    self->n_skips_noted = net_of (self)->skips->len;
  }
  self->at_ps = at_ps;
  g_clear_pointer (&member_at (self, ended)->play, fab_play_free);
  take_output (self, place);
}

/* --- from the tree to the network --- */

/* Plays on to where an event was. A network that skips rounds may skip others when it plays again, so that what comes
 * out does so a little sooner or later; the events have the times that hold. */
static void
replay_event (FabEpisode *self, const Event *event, FabTimePs *own_ps, guint *n_outputs)
{
  FabEngine *engine = engine_of (self);

  if (!event->is_output) {
    do
      play_until (self, MAX (*own_ps, fab_engine_now (engine)));
    while (fab_engine_now (engine) < *own_ps && !is_broken (self));
    put_on_net (self, event->place);
    return;
  }
  if (self->n_over >= ++*n_outputs)
    return;
  play_until (self, may_differ (self) ? FAB_TIME_NEVER : *own_ps);
  if (is_broken (self))
    return;
  if (self->n_over < *n_outputs || (fab_engine_now (engine) != *own_ps && !may_differ (self)))
    fail_otherwise (self);
  self->own_start_ps += fab_engine_now (engine) - *own_ps;
  *own_ps = fab_engine_now (engine);
}

void
fab_episode_forget_warm_up (FabEpisode *self)
{
  self->is_warmed_up = FALSE;
  if (self->at->parent == NULL) /* after that it has followed episodes that were played */
    fab_episode_tree_cut (&self->books->tree, g_steal_pointer (&self->at->output));
  self->is_new = TRUE;
}

/* What has ended on the network, although the jobs have not got there, is to be looked at. */
static void
hear_early_ends (FabEpisode *self)
{
  guint n_early = self->n_over - (self->members->len - self->active->len);

  g_array_set_size (self->heard, 0);
  for (guint i = 0; i < self->active->len && self->heard->len < n_early; i++) {
    guint32 place = g_array_index (self->active, guint32, i);

    if (member_at (self, place)->is_over)
      g_array_append_val (self->heard, place);
  }
}

static void
replay_events (FabEpisode *self)
{
  FabTimePs own_ps;
  guint n_outputs = 0;

  net_rest (self);
  g_autoptr (GArray) skips = fab_episode_list_skips (self);
  net_of (self)->skips_due = skips;
  own_ps = self->own_start_ps;
  for (guint i = 0; i < self->events->len && !is_broken (self); i++) {
    const Event *event = &g_array_index (self->events, Event, i);

    own_ps += event->at_ps - (i > 0 ? event[-1].at_ps : self->start_ps);
    replay_event (self, event, &own_ps, &n_outputs);
    fab_episode_note_skips (self, event->node);
  }
  net_of (self)->skips_due = NULL;
}

void
fab_episode_replay (FabEpisode *self)
{
  gboolean was_played = self->replica != NULL;

  if (was_played)
    drop_play (self);
  if (self->is_jammed)
    return;
  if (self->is_warmed_up) {
    fab_episode_forget_warm_up (self);
  } else if (!was_played) {
    self->books->count.n_replays++;
    shape_of (self)->n_misses++;
  }
  replay_events (self);
  fab_episode_owe_counted (self);
  hear_early_ends (self);
}

/* --- in step with the jobs' clock --- */

FabTimePs
fab_episode_known_ps (const FabEpisode *self)
{
  if (self->heard->len > 0)
    return net_now (self);
  if (self->replica == NULL && self->at->output != NULL)
    return self->at_ps + self->at->output->after_ps;
  return FAB_TIME_NEVER;
}

/* Others that are like this one need not be played as far: where what links carried is known of the collectives, the
 * tree knows at once what comes out. */
static void
learn_heard (FabEpisode *self)
{
  FabTimePs after_ps = MAX (net_now (self) - self->at_ps, 0);
  Node *node = self->at;

  if (self->books->apart_by == NULL || self->heard->len == 0 || !may_grow (self) || node->output != NULL)
    return;
  for (guint i = 0; i < self->heard->len; i++) {
    guint32 place = g_array_index (self->heard, guint32, i);

    if (member_at (self, place)->is_reported)
      return;
    node = node->output = node_new (self, node, TRUE, place, i == 0 ? after_ps : 0);
    fab_episode_note_skips (self, node);
  }
  if (self->heard->len == self->active->len && net_of (self)->ops->list_queues != NULL) {
    g_autoptr (GArray) queues = run_out (self), none = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry));

    keep_queues (self, node, queues);
    node->late = keep (self, none);
  }
}

void
fab_episode_look (FabEpisode *self, FabTimePs until_ps)
{
  if (fab_episode_known_ps (self) != FAB_TIME_NEVER)
    return;
  if (self->replica == NULL) {
    if (until_ps != FAB_TIME_NEVER && self->at->quiet_ps >= until_ps - self->at_ps)
      return;
    fab_episode_replay (self);
    if (self->heard->len > 0)
      return;
  }
  if (own_time (self, until_ps) >= fab_engine_now (engine_of (self)))
    play_until (self, own_time (self, until_ps));
  if (self->heard->len == 0 && until_ps != FAB_TIME_NEVER && !is_broken (self))
    note_quiet (self, until_ps);
  learn_heard (self);
}

/* Writes down what the network has ended. */
static void
record_heard (FabEpisode *self)
{
  FabTimePs at_ps = MAX (net_now (self), self->at_ps);

  for (guint i = 0; i < self->heard->len; i++)
    record_output (self, g_array_index (self->heard, guint32, i), at_ps);
  g_array_set_size (self->heard, 0);
  note_quiet (self, self->at_ps);
  if (self->active->len == 0)
    finish_live (self);
}

gboolean
fab_episode_take (FabEpisode *self, FabTimePs until_ps)
{
  FabTimePs next_ps = fab_episode_known_ps (self);

  if (next_ps == FAB_TIME_NEVER || next_ps > until_ps || fab_engine_failure (self->books->engine) != NULL)
    return FALSE;
  if (self->replica != NULL) {
    record_heard (self);
    return TRUE;
  }
  do
    take_known (self);
  while (self->active->len > 0 && self->at->output != NULL && self->at->output->after_ps == 0);
  return TRUE;
}

/* --- inputs --- */

/* Finds the episode that the collective begins; it may be new. Returns its node; NULL: it is not to be in the tree. */
static Node *
find_episode (FabEpisode *self)
{
  FabEpisodeBooks *books = self->books;
  FabEpisodeShape *shape = shape_of (self);
  guint64 sample = shape->n_begun++;

  if (!shape->has_drawn)
    sample = books->remembers ? 0 : sample;
  else if (books->remembers)
    sample %= FAB_SAMPLES;
  self->stream = sample;
  if (!books->remembers)
    return NULL;
  if (shape->samples[sample] == NULL && fab_episode_tree_has_room (&books->tree))
    shape->samples[sample] = node_new (self, NULL, FALSE, self->first, 0);
  return shape->samples[sample];
}

guint
fab_episode_extend (const FabEpisode *self, guint32 plan)
{
  return has_versions (self) && !self->is_large
           ? fab_episode_input_extend (&fab_episode_plan_at (self->books, plan)->input, self->folded_for)
           : FAB_FOLDED_FOR_ALL;
}

void
fab_episode_begin (FabEpisode *self, guint32 plan, FabTimePs now_ps)
{
  self->first = fab_episode_plan_at (self->books, plan)->shape.shape;
  FabEpisodeShape *shape = shape_of (self);
  self->folded_for = FAB_FOLDED_FOR_NONE;
  self->folded_for = fab_episode_extend (self, plan);
  self->is_new = self->is_played = FALSE;
  self->start_ps = self->at_ps = now_ps;
  self->at = find_episode (self);
  self->n_warm_up_events = shape->n_events;
  self->is_warmed_up = self->n_warm_up_events > 0;
  shape->n_events = 0;
  if (self->at != NULL && !self->is_new && shape->n_misses < MOST_MISSES)
    return;
  net_rest (self);
  fab_episode_note_skips (self, self->at);
}

/* Returns the plans (guint32) to which the relations of a collective that begins now count: those under way and, where
 * queues are kept by the places of links, those that have ended. (transfer full) */
static GArray *
list_others (const FabEpisode *self)
{
  GArray *plans;

  if (self->books->net->ops->trace != NULL)
    return g_array_copy (self->plans);
  plans = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint i = 0; i < self->active->len; i++)
    g_array_append_val (plans, member_at (self, g_array_index (self->active, guint32, i))->plan);
  return plans;
}

/* Whether the tree knows the episode in which this collective begins now. */
static gboolean
is_known (const FabEpisode *self, guint32 plan, FabTimePs now_ps)
{
  g_autoptr (GArray) others = NULL;

  if (self->replica != NULL)
    return FALSE;
  others = list_others (self);
  return fab_episode_node_find (self->at, fab_episode_books_key (self->books, plan, others),
                                now_ps - self->at_ps, fab_episode_books_slack_ps (self->books, plan, others))
      != NULL;
}

/* Whether a collective has begun in this ps on the network, which was there then. Others that begin in it need not wait
 * until the network has found what that one changes. */
static gboolean
is_beginning (const FabEpisode *self, FabTimePs now_ps)
{
  const Event *last = &g_array_index (self->events, Event, self->events->len - 1);

  return self->is_large && self->heard->len == 0 && !last->is_output && last->at_ps == now_ps
      && net_now (self) == now_ps;
}

void
fab_episode_prepare (FabEpisode *self, guint32 plan, FabTimePs now_ps)
{
  guint folded_before = self->folded_for;

  if (!self->is_large && self->members->len >= FAB_MOST_REMEMBERED)
    fab_episode_become_large (self);
  if (is_beginning (self, now_ps))
    return;
  self->folded_for = fab_episode_extend (self, plan);
  if (self->replica != NULL && (net_now (self) > now_ps || self->folded_for != folded_before)) {
    if (self->heard->len > 0)
      note_quiet (self, net_now (self) - 1);
    fab_episode_replay (self);
  }
  while (self->active->len > 0 && !is_known (self, plan, now_ps)) {
    if (self->replica == NULL && fab_episode_known_ps (self) > now_ps)
      fab_episode_replay (self);
    fab_episode_look (self, now_ps);
    if (!fab_episode_take (self, now_ps))
      return;
  }
}

void
fab_episode_put (FabEpisode *self, guint32 plan, FabEpisodeEnd end, FabTimePs now_ps)
{
  Member added = { .plan = plan, .end = end };
  guint32 place = self->members->len;

  if (place > 0 && self->at == NULL) {
    self->is_new = TRUE;
    self->at_ps = now_ps;
  } else if (place > 0) {
    g_autoptr (GArray) others = list_others (self);

    fab_episode_step_to_input (self, fab_episode_books_key (self->books, plan, others), now_ps,
                               fab_episode_books_slack_ps (self->books, plan, others));
  }
  g_array_append_val (self->members, added);
  g_array_append_val (self->plans, plan);
  g_array_append_val (self->active, place);
  log_event (self, FALSE, place, now_ps);
  if (self->replica != NULL)
    put_on_net (self, place);
}

void
fab_episode_list_queues (FabEpisode *self, FabTimePs now_ps, GArray *queues)
{
  if (self->replica == NULL || net_now (self) > now_ps)
    fab_episode_replay (self);
  if (self->heard->len == 0)
    play_until (self, MAX (own_time (self, now_ps), fab_engine_now (engine_of (self))));
  net_of (self)->ops->list_queues (net_of (self), queues);
}
