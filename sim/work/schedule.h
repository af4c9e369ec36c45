/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - the step form of a collective: messages, and what each waits for.
 *
 * A lane is a hop with the messages that follow one another on it, all of one weight. Message i of a lane waits until
 * message i of each lane that feeds it has arrived (`offset` 0: a chunk that is handed on) or message i - 1
 * (`offset` 1: the step before), and until its own lane's message before has left. So a ring over n ranks is n lanes,
 * not n^2 messages. A schedule does not change once it plays and may be under way several times at once: play.h.
 */
#pragma once

#include "sim/work/hop.h"

typedef struct _FabSchedule FabSchedule;

FabSchedule *fab_schedule_new (const FabCluster *cluster);
void fab_schedule_free (FabSchedule *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSchedule, fab_schedule_free)

/* `n_messages` over a hop, each `weight` x the collective's bytes; takes what the hop owns. `net_stretch` as in
 * fab_hop_use (). Returns its index. */
guint fab_schedule_lane (FabSchedule *self, FabHop *hop, double net_stretch, double weight, guint n_messages);

/* What `lane` waits for. With offset 0 `from` is a lane before it. */
void fab_schedule_feed (FabSchedule *self, guint lane, guint from, guint offset);

guint fab_schedule_n_lanes (const FabSchedule *self);
guint64 fab_schedule_n_messages (const FabSchedule *self);

/* A message and what goes on at the same step. */
typedef struct {
  const FabHop *hop;
  double bytes;
  double port_bytes; /* its own and those of others through the busier of its two ports */
  gboolean is_both;  /* one comes the other way through one of them */
} FabMessageStep;

typedef double (*FabMessageTime) (gconstpointer data, const FabMessageStep *step);

/* From the first message's start to the last one's end when each takes that time. */
double fab_schedule_longest (FabSchedule *self, FabBytes bytes, FabMessageTime time, gconstpointer data);

/* A size of messages over links of which one knows what sizes were measured. */
typedef struct {
  FabBytes bytes;
  gboolean is_outside; /* of those */
} FabMessageSize;

/* Appends to `sizes` (FabMessageSize) those of a collective that are not among them. */
void fab_schedule_add_sizes (const FabSchedule *self, FabBytes bytes, GArray *sizes);
