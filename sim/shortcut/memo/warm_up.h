/* SPDX-License-Identifier: Apache-2.0 */
/* warm_up.h - collectives played from idle before the jobs' clock starts, each on a network and an engine of its
 * own, several at once on threads.
 *
 * A warm-up gives what the jobs' network gives when the collective begins on it at rest, to the last digit: the
 * number of threads changes nothing. Collectives begin one after another on the calling thread, since routers and
 * schedules are made then; only the playing is on threads.
 */
#pragma once

#include "sim/collective/collective.h"
#include "sim/collective/play/play.h"

/* For which collectives schedules are folded (sim/shortcut/space/folded_plays.h): for all of the job, or for no one
 * yet. Other numbers are sets of collectives. */
enum { FAB_FOLDED_FOR_ALL = 0 };
#define FAB_FOLDED_FOR_NONE G_MAXUINT

typedef struct _FabEpisodeInput FabEpisodeInput;

/* A collective. Everything that it points to must outlive its use. The functions may all be NULL: it is played as a
 * stream. */
struct _FabEpisodeInput {
  const FabCollectivePlan *plan;
  const char *traffic; /* as in FabConnection; static */
  /* Begins the plan as messages on `net`, folded for a set in which it is; NULL: it is played as a stream. (transfer
   * full) */
  FabPlay *(*play) (gpointer owner, FabNet *net, const FabEpisodeInput *input, guint folded_for,
                    FabDone done);
  /* Adds the traits of those messages. FALSE: it is played as a stream. */
  gboolean (*describe) (gpointer owner, FabNet *net, const FabCollectivePlan *plan, FabPlayTraits *traits);
  /* Returns the set with the plan in it. */
  guint (*extend) (gpointer owner, guint folded_for, const FabCollectivePlan *plan);
  gpointer owner;
};

/* Begins a collective on a network now; the play is NULL for a stream. (transfer full) */
FabPlay *fab_episode_input_play (const FabEpisodeInput *self, FabNet *net, guint folded_for, FabDone done);

static inline guint
fab_episode_input_extend (const FabEpisodeInput *self, guint folded_for)
{
  return self->extend != NULL ? self->extend (self->owner, folded_for, self->plan) : folded_for;
}

/* What a network is made of, and how many threads may play. */
typedef struct {
  const FabNetOps *ops;
  gconstpointer params;
  FabNetEnv env; /* as the jobs' network has it, but for the engine */
  guint n_threads;
  gboolean is_all;     /* no other collectives will begin */
  guint64 most_events; /* of one collective, which is given up after that: it did not end; 0: no limit */
} FabWarmUpEnv;

typedef struct {
  FabTimePs duration_ps; /* -1: it did not end, or not alone */
  GArray *meter, *late;  /* FabMeterEntry: what the links carried until it ended, and afterwards */
  GArray *queues;        /* FabLaneQueue */
  GArray *skips;         /* FabSkip */
  guint64 n_drawn;       /* random numbers */
  guint64 n_events;
  guint64 n_skipped; /* packets times links, as in FabNet */
  guint folded_for;  /* the version of the schedule */
} FabWarmUp;

/* Plays each input alone. Returns a FabWarmUp for each; NULL where a network could play them otherwise than they
 * would be played one after another on one, unless it is known that the order does not matter. (transfer full) */
GArray *fab_warm_up (const FabWarmUpEnv *env, const FabEngine *like, const FabEpisodeInput *inputs, guint n,
                     gboolean is_any_order);
