/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/dry_run.h"

#include <math.h>

#include "sim/base/order.h"
#include "sim/execution/executor.h"
#include "sim/shortcut/memo/episode.h"

/* A collective under way, or over. */
typedef struct {
  FabTimePs begin_ps, end_ps; /* begin_ps first: they are sorted by it; end_ps -1: it is under way */
  guint32 plan;
  double left_ps; /* what is left of the time that it takes alone */
  FabDone done;   /* `arg` says which collective of the job it is */
} DryMember;

typedef struct _DryRun DryRun;

typedef struct {
  DryRun *run;
  GArray *members; /* DryMember, in the order in which they began */
  guint n_active;
  FabTimePs at_ps; /* up to here `left_ps` was counted */
  FabTimer timer;  /* of the next end; 0: there was none */
} DryEpisode;

struct _DryRun {
  FabPlayWatch watch;
  FabEpisodeBooks *books;
  FabEngine *engine;
  FabMeter *meter; /* nothing is counted */
  double stretch;
  FabEpisodeInput (*input) (gpointer owner, const FabJobCollective *collective);
  gpointer owner;
  GPtrArray *active, *over; /* DryEpisode; `over` owns them */
  gboolean is_known;        /* the times of all collectives so far */
};

/* --- episodes --- */

static void
episode_free (gpointer data)
{
  DryEpisode *self = data;

  g_array_unref (self->members);
  g_free (self);
}

static DryMember *
member_at (const DryEpisode *self, guint place)
{
  return &g_array_index (self->members, DryMember, place);
}

static gboolean
is_active (const DryMember *member)
{
  return member->end_ps < 0;
}

/* Counts what has been done since the last time: those under way share the time evenly. */
static void
catch_up (DryEpisode *self)
{
  FabTimePs now_ps = fab_engine_now (self->run->engine);
  double done_ps = (double) (now_ps - self->at_ps) / MAX (self->n_active, 1);

  for (guint i = 0; i < self->members->len; i++)
    if (is_active (member_at (self, i)))
      member_at (self, i)->left_ps -= done_ps;
  self->at_ps = now_ps;
}

static void end_some (gpointer owner, guint64 arg);

/* Sets the timer to the next end. */
static void
arm (DryEpisode *self)
{
  double least_ps = HUGE_VAL;

  fab_engine_cancel (self->run->engine, self->timer);
  for (guint i = 0; i < self->members->len; i++)
    if (is_active (member_at (self, i)))
      least_ps = MIN (least_ps, member_at (self, i)->left_ps);
  if (self->n_active > 0)
    self->timer = fab_engine_after (self->run->engine, (FabTimePs) ceil (MAX (least_ps, 0) * self->n_active),
                                    end_some, self, 0);
}

/* What has ended is told last, since more may begin then. */
static void
end_some (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  const double rest_ps = 0.5;
  DryEpisode *self = owner;
  DryRun *run = self->run;
  g_autoptr (GArray) ended = g_array_new (FALSE, FALSE, sizeof (FabDone));

  catch_up (self);
  for (guint i = 0; i < self->members->len; i++) {
    DryMember *member = member_at (self, i);

    if (!is_active (member) || member->left_ps > rest_ps)
      continue;
    member->end_ps = fab_engine_now (run->engine);
    self->n_active--;
    g_array_append_val (ended, member->done);
  }
  arm (self);
  if (self->n_active == 0) {
    g_ptr_array_remove (run->active, self);
    g_ptr_array_add (run->over, self);
  }
  for (guint i = 0; i < ended->len; i++) {
    FabDone done = g_array_index (ended, FabDone, i);

    done.fn (done.owner, done.arg);
  }
}

static gboolean
is_met (const DryEpisode *self, guint32 plan)
{
  for (guint i = 0; i < self->members->len; i++)
    if (is_active (member_at (self, i))
        && fab_episode_books_meet (self->run->books, member_at (self, i)->plan, plan))
      return TRUE;
  return FALSE;
}

