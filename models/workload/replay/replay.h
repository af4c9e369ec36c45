/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - one step of a timed trace, laid on the ranks of a machine.
 *
 * A class is a traced rank and the ranks of the machine that do as it did. A meeting is one collective: the groups of
 * ranks that run it at the same time, and what the trace says of its size and time.
 */
#pragma once

#include "formats/trace/trace.h"
#include "sim/collective/collective.h"
#include "sim/execution/dag.h"

typedef struct {
  const FabTraceOp *op;
  FabTimePs start_ps, end_ps; /* since the first operation of its rank in the step */
  guint stream;               /* index in ReplayClass.streams */
  gint32 meeting;             /* index in Replay.meetings; -1: it does not communicate */
} ReplayOp;

typedef struct {
  const FabTracedRank *traced;
  guint first_rank, n_ranks, n_inferred; /* of the machine; those that have no trace of their own */
  FabTimePs offset_ps;                   /* after the first rank of all */
  FabTimePs tail_ps;                     /* from its last operation to the first one of its next step */
  GArray *ops;                           /* ReplayOp, by start */
  GArray *streams;                       /* guint32: numbers of streams in the trace */
} ReplayClass;

typedef struct {
  char *name; /* "1": the first one of the step */
  FabOp op;
  FabDimension dimension;
  FabBytes bytes;        /* 0: the trace does not say */
  FabTimePs measured_ps; /* of the rank that came last */
  guint n_ranks;         /* of a group; 1: nothing is sent */
  GArray *ranks;         /* guint: of the groups, one after another */
} ReplayMeeting;

typedef struct {
  GArray *classes;  /* ReplayClass, by first rank */
  GArray *meetings; /* ReplayMeeting */
  guint n_world;    /* ranks of the traced run */
  gboolean is_lone; /* no step follows, so that all ranks begin the next one together */
  guint n_without_size;
} Replay;

/* Takes step number `step`, from 0, for a machine of `n_ranks`. Ranks that do the same are a class; with `is_unfolded`
 * each is one of its own. The trace must outlive what is returned. NULL and *error when the trace has no such step, or
 * when its groups cannot be laid on so many ranks. (transfer full) */
Replay *replay_new (const FabTrace *trace, guint step, guint n_ranks, gboolean is_unfolded, GError **error);
void replay_free (Replay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Replay, replay_free)

/* The groups of a communication, on the machine. */
typedef struct {
  guint n_ranks, stride,
      phase;    /* a group is first, first + stride, ...; phase: the group that rank 0 is not first of */
  GArray *list; /* guint: the one group, where it has no stride; else NULL */
} ReplayShape;

/* Finds the shape of a group of which `rank` is a part. The caller frees the list. */
gboolean replay_shape (const FabTraceComm *comm, guint rank, guint n_world, guint n_ranks, ReplayShape *shape,
                       GError **error);
/* The n-th group with that shape of a machine, into `ranks`, which has room for all ranks of a group. */
void replay_shape_group (const ReplayShape *shape, guint n_ranks, guint n, guint *ranks);
