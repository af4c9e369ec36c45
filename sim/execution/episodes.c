/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/episodes.h"

#include "sim/execution/episode_tree.h"
#include "sim/execution/plan_ids.h"

enum { MOST_MISSES = 3 }; /* replays in a row after which episodes of a collective are played at once */

typedef FabEpisodeNode Node;

/* A collective that begins episodes. */
typedef struct {
  FabEpisodeInput input;
  Node *samples[FAB_SAMPLES]; /* the episodes that it begins; without random numbers the first only */
  guint64 n_begun;            /* such episodes so far */
  guint64 n_events;           /* of a rehearsal that has not been used; 0: there is none */
  guint n_misses;             /* replays since such an episode was known to its end */
  gboolean has_drawn, will_have_drawn; /* once a rehearsal has been used */
} Plan;

/* A collective that has begun in this episode. */
typedef struct {
  guint32 plan;
  FabPlay *play; /* NULL: a stream, or not begun on the network */
  FabDone done;
  gboolean is_over, is_told; /* it has ended on the network; for the jobs */
} Input;

struct _FabEpisodes {
  FabEngine *engine, *own; /* of the jobs, of the network; the same: played directly */
  FabNet *net;
  FabMeter *meter; /* of the jobs */
  gboolean remembers;
  FabPlanIds *ids;
  GArray *plans; /* of Plan */
  FabEpisodeTree tree;
  GHashTable *directly; /* of Direct: that have not ended */

  /* The episode under way. */
  GArray *inputs;                   /* of Input */
  guint n_active;                   /* of them, have not ended */
  guint first;                      /* the plan that began it */
  guint64 stream;                   /* of random numbers */
  Node *at;                         /* the last input or output; NULL: it is not in the tree */
  FabTimePs at_ps;                  /* when that was */
  gboolean is_live;                 /* the network plays it */
  gboolean is_rehearsed;            /* the first use of a rehearsal counts as played */
  gboolean is_new;                  /* it has grown the tree, or is not in it */
  gboolean is_played;               /* the network has played some of it */
  FabTimePs start_ps, own_start_ps; /* on the two clocks */
  guint n_skips_noted;              /* of the network's, that are in the tree */
  guint64 n_drawn_before;

  GArray *heard;   /* guint32: places of inputs that the network has ended, not looked at yet */
  GArray *pending; /* FabDone to be told now */
  guint n_told;
  GArray *late;     /* FabMeterEntry: what links carried after the last output of the episode before */
  GArray *lanes;    /* FabLaneQueue of all episodes that have ended, by lane */
  guint64 n_events; /* of rehearsals that were used */
  guint64 n_rehearsed_events; /* of the rehearsal in use */
  gboolean has_drawn;
  FabEpisodesCount count;
};

typedef struct {
  FabEpisodes *episodes;
  FabPlay *play;
  FabDone done;
} Direct;

/* --- begin and end --- */

static void
direct_free (gpointer data)
{
  fab_play_free (((Direct *) data)->play);
  g_free (data);
}

static FabTimePs advance (gpointer owner, FabTimePs until_ps);
static void tell (gpointer owner);

FabEpisodes *
fab_episodes_new (FabEngine *engine, FabNet *net, gboolean remembers)
{
  FabEpisodes *self = g_new0 (FabEpisodes, 1);

  self->engine = engine;
  self->own = net->env.engine;
  self->net = net;
  self->remembers = remembers;
  self->ids = fab_plan_ids_new ();
  self->plans = g_array_new (FALSE, FALSE, sizeof (Plan));
  fab_episode_tree_init (&self->tree);
  self->directly = g_hash_table_new_full (NULL, NULL, direct_free, NULL);
  self->inputs = g_array_new (FALSE, FALSE, sizeof (Input));
  self->heard = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->pending = g_array_new (FALSE, FALSE, sizeof (FabDone));
  self->lanes = g_array_new (FALSE, TRUE, sizeof (FabLaneQueue));
  self->late = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry));
  if (self->own == engine)
    return self;
  self->meter = fab_meter_new (net->env.graph);
  fab_engine_set_companion (engine, &(FabCompanion){ advance, tell, self });
  return self;
}