/* Makes one episode of all that the collective meets, with what has been done up to now. */
static DryEpisode *
find_episode (DryRun *self, guint32 plan)
{
  DryEpisode *found = g_new (DryEpisode, 1);

  *found = (DryEpisode){ .run = self,
                         .members = g_array_new (FALSE, FALSE, sizeof (DryMember)),
                         .at_ps = fab_engine_now (self->engine) };
  for (guint i = self->active->len; i-- > 0;) {
    DryEpisode *part = g_ptr_array_index (self->active, i);

    if (!is_met (part, plan))
      continue;
    catch_up (part);
    g_array_prepend_vals (found->members, part->members->data, part->members->len);
    found->n_active += part->n_active;
    fab_engine_cancel (self->engine, part->timer);
    g_ptr_array_remove_index (self->active, i);
    episode_free (part);
  }
  g_array_sort (found->members, fab_order_int64s); /* which keeps the order of equals */
  g_ptr_array_add (self->active, found);
  return found;
}

/* --- the watch --- */

static FabWatchedJob *
job_new (G_GNUC_UNUSED FabPlayWatch *watch, G_GNUC_UNUSED const FabWatchedJobEnv *env)
{
  return NULL;
}

static void
job_free (G_GNUC_UNUSED FabWatchedJob *job)
{
}

static void
begin (FabPlayWatch *watch, G_GNUC_UNUSED FabWatchedJob *job, const FabJobCollective *collective,
       FabDone done)
{
  DryRun *self = (DryRun *) watch;
  const FabEpisodeInput input = self->input (self->owner, collective);
  guint32 plan = fab_episode_books_plan (self->books, &input);
  FabTimePs alone_ps =
      fab_episode_shape_at (self->books, fab_episode_plan_at (self->books, plan)->shape.shape)->alone_ps;
  DryEpisode *episode = find_episode (self, plan);
  DryMember member = { fab_engine_now (self->engine), -1, plan, self->stretch * (double) alone_ps, done };

  self->is_known &= alone_ps > 0;
  g_array_append_val (episode->members, member);
  episode->n_active++;
  arm (episode);
}

static FabMeter *
meter (const FabPlayWatch *watch)
{
  return ((const DryRun *) watch)->meter;
}

static gboolean
is_still (G_GNUC_UNUSED const FabPlayWatch *watch)
{
  return FALSE;
}

static FabLinkId
find_jam (G_GNUC_UNUSED const FabPlayWatch *watch)
{
  return FAB_NO_LINK;
}

static gboolean
has_several (const GPtrArray *episodes)
{
  for (guint i = 0; i < episodes->len; i++)
    if (((const DryEpisode *) g_ptr_array_index (episodes, i))->members->len > 1)
      return TRUE;
  return FALSE;
}

/* Runs the first iteration. Returns its DryEpisodes; NULL: it did not end, or a time was not known, or none has several
 * collectives. (transfer full) */
static GPtrArray *
run_once (FabEpisodeBooks *books, const FabExecutorEnv *env,
          FabEpisodeInput (*input) (gpointer owner, const FabJobCollective *collective), gpointer owner,
          double stretch)
{
  static const FabPlayWatchOps ops = { job_new, job_free, begin, meter, is_still, find_jam };
  DryRun self = { .watch = { &ops },
                  .books = books,
                  .engine = fab_engine_new (),
                  .meter = fab_meter_new (env->net->env.graph),
                  .stretch = stretch,
                  .input = input,
                  .owner = owner,
                  .active = g_ptr_array_new (),
                  .over = g_ptr_array_new_with_free_func (episode_free),
                  .is_known = TRUE };
  FabExecutorEnv own = *env;

  own.engine = self.engine;
  own.watch = &self.watch;
  own.has_no_loads = TRUE;
  fab_engine_share_cancel (self.engine, env->engine);
  FabExecutor *executor = fab_executor_new (&own);
  self.is_known &= fab_executor_run_iteration (executor);
  fab_executor_free (executor);
  for (guint i = 0; i < self.active->len; i++)
    episode_free (g_ptr_array_index (self.active, i));
  g_ptr_array_unref (self.active);
  fab_meter_free (self.meter);
  fab_engine_free (self.engine);
  if (self.is_known && has_several (self.over))
    return self.over;
  g_ptr_array_unref (self.over);
  return NULL;
}

/* --- what is the same both times --- */

