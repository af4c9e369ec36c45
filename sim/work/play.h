/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - a schedule under way on a network, message by message.
 *
 * On a network that has `message` every lane is a line of it; on others each message is a stream. A message begins when
 * all that it waits for has arrived and, where a step costs software something, has been dealt with:
 *
 *   passed on = arrival, and no sooner than a step's cost after it left
 *   next message of a lane = the one before has left; in rings, where every rank is busy with every step, a step's cost
 *                            later
 *
 * A library counts what the steps cost that follow one another (`steps_ps`); a step's cost is its share of that: so
 * much that the longest way through the schedule takes `steps_ps` without bytes. Wires that take longer stay as they
 * are. State is O(lanes); an event or two per message.
 */
#pragma once

#include "sim/work/schedule.h"

typedef struct _FabPlay FabPlay;

typedef struct {
  FabBytes bytes;           /* of the collective */
  double wire_factor;       /* as in FabStream */
  double limit_bytes_per_s; /* of the collective, what its ends can do at most; 0: no limit */
  double free_bytes_per_s;  /* and what its links let it, where there is one */
  gboolean is_pipeline;     /* chunks are under way in all lanes at once */
  guint share;              /* of each lane, as in FabConnection */
  const char *traffic;      /* likewise */
  FabTimePs once_ps;        /* before the first message */
  FabTimePs steps_ps;       /* what steps cost that follow one another, wires included */
  double intra_cost,
      inter_cost; /* of a step inside a node to one between nodes; in rings all steps cost the same */
  FabDone done;   /* when the last message has arrived */
} FabPlaySpec;

/* Begins now. The schedule outlives it. */
FabPlay *fab_play_new (FabSchedule *schedule, FabNet *net, const FabPlaySpec *spec);

/* From `done` on; earlier only when the network will do nothing any more. */
void fab_play_free (FabPlay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPlay, fab_play_free)
