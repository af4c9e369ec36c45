/* SPDX-License-Identifier: Apache-2.0 */
/* sampling.h - collectives of a job take as long alone as on a finer network, which plays one of each kind.
 *
 *   factor = time alone on the finer network / fab_collective_plan_idle_ps ()
 *
 * and every plan of the kind is scaled by it (fab_collective_plan_scale ()). A kind is played in a growing part of its
 * bytes, 1/64, 1/16, 1/4 and all of them; a pipeline in as many of its chunks. It stops before a part that would take
 * more than `most_events` events. What it says of the whole, with p and s as the times at packet and as a stream:
 *
 *   p (all) = p (part) + (s (all) - s (part)) max (1, (p (part) - p (part before)) / (s (part) - s (part before)))
 *
 * since the time of a collective is convex in its bytes: messages wait for each other first, and for links later.
 * Events are counted and not seconds, so the result is the same on every machine and with any number of threads.
 *
 * What it leaves out is what collectives do to each other in queues. docs/models/sampled.md says how far off it was.
 */
#pragma once

#include "sim/execution/play_watch.h"
#include "sim/shortcut/memo/warm_up.h"

/* Kinds of collectives: same links, bytes and times. */
typedef struct {
  guint n_whole;   /* that were played to their end */
  guint n_parts;   /* of which parts were played */
  guint n_skipped; /* of which no part ended within the events: they take what a stream takes */
  double least_factor, most_factor; /* of those that were played; 0: there are none */
  guint64 n_events;                 /* on the finer network */
} FabSamplingCount;

typedef struct {
  const FabNetOps *ops;   /* of the finer network */
  gconstpointer params;   /* its parameters */
  FabNetEnv env;          /* engine of the jobs, whose cancel flag also ends the samples */
  guint n_threads;        /* to play on, at least 1 */
  guint64 most_events;    /* of one part */
  gboolean is_alone;      /* as in FabWatchedJobEnv */
  const FabLinkId *apart; /* [n_apart], likewise */
  guint n_apart;
} FabSamplingEnv;

/* Scales the collectives (FabJobCollective) of a job, whose plans are `dag`'s, and adds to `count`. Before the first of
 * them begins. */
void fab_sample_collectives (const FabSamplingEnv *env, FabDag *dag, const GArray *collectives,
                             FabSamplingCount *count);