static void
inputs_clear (FabEpisodes *self)
{
  for (guint i = 0; i < self->inputs->len; i++)
    fab_play_free (g_array_index (self->inputs, Input, i).play);
  g_array_set_size (self->inputs, 0);
}

void
fab_episodes_free (FabEpisodes *self)
{
  if (self == NULL)
    return;
  inputs_clear (self);
  for (guint i = 0; i < self->plans->len; i++)
    for (guint k = 0; k < FAB_SAMPLES; k++)
      fab_episode_tree_cut (&self->tree, g_array_index (self->plans, Plan, i).samples[k]);
  g_array_unref (self->plans);
  fab_plan_ids_free (self->ids);
  fab_episode_tree_clear (&self->tree);
  g_hash_table_unref (self->directly);
  g_array_unref (self->inputs);
  g_array_unref (self->heard);
  g_array_unref (self->pending);
  g_array_unref (self->lanes);
  g_array_unref (self->late);
  fab_meter_free (self->meter);
  g_free (self);
}

/* --- collectives on the network --- */

static void
direct_done (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Direct *direct = owner;
  FabEpisodes *self = direct->episodes;
  FabDone done = direct->done;

  self->count.n_collectives++;
  g_hash_table_remove (self->directly, direct);
  done.fn (done.owner, done.arg);
}

static void
begin_directly (FabEpisodes *self, const FabEpisodeInput *input, FabDone done)
{
  Direct *direct = g_new0 (Direct, 1);

  *direct = (Direct){ self, NULL, done };
  g_hash_table_add (self->directly, direct);
  direct->play = fab_episode_input_play (input, self->net, (FabDone){ direct_done, direct, 0 });
}

/* Returns the number of the plan, which is new or not. */
static guint32
plan_id (FabEpisodes *self, const FabEpisodeInput *input)
{
  guint32 id = fab_plan_ids_find (self->ids, input->plan, input->traffic);
  Plan added = { .input = *input };

  if (id == self->plans->len)
    g_array_append_val (self->plans, added);
  return id;
}

static Plan *
plan_at (const FabEpisodes *self, guint32 id)
{
  return &g_array_index (self->plans, Plan, id);
}

static void
hear (gpointer owner, guint64 place)
{
  FabEpisodes *self = owner;
  guint32 heard = (guint32) place;

  g_array_index (self->inputs, Input, place).is_over = TRUE;
  g_array_append_val (self->heard, heard);
  fab_engine_stop (self->own);
}

static void
put_in (FabEpisodes *self, guint32 place)
{
  Input *input = &g_array_index (self->inputs, Input, place);
  FabEpisodeInput what = plan_at (self, input->plan)->input;

  self->is_played = TRUE;
  input->play = fab_episode_input_play (&what, self->net, (FabDone){ hear, self, place });
}

/* --- the clock of the network --- */

static FabTimePs
own_time (const FabEpisodes *self, FabTimePs time_ps)
{
  return time_ps == FAB_TIME_NEVER ? FAB_TIME_NEVER : time_ps - self->start_ps + self->own_start_ps;
}

static void
run_until (FabEpisodes *self, FabTimePs own_until_ps)
{
  fab_engine_run_until (self->own, own_until_ps);
  const char *failure = fab_engine_failure (self->own);
  if (failure != NULL)
    fab_engine_fail (self->engine, "%s", failure);
}

/* Plays up to the first ps in which a collective ends, and all of that ps. */
static void
play_until (FabEpisodes *self, FabTimePs own_until_ps)
{
  g_array_set_size (self->heard, 0);
  run_until (self, own_until_ps);
  for (guint n = 0; n < self->heard->len;) {
    n = self->heard->len;
    run_until (self, fab_engine_now (self->own));
  }
}

static gboolean
is_broken (const FabEpisodes *self)
{
  return fab_engine_failure (self->own) != NULL || fab_engine_is_cancelled (self->own);
}

