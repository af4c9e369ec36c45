/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - the step form of a collective: messages, and what each waits for.
 *
 * A message takes a hop: a connection, on which messages follow one another in the order in which they were added. It
 * starts when those it waits for have arrived and the one before it on its hop has left. Played on a network,
 * each is a stream of its own over the links of its hop.
 */
#pragma once

#include "sim/net/net.h"
#include "sim/work/hop.h"

typedef struct _FabSchedule FabSchedule;

FabSchedule *fab_schedule_new (const FabCluster *cluster);
void fab_schedule_free (FabSchedule *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSchedule, fab_schedule_free)

/* A connection; takes what the hop owns. `net_stretch` as in fab_hop_use (). Returns its index. */
guint fab_schedule_hop (FabSchedule *self, FabHop *hop, double net_stretch);

/* `weight` x the collective's bytes over a hop, after the messages `after`. Returns its index. */
guint fab_schedule_message (FabSchedule *self, guint hop, double weight, const guint *after, guint n_after);

guint fab_schedule_n_messages (const FabSchedule *self);

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

/* Plays it from now on; `done` when the last message has arrived. The schedule outlives that. */
void fab_schedule_play (FabSchedule *self, FabNet *net, FabBytes bytes, double wire_factor, FabDone done);
