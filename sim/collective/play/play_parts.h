/* SPDX-License-Identifier: Apache-2.0 */
/* play_private.h - the parts of a play, for play.c, which begins its messages, and play_skips.c, which skips them. */
#pragma once

#include "sim/collective/play/play.h"
#include "sim/shortcut/time/rhythm.h"
#include "sim/collective/play/schedule_parts.h"
#include "sim/shortcut/time/tempo.h"

typedef struct {
  FabNetLine *line;    /* NULL: each message is a stream */
  double bytes;        /* of one message */
  FabTimePs ready_ps;  /* earliest begin of the next message, as far as known */
  FabTimePs extra_ps;  /* time from the arrival of a message until it is passed on */
  FabTimePs passed_ps; /* when the last message that has arrived is passed on */
  guint next, n_gone;  /* the next message to begin; number of messages that have left */
  guint n_missing;     /* what it still waits for: feeds, and the message before */
  guint n_skipped;     /* messages that were not played */
  /* the step's cost counts from the arrival, less the wires: buffers on the path do not hide it */
  gboolean is_acked;
  guint n_messages;
} FabPlayLane;

/* Rings that go at one pace: a group of the tempo, or several. */
typedef struct {
  guint first;        /* the first group of them, which holds what follows */
  double owed;        /* of a group: messages that skips have not moved on by, since only whole ones are */
  double interval_ps; /* from one message of a lane to the next; 0: all lanes are over */
  double sum_owed;    /* over the groups */
  guint n;            /* groups */
  guint n_left;       /* messages that each lane can skip before it comes near its last one */
  guint n_skip;       /* messages that are skipped */
} FabPace;

struct _FabPlay {
  FabSchedule *schedule;
  FabNet *net;
  FabPlaySpec spec;
  FabTimePs gap_ps; /* pause between two messages of a lane */
  FabTimePs last_ps;
  guint64 n_left; /* messages whose arrival is not yet known */
  FabPlayLane *lanes;
  guint *n_known;   /* per feed: messages that have come */
  FabRhythm rhythm; /* of the begins of all lanes, then of their arrivals; no items: nothing is skipped */
  FabTempo tempo; /* where only intervals settle: of the begins of all lanes; no items: nothing is skipped */
  FabPace *paces; /* [groups of the tempo] */
  gboolean is_skip_due;
  guint64 n_changes;      /* of the network, for which the rhythm holds */
  guint64 n_rate_changes; /* likewise, for which the tempo holds */
};

static inline FabTimePs
fab_play_now_ps (const FabPlay *self)
{
  return fab_engine_now (self->net->env.engine);
}

/* A play begins or ends: messages of it that repeat are looked for in between, where there can be enough of them. What
 * was measured of other plays says nothing of what comes. */
void fab_play_watch (FabPlay *self);
void fab_play_unwatch (FabPlay *self);
void fab_play_clear_watch (FabPlay *self); /* frees what was measured */

/* A message of a lane begins; it is the last one if no other follows. Times must not decrease. */
void fab_play_note_begin (FabPlay *self, guint index, FabTimePs begin_ps);