static void
net_rest (FabEpisodes *self)
{
  if (self->net->ops->rest != NULL)
    self->net->ops->rest (self->net, self->stream);
  if (self->net->ops->n_drawn != NULL)
    self->n_drawn_before = self->net->ops->n_drawn (self->net);
  g_array_set_size (self->net->skips, 0);
  self->n_skips_noted = 0;
  self->own_start_ps = fab_engine_now (self->own);
  self->is_live = TRUE;
}

/* --- the tree --- */

static GArray *
drain (FabEpisodes *self)
{
  return fab_meter_drain (self->net->meter, g_array_new (FALSE, FALSE, sizeof (FabMeterEntry)));
}

static void
book_array (FabEpisodes *self, const GArray *entries)
{
  fab_meter_add_entries (self->meter, (const FabMeterEntry *) (gconstpointer) entries->data, entries->len);
}

static void
book_kept (FabEpisodes *self, GBytes *kept)
{
  gsize size;
  const FabMeterEntry *entries = g_bytes_get_data (kept, &size);

  fab_meter_add_entries (self->meter, entries, size / sizeof *entries);
}

static Node *
node_new (FabEpisodes *self, Node *parent, gboolean is_output, guint32 what, FabTimePs after_ps)
{
  self->is_new = TRUE;
  return fab_episode_tree_add (&self->tree, parent, is_output, what, after_ps);
}

static GBytes *
keep (FabEpisodes *self, const GArray *array)
{
  return fab_episode_tree_keep (&self->tree, array);
}

/* Notes at a node the skips that the network has made since its parent. */
static void
note_skips (FabEpisodes *self, Node *node, const GArray *made)
{
  g_autoptr (GArray) skips = g_array_new (FALSE, FALSE, sizeof (FabSkip));

  for (guint i = self->n_skips_noted; i < made->len; i++) {
    FabSkip skip = g_array_index (made, FabSkip, i);

    skip.at_ps -= self->own_start_ps;
    g_array_append_val (skips, skip);
  }
  self->n_skips_noted = made->len;
  if (node != NULL && skips->len > 0)
    node->skips = keep (self, skips);
}

static gboolean
may_grow (const FabEpisodes *self)
{
  return self->at != NULL && fab_episode_tree_has_room (&self->tree);
}

/* Goes on in the tree to an input, which becomes part of it where there is room. */
static void
step_to_input (FabEpisodes *self, guint32 what, FabTimePs now_ps)
{
  Node *known = fab_episode_node_find (self->at, what, now_ps - self->at_ps);

  if (known == NULL && may_grow (self)) {
    known = node_new (self, self->at, FALSE, what, now_ps - self->at_ps);
    known->sibling = self->at->inputs;
    self->at->inputs = known;
    note_skips (self, known, self->net->skips);
  }
  self->is_new |= known == NULL;
  self->at = known;
  self->at_ps = now_ps;
}

/* --- outputs --- */

static void
episode_end (FabEpisodes *self)
{
  Plan *plan = plan_at (self, self->first);

  self->count.n_episodes++;
  self->count.n_remembered += !self->is_played && !self->is_rehearsed;
  if (!self->is_new)
    plan->n_misses = 0;
  inputs_clear (self);
  self->is_live = FALSE;
  self->at = NULL;
}

/* A collective has ended. */
static void
take_output (FabEpisodes *self, guint32 place)
{
  Input *input = &g_array_index (self->inputs, Input, place);

  input->is_told = TRUE;
  g_array_append_val (self->pending, input->done);
  self->n_active--;
  self->count.n_collectives++;
  self->count.n_collectives_remembered += !self->is_live && !self->is_rehearsed;
}

