/* SPDX-License-Identifier: Apache-2.0 */
/* play_parts.h - the parts of a play, for play.c, which begins its messages, and for anyone who watches them
 * (play_watch.h). */
#pragma once

#include "sim/collective/play/play.h"
#include "sim/collective/play/schedule_parts.h"

typedef struct {
  FabNetLine *line;       /* NULL: each message is a stream */
  double bytes;           /* of one message */
  FabTimePs ready_ps;     /* earliest begin of the next message, as far as known */
  FabTimePs extra_ps;     /* time from the arrival of a message until it is passed on */
  FabTimePs passed_ps;    /* when the last message that has arrived is passed on */
  guint next, n_departed; /* the next message to begin; number of messages that have left */
  guint n_missing;        /* what it still waits for: dependencies or a shared list, and the message before */
  guint n_skipped;        /* messages that were not played */
  /* the step's cost counts from the arrival, less the wires: buffers on the path do not hide it */
  gboolean is_acked;
  guint n_messages;
} FabPlayLane;

/* A list that several lanes share. */
typedef struct {
  guint n_missing;    /* messages that have not come */
  FabTimePs ready_ps; /* when the last one that is known of comes */
} FabPlayList;

struct _FabPlay {
  FabSchedule *schedule;
  FabNet *net;
  FabPlaySpec spec;
  FabTimePs gap_ps; /* pause between two messages of a lane */
  FabTimePs last_ps;
  guint64 n_left; /* messages whose arrival is not yet known */
  FabPlayLane *lanes;
  guint *n_known;     /* per dependency: messages that have come */
  FabPlayList *lists; /* [n_lists] of the schedule */
  gpointer watched;   /* of spec.watch */
};

static inline FabTimePs
fab_play_now_ps (const FabPlay *self)
{
  return fab_engine_now (self->net->env.engine);
}

/* The play goes on as if n_messages[lane] more messages of each lane had begun and arrived until `by_ps` from now. No
 * lane may come to its end by that. The caller moves the events of the play and of the network. */
void fab_play_move_on (FabPlay *self, const guint *n_messages, FabTimePs by_ps);
