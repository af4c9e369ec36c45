/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - a collective as messages, and which message waits for which.
 *
 * A lane is a hop together with the messages that follow one another on it; all messages of a lane have the same share
 * of the bytes. Message i of a lane starts when message i - 1 of the same lane has left, and, for each lane that this
 * one depends on, when a message of that lane has arrived: message i (`offset` 0: a chunk is handed on), or message i -
 * 1 (`offset` 1: the rank passes on what it received in the step before). So a ring over n ranks is n lanes, and not
 * n^2 messages that are described one by one.
 *
 * A schedule does not change once it is played, and may be played several times at once (play.h).
 */
#pragma once

#include "sim/machine/hop.h"

typedef struct _FabSchedule FabSchedule;

FabSchedule *fab_schedule_new (const FabCluster *cluster);
void fab_schedule_free (FabSchedule *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSchedule, fab_schedule_free)

/* Adds a lane with `n_messages` over a hop, each of `weight` bytes per byte of size, and returns its index. Takes
 * what the hop owns. `net_stretch` is that of fab_hop_use (). */
guint fab_schedule_lane (FabSchedule *self, FabHop *hop, double net_stretch, double weight, guint n_messages);

/* Makes messages of `lane` wait for those of lane `from`. With offset 0 `from` must have been added before `lane`. */
void fab_schedule_depend (FabSchedule *self, guint lane, guint from, guint offset);

/* Makes the one message of `lane`, which waits for nothing yet, wait for all that the one message of `other` waits for;
 * `other` was added before, and waits for nothing more from now on. So ranks that pass on what all others sent them
 * need no dependency for each pair of messages. */
void fab_schedule_depend_like (FabSchedule *self, guint lane, guint other);

/* Makes the one message of `lane` wait until the one message of `from`, which was added before it, has left. */
void fab_schedule_depend_on_departure (FabSchedule *self, guint lane, guint from);

/* Whether every lane carries `n_chunks` messages that follow one another, as in a pipeline. */
gboolean fab_schedule_is_in_chunks (const FabSchedule *self, guint n_chunks);

/* Returns a copy, to which nothing can be added; it shares hops with `self`. (transfer full) */
FabSchedule *fab_schedule_copy (const FabSchedule *self);

/* Returns the same pipeline with its bytes cut into another number of chunks. It shares hops with `self`. (transfer
 * full) */
FabSchedule *fab_schedule_in_chunks (const FabSchedule *self, guint n_chunks);

guint fab_schedule_n_lanes (const FabSchedule *self);
/* Lanes that are not among them, because others stand for them (sim/shortcut/space). */
guint fab_schedule_n_alike (const FabSchedule *self);
guint64 fab_schedule_n_messages (const FabSchedule *self);

/* One message, and what other messages of the same step do to its two ports. */
typedef struct {
  const FabHop *hop;
  double bytes;      /* of the message */
  double port_bytes; /* of all messages of this step through the busier of its two ports, its own included */
  gboolean is_both;  /* another message comes the other way through one of the two ports */
} FabMessageStep;

/* Returns the time of one message, in any unit. */
typedef double (*FabMessageTime) (gconstpointer data, const FabMessageStep *step);

/* From the start of the first message to the end of the last, where `time` says how long each takes. O(messages); where
 * all lanes are rings of equally many rounds, O(lanes). */
double fab_schedule_longest (FabSchedule *self, FabBytes bytes, FabMessageTime time, gconstpointer data);

/* The size of messages over links of which some sizes were measured. */
typedef struct {
  FabBytes bytes;
  gboolean is_outside; /* it is below the smallest size that was measured, or above the largest */
} FabMessageSize;

/* Appends to `sizes` (FabMessageSize) the sizes of this collective's messages that are not in it yet.
 * fab_schedule_longest () must have been called before. */
void fab_schedule_add_sizes (const FabSchedule *self, FabBytes bytes, GArray *sizes);