/* The next output of the tree has come. */
static void
take_known (FabEpisodes *self)
{
  Node *node = self->at->output;

  self->at = node;
  self->at_ps += node->after_ps;
  book_kept (self, node->meter);
  take_output (self, node->what);
  if (self->n_active > 0)
    return;
  if (self->is_rehearsed) {
    Plan *plan = plan_at (self, self->first);

    self->n_events += self->n_rehearsed_events;
    plan->has_drawn |= plan->will_have_drawn;
    self->has_drawn |= plan->will_have_drawn;
  }
  gsize size;
  const FabLaneQueue *queues = g_bytes_get_data (node->queues, &size);
  fab_lane_queues_add (self->lanes, queues, size / sizeof (FabLaneQueue));
  gconstpointer late = g_bytes_get_data (node->late, &size);
  g_array_append_vals (self->late, late, (guint) (size / sizeof (FabMeterEntry)));
  episode_end (self);
}

/* What is on its way runs out; then the network rests. */
static void
finish_live (FabEpisodes *self)
{
  g_autoptr (GArray) queues = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue));
  const FabNetOps *ops = self->net->ops;

  run_until (self, FAB_TIME_NEVER);
  if (ops->list_queues != NULL)
    ops->list_queues (self->net, queues);
  fab_lane_queues_add (self->lanes, (const FabLaneQueue *) (gpointer) queues->data, queues->len);
  if (ops->n_drawn != NULL && ops->n_drawn (self->net) > self->n_drawn_before)
    plan_at (self, self->first)->has_drawn = TRUE;
  fab_meter_drain (self->net->meter, self->late);
  if (self->at != NULL) {
    self->at->queues = keep (self, queues);
    self->at->late = keep (self, self->late);
  }
  episode_end (self);
}

static void
fail_otherwise (FabEpisodes *self)
{
  fab_engine_fail (self->engine, "%s: an episode gave another result when it was simulated a second time",
                   self->net->ops->info.name);
}

/* Returns the input that ends for the jobs when this one ends on the network. Where other rounds are skipped when an
 * episode is played again, two may end in the other order: the tree has told the one, so the other is meant. */
static guint32
find_untold (const FabEpisodes *self, guint32 place)
{
  guint32 other = 0;

  if (!g_array_index (self->inputs, Input, place).is_told)
    return place;
  while (!g_array_index (self->inputs, Input, other).is_over
         || g_array_index (self->inputs, Input, other).is_told)
    other++;
  return other;
}

/* Writes down that a collective has ended at this time, and what the links carried since the one before. */
static void
record_output (FabEpisodes *self, guint32 ended, FabTimePs at_ps)
{
  g_autoptr (GArray) meter = drain (self);
  guint32 place = find_untold (self, ended);

  book_array (self, meter);
  if (self->at != NULL && self->at->output == NULL) {
    Node *node = may_grow (self) ? node_new (self, self->at, TRUE, place, at_ps - self->at_ps) : NULL;

    self->at->output = node;
    self->is_new = TRUE;
    if (node != NULL)
      node->meter = keep (self, meter);
    note_skips (self, node, self->net->skips);
    self->at = node;
  } else if (self->at != NULL) {
    Node *known = self->at->output;

    if (self->net->n_skipped == 0 && (known->what != place || known->after_ps != at_ps - self->at_ps))
      fail_otherwise (self);
    self->at = known->what == place ? known : NULL;
    self->n_skips_noted = self->net->skips->len;
  }
  self->at_ps = at_ps;
  g_clear_pointer (&g_array_index (self->inputs, Input, ended).play, fab_play_free);
  take_output (self, place);
}

/* Looks at what the network has ended. Returns whether that is anything. */
static gboolean
record_heard (FabEpisodes *self, FabTimePs played_ps)
{
  FabTimePs at_ps = fab_engine_now (self->own) - self->own_start_ps + self->start_ps;

  if (self->heard->len == 0) {
    if (self->at != NULL && played_ps != FAB_TIME_NEVER && !is_broken (self))
      self->at->quiet_ps = MAX (self->at->quiet_ps, played_ps - self->at_ps);
    return FALSE;
  }
  for (guint i = 0; i < self->heard->len; i++)
    record_output (self, g_array_index (self->heard, guint32, i), at_ps);
  g_array_set_size (self->heard, 0);
  if (self->at != NULL)
    self->at->quiet_ps = MAX (self->at->quiet_ps, 0);
  if (self->n_active == 0)
    finish_live (self);
  return TRUE;
}

