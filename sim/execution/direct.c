/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/direct.h"

#include "sim/collective/play/plan_schedules.h"

/* There may be millions in a run. */
struct _FabDirect {
  FabDirects *all;
  FabPlay *play;
  FabDone done;
  FabDirect *before, *after; /* in the list; NULL: there is none */
};

FabDirect *
fab_directs_add (FabDirects *self, FabDone done)
{
  FabDirect *added = g_new (FabDirect, 1);

  *added = (FabDirect){ self, NULL, done, NULL, self->first };
  if (added->after != NULL)
    added->after->before = added;
  self->first = added;
  return added;
}

static void
direct_free (FabDirect *self)
{
  if (self->after != NULL)
    self->after->before = self->before;
  if (self->before != NULL)
    self->before->after = self->after;
  else
    self->all->first = self->after;
  fab_play_free (self->play);
  g_free (self);
}

static void
direct_ended (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  FabDirect *self = owner;
  FabDone done = self->done;

  self->all->n_ended++;
  direct_free (self);
  done.fn (done.owner, done.arg);
}

FabDone
fab_direct_end (FabDirect *self)
{
  return (FabDone){ .fn = direct_ended, .owner = self };
}

void
fab_direct_set_play (FabDirect *self, FabPlay *play)
{
  self->play = play;
}

void
fab_directs_clear (FabDirects *self)
{
  while (self->first != NULL)
    direct_free (self->first);
}

void
fab_direct_stream (FabNet *net, const FabJobCollective *collective, FabDone done)
{
  FabStream stream = fab_collective_plan_stream (collective->plan);

  stream.traffic = collective->traffic;
  stream.done = done;
  fab_net_stream (net, &stream);
}

gboolean
fab_direct_is_still (const FabNet *net)
{
  return net->ops->is_still != NULL && net->ops->is_still (net);
}

FabLinkId
fab_direct_find_jam (const FabNet *net)
{
  return net->ops->find_jam != NULL ? net->ops->find_jam (net) : FAB_NO_LINK;
}

/* --- every message of every job --- */

typedef struct {
  FabPlayWatch watch;
  FabNet *net;
  FabDirects directs;
} DirectWatch;

struct _FabWatchedJob {
  GHashTable *schedules; /* plan_schedules.h */
};

static FabWatchedJob *
direct_job_new (G_GNUC_UNUSED FabPlayWatch *watch, G_GNUC_UNUSED const FabWatchedJobEnv *env)
{
  FabWatchedJob *self = g_new (FabWatchedJob, 1);

  self->schedules = fab_plan_schedules_new ();
  return self;
}

static void
direct_job_free (FabWatchedJob *self)
{
  g_hash_table_unref (self->schedules);
  g_free (self);
}

static void
direct_begin (FabPlayWatch *watch, FabWatchedJob *job, const FabJobCollective *collective, FabDone done)
{
  DirectWatch *self = (DirectWatch *) watch;
  FabDirect *added = fab_directs_add (&self->directs, done);

  if (!fab_play_has_messages (self->net, collective->plan)) {
    fab_direct_stream (self->net, collective, fab_direct_end (added));
    return;
  }
  FabSchedule *schedule = fab_plan_schedules_make (job->schedules, collective->plan)->schedule;
  FabPlaySpec spec = fab_play_spec_of_plan (collective->plan);
  spec.traffic = collective->traffic;
  spec.done = fab_direct_end (added);
  fab_direct_set_play (added, fab_play_new (schedule, self->net, &spec));
}

static FabMeter *
direct_meter (const FabPlayWatch *watch)
{
  return ((const DirectWatch *) watch)->net->meter;
}

static gboolean
direct_is_still (const FabPlayWatch *watch)
{
  return fab_direct_is_still (((const DirectWatch *) watch)->net);
}

static FabLinkId
direct_find_jam (const FabPlayWatch *watch)
{
  return fab_direct_find_jam (((const DirectWatch *) watch)->net);
}

FabPlayWatch *
fab_direct_watch_new (FabNet *net)
{
  static const FabPlayWatchOps ops = { direct_job_new, direct_job_free, direct_begin,
                                       direct_meter,   direct_is_still, direct_find_jam };
  DirectWatch *self = g_new0 (DirectWatch, 1);

  self->watch.ops = &ops;
  self->net = net;
  return &self->watch;
}

void
fab_direct_watch_free (FabPlayWatch *watch)
{
  DirectWatch *self = (DirectWatch *) watch;

  if (self == NULL)
    return;
  fab_directs_clear (&self->directs);
  g_free (self);
}
