/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/shortcuts.h"

#include "sim/shortcut/memo/plan_ids.h"
#include "sim/shortcut/time/skips.h"

struct _FabShortcuts {
  FabPlayWatch watch;
  FabEpisodes *episodes;
  FabLanesCount lanes;
};

static FabFoldedPlays *
plays_of (FabWatchedJob *job)
{
  return (FabFoldedPlays *) job;
}

static const FabShortcuts *
of_watch (const FabPlayWatch *watch)
{
  return (const FabShortcuts *) watch;
}

static FabWatchedJob *
job_new (FabPlayWatch *watch, const FabWatchedJobEnv *env)
{
  FabShortcuts *self = (FabShortcuts *) watch;

  return (FabWatchedJob *) fab_folded_plays_new (
      &(FabFoldedPlaysEnv){ .job = *env, .messages = &fab_skips_watch, .lanes = &self->lanes });
}

static void
job_free (FabWatchedJob *job)
{
  fab_folded_plays_free (plays_of (job));
}

static void
begin (FabPlayWatch *watch, FabWatchedJob *job, const FabJobCollective *collective, FabDone done)
{
  const FabEpisodeInput input = fab_folded_plays_input (plays_of (job), collective);

  fab_episodes_begin (of_watch (watch)->episodes, &input, done);
}

static FabMeter *
meter (const FabPlayWatch *watch)
{
  return fab_episodes_meter (of_watch (watch)->episodes);
}

static gboolean
is_still (const FabPlayWatch *watch)
{
  return fab_episodes_is_still (of_watch (watch)->episodes);
}

static FabLinkId
find_jam (const FabPlayWatch *watch)
{
  return fab_episodes_find_jam (of_watch (watch)->episodes);
}

FabShortcuts *
fab_shortcuts_new (FabEngine *engine, FabNet *net, gconstpointer params, gboolean remembers)
{
  static const FabPlayWatchOps ops = { job_new, job_free, begin, meter, is_still, find_jam };
  FabShortcuts *self = g_new0 (FabShortcuts, 1);

  self->watch.ops = &ops;
  self->episodes = fab_episodes_new (engine, net, params, remembers);
  return self;
}

void
fab_shortcuts_free (FabShortcuts *self)
{
  if (self == NULL)
    return;
  fab_episodes_free (self->episodes);
  g_free (self);
}

FabPlayWatch *
fab_shortcuts_watch (FabShortcuts *self)
{
  return &self->watch;
}

FabEpisodes *
fab_shortcuts_episodes (const FabShortcuts *self)
{
  return self->episodes;
}

FabLanesCount
fab_shortcuts_lanes (const FabShortcuts *self)
{
  return self->lanes;
}

void
fab_shortcuts_warm_up (FabShortcuts *self, const FabWarmUpEnv *env, FabWatchedJob *job,
                       const GArray *collectives)
{
  FabPlanIds *ids = fab_plan_ids_new ();
  g_autoptr (GArray) inputs = g_array_new (FALSE, FALSE, sizeof (FabEpisodeInput));

  for (guint c = 0; c < collectives->len; c++) {
    const FabJobCollective *collective = &g_array_index (collectives, FabJobCollective, c);

    if (fab_plan_ids_find (ids, collective->plan, collective->traffic) == inputs->len) {
      FabEpisodeInput input = fab_folded_plays_input (plays_of (job), collective);

      g_array_append_val (inputs, input);
    }
  }
  fab_plan_ids_free (ids);
  fab_episodes_warm_up (self->episodes, env, (const FabEpisodeInput *) (gpointer) inputs->data, inputs->len);
}

static FabEpisodeInput
input_of (gpointer job, const FabJobCollective *collective)
{
  return fab_folded_plays_input (plays_of (job), collective);
}

void
fab_shortcuts_rehearse (FabShortcuts *self, const FabWarmUpEnv *env, FabWatchedJob *job,
                        const FabExecutorEnv *executor)
{
  fab_episodes_rehearse (self->episodes, env, executor, input_of, job);
}