/* --- from the tree to the network --- */

/* Plays on to where a node of the path was. A network that skips rounds may skip others when it plays again, so
 * that what comes out does so a little sooner or later; the tree has the times that hold. */
static void
replay_node (FabEpisodes *self, const Node *node, FabTimePs *own_ps, guint32 *n_inputs, guint *n_heard)
{
  if (!node->is_output) {
    play_until (self, *own_ps);
    put_in (self, (*n_inputs)++);
    *n_heard = 0;
    return;
  }
  if (*n_heard == 0) {
    play_until (self, self->net->n_skipped > 0 ? FAB_TIME_NEVER : *own_ps);
    *n_heard = self->heard->len;
    g_array_unref (drain (self));
  }
  if ((*n_heard)-- == 0 || (fab_engine_now (self->own) != *own_ps && self->net->n_skipped == 0))
    fail_otherwise (self);
  self->own_start_ps += fab_engine_now (self->own) - *own_ps;
  *own_ps = fab_engine_now (self->own);
}

/* Returns the skips of the nodes of a path, on the clock of the network. (transfer full) */
static GArray *
list_skips (const FabEpisodes *self, const GPtrArray *path)
{
  GArray *skips = g_array_new (FALSE, FALSE, sizeof (FabSkip));

  for (guint i = path->len; i-- > 0;) {
    const Node *node = g_ptr_array_index (path, i);
    gsize size = 0;
    const FabSkip *of_node = node->skips != NULL ? g_bytes_get_data (node->skips, &size) : NULL;

    if (size > 0)
      g_array_append_vals (skips, of_node, (guint) (size / sizeof *of_node));
  }
  for (guint i = 0; i < skips->len; i++)
    g_array_index (skips, FabSkip, i).at_ps += fab_engine_now (self->own);
  return skips;
}

/* The first use of a rehearsal goes on otherwise: the tree is then what it would be if it had been played at once. */
static void
forget_rehearsal (FabEpisodes *self)
{
  self->is_rehearsed = FALSE;
  fab_episode_tree_cut (&self->tree, g_steal_pointer (&self->at->output));
  self->is_new = TRUE;
}

/* What has ended on the network, although the tree has not got there, is to be looked at. */
static void
hear_early_ends (FabEpisodes *self)
{
  guint n_early = 0;

  for (guint i = 0; i < self->inputs->len; i++)
    n_early += g_array_index (self->inputs, Input, i).is_over;
  n_early -= self->inputs->len - self->n_active;
  g_array_set_size (self->heard, 0);
  for (guint32 i = 0; i < self->inputs->len && self->heard->len < n_early; i++)
    if (g_array_index (self->inputs, Input, i).is_over && !g_array_index (self->inputs, Input, i).is_told)
      g_array_append_val (self->heard, i);
}

/* Plays the episode so far again, up to the last node, unheard; from there on the network is live. */
static void
replay (FabEpisodes *self)
{
  g_autoptr (GPtrArray) path = g_ptr_array_new ();
  FabTimePs own_ps;
  guint32 n_inputs = 0;
  guint n_heard = 0;

  for (Node *node = self->at; node != NULL; node = node->parent)
    g_ptr_array_add (path, node);
  if (self->is_rehearsed) {
    forget_rehearsal (self);
  } else {
    self->count.n_replays++;
    plan_at (self, self->first)->n_misses++;
  }
  g_autoptr (GArray) skips = list_skips (self, path);

  net_rest (self);
  self->net->skips_due = skips;
  own_ps = self->own_start_ps;
  for (guint i = path->len; i-- > 0 && !is_broken (self);) {
    const Node *node = g_ptr_array_index (path, i);

    own_ps += node->after_ps;
    replay_node (self, node, &own_ps, &n_inputs, &n_heard);
  }
  self->net->skips_due = NULL;
  self->n_skips_noted = self->net->skips->len;
  hear_early_ends (self);
}