static gboolean
is_same (const DryEpisode *a, const DryEpisode *b)
{
  if (b == NULL || a->members->len != b->members->len)
    return FALSE;
  for (guint i = 0; i < a->members->len; i++)
    if (member_at (a, i)->done.arg != member_at (b, i)->done.arg)
      return FALSE;
  return TRUE;
}

static FabTimePs
begin_of (const DryEpisode *self, guint place)
{
  return member_at (self, place)->begin_ps - member_at (self, 0)->begin_ps;
}

static FabTimePs
since_end (const DryEpisode *self, guint place, guint ended)
{
  return member_at (self, place)->begin_ps - member_at (self, ended)->end_ps;
}

/* What a collective follows at the same distance both times. FALSE: nothing. */
static gboolean
find_cause (const DryEpisode *a, const DryEpisode *b, guint place, FabExpectedInput *input)
{
  *input = (FabExpectedInput){ member_at (a, place)->plan, FAB_AFTER_BEGIN, begin_of (a, place) };
  if (begin_of (a, place) == begin_of (b, place))
    return TRUE;
  for (guint i = 0; i < a->members->len; i++)
    if (since_end (a, place, i) >= 0 && since_end (a, place, i) == since_end (b, place, i)
        && (input->after == FAB_AFTER_BEGIN || since_end (a, place, i) < input->delay_ps)) {
      input->after = i;
      input->delay_ps = since_end (a, place, i);
    }
  return input->after != FAB_AFTER_BEGIN;
}

/* Returns the expected episode; NULL: it is not known how it goes. (transfer full) */
static GArray *
expect (const DryEpisode *a, const DryEpisode *b)
{
  g_autoptr (GArray) inputs = g_array_new (FALSE, FALSE, sizeof (FabExpectedInput));

  if (a->members->len < 2 || a->members->len > FAB_MOST_REMEMBERED || !is_same (a, b))
    return NULL;
  for (guint i = 0; i < a->members->len; i++) {
    FabExpectedInput input;

    if (!find_cause (a, b, i, &input))
      return NULL;
    g_array_append_val (inputs, input);
  }
  return g_steal_pointer (&inputs);
}

/* Returns what the tree knows the episode by, wherever its links are. (transfer full) */
static char *
name_of (FabEpisodeBooks *books, const GArray *inputs)
{
  GString *name = g_string_new (NULL);
  g_autoptr (GArray) before = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < inputs->len; i++) {
    const FabExpectedInput *input = &g_array_index (inputs, FabExpectedInput, i);

    g_string_append_printf (name, "%u %u %" G_GINT64_FORMAT " ",
                            fab_episode_books_key (books, input->plan, before), input->after,
                            input->delay_ps);
    g_array_append_val (before, input->plan);
  }
  return g_string_free (name, FALSE);
}

/* (transfer container) */
static GHashTable *
by_first_collective (const GPtrArray *episodes)
{
  GHashTable *found = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint i = 0; i < episodes->len; i++) {
    DryEpisode *episode = g_ptr_array_index (episodes, i);
    gint64 arg = (gint64) member_at (episode, 0)->done.arg;

    g_hash_table_insert (found, g_memdup2 (&arg, sizeof arg), episode);
  }
  return found;
}

GPtrArray *
fab_dry_run (FabEpisodeBooks *books, const FabExecutorEnv *env,
             FabEpisodeInput (*input) (gpointer owner, const FabJobCollective *collective), gpointer owner,
             guint most)
{
  const double slower = 1.02;
  GPtrArray *expected = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  g_autoptr (GPtrArray) first = run_once (books, env, input, owner, 1);
  g_autoptr (GPtrArray) second = first != NULL ? run_once (books, env, input, owner, slower) : NULL;
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  if (second == NULL)
    return expected;
  g_autoptr (GHashTable) others = by_first_collective (second);
  for (guint i = 0; i < first->len && expected->len < most; i++) {
    const DryEpisode *episode = g_ptr_array_index (first, i);
    gint64 arg = (gint64) member_at (episode, 0)->done.arg;
    GArray *inputs = expect (episode, g_hash_table_lookup (others, &arg));

    if (inputs != NULL && g_hash_table_add (names, name_of (books, inputs)))
      g_ptr_array_add (expected, inputs);
    else if (inputs != NULL)
      g_array_unref (inputs);
  }
  return expected;
}
