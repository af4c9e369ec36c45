/* SPDX-License-Identifier: Apache-2.0 */
/* phases.h - an algorithm described as phases, from which both its form and its schedule are made.
 *
 * In each phase some ranks send parts of the buffer to others. A rank sends a part when it has received everything that
 * was sent to it of that part in earlier phases; it does not wait for other parts, nor for other ranks. Bytes between
 * nodes are spread evenly over the NICs of the two GPUs (nic_paths.h).
 *
 * Without a pipeline a phase moves whole buffers, and links that only other phases use are idle meanwhile. The form's
 * limit is the rate that remains, where it is below the footprint's rate. In a pipeline the
 * chunks of a buffer are in all phases at once, and only the first chunk pays for each phase: this is the form's
 * fill.
 */
#pragma once

#include "sim/collective/collective.h"

typedef struct _FabPhases FabPhases;

FabPhases *fab_phases_new (const FabGroup *group, gboolean is_pipeline);
void fab_phases_free (FabPhases *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPhases, fab_phases_free)

/* Starts a phase: what is sent from now on comes after all phases so far. No effect where nothing was sent since the
 * last call. */
void fab_phases_next (FabPhases *self);

/* Which parts of the buffer a message carries. The algorithm cuts the buffer, and numbers the parts from 0. */
typedef struct {
  guint first, n;
  /* The receiver has them in place of its own, and they have in them all that it had sent of them; else it adds them to
   * its own. */
  gboolean replaces;
} FabParts;

/* The whole buffer, where an algorithm does not cut it. */
#define FAB_WHOLE_BUFFER ((FabParts){ 0, 1, FALSE })

/* In this phase rank `from` sends `weight` bytes per byte of size to rank `to`: these parts. */
void fab_phases_send (FabPhases *self, guint from, guint to, double weight, FabParts parts);

/* Sends of the whole buffer, with calls that block: a rank starts a call when its last one has ended. So the message
 * waits for what either rank has received or sent in the last phase in which it did so, which has waited for all phases
 * before. Not for a pipeline, and before all sends of the other kind. */
void fab_phases_send_in_turn (FabPhases *self, guint from, guint to, double weight);

/* Makes the form; its n_channels is 1. FALSE and *error when two ranks have no path. */
gboolean fab_phases_form (const FabPhases *self, const FabAlgorithmEnv *env, FabCollectiveForm *form,
                          GError **error);

/* Adds all messages to a schedule; a pipeline cuts each into `n_chunks`. FALSE and *error when two ranks have no
 * path. */
gboolean fab_phases_schedule (const FabPhases *self, const FabAlgorithmEnv *env, guint n_chunks,
                              FabSchedule *schedule, GError **error);