/* --- in step with the jobs' clock --- */

/* Goes on until something ends, up to `until_ps`; what has ended is pending then. Returns whether something has. */
static gboolean
go_on (FabEpisodes *self, FabTimePs until_ps)
{
  if (!self->is_live) {
    const Node *next = self->at->output;

    if (next != NULL && self->at_ps + next->after_ps > until_ps)
      return FALSE;
    if (next != NULL) {
      do
        take_known (self);
      while (self->n_active > 0 && self->at->output != NULL && self->at->output->after_ps == 0);
      return TRUE;
    }
    if (until_ps != FAB_TIME_NEVER && self->at->quiet_ps >= until_ps - self->at_ps)
      return FALSE;
    replay (self);
    if (self->heard->len > 0)
      return record_heard (self, until_ps);
  }
  play_until (self, own_time (self, until_ps));
  return record_heard (self, until_ps);
}

static FabTimePs
advance (gpointer owner, FabTimePs until_ps)
{
  FabEpisodes *self = owner;

  if (self->n_told == self->pending->len && (self->n_active == 0 || !go_on (self, until_ps)))
    return FAB_TIME_NEVER;
  return MAX (self->at_ps, fab_engine_now (self->engine));
}

static void
tell (gpointer owner)
{
  FabEpisodes *self = owner;

  while (self->n_told < self->pending->len && !fab_engine_is_stopped (self->engine)) {
    FabDone done = g_array_index (self->pending, FabDone, self->n_told++);

    done.fn (done.owner, done.arg);
  }
  if (self->n_told < self->pending->len)
    return;
  g_array_set_size (self->pending, 0);
  self->n_told = 0;
}

/* --- inputs --- */

/* Finds the episode that the collective begins; it may be new. Returns its node; NULL: it is not to be in the tree. */
static Node *
find_episode (FabEpisodes *self, guint32 id)
{
  Plan *plan = plan_at (self, id);
  guint64 sample = plan->n_begun++;

  if (!plan->has_drawn)
    sample = self->remembers ? 0 : sample;
  else if (self->remembers)
    sample %= FAB_SAMPLES;
  self->stream = sample;
  if (!self->remembers)
    return NULL;
  if (plan->samples[sample] == NULL && fab_episode_tree_has_room (&self->tree))
    plan->samples[sample] = node_new (self, NULL, FALSE, id, 0);
  return plan->samples[sample];
}

static void
episode_begin (FabEpisodes *self, guint32 id, FabTimePs now_ps)
{
  book_array (self, self->late);
  g_array_set_size (self->late, 0);
  inputs_clear (self);
  self->first = id;
  self->is_new = self->is_played = FALSE;
  self->start_ps = self->at_ps = now_ps;
  self->is_rehearsed = FALSE;
  self->at = find_episode (self, id);
  self->n_rehearsed_events = plan_at (self, id)->n_events;
  self->is_rehearsed = self->n_rehearsed_events > 0;
  plan_at (self, id)->n_events = 0;
  if (self->at == NULL || self->is_new || plan_at (self, id)->n_misses >= MOST_MISSES)
    net_rest (self);
}

/* Puts what was rehearsed into the tree, as if it had been played. */
static void
learn (FabEpisodes *self, guint32 id, const FabRehearsal *rehearsal)
{
  Plan *plan = plan_at (self, id);
  Node *node;

  if (rehearsal->duration_ps < 0 || plan->samples[0] != NULL || !fab_episode_tree_has_room (&self->tree))
    return;
  node = plan->samples[0] = node_new (self, NULL, FALSE, id, 0);
  node = node->output = node_new (self, node, TRUE, 0, rehearsal->duration_ps);
  node->quiet_ps = 0;
  self->n_skips_noted = 0;
  note_skips (self, node, rehearsal->skips);
  node->meter = keep (self, rehearsal->meter);
  node->queues = keep (self, rehearsal->queues);
  node->late = keep (self, rehearsal->late);
  plan->n_events = MAX (rehearsal->n_events, 1);
  self->net->n_skipped += rehearsal->n_skipped;
  plan->will_have_drawn = rehearsal->n_drawn > 0;
}

