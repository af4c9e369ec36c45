/* SPDX-License-Identifier: Apache-2.0 */
/* play_watch.h - what an executor asks of those who know that not all that its job sends has to be simulated
 * (sim/shortcut). Without one (NULL) the network plays every message of every collective (direct.h).
 *
 * One of them serves all jobs on a network. It may keep the network on an engine of its own, fold schedules before the
 * first collective begins, and know when a collective ends because it was played before. The executor cannot tell.
 */
#pragma once

#include "sim/execution/dag.h"
#include "sim/net/net.h"

typedef struct _FabPlayWatch FabPlayWatch;
typedef struct _FabWatchedJob FabWatchedJob;

/* A job whose collectives will begin. What it points to must outlive it. */
typedef struct {
  FabNet *net;
  const FabDag *dag;
  gboolean has_next;      /* another iteration may be under way */
  gboolean is_alone;      /* nothing but the DAG loads the network */
  const FabLinkId *apart; /* [n_apart] links that change their rate */
  guint n_apart;
} FabWatchedJobEnv;

/* A collective of a job; all of it outlives the job. */
typedef struct {
  const FabCollectivePlan *plan; /* with a footprint */
  const char *traffic;           /* as in FabConnection; static */
} FabJobCollective;

typedef struct {
  FabWatchedJob *(*job_new) (FabPlayWatch *self, const FabWatchedJobEnv *env); /* (transfer full) */
  void (*job_free) (FabWatchedJob *job); /* when no collective of the job is under way */
  /* Begins a collective now. `done` is called when it has ended. */
  void (*begin) (FabPlayWatch *self, FabWatchedJob *job, const FabJobCollective *collective, FabDone done);
  /* Counts what the links carried for collectives that have ended. */
  FabMeter *(*meter) (const FabPlayWatch *self);
  /* Whether nothing of the network is due, so that what has not ended never will. */
  gboolean (*is_still) (const FabPlayWatch *self);
  FabLinkId (*find_jam) (const FabPlayWatch *self); /* as FabNetOps.find_jam */
} FabPlayWatchOps;

/* The first member of every one. */
struct _FabPlayWatch {
  const FabPlayWatchOps *ops;
};
