/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - runs a schedule on a network, message by message.
 *
 * On a network that has `message`, every lane of the schedule is a line of the network; on others each message is a
 * stream. A message begins when everything for which it waits has arrived and has been handled by software:
 *
 *   passed on            = arrival, and no sooner than a step's cost after it left
 *   next message of lane = when the one before has left; in rings, where every rank is busy with every step, a step's
 *                          cost later
 *
 * A library gives the total cost of consecutive steps (`steps_ps`). The cost of a step is chosen so that the longest
 * path through the schedule takes `steps_ps` without bytes; wires with a longer latency keep it. Memory is O(lanes),
 * with one or two events per message. A play borrows its schedule and network and runs on the engine's thread.
 */
#pragma once

#include "sim/collective/collective.h"
#include "sim/collective/play/play_spec.h"
#include "sim/collective/play/schedule.h"

/* Whether a plan is played as messages on a network; otherwise it is a stream. */
gboolean fab_play_has_messages (const FabNet *net, const FabCollectivePlan *plan);

/* How a plan that has messages is played. The caller fills in `traffic`, `watch` and `done`. */
FabPlaySpec fab_play_spec_of_plan (const FabCollectivePlan *plan);

/* Begins now. The schedule must outlive the play. (transfer full) */
FabPlay *fab_play_new (FabSchedule *schedule, FabNet *net, const FabPlaySpec *spec);

/* What a network is told of a collective. The caller makes and owns all three. */
typedef struct {
  GArray
      *words; /* guint64: everything but the links; collectives with equal words and links of equal rates that
                      lie in the same way fare alike */
  GArray *links;         /* FabLinkId: of one line after another */
  FabMeter *meter;       /* what the links carry until it ends */
  gboolean is_separable; /* set to FALSE where collectives that share no link with it may affect it */
} FabPlayTraits;

/* Adds to the traits those of a play on a network that is separable. */
void fab_play_describe (FabSchedule *schedule, FabNet *net, const FabPlaySpec *spec, FabPlayTraits *traits);

/* May be called from `done` on; earlier only when the network will not call back any more. */
void fab_play_free (FabPlay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPlay, fab_play_free)