void
fab_episodes_rehearse (FabEpisodes *self, const FabRehearsalEnv *env, const FabEpisodeInput *inputs, guint n)
{
  g_autoptr (GArray) results = NULL;

  if (!self->remembers || self->own == self->engine)
    return;
  results = fab_rehearse (env, self->engine, inputs, n);
  for (guint i = 0; results != NULL && i < n; i++)
    learn (self, plan_id (self, &inputs[i]), &g_array_index (results, FabRehearsal, i));
}

/* The network finishes this ps. */
static void
settle (FabEpisodes *self, guint32 id, FabTimePs now_ps)
{
  while (self->n_active > 0) {
    if (!self->is_live && fab_episode_node_find (self->at, id, now_ps - self->at_ps) != NULL)
      return;
    if (!go_on (self, now_ps))
      return;
  }
}

void
fab_episodes_begin (FabEpisodes *self, const FabEpisodeInput *input, FabDone done)
{
  FabTimePs now_ps = fab_engine_now (self->engine);

  if (self->own == self->engine) {
    begin_directly (self, input, done);
    return;
  }
  Input added = { .plan = plan_id (self, input), .done = done };
  settle (self, added.plan, now_ps);
  if (self->n_active == 0) {
    episode_begin (self, added.plan, now_ps);
  } else {
    if (!self->is_live && fab_episode_node_find (self->at, added.plan, now_ps - self->at_ps) == NULL) {
      replay (self);
      if (self->heard->len == 0)
        play_until (self, own_time (self, now_ps));
      record_heard (self, now_ps);
    }
    step_to_input (self, added.plan, now_ps);
  }
  self->n_active++;
  g_array_append_val (self->inputs, added);
  if (self->is_live)
    put_in (self, self->inputs->len - 1);
}

/* --- what was counted --- */

FabMeter *
fab_episodes_meter (const FabEpisodes *self)
{
  return self->meter != NULL ? self->meter : self->net->meter;
}

gboolean
fab_episodes_is_still (const FabEpisodes *self)
{
  const FabNet *net = self->net;

  return net->ops->is_still != NULL && net->ops->is_still (net)
      && (self->own == self->engine || (self->is_live && self->n_told == self->pending->len));
}

FabLinkQueue *
fab_episodes_link_queues (FabEpisodes *self)
{
  FabTimePs now_ps = fab_engine_now (self->engine);

  if (self->net->ops->link_queue == NULL)
    return NULL;
  if (self->own == self->engine)
    return fab_net_link_queues (self->net);
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue));
  g_autoptr (GArray) lanes = g_array_new (FALSE, TRUE, sizeof (FabLaneQueue));
  if (self->n_active > 0) {
    if (!self->is_live)
      replay (self);
    play_until (self, MAX (own_time (self, now_ps), fab_engine_now (self->own)));
    self->net->ops->list_queues (self->net, open);
    record_heard (self, now_ps);
  }
  fab_lane_queues_add (lanes, (const FabLaneQueue *) (gpointer) self->lanes->data, self->lanes->len);
  fab_lane_queues_add (lanes, (const FabLaneQueue *) (gpointer) open->data, open->len);
  return fab_lane_queues_sum (lanes, fab_graph_n_links (self->net->env.graph), now_ps);
}

gboolean
fab_episodes_has_drawn (const FabEpisodes *self)
{
  return self->has_drawn || (self->net->ops->n_drawn != NULL && self->net->ops->n_drawn (self->net) > 0);
}

guint64
fab_episodes_events (const FabEpisodes *self)
{
  return self->n_events + (self->own != self->engine ? fab_engine_events (self->own) : 0);
}

FabEpisodesCount
fab_episodes_count (const FabEpisodes *self)
{
  FabEpisodesCount count = self->count;

  count.n_skipped = self->net->n_skipped;
  return count;
}
